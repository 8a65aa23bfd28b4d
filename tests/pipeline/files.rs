//! Parameter files as they should not be, through the engine: every case ends with its code and its field, the process goes
//! on, and a later proof is made and verifies.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::{G1Affine, G2Affine};
use splitprove::engine::ParamsRef;
use splitprove::error::{Code, Result};
use splitprove::params::{read_layout, Layout};
use tempfile::TempDir;

use crate::common::{SmallCircuit, Style};
use crate::support::*;

/// The points before the first section, and where they end.
const KEY: [(&str, usize); 6] =
    [("alpha_g1", 96), ("beta_g1", 192), ("beta_g2", 384), ("gamma_g2", 576), ("delta_g1", 672), ("delta_g2", 864)];

/// The bytes of a circuit's parameter file. Another `secret`, another set-up.
pub fn file_of(circuit: &SmallCircuit, secret: u64) -> Vec<u8> {
    use bellperson::groth16::generate_random_parameters;
    use rand::{rngs::StdRng, SeedableRng};
    let mut bytes = Vec::new();
    if secret == 0 {
        circuit.parameters().write(&mut bytes).unwrap();
    } else {
        let mut rng = StdRng::seed_from_u64(secret);
        let theirs = generate_random_parameters::<blstrs::Bls12, _, _>(circuit.clone(), &mut rng).unwrap();
        theirs.write(&mut bytes).unwrap();
    }
    bytes
}

/// A pipe that nobody writes to.
pub fn pipe(path: &Path) {
    let c_path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the string ends in a zero byte and lives over the call.
    assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
}

/// Takes away whatever is there.
pub fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(m) if m.is_dir() => fs::remove_dir(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Runs `f` on a thread whose permissions are those of a file's owner, also where root runs the tests: without
/// CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH. The threads that it starts are the same.
fn bound_by_permissions(f: impl FnOnce() + Send) {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Sets {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    let drop_capabilities = || {
        let header = Header { version: 0x2008_0522, pid: 0 };
        let mut sets = [Sets::default(); 2];
        // SAFETY: version 3 of the call reads a header and writes, then reads, two sets of this layout.
        unsafe {
            assert_eq!(libc::syscall(libc::SYS_capget, &header, sets.as_mut_ptr()), 0);
            sets[0].effective &= !(1 << 1 | 1 << 2);
            assert_eq!(libc::syscall(libc::SYS_capset, &header, sets.as_ptr()), 0);
        }
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            drop_capabilities();
            f();
        });
        thread.join().unwrap();
    });
}

/// Cases, one after the other, on one engine.
struct Table {
    bench: Bench,
    dir: TempDir,
    good: Vec<u8>,
    layout: Layout,
    cases: usize,
}

impl Table {
    fn new() -> Self {
        let (bench, dir) = (Bench::new(two(), false), tempfile::tempdir().unwrap());
        let good = file_of(&bench.circuit, 0);
        let path = dir.path().join("good.params");
        fs::write(&path, &good).unwrap();
        Table { bench, layout: read_layout(&path).unwrap(), dir, good, cases: 0 }
    }

    fn prove(&self, path: &Path) -> Result<Arc<[u8]>> {
        let mut job = self.bench.job(1, Plot::default());
        job.params = ParamsRef::File(path.into());
        result(&self.bench.engine.submit(self.bench.submission(job)).unwrap())
    }

    #[track_caller]
    fn proves(&self, path: &Path) {
        self.bench.verify(&self.prove(path).unwrap());
    }

    /// What `put` puts under a name fails; `fields`: the one at fault, or all that may be said to be.
    #[track_caller]
    fn fails(&mut self, what: &str, put: impl FnOnce(&Path), code: Code, fields: &[&str]) -> PathBuf {
        self.cases += 1;
        let path = self.dir.path().join(format!("{}.params", self.cases));
        put(&path);
        let e = self.prove(&path).err().unwrap_or_else(|| panic!("{what}: proved"));
        assert!(e.code == code && fields.contains(&&*e.field), "{what}: {code:?} {fields:?}, not {:?} {e}", e.code);
        assert!(e.message.contains(path.to_str().unwrap()), "{what}: {e}");
        path
    }

    /// A file that cannot be loaded. With the good one in its place the same engine proves.
    #[track_caller]
    fn refused(&mut self, what: &str, put: impl FnOnce(&Path), code: Code, fields: &[&str]) {
        let path = self.fails(what, put, code, fields);
        clear(&path);
        fs::write(&path, &self.good).unwrap();
        self.proves(&path);
    }

    /// As [`refused`](Self::refused), of bytes with a fault in `field`.
    #[track_caller]
    fn corrupt(&mut self, what: &str, fields: &[&str], change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.good.clone();
        change(&mut bytes);
        self.refused(what, |path| fs::write(path, &bytes).unwrap(), Code::ParamsCorrupt, fields);
    }

