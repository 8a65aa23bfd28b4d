//! Making parameter files: a set-up written section by section, its verifying key beside it, and the marker that says
//! what they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use bellpepper_core::Circuit;
use blstrs::{G1Affine, G2Affine, Scalar};
use rayon::prelude::*;

use super::file::{read_key_bytes, Progress};
use super::generate::{G1Query, Setup};
use super::layout::{ParamsFile, Section, COUNT_BYTES, KEY_BYTES};
use super::names::Names;
use super::new_file::{exists, LockedFolder, NewFile};
use super::point::Point;
use super::provenance::key_digest;
use super::regular;
use super::{Trapdoor, VerifyingKey};
use crate::circuit::{record_until, Matrices};
use crate::error::{Code, Error, Result};
use crate::memory::Buf;
use crate::proofs::{CircuitId, CircuitVisitor};
use crate::telemetry::Control;

/// A marker is a few lines; what is longer is none.
const LONGEST_MARKER: u64 = 64 << 10;

/// Points computed before they are written.
const PIECE: usize = 1 << 17;

/// Points encoded and written by one task.
const TASK: usize = 1 << 12;

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The parameter file.
    pub params: PathBuf,
    /// The verifying key's file.
    pub vk: PathBuf,
    /// Bytes of the parameter file.
    pub bytes: u64,
}

/// Makes development parameters of a circuit in `dir` (made if it is not there), under the names filecoin-proofs gives
/// them, with a secret that is thrown away. Proofs made with them verify against their own key and nowhere else.
///
/// Runs on the current rayon pool. Files that exist are never replaced: `INVALID_ARGUMENT`, its field the path. Other
/// errors: `IO`, `OUT_OF_MEMORY`, `CANCELLED`; after each of them, as after a kill, nothing is left under a final name.
pub fn generate(circuit: &CircuitId, dir: &Path, control: Control<'_>) -> Result<Generated> {
    fs::create_dir_all(dir).map_err(|e| Error::io("params", "making", dir, &e))?;
    let names = Names::of(circuit, dir)?;
    prepare(&names, dir)?;
    let matrices = circuit.with_blank_circuit(Record { cancelled: control.cancelled })??;
    write_set(&matrices, Trapdoor::random()?, &names, dir, &circuit.to_string(), control)
}

/// Records the circuit it visits.
pub(crate) struct Record<'a> {
    pub(crate) cancelled: &'a AtomicBool,
}

impl CircuitVisitor for Record<'_> {
    type Output = Result<Matrices>;

    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        record_until(circuit, self.cancelled).map_err(|e| match e.code {
            Code::Cancelled => cancelled(),
            _ => e,
        })
    }
}

fn cancelled() -> Error {
    Error::new(Code::Cancelled, "", "making the parameters was cancelled")
}

/// Clears the folder of what killed runs left, and looks whether the names are free.
fn prepare(names: &Names, dir: &Path) -> Result<()> {
    let folder = LockedFolder::wait(dir)?;
    folder.remove_stale()?;
    names_free(names)
}

/// The files are named in the order marker, key, parameters, under the folder's lock. A marker without parameters is
/// therefore what a run left that was killed between two names; it goes, and the key that it names with it.
fn names_free(names: &Names) -> Result<()> {
    let there = |path: &Path| path.symlink_metadata().is_ok();
    if there(&names.params) {
        return Err(exists(&names.params));
    }
    if there(&names.marker) {
        let named = regular::read_text(&names.marker, LONGEST_MARKER).unwrap_or_default();
        if key_file_digest(&names.vk).is_ok_and(|d| named.contains(&digest_line(&d))) {
            remove(&names.vk)?;
        }
        remove(&names.marker)?;
    }
    if there(&names.vk) {
        return Err(exists(&names.vk));
    }
    Ok(())
}

/// The digest of a `.vk` file that holds a key and nothing else.
fn key_file_digest(path: &Path) -> Result<String> {
    let file = ParamsFile::open(path)?;
    let key = read_key_bytes(&file)?;
    if key.len() as u64 != file.bytes {
        return Err(file.corrupt("ic", format!("{} bytes follow the key", file.bytes - key.len() as u64)));
    }
    Ok(key_digest(&key))
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|e| Error::io("params", "removing", path, &e))
}

