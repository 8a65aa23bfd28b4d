//! Handles: ids in process-wide tables.
//!
//! An id is `generation << 32 | tag | slot + 1`. The tag (bit 31) tells the kinds apart; a slot's generation changes
//! whenever its value ends, so an id that was ended finds nothing even after the slot is used again. Generations begin
//! at random, so that ids of another process or made-up ones find nothing either.
//!
//! A lookup takes one shard's read lock and copies an `Arc`: it allocates nothing and waits for no call that works.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::engine::{Engine, Pending};
use crate::error::{Code, Error, Result};

/// Shards, so that threads that poll different proofs rarely write to the same lock's cache line.
const SHARDS: usize = 16;

/// Largest number of slots a table may have: slot + 1 has 31 bits.
const MAX_SLOTS: usize = (1 << 31) - 2;

/// The engines.
pub(super) static PROVERS: Table<Engine> = Table::new(0, "p");

/// The proofs that were started and not yet ended.
pub(super) static PROOFS: Table<Pending> = Table::new(1 << 31, "proof");

/// Slots with generations.
pub(super) struct Table<T> {
    tag: u32,
    /// What the C functions call the handle.
    name: &'static str,
    next_shard: AtomicU32,
    shards: [Shard<T>; SHARDS],
    /// Woken when a reserved slot gets its value or is let go.
    gate: Mutex<()>,
    settled: Condvar,
}

/// Aligned to two cache lines (the prefetcher's unit).
#[repr(align(128))]
struct Shard<T>(RwLock<Slots<T>>);

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

struct Slot<T> {
    generation: u32,
    state: State<T>,
}

enum State<T> {
    Free,
    /// The id is known to the engine already, its value is about to come.
    Reserved,
    Live(Arc<T>),
}

/// What a lookup saw.
enum Seen<T> {
    Nothing,
    Reserved,
    Live(Arc<T>),
}

/// A place in a [`Shard`] that an id names.
#[derive(Clone, Copy)]
struct Place {
    shard: usize,
    index: usize,
    generation: u32,
}

impl<T> Table<T> {
    const fn new(tag: u32, name: &'static str) -> Self {
        Table {
            tag,
            name,
            next_shard: AtomicU32::new(0),
            shards: [const { Shard(RwLock::new(Slots { slots: Vec::new(), free: Vec::new() })) }; SHARDS],
            gate: Mutex::new(()),
            settled: Condvar::new(),
        }
    }

    /// Takes an id for a value that is about to be made. Lookups of it wait until it is filled or dropped.
    pub(super) fn reserve(&self) -> Result<Reservation<'_, T>> {
        let shard = self.next_shard.fetch_add(1, Ordering::Relaxed) as usize % SHARDS;
        let mut slots = self.write(shard);
        let index = match slots.free.pop() {
            Some(index) => index,
            None => {
                let index = slots.slots.len();
                // `free` gets room for every slot, so that ending a handle never allocates.
                let more = slots.slots.len() + 1 - slots.free.len();
                if index * SHARDS + shard >= MAX_SLOTS
                    || slots.slots.try_reserve(1).is_err()
                    || slots.free.try_reserve(more).is_err()
                {
                    return Err(Error::new(Code::OutOfMemory, "handles", "there is no room for another handle"));
                }
                slots.slots.push(Slot { generation: first_generation(), state: State::Free });
                index
            }
        };
        let slot = &mut slots.slots[index];
        slot.state = State::Reserved;
        Ok(Reservation { table: self, place: Place { shard, index, generation: slot.generation }, filled: false })
    }

    /// Makes a handle for a value that is there.
    pub(super) fn insert(&self, value: T) -> Result<u64> {
        Ok(self.reserve()?.fill(value))
    }

    /// The value of a handle. `INVALID_HANDLE` when there is none.
    pub(super) fn get(&self, id: u64) -> Result<Arc<T>> {
        let place = self.place(id)?;
        match self.look(place) {
            Seen::Live(value) => Ok(value),
            Seen::Nothing => Err(self.invalid(id)),
            Seen::Reserved => self.wait(id, place),
        }
    }

    /// Whether the id is one of a living handle.
    pub(super) fn is_live(&self, id: u64) -> bool {
        self.place(id).is_ok_and(|place| !matches!(self.look(place), Seen::Nothing))
    }

    /// Ends a handle and gives its value. `INVALID_HANDLE` when there is none: of several calls one gets it.
    pub(super) fn take(&self, id: u64) -> Result<Arc<T>> {
        self.get(id)?;
        let place = self.place(id)?;
        let mut slots = self.write(place.shard);
        let slot = slots.slots.get_mut(place.index).filter(|s| s.generation == place.generation);
        let slot = slot.filter(|s| matches!(s.state, State::Live(_))).ok_or_else(|| self.invalid(id))?;
        let state = std::mem::replace(&mut slot.state, State::Free);
        slot.generation = next_generation(slot.generation);
        slots.free.push(place.index);
        match state {
            State::Live(value) => Ok(value),
            // Looked at a few lines above, under the same lock.
            State::Free | State::Reserved => Err(self.invalid(id)),
        }
    }

    /// Waits for a reserved slot: its maker is inside `Engine::submit`, which waits for no work.
    #[cold]
    fn wait(&self, id: u64, place: Place) -> Result<Arc<T>> {
        let mut gate = self.gate();
        loop {
            match self.look(place) {
                Seen::Live(value) => return Ok(value),
                Seen::Nothing => return Err(self.invalid(id)),
                Seen::Reserved => gate = self.settled.wait(gate).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn look(&self, place: Place) -> Seen<T> {
        let slots = self.read(place.shard);
        match slots.slots.get(place.index) {
            Some(slot) if slot.generation == place.generation => match &slot.state {
                State::Live(value) => Seen::Live(value.clone()),
                State::Reserved => Seen::Reserved,
                State::Free => Seen::Nothing,
            },
            _ => Seen::Nothing,
        }
    }

    fn place(&self, id: u64) -> Result<Place> {
        let low = id as u32;
        let number = low & !(1 << 31);
        if low & (1 << 31) != self.tag || number == 0 {
            return Err(self.invalid(id));
        }
        let number = number as usize - 1;
        Ok(Place { shard: number % SHARDS, index: number / SHARDS, generation: (id >> 32) as u32 })
    }

    fn id(&self, place: Place) -> u64 {
        // `reserve` keeps the number below 2^31 - 1.
        let number = (place.index * SHARDS + place.shard + 1) as u64;
        u64::from(place.generation) << 32 | u64::from(self.tag) | number
    }

    #[cold]
    fn invalid(&self, id: u64) -> Error {
        let text = if id == 0 { "no handle (id 0)".into() } else { format!("{id:#x} is no living handle of its kind") };
        Error::new(Code::InvalidHandle, self.name, text)
    }

    fn settle(&self) {
        let _gate = self.gate();
        self.settled.notify_all();
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, shard: usize) -> RwLockReadGuard<'_, Slots<T>> {
        self.shards[shard].0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, shard: usize) -> RwLockWriteGuard<'_, Slots<T>> {
        self.shards[shard].0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id without a value yet; dropped unfilled, the id ends.
pub(super) struct Reservation<'a, T> {
    table: &'a Table<T>,
    place: Place,
    filled: bool,
}

impl<T> Reservation<'_, T> {
    /// The id.
    pub(super) fn id(&self) -> u64 {
        self.table.id(self.place)
    }

    /// Gives the id its value.
    pub(super) fn fill(mut self, value: T) -> u64 {
        self.filled = true;
        let value = Arc::new(value);
        self.table.write(self.place.shard).slots[self.place.index].state = State::Live(value);
        self.table.settle();
        self.id()
    }
}

