//! Parameter files that somebody changes while the engine uses them, waits for them, or reads them.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::Duration;

use blstrs::Scalar;
use splitprove::circuit::{CompiledCircuit, Partition};
use splitprove::engine::{Options, ParamsRef, Pending, Source, Work};
use splitprove::error::{Code, Error, Result};
use splitprove::memory::Room;
use splitprove::params::read_layout;

use crate::common::{SmallCircuit, Style};
use crate::files::{clear, file_of, pipe};
use crate::resident::large_file;
use crate::support::*;

/// Changes the file at a path.
type Change = Box<dyn Fn(&Path)>;

fn cut(to: u64) -> Change {
    Box::new(move |path| File::options().write(true).open(path).unwrap().set_len(to).unwrap())
}

/// Written over in place.
fn over(bytes: Vec<u8>) -> Change {
    Box::new(move |path| {
        // Not cut first: who reads meanwhile sees parts of both.
        use std::os::unix::fs::FileExt;
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
    })
}

/// Another file under the name.
fn renamed(bytes: Vec<u8>) -> Change {
    Box::new(move |path| {
        fs::write(path.with_extension("new"), &bytes).unwrap();
        fs::rename(path.with_extension("new"), path).unwrap();
    })
}

/// Something else, or nothing, under the name.
fn instead(put: impl Fn(&Path) + 'static) -> Change {
    Box::new(move |path| {
        clear(path);
        put(path);
    })
}

/// How a proof ends: code and field; `None`: well.
type End = Option<(Code, &'static str)>;

/// What is done to a file, and the end of a proof that has to read it afterwards.
fn changes(good: &[u8]) -> Vec<(&'static str, Change, End)> {
    let good = good.to_vec();
    let other = |rows| file_of(&SmallCircuit::new(Style::Sparse, 3, rows, 5), 0);
    let size = good.len();
    let corrupt = |field| Some((Code::ParamsCorrupt, field));
    let io = Some((Code::Io, "params"));
    vec![
        ("cut to nothing", cut(0), corrupt("alpha_g1")),
        ("cut in the last point", cut(size as u64 - 1), corrupt("b_g2")),
        ("grown", cut(size as u64 + 1), corrupt("b_g2")),
        ("overwritten with zeros", over(vec![0; size]), corrupt("ic")),
        ("overwritten with ones", over(vec![0xff; size]), corrupt("ic")),
        ("overwritten with a smaller circuit's", over(other(30)), corrupt("h")),
        ("overwritten with a larger one's", over(other(1200)), corrupt("params")),
        ("replaced by a smaller one's", renamed(other(30)), corrupt("h")),
        ("replaced by a larger one's", renamed(other(1200)), corrupt("params")),
        ("replaced by its like", renamed(good.clone()), None),
        ("overwritten with its like", over(good), None),
        ("removed", instead(|_| {}), Some((Code::ParamsNotFound, "params"))),
        ("a folder instead", instead(|path| fs::create_dir(path).unwrap()), io),
        ("a pipe instead", instead(pipe), io),
    ]
}

fn start(bench: &Bench, path: &Path) -> Pending {
    let mut job = bench.job(1, Plot::default());
    job.params = ParamsRef::File(path.into());
    bench.engine.submit(bench.submission(job)).unwrap()
}

#[test]
fn loaded_parameters_do_not_need_their_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.params");
    let good = file_of(&Bench::new(two(), false).circuit, 0);
    for (what, change, _) in changes(&good) {
        let bench = Bench::new(two(), false);
        clear(&path);
        fs::write(&path, &good).unwrap();
        bench.verify(&result(&start(&bench, &path)).unwrap());
        let held = bench.engine.stats().params_bytes;
        assert_eq!(held, read_layout(&path).unwrap().memory_bytes());
        // One is being proved while it happens, others come afterwards.
        let (plot, go) = held_at(Place::AfterSynthesis);
        let mut job = bench.job(1, plot.clone());
        job.params = ParamsRef::File(path.clone());
        let running = bench.engine.submit(bench.submission(job)).unwrap();
        until("synthesis", || plot.reached() == 1);
        change(&path);
        go.store(true, std::sync::atomic::Ordering::SeqCst);
        for pending in [running, start(&bench, &path), start(&bench, &path)] {
            let proof = result(&pending).unwrap_or_else(|e| panic!("{what}: {e}"));
            bench.verify(&proof);
            assert_eq!(pending.progress().stage_ns[1], 0, "{what}: loaded");
        }
        assert_eq!(bench.engine.stats().params_bytes, held);
        bench.engine.shutdown();
        bench.comes_to_nothing();
    }
}

