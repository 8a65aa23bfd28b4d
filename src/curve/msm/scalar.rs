//! Sums of runs of affine points with blst's field arithmetic, for any CPU.
//!
//! The same rounds of neighbour additions as the vector path, with the special cases told apart as they are met.

use super::adder::{Adder, Term};
use super::curve::{AffinePoint, Coordinate, Curve};

/// Additions that share an inversion.
const BATCH: usize = 1024;

/// Additions with blst.
#[derive(Clone, Copy)]
pub struct Portable;

/// One addition of a batch: the sum goes to `slot`.
#[derive(Clone, Copy)]
struct Addition<F> {
    a: AffinePoint<F>,
    b: AffinePoint<F>,
    slot: usize,
    /// Product of the denominators before this one.
    before: F,
    denominator: F,
    numerator: F,
}

/// Buffers of one task.
pub struct Scratch<F> {
    slots: Vec<AffinePoint<F>>,
    batch: Vec<Addition<F>>,
    /// First slot and number of points of the runs that still hold more than one.
    open: Vec<(usize, usize)>,
    first: Vec<usize>,
    product: F,
}

impl<F: Coordinate> Scratch<F> {
    /// Puts a + b into the slot, at once or with the batch.
    fn add(&mut self, one: &F, a: AffinePoint<F>, b: AffinePoint<F>, slot: usize) {
        if a.is_identity() || b.is_identity() {
            self.slots[slot] = if a.is_identity() { b } else { a };
            return;
        }
        let mut denominator = b.x.minus(&a.x);
        let mut numerator = b.y.minus(&a.y);
        if denominator == F::ZERO {
            if numerator != F::ZERO {
                self.slots[slot] = AffinePoint::IDENTITY;
                return;
            }
            let square = a.x.square();
            numerator = square.plus(&square).plus(&square);
            denominator = a.y.plus(&a.y);
        }
        let before = if self.batch.is_empty() { *one } else { self.product };
        self.product = if self.batch.is_empty() { denominator } else { before.times(&denominator) };
        self.batch.push(Addition { a, b, slot, before, denominator, numerator });
        if self.batch.len() == BATCH {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut inverse = self.product.inverse();
        for addition in self.batch.drain(..).rev() {
            let Addition { a, b, slot, before, denominator, numerator } = addition;
            let slope = inverse.times(&before).times(&numerator);
            inverse = inverse.times(&denominator);
            let x = slope.square().minus(&a.x).minus(&b.x);
            let y = slope.times(&a.x.minus(&x)).minus(&a.y);
            self.slots[slot] = AffinePoint { x, y };
        }
    }

    fn sum_runs(
        &mut self,
        one: &F,
        points: &[AffinePoint<F>],
        terms: &[Term],
        lengths: &[u32],
        out: &mut [AffinePoint<F>],
    ) {
        let read = |term: Term| {
            let point = points[(term >> 1) as usize];
            let y = if term & 1 == 1 { F::ZERO.minus(&point.y) } else { point.y };
            AffinePoint { x: point.x, y }
        };
        let slots_used: usize = lengths.iter().map(|&n| n.div_ceil(2) as usize).sum();
        self.slots.clear();
        self.slots.resize(slots_used, AffinePoint::IDENTITY);
        self.open.clear();
        self.first.clear();
        let (mut at, mut slot) = (0, 0);
        for &length in lengths {
            let run = &terms[at..at + length as usize];
            at += length as usize;
            self.first.push(slot);
            if length > 2 {
                self.open.push((slot, run.len().div_ceil(2)));
            }
            for pair in run.chunks(2) {
                match *pair {
                    [a, b] => self.add(one, read(a), read(b), slot),
                    [a] => self.slots[slot] = read(a),
                    _ => {}
                }
                slot += 1;
            }
        }
        self.finish();
        let mut stride = 1;
        while !self.open.is_empty() {
            let mut open = std::mem::take(&mut self.open);
            open.retain_mut(|(first, count)| {
                for i in 0..*count / 2 {
                    let slot = *first + 2 * i * stride;
                    self.add(one, self.slots[slot], self.slots[slot + stride], slot);
                }
                *count = count.div_ceil(2);
                *count > 1
            });
            self.finish();
            self.open = open;
            stride *= 2;
        }
        for (s, point) in out.iter_mut().enumerate() {
            *point = match lengths[s] {
                0 => AffinePoint::IDENTITY,
                _ => self.slots[self.first[s]],
            };
        }
    }
}

impl<C: Curve> Adder<C> for Portable {
    type Point = AffinePoint<C::Field>;
    type Scratch = Scratch<C::Field>;
    const IDENTITY: Self::Point = AffinePoint::IDENTITY;

    fn scratch(&self) -> Self::Scratch {
        Scratch {
            slots: Vec::new(),
            batch: Vec::with_capacity(BATCH),
            open: Vec::new(),
            first: Vec::new(),
            product: C::Field::ZERO,
        }
    }

    fn is_identity(point: &Self::Point) -> bool {
        point.is_identity()
    }

    fn sum_bases(
        &self,
        scratch: &mut Self::Scratch,
        bases: &[C::Affine],
        terms: &[Term],
        lengths: &[u32],
        out: &mut [Self::Point],
    ) {
        scratch.sum_runs(&C::Field::one(), C::coordinates(bases), terms, lengths, out);
    }

    fn sum_points(
        &self,
        scratch: &mut Self::Scratch,
        points: &[Self::Point],
        terms: &[Term],
        lengths: &[u32],
        out: &mut [Self::Point],
    ) {
        scratch.sum_runs(&C::Field::one(), points, terms, lengths, out);
    }

    fn export(&self, points: &[Self::Point], put: &mut dyn FnMut(usize, AffinePoint<C::Field>)) {
        for (i, point) in points.iter().enumerate() {
            put(i, *point);
        }
    }
}
