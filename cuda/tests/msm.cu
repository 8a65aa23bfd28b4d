// Sums over points with known logarithms: Σ sᵢ·kᵢ·G computed two ways. Every size, and every kind of scalar and point that
// could be special. Argument: log2 of the most points, 22 or more.
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

enum Points { DISTINCT, INFINITIES, ALL_EQUAL, OPPOSITE, TWICE, ALL_INFINITE, POINTS };
enum Scalars { RANDOM, ZERO, ONE, EQUAL, MINUS_ONE, SMALL, WITNESS, ONE_BUCKET, SCALARS };
static const char* POINTS_NAMES[] = {"distinct", "every third infinite", "all equal", "P, -P", "each twice", "all infinite"};
static const char* SCALARS_NAMES[] = {"random", "0", "1", "all equal", "r-1", "below 256", "0, 1 and wide", "one bucket and few others"};

// What stands at place i: a number, a sign, or infinity.
struct Place {
  uint64_t number;
  int sign;
};
__host__ __device__ inline Place place(int kind, uint64_t i) {
  switch (kind) {
    case INFINITIES: return {i, i % 3 ? 1 : 0};
    case ALL_EQUAL: return {5, 1};
    case OPPOSITE: return {i / 2, i & 1 ? -1 : 1};
    case TWICE: return {i / 2, 1};
    case ALL_INFINITE: return {0, 0};
    default: return {i, 1};
  }
}

template <class M>
__global__ void arrange(const Affine<M>* in, int kind, uint64_t count, Affine<M>* out) {
  SP_EACH(i, count) {
    Place p = place(kind, i);
    Affine<M> q = in[p.number];
    if (p.sign < 0) q.y = -q.y;
    if (p.sign == 0) q = {M::zero(), M::zero()};
    out[i] = q;
  }
}

static Fr scalar(int kind, uint64_t i) {
  switch (kind) {
    case ZERO: return Fr::zero();
    case ONE: return integer(1);
    case EQUAL: return random_integer(9, 1);
    case MINUS_ONE: return -Fr::integer_one();
    case SMALL: return integer(mixed(i) & 255);
    case WITNESS: return mixed(i) % 100 < 50 ? Fr::zero() : mixed(i) % 100 < 97 ? integer(1) : random_integer(3, i);
    case ONE_BUCKET: return mixed(i) % 100 ? integer(12345) : random_integer(4, i);
    default: return random_integer(2, i);
  }
}

template <class M>
class Tester {
 public:
  Tester(const char* name, uint64_t most) : name_(name) {
    SP_CUDA(cudaMalloc(&points_, most * sizeof(Affine<M>)));
    SP_CUDA(cudaMalloc(&arranged_, most * sizeof(Affine<M>)));
    SP_CUDA(cudaMalloc(&scalars_, most * sizeof(Fr)));
    SP_CUDA(cudaMalloc(&numbers_, most * sizeof(uint32_t)));
    SP_CUDA(cudaMallocHost(&pinned_, 256));
    known_.fill(points_, most);
    queue_ = new MsmQueue(pinned_);
    work_.reserve(meter_, uint64_t(8) << 30);
    uint64_t off = Msm<M>::first_off_curve(*queue_, arena(), points_, most);
    check(off == most, "%s: %llu made points are on the curve", name, (unsigned long long)most);
    M bad = M::one();
    SP_CUDA(cudaMemcpy(&points_[most / 2].y, &bad, sizeof bad, cudaMemcpyHostToDevice));
    off = Msm<M>::first_off_curve(*queue_, arena(), points_, most);
    check(off == most / 2, "%s: one that is not is found", name);
    known_.fill(points_, most);
  }
  Arena arena() { return Arena(work_.as<char>(), work_.bytes()); }

  // limit: bytes of working memory; 0: as many as there are.
  void one(uint64_t count, int points, int scalars, uint64_t limit = 0, bool listed = false) {
    arrange<M><<<1024, 256>>>(points_, points, count, arranged_);
    std::vector<Fr> s(count);
    std::vector<uint32_t> numbers(count);
    Fr want[64] = {};
    int threads = int(std::max(1u, std::thread::hardware_concurrency()));
    in_parallel(count, [&](uint64_t from, uint64_t to, int t) {
      Fr sum = Fr::zero();
      for (uint64_t i = from; i < to; i++) {
        s[i] = scalar(scalars, i);
        numbers[i] = uint32_t(listed ? count - 1 - i : i);
        Place p = place(points, numbers[i]);
        Fr k = p.sign ? known_.log(p.number) : Fr::zero();
        if (p.sign < 0) k = -k;
        sum = sum + k * s[i];  // Montgomery form times an integer: an integer
      }
      want[t] = sum;
    });
    Fr sum = Fr::zero();
    for (int t = 0; t < threads; t++) sum = sum + want[t];
    SP_CUDA(cudaMemcpy(scalars_, s.data(), count * sizeof(Fr), cudaMemcpyHostToDevice));
    SP_CUDA(cudaMemcpy(numbers_, numbers.data(), count * sizeof(uint32_t), cudaMemcpyHostToDevice));
    SP_CUDA(cudaDeviceSynchronize());
    MsmPlan plan = Msm<M>::plan(count, limit ? limit : work_.bytes());
    MsmInput<M> input{arranged_, count, scalars_, listed ? numbers_ : nullptr, -1, count};
    auto got = Msm<M>::run(*queue_, arena(), input, plan, queue_->stream[0], Cancel{});
    check(same(got, times(generator<M>(), sum)), "%s %8llu points %-20s scalars %-26s windows %d by %d, slices of %llu", name_,
          (unsigned long long)count, POINTS_NAMES[points], SCALARS_NAMES[scalars], plan.windows, plan.group,
          (unsigned long long)plan.slice);
  }

