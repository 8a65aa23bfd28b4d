//! The named scenarios of `src/engine/README.md`.
//!
//! Each runs the engine's real pieces, joined by as little as they need: where a piece of `src/engine` cannot be compiled
//! here (`core`, `dispatch`, `lane`), the scenario has the lines that matter, in the order they have there.

pub mod cancel;
pub mod counters;
pub mod drain;
pub mod gauge;
pub mod hand_over;
pub mod order;
pub mod reclaim;
pub mod wake_up;

pub use crate::engine::evict;

use crate::engine::{Demand, Pace, ParamsState, Scheduler, Ticket};

/// Explores `scenario` in every order with at most so many preemptions (a thread is stopped although it could go on);
/// more of them when `LOOM_LONG` is in the environment. Bugs of order need one or two as a rule.
pub fn check(preemptions: usize, more: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    let long = std::env::var_os("LOOM_LONG").is_some();
    model.preemption_bound = model.preemption_bound.or(Some(if long { more } else { preemptions }));
    model.max_branches = 10_000;
    model.check(scenario);
}

/// A scheduler that two partitions at a time may be synthesised for, with jobs whose parameters are there.
pub fn scheduler<P>(jobs: &[Demand]) -> Scheduler<P> {
    let mut scheduler = Scheduler::new(Pace::new(2, 1));
    for job in jobs {
        scheduler.add(*job);
    }
    scheduler
}

/// A job of `partitions` partitions of `bytes` bytes.
pub fn demand(ticket: Ticket, partitions: usize, bytes: u64) -> Demand {
    Demand { ticket, priority: 2, urgent: false, partitions, load_only: false, bytes, circuit: 1, params: ParamsState::Resident }
}
