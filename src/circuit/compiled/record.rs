//! Records a circuit into templates and chunks, row by row, holding nothing that grows with the number of rows but a bit
//! a variable and a number a chunk.
//!
//! A row becomes a template and how far the counters of variables have moved since the row before. Rows are cut into chunks
//! by their content (a rolling hash over the last rows), so that equal stretches of a circuit come out as equal chunks
//! wherever they stand.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use super::bits::BitFinder;
use super::code::{Code, Kind, Place, Symbol, Template, Term, CHUNK_ROWS, LONGEST_RUN};
use super::compare::Comparison;
use super::intern::{extend, mix, push, Interner, Map};
use crate::circuit::coefficients::Table;
use crate::circuit::{too_large, Shape};
use crate::error::{Error, Result};
use crate::telemetry::Control;

/// How many rows pass between two looks at the cancel flag.
const ROWS_A_LOOK: u64 = 4096;

/// An aux variable below the first number that is further away than the second is named by its index: a circuit's early
/// variables are used all over it. (Without this rule the 32 GiB PoRep has 28,438 templates instead of 10,381.)
const EARLY_AUX: [u32; 2] = [4096, 65_536];
/// The same for inputs.
const EARLY_INPUT: [u32; 2] = [8, 16];

/// A chunk may end after a row where these bits of the rolling hash are zero.
const CUT: u64 = 63 << 40;

/// A term of a recorded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawTerm {
    pub place: Place,
    pub coefficient: u16,
}

/// Distinct rows.
#[derive(Default)]
pub(super) struct RawTemplates {
    numbers: Interner,
    terms: Vec<RawTerm>,
    /// Where A's, B's and C's terms begin, and where C's end.
    ends: Vec<[u32; 4]>,
}

impl RawTemplates {
    /// The terms of a template: A's, B's and C's.
    pub fn get(&self, template: u32) -> [&[RawTerm]; 3] {
        let ends = self.ends[template as usize];
        [0, 1, 2].map(|m| &self.terms[ends[m] as usize..ends[m + 1] as usize])
    }

    /// The template of a row, `a` and `ab` terms of which are A's, and A's and B's.
    fn number(&mut self, row: &[RawTerm], a: usize, ab: usize) -> Result<u32> {
        let mut hash = mix(a as u64, ab as u64);
        for term in row {
            hash = mix(hash, u64::from(term.place.0) << 32 | u64::from(term.coefficient));
        }
        let same = |number: u32| {
            let [start, b, c, end] = self.ends[number as usize].map(|n| n as usize);
            b - start == a && c - start == ab && self.terms[start..end] == *row
        };
        if let Some(number) = self.numbers.find(hash, same) {
            return Ok(number);
        }
        let start = self.terms.len();
        let end = u32::try_from(start + row.len()).map_err(|_| too_large("2^32 distinct terms or more"))?;
        extend(&mut self.terms, row)?;
        push(&mut self.ends, [start as u32, (start + a) as u32, (start + ab) as u32, end])?;
        self.numbers.add(hash)
    }
}

/// Cuts a stream of symbols into chunks and numbers the distinct ones.
#[derive(Default)]
struct Chunker {
    current: Vec<u32>,
    hash: u64,
    numbers: Interner,
    rows: Vec<u32>,
    ends: Vec<u32>,
    sequence: Vec<u32>,
}

