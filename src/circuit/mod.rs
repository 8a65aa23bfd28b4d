//! What a circuit is made of: assignments of its variables, evaluations of its rows, and its matrices.

mod assignment;
mod coefficients;
pub mod compiled;
mod packed;
pub mod record;
#[cfg(any(test, feature = "test-hooks"))]
pub mod testing;

pub use assignment::{Aux, Bits, Densities, Evaluations, Partition, Shape, Synthesis, Witness};
pub use compiled::{CompiledCircuit, Identity, Recorded, Sizes};
pub use packed::{Packed, Packer};
pub use record::{record, record_until, Column, Matrices, SparseMatrix};

fn too_large(what: &str) -> crate::error::Error {
    crate::error::Error::unsupported("circuit", format!("the circuit has {what}"))
}
