// A device's lane: what entry.cu's functions work with.
#ifndef SPLITPROVE_CONTEXT_CUH
#define SPLITPROVE_CONTEXT_CUH

#include <memory>

#include "msm.cuh"
#include "ntt.cuh"
#include "query.cuh"
#include "upload.cuh"

// A query's points on the device.
template <class M>
struct DevicePoints {
  splitprove::DeviceBuffer memory;
  uint64_t count = 0;
  const splitprove::Affine<M>* at() const { return memory.as<splitprove::Affine<M>>(); }
};

struct spc_params {
  DevicePoints<splitprove::Fp> h, l, a, b_g1;
  DevicePoints<splitprove::Fp2> b_g2;
};

struct spc_context {
  spc_context(int32_t index, uint64_t memory_limit, uint64_t pinned_limit);
  ~spc_context();

  void load(const spc_params_view& view, const splitprove::Cancel& cancel, spc_params& out);
  void start(const spc_params& params, const spc_witness& w, const splitprove::Cancel& cancel, uint64_t* h);
  void finish(const spc_params& params, const spc_witness& w, const splitprove::Cancel& cancel, spc_sums& out);

  int32_t device;
  // The error after which nothing more can be done; code SPC_OK: none.
  spc_error lost{};
  splitprove::Meter device_meter, pinned_meter;

 private:
  // Working memory for a sum of `count` terms, as much as a good plan takes, or as there is.
  template <class M>
  splitprove::MsmPlan make_room(uint64_t count);
  uint64_t left() const { return limit_ > device_meter.now ? limit_ - device_meter.now : 0; }
  void reserve(splitprove::DeviceBuffer& buffer, uint64_t bytes);
  template <class M>
  void load_points(const spc_points& list, const char* name, const splitprove::Cancel& cancel, DevicePoints<M>& out);
  template <class M>
  splitprove::Extended<M> sum_terms(const DevicePoints<M>& points, const splitprove::Terms& terms, const uint32_t* lengths,
                                    const splitprove::Cancel& cancel);

  uint64_t limit_ = 0;
  std::unique_ptr<splitprove::Stream> stream_;
  splitprove::PinnedBuffer words_;
  std::unique_ptr<splitprove::MsmQueue> queue_;
  std::unique_ptr<splitprove::Ntt> ntt_;
  std::unique_ptr<splitprove::Uploader> uploader_;
  // In start: a, b and c; in finish: values and terms. And what a sum works in.
  splitprove::DeviceBuffer values_, scratch_;
};

#endif
