// The sums over G2.
#include "msm_impl.cuh"

namespace splitprove {

template <>
uint64_t Msm<Fp2>::first_off_curve(MsmQueue& queue, Arena arena, const G2* points, uint64_t count) {
  Fp two = Fp::one().doubled();
  unsigned long long* first = arena.take<unsigned long long>(1);
  unsigned long long none = count;
  cudaStream_t s = queue.stream[0];
  SP_CUDA(cudaMemcpyAsync(first, &none, sizeof none, cudaMemcpyHostToDevice, s));
  check_curve_g2<<<blocks_for(count), 256, 0, s>>>(points, count, two.doubled(), first);
  SP_LAUNCHED("check_curve_g2");
  SP_CUDA(cudaMemcpyAsync(&none, first, sizeof none, cudaMemcpyDeviceToHost, s));
  queue.stream[0].wait();
  return none;
}

template struct Msm<Fp2>;

}  // namespace splitprove
