//! The policies that splitprove does not have, to be compared with.
//!
//! Both take partitions up in order of arrival and have a permit for every worker.

use std::collections::VecDeque;

/// When a partition's permit comes back, and where synthesised partitions wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The permit comes back when synthesis ends; the lanes' queue has no end.
    AtEndOfSynthesis,
    /// The permit comes back when the partition is in the lanes' queue, which has one place; until then its worker waits.
    QueueOfOne,
}

struct Job {
    ticket: u64,
    next: usize,
    partitions: usize,
}

/// What the rules have in place of a scheduler. `P` is a synthesised partition.
pub struct Rival<P> {
    rule: Rule,
    workers: usize,
    synthesising: usize,
    jobs: VecDeque<Job>,
    /// Held by a worker that waits to hand it over.
    blocked: VecDeque<P>,
    queue: VecDeque<P>,
}

impl<P> Rival<P> {
    pub fn new(rule: Rule, workers: usize) -> Self {
        Rival {
            rule,
            workers,
            synthesising: 0,
            jobs: VecDeque::new(),
            blocked: VecDeque::new(),
            queue: VecDeque::new(),
        }
    }

    pub fn add(&mut self, ticket: u64, partitions: usize) {
        self.jobs.push_back(Job { ticket, next: 0, partitions });
    }

    /// The next partition to be synthesised, if a worker is free.
    pub fn turn(&mut self) -> Option<(u64, usize)> {
        if self.synthesising + self.blocked.len() >= self.workers {
            return None;
        }
        let job = self.jobs.front_mut()?;
        let next = (job.ticket, job.next);
        job.next += 1;
        if job.next == job.partitions {
            self.jobs.pop_front();
        }
        self.synthesising += 1;
        Some(next)
    }

    pub fn synthesised(&mut self, parcel: P) {
        self.synthesising -= 1;
        if self.rule == Rule::QueueOfOne && !self.queue.is_empty() {
            self.blocked.push_back(parcel);
        } else {
            self.queue.push_back(parcel);
        }
    }

    /// A partition for a lane that is free.
    pub fn take(&mut self) -> Option<P> {
        let parcel = self.queue.pop_front();
        if self.queue.is_empty() {
            self.queue.extend(self.blocked.pop_front());
        }
        parcel
    }
}
