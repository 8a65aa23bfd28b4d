//! Eight elements of Fp (D = 1) or of its quadratic extension Fp2 = Fp\[u\]/(u^2 + 1) (D = 2), and the points in memory.
//!
//! Bases lie in memory in Montgomery form with R = 2^384. Read as they are, shifted left by 12 bits (x) and by 2 bits
//! (y), and taken as Montgomery form with R = 2^416, they are c^2 x and c^3 y with c = 2^-10: the image of the point on
//! an isomorphic curve y^2 = x^3 + c^6 b. The addition law does not use b, so all sums run on that curve and bases need
//! no multiplication to be read.

use super::ifma::{self, eight, sum_of_products, Fp, Vector};
use std::arch::x86_64::*;

/// Left shift of a base's x: 2^(384 + 12 - 416) = c^2.
pub const X_SHIFT: usize = 12;
/// Left shift of a base's y: 2^(384 + 2 - 416) = c^3.
pub const Y_SHIFT: usize = 2;
/// Times a small x of the isomorphic curve: x in Montgomery form with R = 2^384.
const X_TO_BASE: [u64; 8] = ifma::power_of_two(404);
/// Times a small y of the isomorphic curve: y in Montgomery form with R = 2^384.
const Y_TO_BASE: [u64; 8] = ifma::power_of_two(414);

/// Eight limbs of one field element: one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Limbs(pub [u64; 8]);

/// An affine point of the isomorphic curve; (0, 0) is the identity (no other point has y = 0, as the group orders of
/// the curve and its twist are odd).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Point<const D: usize> {
    pub x: [Limbs; D],
    pub y: [Limbs; D],
}

impl<const D: usize> Point<D> {
    pub const IDENTITY: Point<D> = Point { x: [Limbs([0; 8]); D], y: [Limbs([0; 8]); D] };

    #[inline]
    pub fn is_identity(&self) -> bool {
        self.y == Self::IDENTITY.y
    }
}

/// An element of components \[expression of d for d in 0..D\].
macro_rules! element {
    ($d:ident => $value:expr) => {{
        let mut out = Element([Fp::zero(); D]);
        for $d in 0..D {
            out.0[$d] = $value;
        }
        out
    }};
}

/// Eight elements of degree D over Fp.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Element<const D: usize>(pub [Fp; D]);

impl<const D: usize> Element<D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn zero() -> Self {
        Element([Fp::zero(); D])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn one() -> Self {
        let mut one = Self::zero();
        one.0[0] = Fp::splat(&ifma::ONE);
        one
    }

    /// The Fp element `limbs` (uncarried limbs allowed) in every component: a bound to keep differences positive.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn bound(limbs: &[u64; 8]) -> Self {
        Element([Fp::splat(limbs); D])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn plus(&self, b: &Self) -> Self {
        element!(d => self.0[d].plus(&b.0[d]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn minus(&self, b: &Self) -> Self {
        element!(d => self.0[d].minus(&b.0[d]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn carried(self) -> Self {
        element!(d => self.0[d].carried())
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn negated_in(&self, lanes: __mmask8) -> Self {
        element!(d => self.0[d].negated_in(lanes))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn select(&self, lanes: __mmask8, b: &Self) -> Self {
        element!(d => self.0[d].select(lanes, &b.0[d]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn zero_lanes(&self) -> __mmask8 {
        let mut lanes = 0xff;
        for d in 0..D {
            lanes &= self.0[d].zero_lanes();
        }
        lanes
    }

    /// The values below p of values below 4 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn canonical(&self) -> Self {
        element!(d => self.0[d].canonical())
    }

    /// The small value of a value below 2^33 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn small(&self) -> Self {
        let one = Fp::splat(&ifma::ONE);
        let zero = Fp::zero();
        element!(d => {
            sum_of_products([(&one, &self.0[d])], &zero)
        })
    }

    /// Each component times the Fp element `factor`, small.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn scaled(&self, factor: &[u64; 8]) -> Self {
        let factor = Fp::splat(factor);
        let zero = Fp::zero();
        element!(d => {
            sum_of_products([(&factor, &self.0[d])], &zero)
        })
    }

    /// self * b + addend, where self is small.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn times_plus(&self, b: &Self, addend: &Self) -> Self {
        let mut out = *addend;
        if D == 1 {
            out.0[0] = sum_of_products([(&self.0[0], &b.0[0])], &addend.0[0]);
        } else {
            let bound = Fp::splat(&const { ifma::multiple_of_modulus(4) });
            let minus_a1 = bound.minus(&self.0[1]).carried();
            let real = [(&self.0[0], &b.0[0]), (&minus_a1, &b.0[1])];
            let imaginary = [(&self.0[0], &b.0[1]), (&self.0[1], &b.0[0])];
            out.0[0] = sum_of_products(real, &addend.0[0]);
            out.0[1] = sum_of_products(imaginary, &addend.0[1]);
        }
        out
    }

    /// self * b, where self is small.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn times(&self, b: &Self) -> Self {
        self.times_plus(b, &Self::zero())
    }

    /// self^2 + addend, where self is small.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn square_plus(&self, addend: &Self) -> Self {
        let mut out = *addend;
        if D == 1 {
            out.0[0] = ifma::square_plus(&self.0[0], &addend.0[0]);
        } else {
            let bound = Fp::splat(&const { ifma::multiple_of_modulus(4) });
            let sum = self.0[0].plus(&self.0[1]).carried();
            let difference = bound.plus(&self.0[0]).minus(&self.0[1]).carried();
            let double = self.0[0].plus(&self.0[0]).carried();
            out.0[0] = sum_of_products([(&sum, &difference)], &addend.0[0]);
            out.0[1] = sum_of_products([(&double, &self.0[1])], &addend.0[1]);
        }
        out
    }

    /// Eight elements from rows of limbs, one row a lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn from_rows(rows: [&[Limbs; D]; 8]) -> Self {
        element!(d => {
            let row = eight!(l => load(&rows[l][d].0));
            Fp(ifma::transpose(&row))
        })
    }

    /// One row of limbs a lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn rows(&self) -> [[Vector; 8]; D] {
        let mut out = [[_mm512_setzero_si512(); 8]; D];
        for (out, part) in out.iter_mut().zip(&self.0) {
            *out = ifma::transpose(&part.0);
        }
        out
    }

    /// One row of limbs a lane, in memory.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn to_limbs(self) -> [[Limbs; D]; 8] {
        let rows = self.rows();
        std::array::from_fn(|l| {
            std::array::from_fn(|d| {
                let mut out = Limbs([0; 8]);
                store(&mut out.0, rows[d][l]);
                out
            })
        })
    }
}

/// Words of one point in memory: a base in blst's form, or a `Point`.
pub const fn point_words(degree: usize, bases: bool) -> usize {
    if bases {
        12 * degree
    } else {
        16 * degree
    }
}

/// Points as words.
pub fn words_of<const D: usize>(points: &[Point<D>]) -> &[u64] {
    // SAFETY: a point consists of arrays of words alone, without padding.
    unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len() * 16 * D) }
}

