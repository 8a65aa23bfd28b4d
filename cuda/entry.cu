// splitprove_cuda.h: check, call, and make values of faults.
#include <new>
#include <system_error>

#include "context.cuh"

using namespace splitprove;

namespace {

spc_error plain(int32_t code, const char* message) {
  spc_error e{};
  e.code = code;
  snprintf(e.message, sizeof e.message, "%s", message);
  return e;
}

template <class F>
spc_error guarded(F f) noexcept {
  try {
    f();
    return spc_error{};
  } catch (const Fault& fault) {
    return fault.error;
  } catch (const std::bad_alloc&) {
    return plain(SPC_FAILED, "the host has no memory left");
  } catch (const std::exception& e) {
    return plain(SPC_FAILED, e.what());
  } catch (...) {
    return plain(SPC_FAILED, "an unknown C++ exception");
  }
}

// On a context: its device is current, and what it cannot recover from is remembered.
template <class F>
spc_error guarded_on(spc_context* context, F f) noexcept {
  if (!context) return plain(SPC_INVALID, "no context");
  if (context->lost.code != SPC_OK) return context->lost;
  spc_error e = guarded([&] {
    SP_CUDA(cudaSetDevice(context->device));
    f();
  });
  if (e.code != SPC_OK) {
    // Nothing may run on in memory that the next call uses. Faults of kernels show here at the latest.
    cudaError_t after = cudaDeviceSynchronize();
    if (after != cudaSuccess) {
      cudaGetLastError();
      if (is_sticky(after) && e.code != SPC_LOST) {
        e = plain(SPC_LOST, cudaGetErrorString(after));
        e.cuda_error = after;
      }
    }
  }
  if (e.code == SPC_LOST) context->lost = e;
  return e;
}

}  // namespace

extern "C" {

spc_error spc_device_count(int32_t* count, int32_t* runtime_version, int32_t* driver_version) {
  return guarded([&] {
    if (!count || !runtime_version || !driver_version) fail(SPC_INVALID, "an argument is NULL");
    int n = 0, runtime = 0, driver = 0;
    SP_CUDA(cudaRuntimeGetVersion(&runtime));
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    cudaError_t e = driver ? cudaGetDeviceCount(&n) : cudaErrorNoDevice;
    if (e != cudaSuccess) {
      cudaGetLastError();
      n = 0;
      if (e != cudaErrorNoDevice && e != cudaErrorInsufficientDriver) fail_cuda(e, "cudaGetDeviceCount", __FILE__, __LINE__);
    }
    *count = n;
    *runtime_version = runtime;
    *driver_version = driver;
  });
}

spc_error spc_device_get(int32_t index, spc_device* out) {
  return guarded([&] {
    if (!out) fail(SPC_INVALID, "out is NULL");
    cudaDeviceProp p;
    SP_CUDA(cudaGetDeviceProperties(&p, index));
    spc_device d{};
    const unsigned char* u = reinterpret_cast<const unsigned char*>(p.uuid.bytes);
    snprintf(d.uuid, sizeof d.uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
             u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    snprintf(d.name, sizeof d.name, "%s", p.name);
    d.memory_bytes = p.totalGlobalMem;
    d.capability_major = p.major;
    d.capability_minor = p.minor;
    *out = d;
  });
}

spc_error spc_context_create(int32_t index, uint64_t memory_limit, uint64_t pinned_limit, spc_context** out) {
  return guarded([&] {
    if (!out) fail(SPC_INVALID, "out is NULL");
    *out = new spc_context(index, memory_limit, pinned_limit);
  });
}

void spc_context_destroy(spc_context* context) {
  guarded([&] { delete context; });
}

spc_error spc_context_memory(spc_context* context, spc_memory* out) {
  return guarded([&] {
    if (!context || !out) fail(SPC_INVALID, "an argument is NULL");
    *out = {context->device_meter.now, context->device_meter.peak, context->pinned_meter.now, context->pinned_meter.peak};
  });
}

spc_error spc_params_load(spc_context* context, const spc_params_view* params, const volatile uint8_t* cancelled,
                          spc_params** out) {
  return guarded_on(context, [&] {
    if (!params || !out) fail(SPC_INVALID, "an argument is NULL");
    std::unique_ptr<spc_params> loaded(new spc_params);
    context->load(*params, Cancel{cancelled}, *loaded);
    *out = loaded.release();
  });
}

void spc_params_unload(spc_context* context, spc_params* params) {
  if (!context || !params) return;
  guarded([&] {
    cudaSetDevice(context->device);
    delete params;
  });
}

spc_error spc_prove_start(spc_context* context, spc_params* params, const spc_witness* witness,
                          const volatile uint8_t* cancelled, uint64_t h[12]) {
  return guarded_on(context, [&] {
    if (!params || !witness || !h) fail(SPC_INVALID, "an argument is NULL");
    context->start(*params, *witness, Cancel{cancelled}, h);
  });
}

spc_error spc_prove_finish(spc_context* context, spc_params* params, const spc_witness* witness,
                           const volatile uint8_t* cancelled, spc_sums* out) {
  return guarded_on(context, [&] {
    if (!params || !witness || !out) fail(SPC_INVALID, "an argument is NULL");
    context->finish(*params, *witness, Cancel{cancelled}, *out);
  });
}

}  // extern "C"
