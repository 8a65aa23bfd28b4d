//! What a vanilla proof contains, seen from its bytes alone.
//!
//! A C1 names its registered proof. The vanilla proofs of the other kinds say nothing of themselves: they are read as each
//! kind and sector size would have them, and since every length in them is the circuit's, one reading at most comes to
//! their end. Where none does, the one that got furthest says what is wrong.

use std::sync::atomic::AtomicBool;

use super::binary::Binary;
use super::kind::{CircuitId, Kind, SECTOR_SIZES};
use super::pieces::VANILLA;
use super::porep::Porep;
use super::post::Post;
use super::registered::UPDATE_PROOFS;
use super::session::Session;
use super::snap::Snap;
use crate::error::{Code, Error, Result};

/// Whoever gets no further has seen no more than bytes that could be anything: a PoSt's first counts end here.
const HEAD_BYTES: usize = 56;

/// How an input is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON of `SealCommitPhase1Output`.
    Json,
    /// JSON with a sector's number, its size and a C1 in base64, as lotus-bench and Curio write it.
    Wrapper,
    /// Bincode.
    Bincode,
}

impl Format {
    /// One word: `json`, `wrapper`, `bincode`.
    pub fn word(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Wrapper => "wrapper",
            Format::Bincode => "bincode",
        }
    }
}

/// What a vanilla proof contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The circuit it is for.
    pub circuit: CircuitId,
    /// How it is written.
    pub format: Format,
    /// Go's numbers of the registered proofs that it may be of. A WindowPoSt's vanilla proof is the same in both versions.
    pub registered_proofs: Vec<u32>,
    /// The sector's number, where it is written: in a wrapper, and in PoSts.
    pub sector_number: Option<u64>,
    /// Partitions of the whole proof; `None` for a WindowPoSt, which has as many as its sectors need.
    pub partitions: Option<usize>,
    /// SnapDeals: which partition this one is. `None` where its challenges are no partition's.
    pub partition: Option<usize>,
    /// Challenges: a partition's, or a PoSt's sector's.
    pub challenges: usize,
    /// Commitments and other values of 32 bytes, by name.
    pub values: Vec<(&'static str, [u8; 32])>,
    /// Bytes that a request's vanilla proofs take in memory once they are decoded: all partitions', a WindowPoSt's for one
    /// partition.
    pub decoded_bytes: usize,
}

/// Reads a C1 (JSON, wrapper, bincode) or one vanilla proof of SnapDeals or a PoSt (bincode), and checks whatever can be
/// checked without the request: shapes, and that paths lead to the roots that its commitments are of.
///
/// `MALFORMED_INPUT` names the place, below `vanilla` in all but a C1, and what the bytes were taken for. `OUT_OF_MEMORY`,
/// `CANCELLED` as in [`decode`](super::decode).
pub fn inspect(bytes: &[u8], cancelled: &AtomicBool) -> Result<Inspected> {
    if bytes.is_empty() {
        return Err(Error::malformed(VANILLA, "is empty"));
    }
    // The number of a PoSt's sector may begin like JSON, but it has zeros; a hash has bytes that are no text.
    let text = bytes.iter().take(32).all(|c| c.is_ascii_graphic() || c.is_ascii_whitespace());
    if text && bytes.iter().find(|c| !c.is_ascii_whitespace()).is_none_or(|c| b"{[".contains(c)) {
        return Porep::inspect(bytes, &Session::new(cancelled)?);
    }
    let mut furthest = (HEAD_BYTES, Error::malformed(VANILLA, NEITHER));
    if bytes.len() >= 8 && bytes[1..4] == [0; 3] && bytes[5..8] == [0; 3] {
        match Porep::inspect(bytes, &Session::new(cancelled)?) {
            Err(e) if e.code == Code::MalformedInput => furthest = (HEAD_BYTES, taken_for("a C1", e)),
            other => return other,
        }
    }
    for circuit in [Kind::WinningPost, Kind::WindowPost, Kind::Snap]
        .into_iter()
        .flat_map(|kind| SECTOR_SIZES.into_iter().map(move |(sector_size, _)| CircuitId { kind, sector_size }))
    {
        let session = Session::new(cancelled)?;
        let mut binary = Binary::new(bytes, &session);
        let read = match circuit.kind {
            Kind::Snap => match UPDATE_PROOFS.into_iter().find(|p| u64::from(p.sector_size()) == circuit.sector_size) {
                Some(proof) => Snap::inspect(&mut binary, proof, &session),
                None => continue,
            },
            _ => Post::inspect(&mut binary, circuit, &session),
        };
        match read {
            Err(e) if e.code == Code::MalformedInput => {
                let read = bytes.len() - binary.left();
                if read > furthest.0 {
                    furthest = (read, taken_for(&format!("a vanilla proof of {circuit}"), e));
                }
            }
            other => return other,
        }
    }
    Err(furthest.1)
}

const NEITHER: &str = "is neither JSON nor bincode of SealCommitPhase1Output, nor bincode of PartitionProof or \
                       FallbackPoStSectorProof";

fn taken_for(what: &str, e: Error) -> Error {
    Error { message: format!("taken for {what}: {}", e.message), ..e }
}
