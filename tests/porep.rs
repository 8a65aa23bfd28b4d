//! Real PoRep proofs from the fixtures: filecoin-proofs' own verifier accepts them, bellperson's prover makes the same
//! bytes at the same r and s.
//!
//! Development parameters are made where `FIL_PROOFS_PARAMETER_CACHE` (else the user's cache) has none: half a minute and
//! a gigabyte of disk a circuit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bellpepper_core::Circuit;
use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use ff::{Field, PrimeField};
use filecoin_proofs_api::seal::verify_seal;
use filecoin_proofs_api::RegisteredSealProof;
use rand::rngs::StdRng;
use rand::SeedableRng;
use serde_json::Value;

use splitprove::engine::{params_path, Engine, FilecoinSource, Options, Priority, Submission};
use splitprove::error::{Code, Result};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{Backend, Blinding, PROOF_BYTES};
use splitprove::memory::{Buf, Room};
use splitprove::params;
use splitprove::proofs::public_json::{public_from_json, request_from_json};
use splitprove::proofs::{decode, CircuitId, CircuitVisitor, Kind};
use splitprove::telemetry::{Class, Control};
use splitprove::witness::synthesize;

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
fn parameters(circuit: &str) -> PathBuf {
    let dir = params_dir();
    fs::create_dir_all(&dir).unwrap();
    let circuit: CircuitId = circuit.parse().unwrap();
    let path = params_path(&dir, &circuit).unwrap();
    if !path.exists() {
        // Another test may make them at the same time; whoever is second finds them there.
        if let Err(e) = params::generate(&circuit, &dir, Control::NONE) {
            assert!(path.exists(), "{e}");
        }
    }
    path
}

struct Fixture {
    dir: PathBuf,
    public: Vec<u8>,
    json: Value,
}

impl Fixture {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let public = fs::read(dir.join("public.json")).unwrap();
        let json = serde_json::from_slice(&public).unwrap();
        Fixture { dir, public, json }
    }

    fn bytes32(&self, key: &str) -> [u8; 32] {
        hex::decode(self.json[key].as_str().unwrap()).unwrap().try_into().unwrap()
    }

    fn prove(&self, engine: &Engine, input: &str) -> Result<Arc<[u8]>> {
        let c1 = fs::read(self.dir.join(input)).unwrap();
        let mut request = request_from_json(Kind::Porep, &self.public).unwrap();
        request.vanilla_lens = vec![c1.len() as u64];
        let source = FilecoinSource::new(request, Buf::copy_of("request", &c1).unwrap(), engine.options());
        let pending = engine.submit(Submission {
            source: Box::new(source),
            priority: Priority::Normal,
            deadline: None,
            tag: 0,
            key: 1,
            request_id: String::new(),
            fingerprint: 0,
        })?;
        assert!(pending.wait(Some(Duration::from_secs(1800))));
        pending.outcome().unwrap()
    }

    /// filecoin-proofs' verdict. Some wrong bytes are an error there, not false.
    fn verify_seal(&self, proof: &[u8], seed: [u8; 32]) -> bool {
        let registered: RegisteredSealProof =
            serde_json::from_value(self.json["registered_seal_proof"].clone()).unwrap();
        verify_seal(
            registered,
            self.bytes32("comm_r"),
            self.bytes32("comm_d"),
            self.bytes32("prover_id"),
            self.json["sector_id"].as_u64().unwrap().into(),
            self.bytes32("ticket"),
            seed,
            proof,
        )
        .unwrap_or(false)
    }

    /// Proves from each input; both verifiers accept, and refuse another seed and a flipped byte.
    fn proves_and_verifies(&self, inputs: &[&str]) {
        let engine = Engine::new(Options::default()).unwrap();
        let public = public_from_json(Kind::Porep, &self.public).unwrap();
        for input in inputs {
            let proof = self.prove(&engine, input).unwrap();
            assert_eq!(proof.len(), PROOF_BYTES);
            assert!(self.verify_seal(&proof, self.bytes32("seed")), "{input}");
            engine.verify(&public, &proof).unwrap();

            let mut other = public.clone();
            other.seed[0] ^= 1;
            assert!(!self.verify_seal(&proof, other.seed));
            assert_eq!(engine.verify(&other, &proof).unwrap_err().code, Code::ProofInvalid);
            let mut other = public.clone();
            other.miner_id += 1;
            assert_eq!(engine.verify(&other, &proof).unwrap_err().code, Code::ProofInvalid);
            for at in [0, 5, 47, 48, 100, 143, 144, 191] {
                let mut flipped = proof.to_vec();
                flipped[at] ^= 1;
                assert!(!self.verify_seal(&flipped, self.bytes32("seed")), "{at}");
                assert_eq!(engine.verify(&public, &flipped).unwrap_err().code, Code::ProofInvalid, "{at}");
            }
        }
    }
}

