//! The dispatcher, which gives bytes to what goes next, and the threads that load parameters and synthesise.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::core::{Active, Pools, Shared, State};
use super::job::{Job, Priority, Stage};
use super::lane::{fits, Parcel};
use super::scheduler::{self, Task, Turn};
use super::work::Work;
use crate::circuit::{CompiledCircuit, Partition};
use crate::error::Error;
use crate::memory::{Held, Permit, Room};
use crate::panics;
use crate::params::{self, Params};
use crate::telemetry::{Class, Control, Stage as BufferStage};

/// Parameters to load, and the bytes for them.
pub(super) struct Load {
    circuit: u64,
    path: PathBuf,
    cancelled: Arc<AtomicBool>,
    permit: Permit,
    /// Whether it is for a critical job.
    urgent: bool,
    /// The job whose turn it was, and those that want nothing else: they see how far it is.
    watchers: Vec<Arc<Job>>,
}

/// What the dispatcher has done, or is to do without the lock.
enum Next {
    Task,
    Load,
    Ended(Active),
    Evict(u64),
    Wait,
}

/// What a synthesis thread needs of a job.
struct Ordered {
    job: Arc<Job>,
    work: Arc<Held<Box<dyn Work>>>,
    params: Arc<Params>,
    circuit: Arc<CompiledCircuit>,
}

impl Shared {
    /// Watches deadlines and takes up what goes next, until the engine stops.
    pub(super) fn dispatch_loop(&self) {
        loop {
            let seen = self.dispatch.seen();
            let (late, next, turn) = {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let now = Instant::now();
                let next = state.jobs().filter(|j| !j.is_stopping()).filter_map(|j| j.next_deadline()).min();
                let passed = |j: &&Arc<Job>| j.next_deadline().is_some_and(|d| d <= now) && !j.is_stopping();
                let late: Vec<Arc<Job>> = match next {
                    Some(next) if next <= now => state.jobs().filter(passed).cloned().collect(),
                    _ => Vec::new(),
                };
                state.number();
                let turn = if late.is_empty() { self.next(&mut state) } else { Next::Wait };
                (late, next, turn)
            };
            if !late.is_empty() {
                for job in late {
                    let (events, last) = job.expire(Instant::now());
                    for event in events {
                        self.tell(&job, event);
                    }
                    if last {
                        self.stopped(&job);
                    }
                }
                continue;
            }
            let left = next.map(|at| at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
            match turn {
                Next::Task => self.tasks.notify(),
                Next::Load => self.loads.notify(),
                Next::Ended(active) => {
                    let job = active.job.clone();
                    drop(active);
                    self.end(&job, Ok(Arc::from([])));
                }
                Next::Evict(keep) if self.evict(keep) => {}
                Next::Evict(_) | Next::Wait => self.dispatch.wait(seen, left),
            }
        }
    }

    /// Asks the scheduler and hands on what it says, all under one lock: a job cannot end in between.
    fn next(&self, state: &mut State) -> Next {
        match state.scheduler.turn(&self.accounts.budget) {
            Turn::Synthesise(task) => {
                // Held from here on, so that no eviction takes them from under the task; and by the partition, not by its
                // job, which would keep them for as long as a more urgent one that needs their bytes keeps it waiting.
                let params = state.active.get(&task.ticket).and_then(|active| match &active.params {
                    Some(given) => Some(given.clone()),
                    None => state.resident.get(active.circuit),
                });
                state.tasks.push_back((task, params));
                Next::Task
            }
            Turn::Load(ticket, permit) => {
                let load = state.active.get(&ticket).map(|a| a.circuit).and_then(|circuit| {
                    let (path, cancelled) = state.resident.begin(circuit)?;
                    let mut watchers = state.scheduler.loads_of(circuit);
                    watchers.retain(|t| *t != ticket);
                    watchers.push(ticket);
                    let jobs = watchers.iter().filter_map(|t| state.active.get(t)).map(|a| a.job.clone());
                    let watchers: Vec<_> = jobs.collect();
                    let urgent = watchers.iter().any(|job| job.priority() == Priority::Critical);
                    Some(Load { circuit, path, cancelled, permit, urgent, watchers })
                });
                let Some(load) = load else { return Next::Wait };
                for job in &load.watchers {
                    job.moves(None, Some(Stage::Loading));
                }
                state.loads.push_back(load);
                Next::Load
            }
            Turn::Loaded(ticket) => match state.active.remove(&ticket) {
                Some(active) => {
                    state.ending += 1;
                    Next::Ended(active)
                }
                None => Next::Wait,
            },
            Turn::Evict(keep) => Next::Evict(keep),
            Turn::Wait => Next::Wait,
        }
    }

    /// Lets parameters go that nobody uses; whether there were any.
    fn evict(&self, keep: u64) -> bool {
        // Those let go before may still be on their way, and be enough. Whoever frees them tells the dispatcher.
        let returning = |class| self.accounts.buffers.stats(class, Some(BufferStage::Reclaiming)).bytes;
        if Class::ALL.into_iter().any(|class| returning(class) > 0) {
            return false;
        }
        let evicted = {
            let mut guard = self.lock();
            let state = &mut *guard;
            let evicted = state.resident.evict(keep, |circuit| state.scheduler.wants(circuit));
            if let Some((circuit, bytes, _)) = &evicted {
                state.scheduler.set_params(*circuit, scheduler::Params::Missing(*bytes));
            }
            evicted
        };
        evicted.is_some()
    }

    /// Takes a file's parameters out: their bytes, and themselves, to be dropped. `None` when they are not there; an error
    /// says why they stay.
    pub(super) fn take_params(&self, path: &Path) -> Result<Option<(u64, Arc<Params>)>, &'static str> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let taken = state.resident.take(path)?;
        Ok(taken.map(|(circuit, bytes, params)| {
            state.scheduler.set_params(circuit, scheduler::Params::Missing(bytes));
            (bytes, params)
        }))
    }

