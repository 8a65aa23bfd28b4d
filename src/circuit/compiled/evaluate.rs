//! A, B and C times a witness, row by row, and whether A·z ∘ B·z = C·z.
//!
//! 98 % of a PoRep's results are small integers, so sums are integers for as long as they can be; rows that repeat over
//! bits next to each other are evaluated 64 at once, a byte a row; runs of bits with doubling coefficients are read as one
//! number. What is left goes through the field, where products are summed before they are reduced.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::field::{Prepared, Products};
use super::ready::{small_scalars, Ready, ReadyTerm, Segment, Start, Sum, SEGMENT_ROWS};
use crate::circuit::compiled::code::{Kind, Place};
use crate::circuit::packed::Packed;
use crate::error::Result;
use crate::telemetry::Control;

/// Where the values of aux variables come from. An index below their number is in range.
pub(super) trait Source: Sync {
    /// Whether bits come in words.
    const BITS: bool;
    /// Whether value `i` is one, and whether it is anything but 0 and 1.
    fn bits(&self, i: usize) -> (u64, u64);
    /// The same of up to 64 values from `first` on.
    fn window(&self, first: usize) -> (u64, u64);
    /// Value `i`, which is anything.
    fn wide(&self, i: usize) -> &Scalar;
}

impl Source for Packed {
    const BITS: bool = true;
    #[inline(always)]
    fn bits(&self, i: usize) -> (u64, u64) {
        Packed::bits(self, i)
    }
    #[inline(always)]
    fn window(&self, first: usize) -> (u64, u64) {
        Packed::window(self, first)
    }
    #[inline(always)]
    fn wide(&self, i: usize) -> &Scalar {
        self.wide_at(i)
    }
}

/// Plain values: each is taken to be wide.
impl Source for [Scalar] {
    const BITS: bool = false;
    #[inline(always)]
    fn bits(&self, _: usize) -> (u64, u64) {
        (0, 1)
    }
    #[inline(always)]
    fn window(&self, _: usize) -> (u64, u64) {
        (0, u64::MAX)
    }
    #[inline(always)]
    fn wide(&self, i: usize) -> &Scalar {
        &self[i]
    }
}

/// Where A's, B's and C's rows go, those of them that are wanted: slices as long as the circuit has rows.
pub(super) type Outputs<'a> = [Option<&'a mut [Scalar]>; 3];

/// A linear combination's value: an integer below 2^62, plus a field element where `wide`.
#[derive(Clone, Copy)]
struct Value {
    integer: i64,
    field: Scalar,
    wide: bool,
}

/// An evaluation's tables and inputs.
pub(super) struct Evaluator<'a, S: ?Sized> {
    ready: &'a Ready,
    source: &'a S,
    inputs: &'a [Scalar],
    small: [Scalar; 256],
    one: Prepared,
}

/// Byte k is 1 where bit k is.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut k = 0;
        while k < 8 {
            table[bits] |= ((bits >> k & 1) as u64) << (8 * k);
            k += 1;
        }
        bits += 1;
    }
    table
};

/// Adds bytes without carries between them.
#[inline(always)]
fn add_bytes(a: u64, b: u64) -> u64 {
    const TOPS: u64 = 0x8080_8080_8080_8080;
    ((a & !TOPS) + (b & !TOPS)) ^ ((a ^ b) & TOPS)
}

/// Results of 64 rows, a byte each.
type Codes = [u64; SEGMENT_ROWS / 8];

#[inline(always)]
fn bytes(codes: &Codes) -> [i8; SEGMENT_ROWS] {
    let mut out = [0; SEGMENT_ROWS];
    for (out, word) in out.chunks_exact_mut(8).zip(codes) {
        for (out, byte) in out.iter_mut().zip(word.to_le_bytes()) {
            *out = byte as i8;
        }
    }
    out
}

impl<'a, S: Source + ?Sized> Evaluator<'a, S> {
    /// An evaluator of a circuit over a witness of its shape.
    pub fn new(ready: &'a Ready, source: &'a S, inputs: &'a [Scalar]) -> Self {
        Evaluator { ready, source, inputs, small: small_scalars(), one: Prepared::new(&Scalar::ONE) }
    }