#[test]
fn porep_2k_verifies_with_filecoin_proofs() {
    parameters("porep-2KiB");
    Fixture::new("porep-2k").proves_and_verifies(&["c1.json", "c1.lotus-bench.json"]);
}

#[test]
fn porep_8m_verifies_with_filecoin_proofs() {
    parameters("porep-8MiB");
    Fixture::new("porep-8m").proves_and_verifies(&["c1.json"]);
}

#[test]
fn every_noninteractive_partition_verifies() {
    let path = parameters("porep-2KiB");
    let fixture = Fixture::new("porep-2k-noninteractive");
    let engine = Engine::new(Options::default()).unwrap();
    let proofs = fixture.prove(&engine, "c1.json").unwrap();
    let listed = fixture.json["public_inputs_le_hex"].as_array().unwrap();
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
    engine.verify(&public_from_json(Kind::Porep, &fixture.public).unwrap(), &proofs).unwrap();
}

#[test]
fn bytes_equal_bellperson_on_porep_2k() {
    struct Theirs<'a>(&'a Path, [Scalar; 2]);
    impl CircuitVisitor for Theirs<'_> {
        type Output = Vec<u8>;
        fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Vec<u8> {
            let Theirs(path, [r, s]) = self;
            let params = groth16::Parameters::<Bls12>::build_mapped_parameters(path.into(), false).unwrap();
            let mut bytes = vec![];
            groth16::create_proof(circuit, &params, r, s).unwrap().write(&mut bytes).unwrap();
            bytes
        }
    }
    struct Ours<'a>(&'a Path, [Scalar; 2]);
    impl CircuitVisitor for Ours<'_> {
        type Output = Vec<u8>;
        fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Vec<u8> {
            let Ours(path, [r, s]) = self;
            let params = Arc::new(params::read(path, Control::NONE).unwrap());
            let partition = synthesize(circuit, &params.shape(), Room::default(), &AtomicBool::new(false)).unwrap();
            let backend = CpuBackend::new();
            let started = backend.start(&params, partition, Control::NONE).unwrap();
            let mut bytes = vec![];
            backend.finish(started, &Blinding::fixed(r, s), Control::NONE).unwrap().write(&mut bytes).unwrap();
            bytes
        }
    }
    let path = parameters("porep-2KiB");
    let fixture = Fixture::new("porep-2k");
    let c1 = fs::read(fixture.dir.join("c1.json")).unwrap();
    let mut request = request_from_json(Kind::Porep, &fixture.public).unwrap();
    request.vanilla_lens = vec![c1.len() as u64];
    let decoded = decode(&request, &c1, &AtomicBool::new(false)).unwrap();
    let mut rng = StdRng::seed_from_u64(7);
    let blinding = [Scalar::random(&mut rng), Scalar::random(&mut rng)];
    let ours = decoded.with_circuit(0, Ours(&path, blinding)).unwrap();
    let theirs = decoded.with_circuit(0, Theirs(&path, blinding)).unwrap();
    assert_eq!(ours, theirs);
}

/// Resident bytes of this process.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap() * 1024.0
}

#[test]
fn parameters_are_loaded_ahead_once_and_let_go() {
    let path = parameters("porep-2KiB");
    let bytes = params::read_layout(&path).unwrap().memory_bytes();
    let circuit: CircuitId = "porep-2KiB".parse().unwrap();
    let engine = Engine::new(Options::default()).unwrap();
    assert_eq!(engine.evict_params(&circuit).unwrap(), 0);
    let before = resident();

    // Two ask at once: one load serves both, and its progress can be seen.
    let loads = [engine.load_params(&circuit, 1, 0).unwrap(), engine.load_params(&circuit, 2, 0).unwrap()];
    let mut seen = 0;
    while !loads.iter().all(|l| l.is_done()) {
        seen = seen.max(loads[0].progress().permille);
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
    let held = engine.accounts().buffers.stats(Class::Params, None);
    assert_eq!((held.count, held.peak_count, held.bytes), (5, 5, bytes));
    assert!(resident() > before + bytes as f64 * 0.9);

    // The first proof loads nothing.
    let fixture = Fixture::new("porep-2k");
    assert!(fixture.verify_seal(&fixture.prove(&engine, "c1.json").unwrap(), fixture.bytes32("seed")));
    assert_eq!(engine.accounts().buffers.stats(Class::Params, None).peak_count, 5);

    assert_eq!(engine.evict_params(&circuit).unwrap(), bytes);
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
