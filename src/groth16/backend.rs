//! What proves a partition.

use std::sync::Arc;

use blstrs::{Bls12, G1Projective, Scalar};

use super::Blinding;
use crate::circuit::{Aux, CompiledCircuit, Partition, Sizes};
use crate::error::Result;
use crate::memory::Room;
use crate::params::Params;
use crate::telemetry::{Control, Stage};

/// A prover on one device. A partition is proved in two halves: `start` makes the evaluations, which die in it; `finish`
/// does the rest from the witness alone.
pub trait Backend: Send + Sync {
    /// The device, for people.
    fn name(&self) -> String;

    /// The device's number, -1 for the CPU.
    fn device(&self) -> i32;

    /// Bytes that `start` takes from the partition's room at most.
    fn start_bytes(&self, sizes: &Sizes) -> u64;

    /// Bytes of working memory, buffers aside, that a partition of this circuit takes at most.
    fn scratch_bytes(&self, sizes: &Sizes) -> u64;

    /// Bytes of all that a partition takes from its first value to its proof.
    fn partition_bytes(&self, sizes: &Sizes) -> u64 {
        sizes.witness_bytes() + self.start_bytes(sizes) + self.scratch_bytes(sizes)
    }

    /// Whether `finish` leaves the device to the next partition, so that it should run beside it.
    fn finishes_beside(&self) -> bool;

    /// h: the rows times the witness, the quotient (a·b − c)/t of their polynomials, and its multi-scalar multiplication.
    /// `UNSATISFIED` names the first row that does not hold.
    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started>;

    /// l, a, b_g1, b_g2 and the assembly with the blinding r, s.
    fn finish(
        &self,
        started: Started,
        blinding: &Blinding,
        control: Control<'_>,
    ) -> Result<bellperson::groth16::Proof<Bls12>>;
}

/// A partition between the halves. Keeps its parameters alive.
pub struct Started {
    /// The parameters it was started with.
    pub params: Arc<Params>,
    /// Public inputs; the first is one.
    pub inputs: Vec<Scalar>,
    /// Auxiliary values.
    pub aux: Aux,
    /// The circuit.
    pub circuit: Arc<CompiledCircuit>,
    /// Σ hᵢ·h-query.
    pub h: G1Projective,
    /// The bytes it may still take.
    pub room: Room,
}

impl Started {
    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.aux.enter(stage);
        self.room.enter(stage);
    }
}
