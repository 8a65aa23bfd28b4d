//! Kernels over BLS12-381 for the CPU: multi-scalar multiplication, fixed-base multiplication, transforms.
//!
//! All of them work on the rayon pool they are called in and look at a cancel flag between pieces of work.

pub mod decode;
pub mod msm;
pub mod ntt;
mod random;

pub use random::random_scalar;

use crate::error::Error;

/// The caller asked to stop; values worked on in place are left unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// True once the caller wants the work to stop.
pub type Cancel<'a> = &'a (dyn Fn() -> bool + Sync);

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Error::cancelled()
    }
}
