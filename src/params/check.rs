//! A whole parameter file, checked as far as it can be without the set-up's secret.
//!
//! Beyond what [`read`](super::read) checks: every point lies in its subgroup, the `.vk` file beside it is the file's own
//! key, β and δ are the same numbers in G1 and in G2, and `b_g1` and `b_g2` hold the same numbers. That the numbers are the
//! right ones for a circuit no reader can tell: the set-up's transcript or a listed digest says so, see
//! [`provenance`](super::provenance).

use std::path::Path;

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt, Scalar};
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use rayon::prelude::*;

use super::file::{key_of, read_key_bytes, Progress, ReadOptions, Reader};
use super::layout::{Layout, ParamsFile, Section};
use super::point::Point;
use super::provenance::key_digest;
use super::random::Bits;
use super::subgroup::{SubsetSums, Summed};
use super::VerifyingKey;
use crate::curve::msm::{msm_g1, msm_g2};
use crate::curve::Stopped;
use crate::error::{Code, Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// Points in memory at a time.
const PIECE: usize = 1 << 17;

/// What a check found in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The sections.
    pub layout: Layout,
    /// filecoin-proofs' digest of the verifying key.
    pub key_digest: String,
    /// Whether there is a `.vk` file beside it (which then holds the same key).
    pub key_file: bool,
}

/// Checks a parameter file. Memory stays at some tens of MB whatever its size; runs on the current rayon pool.
///
/// Errors: `PARAMS_NOT_FOUND`, `IO`, `CANCELLED`, `OUT_OF_MEMORY`, and `PARAMS_CORRUPT` naming the section (`vk` when the
/// `.vk` file is another key's) and, in the message, the point.
pub fn check(path: &Path, control: Control<'_>) -> Result<Report> {
    let file = ParamsFile::open(path)?;
    let layout = file.layout()?;
    let key = key_of(&file, layout.ic)?;
    let key_bytes = read_key_bytes(&file)?;
    let key_file = compare_key_file(&file, path, &key_bytes)?;
    if !same_ratio(&key.beta_g1, &key.beta_g2, &key.delta_g1, &key.delta_g2) {
        return Err(file.corrupt("delta_g2", "beta and delta are not the same numbers in G1 and in G2".into()));
    }
    let checker = Checker {
        reader: Reader { file: &file, options: ReadOptions::default(), progress: Progress::new(file.bytes, control) },
        key: &key,
        coefficients: Bits::fresh()?,
        control,
    };
    checker.reader.progress.add(layout.ic.end());
    for section in [layout.h, layout.l, layout.a] {
        checker.section::<G1Affine>(section, |_, _| Ok(()))?;
    }
    let mut sums_g1 = Vec::new();
    checker.section(layout.b_g1, |first, points: &[G1Affine]| {
        sums_g1.push(checker.combine_g1(first, points)?);
        Ok(())
    })?;
    let mut sums_g1 = sums_g1.into_iter();
    checker.section(layout.b_g2, |first, points: &[G2Affine]| {
        // Both sections have as many points, so as many pieces.
        let g1 = sums_g1.next().unwrap_or_else(G1Projective::identity);
        if checker.same(&g1, &checker.combine_g2(first, points)?) {
            return Ok(());
        }
        checker.first_different(layout.b_g1, first, points)
    })?;
    file.check_unchanged()?;
    Ok(Report { layout, key_digest: key_digest(&key_bytes), key_file })
}

/// Whether there is a `.vk` file; its bytes must be the key's.
fn compare_key_file(file: &ParamsFile, path: &Path, key: &[u8]) -> Result<bool> {
    if path.extension().is_none_or(|e| e != "params") {
        return Ok(false);
    }
    let other = match ParamsFile::open(&path.with_extension("vk")) {
        Ok(other) => other,
        Err(e) if e.code == Code::ParamsNotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let same = other.bytes == key.len() as u64 && read_key_bytes(&other).is_ok_and(|bytes| bytes == key);
    if !same {
        return Err(file.corrupt("vk", format!("{} is not the key of the parameters", other.path.display())));
    }
    Ok(true)
}

/// Whether x₁ = k·y₁ and x₂ = k·y₂ for the same k: e(x₁, y₂) = e(y₁, x₂). All four in their subgroups.
fn same_ratio(x1: &G1Affine, x2: &G2Affine, y1: &G1Affine, y2: &G2Affine) -> bool {
    let (x2, y2) = (G2Prepared::from(*x2), G2Prepared::from(*y2));
    Bls12::multi_miller_loop(&[(x1, &y2), (&-y1, &x2)]).final_exponentiation() == Gt::identity()
}

struct Checker<'a> {
    reader: Reader<'a>,
    key: &'a VerifyingKey,
    /// For random combinations of `b_g1` and `b_g2`: the same coefficient for the same index.
    coefficients: Bits,
    control: Control<'a>,
}

