//! `make bench-cpu`: our CPU prover against bellperson's on PoRep 2 KiB, in one process, pair by pair.
//!
//! From circuit to proof bytes; parameters are loaded and self-checks off on both sides; both use every core. The last
//! two lines are the medians and their ratio. `PAIRS` (default 5) in the environment sets the number of pairs.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Instant;

use bellpepper_core::Circuit;
use bellperson::groth16::{self, Parameters};
use blstrs::{Bls12, Scalar};
use rand::rngs::OsRng;

use splitprove::engine::{params_path, Options};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{verify, Backend, Blinding};
use splitprove::params::{self, Params};
use splitprove::proofs::public_json::request_from_json;
use splitprove::proofs::{decode, CircuitVisitor, Decoded, Kind, Request};
use splitprove::telemetry::Control;
use splitprove::witness::synthesize;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Seconds and the proof's bytes.
type Run = Result<(f64, Vec<u8>), AnyError>;

struct Ours<'a>(&'a Arc<Params>, &'a rayon::ThreadPool);

impl CircuitVisitor for Ours<'_> {
    type Output = Run;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Run {
        let Ours(params, pool) = self;
        let begun = Instant::now();
        let mut bytes = Vec::new();
        let mut split = [0.0; 3];
        pool.install(|| -> Result<(), AnyError> {
            let backend = CpuBackend::new();
            let partition = synthesize(circuit, &params.shape(), &AtomicBool::new(false))?;
            split[0] = begun.elapsed().as_secs_f64();
            let started = backend.start(params, partition, Control::NONE)?;
            split[1] = begun.elapsed().as_secs_f64();
            backend.finish(started, &Blinding::random()?, Control::NONE)?.write(&mut bytes)?;
            split[2] = begun.elapsed().as_secs_f64();
            Ok(())
        })?;
        let [witness, device, finish] = [split[0], split[1] - split[0], split[2] - split[1]];
        println!("  splitprove: synthesis {witness:.2} s, h {device:.2} s, l, a, b {finish:.2} s");
        Ok((begun.elapsed().as_secs_f64(), bytes))
    }
}

struct Theirs<'a>(&'a Parameters<Bls12>);

impl CircuitVisitor for Theirs<'_> {
    type Output = Run;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Run {
        let begun = Instant::now();
        let mut bytes = Vec::new();
        let proofs = groth16::create_random_proof_batch(vec![circuit], self.0, &mut OsRng)?;
        proofs[0].write(&mut bytes)?;
        Ok((begun.elapsed().as_secs_f64(), bytes))
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len().is_multiple_of(2) {
        (times[middle - 1] + times[middle]) / 2.0
    } else {
        times[middle]
    }
}

fn input(data: &Path) -> Result<(Request, Decoded), AnyError> {
    let public = std::fs::read(data.join("public.json"))?;
    let c1 = std::fs::read(data.join("c1.json"))?;
    let mut request = request_from_json(Kind::Porep, &public)?;
    request.vanilla_lens = vec![c1.len() as u64];
    let decoded = decode(&request, &c1)?;
    Ok((request, decoded))
}

fn main() -> Result<(), AnyError> {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/porep-2k");
    let pairs: usize = std::env::var("PAIRS").ok().and_then(|p| p.parse().ok()).unwrap_or(5);
    let (_, decoded) = input(&data)?;
    let inputs = decoded.public_inputs(0)?;
    let path = params_path(&Options::default().params_dir, &decoded.circuit())?;
    let cores = std::thread::available_parallelism()?.get();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build()?;

    let begun = Instant::now();
    let ours = Arc::new(pool.install(|| params::read(&path, Control::NONE))?);
    println!(
        "splitprove read the parameters, every point checked on its curve, in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    let theirs = Parameters::<Bls12>::read(std::io::BufReader::new(std::fs::File::open(&path)?), false)?;
    println!("bellperson read the parameters, unchecked, in {:.1} s", begun.elapsed().as_secs_f64());

    let (mut a, mut b) = (Vec::new(), Vec::new());
    for pair in 1..=pairs {
        println!("pair {pair} of {pairs}");
        let (seconds, proof) = decoded.with_circuit(0, Theirs(&theirs))??;
        verify(&ours.vk, &proof, &inputs)?;
        println!("  bellperson: {seconds:.2} s");
        a.push(seconds);
        let (seconds, proof) = decoded.with_circuit(0, Ours(&ours, &pool))??;
        verify(&ours.vk, &proof, &inputs)?;
        println!("  splitprove: {seconds:.2} s");
        b.push(seconds);
    }
    let (theirs, ours) = (median(a), median(b));
    println!("bellperson {theirs:.2} s  splitprove {ours:.2} s");
    println!("ratio {:.2}", theirs / ours);
    Ok(())
}
