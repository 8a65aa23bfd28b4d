//! Jobs of tiny circuits that wait and fail where a test wants, and an engine for them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{compiled, ours, SmallCircuit, Style};
use blstrs::Scalar;

use splitprove::circuit::{CompiledCircuit, Partition};
use splitprove::engine::{Engine, Options, ParamsRef, Pending, Priority, Source, Submission, Work};
use splitprove::error::{Code, Error, Result};
use splitprove::groth16::{verify, PROOF_BYTES};
use splitprove::memory::Room;
use splitprove::params::Params;
use splitprove::witness::assign;

/// What a test job does beside proving.
#[derive(Default)]
pub struct Script {
    /// Decoding waits for this.
    pub decode_gate: Option<Receiver<()>>,
    /// Says that decoding has begun.
    pub decoding: Option<Sender<()>>,
    pub decode: Option<fn() -> Result<()>>,
    /// Synthesis of each partition waits until this is set or it is cancelled.
    pub synthesis_gate: Option<Arc<AtomicBool>>,
    pub synthesis: Option<fn() -> Result<()>>,
    pub inputs: Option<fn(Vec<Scalar>) -> Vec<Scalar>>,
}

pub struct TestJob {
    pub circuits: Vec<SmallCircuit>,
    pub params: ParamsRef,
    pub script: Mutex<Script>,
    pub synthesised: Arc<AtomicUsize>,
    pub order: Option<(Arc<Mutex<Vec<u64>>>, u64)>,
}

impl Source for TestJob {
    fn bytes(&self) -> usize {
        1
    }

    fn decode(&self, _: &AtomicBool) -> Result<Box<dyn Work>> {
        let script = std::mem::take(&mut *self.script.lock().unwrap());
        if let Some(decoding) = &script.decoding {
            decoding.send(()).unwrap();
        }
        if let Some(gate) = &script.decode_gate {
            gate.recv().unwrap();
        }
        if let Some(f) = script.decode {
            f()?;
        }
        let Script { synthesis_gate, synthesis, inputs, .. } = script;
        Ok(Box::new(TestWork {
            circuits: self.circuits.clone(),
            params: self.params.clone(),
            synthesis_gate,
            synthesis,
            inputs,
            synthesised: self.synthesised.clone(),
            order: self.order.clone(),
        }))
    }
}

pub struct TestWork {
    circuits: Vec<SmallCircuit>,
    params: ParamsRef,
    synthesis_gate: Option<Arc<AtomicBool>>,
    synthesis: Option<fn() -> Result<()>>,
    inputs: Option<fn(Vec<Scalar>) -> Vec<Scalar>>,
    synthesised: Arc<AtomicUsize>,
    order: Option<(Arc<Mutex<Vec<u64>>>, u64)>,
}

impl Work for TestWork {
    fn bytes(&self) -> usize {
        1
    }

    fn partitions(&self) -> usize {
        self.circuits.len()
    }

    fn params(&self) -> ParamsRef {
        self.params.clone()
    }

    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        let inputs = self.circuits[k].public_inputs();
        Ok(match self.inputs {
            Some(f) => f(inputs),
            None => inputs,
        })
    }

    fn circuit(&self) -> Result<Arc<CompiledCircuit>> {
        Ok(compiled(&self.circuits[0]))
    }

    fn assign(
        &self,
        k: usize,
        circuit: &Arc<CompiledCircuit>,
        room: Room,
        cancelled: &AtomicBool,
    ) -> Result<Partition> {
        self.synthesised.fetch_add(1, Ordering::SeqCst);
        if let Some((order, tag)) = &self.order {
            order.lock().unwrap().push(*tag);
        }
        if let Some(gate) = &self.synthesis_gate {
            while !gate.load(Ordering::SeqCst) {
                if cancelled.load(Ordering::SeqCst) {
                    return Err(Error::cancelled());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        if let Some(f) = self.synthesis {
            f()?;
        }
        assign(self.circuits[k].clone(), circuit, room, cancelled)
    }
}

pub struct Bench {
    pub engine: Engine,
    pub circuit: SmallCircuit,
    pub params: Arc<Params>,
    pub synthesised: Arc<AtomicUsize>,
    pub next_key: AtomicUsize,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Options { cpu_threads: 2, synthesis_threads: 1, ..Options::default() })
    }

    pub fn with(options: Options) -> Self {
        let circuit = SmallCircuit::new(Style::Sparse, 3, 200, 5);
        let params = Arc::new(ours(&circuit.parameters()));
        Bench {
            engine: Engine::new(options).unwrap(),
            circuit,
            params,
            synthesised: Arc::default(),
            next_key: AtomicUsize::new(1),
        }
    }

    pub fn submission(&self, partitions: usize, script: Script) -> Submission {
        let circuits =
            (0..partitions).map(|k| SmallCircuit { values: 100 + k as u64, ..self.circuit.clone() }).collect();
        Submission {
            source: Box::new(TestJob {
                circuits,
                params: ParamsRef::Loaded(self.params.clone()),
                script: Mutex::new(script),
                synthesised: self.synthesised.clone(),
                order: None,
            }),
            priority: Priority::Normal,
            deadline: None,
            tag: 0,
            key: self.next_key.fetch_add(1, Ordering::SeqCst) as u64,
            request_id: String::new(),
            fingerprint: 0,
        }
    }

    pub fn start(&self, partitions: usize, script: Script) -> Pending {
        self.engine.submit(self.submission(partitions, script)).unwrap()
    }

    pub fn verify(&self, bytes: &[u8]) {
        for (k, proof) in bytes.chunks(PROOF_BYTES).enumerate() {
            let circuit = SmallCircuit { values: 100 + k as u64, ..self.circuit.clone() };
            verify(&self.params.vk, proof, &circuit.public_inputs()).unwrap();
        }
    }

    /// A plain job goes through after whatever has happened.
    pub fn still_works(&self) {
        let pending = self.start(1, Script::default());
        self.verify(&result(&pending).unwrap());
    }
}

pub fn result(pending: &Pending) -> Result<Arc<[u8]>> {
    assert!(pending.wait(Some(Duration::from_secs(60))), "no outcome in a minute");
    pending.outcome().unwrap()
}

pub fn code(pending: &Pending) -> Code {
    result(pending).unwrap_err().code
}

pub fn gate() -> Arc<AtomicBool> {
    Arc::default()
}

pub fn until(what: &str, mut f: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !f() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen in a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}
