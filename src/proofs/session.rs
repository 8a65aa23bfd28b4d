//! What one decoding may use: time until it is cancelled, and memory that can be refused.
//!
//! What grows with the input is allocated with `try_reserve`, so that the system's refusal is an error. What does not
//! (an error's text, storage-proofs' parameters) comes from Rust's allocator, which aborts the process when refused:
//! for these some memory is kept back, and let go the moment anything fails.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::place::Place;
use crate::error::{Error, Result};
use crate::memory::Buf;

/// What every error about memory names.
pub(crate) const MEMORY: &str = "vanilla";

/// How many bytes pass between two looks at the cancel flag where nothing else is slow.
pub(crate) const BYTES_A_LOOK: usize = 1 << 16;

/// Bytes of a message at most; an input's own words may be part of it.
const MESSAGE_BYTES: usize = 400;

/// Kept back for what cannot be refused, in pieces below the size from which on the allocator maps: let go, they are the
/// allocator's to give.
const KEPT_PIECES: usize = 2;
const KEPT_BYTES: usize = 32 << 10;

type Kept = [Vec<u8>; KEPT_PIECES];

/// The cancel flag and the memory kept back. One a decoding, on its own thread.
pub(crate) struct Session<'a> {
    cancelled: &'a AtomicBool,
    kept: Cell<Kept>,
}

impl<'a> Session<'a> {
    /// Begins a decoding. `OUT_OF_MEMORY` names `vanilla`, as in every function here.
    pub fn new(cancelled: &'a AtomicBool) -> Result<Self> {
        Ok(Session { cancelled, kept: Cell::new(keep()?) })
    }

    /// `CANCELLED` when the decoding should stop.
    #[inline]
    pub fn look(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(self.cancelled());
        }
        Ok(())
    }

    #[cold]
    fn cancelled(&self) -> Error {
        self.let_go();
        Error::cancelled()
    }

    /// Gives the memory kept back to the allocator, for the error that follows.
    pub fn let_go(&self) {
        drop(self.kept.take());
    }

    /// An empty vector with room for exactly `len` values.
    #[inline]
    pub fn vec<T>(&self, len: usize) -> Result<Vec<T>> {
        let mut vec = Vec::new();
        match vec.try_reserve_exact(len) {
            Ok(()) => Ok(vec),
            Err(_) => Err(self.refused(len.saturating_mul(size_of::<T>()))),
        }
    }

    /// Appends a value.
    pub fn push<T>(&self, vec: &mut Vec<T>, value: T) -> Result<()> {
        if vec.try_reserve(1).is_err() {
            return Err(self.refused(vec.len().saturating_mul(2 * size_of::<T>())));
        }
        vec.push(value);
        Ok(())
    }

    /// `len` zeros. What is kept back is let go for as long as the system may refuse them.
    pub fn buf(&self, len: usize) -> Result<Buf<u8>> {
        self.let_go();
        let buf = Buf::zeroed(MEMORY, len)?;
        self.kept.set(keep()?);
        Ok(buf)
    }

    /// Whether the system has `bytes` now. Nothing of it is kept.
    pub fn probe(&self, bytes: usize) -> Result<()> {
        self.buf(bytes).map(drop)
    }

    /// Whether Rust's allocator has `bytes` now, in pieces like those that follow. Nothing of it is kept.
    pub fn probe_heap(&self, bytes: usize) -> Result<()> {
        const PIECE: usize = 16 << 10;
        let mut pieces: Vec<Vec<u8>> = self.vec(bytes.div_ceil(PIECE))?;
        for _ in 0..pieces.capacity() {
            pieces.push(self.vec(PIECE)?);
        }
        Ok(())
    }

    #[cold]
    fn refused(&self, bytes: usize) -> Error {
        self.let_go();
        Error::out_of_memory(MEMORY, bytes)
    }

    /// `MALFORMED_INPUT` at a place.
    #[cold]
    pub fn fault(&self, place: &Place<'_>, message: fmt::Arguments<'_>) -> Error {
        self.let_go();
        place.error(capped(message))
    }
}

fn keep() -> Result<Kept> {
    let mut kept = Kept::default();
    for i in 0..KEPT_PIECES {
        if kept[i].try_reserve_exact(KEPT_BYTES).is_err() {
            drop(kept);
            return Err(Error::out_of_memory(MEMORY, KEPT_BYTES));
        }
    }
    Ok(kept)
}

/// A message cut to a length that no input has a say in.
pub(crate) fn capped(message: fmt::Arguments<'_>) -> String {
    struct Cut(String);

    impl Write for Cut {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = MESSAGE_BYTES - self.0.len();
            if text.len() <= room {
                self.0.push_str(text);
                return Ok(());
            }
            let end = (0..=room).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
            self.0.push_str(&text[..end]);
            Err(fmt::Error)
        }
    }

    let mut cut = Cut(String::with_capacity(MESSAGE_BYTES + "…".len()));
    if cut.write_fmt(message).is_err() {
        cut.0.push('…');
    }
    cut.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn messages_are_cut() {
        assert_eq!(capped(format_args!("{}", "a".repeat(400))), "a".repeat(400));
        assert_eq!(capped(format_args!("{}", "a".repeat(401))), "a".repeat(400) + "…");
        assert_eq!(capped(format_args!("a{}", "é".repeat(4 << 20))), format!("a{}…", "é".repeat(199)));
    }

    #[test]
    fn refusals_are_errors() {
        let flag = AtomicBool::new(false);
        let session = Session::new(&flag).unwrap();
        for bytes in [usize::MAX, 1 << 60] {
            for result in [session.vec::<u64>(bytes).map(drop), session.buf(bytes).map(drop), session.probe(bytes)] {
                let e = result.unwrap_err();
                assert_eq!((e.code, &*e.field), (Code::OutOfMemory, "vanilla"));
            }
        }
        session.probe_heap(1 << 20).unwrap();
        session.look().unwrap();
        flag.store(true, Ordering::Relaxed);
        assert_eq!(session.look().unwrap_err().code, Code::Cancelled);
    }
}
