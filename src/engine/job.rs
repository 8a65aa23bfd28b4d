//! A job, and a caller's hold of it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::core::Shared;
use super::events::{Event, Events};
use super::scheduler::Ticket;
use super::work::Source;
use crate::error::{Code, Error, Result};
use crate::groth16::PROOF_BYTES;
use crate::memory::{Charge, Held};
use crate::proofs::Kind;
use crate::sync::{lock, wait, wait_for, Condvar, Mutex};

/// How urgent a job is. More urgent jobs go first; equals go in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Whatever can wait.
    Low = 1,
    /// PoRep and SnapDeals.
    Normal = 2,
    /// WindowPoSt.
    High = 3,
    /// WinningPoSt.
    Critical = 4,
}

impl Priority {
    /// The priority a kind has when the caller names none.
    pub fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Porep | Kind::Snap => Priority::Normal,
            Kind::WindowPost => Priority::High,
            Kind::WinningPost => Priority::Critical,
        }
    }

    /// The priority with a `PROVE_PRIORITY_*` number, 0 being the kind's own. `INVALID_ARGUMENT` names `priority`.
    pub fn from_number(number: u32, kind: Kind) -> Result<Self> {
        Ok(match number {
            0 => Self::of_kind(kind),
            1 => Priority::Low,
            2 => Priority::Normal,
            3 => Priority::High,
            4 => Priority::Critical,
            _ => return Err(Error::argument("priority", format!("{number} is no priority (0 to 4)"))),
        })
    }
}

/// What a job is doing, numbered as `PROVE_STAGE_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    /// Waiting, or being decoded.
    Queued = 1,
    /// Parameters are being loaded.
    Loading = 2,
    /// A partition is being synthesised.
    Witness = 3,
    /// A partition is on the device.
    Device = 4,
    /// A proof is being put together and checked.
    Finishing = 5,
    /// Over, well or not.
    Done = 6,
}

/// The stages a partition or a job can be in, the one that is told first: the furthest.
const FURTHEST_FIRST: [Stage; 4] = [Stage::Device, Stage::Finishing, Stage::Witness, Stage::Loading];

const STAGES: [Stage; 6] =
    [Stage::Queued, Stage::Loading, Stage::Witness, Stage::Device, Stage::Finishing, Stage::Done];

/// Where a job stands. Times are nanoseconds spent in each stage so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// How much of all is done, 0 to 1000; never falls.
    pub permille: u32,
    /// Partitions in all; 0 until decoded.
    pub partitions: u32,
    /// Partitions proved.
    pub partitions_done: u32,
    /// Jobs that go first.
    pub queue_position: u32,
    /// The device, -1 the CPU or none yet.
    pub device: i32,
    /// Nanoseconds in [`Stage::Queued`], [`Stage::Loading`], [`Stage::Witness`], [`Stage::Device`], [`Stage::Finishing`].
    pub stage_ns: [u64; 5],
    /// Nanoseconds since submission, until done.
    pub total_ns: u64,
}

/// A request handed to the engine.
pub struct Submission {
    /// The bytes to prove from.
    pub source: Box<dyn Source>,
    /// How urgent it is.
    pub priority: Priority,
    /// Time until it is worthless.
    pub deadline: Option<Duration>,
    /// Comes back with the event.
    pub tag: u64,
    /// The caller's number for the pending proof; comes back with the event.
    pub key: u64,
    /// "" or a name: the same name and content joins the job that has them.
    pub request_id: String,
    /// A digest of the content, looked at when there is a `request_id`.
    pub fingerprint: u128,
}

/// One request on its way to a proof.
pub(super) struct Job {
    pub(super) ticket: Ticket,
    /// A [`Priority`]'s number; rises when somebody more urgent joins.
    priority: AtomicU32,
    pub(super) request_id: String,
    pub(super) fingerprint: u128,
    /// The bytes to prove from, until they are decoded.
    pub(super) source: Mutex<Option<Held<Box<dyn Source>>>>,
    /// What the bytes may decode to.
    pub(super) decoded: Mutex<Option<Charge>>,
    /// The partitions' proofs, in order; a partition that is not done has zeros.
    proof: Mutex<Vec<u8>>,
    /// Why it failed, while partitions are still in flight.
    failure: Mutex<Option<Error>>,
    /// Looked at by all long work.
    pub(super) cancelled: AtomicBool,
    /// Why `cancelled` is set: a [`Code`], 0 while it is not.
    stop_code: AtomicI32,
    holders: Mutex<Holders>,
    cells: Cells,
    /// How many partitions are in each stage (and whether parameters are loaded); guards the stage among the cells.
    flow: Mutex<[u32; 6]>,
    outcome: Mutex<Option<Result<Arc<[u8]>>>>,
    done: Condvar,
}

