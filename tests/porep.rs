//! Real PoRep proofs from the fixtures: filecoin-proofs' own verifier accepts them, bellperson's prover makes the same
//! bytes at the same r and s.
//!
//! Development parameters are made where `FIL_PROOFS_PARAMETER_CACHE` (else the user's cache) has none: half a minute and
//! a gigabyte of disk a circuit.

#[path = "common/fixture.rs"]
mod fixture;
#[path = "common/same_bytes.rs"]
mod same_bytes;

use std::fs;
use std::time::Duration;

use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use ff::{Field, PrimeField};
use serde_json::Value;

use splitprove::engine::{Engine, HeldParams, Options};
use splitprove::error::Code;
use splitprove::groth16::PROOF_BYTES;
use splitprove::params;
use splitprove::proofs::{CircuitId, Kind};
use splitprove::telemetry::Class;

use fixture::{engine, filecoin_verifies, folder, parameters, Change, Fixture};
use same_bytes::same_bytes;

/// Statements that a PoRep's proof is not of.
const WRONG: [Change; 5] =
    [|p| p.seed[0] ^= 1, |p| p.miner_id += 1, |p| p.sector_number += 1, |p| p.comm_d[0] ^= 1, |p| p.comm_r[0] ^= 1];

#[test]
fn porep_2k_verifies_with_filecoin_proofs() {
    for input in ["c1.json", "c1.lotus-bench.json"] {
        Fixture::new(Kind::Porep, "porep-2k", &[input]).proves_and_verifies(1, &WRONG);
    }
}

#[test]
fn porep_8m_verifies_with_filecoin_proofs() {
    Fixture::new(Kind::Porep, "porep-8m", &["c1.json"]).proves_and_verifies(1, &WRONG);
}

#[test]
fn every_noninteractive_partition_verifies() {
    let fixture = Fixture::new(Kind::Porep, "porep-2k-noninteractive", &["c1.json"]);
    let path = fixture.parameters();
    let engine = engine();
    let proofs = fixture.prove(&engine).unwrap();
    let public: Value =
        serde_json::from_slice(&fs::read(folder("porep-2k-noninteractive").join("public.json")).unwrap()).unwrap();
    let listed = public["public_inputs_le_hex"].as_array().unwrap();
    assert_eq!((listed.len(), proofs.len()), (13, 13 * PROOF_BYTES));
    let key = groth16::prepare_verifying_key(&params::read_verifying_key(&path).unwrap());
    let element = |v: &Value| {
        let mut repr = <Scalar as PrimeField>::Repr::default();
        repr.as_mut().copy_from_slice(&hex::decode(v.as_str().unwrap()).unwrap());
        Scalar::from_repr(repr).unwrap()
    };
    for (proof, inputs) in proofs.chunks(PROOF_BYTES).zip(listed) {
        let mut inputs: Vec<Scalar> = inputs.as_array().unwrap().iter().map(element).collect();
        let proof = groth16::Proof::<Bls12>::read(proof).unwrap();
        assert!(groth16::verify_proof(&key, &proof, &inputs).unwrap());
        inputs[3] += Scalar::ONE;
        assert!(!groth16::verify_proof(&key, &proof, &inputs).unwrap());
    }
    engine.verify(&fixture.public, &proofs).unwrap();
}

#[test]
fn bytes_equal_bellperson_on_porep_2k() {
    same_bytes(&Fixture::porep(), 7);
}

/// Resident bytes of this process.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap() * 1024.0
}

#[test]
fn parameters_are_loaded_ahead_once_and_let_go() {
    let circuit: CircuitId = "porep-2KiB".parse().unwrap();
    let path = parameters(&circuit);
    let bytes = params::read_layout(&path).unwrap().memory_bytes();
    let engine = Engine::new(Options::default()).unwrap();
    assert_eq!(engine.evict_params(&circuit).unwrap(), 0);
    let before = resident();

    // Two ask at once: one load serves both, and its progress can be seen.
    let loads = [engine.load_params(&circuit, 1, 0).unwrap(), engine.load_params(&circuit, 2, 0).unwrap()];
    let mut seen = 0;
    while !loads.iter().all(|l| l.is_done()) {
        seen = seen.max(loads[0].progress().permille);
        for held in engine.held_params() {
            assert_eq!((&held.path, held.bytes, held.users), (&path, bytes, 0));
        }
        if engine.stats().params_bytes == 0 && seen > 0 && !loads[0].is_done() {
            // In the middle of a load nothing can be let go.
            let refused = engine.evict_params(&circuit);
            assert!(matches!(&refused, Err(e) if e.code == Code::Busy) || loads[0].is_done(), "{refused:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    for load in &loads {
        assert!(load.outcome().unwrap().unwrap().is_empty());
    }
    assert!(seen > 0 && seen < 1000, "{seen}");
    assert_eq!(engine.stats().params_bytes, bytes);
    assert_eq!(engine.held_params(), [HeldParams { path, bytes, resident: true, users: 0 }]);
    let held = engine.accounts().buffers.stats(Class::Params, None);
    assert_eq!((held.count, held.peak_count, held.bytes), (5, 5, bytes));
    assert!(resident() > before + bytes as f64 * 0.9);

    // The first proof loads nothing.
    let fixture = Fixture::porep();
    assert!(filecoin_verifies(&fixture.public, &fixture.prove(&engine).unwrap()));
    assert_eq!(engine.accounts().buffers.stats(Class::Params, None).peak_count, 5);

    assert_eq!(engine.evict_params(&circuit).unwrap(), bytes);
    assert_eq!(engine.held_params(), []);
    let after = resident();
    assert!(after < before * 1.05 + (64 << 20) as f64, "{before} before, {after} after");
    assert_eq!((engine.stats().params_bytes, engine.accounts().budget.used()), (0, 0));

    // A cancelled load leaves nothing; the next one is not disturbed.
    let load = engine.load_params(&circuit, 3, 0).unwrap();
    load.cancel();
    assert!(load.wait(Some(Duration::from_secs(60))));
    assert_eq!(load.outcome().unwrap().unwrap_err().code, Code::Cancelled);
    let load = engine.load_params(&circuit, 4, 0).unwrap();
    assert!(load.wait(Some(Duration::from_secs(60))));
    assert!(load.outcome().unwrap().is_ok());
}
