//! Where what stands in a parameter file: found, and checked against the file's size, before anything is allocated.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use blstrs::{G1Affine, G2Affine};

use super::point::Point;
use super::regular;
use crate::circuit::Shape;
use crate::error::{Code, Error, Result};
use crate::memory::mapped_bytes;

/// Bytes before the count of `ic`: alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2.
pub(crate) const KEY_BYTES: u64 = 3 * 96 + 3 * 192;

/// Bytes of a count.
pub(crate) const COUNT_BYTES: u64 = 4;

/// BLS12-381's scalar field has roots of unity of order 2^32; bellperson uses domains below that.
const MAX_LOG_DOMAIN: u32 = 31;

/// A run of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name in Groth16: `ic`, `h`, `l`, `a`, `b_g1` or `b_g2`.
    pub name: &'static str,
    /// Number of points.
    pub count: u64,
    /// Byte of the file at which the first point starts.
    pub offset: u64,
    /// Bytes of a point: 96 in G1, 192 in G2.
    pub point_bytes: u64,
}

impl Section {
    /// The byte behind the last point.
    pub fn end(&self) -> u64 {
        self.offset + self.count * self.point_bytes
    }

    /// Point `i` and where it is, for messages.
    pub(crate) fn point(&self, i: usize) -> String {
        format!("point {i} at byte {}", self.offset + i as u64 * self.point_bytes)
    }
}

/// The sections of a parameter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// A point for every input, of the verifying key.
    pub ic: Section,
    /// A point for every power of τ below domain − 1.
    pub h: Section,
    /// A point for every aux variable.
    pub l: Section,
    /// A point for every variable in A.
    pub a: Section,
    /// A point for every variable in B.
    pub b_g1: Section,
    /// The same in G2.
    pub b_g2: Section,
}

impl Layout {
    /// The sections in the file's order.
    pub fn sections(&self) -> [Section; 6] {
        [self.ic, self.h, self.l, self.a, self.b_g1, self.b_g2]
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.b_g2.end()
    }

    /// Bytes of its points, decoded and held in buffers.
    pub fn memory_bytes(&self) -> u64 {
        let g1 = [self.h, self.l, self.a, self.b_g1].map(|s| mapped_bytes::<G1Affine>(s.count as usize));
        g1.iter().sum::<u64>() + mapped_bytes::<G2Affine>(self.b_g2.count as usize)
    }

    /// An upper bound of the circuit's size: rows are bounded by the domain.
    pub fn shape(&self) -> Shape {
        Shape { constraints: self.h.count as usize + 1, inputs: self.ic.count as usize, aux: self.l.count as usize }
    }

    /// The layout of a file with these counts; they must fit into 32 bits each.
    pub(crate) fn with_counts(ic: usize, h: usize, l: usize, a: usize, b: usize) -> Self {
        let mut end = KEY_BYTES;
        let mut next = |name, count, point_bytes| {
            let section = Section { name, count: count as u64, offset: end + COUNT_BYTES, point_bytes };
            end = section.end();
            section
        };
        Layout {
            ic: next("ic", ic, 96),
            h: next("h", h, 96),
            l: next("l", l, 96),
            a: next("a", a, 96),
            b_g1: next("b_g1", b, 96),
            b_g2: next("b_g2", b, 192),
        }
    }
}

/// An open parameter file (or `.vk` file) and what the system said about it then.
pub(crate) struct ParamsFile {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    stamp: Stamp,
}

/// Differs after a write to the file.
#[derive(PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let m = file.metadata()?;
        Ok(Stamp { bytes: m.len(), modified: (m.mtime(), m.mtime_nsec()) })
    }
}