struct Holder {
    key: u64,
    tag: u64,
    deadline: Option<Instant>,
    /// The [`Code`] its own hold ended with before the job did; 0: it has not.
    end: Arc<AtomicI32>,
}

#[derive(Default)]
struct Holders {
    list: Vec<Holder>,
    /// The last one has left: nobody joins any more.
    closed: bool,
}

/// What a holder's leaving means.
pub(super) enum Left {
    /// Nothing: the job is over, or it had left before.
    Nothing,
    /// The job goes on for others; this is the leaver's event.
    Alone(Event),
    /// Nobody is left who wants it.
    Last,
}

/// Progress as atomics: written by the threads that work, read by `prove_poll`.
struct Cells {
    submitted: Instant,
    stage: AtomicU32,
    stage_since_ns: AtomicU64,
    stage_ns: [AtomicU64; 5],
    total_ns: AtomicU64,
    permille: AtomicU32,
    /// Permille of every partition.
    parts: OnceLock<Box<[AtomicU32]>>,
    partitions: AtomicU32,
    partitions_done: AtomicU32,
    queue_position: AtomicU32,
    device: AtomicI32,
}

const PRIORITIES: [Priority; 4] = [Priority::Low, Priority::Normal, Priority::High, Priority::Critical];

/// The error of work that was asked to stop.
fn stop_error(why: Code) -> Error {
    match why {
        Code::Timeout => Error::new(Code::Timeout, "deadline_ns", "the deadline passed before the proof was done"),
        Code::Shutdown => Error::new(Code::Shutdown, "", "the engine was destroyed before the proof was done"),
        _ => Error::cancelled(),
    }
}

impl Job {
    /// A submission as a job; its bytes are charged, and as much again for what they decode to.
    pub(super) fn new(ticket: Ticket, submission: Submission, charge: Charge, decoded: Charge) -> Self {
        let submitted = Instant::now();
        let first = Holder {
            key: submission.key,
            tag: submission.tag,
            deadline: submission.deadline.and_then(|d| submitted.checked_add(d)),
            end: Arc::default(),
        };
        Job {
            ticket,
            priority: AtomicU32::new(submission.priority as u32),
            request_id: submission.request_id,
            fingerprint: submission.fingerprint,
            source: Mutex::new(Some(Held::new(submission.source, charge))),
            decoded: Mutex::new(Some(decoded)),
            proof: Mutex::default(),
            failure: Mutex::default(),
            cancelled: AtomicBool::new(false),
            stop_code: AtomicI32::new(0),
            holders: Mutex::new(Holders { list: vec![first], closed: false }),
            cells: Cells {
                submitted,
                stage: AtomicU32::new(Stage::Queued as u32),
                stage_since_ns: AtomicU64::new(0),
                stage_ns: Default::default(),
                total_ns: AtomicU64::new(0),
                permille: AtomicU32::new(0),
                parts: OnceLock::new(),
                partitions: AtomicU32::new(0),
                partitions_done: AtomicU32::new(0),
                queue_position: AtomicU32::new(0),
                device: AtomicI32::new(-1),
            },
            flow: Mutex::default(),
            outcome: Mutex::new(None),
            done: Condvar::new(),
        }
    }

    /// A partition (or the load of the parameters) goes from one stage to another; `None`: from or to none. The job is in
    /// the furthest stage that anything of it is in; while nothing is in any, it stays where it was.
    pub(super) fn moves(&self, from: Option<Stage>, to: Option<Stage>) {
        let mut flow = lock(&self.flow);
        if let Some(from) = from {
            flow[from as usize - 1] = flow[from as usize - 1].saturating_sub(1);
        }
        if let Some(to) = to {
            flow[to as usize - 1] += 1;
        }
        if self.is_done() {
            return;
        }
        let Some(stage) = FURTHEST_FIRST.into_iter().find(|s| flow[*s as usize - 1] > 0) else { return };
        if stage as u32 != self.cells.stage.load(Ordering::Relaxed) {
            self.enter_at(stage, self.elapsed_ns());
        }
    }

