// Kernel times on one device: CUDA events, medians of 5, data resident.
#include "../ntt.cuh"
#include "../query.cuh"
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

static const int RUNS = getenv("RUNS") ? atoi(getenv("RUNS")) : 5;

__global__ void fill(Fr* out, uint64_t seed, uint64_t n) {
  SP_EACH(i, n) out[i] = random_integer(seed, i);
}

template <class M>
static void sums(const char* name, const std::vector<int>& logs, uint64_t work_bytes) {
  int most = logs.back();
  uint64_t n = uint64_t(1) << most;
  Meter meter;
  DeviceBuffer points(meter, n * sizeof(Affine<M>)), scalars(meter, n * sizeof(Fr)), work(meter, work_bytes);
  uint32_t* pinned;
  SP_CUDA(cudaMallocHost(&pinned, 256));
  MsmQueue queue(pinned);
  Known<M> known;
  known.fill(points.as<Affine<M>>(), n);
  fill<<<1024, 256>>>(scalars.as<Fr>(), 1, n);
  SP_CUDA(cudaDeviceSynchronize());
  for (int log : logs) {
    uint64_t count = uint64_t(1) << log;
    MsmPlan plan = Msm<M>::plan(count, work_bytes);
    // To try others: WINDOWS, GROUPS and CHUNK in the environment.
    if (const char* w = getenv("WINDOWS")) {
      plan.windows = atoi(w);
      int groups = getenv("GROUPS") ? atoi(getenv("GROUPS")) : 2;
      plan.group = (plan.windows + groups - 1) / groups;
    }
    if (const char* c = getenv("CHUNK")) plan.chunk = atoi(c);
    typename Msm<M>::Sum got;
    for (int streams = 1; streams <= plan.streams; streams++) {
      MsmPlan p = plan;
      p.streams = streams;
      double ms = median_ms(RUNS, queue.stream[0], [&] {
        got = Msm<M>::run(queue, Arena(work.as<char>(), work_bytes), MsmInput<M>{points.as<Affine<M>>(), count, scalars.as<Fr>(), nullptr, -1, count}, p, queue.stream[0], Cancel{});
      });
      std::vector<Fr> parts(256, Fr::zero());
      in_parallel(count, [&](uint64_t from, uint64_t to, int t) {
        Fr sum = Fr::zero();
        for (uint64_t i = from; i < to; i++) sum = sum + known.log(i) * random_integer(1, i);
        parts[t] = sum;
      });
      Fr sum = Fr::zero();
      for (auto& v : parts) sum = sum + v;
      check(same(got, times(generator<M>(), sum)), "%s MSM 2^%d %9.2f ms, windows %d by %d, streams %d, chunk %d, %.1f GiB", name, log, ms, p.windows, p.group, p.streams, p.chunk, p.bytes / 1073741824.0);
    }
  }
  cudaFreeHost(pinned);
}

static void transforms() {
  Meter meter;
  Stream s;
  Ntt ntt(meter, s);
  uint64_t n = uint64_t(1) << 27;
  DeviceBuffer a(meter, n * 32), b(meter, n * 32), c(meter, n * 32);
  fill<<<1024, 256, 0, s>>>(a.as<Fr>(), 1, n);
  fill<<<1024, 256, 0, s>>>(b.as<Fr>(), 2, n);
  for (int log : {18, 20, 22, 24, 26, 27}) {
    double down = median_ms(RUNS, s, [&] { ntt.to_reversed(a.as<Fr>(), log, false, s); });
    double up = median_ms(RUNS, s, [&] { ntt.to_natural(a.as<Fr>(), log, false, false, s); });
    double coset = median_ms(RUNS, s, [&] { ntt.to_natural(a.as<Fr>(), log, false, true, s); });
    printf("NTT 2^%d: to reversed %.3f ms, to natural %.3f, with the coset %.3f\n", log, down, up, coset);
    fflush(stdout);
  }
  for (int log : {20, 22, 24, 26, 27}) {
    double ms = median_ms(RUNS, s, [&] { ntt.quotient(a.as<Fr>(), b.as<Fr>(), c.as<Fr>(), log, uint64_t(1) << log, s); });
    printf("quotient 2^%d: %.2f ms\n", log, ms);
    fflush(stdout);
  }
}

