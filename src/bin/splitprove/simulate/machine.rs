//! The machine that is simulated, and its work.

use splitprove::engine::REQUEST_PART;
use splitprove::error::{Code, Error, Result};

/// Nanoseconds of the virtual clock.
pub type Nanos = u64;

/// A machine: how many of what, how fast, how large.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Partitions synthesised at one time.
    pub workers: usize,
    /// Devices.
    pub lanes: usize,
    /// A synthesis takes from so many to so many seconds, each as likely.
    pub synthesis: (f64, f64),
    /// Seconds a lane works on a partition.
    pub device: f64,
    /// Seconds the finisher, which is one thread beside the lanes, works on it.
    pub finish: f64,
    /// Bytes of parameters, there from the start.
    pub params: u64,
    /// Bytes of budget, parameters and requests included.
    pub budget: u64,
    /// Bytes a second the reclaimer frees.
    pub free_rate: u64,
}

/// A proof to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Larger is more urgent.
    pub priority: u32,
    /// Partitions, at least one.
    pub partitions: usize,
    /// Bytes of a partition's a, b and c.
    pub evaluations: u64,
    /// Bytes of a partition's witness.
    pub witness: u64,
    /// Bytes of the request, held once as they came and once decoded.
    pub request: u64,
}

/// The proofs and how many of them are in flight at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// In the order they come.
    pub proofs: Vec<Proof>,
    /// Proofs submitted and not over, at most.
    pub concurrency: usize,
    /// Draws the synthesis times. A partition's is the same under every policy.
    pub seed: u64,
}

impl Proof {
    /// Bytes of budget that a partition takes.
    pub fn partition_bytes(&self) -> u64 {
        self.evaluations.saturating_add(self.witness)
    }
}

/// The most seconds anything may take: the virtual clock then holds millions of them.
const LONGEST: f64 = 86_400.0;

/// The most partitions in all: every one is a few events in memory.
pub const MOST_PARTITIONS: usize = 1_000_000;

/// Partitions at work or in line on a lane, and freed, have to end one day.
const SLOWEST_FREE: u64 = 1 << 20;

/// The most threads, devices and proofs in flight.
const WIDEST: usize = 100_000;

impl Machine {
    /// What cannot be simulated is a wrong argument, and what the engine would refuse is `TOO_LARGE`.
    pub fn check(&self, work: &Work) -> Result<()> {
        let bad = |field: &'static str, text: &str| Err(Error::argument(field, text));
        for (field, n) in [("workers", self.workers), ("lanes", self.lanes), ("concurrency", work.concurrency)] {
            if !(1..=WIDEST).contains(&n) {
                return bad(field, "at least 1, at most 100000");
            }
        }
        if work.proofs.is_empty() {
            return bad("proofs", "at least 1");
        }
        let all = work.proofs.iter().fold(0usize, |sum, p| sum.saturating_add(p.partitions));
        if work.proofs.iter().any(|p| p.partitions == 0) || all > MOST_PARTITIONS {
            return bad("partitions", "at least 1 in a proof, at most 1000000 in all");
        }
        let (least, most) = self.synthesis;
        for (field, s) in [("synthesis-min", least), ("synthesis-max", most), ("device", self.device)] {
            if !(s.is_finite() && s > 0.0 && s <= LONGEST) {
                return bad(field, "more than 0 and at most 86400 seconds");
            }
        }
        if most < least {
            return bad("synthesis-max", "less than --synthesis-min");
        }
        if !(self.finish.is_finite() && (0.0..=LONGEST).contains(&self.finish)) {
            return bad("finish", "from 0 to 86400 seconds");
        }
        if self.free_rate < SLOWEST_FREE {
            return bad("free-rate", "at least 1MiB a second");
        }
        // Every partition and the parameters add up in 64 bits whatever the policy keeps.
        let sum = work.proofs.iter().try_fold(self.params, |sum, p| {
            let partitions = p.evaluations.checked_add(p.witness)?.checked_mul(p.partitions as u64)?;
            sum.checked_add(partitions)?.checked_add(p.request.checked_mul(2)?)
        });
        if sum.is_none_or(|n| n > i64::MAX as u64) {
            return bad("evaluations", "all partitions of all proofs do not fit into 63 bits of bytes");
        }
        for proof in &work.proofs {
            let requests = (2 * proof.request).max(self.budget / REQUEST_PART * 2);
            let need = self.params.saturating_add(proof.partition_bytes()).saturating_add(requests);
            if need > self.budget {
                let text = format!(
                    "parameters of {} bytes, a partition of {} and requests need {need} bytes, more than the budget of {}",
                    self.params,
                    proof.partition_bytes(),
                    self.budget
                );
                return Err(Error::new(Code::TooLarge, "budget", text));
            }
        }
        Ok(())
    }

    /// How long partition `k` of proof `proof` is synthesised.
    pub fn synthesis_ns(&self, seed: u64, proof: u64, k: usize) -> Nanos {
        let (least, most) = self.synthesis;
        nanos(least + (most - least) * fraction(mix(mix(seed ^ mix(proof)) ^ k as u64)))
    }
}

/// Seconds as nanoseconds, at least one for what takes any time.
pub fn nanos(seconds: f64) -> Nanos {
    // Checked to be at most `LONGEST`.
    (seconds * 1e9).ceil() as Nanos
}

/// SplitMix64's step and finish (Steele, Lea and Flood 2014): the same numbers on every machine.
pub fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// From 0 to 1, of 53 bits.
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
