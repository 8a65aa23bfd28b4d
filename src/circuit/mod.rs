//! What a circuit is made of: assignments of its variables, evaluations of its rows, and its matrices.

mod assignment;
pub mod record;
#[cfg(any(test, feature = "test-hooks"))]
pub mod testing;

pub use assignment::{Bits, Densities, Evaluations, Partition, Shape, Witness};
pub use record::{record, record_until, Column, Matrices, SparseMatrix};
