//! Where parameters come from: Filecoin's trusted set-up, or some machine.
//!
//! Whether a proof convinces anybody else depends on the verifying key alone, so the key is what is looked at: the one at
//! the parameter file's start, which is the one used, and not a `.vk` file beside it. Points behind the key that are not
//! what they should be give proofs that do not verify, which the self-check finds.

use std::path::Path;

use blake2b_simd::{blake2b, State};
use storage_proofs_core::parameter_cache::{get_verifying_key_data, PARAMETERS};

use super::file::read_key_bytes;
use super::layout::ParamsFile;
use super::write::key_bytes;
use super::{is_development, Params};
use crate::error::{Code, Error, Result};
use crate::proofs::kind::PRODUCTION_BYTES;
use crate::proofs::CircuitId;
use crate::sync::{lock, Mutex};

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

/// The same digest of a whole file, taken as it is read from its start to its end.
pub(crate) struct FileDigest(Mutex<State>);

impl FileDigest {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        FileDigest(Mutex::new(State::new()))
    }

    /// The file's next bytes.
    pub(crate) fn add(&self, bytes: &[u8]) {
        lock(&self.0).update(bytes);
    }

    /// Of what was added.
    pub(crate) fn text(&self) -> String {
        lock(&self.0).finalize().to_hex()[..32].to_owned()
    }
}

/// What `parameters.json` says of the files of one circuit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'a> {
    /// Digest of the parameter file.
    pub(crate) file: &'a str,
    /// Digest of the verifying key.
    pub(crate) key: &'a str,
    /// Bytes of a sector.
    pub(crate) sector_size: u64,
}

impl Listed<'static> {
    /// What the list has under this name.
    pub(crate) fn named(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let file = PARAMETERS.get(name)?;
        let key = PARAMETERS.get(&format!("{}.vk", name.strip_suffix(".params")?))?;
        Some(Listed { file: &file.digest, key: &key.digest, sector_size: file.sector_size })
    }
}

/// Whether a file may be the listed one, by its key. `PARAMS_INSECURE` when it is not: then the rest need not be read.
pub(crate) fn expect_listed_key(file: &ParamsFile, listed: Option<Listed<'_>>, key: &[u8]) -> Result<()> {
    let what = match listed {
        Some(listed) if listed.key == key_digest(key) => return Ok(()),
        Some(_) => "its verifying key is not the one on Filecoin's list",
        None => "Filecoin's list has no file of this name",
    };
    Err(Error::new(Code::ParamsInsecure, "params", format!("{what} ({})", file.path.display())))
}

/// Whether a file with the listed key is the listed file, by its digest. `PARAMS_CORRUPT` when it is not.
pub(crate) fn expect_listed_file(file: &ParamsFile, listed: Listed<'_>, digest: &str) -> Result<()> {
    if listed.file == digest {
        return Ok(());
    }
    let what = format!("the key is Filecoin's, the file is not: its digest is {digest}, listed is {}", listed.file);
    Err(file.corrupt("params", what))
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

/// As [`admit`], of parameters that were read: the file may have been another one when the request came. Says nothing in
/// the log.
pub fn admit_read(params: &Params, allow_insecure: bool) -> Result<()> {
    judge_read(params, Listed::named(&params.path), allow_insecure)
}

fn judge_read(params: &Params, listed: Option<Listed<'_>>, allow_insecure: bool) -> Result<()> {
    let Some(listed) = listed.filter(|l| l.sector_size >= PRODUCTION_BYTES) else { return Ok(()) };
    if allow_insecure || listed.key == key_digest(&key_bytes(&params.vk)?) {
        return Ok(());
    }
    let message = format!("the parameters {} are not on Filecoin's list", params.path.display());
    Err(Error::new(Code::ParamsInsecure, "params", message))
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
    fn every_circuit_is_on_the_list_under_its_files_name() {
        use crate::proofs::kind::{Kind, SECTOR_SIZES};
        for kind in Kind::ALL {
            for (sector_size, name) in SECTOR_SIZES {
                let circuit = CircuitId { kind, sector_size };
                let names = super::super::Names::of(&circuit, Path::new("/somewhere")).unwrap();
                let listed = Listed::named(&names.params).unwrap_or_else(|| panic!("{kind}-{name}"));
                assert_eq!((listed.sector_size, listed.file.len(), listed.key.len()), (sector_size, 32, 32));
                assert_ne!(listed.file, listed.key);
                assert!(Listed::named(&names.vk).is_none());
            }
        }
        assert!(Listed::named(Path::new("v28-other.params")).is_none() && Listed::named(Path::new("/")).is_none());
    }

    #[test]
    fn parameters_are_judged_again_when_they_are_read() {
        let (dir, _, _) = super::super::file_tests::small_file();
        let params = super::super::read(&dir.path().join("v28-test.params"), crate::telemetry::Control::NONE).unwrap();
        let key = key_digest(&std::fs::read(dir.path().join("v28-test.vk")).unwrap());
        let listed = |key, sector_size| Some(Listed { file: "", key, sector_size });
        for (listed, allow, admitted) in [
            (None, false, true),
            (listed(&key, 32 << 30), false, true),
            (listed("other", 32 << 30), false, false),
            (listed("other", 64 << 30), false, false),
            (listed("other", 32 << 30), true, true),
            (listed("other", 512 << 20), false, true),
        ] {
            let code = judge_read(&params, listed, allow).map_err(|e| e.code);
            assert_eq!(code, if admitted { Ok(()) } else { Err(Code::ParamsInsecure) }, "{listed:?} {allow}");
        }
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
