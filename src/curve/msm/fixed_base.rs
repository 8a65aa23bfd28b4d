//! Many multiples of one point: tables of its multiples for every window, and batched sums of their entries.

use super::adder::{Adder, Pool, Term};
use super::buckets::Windows;
use super::curve::{Curve, G1, G2};
use super::{scalar, with_adder, Arithmetic, Cancel, Stopped};
use blstrs::{G1Affine, G2Affine, Scalar};
use group::Group;
use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::batch_affine;

/// Multiples computed by one task.
const TASK: usize = 1 << 11;

/// The multiples 1, 2, ... of 2^(c w) times the base for every window w, one window after the other.
struct Table<C: Curve, A: Adder<C>> {
    adder: A,
    windows: Windows,
    points: Vec<A::Point>,
    /// Where each window's multiples start.
    starts: Vec<u32>,
    base_is_identity: bool,
    curve: std::marker::PhantomData<C>,
}

impl<C: Curve, A: Adder<C>> Table<C, A> {
    fn new(adder: A, base: C::Affine, bits: u32) -> Self {
        let windows = Windows::of_bits(bits);
        let mut starts = vec![0u32];
        for i in 0..windows.count {
            starts.push(starts[i as usize] + windows.buckets(i) as u32);
        }
        let mut points = vec![A::IDENTITY; starts[windows.count as usize] as usize];
        let base_is_identity = C::coordinates(&[base])[0].is_identity();
        if !base_is_identity {
            let mut firsts = Vec::new();
            let mut power = C::Projective::from(base);
            for _ in 0..windows.count {
                firsts.push(C::to_affine(&power));
                for _ in 0..bits {
                    power = power.double();
                }
            }
            let mut rest = &mut points[..];
            let mut windows_points = Vec::new();
            for i in 0..windows.count {
                let (window, after) = rest.split_at_mut(windows.buckets(i));
                windows_points.push(window);
                rest = after;
            }
            windows_points
                .into_par_iter()
                .zip(firsts.par_iter())
                .for_each(|(points, first)| Self::fill(adder, first, points));
        }
        Table { adder, windows, points, starts, base_is_identity, curve: std::marker::PhantomData }
    }

    /// points\[i\] = (i + 1) first, doubling the number known in each step.
    fn fill(adder: A, first: &C::Affine, points: &mut [A::Point]) {
        let mut scratch = adder.scratch();
        adder.sum_bases(&mut scratch, std::slice::from_ref(first), &[0], &[1], &mut points[..1]);
        let mut known = 1;
        while known < points.len() {
            let (low, high) = points.split_at_mut(known);
            let fresh = known.min(high.len());
            const PART: usize = 1 << 12;
            for (part, out) in high[..fresh].chunks_mut(PART).enumerate() {
                let terms: Vec<Term> = (0..out.len())
                    .flat_map(|i| [(part * PART + i) as Term, known as Term - 1])
                    .map(|i| i << 1)
                    .collect();
                adder.sum_points(&mut scratch, low, &terms, &vec![2; out.len()], out);
            }
            known += fresh;
        }
    }

    fn multiply_many(&self, scalars: &[Scalar], out: &mut [C::Affine], cancelled: Cancel<'_>) -> Result<(), Stopped> {
        let pool = Pool::new();
        out.par_chunks_mut(TASK).zip(scalars.par_chunks(TASK)).try_for_each(|(out, scalars)| {
            if cancelled() {
                return Err(Stopped::Cancelled);
            }
            let new = || (self.adder.scratch(), Vec::new(), Vec::new(), Vec::new());
            pool.with(new, |(scratch, terms, lengths, sums)| {
                terms.clear();
                lengths.clear();
                sums.clear();
                sums.resize(scalars.len(), A::IDENTITY);
                for scalar in scalars {
                    let before = terms.len();
                    if !self.base_is_identity {
                        self.terms(scalar, terms);
                    }
                    lengths.push((terms.len() - before) as u32);
                }
                self.adder.sum_points(scratch, &self.points, terms, lengths, sums);
                self.adder.export(sums, &mut |i, point| out[i] = C::affine(point));
            });
            Ok(())
        })
    }

    fn terms(&self, scalar: &Scalar, terms: &mut Vec<Term>) {
        for (digit, start) in self.windows.digits(scalar).zip(&self.starts) {
            if digit != 0 {
                let entry = start + digit.unsigned_abs() as u32 - 1;
                terms.push(entry << 1 | (digit < 0) as u32);
            }
        }
    }
}

macro_rules! fixed_base {
    ($name:ident, $curve:ty, $affine:ty, $bits:literal, $what:literal) => {
        #[doc = $what]
        pub struct $name(Box<dyn Multiply<$affine>>);

        impl $name {
            /// Builds the tables of `base`.
            pub fn new(base: &$affine) -> Self {
                Self::with_arithmetic(Arithmetic::Detect, base)
            }

            pub(crate) fn with_arithmetic(arithmetic: Arithmetic, base: &$affine) -> Self {
                fn build(arithmetic: Arithmetic, base: &$affine) -> Box<dyn Multiply<$affine>> {
                    with_adder!(arithmetic, adder => Box::new(Table::<$curve, _>::new(adder, *base, $bits)))
                }
                $name(build(arithmetic, base))
            }

            /// out\[i\] = scalars\[i\] * base. The slices have the same length.
            pub fn multiply_many(
                &self,
                scalars: &[Scalar],
                out: &mut [$affine],
                cancelled: Cancel<'_>,
            ) -> Result<(), Stopped> {
                assert_eq!(scalars.len(), out.len(), "one result a scalar");
                self.0.multiply_many(scalars, out, cancelled)
            }
        }
    };
}

/// Hides which adder a table was built for.
trait Multiply<P>: Send + Sync {
    fn multiply_many(&self, scalars: &[Scalar], out: &mut [P], cancelled: Cancel<'_>) -> Result<(), Stopped>;
}

impl<C: Curve, A: Adder<C>> Multiply<C::Affine> for Table<C, A> {
    fn multiply_many(&self, scalars: &[Scalar], out: &mut [C::Affine], cancelled: Cancel<'_>) -> Result<(), Stopped> {
        Table::multiply_many(self, scalars, out, cancelled)
    }
}

fixed_base!(
    FixedBaseG1,
    G1,
    G1Affine,
    16,
    "Tables to multiply one point of G1 by many scalars: 16 windows of 16 bits, 67 MB (50 MB without AVX-512 IFMA)."
);
fixed_base!(
    FixedBaseG2,
    G2,
    G2Affine,
    15,
    "Tables to multiply one point of G2 by many scalars: 17 windows of 15 bits, 75 MB (56 MB without AVX-512 IFMA)."
);
