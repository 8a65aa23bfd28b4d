//! The two groups as the kernels see them: words of affine points, and scalar field arithmetic on their coordinates.

use crate::memory::Plain;
use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::Group;
use std::ops::{AddAssign, Mul};

/// An element of Fp or Fp2 in blst's Montgomery form (R = 2^384), always below p.
pub trait Coordinate: Copy + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    fn one() -> Self;
    fn times(&self, b: &Self) -> Self;
    fn square(&self) -> Self;
    fn plus(&self, b: &Self) -> Self;
    fn minus(&self, b: &Self) -> Self;
    /// The inverse; zero for zero.
    fn inverse(&self) -> Self;
    /// The element of the given components, six words each.
    fn from_components(components: impl Fn(usize) -> [u64; 6]) -> Self;
    fn component(&self, index: usize) -> [u64; 6];
}

macro_rules! coordinate {
    ($type:ty, $zero:expr, $mul:ident, $sqr:ident, $add:ident, $sub:ident, $inverse:ident, $from:expr, $component:expr) => {
        impl Coordinate for $type {
            const ZERO: Self = $zero;

            fn one() -> Self {
                Self::from_components(|d| if d == 0 { ONE } else { [0; 6] })
            }

            #[inline]
            fn times(&self, b: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: three references to field elements, all valid for the call.
                unsafe { blst::$mul(&mut out, self, b) };
                out
            }

            #[inline]
            fn square(&self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: two references to field elements, both valid for the call.
                unsafe { blst::$sqr(&mut out, self) };
                out
            }

            #[inline]
            fn plus(&self, b: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: three references to field elements, all valid for the call.
                unsafe { blst::$add(&mut out, self, b) };
                out
            }

            #[inline]
            fn minus(&self, b: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: three references to field elements, all valid for the call.
                unsafe { blst::$sub(&mut out, self, b) };
                out
            }

            fn inverse(&self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: two references to field elements, both valid for the call.
                unsafe { blst::$inverse(&mut out, self) };
                out
            }

            fn from_components(components: impl Fn(usize) -> [u64; 6]) -> Self {
                #[allow(clippy::redundant_closure_call)]
                ($from)(components)
            }

            fn component(&self, index: usize) -> [u64; 6] {
                #[allow(clippy::redundant_closure_call)]
                ($component)(self, index)
            }
        }
    };
}

/// 2^384 mod p: one in Montgomery form.
const ONE: [u64; 6] = [
    0x7609_0000_0002_fffd,
    0xebf4_000b_c40c_0002,
    0x5f48_9857_53c7_58ba,
    0x77ce_5853_7052_5745,
    0x5c07_1a97_a256_ec6d,
    0x15f6_5ec3_fa80_e493,
];

const FP_ZERO: blst_fp = blst_fp { l: [0; 6] };

coordinate!(
    blst_fp,
    FP_ZERO,
    blst_fp_mul,
    blst_fp_sqr,
    blst_fp_add,
    blst_fp_sub,
    blst_fp_eucl_inverse,
    |f: _| blst_fp { l: words(&f, 0) },
    |a: &blst_fp, _| a.l
);
coordinate!(
    blst_fp2,
    blst_fp2 { fp: [FP_ZERO; 2] },
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_eucl_inverse,
    |f: _| blst_fp2 { fp: [blst_fp { l: words(&f, 0) }, blst_fp { l: words(&f, 1) }] },
    |a: &blst_fp2, index: usize| a.fp[index].l
);

fn words(components: &impl Fn(usize) -> [u64; 6], index: usize) -> [u64; 6] {
    components(index)
}

/// An affine point, laid out as blst's affine points are; (0, 0) is the identity.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct AffinePoint<F> {
    pub x: F,
    pub y: F,
}

impl<F: Coordinate> AffinePoint<F> {
    pub const IDENTITY: Self = AffinePoint { x: F::ZERO, y: F::ZERO };

    #[inline]
    pub fn is_identity(&self) -> bool {
        self.y == F::ZERO
    }
}

/// G1 or G2.
pub trait Curve: Copy + Send + Sync + 'static {
    type Affine: Plain + Send + Sync + 'static;
    type Projective: Group<Scalar = Scalar>
        + for<'a> AddAssign<&'a Self::Affine>
        + for<'a> Mul<&'a Scalar, Output = Self::Projective>
        + From<Self::Affine>
        + Send
        + Sync;
    type Field: Coordinate;

    /// The points as coordinate pairs in blst's form, without a copy.
    fn coordinates(points: &[Self::Affine]) -> &[AffinePoint<Self::Field>];
    /// The points as 64-bit words, without a copy.
    fn words(points: &[Self::Affine]) -> &[u64];
    fn affine(point: AffinePoint<Self::Field>) -> Self::Affine;

    fn to_affine(point: &Self::Projective) -> Self::Affine;

    fn projective(point: AffinePoint<Self::Field>) -> Self::Projective {
        Self::Projective::from(Self::affine(point))
    }
}

/// G1: coordinates in Fp.
#[derive(Clone, Copy)]
pub struct G1;
/// G2: coordinates in Fp2.
#[derive(Clone, Copy)]
pub struct G2;

macro_rules! curve {
    ($curve:ty, $affine:ty, $projective:ty, $field:ty, $raw:ty) => {
        const _: () = assert!(
            size_of::<$affine>() == size_of::<$raw>()
                && size_of::<$raw>() == size_of::<AffinePoint<$field>>()
                && align_of::<$raw>() == 8
        );

        impl Curve for $curve {
            type Affine = $affine;
            type Projective = $projective;
            type Field = $field;

            fn coordinates(points: &[$affine]) -> &[AffinePoint<$field>] {
                // SAFETY: blstrs' affine point is a transparent wrapper of blst's, whose C layout is that of
                // `AffinePoint`; the size is asserted above.
                unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
            }

            fn words(points: &[$affine]) -> &[u64] {
                // SAFETY: the point consists of 64-bit words alone, without padding, aligned to 8 bytes.
                unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len() * (size_of::<$affine>() / 8)) }
            }

            fn to_affine(point: &$projective) -> $affine {
                point.into()
            }

            fn affine(point: AffinePoint<$field>) -> $affine {
                // SAFETY: equal layouts, as in `coordinates`.
                unsafe { std::mem::transmute(point) }
            }
        }
    };
}

curve!(G1, G1Affine, G1Projective, blst_fp, blst_p1_affine);
curve!(G2, G2Affine, G2Projective, blst_fp2, blst_p2_affine);
