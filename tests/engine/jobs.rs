//! What can happen to a job on its way, and the engine's end.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{ours, SmallCircuit, Style};
use blstrs::Scalar;

use splitprove::engine::{Event, Options, ParamsRef, Pending, Priority, Stage};
use splitprove::error::{Code, Error};
use splitprove::groth16::PROOF_BYTES;

use crate::support::*;

#[test]
fn partitions_come_out_in_order_and_verify() {
    let bench = Bench::new();
    for partitions in [1, 2, 5] {
        let pending = bench.start(partitions, Script::default());
        let bytes = result(&pending).unwrap();
        assert_eq!(bytes.len(), partitions * PROOF_BYTES);
        bench.verify(&bytes);
        let p = pending.progress();
        assert_eq!(
            (p.stage, p.permille, p.partitions, p.partitions_done, p.device),
            (Stage::Done, 1000, partitions as u32, partitions as u32, -1)
        );
        assert!(p.stage_ns.iter().sum::<u64>() <= p.total_ns);
        assert!(p.stage_ns[2] > 0 && p.stage_ns[3] > 0 && p.stage_ns[4] > 0, "{p:?}");
        assert!(pending.is_done());
    }
    let stats = bench.engine.stats();
    assert_eq!((stats.started, stats.finished, stats.failed, stats.queued, stats.running), (3, 3, 0, 0, 0));
}

#[test]
fn progress_never_falls() {
    let bench = Bench::new();
    let pending = bench.start(5, Script::default());
    let mut last = pending.progress();
    while !pending.is_done() {
        let now = pending.progress();
        assert!(now.permille >= last.permille && now.partitions_done >= last.partitions_done);
        assert!(now.total_ns >= last.total_ns);
        assert!(now.permille < 1000 || now.stage == Stage::Done);
        last = now;
    }
}

#[test]
fn every_kind_of_failure_keeps_its_code_and_text() {
    let bench = Bench::new();
    let fails = |script| result(&bench.start(2, script)).unwrap_err();

    let e = fails(Script { decode: Some(|| Err(Error::malformed("seed", "31 bytes"))), ..Script::default() });
    assert_eq!((e.code, &*e.field, &*e.message), (Code::MalformedInput, "seed", "31 bytes"));

    let e = fails(Script { decode: Some(|| Err(Error::argument("vanilla_count", "two"))), ..Script::default() });
    assert_eq!((e.code, &*e.field), (Code::MalformedInput, "vanilla_count"));

    let e = fails(Script { decode: Some(|| panic!("a panic in decoding")), ..Script::default() });
    assert_eq!(e.code, Code::Panic);
    assert!(e.message.starts_with("a panic in decoding (at "), "{}", e.message);

    let e = fails(Script { synthesis: Some(|| panic!("{} in synthesis", "String")), ..Script::default() });
    assert_eq!(e.code, Code::Panic);
    assert!(e.message.starts_with("String in synthesis"), "{}", e.message);

    let e = fails(Script { synthesis: Some(|| std::panic::panic_any(7)), ..Script::default() });
    assert_eq!(e.code, Code::Panic);

    let e = fails(Script { synthesis: Some(|| Err(Error::out_of_memory("witness", 9))), ..Script::default() });
    assert_eq!((e.code, &*e.field), (Code::OutOfMemory, "witness"));

    let wrong_inputs = |mut i: Vec<Scalar>| {
        i[0] += Scalar::from(1);
        i
    };
    let e = fails(Script { inputs: Some(wrong_inputs), ..Script::default() });
    assert_eq!(e.code, Code::SelfCheck);

    let e = fails(Script { inputs: Some(|_| panic!("a panic in public inputs")), ..Script::default() });
    assert_eq!(e.code, Code::Panic);

    bench.still_works();
    let stats = bench.engine.stats();
    assert_eq!((stats.failed, stats.finished), (8, 1));
}

#[test]
fn an_unsatisfied_partition_ends_the_job() {
    let bench = Bench::new();
    let mut submission = bench.submission(1, Script::default());
    submission.source = Box::new(TestJob {
        circuits: vec![bench.circuit.clone(), SmallCircuit { broken: true, ..bench.circuit.clone() }],
        params: ParamsRef::Loaded(bench.params.clone()),
        script: Mutex::default(),
        synthesised: bench.synthesised.clone(),
        order: None,
    });
    let pending = bench.engine.submit(submission).unwrap();
    let e = result(&pending).unwrap_err();
    assert_eq!(e.code, Code::Unsatisfied);
    assert!(e.message.contains("row 199"), "{}", e.message);
    bench.still_works();
}

