//! Parameter files: written and read again, as bellperson writes and reads them, and every way to be wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bellperson::groth16;
use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective};
use group::Group;

use super::file::read_as;
use super::names::marker_of;
use super::new_file::TEMPORARY;
use super::provenance::{key_digest, Listed};
use super::write::write_set;
use super::*;
use crate::circuit::testing::{Numbers, RandomCircuit, Style, Values};
use crate::circuit::{record, Matrices};
use crate::error::{Code, Error};
use crate::telemetry::Control;

const SMALL: Style = Style { inputs: 3, rows: 40, terms: 4, values: Values::Bits };

fn matrices(style: Style) -> Matrices {
    record(RandomCircuit::new(7, style).blank()).unwrap()
}

pub(super) fn trapdoor(seed: u64) -> Trapdoor {
    let mut n = Numbers::new(seed);
    let (g1, g2) = (G1Projective::generator() * n.scalar(), G2Projective::generator() * n.scalar());
    Trapdoor::given(g1, g2, n.scalar(), n.scalar(), n.scalar(), n.scalar(), n.scalar())
}

fn names(dir: &Path) -> Names {
    let params = dir.join("v28-test.params");
    Names { vk: dir.join("v28-test.vk"), marker: marker_of(&params), params }
}

fn write(dir: &Path, style: Style) -> Result<Generated, Error> {
    write_set(&matrices(style), trapdoor(1), &names(dir), dir, "test", Control::NONE)
}

fn listing(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn written_as_bellperson_writes_and_reads() {
    // The second has sections of several blocks and tasks.
    let long = Style { inputs: 3, rows: 4200, terms: 3, values: Values::Bits };
    for style in [SMALL, long] {
        let dir = tempfile::tempdir().unwrap();
        let generated = write(dir.path(), style).unwrap();
        let bytes = fs::read(&generated.params).unwrap();
        assert_eq!(bytes.len() as u64, generated.bytes);

        let t = trapdoor(1);
        let theirs = groth16::generate_parameters::<Bls12, _>(
            RandomCircuit::new(7, style),
            t.g1,
            t.g2,
            t.alpha,
            t.beta,
            t.gamma,
            t.delta,
            t.tau,
        )
        .unwrap();
        let mut expected = Vec::new();
        theirs.write(&mut expected).unwrap();
        assert!(bytes == expected, "{style:?}");
        let mut key = Vec::new();
        theirs.vk.write(&mut key).unwrap();
        assert_eq!(fs::read(&generated.vk).unwrap(), key);

        let last = AtomicU32::new(0);
        let progress = |permille| {
            last.fetch_max(permille, Ordering::Relaxed);
        };
        let control = Control { progress: &progress, ..Control::NONE };
        for options in [PLAIN, SUBGROUP] {
            let ours = read_with(&generated.params, options, control).unwrap();
            let theirs = groth16::Parameters::<Bls12>::read(&bytes[..], true).unwrap();
            assert_eq!(ours.vk, theirs.vk);
            assert!(ours.h[..] == theirs.h[..] && ours.l[..] == theirs.l[..] && ours.a[..] == theirs.a[..]);
            assert!(ours.b_g1[..] == theirs.b_g1[..] && ours.b_g2[..] == theirs.b_g2[..]);
            assert_eq!(ours.path, generated.params);
        }
        assert_eq!(last.into_inner(), 1000);
        assert_eq!(read_verifying_key(&generated.params).unwrap(), theirs.vk);
        assert_eq!(read_verifying_key(&generated.vk).unwrap(), theirs.vk);
        let layout = read_layout(&generated.params).unwrap();
        assert_eq!((layout.l.count, layout.file_bytes()), (theirs.l.len() as u64, generated.bytes));
    }
}

#[test]
fn marked_as_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let generated = write(dir.path(), SMALL).unwrap();
    assert_eq!(listing(dir.path()), ["v28-test.params", "v28-test.params.DEVELOPMENT", "v28-test.vk"]);
    assert!(is_development(&generated.params));
    let text = fs::read_to_string(marker_of(&generated.params)).unwrap();
    let digest = key_digest(&fs::read(&generated.vk).unwrap());
    assert!(text.contains(&digest) && text.contains(env!("CARGO_PKG_VERSION")) && text.contains("circuit: test"));
    assert!(!is_development(&dir.path().join("v28-other.params")));
}