    /// A sound file that is not this circuit's. It is loaded and stays, and the good one beside it serves.
    #[track_caller]
    fn misfit(&mut self, what: &str, bytes: &[u8], code: Code, field: &str) {
        self.cases += 1;
        let path = self.dir.path().join(format!("{}.params", self.cases));
        fs::write(&path, bytes).unwrap();
        let e = self.prove(&path).err().unwrap_or_else(|| panic!("{what}: proved"));
        assert_eq!((e.code, &*e.field), (code, field), "{what}: {e}");
        self.proves(&self.dir.path().join("good.params"));
    }

    /// Names and ends of the file's pieces, in order: the key's points, then a count and the points of every section.
    fn pieces(&self) -> Vec<(&'static str, usize)> {
        let sections = self.layout.sections();
        let counts = sections.iter().flat_map(|s| [(s.name, s.offset as usize), (s.name, s.end() as usize)]);
        KEY.into_iter().chain(counts).collect()
    }

    fn cuts(&mut self) {
        let pieces = self.pieces();
        let all = self.good.len();
        let ends = pieces.iter().map(|(_, end)| *end);
        let mut lengths: Vec<usize> = ends.chain([0]).flat_map(|end| [end.saturating_sub(1), end, end + 1]).collect();
        lengths.sort();
        lengths.dedup();
        lengths.retain(|len| *len != all);
        for len in lengths {
            // What is not wholly there is at fault; with a byte too many, the last.
            let missing = pieces.iter().find(|(_, end)| *end > len);
            let name = missing.map_or("b_g2", |(name, _)| name);
            self.corrupt(&format!("{len} bytes of {all}"), &[name], |b| b.resize(len, 0));
        }
    }

    /// Every bit of every count. One that is too large for the file is at fault itself; with a smaller change it is a later
    /// section that stands where none can.
    fn counts(&mut self) {
        let sections = self.layout.sections();
        let names = sections.map(|s| s.name);
        for (i, section) in sections.into_iter().enumerate() {
            for bit in 0..32 {
                let count = section.count ^ 1 << bit;
                let outside = section.offset + count * section.point_bytes > self.good.len() as u64;
                let fields = if outside { &names[i..=i] } else { &names[i..] };
                let at = section.offset as usize - 4;
                self.corrupt(&format!("bit {bit} of the count of {}", section.name), fields, |b| {
                    b[at..at + 4].copy_from_slice(&(count as u32).to_be_bytes());
                });
            }
        }
    }

    /// The key's points, and the first and last of every section.
    fn points(&mut self) {
        let key = KEY.into_iter().map(|(name, end)| (name, end - if name.ends_with("g2") { 192 } else { 96 }, end));
        let sections = self.layout.sections();
        let ends = sections.into_iter().flat_map(|s| {
            let (start, end, size) = (s.offset as usize, s.end() as usize, s.point_bytes as usize);
            [(s.name, start, start + size), (s.name, end - size, end)]
        });
        for (name, start, end) in key.chain(ends) {
            let half = (start + end) / 2;
            let at = |what: &str| format!("{what} of {name} at byte {start}");
            self.corrupt(&at("last bit of x"), &[name], |b| b[half - 1] ^= 1);
            self.corrupt(&at("last bit of y"), &[name], |b| b[end - 1] ^= 1);
            self.corrupt(&at("a flag"), &[name], |b| b[start] ^= 0x80);
            self.corrupt(&at("infinity instead"), &[name], |b| {
                b[start..end].fill(0);
                b[start] = 0x40;
            });
        }
    }

    /// Files and parts of files of other circuits, and of another set-up of the same.
    fn swapped(&mut self) {
        let other = |style, inputs, rows| file_of(&SmallCircuit::new(style, inputs, rows, 5), 0);
        self.misfit("a smaller circuit's", &other(Style::Sparse, 3, 30), Code::ParamsCorrupt, "h");
        self.misfit("one of fewer inputs", &other(Style::Sparse, 2, 200), Code::ParamsCorrupt, "ic");
        self.misfit("one of a row more", &other(Style::Sparse, 3, 201), Code::ParamsCorrupt, "l");
        self.misfit("one of other rows", &other(Style::Dense, 3, 200), Code::ParamsCorrupt, "a");
        let twice = other(Style::Sparse, 3, 400);
        self.misfit("one twice as large", &twice, Code::ParamsCorrupt, "h");
        let again = file_of(&self.bench.circuit, 99);
        assert_eq!(again.len(), self.good.len());
        self.proves_with_its_own_key(&again);
        let key = (0, KEY[5].1);
        let points = self.layout.sections().map(|s| (s.offset as usize, s.end() as usize));
        let names = ["the key", "ic", "h", "l", "a", "b_g1", "b_g2"];
        for (name, (start, end)) in names.into_iter().zip([key].into_iter().chain(points)) {
            let mut mixed = self.good.clone();
            mixed[start..end].copy_from_slice(&again[start..end]);
            self.misfit(&format!("{name} of another set-up"), &mixed, Code::SelfCheck, "proof");
        }
        let mut mixed = self.good.clone();
        let (start, end) = points[1];
        mixed[start..end].rotate_left(96);
        self.misfit("h in another order", &mixed, Code::SelfCheck, "proof");
    }

