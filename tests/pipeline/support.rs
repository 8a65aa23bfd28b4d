//! Jobs and backends that wait, fail or panic where a test wants.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar};

use splitprove::circuit::{CompiledCircuit, Partition, Sizes};
use splitprove::engine::{Engine, Options, ParamsRef, Pending, Priority, Source, Submission, Work};
use splitprove::error::{Error, Result};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{verify, Backend, Blinding, Started, PROOF_BYTES};
use splitprove::memory::Room;
use splitprove::params::Params;
use splitprove::telemetry::{Class, Control, Stage};
use splitprove::witness::assign;

use crate::common::{compiled, ours, SmallCircuit, Style};

/// Places on a job's way where something can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Decode,
    BeforeSynthesis,
    AfterSynthesis,
    PublicInputs,
    BeforeStart,
    AfterStart,
    BeforeFinish,
    AfterFinish,
}

impl Place {
    pub const ALL: [Place; 8] = [
        Place::Decode,
        Place::BeforeSynthesis,
        Place::AfterSynthesis,
        Place::PublicInputs,
        Place::BeforeStart,
        Place::AfterStart,
        Place::BeforeFinish,
        Place::AfterFinish,
    ];
}

/// What happens at a place.
#[derive(Clone, Debug)]
pub enum Deed {
    Fail,
    Panic,
    PanicString,
    /// Waits until the flag is set; with `heed`, or the work is cancelled.
    Wait {
        flag: Arc<AtomicBool>,
        heed: bool,
    },
    Sleep(Duration),
}

/// A deed at a place, and how often the place was reached.
#[derive(Clone, Default)]
pub struct Plot {
    deed: Arc<Mutex<Option<(Place, Deed)>>>,
    reached: Arc<AtomicUsize>,
}

impl Plot {
    pub fn at(place: Place, deed: Deed) -> Self {
        Plot { deed: Arc::new(Mutex::new(Some((place, deed)))), reached: Arc::default() }
    }

    /// For a backend, which all jobs share: what happens next.
    pub fn set(&self, deed: Option<(Place, Deed)>) {
        *self.deed.lock().unwrap() = deed;
    }

    pub fn reached(&self) -> usize {
        self.reached.load(Ordering::SeqCst)
    }

    fn pass(&self, place: Place, cancelled: &AtomicBool) -> Result<()> {
        let deed = self.deed.lock().unwrap().clone();
        let Some((at, deed)) = deed.filter(|(at, _)| *at == place) else { return Ok(()) };
        self.reached.fetch_add(1, Ordering::SeqCst);
        match deed {
            Deed::Fail => Err(Error::internal(format!("failed at {at:?}"))),
            Deed::Panic => panic!("a str at a place"),
            Deed::PanicString => panic!("a String at {at:?}"),
            Deed::Wait { flag, heed } => {
                while !flag.load(Ordering::SeqCst) {
                    if heed && cancelled.load(Ordering::SeqCst) {
                        return Err(Error::cancelled());
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            }
            Deed::Sleep(time) => {
                std::thread::sleep(time);
                Ok(())
            }
        }
    }
}

pub fn held_at(place: Place) -> (Plot, Arc<AtomicBool>) {
    let flag = Arc::new(AtomicBool::new(false));
    (Plot::at(place, Deed::Wait { flag: flag.clone(), heed: true }), flag)
}

/// The CPU backend with a plot; on a device of its own kind when `beside`.
pub struct Staged {
    inner: CpuBackend,
    pub plot: Plot,
    pub beside: bool,
}

impl Backend for Staged {
    fn name(&self) -> String {
        "staged".into()
    }

    fn device(&self) -> i32 {
        self.inner.device()
    }

    fn start_bytes(&self, sizes: &Sizes) -> u64 {
        self.inner.start_bytes(sizes)
    }

    fn scratch_bytes(&self, sizes: &Sizes) -> u64 {
        self.inner.scratch_bytes(sizes)
    }

    fn finishes_beside(&self) -> bool {
        self.beside
    }

    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started> {
        self.plot.pass(Place::BeforeStart, control.cancelled)?;
        let started = self.inner.start(params, partition, control)?;
        self.plot.pass(Place::AfterStart, control.cancelled)?;
        Ok(started)
    }

    fn finish(&self, started: Started, blinding: &Blinding, control: Control<'_>) -> Result<Proof<Bls12>> {
        self.plot.pass(Place::BeforeFinish, control.cancelled)?;
        let proof = self.inner.finish(started, blinding, control)?;
        self.plot.pass(Place::AfterFinish, control.cancelled)?;
        Ok(proof)
    }
}

/// A job of tiny circuits with a plot.
#[derive(Clone)]
pub struct TestJob {
    pub circuits: Vec<SmallCircuit>,
    pub params: ParamsRef,
    pub plot: Plot,
    /// Who was taken up, in order.
    pub order: Arc<Mutex<Vec<u64>>>,
    pub tag: u64,
    pub bytes: usize,
}

impl Source for TestJob {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn decode(&self, cancelled: &AtomicBool) -> Result<Box<dyn Work>> {
        self.plot.pass(Place::Decode, cancelled)?;
        Ok(Box::new(self.clone()))
    }
}

impl Work for TestJob {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn partitions(&self) -> usize {
        self.circuits.len()
    }

    fn params(&self) -> ParamsRef {
        self.params.clone()
    }

    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        self.plot.pass(Place::PublicInputs, &AtomicBool::new(false))?;
        Ok(self.circuits[k].public_inputs())
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
        self.order.lock().unwrap().push(self.tag);
        self.plot.pass(Place::BeforeSynthesis, cancelled)?;
        let partition = assign(self.circuits[k].clone(), circuit, room, cancelled)?;
        self.plot.pass(Place::AfterSynthesis, cancelled)?;
        Ok(partition)
    }
}

/// An engine and a circuit for it.
pub struct Bench {
    pub engine: Engine,
    pub backend: Plot,
    pub circuit: SmallCircuit,
    pub params: Arc<Params>,
    pub order: Arc<Mutex<Vec<u64>>>,
    next_key: AtomicU64,
}

/// Two synthesis threads, two of the backend.
pub fn two() -> Options {
    Options { cpu_threads: 2, synthesis_threads: 2, ..Options::default() }
}

/// Every bench's parameters, made once.
fn parameters(circuit: &SmallCircuit) -> Arc<Params> {
    static PARAMS: OnceLock<Arc<Params>> = OnceLock::new();
    PARAMS.get_or_init(|| Arc::new(ours(&circuit.parameters()))).clone()
}

impl Bench {
    pub fn new(options: Options, beside: bool) -> Self {
        let circuit = SmallCircuit::new(Style::Sparse, 3, 200, 5);
        let backend = Plot::default();
        let lane = Staged { inner: CpuBackend::new(), plot: backend.clone(), beside };
        Bench {
            engine: Engine::with_lanes(options, vec![Box::new(lane)]).unwrap(),
            backend,
            params: parameters(&circuit),
            circuit,
            order: Arc::default(),
            next_key: AtomicU64::new(1),
        }
    }