#[test]
fn nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let generated = write(dir.path(), SMALL).unwrap();
    let before = fs::read(&generated.params).unwrap();
    let error =
        write_set(&matrices(SMALL), trapdoor(2), &names(dir.path()), dir.path(), "test", Control::NONE).unwrap_err();
    assert_eq!((error.code, error.field.as_ref()), (Code::InvalidArgument, generated.params.to_str().unwrap()));
    assert_eq!(fs::read(&generated.params).unwrap(), before);
    assert_eq!(listing(dir.path()).len(), 3);

    // A key of somebody else's is not ours to remove.
    fs::remove_file(&generated.params).unwrap();
    fs::remove_file(marker_of(&generated.params)).unwrap();
    let error = write(dir.path(), SMALL).unwrap_err();
    assert_eq!((error.code, error.field.as_ref()), (Code::InvalidArgument, generated.vk.to_str().unwrap()));
    assert_eq!(listing(dir.path()), ["v28-test.vk"]);
    // Nor is one beside a marker that does not name it.
    fs::write(marker_of(&generated.params), "key digest: 00\n").unwrap();
    assert_eq!(write(dir.path(), SMALL).unwrap_err().field, generated.vk.to_str().unwrap());
}

#[test]
fn of_runs_at_once_one_wins() {
    let dir = tempfile::tempdir().unwrap();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| write(dir.path(), SMALL))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    assert!(results.iter().filter_map(|r| r.as_ref().err()).all(|e| e.code == Code::InvalidArgument));
    assert_eq!(listing(dir.path()).len(), 3);
    read(&names(dir.path()).params, Control::NONE).unwrap();
}

#[test]
fn what_a_kill_between_two_names_left_goes() {
    let dir = tempfile::tempdir().unwrap();
    let generated = write(dir.path(), SMALL).unwrap();
    fs::remove_file(&generated.params).unwrap();
    write(dir.path(), SMALL).unwrap();
    fs::remove_file(&generated.params).unwrap();
    fs::remove_file(&generated.vk).unwrap();
    write(dir.path(), SMALL).unwrap();
    assert_eq!(listing(dir.path()).len(), 3);
}

#[test]
fn cancelling_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let matrices = matrices(SMALL);
    for stop_at in [0, 1, 100, 500, 900, 1000] {
        let cancelled = AtomicBool::new(stop_at == 0);
        let progress = |permille| {
            if permille >= stop_at {
                cancelled.store(true, Ordering::Relaxed);
            }
        };
        let control = Control { cancelled: &cancelled, progress: &progress };
        let error = write_set(&matrices, trapdoor(1), &names(dir.path()), dir.path(), "test", control).unwrap_err();
        assert_eq!(error.code, Code::Cancelled, "{stop_at}");
        assert!(listing(dir.path()).is_empty(), "{stop_at}");
    }
}

/// The process that [`killed_runs_leave_nothing`] kills.
#[test]
#[ignore = "started by another test"]
fn child_that_writes() {
    let Some(dir) = std::env::var_os("SPLITPROVE_TEST_DIR").map(PathBuf::from) else { return };
    let style = Style { inputs: 3, rows: 9000, terms: 4, values: Values::Bits };
    let _ = write(&dir, style);
}

