//! Large memory: buffers that are mapped, never aborted for, and returned to the system when dropped.

mod buf;
mod limits;

pub use buf::{Buf, Plain};
pub use limits::{available_bytes, peak_rss_bytes, MachineMemory};
