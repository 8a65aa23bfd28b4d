//! A checked circuit laid out for evaluation.

use std::ops::Range;

use blstrs::Scalar;
use ff::{Field, PrimeField};

use super::check::Extent;
use super::code::{Code, Kind, Place};
use super::field::Prepared;
use super::intern::{extend, push, room_for};
use crate::error::Result;

/// Integers below this are added up as such. Sums stay below 2^62.
const LARGEST: i128 = 1 << 62;

/// Largest coefficient that counts as an integer: 2 to this.
const LARGEST_SHIFT: u32 = 48;

/// The largest sum that a byte is to hold, so that 64 rows are evaluated at once.
const LARGEST_CODE: i128 = 100;

/// Chunks that one task evaluates: some 12,000 rows.
pub(super) const TASK_CHUNKS: usize = 64;

/// Rows of a segment at most: the bits of a word.
pub(super) const SEGMENT_ROWS: usize = 64;

/// A term: k·(x + 2·y + …).
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadyTerm {
    pub place: Place,
    pub coefficient: u16,
    pub run: u8,
    /// How the coefficient is an integer: a shift, with the top bit when it is negative.
    pub shift: u8,
}

impl ReadyTerm {
    pub const NEGATIVE: u8 = 0x80;
    /// The coefficient is no integer.
    pub const FIELD: u8 = 0xff;
}

/// A linear combination: a constant, terms with integer coefficients over aux variables, and other terms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub constant: i64,
    pub first: u32,
    /// Where the integers end.
    pub integers: u32,
    pub end: u32,
    /// Single aux variables with integer coefficients and nothing else, and the sum fits into a byte.
    pub small: bool,
}

/// Up to 64 rows of one template whose variables move evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub template: u32,
    /// Allocated before the first row, counted from the chunk's start.
    pub aux: u32,
    pub inputs: u32,
    /// Allocated from one row to the next.
    pub step_aux: u32,
    pub step_inputs: u32,
    pub rows: u16,
    /// All rows can be evaluated at once where their variables are bits.
    pub bulk: bool,
}

/// A distinct chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    first: u32,
    end: u32,
    pub extent: Extent,
}

/// Where a task starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// In the sequence.
    pub chunk: usize,
    pub row: usize,
    /// Variables allocated before.
    pub aux: usize,
    pub inputs: usize,
}

#[derive(Debug)]
pub(super) struct Ready {
    terms: Vec<ReadyTerm>,
    templates: Vec<[Sum; 3]>,
    segments: Vec<Segment>,
    chunks: Vec<Chunk>,
    pub sequence: Vec<u32>,
    /// Of every task, and the end.
    pub starts: Vec<Start>,
    pub coefficients: Vec<Scalar>,
    pub prepared: Vec<Prepared>,
}

impl Ready {
    pub fn new(code: Code, extents: &[Extent]) -> Result<Self> {
        let mut ready = Ready {
            terms: room_for(code.terms.len())?,
            templates: room_for(code.templates.len())?,
            segments: Vec::new(),
            chunks: room_for(extents.len())?,
            sequence: Vec::new(),
            starts: room_for(code.sequence.len().div_ceil(TASK_CHUNKS) + 1)?,
            coefficients: Vec::new(),
            prepared: room_for(code.coefficients.len())?,
        };
        let integers: Vec<Option<i64>> = code.coefficients.iter().map(integer).collect();
        for template in 0..code.templates.len() as u32 {
            let mut sums = [Sum::default(); 3];
            for (sum, terms) in sums.iter_mut().zip(code.template(template)) {
                *sum = ready.sum(terms, &integers)?;
            }
            push(&mut ready.templates, sums)?;
        }
        for chunk in 0..code.chunks() as u32 {
            ready.chunk(&code, chunk, extents[chunk as usize])?;
        }
        let mut at = Start { inputs: 1, ..Start::default() };
        for (i, chunk) in code.sequence.iter().enumerate() {
            if i.is_multiple_of(TASK_CHUNKS) {
                at.chunk = i;
                push(&mut ready.starts, at)?;
            }
            let extent = extents[*chunk as usize];
            at.row += extent.rows as usize;
            at.aux += extent.aux as usize;
            at.inputs += extent.inputs as usize;
        }
        at.chunk = code.sequence.len();
        push(&mut ready.starts, at)?;
        for coefficient in &code.coefficients {
            push(&mut ready.prepared, Prepared::new(coefficient))?;
        }
        ready.coefficients = code.coefficients;
        ready.sequence = code.sequence;
        ready.segments.shrink_to_fit();
        Ok(ready)
    }