    /// The other set-up is a good one, so that what is mixed with it is wrong for no other reason.
    fn proves_with_its_own_key(&self, bytes: &[u8]) {
        let path = self.dir.path().join("again.params");
        fs::write(&path, bytes).unwrap();
        // The engine's self-check verifies it.
        assert!(self.prove(&path).is_ok());
    }

    fn no_files(&mut self) {
        use Code::{Io, ParamsCorrupt, ParamsNotFound};
        self.refused("nothing", |_| {}, ParamsNotFound, &["params"]);
        self.refused("a link to nothing", |p| symlink("/nonexistent", p).unwrap(), ParamsNotFound, &["params"]);
        self.refused("a link to itself", |p| symlink(p, p).unwrap(), Io, &["params"]);
        self.refused("a folder", |p| fs::create_dir(p).unwrap(), Io, &["params"]);
        self.refused("a pipe", pipe, Io, &["params"]);
        self.refused("a link to a pipe", |p| link(p, pipe), Io, &["params"]);
        let mut listener = None;
        self.refused("a socket", |p| listener = Some(UnixListener::bind(p).unwrap()), Io, &["params"]);
        self.refused("a device", |p| symlink("/dev/zero", p).unwrap(), Io, &["params"]);
        self.refused("a file of the system's", |p| symlink("/proc/self/mem", p).unwrap(), ParamsCorrupt, &["alpha_g1"]);
        let good = self.good.clone();
        let unreadable = |p: &Path| {
            fs::write(p, &good).unwrap();
            fs::set_permissions(p, fs::Permissions::from_mode(0o000)).unwrap();
        };
        self.refused("an unreadable file", unreadable, Io, &["params"]);
        let folder = self.dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
        self.refused("in an unreadable folder", |p| symlink(folder.join("x"), p).unwrap(), Io, &["params"]);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        for (what, name) in [("below a file", "good.params/x.params".to_string()), ("a long name", "x".repeat(300))] {
            self.cases += 1;
            let e = self.prove(&self.dir.path().join(name)).unwrap_err();
            assert!(e.code == Io && e.field == "params" && e.os_code != 0, "{what}: {e}");
        }
        self.proves(&self.dir.path().join("good.params"));
    }
}

/// A link to what `put` puts beside it.
fn link(path: &Path, put: impl FnOnce(&Path)) {
    let other = path.with_extension("other");
    put(&other);
    symlink(&other, path).unwrap();
}

/// Points that are on their curve and outside their subgroup are the loader's to find only where it is asked to.
fn outside_subgroup(size: usize) -> Vec<u8> {
    let not_free = |x: u8| {
        let mut compressed = vec![0u8; size / 2];
        compressed[0] = 0x80;
        *compressed.last_mut().unwrap() = x;
        if size == 96 {
            let p = G1Affine::from_compressed_unchecked(&compressed.try_into().unwrap());
            Option::<G1Affine>::from(p)
                .filter(|p| !bool::from(p.is_torsion_free()))
                .map(|p| p.to_uncompressed().to_vec())
        } else {
            let p = G2Affine::from_compressed_unchecked(&compressed.try_into().unwrap());
            Option::<G2Affine>::from(p)
                .filter(|p| !bool::from(p.is_torsion_free()))
                .map(|p| p.to_uncompressed().to_vec())
        }
    };
    (1..).find_map(not_free).unwrap()
}

#[test]
fn every_file_that_is_none_has_its_code_and_its_field() {
    bound_by_permissions(|| {
        let mut table = Table::new();
        table.cuts();
        table.counts();
        table.points();
        table.swapped();
        table.no_files();
        assert!(table.cases >= 60, "{} cases", table.cases);
        println!("parameter files: {} cases", table.cases);
        table.bench.engine.shutdown();
        table.bench.comes_to_nothing();
    });
}

#[test]
fn the_subgroup_is_looked_at_where_it_is_asked_for() {
    use splitprove::engine::Options;
    let mut strict = Table::new();
    strict.bench = Bench::new(Options { check_params_subgroup: true, ..two() }, false);
    strict.proves(&strict.dir.path().join("good.params"));
    let lax = Table::new();
    for section in strict.layout.sections().into_iter().skip(1) {
        let at = (section.end() - section.point_bytes) as usize;
        let point = outside_subgroup(section.point_bytes as usize);
        strict.corrupt(section.name, &[section.name], |b| b[at..at + point.len()].copy_from_slice(&point));
        let mut bytes = lax.good.clone();
        bytes[at..at + point.len()].copy_from_slice(&point);
        let path = lax.dir.path().join(format!("{}.params", section.name));
        fs::write(&path, bytes).unwrap();
        // The proof is wrong, or the point's value was zero.
        assert!(lax.prove(&path).map_or_else(|e| e.code == Code::SelfCheck, |proof| proof.len() == 192));
    }
    // Files that Filecoin's list does not name, where it must.
    strict.bench = Bench::new(Options { check_params_digest: true, allow_insecure_params: true, ..two() }, false);
    let e = strict.prove(&strict.dir.path().join("good.params")).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::ParamsInsecure, "params"), "{e}");
}
