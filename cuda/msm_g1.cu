// The sums over G1.
#include "msm_impl.cuh"

namespace splitprove {

Windows Windows::spread(int count) {
  Windows w{};
  w.count = count;
  int offset = 0;
  uint32_t base = 0;
  for (int i = 0; i < count; i++) {
    int bits = 256 / count + (i < 256 % count);
    w.offset[i] = uint8_t(offset);
    w.bits[i] = uint8_t(bits);
    w.base[i] = base;
    base += (1u << (bits - 1)) + 1;
    offset += bits;
    int half = offset - 1;
    w.shift[half / 64] |= uint64_t(1) << (half % 64);
  }
  w.base[count] = base;
  return w;
}

template <>
uint64_t Msm<Fp>::first_off_curve(MsmQueue& queue, Arena arena, const G1* points, uint64_t count) {
  Fp two = Fp::one().doubled();
  unsigned long long* first = arena.take<unsigned long long>(1);
  unsigned long long none = count;
  cudaStream_t s = queue.stream[0];
  SP_CUDA(cudaMemcpyAsync(first, &none, sizeof none, cudaMemcpyHostToDevice, s));
  check_curve_g1<<<blocks_for(count), 256, 0, s>>>(points, count, two.doubled(), first);
  SP_LAUNCHED("check_curve_g1");
  SP_CUDA(cudaMemcpyAsync(&none, first, sizeof none, cudaMemcpyDeviceToHost, s));
  queue.stream[0].wait();
  return none;
}

template struct Msm<Fp>;

}  // namespace splitprove