    fn enter_at(&self, stage: Stage, now: u64) {
        let before = self.cells.stage.load(Ordering::Relaxed);
        let since = self.cells.stage_since_ns.swap(now, Ordering::Relaxed);
        if let Some(cell) = self.cells.stage_ns.get(before as usize - 1) {
            cell.fetch_add(now.saturating_sub(since), Ordering::Relaxed);
        }
        self.cells.stage.store(stage as u32, Ordering::Release);
    }

    /// How much of partition `k` is done, 0 to 1000.
    pub(super) fn report(&self, k: usize, permille: u32) {
        let Some(parts) = self.cells.parts.get() else { return };
        let Some(part) = parts.get(k) else { return };
        part.fetch_max(permille.min(1000), Ordering::Relaxed);
        let sum: u64 = parts.iter().map(|p| u64::from(p.load(Ordering::Relaxed))).sum();
        self.cells.permille.fetch_max(((sum / parts.len() as u64) as u32).min(999), Ordering::Relaxed);
    }

    /// How much of its parameters is loaded, for a job that wants nothing else.
    pub(super) fn report_load(&self, permille: u32) {
        if self.cells.partitions.load(Ordering::Relaxed) == 0 {
            self.cells.permille.fetch_max(permille.min(999), Ordering::Relaxed);
        }
    }

    /// How many partitions there are: known once it is decoded.
    pub(super) fn set_partitions(&self, all: usize) {
        self.cells.parts.get_or_init(|| (0..all).map(|_| AtomicU32::new(0)).collect());
        *lock(&self.proof) = vec![0; all * PROOF_BYTES];
        self.cells.partitions.store(all as u32, Ordering::Relaxed);
    }

    /// Partition `k` is proved.
    pub(super) fn partition_done(&self, k: usize, proof: &[u8]) {
        if let Some(place) = lock(&self.proof).get_mut(k * PROOF_BYTES..(k + 1) * PROOF_BYTES) {
            place.copy_from_slice(proof);
        }
        self.report(k, 1000);
        self.cells.partitions_done.fetch_add(1, Ordering::Relaxed);
    }

    /// The proof, once every partition is done.
    pub(super) fn take_proof(&self) -> Arc<[u8]> {
        std::mem::take(&mut *lock(&self.proof)).into()
    }

