//! The engine: admission, queues, and the two threads that empty them.

use std::collections::{HashMap, VecDeque};
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::events::{Event, Events};
use super::filecoin::params_path;
use super::job::{Job, Pending, Submission};
use super::lane::{self, ParamsCache};
use super::options::Options;
use super::self_test;
use super::threads::{spawn, Pool};
use super::work::Work;
use crate::error::{Code, Error, Result};
use crate::groth16::cpu::CpuBackend;
use crate::groth16::{self, Backend, PROOF_BYTES};
use crate::memory::MachineMemory;
use crate::panics;
use crate::params;
use crate::proofs::Public;

/// Jobs that may wait or run at once when the options name no number.
const DEFAULT_QUEUE_DEPTH: usize = 64;

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
    /// Bytes of parameters held.
    pub params_bytes: u64,
}

/// A proving engine.
pub struct Engine {
    shared: Arc<Shared>,
    /// `None` once shut down. Readers use the pools; shutting down waits for them.
    pools: RwLock<Option<Arc<Pools>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The engine's thread pools.
pub(super) struct Pools {
    /// Decodes. One thread of its own: bad input is found while synthesis is busy.
    pub(super) decode: Pool,
    /// Builds and synthesises circuits.
    pub(super) synthesis: Pool,
    /// The CPU backend's.
    pub(super) cpu: Pool,
    /// Verification's and the self-test's. One thread of its own: neither waits behind a partition.
    pub(super) verify: Pool,
}

/// What jobs, handles and threads share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) backend: Box<dyn Backend>,
    pub(super) params: ParamsCache,
    state: Mutex<State>,
    /// Something for the threads to do.
    work: Condvar,
    /// A job has ended.
    ended: Condvar,
    events: Events,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    started: AtomicU64,
    finished: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    rejected: AtomicU64,
    /// How long the last proof took, for the retry hint.
    last_ns: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Not decoded yet, in order of arrival.
    arrived: VecDeque<Arc<Job>>,
    /// Decoded, in order of arrival.
    ready: VecDeque<(Arc<Job>, Box<dyn Work>)>,
    /// On the decode thread.
    decoding: Option<Arc<Job>>,
    /// On the lane.
    running: Option<Arc<Job>>,
    ids: HashMap<String, Weak<Job>>,
    draining: bool,
    stopping: bool,
}

impl State {
    fn active(&self) -> usize {
        self.arrived.len()
            + self.ready.len()
            + usize::from(self.decoding.is_some())
            + usize::from(self.running.is_some())
    }

    fn jobs(&self) -> impl Iterator<Item = &Arc<Job>> {
        let ready = self.ready.iter().map(|(job, _)| job);
        self.arrived.iter().chain(ready).chain(&self.decoding).chain(&self.running)
    }

    /// Tells every waiting job how many go first.
    fn number(&self) {
        let mut waiting: Vec<&Arc<Job>> =
            self.ready.iter().map(|(job, _)| job).chain(&self.decoding).chain(&self.arrived).collect();
        waiting.sort_by_key(|job| std::cmp::Reverse(job.priority));
        for (position, job) in waiting.iter().enumerate() {
            job.set_queue_position(position + usize::from(self.running.is_some()));
        }
    }
}

/// The most urgent of a queue, the first among equals.
fn most_urgent<'a>(jobs: impl Iterator<Item = &'a Arc<Job>>) -> Option<usize> {
    let mut best: Option<(usize, &Arc<Job>)> = None;
    for (i, job) in jobs.enumerate() {
        if best.is_none_or(|(_, b)| job.priority > b.priority) {
            best = Some((i, job));
        }
    }
    best.map(|(i, _)| i)
}

