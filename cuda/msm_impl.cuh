// msm.cuh on the host's side, for G1 or G2: buffers, launches, and when a group's rounds end.
#ifndef SPLITPROVE_MSM_IMPL_CUH
#define SPLITPROVE_MSM_IMPL_CUH

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "affine_tree.cuh"

namespace splitprove {

// The type kernels compute with, of the type in memory.
template <class M>
struct InKernels;
template <>
struct InKernels<Fp> {
  using F = Fp;
};
template <>
struct InKernels<Fp2> {
  using F = Fp2Lane;
};

// Pairs below which a round no longer fills the device: then what is left is added bucket by bucket, unless one is long.
constexpr uint32_t STOP_PAIRS = 1 << 18;
constexpr uint32_t STOP_LENGTH = 8;
// Chunks of a window from which on they are joined by bits: fewer additions one after the other.
constexpr uint32_t FEW_CHUNKS = 4096;
// Points below which a plain sum leaves affine additions.
constexpr uint64_t STOP_SUM = 1 << 17;

inline int multiprocessors() {
  int device = 0, count = 0;
  SP_CUDA(cudaGetDevice(&device));
  SP_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

// A group of windows on one stream, from digits to chunks of buckets.
template <class M>
class WindowGroup {
 public:
  using F = typename InKernels<M>::F;
  using Wide = ExtendedMemory<M>;

  WindowGroup(Arena& arena, const MsmPlan& plan, const Windows& windows, uint64_t count) : plan_(plan), windows_(windows) {
    uint64_t entries = uint64_t(plan.group) * count;
    for (int w = 0; w < windows.count; w += plan.group) {
      int last = std::min(windows.count, w + plan.group);
      buckets_most_ = std::max<uint64_t>(buckets_most_, windows.base[last] - windows.base[w]);
      bits_most_ = std::max<int>(bits_most_, windows.bits[w]);
    }
    uint64_t nb = buckets_most_ + 1;
    for (int i = 0; i < 2; i++) keys_[i] = arena.take<uint32_t>(entries), values_[i] = arena.take<uint32_t>(entries);
    start_ = arena.take<uint32_t>(2 * nb);
    length_ = start_ + nb;
    counts_ = arena.take<uint64_t>(nb);
    places_ = arena.take<uint64_t>(nb);
    longest_ = arena.take<uint32_t>(1);
    pairs_ = arena.take<uint2>(entries / 2 + 1);
    targets_ = arena.take<uint32_t>(entries / 2 + 1);
    singles_ = arena.take<uint2>(nb);
    prefix_ = arena.take<M>(entries / 2 + 1);
    sums_[0] = arena.take<Affine<M>>(entries / 2 + nb);
    sums_[1] = arena.take<Affine<M>>(entries / 4 + nb);
    temporary_bytes_ = 0;
    cub::DoubleBuffer<uint32_t> k(keys_[0], keys_[1]), v(values_[0], values_[1]);
    SP_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, temporary_bytes_, k, v, int(count), 0, bits_most_));
    size_t scan = 0;
    SP_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, scan, counts_, places_, int(nb)));
    temporary_bytes_ = std::max(temporary_bytes_, scan) + 256;
    temporary_ = arena.take<char>(temporary_bytes_);
  }

  // Takes up windows from `first` on. `host` is where counts arrive.
  void begin(const MsmInput<M>& input, uint64_t from, uint64_t count, int first, cudaStream_t stream, Event* counted,
             uint32_t* host, int sms) {
    stream_ = stream;
    counted_ = counted;
    host_ = host;
    sms_ = sms;
    points_ = input.points;
    first_ = first;
    count_ = count;
    group_ = std::min(plan_.group, windows_.count - first);
    buckets_ = windows_.base[first + group_] - windows_.base[first];
    bases_.count = group_;
    for (int g = 0; g < group_; g++) bases_.base[g] = windows_.base[first + g] - windows_.base[first];
    round_ = 0;

    digits<<<blocks_for(count), 256, 0, stream>>>(input.scalars, input.numbers, input.reversed_bits, input.point_count, from,
                                                  count, windows_, first, group_, keys_[0], values_[0]);
    SP_LAUNCHED("digits");
    for (int g = 0; g < group_; g++) {
      uint64_t at = g * count;
      cub::DoubleBuffer<uint32_t> k(keys_[0] + at, keys_[1] + at), v(values_[0] + at, values_[1] + at);
      size_t bytes = temporary_bytes_;
      SP_CUDA(cub::DeviceRadixSort::SortPairs(temporary_, bytes, k, v, int(count), 0, bits_most_, stream));
      side_ = k.selector;
    }
    SP_CUDA(cudaMemsetAsync(start_, 0, 2 * (buckets_most_ + 1) * sizeof(uint32_t), stream));
    bucket_bounds<<<dim3(blocks_for(count, 256, 132 * 16), group_), 256, 0, stream>>>(keys_[side_], count, bases_, start_,
                                                                                       length_);
    SP_LAUNCHED("bucket_bounds");
    key_ = keys_[side_];
    next_key_ = keys_[side_ ^ 1];
    in_ = nullptr;
    entries_ = uint64_t(group_) * count;
    count_round<true>();
  }

  // Waits for the counts, then starts the next round, or the integration (false: the group has ended).
  bool advance(Wide* chunk_sums, Wide* chunk_weighted, uint32_t stride) {
    counted_->wait();
    uint64_t survivors = host_[0], pairs = host_[1];
    uint32_t longest = host_[2];
    bool done = pairs == 0 || (pairs <= STOP_PAIRS && longest <= STOP_LENGTH);
    if (round_ > 0 && done) {
      constexpr unsigned PER = 128 / F::LANES;
      uint32_t chunks = (1u << (bits_most_ - 1)) / plan_.chunk;
      integrate_buckets<F><<<dim3((chunks + PER - 1) / PER, group_), 128, 0, stream_>>>(
          in_, start_, length_, windows_, first_, plan_.chunk, stride, chunk_sums, chunk_weighted);
      SP_LAUNCHED("integrate_buckets");
      return false;
    }
    Affine<M>* out = sums_[round_ & 1];
    if (round_ == 0) {
      list_pairs<true><<<dim3(blocks_for(count_, 256, 132 * 32), group_), 256, 0, stream_>>>(
          key_, values_[side_], count_, bases_, start_, length_, places_, next_key_, pairs_, targets_, singles_);
      SP_LAUNCHED("list_pairs");
      if (survivors > pairs) {
        move_singles<F, true><<<blocks_for(4 * (survivors - pairs)), 256, 0, stream_>>>(points_, singles_,
                                                                                      survivors - pairs, out);
        SP_LAUNCHED("move_singles");
      }
      launch_add_pairs<F>(sms_, SignedPairs<F>{points_, pairs_, targets_}, pairs, prefix_, out, stream_);
    } else {
      list_pairs<false><<<blocks_for(entries_), 256, 0, stream_>>>(key_, nullptr, entries_, bases_, start_, length_, places_,
                                                                   next_key_, pairs_, targets_, singles_);
      SP_LAUNCHED("list_pairs");
      if (survivors > pairs) {
        move_singles<F, false><<<blocks_for(4 * (survivors - pairs)), 256, 0, stream_>>>(in_, singles_, survivors - pairs,
                                                                                       out);
        SP_LAUNCHED("move_singles");
      }
      launch_add_pairs<F>(sms_, ListedPairs<F>{in_, pairs_, targets_}, pairs, prefix_, out, stream_);
    }
    in_ = out;
    entries_ = survivors;
    std::swap(key_, next_key_);
    round_++;
    count_round<false>();
    return true;
  }

 private:
  template <bool FIRST>
  void count_round() {
    SP_CUDA(cudaMemsetAsync(longest_, 0, sizeof(uint32_t), stream_));
    count_pairs<FIRST><<<blocks_for(buckets_ + 1), 256, 0, stream_>>>(start_, length_, places_, buckets_, counts_, longest_);
    SP_LAUNCHED("count_pairs");
    size_t bytes = temporary_bytes_;
    SP_CUDA(cub::DeviceScan::ExclusiveSum(temporary_, bytes, counts_, places_, int(buckets_ + 1), stream_));
    SP_CUDA(cudaMemcpyAsync(host_, places_ + buckets_, sizeof(uint64_t), cudaMemcpyDeviceToHost, stream_));
    SP_CUDA(cudaMemcpyAsync(host_ + 2, longest_, sizeof(uint32_t), cudaMemcpyDeviceToHost, stream_));
    counted_->record(stream_);
  }

  const MsmPlan& plan_;
  const Windows& windows_;
  uint64_t buckets_most_ = 0;
  int bits_most_ = 0;
  uint32_t *keys_[2], *values_[2], *start_, *length_, *longest_, *targets_;
  uint64_t *counts_, *places_;
  uint2 *pairs_, *singles_;
  M* prefix_;
  Affine<M>* sums_[2];
  char* temporary_;
  size_t temporary_bytes_;

  cudaStream_t stream_;
  Event* counted_;
  uint32_t* host_;
  int sms_, first_, group_, round_, side_;
  uint64_t count_, buckets_, entries_;
  GroupBases bases_;
  const Affine<M>*points_, *in_;
  uint32_t *key_, *next_key_;
};

