//! The CPU backend.

pub mod msm;
pub mod ntt;
mod prover;

pub use prover::CpuBackend;
