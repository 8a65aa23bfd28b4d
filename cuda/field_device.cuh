// The device's side of field.cuh: product, square, sum of two products, inverse.
#ifndef SPLITPROVE_FIELD_DEVICE_CUH
#define SPLITPROVE_FIELD_DEVICE_CUH

namespace splitprove {

template <class T>
template <bool REDUCE>
SP_DEVICE Field<T> Field<T>::device_product(const uint32_t* a, const uint32_t* b) {
  uint32_t even[N], odd[N];
  row::mul<N>(odd, a + 1, b[0]);
  row::mul<N>(even, a, b[0]);
  cancel_word(even, odd);
  next_row(odd, even, a, b[1]);
  cancel_word(odd, even);
  SP_UNROLL
  for (int i = 2; i < N; i += 2) {
    next_row(even, odd, a, b[i]);
    cancel_word(even, odd);
    next_row(odd, even, a, b[i + 1]);
    cancel_word(odd, even);
  }
  return merge<REDUCE>(even, odd);
}

template <class T>
SP_DEVICE Field<T> Field<T>::loose_sum(const Field& o) const {
  static_assert(N == 8, "the scalar field's alone");
  Field s = *this;
  uint32_t t[N], carry, keep;
  row::add<N>(s.w, o.w);
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(carry));
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(t[0]) : "r"(s.w[0]), "r"(FR_TWICE_MODULUS[0]));
  SP_UNROLL
  for (int i = 1; i < N; i++) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(t[i]) : "r"(s.w[i]), "r"(FR_TWICE_MODULUS[i]));
  asm volatile("subc.u32 %0, %1, 0;" : "=r"(keep) : "r"(carry));
  SP_UNROLL
  for (int i = 0; i < N; i++) s.w[i] = keep ? s.w[i] : t[i];
  return s;
}

template <class T>
SP_DEVICE Field<T> Field<T>::loose_difference(const Field& o) const {
  static_assert(N == 8, "the scalar field's alone");
  Field r;
  uint32_t borrow;
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r.w[0]) : "r"(w[0]), "r"(o.w[0]));
  SP_UNROLL
  for (int i = 1; i < N; i++) asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r.w[i]) : "r"(w[i]), "r"(o.w[i]));
  asm volatile("subc.u32 %0, 0, 0;" : "=r"(borrow));
  asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(r.w[0]) : "r"(FR_TWICE_MODULUS[0] & borrow));
  SP_UNROLL
  for (int i = 1; i < N - 1; i++) asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(r.w[i]) : "r"(FR_TWICE_MODULUS[i] & borrow));
  asm volatile("addc.u32 %0, %0, %1;" : "+r"(r.w[N - 1]) : "r"(FR_TWICE_MODULUS[N - 1] & borrow));
  return r;
}

template <class T>
SP_DEVICE Field<T> Field<T>::sum_of_products(const Field& a, const Field& b, const Field& c, const Field& d) {
  static_assert(N == 12, "the base field's alone");
  uint32_t even[N], odd[N];
  row::mul<N>(odd, a.w + 1, b.w[0]);
  row::mul<N>(even, a.w, b.w[0]);
  one_more_row(even, odd, c.w, d.w[0]);
  cancel_word(even, odd);
  next_row(odd, even, a.w, b.w[1]);
  one_more_row(odd, even, c.w, d.w[1]);
  cancel_word(odd, even);
  SP_UNROLL
  for (int i = 2; i < N; i += 2) {
    next_row(even, odd, a.w, b.w[i]);
    one_more_row(even, odd, c.w, d.w[i]);
    cancel_word(even, odd);
    next_row(odd, even, a.w, b.w[i + 1]);
    one_more_row(odd, even, c.w, d.w[i + 1]);
    cancel_word(odd, even);
  }
  return merge(even, odd);
}

template <class T>
SP_DEVICE Field<T> Field<T>::small_products(const Field& a, uint32_t f, const Field& b, uint32_t g) {
  uint32_t even[N], odd[N];
  row::mul<N>(odd, a.w + 1, f);
  row::mul<N>(even, a.w, f);
  one_more_row(even, odd, b.w, g);
  cancel_word(even, odd);
  return merge(odd, even);
}

