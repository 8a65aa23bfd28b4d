// Multi-scalar multiplication Σ sᵢ·Pᵢ on one device: Pippenger's buckets, filled by affine additions.
//
// 1. Digits. A scalar's 256 bits are spread evenly over windows. Half a window's range is added to every window beforehand
//    (one addition of a constant), so that a digit is a window's value less that half: signed, and nothing carries.
// 2. The digits of some windows (a group) are sorted, window by window; equal digits are a bucket, side by side.
// 3. Rounds of additions of neighbours in the same bucket halve the buckets. An affine addition takes one inversion, which
//    32 thousand additions share (Montgomery's trick): 5 products and a square each, against 10 products in extended
//    coordinates. What is left when a round no longer fills the device is added one by one in step 4.
// 4. Σ m·Bₘ over a window's buckets: chunks of buckets on many threads, then chunks of chunks.
// 5. The host joins the windows: doublings and one addition each.
//
// Groups alternate between two streams, so that one group's sorting hides behind the other's additions.
#ifndef SPLITPROVE_MSM_CUH
#define SPLITPROVE_MSM_CUH

#include "curve.cuh"
#include "runtime.cuh"

namespace splitprove {

constexpr int MAX_WINDOWS = 64;

struct Windows {
  int count;
  uint8_t offset[MAX_WINDOWS];  // lowest bit
  uint8_t bits[MAX_WINDOWS];
  uint32_t base[MAX_WINDOWS + 1];  // number of its bucket 0; a window of c bits has buckets 0 to 2^(c-1)
  uint64_t shift[4];               // half of every window's range
  static Windows spread(int count);
};

// How an MSM is cut up.
struct MsmPlan {
  int windows;     // over 256 bits
  int group;       // windows that are worked on together
  int streams;     // groups at the same time, 1 or 2
  int chunk;       // buckets a thread integrates first
  uint64_t slice;  // scalars at a time
  uint64_t bytes;  // working memory
};

// What is multiplied. Scalars are integers below 2^255, not in Montgomery form. Scalar i goes with point number[i], or i, or,
// where reversed_bits is not negative, i with that many bits in reverse order; a point past the last counts as infinity.
template <class M>
struct MsmInput {
  const Affine<M>* points;
  uint64_t point_count;
  const Fr* scalars;
  const uint32_t* numbers;
  int reversed_bits;
  uint64_t count;
};

// Streams and host words an MSM works with.
struct MsmQueue {
  Stream stream[2];
  Event counted[2];
  Event ready;
  uint32_t* counts;  // pinned, 64 words
  explicit MsmQueue(uint32_t* pinned) : counts(pinned) {}
};

// G1 (F = Fp) and G2 (F = Fp2Lane); M is the type in memory, H the host's.
template <class M>
struct Msm {
  using Sum = Extended<M>;
  // A plan for so many scalars that takes at most `bytes` of working memory. SPC_OUT_OF_MEMORY when there is none.
  static MsmPlan plan(uint64_t count, uint64_t bytes);
  // Waits for work on `before`; returns when the sum is there.
  static Sum run(MsmQueue& queue, Arena arena, const MsmInput<M>& input, const MsmPlan& plan, cudaStream_t before,
                 const Cancel& cancel);

  // Σ of the points with these numbers: additions alone.
  static uint64_t sum_bytes(uint64_t count);
  static Sum sum(MsmQueue& queue, Arena arena, const Affine<M>* points, const uint32_t* numbers, uint64_t count,
                 cudaStream_t before, const Cancel& cancel);

  // Number of the first point that is not on the curve, or whose coordinates are not below the modulus; `count`: none.
  static uint64_t first_off_curve(MsmQueue& queue, Arena arena, const Affine<M>* points, uint64_t count);
};

template <>
uint64_t Msm<Fp>::first_off_curve(MsmQueue& queue, Arena arena, const G1* points, uint64_t count);
template <>
uint64_t Msm<Fp2>::first_off_curve(MsmQueue& queue, Arena arena, const G2* points, uint64_t count);
extern template struct Msm<Fp>;
extern template struct Msm<Fp2>;

}  // namespace splitprove

#endif
