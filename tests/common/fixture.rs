//! The fixtures under tests/data, an engine that proves them, and filecoin-proofs' verdict.
//!
//! Development parameters are made where `FIL_PROOFS_PARAMETER_CACHE` (else the user's cache) has none: seconds for the
//! PoSts, half a minute and 660 MB of disk for SnapDeals, the same and a gigabyte for PoRep.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use filecoin_proofs_api::post::{verify_window_post, verify_winning_post};
use filecoin_proofs_api::seal::verify_seal;
use filecoin_proofs_api::update::verify_empty_sector_update_proof;
use filecoin_proofs_api::PublicReplicaInfo;

use splitprove::engine::{params_path, Engine, FilecoinSource, Options, Pending, Priority, Submission};
use splitprove::error::{Code, Result};
use splitprove::groth16::PROOF_BYTES;
use splitprove::memory::Buf;
use splitprove::params;
use splitprove::proofs::public_json::{public_from_json, request_from_json};
use splitprove::proofs::registered::{post_from_number, prover_id, seal_from_number, update_from_number};
use splitprove::proofs::{self, CircuitId, Decoded, Kind, Public, Request};
use splitprove::telemetry::Control;

/// The parameter folder, also for filecoin-proofs, which reads the variable once.
fn params_dir() -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let variable = "FIL_PROOFS_PARAMETER_CACHE";
        if std::env::var_os(variable).is_none() {
            std::env::set_var(variable, Options::default().circuit_cache_dir.join("params"));
        }
        Options::default().params_dir
    })
    .clone()
}

/// The parameter file of a circuit, made if there is none.
pub fn parameters(circuit: &CircuitId) -> PathBuf {
    let dir = params_dir();
    fs::create_dir_all(&dir).unwrap();
    let path = params_path(&dir, circuit).unwrap();
    if !path.exists() {
        // Another test may make them at the same time; whoever is second finds them there.
        if let Err(e) = params::generate(circuit, &dir, Control::NONE) {
            assert!(path.exists(), "{e}");
        }
    }
    path
}

/// A folder of tests/data.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A change to a statement.
pub type Change = fn(&mut Public);

/// A fixture: its statement and vanilla proofs.
pub struct Fixture {
    pub kind: Kind,
    pub request: Request,
    pub public: Public,
    /// Back to back.
    pub vanilla: Vec<u8>,
}

impl Fixture {
    /// Reads a folder of tests/data with these vanilla proofs.
    pub fn new(kind: Kind, name: &str, inputs: &[&str]) -> Self {
        let dir = folder(name);
        let json = fs::read(dir.join("public.json")).unwrap();
        let pieces: Vec<Vec<u8>> = inputs.iter().map(|input| fs::read(dir.join(input)).unwrap()).collect();
        let mut request = request_from_json(kind, &json).unwrap();
        request.vanilla_lens = pieces.iter().map(|p| p.len() as u64).collect();
        Fixture { kind, request, public: public_from_json(kind, &json).unwrap(), vanilla: pieces.concat() }
    }

    pub fn snap() -> Self {
        Self::new(Kind::Snap, "update-2k", &["vanilla-0.bin"])
    }

    pub fn window() -> Self {
        Self::new(Kind::WindowPost, "window-2k", &["vanilla-0.bin", "vanilla-1.bin", "vanilla-2.bin"])
    }

    pub fn winning() -> Self {
        Self::new(Kind::WinningPost, "winning-2k", &["vanilla-0.bin"])
    }

    pub fn porep() -> Self {
        Self::new(Kind::Porep, "porep-2k", &["c1.json"])
    }

    /// A WindowPoSt of some of the sectors alone, as partition `index`.
    pub fn only(&self, sectors: std::ops::Range<usize>, index: u32) -> Self {
        let ends = |i: usize| self.request.vanilla_lens[..i].iter().sum::<u64>() as usize;
        let vanilla = self.vanilla[ends(sectors.start)..ends(sectors.end)].to_vec();
        let vanilla_lens = self.request.vanilla_lens[sectors.clone()].to_vec();
        let request = Request { partition_index: index, vanilla_lens, ..self.request.clone() };
        let public = Public { sectors: self.public.sectors[sectors].to_vec(), ..self.public.clone() };
        Fixture { kind: self.kind, request, public, vanilla }
    }

