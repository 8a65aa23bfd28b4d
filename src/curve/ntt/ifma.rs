//! Eight scalars at once with AVX-512 IFMA, five limbs of 52 bits each.
//!
//! A [`Vector`] holds the integer sum of limb[i] 2^52i per lane, any representative modulo p of
//! the field's element in blst's Montgomery form (R = 2^256). Limbs are signed and may exceed 52
//! bits: sums and differences are limb by limb. Multiplication needs the integer in 0..2^260
//! (35.3 p) and [`digits`], whose low 52 bits of each limb are the integer's digits (the
//! multiplier ignores the bits above). Transforms are linear, so R = 2^256 never needs conversion.
//!
//! A fixed multiplier w is stored as five products w_i = w 2^(52(i+1)) mod p. Then
//! x w 2^52 = sum x_i w_i < 5 * 2^52 p, and one Montgomery step by 2^52 leaves
//! x w mod p below (5 + 1) p: 61 multiply-adds, where two general factors take 105.

use std::arch::x86_64::*;

use blstrs::Scalar;
use ff::{Field, PrimeField};

pub(crate) type Vector = [__m512i; 5];

const MASK: u64 = (1 << 52) - 1;

/// The field's modulus p, 64-bit limbs.
const MODULUS: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

pub(super) const P: [u64; 5] = digits_of(MODULUS);

/// 2^260 - p.
const MINUS_P: [u64; 5] = {
    let mut r = [0; 5];
    let mut i = 0;
    while i < 5 {
        r[i] = MASK - P[i];
        i += 1;
    }
    r[0] += 1; // P[0] is not 0
    r
};

/// -1 / p modulo 2^52.
pub(super) const NEGATIVE_INVERSE: u64 = {
    let mut x = 1u64;
    let mut i = 0;
    while i < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(MODULUS[0].wrapping_mul(x)));
        i += 1;
    }
    x.wrapping_neg() & MASK
};

/// floor(2^98 / (P[4] + 1)), below 2^52.
const RECIPROCAL: u64 = ((1u128 << 98) / (P[4] as u128 + 1)) as u64;

/// Limbs of k p, for k of any sign and a small size.
const fn multiple(k: i64) -> [i64; 5] {
    let mut r = [0; 5];
    let mut i = 0;
    while i < 5 {
        r[i] = P[i] as i64 * k;
        i += 1;
    }
    r
}

/// `LOWER_BIAS` p is what [`lower`] adds.
const LOWER_BIAS: i64 = 9;

/// For i = the integer's bits from 257 up: (the largest k with k p <= i 2^257) - `LOWER_BIAS`,
/// times p.
const LOWER: [[i64; 8]; 5] = {
    let mut table = [[0; 8]; 5];
    let mut i = 0;
    while i < 8 {
        let mut k = 0;
        // The top limb decides: (k + 1) p is no multiple of 2^208.
        while carried(multiple(k + 1))[4] < (i as i64) << 49 {
            k += 1;
        }
        let limbs = carried(multiple(k - LOWER_BIAS));
        let mut j = 0;
        while j < 5 {
            table[j][i] = limbs[j];
            j += 1;
        }
        i += 1;
    }
    table
};

/// The same integer with limbs 0..4 within 52 bits.
const fn carried(mut limbs: [i64; 5]) -> [i64; 5] {
    let mut i = 0;
    while i < 4 {
        limbs[i + 1] += limbs[i] >> 52;
        limbs[i] &= MASK as i64;
        i += 1;
    }
    limbs
}

const fn digits_of(a: [u64; 4]) -> [u64; 5] {
    [
        a[0] & MASK,
        (a[0] >> 52 | a[1] << 12) & MASK,
        (a[1] >> 40 | a[2] << 24) & MASK,
        (a[2] >> 28 | a[3] << 36) & MASK,
        a[3] >> 16,
    ]
}

/// Whether this CPU has the instructions; asked once, then cached by the standard library.
pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// The canonical integer of a field element (not Montgomery), 52-bit digits.
pub(crate) fn integer(x: &Scalar) -> [u64; 5] {
    let bytes = x.to_repr();
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        *word = u64::from_le_bytes(eight);
    }
    digits_of(words)
}

pub(crate) fn two_to(exponent: u64) -> Scalar {
    Scalar::from(2u64).pow_vartime([exponent])
}

/// A multiplier common to all lanes, as the module's text says; 200 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Fixed(pub(super) [[u64; 5]; 5]);

impl Fixed {
    pub(super) fn new(w: Scalar) -> Fixed {
        let step = Scalar::from(1u64 << 52);
        let mut rows = [[0; 5]; 5];
        let mut shifted = w;
        for row in &mut rows {
            shifted *= step;
            *row = integer(&shifted);
        }
        Fixed(rows)
    }