/// Writes the parameters of `matrices` at `trapdoor`, their key and their marker.
pub(crate) fn write_set(
    matrices: &Matrices,
    trapdoor: Trapdoor,
    names: &Names,
    dir: &Path,
    circuit: &str,
    control: Control<'_>,
) -> Result<Generated> {
    let setup = Setup::new(matrices, trapdoor, control)?;
    let layout = setup.layout();
    let bytes = layout.file_bytes();
    let file = NewFile::create(dir)?;
    file.reserve(bytes)?;
    let key = key_bytes(&setup.key(control)?)?;
    debug_assert_eq!(key.len() as u64, layout.ic.end());
    file.write_at(&key, 0)?;
    let writer = Writer { file: &file, progress: Progress::new(bytes, control) };
    writer.progress.add(layout.ic.end());
    for (section, query) in
        [(layout.h, G1Query::H), (layout.l, G1Query::L), (layout.a, G1Query::A), (layout.b_g1, G1Query::B)]
    {
        writer.section::<G1Affine>(section, |first, out| setup.g1_points(query, first, out, control))?;
    }
    writer.section::<G2Affine>(layout.b_g2, |first, out| setup.g2_points(first, out, control))?;
    file.sync()?;

    let key_file = whole_file(dir, &key)?;
    let marker_file = whole_file(dir, marker_text(circuit, &key).as_bytes())?;
    control.check().map_err(|_| cancelled())?;
    let folder = LockedFolder::wait(dir)?;
    names_free(names)?;
    // Parameters last: they never stand without the marker.
    let named = marker_file.name(&names.marker).and_then(|()| {
        let rest = key_file.name(&names.vk).and_then(|()| {
            file.name(&names.params).inspect_err(|_| {
                let _ = fs::remove_file(&names.vk);
            })
        });
        rest.inspect_err(|_| {
            let _ = fs::remove_file(&names.marker);
        })
    });
    named?;
    folder.sync()?;
    Ok(Generated { params: names.params.clone(), vk: names.vk.clone(), bytes })
}

fn whole_file(dir: &Path, bytes: &[u8]) -> Result<NewFile> {
    let file = NewFile::create(dir)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    Ok(file)
}

/// What a `.vk` file holds, and a parameter file starts with.
pub(crate) fn key_bytes(key: &VerifyingKey) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(KEY_BYTES as usize + COUNT_BYTES as usize + key.ic.len() * G1Affine::BYTES);
    key.write(&mut bytes).map_err(|e| Error::internal(format!("writing a key to memory: {e}")))?;
    Ok(bytes)
}

struct Writer<'a> {
    file: &'a NewFile,
    progress: Progress<'a>,
}

impl Writer<'_> {
    /// Writes a section: its count, then its points as `compute` makes them, piece by piece.
    fn section<P: Point>(&self, section: Section, compute: impl Fn(usize, &mut [P]) -> Result<()>) -> Result<()> {
        let count = section.count as usize;
        let count_be = u32::try_from(count).map_err(|_| Error::unsupported("circuit", "2^32 points or more"))?;
        self.file.write_at(&count_be.to_be_bytes(), section.offset - COUNT_BYTES)?;
        self.progress.add(COUNT_BYTES);
        let mut points = Buf::<P>::zeroed(section.name, count.min(PIECE))?;
        for first in (0..count).step_by(PIECE) {
            let points = &mut points[..(count - first).min(PIECE)];
            compute(first, points)?;
            points.par_chunks(TASK).enumerate().try_for_each_init(Vec::new, |bytes, (task, points)| {
                bytes.resize(points.len() * P::BYTES, 0);
                for (bytes, point) in bytes.chunks_exact_mut(P::BYTES).zip(points) {
                    point.encode(bytes);
                }
                let offset = section.offset + ((first + task * TASK) * P::BYTES) as u64;
                self.file.write_at(bytes, offset)?;
                self.progress.add(bytes.len() as u64);
                Ok::<_, Error>(())
            })?;
        }
        Ok(())
    }
}

fn digest_line(digest: &str) -> String {
    format!("key digest: {digest}\n")
}

fn marker_text(circuit: &str, key: &[u8]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|d| d.as_secs()).unwrap_or(0);
    format!(
        "These Groth16 parameters are for development. Their trapdoor was random and is known to nobody who kept to the\n\
         program, but one machine had it: whoever has it can forge proofs. Their proofs verify against their own key\n\
         and nowhere else.\n\n\
         circuit: {circuit}\nmade by: splitprove {}\nmade at: {}\n{}",
        env!("CARGO_PKG_VERSION"),
        utc(now),
        digest_line(&key_digest(key)),
    )
}

/// Seconds since 1970 as `YYYY-MM-DDThh:mm:ssZ`.
fn utc(seconds: u64) -> String {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let (mut day, mut year) = (seconds / 86_400, 1970);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for days in months {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let s = seconds % 86_400;
    format!("{year}-{month:02}-{:02}T{:02}:{:02}:{:02}Z", day + 1, s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
