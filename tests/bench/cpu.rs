//! This library's CPU prover against bellperson's, on one partition of a real 2 KiB PoRep: `make bench-cpu`.
//!
//! Timed is the way from circuit to proof bytes, with parameters loaded and no self-check on either side, both on all cores.
//! Runs alternate, so that what else the machine does meets both. The last two lines are the medians and their ratio.
//!
//! `bench_cpu PUBLIC.json C1.json [RUNS]`, with parameters in `FIL_PROOFS_PARAMETER_CACHE`.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Instant;

use bellpepper_core::Circuit;
use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use splitprove::circuit::compiled::Circuits;
use splitprove::circuit::CompiledCircuit;
use splitprove::engine::{compiled_circuit, params_path, Options};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{verify, Backend, Blinding};
use splitprove::params::{self, Params};
use splitprove::proofs::{self, public_json, CircuitVisitor, Kind};
use splitprove::telemetry::Control;
use splitprove::witness;

type Outcome = Result<(f64, Vec<u8>), Box<dyn Error>>;

struct Bellperson<'a>(&'a groth16::Parameters<Bls12>);

impl CircuitVisitor for Bellperson<'_> {
    type Output = Outcome;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Outcome {
        let begun = Instant::now();
        let proof = groth16::create_random_proof(circuit, self.0, &mut rand::rngs::OsRng)?;
        let mut bytes = Vec::new();
        proof.write(&mut bytes)?;
        Ok((begun.elapsed().as_secs_f64(), bytes))
    }
}

struct Splitprove<'a>(&'a Arc<Params>, &'a Arc<CompiledCircuit>);

impl CircuitVisitor for Splitprove<'_> {
    type Output = Outcome;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Outcome {
        let begun = Instant::now();
        let backend = CpuBackend::new();
        let room = splitprove::memory::Room::default();
        let partition = witness::assign(circuit, self.1, room, &AtomicBool::new(false))?;
        let synthesis = begun.elapsed().as_secs_f64();
        let started = backend.start(self.0, partition, Control::NONE)?;
        let start = begun.elapsed().as_secs_f64() - synthesis;
        let proof = backend.finish(started, &Blinding::random()?, Control::NONE)?;
        let mut bytes = Vec::new();
        proof.write(&mut bytes)?;
        let all = begun.elapsed().as_secs_f64();
        println!("  witness {synthesis:.2} s, h {start:.2} s, l a b {:.2} s", all - synthesis - start);
        Ok((all, bytes))
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (public, c1, runs) = match args.as_slice() {
        [public, c1] => (public, c1, 5),
        [public, c1, runs] => (public, c1, runs.parse::<usize>()?.max(1)),
        _ => return Err("usage: bench_cpu PUBLIC.json C1.json [RUNS]".into()),
    };
    let c1 = fs::read(c1)?;
    let mut request = public_json::request_from_json(Kind::Porep, &fs::read(public)?)?;
    request.vanilla_lens = vec![c1.len() as u64];
    let decoded = proofs::decode(&request, &c1, &AtomicBool::new(false))?;
    let path = params_path(&Options::default().params_dir, &decoded.circuit())?;
    let begun = Instant::now();
    let ours = Arc::new(params::read(&path, Control::NONE)?);
    let read = begun.elapsed().as_secs_f64();
    let theirs = groth16::Parameters::<Bls12>::read(BufReader::new(File::open(&path)?), false)?;
    println!(
        "parameters read: splitprove {read:.1} s (checked on the curve), bellperson {:.1} s (unchecked)",
        begun.elapsed().as_secs_f64() - read
    );
    let inputs = decoded.public_inputs(0)?;
    let circuits = Circuits::shared(&Options::default().circuit_cache_dir);
    let compiled = compiled_circuit(&circuits, &decoded.circuit(), Control::NONE)?;
    println!(
        "one partition of {}: domain {}, {} variables; {} threads; {runs} runs of each after one that does not count",
        decoded.circuit(),
        ours.h.len() + 1,
        ours.l.len(),
        rayon::current_num_threads(),
    );

    let (mut bellperson, mut splitprove) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let (theirs, proof) = decoded.with_circuit(0, Bellperson(&theirs))??;
        verify(&ours.vk, &proof, &inputs)?;
        let (ours, proof) = {
            let timed = decoded.with_circuit(0, Splitprove(&ours, &compiled))??;
            verify(&ours.vk, &timed.1, &inputs)?;
            timed
        };
        drop(proof);
        println!("run {run}: bellperson {theirs:.2} s  splitprove {ours:.2} s");
        if run > 0 {
            bellperson.push(theirs);
            splitprove.push(ours);
        }
    }
    let (bellperson, splitprove) = (median(bellperson), median(splitprove));
    println!("bellperson {bellperson:.2} s  splitprove {splitprove:.2} s");
    println!("ratio {:.2}", bellperson / splitprove);
    Ok(())
}
