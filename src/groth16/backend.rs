//! What proves a partition.

use std::sync::Arc;

use blstrs::{Bls12, G1Projective};

use super::Blinding;
use crate::circuit::{Densities, Partition, Shape, Witness};
use crate::error::Result;
use crate::memory::Room;
use crate::params::Params;
use crate::telemetry::{Control, Stage};

/// A prover on one device. A partition is proved in two halves: `start` does what reads the evaluations, which die in it;
/// `finish` does the rest from the witness alone.
pub trait Backend: Send + Sync {
    /// The device, for people.
    fn name(&self) -> String;

    /// The device's number, -1 for the CPU.
    fn device(&self) -> i32;

    /// Bytes of working memory, buffers aside, that a partition of this shape takes at most.
    fn scratch_bytes(&self, shape: &Shape) -> u64;

    /// Bytes of all that a partition of this shape takes from its synthesis to its proof.
    fn partition_bytes(&self, shape: &Shape) -> u64 {
        shape.witness_bytes() + shape.evaluation_bytes() + self.scratch_bytes(shape)
    }

    /// Whether `finish` leaves the device to the next partition, so that it should run beside it.
    fn finishes_beside(&self) -> bool;

    /// h: the quotient (a·b − c)/t and its multi-scalar multiplication. Consumes the evaluations.
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
    /// The values of the variables.
    pub witness: Witness,
    /// Variables that A and B use.
    pub densities: Densities,
    /// Σ hᵢ·h-query.
    pub h: G1Projective,
    /// The bytes it may still take.
    pub room: Room,
}

impl Started {
    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.witness.aux.enter(stage);
        self.room.enter(stage);
    }
}
