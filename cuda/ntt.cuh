// Number-theoretic transforms over the scalar field, and Groth16's quotient.
#ifndef SPLITPROVE_NTT_CUH
#define SPLITPROVE_NTT_CUH

#include "field.cuh"
#include "runtime.cuh"

namespace splitprove {

// The largest domain: 2^28. (The field has roots of 2^32; the tables end here.)
constexpr int NTT_MAX_LOG = 28;

// Powers on the device. ω = a root of order 2^28.
struct NttTables {
  // e < 2^14: ω^e; e·2^14: ω^(e·2^14). For both directions.
  static constexpr int HALF = NTT_MAX_LOG / 2;
  // Exponents of a root of order 2^DIRECT are looked up at once.
  static constexpr int DIRECT = 20;
  const Fr* low[2];
  const Fr* high[2];
  const Fr* direct[2];
  const Fr* small[2];      // ω₅₁₂^e, e < 256
  const Fr* coset_low[2];  // g^±e and g^±(e·2^14), g = 7
  const Fr* coset_high[2];
};

class Ntt {
 public:
  // Takes some 130 MB of device memory for its tables.
  explicit Ntt(Meter& meter, cudaStream_t stream);

  // Σⱼ xⱼ·ω^(±ij), in place: natural order in, bits of the index reversed out. Not divided by n.
  void to_reversed(Fr* data, int log, bool inverse, cudaStream_t s) const;
  // The other way round: reversed in, natural out. With `coset`, element i is multiplied by g^i/n beforehand.
  void to_natural(Fr* data, int log, bool inverse, bool coset, cudaStream_t s) const;

  // The quotient's coefficients h = (a·b - c)/(Xⁿ - 1) from values on the domain, n = 2^log, of which the first `rows`
  // are there and the others zero. Into a: bits of the index reversed, integers out of Montgomery form. b and c are
  // scratch; c is made here: on the domain it is a·b.
  void quotient(Fr* a, Fr* b, Fr* c, int log, uint64_t rows, cudaStream_t s) const;

 private:
  DeviceBuffer memory_;
  NttTables tables_;
};

}  // namespace splitprove

#endif