impl Chunker {
    fn push(&mut self, symbol: u32) -> Result<()> {
        push(&mut self.current, symbol)?;
        // Rows more than 64 ago have been shifted out.
        self.hash = (self.hash << 1).wrapping_add(mix(0x1234, symbol.into()));
        let [least, most] = CHUNK_ROWS;
        let len = self.current.len();
        if len >= most || (len >= least && self.hash & CUT == 0) {
            self.cut()?;
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<()> {
        if self.current.is_empty() {
            return Ok(());
        }
        if self.ends.is_empty() {
            push(&mut self.ends, 0)?;
        }
        let hash = self.current.iter().fold(0, |hash, symbol| mix(hash, (*symbol).into()));
        let same = |number: u32| {
            let i = number as usize;
            self.rows[self.ends[i] as usize..self.ends[i + 1] as usize] == self.current[..]
        };
        let number = match self.numbers.find(hash, same) {
            Some(number) => number,
            None => {
                extend(&mut self.rows, &self.current)?;
                let end = u32::try_from(self.rows.len()).map_err(|_| too_large("2^32 distinct rows or more"))?;
                push(&mut self.ends, end)?;
                self.numbers.add(hash)?
            }
        };
        push(&mut self.sequence, number)?;
        self.current.clear();
        Ok(())
    }
}

/// Records a circuit. No value is computed, so a blank circuit will do. `expected` rows are what progress is reported
/// against; 0 when nobody knows.
///
/// Errors: `OUT_OF_MEMORY`; `CANCELLED`; `UNSUPPORTED` for a circuit of 2^30 variables or 2^16 distinct coefficients;
/// `INTERNAL` when the circuit wants a value.
pub(super) fn record<C: Circuit<Scalar>>(circuit: C, expected: usize, control: Control<'_>) -> Result<Code> {
    let mut recorder = Recorder::new(None, expected, control);
    recorder.run(circuit)?;
    recorder.finish()
}

/// Compares a circuit with a checked recording of it, row by row and variable by variable. `PARAMS_CORRUPT` names the first
/// row that differs; other errors as for [`record`].
pub(super) fn compare<C: Circuit<Scalar>>(code: &Code, circuit: C, control: Control<'_>) -> Result<()> {
    let mut recorder = Recorder::new(Some(Comparison::new(code)), code.shape.constraints, control);
    recorder.run(circuit)?;
    let (aux, inputs) = (recorder.aux, recorder.inputs);
    recorder.comparison.map_or(Ok(()), |mut comparison| comparison.end(aux, inputs))
}

impl<'a> Recorder<'a> {
    fn new(comparison: Option<Comparison<'a>>, expected: usize, control: Control<'a>) -> Self {
        Recorder {
            inputs: 1,
            aux: 0,
            before: [0, 1],
            rows: 0,
            table: Table::new(),
            row: Vec::new(),
            templates: RawTemplates::default(),
            symbols: Vec::new(),
            numbers: Map::default(),
            chunker: Chunker::default(),
            bits: BitFinder::default(),
            comparison,
            stop: None,
            expected,
            control,
        }
    }

    fn run<C: Circuit<Scalar>>(&mut self, circuit: C) -> Result<()> {
        let outcome = circuit.synthesize(self);
        if let Some(e) = self.stop.take() {
            return Err(e);
        }
        outcome.map_err(|e| Error::internal(format!("the blank circuit cannot be recorded: {e}")))
    }
}

/// A constraint system that keeps distinct rows and forgets the values. Not extensible: pieces synthesised side by side
/// have no order, and rows must have one.
struct Recorder<'a> {
    /// Allocated so far.
    inputs: u32,
    aux: u32,
    /// The same at the row before: aux, inputs.
    before: [u32; 2],
    rows: u64,
    table: Table,
    row: Vec<RawTerm>,
    templates: RawTemplates,
    symbols: Vec<Symbol>,
    numbers: Map<Symbol, u32>,
    chunker: Chunker,
    bits: BitFinder,
    /// Rows are compared with these instead.
    comparison: Option<Comparison<'a>>,
    /// Why recording stopped early; [`SynthesisError`] has no room for it.
    stop: Option<Error>,
    expected: usize,
    control: Control<'a>,
}

impl Recorder<'_> {
    fn combination(&mut self, lc: &LinearCombination<Scalar>) -> Result<()> {
        for (variable, coefficient) in lc.iter() {
            if coefficient.is_zero_vartime() {
                continue;
            }
            let place = match variable.get_unchecked() {
                // Allocated, so their numbers fit.
                Index::Aux(i) => place(i as u32, self.aux, EARLY_AUX, Kind::Aux, Kind::Back),
                Index::Input(0) => Place::ONE,
                Index::Input(i) => place(i as u32, self.inputs, EARLY_INPUT, Kind::Input, Kind::InputBack),
            };
            let coefficient = self.table.number(coefficient)?;
            push(&mut self.row, RawTerm { place, coefficient })?;
        }
        Ok(())
    }