// However a sum ends, nothing of it runs on.
struct Drain {
  MsmQueue& queue;
  ~Drain() {
    for (Stream& s : queue.stream) cudaStreamSynchronize(s);
  }
};

// Everything an MSM keeps on the device beside points and scalars.
template <class M>
struct MsmBuffers {
  using Wide = ExtendedMemory<M>;
  Windows windows;
  uint32_t stride;  // chunks of a window at most
  Wide *sums[2], *weighted[2], *by_bits, *joined;
  WindowGroup<M> groups[2];

  static uint32_t chunks(const Windows& w, const MsmPlan& p) { return (1u << (w.bits[0] - 1)) / p.chunk; }
  MsmBuffers(Arena& arena, const MsmPlan& plan, uint64_t count)
      : windows(Windows::spread(plan.windows)),
        stride(chunks(windows, plan)),
        groups{WindowGroup<M>(arena, plan, windows, count),
               plan.streams > 1 ? WindowGroup<M>(arena, plan, windows, count) : groups[0]} {
    for (int i = 0; i < 2; i++) {
      uint64_t each = i ? (stride + 7) / 8 : stride;
      sums[i] = arena.take<Wide>(each * plan.windows);
      weighted[i] = arena.take<Wide>(each * plan.windows);
    }
    by_bits = arena.take<Wide>(uint64_t(plan.windows) * 32);
    joined = arena.take<Wide>(plan.windows);
  }
  MsmBuffers(const MsmBuffers&) = delete;
};

