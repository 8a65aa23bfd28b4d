//! `src/telemetry`'s counters.

#[path = "../../../src/telemetry/buffers.rs"]
mod buffers;

pub use buffers::{BufferStats, Buffers, Class, Counted, Stage};
