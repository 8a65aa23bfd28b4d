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
use super::provenance::{expect_listed_file, expect_listed_key, FileDigest, Listed};
use super::subgroup::{first_outside, Summed};
use super::{Params, VerifyingKey};
use crate::error::{Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// Bytes a thread reads at a time: large enough that the system call costs nothing, small enough for the second cache.
const BLOCK_BYTES: usize = 384 << 10;

/// Blocks that are read before they are hashed and decoded at the same time.
const HASHED_BLOCKS: usize = 32;

/// What is checked beyond every point being on its curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether every point must lie in the subgroup of prime order.
    pub subgroup: bool,
    /// Whether the file must be the one that filecoin-proofs' `parameters.json` lists under its name, byte for byte. What is
    /// hashed is what is decoded.
    pub listed: bool,
    /// Bytes that the decoded points may take; `None`: as many as the file has.
    pub most_bytes: Option<u64>,
}

/// Reads a parameter file with `pread`, checks every section's bounds against the file's size before use and every point
/// against its curve. Runs on the current rayon pool.
///
/// Errors: `PARAMS_NOT_FOUND`, `IO`, `PARAMS_CORRUPT` naming the section, `OUT_OF_MEMORY`, `CANCELLED`.
pub fn read(path: &Path, control: Control<'_>) -> Result<Params> {
    read_with(path, ReadOptions::default(), control)
}

/// As [`read`], with more checks. `PARAMS_INSECURE` when the file must be the listed one and its name or its key is not on
/// the list; when only the rest differs, or its points take more than they may, `PARAMS_CORRUPT` naming `params`.
pub fn read_with(path: &Path, options: ReadOptions, control: Control<'_>) -> Result<Params> {
    read_as(path, options, Listed::named(path), control)
}

/// As [`read_with`], where the list has `listed` under the file's name.
pub(crate) fn read_as(
    path: &Path,
    options: ReadOptions,
    listed: Option<Listed<'_>>,
    control: Control<'_>,
) -> Result<Params> {
    let file = ParamsFile::open(path)?;
    let layout = file.layout()?;
    if let Some(most) = options.most_bytes.filter(|most| layout.memory_bytes() > *most) {
        let what = format!("the points take {} bytes, for which there is room for {most}", layout.memory_bytes());
        return Err(file.corrupt("params", what));
    }
    let key = read_key_bytes(&file)?;
    let vk = key_of(&file, &key, layout.ic)?;
    let digest = if options.listed {
        expect_listed_key(&file, listed, &key)?;
        let digest = FileDigest::new();
        digest.add(&key);
        Some(digest)
    } else {
        None
    };
    let points_bytes = file.bytes - layout.ic.end();
    // Two passes over the points where the second looks at their subgroup.
    let work = file.bytes + if options.subgroup { points_bytes } else { 0 };
    let reader = Reader { file: &file, progress: Progress::new(work, control) };
    let (digest, subgroup) = (digest.as_ref(), options.subgroup);
    reader.progress.add(layout.ic.end());
    let params = Params {
        vk,
        h: reader.points(layout.h, digest, subgroup)?,
        l: reader.points(layout.l, digest, subgroup)?,
        a: reader.points(layout.a, digest, subgroup)?,
        b_g1: reader.points(layout.b_g1, digest, subgroup)?,
        b_g2: reader.points(layout.b_g2, digest, subgroup)?,
        path: path.into(),
    };
    if let (Some(digest), Some(listed)) = (digest, listed) {
        expect_listed_file(&file, listed, &digest.text())?;
    }
    file.check_unchanged()?;
    Ok(params)
}

/// Reads only the verifying key at a parameter file's start (or a `.vk` file, which is nothing else). Its points are
/// checked to lie in their subgroups.
pub fn read_verifying_key(path: &Path) -> Result<VerifyingKey> {
    let file = ParamsFile::open(path)?;
    let key = key_of(&file, &read_key_bytes(&file)?, file.ic()?)?;
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

/// The verifying key in `bytes`, which are the file's first, its points checked to lie in their subgroups.
pub(crate) fn key_of(file: &ParamsFile, bytes: &[u8], ic: Section) -> Result<VerifyingKey> {
    fn one<P: Point>(file: &ParamsFile, bytes: &[u8], start: usize, name: &'static str) -> Result<P> {
        let wrong = |flaw: Flaw| file.corrupt(name, format!("the point at byte {start} {}", flaw.text()));
        let point = P::decode(&bytes[start..start + P::BYTES]).map_err(wrong)?;
        if point.in_subgroup() {
            Ok(point)
        } else {
            Err(wrong(Flaw::NotInSubgroup))
        }
    }
    if bytes.len() as u64 != ic.end() {
        return Err(file.corrupt("ic", "the section's count was changed while it was read".into()));
    }
    let mut points = Vec::new();
    points
        .try_reserve_exact(ic.count as usize)
        .map_err(|_| Error::out_of_memory("ic", ic.count as usize * size_of::<G1Affine>()))?;
    points.resize(ic.count as usize, G1Affine::default());
    decode_in_subgroup(&bytes[ic.offset as usize..], &mut points)
        .map_err(|(i, flaw)| file.corrupt("ic", format!("{} {}", ic.point(i), flaw.text())))?;
    debug_assert_eq!(ic.offset, KEY_BYTES + COUNT_BYTES);
    Ok(VerifyingKey {
        alpha_g1: one(file, bytes, 0, "alpha_g1")?,
        beta_g1: one(file, bytes, 96, "beta_g1")?,
        beta_g2: one(file, bytes, 192, "beta_g2")?,
        gamma_g2: one(file, bytes, 384, "gamma_g2")?,
        delta_g1: one(file, bytes, 576, "delta_g1")?,
        delta_g2: one(file, bytes, 672, "delta_g2")?,
        ic: points,
    })
}

/// Decodes points that lie one after the other and asks each whether it is in its subgroup; on a flaw, gives the number of
/// the first point that has one.
fn decode_in_subgroup<P: Point>(bytes: &[u8], points: &mut [P]) -> Result<(), (usize, Flaw)> {
    let decoded = P::decode_all(bytes, points);
    let good = &points[..decoded.map_or_else(|(first, _)| first, |()| points.len())];
    // A verifying key may be read outside any pool, and rayon's own must not start.
    let outside = match rayon::current_thread_index() {
        Some(_) => good.par_iter().position_first(|p| !p.in_subgroup()),
        None => good.iter().position(|p| !p.in_subgroup()),
    };
    outside.map_or(decoded, |i| Err((i, Flaw::NotInSubgroup)))
}

/// Reads and decodes sections block by block.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a ParamsFile,
    pub(crate) progress: Progress<'a>,
}