impl Engine {
    /// Starts an engine. Errors: `OUT_OF_MEMORY` when threads cannot be had, `IO` without an eventfd.
    pub fn new(options: Options) -> Result<Self> {
        panics::install_hook();
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let or_cores = |n: usize| if n == 0 { cores } else { n };
        let pools = Arc::new(Pools {
            decode: Pool::new("decoder", 1)?,
            synthesis: Pool::new("synthesis", or_cores(options.synthesis_threads))?,
            cpu: Pool::new("cpu", or_cores(options.cpu_threads))?,
            verify: Pool::new("verify", 1)?,
        });
        let shared = Arc::new(Shared {
            backend: Box::new(CpuBackend::new()),
            params: ParamsCache::default(),
            state: Mutex::default(),
            work: Condvar::new(),
            ended: Condvar::new(),
            events: Events::new()?,
            counts: Counts::default(),
            options,
        });
        let engine =
            Engine { shared: shared.clone(), pools: RwLock::new(Some(pools.clone())), threads: Mutex::new(Vec::new()) };
        // From here on dropping `engine` ends whatever has been started.
        for (name, body) in [("decode", Shared::decode_loop as fn(&Shared, &Pools)), ("lane", Shared::lane_loop)] {
            let (shared, pools) = (shared.clone(), pools.clone());
            let thread = spawn(name, move || body(&shared, &pools))?;
            lock(&engine.threads).push(thread);
        }
        Ok(engine)
    }

    /// The options it runs with.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// The device it proves on, for people.
    pub fn device_name(&self) -> String {
        self.shared.backend.name()
    }

