//! What the engine works on, as traits: the tests run tiny circuits through the same path as Filecoin's.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use blstrs::Scalar;

use crate::circuit::{CompiledCircuit, Partition};
use crate::error::{Error, Result};
use crate::memory::Room;
use crate::params::Params;

/// A request's bytes, not looked into yet.
pub trait Source: Send + Sync {
    /// Bytes held.
    fn bytes(&self) -> usize;
    /// Decodes them; looks at `cancelled` meanwhile. Errors name the field at fault.
    fn decode(&self, cancelled: &AtomicBool) -> Result<Box<dyn Work>>;
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
    /// Bytes held.
    fn bytes(&self) -> usize;
    /// How many partitions there are; a job without any is over once it is decoded.
    fn partitions(&self) -> usize;
    /// Whether the parameters are to be loaded and nothing to be proved; there are no partitions then.
    fn loads_only(&self) -> bool {
        false
    }
    /// The parameters of the circuit.
    fn params(&self) -> ParamsRef;
    /// The circuit of its partitions, asked for once and only where there are some.
    fn circuit(&self) -> Result<Arc<CompiledCircuit>> {
        Err(Error::internal("there is no partition"))
    }
    /// Public inputs of partition `k`, without the constant one.
    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>>;
    /// Builds partition `k`'s circuit and takes its values; its buffers take their bytes from `room`.
    fn assign(&self, k: usize, circuit: &Arc<CompiledCircuit>, room: Room, cancelled: &AtomicBool)
        -> Result<Partition>;
}