/// The coordinates (x, y) of eight points, bases or not, among `words`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn read<const D: usize, const BASES: bool>(words: &[u64], index: [usize; 8]) -> (Element<D>, Element<D>) {
    let size = point_words(D, BASES);
    let rows = index.map(|i| words[i * size..i * size + size].as_ptr());
    let (mut x, mut y) = (Element::zero(), Element::zero());
    for d in 0..D {
        // SAFETY: every row is `size` words long: 12 D or 16 D, and the last read starts 6 or 8 words before the end.
        unsafe {
            if BASES {
                x.0[d] = ifma::words_to_limbs(&read_columns::<6>(&rows, 6 * d), X_SHIFT);
                y.0[d] = ifma::words_to_limbs(&read_columns::<6>(&rows, 6 * (D + d)), Y_SHIFT);
            } else {
                x.0[d] = Fp(read_columns::<8>(&rows, 8 * d));
                y.0[d] = Fp(read_columns::<8>(&rows, 8 * (D + d)));
            }
        }
    }
    (x, y)
}

/// N words (an even number) from `at` of eight rows: vector i holds word i of every row. Pairs of words are put in their
/// places by the loads, which leaves the shuffle port one instruction a vector.
///
/// # Safety
/// Every row must have `at + N` words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn read_columns<const N: usize>(rows: &[*const u64; 8], at: usize) -> [Vector; N] {
    let mut out = [_mm512_setzero_si512(); N];
    for k in 0..N / 2 {
        let mut halves = [_mm512_setzero_si512(); 2];
        for parity in 0..2 {
            let mut pairs = [_mm_setzero_si128(); 4];
            for l in 0..4 {
                // SAFETY: `at + 2 k + 2` is at most `at + N`, the words of a row; the load takes any alignment.
                pairs[l] = unsafe { _mm_loadu_si128(rows[2 * l + parity].add(at + 2 * k).cast()) };
            }
            let mut v = _mm512_broadcast_i32x4(pairs[0]);
            v = _mm512_mask_broadcast_i32x4(v, 0x00f0, pairs[1]);
            v = _mm512_mask_broadcast_i32x4(v, 0x0f00, pairs[2]);
            halves[parity] = _mm512_mask_broadcast_i32x4(v, 0xf000, pairs[3]);
        }
        out[2 * k] = _mm512_unpacklo_epi64(halves[0], halves[1]);
        out[2 * k + 1] = _mm512_unpackhi_epi64(halves[0], halves[1]);
    }
    out
}

/// Small points of the isomorphic curve as bases' words, one row of 12 D words a lane.
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn store_bases<const D: usize>(x: &Element<D>, y: &Element<D>, mut put: impl FnMut(usize, usize, [u64; 6])) {
    let x = x.scaled(&X_TO_BASE).canonical();
    let y = y.scaled(&Y_TO_BASE).canonical();
    for (c, value) in x.0.iter().chain(&y.0).enumerate() {
        let rows = ifma::transpose(&ifma::limbs_to_words(value));
        for (l, row) in rows.iter().enumerate() {
            let mut words = [0u64; 8];
            store(&mut words, *row);
            put(l, c, [words[0], words[1], words[2], words[3], words[4], words[5]]);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn load(words: &[u64; 8]) -> Vector {
    // SAFETY: the reference covers the 64 bytes read, and the load takes any alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn store(words: &mut [u64; 8], value: Vector) {
    // SAFETY: the reference covers the 64 bytes written, and the store takes any alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}
