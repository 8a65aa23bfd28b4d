//! A circuit that is one circuit many times over, each time in a slot of its own: the slots side by side.
//!
//! Slots share no variable but the constant one, and their shape does not depend on their values. So the compiled circuit
//! says where each one's values go in the partition's buffer, and all are written there at once, by as many threads as the
//! pool has. Nothing is held twice; a slot at work has public inputs of its own, kilobytes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::assign::{assign, partition, AssigningSystem, Values};
use crate::circuit::{Aux, CompiledCircuit, Partition};
use crate::error::{Error, Result};
use crate::memory::Room;
use crate::telemetry::Class;

fn differ() -> Error {
    Error::internal("the slots of a circuit differ in shape")
}

/// Slots one after the other, as one circuit.
struct InTurn<'a, C>(&'a [C]);

impl<C> Circuit<Scalar> for InTurn<'_, C>
where
    for<'a> &'a C: Circuit<Scalar>,
{
    fn synthesize<CS: bellpepper_core::ConstraintSystem<Scalar>>(
        self,
        cs: &mut CS,
    ) -> Result<(), bellpepper_core::SynthesisError> {
        self.0.iter().try_for_each(|slot| slot.synthesize(cs))
    }
}

/// As [`assign`], of the circuit whose slots these are; runs on the rayon pool it is called in.
pub fn assign_slots<C>(
    slots: &[C],
    compiled: &Arc<CompiledCircuit>,
    mut room: Room,
    cancelled: &AtomicBool,
) -> Result<Partition>
where
    C: Sync,
    for<'a> &'a C: Circuit<Scalar>,
{
    let shape = compiled.shape();
    let even = |all: usize| slots.len() > 1 && all > 0 && all.is_multiple_of(slots.len());
    // Packed values have no place before those in front of them are there.
    if compiled.sizes().packs() || !even(shape.aux) {
        return assign(InTurn(slots), compiled, room, cancelled);
    }
    // A slot's share.
    let (aux, inputs) = (shape.aux / slots.len(), (shape.inputs - 1) / slots.len());
    let mut plain = room.zeroed("witness", Class::Witness, shape.aux)?;
    let outcomes: Vec<Result<Vec<Scalar>>> = slots
        .par_iter()
        .zip(plain.par_chunks_mut(aux))
        .map(|(slot, values)| {
            if cancelled.load(Ordering::Relaxed) {
                return Err(Error::cancelled());
            }
            let mut system = AssigningSystem::new(Values::Part(values, 0), inputs + 1, cancelled);
            system.run(slot)?;
            if system.inputs.len() != inputs + 1 || system.aux.len() != aux {
                return Err(differ());
            }
            system.inputs.remove(0);
            Ok(system.inputs)
        })
        .collect();
    let mut inputs = Vec::with_capacity(shape.inputs);
    inputs.push(Scalar::ONE);
    // The first that fails says why.
    for of_slot in outcomes {
        inputs.extend(of_slot?);
    }
    partition(inputs, Aux::Plain(plain), compiled, room)
}

#[cfg(test)]
mod tests {
    use bellpepper_core::{ConstraintSystem, SynthesisError};

    use super::*;
    use crate::circuit::{Identity, Recorded};
    use crate::error::Code;
    use crate::telemetry::Control;
    use crate::witness::plain_witness;

    /// x · x = y for a public y, x and y from its slot, `more` times.
    #[derive(Clone)]
    struct Square {
        x: u64,
        more: usize,
    }

    impl Circuit<Scalar> for &Square {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            for k in 0..self.more as u64 {
                let x = cs.alloc(|| "x", || Ok(Scalar::from(self.x + k)))?;
                let y = cs.alloc_input(|| "y", || Ok(Scalar::from((self.x + k) * (self.x + k))))?;
                cs.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc + y);
            }
            Ok(())
        }
    }

    fn squares(n: u64) -> Vec<Square> {
        (0..n).map(|x| Square { x, more: 3 }).collect()
    }

    fn compiled(slots: &[Square]) -> Arc<CompiledCircuit> {
        let recorded = Recorded::record(InTurn(slots), Identity::default(), 0, Control::NONE).unwrap();
        Arc::new(recorded.ready().unwrap())
    }

    #[test]
    fn slots_side_by_side_are_slots_in_turn() {
        let go = AtomicBool::new(false);
        for n in [0, 1, 2, 3, 50, 333] {
            let slots = squares(n);
            let witness = plain_witness(InTurn(&slots)).unwrap();
            let partition = assign_slots(&slots, &compiled(&slots), Room::default(), &go).unwrap();
            assert_eq!(partition.inputs, witness.inputs);
            assert!((0..partition.aux.len()).map(|i| partition.aux.get(i)).eq(witness.aux.iter().copied()), "{n}");
        }
    }

    #[test]
    fn slots_of_other_shapes_are_refused() {
        let compiled = compiled(&squares(9));
        for more in [0, 2, 4] {
            let mut slots = squares(9);
            slots[5].more = more;
            let e = assign_slots(&slots, &compiled, Room::default(), &AtomicBool::new(false));
            assert_eq!(e.unwrap_err().code, Code::Internal, "{more}");
        }
    }

    #[test]
    fn stops_when_cancelled() {
        let slots = squares(9);
        let e = assign_slots(&slots, &compiled(&slots), Room::default(), &AtomicBool::new(true)).unwrap_err();
        assert_eq!(e.code, Code::Cancelled);
    }
}
