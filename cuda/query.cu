#include "query.cuh"

namespace splitprove {

namespace {

constexpr unsigned THREADS = 1024;

// Blocks claim places in the lists as one: a claim a warp would wait for the others' too long.
__global__ void classify(Terms terms, Values v) {
  __shared__ uint32_t here[2], from[2];
  const unsigned lane = threadIdx.x & 31, below = (1u << lane) - 1;
  for (uint64_t start = uint64_t(blockIdx.x) * THREADS; start < v.count; start += uint64_t(gridDim.x) * THREADS) {
    if (threadIdx.x < 2) here[threadIdx.x] = 0;
    __syncthreads();
    uint64_t i = start + threadIdx.x;
    uint32_t point = v.first + uint32_t(i);
    bool there = i < v.count;
    if (there && v.bits) {
      uint64_t word = v.bits[i / 64], before = word & ((uint64_t(1) << (i % 64)) - 1);
      there = word >> (i % 64) & 1;
      point = v.first + v.ranks[i / 64] + __popcll(before);
    }
    Fr x = Fr::zero();
    bool one = false, wide = false;
    if (there && v.planes) {
      uint64_t at = i / 64, bit = uint64_t(1) << (i % 64), w = v.planes[2 * at + 1];
      one = v.planes[2 * at] & bit;
      wide = w & bit;
      if (wide) x = v.values[v.wide_ranks[at] + __popcll(w & (bit - 1))];
    } else if (there) {
      x = v.values[i];
      one = x == Fr::one();
      wide = !one && !x.is_zero();
    }
    unsigned ones = __ballot_sync(0xffffffffu, one), wides = __ballot_sync(0xffffffffu, wide);
    uint32_t a = 0, b = 0;
    if (lane == 0) a = atomicAdd(&here[0], __popc(ones)), b = atomicAdd(&here[1], __popc(wides));
    a = __shfl_sync(0xffffffffu, a, 0) + __popc(ones & below);
    b = __shfl_sync(0xffffffffu, b, 0) + __popc(wides & below);
    __syncthreads();
    if (threadIdx.x < 2) from[threadIdx.x] = atomicAdd(terms.lengths + threadIdx.x, here[threadIdx.x]);
    __syncthreads();
    if (one) terms.ones[from[0] + a] = point;
    if (wide) {
      terms.wide[from[1] + b] = point;
      terms.scalars[from[1] + b] = x.canonical();
    }
  }
}

}  // namespace

void clear_terms(const Terms& terms, cudaStream_t s) { SP_CUDA(cudaMemsetAsync(terms.lengths, 0, 2 * sizeof(uint32_t), s)); }

void add_terms(const Terms& terms, const Values& values, cudaStream_t s) {
  if (!values.count) return;
  classify<<<blocks_for(values.count, THREADS, 132 * 2), THREADS, 0, s>>>(terms, values);
  SP_LAUNCHED("classify");
}

}  // namespace splitprove
