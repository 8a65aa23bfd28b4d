//! `splitprove verify`: a proof against its public statement, with the key of the circuit's parameters.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use splitprove::engine::{Engine, Options};
use splitprove::error::Result;
use splitprove::proofs::public_json;

use crate::args::Statement;
use crate::files::ParameterFile;
use crate::{input, output};

/// Verify a proof against its public statement.
///
/// Exit code 0 when it verifies, 1 when it does not. `--json` prints one object: `verified`, `kind`, `circuit`, `proof_bytes`,
/// `seconds`, `development_parameters`.
#[derive(Args)]
pub struct Verify {
    #[command(flatten)]
    statement: Statement,
    /// The proof's bytes
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Verify {
    pub fn run(self) -> Result<()> {
        let kind = self.statement.kind;
        let public = public_json::public_from_json(kind, &input::read("public", &self.statement.public)?)?;
        let proof = input::read("proof", &self.proof)?;
        let engine = Engine::new(Options::default())?;
        let begun = Instant::now();
        engine.verify(&public, &proof)?;
        let seconds = begun.elapsed().as_secs_f64();
        let parameters = ParameterFile::look(engine.params_dir(), public.circuit()?)?;
        parameters.warn();
        if self.json {
            output::print_json(&json!({
                "verified": true,
                "kind": kind.word(),
                "circuit": parameters.circuit.to_string(),
                "proof_bytes": proof.len(),
                "seconds": seconds,
                "development_parameters": parameters.is_development(),
            }));
        } else {
            let shown = self.proof.display();
            output::say(&format!("{shown}: verifies ({}, {} bytes, {seconds:.3} s)", parameters.circuit, proof.len()));
        }
        Ok(())
    }
}
