// Transforms of 2^log elements in passes of up to 9 levels.
//
// A pass of B levels works on columns: 2^B elements a stride apart. A thread has eight elements in registers and makes up
// to three levels with them; in between, the block exchanges elements through shared memory. A block holds 1,024 elements,
// 2^(10-B) neighbouring columns, so that memory is read and written in runs of at least 64 bytes. Passes downwards
// (natural to reversed order) multiply by the powers that belong between two passes at their end, passes upwards at their
// beginning. The limit is the multiplier: some 13 products an element at 2^27. Between passes values are below 2r.
#include "ntt.cuh"

namespace splitprove {

namespace {

#ifndef SP_NTT_BLOCK_LOG
#define SP_NTT_BLOCK_LOG 10
#endif
constexpr int BLOCK_LOG = SP_NTT_BLOCK_LOG;
constexpr int EACH = 8;
constexpr int THREADS = (1 << BLOCK_LOG) / EACH;
constexpr int BLOCKS = 512 / THREADS;  // an SM; 128 registers a thread
constexpr int MOST_LEVELS = 9;
// Four words of padding for every 32: no two lanes of a warp meet in a bank.
constexpr int PLANE = (1 << BLOCK_LOG) + (1 << BLOCK_LOG) / 32 * 4;
constexpr int SHARED_BYTES = 8 * PLANE * sizeof(uint32_t);

constexpr int DIRECT = NttTables::DIRECT, HALF = NttTables::HALF;

__device__ __forceinline__ Fr read(const Fr* at) {
  Fr r;
  const uint4* p = reinterpret_cast<const uint4*>(at);
  uint4 a = __ldg(p), b = __ldg(p + 1);
  r.w[0] = a.x, r.w[1] = a.y, r.w[2] = a.z, r.w[3] = a.w;
  r.w[4] = b.x, r.w[5] = b.y, r.w[6] = b.z, r.w[7] = b.w;
  return r;
}

// low[e mod 2^14]·high[e/2^14]
__device__ __forceinline__ Fr two_level(const Fr* low, const Fr* high, uint32_t e) {
  Fr r = read(high + (e >> HALF));
  uint32_t rest = e & ((1u << HALF) - 1);
  if (rest) r = r * read(low + rest);
  return r;
}

// One direction's.
struct Powers {
  const Fr *low, *high, *direct, *small, *coset_low, *coset_high;
  Powers(const NttTables& t, int direction)
      : low(t.low[direction]),
        high(t.high[direction]),
        direct(t.direct[direction]),
        small(t.small[direction]),
        coset_low(t.coset_low[0]),
        coset_high(t.coset_high[0]) {}
};

// A root of order 2^log to the power e.
__device__ __forceinline__ Fr root_power(const Powers& t, int log, uint32_t e) {
  if (log <= DIRECT) return read(t.direct + (e << (DIRECT - log)));
  return two_level(t.low, t.high, e << (NTT_MAX_LOG - log));
}

__device__ __forceinline__ uint32_t reversed(uint32_t x, int bits) { return bits ? __brev(x) >> (32 - bits) : 0; }

// The elements of a block, in registers and in shared memory: eight planes of words. Element j of a thread lies in the
// row that has s's bits with j's put in at bit p.
template <int B>
struct Tile {
  static constexpr int COLUMNS_LOG = BLOCK_LOG - B;
  uint32_t* shared;
  uint32_t s, column;

