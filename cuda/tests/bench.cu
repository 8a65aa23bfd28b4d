// Kernel times on one device: CUDA events, medians of 5, data resident.
#include "../ntt.cuh"
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

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
    typename Msm<M>::Sum got;
    for (int streams = 1; streams <= plan.streams; streams++) {
      MsmPlan p = plan;
      p.streams = streams;
      double ms = median_ms(5, queue.stream[0], [&] {
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
  for (int log = 18; log <= 27; log++) {
    double down = median_ms(5, s, [&] { ntt.to_reversed(a.as<Fr>(), log, false, s); });
    double up = median_ms(5, s, [&] { ntt.to_natural(a.as<Fr>(), log, false, false, s); });
    double coset = median_ms(5, s, [&] { ntt.to_natural(a.as<Fr>(), log, false, true, s); });
    printf("NTT 2^%d: to reversed %.3f ms, to natural %.3f, with the coset %.3f\n", log, down, up, coset);
    fflush(stdout);
  }
  for (int log : {20, 22, 24, 26, 27}) {
    double ms = median_ms(5, s, [&] { ntt.quotient(a.as<Fr>(), b.as<Fr>(), c.as<Fr>(), log, uint64_t(1) << log, s); });
    printf("quotient 2^%d: %.2f ms\n", log, ms);
    fflush(stdout);
  }
}

int main(int argc, char** argv) try {
  int g1 = argc > 1 ? atoi(argv[1]) : 26, g2 = argc > 2 ? atoi(argv[2]) : 22;
  transforms();
  std::vector<int> a, b;
  for (int log : {16, 18, 20, 22, 24, 26}) {
    if (log <= g1) a.push_back(log);
    if (log <= g2) b.push_back(log);
  }
  sums<Fp>("G1", a, uint64_t(64) << 30);
  sums<Fp2>("G2", b, uint64_t(48) << 30);
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
