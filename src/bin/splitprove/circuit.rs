//! `splitprove circuit`: record circuits into the circuit cache, check what is there, say how large it is.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::{json, Value};
use splitprove::circuit::compiled::{self, Unusable};
use splitprove::circuit::{Identity, Recorded};
use splitprove::engine::{compare_circuit, record_circuit, Options};
use splitprove::error::{Code, Error, Result};
use splitprove::proofs::CircuitId;

use crate::args::parse_circuit;
use crate::output;
use crate::params::with_bar;

/// Record, check and measure compiled circuits.
#[derive(Args)]
pub struct Circuit {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Record a circuit and put it into the circuit cache
    ///
    /// What is there is compared and replaced. `--json` prints `circuit`, `file`, `file_bytes`, `record_seconds` and
    /// `before`: what the cache had (`missing`, `same`, `other`, `stale`, `damaged`).
    Compile(Which),
    /// Look through a circuit in the circuit cache
    ///
    /// Fails with the field at fault where it cannot be used. `--json` prints `circuit`, `file`, `file_bytes` and `compared`
    /// (rows compared with the circuit's own; null without `--rows`).
    Check(Check),
    /// Say how large a circuit is; it is recorded where the cache does not have it
    ///
    /// `--json` prints `circuit`, `constraints` (input rows included), `inputs`, `aux`, `wide` (aux variables that may be
    /// neither 0 nor 1), `witness_bytes`, `file_bytes`, `memory_bytes`, `open_seconds`, `record_seconds` (null where it was
    /// not recorded) and `parts` (counts of what it is made of).
    Stats(Which),
}

#[derive(Args)]
struct Which {
    /// KIND-SIZE, such as porep-2KiB
    #[arg(long, value_parser = parse_circuit)]
    circuit: CircuitId,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Check {
    #[command(flatten)]
    which: Which,
    /// Compare every row with the circuit's own, which takes as long as recording it
    #[arg(long)]
    rows: bool,
}

impl Circuit {
    /// Whether standard output carries one JSON object.
    pub fn json(&self) -> bool {
        match &self.command {
            Command::Compile(w) | Command::Stats(w) => w.json,
            Command::Check(c) => c.which.json,
        }
    }

    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Compile(w) => w.compile(),
            Command::Check(c) => c.which.check(c.rows),
            Command::Stats(w) => w.stats(),
        }
    }
}

impl Which {
    fn file(&self) -> PathBuf {
        compiled::path(&Options::default().circuit_cache_dir, &self.circuit.to_string())
    }

    fn read(&self) -> Result<Recorded, Unusable> {
        compiled::read(&self.file(), &Identity::filecoin(self.circuit.to_string()))
    }

    /// The circuit, recorded, and the seconds that took.
    fn record(&self) -> Result<(Recorded, f64)> {
        let begun = Instant::now();
        let recorded =
            with_bar(&format!("recording {}", self.circuit), |control| record_circuit(&self.circuit, control))?;
        Ok((recorded, begun.elapsed().as_secs_f64()))
    }

    fn compile(self) -> Result<()> {
        let file = self.file();
        let there = file.symlink_metadata().is_ok();
        let (recorded, seconds) = self.record()?;
        let before = match self.read() {
            Ok(before) if before == recorded => "same",
            Ok(_) => "other",
            Err(_) if !there => "missing",
            Err(Unusable::Stale(_)) => "stale",
            Err(Unusable::Damaged(_)) => "damaged",
        };
        let bytes = compiled::write(&file, &recorded)?;
        if self.json {
            output::print_json(&json!({
                "circuit": self.circuit.to_string(),
                "file": file.display().to_string(),
                "file_bytes": bytes,
                "record_seconds": seconds,
                "before": before,
            }));
        } else {
            let file = file.display();
            output::say(&format!("{file}: {}, recorded in {seconds:.1} s ({before} before)", output::bytes(bytes)));
        }
        Ok(())
    }

    fn check(self, rows: bool) -> Result<()> {
        let file = self.file();
        if file.symlink_metadata().is_err() {
            let text = format!("{} is not there; it is recorded on first use", file.display());
            return Err(Error::new(Code::ParamsNotFound, "circuit", text));
        }
        let recorded = self.read().map_err(Unusable::into_error)?;
        let bytes = recorded.to_bytes()?.len() as u64;
        if rows {
            let what = format!("comparing {}", self.circuit);
            with_bar(&what, |control| compare_circuit(&self.circuit, &recorded, control))?;
        }
        let compared = rows.then(|| recorded.shape().constraints - recorded.shape().inputs);
        if self.json {
            output::print_json(&json!({
                "circuit": self.circuit.to_string(),
                "file": file.display().to_string(),
                "file_bytes": bytes,
                "compared": compared,
            }));
        } else {
            let compared = compared.map(|n| format!(", {n} rows as the circuit has them")).unwrap_or_default();
            output::say(&format!("{}: good, {}{compared}", file.display(), output::bytes(bytes)));
        }
        Ok(())
    }

    fn stats(self) -> Result<()> {
        let (recorded, record_seconds) = match self.read() {
            Ok(recorded) => (recorded, None),
            Err(_) => {
                let (recorded, seconds) = self.record()?;
                // Where the cache cannot be written it is recorded again next time.
                let _ = compiled::write(&self.file(), &recorded);
                (recorded, Some(seconds))
            }
        };
        let counts = recorded.counts();
        let bytes = recorded.to_bytes()?;
        let begun = Instant::now();
        let identity = Identity::filecoin(self.circuit.to_string());
        let circuit = Recorded::from_bytes(&bytes, &identity).map_err(Unusable::into_error)?.ready()?;
        let open_seconds = begun.elapsed().as_secs_f64();
        let shape = circuit.shape();
        if self.json {
            output::print_json(&json!({
                "circuit": self.circuit.to_string(),
                "constraints": shape.constraints,
                "inputs": shape.inputs,
                "aux": shape.aux,
                "wide": circuit.wide(),
                "witness_bytes": circuit.sizes().witness_bytes(),
                "file_bytes": bytes.len(),
                "memory_bytes": circuit.bytes(),
                "open_seconds": open_seconds,
                "record_seconds": record_seconds.map_or(Value::Null, Value::from),
                "parts": {
                    "coefficients": counts.coefficients,
                    "terms": counts.terms,
                    "templates": counts.templates,
                    "symbols": counts.symbols,
                    "chunks": counts.chunks,
                    "chunk_rows": counts.chunk_rows,
                    "sequence": counts.sequence,
                },
            }));
            return Ok(());
        }
        let share = 100.0 * circuit.wide() as f64 / shape.aux.max(1) as f64;
        output::say(&format!("{}", self.circuit));
        output::say(&format!("  {} rows, {} inputs, {} aux variables", shape.constraints, shape.inputs, shape.aux));
        let witness = output::bytes(circuit.sizes().witness_bytes());
        output::say(&format!(
            "  {} of them may be neither 0 nor 1 ({share:.1} %): a witness takes {witness}",
            circuit.wide()
        ));
        output::say(&format!(
            "  {} stored, {} ready, opened in {:.0} ms",
            output::bytes(bytes.len() as u64),
            output::bytes(circuit.bytes() as u64),
            open_seconds * 1e3
        ));
        if let Some(seconds) = record_seconds {
            output::say(&format!("  recorded in {seconds:.1} s"));
        }
        Ok(())
    }
}
