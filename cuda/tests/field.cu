// The device's field arithmetic against the host's, and the host's against the curves' own laws.
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

constexpr int OPERATIONS = 9;

template <class F>
__global__ void operate(const F* in, uint32_t n, F* out) {
  uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  F a = in[i], b = in[(i + 1) % n], c = in[(i + 5) % n], d = in[(i + 11) % n];
  F* o = out + i * OPERATIONS;
  o[0] = a * b;
  o[1] = a.squared();
  o[2] = a + b;
  o[3] = a - b;
  o[4] = -a;
  o[5] = a.inverse();
  if constexpr (F::N == 12)
    o[6] = F::sum_of_products(a, b, c, d);
  else  // every step of it with values up to 2r
    o[6] = a.loose_sum(b).loose_product(c).loose_difference(d.loose_sum(d)).loose_product(b).reduced();
  o[7] = a.canonical();
  o[8] = a.negated_if(i & 1);
}

template <class F>
static void fields(const char* name, const F& minus_one) {
  const uint32_t n = 4096;
  std::vector<F> in(n), out(n * OPERATIONS);
  for (uint32_t i = 0; i < n; i++) {
    F x = F::zero();
    for (int k = 0; k < F::N; k++) x.w[k] = uint32_t(mixed(1000 + i * 32 + k));
    x.w[F::N - 1] &= F::N == 12 ? 0x0fffffff : 0x3fffffff;
    in[i] = x;
  }
  F edges[] = {F::zero(), F::one(), minus_one, F::integer_one(), -F::integer_one(), F::zero(), F::zero()};
  for (int i = 0; i < 7; i++) in[i] = in[i + 100] = edges[i], in[2 * i + 300] = edges[i];
  for (int i = 0; i < 60; i++) in[400 + i] = minus_one - in[400 + i] * F::zero();
  F *d_in, *d_out;
  SP_CUDA(cudaMalloc(&d_in, n * sizeof(F)));
  SP_CUDA(cudaMalloc(&d_out, n * OPERATIONS * sizeof(F)));
  SP_CUDA(cudaMemcpy(d_in, in.data(), n * sizeof(F), cudaMemcpyHostToDevice));
  operate<F><<<n / 128, 128>>>(d_in, n, d_out);
  SP_LAUNCHED("operate");
  SP_CUDA(cudaMemcpy(out.data(), d_out, n * OPERATIONS * sizeof(F), cudaMemcpyDeviceToHost));
  int bad[OPERATIONS] = {};
  for (uint32_t i = 0; i < n; i++) {
    F a = in[i], b = in[(i + 1) % n], c = in[(i + 5) % n], d = in[(i + 11) % n];
    F want[OPERATIONS] = {a * b, a * a, a + b, a - b, -a, a.inverse(), F::N == 12 ? a * b + c * d : ((a + b) * c - d - d) * b, a.canonical(), i & 1 ? -a : a};
    for (int k = 0; k < OPERATIONS; k++) bad[k] += out[i * OPERATIONS + k] != want[k];
  }
  const char* names[OPERATIONS] = {"product", "square", "sum", "difference", "negative", "inverse", "sum of products", "canonical", "negated_if"};
  for (int k = 0; k < OPERATIONS; k++) check(bad[k] == 0, "%s %s on the device: %d of %u differ from the host's", name, names[k], bad[k], n);
  F x = in[2000];
  check(x * x.inverse() == F::one(), "%s x/x = 1 on the host", name);
}

template <class M>
static void curve(const char* name, const M& b) {
  auto g = generator<M>();
  check(g.y.squared() == g.x.squared() * g.x + b, "%s's generator is on the curve", name);
  Fr order = -Fr::integer_one();  // r - 1 as an integer
  check(same(times(g, order), Extended<M>{g.x, -g.y, M::one(), M::one()}), "%s: (r - 1)·G = -G", name);
  auto s = times(g, order);
  s.add_affine(g.x, g.y);
  check(s.is_infinity(), "%s: r·G is infinity", name);
  auto two = Extended<M>{g.x, g.y, M::one(), M::one()};
  two.add_affine(g.x, g.y);
  auto four = two;
  four.add(two);
  check(same(four, times(g, integer(4))), "%s: equal points double", name);
}

// Every way two G2 points can meet, computed by pairs of lanes, against the host's.
__global__ void add_lanes(const G2* a, const G2* b, uint32_t n, ExtendedMemory<Fp2>* out) {
  uint32_t i = (threadIdx.x + blockIdx.x * blockDim.x) / 2;
  auto s = Extended<Fp2Lane>::infinity();
  s.add_affine(Fp2Lane::load(&a[i].x), Fp2Lane::load(&a[i].y));
  s.add_affine(Fp2Lane::load(&b[i].x), Fp2Lane::load(&b[i].y));
  auto t = s;
  t.add(s);
  t.add_affine(Fp2Lane::load(&a[i].x), Fp2Lane::load(&a[i].y));
  t.store(out + i);
}

static void lanes() {
  const uint32_t n = 64;
  std::vector<G2> a(n), b(n);
  auto g = generator<Fp2>();
  G2 infinity{Fp2::zero(), Fp2::zero()};
  for (uint32_t i = 0; i < n; i++) {
    a[i] = times(g, integer(i + 3)).affine();
    switch (i % 6) {
      case 0: b[i] = a[i]; break;
      case 1: b[i] = negated(a[i]); break;
      case 2: b[i] = infinity; break;
      case 3: b[i] = a[i], a[i] = infinity; break;
      case 4: a[i] = b[i] = infinity; break;
      default: b[i] = times(g, integer(1000 + i)).affine();
    }
  }
  G2 *d_a, *d_b;
  ExtendedMemory<Fp2>* d_out;
  std::vector<ExtendedMemory<Fp2>> out(n);
  SP_CUDA(cudaMalloc(&d_a, n * sizeof(G2)));
  SP_CUDA(cudaMalloc(&d_b, n * sizeof(G2)));
  SP_CUDA(cudaMalloc(&d_out, n * sizeof out[0]));
  SP_CUDA(cudaMemcpy(d_a, a.data(), n * sizeof(G2), cudaMemcpyHostToDevice));
  SP_CUDA(cudaMemcpy(d_b, b.data(), n * sizeof(G2), cudaMemcpyHostToDevice));
  add_lanes<<<1, 2 * n>>>(d_a, d_b, n, d_out);
  SP_LAUNCHED("add_lanes");
  SP_CUDA(cudaMemcpy(out.data(), d_out, n * sizeof out[0], cudaMemcpyDeviceToHost));
  int bad = 0;
  for (uint32_t i = 0; i < n; i++) {
    auto s = Extended<Fp2>::infinity();
    s.add_affine(a[i].x, a[i].y);
    s.add_affine(b[i].x, b[i].y);
    auto t = s;
    t.add(s);
    t.add_affine(a[i].x, a[i].y);
    bad += !same(t, Extended<Fp2>::load(&out[i]));
  }
  check(bad == 0, "G2 sums by pairs of lanes: %d of %u differ from the host's", bad, n);
}

int main() try {
  fields<Fp>("Fp", -Fp::one());
  fields<Fr>("Fr", -Fr::one());
  Fp four = Fp::one().doubled().doubled();
  curve<Fp>("G1", four);
  curve<Fp2>("G2", {four, four});
  lanes();
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