#[test]
fn parameters_of_another_circuit_are_refused() {
    let bench = Bench::new();
    let other = |style, inputs, rows, seed| {
        let circuit = SmallCircuit::new(style, inputs, rows, seed);
        ParamsRef::Loaded(Arc::new(ours(&circuit.parameters())))
    };
    for (params, section) in [
        (other(Style::Sparse, 3, 30, 5), "h"),
        (other(Style::Sparse, 2, 200, 5), "ic"),
        (other(Style::Sparse, 3, 201, 5), "l"),
        (other(Style::Dense, 3, 200, 5), "a"),
    ] {
        let mut submission = bench.submission(1, Script::default());
        submission.source = Box::new(TestJob {
            circuits: vec![bench.circuit.clone()],
            params,
            script: Mutex::default(),
            synthesised: bench.synthesised.clone(),
            order: None,
        });
        let pending = bench.engine.submit(submission).unwrap();
        let e = result(&pending).unwrap_err();
        assert_eq!((e.code, &*e.field), (Code::ParamsCorrupt, section));
    }
    bench.still_works();
}

#[test]
fn a_missing_parameter_file_is_no_end() {
    let bench = Bench::new();
    let mut submission = bench.submission(1, Script::default());
    submission.source = Box::new(TestJob {
        circuits: vec![bench.circuit.clone()],
        params: ParamsRef::File("/nowhere/v28-none.params".into()),
        script: Mutex::default(),
        synthesised: bench.synthesised.clone(),
        order: None,
    });
    let pending = bench.engine.submit(submission).unwrap();
    let e = result(&pending).unwrap_err();
    assert_eq!(e.code, Code::ParamsNotFound);
    assert!(e.message.contains("/nowhere/v28-none.params"), "{}", e.message);
    bench.still_works();
}

#[test]
fn cancel_at_every_stage() {
    let bench = Bench::new();
    // In synthesis; what waits behind it is cancelled while queued.
    let hold = gate();
    let running = bench.start(2, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
    until("synthesis", || running.progress().stage == Stage::Witness);
    let queued = bench.start(1, Script::default());
    queued.cancel();
    assert_eq!(code(&queued), Code::Cancelled);
    queued.cancel();
    running.cancel();
    assert_eq!(code(&running), Code::Cancelled);
    assert_eq!(running.progress().stage, Stage::Done);

    // In decoding.
    let (go, wait) = channel();
    let (say, said) = channel();
    let script = Script { decode_gate: Some(wait), decoding: Some(say), ..Script::default() };
    let decoding = bench.start(1, script);
    said.recv().unwrap();
    decoding.cancel();
    go.send(()).unwrap();
    assert_eq!(code(&decoding), Code::Cancelled);

    // After the end it changes nothing.
    let done = bench.start(1, Script::default());
    let bytes = result(&done).unwrap();
    done.cancel();
    assert_eq!(result(&done).unwrap(), bytes);
    assert_eq!(bench.engine.stats().cancelled, 3);
    bench.still_works();
}

#[test]
fn dropping_a_pending_proof_stops_its_work() {
    let bench = Bench::new();
    let hold = gate();
    let running = bench.start(50, Script { synthesis_gate: Some(hold), ..Script::default() });
    until("synthesis", || running.progress().stage == Stage::Witness);
    drop(running);
    bench.still_works();
    assert_eq!(bench.engine.stats().cancelled, 1);
    assert_eq!(bench.engine.next_event().map(|e| e.key), None);
}

#[test]
fn a_deadline_ends_what_waits_and_what_runs() {
    let bench = Bench::new();
    let hold = gate();
    let mut first = bench.submission(1, Script { synthesis_gate: Some(hold), ..Script::default() });
    first.deadline = Some(Duration::from_millis(300));
    let mut second = bench.submission(1, Script::default());
    second.deadline = Some(Duration::from_millis(30));
    let begun = Instant::now();
    let (first, second) = (bench.engine.submit(first).unwrap(), bench.engine.submit(second).unwrap());
    let e = result(&second).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::Timeout, "deadline_ns"));
    assert!(begun.elapsed() < Duration::from_millis(290), "the queued job's deadline came first");
    assert_eq!(code(&first), Code::Timeout);
    bench.still_works();

    let mut far = bench.submission(1, Script::default());
    far.deadline = Some(Duration::MAX);
    bench.verify(&result(&bench.engine.submit(far).unwrap()).unwrap());
}