impl ParamsFile {
    /// Opens a regular file. `PARAMS_NOT_FOUND` if there is none, else `IO`, with errno if the system gives one.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let io = |e: io::Error| Error::io("params", "opening", path, &e);
        let file = regular::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                Error::new(Code::ParamsNotFound, "params", format!("there is no parameter file {}", path.display()))
            }
            _ => io(e),
        })?;
        let stamp = Stamp::of(&file).map_err(io)?;
        Ok(ParamsFile { file, path: path.into(), bytes: stamp.bytes, stamp })
    }

    /// Fills `buf` from byte `offset` on. `section` names what is read. A file that ends early is `PARAMS_CORRUPT`: its
    /// size was checked, so it was cut since.
    pub(crate) fn read_at(&self, mut buf: &mut [u8], mut offset: u64, section: &'static str) -> Result<()> {
        while !buf.is_empty() {
            match self.file.read_at(buf, offset) {
                Ok(0) => return Err(self.corrupt(section, format!("the file ends at byte {offset}"))),
                Ok(n) => {
                    buf = &mut buf[n..];
                    offset += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io(section, "reading", &self.path, &e)),
            }
        }
        Ok(())
    }

    /// `PARAMS_CORRUPT` if somebody wrote to the file since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let stamp = Stamp::of(&self.file).map_err(|e| Error::io("params", "reading", &self.path, &e))?;
        if stamp != self.stamp {
            return Err(self.corrupt("params", "the file was written to while it was read".into()));
        }
        Ok(())
    }

    /// `PARAMS_CORRUPT` with the section at fault.
    pub(crate) fn corrupt(&self, section: &'static str, what: String) -> Error {
        Error::new(Code::ParamsCorrupt, section, format!("{what} ({})", self.path.display()))
    }

    fn count_at(&self, offset: u64, name: &'static str) -> Result<u64> {
        if offset + COUNT_BYTES > self.bytes {
            return Err(self.corrupt(name, format!("the file ends at byte {}, before the section's count", self.bytes)));
        }
        let mut be = [0; COUNT_BYTES as usize];
        self.read_at(&mut be, offset, name)?;
        Ok(u32::from_be_bytes(be).into())
    }

    /// The section whose count stands at `at`.
    fn section<P: Point>(&self, name: &'static str, at: u64) -> Result<Section> {
        let count = self.count_at(at, name)?;
        let section = Section { name, count, offset: at + COUNT_BYTES, point_bytes: P::BYTES as u64 };
        if count == 0 || count == u64::from(u32::MAX) {
            return Err(self.corrupt(name, format!("the section's count is {count}")));
        }
        if section.end() > self.bytes {
            let message =
                format!("{count} points from byte {} on do not fit into {} bytes", section.offset, self.bytes);
            return Err(self.corrupt(name, message));
        }
        Ok(section)
    }

    /// `ic`, with the key before it known to be inside the file.
    pub(crate) fn ic(&self) -> Result<Section> {
        // The first point that does not fit is the one at fault.
        for (name, end) in KEY_ENDS {
            if end > self.bytes {
                return Err(self.corrupt(name, format!("the file ends at byte {}, inside the point", self.bytes)));
            }
        }
        self.section::<G1Affine>("ic", KEY_BYTES)
    }

    /// The sections, each inside the file, nothing behind the last, and their counts possible for one circuit.
    pub(crate) fn layout(&self) -> Result<Layout> {
        let ic = self.ic()?;
        let h = self.section::<G1Affine>("h", ic.end())?;
        let domain = h.count + 1;
        if !domain.is_power_of_two() || domain > 1 << MAX_LOG_DOMAIN {
            return Err(self.corrupt("h", format!("{} points are not one less than a domain's size", h.count)));
        }
        if domain < ic.count {
            return Err(self.corrupt("h", format!("a domain of {domain} has no room for {} inputs' rows", ic.count)));
        }
        let l = self.section::<G1Affine>("l", h.end())?;
        let variables = ic.count + l.count;
        let a = self.section::<G1Affine>("a", l.end())?;
        if a.count < ic.count || a.count > variables {
            let message = format!("{} points for {} inputs and {} aux variables", a.count, ic.count, l.count);
            return Err(self.corrupt("a", message));
        }
        let b_g1 = self.section::<G1Affine>("b_g1", a.end())?;
        if b_g1.count > variables {
            return Err(self.corrupt("b_g1", format!("{} points for {variables} variables", b_g1.count)));
        }
        let b_g2 = self.section::<G2Affine>("b_g2", b_g1.end())?;
        if b_g2.count != b_g1.count {
            return Err(self.corrupt("b_g2", format!("{} points where b_g1 has {}", b_g2.count, b_g1.count)));
        }
        let rest = self.bytes - b_g2.end();
        if rest != 0 {
            return Err(self.corrupt("b_g2", format!("{rest} bytes follow the last section")));
        }
        Ok(Layout { ic, h, l, a, b_g1, b_g2 })
    }
}

/// Where the key's points end.
pub(crate) const KEY_ENDS: [(&str, u64); 6] = [
    ("alpha_g1", 96),
    ("beta_g1", 192),
    ("beta_g2", 384),
    ("gamma_g2", 576),
    ("delta_g1", 672),
    ("delta_g2", KEY_BYTES),
];