  void plain(uint64_t count, int points) {
    arrange<M><<<1024, 256>>>(points_, points, count, arranged_);
    std::vector<uint32_t> numbers;
    Fr sum = Fr::zero();
    for (uint64_t i = 0; i < count; i++) {
      if (mixed(i) % 3 == 0) continue;
      numbers.push_back(uint32_t(i));
      Place p = place(points, i);
      Fr k = p.sign ? known_.log(p.number) : Fr::zero();
      sum = sum + (p.sign < 0 ? -k : k);
    }
    SP_CUDA(cudaMemcpy(numbers_, numbers.data(), numbers.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
    SP_CUDA(cudaDeviceSynchronize());
    auto got = Msm<M>::sum(*queue_, arena(), arranged_, numbers_, numbers.size(), queue_->stream[0], Cancel{});
    check(same(got, times(generator<M>(), sum.canonical())), "%s plain sum of %zu points %s", name_, numbers.size(), POINTS_NAMES[points]);
  }

  // Bits reversed, one point fewer than scalars, as in the sum over h.
  void reversed(int log) {
    uint64_t n = uint64_t(1) << log;
    std::vector<Fr> s(n);
    Fr sum = Fr::zero();
    for (uint64_t i = 0; i < n; i++) {
      uint64_t number = 0;
      for (int b = 0; b < log; b++) number |= (i >> b & 1) << (log - 1 - b);
      s[i] = random_integer(6, i);
      if (number < n - 1) sum = sum + known_.log(number) * s[i];
    }
    SP_CUDA(cudaMemcpy(scalars_, s.data(), n * sizeof(Fr), cudaMemcpyHostToDevice));
    MsmPlan plan = Msm<M>::plan(n, work_.bytes());
    auto got = Msm<M>::run(*queue_, arena(), MsmInput<M>{points_, n - 1, scalars_, nullptr, log, n}, plan, queue_->stream[0], Cancel{});
    check(same(got, times(generator<M>(), sum)), "%s 2^%d scalars in reversed order, a point missing", name_, log);
  }

  void cancelled() {
    uint8_t flag = 1;
    int32_t code = SPC_OK;
    try {
      MsmPlan plan = Msm<M>::plan(1 << 16, work_.bytes());
      Msm<M>::run(*queue_, arena(), MsmInput<M>{points_, 1 << 16, scalars_, nullptr, -1, 1 << 16}, plan, queue_->stream[0], Cancel{&flag});
    } catch (const Fault& f) {
      code = f.error.code;
    }
    check(code == SPC_CANCELLED, "%s: a cancelled sum says so", name_);
    code = SPC_OK;
    try {
      Msm<M>::plan(1 << 20, 1000);
    } catch (const Fault& f) {
      code = f.error.code;
    }
    check(code == SPC_OUT_OF_MEMORY, "%s: no plan fits into 1,000 bytes", name_);
  }

 private:
  const char* name_;
  Known<M> known_;
  Affine<M>*points_, *arranged_;
  Fr* scalars_;
  uint32_t *numbers_, *pinned_;
  MsmQueue* queue_;
  Meter meter_;
  DeviceBuffer work_;
};

template <class M>
static void all(const char* name, int most_log) {
  Tester<M> t(name, uint64_t(1) << most_log);
  for (uint64_t count : {1, 2, 3, 31, 255, 256, 1000}) t.one(count, DISTINCT, RANDOM);
  for (int log = 10; log <= most_log; log += 2) t.one((uint64_t(1) << log) - (log & 4), DISTINCT, RANDOM);
  for (int p = 0; p < POINTS; p++)
    for (int s = 0; s < SCALARS; s++) t.one(20000 + p, p, s);
  for (int s = 0; s < SCALARS; s++) t.one(uint64_t(1) << (most_log - 2), DISTINCT, s);
  t.one(uint64_t(1) << (most_log - 2), OPPOSITE, EQUAL);
  t.one(uint64_t(1) << (most_log - 2), ALL_EQUAL, RANDOM);
  t.one(uint64_t(1) << (most_log - 2), TWICE, RANDOM, 0, true);
  for (uint64_t limit : {uint64_t(1) << 30, uint64_t(1) << 28, uint64_t(1) << 26}) t.one((uint64_t(1) << 19) + 77, DISTINCT, RANDOM, limit);
  for (int p = 0; p < POINTS; p++) t.plain(5000, p), t.plain(700001, p);
  t.plain(1, DISTINCT);
  t.plain(4, DISTINCT);
  t.reversed(12);
  t.reversed(0);
  t.reversed(1);
  t.cancelled();
}

int main(int argc, char** argv) try {
  int most = std::max(22, argc > 1 ? atoi(argv[1]) : 22);
  all<Fp>("G1", most);
  all<Fp2>("G2", most - 2);
  printf("%d wrong\n", failures());
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
