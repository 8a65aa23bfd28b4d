//! Requests as callers make them, and what they decode to.

use std::sync::atomic::AtomicBool;

use blstrs::Scalar;

use super::kind::{CircuitId, Kind};
use super::porep::{self, Porep};
use super::post::{self, Post};
use super::snap::{self, Snap};
use super::{registered, CircuitVisitor};
use crate::error::{Error, Result};

/// A request's content: what is to be proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The proof kind.
    pub kind: Kind,
    /// Go's `abi.Registered{Seal,PoSt,Update}Proof` number.
    pub registered_proof: u32,
    /// Which partition of a WindowPoSt the vanilla proofs are; 0 where they are all partitions', and in other kinds.
    pub partition_index: u32,
    /// Actor id.
    pub miner_id: u64,
    /// Sector number (PoRep, Snap).
    pub sector_number: u64,
    /// PoSt. The top two bits of the last byte do not count.
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
    /// PoSt. The top two bits of the last byte do not count.
    pub randomness: [u8; 32],
    /// Snap.
    pub comm_r_old: [u8; 32],
    /// Snap.
    pub comm_r_new: [u8; 32],
    /// Snap.
    pub comm_d_new: [u8; 32],
    /// PoSt: a WinningPoSt's one, a WindowPoSt's in any order.
    pub sectors: Vec<Sector>,
}

impl Public {
    /// The circuit whose key verifies this statement.
    pub fn circuit(&self) -> Result<CircuitId> {
        registered::circuit(self.kind, self.registered_proof)
    }

    /// The public inputs of every partition (without the constant one), in partition order.
    ///
    /// `INVALID_ARGUMENT` names the field at fault, such as a commitment that is no field element.
    pub fn inputs(&self) -> Result<Vec<Vec<Scalar>>> {
        match self.kind {
            Kind::Porep => porep::Statement::of(self)?.public_inputs(),
            Kind::Snap => snap::Statement::of(self)?.public_inputs(),
            Kind::WindowPost | Kind::WinningPost => post::Statement::of(self)?.public_inputs(),
        }
    }
}

/// A decoded request: builds partition circuits, one at a time.
///
/// Holds the vanilla proofs once, in about the size of their bincode, and neither the bytes they came in nor a circuit.
#[derive(Debug)]
pub struct Decoded {
    content: Content,
}

/// A decoded request by its kind.
#[derive(Debug)]
pub(crate) enum Content {
    Porep(Porep),
    Snap(Snap),
    Post(Post),
}

impl Decoded {
    /// What is decoded.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// To change what was decoded.
    #[cfg(test)]
    pub(crate) fn content_mut(&mut self) -> &mut Content {
        &mut self.content
    }

    /// Bytes of the vanilla proofs held, about.
    pub fn bytes(&self) -> usize {
        match &self.content {
            Content::Porep(porep) => porep.bytes(),
            Content::Snap(snap) => snap.bytes(),
            Content::Post(post) => post.bytes(),
        }
    }

    /// Which circuit the partitions are.
    pub fn circuit(&self) -> CircuitId {
        match &self.content {
            Content::Porep(porep) => CircuitId { kind: Kind::Porep, sector_size: porep.sector_size() },
            Content::Snap(snap) => CircuitId { kind: Kind::Snap, sector_size: snap.sector_size() },
            Content::Post(post) => CircuitId { kind: post.kind(), sector_size: post.sector_size() },
        }
    }

    /// How many partitions the proof has.
    pub fn partitions(&self) -> usize {
        match &self.content {
            Content::Porep(porep) => porep.partitions(),
            Content::Snap(snap) => snap.partitions(),
            Content::Post(post) => post.partitions(),
        }
    }

    /// Public inputs of partition `k`, without the constant one.
    pub fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        match &self.content {
            Content::Porep(porep) => porep.public_inputs(k),
            Content::Snap(snap) => snap.public_inputs(k),
            Content::Post(post) => post.public_inputs(k),
        }
    }

    /// Whether what is decoded proves this statement; `MALFORMED_INPUT` names the first value that differs.
    pub fn agrees_with(&self, public: &Public) -> Result<()> {
        if self.circuit().kind != public.kind {
            return Err(Error::malformed("kind", format!("the statement is of a {} proof", public.kind)));
        }
        match &self.content {
            Content::Porep(porep) => porep.agrees_with(public),
            Content::Snap(snap) => snap.agrees_with(public),
            Content::Post(post) => post.agrees_with(public),
        }
    }

    /// Hands the visitor the circuit of partition `k`.
    pub fn with_circuit<V: CircuitVisitor>(&self, k: usize, visitor: V) -> Result<V::Output> {
        match &self.content {
            Content::Porep(porep) => porep.with_circuit(k, visitor),
            Content::Snap(snap) => snap.with_circuit(k, visitor),
            Content::Post(post) => post.with_circuit(k, visitor),
        }
    }
}

/// Decodes the vanilla proofs of a request.
///
/// Errors name the field at fault: `MALFORMED_INPUT` for the bytes (the place in them, such as
/// `vanilla_proofs[0][3].comm_d_proofs.path` in a C1 and `vanilla[2].comm_r` in others) and for what they disagree about
/// with the request, `INVALID_ARGUMENT` for the request itself, `OUT_OF_MEMORY` (`vanilla`) when the system refuses what
/// the registered proof's vanilla proofs take, and `CANCELLED`, without a field, soon after `cancelled` is set.
pub fn decode(request: &Request, vanilla: &[u8], cancelled: &AtomicBool) -> Result<Decoded> {
    let content = match request.kind {
        Kind::Porep => Content::Porep(Porep::decode(request, vanilla, cancelled)?),
        Kind::Snap => Content::Snap(Snap::decode(request, vanilla, cancelled)?),
        Kind::WindowPost | Kind::WinningPost => Content::Post(Post::decode(request, vanilla, cancelled)?),
    };
    Ok(Decoded { content })
}
