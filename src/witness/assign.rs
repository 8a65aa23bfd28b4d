//! A witness through the official circuit: values and nothing else.
//!
//! `enforce` does nothing and `alloc` always returns the same variable, which keeps linear combinations one term long and
//! halves the time; no value depends on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use crate::circuit::{Aux, CompiledCircuit, Packer, Partition, Witness};
use crate::error::{Error, Result};
use crate::memory::{Buf, Room};
use crate::telemetry::Class;

/// How many values pass between two looks at the cancel flag.
const VALUES_A_LOOK: usize = 4096;

/// Where aux values go, one after the other. One type for all: the circuits are compiled once for it.
pub(super) enum Values<'a> {
    Packed(Packer),
    Plain(Buf<Scalar>),
    /// A part of a buffer, and how many of its values are there.
    Part(&'a mut [Scalar], usize),
}

impl Values<'_> {
    /// Appends one.
    #[inline]
    fn push(&mut self, value: &Scalar) -> Result<()> {
        match self {
            Values::Packed(packer) => packer.push(value),
            Values::Plain(buf) => buf.push("witness", *value),
            Values::Part(values, len) => {
                *values.get_mut(*len).ok_or_else(|| Error::internal("the slots of a circuit differ in shape"))? =
                    *value;
                *len += 1;
                Ok(())
            }
        }
    }

    /// How many are there.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Values::Packed(packer) => packer.len(),
            Values::Plain(buf) => buf.len(),
            Values::Part(_, len) => *len,
        }
    }
}

/// A constraint system that takes values.
///
/// Not extensible: of an extensible system the PoSt circuits synthesise pieces side by side, in buffers that grow beside
/// the partition's own, as many at a time as a settings file in the working directory says. See
/// [`assign_slots`](super::assign_slots) for how they do here.
pub(super) struct AssigningSystem<'a> {
    pub inputs: Vec<Scalar>,
    pub aux: Values<'a>,
    /// Allocation failed or the work was cancelled: why it stopped early, kept because [`SynthesisError`] has no room for
    /// it.
    stop: Option<Error>,
    cancelled: &'a AtomicBool,
}

impl<'a> AssigningSystem<'a> {
    /// A system with the constant one, and an empty place for values.
    pub fn new(aux: Values<'a>, inputs: usize, cancelled: &'a AtomicBool) -> Self {
        let mut all = Vec::with_capacity(inputs);
        all.push(Scalar::ONE);
        AssigningSystem { inputs: all, aux, stop: None, cancelled }
    }

    /// Takes a circuit's values. Errors as for [`assign`].
    pub fn run(&mut self, circuit: impl Circuit<Scalar>) -> Result<()> {
        let outcome = circuit.synthesize(self);
        if let Some(e) = self.stop.take() {
            return Err(e);
        }
        outcome.map_err(|e| Error::malformed("vanilla", format!("the circuit refuses the vanilla proof: {e}")))
    }

    #[cold]
    fn stop_with(&mut self, error: Error) -> SynthesisError {
        self.stop.get_or_insert(error);
        SynthesisError::Unsatisfiable
    }
}

impl ConstraintSystem<Scalar> for AssigningSystem<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = f()?;
        if let Err(e) = self.aux.push(&value) {
            return Err(self.stop_with(e));
        }
        if self.aux.len().is_multiple_of(VALUES_A_LOOK) && self.cancelled.load(Ordering::Relaxed) {
            return Err(self.stop_with(Error::cancelled()));
        }
        Ok(Variable::new_unchecked(Index::Aux(0)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable::new_unchecked(Index::Input(1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
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

/// A circuit's witness, in the form that suits `compiled`, which must be of this circuit. Its buffers take their bytes from
/// `room`.
///
/// Errors: `MALFORMED_INPUT` when the circuit itself refuses its values; `UNSATISFIED` when more values are neither 0 nor 1
/// than can be where the rows hold; `CANCELLED`, `OUT_OF_MEMORY`. Whether the rows hold is found when they are evaluated.
pub fn assign<C: Circuit<Scalar>>(
    circuit: C,
    compiled: &Arc<CompiledCircuit>,
    mut room: Room,
    cancelled: &AtomicBool,
) -> Result<Partition> {
    let shape = compiled.shape();
    let values = match compiled.sizes().packs() {
        true => Values::Packed(Packer::in_room(shape.aux, compiled.sizes().wide_room(), &mut room)?),
        false => Values::Plain(room.buf("witness", Class::Witness, shape.aux)?),
    };
    let mut system = AssigningSystem::new(values, shape.inputs, cancelled);
    system.run(circuit)?;
    let AssigningSystem { inputs, aux, .. } = system;
    let aux = match aux {
        Values::Packed(packer) => Aux::Packed(packer.finish()?),
        Values::Plain(buf) => Aux::Plain(buf),
        Values::Part(..) => return Err(Error::internal("a witness went into a part of a buffer")),
    };
    partition(inputs, aux, compiled, room)
}

/// A circuit's witness, plain and in memory of its own: the oracle of native makers. Errors as for [`assign`].
pub fn plain_witness<C: Circuit<Scalar>>(circuit: C) -> Result<Witness> {
    let never = AtomicBool::new(false);
    let mut system = AssigningSystem::new(Values::Plain(Buf::new()), 1, &never);
    system.run(circuit)?;
    match system.aux {
        Values::Plain(aux) => Ok(Witness { inputs: system.inputs, aux }),
        _ => Err(Error::internal("a plain witness that is not plain")),
    }
}

/// A partition of these values.
pub(super) fn partition(
    inputs: Vec<Scalar>,
    aux: Aux,
    compiled: &Arc<CompiledCircuit>,
    room: Room,
) -> Result<Partition> {
    let shape = compiled.shape();
    if inputs.len() != shape.inputs || aux.len() != shape.aux {
        return Err(Error::internal(format!(
            "{} inputs and {} aux values, but {} was compiled with {} and {}",
            inputs.len(),
            aux.len(),
            compiled.identity().circuit,
            shape.inputs,
            shape.aux
        )));
    }
    Ok(Partition { inputs, aux, circuit: compiled.clone(), room })
}