#[test]
fn killed_runs_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "params::file_tests::child_that_writes", "--ignored"])
            .env("SPLITPROVE_TEST_DIR", dir.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut killed_while_writing = 0;
    for wait in [0, 1, 3, 5, 10, 20, 30] {
        let mut child = start();
        // Killed some milliseconds after its temporary file is there.
        while !listing(dir.path()).iter().any(|n| n.starts_with(TEMPORARY)) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = listing(dir.path());
        if left.iter().all(|n| n.starts_with(TEMPORARY)) {
            killed_while_writing += usize::from(!left.is_empty());
        } else {
            // It was done before the kill: then all three are there, and the parameters whole.
            assert!(left.iter().filter(|n| !n.starts_with(TEMPORARY)).count() == 3, "{left:?}");
            read(&names(dir.path()).params, Control::NONE).unwrap();
            for name in left {
                fs::remove_file(dir.path().join(name)).unwrap();
            }
        }
        super::new_file::LockedFolder::wait(dir.path()).unwrap().remove_stale().unwrap();
        assert!(listing(dir.path()).is_empty());
    }
    assert!(killed_while_writing > 0, "no run was caught writing");
}

/// Parameters of a small circuit, as bytes.
pub(super) fn small_file() -> (tempfile::TempDir, Vec<u8>, Layout) {
    let dir = tempfile::tempdir().unwrap();
    let generated = write(dir.path(), SMALL).unwrap();
    let layout = read_layout(&generated.params).unwrap();
    let bytes = fs::read(&generated.params).unwrap();
    (dir, bytes, layout)
}

/// A point of order 3·r or another multiple of r, so on the curve but outside the subgroup, as bytes.
pub(super) fn outside_subgroup_g1() -> [u8; 96] {
    for x in 1u8.. {
        let mut compressed = [0u8; 48];
        compressed[0] = 0x80;
        compressed[47] = x;
        if let Some(p) = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&compressed)) {
            if !bool::from(p.is_torsion_free()) {
                return p.to_uncompressed();
            }
        }
    }
    unreachable!("half of all x have points, nearly none in the subgroup")
}

pub(super) fn outside_subgroup_g2() -> [u8; 192] {
    for x in 1u8.. {
        let mut compressed = [0u8; 96];
        compressed[0] = 0x80;
        compressed[95] = x;
        if let Some(p) = Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&compressed)) {
            if !bool::from(p.is_torsion_free()) {
                return p.to_uncompressed();
            }
        }
    }
    unreachable!("half of all x have points, nearly none in the subgroup")
}

/// Reads what `change` made of the bytes; the error must be PARAMS_CORRUPT and name `field`.
fn corrupt(bytes: &[u8], dir: &Path, field: &str, what: &str, options: ReadOptions, change: impl FnOnce(&mut Vec<u8>)) {
    let mut changed = bytes.to_vec();
    change(&mut changed);
    let path = dir.join("changed.params");
    fs::write(&path, &changed).unwrap();
    let error = read_with(&path, options, Control::NONE).err().unwrap_or_else(|| panic!("{what}: was read"));
    assert_eq!((error.code, error.field.as_ref()), (Code::ParamsCorrupt, field), "{what}: {error}");
    assert!(error.message.contains(path.to_str().unwrap()), "{what}: {error}");
}

const PLAIN: ReadOptions = ReadOptions { subgroup: false, listed: false, most_bytes: None };
const SUBGROUP: ReadOptions = ReadOptions { subgroup: true, ..PLAIN };

/// The modulus.
const P: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b,
    0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53,
    0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

