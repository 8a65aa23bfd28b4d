//! A circuit compiled: its matrices in a few megabytes, evaluated where the results are used.
//!
//! A Filecoin circuit's matrices never change and repeat themselves thousands of times. [`Recorded`] has them as row
//! templates (`code.rs`), cut into chunks that are stored once (`record.rs`); as bytes they are a file of the circuit cache
//! (`format.rs`, `store.rs`), looked through before use (`check.rs`). [`CompiledCircuit`] is the same laid out for evaluation
//! (`ready.rs`, `evaluate.rs`), with the query densities (`densities.rs`) and what a witness takes at most (`bits.rs`).

mod bits;
mod bytes;
mod check;
mod code;
mod compare;
mod densities;
mod evaluate;
mod field;
mod format;
mod identity;
mod intern;
mod ready;
mod record;
mod repeat;
mod store;

use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field;

use super::{Aux, Densities, Packed, Shape};
use crate::error::{Error, Result};
use crate::memory::mapped_bytes;
use crate::telemetry::Control;
pub use format::Unusable;
pub use identity::Identity;
pub use store::{path, read, write, Circuits};

/// A circuit as it is recorded and stored.
#[derive(Debug, PartialEq)]
pub struct Recorded {
    code: code::Code,
    identity: Identity,
}

impl Recorded {
    /// Records a circuit on the calling thread. No value is computed, so a blank circuit will do. Progress is reported
    /// against `expected` rows, not at all when that is 0.
    ///
    /// Errors: `OUT_OF_MEMORY`; `CANCELLED`; `UNSUPPORTED` for a circuit of 2^30 variables or 2^16 distinct coefficients;
    /// `INTERNAL` when the circuit wants a value.
    pub fn record<C: Circuit<Scalar>>(
        circuit: C,
        identity: Identity,
        expected: usize,
        control: Control<'_>,
    ) -> Result<Self> {
        Ok(Recorded { code: record::record(circuit, expected, control)?, identity })
    }

    /// Compares the circuit with this recording of it, row by row and variable by variable. `PARAMS_CORRUPT` names the first
    /// row that differs; other errors as for [`record`](Self::record).
    pub fn compare<C: Circuit<Scalar>>(&self, circuit: C, control: Control<'_>) -> Result<()> {
        check::check(&self.code)?;
        record::compare(&self.code, circuit, control)
    }

    /// A circuit from its bytes, every number of which is looked at. The error names the field.
    pub fn from_bytes(bytes: &[u8], identity: &Identity) -> Result<Self, Unusable> {
        let code = format::decode(bytes, identity)?;
        check::check(&code)?;
        Ok(Recorded { code, identity: identity.clone() })
    }

    /// As [`from_bytes`](Self::from_bytes), of bytes whose digest is made right first: for fuzzing.
    #[cfg(feature = "test-hooks")]
    pub fn from_resealed(bytes: &mut [u8], identity: &Identity) -> Result<Self, Unusable> {
        format::reseal(bytes);
        Self::from_bytes(bytes, identity)
    }

    /// The circuit as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::encode(&self.code, &self.identity)
    }

    /// The circuit's sizes.
    pub fn shape(&self) -> Shape {
        self.code.shape
    }

    /// Counts of what it is made of.
    pub fn counts(&self) -> Counts {
        let code = &self.code;
        Counts {
            coefficients: code.coefficients.len(),
            terms: code.terms.len(),
            templates: code.templates.len(),
            symbols: code.symbols.len(),
            chunks: code.chunks(),
            chunk_rows: code.chunk_rows.len(),
            sequence: code.sequence.len(),
        }
    }

    /// Lays it out for evaluation.
    pub fn ready(self) -> Result<CompiledCircuit> {
        let Recorded { code, identity } = self;
        let extents = check::check(&code)?;
        let densities = densities::densities(&code, &extents)?;
        let (shape, wide) = (code.shape, code.wide);
        let ready = ready::Ready::new(code, &extents)?;
        Ok(CompiledCircuit { identity, shape, wide, densities, ready, names: None })
    }
}

/// What a recorded circuit is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Distinct coefficients.
    pub coefficients: usize,
    /// Terms of all templates.
    pub terms: usize,
    /// Distinct rows with places instead of variables.
    pub templates: usize,
    /// Distinct rows with how far they move the counters.
    pub symbols: usize,
    /// Distinct chunks.
    pub chunks: usize,
    /// Rows of distinct chunks.
    pub chunk_rows: usize,
    /// Chunks in all.
    pub sequence: usize,
}

/// What the size of a partition's memory depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows and variables.
    pub shape: Shape,
    /// How many aux variables at most are neither 0 nor 1.
    pub wide: usize,
}

