// Montgomery arithmetic of BLS12-381's two prime fields, one type for host and device.
//
// On the device a product is rows of 32×32-bit multiply-adds. Even and odd limbs have accumulators of their own, so that
// every low and high half form an aligned pair: the assembler makes one IMAD.WIDE of each, and one chain of carries runs
// through a row. The reduction (Montgomery's, word by word) is interleaved. Values are always below the modulus. Moduli
// lie in constant memory, whose words are operands of IMAD, and take no registers.
#ifndef SPLITPROVE_FIELD_CUH
#define SPLITPROVE_FIELD_CUH

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef __CUDACC__
#define __host__
#define __device__
#define __forceinline__ inline
#endif

#define SP_BOTH __host__ __device__ __forceinline__
#define SP_DEVICE __device__ __forceinline__
#ifdef __CUDA_ARCH__
#define SP_UNROLL _Pragma("unroll")
#else
#define SP_UNROLL
#endif

namespace splitprove {

#ifdef __CUDACC__
// m0 (-1/modulus mod 2^32) is no constant to the compiler: for 0xffffffff it would otherwise make a worse sequence.
static __device__ __constant__ const uint32_t FP_MODULUS[12] = {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe,
                                                                0xf6b0f624, 0x6730d2a0, 0xf38512bf, 0x64774b84,
                                                                0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
static __device__ __constant__ uint32_t FP_M0 = 0xfffcfffd;
static __device__ __constant__ const uint32_t FR_MODULUS[8] = {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
                                                               0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753};
static __device__ __constant__ uint32_t FR_M0 = 0xffffffff;
static __device__ __constant__ const uint32_t FR_TWICE_MODULUS[8] = {0x00000002, 0xfffffffe, 0xfffcb7fd, 0xa77b4805,
                                                                     0x1343b00a, 0x6673b010, 0x533afa90, 0xe7db4ea6};
#endif

// The base field: 381 bits.
struct FpTraits {
  static constexpr int N = 12;  // 32-bit limbs
  static constexpr uint64_t MODULUS[6] = {0xb9feffffffffaaabull, 0x1eabfffeb153ffffull, 0x6730d2a0f6b0f624ull,
                                          0x64774b84f38512bfull, 0x4b1ba7b6434bacd7ull, 0x1a0111ea397fe69aull};
  static constexpr uint64_t M0 = 0x89f3fffcfffcfffdull;  // -1/p mod 2^64
  SP_BOTH static constexpr uint32_t one(int i) {         // 2^384 mod p
    constexpr uint32_t v[12] = {0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,
                                0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3};
    return v[i];
  }
  SP_BOTH static constexpr uint32_t square_of_r(int i) {  // 2^768 mod p
    constexpr uint32_t v[12] = {0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c,
                                0x939d83c0, 0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5};
    return v[i];
  }
  // Rounds of the inversion, (2·381 - 1)/31, and what undoes their powers of two: 2^rounds · 2^(3·384) mod p.
  static constexpr int INVERSE_ROUNDS = 25;
  SP_BOTH static constexpr uint32_t inverse_factor(int i) {
    constexpr uint32_t v[12] = {0xa3efc675, 0x8a539989, 0xfc3fe75e, 0x62ed6b75, 0xbc3aa347, 0xac20b8e0,
                                0xe5a803d9, 0xbfd59a4f, 0x09d81041, 0xadeb04ef, 0x3df32294, 0x0e34565f};
    return v[i];
  }
#ifdef __CUDACC__
  SP_DEVICE static const uint32_t* modulus() { return FP_MODULUS; }
  SP_DEVICE static uint32_t m0() { return FP_M0; }
#endif
};

// The scalar field: 255 bits.
struct FrTraits {
  static constexpr int N = 8;
  static constexpr uint64_t MODULUS[4] = {0xffffffff00000001ull, 0x53bda402fffe5bfeull, 0x3339d80809a1d805ull,
                                          0x73eda753299d7d48ull};
  static constexpr uint64_t M0 = 0xfffffffeffffffffull;
  SP_BOTH static constexpr uint32_t one(int i) {
    constexpr uint32_t v[8] = {0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa,
                               0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159};
    return v[i];
  }
  SP_BOTH static constexpr uint32_t square_of_r(int i) {
    constexpr uint32_t v[8] = {0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb,
                               0x7254398f, 0x05d31496, 0x9f59ff11, 0x0748d9d9};
    return v[i];
  }
  static constexpr int INVERSE_ROUNDS = 17;
  SP_BOTH static constexpr uint32_t inverse_factor(int i) {
    constexpr uint32_t v[8] = {0xe75c1974, 0x30106dc2, 0xf16122e4, 0x491db63f,
                               0x6393f698, 0xa52228bd, 0xa9db52e6, 0x25d42f3a};
    return v[i];
  }
#ifdef __CUDACC__
  SP_DEVICE static const uint32_t* modulus() { return FR_MODULUS; }
  SP_DEVICE static uint32_t m0() { return FR_M0; }
#endif
};

#ifdef __CUDACC__
// Rows of products. `a` is read at even offsets; each product fills two neighbouring words of `acc`. The carry flag is
// passed from one statement to the next, hence `volatile`.
namespace row {

// acc = a·b
template <int N>
SP_DEVICE void mul(uint32_t* acc, const uint32_t* a, uint32_t b) {
  SP_UNROLL
  for (int j = 0; j < N; j += 2)
    asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=r"(acc[j]), "=r"(acc[j + 1]) : "r"(a[j]), "r"(b));
}

// acc += a·b; leaves the carry
template <int N>
SP_DEVICE void mad(uint32_t* acc, const uint32_t* a, uint32_t b) {
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
               : "+r"(acc[0]), "+r"(acc[1])
               : "r"(a[0]), "r"(b));
  SP_UNROLL
  for (int j = 2; j < N; j += 2)
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(acc[j]), "+r"(acc[j + 1])
                 : "r"(a[j]), "r"(b));
}

// acc = acc/2^64 + a·b + carry
template <int N>
SP_DEVICE void mad_shifted(uint32_t* acc, const uint32_t* a, uint32_t b) {
  SP_UNROLL
  for (int j = 0; j < N - 2; j += 2)
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=r"(acc[j]), "=r"(acc[j + 1])
                 : "r"(a[j]), "r"(b), "r"(acc[j + 2]), "r"(acc[j + 3]));
  asm volatile("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;"
               : "=r"(acc[N - 2]), "=r"(acc[N - 1])
               : "r"(a[N - 2]), "r"(b));
}

