//! A whole parameter file, checked as far as it can be without the set-up's secret.
//!
//! Beyond what [`read`](super::read) checks: every point lies in its subgroup, the `.vk` file beside it is the file's own
//! key, β and δ are the same numbers in G1 and in G2, and `b_g1` and `b_g2` hold the same numbers, by one random linear
//! combination of each.
//!
//! That is all a pairing can compare. It takes one point of G1 and one of G2, and the file has in G2 no more than β, γ, δ and
//! B's numbers: no power of τ, which would tie the points of `h` to each other (the next one is τ times the last), and no
//! generator, which would tie γ and α to anything. `l`'s numbers and `ic`'s are sums over A, B and C, and C's the file has
//! nowhere. So another point of the subgroup in `h`, `l`, `a` or `ic`, or the same other number in both of B's sections, is
//! not seen. What sees it is the digest of the file where Filecoin lists one, which is compared when the key is the listed
//! one, and the self-check of the first proof.

use std::path::Path;

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Prepared, G2Projective, Gt, Scalar};
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use rayon::prelude::*;

use super::file::{key_of, read_key_bytes, Progress, Reader};
use super::layout::{Layout, ParamsFile, Section};
use super::point::{Flaw, Point};
use super::provenance::{expect_listed_file, key_digest, FileDigest, Listed};
use super::random::Bits;
use super::subgroup::{SubsetSums, Summed, PIECE};
use super::VerifyingKey;
use crate::curve::msm::{msm_g1, msm_g2};
use crate::curve::Stopped;
use crate::error::{Code, Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// What a check found in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The sections.
    pub layout: Layout,
    /// filecoin-proofs' digest of the verifying key.
    pub key_digest: String,
    /// filecoin-proofs' digest of the whole file.
    pub file_digest: String,
    /// Whether it is, byte for byte, the file that filecoin-proofs' `parameters.json` lists under its name.
    pub listed: bool,
    /// Whether there is a `.vk` file beside it (which then holds the same key).
    pub key_file: bool,
}

/// Checks a parameter file. Memory stays at some tens of MB whatever its size; runs on the current rayon pool.
///
/// Errors: `PARAMS_NOT_FOUND`, `IO`, `CANCELLED`, `OUT_OF_MEMORY`, and `PARAMS_CORRUPT` naming the section (`vk` when the
/// `.vk` file is another key's, `params` when the key is Filecoin's and the file is not) and, in the message, the point and
/// its byte.
pub fn check(path: &Path, control: Control<'_>) -> Result<Report> {
    check_as(path, Listed::named(path), control)
}

/// As [`check`], where the list has `listed` under the file's name.
pub(crate) fn check_as(path: &Path, listed: Option<Listed<'_>>, control: Control<'_>) -> Result<Report> {
    let file = ParamsFile::open(path)?;
    let layout = file.layout()?;
    let key_bytes = read_key_bytes(&file)?;
    let key = key_of(&file, &key_bytes, layout.ic)?;
    let key_file = compare_key_file(&file, path, &key_bytes)?;
    let checker = Checker {
        reader: Reader { file: &file, progress: Progress::new(file.bytes, control) },
        key: &key,
        coefficients: Bits::fresh()?,
        digest: FileDigest::new(),
        control,
    };
    checker.key_pairs(&layout)?;
    checker.digest.add(&key_bytes);
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
        checker.first_different(&layout, first, points)
    })?;
    file.check_unchanged()?;
    let (key_digest, file_digest) = (key_digest(&key_bytes), checker.digest.text());
    if let Some(listed) = listed.filter(|listed| listed.key == key_digest) {
        expect_listed_file(&file, listed, &file_digest)?;
    }
    let listed = listed.is_some_and(|listed| listed.file == file_digest);
    Ok(Report { layout, key_digest, file_digest, listed, key_file })
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
    /// Of the file, as far as it was read.
    digest: FileDigest,
    control: Control<'a>,
}

impl Checker<'_> {
    fn stopped(why: Stopped) -> Error {
        match why {
            Stopped::Cancelled => Error::new(Code::Cancelled, "", "the check was cancelled"),
            other => other.into(),
        }
    }

    fn corrupt(&self, section: &'static str, what: String) -> Error {
        self.reader.file.corrupt(section, what)
    }

    /// β and δ must be the same numbers in G1 and in G2. Where they are not, the first point of B tells which of the two.
    fn key_pairs(&self, layout: &Layout) -> Result<()> {
        let key = self.key;
        if same_ratio(&key.beta_g1, &key.beta_g2, &key.delta_g1, &key.delta_g2) {
            return Ok(());
        }
        let (mut g1, mut g2) = ([G1Affine::default()], [G2Affine::default()]);
        self.reader.fill(layout.b_g1, 0, &mut g1)?;
        self.reader.fill(layout.b_g2, 0, &mut g2)?;
        let as_b = |x1, x2| same_ratio(x1, x2, &g1[0], &g2[0]);
        let what = "are not the same number in G1 and in G2";
        Err(match (as_b(&key.beta_g1, &key.beta_g2), as_b(&key.delta_g1, &key.delta_g2)) {
            (false, true) => self
                .corrupt("beta_g2", format!("beta_g1 at byte 96 and beta_g2 at byte 192 {what}, delta's and b's are")),
            (true, false) => self.corrupt(
                "delta_g2",
                format!("delta_g1 at byte 576 and delta_g2 at byte 672 {what}, beta's and b's are"),
            ),
            _ => self.corrupt("delta_g2", format!("beta or delta, from byte 96 or from byte 576 on, {what}")),
        })
    }

    /// Reads a section piece by piece, checks each point against its curve, all against their subgroup, and shows the
    /// pieces to `look`.
    fn section<P: Summed>(&self, section: Section, mut look: impl FnMut(usize, &[P]) -> Result<()>) -> Result<()> {
        let count = section.count as usize;
        let mut points = Buf::zeroed(section.name, count.min(PIECE))?;
        let mut sums = SubsetSums::new(Bits::fresh()?);
        self.reader.begin(section, Some(&self.digest));
        for first in (0..count).step_by(PIECE) {
            let points = &mut points[..(count - first).min(PIECE)];
            self.reader.fill_hashed(section, first, points, Some(&self.digest))?;
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
                return Err(self.outside(section, first + i));
            }
        }
        Err(Error::internal(format!("{} passed point by point but not as a whole", section.name)))
    }

    fn outside(&self, section: Section, i: usize) -> Error {
        self.corrupt(section.name, format!("{} {}", section.point(i), Flaw::NotInSubgroup.text()))
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
    fn first_different(&self, layout: &Layout, first: usize, g2: &[G2Affine]) -> Result<()> {
        let mut g1 = Buf::<G1Affine>::zeroed("b_g1", g2.len())?;
        self.reader.fill(layout.b_g1, first, &mut g1)?;
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
        let i = first + low;
        if !g2[low].in_subgroup() {
            return Err(self.outside(layout.b_g2, i));
        }
        let (here, there) = (layout.b_g2.point(i), layout.b_g1.point(i));
        Err(self.corrupt("b_g2", format!("{here} is not the number that b_g1's {there} is")))
    }
}
