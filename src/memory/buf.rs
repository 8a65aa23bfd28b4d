//! A growable buffer in its own anonymous mapping.
//!
//! The system's allocator aborts the process when a large request fails, keeps freed memory, and moves data on growth.
//! A mapping can be refused politely, goes back to the system the moment it is dropped, grows by remapping instead
//! of copying, and may be backed by huge pages, which halves the time of the first pass over it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use super::plain::Plain;
use super::room::Charge;
use crate::error::{Code, Error, Result};
use crate::telemetry::Stage;

/// From this size on a mapping asks for huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// How much goes back to the system at a time: the lock on the address space, which every page fault of other threads
/// needs, is never held for long.
const RELEASE_PIECE: usize = 32 << 20;

/// Anonymous memory; goes back to the system when dropped.
pub struct Mapping {
    ptr: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is owned memory like a Vec's; any thread may free it.
unsafe impl Send for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        let mut done = 0;
        while self.bytes - done > RELEASE_PIECE {
            // SAFETY: a part of the one mapping this value owns; nobody reads it any more. Refusal does no harm.
            unsafe { libc::madvise(self.ptr.as_ptr().add(done).cast(), RELEASE_PIECE, libc::MADV_DONTNEED) };
            done += RELEASE_PIECE;
        }
        // SAFETY: ptr and bytes describe the one mapping this value owns.
        unsafe { libc::munmap(self.ptr.as_ptr().cast(), self.bytes) };
    }
}

/// A vector of plain values in a mapping of its own.
///
/// One with a [`Charge`] belongs to an engine: it is counted, never grows beyond what was charged, and the engine's
/// reclaimer frees it.
pub struct Buf<T: Plain> {
    ptr: NonNull<T>,
    len: usize,
    /// Bytes mapped; 0 while nothing is.
    mapped: usize,
    charge: Option<Charge>,
    _own: PhantomData<T>,
}

// SAFETY: a Buf owns its mapping as a Vec owns its allocation.
unsafe impl<T: Plain + Send> Send for Buf<T> {}
// SAFETY: as above; shared access only reads.
unsafe impl<T: Plain + Sync> Sync for Buf<T> {}

impl<T: Plain> Buf<T> {
    /// An empty buffer; maps nothing.
    pub const fn new() -> Self {
        Buf { ptr: NonNull::dangling(), len: 0, mapped: 0, charge: None, _own: PhantomData }
    }

    /// An empty buffer with room for `capacity` values. `OUT_OF_MEMORY` names `what`.
    pub fn with_capacity(what: &'static str, capacity: usize) -> Result<Self> {
        let mut buf = Self::new();
        buf.reserve_total(what, capacity)?;
        Ok(buf)
    }

    /// `len` zeros. `OUT_OF_MEMORY` names `what`.
    pub fn zeroed(what: &'static str, len: usize) -> Result<Self> {
        let mut buf = Self::with_capacity(what, len)?;
        buf.len = len;
        Ok(buf)
    }

    /// A copy of `values`. `OUT_OF_MEMORY` names `what`.
    pub fn copy_of(what: &'static str, values: &[T]) -> Result<Self> {
        let mut buf = Self::zeroed(what, values.len())?;
        buf.copy_from_slice(values);
        Ok(buf)
    }

    /// Charges it to an engine.
    pub fn set_charge(&mut self, charge: Charge) {
        self.charge = Some(charge);
    }