#[test]
fn every_bad_point_is_named() {
    let (dir, bytes, layout) = small_file();
    let key = [("alpha_g1", 0, 96), ("beta_g1", 96, 96), ("beta_g2", 192, 192), ("gamma_g2", 384, 192)];
    let key = key.into_iter().chain([("delta_g1", 576, 96), ("delta_g2", 672, 192)]);
    let sections = layout.sections().into_iter().flat_map(|s| {
        // The first and the last point of every section.
        [
            (s.name, s.offset as usize, s.point_bytes as usize),
            (s.name, (s.end() - s.point_bytes) as usize, s.point_bytes as usize),
        ]
    });
    let mut cases = 0;
    for (field, at, size) in key.chain(sections) {
        let mut case = |what: &str, options, change: &dyn Fn(&mut [u8])| {
            corrupt(&bytes, dir.path(), field, what, options, |b| change(&mut b[at..at + size]));
            cases += 1;
        };
        case("infinity", PLAIN, &|p| {
            p.fill(0);
            p[0] = 0x40;
        });
        case("zeros", PLAIN, &|p| p.fill(0));
        case("compressed flag", PLAIN, &|p| p[0] |= 0x80);
        case("infinity flag", PLAIN, &|p| p[0] |= 0x40);
        case("sign flag", PLAIN, &|p| p[0] |= 0x20);
        case("flag in y", PLAIN, &|p| p[size / 2] |= 0x80);
        case("last bit of x", PLAIN, &|p| p[size / 2 - 1] ^= 1);
        case("last bit of y", PLAIN, &|p| p[size - 1] ^= 1);
        case("x = p", PLAIN, &|p| p[..48].copy_from_slice(&P));
        case("y = p", PLAIN, &|p| p[size - 48..].copy_from_slice(&P));
        case("all ones", PLAIN, &|p| p.fill(0xff));
        let key_point = at < layout.h.offset as usize;
        case("outside the subgroup", if key_point { PLAIN } else { SUBGROUP }, &|p| match size {
            96 => p.copy_from_slice(&outside_subgroup_g1()),
            _ => p.copy_from_slice(&outside_subgroup_g2()),
        });
    }
    assert!(cases >= 40);
}

#[test]
fn the_first_bad_point_is_named() {
    let (dir, bytes, layout) = small_file();
    let at = |i: u64| (layout.l.offset + i * 96 + 95) as usize;
    let path = dir.path().join("changed.params");
    let mut changed = bytes.clone();
    changed[at(5)] ^= 1;
    changed[at(9)] ^= 1;
    fs::write(&path, &changed).unwrap();
    let error = read(&path, Control::NONE).err().unwrap();
    assert_eq!(error.field, "l");
    let place = format!("point 5 at byte {} is not on its curve", layout.l.offset + 5 * 96);
    assert!(error.message.contains(&place), "{error}");
}

#[test]
fn a_non_canonical_coordinate_is_refused() {
    // x + p fits into 381 bits for some points and is the same field element: it must not be a second encoding.
    let (dir, bytes, layout) = small_file();
    let p = layout.h.offset as usize;
    let small =
        |section: &Section| (0..section.count).map(|i| (section.offset + i * 96) as usize).find(|at| bytes[*at] < 0x05);
    let (field, at) = [layout.h, layout.l, layout.a].iter().find_map(|s| small(s).map(|at| (s.name, at))).unwrap();
    assert!(at >= p);
    corrupt(&bytes, dir.path(), field, "x + p", PLAIN, |b| {
        let mut carry = 0;
        for i in (0..48).rev() {
            let sum = u16::from(b[at + i]) + u16::from(P[i]) + carry;
            b[at + i] = sum as u8;
            carry = sum >> 8;
        }
        assert_eq!(carry, 0);
    });
}

