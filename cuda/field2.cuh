// Fp2 = Fp[i]/(i² + 1). In memory and on the host a pair; in kernels two neighbouring lanes hold one coordinate each, so
// that G2's kernels need no more registers than G1's. A product is one sum of two products in either lane.
#ifndef SPLITPROVE_FIELD2_CUH
#define SPLITPROVE_FIELD2_CUH

#include "field.cuh"

namespace splitprove {

struct Fp2 {
  using Memory = Fp2;
  Fp c0, c1;

  SP_BOTH static Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
  SP_BOTH static Fp2 one() { return {Fp::one(), Fp::zero()}; }
  SP_BOTH static Fp2 load(const Fp2* at) { return *at; }
  SP_BOTH bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  SP_BOTH bool operator==(const Fp2& o) const { return c0 == o.c0 && c1 == o.c1; }
  SP_BOTH static bool agree(bool flag) { return flag; }
  SP_BOTH static Fp2 select(bool flag, const Fp2& a, const Fp2& b) { return flag ? a : b; }
  SP_BOTH Fp2 operator+(const Fp2& o) const { return {c0 + o.c0, c1 + o.c1}; }
  SP_BOTH Fp2 operator-(const Fp2& o) const { return {c0 - o.c0, c1 - o.c1}; }
  SP_BOTH Fp2 operator*(const Fp2& o) const { return {c0 * o.c0 - c1 * o.c1, c0 * o.c1 + c1 * o.c0}; }
  SP_BOTH Fp2 squared() const { return {(c0 + c1) * (c0 - c1), (c0 * c1).doubled()}; }
  SP_BOTH Fp2 doubled() const { return {c0.doubled(), c1.doubled()}; }
  SP_BOTH Fp2 operator-() const { return {-c0, -c1}; }
  SP_BOTH Fp2 inverse() const {
    Fp n = (c0.squared() + c1.squared()).inverse();
    return {c0 * n, -(c1 * n)};
  }
};

#ifdef __CUDACC__
// One coordinate of an element of Fp2; the neighbour has the other. All lanes of the warp take part in every operation but
// +, - and select.
struct Fp2Lane {
  static constexpr int LANES = 2;
  using Memory = Fp2;
  Fp v;

  SP_DEVICE static int lane() { return threadIdx.x & 1; }
  SP_DEVICE static Fp2Lane zero() { return {Fp::zero()}; }
  SP_DEVICE static Fp2Lane one() { return {Fp::select(lane(), Fp::zero(), Fp::one())}; }
  SP_DEVICE static Fp2Lane load(const Fp2* at) { return {reinterpret_cast<const Fp*>(at)[lane()]}; }
  SP_DEVICE void store(Fp2* at) const { reinterpret_cast<Fp*>(at)[lane()] = v; }
  // Whether it is so in both lanes.
  SP_DEVICE static bool agree(bool flag) {
    unsigned both = __ballot_sync(0xffffffffu, flag), here = threadIdx.x & 30;
    return (both >> here & 3) == 3;
  }
  SP_DEVICE bool is_zero() const { return agree(v.is_zero()); }
  SP_DEVICE bool operator==(const Fp2Lane& o) const { return agree(v == o.v); }
  SP_DEVICE static Fp2Lane select(bool flag, const Fp2Lane& a, const Fp2Lane& b) { return {Fp::select(flag, a.v, b.v)}; }
  SP_DEVICE Fp2Lane operator+(const Fp2Lane& o) const { return {v + o.v}; }
  SP_DEVICE Fp2Lane operator-(const Fp2Lane& o) const { return {v - o.v}; }
  SP_DEVICE Fp2Lane operator-() const { return {-v}; }
  SP_DEVICE Fp2Lane negated_if(bool flag) const { return {v.negated_if(flag)}; }
  SP_DEVICE Fp2Lane doubled() const { return {v.doubled()}; }
  SP_DEVICE Fp2Lane operator*(const Fp2Lane& o) const {
    Fp other = v.from_lane_xor(1), theirs = o.v.from_lane_xor(1), mine = Fp::select(lane(), other, other.loosely_negated());
    // lane 0: a0·b0 + (-a1)·b1; lane 1: a1·b0 + a0·b1
    Fp b0 = Fp::select(lane(), theirs, o.v), b1 = Fp::select(lane(), o.v, theirs);
    return {Fp::sum_of_products(v, b0, mine, b1)};
  }
  SP_DEVICE Fp2Lane squared() const {
    Fp other = v.from_lane_xor(1);
    // lane 0: (a0 + a1)·(a0 - a1); lane 1: 2·a1·a0
    Fp x = v + Fp::select(lane(), v, other), y = Fp::select(lane(), other, v - other);
    return {x * y};
  }
  SP_DEVICE Fp2Lane inverse() const {
    Fp square = v.squared();
    Fp n = (square + square.from_lane_xor(1)).inverse();
    return {(v * n).negated_if(lane() == 1)};
  }
  SP_DEVICE Fp2Lane from_lane_xor(int mask) const { return {v.from_lane_xor(mask)}; }
};
#endif

}  // namespace splitprove

#endif
