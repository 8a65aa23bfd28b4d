// The host's side of field.cuh: plain loops over 64-bit limbs. For the last few operations of a sum and for tests.
#ifndef SPLITPROVE_FIELD_HOST_H
#define SPLITPROVE_FIELD_HOST_H

namespace splitprove {

namespace host {

template <class T>
struct Limbs {
  static constexpr int N = T::N / 2;
  uint64_t v[N];
  explicit Limbs(const Field<T>& x) { std::memcpy(v, x.w, sizeof v); }
  Limbs() {}
  operator Field<T>() const {
    Field<T> r;
    std::memcpy(r.w, v, sizeof v);
    return r;
  }
  // v -= modulus if that is not negative
  void reduce_once() {
    uint64_t t[N], borrow = 0;
    for (int i = 0; i < N; i++) {
      unsigned __int128 d = (unsigned __int128)v[i] - T::MODULUS[i] - borrow;
      t[i] = uint64_t(d);
      borrow = uint64_t(d >> 64) & 1;
    }
    if (!borrow) std::memcpy(v, t, sizeof v);
  }
};

}  // namespace host

template <class T>
Field<T> Field<T>::host_product(const Field& x, const Field& y) {
  constexpr int L = T::N / 2;
  host::Limbs<T> a(x), b(y);
  uint64_t t[L + 2] = {};
  for (int i = 0; i < L; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < L; j++) {
      unsigned __int128 s = (unsigned __int128)a.v[j] * b.v[i] + t[j] + carry;
      t[j] = uint64_t(s);
      carry = uint64_t(s >> 64);
    }
    unsigned __int128 top = (unsigned __int128)t[L] + carry;
    t[L] = uint64_t(top);
    t[L + 1] = uint64_t(top >> 64);
    uint64_t q = t[0] * T::M0;
    carry = uint64_t(((unsigned __int128)q * T::MODULUS[0] + t[0]) >> 64);
    for (int j = 1; j < L; j++) {
      unsigned __int128 s = (unsigned __int128)q * T::MODULUS[j] + t[j] + carry;
      t[j - 1] = uint64_t(s);
      carry = uint64_t(s >> 64);
    }
    top = (unsigned __int128)t[L] + carry;
    t[L - 1] = uint64_t(top);
    t[L] = t[L + 1] + uint64_t(top >> 64);
  }
  host::Limbs<T> r;
  std::memcpy(r.v, t, sizeof r.v);
  r.reduce_once();
  return r;
}

template <class T>
Field<T> Field<T>::host_add(const Field& x, const Field& y) {
  host::Limbs<T> a(x), b(y);
  uint64_t carry = 0;
  for (int i = 0; i < T::N / 2; i++) {
    unsigned __int128 s = (unsigned __int128)a.v[i] + b.v[i] + carry;
    a.v[i] = uint64_t(s);
    carry = uint64_t(s >> 64);
  }
  a.reduce_once();
  return a;
}

template <class T>
Field<T> Field<T>::host_subtract(const Field& x, const Field& y) {
  host::Limbs<T> a(x), b(y);
  uint64_t borrow = 0, carry = 0;
  for (int i = 0; i < T::N / 2; i++) {
    unsigned __int128 d = (unsigned __int128)a.v[i] - b.v[i] - borrow;
    a.v[i] = uint64_t(d);
    borrow = uint64_t(d >> 64) & 1;
  }
  for (int i = 0; borrow && i < T::N / 2; i++) {
    unsigned __int128 s = (unsigned __int128)a.v[i] + T::MODULUS[i] + carry;
    a.v[i] = uint64_t(s);
    carry = uint64_t(s >> 64);
  }
  return a;
}

// Fermat: x^(modulus - 2).
template <class T>
Field<T> Field<T>::host_inverse(const Field& x) {
  constexpr int L = T::N / 2;
  uint64_t e[L];
  std::memcpy(e, T::MODULUS, sizeof e);
  for (int i = 0, borrow = 2; i < L && borrow; i++) {
    uint64_t before = e[i];
    e[i] -= uint64_t(borrow);
    borrow = e[i] > before;
  }
  Field r = one();
  for (int i = 64 * L - 1; i >= 0; i--) {
    r = host_product(r, r);
    if (e[i / 64] >> (i % 64) & 1) r = host_product(r, x);
  }
  return r;
}

}  // namespace splitprove

#endif