#[test]
fn counts_and_sizes_are_checked_before_use() {
    let (dir, bytes, layout) = small_file();
    let set = |section: Section, count: u64| {
        move |b: &mut Vec<u8>| {
            let at = section.offset as usize - 4;
            b[at..at + 4].copy_from_slice(&(count as u32).to_be_bytes());
        }
    };
    for section in layout.sections() {
        for count in [0, u64::from(u32::MAX), u64::from(u32::MAX) - 1, 1 << 31, (1 << 31) - 1] {
            corrupt(&bytes, dir.path(), section.name, &format!("count {count}"), PLAIN, set(section, count));
        }
        // Cut in the count, behind it, in the first point, in the last point, before the last point.
        let (start, end) = (section.offset as usize, section.end() as usize);
        for len in [start - 4, start - 1, start, start + 1, end - 1, end - section.point_bytes as usize] {
            corrupt(&bytes, dir.path(), section.name, &format!("cut to {len}"), PLAIN, |b| b.truncate(len));
        }
    }
    for (field, end) in super::layout::KEY_ENDS {
        for len in [end as usize - 1, end as usize - 95] {
            corrupt(&bytes, dir.path(), field, &format!("cut to {len}"), PLAIN, |b| b.truncate(len));
        }
    }
    corrupt(&bytes, dir.path(), "alpha_g1", "empty", PLAIN, |b| b.clear());
    corrupt(&bytes, dir.path(), "b_g2", "one byte more", PLAIN, |b| b.push(0));
    corrupt(&bytes, dir.path(), "b_g2", "a point more", PLAIN, |b| b.extend([0; 192]));
    corrupt(&bytes, dir.path(), "h", "a domain of no power of two", PLAIN, set(layout.h, layout.h.count - 1));
    corrupt(&bytes, dir.path(), "h", "a domain of no power of two", PLAIN, set(layout.h, layout.h.count + 1));
    corrupt(&bytes, dir.path(), "a", "fewer than the inputs", PLAIN, set(layout.a, layout.ic.count - 1));
    corrupt(&bytes, dir.path(), "b_g2", "one less than b_g1", PLAIN, |b| {
        set(layout.b_g2, layout.b_g2.count - 1)(b);
        b.truncate(b.len() - 192);
    });
    // More points in A, and in B, than there are variables.
    let repeat = |section: Section, times: u64| {
        move |b: &mut Vec<u8>| {
            let (start, end) = (section.offset as usize, section.end() as usize);
            let points = b[start..end].to_vec();
            set(section, section.count * (times + 1))(b);
            for _ in 0..times {
                b.splice(end..end, points.iter().copied());
            }
        }
    };
    corrupt(&bytes, dir.path(), "a", "three times", PLAIN, repeat(layout.a, 2));
    corrupt(&bytes, dir.path(), "b_g1", "ten times", PLAIN, repeat(layout.b_g1, 9));
    corrupt(&bytes, dir.path(), "h", "more inputs than the domain has room for", PLAIN, repeat(layout.ic, 30));
}

#[test]
fn what_is_no_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("none.params");
    for error in [
        read(&missing, Control::NONE).err().unwrap(),
        read_verifying_key(&missing).unwrap_err(),
        read_layout(&missing).unwrap_err(),
    ] {
        assert_eq!((error.code, error.field.as_ref()), (Code::ParamsNotFound, "params"));
        assert!(error.message.contains(missing.to_str().unwrap()));
    }
    let error = read(dir.path(), Control::NONE).err().unwrap();
    assert_eq!((error.code, error.os_code), (Code::Io, libc::EISDIR.into()));
    // A pipe nobody writes to must not be waited for.
    let pipe = dir.path().join("pipe");
    let c_pipe = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: the string ends in a zero byte and lives over the call.
    assert_eq!(unsafe { libc::mkfifo(c_pipe.as_ptr(), 0o600) }, 0);
    let error = read(&pipe, Control::NONE).err().unwrap();
    assert_eq!(error.code, Code::Io);
    assert!(error.message.contains("no regular file") && error.message.contains("pipe"), "{error}");
    let error = read(&missing.join("below"), Control::NONE).err().unwrap();
    assert_eq!(error.code, Code::ParamsNotFound);
    fs::write(&missing, "").unwrap();
    let error = read(&missing.join("below"), Control::NONE).err().unwrap();
    assert_eq!((error.code, error.os_code), (Code::Io, libc::ENOTDIR.into()));
}

