//! What a proof will take, before it is made.

use serde_json::{json, Value};
use splitprove::circuit::Sizes;
use splitprove::error::Result;
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::Backend;
use splitprove::params;
use splitprove::proofs::{CircuitId, Inspected, Kind};

use crate::files::ParameterFile;
use crate::output;

/// Core-nanoseconds that a row of the evaluation domain costs, from vanilla proofs to bytes: processor time of
/// `splitprove bench` at 2 KiB on an Intel Xeon with AVX-512 IFMA, parameters loaded.
fn ns_a_row(kind: Kind) -> f64 {
    match kind {
        Kind::Porep => 3_000.0,
        Kind::Snap => 2_600.0,
        Kind::WindowPost => 14_000.0,
        Kind::WinningPost => 13_000.0,
    }
}

/// About how many of a circuit's aux variables are neither 0 nor 1: one in sixty, and almost all of a PoSt's
/// (`splitprove circuit stats`).
fn wide(kind: Kind, aux: usize) -> usize {
    match kind {
        Kind::Porep | Kind::Snap => aux / 60,
        Kind::WindowPost | Kind::WinningPost => aux,
    }
}

/// How the time is estimated, for people and programs.
pub const SECONDS_FROM: &str =
    "scaled by domain and cores from 2 KiB proofs on a Xeon with AVX-512 IFMA; other CPUs take longer, GPUs less";

/// What a proof will take.
pub struct Estimate {
    /// Bytes of the decoded parameters.
    parameters: u64,
    /// Bytes of one partition at work.
    partition: u64,
    /// Bytes of the decoded vanilla proofs.
    request: u64,
    /// Whether the parameter file was there to be asked.
    from_file: bool,
    /// Partitions of the proof; one where that is not known.
    partitions: usize,
    cores: usize,
    seconds: f64,
}

impl Estimate {
    /// From the lengths of the parameter file's sections, or from the table of them where there is none.
    pub fn of(it: &Inspected, file: &ParameterFile) -> Result<Self> {
        let layout = match file.is_there() {
            true => params::read_layout(&file.path)?,
            false => params::expected_layout(&it.circuit)?,
        };
        let shape = layout.shape();
        let sizes = Sizes { shape, wide: wide(it.circuit.kind, shape.aux) };
        let partitions = it.partitions.unwrap_or(1);
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        Ok(Estimate {
            parameters: layout.memory_bytes(),
            partition: CpuBackend::new().partition_bytes(&sizes),
            request: it.decoded_bytes as u64,
            from_file: file.is_there(),
            partitions,
            cores,
            seconds: seconds(&it.circuit, shape.log_domain(), partitions, cores),
        })
    }

    fn bytes(&self) -> u64 {
        self.parameters + self.partition + self.request
    }

    /// The object that `inspect --json` has of it.
    pub fn json(&self) -> Value {
        json!({
            "memory_bytes": self.bytes(),
            "parameter_bytes": self.parameters,
            "partition_bytes": self.partition,
            "request_bytes": self.request,
            "sizes_from": if self.from_file { "parameter file" } else { "table" },
            "seconds": self.seconds,
            "seconds_from": SECONDS_FROM,
        })
    }

    /// The memory, for people.
    pub fn memory(&self) -> String {
        let [all, parameters, partition, request] =
            [self.bytes(), self.parameters, self.partition, self.request].map(output::bytes);
        let from =
            if self.from_file { "as the parameter file says" } else { "from a table; no parameter file is there" };
        format!("{all}: parameters {parameters}, a partition at a time {partition}, vanilla proofs {request} ({from})")
    }

    /// The time, for people.
    pub fn time(&self) -> String {
        let (seconds, partitions) = (self.seconds, output::count(self.partitions, "partition"));
        format!("about {seconds:.1} s for {partitions} on {}", output::count(self.cores, "core"))
    }
}

fn seconds(circuit: &CircuitId, log_domain: u32, partitions: usize, cores: usize) -> f64 {
    let rows = (1u64 << log_domain) as f64 * partitions as f64;
    rows * ns_a_row(circuit.kind) * 1e-9 / cores as f64
}
