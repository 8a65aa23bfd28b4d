//! Filecoin's proof kinds as the engine's work.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use storage_proofs_core::parameter_cache::parameter_id;

use super::options::Options;
use super::work::{ParamsRef, Source, Work};
use crate::circuit::{Partition, Shape};
use crate::error::{Error, Result};
use crate::memory::{Buf, Room};
use crate::params;
use crate::proofs::{self, CircuitId, CircuitVisitor, Decoded, Request};
use crate::witness;

/// A request's fields and bytes.
pub struct FilecoinSource {
    request: Request,
    vanilla: Buf<u8>,
    params_dir: PathBuf,
    allow_insecure: bool,
}

impl FilecoinSource {
    /// A request and its vanilla proofs, back to back; `options` say where parameters are and which may be used.
    pub fn new(request: Request, vanilla: Buf<u8>, options: &Options) -> Self {
        FilecoinSource {
            request,
            vanilla,
            params_dir: options.params_dir.clone(),
            allow_insecure: options.allow_insecure_params,
        }
    }
}

impl Source for FilecoinSource {
    fn bytes(&self) -> usize {
        self.vanilla.len()
    }

    fn decode(&self, cancelled: &AtomicBool) -> Result<Box<dyn Work>> {
        work(proofs::decode(&self.request, &self.vanilla, cancelled)?, &self.params_dir, self.allow_insecure)
    }
}

/// A decoded request as work, with its parameters in `params_dir`. `PARAMS_INSECURE` when they must not be used.
pub fn work(decoded: Decoded, params_dir: &Path, allow_insecure: bool) -> Result<Box<dyn Work>> {
    let circuit = decoded.circuit();
    let params = params_path(params_dir, &circuit)?;
    params::admit(&params, &circuit, allow_insecure)?;
    Ok(Box::new(FilecoinWork { decoded, params }))
}

/// The parameter file of a circuit: filecoin-proofs' name for it in `dir`.
pub fn params_path(dir: &Path, circuit: &CircuitId) -> Result<PathBuf> {
    Ok(dir.join(parameter_id(&circuit.parameter_identifier()?)))
}

struct FilecoinWork {
    decoded: Decoded,
    params: PathBuf,
}

impl Work for FilecoinWork {
    fn bytes(&self) -> usize {
        self.decoded.bytes()
    }

    fn partitions(&self) -> usize {
        self.decoded.partitions()
    }

    fn params(&self) -> ParamsRef {
        ParamsRef::File(self.params.clone())
    }

    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        self.decoded.public_inputs(k)
    }

    fn synthesize(&self, k: usize, shape: &Shape, room: Room, cancelled: &AtomicBool) -> Result<Partition> {
        struct Synthesize<'a>(&'a Shape, Room, &'a AtomicBool);
        impl CircuitVisitor for Synthesize<'_> {
            type Output = Result<Partition>;
            fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Result<Partition> {
                witness::synthesize(circuit, self.0, self.1, self.2)
            }
            fn visit_slots<W, C>(self, circuit: W, slots: impl FnOnce(W) -> Vec<C>) -> Result<Partition>
            where
                W: Circuit<Scalar> + Send,
                C: Send + Sync,
                for<'a> &'a C: Circuit<Scalar>,
            {
                witness::synthesize_slots(&slots(circuit), self.0, self.1, self.2)
            }
        }
        self.decoded.with_circuit(k, Synthesize(shape, room, cancelled))?
    }
}

/// A wish that parameters be loaded.
pub(super) struct ParamsSource {
    path: PathBuf,
    circuit: CircuitId,
    allow_insecure: bool,
}

impl ParamsSource {
    pub(super) fn new(path: PathBuf, circuit: CircuitId, allow_insecure: bool) -> Self {
        ParamsSource { path, circuit, allow_insecure }
    }
}

impl Source for ParamsSource {
    fn bytes(&self) -> usize {
        0
    }

    fn decode(&self, _: &AtomicBool) -> Result<Box<dyn Work>> {
        params::admit(&self.path, &self.circuit, self.allow_insecure)?;
        Ok(Box::new(ParamsWork(self.path.clone())))
    }
}

struct ParamsWork(PathBuf);

impl Work for ParamsWork {
    fn bytes(&self) -> usize {
        0
    }

    fn partitions(&self) -> usize {
        0
    }

    fn loads_only(&self) -> bool {
        true
    }

    fn params(&self) -> ParamsRef {
        ParamsRef::File(self.0.clone())
    }

    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        Err(no_partition(k))
    }

    fn synthesize(&self, k: usize, _: &Shape, _: Room, _: &AtomicBool) -> Result<Partition> {
        Err(no_partition(k))
    }
}

fn no_partition(k: usize) -> Error {
    Error::internal(format!("partition {k} of work without partitions"))
}