    /// Loads parameters, one file after the other, until the engine stops. `urgent`: those that critical jobs need, which
    /// so wait behind no other load.
    pub(super) fn load_loop(&self, pools: &Pools, urgent: bool) {
        loop {
            let seen = self.loads.seen();
            let load = {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let first = state.loads.iter().position(|l| l.urgent || !urgent);
                first.and_then(|i| state.loads.remove(i))
            };
            let Some(Load { circuit, path, cancelled, permit, watchers, .. }) = load else {
                self.loads.wait(seen, None);
                continue;
            };
            let begun = self.timeline.now();
            let loaded = panics::guard(|| {
                let progress = |permille| watchers.iter().for_each(|job| job.report_load(permille));
                let control = Control { cancelled: &cancelled, progress: &progress };
                let options = params::ReadOptions {
                    subgroup: self.options.check_params_subgroup,
                    listed: self.options.check_params_digest,
                    most_bytes: Some(permit.bytes()),
                };
                let mut params = pools.cpu.run(|| params::read_with(&path, options, control))?;
                params::admit_read(&params, self.options.allow_insecure_params)?;
                params.charge(&self.accounts, permit)?;
                Ok(Arc::new(params))
            });
            self.timeline.span_of_thread("load parameters", begun, None);
            self.timeline.count(&self.accounts.buffers);
            let failed = {
                let mut guard = self.lock();
                let state = &mut *guard;
                let waiting = state.scheduler.of_circuit(circuit);
                let jobs: Vec<Arc<Job>> =
                    waiting.iter().filter_map(|t| state.active.get(t)).map(|a| a.job.clone()).collect();
                for job in &watchers {
                    job.moves(Some(Stage::Loading), None);
                }
                // A load is cancelled when every job that waited for it was; a job that came since begins another.
                let error = loaded.as_ref().err().filter(|_| !cancelled.load(Ordering::Acquire)).cloned();
                let now = state.resident.end(circuit, loaded.ok());
                state.scheduler.set_params(circuit, now);
                // Under the same lock: the dispatcher would begin the load again for jobs that are about to end.
                let failed: Option<Vec<_>> =
                    error.map(|e| jobs.into_iter().map(|job| Self::give_up(state, job, &e)).collect());
                failed.unwrap_or_default()
            };
            for (job, parcels, active) in failed {
                drop(parcels);
                if active.is_some() {
                    drop(active);
                    self.end(&job, Err(job.failure().unwrap_or_else(Error::cancelled)));
                }
            }
            self.dispatch.notify();
        }
    }

