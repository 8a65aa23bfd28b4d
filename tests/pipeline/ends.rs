//! However a job ends, nothing of it is left.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use splitprove::engine::{Options, Pending, Priority};
use splitprove::error::Code;

use crate::support::*;

/// Whether a place belongs to the backend (all jobs share it) or to the job.
fn of_backend(place: Place) -> bool {
    matches!(place, Place::BeforeStart | Place::AfterStart | Place::BeforeFinish | Place::AfterFinish)
}

/// Starts a job to which `deed` happens at `place`.
fn start_with(bench: &Bench, place: Place, deed: Deed) -> (Pending, Plot) {
    let plot = if of_backend(place) {
        bench.backend.set(Some((place, deed)));
        bench.backend.clone()
    } else {
        Plot::at(place, deed)
    };
    let job = if of_backend(place) { Plot::default() } else { plot.clone() };
    (bench.start(3, job), plot)
}

#[test]
fn t3_t4_failures_and_panics_everywhere_leave_nothing_and_stop_nobody() {
    for beside in [false, true] {
        let bench = Bench::new(two(), beside);
        for place in Place::ALL {
            for deed in [Deed::Fail, Deed::Panic, Deed::PanicString] {
                let (pending, plot) = start_with(&bench, place, deed.clone());
                let e = result(&pending).unwrap_err();
                assert!(plot.reached() > 0, "{place:?} was never reached");
                match deed {
                    Deed::Fail => {
                        assert_eq!((e.code, e.message.clone()), (Code::Internal, format!("failed at {place:?}")));
                    }
                    Deed::Panic => {
                        assert_eq!(e.code, Code::Panic);
                        assert!(e.message.starts_with("a str at a place (at "), "{}", e.message);
                    }
                    _ => {
                        assert_eq!(e.code, Code::Panic);
                        assert!(e.message.starts_with(&format!("a String at {place:?}")), "{}", e.message);
                    }
                }
                bench.backend.set(None);
                drop(pending);
                bench.comes_to_nothing();
                // The next job verifies.
                bench.still_works();
                bench.comes_to_nothing();
            }
        }
        let stats = bench.engine.stats();
        assert_eq!((stats.failed, stats.finished, stats.queued, stats.running), (24, 24, 0, 0));
    }
}

#[test]
fn t9_cancelling_at_every_stage_brings_the_bytes_back() {
    for beside in [false, true] {
        let bench = Bench::new(two(), beside);
        for place in Place::ALL {
            // Work that looks at its flag, and work that does not until it is through.
            for heed in [true, false] {
                let flag = Arc::new(AtomicBool::new(false));
                let (pending, plot) = start_with(&bench, place, Deed::Wait { flag: flag.clone(), heed });
                until("the place", || plot.reached() > 0);
                // Another one waits behind it, and is cancelled while it waits.
                let queued = bench.start(2, Plot::default());
                queued.cancel();
                pending.cancel();
                pending.cancel();
                assert!(!heed || place == Place::PublicInputs || pending.wait(Some(Duration::from_secs(60))));
                flag.store(true, Ordering::SeqCst);
                assert_eq!(result(&pending).unwrap_err().code, Code::Cancelled, "{place:?}");
                assert_eq!(result(&queued).unwrap_err().code, Code::Cancelled, "{place:?}");
                pending.cancel();
                bench.backend.set(None);
                drop((pending, queued));
                bench.comes_to_nothing();
            }
        }
        // After the end it changes nothing.
        let done = bench.start(2, Plot::default());
        let bytes = result(&done).unwrap();
        done.cancel();
        assert_eq!(result(&done).unwrap(), bytes);
        bench.still_works();
        drop(done);
        bench.comes_to_nothing();
    }
}

#[test]
fn deadlines_pass_at_every_stage() {
    let bench = Bench::new(two(), true);
    for place in Place::ALL {
        let flag = Arc::new(AtomicBool::new(false));
        let deed = Deed::Wait { flag: flag.clone(), heed: true };
        let plot = Plot::at(place, deed.clone());
        if of_backend(place) {
            bench.backend.set(Some((place, deed)));
        }
        let mut submission = bench.submission(bench.job(2, plot));
        submission.deadline = Some(Duration::from_millis(40));
        let pending = bench.engine.submit(submission).unwrap();
        if place == Place::PublicInputs {
            // The only place that is not told.
            std::thread::sleep(Duration::from_millis(80));
            flag.store(true, Ordering::SeqCst);
        }
        assert_eq!(result(&pending).unwrap_err().code, Code::Timeout, "{place:?}");
        bench.backend.set(None);
        drop(pending);
        bench.comes_to_nothing();
    }
    bench.still_works();
}

