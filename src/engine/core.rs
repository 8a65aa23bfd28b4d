//! The engine: what its threads share, and its end.

use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::dispatch::Load;
use super::events::{Event, Events};
use super::filecoin::{params_path, ParamsSource};
use super::job::{Job, Pending, Priority, Submission};
use super::lane::{Finishing, Parcel};
use super::options::Options;
use super::pace::Pace;
use super::resident::{HeldParams, Resident};
use super::scheduler::{Scheduler, Task, Ticket};
use super::self_test;
use super::threads::{spawn, Pool};
use super::work::Work;
use crate::circuit::compiled::Circuits;
use crate::circuit::CompiledCircuit;
use crate::error::{Code, Error, Result};
use crate::groth16::cpu::CpuBackend;
use crate::groth16::{self, Backend, PROOF_BYTES};
use crate::memory::{default_budget, Accounts, Budget, Held, Reclaimer, Signal};
use crate::panics;
use crate::params::{self, Params};
use crate::proofs::{CircuitId, Public};
use crate::sync::{lock, wait, wait_for, Condvar, Mutex, MutexGuard};
use crate::telemetry::{Buffers, Class, Durations, Stage as BufferStage, Timeline};

/// The share of the budget (one part in so many) that only critical work may take, and its largest size: the parameters
/// and a partition of a 32 GiB WinningPoSt fit into it.
const RESERVE_PART: u64 = 16;
const LARGEST_RESERVE: u64 = 512 << 20;

/// Counts since the engine was made, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lanes that prove.
    pub lanes: u32,
    /// Requests taken.
    pub started: u64,
    /// Proofs made.
    pub finished: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests cancelled, by the caller, a deadline or the engine's end.
    pub cancelled: u64,
    /// Requests refused at the door.
    pub rejected: u64,
    /// Jobs waiting.
    pub queued: u64,
    /// Jobs being proved.
    pub running: u64,
    /// Bytes the engine may take.
    pub budget_bytes: u64,
    /// Bytes it has taken.
    pub budget_used_bytes: u64,
    /// The most it had taken at one time.
    pub budget_peak_bytes: u64,
    /// Bytes of parameters held.
    pub params_bytes: u64,
}

/// A proving engine.
pub struct Engine {
    pub(super) shared: Arc<Shared>,
    /// `None` once shut down. Readers use the pools; shutting down waits for them.
    pools: RwLock<Option<Arc<Pools>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    reclaimer: Mutex<Option<JoinHandle<()>>>,
}

/// The engine's thread pools.
pub(super) struct Pools {
    /// Decodes. One thread of its own: bad input is found while synthesis is busy.
    pub(super) decode: Pool,
    /// Builds and synthesises circuits.
    pub(super) synthesis: Pool,
    /// The same for urgent jobs, which wait behind nobody.
    pub(super) urgent: Pool,
    /// The CPU backend's.
    pub(super) cpu: Pool,
    /// Verification's and the self-test's. One thread of its own: neither waits behind a partition.
    pub(super) verify: Pool,
}

/// How long partitions took in each stage, and proofs in all.
#[derive(Default)]
pub struct StageDurations {
    /// A partition's synthesis.
    pub witness: Durations,
    /// Its first half, on a lane.
    pub device: Durations,
    /// Its second half.
    pub finishing: Durations,
    /// Proofs, from the request on.
    pub proof: Durations,
}

/// What jobs, handles and threads share.
pub(super) struct Shared {
    pub(super) options: Options,
    /// Kept for as long as the engine, so that no job opens one again.
    _circuits: Arc<Circuits>,
    pub(super) lanes: Vec<Box<dyn Backend>>,
    pub(super) accounts: Accounts,
    pub(super) timeline: Timeline,
    pub(super) durations: StageDurations,
    state: Mutex<State>,
    /// Something for the dispatcher: a job was decoded, bytes or parameters came, a partition is over.
    pub(super) dispatch: Arc<Signal>,
    /// Something to decode.
    pub(super) arrivals: Signal,
    /// A partition to synthesise.
    pub(super) tasks: Signal,
    /// Parameters to load.
    pub(super) loads: Signal,
    /// A partition for a lane.
    pub(super) handed: Signal,
    /// A proof to finish.
    pub(super) finishes: Signal,
    /// A job has ended.
    ended: Condvar,
    pub(super) events: Events,
    pub(super) counts: Counts,
}

