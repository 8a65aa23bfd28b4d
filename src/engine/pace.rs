//! How many partitions should be in the making.
//!
//! A lane should never wait for a partition, and no more partitions than that takes should be held: each is gigabytes.

/// Durations seen so far, and what follows from them.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Partitions that may be synthesised at one time.
    width: usize,
    /// Lanes that take them.
    lanes: usize,
    /// Mean seconds a synthesis takes and a lane works on a partition; 0 while unknown.
    synthesis_s: f64,
    lane_s: f64,
    /// Partitions added because lanes have waited; falls while they do not.
    spare: f64,
}

/// Weight of a new duration in the mean. A circuit's partitions are alike, so a few of them tell.
const WEIGHT: f64 = 0.25;

/// Room above the mean: synthesis times spread by some 10 % to either side.
const SLACK: f64 = 1.2;

/// What a partition proved takes off the spare ones; a lane that waits adds 1. So they settle where a lane waits once in
/// 128 partitions. Where synthesis takes 20 to 60 s on 12 workers and a lane 3.5 s, `splitprove simulate` has 99.7 % of
/// the throughput of workers that never wait (1/32: 98.8 %; with the sum held to the width: 96.7 %).
const FALL: f64 = 1.0 / 128.0;

/// The most spare partitions, in widths: more would only fill memory.
const DEPTH: usize = 2;

impl Pace {
    /// Nothing seen yet: as many as can be synthesised.
    pub fn new(width: usize, lanes: usize) -> Self {
        Pace { width: width.max(1), lanes: lanes.max(1), synthesis_s: 0.0, lane_s: 0.0, spare: 0.0 }
    }

    /// Partitions that may be synthesised at one time.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A synthesis took so long.
    pub fn synthesised(&mut self, seconds: f64) {
        mean(&mut self.synthesis_s, seconds);
    }

    /// A lane worked so long on a partition.
    pub fn proved(&mut self, seconds: f64) {
        mean(&mut self.lane_s, seconds);
        self.spare = (self.spare - FALL).max(0.0);
    }

    /// A lane had to wait although there was work.
    pub fn starved(&mut self) {
        self.spare = (self.spare + 1.0).min((DEPTH * self.width) as f64);
    }

    /// How many partitions should be synthesised or wait for a lane: those that become ready while a lane works on one
    /// (synthesis time over lane time, by Little's law), one ready for every lane, and the spare ones. The spare ones count
    /// beyond the width: were the sum held to the width, a worker would wait for every partition that waits for a
    /// lane, as it does for a queue of one.
    pub fn target(&self) -> usize {
        if self.synthesis_s <= 0.0 || self.lane_s <= 0.0 {
            return self.width + self.lanes;
        }
        let in_making = (SLACK * self.synthesis_s / self.lane_s * self.lanes as f64).ceil();
        // A ratio beyond all reason still is a number of partitions.
        let in_making = if in_making < self.width as f64 { in_making as usize } else { self.width };
        in_making + self.lanes + self.spare.ceil() as usize
    }
}

fn mean(of: &mut f64, seconds: f64) {
    *of = if *of <= 0.0 { seconds } else { *of + WEIGHT * (seconds - *of) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_the_lane_needs() {
        let mut pace = Pace::new(12, 1);
        assert_eq!(pace.target(), 13);
        pace.synthesised(2.0);
        pace.proved(6.0);
        assert_eq!(pace.target(), 2);
        pace.starved();
        assert_eq!(pace.target(), 3);
        for _ in 0..128 {
            pace.proved(6.0);
        }
        assert_eq!(pace.target(), 2);
        for _ in 0..40 {
            pace.synthesised(32.0);
            pace.proved(3.5);
        }
        assert_eq!(pace.target(), 12);
        // Beyond the width, but not without end.
        for _ in 0..100 {
            pace.starved();
        }
        assert_eq!(pace.target(), 12 + 24);
        let mut pace = Pace::new(12, 1);
        pace.synthesised(14.0);
        pace.proved(3.5);
        assert_eq!(pace.target(), 6);
    }
}