    /// Evaluates all rows but those that Groth16 adds, on the current rayon pool. With `check`: the first that does not
    /// hold.
    pub fn run(&self, mut outputs: Outputs<'_>, check: bool, control: Control<'_>) -> Result<Option<usize>> {
        let mut tasks = super::intern::room_for(self.ready.starts.len())?;
        for pair in self.ready.starts.windows(2) {
            let rows = pair[1].row - pair[0].row;
            let mut piece: Outputs<'_> = [None, None, None];
            for (piece, rest) in piece.iter_mut().zip(&mut outputs) {
                if let Some(all) = rest.take() {
                    let (first, others) = all.split_at_mut(rows);
                    (*piece, *rest) = (Some(first), Some(others));
                }
            }
            tasks.push((pair[0], pair[1].chunk, piece));
        }
        let first = |a: Option<usize>, b: Option<usize>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        tasks
            .into_par_iter()
            .map(|(start, end, outputs)| {
                control.check()?;
                Ok(self.task(start, end, outputs, check))
            })
            .try_reduce(|| None, |a, b| Ok(first(a, b)))
    }

    /// Evaluates chunks from `start` up to number `end` of the sequence. The first row that does not hold.
    fn task(&self, start: Start, end: usize, mut outputs: Outputs<'_>, check: bool) -> Option<usize> {
        let Start { chunk, row: first_row, mut aux, mut inputs } = start;
        let mut row = 0;
        let mut failed = None;
        for chunk in &self.ready.sequence[chunk..end] {
            let (segments, extent) = self.ready.chunk_segments(*chunk);
            for segment in segments {
                let at = At { aux: aux + segment.aux as usize, inputs: inputs + segment.inputs as usize, row };
                let wrong = if S::BITS && segment.bulk {
                    self.bulk(segment, at, &mut outputs, check)
                } else {
                    let sums = self.ready.template(segment.template);
                    let mut wrong = None;
                    for k in 0..usize::from(segment.rows) {
                        if !self.single(sums, at.later(segment, k), &mut outputs, check) {
                            wrong = wrong.or(Some(row + k));
                        }
                    }
                    wrong
                };
                failed = failed.or(wrong);
                row += usize::from(segment.rows);
            }
            aux += extent.aux as usize;
            inputs += extent.inputs as usize;
        }
        failed.map(|row| first_row + row)
    }

    /// Evaluates one row. Whether it holds.
    #[inline(always)]
    fn single(&self, sums: &[Sum; 3], at: At, outputs: &mut Outputs<'_>, check: bool) -> bool {
        let mut values = [Value { integer: 0, field: Scalar::ZERO, wide: false }; 3];
        for m in 0..3 {
            if check || outputs[m].is_some() {
                values[m] = self.sum(&sums[m], at);
            }
        }
        let [a, b, c] = values;
        if !(a.wide || b.wide || c.wide) {
            for (value, output) in values.iter().zip(outputs) {
                if let Some(output) = output {
                    output[at.row] = self.integer(value.integer);
                }
            }
            // Below 2^124 and far below r.
            return !check || i128::from(a.integer) * i128::from(b.integer) == i128::from(c.integer);
        }
        let scalars = values.map(|value| self.scalar(&value));
        for (scalar, output) in scalars.iter().zip(outputs) {
            if let Some(output) = output {
                output[at.row] = *scalar;
            }
        }
        !check || holds(&values, &scalars)
    }

