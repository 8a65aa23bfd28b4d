//! The byte budget of an engine, and permits: shares of it.

use super::signal::Signal;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::Arc;

/// How many bytes an engine may have in large buffers, and how many it has.
pub struct Budget {
    total: u64,
    /// Bytes of `total` that only urgent work may take.
    reserve: u64,
    used: AtomicU64,
    peak: AtomicU64,
    /// Told when bytes come back.
    freed: Arc<Signal>,
}

impl Budget {
    /// A budget of `total` bytes, `reserve` of them for urgent work alone; `freed` is told when bytes come back.
    pub fn new(total: u64, reserve: u64, freed: Arc<Signal>) -> Self {
        Budget { total, reserve: reserve.min(total), used: AtomicU64::new(0), peak: AtomicU64::new(0), freed }
    }

    /// All bytes there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The bytes that work which is not urgent may take.
    pub fn total_for(&self, urgent: bool) -> u64 {
        if urgent {
            self.total
        } else {
            self.total - self.reserve
        }
    }

    /// Bytes taken.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most bytes taken at one time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Takes `bytes`, if they are there. Never waits: who may go next is the scheduler's to say.
    pub fn try_take(self: &Arc<Self>, bytes: u64, urgent: bool) -> Option<Permit> {
        let limit = self.total_for(urgent);
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let after = used.checked_add(bytes).filter(|after| *after <= limit)?;
            match self.used.compare_exchange_weak(used, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.peak.fetch_max(after, Ordering::Relaxed);
                    return Some(Permit { budget: self.clone(), bytes });
                }
                Err(now) => used = now,
            }
        }
    }

    fn give_back(&self, bytes: u64) {
        if bytes > 0 {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            // The signal's lock orders the subtraction before whatever a woken thread reads.
            self.freed.notify();
        }
    }
}

/// A share of a budget. Its bytes go back when it is dropped, and not before the memory they stand for has.
pub struct Permit {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Permit {
    /// Bytes it stands for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes a part out as a permit of its own; `None` when there is not so much.
    pub fn split(&mut self, bytes: u64) -> Option<Permit> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(Permit { budget: self.budget.clone(), bytes })
    }

    /// Gives back all but `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let back = self.bytes.saturating_sub(bytes);
        self.bytes -= back;
        self.budget.give_back(back);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(total: u64, reserve: u64) -> Arc<Budget> {
        Arc::new(Budget::new(total, reserve, Arc::default()))
    }

    #[test]
    fn bytes_go_out_and_come_back() {
        let b = budget(100, 0);
        let mut p = b.try_take(60, false).unwrap();
        assert!(b.try_take(41, false).is_none());
        let q = p.split(20).unwrap();
        assert!(p.split(41).is_none());
        assert_eq!((p.bytes(), q.bytes(), b.used()), (40, 20, 60));
        drop(q);
        p.shrink_to(10);
        p.shrink_to(30);
        assert_eq!((p.bytes(), b.used()), (10, 10));
        drop(p);
        assert_eq!((b.used(), b.peak()), (0, 60));
        assert!(b.try_take(u64::MAX, true).is_none());
        assert!(b.try_take(100, false).is_some());
    }

    #[test]
    fn the_reserve_is_for_urgent_work() {
        let b = budget(100, 30);
        let _p = b.try_take(70, false).unwrap();
        assert!(b.try_take(1, false).is_none());
        assert!(b.try_take(30, true).is_some());
    }

    #[test]
    fn who_waits_hears_of_bytes_that_come_back() {
        let signal = Arc::new(Signal::default());
        let b = Arc::new(Budget::new(10, 0, signal.clone()));
        let p = b.try_take(10, false).unwrap();
        let waiter = std::thread::spawn(move || loop {
            let seen = signal.seen();
            if let Some(p) = b.try_take(10, false) {
                return p.bytes();
            }
            signal.wait(seen, None);
        });
        drop(p);
        assert_eq!(waiter.join().unwrap(), 10);
    }
}