impl Checker<'_> {
    fn stopped(why: Stopped) -> Error {
        match why {
            Stopped::Cancelled => Error::new(Code::Cancelled, "", "the check was cancelled"),
            other => other.into(),
        }
    }

    /// Reads a section piece by piece, checks each point against its curve, all against their subgroup, and shows the
    /// pieces to `look`.
    fn section<P: Summed>(&self, section: Section, mut look: impl FnMut(usize, &[P]) -> Result<()>) -> Result<()> {
        let count = section.count as usize;
        let mut points = Buf::zeroed(section.name, count.min(PIECE))?;
        let mut sums = SubsetSums::new(Bits::fresh()?);
        for first in (0..count).step_by(PIECE) {
            let points = &mut points[..(count - first).min(PIECE)];
            self.reader.fill(section, first, points)?;
            sums.add(points, &|| self.control.is_cancelled()).map_err(Self::stopped)?;
            look(first, points)?;
        }
        if sums.all_in_subgroup() {
            return Ok(());
        }
        for first in (0..count).step_by(PIECE) {
            let points = &mut points[..(count - first).min(PIECE)];
            self.reader.fill(section, first, points)?;
            if let Some(i) = points.par_iter().position_first(|p| !p.in_subgroup()) {
                let what = format!("point {} is outside the subgroup of prime order", first + i);
                return Err(self.reader.file.corrupt(section.name, what));
            }
        }
        Err(Error::internal(format!("{} passed point by point but not as a whole", section.name)))
    }

    /// 64-bit coefficients: sums of two different lists of points agree with a chance of 2^-64.
    fn scalars(&self, first: usize, count: usize) -> Vec<Scalar> {
        self.coefficients.words(first as u64, count).into_iter().map(Scalar::from).collect()
    }

    fn combine_g1(&self, first: usize, points: &[G1Affine]) -> Result<G1Projective> {
        msm_g1(points, &self.scalars(first, points.len()), &|| self.control.is_cancelled()).map_err(Self::stopped)
    }

    fn combine_g2(&self, first: usize, points: &[G2Affine]) -> Result<G2Projective> {
        msm_g2(points, &self.scalars(first, points.len()), &|| self.control.is_cancelled()).map_err(Self::stopped)
    }

    /// Whether a combination is the same number in both groups, β being the same number in both.
    fn same(&self, g1: &G1Projective, g2: &G2Projective) -> bool {
        same_ratio(&g1.to_affine(), &g2.to_affine(), &self.key.beta_g1, &self.key.beta_g2)
    }

    /// Names the first point at which `b_g2`'s points, from number `first` on, are not `b_g1`'s.
    fn first_different(&self, b_g1: Section, first: usize, g2: &[G2Affine]) -> Result<()> {
        let mut g1 = Buf::<G1Affine>::zeroed("b_g1", g2.len())?;
        self.reader.fill(b_g1, first, &mut g1)?;
        // The points before `low` agree, those before `high` do not all.
        let (mut low, mut high) = (0, g2.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let (g1, g2) = (&g1[low..middle], &g2[low..middle]);
            if self.same(&self.combine_g1(first + low, g1)?, &self.combine_g2(first + low, g2)?) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let what = if g2[low].in_subgroup() {
            format!("point {} is not the number that b_g1's is", first + low)
        } else {
            format!("point {} is outside the subgroup of prime order", first + low)
        };
        Err(self.reader.file.corrupt("b_g2", what))
    }
}