    /// Evaluates a segment's rows at once. The first that does not hold.
    #[inline(always)]
    fn bulk(&self, segment: &Segment, at: At, outputs: &mut Outputs<'_>, check: bool) -> Option<usize> {
        let sums = self.ready.template(segment.template);
        let rows = usize::from(segment.rows);
        let mut codes = [[0; SEGMENT_ROWS / 8]; 3];
        let mut wide = 0;
        for m in 0..3 {
            if check || outputs[m].is_some() {
                wide |= self.codes(&sums[m], at.aux, rows, &mut codes[m]);
            }
        }
        let all = u64::MAX >> (SEGMENT_ROWS - rows);
        wide &= all;
        // A row with a wide value is evaluated by itself; until then, and past the end, 0·0 = 0.
        for codes in &mut codes {
            for (k, word) in codes.iter_mut().enumerate() {
                *word &= SPREAD[((all & !wide) >> (8 * k)) as usize & 0xff] * 0xff;
            }
        }
        let codes = codes.map(|codes| bytes(&codes));
        let mut failed = None;
        if check {
            let wrong = |k: usize| i16::from(codes[0][k]) * i16::from(codes[1][k]) - i16::from(codes[2][k]);
            if (0..SEGMENT_ROWS).fold(0, |all, k| all | wrong(k)) != 0 {
                failed = (0..rows).find(|k| wrong(*k) != 0);
            }
        }
        for (codes, output) in codes.iter().zip(&mut *outputs) {
            if let Some(output) = output {
                for (out, code) in output[at.row..at.row + rows].iter_mut().zip(codes) {
                    *out = self.small[usize::from(*code as u8)];
                }
            }
        }
        while wide != 0 {
            let k = wide.trailing_zeros() as usize;
            wide &= wide - 1;
            if !self.single(sums, at.later(segment, k), outputs, check) && failed.is_none_or(|f| k < f) {
                failed = Some(k);
            }
        }
        failed.map(|k| at.row + k)
    }

    /// A small sum over 64 rows. The rows that have wide values in it.
    #[inline(always)]
    fn codes(&self, sum: &Sum, aux: usize, rows: usize, codes: &mut Codes) -> u64 {
        let codes = &mut codes[..rows.div_ceil(8)];
        codes.fill(u64::from(sum.constant as u8) * 0x0101_0101_0101_0101);
        let mut wide = 0;
        for term in self.ready.terms(sum.first..sum.end) {
            let (ones, wides) = self.source.window(aux - term.place.number() as usize);
            wide |= wides;
            let factor = 1u8 << (term.shift & !ReadyTerm::NEGATIVE);
            let factor = if term.shift & ReadyTerm::NEGATIVE != 0 { factor.wrapping_neg() } else { factor };
            for (k, word) in codes.iter_mut().enumerate() {
                *word = add_bytes(*word, SPREAD[(ones >> (8 * k)) as usize & 0xff] * u64::from(factor));
            }
        }
        wide
    }

    /// A linear combination.
    #[inline(always)]
    fn sum(&self, sum: &Sum, at: At) -> Value {
        let mut value = Value { integer: sum.constant, field: Scalar::ZERO, wide: false };
        for term in self.ready.terms(sum.first..sum.integers) {
            let first = at.column(term.place);
            let (ones, wides) = self.run_of(first, term.run);
            if wides == 0 {
                let n = (ones << (term.shift & !ReadyTerm::NEGATIVE)) as i64;
                value.integer += if term.shift & ReadyTerm::NEGATIVE != 0 { -n } else { n };
            } else {
                self.wide_run(term, first, ones, wides, &mut value);
            }
        }
        if sum.integers < sum.end {
            self.others(self.ready.terms(sum.integers..sum.end), at, &mut value);
        }
        value
    }

    #[inline(always)]
    fn run_of(&self, first: usize, run: u8) -> (u64, u64) {
        if run == 1 {
            return self.source.bits(first);
        }
        let (ones, wides) = self.source.window(first);
        let mask = u64::MAX >> (64 - run);
        (ones & mask, wides & mask)
    }

    /// A term with an integer coefficient and a wide value in its run.
    #[inline(always)]
    fn wide_run(&self, term: &ReadyTerm, first: usize, ones: u64, wides: u64, value: &mut Value) {
        value.wide = true;
        match (term.run, term.shift) {
            (1, 0) => value.field += self.source.wide(first),
            (1, ReadyTerm::NEGATIVE) => value.field -= self.source.wide(first),
            _ => self.doubling_run(term, first, ones, wides, value),
        }
    }