    /// Something of it failed: nothing else of it needs to be done. The first failure stays.
    pub(super) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.cancelled.store(true, Ordering::Release);
    }

    /// Why it ends otherwise than well: it was stopped, or failed.
    pub(super) fn failure(&self) -> Option<Error> {
        let failed = lock(&self.failure).clone();
        self.stop_error().or(failed)
    }

    pub(super) fn set_device(&self, device: i32) {
        self.cells.device.store(device, Ordering::Relaxed);
    }

    pub(super) fn set_queue_position(&self, position: usize) {
        self.cells.queue_position.store(position as u32, Ordering::Relaxed);
    }

    /// Asks the work to stop; the first reason stays.
    pub(super) fn stop(&self, why: Code) {
        let _ = self.stop_code.compare_exchange(0, why as i32, Ordering::Relaxed, Ordering::Relaxed);
        self.cancelled.store(true, Ordering::Release);
    }

    /// Why the work was asked to stop.
    pub(super) fn stop_error(&self) -> Option<Error> {
        let code = self.stop_code.load(Ordering::Relaxed);
        Code::ALL.into_iter().find(|c| *c as i32 == code).map(stop_error)
    }

    /// An error when the work should stop.
    pub(super) fn check(&self) -> Result<()> {
        self.failure().map_or(Ok(()), Err)
    }

    /// Whether its work should stop, for whatever reason.
    pub(super) fn is_stopping(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Partitions that are not proved.
    pub(super) fn partitions_left(&self) -> u32 {
        let c = &self.cells;
        c.partitions.load(Ordering::Relaxed).saturating_sub(c.partitions_done.load(Ordering::Relaxed))
    }

    /// How urgent it is.
    pub(super) fn priority(&self) -> Priority {
        let number = self.priority.load(Ordering::Relaxed);
        PRIORITIES.into_iter().find(|p| *p as u32 == number).unwrap_or(Priority::Normal)
    }

    /// It is at least so urgent from here on; whether it was not before.
    pub(super) fn raise(&self, priority: Priority) -> bool {
        self.priority.fetch_max(priority as u32, Ordering::Relaxed) < priority as u32
    }

    /// When the next of its holders' deadlines passes.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let holders = lock(&self.holders);
        let waiting = holders.list.iter().filter(|h| h.end.load(Ordering::Relaxed) == 0);
        waiting.filter_map(|h| h.deadline).min()
    }

    /// Lets holders go whose deadlines have passed: their events, and whether nobody is left (the job is stopped then).
    pub(super) fn expire(&self, now: Instant) -> (Vec<Event>, bool) {
        let late: Vec<u64> = {
            let holders = lock(&self.holders);
            let late = |h: &&Holder| h.end.load(Ordering::Relaxed) == 0 && h.deadline.is_some_and(|d| d <= now);
            holders.list.iter().filter(late).map(|h| h.key).collect()
        };
        let mut events = Vec::new();
        for key in late {
            match self.leave(key, Code::Timeout) {
                Left::Nothing => {}
                Left::Alone(event) => events.push(event),
                Left::Last => return (events, true),
            }
        }
        (events, false)
    }

    /// A holder does not want it any more, for a reason. The last one stops the job.
    pub(super) fn leave(&self, key: u64, why: Code) -> Left {
        let mut holders = lock(&self.holders);
        let slot = lock(&self.outcome);
        let Some(i) = holders.list.iter().position(|h| h.key == key) else { return Left::Nothing };
        if slot.is_some() || holders.list[i].end.load(Ordering::Relaxed) != 0 || holders.closed {
            return Left::Nothing;
        }
        if holders.list.iter().enumerate().all(|(k, h)| k == i || h.end.load(Ordering::Relaxed) != 0) {
            holders.closed = true;
            self.stop(why);
            return Left::Last;
        }
        let holder = &holders.list[i];
        holder.end.store(why as i32, Ordering::Release);
        let event = Event { key, tag: holder.tag, failure: Some(why) };
        drop(slot);
        self.done.notify_all();
        Left::Alone(event)
    }

    pub(super) fn elapsed_ns(&self) -> u64 {
        self.cells.submitted.elapsed().as_nanos() as u64
    }

    pub(super) fn is_done(&self) -> bool {
        self.cells.stage.load(Ordering::Acquire) == Stage::Done as u32
    }

    /// Ends the job, gives its holders their events and wakes who waits: whoever has waited finds the event there.
    pub(super) fn finish(&self, outcome: Result<Arc<[u8]>>, events: &Events) {
        let failure = outcome.as_ref().err().map(|e| e.code);
        // The bytes it was made from go to the reclaimer first.
        let input = (lock(&self.source).take(), lock(&self.decoded).take());
        drop(input);
        let flow = lock(&self.flow);
        let holders = lock(&self.holders);
        let mut slot = lock(&self.outcome);
        if slot.is_some() {
            return;
        }
        *slot = Some(outcome);
        if failure.is_none() {
            self.cells.permille.store(1000, Ordering::Relaxed);
        }
        let now = self.elapsed_ns();
        // Who looks at the same moment may have told a later one already: it never falls.
        self.cells.total_ns.fetch_max(now, Ordering::Relaxed);
        self.enter_at(Stage::Done, now);
        drop(flow);
        // Those whose hold ended before have had their events.
        for h in holders.list.iter().filter(|h| h.end.load(Ordering::Relaxed) == 0) {
            events.push(Event { key: h.key, tag: h.tag, failure });
        }
        drop((slot, holders));
        self.done.notify_all();
    }

    /// Whether the holder with this key is still there.
    pub(super) fn is_held_by(&self, key: u64) -> bool {
        lock(&self.holders).list.iter().any(|h| h.key == key)
    }

    /// Adds a holder: the flag of its own end, and an event if the job is over already. `None` when the job is being
    /// stopped, or was: its end would become that of somebody who did not ask for it.
    pub(super) fn join(
        &self,
        key: u64,
        tag: u64,
        deadline: Option<Duration>,
    ) -> Option<(Arc<AtomicI32>, Option<Event>)> {
        let mut holders = lock(&self.holders);
        let outcome = lock(&self.outcome);
        if holders.closed || self.is_stopping() {
            return None;
        }
        let end = Arc::new(AtomicI32::new(0));
        let deadline = deadline.and_then(|d| Instant::now().checked_add(d));
        holders.list.push(Holder { key, tag, deadline, end: end.clone() });
        let event = outcome.as_ref().map(|o| Event { key, tag, failure: o.as_ref().err().map(|e| e.code) });
        Some((end, event))
    }

    /// The flag of the first holder's own end.
    pub(super) fn first_end(&self) -> Arc<AtomicI32> {
        lock(&self.holders).list.first().map(|h| h.end.clone()).unwrap_or_default()
    }

    pub(super) fn progress(&self) -> Progress {
        let c = &self.cells;
        let stage = STAGES[(c.stage.load(Ordering::Acquire) as usize - 1).min(5)];
        let mut stage_ns = [0; 5];
        for (to, from) in stage_ns.iter_mut().zip(&c.stage_ns) {
            *to = from.load(Ordering::Relaxed);
        }
        let total_ns = if stage == Stage::Done {
            c.total_ns.load(Ordering::Relaxed)
        } else {
            let now = self.elapsed_ns();
            stage_ns[stage as usize - 1] += now.saturating_sub(c.stage_since_ns.load(Ordering::Relaxed));
            now.max(c.total_ns.fetch_max(now, Ordering::Relaxed))
        };
        Progress {
            stage,
            permille: c.permille.load(Ordering::Relaxed).min(if stage == Stage::Done { 1000 } else { 999 }),
            partitions: c.partitions.load(Ordering::Relaxed),
            partitions_done: c.partitions_done.load(Ordering::Relaxed),
            queue_position: if stage == Stage::Queued { c.queue_position.load(Ordering::Relaxed) } else { 0 },
            device: c.device.load(Ordering::Relaxed),
            stage_ns,
            total_ns,
        }
    }
}

