// Transforms against their definition and against themselves; the quotient against a·b - c = h·(Xⁿ - 1) at a random point.
#include "../ntt.cuh"
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

__global__ void fill(Fr* out, uint64_t seed, uint64_t n) {
  SP_EACH(i, n) out[i] = random_integer(seed, i);
}
__global__ void count_differences(const Fr* x, uint64_t seed, Fr scale, uint64_t n, unsigned long long* bad) {
  SP_EACH(i, n) {
    if (x[i] != random_integer(seed, i) * scale) atomicAdd(bad, 1ull);
  }
}

static uint64_t reversed_bits(uint64_t i, int bits) {
  uint64_t r = 0;
  for (int b = 0; b < bits; b++) r |= (i >> b & 1) << (bits - 1 - b);
  return r;
}
static Fr root(int log) {
  Fr w;
  uint64_t v[4] = {0xb9b58d8c5f0e466aull, 0x5b1b4c801819d7ecull, 0x0af53ae352a31e64ull, 0x5bf3adda19e9b27bull};
  std::memcpy(w.w, v, sizeof v);
  for (int i = log; i < 32; i++) w = w.squared();
  return w;
}
static const Fr SEVEN = to_montgomery(integer(7));

// Σ x[i]·z^i; place(i): where coefficient i is.
static Fr evaluate(const std::vector<Fr>& x, const Fr& z, const std::function<uint64_t(uint64_t)>& place) {
  std::vector<Fr> parts(256, Fr::zero());
  in_parallel(x.size(), [&](uint64_t from, uint64_t to, int t) {
    Fr sum = Fr::zero();
    for (uint64_t i = to; i-- > from;) sum = sum * z + x[place(i)];
    parts[t] = sum * z.power(from);
  });
  Fr sum = Fr::zero();
  for (auto& p : parts) sum = sum + p;
  return sum;
}