/// The job is decoded, its file measured, and its parameters wait for bytes that others hold.
#[test]
fn files_changed_before_they_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.params");
    let good = file_of(&Bench::new(two(), false).circuit, 0);
    for (what, change, end) in changes(&good) {
        // An engine that holds no parameters which it could let go.
        let bench = Bench::new(Options { host_memory_limit: 64 << 20, ..two() }, false);
        clear(&path);
        fs::write(&path, &good).unwrap();
        let budget = &bench.engine.accounts().budget;
        let all = budget.total_for(false) - budget.used() - 8192;
        let others = budget.try_take(all, false).unwrap();
        let pending = start(&bench, &path);
        until("decoding", || pending.progress().partitions == 1);
        std::thread::sleep(Duration::from_millis(20));
        assert!(!pending.is_done(), "{what}");
        change(&path);
        drop(others);
        match (result(&pending), end) {
            (Ok(proof), None) => bench.verify(&proof),
            (Err(e), Some((code, field))) => assert_eq!((e.code, &*e.field), (code, field), "{what}: {e}"),
            (Ok(_), _) => panic!("{what}: proved"),
            (Err(e), None) => panic!("{what}: {e}"),
        }
        bench.still_works();
        bench.engine.shutdown();
        bench.comes_to_nothing();
    }
}

/// Parameters to load, and nothing to prove.
struct LoadOnly(std::path::PathBuf);

impl Source for LoadOnly {
    fn bytes(&self) -> usize {
        0
    }

    fn decode(&self, _: &AtomicBool) -> Result<Box<dyn Work>> {
        Ok(Box::new(LoadOnly(self.0.clone())))
    }
}

impl Work for LoadOnly {
    fn bytes(&self) -> usize {
        0
    }

    fn partitions(&self) -> usize {
        0
    }

    fn loads_only(&self) -> bool {
        true
    }

    fn params(&self) -> ParamsRef {
        ParamsRef::File(self.0.clone())
    }

    fn public_inputs(&self, _: usize) -> Result<Vec<Scalar>> {
        Err(Error::internal("nothing to prove"))
    }

    fn assign(&self, _: usize, _: &Arc<CompiledCircuit>, _: Room, _: &AtomicBool) -> Result<Partition> {
        Err(Error::internal("nothing to prove"))
    }
}

#[test]
fn files_changed_while_they_are_read() {
    let bench = Bench::new(two(), false);
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("model.params");
    let bytes = large_file(&model, &file_of(&bench.circuit, 0), 18).file_bytes();
    let middle = bytes / 2;
    let touched: Change = Box::new(move |path| {
        use std::os::unix::fs::FileExt;
        let file = File::options().write(true).open(path).unwrap();
        file.write_all_at(&[0xff; 4096], bytes - 8192).unwrap();
    });
    // With the file that was opened still there, unchanged under another name or none, the load goes well.
    let cases: [(&str, Change, bool); 5] = [
        ("cut to nothing", cut(0), false),
        ("cut in the middle", cut(middle), false),
        ("written into", touched, false),
        ("removed", instead(|_| {}), true),
        ("replaced by another", renamed(vec![0; 4096]), true),
    ];
    for (what, change, well) in cases {
        let mut caught = false;
        for round in 0..20 {
            let path = dir.path().join(format!("{what} {round}.params"));
            fs::copy(&model, &path).unwrap();
            let mut submission = bench.submission(bench.job(0, Plot::default()));
            submission.source = Box::new(LoadOnly(path.clone()));
            let pending = bench.engine.submit(submission).unwrap();
            while pending.progress().permille < 20 && !pending.is_done() {
                std::hint::spin_loop();
            }
            let early = !pending.is_done();
            change(&path);
            let outcome = result(&pending);
            clear(&path);
            if early && (well || outcome.is_err()) {
                if !well {
                    let e = outcome.unwrap_err();
                    let sections = ["params", "h", "l", "a", "b_g1", "b_g2"];
                    assert!(e.code == Code::ParamsCorrupt && sections.contains(&&*e.field), "{what}: {e}");
                } else {
                    outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
                }
                caught = true;
                break;
            }
        }
        assert!(caught, "{what}: every load was over too early");
        bench.still_works();
    }
    bench.engine.shutdown();
    bench.comes_to_nothing();
}
