// Points with known discrete logarithms, scalars from a counter, and checks, for the tests and the bench.
#ifndef SPLITPROVE_TESTS_KNOWN_CUH
#define SPLITPROVE_TESTS_KNOWN_CUH

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "../msm.cuh"

namespace splitprove {
namespace tests {

inline int& failures() {
  static int n = 0;
  return n;
}
inline void check(bool good, const char* format, ...) {
  va_list list;
  va_start(list, format);
  printf("%s ", good ? "ok   " : "WRONG");
  vprintf(format, list);
  printf("\n");
  fflush(stdout);
  va_end(list);
  failures() += !good;
}

// splitmix64
__host__ __device__ inline uint64_t mixed(uint64_t z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// 255 pseudo-random bits, less r if that is not negative.
__host__ __device__ inline Fr random_integer(uint64_t seed, uint64_t i) {
  const uint64_t r[4] = {0xffffffff00000001ull, 0x53bda402fffe5bfeull, 0x3339d80809a1d805ull, 0x73eda753299d7d48ull};
  uint64_t v[4], t[4], borrow = 0;
  for (int k = 0; k < 4; k++) v[k] = mixed(seed * 0x1000003 + 4 * i + k);
  v[3] &= 0x7fffffffffffffffull;
  for (int k = 0; k < 4; k++) {
    t[k] = v[k] - r[k] - borrow;
    borrow = v[k] < r[k] || (v[k] == r[k] && borrow);
  }
  Fr out;
  for (int k = 0; k < 8; k++) out.w[k] = uint32_t((borrow ? v[k / 2] : t[k / 2]) >> (32 * (k & 1)));
  return out;
}

inline Fr integer(uint64_t v) {
  Fr r = Fr::zero();
  r.w[0] = uint32_t(v), r.w[1] = uint32_t(v >> 32);
  return r;
}
inline Fr to_montgomery(const Fr& x) { return x * Fr::square_of_r(); }

inline Fp fp_from(const uint64_t (&v)[6]) {
  Fp r;
  std::memcpy(r.w, v, sizeof v);
  return r;
}
template <class M>
Affine<M> generator();
template <>
inline G1 generator<Fp>() {
  return {fp_from({0x5cb38790fd530c16ull, 0x7817fc679976fff5ull, 0x154f95c7143ba1c1ull, 0xf0ae6acdf3d0e747ull,
                   0xedce6ecc21dbf440ull, 0x120177419e0bfb75ull}),
          fp_from({0xbaac93d50ce72271ull, 0x8c22631a7918fd8eull, 0xdd595f13570725ceull, 0x51ac582950405194ull,
                   0x0e1c8c3fad0059c0ull, 0x0bbc3efc5008a26aull})};
}
template <>
inline G2 generator<Fp2>() {
  return {{fp_from({0xf5f28fa202940a10ull, 0xb3f5fb2687b4961aull, 0xa1a893b53e2ae580ull, 0x9894999d1a3caee9ull,
                    0x6f67b7631863366bull, 0x058191924350bcd7ull}),
           fp_from({0xa5a9c0759e23f606ull, 0xaaa0c59dbccd60c3ull, 0x3bb17e18e2867806ull, 0x1b1ab6cc8541b367ull,
                    0xc2b6ed0ef2158547ull, 0x11922a097360edf3ull})},
          {fp_from({0x4c730af860494c4aull, 0x597cfa1f5e369c5aull, 0xe7e6856caa0a635aull, 0xbbefb5e96e0d495full,
                    0x07d3a975f0ef25a2ull, 0x0083fd8e7e80dae5ull}),
           fp_from({0xadc0fc92df64b05dull, 0x18aa270a2b1461dcull, 0x86adac6a3be4eba0ull, 0x79495c4ec93da33aull,
                    0xe7175850a43ccaedull, 0x0b2bc2a163de1bf2ull})}};
}

template <class M>
Affine<M> negated(const Affine<M>& p) {
  return {p.x, -p.y};
}

// k·P by double-and-add on the host; k an integer.
template <class M>
Extended<M> times(const Affine<M>& p, const Fr& k) {
  auto r = Extended<M>::infinity();
  for (int i = 255; i >= 0; i--) {
    r = r.doubled();
    if (k.w[i / 32] >> (i % 32) & 1) r.add_affine(p.x, p.y);
  }
  return r;
}

inline void in_parallel(uint64_t n, const std::function<void(uint64_t, uint64_t, int)>& f) {
  int threads = int(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) all.emplace_back([=, &f] { f(n * t / threads, n * (t + 1) / threads, t); });
  for (auto& t : all) t.join();
}

constexpr int HIGH = 2048, MIDDLE = 1024, LOW = 64;  // 2^27 points

template <class M>
__global__ void make_points(const Affine<M>* table, uint64_t from, uint64_t count, Affine<M>* out) {
  uint64_t i = threadIdx.x + uint64_t(blockIdx.x) * blockDim.x;
  bool inside = i < count;
  uint64_t n = from + (inside ? i : 0);
  const Affine<M>&a = table[n >> 16], &b = table[HIGH + ((n >> 6) & 1023)], &c = table[HIGH + MIDDLE + (n & 63)];
  Extended<M> s{a.x, a.y, M::one(), M::one()};
  s.add_affine(b.x, b.y);
  s.add_affine(c.x, c.y);
  M inverse = s.zzz.inverse(), z = inverse * s.zz;
  if (inside) out[i] = {s.x * z.squared(), s.y * inverse};
}

// Pᵢ = kᵢ·G for i < 2^27, kᵢ a sum of three from tables.
template <class M>
class Known {
 public:
  Known() : logs_(HIGH + MIDDLE + LOW) {
    std::vector<Affine<M>> points(logs_.size());
    for (size_t i = 0; i < logs_.size(); i++) logs_[i] = random_integer(77, i);
    in_parallel(logs_.size(), [&](uint64_t from, uint64_t to, int) {
      for (uint64_t i = from; i < to; i++) points[i] = times(generator<M>(), logs_[i]).affine();
    });
    for (auto& k : logs_) k = to_montgomery(k);
    SP_CUDA(cudaMalloc(&table_, points.size() * sizeof(Affine<M>)));
    SP_CUDA(cudaMemcpy(table_, points.data(), points.size() * sizeof(Affine<M>), cudaMemcpyHostToDevice));
  }
  // In Montgomery form.
  Fr log(uint64_t i) const { return logs_[i >> 16] + logs_[HIGH + ((i >> 6) & 1023)] + logs_[HIGH + MIDDLE + (i & 63)]; }
  void fill(Affine<M>* device, uint64_t count) const {
    make_points<M><<<unsigned((count + 127) / 128), 128>>>(table_, 0, count, device);
    SP_LAUNCHED("make_points");
    SP_CUDA(cudaDeviceSynchronize());
  }

 private:
  std::vector<Fr> logs_;
  Affine<M>* table_ = nullptr;
};

template <class M>
bool same(const Extended<M>& a, const Extended<M>& b) {
  Affine<M> p = a.affine(), q = b.affine();
  return p.x == q.x && p.y == q.y;
}

// Milliseconds of `f` on stream s: the median of `runs` after one to warm up.
inline double median_ms(int runs, cudaStream_t s, const std::function<void()>& f) {
  Event a(cudaEventDefault), b(cudaEventDefault);
  std::vector<float> all;
  for (int i = 0; i <= runs; i++) {
    SP_CUDA(cudaDeviceSynchronize());
    a.record(s);
    f();
    b.record(s);
    b.wait();
    float ms;
    SP_CUDA(cudaEventElapsedTime(&ms, a.it, b.it));
    if (i || !runs) all.push_back(ms);
  }
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace tests
}  // namespace splitprove

#endif
