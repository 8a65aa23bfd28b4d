//! Many multiples of one point, from a table of its multiples for every byte of a scalar.

use blstrs::{G1Projective, G2Projective, Scalar};
use group::prime::{PrimeCurve, PrimeCurveAffine};
use rayon::prelude::*;

/// Multiples computed by one task.
const TASK: usize = 1 << 10;

/// The caller asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Tables to multiply one point by many scalars.
pub(crate) struct FixedBase<C: PrimeCurve> {
    /// tables\[w\]\[d − 1\] = d·2^(8w)·base.
    tables: Vec<Vec<C::Affine>>,
}

/// In G1.
pub(crate) type FixedBaseG1 = FixedBase<G1Projective>;
/// In G2.
pub(crate) type FixedBaseG2 = FixedBase<G2Projective>;

impl<C: PrimeCurve<Scalar = Scalar>> FixedBase<C> {
    /// Builds the tables of `base`.
    pub(crate) fn new(base: &C::Affine) -> Self {
        let mut power = base.to_curve();
        let tables = (0..32)
            .map(|_| {
                let mut multiples = Vec::with_capacity(255);
                let mut sum = power;
                for _ in 0..255 {
                    multiples.push(sum);
                    sum += power;
                }
                power = sum;
                let mut affine = vec![C::Affine::identity(); 255];
                C::batch_normalize(&multiples, &mut affine);
                affine
            })
            .collect();
        FixedBase { tables }
    }

    /// out\[i\] = scalars\[i\]·base. The slices have the same length.
    pub(crate) fn multiply_many(
        &self,
        scalars: &[Scalar],
        out: &mut [C::Affine],
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Cancelled> {
        out.par_chunks_mut(TASK).zip(scalars.par_chunks(TASK)).try_for_each(|(out, scalars)| {
            if cancelled() {
                return Err(Cancelled);
            }
            let sums: Vec<C> = scalars.iter().map(|s| self.multiply(s)).collect();
            C::batch_normalize(&sums, out);
            Ok(())
        })
    }

    fn multiply(&self, scalar: &Scalar) -> C {
        let mut sum = C::identity();
        for (byte, table) in scalar.to_bytes_le().into_iter().zip(&self.tables) {
            if byte != 0 {
                sum += table[usize::from(byte) - 1];
            }
        }
        sum
    }
}
