//! How long what has taken, in numbers that metrics are made of.

use crate::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of the histogram's classes, in seconds: from a tiny circuit to a loaded machine's PoRep.
pub const BOUNDS: [f64; 12] = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0];

/// A histogram of durations.
#[derive(Default)]
pub struct Durations {
    /// How many were in each class; the last is for what is above all bounds.
    classes: [AtomicU64; BOUNDS.len() + 1],
    sum_ns: AtomicU64,
    /// u64::MAX less the shortest, so that nothing seen yet is 0.
    under_ns: AtomicU64,
    longest_ns: AtomicU64,
}

impl Durations {
    /// Something took `ns` nanoseconds.
    pub fn add(&self, ns: u64) {
        let seconds = ns as f64 / 1e9;
        let class = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
        self.under_ns.fetch_max(u64::MAX - ns, Ordering::Relaxed);
        self.longest_ns.fetch_max(ns, Ordering::Relaxed);
    }

    /// How many took at most each bound, and how many there were in all.
    pub fn cumulative(&self) -> ([u64; BOUNDS.len()], u64) {
        let mut sum = 0;
        let mut at_most = [0; BOUNDS.len()];
        for (to, class) in at_most.iter_mut().zip(&self.classes) {
            sum += class.load(Ordering::Relaxed);
            *to = sum;
        }
        (at_most, sum + self.classes[BOUNDS.len()].load(Ordering::Relaxed))
    }

    /// Seconds in all.
    pub fn seconds(&self) -> f64 {
        self.sum_ns.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// The shortest and the longest, in seconds; `None` while there were none.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let under = self.under_ns.load(Ordering::Relaxed);
        let longest = self.longest_ns.load(Ordering::Relaxed);
        (self.cumulative().1 > 0).then(|| ((u64::MAX - under) as f64 / 1e9, longest as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up() {
        let d = Durations::default();
        assert_eq!(d.extremes(), None);
        for ns in [0, 10_000_000, 10_000_001, 3_000_000_000, 10_000_000_000_000] {
            d.add(ns);
        }
        let (at_most, all) = d.cumulative();
        assert_eq!((at_most[0], at_most[1], at_most[5], at_most[11], all), (2, 3, 4, 4, 5));
        assert_eq!(d.extremes(), Some((0.0, 10_000.0)));
        assert!((d.seconds() - 10_003.020000001).abs() < 1e-6);
    }
}
