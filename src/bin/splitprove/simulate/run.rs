//! One run: stand-in stages around the engine's scheduler, budget, counters and reclaimer queue, on a virtual clock.
//!
//! Events are taken in order of time, equals in the order they were made, so that a run depends on its arguments alone.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use splitprove::engine::{Demand, Pace, ParamsState, Scheduler, Turn, REQUEST_PART};
use splitprove::error::{Error, Result};
use splitprove::memory::{Accounts, Budget, Charge, Load, Permit, Reclaimer};
use splitprove::telemetry::{Buffers, Class, Stage};

use super::machine::{nanos, Machine, Nanos, Work};
use super::rival::{Rival, Rule};

/// Who says what goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The engine's scheduler within the budget.
    Ours,
    /// The engine's scheduler without a budget's end.
    Unbounded,
    /// Another rule, without a budget.
    Rival(Rule),
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// From the first submission to the last proof.
    pub end_ns: Nanos,
    /// Proofs made.
    pub proofs: usize,
    /// The most partitions that had memory at one time, those being freed included.
    pub peak_partitions: usize,
    /// The most sets of evaluations (a, b and c) at one time.
    pub peak_evaluations: usize,
    /// The most bytes at one time: parameters, requests, partitions.
    pub peak_bytes: u64,
    /// The most bytes that the engine's budget counted.
    pub budget_peak_bytes: u64,
    /// The part of the lanes' time, from the first partition they get to the end of the last one, that they had none.
    pub lane_idle: f64,
    /// Bytes from each point of time on.
    pub trace: Vec<(Nanos, u64)>,
    /// Submissions and take-ups in order.
    pub log: Vec<Step>,
}

/// What the scheduler was given, and what it gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Proof so-and-so came.
    Submitted(u64),
    /// Its partition so-and-so was taken up.
    TakenUp(u64, usize),
    /// It is over.
    Over(u64),
}

/// A partition on its way.
struct Parcel {
    ticket: u64,
    evaluations: Option<Charge>,
    witness: Charge,
}

enum Event {
    Synthesised { ticket: u64, k: usize, parcel: Parcel },
    Device { lane: usize, parcel: Parcel },
    Finished(Parcel),
    Freed { load: Load, gone: Gone, bytes: u64 },
}

/// What is gone when the reclaimer is done with a load.
#[derive(Clone, Copy)]
enum Gone {
    Request,
    Evaluations,
    /// The last of a partition.
    Witness,
}

enum Who {
    Engine(Scheduler<Parcel>),
    Rival(Rival<Parcel>),
}

struct Run<'a> {
    machine: &'a Machine,
    work: &'a Work,
    who: Who,
    accounts: Accounts,
    now: Nanos,
    made: u64,
    events: BTreeMap<(Nanos, u64), Event>,
    /// Proofs submitted; the number of the next one.
    submitted: usize,
    /// Partitions that are not over, and the decoded request until the last one is synthesised, of every proof.
    left: Vec<usize>,
    to_synthesise: Vec<usize>,
    decoded: Vec<Option<Charge>>,
    params: Option<Charge>,
    lanes: Vec<bool>,
    finishing: bool,
    to_finish: VecDeque<Parcel>,
    freeing: bool,
    /// What waits in the reclaimer's queue, in its order.
    to_free: VecDeque<(Gone, u64)>,
    partitions: usize,
    evaluations: usize,
    bytes: u64,
    lanes_from: Option<Nanos>,
    lanes_until: Nanos,
    out: Outcome,
}

/// Runs `work` on `machine`, which have been checked. `CANCELLED` when that is set meanwhile.
pub fn run(machine: &Machine, work: &Work, policy: Policy, cancelled: &AtomicBool) -> Result<Outcome> {
    let total = if policy == Policy::Ours { machine.budget } else { i64::MAX as u64 };
    let who = match policy {
        Policy::Ours | Policy::Unbounded => Who::Engine(Scheduler::new(Pace::new(machine.workers, machine.lanes))),
        Policy::Rival(rule) => Who::Rival(Rival::new(rule, machine.workers)),
    };
    let accounts = Accounts {
        budget: Arc::new(Budget::new(total, 0, Arc::default())),
        buffers: Arc::new(Buffers::default()),
        reclaimer: Arc::new(Reclaimer::default()),
    };
    let n = work.proofs.len();
    let mut run = Run {
        machine,
        work,
        who,
        accounts,
        now: 0,
        made: 0,
        events: BTreeMap::new(),
        submitted: 0,
        left: work.proofs.iter().map(|p| p.partitions).collect(),
        to_synthesise: work.proofs.iter().map(|p| p.partitions).collect(),
        decoded: (0..n).map(|_| None).collect(),
        params: None,
        lanes: vec![false; machine.lanes],
        finishing: false,
        to_finish: VecDeque::new(),
        freeing: false,
        to_free: VecDeque::new(),
        partitions: 0,
        evaluations: 0,
        bytes: 0,
        lanes_from: None,
        lanes_until: 0,
        out: Outcome::default(),
    };
    run.go(cancelled)?;
    Ok(run.out)
}

