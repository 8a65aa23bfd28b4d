//! Parameter files: which circuits' are there, and of what origin.

use std::path::{Path, PathBuf};

use serde_json::{json, Value};
use splitprove::engine::params_path;
use splitprove::error::{Error, Result};
use splitprove::params;
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::{CircuitId, Kind};

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
        /// Not from Filecoin's trusted set-up.
        development: bool,
    },
    /// A file that cannot be used, and why.
    Broken(Error),
}

impl ParameterFile {
    /// Looks for a circuit's file in a folder. `UNSUPPORTED` for circuits that this version does not have.
    pub fn look(folder: &Path, circuit: CircuitId) -> Result<Self> {
        let path = params_path(folder, &circuit)?;
        let state = match path.metadata() {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => State::Missing,
            Err(e) => State::Broken(Error::io("params", "reading", &path, &e)),
            Ok(m) => match params::read_verifying_key(&path) {
                Ok(_) => State::There { bytes: m.len(), development: params::is_development(&path) },
                Err(e) => State::Broken(e),
            },
        };
        Ok(ParameterFile { circuit, path, state })
    }

    /// Every circuit that this version has.
    pub fn all(folder: &Path) -> Vec<Self> {
        let circuits = Kind::ALL
            .into_iter()
            .flat_map(|kind| SECTOR_SIZES.into_iter().map(move |(sector_size, _)| CircuitId { kind, sector_size }));
        circuits.filter_map(|c| Self::look(folder, c).ok()).collect()
    }

    /// Whether it is there, usable, and from no trusted set-up.
    pub fn is_development(&self) -> bool {
        matches!(self.state, State::There { development: true, .. })
    }

    /// Whether it is there and its start can be read.
    pub fn is_there(&self) -> bool {
        matches!(self.state, State::There { .. })
    }

    /// `circuit`, `file`, `state` ("there", "missing" or "broken"), `bytes`, `development` and `problem`; the last three
    /// null where they mean nothing.
    pub fn json(&self) -> Value {
        let (state, bytes, development, problem) = match &self.state {
            State::Missing => ("missing", None, None, None),
            State::There { bytes, development } => ("there", Some(*bytes), Some(*development), None),
            State::Broken(e) => ("broken", None, None, Some(e.to_string())),
        };
        json!({
            "circuit": self.circuit.to_string(),
            "file": self.path.display().to_string(),
            "state": state,
            "bytes": bytes,
            "development": development,
            "problem": problem,
        })
    }

    /// The same for people, in one line.
    pub fn line(&self) -> String {
        let what = match &self.state {
            State::Missing => "missing".to_string(),
            State::There { bytes, development: true } => format!("{}, DEVELOPMENT parameters", output::bytes(*bytes)),
            State::There { bytes, development: false } => output::bytes(*bytes),
            State::Broken(e) => format!("broken: {}", e.message),
        };
        format!("{:<20} {what}", self.circuit.to_string())
    }

    /// Warns on standard error when these are development parameters.
    pub fn warn(&self) {
        if self.is_development() {
            output::note(&format!(
                "warning: {}: development parameters ({}): proofs verify with these alone, and whoever made them can forge",
                self.circuit,
                self.path.display()
            ));
        }
    }
}
