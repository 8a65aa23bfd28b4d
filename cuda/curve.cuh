// Points of y² = x³ + b. The same formulas for G1 and G2, on host and device; b does not occur in them.
// Extended coordinates (X, Y, ZZ, ZZZ): x = X/ZZ, y = Y/ZZZ, ZZ³ = ZZZ² (hyperelliptic.org/EFD, "xyzz").
#ifndef SPLITPROVE_CURVE_CUH
#define SPLITPROVE_CURVE_CUH

#include "field2.cuh"

namespace splitprove {

// In memory; (0, 0) is the point at infinity.
template <class M>
struct Affine {
  M x, y;
  SP_BOTH bool is_infinity() const { return x.is_zero() && y.is_zero(); }
};
using G1 = Affine<Fp>;
using G2 = Affine<Fp2>;

template <class M>
struct ExtendedMemory {
  M x, y, zz, zzz;
};

#ifdef __CUDA_ARCH__
// Special cases are taken by the whole warp or not at all: lanes that share an element must stay together.
#define SP_ANY(flag) __any_sync(0xffffffffu, flag)
#else
#define SP_ANY(flag) (flag)
#endif

template <class F>
struct Extended;
// Out of line: where points are added, doubling is rare, and inlined it costs the additions registers.
template <class F>
__host__ __device__ __noinline__ void double_in_place(Extended<F>& p);

template <class F>
struct Extended {
  using Memory = ExtendedMemory<typename F::Memory>;
  F x, y, zz, zzz;

  SP_BOTH static Extended infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
  SP_BOTH static Extended load(const Memory* at) {
    return {F::load(&at->x), F::load(&at->y), F::load(&at->zz), F::load(&at->zzz)};
  }
  SP_BOTH void store(Memory* at) const {
    x.store(&at->x);
    y.store(&at->y);
    zz.store(&at->zz);
    zzz.store(&at->zzz);
  }
  SP_BOTH static Extended select(bool flag, const Extended& a, const Extended& b) {
    return {F::select(flag, a.x, b.x), F::select(flag, a.y, b.y), F::select(flag, a.zz, b.zz),
            F::select(flag, a.zzz, b.zzz)};
  }
  SP_BOTH bool is_infinity() const { return zz.is_zero(); }

  // dbl-2008-s-1
  SP_BOTH Extended doubled() const {
    F u = y.doubled(), v = u.squared(), w = u * v, s = x * v, m = x.squared();
    m = m.doubled() + m;
    Extended r;
    r.x = m.squared() - s.doubled();
    r.y = m * (s - r.x) - w * y;
    r.zz = v * zz;
    r.zzz = w * zzz;
    return r;
  }

  // madd-2008-s; (px, py) affine, (0, 0) at infinity.
  SP_BOTH void add_affine(const F& px, const F& py) {
    bool here = is_infinity(), zero_x = px.is_zero(), zero_y = py.is_zero(), there = zero_x && zero_y;
    F p = px * zz - x, r = py * zzz - y;
    bool same_x = p.is_zero(), same_y = r.is_zero();
    F pp = p.squared(), ppp = p * pp, q = x * pp;
    Extended s;
    s.x = r.squared() - ppp - q.doubled();
    s.y = r * (q - s.x) - y * ppp;
    s.zz = zz * pp;
    s.zzz = zzz * ppp;
    if (SP_ANY(here || there || same_x)) {
      // Opposite points: zz = zzz = 0 is infinity already.
      bool twice = same_x && same_y && !here && !there;
      if (SP_ANY(twice)) {
        Extended d{px, py, F::one(), F::one()};
        double_in_place(d);
        s = select(twice, d, s);
      }
      // With both at infinity px = py = 0, and zz, zzz stay zero.
      F unit = F::select(there, F::zero(), F::one());
      s = select(here, {px, py, unit, unit}, select(there, *this, s));
    }
    *this = s;
  }

  // add-2008-s
  SP_BOTH void add(const Extended& o) {
    bool here = is_infinity(), there = o.is_infinity();
    F u = x * o.zz, t = y * o.zzz, p = o.x * zz - u, r = o.y * zzz - t;
    bool same_x = p.is_zero(), same_y = r.is_zero();
    F pp = p.squared(), ppp = p * pp, q = u * pp;
    Extended s;
    s.x = r.squared() - ppp - q.doubled();
    s.y = r * (q - s.x) - t * ppp;
    s.zz = zz * o.zz * pp;
    s.zzz = zzz * o.zzz * ppp;
    if (SP_ANY(here || there || same_x)) {
      bool twice = same_x && same_y && !here && !there;
      if (SP_ANY(twice)) {
        Extended d = *this;
        double_in_place(d);
        s = select(twice, d, s);
      }
      s = select(here, o, select(there, *this, s));
    }
    *this = s;
  }

  // The affine form; (0, 0) for infinity. Host only: one inversion.
  Affine<F> affine() const {
    if (is_infinity()) return {F::zero(), F::zero()};
    F i = zzz.inverse(), z = i * zz, zi = z.squared();  // 1/ZZZ, 1/Z, 1/ZZ
    return {x * zi, y * i};
  }
};

template <class F>
__host__ __device__ __noinline__ void double_in_place(Extended<F>& p) {
  p = p.doubled();
}

// An addition is some 80 KB of code, and the instruction cache 128: kernels that add in several places call one.
template <class F>
__host__ __device__ __noinline__ void add_in_place(Extended<F>& p, const Extended<F>& o) {
  p.add(o);
}

}  // namespace splitprove

#endif
