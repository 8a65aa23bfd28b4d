//! The door: which requests come in, into which places and bytes, and which join a job that is there.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::core::{Engine, Shared, State};
use super::job::{Job, Pending, Priority, Submission};
use crate::error::{Code, Error, Result};
use crate::memory::Charge;
use crate::telemetry::{Class, Stage as BufferStage};

/// Jobs that may wait or run at once when the options name no number.
const DEFAULT_QUEUE_DEPTH: usize = 64;

/// Places in the queue beyond its depth that only critical jobs may take.
const CRITICAL_PLACES: usize = 4;

/// The share of the budget (one part in so many) that requests may hold together while they wait; critical ones may go on
/// until all hold twice as much.
pub const REQUEST_PART: u64 = 16;

/// Who asks for a job.
#[derive(Clone, Copy)]
pub struct Holding {
    /// The caller's number for the pending proof; comes back with the event.
    pub key: u64,
    /// Comes back with the event.
    pub tag: u64,
    /// Time until the proof is worthless to this holder.
    pub deadline: Option<Duration>,
    /// How urgent it is to this holder.
    pub priority: Priority,
}

/// A place in the queue and bytes of the budget, for one request. Dropping it gives both back.
pub struct RequestPlace {
    charges: Option<(Charge, Charge)>,
    shared: Arc<Shared>,
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        self.shared.lock().reserved -= 1;
    }
}

impl Engine {
    /// Takes a request; returns at once. `BUSY` with a retry hint when the queue or the memory for requests is full,
    /// `TOO_LARGE` when it can never fit, `SHUTDOWN` when draining, `ID_CONFLICT` when the request id is in use for
    /// another content.
    pub fn submit(&self, submission: Submission) -> Result<Pending> {
        let Submission { key, tag, deadline, priority, fingerprint, .. } = submission;
        let holder = Holding { key, tag, deadline, priority };
        if let Some(pending) = self.join(&submission.request_id, fingerprint, holder)? {
            return Ok(pending);
        }
        let place = self.reserve(priority, submission.source.bytes() as u64)?;
        self.submit_into(place, submission)
    }

    /// A place in the queue and the budget for a request of `bytes`, so that they may be copied. Refusals as in
    /// [`submit`](Self::submit).
    pub fn reserve(&self, priority: Priority, bytes: u64) -> Result<RequestPlace> {
        let shared = &self.shared;
        let mut state = shared.lock();
        if state.draining || state.stopping {
            return Err(shared.rejected(Error::new(Code::Shutdown, "", "the engine is draining or destroyed")));
        }
        if state.count() + state.reserved >= shared.places(priority) {
            return Err(shared.rejected(shared.busy("as many proofs wait or run as may")));
        }
        let (charge, decoded) = shared.request_bytes(bytes, priority).map_err(|e| shared.rejected(e))?;
        state.reserved += 1;
        Ok(RequestPlace { charges: Some((charge, decoded)), shared: shared.clone() })
    }

    /// As [`submit`](Self::submit), into a place that was reserved for it.
    pub fn submit_into(&self, mut place: RequestPlace, submission: Submission) -> Result<Pending> {
        let shared = &self.shared;
        let Submission { key, tag, deadline, priority, fingerprint, .. } = submission;
        let holder = Holding { key, tag, deadline, priority };
        let (charge, decoded) =
            place.charges.take().ok_or_else(|| Error::internal("a place in the queue that was used before"))?;
        let mut state = shared.lock();
        if state.draining || state.stopping {
            return Err(shared.rejected(Error::new(Code::Shutdown, "", "the engine is draining or destroyed")));
        }
        // Another one with its id may have come since.
        if let Some(pending) = shared.join_in(&mut state, &submission.request_id, fingerprint, holder)? {
            return Ok(pending);
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let job = Arc::new(Job::new(ticket, submission, charge, decoded));
        if !job.request_id.is_empty() {
            state.ids.retain(|_, job| job.strong_count() > 0);
            state.ids.insert(job.request_id.clone(), Arc::downgrade(&job));
        }
        // At most so many go first; the dispatcher numbers all that wait a moment later.
        job.set_queue_position(state.arrived.len() + state.decoding.len() + state.active.len());
        state.arrived.push_back(job.clone());
        drop(state);
        shared.counts.started.fetch_add(1, Ordering::Relaxed);
        shared.arrivals.notify();
        // The dispatcher watches deadlines and numbers those who wait.
        shared.dispatch.notify();
        let end = job.first_end();
        Ok(Pending::new(job, shared.clone(), key, end))
    }

    /// Whether a request id is in use.
    pub fn knows(&self, request_id: &str) -> bool {
        !request_id.is_empty() && self.shared.lock().ids.contains_key(request_id)
    }

    /// Another hold of the job that has a request id, which becomes at least as urgent as `holder`; `None` when there is
    /// no such job, or when it is being stopped. `ID_CONFLICT` when it is of another content.
    pub fn join(&self, request_id: &str, fingerprint: u128, holder: Holding) -> Result<Option<Pending>> {
        self.shared.join_in(&mut self.shared.lock(), request_id, fingerprint, holder)
    }
}

impl Shared {
    /// Jobs that may wait or run when one of this priority comes.
    fn places(&self, priority: Priority) -> usize {
        let depth = if self.options.queue_depth == 0 { DEFAULT_QUEUE_DEPTH } else { self.options.queue_depth };
        depth + if priority == Priority::Critical { CRITICAL_PLACES } else { 0 }
    }

