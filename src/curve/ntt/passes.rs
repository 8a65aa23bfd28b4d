//! The passes over memory of which the transforms are made, for any arithmetic.
//!
//! n values lie as a rectangle of rows and columns (see [`Roots`]). A transform from natural to
//! bit-reversed order is a pass down the columns and a pass along the rows; from bit-reversed to
//! natural order the same backwards. Going to the coset needs both, and its middle two passes
//! are one: values -> columns -> rows there and back -> columns -> coset values.

use blstrs::Scalar;
use ff::Field;

use super::roots::Direction;
use super::work::{for_each_group, Shared, Stop};
use super::Stopped;

/// What the last pass of a transform from natural to bit-reversed order multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// Plain transform with omega.
    Forward,
    /// With omega^-1, coefficients times 1/n.
    Inverse,
    /// With omega^-1, coefficient j times g^-j / n.
    InverseCoset,
}

impl Finish {
    pub(super) fn direction(self) -> Direction {
        match self {
            Finish::Forward => Direction::Forward,
            Finish::Inverse | Finish::InverseCoset => Direction::Inverse,
        }
    }
}

/// One way of doing the arithmetic. A group is the piece of a pass that one thread does at once:
/// some adjacent columns or some adjacent rows.
///
/// Each pass method requires of its caller that `data` holds n elements and that no other thread
/// accesses the group's elements during the call, and that `group` is below the number of groups.
pub(super) trait Engine: Sync {
    type Scratch;

    fn elements(&self) -> usize;
    fn column_groups(&self) -> usize;
    fn row_groups(&self) -> usize;
    fn column_scratch(&self) -> Self::Scratch;
    fn row_scratch(&self) -> Self::Scratch;

    /// Columns from natural to bit-reversed order.
    ///
    /// # Safety
    /// As said at the trait.
    unsafe fn split_columns(&self, direction: Direction, data: Shared<'_>, group: usize, scratch: &mut Self::Scratch);

    /// Columns from bit-reversed to natural order, with omega; the values become canonical.
    ///
    /// # Safety
    /// As said at the trait.
    unsafe fn join_columns(&self, data: Shared<'_>, group: usize, scratch: &mut Self::Scratch);

    /// Rows: the rest of the inverse transform, the step to the coset with the factor 1/n, the
    /// first part of the forward transform.
    ///
    /// # Safety
    /// As said at the trait.
    unsafe fn middle_rows(&self, data: Shared<'_>, group: usize, scratch: &mut Self::Scratch);

    /// Rows from natural to bit-reversed order, after which the whole is in bit-reversed order
    /// and canonical.
    ///
    /// # Safety
    /// As said at the trait.
    unsafe fn finish_rows(&self, finish: Finish, data: Shared<'_>, group: usize, scratch: &mut Self::Scratch);

    /// a = (a b - c) / (g^n - 1), element by element; slices of one length.
    fn pointwise(&self, a: &mut [Scalar], b: &[Scalar], c: &[Scalar]);
}

/// Values on the domain to values on the coset, both in natural order.
pub(super) fn to_coset<E: Engine>(engine: &E, values: &mut [Scalar], cancelled: Stop<'_>) -> Result<(), Stopped> {
    let n = engine.elements();
    let columns = engine.column_groups();
    let data = Shared::new(values);
    let scratch = || engine.column_scratch();
    for_each_group(columns, n, cancelled, scratch, |scratch, group| {
        // SAFETY: n elements; groups are disjoint columns.
        unsafe { engine.split_columns(Direction::Inverse, data, group, scratch) }
    })?;
    let row_scratch = || engine.row_scratch();
    for_each_group(engine.row_groups(), n, cancelled, row_scratch, |scratch, group| {
        // SAFETY: n elements; groups are disjoint rows.
        unsafe { engine.middle_rows(data, group, scratch) }
    })?;
    for_each_group(columns, n, cancelled, scratch, |scratch, group| {
        // SAFETY: n elements; groups are disjoint columns.
        unsafe { engine.join_columns(data, group, scratch) }
    })
}

/// A transform from natural to bit-reversed order.
pub(super) fn split<E: Engine>(
    engine: &E,
    finish: Finish,
    values: &mut [Scalar],
    cancelled: Stop<'_>,
) -> Result<(), Stopped> {
    let n = engine.elements();
    let data = Shared::new(values);
    let scratch = || engine.column_scratch();
    for_each_group(engine.column_groups(), n, cancelled, scratch, |scratch, group| {
        // SAFETY: n elements; groups are disjoint columns.
        unsafe { engine.split_columns(finish.direction(), data, group, scratch) }
    })?;
    let scratch = || engine.row_scratch();
    for_each_group(engine.row_groups(), n, cancelled, scratch, |scratch, group| {
        // SAFETY: n elements; groups are disjoint rows.
        unsafe { engine.finish_rows(finish, data, group, scratch) }
    })
}

/// Elements of a and another slice that one question to `cancelled` covers (some 100 us).
const POINTWISE: usize = 1 << 13;

/// Of them, those done at once: as many copies of a constant lie on the stack.
const AT_ONCE: usize = 256;

/// Calls `work` with pieces of `a` and of `other`, which is as long.
fn beside(
    a: &mut [Scalar],
    other: &[Scalar],
    cancelled: Stop<'_>,
    work: impl Fn(&mut [Scalar], &[Scalar]) + Sync,
) -> Result<(), Stopped> {
    let n = a.len();
    let data = Shared::new(a);
    for_each_group(
        n.div_ceil(POINTWISE),
        n,
        cancelled,
        || (),
        |(), group| {
            let first = group * POINTWISE;
            let len = POINTWISE.min(n - first);
            // SAFETY: groups are disjoint ranges within the n elements.
            let a = unsafe { std::slice::from_raw_parts_mut(data.at(first, len), len) };
            let pieces = a.chunks_mut(AT_ONCE).zip(other[first..first + len].chunks(AT_ONCE));
            pieces.for_each(|(a, other)| work(a, other));
        },
    )
}

/// a = a b / (g^n - 1) on the coset.
pub(super) fn product<E: Engine>(
    engine: &E,
    a: &mut [Scalar],
    b: &[Scalar],
    cancelled: Stop<'_>,
) -> Result<(), Stopped> {
    let zeros = [Scalar::ZERO; AT_ONCE];
    beside(a, b, cancelled, |a, b| engine.pointwise(a, b, &zeros[..b.len()]))
}

/// a = a - c / z on the coset, where z = g^n - 1.
pub(super) fn subtract<E: Engine>(
    engine: &E,
    z: Scalar,
    a: &mut [Scalar],
    c: &[Scalar],
    cancelled: Stop<'_>,
) -> Result<(), Stopped> {
    // (a z - c) / z.
    let factors = [z; AT_ONCE];
    beside(a, c, cancelled, |a, c| engine.pointwise(a, &factors[..c.len()], c))
}