impl Sizes {
    /// How many values other than 0 and 1 a packed witness has room for: some more, so that one that does not satisfy the circuit mostly
    /// comes as far as its rows.
    pub fn wide_room(&self) -> usize {
        (self.wide + 1024).min(self.shape.aux)
    }

    /// Whether its witnesses are worth packing.
    pub fn packs(&self) -> bool {
        self.wide <= self.shape.aux / 2
    }

    /// Bytes that the aux values of a witness take at most, in the form that suits the circuit.
    pub fn witness_bytes(&self) -> u64 {
        match self.packs() {
            true => Packed::bytes_for(self.shape.aux, self.wide_room()),
            false => mapped_bytes::<Scalar>(self.shape.aux),
        }
    }

    /// How many values of a witness may be neither 0 nor 1: what multi-scalar multiplications take as such.
    pub fn wide_values(&self) -> usize {
        self.shape.inputs + if self.packs() { self.wide_room() } else { self.shape.aux }
    }
}

/// Says what a circuit calls its rows.
pub trait RowNames: Send + Sync {
    /// The path of namespaces to row `row` and its name; slow. `None` when it has none.
    fn name(&self, row: usize) -> Option<String>;
}

/// A circuit ready to be evaluated.
pub struct CompiledCircuit {
    identity: Identity,
    shape: Shape,
    wide: usize,
    densities: Densities,
    ready: ready::Ready,
    names: Option<Arc<dyn RowNames>>,
}

impl CompiledCircuit {
    /// Which circuit it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its sizes, exact.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many aux variables at most are neither 0 nor 1 where every row holds.
    pub fn wide(&self) -> usize {
        self.wide
    }

    /// What the size of a partition's memory depends on.
    pub fn sizes(&self) -> Sizes {
        Sizes { shape: self.shape, wide: self.wide }
    }

    /// The variables that A and B use.
    pub fn densities(&self) -> &Densities {
        &self.densities
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let d = &self.densities;
        self.ready.bytes() + [&d.a_aux, &d.b_inputs, &d.b_aux].iter().map(|b| size_of_val(b.words())).sum::<usize>()
    }

    /// The same circuit that knows what its rows are called.
    pub fn with_names(mut self, names: Arc<dyn RowNames>) -> Self {
        self.names = Some(names);
        self
    }

    /// Writes the rows of the matrices that have an output times the witness, on the current rayon pool. An output is as
    /// long as the circuit has rows or longer; what is beyond them stays as it is. With `check`: the first row that does
    /// not hold, if there is one.
    ///
    /// Errors: `CANCELLED`; `INTERNAL` when lengths do not agree.
    pub fn evaluate(
        &self,
        inputs: &[Scalar],
        aux: &Aux,
        outputs: [Option<&mut [Scalar]>; 3],
        check: bool,
        control: Control<'_>,
    ) -> Result<Option<usize>> {
        let Shape { constraints, inputs: input_count, aux: aux_count } = self.shape;
        if inputs.len() != input_count || aux.len() != aux_count {
            return Err(Error::internal(format!(
                "a witness of {} inputs and {} aux values for a circuit of {input_count} and {aux_count}",
                inputs.len(),
                aux.len()
            )));
        }
        let rows = constraints - input_count;
        let mut heads = [None, None, None];
        for (m, (head, output)) in heads.iter_mut().zip(outputs).enumerate() {
            let Some(output) = output else { continue };
            if output.len() < constraints {
                return Err(Error::internal("an output is shorter than the circuit"));
            }
            let (all, tail) = output.split_at_mut(rows);
            // The row input · 0 = 0 of every input.
            for (tail, input) in tail.iter_mut().zip(inputs) {
                *tail = if m == 0 { *input } else { Scalar::ZERO };
            }
            *head = Some(all);
        }
        match aux {
            Aux::Packed(packed) => evaluate::Evaluator::new(&self.ready, packed, inputs).run(heads, check, control),
            Aux::Plain(plain) => evaluate::Evaluator::new(&self.ready, &plain[..], inputs).run(heads, check, control),
        }
    }

    /// The error of a witness whose first row that does not hold is `row`.
    pub fn unsatisfied(&self, row: usize) -> Error {
        let name = self.names.as_ref().and_then(|names| names.name(row)).map(|n| format!(" ({n})")).unwrap_or_default();
        Error::new(
            crate::error::Code::Unsatisfied,
            "vanilla",
            format!("the vanilla proof does not satisfy its circuit: row {row}{name} is the first that does not hold"),
        )
    }
}

impl std::fmt::Debug for CompiledCircuit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledCircuit").field("identity", &self.identity).field("shape", &self.shape).finish()
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
