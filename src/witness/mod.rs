//! Makers of witnesses.

mod assign;
mod filecoin;
mod general;
mod names;
pub mod native;
mod slots;

pub use assign::{assign, plain_witness};
pub use filecoin::{assign_native, assign_official, assign_partition};
pub use general::synthesize;
pub use names::{row_name, FilecoinRows};
pub use slots::assign_slots;