impl<T> Drop for Reservation<'_, T> {
    fn drop(&mut self) {
        if !self.filled {
            {
                let mut slots = self.table.write(self.place.shard);
                let slot = &mut slots.slots[self.place.index];
                slot.state = State::Free;
                slot.generation = next_generation(slot.generation);
                slots.free.push(self.place.index);
            }
            self.table.settle();
        }
    }
}

fn first_generation() -> u32 {
    // Every RandomState hashes differently.
    (RandomState::new().hash_one(0u8) as u32).max(1)
}

fn next_generation(generation: u32) -> u32 {
    generation.wrapping_add(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_ends_once_and_its_slot_is_used_again() {
        let table: Table<u32> = Table::new(0, "p");
        let first = table.insert(7).unwrap();
        assert_ne!(first, 0);
        assert_eq!(*table.get(first).unwrap(), 7);
        assert_eq!(*table.take(first).unwrap(), 7);
        for stale in [table.get(first), table.take(first)] {
            assert_eq!(stale.unwrap_err().code, Code::InvalidHandle);
        }
        // Round robin over the shards comes back to the freed slot.
        let ids: Vec<u64> = (0..SHARDS as u32).map(|i| table.insert(i).unwrap()).collect();
        assert!(ids.iter().any(|id| *id as u32 == first as u32));
        assert!(!ids.contains(&first));
        assert!(table.get(first).is_err());
        for (i, id) in ids.iter().enumerate() {
            assert_eq!(*table.get(*id).unwrap(), i as u32);
        }
    }

    #[test]
    fn kinds_are_told_apart_and_invented_ids_find_nothing() {
        let (a, b): (Table<u32>, Table<u32>) = (Table::new(0, "p"), Table::new(1 << 31, "proof"));
        let (x, y) = (a.insert(1).unwrap(), b.insert(2).unwrap());
        assert!(a.get(y).is_err() && b.get(x).is_err() && a.take(y).is_err() && b.take(x).is_err());
        for id in [0, 1, 2, 1 << 31, 1 << 32, x ^ 1 << 32, x ^ 1 << 63, x ^ 1, x + 16, x | 1 << 31, u64::MAX] {
            assert!(a.get(id).is_err(), "{id:#x}");
            assert!(!a.is_live(id));
        }
        assert!(a.is_live(x));
    }

    #[test]
    fn a_lookup_of_a_reserved_id_waits_for_its_value() {
        static TABLE: Table<u32> = Table::new(0, "p");
        for fill in [true, false] {
            let reservation = TABLE.reserve().unwrap();
            let id = reservation.id();
            let reader = std::thread::spawn(move || TABLE.get(id).map(|v| *v));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!reader.is_finished());
            if fill {
                assert_eq!(reservation.fill(9), id);
            } else {
                drop(reservation);
            }
            assert_eq!(reader.join().unwrap().ok(), fill.then_some(9));
        }
    }

    #[test]
    fn of_many_takers_one_gets_it() {
        let table: Table<u32> = Table::new(0, "p");
        for _ in 0..200 {
            let id = table.insert(1).unwrap();
            let got: usize = std::thread::scope(|s| {
                let takers: Vec<_> = (0..4).map(|_| s.spawn(|| usize::from(table.take(id).is_ok()))).collect();
                takers.into_iter().map(|t| t.join().unwrap()).sum()
            });
            assert_eq!(got, 1);
        }
    }
}
