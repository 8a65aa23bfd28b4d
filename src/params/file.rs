//! bellperson's parameter file: verifying key, then `h`, `l`, `a`, `b_g1`, `b_g2`, each a big-endian `u32` count and
//! that many uncompressed points.
//!
//! The file is read with `pread` into memory of our own. A mapping would be read while others may write or cut the file:
//! what was checked could change afterwards, and a cut would end the process with SIGBUS.

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use blstrs::G1Affine;
use rayon::prelude::*;

use super::layout::{Layout, ParamsFile, Section, COUNT_BYTES, KEY_BYTES};
use super::point::{Flaw, Point};
use super::{Params, VerifyingKey};
use crate::error::{Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// Bytes a thread reads at a time: large enough that the system call costs nothing, small enough for the second cache.
const BLOCK_BYTES: usize = 384 << 10;

/// What is checked beyond every point being on its curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether every point must lie in the subgroup of prime order. Takes about 40 µs a point; [`check`](super::check)
    /// does it for a whole file in a fraction of that.
    pub subgroup: bool,
}

/// Reads a parameter file with `pread`, checks every section's bounds against the file's size before use and every point
/// against its curve. Runs on the current rayon pool.
///
/// Errors: `PARAMS_NOT_FOUND`, `IO`, `PARAMS_CORRUPT` naming the section, `OUT_OF_MEMORY`, `CANCELLED`.
pub fn read(path: &Path, control: Control<'_>) -> Result<Params> {
    read_with(path, ReadOptions::default(), control)
}

/// As [`read`], with more checks.
pub fn read_with(path: &Path, options: ReadOptions, control: Control<'_>) -> Result<Params> {
    let file = ParamsFile::open(path)?;
    let layout = file.layout()?;
    let reader = Reader { file: &file, options, progress: Progress::new(file.bytes, control) };
    let vk = key_of(&file, layout.ic)?;
    reader.progress.add(layout.ic.end());
    let params = Params {
        vk,
        h: reader.points("h", layout.h)?,
        l: reader.points("l", layout.l)?,
        a: reader.points("a", layout.a)?,
        b_g1: reader.points("b_g1", layout.b_g1)?,
        b_g2: reader.points("b_g2", layout.b_g2)?,
        path: path.into(),
    };
    file.check_unchanged()?;
    Ok(params)
}

/// Reads only the verifying key at a parameter file's start (or a `.vk` file, which is nothing else). Its points are
/// checked to lie in their subgroups.
pub fn read_verifying_key(path: &Path) -> Result<VerifyingKey> {
    let file = ParamsFile::open(path)?;
    let key = key_of(&file, file.ic()?)?;
    file.check_unchanged()?;
    Ok(key)
}

/// The sections of a parameter file, checked against its size and each other. No point is read.
pub fn read_layout(path: &Path) -> Result<Layout> {
    ParamsFile::open(path)?.layout()
}

/// The bytes of a file's verifying key: what a `.vk` file holds.
pub(crate) fn read_key_bytes(file: &ParamsFile) -> Result<Vec<u8>> {
    let bytes = file.ic()?.end() as usize;
    let mut key = reserve(bytes)?;
    key.resize(bytes, 0);
    file.read_at(&mut key, 0, "ic")?;
    Ok(key)
}

fn reserve(bytes: usize) -> Result<Vec<u8>> {
    let mut v = Vec::new();
    v.try_reserve_exact(bytes).map_err(|_| Error::out_of_memory("params", bytes))?;
    Ok(v)
}

/// The verifying key, its points checked to lie in their subgroups.
pub(crate) fn key_of(file: &ParamsFile, ic: Section) -> Result<VerifyingKey> {
    fn one<P: Point>(file: &ParamsFile, bytes: &[u8], start: usize, name: &'static str) -> Result<P> {
        in_subgroup(P::decode(&bytes[start..start + P::BYTES]), true)
            .map_err(|flaw| file.corrupt(name, format!("the point {}", flaw.text())))
    }
    let bytes = read_key_bytes(file)?;
    let mut points = Vec::new();
    points
        .try_reserve_exact(ic.count as usize)
        .map_err(|_| Error::out_of_memory("ic", ic.count as usize * size_of::<G1Affine>()))?;
    points.resize(ic.count as usize, G1Affine::default());
    decode(&bytes[ic.offset as usize..], &mut points, true)
        .map_err(|(i, flaw)| file.corrupt("ic", format!("point {i} {}", flaw.text())))?;
    debug_assert_eq!(ic.offset, KEY_BYTES + COUNT_BYTES);
    Ok(VerifyingKey {
        alpha_g1: one(file, &bytes, 0, "alpha_g1")?,
        beta_g1: one(file, &bytes, 96, "beta_g1")?,
        beta_g2: one(file, &bytes, 192, "beta_g2")?,
        gamma_g2: one(file, &bytes, 384, "gamma_g2")?,
        delta_g1: one(file, &bytes, 576, "delta_g1")?,
        delta_g2: one(file, &bytes, 672, "delta_g2")?,
        ic: points,
    })
}

