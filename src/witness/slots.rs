//! A circuit that is one circuit many times over, each time in a slot of its own: the slots side by side.
//!
//! Slots share no variable but the constant one, and their shape does not depend on their values. So the first says where
//! each one's values and rows go in the partition's buffers, and all the others are written there at once, by as many
//! threads as the pool has. Nothing is held twice; a slot at work has bits and public inputs of its own, kilobytes.

use std::sync::atomic::{AtomicBool, Ordering};

use bellpepper_core::Circuit;
use blstrs::Scalar;
use rayon::prelude::*;

use super::general::{ProvingSystem, Values};
use crate::circuit::{Partition, Shape};
use crate::error::{Error, Result};
use crate::memory::Room;

/// A part of a buffer, filled from its start.
struct Part<'a> {
    values: &'a mut [Scalar],
    len: usize,
}

impl<'a> Part<'a> {
    fn new(values: &'a mut [Scalar]) -> Self {
        Part { values, len: 0 }
    }

    fn is_full(&self) -> bool {
        self.len == self.values.len()
    }
}

impl Values for Part<'_> {
    #[inline]
    fn push(&mut self, _: &'static str, value: Scalar) -> Result<()> {
        match self.values.get_mut(self.len) {
            Some(place) => *place = value,
            None => return Err(differ()),
        }
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn values(&self) -> &[Scalar] {
        &self.values[..self.len]
    }
}

fn differ() -> Error {
    Error::internal("the slots of a circuit differ in shape")
}

/// As [`synthesize`](super::synthesize), of the circuit whose slots these are; runs on the rayon pool it is called in.
pub fn synthesize_slots<C>(slots: &[C], shape: &Shape, mut room: Room, cancelled: &AtomicBool) -> Result<Partition>
where
    C: Sync,
    for<'a> &'a C: Circuit<Scalar>,
{
    let mut system = ProvingSystem::with_shape(shape, &mut room, cancelled)?;
    let Some((first, others)) = slots.split_first() else { return system.finish(room) };
    system.run(first, 0)?;
    // A slot's share of everything.
    let (inputs, aux, rows) = (system.inputs.len() - 1, system.aux.len(), system.a.len());
    if others.is_empty() || aux == 0 || rows == 0 {
        for (i, slot) in others.iter().enumerate() {
            system.run(slot, (i + 1) * rows)?;
        }
        return system.finish(room);
    }
    let all = |share: usize| share.checked_mul(slots.len()).ok_or_else(|| Error::out_of_memory("witness", usize::MAX));
    system.aux.resize_zeroed("witness", all(aux)?)?;
    system.a.resize_zeroed("evaluations a", all(rows)?)?;
    system.b.resize_zeroed("evaluations b", all(rows)?)?;
    let densities = &system.densities;
    let parts = system.aux[aux..]
        .par_chunks_mut(aux)
        .zip(system.a[rows..].par_chunks_mut(rows))
        .zip(system.b[rows..].par_chunks_mut(rows));
    let outcomes: Vec<Result<Vec<Scalar>>> = others
        .par_iter()
        .enumerate()
        .zip(parts)
        .map(|((i, slot), ((aux, a), b))| {
            if cancelled.load(Ordering::Relaxed) {
                return Err(Error::cancelled());
            }
            let (aux, a, b) = (Part::new(aux), Part::new(a), Part::new(b));
            let mut system = ProvingSystem::new_in(aux, a, b, inputs + 1, cancelled);
            system.run(slot, (i + 1) * rows)?;
            let same = system.inputs.len() == inputs + 1 && system.densities == *densities;
            if !(same && system.aux.is_full() && system.a.is_full() && system.b.is_full()) {
                return Err(differ());
            }
            system.inputs.remove(0);
            Ok(system.inputs)
        })
        .collect();
    // The first that fails says why.
    for inputs in outcomes {
        system.inputs.extend(inputs?);
    }
    let one = system.densities.clone();
    for _ in others {
        system.densities.a_aux.append(&one.a_aux, 0);
        system.densities.b_aux.append(&one.b_aux, 0);
        system.densities.b_inputs.append(&one.b_inputs, 1);
    }
    system.finish(room)
}

#[cfg(test)]
mod tests {
    use bellpepper_core::{ConstraintSystem, SynthesisError};

    use super::*;
    use crate::error::Code;
    use crate::witness::synthesize;

    /// x · x = y for a public y, x and y from its slot, `more` times.
    #[derive(Clone)]
    struct Square {
        x: u64,
        y: u64,
        more: usize,
    }

    impl Circuit<Scalar> for &Square {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            for _ in 0..self.more {
                let x = cs.alloc(|| "x", || Ok(Scalar::from(self.x)))?;
                let y = cs.alloc_input(|| "y", || Ok(Scalar::from(self.y)))?;
                cs.enforce(|| "", |lc| lc + x, |lc| lc + x, |lc| lc + y);
                cs.enforce(|| "", |lc| lc + x + CS::one(), |lc| lc + CS::one(), |lc| lc + x + CS::one());
            }
            Ok(())
        }
    }

    struct All<'a>(&'a [Square]);

    impl Circuit<Scalar> for All<'_> {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            self.0.iter().try_for_each(|slot| slot.synthesize(cs))
        }
    }

    fn squares(n: u64) -> Vec<Square> {
        (0..n).map(|x| Square { x, y: x * x, more: 3 }).collect()
    }

    #[test]
    fn slots_side_by_side_are_slots_in_turn() {
        let go = AtomicBool::new(false);
        for n in [0, 1, 2, 3, 50, 333] {
            let slots = squares(n);
            let one = synthesize(All(&slots), &Shape::default(), Room::default(), &go).unwrap();
            for shape in [Shape::default(), one.shape()] {
                let other = synthesize_slots(&slots, &shape, Room::default(), &go).unwrap();
                assert_eq!(one.witness.inputs, other.witness.inputs);
                assert_eq!(one.witness.aux[..], other.witness.aux[..]);
                assert_eq!(one.evaluations.a[..], other.evaluations.a[..]);
                assert_eq!(one.evaluations.b[..], other.evaluations.b[..]);
                assert_eq!(one.densities, other.densities, "{n}");
            }
        }
    }

    #[test]
    fn the_first_row_that_fails_is_named() {
        let go = AtomicBool::new(false);
        for wrong in [0, 1, 17, 39] {
            let mut slots = squares(40);
            slots[wrong].y += 1;
            slots[39].y += 1;
            let e = synthesize_slots(&slots, &Shape::default(), Room::default(), &go).unwrap_err();
            assert_eq!(e.code, Code::Unsatisfied);
            assert!(e.message.contains(&format!("row {} is", 6 * wrong)), "{}", e.message);
        }
    }

    #[test]
    fn slots_of_other_shapes_are_refused() {
        for more in [0, 2, 4] {
            let mut slots = squares(9);
            slots[5].more = more;
            let e = synthesize_slots(&slots, &Shape::default(), Room::default(), &AtomicBool::new(false));
            assert_eq!(e.unwrap_err().code, Code::Internal, "{more}");
        }
    }

    #[test]
    fn stops_when_cancelled() {
        let e = synthesize_slots(&squares(9), &Shape::default(), Room::default(), &AtomicBool::new(true)).unwrap_err();
        assert_eq!(e.code, Code::Cancelled);
    }
}
