// Faults, streams, events and memory. Inside the backend a fault is an exception; entry.cu turns it into a value.
#ifndef SPLITPROVE_RUNTIME_CUH
#define SPLITPROVE_RUNTIME_CUH

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "splitprove_cuda.h"

namespace splitprove {

struct Fault {
  spc_error error;
};

[[noreturn]] inline void fail(int32_t code, const char* format, ...) {
  Fault f{};
  f.error.code = code;
  va_list list;
  va_start(list, format);
  vsnprintf(f.error.message, sizeof f.error.message, format, list);
  va_end(list);
  throw f;
}

// Whether nothing on the device can go on after this error, in this process.
inline bool is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorUnknown:
    case cudaErrorDevicesUnavailable:
      return true;
    default:
      return false;
  }
}

[[noreturn]] inline void fail_cuda(cudaError_t e, const char* call, const char* file, int line) {
  cudaGetLastError();  // what is not sticky is forgotten
  Fault f{};
  f.error.code = e == cudaErrorMemoryAllocation ? SPC_OUT_OF_MEMORY : is_sticky(e) ? SPC_LOST : SPC_FAILED;
  f.error.cuda_error = e;
  const char* name = file;
  for (const char* p = file; *p; p++)
    if (*p == '/') name = p + 1;
  snprintf(f.error.message, sizeof f.error.message, "%.120s: %s (%s:%d)", call, cudaGetErrorString(e), name, line);
  throw f;
}

#define SP_CUDA(call)                                                                       \
  do {                                                                                      \
    cudaError_t sp_error_ = (call);                                                         \
    if (sp_error_ != cudaSuccess) ::splitprove::fail_cuda(sp_error_, #call, __FILE__, __LINE__); \
  } while (0)
// After every launch.
#define SP_LAUNCHED(what)                                                                    \
  do {                                                                                       \
    cudaError_t sp_error_ = cudaGetLastError();                                              \
    if (sp_error_ != cudaSuccess) ::splitprove::fail_cuda(sp_error_, what, __FILE__, __LINE__); \
  } while (0)

// Looked at between steps.
struct Cancel {
  const volatile uint8_t* flag = nullptr;
  void check() const {
    if (flag && *flag) fail(SPC_CANCELLED, "cancelled");
  }
};

struct Stream {
  cudaStream_t it = nullptr;
  Stream() { SP_CUDA(cudaStreamCreateWithFlags(&it, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(it); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return it; }
  void wait() { SP_CUDA(cudaStreamSynchronize(it)); }
};

struct Event {
  cudaEvent_t it = nullptr;
  explicit Event(unsigned flags = cudaEventDisableTiming) { SP_CUDA(cudaEventCreateWithFlags(&it, flags)); }
  ~Event() { cudaEventDestroy(it); }
  Event(const Event&) = delete;
  void record(cudaStream_t s) { SP_CUDA(cudaEventRecord(it, s)); }
  void wait() { SP_CUDA(cudaEventSynchronize(it)); }
  void hold(cudaStream_t s) { SP_CUDA(cudaStreamWaitEvent(s, it, 0)); }
};

// Bytes in use and the most there ever were.
struct Meter {
  uint64_t now = 0, peak = 0;
  void add(uint64_t bytes) { peak = std::max(peak, now += bytes); }
  void take(uint64_t bytes) { now -= bytes; }
};

// Device memory that is freed with its owner.
class DeviceBuffer {
 public:
  DeviceBuffer() {}
  DeviceBuffer(Meter& meter, uint64_t bytes) { reserve(meter, bytes); }
  ~DeviceBuffer() { release(); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& o) { *this = std::move(o); }
  DeviceBuffer& operator=(DeviceBuffer&& o) {
    std::swap(meter_, o.meter_);
    std::swap(at_, o.at_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  // At least so many bytes; the content is lost when it grows.
  void reserve(Meter& meter, uint64_t bytes) {
    if (bytes <= bytes_) return;
    release();
    SP_CUDA(cudaMalloc(&at_, bytes));
    meter_ = &meter;
    bytes_ = bytes;
    meter.add(bytes);
  }
  void release() {
    if (!at_) return;
    cudaFree(at_);
    meter_->take(bytes_);
    at_ = nullptr;
    bytes_ = 0;
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(at_);
  }
  uint64_t bytes() const { return bytes_; }

 private:
  Meter* meter_ = nullptr;
  void* at_ = nullptr;
  uint64_t bytes_ = 0;
};

// Pinned host memory.
class PinnedBuffer {
 public:
  PinnedBuffer() {}
  PinnedBuffer(Meter& meter, uint64_t bytes) : meter_(&meter) {
    SP_CUDA(cudaMallocHost(&at_, bytes));
    bytes_ = bytes;
    meter.add(bytes);
  }
  ~PinnedBuffer() {
    if (!at_) return;
    cudaFreeHost(at_);
    meter_->take(bytes_);
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(PinnedBuffer&& o) {
    std::swap(meter_, o.meter_);
    std::swap(at_, o.at_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(at_);
  }
  uint64_t bytes() const { return bytes_; }

 private:
  Meter* meter_ = nullptr;
  void* at_ = nullptr;
  uint64_t bytes_ = 0;
};

// Deals out parts of a buffer. Without one it only counts: the same code says how much it will take and takes it.
class Arena {
 public:
  Arena() : measuring_(true) {}
  Arena(void* at, uint64_t bytes) : at_(static_cast<char*>(at)), bytes_(bytes) {}
  template <class T>
  T* take(uint64_t count) {
    uint64_t from = used_;
    used_ += (count * sizeof(T) + 511) & ~uint64_t(511);
    if (measuring_) return nullptr;
    if (used_ > bytes_)
      fail(SPC_FAILED, "working memory is short: %llu of %llu bytes", (unsigned long long)used_, (unsigned long long)bytes_);
    return reinterpret_cast<T*>(at_ + from);
  }
  uint64_t used() const { return used_; }
  bool measuring() const { return measuring_; }

 private:
  char* at_ = nullptr;
  uint64_t bytes_ = 0, used_ = 0;
  bool measuring_ = false;
};

// Blocks for a loop with a grid's stride over n elements.
inline unsigned blocks_for(uint64_t n, unsigned threads = 256, unsigned most = 132 * 64) {
  return unsigned(std::min<uint64_t>(std::max<uint64_t>(1, (n + threads - 1) / threads), most));
}

#define SP_EACH(i, n)                                                                                   \
  for (uint64_t i = threadIdx.x + uint64_t(blockIdx.x) * blockDim.x; i < (n); i += uint64_t(gridDim.x) * blockDim.x)

}  // namespace splitprove

#endif
