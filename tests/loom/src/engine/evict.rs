//! Eviction against take-up.

use std::collections::VecDeque;
use std::path::Path;

use loom::thread;

use super::resident::Resident;
use super::scheduler::{Demand, Params as Wanted, Scheduler, Task, Ticket, Turn};
use crate::circuit::Shape;
use crate::memory::{Budget, Permit, Signal};
use crate::params::Params;
use crate::scenarios::{check, demand, scheduler};
use crate::sync::{lock, Arc, Mutex};

/// Bytes of a circuit's parameters and of a partition. The budget has room for one circuit and one partition.
const PARAMS: u64 = 2;
const PARTITION: u64 = 1;

struct State {
    scheduler: Scheduler<()>,
    resident: Resident,
    tasks: VecDeque<(Task, Option<Arc<Params>>)>,
    /// Every job's circuit, by ticket.
    circuits: Vec<u64>,
    /// Parameters that came with a job, by ticket, until it is over: none did.
    given: Vec<Option<Arc<Params>>>,
    /// Jobs that are not over.
    left: usize,
    /// Partitions whose parameters were gone.
    failed: usize,
}

/// What the dispatcher, the loader and a synthesis thread share.
struct Engine {
    state: Mutex<State>,
    budget: Arc<Budget>,
    dispatch: Arc<Signal>,
    tasks: Signal,
}

enum Next {
    Task,
    Load(u64, Permit),
    Evict(u64),
    Wait,
}

impl Engine {
    /// An engine that will have `jobs` jobs, of a circuit each.
    fn new(jobs: usize) -> Arc<Self> {
        let dispatch = Arc::new(Signal::default());
        let mut resident = Resident::default();
        let circuits = (0..jobs).map(|k| resident.slot(Path::new(&k.to_string()), PARAMS, Shape).circuit).collect();
        Arc::new(Engine {
            state: Mutex::new(State {
                scheduler: scheduler(&[]),
                resident,
                tasks: VecDeque::new(),
                circuits,
                given: vec![None; jobs],
                left: jobs,
                failed: 0,
            }),
            budget: Arc::new(Budget::new(PARAMS + PARTITION, 0, dispatch.clone())),
            dispatch,
            tasks: Signal::default(),
        })
    }

    fn add(&self, ticket: Ticket, priority: u32, partitions: usize) {
        let mut state = lock(&self.state);
        let circuit = state.circuits[ticket as usize];
        let params = Wanted::Missing(PARAMS);
        state.scheduler.add(Demand { priority, circuit, params, ..demand(ticket, partitions, PARTITION) });
        drop(state);
        self.dispatch.notify();
    }

    /// `Shared::dispatch_loop` and `Shared::load_loop` in one, until the jobs are over.
    fn dispatch(&self) {
        loop {
            let seen = self.dispatch.seen();
            let next = {
                let mut state = lock(&self.state);
                if state.left == 0 {
                    return;
                }
                self.next(&mut state)
            };
            match next {
                Next::Task => self.tasks.notify(),
                Next::Load(circuit, permit) => {
                    let loaded = Arc::new(Params { circuit, permit });
                    let mut state = lock(&self.state);
                    let now = state.resident.end(circuit, Some(loaded));
                    state.scheduler.set_params(circuit, now);
                }
                Next::Evict(keep) if self.evict(keep) => {}
                Next::Evict(_) | Next::Wait => self.dispatch.wait(seen, None),
            }
        }
    }

    /// `Shared::next`.
    fn next(&self, state: &mut State) -> Next {
        match state.scheduler.turn(&self.budget) {
            Turn::Synthesise(task) => {
                let circuit = state.circuits[task.ticket as usize];
                let given = state.given[task.ticket as usize].clone();
                let params = given.or_else(|| state.resident.get(circuit));
                state.tasks.push_back((task, params));
                Next::Task
            }
            Turn::Load(ticket, permit) => {
                let circuit = state.circuits[ticket as usize];
                state.resident.begin(circuit).expect("it has a slot");
                Next::Load(circuit, permit)
            }
            Turn::Evict(keep) => Next::Evict(keep),
            Turn::Loaded(_) | Turn::Wait => Next::Wait,
        }
    }

    /// `Shared::evict`.
    fn evict(&self, keep: u64) -> bool {
        let evicted = {
            let mut guard = lock(&self.state);
            let state = &mut *guard;
            let evicted = state.resident.evict(keep, |circuit| state.scheduler.wants(circuit));
            if let Some((circuit, bytes, _)) = &evicted {
                state.scheduler.set_params(*circuit, Wanted::Missing(*bytes));
            }
            evicted
        };
        evicted.is_some()
    }

