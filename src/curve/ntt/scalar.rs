//! The transforms' passes with blst's scalar arithmetic, for any CPU.

use blstrs::Scalar;
use ff::Field;

use super::passes::{Engine, Finish};
use super::roots::{Direction, Roots};
use super::work::Shared;

/// Columns done together: 8 elements are 256 contiguous bytes of a row.
const WIDTH: usize = 8;

pub(super) struct Portable<'a>(pub(super) &'a Roots);

impl Portable<'_> {
    fn width(&self) -> usize {
        WIDTH.min(self.0.columns())
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    unsafe fn load(&self, data: Shared<'_>, group: usize, scratch: &mut [Scalar]) {
        let width = self.width();
        for (r, to) in scratch.chunks_exact_mut(width).enumerate() {
            let index = r * self.0.columns() + group * width;
            // SAFETY: row r of the group's columns, which are this thread's.
            to.copy_from_slice(unsafe { std::slice::from_raw_parts(data.at(index, width), width) });
        }
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    unsafe fn store(&self, data: Shared<'_>, group: usize, scratch: &[Scalar]) {
        let width = self.width();
        for (r, from) in scratch.chunks_exact(width).enumerate() {
            let index = r * self.0.columns() + group * width;
            // SAFETY: row r of the group's columns, which are this thread's.
            unsafe { std::slice::from_raw_parts_mut(data.at(index, width), width) }.copy_from_slice(from);
        }
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    unsafe fn row<'b>(&self, data: Shared<'b>, row: usize) -> &'b mut [Scalar] {
        let columns = self.0.columns();
        // SAFETY: one row, which is this thread's.
        unsafe { std::slice::from_raw_parts_mut(data.at(row * columns, columns), columns) }
    }
}

impl Engine for Portable<'_> {
    type Scratch = Vec<Scalar>;

    fn elements(&self) -> usize {
        1 << self.0.log_n
    }

    fn column_groups(&self) -> usize {
        self.0.columns() / self.width()
    }

    fn row_groups(&self) -> usize {
        self.0.rows()
    }

    fn column_scratch(&self) -> Vec<Scalar> {
        vec![Scalar::ZERO; self.0.rows() * self.width()]
    }

    fn row_scratch(&self) -> Vec<Scalar> {
        Vec::new()
    }

    unsafe fn split_columns(&self, direction: Direction, data: Shared<'_>, group: usize, scratch: &mut Vec<Scalar>) {
        // SAFETY: the caller's promise.
        unsafe { self.load(data, group, scratch) };
        split(scratch, self.width(), self.0.splitting(direction));
        // SAFETY: the caller's promise.
        unsafe { self.store(data, group, scratch) };
    }

    unsafe fn join_columns(&self, data: Shared<'_>, group: usize, scratch: &mut Vec<Scalar>) {
        // SAFETY: the caller's promise.
        unsafe { self.load(data, group, scratch) };
        join(scratch, self.width(), &self.0.join);
        // SAFETY: the caller's promise.
        unsafe { self.store(data, group, scratch) };
    }

    unsafe fn middle_rows(&self, data: Shared<'_>, group: usize, _: &mut Vec<Scalar>) {
        let roots = self.0;
        // SAFETY: the caller's promise.
        let row = unsafe { self.row(data, group) };
        let inverse = roots.power(roots.twist(group, Direction::Inverse));
        let frequency = roots.twist(group, Direction::Forward);
        twist(row, Scalar::ONE, inverse);
        split(row, 1, &roots.inverse);
        join(row, 1, &roots.coset);
        twist(row, roots.coset_start(group), roots.power(frequency));
    }

    unsafe fn finish_rows(&self, finish: Finish, data: Shared<'_>, group: usize, _: &mut Vec<Scalar>) {
        let roots = self.0;
        // SAFETY: the caller's promise.
        let row = unsafe { self.row(data, group) };
        let direction = finish.direction();
        let start = roots.finish_start(group, finish);
        twist(row, start, roots.power(roots.twist(group, direction)));
        split(row, 1, roots.splitting(direction));
        if finish == Finish::InverseCoset {
            for (value, factor) in row.iter_mut().zip(&roots.uncoset) {
                *value *= factor;
            }
        }
    }

    fn pointwise(&self, a: &mut [Scalar], b: &[Scalar], c: &[Scalar]) {
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            *a = (*a * b - c) * self.0.z_inverse;
        }
    }
}

/// values[i] *= start * step^i.
fn twist(values: &mut [Scalar], start: Scalar, step: Scalar) {
    let mut factor = start;
    for value in values {
        *value *= factor;
        factor *= step;
    }
}

/// Evaluates: `width` interleaved polynomials, coefficients in natural order, to their values at
/// the roots of unity in bit-reversed order. Block i modulo x^2h - c^2 goes to modulo x^h - c and
/// x^h + c.
fn split(values: &mut [Scalar], width: usize, roots: &[Scalar]) {
    let mut half = values.len() / 2;
    while half >= width {
        for (block, c) in values.chunks_exact_mut(2 * half).zip(roots) {
            let (low, high) = block.split_at_mut(half);
            let one = *c == Scalar::ONE;
            for (a, b) in low.iter_mut().zip(high) {
                let t = if one { *b } else { *b * c };
                *b = *a - t;
                *a += t;
            }
        }
        half /= 2;
    }
}

/// Evaluates: coefficients in bit-reversed order to values in natural order, at the roots of
/// unity times what `layers` was made with. f(x) = even(x^2) + x odd(x^2).
fn join(values: &mut [Scalar], width: usize, layers: &[Scalar]) {
    let size = values.len() / width;
    let mut half = 1;
    while half < size {
        let layer = &layers[half - 1..2 * half - 1];
        for block in values.chunks_exact_mut(2 * half * width) {
            let (low, high) = block.split_at_mut(half * width);
            let pairs = low.chunks_exact_mut(width).zip(high.chunks_exact_mut(width));
            for ((low, high), x) in pairs.zip(layer) {
                let one = *x == Scalar::ONE;
                for (a, b) in low.iter_mut().zip(high) {
                    let t = if one { *b } else { *b * x };
                    *b = *a - t;
                    *a += t;
                }
            }
        }
        half *= 2;
    }
}