/// Pipes under the names of the key and the marker, in a folder that anybody may write to.
#[test]
fn pipes_beside_the_parameters_are_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let generated = write(dir.path(), SMALL).unwrap();
    let pipe = |path: &std::path::Path| {
        fs::remove_file(path).unwrap();
        let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the string ends in a zero byte and lives over the call.
        assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
    };
    pipe(&generated.vk);
    assert_eq!(super::check(&generated.params, Control::NONE).unwrap_err().code, Code::Io);
    // With the parameters gone the key and the marker are looked into.
    fs::remove_file(&generated.params).unwrap();
    assert_eq!(write(dir.path(), SMALL).unwrap_err().code, Code::InvalidArgument);
    fs::write(marker_of(&generated.params), "").unwrap();
    pipe(&marker_of(&generated.params));
    assert_eq!(write(dir.path(), SMALL).unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn a_file_cut_or_written_while_it_is_read_is_an_error() {
    let (dir, bytes, _) = small_file();
    let path = dir.path().join("changed.params");
    for cut in [true, false] {
        fs::write(&path, &bytes).unwrap();
        // The key is read, its progress reported, and then somebody changes the file.
        let progress = |_| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            if cut {
                file.set_len(2000).unwrap();
            } else {
                file.set_len(bytes.len() as u64 + 1).unwrap();
            }
        };
        let error = read(&path, Control { progress: &progress, ..Control::NONE }).err().unwrap();
        assert_eq!(error.code, Code::ParamsCorrupt, "{error}");
    }
}

#[test]
fn reading_can_be_cancelled() {
    let (dir, _, _) = small_file();
    let control = Control { cancelled: &AtomicBool::new(true), ..Control::NONE };
    assert_eq!(read(&names(dir.path()).params, control).err().unwrap().code, Code::Cancelled);
}

/// Files of several blocks, hashed and not: the points are the same, and so is the digest that anybody else takes.
#[test]
fn the_listed_file_is_read_and_another_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let long = Style { inputs: 3, rows: 4200, terms: 3, values: Values::Bits };
    let generated = write(dir.path(), long).unwrap();
    let bytes = fs::read(&generated.params).unwrap();
    let (file, key) = (key_digest(&bytes), key_digest(&fs::read(&generated.vk).unwrap()));
    let listed = Listed { file: &file, key: &key, sector_size: 2048 };
    let strict = ReadOptions { listed: true, ..PLAIN };
    let ours = read_as(&generated.params, strict, Some(listed), Control::NONE).unwrap();
    let plain = read(&generated.params, Control::NONE).unwrap();
    assert!(ours.h[..] == plain.h[..] && ours.b_g1[..] == plain.b_g1[..] && ours.b_g2[..] == plain.b_g2[..]);

    // Another name, another key: whose file that is nobody knows.
    for listed in [None, Some(Listed { key: &file, ..listed })] {
        let error = read_as(&generated.params, strict, listed, Control::NONE).err().unwrap();
        assert_eq!((error.code, error.field.as_ref()), (Code::ParamsInsecure, "params"), "{error}");
    }
    // The key, and behind it what passes every other check.
    let layout = read_layout(&generated.params).unwrap();
    for section in layout.sections().into_iter().skip(1) {
        let (start, end) = (section.offset as usize, section.end() as usize);
        let mut changed = bytes.clone();
        changed[start..end].rotate_left(section.point_bytes as usize);
        let path = dir.path().join("changed.params");
        fs::write(&path, changed).unwrap();
        read_as(&path, PLAIN, Some(listed), Control::NONE).unwrap();
        let error = read_as(&path, strict, Some(listed), Control::NONE).err().unwrap();
        assert_eq!((error.code, error.field.as_ref()), (Code::ParamsCorrupt, "params"), "{error}");
        assert!(error.message.contains(&file), "{error}");
    }
}

#[test]
fn a_file_larger_than_its_room_is_not_read() {
    let (dir, _, layout) = small_file();
    let path = names(dir.path()).params;
    let room = |bytes| ReadOptions { most_bytes: Some(bytes), ..PLAIN };
    let bytes = layout.memory_bytes();
    read_with(&path, room(bytes), Control::NONE).unwrap();
    let error = read_with(&path, room(bytes - 1), Control::NONE).err().unwrap();
    assert_eq!((error.code, error.field.as_ref()), (Code::ParamsCorrupt, "params"), "{error}");
}
