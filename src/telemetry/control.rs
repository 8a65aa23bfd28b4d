//! What long work is given to report with and to be stopped by.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A cancel flag to look at and a place to report progress to.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set when the work should stop.
    pub cancelled: &'a AtomicBool,
    /// Takes the permille (0 to 1000) of the phase that is done.
    pub progress: &'a (dyn Fn(u32) + Sync),
}

/// A flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

impl Control<'static> {
    /// Work that cannot be cancelled and reports to nobody.
    pub const NONE: Control<'static> = Control { cancelled: &NEVER, progress: &|_| {} };
}

impl Control<'_> {
    /// Whether the work should stop.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// `CANCELLED` when the work should stop.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::cancelled());
        }
        Ok(())
    }

    /// Reports that `done` of `all` is done.
    pub fn report(&self, done: usize, all: usize) {
        (self.progress)((done * 1000 / all.max(1)).min(1000) as u32);
    }
}
