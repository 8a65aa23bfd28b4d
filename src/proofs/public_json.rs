//! `public.json`: the public values of a proof, by name.
//!
//! Commitments, ticket, seed and randomness are 64 hex digits in plain byte order; registered proofs are names such as
//! `StackedDrg2KiBV1_1`, or Go's numbers. What else the file says (partitions, prover_id, challenges …) is not read.

use serde::de::{self, Deserializer};
use serde::Deserialize;

use super::kind::Kind;
use super::place::placed;
use super::registered::{bytes32_from_hex, circuit, number_from_name};
use super::request::{Public, Request, Sector};
use crate::error::{Error, Result};

/// 32 bytes, written as hex.
#[derive(Clone, Copy)]
struct Hex32([u8; 32]);

impl<'de> Deserialize<'de> for Hex32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(deserializer)?;
        bytes32_from_hex("", &hex).map(Hex32).map_err(|e| de::Error::custom(e.message))
    }
}

/// A registered proof, by name or by number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Registered {
    Number(u32),
    Name(String),
}

impl Registered {
    fn number(&self, kind: Kind, field: &'static str) -> Result<u32> {
        match self {
            Registered::Number(number) => circuit(kind, *number).map(|_| *number),
            Registered::Name(name) => number_from_name(kind, name),
        }
        .map_err(|e| Error::malformed(field, e.message))
    }
}

#[derive(Deserialize)]
struct PorepJson {
    registered_seal_proof: Registered,
    miner_actor_id: u64,
    sector_id: u64,
    ticket: Hex32,
    seed: Hex32,
    comm_d: Hex32,
    comm_r: Hex32,
}

/// Every sector of a PoSt is of the miner.
#[derive(Deserialize)]
struct PostJson {
    registered_post_proof: Registered,
    miner_actor_id: u64,
    randomness: Hex32,
    sectors: Vec<SectorJson>,
}

#[derive(Deserialize)]
struct SectorJson {
    sector_id: u64,
    comm_r: Hex32,
}

/// An update proof's circuit knows nothing of the miner.
#[derive(Deserialize)]
struct SnapJson {
    registered_update_proof: Registered,
    #[serde(default)]
    miner_actor_id: u64,
    sector_id: u64,
    comm_r_old: Hex32,
    comm_r_new: Hex32,
    comm_d_new: Hex32,
}

fn read<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| placed(e.path(), "public.json", &e.inner().to_string()))?;
    reader.end().map_err(|e| Error::malformed("public.json", e.to_string()))?;
    Ok(value)
}

/// The statement that a `public.json` of this kind makes. `MALFORMED_INPUT` names the field, such as `sectors[1].comm_r`.
pub fn public_from_json(kind: Kind, json: &[u8]) -> Result<Public> {
    let mut public = Public {
        kind,
        registered_proof: 0,
        miner_id: 0,
        sector_number: 0,
        ticket: [0; 32],
        seed: [0; 32],
        comm_d: [0; 32],
        comm_r: [0; 32],
        randomness: [0; 32],
        comm_r_old: [0; 32],
        comm_r_new: [0; 32],
        comm_d_new: [0; 32],
        sectors: Vec::new(),
    };
    match kind {
        Kind::Porep => {
            let it: PorepJson = read(json)?;
            public.registered_proof = it.registered_seal_proof.number(kind, "registered_seal_proof")?;
            (public.miner_id, public.sector_number) = (it.miner_actor_id, it.sector_id);
            (public.ticket, public.seed) = (it.ticket.0, it.seed.0);
            (public.comm_d, public.comm_r) = (it.comm_d.0, it.comm_r.0);
        }
        Kind::WindowPost | Kind::WinningPost => {
            let it: PostJson = read(json)?;
            public.registered_proof = it.registered_post_proof.number(kind, "registered_post_proof")?;
            (public.miner_id, public.randomness) = (it.miner_actor_id, it.randomness.0);
            let sector = |s: SectorJson| Sector { sector_number: s.sector_id, comm_r: s.comm_r.0 };
            public.sectors = it.sectors.into_iter().map(sector).collect();
        }
        Kind::Snap => {
            let it: SnapJson = read(json)?;
            public.registered_proof = it.registered_update_proof.number(kind, "registered_update_proof")?;
            (public.miner_id, public.sector_number) = (it.miner_actor_id, it.sector_id);
            public.comm_r_old = it.comm_r_old.0;
            (public.comm_r_new, public.comm_d_new) = (it.comm_r_new.0, it.comm_d_new.0);
        }
    }
    Ok(public)
}

/// The request that asks for a proof of what a `public.json` states. Its partition index is 0 and it has no lengths of
/// vanilla proofs yet; errors are those of [`public_from_json`].
pub fn request_from_json(kind: Kind, json: &[u8]) -> Result<Request> {
    let public = public_from_json(kind, json)?;
    Ok(Request {
        kind,
        registered_proof: public.registered_proof,
        partition_index: 0,
        miner_id: public.miner_id,
        sector_number: public.sector_number,
        randomness: public.randomness,
        comm_r_old: public.comm_r_old,
        comm_r_new: public.comm_r_new,
        comm_d_new: public.comm_d_new,
        vanilla_lens: Vec::new(),
    })
}