// a[i]·a[j] for i < j once, doubled, then the squares a[i]²; then the reduction.
template <class T>
SP_DEVICE Field<T> Field<T>::device_square(const uint32_t* a) {
  // even: products of even distance at their word; odd: of odd distance, one word lower.
  uint32_t even[2 * N], odd[2 * N];
  SP_UNROLL
  for (int i = 0; i < 2 * N; i++) even[i] = odd[i] = 0;
  SP_UNROLL
  for (int i = 0; i < N - 1; i++) {
    // a[j]·a[i], j - i odd: weight i + j. In `odd` at i + j - 1, which is even.
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(odd[2 * i]), "+r"(odd[2 * i + 1])
                 : "r"(a[i + 1]), "r"(a[i]));
    SP_UNROLL
    for (int j = i + 3; j < N; j += 2)
      asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                   : "+r"(odd[i + j - 1]), "+r"(odd[i + j])
                   : "r"(a[j]), "r"(a[i]));
    // The next pair is untouched so far, or was left by the row before with room for a carry.
    {
      const int last = ((N - 1 - i) & 1) ? N - 1 : N - 2;
      if (i + last + 1 < 2 * N) row::take_carry(odd[i + last + 1]);
    }
    if (i + 2 < N) {
      asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                   : "+r"(even[2 * i + 2]), "+r"(even[2 * i + 3])
                   : "r"(a[i + 2]), "r"(a[i]));
      SP_UNROLL
      for (int j = i + 4; j < N; j += 2)
        asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                     : "+r"(even[i + j]), "+r"(even[i + j + 1])
                     : "r"(a[j]), "r"(a[i]));
      const int last = ((N - 1 - i) & 1) ? N - 2 : N - 1;
      if (i + last + 2 < 2 * N) row::take_carry(even[i + last + 2]);
    }
  }
  row::add<2 * N - 2>(even + 1, odd);
  row::take_carry(even[2 * N - 1]);
  // doubled
  asm volatile("add.cc.u32 %0, %0, %0;" : "+r"(even[1]));
  SP_UNROLL
  for (int i = 2; i < 2 * N - 1; i++) asm volatile("addc.cc.u32 %0, %0, %0;" : "+r"(even[i]));
  asm volatile("addc.u32 %0, %0, %0;" : "+r"(even[2 * N - 1]));
  asm volatile("mad.lo.cc.u32 %0, %2, %2, %0; madc.hi.cc.u32 %1, %2, %2, %1;"
               : "+r"(even[0]), "+r"(even[1])
               : "r"(a[0]));
  SP_UNROLL
  for (int i = 1; i < N; i++)
    asm volatile("madc.lo.cc.u32 %0, %2, %2, %0; madc.hi.cc.u32 %1, %2, %2, %1;"
                 : "+r"(even[2 * i]), "+r"(even[2 * i + 1])
                 : "r"(a[i]));
  // The lower half reduced, then the upper half added.
  uint32_t low[N];
  const uint32_t* m = T::modulus();
  SP_UNROLL
  for (int i = 0; i < N; i++) low[i] = even[i];
  uint32_t carry[N];
  {
    uint32_t q = low[0] * T::m0();
    row::mul<N>(carry, m + 1, q);
    row::mad<N>(low, m, q);
    row::take_carry(carry[N - 1]);
  }
  SP_UNROLL
  for (int i = 1; i < N; i++) {
    uint32_t* e = (i & 1) ? carry : low;
    uint32_t* o = (i & 1) ? low : carry;
    // The word that is cancelled: e[0] + o[1].
    uint32_t q = (e[0] + o[1]) * T::m0();
    asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(e[0]) : "r"(o[1]));
    row::mad_shifted<N>(o, m + 1, q);
    row::mad<N>(e, m, q);
    row::take_carry(o[N - 1]);
  }
  // N is even: the last row cancelled the lowest word of `carry`, so the value is low + (carry >> 32).
  row::add<N - 1>(low, carry + 1);
  row::take_carry(low[N - 1]);
  row::add<N>(low, even + N);
  Field r;
  SP_UNROLL
  for (int i = 0; i < N; i++) r.w[i] = low[i];
  r.reduce_once();
  return r;
}

