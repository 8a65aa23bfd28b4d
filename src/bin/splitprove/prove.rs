//! `splitprove prove`: one proof, from vanilla proofs in files to bytes in a file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use splitprove::engine::{Engine, Priority, Progress};
use splitprove::error::{Error, Result};
use splitprove::memory::peak_rss_bytes;

use crate::args::{Device, Statement};
use crate::files::ParameterFile;
use crate::progress::Bar;
use crate::stated::Stated;
use crate::{interrupt, output};

/// How often the bar and Ctrl-C are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Make a proof from vanilla proofs.
///
/// `--json` prints one object: `kind`, `circuit`, `partitions`, `proof_bytes`, `seconds` (from submission to proof: decoding,
/// loading parameters and proving), `phases` (seconds in `queued`, which includes decoding, `loading`, `witness`, `device`,
/// `finishing`), `peak_rss_bytes` (of the process), `device`, `development_parameters`, `output`.
#[derive(Args)]
pub struct Prove {
    #[command(flatten)]
    statement: Statement,
    /// File with a vanilla proof (PoRep: the output of commit phase 1); once for each
    #[arg(long, value_name = "FILE", required = true)]
    input: Vec<PathBuf>,
    /// Where the proof's bytes go
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    device: Device,
}

impl Prove {
    pub fn run(self) -> Result<()> {
        let kind = self.statement.kind;
        output::check_output(&self.output)?;
        let stated = Stated::read(&self.statement, &self.input)?;
        let options = self.device.options()?;
        let parameters = ParameterFile::look(&options.params_dir, stated.public().circuit()?)?;

        let engine = Engine::new(options)?;
        let pending = engine.submit(stated.submission(&engine, Priority::of_kind(kind), 1))?;
        let bar = Bar::new(&format!("proving {}", parameters.circuit));
        while !pending.wait(Some(TICK)) {
            if interrupt::requested() {
                pending.cancel();
            }
            bar.show(&pending.progress());
        }
        drop(bar);
        let progress = pending.progress();
        let proof = pending.outcome().unwrap_or_else(|| Err(Error::internal("a proof that is done has no outcome")))?;
        output::write_file(&self.output, &proof)?;
        parameters.warn();
        self.report(&parameters, &progress, proof.len(), &engine.device_name());
        Ok(())
    }

    fn report(&self, parameters: &ParameterFile, progress: &Progress, proof_bytes: usize, device: &str) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let [queued, loading, witness, proving, finishing] = progress.stage_ns.map(seconds);
        let total = seconds(progress.total_ns);
        let peak = peak_rss_bytes();
        if self.json {
            output::print_json(&json!({
                "kind": parameters.circuit.kind.word(),
                "circuit": parameters.circuit.to_string(),
                "partitions": progress.partitions,
                "proof_bytes": proof_bytes,
                "seconds": total,
                "phases": {
                    "queued": queued, "loading": loading, "witness": witness, "device": proving, "finishing": finishing,
                },
                "peak_rss_bytes": peak,
                "device": device,
                "development_parameters": parameters.is_development(),
                "output": self.output.display().to_string(),
            }));
            return;
        }
        output::say(&format!(
            "{}: {}, {proof_bytes} bytes in {}",
            parameters.circuit,
            output::count(progress.partitions as usize, "partition"),
            self.output.display()
        ));
        output::say(&format!(
            "{total:.2} s on {device}: decoding {queued:.2}, parameters {loading:.2}, witness {witness:.2}, device {proving:.2}, \
             finishing {finishing:.2}; at most {} of memory",
            output::bytes(peak)
        ));
    }
}
