//! Who goes next: a state machine without threads, clocks or locks.
//!
//! The engine's threads drive it under the engine's lock; `splitprove simulate` drives the same code with a virtual clock.
//!
//! Jobs stand in the order of their priority, equals in the order of arrival. Partitions are taken up in that order. The
//! most urgent partition that does not fit into the budget keeps every less urgent one waiting: otherwise small partitions
//! could starve a large one for ever. A permit covers all a partition will ever take, so that every partition that has one
//! gets to its end whatever the others do, and bytes come back.

use super::pace::Pace;
use crate::memory::{Budget, Permit};
use crate::sync::Arc;

/// A job's number, in order of arrival.
pub type Ticket = u64;

/// What a job's parameters are waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Params {
    /// To be loaded; so many bytes of budget.
    Missing(u64),
    /// For the load that goes on.
    Loading,
    /// For nothing.
    Resident,
}

/// A decoded job, as far as scheduling cares.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Its number.
    pub ticket: Ticket,
    /// Larger is more urgent.
    pub priority: u32,
    /// Goes through lanes before anything else, may use the reserve, and is synthesised beside the others.
    pub urgent: bool,
    /// Partitions, at least one.
    pub partitions: usize,
    /// Whether it wants its parameters loaded and nothing else; it has one partition then, which is never taken up.
    pub load_only: bool,
    /// Bytes of budget that a partition takes.
    pub bytes: u64,
    /// Which parameters: equal numbers share them.
    pub circuit: u64,
    /// Whether those are there.
    pub params: Params,
}

/// What to do next.
pub enum Turn {
    /// Load the parameters of a job's circuit, into these bytes.
    Load(Ticket, Permit),
    /// End a job whose parameters are there and which wanted nothing else; it is out of the scheduler.
    Loaded(Ticket),
    /// Synthesise a partition, into these bytes.
    Synthesise(Task),
    /// Let go of parameters that nobody uses, except of this circuit, and ask again; if there are none, wait.
    Evict(u64),
    /// Nothing can be done before something changes.
    Wait,
}

/// A partition to synthesise, with the bytes it may take.
pub struct Task {
    /// Its job.
    pub ticket: Ticket,
    /// Its number in the job.
    pub partition: usize,
    /// Whether its job is urgent.
    pub urgent: bool,
    /// Its share of the budget, for as long as it has memory.
    pub permit: Permit,
}

struct Entry {
    demand: Demand,
    /// The partition to be synthesised next.
    next: usize,
    /// Partitions that have been taken up and are not over.
    in_flight: usize,
}

struct Ready<P> {
    ticket: Ticket,
    priority: u32,
    urgent: bool,
    partition: usize,
    payload: P,
}

/// A synthesised partition that a lane takes.
pub struct Handed<P> {
    /// Its job.
    pub ticket: Ticket,
    /// Its number in the job.
    pub partition: usize,
    /// What synthesis made.
    pub payload: P,
}

/// The scheduler. `P` is a synthesised partition.
pub struct Scheduler<P> {
    entries: Vec<Entry>,
    /// Has a place for every permit: nobody ever waits to hand over.
    ready: Vec<Ready<P>>,
    synthesising: usize,
    synthesising_urgent: usize,
    pace: Pace,
}

/// Urgent partitions synthesised at one time, beside the others.
const URGENT_WIDTH: usize = 1;

impl<P> Scheduler<P> {
    /// No jobs; `pace` says how many partitions may be in the making.
    pub fn new(pace: Pace) -> Self {
        Scheduler { entries: Vec::new(), ready: Vec::new(), synthesising: 0, synthesising_urgent: 0, pace }
    }

    /// The pace, to tell it of durations.
    pub fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    /// Takes a job in.
    pub fn add(&mut self, demand: Demand) {
        let rank = |d: &Demand| (std::cmp::Reverse(d.priority), d.ticket);
        let at = self.entries.partition_point(|e| rank(&e.demand) <= rank(&demand));
        self.entries.insert(at, Entry { demand, next: 0, in_flight: 0 });
    }

    /// A job is at least so urgent from here on.
    pub fn raise(&mut self, ticket: Ticket, priority: u32, urgent: bool) {
        let Some(i) = self.entries.iter().position(|e| e.demand.ticket == ticket) else { return };
        let mut entry = self.entries.remove(i);
        entry.demand.priority = entry.demand.priority.max(priority);
        entry.demand.urgent |= urgent;
        let rank = |d: &Demand| (std::cmp::Reverse(d.priority), d.ticket);
        let at = self.entries.partition_point(|e| rank(&e.demand) <= rank(&entry.demand));
        for ready in self.ready.iter_mut().filter(|r| r.ticket == ticket) {
            (ready.priority, ready.urgent) = (entry.demand.priority, entry.demand.urgent);
        }
        self.entries.insert(at, entry);
        self.ready.sort_by_key(|r| (std::cmp::Reverse(r.priority), r.ticket, r.partition));
    }