    /// A synthesis thread and a lane in one, until the jobs are over.
    fn work(&self) {
        loop {
            let seen = self.tasks.seen();
            let next = {
                let mut state = lock(&self.state);
                if state.left == 0 {
                    return;
                }
                state.tasks.pop_front()
            };
            let Some((task, params)) = next else {
                self.tasks.wait(seen, None);
                continue;
            };
            let circuit = lock(&self.state).circuits[task.ticket as usize];
            let there = params.as_ref().is_some_and(|p| p.circuit == circuit);
            let Task { ticket, partition, urgent, permit } = task;
            // As when a lane is done: the partition's memory and its hold of the parameters go before it is over.
            drop(permit);
            drop(params);
            let given = {
                let mut state = lock(&self.state);
                state.failed += usize::from(!there);
                state.scheduler.synthesised(ticket, partition, urgent, None);
                let over = state.scheduler.done(ticket);
                state.left -= usize::from(over);
                over.then(|| state.given[ticket as usize].take())
            };
            drop(given);
            self.dispatch.notify();
            self.tasks.notify();
        }
    }

    fn assert_all_proved(self: Arc<Self>) {
        let (failed, left) = {
            let state = lock(&self.state);
            (state.failed, state.left)
        };
        assert_eq!((failed, left), (0, 0));
        let gone = lock(&self.state).resident.clear();
        drop(gone);
        assert_eq!(self.budget.used(), 0);
    }
}

/// Two jobs of different circuits, whose parameters do not fit in together. While the first one's partition is taken up
/// and no thread has it yet, the dispatcher looks for parameters to let go of: not those.
pub fn an_eviction_leaves_a_task_its_parameters() {
    check(2, 3, || {
        let engine = Engine::new(2);
        engine.add(0, 2, 1);
        engine.add(1, 2, 1);
        let e = engine.clone();
        let worker = thread::spawn(move || e.work());
        engine.dispatch();
        worker.join().expect("the worker ends");
        engine.assert_all_proved();
    });
}

/// A more urgent job of another circuit arrives while a job is under way, and there is no room for both circuits. The
/// first one lets its parameters go between two partitions, and loads them again later.
pub fn a_job_under_way_makes_room_for_a_more_urgent_one() {
    check(2, 3, || {
        let engine = Engine::new(2);
        engine.add(0, 2, 2);
        let e = engine.clone();
        let worker = thread::spawn(move || e.work());
        let e = engine.clone();
        let caller = thread::spawn(move || e.add(1, 3, 1));
        engine.dispatch();
        worker.join().expect("the worker ends");
        caller.join().expect("the caller ends");
        engine.assert_all_proved();
    });
}

/// What a dispatcher and a loader share of one job.
struct Loading {
    scheduler: Scheduler<()>,
    load: Option<Permit>,
    begun: usize,
    over: bool,
}

/// A load fails and gives its bytes back, which wakes the dispatcher, before its job is told. The dispatcher does not begin
/// it again for a job that is about to end.
pub fn a_failed_load_is_not_begun_again() {
    check(3, 5, || {
        let dispatch = Arc::new(Signal::default());
        let loads = Arc::new(Signal::default());
        let budget = Arc::new(Budget::new(PARAMS + PARTITION, 0, dispatch.clone()));
        let jobs = [Demand { params: Wanted::Missing(PARAMS), ..demand(1, 1, PARTITION) }];
        let shared = Arc::new(Mutex::new(Loading { scheduler: scheduler(&jobs), load: None, begun: 0, over: false }));
        let (s, d, l, b) = (shared.clone(), dispatch.clone(), loads.clone(), budget.clone());
        let dispatcher = thread::spawn(move || loop {
            let seen = d.seen();
            {
                let mut state = lock(&s);
                if state.over {
                    return;
                }
                if let Turn::Load(_, permit) = state.scheduler.turn(&b) {
                    state.load = Some(permit);
                    state.begun += 1;
                    drop(state);
                    l.notify();
                    continue;
                }
            }
            d.wait(seen, None);
        });
        // As in load_loop.
        let permit = loop {
            let seen = loads.seen();
            let load = lock(&shared).load.take();
            match load {
                Some(permit) => break permit,
                None => loads.wait(seen, None),
            }
        };
        drop(permit);
        {
            let mut state = lock(&shared);
            state.scheduler.set_params(1, Wanted::Missing(PARAMS));
            (_, state.over) = state.scheduler.stop(1);
        }
        dispatch.notify();
        dispatcher.join().expect("the dispatcher ends");
        let mut state = lock(&shared);
        assert_eq!((state.over, state.begun), (true, 1));
        drop(state.load.take());
        assert_eq!(budget.used(), 0);
    });
}
