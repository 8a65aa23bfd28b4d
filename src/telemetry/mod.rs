//! Progress, cancellation and timings of running work; counts of its buffers.

mod buffers;
mod control;
mod durations;
mod timeline;

pub use buffers::{BufferStats, Buffers, Class, Counted, Stage};
pub use control::Control;
pub use durations::{Durations, BOUNDS};
pub use timeline::Timeline;
