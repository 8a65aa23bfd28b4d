// The entry points, from a witness to its sums: against the parameters' known logarithms. Also what they refuse, that
// cancelling leaves the context as it was, and that memory stays where it is. Argument: log2 of the largest domain.
#include "../ntt.cuh"
#include "known.cuh"

using namespace splitprove;
using namespace splitprove::tests;

static double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Instance {
  int log;
  uint64_t rows, inputs, aux;
  std::vector<Fr> a, b, input_values, aux_values;
  std::vector<uint64_t> a_aux, b_inputs, b_aux, planes;
  std::vector<uint32_t> ranks;
  std::vector<Fr> wide;
  // The same with the aux values packed.
  spc_witness packed() const {
    spc_witness w = view();
    w.aux = nullptr;
    w.aux_planes = planes.data(), w.aux_ranks = ranks.data(), w.aux_wide = wide.data(), w.aux_wide_count = wide.size();
    return w;
  }
  spc_witness view() const {
    spc_witness w{};
    w.inputs = input_values.data(), w.input_count = inputs;
    w.aux = aux_values.data(), w.aux_count = aux;
    w.a = a.data(), w.b = b.data(), w.rows = rows;
    w.a_aux_used = a_aux.data(), w.b_inputs_used = b_inputs.data(), w.b_aux_used = b_aux.data();
    w.log_domain = uint32_t(log);
    return w;
  }
};

static bool bit(const std::vector<uint64_t>& v, uint64_t i) { return v[i / 64] >> (i % 64) & 1; }

static Instance make(int log, uint64_t seed) {
  Instance t;
  t.log = log;
  uint64_t n = uint64_t(1) << log;
  t.rows = n - n / 7, t.inputs = 1 + n % 5 + std::min<uint64_t>(n / 8, 70), t.aux = n - n / 9;
  auto fill = [&](std::vector<Fr>& v, uint64_t count, int kind) {
    v.resize(count);
    in_parallel(count, [&](uint64_t from, uint64_t to, int) {
      for (uint64_t i = from; i < to; i++) {
        uint64_t m = mixed(seed * 31 + i * 7 + kind) % 1000;
        v[i] = kind < 2 || m >= 984 ? random_integer(seed + kind, i) : m < 514 ? Fr::zero() : Fr::one();
      }
    });
  };
  fill(t.a, t.rows, 0), fill(t.b, t.rows, 1), fill(t.input_values, t.inputs, 2), fill(t.aux_values, t.aux, 3);
  auto bits = [&](std::vector<uint64_t>& v, uint64_t count, int kind) {
    v.assign(count / 64 + 1, 0);
    for (uint64_t i = 0; i < count; i++)
      if (mixed(seed + kind * 1000003 + i) % 3) v[i / 64] |= uint64_t(1) << (i % 64);
  };
  t.planes.assign(2 * (t.aux / 64 + 1), 0);
  for (uint64_t i = 0; i < t.aux; i++) {
    if (i % 64 == 0) t.ranks.push_back(uint32_t(t.wide.size()));
    bool one = t.aux_values[i] == Fr::one(), wide = !one && !t.aux_values[i].is_zero();
    t.planes[i / 64 * 2 + wide] |= uint64_t(one || wide) << (i % 64);
    if (wide) t.wide.push_back(t.aux_values[i]);
  }
  t.wide.reserve(1);
  bits(t.a_aux, t.aux, 1), bits(t.b_inputs, t.inputs, 2), bits(t.b_aux, t.aux, 3);
  return t;
}

class Case {
 public:
  Case(const Known<Fp>& g1, const Known<Fp2>& g2, int log) : g1_(g1), g2_(g2), t(make(log, 40 + log)) {
    uint64_t n = uint64_t(1) << log;
    auto points = [&](auto& known, auto& out, uint64_t count) {
      out.resize(count);
      using A = typename std::decay<decltype(out[0])>::type;
      A* device;
      SP_CUDA(cudaMalloc(&device, (count + 1) * sizeof(A)));
      known.fill(device, count);
      SP_CUDA(cudaMemcpy(out.data(), device, count * sizeof(A), cudaMemcpyDeviceToHost));
      cudaFree(device);
    };
    uint64_t a = t.inputs, b = 0;
    for (uint64_t i = 0; i < t.aux; i++) a += bit(t.a_aux, i), b += bit(t.b_aux, i);
    for (uint64_t i = 0; i < t.inputs; i++) b += bit(t.b_inputs, i);
    points(g1, h, n - 1), points(g1, l, t.aux), points(g1, qa, a), points(g1, b1, b), points(g2, b2, b);
  }
  spc_params_view view() const { return {{h.data(), h.size()}, {l.data(), l.size()}, {qa.data(), qa.size()}, {b1.data(), b1.size()}, {b2.data(), b2.size()}}; }

