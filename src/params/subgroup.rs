//! Whether many points lie in the subgroup of prime order, with a fraction of the work that asking each would take.
//!
//! For each of [`ROUNDS`] rounds j take the sum Sⱼ of a random subset of the points, every point in it with probability ½,
//! independently, and ask whether Sⱼ lies in the subgroup G. If a point P lies outside, then whatever the choices for the
//! other points, Sⱼ with P and Sⱼ without P differ by P ∉ G, so at most one of them lies in G: a round misses with
//! probability ½ at most, all rounds with 2^-64, for every choice of points made before the bits. (One sum with large
//! random coefficients would not do: the cofactor of G1 is divisible by 3, so it would miss a point of order 3 with
//! probability ⅓.)
//!
//! The rounds are taken four at a time: a point goes into one of 16 buckets by its four bits, and Sⱼ is the sum of the
//! buckets with bit j. That is 16 additions a point where the subgroup test costs some two hundred.
//!
//! Sums say that a point is outside, not which: then, and only then, each is asked.

use blst::{blst_p1_in_g1, blst_p2_in_g2};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::Group;
use rayon::prelude::*;

use super::point::Point;
use super::random::Bits;
use crate::curve::msm::{msm_sparse_g1, msm_sparse_g2};
use crate::curve::{Cancel, Stopped};
use crate::error::{Error, Result};

/// Points looked at together.
pub(crate) const PIECE: usize = 1 << 17;

/// Random subsets, and bits a point takes.
pub(crate) const ROUNDS: usize = 64;

/// Rounds that share a pass over the points.
const TOGETHER: usize = 4;

const BUCKETS: usize = 1 << TOGETHER;

/// Sums of points, and the test of a sum.
pub(crate) trait Summed: Point {
    type Sum: Group + Send + Sync;

    fn sum(points: &[Self], which: &[u32], cancelled: Cancel<'_>) -> Result<Self::Sum, Stopped>;

    fn sum_in_subgroup(sum: &Self::Sum) -> bool;
}

macro_rules! summed {
    ($point:ty, $sum:ty, $msm:ident, $in_group:ident) => {
        impl Summed for $point {
            type Sum = $sum;

            fn sum(points: &[Self], which: &[u32], cancelled: Cancel<'_>) -> Result<$sum, Stopped> {
                $msm(points, which, &[], &[], cancelled)
            }

            fn sum_in_subgroup(sum: &$sum) -> bool {
                // SAFETY: blst reads one point.
                unsafe { $in_group(sum.as_ref()) }
            }
        }
    };
}

summed!(G1Affine, G1Projective, msm_sparse_g1, blst_p1_in_g1);
summed!(G2Affine, G2Projective, msm_sparse_g2, blst_p2_in_g2);

/// The sums over the points seen.
pub(crate) struct SubsetSums<P: Summed> {
    /// Bucket by bucket for every group of rounds.
    buckets: Vec<P::Sum>,
    bits: Bits,
    seen: u64,
}

impl<P: Summed> SubsetSums<P> {
    /// No points yet. The bits must not be known to whoever chose the points.
    pub(crate) fn new(bits: Bits) -> Self {
        SubsetSums { buckets: vec![P::Sum::identity(); ROUNDS / TOGETHER * BUCKETS], bits, seen: 0 }
    }

    /// Adds points that lie on the curve. Runs on the current rayon pool.
    pub(crate) fn add(&mut self, points: &[P], cancelled: Cancel<'_>) -> Result<(), Stopped> {
        let choices: Vec<u64> = self.bits.words(self.seen, points.len());
        self.seen += points.len() as u64;
        self.buckets.par_chunks_mut(BUCKETS).enumerate().try_for_each(|(group, sums)| {
            let mut lists: [Vec<u32>; BUCKETS] = Default::default();
            for (i, choice) in choices.iter().enumerate() {
                lists[(choice >> (group * TOGETHER)) as usize % BUCKETS].push(i as u32);
            }
            // Bucket 0 is in no subset.
            for (sum, list) in sums.iter_mut().zip(&lists).skip(1) {
                *sum += P::sum(points, list, cancelled)?;
            }
            Ok(())
        })
    }

    /// Whether all points seen lie in the subgroup, but for a chance of 2^-64.
    pub(crate) fn all_in_subgroup(&self) -> bool {
        self.buckets.par_chunks(BUCKETS).all(|sums| {
            (0..TOGETHER).all(|bit| {
                let subset = sums.iter().enumerate().filter(|(i, _)| i >> bit & 1 == 1).map(|(_, sum)| sum);
                P::sum_in_subgroup(&subset.sum())
            })
        })
    }
}

/// The number of the first point outside the subgroup, of points on their curve. `looked_at` is told of every piece how many
/// points it had. Runs on the current rayon pool.
pub(crate) fn first_outside<P: Summed>(
    points: &[P],
    cancelled: Cancel<'_>,
    looked_at: impl Fn(usize),
) -> Result<Option<usize>> {
    let mut sums = SubsetSums::new(Bits::fresh()?);
    for piece in points.chunks(PIECE) {
        sums.add(piece, cancelled)?;
        looked_at(piece.len());
    }
    if sums.all_in_subgroup() {
        return Ok(None);
    }
    match points.par_iter().position_first(|p| !p.in_subgroup()) {
        Some(i) => Ok(Some(i)),
        None => Err(Error::internal("points in the subgroup whose sum is not")),
    }
}
