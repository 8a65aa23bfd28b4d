// Kernels of msm.cuh: digits, buckets, integration.
#ifndef SPLITPROVE_MSM_KERNELS_CUH
#define SPLITPROVE_MSM_KERNELS_CUH

#include "msm.cuh"

namespace splitprove {

// Whether a point's y is to be negated, in the highest bit of its number.
constexpr uint32_t NEGATE = 0x80000000u;
// In place of a number: infinity.
constexpr uint32_t NONE = 0xffffffffu;

// Digits of windows first to first + group: |digit| into keys, the point's number and the sign into values.
static __global__ void digits(const Fr* scalars, const uint32_t* numbers, int reversed_bits, uint64_t point_count,
                              uint64_t from, uint64_t count, Windows w, int first, int group, uint32_t* keys,
                              uint32_t* values) {
  SP_EACH(i, count) {
    const ulonglong2* at = reinterpret_cast<const ulonglong2*>(scalars + from + i);
    ulonglong2 low = at[0], high = at[1];
    uint64_t s[5] = {low.x, low.y, high.x, high.y, 0}, carry = 0;
    uint64_t number = numbers ? numbers[from + i]
                      : reversed_bits > 0 ? __brevll(from + i) >> (64 - reversed_bits)
                                          : from + i;
    if (number >= point_count) s[0] = s[1] = s[2] = s[3] = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint64_t t = s[k] + w.shift[k], c = t < s[k];
      s[k] = t + carry;
      carry = c | (s[k] < t);
    }
    for (int g = 0; g < group; g++) {
      int offset = w.offset[first + g], bits = w.bits[first + g], word = offset >> 6, shift = offset & 63;
      uint64_t a = word == 0 ? s[0] : word == 1 ? s[1] : word == 2 ? s[2] : s[3];
      uint64_t b = word == 0 ? s[1] : word == 1 ? s[2] : word == 2 ? s[3] : 0;
      uint64_t v = shift ? a >> shift | b << (64 - shift) : a;
      int32_t digit = int32_t(v & ((uint64_t(1) << bits) - 1)) - (1 << (bits - 1));
      keys[g * count + i] = digit < 0 ? -digit : digit;
      values[g * count + i] = uint32_t(number) | (digit < 0 ? NEGATE : 0);
    }
  }
}

// First buckets of a group's windows.
struct GroupBases {
  int count;
  uint32_t base[MAX_WINDOWS];
};

// Where each bucket begins and ends in the sorted keys. Bucket 0 counts for nothing and stays empty. A bucket that does
// not occur is left alone: `start` and `end` come in as zeros.
static __global__ void bucket_bounds(const uint32_t* keys, uint64_t count, GroupBases bases, uint32_t* start, uint32_t* end) {
  uint32_t base = bases.base[blockIdx.y];
  uint64_t from = blockIdx.y * count;
  SP_EACH(i, count) {
    uint32_t k = keys[from + i];
    if (k == 0) continue;
    if (i == 0 || keys[from + i - 1] != k) start[base + k] = uint32_t(from + i);
    if (i + 1 == count || keys[from + i + 1] != k) end[base + k] = uint32_t(from + i) + 1;
  }
}

// Pairs and survivors of a round by bucket: both halves of a word, so that one scan sums both. Also the longest bucket.
// Before the first round `end` comes in; afterwards it is the buckets' lengths.
template <bool FIRST>
static __global__ void count_pairs(uint32_t* start, uint32_t* length, const uint64_t* places, uint64_t buckets,
                                   uint64_t* counts, uint32_t* longest) {
  uint32_t most = 0;
  SP_EACH(k, buckets + 1) {
    if (k == buckets) {
      counts[k] = 0;
      continue;
    }
    uint32_t m;
    if (FIRST) {
      m = length[k] - start[k];
    } else {
      start[k] = uint32_t(places[k]);
      m = (length[k] + 1) >> 1;
    }
    length[k] = m;
    counts[k] = uint64_t(m >> 1) << 32 | ((m + 1) >> 1);
    most = max(most, m);
  }
  most = __reduce_max_sync(0xffffffffu, most);
  if ((threadIdx.x & 31) == 0 && most) atomicMax(longest, most);
}

// Lists a round's pairs: what is added, and where the sum goes; and the buckets' odd ones out, which are moved.
template <bool FIRST>
static __global__ void list_pairs(const uint32_t* keys, const uint32_t* values, uint64_t count, GroupBases bases,
                                  const uint32_t* start, const uint32_t* length, const uint64_t* places,
                                  uint32_t* next_keys, uint2* pairs, uint32_t* targets, uint2* singles) {
  uint32_t base = FIRST ? bases.base[blockIdx.y] : 0;
  uint64_t from = FIRST ? blockIdx.y * count : 0;
  SP_EACH(at, count) {
    uint64_t i = from + at;
    uint32_t k = keys[i];
    if (FIRST) {
      if (k == 0) continue;
      k += base;
    }
    uint32_t j = uint32_t(i) - start[k];
    if (j & 1) continue;
    uint64_t place = places[k];
    uint32_t survivors = uint32_t(place), before = uint32_t(place >> 32), target = survivors + (j >> 1);
    next_keys[target] = k;
    if (j + 1 < length[k]) {
      uint32_t t = before + (j >> 1);
      pairs[t] = FIRST ? make_uint2(values[i], values[i + 1]) : make_uint2(uint32_t(i), uint32_t(i) + 1);
      targets[t] = target;
    } else {
      singles[survivors - before] = make_uint2(FIRST ? values[i] : uint32_t(i), target);
    }
  }
}