  bool right(const uint64_t* h, const spc_sums& s, const Ntt& ntt) const {
    Fr want[4] = {};
    for (auto& w : want) w = Fr::zero();
    uint64_t n = uint64_t(1) << t.log;
    Fr* d;
    SP_CUDA(cudaMalloc(&d, 3 * n * sizeof(Fr)));
    SP_CUDA(cudaMemcpy(d, t.a.data(), t.rows * sizeof(Fr), cudaMemcpyHostToDevice));
    SP_CUDA(cudaMemcpy(d + n, t.b.data(), t.rows * sizeof(Fr), cudaMemcpyHostToDevice));
    ntt.quotient(d, d + n, d + 2 * n, t.log, t.rows, 0);
    std::vector<Fr> q(n);
    SP_CUDA(cudaMemcpy(q.data(), d, n * sizeof(Fr), cudaMemcpyDeviceToHost));
    cudaFree(d);
    for (uint64_t i = 0; i + 1 < n; i++) {
      uint64_t r = 0;
      for (int k = 0; k < t.log; k++) r |= (i >> k & 1) << (t.log - 1 - k);
      want[0] = want[0] + q[r] * g1_.log(i);
    }
    Fr b2 = Fr::zero();
    uint64_t a = 0, b = 0;
    auto add = [&](const Fr& value, bool in_l, bool in_a, bool in_b, uint64_t i) {
      Fr v = value.canonical();
      if (in_l) want[1] = want[1] + v * g1_.log(i);
      if (in_a) want[2] = want[2] + v * g1_.log(a++);
      if (in_b) want[3] = want[3] + v * g1_.log(b), b2 = b2 + v * g2_.log(b++);
    };
    for (uint64_t i = 0; i < t.inputs; i++) add(t.input_values[i], false, true, bit(t.b_inputs, i), 0);
    for (uint64_t i = 0; i < t.aux; i++) add(t.aux_values[i], true, bit(t.a_aux, i), bit(t.b_aux, i), i);
    const uint64_t* got[4] = {h, s.l, s.a, s.b_g1};
    bool good = true;
    for (int k = 0; k < 4; k++) {
      G1 p = times(generator<Fp>(), want[k]).affine();
      good &= !memcmp(&p, got[k], sizeof p);
    }
    G2 p = times(generator<Fp2>(), b2).affine();
    return good && !memcmp(&p, s.b_g2, sizeof p);
  }

  const Known<Fp>& g1_;
  const Known<Fp2>& g2_;
  Instance t;
  std::vector<G1> h, l, qa, b1;
  std::vector<G2> b2;
};

static spc_memory memory(spc_context* c) {
  spc_memory m{};
  spc_context_memory(c, &m);
  return m;
}

