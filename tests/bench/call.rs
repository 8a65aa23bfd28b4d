//! A proof from call to bytes, parameters resident, against bellperson's prover: `make bench-winning`.
//!
//! Ours is what a caller waits for: a request with vanilla proofs in bytes goes into an engine that holds the parameters, and
//! its proof's bytes come out, checked against the verifying key as always. Theirs decodes the same bytes with this
//! library's decoder, builds the partitions' circuits, and has bellperson prove them with parameters loaded; it checks
//! nothing. Runs alternate, so that what else the machine does meets both. The last two lines are the medians and their ratio.
//!
//! `bench_call KIND PUBLIC.json VANILLA… [--runs RUNS]`, with parameters in `FIL_PROOFS_PARAMETER_CACHE`.

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bellpepper_core::Circuit;
use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use splitprove::engine::{params_path, Engine, FilecoinSource, Options, Priority, Submission};
use splitprove::memory::Buf;
use splitprove::proofs::{self, public_json, CircuitVisitor, Kind, Public, Request};

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Bellperson<'a>(&'a groth16::Parameters<Bls12>);

impl CircuitVisitor for Bellperson<'_> {
    type Output = Outcome<Vec<u8>>;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        groth16::create_random_proof(circuit, self.0, &mut rand::rngs::OsRng)?.write(&mut bytes)?;
        Ok(bytes)
    }
}

/// What is to be proved.
struct Input {
    request: Request,
    public: Public,
    vanilla: Vec<u8>,
}

impl Input {
    fn read(kind: &str, public: &str, vanilla: &[String]) -> Outcome<Self> {
        let (kind, json): (Kind, _) = (kind.parse()?, fs::read(public)?);
        let pieces: Vec<Vec<u8>> = vanilla.iter().map(fs::read).collect::<Result<_, _>>()?;
        let mut request = public_json::request_from_json(kind, &json)?;
        request.vanilla_lens = pieces.iter().map(|p| p.len() as u64).collect();
        Ok(Input { request, public: public_json::public_from_json(kind, &json)?, vanilla: pieces.concat() })
    }

    fn theirs(&self, params: &groth16::Parameters<Bls12>) -> Outcome<Vec<u8>> {
        let decoded = proofs::decode(&self.request, &self.vanilla, &AtomicBool::new(false))?;
        let mut proof = Vec::new();
        for k in 0..decoded.partitions() {
            proof.extend(decoded.with_circuit(k, Bellperson(params))??);
        }
        Ok(proof)
    }

    fn ours(&self, engine: &Engine) -> Outcome<Vec<u8>> {
        let source =
            FilecoinSource::new(self.request.clone(), Buf::copy_of("request", &self.vanilla)?, engine.options());
        let pending = engine.submit(Submission {
            source: Box::new(source),
            priority: Priority::of_kind(self.request.kind),
            deadline: None,
            tag: 0,
            key: 1,
            request_id: String::new(),
            fingerprint: 0,
        })?;
        pending.wait(None);
        Ok(pending.outcome().ok_or("a proof that is over has no outcome")??.to_vec())
    }
}

fn timed<T>(f: impl FnOnce() -> Outcome<T>) -> Outcome<(f64, T)> {
    let begun = Instant::now();
    let value = f()?;
    Ok((begun.elapsed().as_secs_f64(), value))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Outcome<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut runs = 9;
    if let Some(at) = args.iter().position(|a| a == "--runs").filter(|at| at + 1 < args.len()) {
        runs = args.drain(at..at + 2).nth(1).unwrap_or_default().parse::<usize>()?.max(1);
    }
    let [kind, public, vanilla @ ..] = args.as_slice() else {
        return Err("usage: bench_call KIND PUBLIC.json VANILLA… [--runs RUNS]".into());
    };
    let input = Input::read(kind, public, vanilla)?;
    let circuit = input.public.circuit()?;
    let engine = Engine::new(Options::default())?;
    engine.load_params(&circuit, 0, 0)?.wait(None);
    let path = params_path(engine.params_dir(), &circuit)?;
    let params = groth16::Parameters::<Bls12>::read(BufReader::new(File::open(path)?), false)?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("{circuit}, call to bytes, {cores} cores; {runs} runs of each after one that does not count");

    let (mut bellperson, mut splitprove) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let (theirs, proof) = timed(|| input.theirs(&params))?;
        engine.verify(&input.public, &proof)?;
        let (ours, proof) = timed(|| input.ours(&engine))?;
        engine.verify(&input.public, &proof)?;
        println!("run {run}: bellperson {theirs:.3} s  splitprove {ours:.3} s");
        if run > 0 {
            bellperson.push(theirs);
            splitprove.push(ours);
        }
    }
    let (bellperson, splitprove) = (median(bellperson), median(splitprove));
    println!("bellperson {bellperson:.3} s  splitprove {splitprove:.3} s");
    println!("ratio {:.2}", bellperson / splitprove);
    Ok(())
}