    /// Takes a request; returns at once. `BUSY` with a retry hint when the queue is full, `SHUTDOWN` when draining,
    /// `ID_CONFLICT` when the request id is in use for another content.
    pub fn submit(&self, submission: Submission) -> Result<Pending> {
        let shared = &self.shared;
        let mut state = shared.lock();
        if state.draining || state.stopping {
            shared.counts.rejected.fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(Code::Shutdown, "", "the engine is draining or destroyed"));
        }
        state.ids.retain(|_, job| job.strong_count() > 0);
        if let Some(job) = state.ids.get(&submission.request_id).and_then(Weak::upgrade) {
            if job.fingerprint != submission.fingerprint {
                return Err(Error::new(
                    Code::IdConflict,
                    "request_id",
                    format!("{:?} is in use for another request", submission.request_id),
                ));
            }
            let key = submission.key;
            if let Some(event) = job.join(key, submission.tag) {
                shared.events.push(event);
            }
            return Ok(Pending::new(job, shared.clone(), key));
        }
        let depth = if shared.options.queue_depth == 0 { DEFAULT_QUEUE_DEPTH } else { shared.options.queue_depth };
        if state.active() >= depth {
            shared.counts.rejected.fetch_add(1, Ordering::Relaxed);
            let mut busy = Error::new(Code::Busy, "", format!("{depth} proofs wait or run, as many as may"));
            let last = shared.counts.last_ns.load(Ordering::Relaxed);
            busy.retry_after = Duration::from_nanos(last.max(100_000_000));
            return Err(busy);
        }
        let key = submission.key;
        let job = Arc::new(Job::new(submission));
        if !job.request_id.is_empty() {
            state.ids.insert(job.request_id.clone(), Arc::downgrade(&job));
        }
        state.arrived.push_back(job.clone());
        state.number();
        drop(state);
        shared.counts.started.fetch_add(1, Ordering::Relaxed);
        shared.work.notify_all();
        Ok(Pending::new(job, shared.clone(), key))
    }

    /// Whether [`Engine::submit`] may take a request with this id, so that a caller learns of a full queue before it copies
    /// bytes. Only looks: `submit` has the last word. `BUSY`, `SHUTDOWN`.
    pub fn admits(&self, request_id: &str) -> Result<()> {
        let shared = &self.shared;
        let state = shared.lock();
        let depth = if shared.options.queue_depth == 0 { DEFAULT_QUEUE_DEPTH } else { shared.options.queue_depth };
        // A request whose id is held joins that job and needs no room.
        let joins = || state.ids.get(request_id).is_some_and(|job| job.strong_count() > 0);
        let refusal = if state.draining || state.stopping {
            Error::new(Code::Shutdown, "", "the engine is draining or destroyed")
        } else if state.active() >= depth && !joins() {
            let last = shared.counts.last_ns.load(Ordering::Relaxed);
            let busy = Error::new(Code::Busy, "", format!("{depth} proofs wait or run, as many as may"));
            Error { retry_after: Duration::from_nanos(last.max(100_000_000)), ..busy }
        } else {
            return Ok(());
        };
        shared.counts.rejected.fetch_add(1, Ordering::Relaxed);
        Err(refusal)
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

    /// Makes and verifies a small proof on the device. `DEVICE` when it is wrong. Takes some ten milliseconds.
    pub fn self_test(&self) -> Result<()> {
        self.aside(|| self_test::run(self.shared.backend.as_ref()))
    }

    /// Runs `f` beside the jobs. Shutting down waits for it.
    fn aside<T: Send>(&self, f: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let pools = self.pools.read().unwrap_or_else(|e| e.into_inner());
        let pools = pools.as_ref().ok_or_else(|| Error::new(Code::Shutdown, "", "the engine is destroyed"))?;
        panics::guard(|| pools.verify.run(f))
    }

    /// Refuses new requests from here on and waits for the present ones; `TIMEOUT` when time is over first
    /// (`None`: no limit).
    pub fn drain(&self, timeout: Option<Duration>) -> Result<()> {
        let until = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut state = self.shared.lock();
        state.draining = true;
        while state.active() > 0 {
            state = match until {
                None => self.shared.ended.wait(state).unwrap_or_else(|e| e.into_inner()),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Error::new(Code::Timeout, "", format!("{} proofs still run", state.active())));
                    }
                    self.shared.ended.wait_timeout(state, left).unwrap_or_else(|e| e.into_inner()).0
                }
            };
        }
        Ok(())
    }

    /// Stops all work (its proofs end as `SHUTDOWN`), joins every thread and frees the parameters. Once is enough.
    pub fn shutdown(&self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            for job in state.jobs() {
                job.stop(Code::Shutdown);
            }
        }
        self.shared.work.notify_all();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
        let left: Vec<_> = {
            let mut state = self.shared.lock();
            let mut jobs: Vec<Arc<Job>> = state.arrived.drain(..).collect();
            jobs.extend(state.ready.drain(..).map(|(job, _)| job));
            jobs
        };
        for job in left {
            self.shared.end(&job, Err(Error::new(Code::Shutdown, "", "the engine was destroyed")));
        }
        drop(self.pools.write().unwrap_or_else(|e| e.into_inner()).take());
        self.shared.params.clear();
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
        let (queued, running) = {
            let state = self.shared.lock();
            let running = usize::from(state.running.is_some());
            (state.active() - running, running)
        };
        let limit = self.shared.options.host_memory_limit;
        Stats {
            lanes: 1,
            started: get(&c.started),
            finished: get(&c.finished),
            failed: get(&c.failed),
            cancelled: get(&c.cancelled),
            rejected: get(&c.rejected),
            queued: queued as u64,
            running: running as u64,
            budget_bytes: if limit == 0 { MachineMemory::read().free_for_us() } else { limit },
            params_bytes: self.shared.params.bytes() as u64,
        }
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
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A holder is gone.
    pub(super) fn forget(&self, key: u64) {
        self.events.forget(key);
    }

    /// A job was told to stop: if it still waits, it ends here and now.
    pub(super) fn stopped(&self, job: &Arc<Job>) {
        let waited = {
            let mut state = self.lock();
            let before = state.active();
            state.arrived.retain(|j| !Arc::ptr_eq(j, job));
            state.ready.retain(|(j, _)| !Arc::ptr_eq(j, job));
            state.number();
            state.active() < before
        };
        if waited {
            self.end(job, job.check().and(Err(Error::cancelled())));
        }
    }

    /// Ends a job and tells everybody.
    ///
    /// No job ends as `INVALID_ARGUMENT`: to callers that code means a call that has changed nothing. What a decoder
    /// finds wrong with a request's fields is a fault of the input.
    fn end(&self, job: &Arc<Job>, outcome: Result<Arc<[u8]>>) {
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
        if let Err(e) = &outcome {
            tracing::debug!(code = ?e.code, field = %e.field, "proof failed: {}", e.message);
        }
        for event in job.finish(outcome) {
            self.events.push(event);
        }
        let _state = self.lock();
        self.ended.notify_all();
    }

    /// Decodes what arrives and watches deadlines, until the engine stops.
    fn decode_loop(&self, pools: &Pools) {
        loop {
            let job = {
                let mut state = self.lock();
                loop {
                    if state.stopping {
                        return;
                    }
                    let late = self.stop_late(&mut state);
                    if !late.is_empty() {
                        drop(state);
                        for job in late {
                            self.end(&job, job.check().and(Err(Error::cancelled())));
                        }
                        state = self.lock();
                        continue;
                    }
                    if let Some(i) = most_urgent(state.arrived.iter()) {
                        state.decoding = state.arrived.remove(i);
                        break state.decoding.clone();
                    }
                    let next = state.jobs().filter_map(|j| j.deadline).min();
                    state = match next {
                        None => self.work.wait(state).unwrap_or_else(|e| e.into_inner()),
                        Some(at) => {
                            let left = at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
                            self.work.wait_timeout(state, left).unwrap_or_else(|e| e.into_inner()).0
                        }
                    };
                }
            };
            let Some(job) = job else { continue };
            let decoded = panics::guard(|| {
                job.check()?;
                let source = lock(&job.source).take();
                let source = source.ok_or_else(|| Error::internal("a job without its input"))?;
                pools.decode.run(|| source.decode())
            });
            let failed = {
                let mut state = self.lock();
                state.decoding = None;
                let outcome = match decoded {
                    Ok(work) => match job.check() {
                        Ok(()) => {
                            job.set_partitions(work.partitions());
                            state.ready.push_back((job.clone(), work));
                            Ok(())
                        }
                        Err(e) => Err(e),
                    },
                    Err(e) => Err(job.stop_error().unwrap_or(e)),
                };
                state.number();
                outcome
            };
            match failed {
                Ok(()) => self.work.notify_all(),
                Err(e) => self.end(&job, Err(e)),
            }
        }
    }

    /// Stops jobs whose deadline has passed; takes those that still wait out of the queues and returns them.
    fn stop_late(&self, state: &mut State) -> Vec<Arc<Job>> {
        let now = Instant::now();
        for job in state.jobs().filter(|j| j.is_late(now)) {
            job.stop(Code::Timeout);
        }
        let mut late: Vec<Arc<Job>> = state.arrived.iter().filter(|j| j.is_late(now)).cloned().collect();
        late.extend(state.ready.iter().filter(|(j, _)| j.is_late(now)).map(|(j, _)| j.clone()));
        state.arrived.retain(|j| !j.is_late(now));
        state.ready.retain(|(j, _)| !j.is_late(now));
        late
    }

    /// Proves the most urgent decoded job, one after the other, until the engine stops.
    fn lane_loop(&self, pools: &Pools) {
        loop {
            let (job, work) = {
                let mut state = self.lock();
                loop {
                    if state.stopping {
                        return;
                    }
                    if let Some((job, work)) =
                        most_urgent(state.ready.iter().map(|(j, _)| j)).and_then(|i| state.ready.remove(i))
                    {
                        state.running = Some(job.clone());
                        state.number();
                        break (job, work);
                    }
                    state = self.work.wait(state).unwrap_or_else(|e| e.into_inner());
                }
            };
            let begun = Instant::now();
            let outcome = panics::guard(|| lane::prove(self, pools, &job, work.as_ref()));
            let outcome = outcome.map_err(|e| job.stop_error().unwrap_or(e));
            if outcome.is_ok() {
                self.counts.last_ns.store(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            }
            // A decoded input may have a drop of its own that panics.
            let _ = panics::guard(|| {
                drop(work);
                Ok(())
            });
            {
                let mut state = self.lock();
                state.running = None;
                state.number();
            }
            self.end(&job, outcome);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