// The last two words of `acc` are new: acc[..N-2] += a·b, acc[N-2..] = a·b + carry
template <int N>
SP_DEVICE void mad_grow(uint32_t* acc, const uint32_t* a, uint32_t b) {
  if (N > 2) {
    mad<N - 2>(acc, a, b);
    asm volatile("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;"
                 : "=r"(acc[N - 2]), "=r"(acc[N - 1])
                 : "r"(a[N - 2]), "r"(b));
  } else {
    mul<2>(acc, a, b);
  }
}

SP_DEVICE void take_carry(uint32_t& word) { asm volatile("addc.u32 %0, %0, 0;" : "+r"(word)); }

// acc += a; leaves the carry
template <int N>
SP_DEVICE void add(uint32_t* acc, const uint32_t* a) {
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(acc[0]) : "r"(a[0]));
  SP_UNROLL
  for (int i = 1; i < N; i++) asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(acc[i]) : "r"(a[i]));
}

}  // namespace row
#endif

// An element in Montgomery form: value·2^(32·N) mod the modulus, little-endian limbs.
template <class T>
struct alignas(16) Field {
  static constexpr int N = T::N;
  static constexpr int LANES = 1;  // threads that hold one element together
  using Memory = Field;
  uint32_t w[N];

  SP_BOTH static Field zero() {
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = 0;
    return r;
  }
  SP_BOTH static Field one() {
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = T::one(i);
    return r;
  }
  SP_BOTH static Field square_of_r() {
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = T::square_of_r(i);
    return r;
  }
  // The integer one: multiplying by it leaves Montgomery form.
  SP_BOTH static Field integer_one() {
    Field r = zero();
    r.w[0] = 1;
    return r;
  }
  SP_BOTH static Field load(const Field* at) { return *at; }
  SP_BOTH void store(Field* at) const { *at = *this; }

