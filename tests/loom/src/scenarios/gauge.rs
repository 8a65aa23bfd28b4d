//! Memory that knows how much of it is there.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::sync::Arc;

/// Bytes of [`Memory`]. The numbers are the test's and no part of the model.
#[derive(Default)]
pub struct Gauge {
    now: AtomicU64,
    most: AtomicU64,
    made: AtomicU64,
    dropped: AtomicU64,
}

impl Gauge {
    /// Bytes at one time, at most so far.
    pub fn most(&self) -> u64 {
        self.most.load(SeqCst)
    }

    /// Pieces made, and pieces dropped.
    pub fn pieces(&self) -> (u64, u64) {
        (self.made.load(SeqCst), self.dropped.load(SeqCst))
    }

    /// Bytes at present.
    pub fn now(&self) -> u64 {
        self.now.load(SeqCst)
    }
}

/// Some bytes.
pub struct Memory {
    gauge: Arc<Gauge>,
    bytes: u64,
}

impl Memory {
    /// So many more bytes.
    pub fn new(gauge: &Arc<Gauge>, bytes: u64) -> Self {
        let now = gauge.now.fetch_add(bytes, SeqCst) + bytes;
        gauge.most.fetch_max(now, SeqCst);
        gauge.made.fetch_add(1, SeqCst);
        Memory { gauge: gauge.clone(), bytes }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.gauge.now.fetch_sub(self.bytes, SeqCst);
        self.gauge.dropped.fetch_add(1, SeqCst);
    }
}