#[test]
fn the_door_is_busy_when_the_queue_is_full() {
    let bench = Bench::with(Options { queue_depth: 2, cpu_threads: 1, synthesis_threads: 1, ..Options::default() });
    let hold = gate();
    let held = || Script { synthesis_gate: Some(hold.clone()), ..Script::default() };
    let (a, b) = (bench.start(1, held()), bench.start(1, held()));
    let e = bench.engine.submit(bench.submission(1, Script::default())).err().unwrap();
    assert_eq!(e.code, Code::Busy);
    assert!(e.retry_after > Duration::ZERO);
    hold.store(true, Ordering::SeqCst);
    bench.verify(&result(&a).unwrap());
    bench.verify(&result(&b).unwrap());
    bench.still_works();
    assert_eq!(bench.engine.stats().rejected, 1);
}

#[test]
fn urgent_jobs_go_first_and_equals_in_order() {
    let bench = Bench::new();
    let hold = gate();
    let first = bench.start(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
    until("synthesis", || first.progress().stage == Stage::Witness);
    let order: Arc<Mutex<Vec<u64>>> = Arc::default();
    let plan = [
        (1, Priority::Low),
        (2, Priority::Normal),
        (3, Priority::Critical),
        (4, Priority::Normal),
        (5, Priority::High),
        (6, Priority::Critical),
    ];
    let jobs: Vec<Pending> = plan
        .iter()
        .map(|(tag, priority)| {
            let mut submission = bench.submission(1, Script::default());
            submission.priority = *priority;
            submission.source = Box::new(TestJob {
                circuits: vec![SmallCircuit { values: 100, ..bench.circuit.clone() }],
                params: ParamsRef::Loaded(bench.params.clone()),
                script: Mutex::default(),
                synthesised: bench.synthesised.clone(),
                order: Some((order.clone(), *tag)),
            });
            bench.engine.submit(submission).unwrap()
        })
        .collect();
    // All decoded before the lane is let go.
    until("decoding", || jobs.iter().all(|j| j.progress().partitions == 1));
    // The critical ones have a synthesis thread of their own and wait behind nobody.
    for critical in [2, 5] {
        bench.verify(&result(&jobs[critical]).unwrap());
    }
    // The dispatcher numbers them a moment later.
    let positions = || [0, 1, 3, 4].map(|j: usize| jobs[j].progress().queue_position);
    until("numbering", || positions() == [4, 2, 3, 1]);
    hold.store(true, Ordering::SeqCst);
    for job in &jobs {
        bench.verify(&result(job).unwrap());
    }
    assert_eq!(*order.lock().unwrap(), [3, 6, 5, 2, 4, 1]);
}

#[test]
fn events_name_the_finished() {
    let bench = Bench::new();
    // SAFETY: the descriptor was just handed to this test.
    let fd = unsafe { OwnedFd::from_raw_fd(bench.engine.event_fd().unwrap()) };
    let readable = |ms| {
        let mut p = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut p, 1, ms) == 1 }
    };
    assert!(!readable(0));
    let mut good = bench.submission(1, Script::default());
    (good.key, good.tag) = (41, 7);
    let mut bad = bench.submission(1, Script { decode: Some(|| Err(Error::malformed("x", "y"))), ..Script::default() });
    (bad.key, bad.tag) = (42, 8);
    let pending = [bench.engine.submit(good).unwrap(), bench.engine.submit(bad).unwrap()];
    let mut events = vec![];
    while events.len() < 2 {
        assert!(readable(60_000));
        events.extend(bench.engine.next_event());
    }
    assert!(!readable(0));
    events.sort_by_key(|e| e.key);
    assert_eq!(
        events,
        [Event { key: 41, tag: 7, failure: None }, Event { key: 42, tag: 8, failure: Some(Code::MalformedInput) }]
    );
    drop(pending);
    // The event of a proof that was taken without it goes with its handle.
    let pending = bench.start(1, Script::default());
    result(&pending).unwrap();
    assert!(readable(60_000));
    drop(pending);
    assert!(!readable(0));
    bench.engine.shutdown();
    assert!(readable(0));
}

