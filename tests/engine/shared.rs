//! Requests with an id: one job, several holders.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use splitprove::engine::{Pending, Priority, Stage};
use splitprove::error::Code;

use crate::support::*;

#[test]
fn equal_requests_with_an_id_join() {
    let bench = Bench::new();
    let hold = gate();
    let named = |fingerprint| {
        let mut s = bench.submission(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
        s.request_id = "sector-7".into();
        s.fingerprint = fingerprint;
        bench.engine.submit(s)
    };
    let (a, b, c) = (named(1).unwrap(), named(1).unwrap(), named(1).unwrap());
    let e = named(2).err().unwrap();
    assert_eq!((e.code, &*e.field), (Code::IdConflict, "request_id"));
    // One of three lets go: the work goes on for the others.
    b.cancel();
    assert_eq!(code(&b), Code::Cancelled);
    drop(c);
    hold.store(true, Ordering::SeqCst);
    bench.verify(&result(&a).unwrap());
    assert_eq!(code(&b), Code::Cancelled);
    assert_eq!(bench.synthesised.load(Ordering::SeqCst), 1);
    // Joining what is over gives its result and an event at once.
    let late = named(1).unwrap();
    assert_eq!(result(&late).unwrap(), result(&a).unwrap());
    // With the last hold the id is free again.
    drop((a, b, late));
    bench.verify(&result(&named(2).unwrap()).unwrap());
    assert_eq!(bench.synthesised.load(Ordering::SeqCst), 2);
}

#[test]
fn cancelling_every_hold_of_a_shared_job_stops_it() {
    let bench = Bench::new();
    let hold = gate();
    let named = || {
        let mut s = bench.submission(9, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
        s.request_id = "shared".into();
        bench.engine.submit(s).unwrap()
    };
    let (a, b) = (named(), named());
    until("synthesis", || a.progress().stage == Stage::Witness);
    drop(a);
    assert!(!b.is_done());
    b.cancel();
    assert_eq!(code(&b), Code::Cancelled);
    bench.still_works();
}

/// Every holder of a shared job has a deadline, a priority and an end of its own.
#[test]
fn holders_of_a_shared_job_end_each_for_itself() {
    let bench = Bench::new();
    let hold = gate();
    let named = |priority, deadline: Option<u64>| {
        let mut s = bench.submission(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
        s.request_id = "shared".into();
        s.priority = priority;
        s.tag = s.key;
        s.deadline = deadline.map(Duration::from_millis);
        bench.engine.submit(s).unwrap()
    };
    let first = named(Priority::Low, None);
    until("synthesis", || first.progress().stage == Stage::Witness);
    // A joiner's deadline is its own; so is its event.
    let late = named(Priority::Low, Some(20));
    let e = result(&late).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::Timeout, "deadline_ns"));
    assert!(!first.is_done());
    until("the event", || bench.engine.next_event().is_some_and(|e| e.failure == Some(Code::Timeout)));
    // A joiner that cancels hears of it at once, not when the job ends.
    let cancelled = named(Priority::Low, None);
    cancelled.cancel();
    until("the event", || bench.engine.next_event().is_some_and(|e| e.failure == Some(Code::Cancelled)));
    // The first holder's deadline does not end the others.
    drop(first);
    let second = named(Priority::Low, None);
    hold.store(true, Ordering::SeqCst);
    bench.verify(&result(&second).unwrap());

    // A proof that was cancelled, or too late, is no answer to a new request, whoever still holds it.
    let bench = Bench::new();
    let hold = gate();
    let named = |deadline: Option<u64>| {
        let mut s = bench.submission(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
        s.request_id = "again".into();
        s.deadline = deadline.map(Duration::from_millis);
        bench.engine.submit(s).unwrap()
    };
    let gone = [named(None), named(None)];
    gone.iter().for_each(Pending::cancel);
    assert_eq!(code(&gone[0]), Code::Cancelled);
    let late = named(Some(10));
    assert_eq!(code(&late), Code::Timeout);
    hold.store(true, Ordering::SeqCst);
    bench.verify(&result(&named(None)).unwrap());
}

/// Who joins, and does not cancel, is not cancelled.
#[test]
fn joining_while_others_let_go() {
    let bench = Bench::new();
    let named = || {
        let mut s = bench.submission(1, Script::default());
        s.request_id = "raced".into();
        bench.engine.submit(s)
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    drop(named());
                }
            });
        }
        for _ in 0..400 {
            bench.verify(&result(&named().unwrap()).unwrap());
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// A job is as urgent as the most urgent who wants it.
#[test]
fn joining_raises_the_priority() {
    let bench = Bench::new();
    let hold = gate();
    let first = bench.start(1, Script { synthesis_gate: Some(hold.clone()), ..Script::default() });
    until("synthesis", || first.progress().stage == Stage::Witness);
    let named = |id: &str, priority| {
        let mut s = bench.submission(1, Script::default());
        s.request_id = id.into();
        s.priority = priority;
        bench.engine.submit(s).unwrap()
    };
    let normal = named("a", Priority::Normal);
    let low = named("b", Priority::Low);
    until("decoding", || low.progress().partitions == 1);
    // The only synthesis thread is held; a critical job has its own.
    let critical = named("b", Priority::Critical);
    bench.verify(&result(&critical).unwrap());
    bench.verify(&result(&low).unwrap());
    assert!(!normal.is_done());
    hold.store(true, Ordering::SeqCst);
    bench.verify(&result(&normal).unwrap());
}