template <class M>
typename Msm<M>::Sum join_windows(const Windows& w, const ExtendedMemory<M>* of) {
  auto sum = Extended<M>::infinity();
  for (int i = w.count - 1; i >= 0; i--) {
    if (i + 1 < w.count)
      for (int k = 0; k < w.bits[i]; k++) sum = sum.doubled();
    sum.add(Extended<M>::load(of + i));
  }
  return sum;
}

template <class M>
MsmPlan Msm<M>::plan(uint64_t count, uint64_t bytes) {
  MsmPlan best{};
  if (!count) return best;
  for (uint64_t slice = count;; slice = (slice + 1) / 2) {
    int log = 0;
    while ((uint64_t(1) << log) < slice) log++;
    MsmPlan p;
    p.slice = slice;
    // Measured on an H200 at the sizes between; below 2^16 a smaller window's fewer buckets cost less to integrate.
    p.windows = log >= 26   ? 12
                : log >= 23 ? 13
                : log >= 20 ? 16
                : log >= 18 ? 18
                : log >= 16 ? 20
                : log >= 14 ? 22
                : log >= 12 ? 26
                : log >= 8  ? 32
                            : 43;
    p.chunk = log >= 26 ? 32 : log >= 23 ? 16 : log >= 18 && sizeof(M) == sizeof(Fp2) ? 4 : 8;
    // 2^28 entries a group keep even the late rounds full; an even number of groups hide each other's sorting.
    uint64_t most = std::max<uint64_t>(1, (uint64_t(1) << 28) / slice);
    int groups = int((p.windows + most - 1) / most + 1) / 2 * 2;
    if (slice < (1 << 18)) groups = 1;
    for (;; groups = std::min(p.windows, groups * 2)) {
      p.group = (p.windows + groups - 1) / groups;
      for (p.streams = p.group < p.windows ? 2 : 1; p.streams > 0; p.streams--) {
        Arena measure;
        MsmBuffers<M> buffers(measure, p, slice);
        p.bytes = measure.used();
        if (p.bytes <= bytes && slice * uint64_t(p.group) < (uint64_t(1) << 31)) return p;
      }
      if (groups >= p.windows) break;
    }
    if (slice <= 1024) fail(SPC_OUT_OF_MEMORY, "%llu bytes are too few for a sum over points", (unsigned long long)bytes);
  }
}

