//! Kernels over BLS12-381 for the CPU: multi-scalar multiplication, fixed-base multiplication, transforms.
//!
//! All of them work on the rayon pool they are called in and look at a cancel flag between pieces of work.

pub mod decode;
pub mod msm;
pub mod ntt;
mod random;

pub use random::random_scalar;

use crate::error::Error;
use crate::memory::{Buf, Plain};

/// Why work stopped early; values worked on in place are left unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller asked for it.
    Cancelled,
    /// The system has not so many bytes.
    OutOfMemory(usize),
}

/// True once the caller wants the work to stop.
pub type Cancel<'a> = &'a (dyn Fn() -> bool + Sync);

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Error::cancelled(),
            Stopped::OutOfMemory(bytes) => Error::out_of_memory("a multiplication's working memory", bytes),
        }
    }
}

/// Large working memory, full of zeros.
pub(crate) fn scratch<T: Plain>(count: usize) -> Result<Buf<T>, Stopped> {
    Buf::zeroed("scratch", count).map_err(|_| Stopped::OutOfMemory(count.saturating_mul(size_of::<T>())))
}