    pub(crate) fn table(values: &[Scalar]) -> Vec<Fixed> {
        values.iter().map(|w| Fixed::new(*w)).collect()
    }
}

/// Eight integers in memory, limb by limb.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [[u64; 8]; 5]);

impl Lanes {
    pub(super) const ZERO: Lanes = Lanes([[0; 8]; 5]);

    /// Factors for [`multiply`]: x 2^260.
    pub(super) fn factors(x: &[Scalar; 8]) -> Lanes {
        let r = two_to(260);
        let mut lanes = Lanes::ZERO;
        for (lane, x) in x.iter().enumerate() {
            for (limb, digit) in integer(&(*x * r)).into_iter().enumerate() {
                lanes.0[limb][lane] = digit;
            }
        }
        lanes
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn load(&self) -> Vector {
        let mut r = [_mm512_setzero_si512(); 5];
        for (r, limb) in r.iter_mut().zip(&self.0) {
            // SAFETY: eight words.
            *r = unsafe { _mm512_loadu_si512(limb.as_ptr().cast()) };
        }
        r
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn store(&mut self, x: &Vector) {
        for (x, limb) in x.iter().zip(&mut self.0) {
            // SAFETY: eight words.
            unsafe { _mm512_storeu_si512(limb.as_mut_ptr().cast(), *x) };
        }
    }
}

/// A multiplier of its own for each lane.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct FixedLanes([Lanes; 5]);

impl FixedLanes {
    pub(super) fn new(w: &[Scalar; 8]) -> FixedLanes {
        let mut rows = [Lanes::ZERO; 5];
        for (lane, w) in w.iter().enumerate() {
            for (row, digits) in rows.iter_mut().zip(Fixed::new(*w).0) {
                for (limb, digit) in digits.into_iter().enumerate() {
                    row.0[limb][lane] = digit;
                }
            }
        }
        FixedLanes(rows)
    }
}

/// A factor of a general product, common to all lanes: x 2^260; 40 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor([u64; 5]);

impl Factor {
    pub(crate) fn new(x: Scalar) -> Factor {
        Factor(integer(&(x * two_to(260))))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn broadcast(&self) -> Vector {
        broadcast(&self.0)
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn broadcast(limbs: &[u64; 5]) -> Vector {
    let mut r = [_mm512_setzero_si512(); 5];
    for (r, limb) in r.iter_mut().zip(limbs) {
        *r = _mm512_set1_epi64(*limb as i64);
    }
    r
}

/// k p in all lanes, to start a sum from.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn bias<const K: i64>() -> Vector {
    let mut r = [_mm512_setzero_si512(); 5];
    for (r, limb) in r.iter_mut().zip(const { multiple(K) }) {
        *r = _mm512_set1_epi64(limb);
    }
    r
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn add(a: &Vector, b: &Vector) -> Vector {
    let mut r = *a;
    for (r, b) in r.iter_mut().zip(b) {
        *r = _mm512_add_epi64(*r, *b);
    }
    r
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sub(a: &Vector, b: &Vector) -> Vector {
    let mut r = *a;
    for (r, b) in r.iter_mut().zip(b) {
        *r = _mm512_sub_epi64(*r, *b);
    }
    r
}

/// Carries upwards, leaving what was carried in place above the low 52 bits of each limb: good
/// only as a factor.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn digits(x: &Vector) -> Vector {
    let mut r = *x;
    for i in 0..4 {
        r[i + 1] = _mm512_add_epi64(r[i + 1], _mm512_srai_epi64::<52>(r[i]));
    }
    r
}

/// The same integer modulo 2^260, limbs within 52 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn carry(x: &Vector) -> Vector {
    let mask = _mm512_set1_epi64(MASK as i64);
    let mut r = digits(x);
    for limb in &mut r {
        *limb = _mm512_and_si512(*limb, mask);
    }
    r
}

/// Adds the multiple of p that clears the low 52 bits of acc[0] and carries that limb into
/// acc[1]; acc[1..] is then (acc + m p) / 2^52 with m below 2^52.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn reduce_limb(acc: &mut [__m512i]) {
    let zero = _mm512_setzero_si512();
    let inverse = _mm512_set1_epi64(NEGATIVE_INVERSE as i64);
    let m = _mm512_madd52lo_epu64(zero, acc[0], inverse);
    for j in 0..5 {
        let p = _mm512_set1_epi64(P[j] as i64);
        acc[j] = _mm512_madd52lo_epu64(acc[j], m, p);
        acc[j + 1] = _mm512_madd52hi_epu64(acc[j + 1], m, p);
    }
    acc[1] = _mm512_add_epi64(acc[1], _mm512_srli_epi64::<52>(acc[0]));
}

/// start + x w with 0 <= x w < 6 p; x as [`digits`].
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_fixed(x: &Vector, w: &Fixed, start: &Vector) -> Vector {
    let zero = _mm512_setzero_si512();
    let mut acc = [zero, start[0], start[1], start[2], start[3], start[4]];
    for (x, w) in x.iter().zip(&w.0) {
        for (j, w) in w.iter().enumerate() {
            let w = _mm512_set1_epi64(*w as i64);
            acc[j] = _mm512_madd52lo_epu64(acc[j], *x, w);
            acc[j + 1] = _mm512_madd52hi_epu64(acc[j + 1], *x, w);
        }
    }
    reduce_limb(&mut acc);
    [acc[1], acc[2], acc[3], acc[4], acc[5]]
}

/// start + r with r = x y / 2^260 modulo p and r below the quotient x y / 2^260 + p; both as
/// [`digits`].
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(x: &Vector, y: &Vector, start: &Vector) -> Vector {
    let mut acc = [_mm512_setzero_si512(); 10];
    acc[5..].copy_from_slice(start);
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            acc[i + j] = _mm512_madd52lo_epu64(acc[i + j], *x, *y);
            acc[i + j + 1] = _mm512_madd52hi_epu64(acc[i + j + 1], *x, *y);
        }
    }
    for i in 0..5 {
        reduce_limb(&mut acc[i..]);
    }
    [acc[5], acc[6], acc[7], acc[8], acc[9]]
}

/// For an integer in p..35 p: the same modulo p, within 9 p..14.5 p. It takes 2^257 = 4.42 p per
/// unit of the bits from 257 up away, as a multiple of p, by a table.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lower(x: &Vector) -> Vector {
    let index = _mm512_srli_epi64::<49>(x[4]);
    let mut r = *x;
    for (r, limbs) in r.iter_mut().zip(&LOWER) {
        // SAFETY: eight words.
        let table = unsafe { _mm512_loadu_si512(limbs.as_ptr().cast()) };
        *r = _mm512_sub_epi64(*r, _mm512_permutexvar_epi64(index, table));
    }
    r
}

