//! Cancel against finish.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use loom::thread;

use super::gauge::{Gauge, Memory};
use super::{check, demand, scheduler};
use crate::engine::{Handed, Scheduler, Task, Turn};
use crate::memory::{Budget, Permit, Signal};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{lock, Arc, Mutex};

const PARTITIONS: usize = 2;
const BYTES: u64 = 10;

/// A job: its flag, and what the test wants to know of it.
#[derive(Default)]
struct Job {
    cancelled: AtomicBool,
    proved: AtomicUsize,
    ends: AtomicUsize,
    well: AtomicUsize,
    /// Ends while something of it was in flight.
    early: AtomicUsize,
}

/// A synthesised partition: the memory goes before its bytes.
struct Parcel {
    memory: Memory,
    _permit: Permit,
}

struct State {
    scheduler: Scheduler<Parcel>,
    active: Option<Arc<Job>>,
    ending: usize,
}

/// What `core::Shared` has, of one job with ticket 1.
struct Engine {
    state: Mutex<State>,
    budget: Arc<Budget>,
    dispatch: Arc<Signal>,
    handed: Signal,
    gauge: Arc<Gauge>,
}

impl Engine {
    fn new(job: &Arc<Job>) -> Self {
        let dispatch = Arc::new(Signal::default());
        let scheduler = scheduler(&[demand(1, PARTITIONS, BYTES)]);
        Engine {
            state: Mutex::new(State { scheduler, active: Some(job.clone()), ending: 0 }),
            budget: Arc::new(Budget::new(PARTITIONS as u64 * BYTES, 0, dispatch.clone())),
            dispatch,
            handed: Signal::default(),
            gauge: Arc::default(),
        }
    }

    /// `Shared::stopped`.
    fn stopped(&self, job: &Arc<Job>) {
        let (over, dropped) = {
            let mut state = lock(&self.state);
            let (parcels, over) = state.scheduler.stop(1);
            let active = if over { state.active.take() } else { None };
            if over {
                state.ending += 1;
            }
            (over, (parcels, active))
        };
        drop(dropped);
        if over {
            self.end(job, false);
        }
        self.dispatch.notify();
        self.handed.notify();
    }

    /// `Shared::partition_over`.
    fn partition_over(&self, job: &Arc<Job>, failed: bool) {
        let mut parcels = Vec::new();
        let active = {
            let mut state = lock(&self.state);
            if failed {
                job.cancelled.store(true, Ordering::Release);
            }
            let mut over = state.scheduler.done(1);
            if !over && job.cancelled.load(Ordering::Acquire) {
                (parcels, over) = state.scheduler.stop(1);
            }
            let active = if over { state.active.take() } else { None };
            state.ending += usize::from(active.is_some());
            active
        };
        drop(parcels);
        if active.is_some() {
            drop(active);
            let well = !job.cancelled.load(Ordering::Acquire);
            self.end(job, well);
        }
        self.dispatch.notify();
        self.handed.notify();
    }

    /// `Shared::end`.
    fn end(&self, job: &Job, well: bool) {
        job.ends.fetch_add(1, SeqCst);
        job.well.fetch_add(usize::from(well), SeqCst);
        let mut state = lock(&self.state);
        job.early.fetch_add(state.scheduler.of_circuit(1).len(), SeqCst);
        state.ending -= 1;
    }

    /// The dispatcher and a synthesis thread in one, until the job is over.
    fn synthesise(&self) {
        loop {
            let seen = self.dispatch.seen();
            let (turn, job) = {
                let mut state = lock(&self.state);
                let Some(job) = state.active.clone() else { return };
                (state.scheduler.turn(&self.budget), job)
            };
            let Turn::Synthesise(Task { ticket, partition, urgent, permit }) = turn else {
                self.dispatch.wait(seen, None);
                continue;
            };
            let failed = job.cancelled.load(Ordering::Acquire);
            let parcel = (!failed).then(|| Parcel { memory: Memory::new(&self.gauge, BYTES), _permit: permit });
            let refused = lock(&self.state).scheduler.synthesised(ticket, partition, urgent, parcel);
            if failed || refused.is_some() {
                drop(refused);
                self.partition_over(&job, failed);
            }
            self.handed.notify();
        }
    }

    /// A lane that finishes what it starts, until the job is over. `fails`: the first partition fails on it.
    fn prove(&self, mut fails: bool) {
        loop {
            let seen = self.handed.seen();
            let (handed, job) = {
                let mut state = lock(&self.state);
                let Some(job) = state.active.clone() else { return };
                (state.scheduler.take(), job)
            };
            let Some(Handed { payload, .. }) = handed else {
                self.handed.wait(seen, None);
                continue;
            };
            let failed = std::mem::take(&mut fails) || job.cancelled.load(Ordering::Acquire);
            drop(payload.memory);
            job.proved.fetch_add(usize::from(!failed), SeqCst);
            self.partition_over(&job, failed);
        }
    }
}

fn race(cancel: bool, fails: bool) {
    let job = Arc::new(Job::default());
    let engine = Arc::new(Engine::new(&job));
    let e = engine.clone();
    let synthesis = thread::spawn(move || e.synthesise());
    let e = engine.clone();
    let lane = thread::spawn(move || e.prove(fails));
    if cancel {
        // As in Pending::cancel.
        job.cancelled.store(true, Ordering::Release);
        engine.stopped(&job);
    }
    synthesis.join().expect("synthesis ends");
    lane.join().expect("the lane ends");
    let state = lock(&engine.state);
    assert_eq!((job.ends.load(SeqCst), state.ending, state.active.is_some()), (1, 0, false));
    assert_eq!(job.early.load(SeqCst), 0);
    assert!(job.well.load(SeqCst) == 0 || job.proved.load(SeqCst) == PARTITIONS);
    assert!(cancel || fails || job.well.load(SeqCst) == 1);
    assert!(state.scheduler.of_circuit(1).is_empty());
    assert_eq!((state.scheduler.ready(), state.scheduler.synthesising()), (0, 0));
    let (made, dropped) = engine.gauge.pieces();
    assert_eq!((made, engine.gauge.now(), engine.budget.used()), (dropped, 0, 0));
    assert!(engine.gauge.most() <= engine.budget.total());
}

/// A cancel races with the synthesis, the lane and the end of a job with two partitions. It ends exactly once, well only
/// when every partition was proved, and whatever was made for it is dropped once.
pub fn cancel_against_finish() {
    check(3, 5, || race(true, false));
}

/// The same while the first partition fails on the lane.
pub fn cancel_against_failure() {
    check(3, 5, || race(true, true));
}

/// Nobody cancels: it ends, once and well.
pub fn a_job_that_is_left_alone_ends_well() {
    check(2, 3, || race(false, false));
}
