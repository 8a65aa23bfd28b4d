//! What parameter files are called, and what stands beside them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use storage_proofs_core::parameter_cache;

use crate::error::Result;
use crate::proofs::CircuitId;

/// What is added to the name of parameters with a marker.
const MARKER: &str = ".DEVELOPMENT";

/// The files of one circuit's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// `v28-….params`.
    pub params: PathBuf,
    /// `v28-….vk`: the verifying key alone.
    pub vk: PathBuf,
    /// `v28-….params.DEVELOPMENT`: stands beside what splitprove made itself.
    pub marker: PathBuf,
}

impl Names {
    /// The names filecoin-proofs gives the circuit's files, in `dir`.
    pub fn of(circuit: &CircuitId, dir: &Path) -> Result<Self> {
        let identifier = circuit.parameter_identifier()?;
        Ok(Names {
            params: dir.join(parameter_cache::parameter_id(&identifier)),
            vk: dir.join(parameter_cache::verifying_key_id(&identifier)),
            marker: marker_of(&dir.join(parameter_cache::parameter_id(&identifier))),
        })
    }
}

/// The marker's path for parameters at `params`.
pub(crate) fn marker_of(params: &Path) -> PathBuf {
    let mut name = params.as_os_str().to_owned();
    name.push(MARKER);
    name.into()
}

/// The circuit whose parameter file has this file's name.
pub fn circuit_of(params: &Path) -> Option<CircuitId> {
    static NAMES: OnceLock<Vec<(String, CircuitId)>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let name = |c: CircuitId| Some((parameter_cache::parameter_id(&c.parameter_identifier().ok()?), c));
        CircuitId::all().filter_map(name).collect()
    });
    let file = params.file_name()?;
    names.iter().find(|(name, _)| file == name.as_str()).map(|(_, circuit)| *circuit)
}

/// Whether the parameters at `params` are marked as made by splitprove itself.
pub fn is_development(params: &Path) -> bool {
    marker_of(params).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_their_circuits() {
        for circuit in CircuitId::all() {
            let names = Names::of(&circuit, Path::new("dir")).unwrap();
            assert_eq!(circuit_of(&names.params), Some(circuit));
            assert_eq!((circuit_of(&names.vk), circuit_of(&names.marker)), (None, None));
        }
        assert_eq!(circuit_of(Path::new("/")), None);
    }
}
