//! The CPU backend.

mod prover;
mod query;

pub use prover::CpuBackend;
