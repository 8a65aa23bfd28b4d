// Copies from pageable host memory: through pinned buffers, filled by a few threads while the one before is on its way. The
// driver's own staging reaches a fifth of the link's 55 GB/s.
#ifndef SPLITPROVE_UPLOAD_CUH
#define SPLITPROVE_UPLOAD_CUH

#include <cstring>
#include <thread>
#include <vector>

#include "runtime.cuh"

namespace splitprove {

class Uploader {
 public:
  static constexpr int BUFFERS = 4;

  Uploader(Meter& meter, uint64_t pinned_bytes)
      : memory_(meter, pinned_bytes), piece_(pinned_bytes / BUFFERS / 4096 * 4096), threads_(1) {
    unsigned cores = std::thread::hardware_concurrency();
    threads_ = cores > 8 ? 8 : cores > 1 ? int(cores) : 1;
  }

  // The source has been read when it returns; the copy goes on in stream `s`.
  void copy(void* to, const void* from, uint64_t bytes, cudaStream_t s, const Cancel& cancel) {
    for (uint64_t at = 0; at < bytes;) {
      cancel.check();
      uint64_t size = std::min(bytes - at, piece_);
      char* staging = memory_.as<char>() + next_ * piece_;
      gone_[next_].wait();
      fill(staging, static_cast<const char*>(from) + at, size);
      SP_CUDA(cudaMemcpyAsync(static_cast<char*>(to) + at, staging, size, cudaMemcpyHostToDevice, s));
      gone_[next_].record(s);
      next_ = (next_ + 1) % BUFFERS;
      at += size;
    }
  }

 private:
  void fill(char* to, const char* from, uint64_t bytes) {
    constexpr uint64_t WORTH_A_THREAD = 1 << 20;
    int parts = int(std::min<uint64_t>(threads_, bytes / WORTH_A_THREAD + 1));
    auto part = [=](int i) { std::memcpy(to + bytes * i / parts, from + bytes * i / parts, bytes * (i + 1) / parts - bytes * i / parts); };
    std::vector<std::thread> others;
    others.reserve(parts);
    int begun = 1;
    try {
      for (; begun < parts; begun++) others.emplace_back(part, begun);
    } catch (...) {
      // No more threads to be had: this one does the rest.
    }
    part(0);
    for (int i = begun; i < parts; i++) part(i);
    for (auto& t : others) t.join();
  }

  PinnedBuffer memory_;
  uint64_t piece_;
  int threads_, next_ = 0;
  Event gone_[BUFFERS];
};

}  // namespace splitprove

#endif
