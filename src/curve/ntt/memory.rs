//! Moving scalars between memory, four words each, and vectors, a word of eight scalars each.

use std::arch::x86_64::*;

use blstrs::Scalar;

/// Rows to columns of an 8 by 8 matrix of words; its own inverse.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(z: &[__m512i; 8]) -> [__m512i; 8] {
    // Pairs of rows, interleaved by even and odd words.
    let mut pairs = *z;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(z[2 * i], z[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(z[2 * i], z[2 * i + 1]);
    }
    // Rows 0..4 and 4..8: [even, odd][words (0, 1 | 4, 5), (2, 3 | 6, 7)].
    let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let mut r = *z;
    for odd in 0..2 {
        let upper = (pairs[odd], pairs[2 + odd]);
        let lower = (pairs[4 + odd], pairs[6 + odd]);
        let a = _mm512_permutex2var_epi64(upper.0, low, upper.1);
        let b = _mm512_permutex2var_epi64(upper.0, high, upper.1);
        let c = _mm512_permutex2var_epi64(lower.0, low, lower.1);
        let d = _mm512_permutex2var_epi64(lower.0, high, lower.1);
        r[odd] = _mm512_shuffle_i64x2::<0b0100_0100>(a, c);
        r[2 + odd] = _mm512_shuffle_i64x2::<0b0100_0100>(b, d);
        r[4 + odd] = _mm512_shuffle_i64x2::<0b1110_1110>(a, c);
        r[6 + odd] = _mm512_shuffle_i64x2::<0b1110_1110>(b, d);
    }
    r
}

/// Words of eight consecutive scalars.
///
/// # Safety
/// `from` points to eight readable scalars.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn load_eight(from: *const Scalar) -> [__m512i; 4] {
    let mut z = [_mm512_setzero_si512(); 4];
    for (i, z) in z.iter_mut().enumerate() {
        // SAFETY: a scalar is four words; two at a time within the eight.
        *z = unsafe { _mm512_loadu_si512(from.add(2 * i).cast()) };
    }
    let even = [_mm512_unpacklo_epi64(z[0], z[1]), _mm512_unpacklo_epi64(z[2], z[3])];
    let odd = [_mm512_unpackhi_epi64(z[0], z[1]), _mm512_unpackhi_epi64(z[2], z[3])];
    let low = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    let high = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    [
        _mm512_permutex2var_epi64(even[0], low, even[1]),
        _mm512_permutex2var_epi64(odd[0], low, odd[1]),
        _mm512_permutex2var_epi64(even[0], high, even[1]),
        _mm512_permutex2var_epi64(odd[0], high, odd[1]),
    ]
}

/// The inverse of [`load_eight`].
///
/// # Safety
/// `to` points to eight writable scalars.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn store_eight(to: *mut Scalar, w: &[__m512i; 4]) {
    // Words 0 and 1, then 2 and 3, of lanes (0, 2, 4, 6) and (1, 3, 5, 7).
    let even = [_mm512_unpacklo_epi64(w[0], w[1]), _mm512_unpacklo_epi64(w[2], w[3])];
    let odd = [_mm512_unpackhi_epi64(w[0], w[1]), _mm512_unpackhi_epi64(w[2], w[3])];
    let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let e02 = _mm512_permutex2var_epi64(even[0], low, even[1]);
    let e46 = _mm512_permutex2var_epi64(even[0], high, even[1]);
    let e13 = _mm512_permutex2var_epi64(odd[0], low, odd[1]);
    let e57 = _mm512_permutex2var_epi64(odd[0], high, odd[1]);
    let z = [
        _mm512_shuffle_i64x2::<0b0100_0100>(e02, e13),
        _mm512_shuffle_i64x2::<0b1110_1110>(e02, e13),
        _mm512_shuffle_i64x2::<0b0100_0100>(e46, e57),
        _mm512_shuffle_i64x2::<0b1110_1110>(e46, e57),
    ];
    for (i, z) in z.into_iter().enumerate() {
        // SAFETY: a scalar is four words; two at a time within the eight.
        unsafe { _mm512_storeu_si512(to.add(2 * i).cast(), z) };
    }
}
