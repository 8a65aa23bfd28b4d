//! The transforms' passes eight lanes at a time: eight adjacent columns, or eight adjacent rows.

use std::arch::x86_64::*;
use std::sync::OnceLock;

use blstrs::Scalar;

use super::ifma::{
    bias, canonical, digits, multiply, multiply_fixed, pack, settle, unpack, Factor, Fixed, FixedLanes, Lanes,
};
use super::lanes::{join, split, Start};
use super::memory::{load_eight, store_eight, transpose};
use super::ordered::multiply_and_step;
use super::passes::{Engine, Finish};
use super::roots::{Direction, Roots};
use super::work::Shared;

const LANES: usize = 8;

/// Rows between a prefetch, to the second-level cache, and its use. Rows lie a power of two
/// apart and so share few sets of a cache: much more would evict each other.
const AHEAD: usize = 16;

/// The same along rows, where 32 streams are more than the hardware follows.
const COLUMNS_AHEAD: usize = 12;

/// The sides' least length: groups are eight wide, and a row's twist has four chains of pairs.
const LEAST_LOG_N: u32 = 6;

/// The tables of [`Roots`] as multipliers, 200 bytes an entry.
#[derive(Debug)]
pub(super) struct Tables {
    /// Made at the first use: proofs do without it.
    forward: OnceLock<Vec<Fixed>>,
    inverse: Vec<Fixed>,
    join: Vec<Fixed>,
    coset: Vec<Fixed>,
    uncoset: Vec<Factor>,
    /// 2^4 / z and -1 / z: a product of two values in blst's form by R = 2^260 lacks 2^4.
    product: Fixed,
    minus: Fixed,
}

impl Tables {
    /// None if the CPU or the domain's size does not suit.
    pub(super) fn new(roots: &Roots) -> Option<Tables> {
        if roots.log_n < LEAST_LOG_N || !super::ifma::available() {
            return None;
        }
        Some(Tables {
            forward: OnceLock::new(),
            inverse: Fixed::table(&roots.inverse),
            join: Fixed::table(&roots.join),
            coset: Fixed::table(&roots.coset),
            uncoset: roots.uncoset.iter().map(|x| Factor::new(*x)).collect(),
            product: Fixed::new(roots.z_inverse * Scalar::from(16)),
            minus: Fixed::new(-roots.z_inverse),
        })
    }

    fn splitting(&self, roots: &Roots, direction: Direction) -> &[Fixed] {
        match direction {
            Direction::Forward => self.forward.get_or_init(|| Fixed::table(&roots.forward)),
            Direction::Inverse => &self.inverse,
        }
    }
}

/// Factors start * omega^(exponent * column) for eight rows, walked through in eight chains:
/// a pair of adjacent columns in each quarter of the row.
struct Twist {
    chains: [Lanes; 8],
    /// By two columns.
    step: FixedLanes,
}

impl Twist {
    fn new(roots: &Roots, row: usize, direction: Direction, start: impl Fn(usize) -> Scalar) -> Twist {
        let exponents: [u64; LANES] = std::array::from_fn(|l| roots.twist(row + l, direction));
        let starts: [Scalar; LANES] = std::array::from_fn(|l| start(row + l));
        let quarter = roots.columns() as u64 / 4;
        let chains = std::array::from_fn(|chain| {
            let column = chain as u64 / 2 * quarter + chain as u64 % 2;
            Lanes::factors(&std::array::from_fn(|l| starts[l] * roots.power(exponents[l] * column)))
        });
        let steps = std::array::from_fn(|l| roots.power(2 * exponents[l]));
        Twist { chains, step: FixedLanes::new(&steps) }
    }
}

/// The vector engine of a domain; made only where the CPU has the instructions.
pub(super) struct Vectors<'a> {
    roots: &'a Roots,
    tables: &'a Tables,
}