#[derive(Default)]
pub(super) struct Counts {
    pub(super) started: AtomicU64,
    finished: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    pub(super) rejected: AtomicU64,
    /// How long the last proof took from its first synthesis on, for the retry hint.
    pub(super) last_ns: AtomicU64,
}

/// What a thread of the engine does.
type ThreadBody = Box<dyn FnOnce(&Shared, &Pools) + Send>;

/// A job that is decoded and not over.
pub(super) struct Active {
    pub(super) job: Arc<Job>,
    /// Until its last partition is being synthesised.
    pub(super) work: Option<Arc<Held<Box<dyn Work>>>>,
    pub(super) circuit: u64,
    /// The circuit, where there are partitions.
    pub(super) compiled: Option<Arc<CompiledCircuit>>,
    /// Given with the job. Those of a file are held by each partition that is taken up.
    pub(super) params: Option<Arc<Params>>,
    /// When its first partition was taken up.
    pub(super) begun: Option<Instant>,
}

pub(super) struct State {
    /// Not decoded yet, in order of arrival.
    pub(super) arrived: VecDeque<Arc<Job>>,
    /// On the decode threads.
    pub(super) decoding: Vec<Arc<Job>>,
    /// Decoded, until over.
    pub(super) active: HashMap<Ticket, Active>,
    pub(super) scheduler: Scheduler<Parcel>,
    pub(super) resident: Resident,
    /// Taken up, with its parameters, for the next free synthesis thread. No more than those threads.
    pub(super) tasks: VecDeque<(Task, Option<Arc<Params>>)>,
    /// To be loaded. No more than there are parameter files that jobs wait for.
    pub(super) loads: VecDeque<Load>,
    /// Between a lane and the finisher. No more than there are permits.
    pub(super) finishing: VecDeque<Finishing>,
    pub(super) ids: HashMap<String, Weak<Job>>,
    /// Places that are reserved for requests being copied.
    pub(super) reserved: usize,
    pub(super) next_ticket: Ticket,
    /// Jobs that are in none of these any more and have no outcome yet.
    pub(super) ending: usize,
    pub(super) draining: bool,
    pub(super) stopping: bool,
}

impl State {
    /// Jobs that are not over.
    pub(super) fn count(&self) -> usize {
        self.arrived.len() + self.decoding.len() + self.active.len() + self.ending
    }

    pub(super) fn jobs(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.arrived.iter().chain(&self.decoding).chain(self.active.values().map(|a| &a.job))
    }

    /// Tells every waiting job how many go first.
    pub(super) fn number(&self) {
        let decoded: Vec<&Arc<Job>> =
            self.scheduler.waiting().filter_map(|t| self.active.get(&t)).map(|a| &a.job).collect();
        let begun = self.active.len().saturating_sub(decoded.len());
        let mut waiting: Vec<&Arc<Job>> = decoded.into_iter().chain(&self.decoding).chain(&self.arrived).collect();
        waiting.sort_by_key(|job| (std::cmp::Reverse(job.priority()), job.ticket));
        for (position, job) in waiting.iter().enumerate() {
            job.set_queue_position(position + begun);
        }
    }
}

impl Engine {
    /// Starts an engine on the CPU. Errors: `OUT_OF_MEMORY` when threads cannot be had, `IO` without an eventfd.
    pub fn new(options: Options) -> Result<Self> {
        Self::with_lanes(options, vec![Box::new(CpuBackend::new())])
    }

