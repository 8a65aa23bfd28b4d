//! Sums of many points with factor one and few with full-size factors.

use super::adder::{Adder, Pool, Term};
use super::buckets;
use super::curve::Curve;
use super::{scratch, Cancel, Stopped};
use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;

/// Points of one task.
const TASK: usize = 1 << 15;

/// The sum of bases\[i\] for i in `indices`.
fn sum_indexed<C: Curve, A: Adder<C>>(
    adder: A,
    bases: &[C::Affine],
    indices: &[u32],
    cancelled: Cancel<'_>,
) -> Result<C::Projective, Stopped> {
    let task = task_size(indices.len());
    let pool = Pool::new();
    indices
        .par_chunks(task)
        .map(|part| sum_part(adder, bases, part.iter().copied(), &pool, cancelled))
        .try_reduce(C::Projective::identity, |a, b| Ok(a + b))
}

/// The sum of all points.
pub fn sum_all<C: Curve, A: Adder<C>>(
    adder: A,
    points: &[C::Affine],
    cancelled: Cancel<'_>,
) -> Result<C::Projective, Stopped> {
    let task = task_size(points.len());
    let pool = Pool::new();
    points
        .par_chunks(task)
        .map(|part| sum_part(adder, part, 0..part.len() as u32, &pool, cancelled))
        .try_reduce(C::Projective::identity, |a, b| Ok(a + b))
}

fn task_size(points: usize) -> usize {
    points.div_ceil(4 * rayon::current_num_threads()).clamp(1 << 10, TASK)
}

type Buffers<C, A> = (<A as Adder<C>>::Scratch, Vec<Term>);

fn sum_part<C: Curve, A: Adder<C>>(
    adder: A,
    bases: &[C::Affine],
    indices: impl Iterator<Item = u32>,
    pool: &Pool<Buffers<C, A>>,
    cancelled: Cancel<'_>,
) -> Result<C::Projective, Stopped> {
    if cancelled() {
        return Err(Stopped::Cancelled);
    }
    let coordinates = C::coordinates(bases);
    let new = || (adder.scratch(), Vec::new());
    Ok(pool.with(new, |(scratch, terms)| {
        terms.clear();
        let live = indices.filter(|&i| !coordinates[i as usize].is_identity());
        terms.extend(live.map(|i| i << 1));
        let mut out = [A::IDENTITY];
        adder.sum_bases(scratch, bases, terms, &[terms.len() as u32], &mut out);
        let mut sum = C::Projective::identity();
        adder.export(&out, &mut |_, point| sum = C::projective(point));
        sum
    }))
}

/// The sum of bases\[i\] for i in `ones`, plus the sum of wide_scalars\[j\] * bases\[wide\[j\]\].
pub fn sum_sparse<C: Curve, A: Adder<C>>(
    adder: A,
    bases: &[C::Affine],
    ones: &[u32],
    wide: &[u32],
    wide_scalars: &[Scalar],
    cancelled: Cancel<'_>,
) -> Result<C::Projective, Stopped> {
    let (ones, wide) = rayon::join(
        || sum_indexed::<C, A>(adder, bases, ones, cancelled),
        || {
            let mut sum = C::Projective::identity();
            let pieces = wide.chunks(GATHER).zip(wide_scalars.chunks(GATHER));
            let mut gathered = scratch::<C::Affine>(wide.len().min(GATHER))?;
            for (wide, scalars) in pieces {
                let gathered = &mut gathered[..wide.len()];
                gathered.iter_mut().zip(wide).for_each(|(to, i)| *to = bases[*i as usize]);
                sum += buckets::multiply_sum::<C, A>(adder, gathered, scalars, cancelled)?;
            }
            Ok(sum)
        },
    );
    Ok(ones? + wide?)
}

/// Wide bases copied together at a time: 25 MB of G1, 50 MB of G2.
pub(super) const GATHER: usize = 1 << 18;
