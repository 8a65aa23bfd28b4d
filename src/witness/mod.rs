//! Makers of witnesses.

mod general;
mod slots;

pub use general::{synthesize, WitnessSystem};
pub use slots::synthesize_slots;