/// A caller's hold of a job. Dropping it forgets the proof, and stops the work when nobody else holds it.
pub struct Pending {
    job: Arc<Job>,
    shared: Arc<Shared>,
    key: u64,
    /// The [`Code`] this hold ended with while the job went on for others that joined it; 0: it has not.
    end: Arc<AtomicI32>,
}

impl Pending {
    pub(super) fn new(job: Arc<Job>, shared: Arc<Shared>, key: u64, end: Arc<AtomicI32>) -> Self {
        Pending { job, shared, key, end }
    }

    /// How its own hold ended, if that was before the job's end.
    fn left(&self) -> Option<Code> {
        let code = self.end.load(Ordering::Acquire);
        if code == 0 {
            return None;
        }
        Some(if code == Code::Timeout as i32 { Code::Timeout } else { Code::Cancelled })
    }

    /// Where it stands. Takes no lock and allocates nothing.
    pub fn progress(&self) -> Progress {
        self.job.progress()
    }

    /// Whether there is an outcome.
    pub fn is_done(&self) -> bool {
        self.job.is_done() || self.left().is_some()
    }

    /// Waits until done (`None`: for ever); whether it is.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        let until = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut slot = lock(&self.job.outcome);
        while slot.is_none() && self.left().is_none() {
            match (timeout, until) {
                (Some(_), Some(until)) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    slot = wait_for(&self.job.done, slot, left);
                }
                // No timeout, or one past the end of the clock.
                _ => slot = wait(&self.job.done, slot),
            }
        }
        true
    }

    /// The proof's bytes or its failure; `None` while it runs.
    pub fn outcome(&self) -> Option<Result<Arc<[u8]>>> {
        let slot = lock(&self.job.outcome);
        match self.left() {
            Some(code) => Some(Err(stop_error(code))),
            None => slot.clone(),
        }
    }

    /// The code it ended with; `None` while it runs, `Some(None)` when well. Copies nothing.
    pub fn ended(&self) -> Option<Option<Code>> {
        let slot = lock(&self.job.outcome);
        if let Some(code) = self.left() {
            return Some(Some(code));
        }
        slot.as_ref().map(|outcome| outcome.as_ref().err().map(|e| e.code))
    }

    /// Cancels. Does nothing once done. The outcome is `CANCELLED`, at once while queued, else as soon as the work looks up.
    pub fn cancel(&self) {
        match self.job.leave(self.key, Code::Cancelled) {
            Left::Nothing => {}
            Left::Alone(event) => self.shared.tell(&self.job, event),
            Left::Last => self.shared.stopped(&self.job),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.cancel();
        lock(&self.job.holders).list.retain(|h| h.key != self.key);
        self.shared.forget(self.key);
    }
}
