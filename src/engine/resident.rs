//! The parameters an engine holds: each file once, loaded when a job needs it, let go when others need the bytes.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use super::scheduler;
use crate::circuit::Shape;
use crate::params::Params;

/// A parameter file that an engine holds, or is loading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldParams {
    /// The file.
    pub path: PathBuf,
    /// Bytes of its points, decoded.
    pub bytes: u64,
    /// Whether it is there: else it is being loaded.
    pub resident: bool,
    /// Partitions that use it now. Parameters without any can be let go.
    pub users: usize,
}

/// What is known of one parameter file.
pub(super) struct Slot {
    pub(super) circuit: u64,
    pub(super) path: PathBuf,
    /// Bytes of its points, decoded.
    pub(super) bytes: u64,
    pub(super) shape: Shape,
    state: State,
    /// Larger: used later.
    used: u64,
}

enum State {
    Missing,
    Loading(Arc<AtomicBool>),
    Resident(Arc<Params>),
}

/// Parameters taken out: their circuit's number, their bytes, and themselves, to be dropped without a lock.
pub(super) type Taken = (u64, u64, Arc<Params>);

/// Parameter files by path.
#[derive(Default)]
pub(super) struct Resident {
    slots: Vec<Slot>,
    uses: u64,
    next: u64,
}

impl Resident {
    /// A number for parameters that are no file.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The file's slot, made if need be. A file that is not held may have changed since it was last looked at.
    pub(super) fn slot(&mut self, path: &Path, bytes: u64, shape: Shape) -> &Slot {
        let i = match self.slots.iter().position(|s| s.path == path) {
            Some(i) => i,
            None => {
                let circuit = self.number();
                self.slots.push(Slot { circuit, path: path.into(), bytes, shape, state: State::Missing, used: 0 });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[i];
        if matches!(slot.state, State::Missing) {
            (slot.bytes, slot.shape) = (bytes, shape);
        }
        slot
    }

    /// Shape and bytes of a file that is held.
    pub(super) fn held(&self, path: &Path) -> Option<(u64, Shape)> {
        let slot = self.slots.iter().find(|s| s.path == path)?;
        (!matches!(slot.state, State::Missing)).then_some((slot.bytes, slot.shape))
    }

    fn find(&mut self, circuit: u64) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|s| s.circuit == circuit)
    }

    /// The parameters, if they are there. Counts as a use.
    pub(super) fn get(&mut self, circuit: u64) -> Option<Arc<Params>> {
        self.uses += 1;
        let uses = self.uses;
        let slot = self.find(circuit)?;
        slot.used = uses;
        match &slot.state {
            State::Resident(params) => Some(params.clone()),
            _ => None,
        }
    }

    /// A load begins: its file and its cancel flag.
    pub(super) fn begin(&mut self, circuit: u64) -> Option<(PathBuf, Arc<AtomicBool>)> {
        let slot = self.find(circuit)?;
        let cancelled = Arc::new(AtomicBool::new(false));
        slot.state = State::Loading(cancelled.clone());
        Some((slot.path.clone(), cancelled))
    }

    /// The cancel flag of a load that goes on.
    pub(super) fn loading(&mut self, circuit: u64) -> Option<Arc<AtomicBool>> {
        match &self.find(circuit)?.state {
            State::Loading(cancelled) => Some(cancelled.clone()),
            _ => None,
        }
    }

    /// A load is over; `None`: it failed. What its jobs wait for from here on.
    pub(super) fn end(&mut self, circuit: u64, params: Option<Arc<Params>>) -> scheduler::Params {
        let Some(slot) = self.find(circuit) else { return scheduler::Params::Missing(0) };
        match params {
            Some(params) => {
                slot.state = State::Resident(params);
                scheduler::Params::Resident
            }
            None => {
                slot.state = State::Missing;
                scheduler::Params::Missing(slot.bytes)
            }
        }
    }

    /// Takes out parameters that nobody holds, except `keep`'s: those that were used longest ago, and rather those that
    /// no job (`wanted`) waits for. The circuit's number and bytes, and the parameters, to be dropped without a lock.
    pub(super) fn evict(&mut self, keep: u64, wanted: impl Fn(u64) -> bool) -> Option<Taken> {
        let idle = |s: &&mut Slot| {
            s.circuit != keep && matches!(&s.state, State::Resident(params) if Arc::strong_count(params) == 1)
        };
        let slot = self.slots.iter_mut().filter(idle).min_by_key(|s| (wanted(s.circuit), s.used))?;
        match std::mem::replace(&mut slot.state, State::Missing) {
            State::Resident(params) => Some((slot.circuit, slot.bytes, params)),
            other => {
                slot.state = other;
                None
            }
        }
    }

    /// Takes a file's parameters out: its circuit's number and bytes, and the parameters, to be dropped without a lock.
    /// `None` when they are not there; an error says that they are being loaded or that a partition holds them.
    pub(super) fn take(&mut self, path: &Path) -> Result<Option<Taken>, &'static str> {
        let Some(slot) = self.slots.iter_mut().find(|s| s.path == path) else { return Ok(None) };
        match &slot.state {
            State::Missing => return Ok(None),
            State::Loading(_) => return Err("the parameters are being loaded"),
            State::Resident(params) if Arc::strong_count(params) > 1 => return Err("proofs use the parameters"),
            State::Resident(_) => {}
        }
        match std::mem::replace(&mut slot.state, State::Missing) {
            State::Resident(params) => Ok(Some((slot.circuit, slot.bytes, params))),
            _ => Ok(None),
        }
    }

    /// What is there, or being loaded.
    pub(super) fn list(&self) -> Vec<HeldParams> {
        let held = |slot: &Slot| {
            let (resident, users) = match &slot.state {
                State::Missing => return None,
                State::Loading(_) => (false, 0),
                State::Resident(params) => (true, Arc::strong_count(params) - 1),
            };
            Some(HeldParams { path: slot.path.clone(), bytes: slot.bytes, resident, users })
        };
        self.slots.iter().filter_map(held).collect()
    }

    /// Bytes of the parameters that are there.
    pub(super) fn bytes(&self) -> u64 {
        self.slots.iter().filter(|s| matches!(s.state, State::Resident(_))).map(|s| s.bytes).sum()
    }

    /// Lets everything go; the parameters, to be dropped without a lock.
    pub(super) fn clear(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.slots)
    }

    /// Cancels every load.
    pub(super) fn cancel_loads(&self) {
        for slot in &self.slots {
            if let State::Loading(cancelled) = &slot.state {
                cancelled.store(true, std::sync::atomic::Ordering::Release);
            }
        }
    }
}