template <class M>
typename Msm<M>::Sum Msm<M>::run(MsmQueue& queue, Arena arena, const MsmInput<M>& input, const MsmPlan& plan,
                                 cudaStream_t before, const Cancel& cancel) {
  using F = typename InKernels<M>::F;
  using Wide = ExtendedMemory<M>;
  Sum total = Sum::infinity();
  if (!input.count) return total;
  int sms = multiprocessors();
  Drain drain{queue};
  MsmBuffers<M> b(arena, plan, std::min(plan.slice, input.count));
  queue.ready.record(before);
  for (int i = 0; i < 2; i++) queue.ready.hold(queue.stream[i]);

  for (uint64_t from = 0; from < input.count; from += plan.slice) {
    uint64_t count = std::min(plan.slice, input.count - from);
    int next = 0;
    bool busy[2] = {false, false};
    auto take_up = [&](int i) {
      busy[i] = next < plan.windows;
      if (!busy[i]) return;
      cancel.check();
      b.groups[i].begin(input, from, count, next, queue.stream[i], &queue.counted[i], queue.counts + 4 * i, sms);
      next += plan.group;
    };
    for (int i = 0; i < plan.streams; i++) take_up(i);
    while (busy[0] || busy[1])
      for (int i = 0; i < 2; i++)
        if (busy[i] && !b.groups[i].advance(b.sums[0], b.weighted[0], b.stride)) take_up(i);
    queue.ready.record(queue.stream[1]);
    queue.ready.hold(queue.stream[0]);

    ChunkCounts chunks;
    for (int w = 0; w < plan.windows; w++) chunks.of[w] = (1u << (b.windows.bits[w] - 1)) / plan.chunk;
    int log = 0, side = 0;
    while ((1 << log) < plan.chunk) log++;
    uint32_t stride = b.stride;
    constexpr unsigned PER = 128 / F::LANES;
    constexpr int FAN = 8;
    while (stride > FEW_CHUNKS) {
      uint32_t next_stride = (stride + FAN - 1) / FAN;
      integrate_chunks<F><<<dim3((next_stride + PER - 1) / PER, plan.windows), 128, 0, queue.stream[0]>>>(
          b.sums[side], b.weighted[side], chunks, stride, FAN, log, next_stride, b.sums[side ^ 1], b.weighted[side ^ 1]);
      SP_LAUNCHED("integrate_chunks");
      for (int w = 0; w < plan.windows; w++) chunks.of[w] = (chunks.of[w] + FAN - 1) / FAN;
      stride = next_stride;
      side ^= 1;
      log += 3;
    }
    uint32_t bits = 0;
    while ((1u << bits) < stride) bits++;
    sum_by_bits<F><<<dim3(bits + 1, plan.windows), 128, 0, queue.stream[0]>>>(b.sums[side], b.weighted[side],
                                                                                       chunks, stride, b.by_bits);
    SP_LAUNCHED("sum_by_bits");
    join_bits<F><<<(plan.windows * F::LANES + 31) / 32, 32, 0, queue.stream[0]>>>(b.by_bits, bits, log, plan.windows,
                                                                                    b.joined);
    SP_LAUNCHED("join_bits");
    Wide windows[MAX_WINDOWS];
    SP_CUDA(cudaMemcpyAsync(windows, b.joined, plan.windows * sizeof(Wide), cudaMemcpyDeviceToHost, queue.stream[0]));
    queue.stream[0].wait();
    total.add(join_windows<M>(b.windows, windows));
  }
  return total;
}

