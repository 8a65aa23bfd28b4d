//! Where large buffers come from and who answers for them: the budget, the counters and the reclaimer of an engine.

use std::fmt;
use std::ops::Deref;

use super::budget::{Budget, Permit};
use super::buf::Buf;
use super::plain::Plain;
use super::reclaimer::{Place, Reclaimer};
use crate::error::{Code, Error, Result};
use crate::sync::Arc;
use crate::telemetry::{Buffers, Class, Counted, Stage};

/// What one engine's large memory is accounted with.
#[derive(Clone)]
pub struct Accounts {
    /// Bytes.
    pub budget: Arc<Budget>,
    /// Counts.
    pub buffers: Arc<Buffers>,
    /// Freeing.
    pub reclaimer: Arc<Reclaimer>,
}

impl Accounts {
    /// The charge of a buffer that has `permit`'s bytes.
    pub fn charge(&self, class: Class, stage: Stage, permit: Permit) -> Charge {
        let counted = Counted::new(&self.buffers, class, stage, permit.bytes());
        Charge { counted, permit, place: self.reclaimer.place() }
    }
}

/// What a buffer of an engine carries: its count, its share of the budget, and its place in the reclaimer's queue.
pub struct Charge {
    // In this order: the count falls before its bytes can be taken again.
    counted: Counted,
    permit: Permit,
    place: Place,
}

impl Charge {
    /// Bytes it stands for.
    pub fn bytes(&self) -> u64 {
        self.permit.bytes()
    }

    /// Its buffer has no more than `bytes` from here on.
    pub fn shrink_to(&mut self, bytes: u64) {
        self.counted.shrink_to(bytes);
        self.permit.shrink_to(bytes);
    }

    /// Its buffer is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.counted.enter(stage);
    }

    /// Hands `memory` to the reclaimer; the charge goes when the memory has.
    pub fn reclaim<T: Send + 'static>(mut self, memory: T) {
        self.counted.enter(Stage::Reclaiming);
        let Charge { counted, permit, place } = self;
        // Fields drop in order: memory, count, bytes.
        place.push(Box::new((memory, counted, permit)));
    }
}

/// A value that the reclaimer frees, with its charge.
pub struct Held<T: Send + 'static> {
    value: Option<T>,
    charge: Option<Charge>,
}

impl<T: Send + 'static> Held<T> {
    /// A value and what is charged for it.
    pub fn new(value: T, charge: Charge) -> Self {
        Held { value: Some(value), charge: Some(charge) }
    }
}

impl<T: Send + 'static> Deref for Held<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // Only `drop` takes the value.
        self.value.as_ref().expect("a held value is there until it is dropped")
    }
}

impl<T: Send + 'static> Drop for Held<T> {
    fn drop(&mut self) {
        if let (Some(value), Some(charge)) = (self.value.take(), self.charge.take()) {
            charge.reclaim(value);
        }
    }
}

/// The bytes a partition may take: its permit, from which its buffers get their shares.
///
/// The default has no limit and counts nothing: for proofs outside an engine.
#[derive(Default)]
pub struct Room {
    inside: Option<Inside>,
}

struct Inside {
    accounts: Accounts,
    /// What no buffer has taken yet.
    left: Permit,
    stage: Stage,
    /// Scratch space, counted as one buffer.
    scratch: Option<Charge>,
}

impl Room {
    /// A room of `permit`'s bytes, `scratch` of them for working memory that is not in buffers.
    pub fn new(accounts: &Accounts, mut permit: Permit, scratch: u64, stage: Stage) -> Self {
        let scratch = permit.split(scratch).map(|share| accounts.charge(Class::Device, stage, share));
        Room { inside: Some(Inside { accounts: accounts.clone(), left: permit, stage, scratch }) }
    }

    /// An empty buffer for `capacity` values that cannot grow beyond. `PARAMS_CORRUPT` when the room was made for less:
    /// its size came from the parameters. `OUT_OF_MEMORY` names `what`.
    pub fn buf<T: Plain>(&mut self, what: &'static str, class: Class, capacity: usize) -> Result<Buf<T>> {
        let charge = self.charge::<T>(what, class, capacity)?;
        let mut buf = Buf::with_capacity(what, capacity)?;
        if let Some(charge) = charge {
            buf.set_charge(charge);
        }
        Ok(buf)
    }

    /// As [`buf`](Self::buf), `len` zeros.
    pub fn zeroed<T: Plain>(&mut self, what: &'static str, class: Class, len: usize) -> Result<Buf<T>> {
        let charge = self.charge::<T>(what, class, len)?;
        let mut buf = Buf::zeroed(what, len)?;
        if let Some(charge) = charge {
            buf.set_charge(charge);
        }
        Ok(buf)
    }

    /// The charge of a buffer for `capacity` values; none without a limit.
    fn charge<T>(&mut self, what: &'static str, class: Class, capacity: usize) -> Result<Option<Charge>> {
        let Some(inside) = &mut self.inside else { return Ok(None) };
        let share = inside
            .left
            .split(mapped_bytes::<T>(capacity))
            .ok_or_else(|| Error::new(Code::ParamsCorrupt, what, "the circuit is larger than its parameters say"))?;
        Ok(Some(inside.accounts.charge(class, inside.stage, share)))
    }

    /// What is left is in another stage from here on; so is every buffer made later.
    pub fn enter(&mut self, stage: Stage) {
        if let Some(inside) = &mut self.inside {
            inside.stage = stage;
            if let Some(scratch) = &mut inside.scratch {
                scratch.enter(stage);
            }
        }
    }

    /// Gives back what no buffer has taken, scratch space aside.
    pub fn close(&mut self) {
        if let Some(inside) = &mut self.inside {
            inside.left.shrink_to(0);
        }
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inside {
            None => f.write_str("Room(no limit)"),
            Some(inside) => write!(f, "Room({} bytes left)", inside.left.bytes()),
        }
    }
}

/// The bytes a buffer of `capacity` values maps: whole pages.
pub const fn mapped_bytes<T>(capacity: usize) -> u64 {
    (capacity as u64 * size_of::<T>() as u64).div_ceil(4096) * 4096
}