__global__ void fill_witness(Fr* out, uint64_t n) {
  SP_EACH(i, n) {
    uint64_t m = mixed(i) % 1000;
    out[i] = m < 514 ? Fr::zero() : m < 984 ? Fr::one() : random_integer(8, i) * Fr::square_of_r();
  }
}

// A query of a PoRep partition: 130 M values, 47 % of them one, 1.6 % wide.
static void query() {
  const uint64_t n = 130000000;
  Meter meter;
  Stream s;
  DeviceBuffer points(meter, n * sizeof(G1)), values(meter, n * sizeof(Fr)), list(meter, n * Terms::BYTES + (1 << 20)), work(meter, uint64_t(24) << 30);
  uint32_t* pinned;
  SP_CUDA(cudaMallocHost(&pinned, 256));
  MsmQueue queue(pinned);
  Known<Fp> known;
  known.fill(points.as<G1>(), n);
  fill_witness<<<1024, 256, 0, s>>>(values.as<Fr>(), n);
  Arena arena(list.as<char>(), list.bytes());
  Terms terms(arena, n, n);
  double classify = median_ms(RUNS, s, [&] {
    clear_terms(terms, s);
    add_terms(terms, Values{values.as<Fr>(), n, nullptr, nullptr, 0, nullptr, nullptr}, s);
  });
  uint32_t lengths[2];
  SP_CUDA(cudaMemcpy(lengths, terms.lengths, sizeof lengths, cudaMemcpyDeviceToHost));
  Extended<Fp> ones, wide;
  Arena scratch(work.as<char>(), work.bytes());
  double t1 = median_ms(RUNS, queue.stream[0], [&] { ones = Msm<Fp>::sum(queue, scratch, points.as<G1>(), terms.ones, lengths[0], queue.stream[0], Cancel{}); });
  MsmPlan plan = Msm<Fp>::plan(lengths[1], work.bytes());
  double t2 = median_ms(RUNS, queue.stream[0], [&] { wide = Msm<Fp>::run(queue, scratch, MsmInput<Fp>{points.as<G1>(), n, terms.scalars, terms.wide, -1, lengths[1]}, plan, queue.stream[0], Cancel{}); });
  std::vector<Fr> parts(256, Fr::zero());
  in_parallel(n, [&](uint64_t from, uint64_t to, int t) {
    Fr sum = Fr::zero();
    for (uint64_t i = from; i < to; i++) {
      uint64_t m = mixed(i) % 1000;
      if (m >= 514) sum = sum + known.log(i) * (m < 984 ? integer(1) : random_integer(8, i));
    }
    parts[t] = sum;
  });
  Fr sum = Fr::zero();
  for (auto& v : parts) sum = sum + v;
  ones.add(wide);
  check(same(ones, times(generator<Fp>(), sum)), "PoRep-like query of %llu values: classify %.2f ms, %u ones %.2f, %u wide %.2f, together %.2f", (unsigned long long)n, classify, lengths[0], t1, lengths[1], t2, classify + t1 + t2);
  cudaFreeHost(pinned);
}

// Arguments say what: ntt, query, g1:LOG, g2:LOG; none: everything. RUNS in the environment: 0 times once, for profilers.
int main(int argc, char** argv) try {
  std::vector<int> g1, g2;
  bool ntt = argc == 1, porep = argc == 1;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == 'n') ntt = true;
    if (argv[i][0] == 'q') porep = true;
    if (!strncmp(argv[i], "g1:", 3)) g1.push_back(atoi(argv[i] + 3));
    if (!strncmp(argv[i], "g2:", 3)) g2.push_back(atoi(argv[i] + 3));
  }
  if (argc == 1) g1 = {16, 18, 20, 22, 24, 26, 27}, g2 = {16, 18, 20, 22};
  if (ntt) transforms();
  if (porep) query();
  if (!g1.empty()) sums<Fp>("G1", g1, uint64_t(64) << 30);
  if (!g2.empty()) sums<Fp2>("G2", g2, uint64_t(48) << 30);
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