// Buffers of a plain sum.
template <class M>
struct SumBuffers {
  M* prefix;
  Affine<M>* sums[2];
  ExtendedMemory<M>* partial;
  static constexpr unsigned BLOCKS = 128;  // the host adds as many
  SumBuffers(Arena& arena, uint64_t count) {
    prefix = arena.take<M>(count / 2 + 1);
    sums[0] = arena.take<Affine<M>>(count / 2 + 1);
    sums[1] = arena.take<Affine<M>>(count / 4 + 1);
    partial = arena.take<ExtendedMemory<M>>(BLOCKS);
  }
};

template <class M>
uint64_t Msm<M>::sum_bytes(uint64_t count) {
  Arena measure;
  SumBuffers<M> b(measure, count);
  return measure.used();
}

template <class M>
typename Msm<M>::Sum Msm<M>::sum(MsmQueue& queue, Arena arena, const Affine<M>* points, const uint32_t* numbers,
                                 uint64_t count, cudaStream_t before, const Cancel& cancel) {
  using F = typename InKernels<M>::F;
  Sum total = Sum::infinity();
  if (!count) return total;
  SumBuffers<M> b(arena, count);
  Drain drain{queue};
  Stream& stream = queue.stream[0];
  queue.ready.record(before);
  queue.ready.hold(stream);
  int sms = multiprocessors(), round = 0;
  while (count > STOP_SUM) {
    uint64_t pairs = (count + 1) / 2;
    launch_add_pairs<F>(sms, Neighbours<F>{points, numbers, count}, pairs, b.prefix, b.sums[round & 1], stream);
    points = b.sums[round & 1];
    numbers = nullptr;
    count = pairs;
    round++;
  }
  cancel.check();
  constexpr unsigned PER = 128 / F::LANES;
  unsigned blocks = unsigned(std::min<uint64_t>(SumBuffers<M>::BLOCKS, (count + 2 * PER - 1) / (2 * PER)));
  uint64_t rounds = (count + uint64_t(blocks) * PER - 1) / (uint64_t(blocks) * PER);
  sum_affine<F><<<blocks, 128, 0, stream>>>(points, numbers, count, rounds, b.partial);
  SP_LAUNCHED("sum_affine");
  ExtendedMemory<M> partial[SumBuffers<M>::BLOCKS];
  SP_CUDA(cudaMemcpyAsync(partial, b.partial, blocks * sizeof partial[0], cudaMemcpyDeviceToHost, stream));
  stream.wait();
  for (unsigned i = 0; i < blocks; i++) total.add(Sum::load(partial + i));
  return total;
}

}  // namespace splitprove

#endif