/// For an integer in p..35 p: the same modulo p, below p (1 + 2^-20), limbs within 52 bits.
///
/// The limbs below the top one stand for an integer within 2^16 2^208 of 0..2^208, so top limb -
/// 2^16 over P[4] + 1 never exceeds the quotient by p, and falls short by at most one when the
/// quotient's fraction is within 2^-20 of zero.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn settle(x: &Vector) -> Vector {
    let zero = _mm512_setzero_si512();
    let top = _mm512_sub_epi64(x[4], _mm512_set1_epi64(1 << 16));
    let reciprocal = _mm512_set1_epi64(RECIPROCAL as i64);
    let q = _mm512_srli_epi64::<46>(_mm512_madd52hi_epu64(zero, top, reciprocal));
    let mut r = *x;
    for j in 0..5 {
        let minus_p = _mm512_set1_epi64(MINUS_P[j] as i64);
        r[j] = _mm512_madd52lo_epu64(r[j], q, minus_p);
        if j < 4 {
            r[j + 1] = _mm512_madd52hi_epu64(r[j + 1], q, minus_p);
        }
    }
    carry(&r)
}

/// For an integer below 2 p with limbs within 52 bits: the canonical one.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn canonical(x: &Vector) -> Vector {
    let less = digits(&sub(x, &bias::<1>()));
    let negative = _mm512_cmplt_epi64_mask(less[4], _mm512_setzero_si512());
    let mask = _mm512_set1_epi64(MASK as i64);
    let mut r = *x;
    for (r, less) in r.iter_mut().zip(less) {
        *r = _mm512_mask_blend_epi64(negative, _mm512_and_si512(less, mask), *r);
    }
    r
}

/// Four words of 64 bits a lane to five limbs.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn unpack(w: &[__m512i; 4]) -> Vector {
    let mask = _mm512_set1_epi64(MASK as i64);
    let joined = |low, high| _mm512_and_si512(_mm512_or_si512(low, high), mask);
    [
        _mm512_and_si512(w[0], mask),
        joined(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
        joined(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
        joined(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
        _mm512_srli_epi64::<16>(w[3]),
    ]
}

/// Limbs within 52 bits of an integer below 2^256 to four words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn pack(x: &Vector) -> [__m512i; 4] {
    [
        _mm512_or_si512(x[0], _mm512_slli_epi64::<52>(x[1])),
        _mm512_or_si512(_mm512_srli_epi64::<12>(x[1]), _mm512_slli_epi64::<40>(x[2])),
        _mm512_or_si512(_mm512_srli_epi64::<24>(x[2]), _mm512_slli_epi64::<28>(x[3])),
        _mm512_or_si512(_mm512_srli_epi64::<36>(x[3]), _mm512_slli_epi64::<16>(x[4])),
    ]
}
