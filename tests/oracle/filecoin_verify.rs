//! Verifies a proof with filecoin-proofs' own verifier: the oracle that `make demo` asks besides this library, of which it
//! uses nothing.
//!
//! `filecoin_verify KIND PUBLIC.json PROOF`, KIND one of porep, snap, window-post and winning-post, with parameters in
//! `FIL_PROOFS_PARAMETER_CACHE`. Exit code 0 when the proof verifies, 1 when it does not, 2 when it could not be looked at.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use filecoin_proofs_api::post::{verify_window_post, verify_winning_post};
use filecoin_proofs_api::seal::verify_seal;
use filecoin_proofs_api::update::verify_empty_sector_update_proof;
use filecoin_proofs_api::{PublicReplicaInfo, RegisteredPoStProof, SectorId};
use serde::de::DeserializeOwned;
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, public, proof] = args.as_slice() else {
        eprintln!("usage: filecoin_verify porep|snap|window-post|winning-post PUBLIC.json PROOF");
        return ExitCode::from(2);
    };
    match verify(kind, public, proof) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("filecoin-proofs: the {kind} proof does not verify");
            ExitCode::from(1)
        }
        Err(e) => {
            eprintln!("filecoin-proofs, {kind}: {e}");
            ExitCode::from(2)
        }
    }
}

/// A statement by the names of its values.
struct Public(Value);

impl Public {
    fn bytes(&self, key: &str) -> Outcome<[u8; 32]> {
        bytes32(&self.0, key)
    }

    /// A registered proof, written by name.
    fn registered<T: DeserializeOwned>(&self, key: &str) -> Outcome<T> {
        Ok(serde_json::from_value(self.0[key].clone()).map_err(|e| format!("{key}: {e}"))?)
    }

    /// A PoSt's registered proof and sectors.
    fn replicas(&self) -> Outcome<(RegisteredPoStProof, BTreeMap<SectorId, PublicReplicaInfo>)> {
        let registered = self.registered("registered_post_proof")?;
        let sectors = self.0["sectors"].as_array().ok_or("sectors: not there")?;
        let replica =
            |s: &Value| Ok((number(s, "sector_id")?, PublicReplicaInfo::new(registered, bytes32(s, "comm_r")?)));
        Ok((registered, sectors.iter().map(replica).collect::<Outcome<_>>()?))
    }
}

fn bytes32(object: &Value, key: &str) -> Outcome<[u8; 32]> {
    let text = object[key].as_str().ok_or_else(|| format!("{key}: not there"))?;
    hex::decode(text)?.try_into().map_err(|_| format!("{key}: not 32 bytes").into())
}

fn number(object: &Value, key: &str) -> Outcome<SectorId> {
    Ok(object[key].as_u64().ok_or_else(|| format!("{key}: not there"))?.into())
}

fn verify(kind: &str, public: &str, proof: &str) -> Outcome<bool> {
    let public = Public(serde_json::from_slice(&fs::read(public)?)?);
    let proof = fs::read(proof)?;
    let begun = Instant::now();
    let (verified, registered) = match kind {
        "porep" => {
            let registered = public.registered("registered_seal_proof")?;
            let verified = verify_seal(
                registered,
                public.bytes("comm_r")?,
                public.bytes("comm_d")?,
                public.bytes("prover_id")?,
                number(&public.0, "sector_id")?,
                public.bytes("ticket")?,
                public.bytes("seed")?,
                &proof,
            )?;
            (verified, format!("{registered:?}"))
        }
        "snap" => {
            let registered = public.registered("registered_update_proof")?;
            let (old, new, data) =
                (public.bytes("comm_r_old")?, public.bytes("comm_r_new")?, public.bytes("comm_d_new")?);
            (verify_empty_sector_update_proof(registered, &proof, old, new, data)?, format!("{registered:?}"))
        }
        "window-post" => {
            let (registered, replicas) = public.replicas()?;
            let (randomness, prover) = (public.bytes("randomness")?, public.bytes("prover_id")?);
            let proofs = [(registered, &proof[..])];
            (verify_window_post(&randomness, &proofs, &replicas, prover)?, format!("{registered:?}"))
        }
        "winning-post" => {
            let (registered, replicas) = public.replicas()?;
            let (randomness, prover) = (public.bytes("randomness")?, public.bytes("prover_id")?);
            (verify_winning_post(&randomness, &proof, &replicas, prover)?, format!("{registered:?}"))
        }
        other => return Err(format!("{other} is no proof kind").into()),
    };
    if verified {
        println!("filecoin-proofs, {kind}: verifies ({registered}, {:.3} s)", begun.elapsed().as_secs_f64());
    }
    Ok(verified)
}