int main(int argc, char** argv) try {
  int most = argc > 1 ? atoi(argv[1]) : 27;
  Meter meter;
  Stream s;
  Ntt ntt(meter, s);
  uint64_t n = uint64_t(1) << most;
  DeviceBuffer a(meter, n * 32), b(meter, n * 32), c(meter, n * 32), d(meter, 8);
  Fr *x = a.as<Fr>(), *y = b.as<Fr>(), *z = c.as<Fr>();
  auto bad = d.as<unsigned long long>();

  for (int log = 0; log <= std::min(23, most); log++) {
    uint64_t n = uint64_t(1) << log;
    std::vector<Fr> in(n), out(n);
    int wrong = 0;
    // Naive at every place of small domains, at some of large ones.
    auto places = [&](const std::function<void(uint64_t)>& f) {
      if (n <= 64) for (uint64_t j = 0; j < n; j++) f(j);
      else for (uint64_t j : {uint64_t(0), uint64_t(1), n / 2 + 3, n - 1, mixed(log) % n}) f(j);
    };
    auto same_place = [](uint64_t i) { return i; };
    auto reversed_place = [&](uint64_t i) { return reversed_bits(i, log); };
    for (int inverse = 0; inverse < 2; inverse++) {
      Fr w = inverse ? root(log).inverse() : root(log);
      fill<<<1024, 256, 0, s>>>(x, log, n);
      SP_CUDA(cudaMemcpyAsync(in.data(), x, n * 32, cudaMemcpyDeviceToHost, s));
      ntt.to_reversed(x, log, inverse, s);
      SP_CUDA(cudaMemcpyAsync(out.data(), x, n * 32, cudaMemcpyDeviceToHost, s));
      s.wait();
      places([&](uint64_t j) { wrong += out[reversed_bits(j, log)] != evaluate(in, w.power(j), same_place); });
      for (int coset = 0; coset < 2; coset++) {
        SP_CUDA(cudaMemcpyAsync(x, in.data(), n * 32, cudaMemcpyHostToDevice, s));
        ntt.to_natural(x, log, inverse, coset, s);
        SP_CUDA(cudaMemcpyAsync(out.data(), x, n * 32, cudaMemcpyDeviceToHost, s));
        s.wait();
        Fr scale = coset ? to_montgomery(integer(n)).inverse() : Fr::one();
        places([&](uint64_t j) {
          Fr point = w.power(j);
          if (coset) point = point * SEVEN;
          wrong += out[j] != evaluate(in, point, reversed_place) * scale;
        });
      }
    }
    check(wrong == 0, "transforms of 2^%d by definition: %d wrong", log, wrong);
  }
  for (int log = 1; log <= most; log++) {
    uint64_t n = uint64_t(1) << log;
    unsigned long long differ = 0;
    SP_CUDA(cudaMemsetAsync(bad, 0, 8, s));
    fill<<<1024, 256, 0, s>>>(x, log, n);
    ntt.to_reversed(x, log, true, s);
    ntt.to_natural(x, log, false, false, s);
    count_differences<<<1024, 256, 0, s>>>(x, log, to_montgomery(integer(n)), n, bad);
    SP_CUDA(cudaMemcpyAsync(&differ, bad, 8, cudaMemcpyDeviceToHost, s));
    s.wait();
    check(differ == 0, "2^%d there and back: %llu differ", log, differ);
  }
  for (int log : {0, 1, 2, 3, 5, 8, 10, 13, 17, 19, 20, 22, most}) {
    if (log > most) continue;
    uint64_t n = uint64_t(1) << log, rows = n - n / 5;
    std::vector<Fr> va(n), vb(n), h(n);
    fill<<<1024, 256, 0, s>>>(x, 100 + log, n);
    fill<<<1024, 256, 0, s>>>(y, 200 + log, n);
    SP_CUDA(cudaMemcpyAsync(va.data(), x, n * 32, cudaMemcpyDeviceToHost, s));
    SP_CUDA(cudaMemcpyAsync(vb.data(), y, n * 32, cudaMemcpyDeviceToHost, s));
    ntt.quotient(x, y, z, log, rows, s);
    SP_CUDA(cudaMemcpyAsync(h.data(), x, n * 32, cudaMemcpyDeviceToHost, s));
    s.wait();
    // Polynomials from values on the domain, at t: Σ v[i]·ω^i·(tⁿ - 1)/(n·(t - ω^i)).
    Fr t = to_montgomery(random_integer(5, log)), w = root(log);
    Fr sums[3][256];
    for (auto& each : sums) for (auto& v : each) v = Fr::zero();
    in_parallel(n, [&](uint64_t from, uint64_t to, int k) {
      Fr p = w.power(from);
      constexpr uint64_t BATCH = 256;
      std::vector<Fr> product(BATCH + 1), power(BATCH);
      for (uint64_t i = from; i < to; i += BATCH) {
        uint64_t m = std::min(BATCH, to - i);
        product[0] = Fr::one();
        for (uint64_t j = 0; j < m; j++, p = p * w) power[j] = p, product[j + 1] = product[j] * (t - p);
        Fr inverse = product[m].inverse();
        for (uint64_t j = m; j-- > 0;) {
          Fr one = inverse * product[j] * power[j];
          inverse = inverse * (t - power[j]);
          if (i + j >= rows) continue;
          Fr l = one * va[i + j], r = one * vb[i + j];
          sums[0][k] = sums[0][k] + l;
          sums[1][k] = sums[1][k] + r;
          sums[2][k] = sums[2][k] + l * vb[i + j];
        }
      }
    });
    Fr vanishing = t.power(n) - Fr::one(), factor = vanishing * to_montgomery(integer(n)).inverse(), at[3];
    for (int k = 0; k < 3; k++) {
      at[k] = Fr::zero();
      for (auto& v : sums[k]) at[k] = at[k] + v;
      at[k] = at[k] * factor;
    }
    Fr quotient = to_montgomery(evaluate(h, t, [&](uint64_t i) { return reversed_bits(i, log); }));
    check(quotient * vanishing == at[0] * at[1] - at[2], "quotient of 2^%d, %llu rows, at a random point", log, (unsigned long long)rows);
    check(h[n - 1].is_zero(), "quotient of 2^%d: its highest coefficient is zero", log);
  }
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