    /// Starts an engine with a lane for every backend.
    pub fn with_lanes(options: Options, lanes: Vec<Box<dyn Backend>>) -> Result<Self> {
        panics::install_hook();
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let or_cores = |n: usize| if n == 0 { cores } else { n };
        let width = or_cores(options.synthesis_threads);
        let pools = Arc::new(Pools {
            decode: Pool::new("decoder", 1)?,
            synthesis: Pool::new("synthesis", width)?,
            urgent: Pool::new("urgent", 1)?,
            cpu: Pool::new("cpu", or_cores(options.cpu_threads))?,
            verify: Pool::new("verify", 1)?,
        });
        let total = if options.host_memory_limit == 0 { default_budget() } else { options.host_memory_limit };
        let reserve = (total / RESERVE_PART).min(LARGEST_RESERVE);
        let dispatch = Arc::new(Signal::default());
        let accounts = Accounts {
            budget: Arc::new(Budget::new(total, reserve, dispatch.clone())),
            buffers: Arc::new(Buffers::default()),
            reclaimer: Arc::new(Reclaimer::default()),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                arrived: VecDeque::new(),
                decoding: Vec::new(),
                active: HashMap::new(),
                scheduler: Scheduler::new(Pace::new(width, lanes.len())),
                resident: Resident::default(),
                tasks: VecDeque::new(),
                loads: VecDeque::new(),
                finishing: VecDeque::new(),
                ids: HashMap::new(),
                reserved: 0,
                next_ticket: 0,
                ending: 0,
                draining: false,
                stopping: false,
            }),
            _circuits: Circuits::shared(&options.circuit_cache_dir),
            lanes,
            accounts,
            timeline: Timeline::default(),
            durations: StageDurations::default(),
            dispatch,
            arrivals: Signal::default(),
            tasks: Signal::default(),
            loads: Signal::default(),
            handed: Signal::default(),
            finishes: Signal::default(),
            ended: Condvar::new(),
            events: Events::new()?,
            counts: Counts::default(),
            options,
        });
        let engine = Engine {
            shared: shared.clone(),
            pools: RwLock::new(Some(pools.clone())),
            threads: Mutex::default(),
            reclaimer: Mutex::default(),
        };
        // From here on dropping `engine` ends whatever has been started.
        let reclaiming = shared.clone();
        *lock(&engine.reclaimer) = Some(spawn("reclaimer", move || reclaiming.reclaim_loop())?);
        let start = |name: String, body: ThreadBody| {
            let (shared, pools) = (shared.clone(), pools.clone());
            let thread = spawn(&name, move || body(&shared, &pools))?;
            lock(&engine.threads).push(thread);
            Ok::<_, Error>(())
        };
        start("decode".into(), Box::new(|shared, pools| shared.decode_loop(pools, false)))?;
        start("decode-urgent".into(), Box::new(|shared, pools| shared.decode_loop(pools, true)))?;
        start("dispatch".into(), Box::new(|shared, _| shared.dispatch_loop()))?;
        start("loader".into(), Box::new(|shared, pools| shared.load_loop(pools, false)))?;
        start("loader-urgent".into(), Box::new(|shared, pools| shared.load_loop(pools, true)))?;
        // One more than may synthesise at once: an urgent partition always finds a free one.
        for k in 0..=width {
            start(format!("witness-{k}"), Box::new(move |shared, pools| shared.synthesis_loop(pools)))?;
        }
        for k in 0..shared.lanes.len() {
            start(format!("lane-{k}"), Box::new(move |shared, pools| shared.lane_loop(pools, k)))?;
        }
        start("finisher".into(), Box::new(Shared::finish_loop))?;
        Ok(engine)
    }

    /// The options it runs with.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// The devices it proves on, for people.
    pub fn device_name(&self) -> String {
        self.shared.lanes.iter().map(|lane| lane.name()).collect::<Vec<_>>().join(", ")
    }

    /// The budget, the counters and the reclaimer.
    pub fn accounts(&self) -> &Accounts {
        &self.shared.accounts
    }

    /// Begins to record a timeline into `path`; see [`Timeline::start`].
    pub fn start_trace(&self, path: &Path) -> Result<()> {
        self.shared.timeline.start(path)
    }

    /// Ends the timeline and writes it. On a thread of its own: a full disk or a reader that has gone raise signals in the
    /// thread that writes, and ours block them.
    pub fn stop_trace(&self) -> Result<()> {
        let shared = self.shared.clone();
        let outcome = Arc::new(Mutex::new(Ok(())));
        let told = outcome.clone();
        let thread = spawn("trace", move || *lock(&told) = panics::guard(|| shared.timeline.stop()))?;
        let _ = thread.join();
        let outcome = std::mem::replace(&mut *lock(&outcome), Ok(()));
        outcome
    }

    /// How long what took.
    pub fn durations(&self) -> &StageDurations {
        &self.shared.durations
    }

    /// Begins to load a circuit's parameters; the pending proof is over when they are there, and has no bytes. `key` and
    /// `tag` as in a [`Submission`].
    pub fn load_params(&self, circuit: &CircuitId, key: u64, tag: u64) -> Result<Pending> {
        let options = &self.shared.options;
        let path = params_path(&options.params_dir, circuit)?;
        self.submit(Submission {
            source: Box::new(ParamsSource::new(path, *circuit, options.allow_insecure_params)),
            priority: Priority::Normal,
            deadline: None,
            tag,
            key,
            request_id: String::new(),
            fingerprint: 0,
        })
    }

    /// Lets a circuit's parameters go and waits until their memory is back. The bytes; 0 when they were not there. `BUSY`
    /// while they are being loaded or proofs use them.
    pub fn evict_params(&self, circuit: &CircuitId) -> Result<u64> {
        let shared = &self.shared;
        let path = params_path(&shared.options.params_dir, circuit)?;
        let taken = shared.take_params(&path).map_err(|why| shared.busy(why))?;
        let Some((bytes, params)) = taken else { return Ok(0) };
        drop(params);
        loop {
            let seen = shared.dispatch.seen();
            if shared.accounts.buffers.stats(Class::Params, Some(BufferStage::Reclaiming)).count == 0 {
                return Ok(bytes);
            }
            shared.dispatch.wait(seen, Some(Duration::from_millis(10)));
        }
    }

    /// Verifies a proof against its public statement with the key of the circuit's parameter file.
    /// `PROOF_INVALID` when it does not verify.
    pub fn verify(&self, public: &Public, proof: &[u8]) -> Result<()> {
        self.aside(|| {
            let circuit = public.circuit()?;
            let path = params_path(&self.shared.options.params_dir, &circuit)?;
            params::admit(&path, &circuit, self.shared.options.allow_insecure_params)?;
            let inputs = public.inputs()?;
            if proof.len() != inputs.len() * PROOF_BYTES {
                return Err(Error::new(
                    Code::ProofInvalid,
                    "proof",
                    format!("{} bytes, {} partitions have {}", proof.len(), inputs.len(), inputs.len() * PROOF_BYTES),
                ));
            }
            let vk = params::file::read_verifying_key(&path)?;
            for (proof, inputs) in proof.chunks(PROOF_BYTES).zip(&inputs) {
                groth16::verify(&vk, proof, inputs)?;
            }
            Ok(())
        })
    }

    /// Makes and verifies a small proof on every device. `DEVICE` when it is wrong. Takes some ten milliseconds.
    pub fn self_test(&self) -> Result<()> {
        self.aside(|| self.shared.lanes.iter().try_for_each(|lane| self_test::run(lane.as_ref())))
    }

    /// Runs `f` beside the jobs. Shutting down waits for it.
    fn aside<T: Send>(&self, f: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let pools = self.pools.read().unwrap_or_else(|e| e.into_inner());
        let pools = pools.as_ref().ok_or_else(|| Error::new(Code::Shutdown, "", "the engine is destroyed"))?;
        panics::guard(|| {
            pools.verify.run(|| {
                // Whoever waits for this thread does not keep the engine from its end.
                if self.shared.lock().stopping {
                    return Err(Error::new(Code::Shutdown, "", "the engine is destroyed"));
                }
                f()
            })
        })
    }

    /// Refuses new requests from here on and waits for the present ones; `TIMEOUT` when time is over first
    /// (`None`: no limit).
    pub fn drain(&self, timeout: Option<Duration>) -> Result<()> {
        let until = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut state = self.shared.lock();
        state.draining = true;
        while state.count() > 0 {
            state = match until {
                None => wait(&self.shared.ended, state),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Error::new(Code::Timeout, "", format!("{} proofs still run", state.count())));
                    }
                    wait_for(&self.shared.ended, state, left)
                }
            };
        }
        Ok(())
    }

    /// Stops all work (its proofs end as `SHUTDOWN`), joins every thread and frees all large memory. Once is enough.
    pub fn shutdown(&self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            for job in state.jobs() {
                job.stop(Code::Shutdown);
            }
            state.resident.cancel_loads();
        }
        self.shared.wake_all();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
        // The threads are gone: what they have left behind goes now.
        let (left, rest) = {
            let mut state = self.shared.lock();
            let mut left: Vec<Arc<Job>> = state.arrived.drain(..).collect();
            left.append(&mut state.decoding);
            let active: Vec<Active> = state.active.drain().map(|(_, active)| active).collect();
            left.extend(active.iter().map(|a| a.job.clone()));
            state.ending += left.len();
            let scheduler = std::mem::replace(&mut state.scheduler, Scheduler::new(Pace::new(1, 1)));
            let queues = (
                std::mem::take(&mut state.tasks),
                std::mem::take(&mut state.loads),
                std::mem::take(&mut state.finishing),
            );
            (left, (active, scheduler, queues, state.resident.clear()))
        };
        drop(rest);
        for job in left {
            self.shared.end(&job, Err(Error::new(Code::Shutdown, "", "the engine was destroyed")));
        }
        drop(self.pools.write().unwrap_or_else(|e| e.into_inner()).take());
        self.shared.accounts.reclaimer.close();
        if let Some(thread) = lock(&self.reclaimer).take() {
            let _ = thread.join();
        }
        if self.shared.timeline.is_on() {
            let _ = self.stop_trace();
        }
        self.shared.events.wake_all();
    }

    /// A descriptor that is readable while events wait; the caller closes it.
    pub fn event_fd(&self) -> Result<RawFd> {
        self.shared.events.descriptor()
    }

    /// The oldest event, if one waits.
    pub fn next_event(&self) -> Option<Event> {
        self.shared.events.pop()
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let c = &self.shared.counts;
        let get = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let (queued, running, params_bytes) = {
            let state = self.shared.lock();
            let running = state.active.len().saturating_sub(state.scheduler.waiting().count());
            // One that has its outcome waits no more, though the last of it is still being put away.
            (state.count() - state.ending - running, running, state.resident.bytes())
        };
        let budget = &self.shared.accounts.budget;
        Stats {
            lanes: self.shared.lanes.len() as u32,
            started: get(&c.started),
            finished: get(&c.finished),
            failed: get(&c.failed),
            cancelled: get(&c.cancelled),
            rejected: get(&c.rejected),
            queued: queued as u64,
            running: running as u64,
            budget_bytes: budget.total(),
            budget_used_bytes: budget.used(),
            budget_peak_bytes: budget.peak(),
            params_bytes,
        }
    }

    /// The parameters it holds, and those it is loading.
    pub fn held_params(&self) -> Vec<HeldParams> {
        self.shared.lock().resident.list()
    }

    /// The folder parameter files are looked for in.
    pub fn params_dir(&self) -> &Path {
        &self.shared.options.params_dir
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wake_all(&self) {
        for signal in [&self.dispatch, &self.arrivals, &self.tasks, &self.loads, &self.handed, &self.finishes] {
            signal.notify();
        }
    }

    /// Tells a holder of its end.
    pub(super) fn tell(&self, job: &Job, event: Event) {
        self.events.push(event);
        // One that has gone meanwhile has looked for its event before it was there.
        if !job.is_held_by(event.key) {
            self.events.forget(event.key);
        }
    }

    /// A holder is gone.
    pub(super) fn forget(&self, key: u64) {
        self.events.forget(key);
    }

    /// A job was told to stop: if nothing of it is in flight, it ends here and now.
    pub(super) fn stopped(&self, job: &Arc<Job>) {
        let (over, dropped) = {
            let mut state = self.lock();
            let before = state.arrived.len();
            state.arrived.retain(|j| !Arc::ptr_eq(j, job));
            let waited = state.arrived.len() < before;
            let (parcels, over) = state.scheduler.stop(job.ticket);
            let active = if over { state.active.remove(&job.ticket) } else { None };
            let unwanted = state.active.get(&job.ticket).map(|a| a.circuit);
            if let Some(circuit) = active.as_ref().map(|a| a.circuit).or(unwanted) {
                // Nobody else waits for the parameters that are being loaded.
                let others = state.scheduler.of_circuit(circuit);
                if others.iter().all(|t| state.active.get(t).is_none_or(|a| a.job.is_stopping())) {
                    if let Some(load) = state.resident.loading(circuit) {
                        load.store(true, Ordering::Release);
                    }
                }
            }
            if waited || over {
                state.ending += 1;
            }
            (waited || over, (parcels, active))
        };
        // Outside the lock: dropping tells the dispatcher.
        drop(dropped);
        if over {
            self.end(job, Err(job.stop_error().unwrap_or_else(Error::cancelled)));
        }
        self.dispatch.notify();
        self.handed.notify();
    }

    /// A partition is over; its failure stops the job's others. The last one ends the job.
    pub(super) fn partition_over(&self, job: &Arc<Job>, failed: Option<Error>) {
        let mut parcels = Vec::new();
        let active = {
            let mut state = self.lock();
            if let Some(error) = failed {
                job.fail(error);
            }
            let mut over = state.scheduler.done(job.ticket);
            if !over && job.is_stopping() {
                (parcels, over) = state.scheduler.stop(job.ticket);
            }
            let active = if over { state.active.remove(&job.ticket) } else { None };
            state.ending += usize::from(active.is_some());
            active
        };
        drop(parcels);
        if let Some(active) = active {
            let outcome = match job.failure() {
                Some(e) => Err(e),
                None => {
                    if let Some(begun) = active.begun {
                        self.counts.last_ns.store(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
                    }
                    Ok(job.take_proof())
                }
            };
            drop(active);
            self.end(job, outcome);
        }
        self.dispatch.notify();
        self.handed.notify();
    }

    /// A job's end: counts, outcome, events, and whoever drains. Called without the lock, once for every job that was
    /// counted as ending. What the circuits' own code
    /// finds wrong with a request's fields is a fault of the input.
    pub(super) fn end(&self, job: &Arc<Job>, outcome: Result<Arc<[u8]>>) {
        let outcome = outcome.map_err(|mut e| {
            if e.code == Code::InvalidArgument {
                e.code = Code::MalformedInput;
            }
            e
        });
        let c = &self.counts;
        let counter = match &outcome {
            Ok(_) => &c.finished,
            Err(e) if matches!(e.code, Code::Cancelled | Code::Timeout | Code::Shutdown) => &c.cancelled,
            Err(_) => &c.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        match &outcome {
            Ok(_) => {
                self.durations.proof.add(job.elapsed_ns());
                tracing::debug!(ticket = job.ticket, "proof done");
            }
            Err(e) => {
                tracing::debug!(ticket = job.ticket, code = ?e.code, field = %e.field, "proof failed: {}", e.message)
            }
        }
        job.finish(outcome, &self.events);
        self.lock().ending -= 1;
        self.ended.notify_all();
    }

    /// Frees what is pushed.
    fn reclaim_loop(&self) {
        self.accounts.reclaimer.run(|load| {
            let begun = self.timeline.now();
            // A value's own drop may panic; its memory is lost then, the thread is not.
            let _ = panics::guard(|| {
                drop(load);
                Ok(())
            });
            self.timeline.span("reclaimer", "free", begun, None);
            self.timeline.count(&self.accounts.buffers);
        });
    }
}
