//! Progress, cancellation and timings of running work.

mod control;

pub use control::Control;
