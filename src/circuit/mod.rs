//! What a circuit is made of: assignments of its variables, evaluations of its rows, and its matrices.

mod assignment;
pub mod record;

pub use assignment::{Bits, Densities, Evaluations, Partition, Shape, Witness};
