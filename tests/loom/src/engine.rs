//! `src/engine`'s state machines.

#[path = "../../../src/engine/pace.rs"]
mod pace;
#[allow(dead_code)]
#[path = "../../../src/engine/resident.rs"]
mod resident;
#[path = "../../../src/engine/scheduler.rs"]
mod scheduler;

// Scenarios on what is visible inside the engine only.
pub mod evict;

pub use pace::Pace;
pub use scheduler::{Demand, Handed, Params as ParamsState, Scheduler, Task, Ticket, Turn};
