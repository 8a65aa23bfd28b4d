//! Where parameters come from: Filecoin's trusted set-up, or some machine.
//!
//! Whether a proof convinces anybody else depends on the verifying key alone, so the key is what is looked at: the one at
//! the parameter file's start, which is the one used, and not a `.vk` file beside it. Points behind the key that are not
//! what they should be give proofs that do not verify, which the self-check finds.

use std::path::Path;

use blake2b_simd::blake2b;
use storage_proofs_core::parameter_cache::get_verifying_key_data;

use super::file::read_key_bytes;
use super::is_development;
use super::layout::ParamsFile;
use crate::error::{Code, Error, Result};
use crate::proofs::CircuitId;

/// Where parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// filecoin-proofs' `parameters.json` lists the digest of their verifying key for this circuit.
    Listed,
    /// Made by splitprove itself, as the marker beside them says.
    Development,
    /// Neither.
    Unknown,
}

/// filecoin-proofs' digest of a key's bytes: the first 16 bytes of BLAKE2b-512, in hexadecimal.
pub(crate) fn key_digest(key: &[u8]) -> String {
    blake2b(key).to_hex()[..32].to_owned()
}

/// Where the parameters at `path` come from, if they are to be used for `circuit`. Reads the verifying key only.
pub fn provenance(path: &Path, circuit: &CircuitId) -> Result<Provenance> {
    let identifier = circuit.parameter_identifier()?;
    let listed = get_verifying_key_data(&identifier).map(|data| data.digest.as_str());
    compare(path, listed)
}

fn compare(path: &Path, listed: Option<&str>) -> Result<Provenance> {
    let file = ParamsFile::open(path)?;
    let digest = key_digest(&read_key_bytes(&file)?);
    Ok(match listed {
        Some(listed) if listed == digest => Provenance::Listed,
        _ if is_development(path) => Provenance::Development,
        _ => Provenance::Unknown,
    })
}

/// Whether the parameters at `path` may be used for `circuit`. For production sizes (32 and 64 GiB) parameters that
/// Filecoin does not list are `PARAMS_INSECURE` unless `allow_insecure`; else they give a warning in the log.
pub fn admit(path: &Path, circuit: &CircuitId, allow_insecure: bool) -> Result<()> {
    judge(provenance(path, circuit)?, path, circuit, allow_insecure)
}

fn judge(provenance: Provenance, path: &Path, circuit: &CircuitId, allow_insecure: bool) -> Result<()> {
    let what = match provenance {
        Provenance::Listed => return Ok(()),
        Provenance::Development => "were made for development",
        Provenance::Unknown => "are not on Filecoin's list",
    };
    let message = format!("the parameters {} for {circuit} {what}", path.display());
    if circuit.is_production() && !allow_insecure {
        return Err(Error::new(
            Code::ParamsInsecure,
            "params",
            format!("{message}; their proofs convince nobody else"),
        ));
    }
    tracing::warn!(circuit = %circuit, path = %path.display(), "{message}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_filecoins() {
        let circuit: CircuitId = "porep-32GiB".parse().unwrap();
        let identifier = circuit.parameter_identifier().unwrap();
        let listed = get_verifying_key_data(&identifier).unwrap();
        assert_eq!((listed.sector_size, listed.digest.len()), (32 << 30, 32));
    }

    #[test]
    fn digests_are_compared() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.params");
        // No points, but a key's bounds are all that is looked at.
        let mut bytes = vec![7u8; 864];
        bytes.extend([0, 0, 0, 1]);
        bytes.extend([9u8; 96]);
        let digest = key_digest(&bytes);
        bytes.extend(b"sections");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(compare(&path, Some(&digest)).unwrap(), Provenance::Listed);
        assert_eq!(compare(&path, None).unwrap(), Provenance::Unknown);
        assert_eq!(compare(&path, Some(&digest[1..])).unwrap(), Provenance::Unknown);
        std::fs::write(super::super::names::marker_of(&path), "").unwrap();
        assert_eq!(compare(&path, None).unwrap(), Provenance::Development);
        assert_eq!(compare(&path, Some(&digest)).unwrap(), Provenance::Listed);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(compare(&path, Some(&digest)).unwrap_err().code, Code::ParamsNotFound);
    }

    #[test]
    fn the_digest_is_blake2bs_first_half_of_256_bits() {
        // BLAKE2b-512 of "abc" (RFC 7693, appendix A) starts with these bytes.
        assert_eq!(key_digest(b"abc"), "ba80a53f981c4d0d6a2797b69f12f6e9");
    }

    #[test]
    fn production_sizes_are_strict() {
        let path = Path::new("p");
        let judge = |provenance, circuit: &str, allow| judge(provenance, path, &circuit.parse().unwrap(), allow);
        for circuit in ["porep-32GiB", "snap-64GiB", "winning-post-32GiB"] {
            for provenance in [Provenance::Development, Provenance::Unknown] {
                let error = judge(provenance, circuit, false).unwrap_err();
                assert_eq!((error.code, error.field.as_ref()), (Code::ParamsInsecure, "params"));
                judge(provenance, circuit, true).unwrap();
            }
            judge(Provenance::Listed, circuit, false).unwrap();
        }
        for circuit in ["porep-2KiB", "snap-512MiB", "window-post-8MiB"] {
            judge(Provenance::Unknown, circuit, false).unwrap();
        }
    }
}
