//! Makers of witnesses.

mod general;
pub mod native;
mod slots;

pub use general::{synthesize, WitnessSystem};
pub use slots::synthesize_slots;