    fn rejected(&self, error: Error) -> Error {
        self.counts.rejected.fetch_add(1, Ordering::Relaxed);
        error
    }

    pub(super) fn busy(&self, why: &str) -> Error {
        let mut busy = Error::new(Code::Busy, "", why);
        busy.retry_after = Duration::from_nanos(self.counts.last_ns.load(Ordering::Relaxed).max(100_000_000));
        busy
    }

    /// The bytes that requests may hold together when one more is let in, so that a partition still fits beside them.
    pub(super) fn request_limit(&self, urgent: bool) -> u64 {
        self.accounts.budget.total() / REQUEST_PART * if urgent { 2 } else { 1 }
    }

    /// Whether there is room for a request's bytes, and as much again for what they decode to.
    fn request_room(&self, bytes: u64, priority: Priority) -> Result<()> {
        let urgent = priority == Priority::Critical;
        let both = bytes.saturating_mul(2);
        let budget = &self.accounts.budget;
        let most = budget.total_for(urgent);
        if both > most {
            return Err(Error::new(
                Code::TooLarge,
                "vanilla",
                format!("{bytes} bytes and what they decode to do not fit into a budget of {most}"),
            ));
        }
        let held = self.accounts.buffers.stats(Class::Request, None).bytes;
        if held > 0 && held + both > self.request_limit(urgent) {
            return Err(self.busy("the requests that wait take as much memory as they may"));
        }
        if both > most.saturating_sub(budget.used()) {
            return Err(self.busy("the budget has no room for the request now"));
        }
        Ok(())
    }

    /// Budget for a request's bytes, and for what they decode to.
    fn request_bytes(&self, bytes: u64, priority: Priority) -> Result<(Charge, Charge)> {
        self.request_room(bytes, priority)?;
        let urgent = priority == Priority::Critical;
        let take = || self.accounts.budget.try_take(bytes, urgent);
        match (take(), take()) {
            (Some(first), Some(second)) => {
                let charge = |permit| self.accounts.charge(Class::Request, BufferStage::Queued, permit);
                Ok((charge(first), charge(second)))
            }
            _ => Err(self.busy("the budget has no room for the request now")),
        }
    }

    /// As [`Engine::join`], under the lock.
    fn join_in(
        self: &Arc<Self>,
        state: &mut State,
        request_id: &str,
        fingerprint: u128,
        holder: Holding,
    ) -> Result<Option<Pending>> {
        let Some(job) = state.ids.get(request_id).and_then(Weak::upgrade) else { return Ok(None) };
        let Holding { key, tag, deadline, priority } = holder;
        if job.fingerprint != fingerprint {
            if job.is_stopping() {
                return Ok(None);
            }
            return Err(Error::new(
                Code::IdConflict,
                "request_id",
                format!("{request_id:?} is in use for another request"),
            ));
        }
        let Some((end, event)) = job.join(key, tag, deadline) else { return Ok(None) };
        if job.raise(priority) {
            state.scheduler.raise(job.ticket, priority as u32, priority == Priority::Critical);
            self.dispatch.notify();
            // It may be the other decode thread's now.
            self.arrivals.notify();
        }
        if deadline.is_some() {
            self.dispatch.notify();
        }
        if let Some(event) = event {
            self.events.push(event);
        }
        Ok(Some(Pending::new(job, self.clone(), key, end)))
    }
}