// The binary Euclidean algorithm on approximations (Pornin, "Optimized Binary GCD for Modular Inversion", 2020): 31 steps on
// the two ends of a and b, then one pass over the whole numbers. a = x·u·2^i, b = x·v·2^i mod the modulus after i rounds.
template <class T>
__device__ __noinline__ void invert(Field<T>& x) {
  constexpr int N = T::N;
  const uint32_t* m = T::modulus();
  uint32_t a[N], b[N];
  Field<T> u = Field<T>::integer_one(), v = Field<T>::zero();
  SP_UNROLL
  for (int i = 0; i < N; i++) a[i] = x.w[i], b[i] = m[i];
#pragma unroll 1
  for (int round = 0; round < T::INVERSE_ROUNDS; round++) {
    // The 33 leading bits of both, at the place of the longer one's, over the 31 lowest.
    uint32_t a2 = a[1], a1 = a[0], a0 = 0, b2 = b[1], b1 = b[0], b0 = 0;
    bool wide = false;
    SP_UNROLL
    for (int i = 2; i < N; i++)
      if (a[i] | b[i]) a2 = a[i], a1 = a[i - 1], a0 = a[i - 2], b2 = b[i], b1 = b[i - 1], b0 = b[i - 2], wide = true;
    uint64_t ya, yb;
    if (wide) {
      int shift = __clz(a2 | b2);
      ya = uint64_t(__funnelshift_l(a1, a2, shift)) << 32 | __funnelshift_l(a0, a1, shift);
      yb = uint64_t(__funnelshift_l(b1, b2, shift)) << 32 | __funnelshift_l(b0, b1, shift);
      ya = (ya >> 31) << 31 | (a[0] & 0x7fffffffu);
      yb = (yb >> 31) << 31 | (b[0] & 0x7fffffffu);
    } else {
      ya = uint64_t(a[1]) << 32 | a[0];
      yb = uint64_t(b[1]) << 32 | b[0];
    }
    // Factors in two's complement; |f| + |g| <= 2^31, so that int64 holds what they multiply.
    int64_t f0 = 1, g0 = 0, f1 = 0, g1 = 1;
#pragma unroll 1
    for (int i = 0; i < 31; i++) {
      bool is_odd = ya & 1;
      if (is_odd && ya < yb) {
        uint64_t t = ya;
        ya = yb, yb = t;
        int64_t s = f0;
        f0 = f1, f1 = s;
        s = g0;
        g0 = g1, g1 = s;
      }
      if (is_odd) ya -= yb, f0 -= f1, g0 -= g1;
      ya >>= 1;
      f1 <<= 1, g1 <<= 1;
    }
    // (a, b) = (a·f0 + b·g0, a·f1 + b·g1)/2^31, made positive
    uint32_t na[N], nb[N];
    int64_t ca = 0, cb = 0;
    SP_UNROLL
    for (int i = 0; i < N; i++) {
      ca += int64_t(uint64_t(a[i])) * f0 + int64_t(uint64_t(b[i])) * g0;
      cb += int64_t(uint64_t(a[i])) * f1 + int64_t(uint64_t(b[i])) * g1;
      na[i] = uint32_t(ca), nb[i] = uint32_t(cb);
      ca >>= 32, cb >>= 32;
    }
    SP_UNROLL
    for (int i = 0; i < N - 1; i++) a[i] = na[i] >> 31 | na[i + 1] << 1, b[i] = nb[i] >> 31 | nb[i + 1] << 1;
    a[N - 1] = na[N - 1] >> 31 | uint32_t(ca) << 1;
    b[N - 1] = nb[N - 1] >> 31 | uint32_t(cb) << 1;
    if (ca < 0) {
      uint32_t c = 1;
      SP_UNROLL
      for (int i = 0; i < N; i++) a[i] = ~a[i] + c, c = c & (a[i] == 0);
      f0 = -f0, g0 = -g0;
    }
    if (cb < 0) {
      uint32_t c = 1;
      SP_UNROLL
      for (int i = 0; i < N; i++) b[i] = ~b[i] + c, c = c & (b[i] == 0);
      f1 = -f1, g1 = -g1;
    }
    // (u, v) = (u·f0 + v·g0, u·f1 + v·g1)/2^32
    Field<T> pu = u.negated_if(f0 < 0), pv = v.negated_if(g0 < 0);
    Field<T> next = Field<T>::small_products(pu, uint32_t(f0 < 0 ? -f0 : f0), pv, uint32_t(g0 < 0 ? -g0 : g0));
    pu = u.negated_if(f1 < 0), pv = v.negated_if(g1 < 0);
    v = Field<T>::small_products(pu, uint32_t(f1 < 0 ? -f1 : f1), pv, uint32_t(g1 < 0 ? -g1 : g1));
    u = next;
  }
  Field<T> factor;
  SP_UNROLL
  for (int i = 0; i < N; i++) factor.w[i] = T::inverse_factor(i);
  x = v * factor;
}

template <class T>
SP_DEVICE Field<T> Field<T>::device_inverse(const Field& x) {
  Field r = x;
  invert<T>(r);
  return r;
}

}  // namespace splitprove

#endif
