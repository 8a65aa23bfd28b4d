//! A circuit against its recorded form, row by row: a second recording that keeps nothing.

use bellpepper_core::{Index, LinearCombination};
use blstrs::Scalar;
use ff::Field;

use super::bytes::corrupt;
use super::code::{Code, Kind, Symbol, Term};
use crate::error::{Error, Result};

/// Where in the recorded circuit the comparison is.
pub(super) struct Comparison<'a> {
    code: &'a Code,
    /// In the sequence, and in the chunk that stands there.
    chunk: usize,
    row: usize,
    /// Rows compared.
    rows: usize,
    /// Variables allocated before the row, as recorded.
    aux: u32,
    inputs: u32,
}

impl<'a> Comparison<'a> {
    /// Of a checked circuit.
    pub fn new(code: &'a Code) -> Self {
        Comparison { code, chunk: 0, row: 0, rows: 0, aux: 0, inputs: 1 }
    }

    /// Compares the next row, before which `aux` aux variables and `inputs` inputs are allocated.
    pub fn row(&mut self, lcs: [&LinearCombination<Scalar>; 3], aux: u32, inputs: u32) -> Result<()> {
        let symbol = self.next().ok_or_else(|| self.differs("the circuit has more rows"))?;
        self.aux += symbol.aux;
        self.inputs += symbol.inputs;
        if (self.aux, self.inputs) != (aux, inputs) {
            return Err(self.differs("other variables are allocated before it"));
        }
        for (terms, lc) in self.code.template(symbol.template).into_iter().zip(lcs) {
            let terms = terms.iter().flat_map(|term| self.variables(term));
            let there = lc.iter().filter(|(_, coefficient)| !coefficient.is_zero_vartime());
            if !terms.eq(there.map(|(variable, coefficient)| (variable.get_unchecked(), *coefficient))) {
                return Err(self.differs("a linear combination differs"));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// No row is left, and as many variables were allocated as recorded.
    pub fn end(&mut self, aux: u32, inputs: u32) -> Result<()> {
        let shape = self.code.shape;
        if self.next().is_some() || (aux as usize, inputs as usize) != (shape.aux, shape.inputs) {
            return Err(self.differs("the circuit ends"));
        }
        Ok(())
    }

    /// The next row's symbol.
    fn next(&mut self) -> Option<Symbol> {
        let chunk = self.code.chunk(*self.code.sequence.get(self.chunk)?);
        let symbol = *chunk.get(self.row)?;
        self.row += 1;
        if self.row == chunk.len() {
            (self.chunk, self.row) = (self.chunk + 1, 0);
        }
        Some(self.code.symbols[symbol as usize])
    }

    /// A term's variables and their coefficients.
    fn variables(&self, term: &Term) -> impl Iterator<Item = (Index, Scalar)> + use<> {
        let number = term.place.number();
        let (kind, aux, inputs) = (term.place.kind(), self.aux, self.inputs);
        let coefficient = self.code.coefficients[usize::from(term.coefficient)];
        let coefficients = std::iter::successors(Some(coefficient), |k| Some(k.double()));
        (0..u32::from(term.run)).zip(coefficients).map(move |(k, coefficient)| {
            let index = match kind {
                Kind::Back => Index::Aux((aux - number + k) as usize),
                Kind::Aux => Index::Aux(number as usize),
                Kind::InputBack => Index::Input((inputs - number) as usize),
                Kind::Input => Index::Input(number as usize),
            };
            (index, coefficient)
        })
    }

    #[cold]
    fn differs(&self, message: &str) -> Error {
        corrupt("circuit.sequence", format!("row {} is not the circuit's: {message}", self.rows))
    }
}