impl<'a> Vectors<'a> {
    /// Tables exist only where the CPU has the instructions, which makes their use sound.
    pub(super) fn new(roots: &'a Roots, tables: &'a Tables) -> Vectors<'a> {
        Vectors { roots, tables }
    }

    /// Asks for row r of the group's columns, 256 bytes; nothing beyond the last row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn prefetch(&self, data: Shared<'_>, r: usize, group: usize) {
        if r < self.roots.rows() {
            let index = r * self.roots.columns() + group * LANES;
            for pair in 0..LANES / 2 {
                // SAFETY: in range; a prefetch accesses nothing.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(data.at(index + 2 * pair, 2).cast()) };
            }
        }
    }

    /// Asks for a cache line of a row; nothing beyond the last element.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn prefetch_pair(&self, data: Shared<'_>, index: usize) {
        if index + 2 <= self.roots.rows() * self.roots.columns() {
            // SAFETY: in range; a prefetch accesses nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(data.at(index, 2).cast()) };
        }
    }

    /// Eight columns to the scratch, one row of eight an entry.
    ///
    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn load_columns(&self, data: Shared<'_>, group: usize, scratch: &mut [Lanes]) {
        for (r, lanes) in scratch.iter_mut().enumerate() {
            self.prefetch(data, r + AHEAD, group);
            let index = r * self.roots.columns() + group * LANES;
            // SAFETY: eight scalars of row r in the group's columns.
            let words = unsafe { load_eight(data.at(index, LANES)) };
            lanes.store(&unpack(&words));
        }
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store_columns<const CANONICAL: bool>(&self, data: Shared<'_>, group: usize, scratch: &[Lanes]) {
        for (r, lanes) in scratch.iter().enumerate() {
            self.prefetch(data, r + AHEAD, group);
            let mut x = settle(&lanes.load());
            if CANONICAL {
                x = canonical(&x);
            }
            let index = r * self.roots.columns() + group * LANES;
            // SAFETY: eight scalars of row r in the group's columns.
            unsafe { store_eight(data.at(index, LANES), &pack(&x)) };
        }
    }

    /// Eight rows, times the twist, to the scratch, one column of eight an entry.
    ///
    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn load_rows(&self, data: Shared<'_>, group: usize, mut twist: Twist, scratch: &mut [Lanes]) {
        let columns = self.roots.columns();
        let zero = bias::<0>();
        for column in (0..columns / 4).step_by(2) {
            for (quarter, chains) in twist.chains.chunks_exact_mut(2).enumerate() {
                let column = quarter * (columns / 4) + column;
                let mut z = [_mm512_setzero_si512(); 8];
                for (l, z) in z.iter_mut().enumerate() {
                    let index = (group * LANES + l) * columns + column;
                    self.prefetch_pair(data, index + COLUMNS_AHEAD);
                    // SAFETY: two scalars of one of the group's rows, four words each.
                    *z = unsafe { _mm512_loadu_si512(data.at(index, 2).cast()) };
                }
                let w = transpose(&z);
                let pair = [[w[0], w[1], w[2], w[3]], [w[4], w[5], w[6], w[7]]];
                for ((words, factor), to) in pair.iter().zip(chains).zip(&mut scratch[column..]) {
                    let t = digits(&factor.load());
                    let (x, next) = multiply_and_step(&unpack(words), &t, &twist.step, &zero);
                    to.store(&x);
                    factor.store(&next);
                }
            }
        }
    }

    /// The inverse of [`Self::load_rows`], the values left below 2^256.
    ///
    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store_rows(&self, data: Shared<'_>, group: usize, mut twist: Twist, scratch: &[Lanes]) {
        let columns = self.roots.columns();
        let one = bias::<1>();
        for column in (0..columns / 4).step_by(2) {
            for (quarter, chains) in twist.chains.chunks_exact_mut(2).enumerate() {
                let column = quarter * (columns / 4) + column;
                for l in 0..LANES {
                    let index = (group * LANES + l) * columns + column;
                    self.prefetch_pair(data, index + COLUMNS_AHEAD);
                }
                let mut w = [_mm512_setzero_si512(); 8];
                let pairs = w.chunks_exact_mut(4).zip(chains).zip(&scratch[column..]);
                for ((words, factor), from) in pairs {
                    let t = digits(&factor.load());
                    // 20.5 p * 6 p / 2^260 + p + p < 6 p
                    let x = digits(&from.load());
                    let (x, next) = multiply_and_step(&x, &t, &twist.step, &one);
                    words.copy_from_slice(&pack(&settle(&x)));
                    factor.store(&next);
                }
                // SAFETY: the caller's promise.
                unsafe { self.store_pair(data, group, column, &w) };
            }
        }
    }

    /// Canonical values to eight rows, times a factor for each column if there are any.
    ///
    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store_canonical_rows(
        &self,
        data: Shared<'_>,
        group: usize,
        factors: Option<&[Factor]>,
        scratch: &[Lanes],
    ) {
        for column in (0..self.roots.columns()).step_by(2) {
            let mut w = [_mm512_setzero_si512(); 8];
            for (i, words) in w.chunks_exact_mut(4).enumerate() {
                let mut x = scratch[column + i].load();
                if let Some(factors) = factors {
                    let factor = factors[column + i].broadcast();
                    x = multiply(&digits(&x), &factor, &bias::<1>());
                }
                words.copy_from_slice(&pack(&canonical(&settle(&x))));
            }
            // SAFETY: the caller's promise.
            unsafe { self.store_pair(data, group, column, &w) };
        }
    }

    /// Words of two columns to eight rows.
    ///
    /// # Safety
    /// As for the passes of [`Engine`]; column + 1 < columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store_pair(&self, data: Shared<'_>, group: usize, column: usize, words: &[__m512i; 8]) {
        for (l, z) in transpose(words).into_iter().enumerate() {
            let index = (group * LANES + l) * self.roots.columns() + column;
            // SAFETY: two scalars of one of the group's rows, four words each.
            unsafe { _mm512_storeu_si512(data.at(index, 2).cast(), z) };
        }
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn split_columns_ifma(&self, direction: Direction, data: Shared<'_>, group: usize, scratch: &mut [Lanes]) {
        // SAFETY: the caller's promise.
        unsafe { self.load_columns(data, group, scratch) };
        split(scratch, self.tables.splitting(self.roots, direction));
        // SAFETY: the caller's promise.
        unsafe { self.store_columns::<false>(data, group, scratch) };
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn join_columns_ifma(&self, data: Shared<'_>, group: usize, scratch: &mut [Lanes]) {
        // SAFETY: the caller's promise.
        unsafe { self.load_columns(data, group, scratch) };
        join(scratch, &self.tables.join, Start::Fresh);
        // SAFETY: the caller's promise.
        unsafe { self.store_columns::<true>(data, group, scratch) };
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn middle_rows_ifma(&self, data: Shared<'_>, group: usize, scratch: &mut [Lanes]) {
        let (roots, row) = (self.roots, group * LANES);
        let twist = Twist::new(roots, row, Direction::Inverse, |_| Scalar::from(1));
        // SAFETY: the caller's promise.
        unsafe { self.load_rows(data, group, twist, scratch) };
        split(scratch, &self.tables.inverse);
        join(scratch, &self.tables.coset, Start::Running);
        let twist = Twist::new(roots, row, Direction::Forward, |row| roots.coset_start(row));
        // SAFETY: the caller's promise.
        unsafe { self.store_rows(data, group, twist, scratch) };
    }

    /// # Safety
    /// As for the passes of [`Engine`].
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn finish_rows_ifma(&self, finish: Finish, data: Shared<'_>, group: usize, scratch: &mut [Lanes]) {
        let (roots, direction) = (self.roots, finish.direction());
        let start = |row| roots.finish_start(row, finish);
        let twist = Twist::new(roots, group * LANES, direction, start);
        // SAFETY: the caller's promise.
        unsafe { self.load_rows(data, group, twist, scratch) };
        split(scratch, self.tables.splitting(self.roots, direction));
        let factors = (finish == Finish::InverseCoset).then_some(&self.tables.uncoset[..]);
        // SAFETY: the caller's promise.
        unsafe { self.store_canonical_rows(data, group, factors, scratch) };
    }

    /// The three slices have one length, a multiple of 8.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn pointwise_ifma(&self, a: &mut [Scalar], b: &[Scalar], c: &[Scalar]) {
        let eights = b.chunks_exact(LANES).zip(c.chunks_exact(LANES));
        for (a, (b, c)) in a.chunks_exact_mut(LANES).zip(eights) {
            // SAFETY: slices of eight.
            let (x, y, z) = unsafe { (load_eight(a.as_ptr()), load_eight(b.as_ptr()), load_eight(c.as_ptr())) };
            let product = multiply(&unpack(&x), &unpack(&y), &bias::<0>()); // < 1.1 p
            let minus = multiply_fixed(&unpack(&z), &self.tables.minus, &bias::<1>());
            let r = multiply_fixed(&digits(&product), &self.tables.product, &minus); // 1..13 p
                                                                                     // SAFETY: a slice of eight.
            unsafe { store_eight(a.as_mut_ptr(), &pack(&canonical(&settle(&r)))) };
        }
    }
}

impl Engine for Vectors<'_> {
    type Scratch = Vec<Lanes>;

    fn elements(&self) -> usize {
        1 << self.roots.log_n
    }

    fn column_groups(&self) -> usize {
        self.roots.columns() / LANES
    }

    fn row_groups(&self) -> usize {
        self.roots.rows() / LANES
    }

    fn column_scratch(&self) -> Vec<Lanes> {
        vec![Lanes::ZERO; self.roots.rows()]
    }

    fn row_scratch(&self) -> Vec<Lanes> {
        vec![Lanes::ZERO; self.roots.columns()]
    }

    unsafe fn split_columns(&self, direction: Direction, data: Shared<'_>, group: usize, scratch: &mut Vec<Lanes>) {
        // SAFETY: `self` has tables, so the CPU has the instructions; else the caller's promise.
        unsafe { self.split_columns_ifma(direction, data, group, scratch) }
    }

    unsafe fn join_columns(&self, data: Shared<'_>, group: usize, scratch: &mut Vec<Lanes>) {
        // SAFETY: `self` has tables, so the CPU has the instructions; else the caller's promise.
        unsafe { self.join_columns_ifma(data, group, scratch) }
    }

    unsafe fn middle_rows(&self, data: Shared<'_>, group: usize, scratch: &mut Vec<Lanes>) {
        // SAFETY: `self` has tables, so the CPU has the instructions; else the caller's promise.
        unsafe { self.middle_rows_ifma(data, group, scratch) }
    }

    unsafe fn finish_rows(&self, finish: Finish, data: Shared<'_>, group: usize, scratch: &mut Vec<Lanes>) {
        // SAFETY: `self` has tables, so the CPU has the instructions; else the caller's promise.
        unsafe { self.finish_rows_ifma(finish, data, group, scratch) }
    }

    fn pointwise(&self, a: &mut [Scalar], b: &[Scalar], c: &[Scalar]) {
        // SAFETY: `self` has tables, so the CPU has the instructions.
        unsafe { self.pointwise_ifma(a, b, c) }
    }
}
