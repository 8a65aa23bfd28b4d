//! The official circuit in full: values, rows and densities. The oracle of what proving goes through.

use std::sync::atomic::{AtomicBool, Ordering};

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

use crate::circuit::{Densities, Evaluations, Shape, Synthesis, Witness};
use crate::error::{Code, Error, Result};
use crate::memory::{Buf, Room};
use crate::telemetry::Class;

/// Allocation failed or the work was cancelled: why synthesis stopped early, kept because
/// [`SynthesisError`] has no room for it.
type Stop = Option<Error>;

/// How many rows pass between two looks at the cancel flag.
const ROWS_A_LOOK: usize = 4096;

/// A constraint system that takes values, evaluates A's and B's rows and checks each row against C.
struct ProvingSystem<'a> {
    inputs: Vec<Scalar>,
    aux: Buf<Scalar>,
    /// A's rows.
    a: Buf<Scalar>,
    /// B's rows.
    b: Buf<Scalar>,
    densities: Densities,
    /// First row that does not hold.
    unsatisfied: Option<usize>,
    stop: Stop,
    cancelled: &'a AtomicBool,
}

impl<'a> ProvingSystem<'a> {
    /// A system with its buffers reserved for `shape` in `room`, and the constant one allocated.
    fn with_shape(shape: &Shape, room: &mut Room, cancelled: &'a AtomicBool) -> Result<Self> {
        let aux = room.buf("witness", Class::Witness, shape.aux)?;
        let Evaluations { a, b } = Evaluations::with_room(shape, room)?;
        let mut system = ProvingSystem {
            inputs: Vec::with_capacity(shape.inputs),
            aux,
            a,
            b,
            densities: Densities::default(),
            unsatisfied: None,
            stop: None,
            cancelled,
        };
        system.push_input(Scalar::ONE);
        Ok(system)
    }

    /// All of it, with the row `input · 0 = 0` that Groth16 adds for every input.
    fn finish(mut self) -> Result<Synthesis> {
        for value in &self.inputs {
            self.a.push("evaluations a", *value)?;
            self.b.push("evaluations b", Scalar::ZERO)?;
        }
        Ok(Synthesis {
            witness: Witness { inputs: self.inputs, aux: self.aux },
            evaluations: Evaluations { a: self.a, b: self.b },
            densities: self.densities,
        })
    }

    /// Synthesises a circuit. Errors as for [`synthesize`].
    fn run(&mut self, circuit: impl Circuit<Scalar>) -> Result<()> {
        let outcome = circuit.synthesize(self);
        if let Some(e) = self.stop.take() {
            return Err(e);
        }
        outcome.map_err(|e| Error::malformed("vanilla", format!("the circuit refuses the vanilla proof: {e}")))?;
        match self.unsatisfied {
            None => Ok(()),
            Some(row) => Err(Error::new(
                Code::Unsatisfied,
                "vanilla",
                format!("the vanilla proof does not satisfy its circuit: row {row} is the first that does not hold"),
            )),
        }
    }

    fn push_input(&mut self, value: Scalar) -> Variable {
        self.inputs.push(value);
        self.densities.b_inputs.push_zero();
        Variable::new_unchecked(Index::Input(self.inputs.len() - 1))
    }

    fn evaluate(&self, lc: &LinearCombination<Scalar>) -> Scalar {
        let mut sum = Scalar::ZERO;
        for (i, coefficient) in lc.iter_inputs() {
            add_term(&mut sum, coefficient, &self.inputs[*i]);
        }
        let aux = &self.aux;
        for (i, coefficient) in lc.iter_aux() {
            add_term(&mut sum, coefficient, &aux[*i]);
        }
        sum
    }

    fn row(&mut self, a: Scalar, b: Scalar, c: Scalar) -> Result<()> {
        let rows = self.a.len();
        if self.unsatisfied.is_none() && a * b != c {
            self.unsatisfied = Some(rows);
        }
        self.a.push("evaluations a", a)?;
        self.b.push("evaluations b", b)?;
        if (rows + 1).is_multiple_of(ROWS_A_LOOK) && self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::cancelled());
        }
        Ok(())
    }

    fn stop_with(&mut self, error: Error) -> SynthesisError {
        self.stop.get_or_insert(error);
        SynthesisError::Unsatisfiable
    }
}

#[inline]
fn add_term(sum: &mut Scalar, coefficient: &Scalar, value: &Scalar) {
    // Most values are 0 or 1 and most coefficients 1 or -1; a product costs ten times a comparison.
    if bool::from(value.is_zero()) {
        return;
    }
    if *value == Scalar::ONE {
        *sum += coefficient;
    } else if *coefficient == Scalar::ONE {
        *sum += value;
    } else {
        *sum += *coefficient * value;
    }
}

impl ConstraintSystem<Scalar> for ProvingSystem<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        if self.stop.is_some() {
            return Err(SynthesisError::Unsatisfiable);
        }
        let value = f()?;
        if let Err(e) = self.aux.push("witness", value) {
            return Err(self.stop_with(e));
        }
        self.densities.a_aux.push_zero();
        self.densities.b_aux.push_zero();
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = f()?;
        Ok(self.push_input(value))
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
        let a = a(LinearCombination::zero());
        let b = b(LinearCombination::zero());
        let c = c(LinearCombination::zero());
        let densities = &mut self.densities;
        for (i, coefficient) in a.iter_aux() {
            if !coefficient.is_zero_vartime() {
                densities.a_aux.set(*i);
            }
        }
        for (i, coefficient) in b.iter_aux() {
            if !coefficient.is_zero_vartime() {
                densities.b_aux.set(*i);
            }
        }
        for (i, coefficient) in b.iter_inputs() {
            if !coefficient.is_zero_vartime() {
                densities.b_inputs.set(*i);
            }
        }
        let (a, b, c) = (self.evaluate(&a), self.evaluate(&b), self.evaluate(&c));
        if let Err(e) = self.row(a, b, c) {
            self.stop_with(e);
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

/// Synthesises a circuit with values: witness, evaluations and densities.
///
/// `shape` sizes the buffers, which take their bytes from `room`; a circuit of another size still comes out right where
/// the room has no limit, and is `PARAMS_CORRUPT` where it is too small. Errors: `UNSATISFIED` names the first row
/// that does not hold, `CANCELLED`, `OUT_OF_MEMORY`, and `MALFORMED_INPUT` when the circuit itself refuses its values.
pub fn synthesize<C: Circuit<Scalar>>(
    circuit: C,
    shape: &Shape,
    room: Room,
    cancelled: &AtomicBool,
) -> Result<Synthesis> {
    let mut room = room;
    let mut system = ProvingSystem::with_shape(shape, &mut room, cancelled)?;
    system.run(circuit)?;
    system.finish()
}