    fn enforce_row(&mut self, [a, b, c]: [LinearCombination<Scalar>; 3]) -> Result<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_A_LOOK) {
            self.control.check()?;
            if self.expected > 0 {
                self.control.report(self.rows as usize, self.expected);
            }
        }
        if let Some(comparison) = &mut self.comparison {
            return comparison.row([&a, &b, &c], self.aux, self.inputs);
        }
        self.row.clear();
        self.combination(&a)?;
        let a_end = self.row.len();
        self.combination(&b)?;
        let b_end = self.row.len();
        self.combination(&c)?;
        let template = self.templates.number(&self.row, a_end, b_end)?;
        let symbol = Symbol { template, aux: self.aux - self.before[0], inputs: self.inputs - self.before[1] };
        self.before = [self.aux, self.inputs];
        let number = match self.numbers.get(&symbol) {
            Some(number) => *number,
            None => {
                let number = self.symbols.len() as u32;
                push(&mut self.symbols, symbol)?;
                self.numbers.try_reserve(1).map_err(|_| super::intern::refused())?;
                self.numbers.insert(symbol, number);
                number
            }
        };
        self.bits.row(&symbol, number, self.aux, &self.templates, self.table.coefficients())?;
        self.chunker.push(number)
    }

    fn finish(mut self) -> Result<Code> {
        self.chunker.cut()?;
        let (inputs, aux) = (self.inputs as usize, self.aux as usize);
        let mut code = Code {
            shape: Shape { constraints: self.rows as usize + inputs, inputs, aux },
            wide: aux - self.bits.count(),
            symbols: self.symbols,
            chunk_rows: self.chunker.rows,
            chunk_ends: self.chunker.ends,
            sequence: self.chunker.sequence,
            ..Code::default()
        };
        if code.chunk_ends.is_empty() {
            push(&mut code.chunk_ends, 0)?;
        }
        merge(&self.templates, &self.table, &mut code)?;
        Ok(code)
    }

    fn allocated(&self, index: Index) -> Result<Variable, SynthesisError> {
        match self.stop {
            None => Ok(Variable::new_unchecked(index)),
            Some(_) => Err(SynthesisError::Unsatisfiable),
        }
    }

    /// Counts one more variable.
    fn count(&mut self, number: u32) -> u32 {
        if number + 1 == Place::LIMIT {
            self.stop.get_or_insert_with(|| too_large("2^30 variables or more"));
            return number;
        }
        number + 1
    }
}

/// The place of variable `i` when `count` are allocated.
#[inline]
fn place(i: u32, count: u32, [early, far]: [u32; 2], absolute: Kind, back: Kind) -> Place {
    let distance = count - i;
    if i < early && distance > far {
        Place::new(absolute, i)
    } else {
        Place::new(back, distance)
    }
}

/// Merges runs of neighbours whose coefficients double (numbers packed from bits), and numbers the coefficients that are
/// left. Shrinks a PoRep's dictionary five times.
fn merge(raw: &RawTemplates, table: &Table, code: &mut Code) -> Result<()> {
    let all = table.coefficients();
    let mut numbers: Vec<Option<u16>> = vec![None; all.len()];
    for template in 0..raw.ends.len() as u32 {
        let mut ends = [code.terms.len() as u32; 4];
        for (m, terms) in raw.get(template).into_iter().enumerate() {
            let mut rest = terms;
            while let Some((first, more)) = rest.split_first() {
                let mut run = 1;
                if first.place.kind() == Kind::Back {
                    let follows = |pair: &[RawTerm]| {
                        let doubled = all[usize::from(pair[0].coefficient)].double();
                        pair[1].place.kind() == Kind::Back
                            && pair[1].place.number() + 1 == pair[0].place.number()
                            && all[usize::from(pair[1].coefficient)] == doubled
                    };
                    run += rest.windows(2).take(usize::from(LONGEST_RUN) - 1).take_while(|p| follows(p)).count();
                }
                let number = match numbers[usize::from(first.coefficient)] {
                    Some(number) => number,
                    None => {
                        let number = code.coefficients.len() as u16;
                        numbers[usize::from(first.coefficient)] = Some(number);
                        push(&mut code.coefficients, all[usize::from(first.coefficient)])?;
                        number
                    }
                };
                push(&mut code.terms, Term { place: first.place, coefficient: number, run: run as u8 })?;
                rest = &more[run - 1..];
            }
            ends[m + 1] = code.terms.len() as u32;
        }
        push(&mut code.templates, Template(ends))?;
    }
    Ok(())
}

impl ConstraintSystem<Scalar> for Recorder<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.aux as usize;
        self.aux = self.count(self.aux);
        self.allocated(Index::Aux(index))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let index = self.inputs as usize;
        self.inputs = self.count(self.inputs);
        self.allocated(Index::Input(index))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        if self.stop.is_some() {
            return;
        }
        let zero = LinearCombination::zero;
        if let Err(e) = self.enforce_row([a(zero()), b(zero()), c(zero())]) {
            self.stop = Some(e);
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}
