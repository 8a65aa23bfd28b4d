//! The prover: backends, and the assembly of a proof.

pub mod backend;
pub mod cpu;
#[cfg(splitprove_cuda)]
pub mod cuda;
mod proof;

pub use backend::{Backend, Started};
pub use proof::{verify, Blinding, PROOF_BYTES};
