//! Makers of witnesses.

mod assign;
mod general;
mod names;
pub mod native;
mod slots;

pub use assign::assign;
pub use general::{synthesize, WitnessSystem};
pub use names::{row_name, FilecoinRows};
pub use slots::assign_slots;
