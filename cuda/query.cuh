// Which points of a query meet which values.
//
// Almost half of a PoRep witness is 1 and half is 0: a 1 costs one addition, a 0 nothing, so both are kept from the
// multi-scalar multiplication proper.
#ifndef SPLITPROVE_QUERY_CUH
#define SPLITPROVE_QUERY_CUH

#include "field.cuh"
#include "runtime.cuh"

namespace splitprove {

// Values, of which those with a bit (NULL: all) have a point, numbered from `first` on. Plain: one after the other. Packed:
// two words for every 64 values say which are one and which are wide, `wide_ranks` how many wide ones come before.
struct Values {
  const Fr* values;  // Montgomery form; packed: the wide ones
  uint64_t count;
  const uint64_t* bits;   // lowest first
  const uint32_t* ranks;  // bits set before each word
  uint32_t first;
  const uint64_t* planes;  // NULL: plain
  const uint32_t* wide_ranks;
};

// Room for the terms of a query.
struct Terms {
  uint32_t* ones;     // points whose value is one
  uint32_t* wide;     // points whose value is neither zero nor one
  Fr* scalars;        // those values, as integers
  uint32_t* lengths;  // of ones and of wide, on the device
  static constexpr uint64_t BYTES = 2 * sizeof(uint32_t) + sizeof(Fr);  // a value that may be wide
  Terms() {}
  // For so many values, of which so many at most are wide.
  Terms(Arena& arena, uint64_t count, uint64_t most_wide) {
    ones = arena.take<uint32_t>(count);
    wide = arena.take<uint32_t>(most_wide);
    scalars = arena.take<Fr>(most_wide);
    lengths = arena.take<uint32_t>(2);
  }
};

void clear_terms(const Terms& terms, cudaStream_t s);
// Appends what `values` holds, in any order.
void add_terms(const Terms& terms, const Values& values, cudaStream_t s);

}  // namespace splitprove

#endif