    pub fn job(&self, partitions: usize, plot: Plot) -> TestJob {
        TestJob {
            circuits: (0..partitions)
                .map(|k| SmallCircuit { values: 100 + k as u64, ..self.circuit.clone() })
                .collect(),
            params: ParamsRef::Loaded(self.params.clone()),
            plot,
            order: self.order.clone(),
            tag: 0,
            bytes: 64,
        }
    }

    pub fn submission(&self, job: TestJob) -> Submission {
        Submission {
            source: Box::new(job),
            priority: Priority::Normal,
            deadline: None,
            tag: 0,
            key: self.next_key.fetch_add(1, Ordering::SeqCst),
            request_id: String::new(),
            fingerprint: 0,
        }
    }

    pub fn start(&self, partitions: usize, plot: Plot) -> Pending {
        self.engine.submit(self.submission(self.job(partitions, plot))).unwrap()
    }

    /// The bytes of budget a partition of the circuit takes.
    pub fn partition_bytes(&self) -> u64 {
        partition_bytes(&self.circuit)
    }

    pub fn verify(&self, bytes: &[u8]) {
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(PROOF_BYTES));
        for (k, proof) in bytes.chunks(PROOF_BYTES).enumerate() {
            let circuit = SmallCircuit { values: 100 + k as u64, ..self.circuit.clone() };
            verify(&self.params.vk, proof, &circuit.public_inputs()).unwrap();
        }
    }

    /// A plain job goes through after whatever has happened.
    pub fn still_works(&self) {
        let pending = self.start(2, Plot::default());
        self.verify(&result(&pending).unwrap());
    }

    /// Everything that was counted is gone, and every byte is back. Freeing takes a moment.
    #[track_caller]
    pub fn comes_to_nothing(&self) {
        let begun = Instant::now();
        while held(&self.engine) != (0, 0, 0, 0) {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "(count, bytes, budget, places): {:?}",
                held(&self.engine)
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The bytes of budget a partition of a circuit takes.
pub fn partition_bytes(circuit: &SmallCircuit) -> u64 {
    CpuBackend::new().partition_bytes(&compiled(circuit).sizes())
}

/// Buffers, their bytes, budget used and places in the reclaimer's queue.
pub fn held(engine: &Engine) -> (u64, u64, u64, usize) {
    let accounts = engine.accounts();
    let mut sum = (0, 0, accounts.budget.used(), accounts.reclaimer.places());
    for class in Class::ALL {
        for stage in Stage::ALL.into_iter().map(Some).chain([None]) {
            let s = accounts.buffers.stats(class, stage);
            sum.0 += s.count;
            sum.1 += s.bytes;
            assert!(s.count < 1 << 40 && s.bytes < 1 << 60, "a counter fell below zero");
        }
    }
    sum
}

#[track_caller]
pub fn result(pending: &Pending) -> Result<Arc<[u8]>> {
    assert!(pending.wait(Some(Duration::from_secs(60))), "no outcome in a minute: {:?}", pending.progress());
    pending.outcome().unwrap()
}

#[track_caller]
pub fn until(what: &str, mut f: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !f() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not happen in a minute");
        std::thread::sleep(Duration::from_millis(1));
    }
}
