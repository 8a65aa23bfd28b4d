//! Drain and shutdown against start.

use std::collections::VecDeque;

use loom::thread;

use super::check;
use crate::memory::Signal;
use crate::sync::{lock, wait, Arc, Condvar, Mutex};

#[derive(Default)]
struct Job {
    /// How often it has ended: where `Job` has its outcome.
    ends: Mutex<usize>,
}

#[derive(Default)]
struct State {
    arrived: VecDeque<Arc<Job>>,
    decoding: Option<Arc<Job>>,
    ending: usize,
    draining: bool,
    stopping: bool,
}

impl State {
    fn count(&self) -> usize {
        self.arrived.len() + usize::from(self.decoding.is_some()) + self.ending
    }
}

/// `core::Shared`'s door and end, with one thread that works off what arrives.
#[derive(Default)]
struct Engine {
    state: Mutex<State>,
    arrivals: Signal,
    ended: Condvar,
}

impl Engine {
    /// `Engine::submit`; `None` when refused.
    fn submit(&self) -> Option<Arc<Job>> {
        let mut state = lock(&self.state);
        if state.draining || state.stopping {
            return None;
        }
        let job = Arc::new(Job::default());
        state.arrived.push_back(job.clone());
        drop(state);
        self.arrivals.notify();
        Some(job)
    }

    /// `Shared::decode_loop`, with all of the work in it.
    fn work(&self) {
        loop {
            let seen = self.arrivals.seen();
            let job = {
                let mut state = lock(&self.state);
                if state.stopping {
                    return;
                }
                let job = state.arrived.pop_front();
                state.decoding = job.clone();
                job
            };
            let Some(job) = job else {
                self.arrivals.wait(seen, None);
                continue;
            };
            {
                let mut state = lock(&self.state);
                state.decoding = None;
                state.ending += 1;
            }
            self.end(&job);
        }
    }

    /// `Shared::end`.
    fn end(&self, job: &Job) {
        *lock(&job.ends) += 1;
        lock(&self.state).ending -= 1;
        self.ended.notify_all();
    }

    /// `Engine::drain`.
    fn drain(&self) {
        let mut state = lock(&self.state);
        state.draining = true;
        while state.count() > 0 {
            state = wait(&self.ended, state);
        }
    }

    /// `Engine::shutdown`.
    fn shutdown(&self, worker: thread::JoinHandle<()>) {
        lock(&self.state).stopping = true;
        self.arrivals.notify();
        worker.join().expect("the worker ends");
        let left = {
            let mut state = lock(&self.state);
            let mut left: Vec<Arc<Job>> = state.arrived.drain(..).collect();
            left.extend(state.decoding.take());
            state.ending += left.len();
            left
        };
        for job in left {
            self.end(&job);
        }
    }
}

fn start() -> (Arc<Engine>, thread::JoinHandle<()>) {
    let engine: Arc<Engine> = Arc::default();
    let e = engine.clone();
    (engine, thread::spawn(move || e.work()))
}

/// Requests race with a drain: each is refused, or over when the drain returns; and the drain returns.
pub fn drain_against_start() {
    check(3, 4, || {
        let (engine, worker) = start();
        let e = engine.clone();
        let caller = thread::spawn(move || [e.submit(), e.submit()]);
        engine.drain();
        let over_at_drain = lock(&engine.state).count() == 0;
        let jobs = caller.join().expect("the caller ends");
        let ends: Vec<usize> = jobs.iter().flatten().map(|job| *lock(&job.ends)).collect();
        engine.shutdown(worker);
        assert!(over_at_drain);
        assert!(ends.iter().all(|n| *n == 1), "ends {ends:?}");
        assert!(engine.submit().is_none());
    });
}

/// Requests race with a shutdown while another thread drains: each is refused or ends once, and the drain returns.
pub fn drain_and_shutdown_against_start() {
    check(3, 4, || {
        let (engine, worker) = start();
        let e = engine.clone();
        let caller = thread::spawn(move || e.submit());
        let e = engine.clone();
        let drainer = thread::spawn(move || e.drain());
        engine.shutdown(worker);
        drainer.join().expect("the drain returns");
        let job = caller.join().expect("the caller ends");
        assert!(job.is_none_or(|job| *lock(&job.ends) == 1));
        assert_eq!(lock(&engine.state).count(), 0);
    });
}
