//! Requests as callers make them, and what they decode to.

use blstrs::Scalar;

use super::kind::{CircuitId, Kind};
use super::CircuitVisitor;
use crate::error::{Error, Result};

/// A request's content: what is to be proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The proof kind.
    pub kind: Kind,
    /// Go's `abi.Registered{Seal,PoSt,Update}Proof` number.
    pub registered_proof: u32,
    /// Which partition of a WindowPoSt; others 0.
    pub partition_index: u32,
    /// Actor id.
    pub miner_id: u64,
    /// Sector number (PoRep, Snap).
    pub sector_number: u64,
    /// PoSt randomness.
    pub randomness: [u8; 32],
    /// Snap: the commitment of the replica before.
    pub comm_r_old: [u8; 32],
    /// Snap: the commitment of the replica after.
    pub comm_r_new: [u8; 32],
    /// Snap: the commitment of the data after.
    pub comm_d_new: [u8; 32],
    /// The lengths of the vanilla proofs, which lie back to back in the bytes handed to [`decode`].
    pub vanilla_lens: Vec<u64>,
}

/// A sector of a PoSt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sector {
    /// Sector number.
    pub sector_number: u64,
    /// The replica's commitment.
    pub comm_r: [u8; 32],
}

/// The public statement that a proof is verified against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    /// The proof kind.
    pub kind: Kind,
    /// Go's registered proof number.
    pub registered_proof: u32,
    /// Actor id.
    pub miner_id: u64,
    /// Sector number (PoRep, Snap).
    pub sector_number: u64,
    /// PoRep.
    pub ticket: [u8; 32],
    /// PoRep.
    pub seed: [u8; 32],
    /// PoRep.
    pub comm_d: [u8; 32],
    /// PoRep.
    pub comm_r: [u8; 32],
    /// PoSt.
    pub randomness: [u8; 32],
    /// Snap.
    pub comm_r_old: [u8; 32],
    /// Snap.
    pub comm_r_new: [u8; 32],
    /// Snap.
    pub comm_d_new: [u8; 32],
    /// PoSt.
    pub sectors: Vec<Sector>,
}

impl Public {
    /// The circuit whose key verifies this statement.
    pub fn circuit(&self) -> Result<CircuitId> {
        Err(Error::unsupported("kind", "not offered"))
    }

    /// The public inputs of every partition (without the constant one), in partition order.
    pub fn inputs(&self) -> Result<Vec<Vec<Scalar>>> {
        Err(Error::unsupported("kind", "not offered"))
    }
}

/// A decoded request: builds partition circuits, one at a time.
pub struct Decoded {}

impl Decoded {
    /// Which circuit the partitions are.
    pub fn circuit(&self) -> CircuitId {
        CircuitId { kind: Kind::Porep, sector_size: 2048 }
    }

    /// How many partitions the proof has.
    pub fn partitions(&self) -> usize {
        0
    }

    /// Public inputs of partition `k`, without the constant one.
    pub fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        let _ = k;
        Err(Error::unsupported("kind", "not offered"))
    }

    /// Hands the visitor the circuit of partition `k`.
    pub fn with_circuit<V: CircuitVisitor>(&self, k: usize, visitor: V) -> Result<V::Output> {
        let _ = (k, visitor);
        Err(Error::unsupported("kind", "not offered"))
    }
}

/// Decodes the vanilla proofs of a request. Errors name the field at fault.
pub fn decode(request: &Request, vanilla: &[u8]) -> Result<Decoded> {
    let _ = (request, vanilla);
    Err(Error::unsupported("kind", "not offered"))
}
