// Affine additions in great numbers: each thread makes up to K of them, and a block inverts once.
//
// Way out: running products of the denominators x₂ - x₁, each kept in `prefix`. Between: the threads' totals are multiplied
// up in shared memory, one warp inverts and hands each thread the inverse of its total. Way back: an addition's inverse is
// the running inverse times its prefix; the running one takes the denominator. Denominators that would be zero are one:
// infinity on either side, opposite points; equal points double, with 2y.
#ifndef SPLITPROVE_AFFINE_TREE_CUH
#define SPLITPROVE_AFFINE_TREE_CUH

#include "msm_kernels.cuh"

namespace splitprove {

// Blocks of 128 threads, three an SM: with 256 threads the registers spill, with two blocks the multipliers idle.
constexpr int TREE_THREADS = 128;
constexpr int TREE_BLOCKS = 3;

// Points by number and sign, sums to listed places: a bucket tree's first round.
template <class F>
struct SignedPairs {
  const Affine<typename F::Memory>* points;
  const uint2* list;
  const uint32_t* targets;
  SP_DEVICE uint2 pair(uint64_t t) const { return list[t]; }
  SP_DEVICE F x(uint32_t n) const { return F::load(&points[n & ~NEGATE].x); }
  SP_DEVICE F y(uint32_t n) const { return F::load(&points[n & ~NEGATE].y).negated_if(n & NEGATE); }
  SP_DEVICE uint64_t target(uint64_t t) const { return targets[t]; }
};

// The rounds after it.
template <class F>
struct ListedPairs {
  const Affine<typename F::Memory>* points;
  const uint2* list;
  const uint32_t* targets;
  SP_DEVICE uint2 pair(uint64_t t) const { return list[t]; }
  SP_DEVICE F x(uint32_t n) const { return F::load(&points[n].x); }
  SP_DEVICE F y(uint32_t n) const { return F::load(&points[n].y); }
  SP_DEVICE uint64_t target(uint64_t t) const { return targets[t]; }
};

// Neighbours of a list (`numbers`, NULL: the points themselves); an odd one at the end meets infinity.
template <class F>
struct Neighbours {
  const Affine<typename F::Memory>* points;
  const uint32_t* numbers;
  uint64_t count;
  SP_DEVICE uint2 pair(uint64_t t) const {
    uint64_t i = 2 * t, j = i + 1;
    uint32_t a = numbers ? numbers[i] : uint32_t(i);
    uint32_t b = j < count ? (numbers ? numbers[j] : uint32_t(j)) : NONE;
    return make_uint2(a, b);
  }
  SP_DEVICE F x(uint32_t n) const { return n == NONE ? F::zero() : F::load(&points[n].x); }
  SP_DEVICE F y(uint32_t n) const { return n == NONE ? F::zero() : F::load(&points[n].y); }
  SP_DEVICE uint64_t target(uint64_t t) const { return t; }
};

// What is special about a pair, and then what it is divided by.
template <class F>
struct Case {
  bool first_infinite, second_infinite, opposite, equal;
  SP_DEVICE static Case of(bool zero1, bool zero2, bool same_x, const F& y1, const F& y2) {
    bool y1_zero = y1.is_zero(), y2_zero = y2.is_zero(), same_y = y1 == y2;
    Case c;
    c.first_infinite = zero1 && y1_zero;
    c.second_infinite = zero2 && y2_zero;
    bool finite = !c.first_infinite && !c.second_infinite;
    c.equal = finite && same_x && same_y;
    c.opposite = finite && same_x && !same_y;
    return c;
  }
  SP_DEVICE F denominator(const F& difference, const F& y) const {
    return F::select(equal, y.doubled(), F::select(first_infinite || second_infinite || opposite, F::one(), difference));
  }
};

template <class F, class S>
__launch_bounds__(TREE_THREADS, TREE_BLOCKS) static __global__
    void add_pairs(S source, uint64_t count, typename F::Memory* prefix, Affine<typename F::Memory>* out, int each) {
  constexpr int LANES = F::LANES, THREADS = TREE_THREADS / LANES, PER = THREADS / (32 / LANES);
  __shared__ typename F::Memory totals[THREADS];
  const int at = threadIdx.x / LANES;
  const uint64_t base = uint64_t(blockIdx.x) * each * THREADS;
  // The same for the whole block: lanes of a warp stay together.
  const uint64_t rows = (count - base + THREADS - 1) / THREADS;
  const int turns = rows < uint64_t(each) ? int(rows) : each;

  // Past the end the last pair is added again, and the sum thrown away.
  const uint64_t last = count - 1;
  F running = F::one();
  {
    uint64_t t = base + at;
    uint2 p = source.pair(min(t, last));
    F x1 = source.x(p.x), x2 = source.x(p.y);
#pragma unroll 1
    for (int k = 0; k < turns; k++, t += THREADS) {
      uint2 q = source.pair(min(t + THREADS, last));
      F n1 = source.x(q.x), n2 = source.x(q.y);
      F d = x2 - x1;
      bool zero1 = x1.is_zero(), zero2 = x2.is_zero(), same_x = d.is_zero();
      if (SP_ANY(zero1 || zero2 || same_x)) {
        F y1 = source.y(p.x), y2 = source.y(p.y);
        d = Case<F>::of(zero1, zero2, same_x, y1, y2).denominator(d, y1);
      }
      if (t < count) running.store(prefix + t);
      running = running * d;
      x1 = n1, x2 = n2, p = q;
    }
  }

  running.store(totals + at);
  __syncthreads();
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x / LANES;
    F total = F::load(totals + lane * PER);
#pragma unroll 1
    for (int j = 1; j < PER; j++) total = total * F::load(totals + lane * PER + j);
    // all = the product of every lane's total, others = of every other lane's
    F all = total, others = F::one();
#pragma unroll 1
    for (int mask = LANES; mask < 32; mask <<= 1) {
      F o = all.from_lane_xor(mask);
      others = others * o;
      all = all * o;
    }
    F inverse = all.inverse() * others;
#pragma unroll 1
    for (int j = PER - 1; j >= 0; j--) {
      F before = inverse;
#pragma unroll 1
      for (int h = 0; h < j; h++) before = before * F::load(totals + lane * PER + h);
      inverse = inverse * F::load(totals + lane * PER + j);
      before.store(totals + lane * PER + j);
    }
  }
  __syncthreads();

