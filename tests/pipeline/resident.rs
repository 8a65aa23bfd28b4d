//! Parameters that are held: loaded once, and their memory back when they are let go.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use splitprove::engine::{params_path, Engine, Options, ParamsRef};
use splitprove::params::{check, read_layout, Layout};
use splitprove::proofs::CircuitId;
use splitprove::telemetry::{Class, Control};

use crate::files::file_of;
use crate::support::*;

/// Writes a sound file with 2^`log_h` - 1 points in `h`, half as many in `l` and in `a` and a quarter in B's sections: the
/// key of a small circuit's file, and its points over and over. It belongs to no circuit.
pub fn large_file(path: &Path, small: &[u8], log_h: u32) -> Layout {
    let parts = path.with_extension("small");
    fs::write(&parts, small).unwrap();
    let layout = read_layout(&parts).unwrap();
    fs::remove_file(&parts).unwrap();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    file.write_all(&small[..layout.ic.end() as usize]).unwrap();
    let h = 1u64 << log_h;
    let counts = [h - 1, h / 2, h / 2, h / 4, h / 4];
    for (section, count) in layout.sections().into_iter().skip(1).zip(counts) {
        file.write_all(&(count as u32).to_be_bytes()).unwrap();
        let points = &small[section.offset as usize..section.end() as usize];
        for first in (0..count).step_by(section.count as usize) {
            let some = (count - first).min(section.count) * section.point_bytes;
            file.write_all(&points[..some as usize]).unwrap();
        }
    }
    file.into_inner().unwrap();
    read_layout(path).unwrap()
}

/// Resident bytes of this process.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap() * 1024.0
}

/// The process of [`memory_is_back_after_parameters_are_let_go`], so that no other test's memory is counted.
#[test]
#[ignore = "started by another test"]
fn child_that_loads() {
    let Some(dir) = std::env::var_os("SPLITPROVE_TEST_DIR").map(PathBuf::from) else { return };
    let circuit: CircuitId = "winning-post-2KiB".parse().unwrap();
    let path = params_path(&dir, &circuit).unwrap();
    let layout = read_layout(&path).unwrap();
    let bytes = layout.memory_bytes();
    assert!(bytes >= 200_000_000, "{bytes}");
    let engine = Engine::new(Options { params_dir: dir, ..two() }).unwrap();
    let buffers = || engine.accounts().buffers.stats(Class::Params, None);
    // The code that loads is part of what is resident, too, once it has run.
    let small: CircuitId = "window-post-2KiB".parse().unwrap();
    result(&engine.load_params(&small, 0, 0).unwrap()).unwrap();
    engine.evict_params(&small).unwrap();
    let before = resident();
    for round in 1..=3 {
        let load = || result(&engine.load_params(&circuit, round, 0).unwrap()).unwrap();
        let begun = Instant::now();
        load();
        let first = begun.elapsed();
        assert_eq!((engine.stats().params_bytes, buffers().bytes), (bytes, bytes));
        assert!(resident() > before + bytes as f64 * 0.99);
        // Another one reads nothing but the key: there is nothing else any more.
        let whole = fs::read(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(layout.ic.end()).unwrap();
        let begun = Instant::now();
        load();
        let second = begun.elapsed();
        fs::write(&path, &whole).unwrap();
        drop(whole);
        assert_eq!((buffers().count, buffers().peak_count), (5, 5));
        assert_eq!(engine.evict_params(&circuit).unwrap(), bytes);
        assert_eq!((engine.stats().params_bytes, buffers().bytes, engine.accounts().budget.used()), (0, 0, 0));
        let after = resident();
        println!(
            "loads of {:.0} MB: {first:.2?}, then {second:.2?}; resident {:.1} MB before, {:.1} MB after",
            bytes as f64 / 1e6,
            before / 1e6,
            after / 1e6
        );
        assert!((0.95..1.05).contains(&(after / before)), "{before} before, {after} after");
    }
}

#[test]
fn memory_is_back_after_parameters_are_let_go() {
    let dir = tempfile::tempdir().unwrap();
    let path_of = |circuit: &str| params_path(dir.path(), &circuit.parse().unwrap()).unwrap();
    let small = file_of(&Bench::new(two(), false).circuit, 0);
    large_file(&path_of("winning-post-2KiB"), &small, 20);
    fs::write(path_of("window-post-2KiB"), small).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resident::child_that_loads", "--ignored", "--nocapture"])
        .env("SPLITPROVE_TEST_DIR", dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&child.stderr));
    text.lines().filter(|line| line.starts_with("loads of")).for_each(|line| println!("{line}"));
}

/// A second proof finds the parameters there: nothing is loaded for it, and nothing could be.
#[test]
fn a_second_proof_loads_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.params");
    let bench = Bench::new(two(), false);
    fs::write(&path, file_of(&bench.circuit, 0)).unwrap();
    let prove = || {
        let mut job = bench.job(2, Plot::default());
        job.params = ParamsRef::File(path.clone());
        let pending = bench.engine.submit(bench.submission(job)).unwrap();
        bench.verify(&result(&pending).unwrap());
        Duration::from_nanos(pending.progress().stage_ns[1])
    };
    assert!(prove() > Duration::ZERO);
    fs::remove_file(&path).unwrap();
    assert_eq!(prove(), Duration::ZERO);
    let buffers = bench.engine.accounts().buffers.stats(Class::Params, None);
    assert_eq!((buffers.count, buffers.peak_count), (5, 5));
}

/// The artificial file is sound by every check there is.
#[test]
fn a_large_file_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.params");
    let layout = large_file(&path, &file_of(&Bench::new(two(), false).circuit, 0), 12);
    assert_eq!(check(&path, Control::NONE).unwrap().layout, layout);
}