  __device__ __forceinline__ uint32_t row(int p, int j) const {
    return ((s >> p) << (p + 3)) | uint32_t(j) << p | (s & ((1u << p) - 1));
  }
  __device__ __forceinline__ uint32_t slot(int p, int j) const {
    uint32_t i = row(p, j) << COLUMNS_LOG | column;
    return i + (i >> 5) * 4;
  }
  __device__ __forceinline__ void put(const Fr& x, int p, int j) const {
    uint32_t at = slot(p, j);
#pragma unroll
    for (int k = 0; k < 8; k++) shared[k * PLANE + at] = x.w[k];
  }
  __device__ __forceinline__ Fr get(int p, int j) const {
    Fr x;
    uint32_t at = slot(p, j);
#pragma unroll
    for (int k = 0; k < 8; k++) x.w[k] = shared[k * PLANE + at];
    return x;
  }
  __device__ __forceinline__ void put_all(const Fr* x, int p) const {
#pragma unroll
    for (int j = 0; j < EACH; j++) put(x[j], p, j);
  }
  __device__ __forceinline__ void get_all(Fr* x, int p) const {
#pragma unroll
    for (int j = 0; j < EACH; j++) x[j] = get(p, j);
  }
  __device__ __forceinline__ void exchange(Fr* x, int from, int to) const {
    __syncthreads();
    put_all(x, from);
    __syncthreads();
    get_all(x, to);
  }
};

// LEVELS levels over bits p + LEVELS - 1 to p of the row; the thread's index j stands for bits p + 2 to p. ZERO: p is 0,
// and some of the powers are one.
template <int LEVELS, bool DOWN, bool ZERO>
__device__ __forceinline__ void butterflies(Fr* x, const Fr* small, uint32_t s, int p) {
  const uint32_t low = s & ((1u << p) - 1);
#pragma unroll
  for (int step = 0; step < LEVELS; step++) {
    // The distance of partners in j: 2^level.
    const int level = DOWN ? LEVELS - 1 - step : step, distance = 1 << level;
#pragma unroll
    for (int part = 0; part < distance; part++) {
      // The power of a root of order 2^(p + level + 1).
      const bool trivial = ZERO && part == 0;
      Fr w;
      if (!trivial) w = read(small + (((uint32_t(part) << p) + low) << (MOST_LEVELS - 1 - p - level)));
#pragma unroll
      for (int group = 0; group < EACH / 2 / distance; group++) {
        Fr &u = x[group * 2 * distance + part], &v = x[group * 2 * distance + part + distance];
        if (DOWN) {
          Fr d = u.loose_difference(v);
          u = u.loose_sum(v);
          v = trivial ? d : d.loose_product(w);
        } else {
          Fr t = trivial ? v : v.loose_product(w);
          v = u.loose_difference(t);
          u = u.loose_sum(t);
        }
      }
    }
  }
}

// A pass of B levels over sub-transforms of 2^m elements, of which there are 2^(log - m). Loops are loops: unrolled, the
// code would not fit the instruction cache.
template <int B, bool DOWN, bool COSET>
__launch_bounds__(THREADS, BLOCKS) __global__ void ntt_pass(Fr* data, int log, int m, Powers t, Fr scale) {
  extern __shared__ uint32_t shared[];
  constexpr int COLUMNS_LOG = BLOCK_LOG - B;
  // Levels of the step at bit 0; the others have three.
  constexpr int REST = B % 3 ? B % 3 : 3;
  const Tile<B> tile{shared, threadIdx.x >> COLUMNS_LOG, threadIdx.x & ((1u << COLUMNS_LOG) - 1)};
  const uint32_t g = (blockIdx.x << COLUMNS_LOG) + tile.column;
  const bool inside = g < (1u << (log - B));
  const int stride_log = m - B;
  const uint32_t offset = g & ((1u << stride_log) - 1);
  Fr* base = data + ((uint64_t(g >> stride_log) << m) + offset);

  Fr x[EACH];
  if (DOWN) {
#pragma unroll
    for (int j = 0; j < EACH; j++) x[j] = inside ? base[uint64_t(tile.row(B - 3, j)) << stride_log] : Fr::zero();
#pragma unroll 1
    for (int p = B - 3; p > 0; p = max(p - 3, 0)) {
      butterflies<3, true, false>(x, t.small, tile.s, p);
      tile.exchange(x, p, max(p - 3, 0));
    }
    butterflies<REST, true, true>(x, t.small, tile.s, 0);
    if (stride_log > 0) {
      // Every thread among its own.
      tile.put_all(x, 0);
#pragma unroll 1
      for (int j = 0; j < EACH; j++) {
        uint32_t r = tile.row(0, j);
        Fr y = tile.get(0, j).loose_product(root_power(t, m, reversed(r, B) * offset));
        if (inside) base[uint64_t(r) << stride_log] = y;
      }
    } else if (inside) {
#pragma unroll
      for (int j = 0; j < EACH; j++) base[tile.row(0, j)] = x[j].reduced();
    }
  } else {
#pragma unroll
    for (int j = 0; j < EACH; j++) x[j] = inside ? base[uint64_t(tile.row(0, j)) << stride_log] : Fr::zero();
    if (stride_log > 0 || COSET) {
      Fr factor;
      if (COSET) factor = scale * two_level(t.coset_low, t.coset_high, reversed(g, log - B));
      tile.put_all(x, 0);
#pragma unroll 1
      for (int j = 0; j < EACH; j++) {
        uint32_t r = reversed(tile.row(0, j), B);
        Fr y = tile.get(0, j);
        if (COSET)  // in the first pass, in which nothing else is to be multiplied
          y = y.loose_product(factor).loose_product(two_level(t.coset_low, t.coset_high, r << (log - B)));
        else
          y = y.loose_product(root_power(t, m, r * offset));
        tile.put(y, 0, j);
      }
      tile.get_all(x, 0);
    }
    butterflies<REST, false, true>(x, t.small, tile.s, 0);
#pragma unroll 1
    for (int p = 0; p < B - 3;) {
      int next = p ? p + 3 : REST;
      tile.exchange(x, p, next);
      p = next;
      butterflies<3, false, false>(x, t.small, tile.s, p);
    }
    if (inside) {
#pragma unroll
      for (int j = 0; j < EACH; j++) base[uint64_t(tile.row(B - 3, j)) << stride_log] = m == log ? x[j].reduced() : x[j];
    }
  }
}

// Domains of fewer than 8 elements: by definition, by one thread.
__global__ void ntt_tiny(Fr* data, int log, Powers t, bool from_reversed, bool coset, Fr scale) {
  const int n = 1 << log;
  Fr x[4], y[4];
  for (int i = 0; i < n; i++) {
    x[i] = data[from_reversed ? reversed(i, log) : i];
    if (coset) x[i] = x[i] * scale * two_level(t.coset_low, t.coset_high, i);
  }
  for (int i = 0; i < n; i++) {
    y[i] = Fr::zero();
    for (int j = 0; j < n; j++) y[i] = y[i] + x[j] * root_power(t, log, (i * j) & (n - 1));
  }
  for (int i = 0; i < n; i++) data[from_reversed ? i : reversed(i, log)] = y[i];
}

template <int B, bool DOWN, bool COSET>
void launch(Fr* data, int log, int m, const Powers& t, const Fr& scale, cudaStream_t s) {
  unsigned blocks = log > BLOCK_LOG ? 1u << (log - BLOCK_LOG) : 1;
  SP_CUDA(cudaFuncSetAttribute(ntt_pass<B, DOWN, COSET>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  ntt_pass<B, DOWN, COSET><<<blocks, THREADS, SHARED_BYTES, s>>>(data, log, m, t, scale);
  SP_LAUNCHED("ntt_pass");
}

template <bool DOWN, bool COSET>
void pass(int levels, Fr* data, int log, int m, const Powers& t, const Fr& scale, cudaStream_t s) {
  switch (levels) {
    case 3: return launch<3, DOWN, COSET>(data, log, m, t, scale, s);
    case 4: return launch<4, DOWN, COSET>(data, log, m, t, scale, s);
    case 5: return launch<5, DOWN, COSET>(data, log, m, t, scale, s);
    case 6: return launch<6, DOWN, COSET>(data, log, m, t, scale, s);
    case 7: return launch<7, DOWN, COSET>(data, log, m, t, scale, s);
    case 8: return launch<8, DOWN, COSET>(data, log, m, t, scale, s);
    default: return launch<9, DOWN, COSET>(data, log, m, t, scale, s);
  }
}

// Levels of each pass, the widest strides first.
struct Passes {
  int count, levels[4];
  explicit Passes(int log) : count((log + MOST_LEVELS - 1) / MOST_LEVELS) {
    for (int i = 0; i < count; i++) levels[i] = log / count + (i < log % count);
  }
};

// out[e] = base^e, e < count
__global__ void fill_powers(Fr* out, Fr base, uint32_t count) {
  SP_EACH(e, count) out[e] = base.power(e);
}

__global__ void multiply(const Fr* a, const Fr* b, Fr* out, uint64_t count, uint64_t n) {
  SP_EACH(i, n) out[i] = i < count ? a[i] * b[i] : Fr::zero();
}

// h = (d·g^-i - c)·k at reversed i, and out of Montgomery form.
__global__ void join_quotient(Fr* d, const Fr* c, int log, NttTables t, Fr k) {
  SP_EACH(p, uint64_t(1) << log) {
    Fr x = d[p] * two_level(t.coset_low[1], t.coset_high[1], reversed(uint32_t(p), log));
    d[p] = (x - c[p]) * k;
  }
}

Fr from_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  Fr r;
  uint64_t v[4] = {a, b, c, d};
  std::memcpy(r.w, v, sizeof v);
  return r;
}

// A root of order 2^log.
Fr root_of_order(int log) {
  // 7^((r-1)/2^32), of order 2^32
  Fr r = from_words(0xb9b58d8c5f0e466aull, 0x5b1b4c801819d7ecull, 0x0af53ae352a31e64ull, 0x5bf3adda19e9b27bull);
  for (int i = log; i < 32; i++) r = r.squared();
  return r;
}

// What g generates the field's multiplicative group with: 7.
Fr coset_generator() {
  return from_words(0x0000000efffffff1ull, 0x17e363d300189c0full, 0xff9c57876f8457b0ull, 0x351332208fc5a8c4ull);
}

Fr inverse_of_power_of_two(int log) {
  Fr half = Fr::one().doubled().inverse(), r = Fr::one();
  for (int i = 0; i < log; i++) r = r * half;
  return r;
}

}  // namespace

Ntt::Ntt(Meter& meter, cudaStream_t stream) {
  constexpr uint64_t LEVEL = uint64_t(1) << HALF, SMALL = 1 << (MOST_LEVELS - 1), WHOLE = uint64_t(1) << DIRECT;
  memory_.reserve(meter, 2 * (4 * LEVEL + WHOLE + SMALL) * sizeof(Fr));
  Fr* at = memory_.as<Fr>();
  auto fill = [&](Fr base, uint64_t count) {
    Fr* out = at;
    at += count;
    fill_powers<<<blocks_for(count), 256, 0, stream>>>(out, base, uint32_t(count));
    SP_LAUNCHED("fill_powers");
    return out;
  };
  for (int i = 0; i < 2; i++) {
    auto base = [&](Fr x) { return i ? x.inverse() : x; };
    Fr root = base(root_of_order(NTT_MAX_LOG)), g = base(coset_generator());
    tables_.low[i] = fill(root, LEVEL);
    tables_.high[i] = fill(root.power(LEVEL), LEVEL);
    tables_.direct[i] = fill(base(root_of_order(DIRECT)), WHOLE);
    tables_.small[i] = fill(base(root_of_order(MOST_LEVELS)), SMALL);
    tables_.coset_low[i] = fill(g, LEVEL);
    tables_.coset_high[i] = fill(g.power(LEVEL), LEVEL);
  }
  SP_CUDA(cudaStreamSynchronize(stream));
}

void Ntt::to_reversed(Fr* data, int log, bool inverse, cudaStream_t s) const {
  if (log < 3) {
    ntt_tiny<<<1, 1, 0, s>>>(data, log, Powers(tables_, inverse), false, false, Fr::one());
    SP_LAUNCHED("ntt_tiny");
    return;
  }
  Passes p(log);
  for (int i = 0, m = log; i < p.count; m -= p.levels[i++])
    pass<true, false>(p.levels[i], data, log, m, Powers(tables_, inverse), Fr::one(), s);
}

void Ntt::to_natural(Fr* data, int log, bool inverse, bool coset, cudaStream_t s) const {
  Fr scale = coset ? inverse_of_power_of_two(log) : Fr::one();
  if (log < 3) {
    ntt_tiny<<<1, 1, 0, s>>>(data, log, Powers(tables_, inverse), true, coset, scale);
    SP_LAUNCHED("ntt_tiny");
    return;
  }
  Passes p(log);
  for (int i = p.count - 1, m = 0; i >= 0; i--) {
    m += p.levels[i];
    if (coset && i == p.count - 1)
      pass<false, true>(p.levels[i], data, log, m, Powers(tables_, inverse), scale, s);
    else
      pass<false, false>(p.levels[i], data, log, m, Powers(tables_, inverse), scale, s);
  }
}

// With c(X) the polynomial below degree n that is a·b on the domain, a·b = c + h·(Xⁿ - 1). On the coset g·ωⁱ, Xⁿ is the
// constant gⁿ, so that a·b agrees there with the polynomial c + (gⁿ - 1)·h, which is below degree n, too: one inverse
// transform gives its coefficients, and c never goes to the coset. Six transforms instead of seven.
void Ntt::quotient(Fr* a, Fr* b, Fr* c, int log, uint64_t rows, cudaStream_t s) const {
  const uint64_t n = uint64_t(1) << log;
  if (rows < n) {
    SP_CUDA(cudaMemsetAsync(a + rows, 0, (n - rows) * sizeof(Fr), s));
    SP_CUDA(cudaMemsetAsync(b + rows, 0, (n - rows) * sizeof(Fr), s));
  }
  multiply<<<blocks_for(n), 256, 0, s>>>(a, b, c, rows, n);
  SP_LAUNCHED("multiply");
  to_reversed(c, log, true, s);
  for (Fr* x : {a, b}) {
    to_reversed(x, log, true, s);
    to_natural(x, log, false, true, s);
  }
  multiply<<<blocks_for(n), 256, 0, s>>>(a, b, a, n, n);
  SP_LAUNCHED("multiply");
  to_reversed(a, log, true, s);
  Fr k = (coset_generator().power(n) - Fr::one()).inverse() * inverse_of_power_of_two(log);
  join_quotient<<<blocks_for(n), 256, 0, s>>>(a, c, log, tables_, k.canonical());
  SP_LAUNCHED("join_quotient");
}

}  // namespace splitprove
