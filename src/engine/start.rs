//! What a thread needs before it works: address space for its start, and its thread-locals.
//!
//! glibc ends the process when a thread touches its first thread-local with a destructor, or one of a library that was
//! loaded later, and no memory is left for the note it takes of it. A thread that has all its thread-locals from the
//! start cannot meet that later, and one is only started where the memory for them is there.

use std::ptr::{self, NonNull};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::panics;

/// Address space of a start beyond the new thread's own: the standard library's stack of 2 MiB with its guard, and what
/// the heap grows by.
const START_BYTES: usize = 4 << 20;

/// Address space left to the new thread for its first allocations: twice what glibc's heap grows by where it cannot
/// have an arena.
const FIRST_BYTES: usize = 2 << 20;

/// More than a thread's first allocations come to: 2 KiB for crossbeam's participant, 1 KiB for thread-locals.
const HEAP_BYTES: usize = 64 << 10;

/// Address space that is held and not used.
struct Space {
    at: NonNull<libc::c_void>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the value alone, and nothing is read from or written to it.
unsafe impl Send for Space {}

impl Space {
    fn new(bytes: usize) -> Result<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping anywhere.
        let at = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        match NonNull::new(at) {
            Some(at) if at.as_ptr() != libc::MAP_FAILED => Ok(Space { at, bytes }),
            _ => Err(Error::out_of_memory("threads", bytes)),
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's and nobody looks into it.
        unsafe { libc::munmap(self.at.as_ptr(), self.bytes) };
    }
}

/// The starting side of a handshake: made before the thread, waited for after.
pub(super) struct Starter {
    arrived: Arc<Arrived>,
}

/// The new thread's side.
pub(super) struct Starting {
    arrived: Arc<Arrived>,
    room: Option<Space>,
}

#[derive(Default)]
struct Arrived {
    /// Whether the thread can work; `None` while it has not said.
    ready: Mutex<Option<bool>>,
    said: Condvar,
}

impl Arrived {
    fn say(&self, ready: bool) {
        let mut said = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        said.get_or_insert(ready);
        drop(said);
        self.said.notify_one();
    }
}

/// Both sides, and the memory for a start. `OUT_OF_MEMORY` without it.
pub(super) fn handshake() -> Result<(Starter, Starting)> {
    let room = Space::new(FIRST_BYTES)?;
    drop(Space::new(START_BYTES)?);
    let arrived = Arc::new(Arrived::default());
    Ok((Starter { arrived: arrived.clone() }, Starting { arrived, room: Some(room) }))
}

impl Starter {
    /// Waits until the thread has what it needs; whether it has.
    pub(super) fn wait(self) -> bool {
        let mut ready = self.arrived.ready.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *ready {
                Some(ready) => return ready,
                None => ready = self.arrived.said.wait(ready).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Starting {
    /// On the new thread, before all else: takes its thread-locals and says so. Whether it may work.
    pub(super) fn arrive(mut self) -> bool {
        drop(self.room.take());
        let ready = Vec::<u8>::new().try_reserve_exact(HEAP_BYTES).is_ok();
        if ready {
            touch_thread_locals();
        }
        self.arrived.say(ready);
        ready
    }
}

impl Drop for Starting {
    /// A thread that was never started says no.
    fn drop(&mut self) {
        self.arrived.say(false);
    }
}

/// Every thread-local with a destructor that code of ours or below can touch, and with them the library's block of those
/// without one.
fn touch_thread_locals() {
    drop(std::thread::current());
    // Rayon's deques use it: a thread of a pool when it first looks for work of others.
    drop(crossbeam_epoch::pin());
    panics::touch();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_arrives_says_so_and_who_does_not_says_no() {
        let (starter, starting) = handshake().unwrap();
        let thread = std::thread::spawn(|| starting.arrive());
        assert!(starter.wait());
        assert!(thread.join().unwrap());
        let (starter, starting) = handshake().unwrap();
        drop(starting);
        assert!(!starter.wait());
    }
}
