//! A partition's proof on the CPU.

use std::sync::Arc;

use blstrs::Bls12;

use crate::circuit::Partition;
use crate::error::{Error, Result};
use crate::groth16::{Backend, Blinding, Started};
use crate::params::Params;
use crate::telemetry::Control;

/// The CPU backend. Works on the rayon pool it is called in.
#[derive(Default)]
pub struct CpuBackend {}

impl CpuBackend {
    /// The backend.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        "CPU".into()
    }

    fn device(&self) -> i32 {
        -1
    }

    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started> {
        let _ = (params, partition, control);
        Err(Error::internal("not there"))
    }

    fn finish(
        &self,
        started: Started,
        blinding: &Blinding,
        control: Control<'_>,
    ) -> Result<bellperson::groth16::Proof<Bls12>> {
        let _ = (started, blinding, control);
        Err(Error::internal("not there"))
    }
}