    fn sum(&mut self, terms: &[super::code::Term], integers: &[Option<i64>]) -> Result<Sum> {
        let first = self.terms.len() as u32;
        let (mut constant, mut largest) = (0i64, 0i128);
        let mut others: Vec<ReadyTerm> = Vec::new();
        let mut small = true;
        for term in terms {
            let integer = integers[usize::from(term.coefficient)];
            let shift = integer.and_then(shift_of).unwrap_or(ReadyTerm::FIELD);
            let ready = ReadyTerm { place: term.place, coefficient: term.coefficient, run: term.run, shift };
            // The most that it adds.
            let most = i128::from(integer.unwrap_or(0)).abs() * ((1i128 << term.run) - 1);
            let fits = integer.is_some() && largest + most < LARGEST;
            match term.place.kind() {
                Kind::Input if term.place == Place::ONE && fits => {
                    constant += integer.unwrap_or(0);
                    largest += most;
                }
                Kind::Back | Kind::Aux if fits && shift != ReadyTerm::FIELD => {
                    largest += most;
                    small &= term.run == 1 && term.place.kind() == Kind::Back;
                    push(&mut self.terms, ready)?;
                }
                Kind::Back | Kind::Aux => push(&mut others, ReadyTerm { shift: ReadyTerm::FIELD, ..ready })?,
                Kind::Input | Kind::InputBack => push(&mut others, ready)?,
            }
        }
        let integers = self.terms.len() as u32;
        extend(&mut self.terms, &others)?;
        let end = self.terms.len() as u32;
        small &= others.is_empty() && largest <= LARGEST_CODE;
        Ok(Sum { constant, first, integers, end, small })
    }

    fn chunk(&mut self, code: &Code, chunk: u32, extent: Extent) -> Result<()> {
        let first = self.segments.len();
        let (mut aux, mut inputs) = (0, 0);
        for symbol in code.chunk(chunk) {
            let symbol = code.symbols[*symbol as usize];
            aux += symbol.aux;
            inputs += symbol.inputs;
            if let Some(last) = self.segments[first..].last_mut() {
                let even = last.rows == 1 || (last.step_aux == symbol.aux && last.step_inputs == symbol.inputs);
                if last.template == symbol.template && usize::from(last.rows) < SEGMENT_ROWS && even {
                    (last.step_aux, last.step_inputs) = (symbol.aux, symbol.inputs);
                    last.rows += 1;
                    continue;
                }
            }
            let segment =
                Segment { template: symbol.template, aux, inputs, step_aux: 0, step_inputs: 0, rows: 1, bulk: false };
            push(&mut self.segments, segment)?;
        }
        for segment in &mut self.segments[first..] {
            let sums = &self.templates[segment.template as usize];
            let moves = segment.step_aux == 1 || sums.iter().all(|s| s.first == s.end);
            segment.bulk = segment.rows > 1 && moves && sums.iter().all(|s| s.small);
        }
        push(&mut self.chunks, Chunk { first: first as u32, end: self.segments.len() as u32, extent })
    }

    #[inline]
    pub fn terms(&self, range: Range<u32>) -> &[ReadyTerm] {
        &self.terms[range.start as usize..range.end as usize]
    }

    #[inline]
    pub fn template(&self, template: u32) -> &[Sum; 3] {
        &self.templates[template as usize]
    }

    #[inline]
    pub fn chunk_segments(&self, chunk: u32) -> (&[Segment], Extent) {
        let chunk = &self.chunks[chunk as usize];
        (&self.segments[chunk.first as usize..chunk.end as usize], chunk.extent)
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.terms[..])
            + size_of_val(&self.templates[..])
            + size_of_val(&self.segments[..])
            + size_of_val(&self.chunks[..])
            + size_of_val(&self.sequence[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.coefficients[..])
            + size_of_val(&self.prepared[..])
    }
}

/// The coefficient as an integer of at most 2^48.
fn integer(coefficient: &Scalar) -> Option<i64> {
    let small = |scalar: &Scalar| {
        let repr = scalar.to_repr();
        let (low, high) = repr.as_ref().split_at(8);
        let mut word = [0; 8];
        word.copy_from_slice(low);
        let n = u64::from_le_bytes(word);
        (high.iter().all(|b| *b == 0) && n <= 1 << LARGEST_SHIFT).then_some(n as i64)
    };
    small(coefficient).or_else(|| small(&-*coefficient).map(|n| -n))
}

/// How the integer is ±2^k.
fn shift_of(integer: i64) -> Option<u8> {
    let n = integer.unsigned_abs();
    n.is_power_of_two().then(|| n.trailing_zeros() as u8 | if integer < 0 { ReadyTerm::NEGATIVE } else { 0 })
}

/// The scalars of −128 to 127, at the place of the byte.
pub(super) fn small_scalars() -> [Scalar; 256] {
    let mut table = [Scalar::ZERO; 256];
    for (byte, scalar) in table.iter_mut().enumerate() {
        let n = i64::from(byte as u8 as i8);
        *scalar = Scalar::from(n.unsigned_abs());
        if n < 0 {
            *scalar = -*scalar;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_recognised() {
        for n in [1i64, -1, 2, -3, 17, 1 << 48, -(1 << 48)] {
            let scalar = if n < 0 { -Scalar::from(n.unsigned_abs()) } else { Scalar::from(n as u64) };
            assert_eq!(integer(&scalar), Some(n));
        }
        assert_eq!(integer(&Scalar::from((1 << 48) + 1)), None);
        assert_eq!(integer(&Scalar::from(7).invert().unwrap()), None);
        assert_eq!((shift_of(1), shift_of(-8), shift_of(3)), (Some(0), Some(0x83), None));
    }

    #[test]
    fn bytes_have_scalars() {
        let table = small_scalars();
        assert_eq!(table[5], Scalar::from(5));
        assert_eq!(table[256 - 100], -Scalar::from(100));
    }
}
