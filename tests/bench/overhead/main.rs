//! What the engine itself costs, beside the proofs it makes: the parts of `make overhead`, each one run.
//!
//! * `tiny JOBS`: proofs of a tiny circuit, one partition each, one after the other. Under callgrind.
//! * `traced JOBS`: the same with a timeline being written, which `report` must be able to tell apart.
//! * `emit RECORDS`: debug records as the engine makes them, each taken by a callback before the next. Under callgrind.
//! * `records PUBLIC.json C1.json`: a whole proof with a debug log; prints how many records came.
//! * `synthesis PUBLIC.json C1.json`: the synthesis of a real partition, inside the function [`real_synthesis`].
//! * `report FEW FEW_JOBS MANY MANY_JOBS`: instructions a job, from what callgrind wrote of two runs of `tiny`.
//! * `total FILE`: instructions callgrind collected.

mod callgrind;
#[path = "../../common/mod.rs"]
mod common;

use std::error::Error;
use std::ffi::c_void;
use std::fs;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use common::{compiled, ours, SmallCircuit, Style};
use splitprove::capi::{prover_log_record, prover_set_log, PROVER_LOG_DEBUG, PROVER_OK};
use splitprove::circuit::compiled::Circuits;
use splitprove::circuit::{CompiledCircuit, Partition};
use splitprove::engine::{
    compiled_circuit, Engine, FilecoinSource, Options, ParamsRef, Priority, Source, Submission, Work,
};
use splitprove::memory::{Buf, Room};
use splitprove::proofs::{self, public_json, CircuitVisitor, Kind};
use splitprove::telemetry::Control;
use splitprove::witness::assign;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A request of one partition of a tiny circuit.
#[derive(Clone)]
struct Tiny {
    circuit: SmallCircuit,
    compiled: Arc<CompiledCircuit>,
    params: ParamsRef,
}

impl Source for Tiny {
    fn bytes(&self) -> usize {
        64
    }

    fn decode(&self, _: &AtomicBool) -> splitprove::error::Result<Box<dyn Work>> {
        Ok(Box::new(self.clone()))
    }
}

impl Work for Tiny {
    fn bytes(&self) -> usize {
        64
    }

    fn partitions(&self) -> usize {
        1
    }

    fn params(&self) -> ParamsRef {
        self.params.clone()
    }

    fn public_inputs(&self, _: usize) -> splitprove::error::Result<Vec<Scalar>> {
        Ok(self.circuit.public_inputs())
    }

    fn circuit(&self) -> splitprove::error::Result<Arc<CompiledCircuit>> {
        Ok(self.compiled.clone())
    }

    fn assign(
        &self,
        _: usize,
        circuit: &Arc<CompiledCircuit>,
        room: Room,
        cancelled: &AtomicBool,
    ) -> splitprove::error::Result<Partition> {
        assign(self.circuit.clone(), circuit, room, cancelled)
    }
}

fn submission(source: Box<dyn Source>, key: u64) -> Submission {
    Submission {
        source,
        priority: Priority::Normal,
        deadline: None,
        tag: 0,
        key,
        request_id: String::new(),
        fingerprint: 0,
    }
}

fn tiny(jobs: u64, trace: bool) -> Outcome<()> {
    let circuit = SmallCircuit::new(Style::Sparse, 1, 8, 5);
    let params = ParamsRef::Loaded(Arc::new(ours(&circuit.parameters())));
    let compiled = compiled(&circuit);
    let engine = Engine::new(Options { cpu_threads: 1, synthesis_threads: 1, no_gpu: true, ..Options::default() })?;
    let file = std::env::temp_dir().join(format!("splitprove-overhead-{}.json", std::process::id()));
    if trace {
        engine.start_trace(&file)?;
    }
    let mut made = 0;
    for key in 1..=jobs {
        let source = Tiny { circuit: circuit.clone(), compiled: compiled.clone(), params: params.clone() };
        let pending = engine.submit(submission(Box::new(source), key))?;
        pending.wait(None);
        made += pending.outcome().ok_or("no outcome")??.len();
    }
    if trace {
        engine.stop_trace()?;
        fs::remove_file(&file)?;
    }
    println!("{jobs} jobs, {made} bytes of proofs");
    Ok(())
}

