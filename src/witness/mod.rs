//! Makers of witnesses.

mod general;

pub use general::{synthesize, ProvingSystem, WitnessSystem};
