//! Verifies a PoRep proof with filecoin-proofs' own `verify_seal`: the oracle that `make demo` asks besides this library.
//!
//! `verify_seal PUBLIC.json PROOF`, with parameters in `FIL_PROOFS_PARAMETER_CACHE`. Exit code 0 when the proof verifies,
//! 1 when it does not, 2 when it could not be looked at.

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use filecoin_proofs_api::seal::verify_seal;
use filecoin_proofs_api::{RegisteredSealProof, SectorId};
use serde_json::Value;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [public, proof] = args.as_slice() else {
        eprintln!("usage: verify_seal PUBLIC.json PROOF");
        return ExitCode::from(2);
    };
    match verify(public, proof) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("filecoin-proofs' verify_seal: the proof does not verify");
            ExitCode::from(1)
        }
        Err(e) => {
            eprintln!("filecoin-proofs' verify_seal: {e}");
            ExitCode::from(2)
        }
    }
}

fn verify(public: &str, proof: &str) -> Result<bool, Box<dyn Error>> {
    let public: Value = serde_json::from_slice(&fs::read(public)?)?;
    let proof = fs::read(proof)?;
    let bytes = |key: &str| -> Result<[u8; 32], Box<dyn Error>> {
        let text = public[key].as_str().ok_or_else(|| format!("{key}: not there"))?;
        hex::decode(text)?.try_into().map_err(|_| format!("{key}: not 32 bytes").into())
    };
    let kind: RegisteredSealProof = serde_json::from_value(public["registered_seal_proof"].clone())?;
    let sector = public["sector_id"].as_u64().ok_or("sector_id: not there")?;
    let begun = Instant::now();
    let verified = verify_seal(
        kind,
        bytes("comm_r")?,
        bytes("comm_d")?,
        bytes("prover_id")?,
        SectorId::from(sector),
        bytes("ticket")?,
        bytes("seed")?,
        &proof,
    )?;
    if verified {
        println!("filecoin-proofs' verify_seal: verifies ({kind:?}, {:.3} s)", begun.elapsed().as_secs_f64());
    }
    Ok(verified)
}
