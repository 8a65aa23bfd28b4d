//! Memory stays within the budget, whatever comes.

use std::fs;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use splitprove::engine::{Options, ParamsRef, Pending};
use splitprove::error::Code;
use splitprove::params::generate_in_memory;
use splitprove::telemetry::{Class, Stage};

use crate::common::{compiled, SmallCircuit, Style};
use crate::support::*;

/// A budget for `partitions` partitions of the bench's circuit beside the share of waiting requests and the reserve.
fn budget_for(partitions: u64) -> u64 {
    let one = Bench::new(two(), false).partition_bytes();
    // What is left after the reserve (1/16) takes `partitions` and not one more; requests are a few bytes.
    one * partitions * 16 / 15 + one / 2
}

#[test]
fn t2_fifty_proofs_under_a_budget_for_three() {
    for beside in [false, true] {
        let limit = budget_for(3);
        let bench = Bench::new(Options { host_memory_limit: limit, queue_depth: 50, ..two() }, beside);
        let one = bench.partition_bytes();
        let jobs: Vec<Pending> = (0..50).map(|_| bench.start(3, Plot::default())).collect();
        // The queue is full now: one more is refused, with a hint when to come again.
        let e = bench.engine.submit(bench.submission(bench.job(1, Plot::default()))).err().unwrap();
        assert_eq!(e.code, Code::Busy);
        assert!(e.retry_after > Duration::ZERO);
        for job in &jobs {
            bench.verify(&result(job).unwrap());
        }
        let stats = bench.engine.stats();
        assert_eq!((stats.finished, stats.rejected, stats.budget_bytes), (50, 1, limit));
        assert!(stats.budget_peak_bytes <= limit, "{} of {limit}", stats.budget_peak_bytes);
        assert!(stats.budget_peak_bytes > one, "more than one at a time: {} of {one}", stats.budget_peak_bytes);
        drop(jobs);
        bench.comes_to_nothing();
    }
}

#[test]
fn what_can_never_fit_is_refused_at_once() {
    let bench = Bench::new(Options { host_memory_limit: 3 * 4096, ..two() }, false);
    let e = result(&bench.start(1, Plot::default())).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::TooLarge, "host_memory_limit"));
    let mut large = bench.job(1, Plot::default());
    large.bytes = 7000;
    let e = bench.engine.submit(bench.submission(large)).err().unwrap();
    assert_eq!((e.code, &*e.field), (Code::TooLarge, "vanilla"));
    bench.comes_to_nothing();
}

#[test]
fn requests_wait_outside_when_those_inside_take_their_share() {
    let limit = budget_for(3);
    let bench = Bench::new(Options { host_memory_limit: limit, ..two() }, false);
    let (plot, go) = held_at(Place::Decode);
    let mut large = bench.job(1, plot);
    large.bytes = limit as usize / 40;
    let first = bench.engine.submit(bench.submission(large.clone())).unwrap();
    let e = bench.engine.submit(bench.submission(large)).err().unwrap();
    assert_eq!(e.code, Code::Busy);
    assert!(e.retry_after > Duration::ZERO);
    // A small one still comes in.
    let second = bench.start(1, Plot::default());
    go.store(true, Ordering::SeqCst);
    bench.verify(&result(&first).unwrap());
    bench.verify(&result(&second).unwrap());
    drop((first, second));
    bench.comes_to_nothing();
}

#[test]
fn permits_shrink_when_evaluations_die() {
    let bench = Bench::new(two(), true);
    let (plot, go) = held_at(Place::AfterSynthesis);
    let job = bench.start(1, plot);
    let stats = |class, stage| bench.engine.accounts().buffers.stats(class, stage);
    let packed = compiled(&bench.circuit).sizes().packs();
    until("synthesis", || stats(Class::Witness, Some(Stage::Synthesis)).count == if packed { 3 } else { 1 });
    assert_eq!(stats(Class::Evaluations, None).count, 0);
    // The undecoded request goes a moment later than its job is made of it.
    until("the partition's bytes alone", || bench.engine.accounts().budget.used() == bench.partition_bytes() + 64);
    let finish = Arc::new(std::sync::atomic::AtomicBool::new(false));
    bench.backend.set(Some((Place::BeforeFinish, Deed::Wait { flag: finish.clone(), heed: true })));
    go.store(true, Ordering::SeqCst);
    // Between the halves a and b are gone, and their bytes are back; witness and scratch space are not.
    until("the second half", || {
        stats(Class::Witness, Some(Stage::Finishing)).count > 0 && stats(Class::Evaluations, None).count == 0
    });
    let shape = bench.params.shape();
    until("bytes back", || {
        bench.engine.accounts().budget.used() < bench.partition_bytes() - shape.evaluation_bytes() + 4096
    });
    finish.store(true, Ordering::SeqCst);
    bench.verify(&result(&job).unwrap());
    bench.comes_to_nothing();
    assert_eq!(stats(Class::Evaluations, None).peak_count, 2);
}

