//! Multi-scalar multiplication over BLS12-381's G1 and G2 on the CPU.
//!
//! All functions work in the rayon pool they are called in. They look at `cancelled` between pieces of work of some
//! ten milliseconds and return [`Stopped::Cancelled`] once it is true. CPUs with AVX-512 IFMA take the vector path, all others
//! blst's field arithmetic; the results are the same points.

// Loops over lanes and limbs index several arrays at once.
#![allow(clippy::needless_range_loop)]

mod adder;
#[cfg(target_arch = "x86_64")]
mod batch_affine;
mod buckets;
mod curve;
mod fixed_base;
#[cfg(target_arch = "x86_64")]
pub(super) mod ifma;
#[cfg(all(test, target_arch = "x86_64"))]
mod ifma_tests;
#[cfg(target_arch = "x86_64")]
pub(super) mod lanes;
mod scalar;
mod sparse;
#[cfg(test)]
mod tests;

use super::{scratch, Cancel, Stopped};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use curve::{G1, G2};
pub use fixed_base::{FixedBaseG1, FixedBaseG2};

/// Which arithmetic to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// The fastest that this CPU has.
    Detect,
    /// blst's, which runs everywhere.
    Portable,
}

/// Bytes of working memory that a multiplication over `count` points takes: the digits (16 bytes) and the terms (4) of
/// every point, and the points that threads have in hand.
pub fn scratch_bytes(count: usize) -> u64 {
    24 * count as u64 + 128 * count.min(1 << 17) as u64
}

/// As [`scratch_bytes`], of a sparse multiplication over `count` points of G2, which copies the points it multiplies in
/// pieces.
pub fn sparse_scratch_bytes(count: usize) -> u64 {
    let piece = count.min(sparse::GATHER);
    (piece * size_of::<G2Affine>()) as u64 + scratch_bytes(piece)
}

/// Evaluates `$call` with `$adder` bound to the adder that `$arithmetic` asks for.
macro_rules! with_adder {
    ($arithmetic:expr, $adder:ident => $call:expr) => {{
        #[cfg(target_arch = "x86_64")]
        if $arithmetic == Arithmetic::Detect {
            if let Some($adder) = batch_affine::Ifma::detect() {
                return $call;
            }
        }
        let $adder = scalar::Portable;
        $call
    }};
}
use with_adder;

macro_rules! kernels {
    ($curve:ty, $affine:ty, $projective:ty, $msm:ident, $msm_with:ident, $sparse:ident, $sparse_with:ident, $sum:ident, $sum_with:ident) => {
        /// The sum of scalars\[i\] * bases\[i\]. The slices have the same length; any points and scalars may repeat.
        pub fn $msm(
            bases: &[$affine],
            scalars: &[Scalar],
            cancelled: Cancel<'_>,
        ) -> Result<$projective, Stopped> {
            $msm_with(Arithmetic::Detect, bases, scalars, cancelled)
        }

        pub(crate) fn $msm_with(
            arithmetic: Arithmetic,
            bases: &[$affine],
            scalars: &[Scalar],
            cancelled: Cancel<'_>,
        ) -> Result<$projective, Stopped> {
            assert_eq!(bases.len(), scalars.len(), "one scalar a base");
            with_adder!(arithmetic, adder => buckets::multiply_sum::<$curve, _>(adder, bases, scalars, cancelled))
        }

        /// The sum of bases\[i\] for i in `ones`, plus the sum of wide_scalars\[j\] * bases\[wide\[j\]\].
        pub fn $sparse(
            bases: &[$affine],
            ones: &[u32],
            wide: &[u32],
            wide_scalars: &[Scalar],
            cancelled: Cancel<'_>,
        ) -> Result<$projective, Stopped> {
            $sparse_with(Arithmetic::Detect, bases, ones, wide, wide_scalars, cancelled)
        }

        pub(crate) fn $sparse_with(
            arithmetic: Arithmetic,
            bases: &[$affine],
            ones: &[u32],
            wide: &[u32],
            wide_scalars: &[Scalar],
            cancelled: Cancel<'_>,
        ) -> Result<$projective, Stopped> {
            assert_eq!(wide.len(), wide_scalars.len(), "one scalar a wide index");
            with_adder!(arithmetic, adder =>
                sparse::sum_sparse::<$curve, _>(adder, bases, ones, wide, wide_scalars, cancelled))
        }

        /// The sum of the points.
        pub fn $sum(points: &[$affine], cancelled: Cancel<'_>) -> Result<$projective, Stopped> {
            $sum_with(Arithmetic::Detect, points, cancelled)
        }

        pub(crate) fn $sum_with(
            arithmetic: Arithmetic,
            points: &[$affine],
            cancelled: Cancel<'_>,
        ) -> Result<$projective, Stopped> {
            with_adder!(arithmetic, adder => sparse::sum_all::<$curve, _>(adder, points, cancelled))
        }
    };
}

kernels!(G1, G1Affine, G1Projective, msm_g1, msm_g1_with, msm_sparse_g1, msm_sparse_g1_with, sum_g1, sum_g1_with);
kernels!(G2, G2Affine, G2Projective, msm_g2, msm_g2_with, msm_sparse_g2, msm_sparse_g2_with, sum_g2, sum_g2_with);
