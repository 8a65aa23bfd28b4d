//! Eight elements of Fp (D = 1) or of its quadratic extension Fp2 = Fp\[u\]/(u^2 + 1) (D = 2), and the points in memory.
//!
//! Bases lie in memory in Montgomery form with R = 2^384. Read as they are, shifted left by 12 bits (x) and by 2 bits
//! (y), and taken as Montgomery form with R = 2^416, they are c^2 x and c^3 y with c = 2^-10: the image of the point on
//! an isomorphic curve y^2 = x^3 + c^6 b. The addition law does not use b, so all sums run on that curve and bases need
//! no multiplication to be read.

use super::ifma::{self, sum_of_products, Fp, Vector};
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
        Element(std::array::from_fn(|d| self.0[d].plus(&b.0[d])))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn minus(&self, b: &Self) -> Self {
        Element(std::array::from_fn(|d| self.0[d].minus(&b.0[d])))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn carried(self) -> Self {
        Element(std::array::from_fn(|d| self.0[d].carried()))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn negated_in(&self, lanes: __mmask8) -> Self {
        Element(std::array::from_fn(|d| self.0[d].negated_in(lanes)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn select(&self, lanes: __mmask8, b: &Self) -> Self {
        Element(std::array::from_fn(|d| self.0[d].select(lanes, &b.0[d])))
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
        Element(std::array::from_fn(|d| self.0[d].canonical()))
    }

    /// The small value of a value below 2^33 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn small(&self) -> Self {
        let one = Fp::splat(&ifma::ONE);
        let zero = Fp::zero();
        Element(std::array::from_fn(|d| sum_of_products([(&one, &self.0[d])], &zero)))
    }

    /// Each component times the Fp element `factor`, small.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn scaled(&self, factor: &[u64; 8]) -> Self {
        let factor = Fp::splat(factor);
        let zero = Fp::zero();
        Element(std::array::from_fn(|d| sum_of_products([(&factor, &self.0[d])], &zero)))
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
        Element(std::array::from_fn(|d| {
            let row: [Vector; 8] = std::array::from_fn(|l| load(&rows[l][d].0));
            Fp(ifma::transpose(&row))
        }))
    }

    /// One row of limbs a lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn rows(&self) -> [[Vector; 8]; D] {
        std::array::from_fn(|d| ifma::transpose(&self.0[d].0))
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

/// The coordinates (x, y) of eight bases, 12 D words each.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn load_bases<const D: usize>(words: &[u64], index: [usize; 8]) -> (Element<D>, Element<D>) {
    let rows: [&[u64]; 8] = std::array::from_fn(|l| &words[index[l] * 12 * D..index[l] * 12 * D + 12 * D]);
    let x = Element(std::array::from_fn(|d| load_coordinate(&rows, 6 * d, X_SHIFT)));
    let y = Element(std::array::from_fn(|d| load_coordinate(&rows, 6 * D + 6 * d, Y_SHIFT)));
    (x, y)
}

/// Six words at `at` of each row, as limbs shifted left by `shift` bits. A row is read in one load of eight words, which
/// starts two words early where eight would leave the row.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load_coordinate(rows: &[&[u64]; 8], at: usize, shift: usize) -> Fp {
    let early = if at + 8 > rows[0].len() { 2 } else { 0 };
    let loaded: [Vector; 8] = std::array::from_fn(|l| {
        let mut chunk = [0u64; 8];
        chunk.copy_from_slice(&rows[l][at - early..at - early + 8]);
        load(&chunk)
    });
    let columns = ifma::transpose(&loaded);
    ifma::words_to_limbs(&std::array::from_fn(|i| columns[i + early]), shift)
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
