//! What the library leaves in the process: threads, descriptors, signal masks. One test, as it counts the process's own.

mod capi_support;
#[path = "capi_support/work.rs"]
mod work;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use capi_support::*;
use splitprove::capi::*;
use work::{free, held, End, Gate};

/// Names of the process's threads.
fn threads() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok())
        .map(|name| name.trim().to_string())
        .collect();
    names.sort();
    names
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A joined thread's entry may stand for an instant longer.
fn threads_become(want: &[String]) {
    let until = Instant::now() + Duration::from_secs(2);
    while threads() != want && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(threads(), want);
}

#[test]
fn the_process_is_as_it_was() {
    let (names, fds) = (threads(), descriptors());
    let mut with_engine = None;
    for _ in 0..3 {
        let p = create(&small());
        assert!(threads().len() > names.len());
        for _ in 0..20 {
            let proof = free(p, End::Empty, 0).unwrap();
            assert!(finish(proof).is_ok());
        }
        assert!(start(p, &request(&[1; 4000])).is_ok_and(|proof| finish(proof).is_err()));
        let now = descriptors();
        assert_eq!(*with_engine.get_or_insert(now), now, "as many with the first as with the last");
        // With work in flight, held and never ended.
        let gate = Gate::default();
        let proofs = [held(p, &gate, End::Empty), held(p, &gate, End::Empty)];
        gate.reached(1);
        gate.open();
        assert_eq!(prover_destroy(p), PROVER_OK);
        threads_become(&names);
        for proof in proofs {
            assert_eq!(drop_pending_proof(proof), PROVER_OK);
        }
        assert_eq!(descriptors(), fds);
    }

    // Every thread of the library blocks every signal it can, so that the host's handlers run on the host's threads.
    let p = create(&small());
    // A thread names itself once it runs, which is after its start.
    let until = Instant::now() + Duration::from_secs(10);
    while threads().iter().filter(|n| n.starts_with("splitprove")).count() < 4 && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    let mut seen = 0;
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let line = |key: &str| status.lines().find_map(|l| l.strip_prefix(key)).unwrap().trim().to_string();
        if line("Name:").starts_with("splitprove") {
            seen += 1;
            // SIGKILL, SIGSTOP and the two that glibc keeps to itself cannot be blocked.
            let blocked = u64::from_str_radix(&line("SigBlk:"), 16).unwrap();
            assert_eq!(blocked | 1 << 8 | 1 << 18 | 3 << 31, u64::MAX, "{}", line("Name:"));
        }
    }
    assert!(seen >= 4, "decode, lane and two pools of one");
    assert_eq!(prover_destroy(p), PROVER_OK);

    // A create that fails leaves nothing.
    let mut o = small();
    o.flags = PROVER_ISOLATED;
    // SAFETY: all pointers are of living values.
    fails(said(|err| unsafe { prover_create(&o, &mut prover { id: 0 }, err) }), PROVER_ERR_UNSUPPORTED, "flags");
    threads_become(&names);
    assert_eq!(descriptors(), fds);
}
