//! Large memory: buffers that are mapped, never aborted for, counted, and freed by one thread; the budget they share.

mod budget;
mod buf;
mod limits;
mod plain;
mod reclaimer;
mod room;
mod signal;

pub use budget::{Budget, Permit};
pub use buf::{Buf, Mapping};
pub use limits::{available_bytes, default_budget, peak_rss_bytes, MachineMemory};
pub use plain::Plain;
pub use reclaimer::{Load, Place, Reclaimer};
pub use room::{mapped_bytes, Accounts, Charge, Held, Room};
pub use signal::Signal;
