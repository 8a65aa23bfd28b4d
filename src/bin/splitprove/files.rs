//! Parameter files: which circuits' are there, and of what origin.

use std::path::{Path, PathBuf};

use serde_json::{json, Value};
use splitprove::engine::params_path;
use splitprove::error::{Error, Result};
use splitprove::params::{self, Provenance};
use splitprove::proofs::CircuitId;

use crate::output;

/// A circuit's parameter file.
pub struct ParameterFile {
    /// The circuit.
    pub circuit: CircuitId,
    /// Where the file is, or would be.
    pub path: PathBuf,
    /// What is there.
    pub state: State,
}

/// What was found of a parameter file. Only its start is read: `params check` looks at all of it.
pub enum State {
    /// No file.
    Missing,
    /// A file whose verifying key can be read.
    There {
        /// The file's size.
        bytes: u64,
        /// Where it comes from.
        provenance: Provenance,
    },
    /// A file that cannot be used, and why.
    Broken(Error),
}

impl ParameterFile {
    /// Looks for a circuit's file in a folder.
    pub fn look(folder: &Path, circuit: CircuitId) -> Result<Self> {
        let path = params_path(folder, &circuit)?;
        let state = match path.metadata() {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => State::Missing,
            Err(e) => State::Broken(Error::io("params", "reading", &path, &e)),
            Ok(m) => match params::provenance(&path, &circuit) {
                Ok(provenance) => State::There { bytes: m.len(), provenance },
                Err(e) => State::Broken(e),
            },
        };
        Ok(ParameterFile { circuit, path, state })
    }

    /// Every circuit of Filecoin's.
    pub fn all(folder: &Path) -> Vec<Self> {
        CircuitId::all().filter_map(|c| Self::look(folder, c).ok()).collect()
    }

    /// The circuit whose parameter file has this name, and that file.
    pub fn named(path: &Path) -> Option<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::look(folder, params::circuit_of(path)?).ok()
    }

    /// Whether it is there, usable, and not what Filecoin's list names.
    pub fn is_development(&self) -> bool {
        matches!(self.state, State::There { provenance, .. } if provenance != Provenance::Listed)
    }

    /// Whether it is there and its start can be read.
    pub fn is_there(&self) -> bool {
        matches!(self.state, State::There { .. })
    }

    /// `circuit`, `kind`, `sector_size`, `offered` (whether this version proves it: true), `file`, `expected_bytes` (what the
    /// circuit's file has), `state` ("there", "missing" or "broken"), `bytes`, `provenance` ("listed" by Filecoin, "development"
    /// or "unknown"), `development` (not listed), `resident` ("disk": this process has loaded none; what an engine holds is in
    /// `prover_status_json`) and `problem`; the last five null where they mean nothing.
    pub fn json(&self) -> Value {
        let (state, bytes, provenance, problem) = match &self.state {
            State::Missing => ("missing", None, None, None),
            State::There { bytes, provenance } => ("there", Some(*bytes), Some(provenance_word(*provenance)), None),
            State::Broken(e) => ("broken", None, None, Some(e.to_string())),
        };
        json!({
            "circuit": self.circuit.to_string(),
            "kind": self.circuit.kind.word(),
            "sector_size": self.circuit.sector_size,
            "offered": true,
            "file": self.path.display().to_string(),
            "expected_bytes": params::expected_layout(&self.circuit).ok().map(|layout| layout.file_bytes()),
            "state": state,
            "bytes": bytes,
            "provenance": provenance,
            "development": provenance.map(|_| self.is_development()),
            "resident": provenance.map(|_| "disk"),
            "problem": problem,
        })
    }

    /// The same for people, in one line.
    pub fn line(&self) -> String {
        let what = match &self.state {
            State::Missing => "missing".to_string(),
            State::There { bytes, provenance } => {
                format!("{}, {}, on disk", output::bytes(*bytes), origin(*provenance))
            }
            State::Broken(e) => format!("broken: {}", e.message),
        };
        format!("{:<20} {what}", self.circuit.to_string())
    }

    /// Warns on standard error when these are not Filecoin's parameters.
    pub fn warn(&self) {
        if let Some(warning) = self.warning() {
            output::note(&format!("warning: {warning}"));
        }
    }

    /// What there is to warn of.
    pub fn warning(&self) -> Option<String> {
        match &self.state {
            State::There { provenance, .. } if *provenance != Provenance::Listed => Some(format!(
                "{}: {}: proofs verify with these alone, and whoever made them can forge",
                self.circuit,
                origin(*provenance)
            )),
            State::Broken(e) => Some(format!("{}: {}", self.circuit, e.message)),
            _ => None,
        }
    }
}

/// Where parameters come from, for programs.
fn provenance_word(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Listed => "listed",
        Provenance::Development => "development",
        Provenance::Unknown => "unknown",
    }
}

/// The same for people.
fn origin(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Listed => "on Filecoin's list",
        Provenance::Development => "development parameters",
        Provenance::Unknown => "not on Filecoin's list (development parameters, made elsewhere)",
    }
}
