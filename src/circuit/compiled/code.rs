//! What a circuit is recorded into: templates, symbols, chunks and their sequence.

use blstrs::Scalar;

use crate::circuit::Shape;

/// Where the variable of a term stands: a kind in the two top bits, a number below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub u32);

/// The kinds of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// An aux variable, counted back from the number of those allocated before the row.
    Back = 0,
    /// An aux variable by its index: an early one that rows far away use.
    Aux = 1,
    /// An input, counted back likewise.
    InputBack = 2,
    /// An input by its index.
    Input = 3,
}

impl Place {
    /// Numbers are below this.
    pub const LIMIT: u32 = 1 << 30;
    /// The constant one.
    pub const ONE: Place = Place((Kind::Input as u32) << 30);

    /// A place; the number must be below the limit.
    pub fn new(kind: Kind, number: u32) -> Self {
        debug_assert!(number < Self::LIMIT);
        Place((kind as u32) << 30 | number)
    }

    #[inline]
    pub fn kind(self) -> Kind {
        match self.0 >> 30 {
            0 => Kind::Back,
            1 => Kind::Aux,
            2 => Kind::InputBack,
            _ => Kind::Input,
        }
    }

    #[inline]
    pub fn number(self) -> u32 {
        self.0 & (Self::LIMIT - 1)
    }
}

/// k·(x + 2·y + 4·z + …): a coefficient, and a run of variables one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// Of the run's first variable.
    pub place: Place,
    /// By number.
    pub coefficient: u16,
    /// How many variables, 1 to [`LONGEST_RUN`]. More than one only in places of kind [`Kind::Back`].
    pub run: u8,
}

/// Bits that packed values are read at once, at most.
pub(super) const LONGEST_RUN: u8 = 32;

/// A row with places instead of variables: where in the list of terms A's, B's and C's begin, and where C's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Template(pub [u32; 4]);

/// A row: its template, and how many variables were allocated since the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbol {
    pub template: u32,
    pub aux: u32,
    pub inputs: u32,
}

/// Rows of a chunk: every one but the last has at least the first number, none more than the second.
pub(super) const CHUNK_ROWS: [usize; 2] = [128, 256];

/// A recorded circuit.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Code {
    /// With the rows that Groth16 adds for inputs, which stand nowhere else in here.
    pub shape: Shape,
    /// How many aux variables may be neither 0 nor 1 where every row holds.
    pub wide: usize,
    /// Distinct and not zero.
    pub coefficients: Vec<Scalar>,
    pub terms: Vec<Term>,
    pub templates: Vec<Template>,
    pub symbols: Vec<Symbol>,
    /// The rows of distinct chunks, as numbers of symbols.
    pub chunk_rows: Vec<u32>,
    /// Where in `chunk_rows` each chunk ends, a 0 before.
    pub chunk_ends: Vec<u32>,
    /// The circuit: numbers of chunks.
    pub sequence: Vec<u32>,
}

impl Code {
    /// The rows of chunk `chunk`.
    pub fn chunk(&self, chunk: u32) -> &[u32] {
        let i = chunk as usize;
        &self.chunk_rows[self.chunk_ends[i] as usize..self.chunk_ends[i + 1] as usize]
    }

    /// How many chunks are distinct.
    pub fn chunks(&self) -> usize {
        self.chunk_ends.len().saturating_sub(1)
    }

    /// The terms of a template: A's, B's and C's.
    pub fn template(&self, template: u32) -> [&[Term]; 3] {
        let Template(ends) = self.templates[template as usize];
        [0, 1, 2].map(|m| &self.terms[ends[m] as usize..ends[m + 1] as usize])
    }
}