    /// k·(x + 2·y + …), variable by variable.
    fn doubling_run(&self, term: &ReadyTerm, first: usize, ones: u64, wides: u64, value: &mut Value) {
        value.wide = true;
        let mut coefficient = self.ready.coefficients[usize::from(term.coefficient)];
        for j in 0..usize::from(term.run) {
            if wides >> j & 1 == 1 {
                value.field += coefficient * self.source.wide(first + j);
            } else if ones >> j & 1 == 1 {
                value.field += coefficient;
            }
            coefficient = coefficient.double();
        }
    }

    /// Terms with coefficients that are no integers, and inputs.
    #[inline]
    fn others(&self, terms: &[ReadyTerm], at: At, value: &mut Value) {
        let mut products = Products::default();
        let lazy = terms.len() > 1;
        let mut product = |x: &Scalar, y: &Scalar, field: &mut Scalar| {
            if lazy {
                products.add(x, y);
            } else {
                *field += *x * y;
            }
        };
        for term in terms {
            let coefficient = &self.ready.coefficients[usize::from(term.coefficient)];
            match term.place.kind() {
                Kind::Input if term.place == Place::ONE => value.field += coefficient,
                Kind::Input | Kind::InputBack => {
                    let input = &self.inputs[at.column(term.place)];
                    match term.shift {
                        0 => value.field += input,
                        ReadyTerm::NEGATIVE => value.field -= input,
                        _ => product(input, coefficient, &mut value.field),
                    }
                }
                Kind::Back | Kind::Aux => {
                    let first = at.column(term.place);
                    let (ones, wides) = self.run_of(first, term.run);
                    match (wides, ones, term.run) {
                        (0, 0, _) => continue,
                        (0, 1, _) => value.field += coefficient,
                        (0, _, _) => value.field += self.ready.prepared[usize::from(term.coefficient)].times(ones),
                        (_, _, 1) => product(self.source.wide(first), coefficient, &mut value.field),
                        _ => self.doubling_run(term, first, ones, wides, value),
                    }
                }
            }
            value.wide = true;
        }
        if lazy && value.wide {
            value.field += products.value();
        }
    }

    #[inline(always)]
    fn integer(&self, n: i64) -> Scalar {
        if let Ok(small) = i8::try_from(n) {
            return self.small[usize::from(small as u8)];
        }
        let scalar = self.one.times(n.unsigned_abs());
        if n < 0 {
            -scalar
        } else {
            scalar
        }
    }

    #[inline(always)]
    fn scalar(&self, value: &Value) -> Scalar {
        match (value.wide, value.integer) {
            (false, n) => self.integer(n),
            (true, 0) => value.field,
            (true, n) => value.field + self.integer(n),
        }
    }
}

/// Whether a·b = c.
#[inline(always)]
fn holds([a, b, _]: &[Value; 3], [x, y, z]: &[Scalar; 3]) -> bool {
    match (a.wide, a.integer, b.wide, b.integer) {
        (false, 0, _, _) | (_, _, false, 0) => z.is_zero_vartime(),
        (false, 1, _, _) => y == z,
        (_, _, false, 1) => x == z,
        _ => *x * y == *z,
    }
}

/// A row, and how many variables are allocated before it.
#[derive(Clone, Copy)]
struct At {
    aux: usize,
    inputs: usize,
    row: usize,
}

impl At {
    /// `k` rows later in the segment.
    #[inline(always)]
    fn later(self, segment: &Segment, k: usize) -> At {
        At {
            aux: self.aux + k * segment.step_aux as usize,
            inputs: self.inputs + k * segment.step_inputs as usize,
            row: self.row + k,
        }
    }

    /// The index of the variable at a place.
    #[inline(always)]
    fn column(self, place: Place) -> usize {
        let number = place.number() as usize;
        match place.kind() {
            Kind::Back => self.aux - number,
            Kind::InputBack => self.inputs - number,
            Kind::Aux | Kind::Input => number,
        }
    }
}
