//! Progress, cancellation and timings of running work; counts of its buffers.

mod buffers;
mod control;
mod timeline;

pub use buffers::{BufferStats, Buffers, Class, Counted, Stage};
pub use control::Control;
pub use timeline::Timeline;