  F inverse = F::load(totals + at);
#pragma unroll 1
  for (int k = turns - 1; k >= 0; k--) {
    uint64_t t = base + uint64_t(k) * THREADS + at;
    const bool inside = t < count;
    t = min(t, last);
    const uint2 p = source.pair(t);
    F x1 = source.x(p.x), x2 = source.x(p.y), y1 = source.y(p.x), y2 = source.y(p.y), di = F::load(prefix + t);
    const uint64_t target = source.target(t);
    F d = x2 - x1, numerator = y2 - y1;
    bool zero1 = x1.is_zero(), zero2 = x2.is_zero(), same_x = d.is_zero();
    bool special = SP_ANY(zero1 || zero2 || same_x);
    Case<F> c{};
    if (special) {
      c = Case<F>::of(zero1, zero2, same_x, y1, y2);
      d = c.denominator(d, y1);
      F square = x1.squared();
      numerator = F::select(c.equal, square.doubled() + square, numerator);
    }
    di = di * inverse;
    inverse = inverse * d;
    F slope = numerator * di;
    F x3 = slope.squared() - x1 - x2;
    F y3 = (x1 - x3) * slope - y1;
    if (special) {
      F zero = F::zero();
      x3 = F::select(c.opposite, zero, F::select(c.first_infinite, x2, F::select(c.second_infinite, x1, x3)));
      y3 = F::select(c.opposite, zero, F::select(c.first_infinite, y2, F::select(c.second_infinite, y1, y3)));
    }
    if (inside) {
      x3.store(&out[target].x);
      y3.store(&out[target].y);
    }
  }
}

// Whole waves of blocks, up to 256 additions a thread.
template <class F, class S>
void launch_add_pairs(int multiprocessors, const S& source, uint64_t count, typename F::Memory* prefix,
                      Affine<typename F::Memory>* out, cudaStream_t stream) {
  if (!count) return;
  constexpr uint64_t THREADS = TREE_THREADS / F::LANES, MOST = 256;
  uint64_t rows = (count + THREADS - 1) / THREADS, slots = uint64_t(multiprocessors) * TREE_BLOCKS;
  uint64_t waves = (rows + slots * MOST - 1) / (slots * MOST), each = (rows + slots * waves - 1) / (slots * waves);
  add_pairs<F, S><<<unsigned((rows + each - 1) / each), TREE_THREADS, 0, stream>>>(source, count, prefix, out, int(each));
  SP_LAUNCHED("add_pairs");
}

}  // namespace splitprove

#endif