/// Ten jobs in mixed states.
fn mixed(bench: &Bench, flag: &Arc<AtomicBool>) -> Vec<Pending> {
    let wait = |place| Plot::at(place, Deed::Wait { flag: flag.clone(), heed: true });
    let mut jobs = vec![
        bench.start(3, wait(Place::AfterSynthesis)),
        bench.start(3, wait(Place::BeforeSynthesis)),
        bench.start(1, Plot::at(Place::Decode, Deed::Fail)),
        bench.start(2, Plot::at(Place::AfterSynthesis, Deed::Panic)),
    ];
    jobs.extend((0..6).map(|_| bench.start(2, Plot::default())));
    jobs
}

#[test]
fn t10_draining_and_destroying_with_jobs_in_mixed_states() {
    for beside in [false, true] {
        // Drained: everything ends as it would have.
        let bench = Bench::new(two(), beside);
        let flag = Arc::default();
        let jobs = mixed(&bench, &flag);
        assert_eq!(bench.engine.drain(Some(Duration::from_millis(20))).unwrap_err().code, Code::Timeout);
        flag.store(true, Ordering::SeqCst);
        bench.engine.drain(None).unwrap();
        // Whoever has drained finds every outcome there.
        let ends: Vec<Code> =
            jobs.iter().map(|j| j.outcome().expect("drained").map_or_else(|e| e.code, |_| Code::Busy)).collect();
        assert_eq!(ends[2..4], [Code::Internal, Code::Panic]);
        assert!(ends[..2].iter().chain(&ends[4..]).all(|c| *c == Code::Busy), "{ends:?}");
        drop(jobs);
        bench.comes_to_nothing();

        // Destroyed: whatever was not over ends as SHUTDOWN, and nothing is left the moment destroy returns.
        for round in 0..10 {
            let bench = Bench::new(two(), beside);
            let flag = Arc::default();
            let jobs = mixed(&bench, &flag);
            if round % 2 == 0 {
                until("synthesis", || bench.engine.stats().running > 0);
            }
            bench.engine.shutdown();
            assert_eq!(held(&bench.engine), (0, 0, 0, 0));
            for job in &jobs {
                let e = job.outcome().expect("destroyed");
                assert!(!matches!(e, Err(ref e) if ![Code::Shutdown, Code::Internal, Code::Panic].contains(&e.code)));
            }
            drop(jobs);
        }
    }
}

#[test]
fn storms_of_starts_and_cancels() {
    let rounds = std::env::var("SPLITPROVE_STORMS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000usize);
    let bench = Bench::new(Options { queue_depth: 40, ..two() }, true);
    let (threads, ended) = (64, std::sync::atomic::AtomicUsize::new(0));
    let begun = Instant::now();
    std::thread::scope(|s| {
        for t in 0..threads {
            let (bench, ended) = (&bench, &ended);
            s.spawn(move || {
                let mut i = 0;
                while i < rounds.div_ceil(threads) {
                    let mut submission = bench.submission(bench.job(1 + (i + t) % 3, Plot::default()));
                    submission.priority = [Priority::Low, Priority::Normal, Priority::High, Priority::Critical][t % 4];
                    if i % 5 == 4 {
                        submission.deadline = Some(Duration::from_millis((i % 7) as u64));
                    }
                    // Who is refused comes again.
                    let Ok(pending) = bench.engine.submit(submission) else {
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    };
                    match (i + t) % 4 {
                        0 => drop(pending),
                        1 => {
                            pending.cancel();
                            assert!(result(&pending).is_ok_and(|_| true) || pending.is_done());
                        }
                        2 => {
                            std::thread::sleep(Duration::from_micros((i * 37 % 900) as u64));
                            pending.cancel();
                            let _ = result(&pending);
                        }
                        _ => {
                            if let Ok(bytes) = result(&pending) {
                                bench.verify(&bytes);
                            }
                        }
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                    i += 1;
                }
            });
        }
    });
    bench.comes_to_nothing();
    let stats = bench.engine.stats();
    assert_eq!(stats.started, stats.finished + stats.failed + stats.cancelled);
    assert_eq!((stats.failed, stats.started as usize), (0, ended.load(Ordering::Relaxed)));
    // Each end is met often, or this was no storm.
    assert!(stats.started as usize >= rounds && stats.finished > 0 && stats.cancelled > 0, "{stats:?}");
    println!(
        "storms: {} starts from {threads} threads in {:.1} s: {} proved, {} cancelled, {} refused as busy; peak {} bytes",
        stats.started,
        begun.elapsed().as_secs_f64(),
        stats.finished,
        stats.cancelled,
        stats.rejected,
        stats.budget_peak_bytes
    );
    bench.still_works();
}