    /// A job fails. It comes back with what is to be dropped without the lock; when that is its place among the active, it
    /// is to be ended, too, else what is in flight of it does that.
    fn give_up(state: &mut State, job: Arc<Job>, error: &Error) -> (Arc<Job>, Vec<Parcel>, Option<Active>) {
        job.fail(error.clone());
        let (parcels, over) = state.scheduler.stop(job.ticket);
        let active = if over { state.active.remove(&job.ticket) } else { None };
        state.ending += usize::from(active.is_some());
        (job, parcels, active)
    }

    /// Synthesises partitions until the engine stops.
    pub(super) fn synthesis_loop(&self, pools: &Pools) {
        loop {
            let seen = self.tasks.seen();
            let next = {
                let mut guard = self.lock();
                let state = &mut *guard;
                if state.stopping {
                    return;
                }
                // Urgent tasks first: a free thread is never given another while one waits.
                let first = state.tasks.iter().position(|(t, _)| t.urgent).unwrap_or(0);
                state.tasks.remove(first).map(|(task, params)| {
                    let ordered = state.active.get_mut(&task.ticket).and_then(|active| {
                        active.begun.get_or_insert_with(Instant::now);
                        let (params, circuit) = (params?, active.compiled.clone()?);
                        let last = task.partition + 1 == active.work.as_ref()?.partitions();
                        let work = if last { active.work.take() } else { active.work.clone() }?;
                        Some(Ordered { job: active.job.clone(), work, params, circuit })
                    });
                    (task, ordered)
                })
            };
            match next {
                None => self.tasks.wait(seen, None),
                Some((task, Some(ordered))) => self.synthesise(pools, task, ordered),
                // Its job is over, which takes every partition in flight with it.
                Some((task, None)) => {
                    let mut state = self.lock();
                    drop(state.scheduler.synthesised(task.ticket, task.partition, task.urgent, None));
                    let job = state.active.get(&task.ticket).map(|a| a.job.clone());
                    drop(state);
                    if let Some(job) = job {
                        self.partition_over(&job, Some(Error::internal("a partition without its parameters")));
                    }
                }
            }
        }
    }

    fn synthesise(&self, pools: &Pools, task: Task, ordered: Ordered) {
        let Task { ticket, partition: k, urgent, permit } = task;
        let Ordered { job, work, params, circuit } = ordered;
        job.moves(None, Some(Stage::Witness));
        let (begun, clock) = (self.timeline.now(), Instant::now());
        let fits = fits(&params, &circuit);
        let misfit = fits.is_err().then(|| params.path.clone());
        let outcome = panics::guard(|| {
            job.check()?;
            fits?;
            let room = Room::new(&self.accounts, permit, self.scratch_bytes(&circuit), BufferStage::Synthesis);
            let pool = if urgent { &pools.urgent } else { &pools.synthesis };
            let (mut partition, inputs) = pool.run(|| {
                let partition: Partition = work.assign(k, &circuit, room, &job.cancelled)?;
                Ok::<_, Error>((partition, work.public_inputs(k)?))
            })?;
            partition.enter(BufferStage::Queued);
            Ok(Parcel { job: job.clone(), partition, inputs, params: params.clone() })
        });
        // The work may be the last of its job's; its drop may panic.
        let outcome = panics::guard(|| {
            drop(work);
            Ok(())
        })
        .and(outcome);
        drop(params);
        self.timeline.span_of_thread("witness", begun, Some((ticket, k)));
        self.timeline.count(&self.accounts.buffers);
        job.report(k, super::lane::DEVICE_FROM);
        let (parcel, error) = match outcome {
            Ok(parcel) => (Some(parcel), None),
            Err(e) => (None, Some(e)),
        };
        let failed = error.is_some();
        let took = clock.elapsed();
        if !failed {
            self.durations.witness.add(took.as_nanos() as u64);
        }
        let refused = {
            let mut state = self.lock();
            if !failed {
                state.scheduler.pace().synthesised(took.as_secs_f64());
            }
            state.scheduler.synthesised(ticket, k, urgent, parcel)
        };
        if failed || refused.is_some() {
            job.moves(Some(Stage::Witness), None);
            drop(refused);
            self.partition_over(&job, error);
        }
        if let Some(path) = misfit {
            // So that a mended file is read. Whoever holds them last does it.
            drop(self.take_params(&path));
        }
        self.handed.notify();
        self.dispatch.notify();
    }
}