    /// Jobs that have partitions to be taken up, most urgent first.
    pub fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.entries.iter().filter(|e| e.next == 0 && !e.stopped()).map(|e| e.demand.ticket)
    }

    /// Partitions that wait for a lane.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Partitions that are being synthesised.
    pub fn synthesising(&self) -> usize {
        self.synthesising + self.synthesising_urgent
    }

    /// Whether a job that is not over needs this circuit's parameters.
    pub fn wants(&self, circuit: u64) -> bool {
        self.entries.iter().any(|e| e.demand.circuit == circuit)
    }

    /// Jobs that need this circuit's parameters and have not ended.
    pub fn of_circuit(&self, circuit: u64) -> Vec<Ticket> {
        self.entries.iter().filter(|e| e.demand.circuit == circuit).map(|e| e.demand.ticket).collect()
    }

    /// Of those, the ones that want nothing else.
    pub fn loads_of(&self, circuit: u64) -> Vec<Ticket> {
        let only = |e: &&Entry| e.demand.circuit == circuit && e.demand.load_only;
        self.entries.iter().filter(only).map(|e| e.demand.ticket).collect()
    }

    /// The state of a circuit's parameters has changed.
    pub fn set_params(&mut self, circuit: u64, params: Params) {
        for e in self.entries.iter_mut().filter(|e| e.demand.circuit == circuit) {
            e.demand.params = params;
        }
    }

    /// What to do next. Takes the bytes for it.
    pub fn turn(&mut self, budget: &Arc<Budget>) -> Turn {
        let (target, width) = (self.pace.target(), self.pace.width());
        let may_begin = self.synthesising < width && self.synthesising + self.ready.len() < target;
        for i in 0..self.entries.len() {
            let Entry { demand, next, .. } = &self.entries[i];
            let demand = *demand;
            if *next == demand.partitions {
                continue;
            }
            match demand.params {
                Params::Loading => continue,
                Params::Missing(bytes) => {
                    let Some(permit) = budget.try_take(bytes, demand.urgent) else {
                        return Turn::Evict(demand.circuit);
                    };
                    self.set_params(demand.circuit, Params::Loading);
                    return Turn::Load(demand.ticket, permit);
                }
                Params::Resident if demand.load_only => {
                    self.entries.remove(i);
                    return Turn::Loaded(demand.ticket);
                }
                Params::Resident if demand.urgent && self.synthesising_urgent >= URGENT_WIDTH => continue,
                Params::Resident if !demand.urgent && !may_begin => return Turn::Wait,
                Params::Resident => {
                    let Some(permit) = budget.try_take(demand.bytes, demand.urgent) else {
                        return Turn::Evict(demand.circuit);
                    };
                    // A place for every permit: handing over does not even allocate.
                    self.ready.reserve(self.synthesising + self.synthesising_urgent + 1);
                    let entry = &mut self.entries[i];
                    let partition = entry.next;
                    entry.next += 1;
                    entry.in_flight += 1;
                    *if demand.urgent { &mut self.synthesising_urgent } else { &mut self.synthesising } += 1;
                    return Turn::Synthesise(Task { ticket: demand.ticket, partition, urgent: demand.urgent, permit });
                }
            }
        }
        Turn::Wait
    }

    /// A partition's synthesis is over. `Some(payload)` is handed over to the lanes, unless its job was stopped meanwhile:
    /// then it comes back, to be dropped.
    pub fn synthesised(&mut self, ticket: Ticket, partition: usize, urgent: bool, payload: Option<P>) -> Option<P> {
        *if urgent { &mut self.synthesising_urgent } else { &mut self.synthesising } -= 1;
        let payload = payload?;
        let Some(entry) = self.entries.iter().find(|e| e.demand.ticket == ticket).filter(|e| !e.stopped()) else {
            return Some(payload);
        };
        let priority = entry.demand.priority;
        let rank = |priority, ticket, partition| (std::cmp::Reverse(priority), ticket, partition);
        let mine = rank(priority, ticket, partition);
        let at = self.ready.partition_point(|r| rank(r.priority, r.ticket, r.partition) <= mine);
        self.ready.insert(at, Ready { ticket, priority, urgent, partition, payload });
        None
    }

    /// The most urgent synthesised partition, for a lane that is free. While an urgent one is being synthesised (which is
    /// short) lanes wait for it instead of beginning another: so that it waits for one partition at most.
    pub fn take(&mut self) -> Option<Handed<P>> {
        if self.ready.is_empty() || (self.synthesising_urgent > 0 && !self.ready[0].urgent) {
            return None;
        }
        let Ready { ticket, partition, payload, .. } = self.ready.remove(0);
        Some(Handed { ticket, partition, payload })
    }

    /// A lane goes idle while partitions are being synthesised and more could be: had more been ready, it would not.
    pub fn lane_waits(&mut self) {
        let wanted = |e: &Entry| e.next < e.demand.partitions && e.demand.params == Params::Resident;
        if self.synthesising > 0 && self.synthesising_urgent == 0 && self.entries.iter().any(wanted) {
            self.pace.starved();
        }
    }

    /// A partition is over, well or not. True when its job has nothing left to do.
    pub fn done(&mut self, ticket: Ticket) -> bool {
        let Some(i) = self.entries.iter().position(|e| e.demand.ticket == ticket) else { return false };
        self.entries[i].in_flight -= 1;
        self.sweep(i)
    }

    /// Takes up no more of a job's partitions, and takes those that wait for a lane out. They come back to be dropped;
    /// true when nothing of the job is left in flight.
    pub fn stop(&mut self, ticket: Ticket) -> (Vec<P>, bool) {
        let Some(i) = self.entries.iter().position(|e| e.demand.ticket == ticket) else { return (Vec::new(), false) };
        self.entries[i].demand.partitions = 0;
        self.entries[i].next = 0;
        let mut dropped = Vec::new();
        let mut k = 0;
        while k < self.ready.len() {
            if self.ready[k].ticket == ticket {
                dropped.push(self.ready.remove(k).payload);
            } else {
                k += 1;
            }
        }
        self.entries[i].in_flight -= dropped.len();
        let over = self.sweep(i);
        (dropped, over)
    }

    fn sweep(&mut self, i: usize) -> bool {
        let entry = &self.entries[i];
        let over = entry.in_flight == 0 && entry.next == entry.demand.partitions;
        if over {
            self.entries.remove(i);
        }
        over
    }
}

impl Entry {
    fn stopped(&self) -> bool {
        self.demand.partitions == 0
    }
}