impl Reader<'_> {
    /// Reads the bytes of the points from number `first` on.
    fn read_bytes(&self, section: Section, first: usize, bytes: &mut [u8]) -> Result<()> {
        self.progress.control.check()?;
        self.file.read_at(bytes, section.offset + first as u64 * section.point_bytes, section.name)
    }

    /// Decodes the points from number `first` on.
    fn decode<P: Point>(&self, section: Section, first: usize, bytes: &[u8], points: &mut [P]) -> Result<()> {
        P::decode_all(bytes, points).map_err(|(i, flaw)| {
            self.file.corrupt(section.name, format!("{} {}", section.point(first + i), flaw.text()))
        })?;
        self.progress.add(bytes.len() as u64);
        Ok(())
    }

    /// Reads and decodes the points from number `first` on. `scratch` keeps the bytes.
    fn read_block<P: Point>(
        &self,
        section: Section,
        first: usize,
        points: &mut [P],
        scratch: &mut Buf<u8>,
    ) -> Result<()> {
        let bytes = room(scratch, points.len() * P::BYTES)?;
        self.read_bytes(section, first, bytes)?;
        self.decode(section, first, bytes, points)
    }

    /// A whole section, and its count before it.
    fn points<P: Summed>(&self, section: Section, digest: Option<&FileDigest>, subgroup: bool) -> Result<Buf<P>> {
        let mut points = Buf::zeroed(section.name, section.count as usize)?;
        self.begin(section, digest);
        self.fill_hashed(section, 0, &mut points, digest)?;
        if subgroup {
            self.progress.add(COUNT_BYTES);
            let cancelled = || self.progress.control.is_cancelled();
            let looked_at = |points: usize| self.progress.add((points * P::BYTES) as u64);
            if let Some(i) = first_outside(&points[..], &cancelled, looked_at)? {
                let what = format!("{} {}", section.point(i), Flaw::NotInSubgroup.text());
                return Err(self.file.corrupt(section.name, what));
            }
        }
        Ok(points)
    }

    /// The count before a section, which was read with the layout.
    pub(crate) fn begin(&self, section: Section, digest: Option<&FileDigest>) {
        if let Some(digest) = digest {
            digest.add(&(section.count as u32).to_be_bytes());
        }
        self.progress.add(COUNT_BYTES);
    }

    /// Reads and decodes the points from number `first` on, on the current rayon pool. Among several points that are wrongly
    /// written or off their curve the first is named.
    pub(crate) fn fill<P: Point>(&self, section: Section, first: usize, points: &mut [P]) -> Result<()> {
        let block = BLOCK_BYTES / P::BYTES;
        let failure = points
            .par_chunks_mut(block)
            .enumerate()
            .map_init(Buf::new, |scratch, (i, points)| {
                self.read_block(section, first + i * block, points, scratch).err()
            })
            .find_map_first(|failure| failure);
        failure.map_or(Ok(()), Err)
    }

    /// As [`fill`](Self::fill), and hashes what it decodes.
    pub(crate) fn fill_hashed<P: Point>(
        &self,
        section: Section,
        first: usize,
        points: &mut [P],
        digest: Option<&FileDigest>,
    ) -> Result<()> {
        let Some(digest) = digest else { return self.fill(section, first, points) };
        let block = BLOCK_BYTES / P::BYTES;
        let mut scratch = Buf::new();
        for (k, points) in points.chunks_mut(block * HASHED_BLOCKS).enumerate() {
            let first = first + k * block * HASHED_BLOCKS;
            let bytes = room(&mut scratch, points.len() * P::BYTES)?;
            bytes
                .par_chunks_mut(block * P::BYTES)
                .enumerate()
                .try_for_each(|(i, bytes)| self.read_bytes(section, first + i * block, bytes))?;
            let bytes = &*bytes;
            // A hash has one order; the points are decoded beside it.
            let ((), failure) = rayon::join(
                || digest.add(bytes),
                || {
                    let blocks = points.par_chunks_mut(block).zip(bytes.par_chunks(block * P::BYTES)).enumerate();
                    blocks
                        .map(|(i, (points, bytes))| self.decode(section, first + i * block, bytes, points).err())
                        .find_map_first(|failure| failure)
                },
            );
            failure.map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

/// The first `bytes` of `scratch`, which grows to them. A mapping: of what the allocator takes for it, it would keep some.
fn room(scratch: &mut Buf<u8>, bytes: usize) -> Result<&mut [u8]> {
    if scratch.len() < bytes {
        *scratch = Buf::zeroed("params", bytes)?;
    }
    Ok(&mut scratch[..bytes])
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