template <class F, bool FIRST>
static __global__ void move_singles(const Affine<typename F::Memory>* points, const uint2* singles, uint64_t count,
                                    Affine<typename F::Memory>* out) {
  // One coordinate a thread; the sign concerns both halves of y alike.
  constexpr int PARTS = sizeof(Affine<typename F::Memory>) / sizeof(Fp);
  SP_EACH(q, count * PARTS) {
    uint2 s = singles[q / PARTS];
    int part = q % PARTS;
    Fp v = reinterpret_cast<const Fp*>(points + (FIRST ? s.x & ~NEGATE : s.x))[part];
    if (FIRST && (s.x & NEGATE) && part >= PARTS / 2) v = -v;
    reinterpret_cast<Fp*>(out + s.y)[part] = v;
  }
}

// Σ and Σ j·B over chunks of `chunk` buckets of a window, j counting from 1 in each chunk. Bucket 0 is not there, so a
// window of c bits has 2^(c-1).
template <class F>
__launch_bounds__(128, 3) static __global__
    void integrate_buckets(const Affine<typename F::Memory>* in, const uint32_t* start, const uint32_t* length, Windows w,
                           int first, uint32_t chunk, uint32_t stride, typename Extended<F>::Memory* sums,
                           typename Extended<F>::Memory* weighted) {
  int window = first + blockIdx.y;
  uint32_t chunks = (1u << (w.bits[window] - 1)) / chunk, q = (threadIdx.x + blockIdx.x * blockDim.x) / F::LANES;
  bool inside = q < chunks;
  uint32_t bucket = w.base[window] - w.base[first] + q * chunk;  // the one before the chunk's first
  Extended<F> s = Extended<F>::infinity(), t = Extended<F>::infinity();
#pragma unroll 1
  for (uint32_t j = chunk; j > 0; j--) {
    uint32_t from = 0, left = 0;
    if (inside) from = start[bucket + j], left = length[bucket + j];
    uint32_t most = __reduce_max_sync(0xffffffffu, left);
#pragma unroll 1
    for (uint32_t i = 0; i < most; i++) {
      F x = F::zero(), y = F::zero();
      if (i < left) x = F::load(&in[from + i].x), y = F::load(&in[from + i].y);
      s.add_affine(x, y);
    }
    // In G1 both additions' code fits the cache beside each other; in G2 the call saves more than it costs.
    if (F::LANES == 1)
      t.add(s);
    else
      add_in_place(t, s);
  }
  if (inside) {
    s.store(sums + uint64_t(window) * stride + q);
    t.store(weighted + uint64_t(window) * stride + q);
  }
}

struct ChunkCounts {
  uint32_t of[MAX_WINDOWS];
};

// Joins up to `fan` chunks: Σ stays a sum; the weighted one gets 2^log_size times their place in the new chunk.
template <class F>
__launch_bounds__(128, 3) static __global__
    void integrate_chunks(const typename Extended<F>::Memory* sums, const typename Extended<F>::Memory* weighted,
                          ChunkCounts counts, uint32_t stride, int fan, int log_size, uint32_t next_stride,
                          typename Extended<F>::Memory* next_sums, typename Extended<F>::Memory* next_weighted) {
  int window = blockIdx.y;
  uint32_t count = counts.of[window], r = (threadIdx.x + blockIdx.x * blockDim.x) / F::LANES, from = r * fan;
  bool inside = from < count;
  const auto* in_sums = sums + uint64_t(window) * stride;
  const auto* in_weighted = weighted + uint64_t(window) * stride;
  Extended<F> s = Extended<F>::infinity(), t = s, v = s;
#pragma unroll 1
  for (int j = fan - 1; j >= 0; j--) {
    // t = Σ j·sumⱼ: the running sum of the later ones, once before every earlier one.
    add_in_place(t, s);
    Extended<F> a = Extended<F>::infinity(), b = a;
    if (inside && from + j < count) a = Extended<F>::load(in_sums + from + j), b = Extended<F>::load(in_weighted + from + j);
    add_in_place(s, a);
    add_in_place(v, b);
  }
#pragma unroll 1
  for (int k = 0; k < log_size; k++) double_in_place(t);
  add_in_place(v, t);
  if (inside) {
    s.store(next_sums + uint64_t(window) * next_stride + r);
    v.store(next_weighted + uint64_t(window) * next_stride + r);
  }
}