/// Two circuits whose parameters do not fit together: each is let go for the other, and every proof is made.
#[test]
fn parameters_make_room_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let circuits = [SmallCircuit::new(Style::Sparse, 3, 200, 5), SmallCircuit::new(Style::Sparse, 3, 210, 6)];
    let mut bytes = Vec::new();
    let files: Vec<_> = circuits
        .iter()
        .enumerate()
        .map(|(i, circuit)| {
            let path = dir.path().join(format!("{i}.params"));
            let mut file = fs::File::create(&path).unwrap();
            circuit.parameters().write(&mut file).unwrap();
            bytes.push(splitprove::params::read_layout(&path).unwrap().memory_bytes());
            path
        })
        .collect();
    let one = Bench::new(two(), false).partition_bytes();
    let limit = (bytes.iter().max().unwrap() + one) * 16 / 13 + 16384;
    assert!(limit * 15 / 16 < bytes.iter().sum::<u64>() + one, "both never fit: {limit}, {bytes:?}, {one}");
    let bench = Bench::new(Options { host_memory_limit: limit, ..two() }, false);
    let job = |i: usize| {
        let mut job = bench.job(1, Plot::default());
        job.circuits = vec![circuits[i].clone()];
        job.params = ParamsRef::File(files[i].clone());
        bench.engine.submit(bench.submission(job)).unwrap()
    };
    let jobs: Vec<_> = [0, 1, 0, 0, 1, 1, 0, 1].into_iter().map(job).collect();
    for job in &jobs {
        assert!(result(job).is_ok(), "{:?}", result(job));
    }
    let stats = bench.engine.stats();
    assert!(stats.budget_peak_bytes <= limit);
    assert!(stats.params_bytes > 0);
    // A file that is no parameter file fails its own jobs only, also those that wait for the load together.
    fs::write(dir.path().join("bad.params"), vec![0u8; 4096]).unwrap();
    let bad = || {
        let mut job = bench.job(1, Plot::default());
        job.params = ParamsRef::File(dir.path().join("bad.params"));
        bench.engine.submit(bench.submission(job)).unwrap()
    };
    let bad = [bad(), bad(), bad()];
    for job in &bad {
        assert_eq!(result(job).unwrap_err().code, Code::ParamsCorrupt);
    }
    bench.still_works();
    bench.engine.shutdown();
    bench.comes_to_nothing();
}

#[test]
fn a_cancelled_load_is_begun_again_by_who_still_wants_it() {
    let dir = tempfile::tempdir().unwrap();
    let circuit = SmallCircuit::new(Style::Sparse, 3, 200, 5);
    let path = dir.path().join("x.params");
    circuit.parameters().write(fs::File::create(&path).unwrap()).unwrap();
    let bench = Bench::new(two(), false);
    for _ in 0..30 {
        let job = |_: usize| {
            let mut job = bench.job(2, Plot::default());
            job.params = ParamsRef::File(path.clone());
            bench.engine.submit(bench.submission(job)).unwrap()
        };
        let jobs: Vec<_> = (0..6).map(job).collect();
        for job in jobs.iter().step_by(2) {
            job.cancel();
        }
        for job in jobs.iter().skip(1).step_by(2) {
            bench.verify(&result(job).unwrap());
        }
    }
}

/// Random circuits large and small, random numbers of partitions, and a budget that some only just fit into.
#[test]
fn no_mixture_passes_the_budget_or_is_starved() {
    let sizes = [20, 200, 1500];
    let circuits: Vec<SmallCircuit> =
        sizes.iter().map(|rows| SmallCircuit::new(Style::Sparse, 2, *rows, *rows as u64)).collect();
    let params: Vec<_> = circuits
        .iter()
        .map(|c| {
            let matrices = splitprove::circuit::record::record(c.clone()).unwrap();
            let trapdoor = splitprove::params::Trapdoor::random().unwrap();
            Arc::new(generate_in_memory(&matrices, trapdoor).unwrap())
        })
        .collect();
    let largest = partition_bytes(&circuits[2]);
    let limit = largest * 3 / 2;
    let bench = Bench::new(Options { host_memory_limit: limit, queue_depth: 200, ..two() }, true);
    let mut random = 12345u64;
    let mut next = |n: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % n
    };
    let jobs: Vec<Pending> = (0..120)
        .map(|_| {
            let which = next(3) as usize;
            let mut job = bench.job(0, Plot::default());
            job.circuits = (0..1 + next(4)).map(|_| circuits[which].clone()).collect();
            job.params = ParamsRef::Loaded(params[which].clone());
            bench.engine.submit(bench.submission(job)).unwrap()
        })
        .collect();
    for job in &jobs {
        assert!(result(job).is_ok());
    }
    let stats = bench.engine.stats();
    assert!(stats.budget_peak_bytes <= limit && stats.budget_peak_bytes > largest / 2);
    drop(jobs);
    bench.comes_to_nothing();
}
