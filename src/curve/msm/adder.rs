//! The one operation everything here is built of: sums of many short or long runs of affine points.

use super::curve::{AffinePoint, Curve};

/// One term of a run: the index of a point, doubled, plus one if the point enters negated.
pub type Term = u32;

/// Most terms of one call.
pub const MAX_TERMS: usize = 1 << 16;

/// A way to add affine points in batches that share an inversion.
pub trait Adder<C: Curve>: Copy + Send + Sync {
    /// A point as the adder keeps it between calls.
    type Point: Copy + Send + Sync;
    /// Buffers reused from call to call.
    type Scratch: Send;

    const IDENTITY: Self::Point;

    fn scratch(&self) -> Self::Scratch;

    fn is_identity(point: &Self::Point) -> bool;

    /// out\[s\] = sum of the terms of run s, where the runs follow each other in `terms` and `lengths` gives the number of
    /// terms of each. No term may be the identity. At most `MAX_TERMS` terms.
    fn sum_bases(
        &self,
        scratch: &mut Self::Scratch,
        bases: &[C::Affine],
        terms: &[Term],
        lengths: &[u32],
        out: &mut [Self::Point],
    );

    /// As `sum_bases`, of points that an earlier call returned.
    fn sum_points(
        &self,
        scratch: &mut Self::Scratch,
        points: &[Self::Point],
        terms: &[Term],
        lengths: &[u32],
        out: &mut [Self::Point],
    );

    /// The points in blst's form.
    fn export(&self, points: &[Self::Point], put: &mut dyn FnMut(usize, AffinePoint<C::Field>));
}

/// Scratch buffers that tasks take and give back, so that their pages are touched once.
pub struct Pool<T>(std::sync::Mutex<Vec<T>>);

impl<T> Pool<T> {
    pub fn new() -> Self {
        Pool(std::sync::Mutex::new(Vec::new()))
    }

    /// Runs `work` with a buffer of the pool or a new one.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let taken = self.lock().pop();
        let mut item = taken.unwrap_or_else(new);
        let result = work(&mut item);
        self.lock().push(item);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        // A poisoned pool still holds whole buffers: no task holds the lock while it works.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