impl Run<'_> {
    fn go(&mut self, cancelled: &AtomicBool) -> Result<()> {
        self.settle(true);
        while let Some(((at, _), event)) = self.events.pop_first() {
            if cancelled.load(Ordering::Acquire) {
                return Err(Error::cancelled());
            }
            self.now = at;
            // Lanes are woken by all but freed bytes, as the engine wakes them.
            let wakes_lanes = !matches!(event, Event::Freed { .. });
            self.happens(event);
            self.settle(wakes_lanes);
        }
        self.out.budget_peak_bytes = self.accounts.budget.peak();
        let span = self.lanes_until - self.lanes_from.unwrap_or(0);
        let worked =
            self.out.log.iter().filter(|s| matches!(s, Step::TakenUp(..))).count() as u64 * nanos(self.machine.device);
        let all = span as f64 * self.machine.lanes as f64;
        self.out.lane_idle = if all > 0.0 { 1.0 - worked as f64 / all } else { 0.0 };
        Ok(())
    }

    fn after(&mut self, ns: Nanos, event: Event) {
        self.events.insert((self.now + ns, self.made), event);
        self.made += 1;
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Synthesised { ticket, k, parcel } => {
                self.to_synthesise[ticket as usize] -= 1;
                if self.to_synthesise[ticket as usize] == 0 {
                    if let Some(request) = self.decoded[ticket as usize].take() {
                        self.free(request, Gone::Request);
                    }
                }
                match &mut self.who {
                    Who::Engine(scheduler) => {
                        let seconds = self.machine.synthesis_ns(self.work.seed, ticket, k) as f64 / 1e9;
                        scheduler.pace().synthesised(seconds);
                        // Nothing is ever stopped here, so nothing comes back.
                        drop(scheduler.synthesised(ticket, k, false, Some(parcel)));
                    }
                    Who::Rival(rival) => rival.synthesised(parcel),
                }
            }
            Event::Device { lane, mut parcel } => {
                self.lanes[lane] = false;
                self.lanes_until = self.now;
                if let Some(evaluations) = parcel.evaluations.take() {
                    self.free(evaluations, Gone::Evaluations);
                }
                if let Who::Engine(scheduler) = &mut self.who {
                    scheduler.pace().proved(self.machine.device);
                }
                self.to_finish.push_back(parcel);
            }
            Event::Finished(parcel) => {
                self.finishing = false;
                let ticket = parcel.ticket;
                self.free(parcel.witness, Gone::Witness);
                if let Who::Engine(scheduler) = &mut self.who {
                    scheduler.done(ticket);
                }
                self.left[ticket as usize] -= 1;
                if self.left[ticket as usize] == 0 {
                    self.out.proofs += 1;
                    self.out.end_ns = self.now;
                    self.out.log.push(Step::Over(ticket));
                }
            }
            Event::Freed { load, gone, bytes } => {
                self.freeing = false;
                // The count falls, and the bytes go back to the budget.
                drop(load);
                match gone {
                    Gone::Request => {}
                    Gone::Evaluations => self.evaluations -= 1,
                    Gone::Witness => self.partitions -= 1,
                }
                self.bytes -= bytes;
                self.sample();
            }
        }
    }

    /// Everything that can begin now begins.
    fn settle(&mut self, wakes_lanes: bool) {
        while self.submit() || self.take_up() {}
        if wakes_lanes {
            self.begin_on_lanes();
            // A place among the ready may be free.
            while self.take_up() {}
        }
        self.begin_finishing();
        self.begin_freeing();
    }

    /// Submits the next proof, if it may be in flight and the engine would not be busy.
    fn submit(&mut self) -> bool {
        if self.submitted == self.work.proofs.len() || self.submitted - self.out.proofs >= self.work.concurrency {
            return false;
        }
        let proof = &self.work.proofs[self.submitted];
        let budget = &self.accounts.budget;
        let held = self.accounts.buffers.stats(Class::Request, None).bytes;
        if held > 0 && held + 2 * proof.request > budget.total() / REQUEST_PART {
            return false;
        }
        let (Some(came), Some(decoded)) =
            (budget.try_take(proof.request, false), budget.try_take(proof.request, false))
        else {
            return false;
        };
        let charge = |permit| self.accounts.charge(Class::Request, Stage::Queued, permit);
        let (came, decoded) = (charge(came), charge(decoded));
        let ticket = self.submitted as u64;
        self.decoded[self.submitted] = Some(decoded);
        self.submitted += 1;
        self.take_bytes(2 * proof.request);
        // Decoding takes no time here.
        self.free(came, Gone::Request);
        match &mut self.who {
            Who::Engine(scheduler) => scheduler.add(Demand {
                ticket,
                priority: proof.priority,
                urgent: false,
                partitions: proof.partitions,
                load_only: false,
                bytes: proof.partition_bytes(),
                circuit: 0,
                params: match &self.params {
                    None => ParamsState::Missing(self.machine.params),
                    Some(_) => ParamsState::Resident,
                },
            }),
            Who::Rival(rival) => rival.add(ticket, proof.partitions),
        }
        self.out.log.push(Step::Submitted(ticket));
        true
    }

    /// Takes the next partition (or the parameters) up, if its turn has come.
    fn take_up(&mut self) -> bool {
        let (ticket, k, permit) = match &mut self.who {
            Who::Engine(scheduler) => match scheduler.turn(&self.accounts.budget) {
                Turn::Load(_, permit) => {
                    scheduler.set_params(0, ParamsState::Resident);
                    self.hold_params(permit);
                    return true;
                }
                Turn::Synthesise(task) => (task.ticket, task.partition, task.permit),
                // There are no parameters that nobody uses, and nobody wants parameters alone.
                Turn::Evict(_) | Turn::Loaded(_) | Turn::Wait => return false,
            },
            Who::Rival(rival) => {
                // Without a budget's end whatever is asked for is there.
                if self.params.is_none() {
                    let permit = self.accounts.budget.try_take(self.machine.params, false);
                    return permit.map(|permit| self.hold_params(permit)).is_some();
                }
                let Some((ticket, k)) = rival.turn() else { return false };
                let bytes = self.work.proofs[ticket as usize].partition_bytes();
                let Some(permit) = self.accounts.budget.try_take(bytes, false) else { return false };
                (ticket, k, permit)
            }
        };
        self.out.log.push(Step::TakenUp(ticket, k));
        self.partitions += 1;
        self.evaluations += 1;
        self.take_bytes(permit.bytes());
        let mut witness = permit;
        let evaluations = witness.split(self.work.proofs[ticket as usize].evaluations);
        let charge = |class, permit| self.accounts.charge(class, Stage::Synthesis, permit);
        let parcel = Parcel {
            ticket,
            evaluations: evaluations.map(|permit| charge(Class::Evaluations, permit)),
            witness: charge(Class::Witness, witness),
        };
        let ns = self.machine.synthesis_ns(self.work.seed, ticket, k);
        self.after(ns, Event::Synthesised { ticket, k, parcel });
        true
    }

    fn hold_params(&mut self, permit: Permit) {
        self.take_bytes(permit.bytes());
        self.params = Some(self.accounts.charge(Class::Params, Stage::Loading, permit));
    }

    fn begin_on_lanes(&mut self) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane] {
                continue;
            }
            let taken = match &mut self.who {
                Who::Engine(scheduler) => {
                    let handed = scheduler.take();
                    if handed.is_none() {
                        scheduler.lane_waits();
                    }
                    handed.map(|h| h.payload)
                }
                Who::Rival(rival) => rival.take(),
            };
            if let Some(parcel) = taken {
                self.lanes[lane] = true;
                self.lanes_from.get_or_insert(self.now);
                self.after(nanos(self.machine.device), Event::Device { lane, parcel });
            }
        }
    }

    fn begin_finishing(&mut self) {
        if self.finishing {
            return;
        }
        if let Some(parcel) = self.to_finish.pop_front() {
            self.finishing = true;
            self.after(nanos(self.machine.finish), Event::Finished(parcel));
        }
    }

    /// Hands memory to the reclaimer.
    fn free(&mut self, charge: Charge, gone: Gone) {
        self.to_free.push_back((gone, charge.bytes()));
        charge.reclaim(());
    }

    fn begin_freeing(&mut self) {
        if self.freeing {
            return;
        }
        let (Some((gone, bytes)), Some(load)) = (self.to_free.pop_front(), self.accounts.reclaimer.pop()) else {
            return;
        };
        self.freeing = true;
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(self.machine.free_rate));
        self.after(ns as Nanos, Event::Freed { load, gone, bytes });
    }

    fn take_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.sample();
    }

    fn sample(&mut self) {
        let out = &mut self.out;
        out.peak_partitions = out.peak_partitions.max(self.partitions);
        out.peak_evaluations = out.peak_evaluations.max(self.evaluations);
        out.peak_bytes = out.peak_bytes.max(self.bytes);
        match out.trace.last_mut() {
            Some((at, bytes)) if *at == self.now => *bytes = self.bytes,
            _ => out.trace.push((self.now, self.bytes)),
        }
    }
}