int main(int argc, char** argv) try {
  int most = argc > 1 ? atoi(argv[1]) : 18;
  int32_t count = -1, runtime = 0, driver = 0;
  spc_error e = spc_device_count(&count, &runtime, &driver);
  check(e.code == SPC_OK && count > 0, "%d devices, runtime %d, driver %d %s", count, runtime, driver, e.message);
  spc_device d{};
  e = spc_device_get(0, &d);
  check(e.code == SPC_OK && strlen(d.uuid) == 40, "device 0: %s %s, %llu bytes, %d.%d", d.name, d.uuid, (unsigned long long)d.memory_bytes, d.capability_major, d.capability_minor);
  check(spc_device_get(count, &d).code != SPC_OK, "no device %d", count);
  spc_context* c = nullptr;
  check(spc_context_create(count, 0, 0, &c).code != SPC_OK && !c, "no context on it");
  double begun = now_ms();
  e = spc_context_create(0, 0, 0, &c);
  check(e.code == SPC_OK, "a context after %.0f ms: %s", now_ms() - begun, e.message);
  if (!c) return 1;
  Known<Fp> g1;
  Known<Fp2> g2;
  Meter meter;
  Stream stream;
  Ntt ntt(meter, stream);
  for (int log : {2, 3, 5, 8, 10, 13, 16, most}) {
    if (log > most) continue;
    Case k(g1, g2, log);
    spc_params_view view = k.view();
    spc_params* params = nullptr;
    double t0 = now_ms();
    e = spc_params_load(c, &view, nullptr, &params);
    double t1 = now_ms();
    check(e.code == SPC_OK, "2^%d: parameters loaded and checked in %.1f ms %s", log, t1 - t0, e.message);
    if (!params) continue;
    spc_witness w = k.t.view();
    uint64_t used = 0;
    int rounds = log <= 13 ? 20 : 3;
    bool good = true, steady = true;
    double start_ms = 1e9, finish_ms = 1e9;
    for (int i = 0; i < rounds; i++) {
      uint64_t h[12] = {};
      spc_sums s{};
      t0 = now_ms();
      e = spc_prove_start(c, params, &w, nullptr, h);
      t1 = now_ms();
      if (e.code != SPC_OK) break;
      spc_witness packed = k.t.packed();
      e = spc_prove_finish(c, params, i & 1 ? &packed : &w, nullptr, &s);
      start_ms = std::min(start_ms, t1 - t0), finish_ms = std::min(finish_ms, now_ms() - t1);
      if (e.code != SPC_OK) break;
      if (i < 2 || i + 1 == rounds) good &= k.right(h, s, ntt);
      // After one of either form.
      if (i == 1) used = memory(c).device_bytes;
      steady &= i == 0 || memory(c).device_bytes == used;
    }
    check(e.code == SPC_OK && good, "2^%d: %d partitions are right; start %.1f ms, finish %.1f, pageable host memory %s", log, rounds, start_ms, finish_ms, e.message);
    check(steady, "2^%d: as much memory after the last as after the first: %.1f MiB", log, used / 1048576.0);
    if (log == 10) {
      uint64_t h[12] = {};
      uint8_t flag = 1;
      check(spc_prove_start(c, params, &w, &flag, h).code == SPC_CANCELLED, "start: cancelled");
      e = spc_prove_start(c, params, &w, nullptr, h);
      spc_sums s{};
      check(spc_prove_finish(c, params, &w, &flag, &s).code == SPC_CANCELLED, "finish: cancelled");
      e = spc_prove_start(c, params, &w, nullptr, h);
      e = e.code == SPC_OK ? spc_prove_finish(c, params, &w, nullptr, &s) : e;
      check(e.code == SPC_OK && k.right(h, s, ntt), "and the context goes on");
      spc_witness bad = w;
      bad.rows = 1025;
      check(spc_prove_start(c, params, &bad, nullptr, h).code == SPC_INVALID, "more rows than the domain are refused");
      bad = w, bad.aux_count--;
      check(spc_prove_start(c, params, &bad, nullptr, h).code == SPC_INVALID, "another circuit's witness is refused");
      bad = k.t.packed(), bad.aux_wide_count--;
      check(spc_prove_finish(c, params, &bad, nullptr, &s).code == SPC_INVALID, "a packed witness with a value missing is refused");
      std::vector<uint32_t> ranks = k.t.ranks;
      ranks[3]++;
      bad = k.t.packed(), bad.aux_ranks = ranks.data();
      check(spc_prove_finish(c, params, &bad, nullptr, &s).code == SPC_INVALID, "one with a wrong rank is refused");
      bad = w, bad.log_domain = 40;
      check(spc_prove_start(c, params, &bad, nullptr, h).code == SPC_INVALID, "a domain of 2^40 is refused");
      Case off(g1, g2, 10);
      off.l[17].y = Fp::one();
      spc_params_view v = off.view();
      spc_params* none = nullptr;
      e = spc_params_load(c, &v, nullptr, &none);
      check(e.code == SPC_INVALID && !none, "refused: %s", e.message);
      off.l[17] = off.l[18];
      memset(&off.b2[3].x.c1, 0xff, sizeof(Fp));
      v = off.view();
      e = spc_params_load(c, &v, nullptr, &none);
      check(e.code == SPC_INVALID && !none, "refused: %s", e.message);
    }
    spc_params_unload(c, params);
  }
  spc_context_destroy(c);
  // Little memory: smaller plans with the same result, or a refusal.
  Case k(g1, g2, most);
  for (uint64_t limit : {uint64_t(2) << 30, uint64_t(700) << 20, uint64_t(400) << 20, uint64_t(250) << 20}) {
    c = nullptr;
    e = spc_context_create(0, limit, 1 << 22, &c);
    if (e.code != SPC_OK) {
      check(e.code == SPC_OUT_OF_MEMORY, "%llu MiB: %s", (unsigned long long)limit >> 20, e.message);
      continue;
    }
    spc_params_view view = k.view();
    spc_params* params = nullptr;
    uint64_t h[12] = {};
    spc_sums s{};
    spc_witness w = k.t.view();
    e = spc_params_load(c, &view, nullptr, &params);
    if (e.code == SPC_OK) e = spc_prove_start(c, params, &w, nullptr, h);
    if (e.code == SPC_OK) e = spc_prove_finish(c, params, &w, nullptr, &s);
    bool right = e.code == SPC_OK ? k.right(h, s, ntt) : e.code == SPC_OUT_OF_MEMORY;
    check(right && memory(c).device_peak_bytes <= limit, "%llu MiB for 2^%d: peak %.0f MiB %s", (unsigned long long)limit >> 20, most, memory(c).device_peak_bytes / 1048576.0, e.message);
    spc_params_unload(c, params);
    spc_context_destroy(c);
  }
  return failures() != 0;
} catch (const Fault& f) {
  printf("WRONG %s\n", f.error.message);
  return 2;
}
