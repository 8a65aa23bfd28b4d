//! Filecoin's proof kinds as the engine's work.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use storage_proofs_core::parameter_cache::parameter_id;

use super::options::Options;
use super::work::{ParamsRef, Source, Work};
use crate::circuit::compiled::Circuits;
use crate::circuit::{CompiledCircuit, Identity, Partition, Recorded};
use crate::error::{Error, Result};
use crate::memory::{Buf, Room};
use crate::params;
use crate::proofs::{self, CircuitId, CircuitVisitor, Decoded, Request};
use crate::telemetry::Control;
use crate::witness::{self, FilecoinRows};

/// A request's fields and bytes.
pub struct FilecoinSource {
    request: Request,
    vanilla: Buf<u8>,
    places: Places,
}

/// Where a job finds what it needs beside its input.
#[derive(Clone)]
pub struct Places {
    params_dir: PathBuf,
    allow_insecure: bool,
    circuits: Arc<Circuits>,
}

impl Places {
    /// As options say.
    pub fn new(options: &Options) -> Self {
        Places {
            params_dir: options.params_dir.clone(),
            allow_insecure: options.allow_insecure_params,
            circuits: Circuits::shared(&options.circuit_cache_dir),
        }
    }
}

impl FilecoinSource {
    /// A request and its vanilla proofs, back to back; `options` say where parameters and compiled circuits are and which
    /// parameters may be used.
    pub fn new(request: Request, vanilla: Buf<u8>, options: &Options) -> Self {
        FilecoinSource { request, vanilla, places: Places::new(options) }
    }
}

impl Source for FilecoinSource {
    fn bytes(&self) -> usize {
        self.vanilla.len()
    }

    fn decode(&self, cancelled: &AtomicBool) -> Result<Box<dyn Work>> {
        work(proofs::decode(&self.request, &self.vanilla, cancelled)?, &self.places, cancelled)
    }
}

/// A decoded request as work. `PARAMS_INSECURE` when the parameters must not be used. Its circuit is recorded if this is its
/// first use.
pub fn work(decoded: Decoded, places: &Places, cancelled: &AtomicBool) -> Result<Box<dyn Work>> {
    let id = decoded.circuit();
    let params = params_path(&places.params_dir, &id)?;
    params::admit(&params, &id, places.allow_insecure)?;
    let control = Control { cancelled, progress: &|_| {} };
    let circuit = compiled_circuit(&places.circuits, &id, control)?;
    Ok(Box::new(FilecoinWork { decoded, params, circuit }))
}

/// A circuit of Filecoin's: from memory, from the cache, or recorded and put there.
pub fn compiled_circuit(circuits: &Circuits, id: &CircuitId, control: Control<'_>) -> Result<Arc<CompiledCircuit>> {
    let identity = Identity::filecoin(id.to_string());
    let named = |circuit: CompiledCircuit| circuit.with_names(Arc::new(FilecoinRows(*id)));
    circuits.get(&identity, control.cancelled, || record_circuit(id, control), named)
}

/// Records a circuit of Filecoin's on the calling thread. Errors as for [`Recorded::record`].
pub fn record_circuit(id: &CircuitId, control: Control<'_>) -> Result<Recorded> {
    struct Record<'a>(Identity, Control<'a>);
    impl CircuitVisitor for Record<'_> {
        type Output = Result<Recorded>;
        fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
            let expected = expected_rows(&self.0.circuit);
            Recorded::record(circuit, self.0, expected, self.1)
        }
    }
    id.with_blank_circuit(Record(Identity::filecoin(id.to_string()), control))?
}

/// The parameter file of a circuit: filecoin-proofs' name for it in `dir`.
pub fn params_path(dir: &Path, circuit: &CircuitId) -> Result<PathBuf> {
    Ok(dir.join(parameter_id(&circuit.parameter_identifier()?)))
}

struct FilecoinWork {
    decoded: Decoded,
    params: PathBuf,
    circuit: Arc<CompiledCircuit>,
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

    fn circuit(&self) -> Result<Arc<CompiledCircuit>> {
        Ok(self.circuit.clone())
    }

    fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        self.decoded.public_inputs(k)
    }

    fn assign(
        &self,
        k: usize,
        circuit: &Arc<CompiledCircuit>,
        room: Room,
        cancelled: &AtomicBool,
    ) -> Result<Partition> {
        witness::assign_partition(&self.decoded, k, circuit, room, cancelled)
    }
}

/// Compares a recording with the circuit of Filecoin's that it is of, row by row. Errors as for [`Recorded::compare`].
pub fn compare_circuit(id: &CircuitId, recorded: &Recorded, control: Control<'_>) -> Result<()> {
    struct Compare<'a>(&'a Recorded, Control<'a>);
    impl CircuitVisitor for Compare<'_> {
        type Output = Result<()>;
        fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
            self.0.compare(circuit, self.1)
        }
    }
    id.with_blank_circuit(Compare(recorded, control))?
}

/// About how many rows a circuit has, for progress: those of production sizes take a minute or more to record. 0: nobody
/// needs to know.
fn expected_rows(circuit: &str) -> usize {
    match circuit.strip_suffix("-32GiB").or(circuit.strip_suffix("-64GiB")) {
        Some("porep") => 130_300_000,
        Some("window-post") => 125_300_000,
        Some("snap") => 81_000_000,
        _ => 0,
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

    fn assign(&self, k: usize, _: &Arc<CompiledCircuit>, _: Room, _: &AtomicBool) -> Result<Partition> {
        Err(no_partition(k))
    }
}

fn no_partition(k: usize) -> Error {
    Error::internal(format!("partition {k} of work without partitions"))
}