// The sum of a block's accumulators, in the first. Memory for all of them in `shared`.
template <class F>
SP_DEVICE Extended<F> sum_over_block(Extended<F> s, typename Extended<F>::Memory* shared) {
  const uint32_t at = threadIdx.x / F::LANES;
  s.store(shared + at);
#pragma unroll 1
  for (uint32_t half = blockDim.x / F::LANES / 2; half > 0; half >>= 1) {
    __syncthreads();
    Extended<F> o = Extended<F>::infinity();
    if (at < half) o = Extended<F>::load(shared + at + half);
    add_in_place(s, o);
    __syncthreads();
    s.store(shared + at);
  }
  return s;
}

// When few chunks are left, their places are summed by bits instead: Σ q·Sq = Σ 2^b·(the sum of Sq where bit b of q is set).
// Block (b, window) makes the sum for bit b; the last one that of the weighted sums.
template <class F>
__launch_bounds__(128, 3) static __global__
    void sum_by_bits(const typename Extended<F>::Memory* sums, const typename Extended<F>::Memory* weighted, ChunkCounts counts,
                     uint32_t stride, typename Extended<F>::Memory* out) {
  __shared__ typename Extended<F>::Memory shared[128 / F::LANES];
  const uint32_t threads = blockDim.x / F::LANES, at = threadIdx.x / F::LANES, window = blockIdx.y, bit = blockIdx.x;
  const uint32_t count = counts.of[window];
  const bool last = bit + 1 == gridDim.x;
  const auto* in = (last ? weighted : sums) + uint64_t(window) * stride;
  // Places with the bit set, numbered through.
  const uint32_t places = last ? stride : (stride >> (bit + 1) << bit) + (stride & ((1u << bit) - 1) & (0u - (stride >> bit & 1)));
  Extended<F> s = Extended<F>::infinity();
#pragma unroll 1
  for (uint32_t from = 0; from < places; from += threads) {
    uint32_t i = from + at, q = last ? i : (i >> bit << (bit + 1)) | 1u << bit | (i & ((1u << bit) - 1));
    Extended<F> a = Extended<F>::infinity();
    if (i < places && q < count) a = Extended<F>::load(in + q);
    add_in_place(s, a);
  }
  s = sum_over_block(s, shared);
  if (at == 0) s.store(out + window * gridDim.x + bit);
}

// Joins a window's bits, 2^log_size times, and its weighted sum.
template <class F>
static __global__ void join_bits(const typename Extended<F>::Memory* in, uint32_t bits, int log_size, uint32_t windows,
                                 typename Extended<F>::Memory* out) {
  uint32_t window = (threadIdx.x + blockIdx.x * blockDim.x) / F::LANES;
  bool inside = window < windows;
  const auto* from = in + uint64_t(inside ? window : 0) * (bits + 1);
  Extended<F> t = Extended<F>::infinity();
#pragma unroll 1
  for (int b = int(bits) - 1; b >= 0; b--) {
    double_in_place(t);
    add_in_place(t, Extended<F>::load(from + b));
  }
#pragma unroll 1
  for (int k = 0; k < log_size; k++) double_in_place(t);
  add_in_place(t, Extended<F>::load(from + bits));
  if (inside) t.store(out + window);
}

// Sums of a list of affine points, one a block.
template <class F>
__launch_bounds__(128, 3) static __global__
    void sum_affine(const Affine<typename F::Memory>* points, const uint32_t* numbers, uint64_t count, uint64_t rounds,
                    typename Extended<F>::Memory* out) {
  __shared__ typename Extended<F>::Memory shared[128 / F::LANES];
  constexpr uint32_t THREADS = 128 / F::LANES;
  uint32_t at = threadIdx.x / F::LANES;
  Extended<F> s = Extended<F>::infinity();
#pragma unroll 1
  for (uint64_t k = 0; k < rounds; k++) {
    uint64_t i = (k * gridDim.x + blockIdx.x) * THREADS + at;
    F x = F::zero(), y = F::zero();
    if (i < count) {
      uint64_t n = numbers ? numbers[i] : i;
      x = F::load(&points[n].x), y = F::load(&points[n].y);
    }
    s.add_affine(x, y);
  }
  s = sum_over_block(s, shared);
  if (at == 0) s.store(out + blockIdx.x);
}

static __global__ void check_curve_g1(const G1* points, uint64_t count, Fp b, unsigned long long* first) {
  SP_EACH(i, count) {
    G1 p = points[i];
    if (p.is_infinity()) continue;
    bool good = p.x.is_reduced() && p.y.is_reduced() && p.y.squared() == p.x.squared() * p.x + b;
    if (!good) atomicMin(first, i);
  }
}

static __global__ void check_curve_g2(const G2* points, uint64_t count, Fp b, unsigned long long* first) {
  SP_EACH(i, count) {
    G2 p = points[i];
    if (p.is_infinity()) continue;
    bool good = p.x.c0.is_reduced() && p.x.c1.is_reduced() && p.y.c0.is_reduced() && p.y.c1.is_reduced() &&
                p.y.squared() == p.x.squared() * p.x + Fp2{b, b};
    if (!good) atomicMin(first, i);
  }
}

}  // namespace splitprove

#endif