#[test]
fn drain_waits_and_shuts_the_door() {
    let bench = Bench::new();
    let hold = gate();
    let a = bench.start(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
    let b = bench.start(2, Script::default());
    let e = bench.engine.drain(Some(Duration::from_millis(50))).unwrap_err();
    assert_eq!(e.code, Code::Timeout);
    let refused = bench.engine.submit(bench.submission(1, Script::default())).err().unwrap();
    assert_eq!(refused.code, Code::Shutdown);
    hold.store(true, Ordering::SeqCst);
    bench.engine.drain(None).unwrap();
    bench.verify(&result(&a).unwrap());
    bench.verify(&result(&b).unwrap());
}

#[test]
fn shutting_down_ends_everything_and_every_thread() {
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let fds = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    // The harness itself may start a thread late: count ours by name.
    let ours = || {
        std::fs::read_dir("/proc/self/task")
            .unwrap()
            .filter(|t| {
                let comm = t.as_ref().unwrap().path().join("comm");
                std::fs::read_to_string(comm).is_ok_and(|c| c.starts_with("splitprove"))
            })
            .count()
    };
    let bench = Bench::new();
    drop(bench.engine);
    let (threads_before, fds_before) = (threads(), fds());
    assert_eq!(ours(), 0);
    for round in 0..5 {
        let bench = Bench::new();
        let hold = gate();
        let jobs: Vec<Pending> = (0..6)
            .map(|_| bench.start(3, Script { synthesis_gate: Some(hold.clone()), ..Script::default() }))
            .collect();
        if round % 2 == 0 {
            until("synthesis", || jobs[0].progress().stage == Stage::Witness);
        }
        bench.engine.shutdown();
        for job in &jobs {
            assert_eq!(code(job), Code::Shutdown);
        }
        assert_eq!(bench.engine.submit(bench.submission(1, Script::default())).err().unwrap().code, Code::Shutdown);
        assert_eq!(ours(), 0);
        bench.engine.shutdown();
        drop(bench);
        drop(jobs);
    }
    assert_eq!(ours(), 0);
    assert_eq!((threads(), fds()), (threads_before, fds_before));
}

#[test]
fn several_engines_and_many_callers() {
    let benches: Vec<Bench> = (0..3).map(|_| Bench::new()).collect();
    std::thread::scope(|s| {
        for bench in &benches {
            for _ in 0..4 {
                s.spawn(move || {
                    for i in 0..5 {
                        let pending = bench.start(1 + i % 2, Script::default());
                        if i == 3 {
                            pending.cancel();
                            let _ = result(&pending);
                        } else {
                            bench.verify(&result(&pending).unwrap());
                        }
                    }
                });
            }
        }
    });
    for bench in &benches {
        let stats = bench.engine.stats();
        assert_eq!(stats.started, 20);
        assert_eq!(stats.finished + stats.cancelled, 20);
        assert!(stats.finished >= 16);
    }
}

#[test]
fn the_self_test_passes_and_ends_with_the_engine() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.engine.self_test().unwrap();
    }
    bench.engine.shutdown();
    assert_eq!(bench.engine.self_test().unwrap_err().code, Code::Shutdown);
}

/// The metrics as Prometheus' own checker reads them. Without it on this machine the text is looked at only here; the
/// tests' script demands it.
#[test]
fn metrics_are_prometheus() {
    let bench = Bench::new();
    bench.still_works();
    let failed = bench.start(1, Script { decode: Some(|| Err(Error::malformed("x", "y"))), ..Script::default() });
    assert_eq!(code(&failed), Code::MalformedInput);
    let text = bench.engine.metrics_text();
    for line in [
        "splitprove_proofs_total{outcome=\"finished\"} 1",
        "splitprove_proofs_total{outcome=\"failed\"} 1",
        "splitprove_partition_seconds_count{stage=\"device\"} 1",
        "splitprove_partition_seconds_bucket{stage=\"witness\",le=\"+Inf\"} 1",
        "splitprove_lanes 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let checker = std::process::Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut checker = match checker {
        Ok(checker) => checker,
        Err(e) => {
            assert!(std::env::var_os("SPLITPROVE_REQUIRE_PROMTOOL").is_none(), "promtool: {e}");
            return;
        }
    };
    std::io::Write::write_all(&mut checker.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let said = checker.wait_with_output().unwrap();
    assert!(
        said.status.success(),
        "{}{}",
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
}