    /// The parameter file of the fixture's circuit, made if there is none.
    pub fn parameters(&self) -> PathBuf {
        parameters(&self.public.circuit().unwrap())
    }

    pub fn decode(&self) -> Decoded {
        proofs::decode(&self.request, &self.vanilla, &AtomicBool::new(false)).unwrap()
    }

    /// Starts a proof.
    pub fn start(&self, engine: &Engine, tag: u64) -> Pending {
        self.parameters();
        let vanilla = Buf::copy_of("request", &self.vanilla).unwrap();
        let submission = Submission {
            source: Box::new(FilecoinSource::new(self.request.clone(), vanilla, engine.options())),
            priority: Priority::of_kind(self.kind),
            deadline: None,
            tag,
            key: tag,
            request_id: String::new(),
            fingerprint: 0,
        };
        engine.submit(submission).unwrap()
    }

    pub fn prove(&self, engine: &Engine) -> Result<Arc<[u8]>> {
        finish(&self.start(engine, 1))
    }

    /// Proves; this library's verifier and filecoin-proofs' accept, and refuse what `wrong` changes, flipped bytes, and other
    /// lengths.
    pub fn proves_and_verifies(&self, partitions: usize, wrong: &[Change]) {
        let engine = engine();
        let public = &self.public;
        let proof = self.prove(&engine).unwrap();
        assert_eq!(proof.len(), partitions * PROOF_BYTES);
        assert!(filecoin_verifies(public, &proof));
        engine.verify(public, &proof).unwrap();
        for (i, change) in wrong.iter().enumerate() {
            let mut other = public.clone();
            change(&mut other);
            assert!(!filecoin_verifies(&other, &proof), "{i}");
            assert_eq!(engine.verify(&other, &proof).unwrap_err().code, Code::ProofInvalid, "{i}");
        }
        let last = partitions.gt(&1).then_some(proof.len() - 1);
        for at in [0, 5, 47, 48, 100, 143, 144, 191].into_iter().chain(last) {
            let mut flipped = proof.to_vec();
            flipped[at] ^= 1;
            assert!(!filecoin_verifies(public, &flipped), "{at}");
            assert_eq!(engine.verify(public, &flipped).unwrap_err().code, Code::ProofInvalid, "{at}");
        }
        for wrong in [&proof[1..], &proof[..proof.len() - 1], &[], &[&proof[..], &proof[..]].concat()] {
            assert_eq!(engine.verify(public, wrong).unwrap_err().code, Code::ProofInvalid);
        }
    }
}

/// What a proof that is waited for gives.
pub fn finish(pending: &Pending) -> Result<Arc<[u8]>> {
    assert!(pending.wait(Some(Duration::from_secs(1800))));
    pending.outcome().unwrap()
}

pub fn engine() -> Engine {
    params_dir();
    Engine::new(Options::default()).unwrap()
}

/// filecoin-proofs' verdict. Some wrong bytes are an error there, not false.
pub fn filecoin_verifies(public: &Public, proof: &[u8]) -> bool {
    let number = public.registered_proof;
    let prover = prover_id(public.miner_id);
    let verdict = match public.kind {
        Kind::Porep => verify_seal(
            seal_from_number(number).unwrap(),
            public.comm_r,
            public.comm_d,
            prover,
            public.sector_number.into(),
            public.ticket,
            public.seed,
            proof,
        ),
        Kind::Snap => {
            let Public { comm_r_old, comm_r_new, comm_d_new, .. } = *public;
            let registered = update_from_number(number).unwrap();
            verify_empty_sector_update_proof(registered, proof, comm_r_old, comm_r_new, comm_d_new)
        }
        Kind::WindowPost | Kind::WinningPost => {
            let registered = post_from_number(number).unwrap();
            let sectors = public.sectors.iter();
            let replicas: BTreeMap<_, _> =
                sectors.map(|s| (s.sector_number.into(), PublicReplicaInfo::new(registered, s.comm_r))).collect();
            match public.kind {
                Kind::WinningPost => verify_winning_post(&public.randomness, proof, &replicas, prover),
                _ => verify_window_post(&public.randomness, &[(registered, proof)], &replicas, prover),
            }
        }
    };
    verdict.unwrap_or(false)
}
