//! splitprove makes Filecoin's Groth16 proofs inside the caller's process.

pub mod capi;
pub mod circuit;
pub mod curve;
pub mod engine;
pub mod error;
pub mod groth16;
pub mod memory;
pub mod panics;
pub mod params;
pub mod proofs;
pub mod sync;
pub mod telemetry;
pub mod witness;
