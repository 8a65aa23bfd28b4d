//! What the engine works on, as traits: the tests run tiny circuits through the same path as Filecoin's.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use blstrs::Scalar;

use crate::circuit::{Partition, Shape};
use crate::error::Result;
use crate::params::Params;

/// A request's bytes, not looked into yet.
pub trait Source: Send {
    /// Bytes held.
    fn bytes(&self) -> usize;
    /// Decodes them. Errors name the field at fault; `CANCELLED` soon after `cancelled` is set.
    fn decode(self: Box<Self>, cancelled: &AtomicBool) -> Result<Box<dyn Work>>;
}

/// Where a job's parameters come from.
#[derive(Clone)]
pub enum ParamsRef {
    /// A parameter file, loaded once and kept while jobs want it.
    File(PathBuf),
    /// Parameters in memory.
    Loaded(Arc<Params>),
}

/// A decoded request: a number of partitions of one circuit.
pub trait Work: Send + Sync {
    /// How many partitions there are; at least one.
    fn partitions(&self) -> usize;
    /// The parameters of the circuit.
    fn params(&self) -> ParamsRef;
    /// Public inputs of partition `k`, without the constant one.
    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>>;
    /// Builds and synthesises partition `k`'s circuit; `shape` sizes its buffers.
    fn synthesize(&self, k: usize, shape: &Shape, cancelled: &AtomicBool) -> Result<Partition>;
}
