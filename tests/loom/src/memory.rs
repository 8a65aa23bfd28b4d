//! `src/memory` without the machine's limits.

#[path = "../../../src/memory/budget.rs"]
mod budget;
#[path = "../../../src/memory/buf.rs"]
mod buf;
mod plain;
#[path = "../../../src/memory/reclaimer.rs"]
mod reclaimer;
#[path = "../../../src/memory/room.rs"]
mod room;
#[path = "../../../src/memory/signal.rs"]
mod signal;

pub use budget::{Budget, Permit};
pub use buf::{Buf, Mapping};
pub use plain::Plain;
pub use reclaimer::{Load, Place, Reclaimer};
pub use room::{mapped_bytes, Accounts, Charge, Held, Room};
pub use signal::Signal;
