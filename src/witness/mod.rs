//! Makers of witnesses.

mod assign;
mod filecoin;
mod general;
mod names;
pub mod native;
mod slots;

pub use assign::assign;
pub use filecoin::{assign_native, assign_official, assign_partition};
pub use general::{synthesize, WitnessSystem};
pub use names::{row_name, FilecoinRows};
pub use slots::assign_slots;