fn in_subgroup<P: Point>(point: Result<P, Flaw>, asked: bool) -> Result<P, Flaw> {
    let point = point?;
    if asked && !point.in_subgroup() {
        return Err(Flaw::NotInSubgroup);
    }
    Ok(point)
}

/// Decodes points that lie one after the other; on a flaw, the number of the first point that has one.
fn decode<P: Point>(bytes: &[u8], points: &mut [P], subgroup: bool) -> Result<(), (usize, Flaw)> {
    let decoded = P::decode_all(bytes, points);
    if subgroup {
        // A point outside the subgroup before the first one that is none comes first.
        let good = &points[..decoded.map_or_else(|(first, _)| first, |()| points.len())];
        // A verifying key may be read outside any pool, and rayon's own must not start.
        let outside = match rayon::current_thread_index() {
            Some(_) => good.par_iter().position_first(|p| !p.in_subgroup()),
            None => good.iter().position(|p| !p.in_subgroup()),
        };
        if let Some(i) = outside {
            return Err((i, Flaw::NotInSubgroup));
        }
    }
    decoded
}

/// Reads and decodes sections block by block.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a ParamsFile,
    pub(crate) options: ReadOptions,
    pub(crate) progress: Progress<'a>,
}

impl Reader<'_> {
    /// Reads and decodes the points from number `first` on. `scratch` keeps the bytes.
    fn read_block<P: Point>(
        &self,
        section: Section,
        first: usize,
        points: &mut [P],
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        self.progress.control.check()?;
        let bytes = points.len() * P::BYTES;
        if scratch.len() < bytes {
            *scratch = reserve(bytes)?;
            scratch.resize(bytes, 0);
        }
        let scratch = &mut scratch[..bytes];
        self.file.read_at(scratch, section.offset + (first * P::BYTES) as u64, section.name)?;
        decode(scratch, points, self.options.subgroup)
            .map_err(|(i, flaw)| self.file.corrupt(section.name, format!("point {} {}", first + i, flaw.text())))?;
        self.progress.add(bytes as u64);
        Ok(())
    }

    /// A whole section.
    fn points<P: Point>(&self, what: &'static str, section: Section) -> Result<Buf<P>> {
        self.progress.add(COUNT_BYTES);
        let mut points = Buf::zeroed(what, section.count as usize)?;
        self.fill(section, 0, &mut points)?;
        Ok(points)
    }

    /// Reads and decodes the points from number `first` on, on the current rayon pool. Among several bad points the
    /// first is named.
    pub(crate) fn fill<P: Point>(&self, section: Section, first: usize, points: &mut [P]) -> Result<()> {
        let block = BLOCK_BYTES / P::BYTES;
        let failure = points
            .par_chunks_mut(block)
            .enumerate()
            .map_init(Vec::new, |scratch, (i, points)| {
                self.read_block(section, first + i * block, points, scratch).err()
            })
            .find_map_first(|failure| failure);
        failure.map_or(Ok(()), Err)
    }
}

/// Bytes done of bytes in all, reported as permille when that changes.
pub(crate) struct Progress<'a> {
    control: Control<'a>,
    all: u64,
    done: AtomicU64,
    permille: AtomicU32,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(all: u64, control: Control<'a>) -> Self {
        Progress { control, all: all.max(1), done: AtomicU64::new(0), permille: AtomicU32::new(0) }
    }

    pub(crate) fn add(&self, part: u64) {
        let done = self.done.fetch_add(part, Ordering::Relaxed) + part;
        let permille = (u128::from(done) * 1000 / u128::from(self.all)).min(1000) as u32;
        if self.permille.fetch_max(permille, Ordering::Relaxed) < permille {
            (self.control.progress)(permille);
        }
    }
}