    /// It is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        if let Some(charge) = &mut self.charge {
            charge.enter(stage);
        }
    }

    /// How many values fit without growing.
    pub fn capacity(&self) -> usize {
        self.mapped / size_of::<T>()
    }

    /// Bytes of address space held (pages never touched cost nothing).
    pub fn mapped_bytes(&self) -> usize {
        self.mapped
    }

    /// Appends a value; grows by doubling. `OUT_OF_MEMORY` names `what`.
    #[inline]
    pub fn push(&mut self, what: &'static str, value: T) -> Result<()> {
        if self.len == self.capacity() {
            self.grow(what)?;
        }
        // SAFETY: len < capacity, so the slot is inside the mapping.
        unsafe { self.ptr.as_ptr().add(self.len).write(value) };
        self.len += 1;
        Ok(())
    }

    /// Makes the length `len`: cut, or filled up with zeros. `OUT_OF_MEMORY` names `what`.
    pub fn resize_zeroed(&mut self, what: &'static str, len: usize) -> Result<()> {
        if len > self.len {
            self.reserve_total(what, len)?;
            // SAFETY: the range lies inside the mapping; zero bytes are a valid T. A slot past len may hold a
            // value from before a cut, so it is cleared here.
            unsafe { ptr::write_bytes(self.ptr.as_ptr().add(self.len), 0, len - self.len) };
        }
        self.len = len;
        Ok(())
    }

    #[cold]
    fn grow(&mut self, what: &'static str) -> Result<()> {
        let more = (self.capacity() * 2).max(4096 / size_of::<T>().max(1)).max(4);
        self.reserve_total(what, more)
    }

    /// Room for `capacity` values in all.
    fn reserve_total(&mut self, what: &'static str, capacity: usize) -> Result<()> {
        let need = capacity.checked_mul(size_of::<T>()).ok_or_else(|| Error::out_of_memory(what, usize::MAX))?;
        if need <= self.mapped {
            return Ok(());
        }
        let page = 4096;
        let bytes = need
            .checked_add(page - 1)
            .map(|n| n & !(page - 1))
            .filter(|n| *n <= isize::MAX as usize)
            .ok_or_else(|| Error::out_of_memory(what, need))?;
        if self.charge.as_ref().is_some_and(|charge| bytes as u64 > charge.bytes()) {
            return Err(Error::new(Code::ParamsCorrupt, what, "the circuit is larger than its parameters say"));
        }
        let new = if self.mapped == 0 {
            // SAFETY: a fresh anonymous mapping touches no existing memory.
            unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            }
        } else {
            // SAFETY: ptr and mapped describe the one mapping this value owns; nobody borrows it (&mut self).
            unsafe { libc::mremap(self.ptr.as_ptr().cast(), self.mapped, bytes, libc::MREMAP_MAYMOVE) }
        };
        if new == libc::MAP_FAILED {
            return Err(Error::out_of_memory(what, bytes));
        }
        if bytes >= HUGE_PAGE {
            // SAFETY: the range is the mapping just made. The advice may be refused without harm.
            unsafe { libc::madvise(new, bytes, libc::MADV_HUGEPAGE) };
        }
        self.ptr = NonNull::new(new.cast()).ok_or_else(|| Error::out_of_memory(what, bytes))?;
        self.mapped = bytes;
        Ok(())
    }
}

impl<T: Plain> Drop for Buf<T> {
    fn drop(&mut self) {
        let mapping = (self.mapped != 0).then(|| Mapping { ptr: self.ptr.cast(), bytes: self.mapped });
        if let Some(charge) = self.charge.take() {
            charge.reclaim(mapping);
        }
    }
}

impl<T: Plain> Default for Buf<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Plain> Deref for Buf<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: len values are initialised (by zero pages, writes or copies) and inside the mapping.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Buf<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for deref; &mut self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

impl<T: Plain> fmt::Debug for Buf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buf({} values, {} bytes mapped)", self.len, self.mapped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_keeps_values() {
        let mut b = Buf::<u64>::new();
        for i in 0..100_000 {
            b.push("test", i).unwrap();
        }
        assert_eq!(b.len(), 100_000);
        assert!(b.iter().enumerate().all(|(i, v)| *v == i as u64));
    }

    #[test]
    fn a_cut_tail_comes_back_as_zeros() {
        let mut b = Buf::copy_of("test", &[1u8, 2, 3]).unwrap();
        b.resize_zeroed("test", 1).unwrap();
        b.resize_zeroed("test", 3).unwrap();
        assert_eq!(&b[..], &[1, 0, 0]);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        for n in [usize::MAX, usize::MAX / 8, 1 << 60, 1 << 55] {
            let e = Buf::<u64>::with_capacity("test", n).unwrap_err();
            assert_eq!(e.code, crate::error::Code::OutOfMemory);
            assert_eq!(e.field, "test");
        }
    }

    #[test]
    fn zeros_are_the_neutral_elements() {
        use group::prime::PrimeCurveAffine;
        let s = Buf::<blstrs::Scalar>::zeroed("test", 1).unwrap();
        assert_eq!(s[0], blstrs::Scalar::from(0));
        let g1 = Buf::<blstrs::G1Affine>::zeroed("test", 1).unwrap();
        assert!(bool::from(g1[0].is_identity()));
        let g2 = Buf::<blstrs::G2Affine>::zeroed("test", 1).unwrap();
        assert!(bool::from(g2[0].is_identity()));
    }
}