static RECORDS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn count(_: *mut c_void, _: *const prover_log_record) {
    RECORDS.fetch_add(1, Ordering::Relaxed);
}

/// Runs `f` with a debug log; prints how many records came meanwhile.
fn logged(f: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    // SAFETY: the function takes any userdata.
    let status = unsafe { prover_set_log(PROVER_LOG_DEBUG, Some(count), ptr::null_mut()) };
    if status != PROVER_OK {
        return Err("no log".into());
    }
    let outcome = f();
    // SAFETY: no function, nothing to promise.
    unsafe { prover_set_log(0, None, ptr::null_mut()) };
    println!("records {}", RECORDS.load(Ordering::Relaxed));
    outcome
}

/// As the engine says that a proof is done.
fn emit(records: u64) -> Outcome<()> {
    let before = RECORDS.load(Ordering::Relaxed);
    for ticket in 1..=records {
        tracing::debug!(target: "splitprove::engine::core", ticket, "proof done");
        while RECORDS.load(Ordering::Relaxed) < before + ticket {
            thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(())
}

fn request(public: &str, c1: &str) -> Outcome<(proofs::Request, Vec<u8>)> {
    let c1 = fs::read(c1)?;
    let mut request = public_json::request_from_json(Kind::Porep, &fs::read(public)?)?;
    request.vanilla_lens = vec![c1.len() as u64];
    Ok((request, c1))
}

fn whole_proof(public: &str, c1: &str) -> Outcome<()> {
    let (request, c1) = request(public, c1)?;
    let options = Options { no_gpu: true, ..Options::default() };
    let source = FilecoinSource::new(request, Buf::copy_of("vanilla", &c1)?, &options);
    let engine = Engine::new(options)?;
    let pending = engine.submit(submission(Box::new(source), 1))?;
    pending.wait(None);
    pending.outcome().ok_or("no outcome")??;
    Ok(())
}

struct Values<'a>(&'a Arc<CompiledCircuit>);

impl CircuitVisitor for Values<'_> {
    type Output = splitprove::error::Result<Partition>;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        assign(circuit, self.0, Room::default(), &AtomicBool::new(false))
    }
}

/// What callgrind collects of `synthesis`.
#[no_mangle]
#[inline(never)]
extern "Rust" fn real_synthesis(
    decoded: &proofs::Decoded,
    circuit: &Arc<CompiledCircuit>,
) -> splitprove::error::Result<Partition> {
    decoded.with_circuit(0, Values(circuit))?
}

fn synthesis(public: &str, c1: &str) -> Outcome<()> {
    let (request, c1) = request(public, c1)?;
    let decoded = proofs::decode(&request, &c1, &AtomicBool::new(false))?;
    let circuits = Circuits::shared(&Options::default().circuit_cache_dir);
    let circuit = compiled_circuit(&circuits, &decoded.circuit(), Control::NONE)?;
    let partition = real_synthesis(&decoded, &circuit)?;
    println!("{} variables", partition.aux.len());
    Ok(())
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["tiny", jobs] => tiny(jobs.parse()?, false),
        ["traced", jobs] => tiny(jobs.parse()?, true),
        ["emit", records] => logged(|| emit(records.parse()?)),
        ["records", public, c1] => logged(|| whole_proof(public, c1)),
        ["synthesis", public, c1] => synthesis(public, c1),
        ["report", few, few_jobs, many, many_jobs] => {
            let jobs = many_jobs.parse::<u64>()?.checked_sub(few_jobs.parse()?).filter(|n| *n > 0);
            callgrind::report(few, many, jobs.ok_or("MANY_JOBS is no more than FEW_JOBS")?)
        }
        ["total", file] => {
            println!("{}", callgrind::Profile::read(file)?.total);
            Ok(())
        }
        _ => Err("usage: see the top of tests/bench/overhead/main.rs".into()),
    }
}