  SP_BOTH bool is_zero() const {
    uint32_t any = 0;
    SP_UNROLL
    for (int i = 0; i < N; i++) any |= w[i];
    return any == 0;
  }
  SP_BOTH bool operator==(const Field& o) const {
    uint32_t any = 0;
    SP_UNROLL
    for (int i = 0; i < N; i++) any |= w[i] ^ o.w[i];
    return any == 0;
  }
  SP_BOTH bool operator!=(const Field& o) const { return !(*this == o); }
  // flag ? a : b
  SP_BOTH static Field select(bool flag, const Field& a, const Field& b) {
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = flag ? a.w[i] : b.w[i];
    return r;
  }
  // Whether the limbs are below the modulus, as every element's must be.
  SP_BOTH bool is_reduced() const;

  SP_BOTH Field operator+(const Field& o) const;
  SP_BOTH Field operator-(const Field& o) const;
  SP_BOTH Field operator*(const Field& o) const;
  SP_BOTH Field squared() const;
  SP_BOTH Field operator-() const { return zero() - *this; }
  SP_BOTH Field negated_if(bool flag) const {
    Field minus = zero() - *this;
    return select(flag, minus, *this);
  }
  SP_BOTH Field doubled() const { return *this + *this; }
  // Out of Montgomery form.
  SP_BOTH Field canonical() const { return *this * integer_one(); }

  // 1/x; 0 for 0.
  SP_BOTH Field inverse() const;
  SP_BOTH Field power(uint64_t e) const {
    Field r = one(), base = *this;
    for (; e; e >>= 1) {
      if (e & 1) r = r * base;
      base = base.squared();
    }
    return r;
  }
#ifdef __CUDACC__
  // a·b + c·d with one reduction; for the base field, whose three spare bits hold what comes in between.
  SP_DEVICE static Field sum_of_products(const Field& a, const Field& b, const Field& c, const Field& d);
  // (a·f + b·g)/2^32 for f + g <= 2^31.
  SP_DEVICE static Field small_products(const Field& a, uint32_t f, const Field& b, uint32_t g);
  // For the scalar field, where twice the modulus still fits: values below 2r instead of r. A product with a factor
  // below r is below 2r without a last subtraction: (2r·r + 2^256·r)/2^256 < 1.91·r. (Its rows are the reduced factor's:
  // what comes in between must stay below 2^288.)
  SP_DEVICE Field loose_product(const Field& reduced) const { return device_product<false>(reduced.w, w); }
  SP_DEVICE Field loose_sum(const Field& o) const;
  SP_DEVICE Field loose_difference(const Field& o) const;
  SP_DEVICE Field reduced() const {
    Field r = *this;
    r.reduce_once();
    return r;
  }
  // modulus - x: minus x, but the modulus itself for zero. As a factor it is as good.
  SP_DEVICE Field loosely_negated() const {
    Field r;
    const uint32_t* m = T::modulus();
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r.w[0]) : "r"(m[0]), "r"(w[0]));
    SP_UNROLL
    for (int i = 1; i < N - 1; i++) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r.w[i]) : "r"(m[i]), "r"(w[i]));
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r.w[N - 1]) : "r"(m[N - 1]), "r"(w[N - 1]));
    return r;
  }
  // The value of the lane whose number differs in `mask`; all lanes of the warp take part.
  SP_DEVICE Field from_lane_xor(int mask) const {
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = __shfl_xor_sync(0xffffffffu, w[i], mask);
    return r;
  }
  // Lanes of the same element see the same answer; for one lane an element it is the element's own.
  SP_DEVICE static bool agree(bool flag) { return flag; }
#endif

 private:
#ifdef __CUDACC__
  // Takes the modulus off if the value is not below it. carry: 2^(32·N) is to be added to it.
  SP_DEVICE void reduce_once() {
    uint32_t t[N], borrow;
    const uint32_t* m = T::modulus();
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(t[0]) : "r"(w[0]), "r"(m[0]));
    SP_UNROLL
    for (int i = 1; i < N; i++) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(t[i]) : "r"(w[i]), "r"(m[i]));
    asm volatile("subc.u32 %0, 0, 0;" : "=r"(borrow));
    SP_UNROLL
    for (int i = 0; i < N; i++) w[i] = borrow ? w[i] : t[i];
  }
  // even + 2^32·odd += modulus·(what makes the lowest word zero)
  SP_DEVICE static void cancel_word(uint32_t* even, uint32_t* odd) {
    uint32_t q = even[0] * T::m0();
    row::mad<N>(odd, T::modulus() + 1, q);
    row::mad<N>(even, T::modulus(), q);
    row::take_carry(odd[N - 1]);
  }
  // even + 2^32·odd = (odd + 2^32·even)/2^32 + a·b. The lowest word of what comes in is zero.
  SP_DEVICE static void next_row(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b) {
    asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(even[0]) : "r"(odd[1]));
    row::mad_shifted<N>(odd, a + 1, b);
    row::mad<N>(even, a, b);
    row::take_carry(odd[N - 1]);
  }
  SP_DEVICE static void one_more_row(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b) {
    row::mad<N>(odd, a + 1, b);
    row::mad<N>(even, a, b);
    row::take_carry(odd[N - 1]);
  }
  // (even + 2^32·odd)/2^32 of what comes out of the last row, swapped
  template <bool REDUCE = true>
  SP_DEVICE static Field merge(uint32_t* even, uint32_t* odd) {
    row::add<N - 1>(even, odd + 1);
    row::take_carry(even[N - 1]);
    Field r;
    SP_UNROLL
    for (int i = 0; i < N; i++) r.w[i] = even[i];
    if (REDUCE) r.reduce_once();
    return r;
  }
  template <bool REDUCE = true>
  SP_DEVICE static Field device_product(const uint32_t* a, const uint32_t* b);
  SP_DEVICE static Field device_square(const uint32_t* a);
  SP_DEVICE static Field device_inverse(const Field& x);
#endif
  static Field host_product(const Field& a, const Field& b);
  static Field host_add(const Field& a, const Field& b);
  static Field host_subtract(const Field& a, const Field& b);
  static Field host_inverse(const Field& x);
};

using Fp = Field<FpTraits>;
using Fr = Field<FrTraits>;

}  // namespace splitprove

#ifdef __CUDACC__
#include "field_device.cuh"
#endif
#include "field_host.h"

namespace splitprove {

template <class T>
SP_BOTH Field<T> Field<T>::operator*(const Field& o) const {
#ifdef __CUDA_ARCH__
  return device_product(w, o.w);
#else
  return host_product(*this, o);
#endif
}

template <class T>
SP_BOTH Field<T> Field<T>::squared() const {
#ifdef __CUDA_ARCH__
  return device_square(w);
#else
  return host_product(*this, *this);
#endif
}

template <class T>
SP_BOTH Field<T> Field<T>::inverse() const {
#ifdef __CUDA_ARCH__
  return device_inverse(*this);
#else
  return host_inverse(*this);
#endif
}

template <class T>
SP_BOTH Field<T> Field<T>::operator+(const Field& o) const {
#ifdef __CUDA_ARCH__
  Field r = *this;
  row::add<N>(r.w, o.w);
  r.reduce_once();
  return r;
#else
  return host_add(*this, o);
#endif
}

template <class T>
SP_BOTH Field<T> Field<T>::operator-(const Field& o) const {
#ifdef __CUDA_ARCH__
  Field r;
  uint32_t borrow;
  const uint32_t* m = T::modulus();
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r.w[0]) : "r"(w[0]), "r"(o.w[0]));
  SP_UNROLL
  for (int i = 1; i < N; i++) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r.w[i]) : "r"(w[i]), "r"(o.w[i]));
  asm volatile("subc.u32 %0, 0, 0;" : "=r"(borrow));
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(r.w[0]) : "r"(m[0] & borrow));
  SP_UNROLL
  for (int i = 1; i < N - 1; i++) asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(r.w[i]) : "r"(m[i] & borrow));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(r.w[N - 1]) : "r"(m[N - 1] & borrow));
  return r;
#else
  return host_subtract(*this, o);
#endif
}

template <class T>
SP_BOTH bool Field<T>::is_reduced() const {
  uint64_t borrow = 0;
  SP_UNROLL
  for (int i = 0; i < N; i++) {
#ifdef __CUDA_ARCH__
    uint32_t m = T::modulus()[i];
#else
    uint32_t m = uint32_t(T::MODULUS[i / 2] >> (32 * (i & 1)));
#endif
    borrow = (uint64_t(w[i]) - m - borrow) >> 63;
  }
  return borrow != 0;
}

}  // namespace splitprove

#endif
