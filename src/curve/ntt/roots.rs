//! Roots of unity and powers of the coset generator, in tables of O(sqrt n) elements.

use blstrs::Scalar;
use ff::{Field, PrimeField};

use super::passes::Finish;

/// Reverses the low `bits` bits of `i`, which is below 2^bits.
#[inline]
pub(super) fn reverse_bits(i: usize, bits: u32) -> usize {
    if bits == 0 {
        0
    } else {
        i.reverse_bits() >> (usize::BITS - bits)
    }
}

/// Which primitive root a transform uses: omega, or its inverse (without the factor 1/n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

/// The constants of one domain, n = rows * columns, element (r, c) at r * columns + c.
///
/// With r, i1 < rows and c, i2 < columns, omega^((r + rows c)(i1 columns + i2)) =
/// (omega^columns)^(r i1) * omega^(r i2) * (omega^rows)^(c i2): transforms along both sides of the
/// rectangle with one twist between them, so no table is longer than a side.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) log_n: u32,
    pub(super) row_bits: u32,
    pub(super) column_bits: u32,
    /// omega^(bit reversal of i): the root that splits block i of every layer, natural order in.
    pub(super) forward: Vec<Scalar>,
    /// The same for omega^-1.
    pub(super) inverse: Vec<Scalar>,
    /// Layers that join halves of h = 1, 2, 4.. rows: entry h - 1 + j is (omega^(n / 2h))^j.
    pub(super) join: Vec<Scalar>,
    /// The same along columns, on the coset of g^rows: entry h - 1 + j is
    /// (g^rows)^(columns / 2h) * (omega^(n / 2h))^j.
    pub(super) coset: Vec<Scalar>,
    /// (g^rows)^-(bit reversal of c) for column c.
    pub(super) uncoset: Vec<Scalar>,
    pub(super) n_inverse: Scalar,
    /// g^n - 1, the vanishing polynomial on the coset, and its inverse.
    pub(super) z: Scalar,
    pub(super) z_inverse: Scalar,
    pub(super) generator: Scalar,
    pub(super) generator_inverse: Scalar,
    low_powers: Vec<Scalar>,
    high_powers: Vec<Scalar>,
}

impl Roots {
    pub(super) fn new(log_n: u32) -> Option<Roots> {
        if log_n > Scalar::S || log_n >= usize::BITS {
            return None;
        }
        let row_bits = log_n / 2;
        let column_bits = log_n - row_bits;
        // roots[k] generates the subgroup of order 2^k.
        let mut roots = vec![Scalar::ROOT_OF_UNITY; Scalar::S as usize + 1];
        for k in (0..Scalar::S as usize).rev() {
            roots[k] = roots[k + 1].square();
        }
        let inverses: Vec<Scalar> = roots.iter().map(|r| r.invert().into_option()).collect::<Option<_>>()?;
        let generator = Scalar::MULTIPLICATIVE_GENERATOR;
        let generator_inverse = generator.invert().into_option()?;
        let rows = 1u64 << row_bits;
        let coset = generator.pow_vartime([rows]);
        let uncoset = powers(coset.invert().into_option()?, 1 << column_bits);
        let z = generator.pow_vartime([1u64 << log_n]) - Scalar::ONE;
        let low_bits = log_n.div_ceil(2);
        let omega = roots[log_n as usize];
        Some(Roots {
            log_n,
            row_bits,
            column_bits,
            forward: splitting_roots(&roots, column_bits),
            inverse: splitting_roots(&inverses, column_bits),
            join: joining_roots(&roots, row_bits, Scalar::ONE),
            coset: joining_roots(&roots, column_bits, coset),
            uncoset: (0..1usize << column_bits).map(|c| uncoset[reverse_bits(c, column_bits)]).collect(),
            n_inverse: Scalar::from(1u64 << log_n).invert().into_option()?,
            z,
            z_inverse: z.invert().into_option()?,
            generator,
            generator_inverse,
            low_powers: powers(omega, 1 << low_bits),
            high_powers: powers(omega.pow_vartime([1u64 << low_bits]), 1 << (log_n - low_bits)),
        })
    }

    pub(super) fn rows(&self) -> usize {
        1 << self.row_bits
    }

    pub(super) fn columns(&self) -> usize {
        1 << self.column_bits
    }

    /// Frees the tables that are held elsewhere in another form, all but `forward`.
    pub(super) fn release(&mut self) {
        for table in [&mut self.inverse, &mut self.join, &mut self.coset, &mut self.uncoset] {
            *table = Vec::new();
        }
    }

    pub(super) fn splitting(&self, direction: Direction) -> &[Scalar] {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Inverse => &self.inverse,
        }
    }

    /// omega^exponent.
    pub(super) fn power(&self, exponent: u64) -> Scalar {
        let exponent = (exponent & ((1u64 << self.log_n) - 1)) as usize;
        let low = self.low_powers.len();
        self.low_powers[exponent & (low - 1)] * self.high_powers[exponent / low]
    }

    /// The exponent of omega by which a row's twist grows from one column to the next.
    pub(super) fn twist(&self, row: usize, direction: Direction) -> u64 {
        let frequency = reverse_bits(row, self.row_bits) as u64;
        match direction {
            Direction::Forward => frequency,
            Direction::Inverse => (1u64 << self.log_n) - frequency,
        }
    }

    /// The factor of a row's first column on the way to the coset: g^frequency / n.
    pub(super) fn coset_start(&self, row: usize) -> Scalar {
        let frequency = reverse_bits(row, self.row_bits) as u64;
        self.generator.pow_vartime([frequency]) * self.n_inverse
    }

    /// The factor of a row's first column in the last pass of a transform.
    pub(super) fn finish_start(&self, row: usize, finish: Finish) -> Scalar {
        match finish {
            Finish::Forward => Scalar::ONE,
            Finish::Inverse => self.n_inverse,
            Finish::InverseCoset => {
                let frequency = reverse_bits(row, self.row_bits) as u64;
                self.generator_inverse.pow_vartime([frequency]) * self.n_inverse
            }
        }
    }
}

fn powers(base: Scalar, len: usize) -> Vec<Scalar> {
    let mut power = Scalar::ONE;
    (0..len)
        .map(|_| {
            let this = power;
            power *= base;
            this
        })
        .collect()
}

/// Block i of a layer holds a polynomial modulo x^2h - c^2; the entry is c, for modulo x^h - c
/// and x^h + c, blocks 2i and 2i + 1 of the next layer.
fn splitting_roots(roots: &[Scalar], bits: u32) -> Vec<Scalar> {
    let mut table = vec![Scalar::ONE];
    for layer in 1..bits as usize {
        for i in 0..table.len() {
            table.push(table[i] * roots[layer + 1]);
        }
    }
    table
}

fn joining_roots(roots: &[Scalar], bits: u32, coset: Scalar) -> Vec<Scalar> {
    let mut table = Vec::with_capacity(1 << bits);
    for layer in 0..bits {
        let mut entry = coset.pow_vartime([1u64 << (bits - layer - 1)]);
        for _ in 0..1usize << layer {
            table.push(entry);
            entry *= roots[layer as usize + 1];
        }
    }
    table
}
