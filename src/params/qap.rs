//! The circuit's polynomials at τ.
//!
//! Column i of A is the polynomial uᵢ that takes the value A\[j\]\[i\] at ωʲ, so uᵢ(τ) = Σⱼ A\[j\]\[i\]·Lⱼ(τ) with the domain's
//! Lagrange polynomials L; vᵢ and wᵢ are B's and C's columns.

use std::sync::atomic::{AtomicU32, Ordering};

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use crate::circuit::{Matrices, SparseMatrix};
use crate::error::{Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// Values one task computes.
const TASK: usize = 1 << 12;

/// uᵢ(τ), vᵢ(τ) and wᵢ(τ) for every variable, the inputs first.
pub(crate) struct ColumnValues {
    pub(crate) u: Buf<Scalar>,
    pub(crate) v: Buf<Scalar>,
    pub(crate) w: Buf<Scalar>,
}

/// ω of the domain of 2^log elements; log is at most 32.
pub(crate) fn root_of_unity(log: u32) -> Scalar {
    (log..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |w, _| w.square())
}

/// τⁿ − 1, the vanishing polynomial of the domain of n = 2^log elements at τ.
pub(crate) fn vanishing(log: u32, tau: &Scalar) -> Scalar {
    (0..log).fold(*tau, |t, _| t.square()) - Scalar::ONE
}

/// Lⱼ(τ) = (τⁿ − 1)/n · ωʲ/(τ − ωʲ) for j < `rows`. τ must not be a power of ω.
fn lagrange(log: u32, tau: &Scalar, rows: usize, control: Control<'_>) -> Result<Buf<Scalar>> {
    let omega = root_of_unity(log);
    // n is a power of two, which the field's order does not divide.
    let n_inverse = (0..log).fold(Scalar::ONE, |x, _| x * Scalar::TWO_INV);
    let scale = vanishing(log, tau) * n_inverse;
    let mut values = Buf::zeroed("lagrange coefficients", rows)?;
    values.par_chunks_mut(TASK).enumerate().try_for_each(|(task, values)| {
        control.check()?;
        let mut power = omega.pow_vartime([(task * TASK) as u64]);
        let mut powers = [Scalar::ZERO; TASK];
        // Montgomery's trick: values[j] = Π_{k<j} (τ − ωᵏ), then from the end one inverse gives all.
        let mut product = Scalar::ONE;
        for (value, kept) in values.iter_mut().zip(&mut powers) {
            *kept = power;
            *value = product;
            product *= *tau - power;
            power *= omega;
        }
        let inverse = Option::<Scalar>::from(product.invert());
        let mut inverse = inverse.ok_or_else(|| Error::internal("the trapdoor's tau lies in the domain"))? * scale;
        for (value, power) in values.iter_mut().zip(&powers).rev() {
            *value *= inverse * power;
            inverse *= *tau - power;
        }
        Ok::<(), Error>(())
    })?;
    Ok(values)
}

/// All columns at τ. Takes the time of a few passes over the matrices, on the current rayon pool.
pub(crate) fn column_values(matrices: &Matrices, tau: &Scalar, control: Control<'_>) -> Result<ColumnValues> {
    let lagrange = lagrange(matrices.shape.log_domain(), tau, matrices.shape.constraints, control)?;
    let sums = |matrix| column_sums(matrix, matrices, &lagrange, control);
    Ok(ColumnValues { u: sums(&matrices.a)?, v: sums(&matrices.b)?, w: sums(&matrices.c)? })
}

/// Σⱼ M\[j\]\[i\]·Lⱼ for every column i.
///
/// The matrix is turned into columns first: counted, then scattered, both with atomic counters. The order of the terms in
/// a column is whatever the threads make it; field addition is exact, so the sums are the same in every run.
fn column_sums(
    matrix: &SparseMatrix,
    matrices: &Matrices,
    lagrange: &[Scalar],
    control: Control<'_>,
) -> Result<Buf<Scalar>> {
    let inputs = matrices.shape.inputs;
    let variables = inputs + matrices.shape.aux;
    let rows = matrix.rows();
    let tasks = rows.div_ceil(TASK);
    let rows_of = |task: usize| task * TASK..rows.min((task + 1) * TASK);

    let mut ends = Buf::<u32>::zeroed("column ends", variables)?;
    {
        let counts = atomic(&mut ends);
        (0..tasks).into_par_iter().try_for_each(|task| {
            for (column, _) in rows_of(task).flat_map(|row| matrix.row(row)) {
                counts[column.place(inputs)].fetch_add(1, Ordering::Relaxed);
            }
            control.check()
        })?;
    }
    // From counts to starts; scattering moves each start to its column's end.
    let mut sum = 0;
    for end in ends.iter_mut() {
        let count = *end;
        *end = sum;
        sum += count;
    }
    let mut term_rows = Buf::<u32>::zeroed("columns", matrix.non_zeros())?;
    let mut term_coefficients = Buf::<u32>::zeroed("columns", matrix.non_zeros())?;
    {
        let cursors = atomic(&mut ends);
        // Every place is written once: fetch_add hands it to one thread.
        let (term_rows, term_coefficients) = (atomic(&mut term_rows), atomic(&mut term_coefficients));
        (0..tasks).into_par_iter().try_for_each(|task| {
            for row in rows_of(task) {
                for (column, coefficient) in matrix.row(row) {
                    let place = cursors[column.place(inputs)].fetch_add(1, Ordering::Relaxed) as usize;
                    term_rows[place].store(row as u32, Ordering::Relaxed);
                    term_coefficients[place].store(coefficient.into(), Ordering::Relaxed);
                }
            }
            control.check()
        })?;
    }
    let mut sums = Buf::zeroed("column sums", variables)?;
    sums.par_chunks_mut(TASK).enumerate().try_for_each(|(task, sums)| {
        let first = task * TASK;
        let mut start = if first == 0 { 0 } else { ends[first - 1] as usize };
        for (sum, end) in sums.iter_mut().zip(&ends[first..]) {
            let terms = start..*end as usize;
            for (row, coefficient) in term_rows[terms.clone()].iter().zip(&term_coefficients[terms]) {
                let value = &lagrange[*row as usize];
                match coefficient {
                    // The table's first two coefficients are 1 and -1.
                    0 => *sum += value,
                    1 => *sum -= value,
                    c => *sum += matrices.coefficients[*c as usize] * value,
                }
            }
            start = *end as usize;
        }
        control.check()
    })?;
    Ok(sums)
}

/// The numbers as atomics, for as long as they are borrowed exclusively.
fn atomic(numbers: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: AtomicU32 has u32's size and bit validity, and on the targets with a 4-byte atomic its alignment; the
    // exclusive borrow is held for the result's life, so nobody sees the numbers otherwise.
    unsafe { std::slice::from_raw_parts(numbers.as_mut_ptr().cast(), numbers.len()) }
}
