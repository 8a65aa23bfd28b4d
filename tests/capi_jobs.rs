//! Proofs that run while the C surface is used: waiting, cancelling, dropping, deadlines, events, the engine's end, panics.

mod capi_support;
#[path = "capi_support/work.rs"]
mod work;

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use capi_support::*;
use splitprove::capi::*;
use splitprove::error::{Code, Error};
use work::{free, held, held_until, End, Gate};

const MS: i64 = 1_000_000;

fn engine() -> prover {
    create(&small())
}

#[test]
fn a_proof_from_start_to_finish() {
    let (p, gate) = (engine(), Gate::default());
    let fd = prover_event_fd(p);
    assert!(fd >= 0 && !readable(fd));
    // SAFETY: the descriptor is the test's.
    let (status, flags) = unsafe { (libc::fcntl(fd, libc::F_GETFL), libc::fcntl(fd, libc::F_GETFD)) };
    assert!(status & libc::O_NONBLOCK != 0 && flags & libc::FD_CLOEXEC != 0);

    let proof = held(p, &gate, End::Empty);
    gate.reached(1);
    let (status, progress) = poll(proof);
    assert_eq!((status, progress.stage, progress.device), (PROVER_PENDING, PROVE_STAGE_QUEUED, -1));
    assert!(progress.total_ns > 0 && progress.queued_ns > 0);
    assert_eq!(prove_wait(proof, 0), PROVER_PENDING);
    let began = Instant::now();
    assert_eq!(prove_wait(proof, 20 * MS), PROVER_PENDING);
    assert!(began.elapsed() >= Duration::from_millis(20));
    assert!(event(p).is_none() && !readable(fd));
    assert_eq!((stats(p).started, stats(p).queued), (1, 1));

    gate.open();
    assert_eq!(prove_wait(proof, -1), PROVER_OK);
    assert!(readable(fd));
    let e = event(p).unwrap();
    assert_eq!((e.status, e.proof.id, e.tag), (PROVER_OK, proof.id, 0));
    assert!(event(p).is_none() && !readable(fd));
    let (status, progress) = poll(proof);
    assert_eq!((status, progress.stage, progress.permille), (PROVER_OK, PROVE_STAGE_DONE, 1000));

    let (mut len, mut timings) = (7, sized!(prove_progress));
    // SAFETY: the pointers are NULL where nothing is written or of living values.
    let said = said(|err| unsafe { finish_pending_proof(proof, ptr::null_mut(), 0, &mut len, &mut timings, err) });
    assert_eq!((said.status, len, timings.stage), (PROVER_OK, 0, PROVE_STAGE_DONE));
    assert_eq!(timings.total_ns, progress.total_ns);
    assert_eq!(poll(proof).0, PROVER_ERR_INVALID_HANDLE);
    assert_eq!((stats(p).finished, stats(p).queued), (1, 0));
    assert_eq!(prover_destroy(p), PROVER_OK);
    assert!(readable(fd));
    // SAFETY: the descriptor is the test's.
    unsafe { libc::close(fd) };
}

#[test]
fn panics_become_codes_and_the_engine_goes_on() {
    let p = engine();
    let cases: [(End, &str); 5] = [
        (End::Panics(Box::new("plain text")), "plain text"),
        (End::Panics(Box::new(String::from("a String"))), "a String"),
        (End::Panics(Box::new(Error::internal("an error as payload"))), "an error as payload"),
        (End::Panics(Box::new(17u64)), "no text"),
        (End::PanicsOnTheLane("text from the lane"), "text from the lane"),
    ];
    for (end, text) in cases {
        let proof = free(p, end, 5).unwrap();
        assert_eq!(prove_wait(proof, -1), PROVER_ERR_PANIC);
        assert_eq!(poll(proof).0, PROVER_ERR_PANIC);
        let e = event(p).unwrap();
        assert_eq!((e.status, e.tag), (PROVER_ERR_PANIC, 5));
        let said = finish(proof).unwrap_err();
        assert_eq!((said.status, said.code), (PROVER_ERR_PANIC, PROVER_ERR_PANIC));
        assert!(said.message.contains(text), "{}", said.message);
        let proof = free(p, End::Empty, 0).unwrap();
        assert_eq!(prove_wait(proof, -1), PROVER_OK);
        assert!(finish(proof).unwrap().is_empty());
    }
    // A panic inside an export itself.
    assert_eq!(hooks::guarded(|| panic!("in an export")), PROVER_ERR_PANIC);
    assert_eq!(hooks::guarded(|| std::panic::panic_any(3u8)), PROVER_ERR_PANIC);
    assert_eq!(hooks::guarded(|| ()), PROVER_OK);
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn failures_carry_everything() {
    let p = engine();
    let mut e = Error::new(Code::Device, "device 3", "it fell off the bus");
    e.os_code = 719;
    let proof = free(p, End::Fails(e), 0).unwrap();
    let said = finish(proof).unwrap_err();
    assert_eq!((said.status, said.field.as_str(), said.os_code), (PROVER_ERR_DEVICE, "device 3", 719));
    assert_eq!(said.message, "it fell off the bus");
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn cancelling() {
    let (p, gate) = (engine(), Gate::default());
    let (first, second) = (held(p, &gate, End::Empty), held(p, &gate, End::Empty));
    gate.reached(1);
    // One waits: it ends at once.
    assert_eq!(prove_cancel(second), PROVER_OK);
    assert_eq!(prove_wait(second, 0), PROVER_ERR_CANCELLED);
    assert_eq!(event(p).unwrap().proof, second);
    assert_eq!(prove_cancel(second), PROVER_OK, "twice does nothing");
    fails(finish(second).unwrap_err(), PROVER_ERR_CANCELLED, "");
    // The other is at work: it ends when the work looks up.
    assert_eq!(prove_cancel(first), PROVER_OK);
    assert_eq!(prove_wait(first, 10 * MS), PROVER_PENDING);
    gate.open();
    assert_eq!(prove_wait(first, -1), PROVER_ERR_CANCELLED);
    assert_eq!(stats(p).cancelled, 2);
    assert_eq!(drop_pending_proof(first), PROVER_OK);
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn dropping() {
    let (p, gate) = (engine(), Gate::default());
    let (first, second) = (held(p, &gate, End::Empty), held(p, &gate, End::Empty));
    gate.reached(1);
    let waits = [
        thread::spawn(move || prove_wait(first, -1)),
        thread::spawn(move || finish(first).map(|_| 0).unwrap_or_else(|said| said.status)),
    ];
    thread::sleep(Duration::from_millis(20));
    for proof in [first, second] {
        assert_eq!(drop_pending_proof(proof), PROVER_OK);
        assert_eq!(drop_pending_proof(proof), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(poll(proof).0, PROVER_ERR_INVALID_HANDLE);
    }
    gate.open();
    let [wait, finish] = waits.map(|t| t.join().unwrap());
    // Who waited sees how the work ended; who wanted the bytes came too late.
    assert_eq!((wait, finish), (PROVER_ERR_CANCELLED, PROVER_ERR_INVALID_HANDLE));
    assert_eq!(prover_drain(p, -1), PROVER_OK);
    assert!(event(p).is_none());
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn deadlines() {
    let (p, gate) = (engine(), Gate::default());
    let bytes = [0u8; 8];
    let late = held_until(p, &gate, Duration::ZERO);
    assert_eq!(prove_wait(late, -1), PROVER_ERR_TIMEOUT, "over before it begins");
    held(p, &gate, End::Empty);
    gate.reached(1);
    let mut r = request(&bytes);
    r.deadline_ns = 1;
    let proof = start(p, &r).unwrap();
    thread::sleep(Duration::from_millis(5));
    gate.open();
    fails(finish(proof).unwrap_err(), PROVER_ERR_TIMEOUT, "deadline_ns");
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn a_full_queue_is_busy() {
    let mut o = small();
    o.queue_depth = 1;
    let (p, gate) = (create(&o), Gate::default());
    let first = held(p, &gate, End::Empty);
    let bytes = [0u8; 8];
    let said = start(p, &request(&bytes)).unwrap_err();
    assert_eq!(said.status, PROVER_ERR_BUSY);
    assert!(said.retry_after_ns > 0);
    assert_eq!(stats(p).rejected, 1);
    gate.open();
    assert_eq!(prove_wait(first, -1), PROVER_OK);
    assert_eq!(prover_drain(p, -1), PROVER_OK);
    assert_eq!(start(p, &request(&bytes)).unwrap_err().status, PROVER_ERR_SHUTDOWN, "after drain");
    assert_eq!(prover_destroy(p), PROVER_OK);
    assert!(finish(first).is_ok(), "the handle outlives its engine");
}

/// Bytes that must not be looked at: reading one ends the process.
fn untouchable(bytes: usize) -> *const u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping anywhere; it stays for the process's life.
    let at = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at.cast()
}

#[test]
fn a_refused_requests_bytes_are_not_copied() {
    let mut o = small();
    o.queue_depth = 1;
    let (p, gate) = (create(&o), Gate::default());
    let first = held(p, &gate, End::Empty);
    let mut r = request(&[]);
    (r.vanilla, r.vanilla_len) = (untouchable(51_000_000), 51_000_000);
    assert_eq!(start(p, &r).unwrap_err().status, PROVER_ERR_BUSY);
    // An id that nobody holds makes no difference.
    r.request_id[0] = b'x' as _;
    assert_eq!(start(p, &r).unwrap_err().status, PROVER_ERR_BUSY);
    assert_eq!(stats(p).rejected, 2);
    // What is wrong with the request itself comes first.
    r.kind = 99;
    fails(start(p, &r).unwrap_err(), PROVER_ERR_INVALID_ARGUMENT, "kind");
    r.kind = PROVE_POREP;
    gate.open();
    assert_eq!(prover_drain(p, -1), PROVER_OK);
    assert_eq!(start(p, &r).unwrap_err().status, PROVER_ERR_SHUTDOWN);
    assert_eq!(drop_pending_proof(first), PROVER_OK);
    assert_eq!(prover_destroy(p), PROVER_OK);
}

/// A request with the id of one that is held joins it, however full the queue is.
#[test]
fn a_full_queue_is_joined() {
    let mut o = small();
    o.queue_depth = 2;
    let (p, gate) = (create(&o), Gate::default());
    let first = held(p, &gate, End::Empty);
    gate.reached(1);
    let bytes = [7u8; 100];
    let mut r = request(&bytes);
    r.request_id[0] = b'x' as _;
    let second = start(p, &r).unwrap();
    let third = start(p, &r).unwrap();
    r.request_id[0] = b'y' as _;
    assert_eq!(start(p, &r).unwrap_err().status, PROVER_ERR_BUSY);
    gate.open();
    for proof in [first, second, third] {
        prove_wait(proof, -1);
        assert_eq!(drop_pending_proof(proof), PROVER_OK);
    }
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn draining_waits() {
    let (p, gate) = (engine(), Gate::default());
    let proof = held(p, &gate, End::Empty);
    assert_eq!(prover_drain(p, 0), PROVER_ERR_TIMEOUT);
    assert_eq!(prover_drain(p, 5 * MS), PROVER_ERR_TIMEOUT);
    let drain = thread::spawn(move || prover_drain(p, -1));
    thread::sleep(Duration::from_millis(10));
    assert!(!drain.is_finished());
    gate.open();
    assert_eq!(drain.join().unwrap(), PROVER_OK);
    assert_eq!(poll(proof).0, PROVER_OK);
    assert_eq!(prover_destroy(p), PROVER_OK);
    assert_eq!(drop_pending_proof(proof), PROVER_OK);
}

#[test]
fn the_engines_end_with_work_in_flight() {
    let (p, gate) = (engine(), Gate::default());
    let (running, waiting) = (held(p, &gate, End::Empty), held(p, &gate, End::Empty));
    gate.reached(1);
    let waits: Vec<_> = [running, waiting].map(|proof| thread::spawn(move || prove_wait(proof, -1))).into();
    let drain = thread::spawn(move || prover_drain(p, -1));
    let ends: Vec<_> = (0..2).map(|_| thread::spawn(move || prover_destroy(p))).collect();
    thread::sleep(Duration::from_millis(20));
    gate.open();
    for wait in waits {
        assert_eq!(wait.join().unwrap(), PROVER_ERR_SHUTDOWN);
    }
    let drained = drain.join().unwrap();
    assert!([PROVER_OK, PROVER_ERR_INVALID_HANDLE].contains(&drained), "{drained}");
    let mut ends: Vec<i32> = ends.into_iter().map(|t| t.join().unwrap()).collect();
    ends.sort();
    assert_eq!(ends, [PROVER_ERR_INVALID_HANDLE, PROVER_OK], "of two calls one ends it");
    // The handles are there until finished or dropped.
    assert_eq!(prove_cancel(running), PROVER_OK);
    fails(finish(running).unwrap_err(), PROVER_ERR_SHUTDOWN, "");
    assert_eq!(poll(waiting).0, PROVER_ERR_SHUTDOWN);
    assert_eq!(drop_pending_proof(waiting), PROVER_OK);
    assert_eq!(drop_pending_proof(waiting), PROVER_ERR_INVALID_HANDLE);
}

#[test]
fn request_ids() {
    let (p, gate) = (engine(), Gate::default());
    held(p, &gate, End::Empty);
    gate.reached(1);
    let (bytes, other) = ([1u8; 100], [2u8; 100]);
    let named = |bytes: &[u8]| {
        let mut r = request(bytes);
        r.request_id[0] = b'a' as _;
        r
    };
    let (a, b) = (start(p, &named(&bytes)).unwrap(), start(p, &named(&bytes)).unwrap());
    assert_ne!(a, b);
    assert_eq!(stats(p).started, 2, "the second joined");
    fails(start(p, &named(&other)).unwrap_err(), PROVER_ERR_ID_CONFLICT, "request_id");
    for change in [
        (|r| r.sector_number = 1) as fn(&mut prove_request),
        |r| r.miner_id = 1,
        |r| r.registered_proof = 1,
        |r| r.partition_index = 1,
        |r| r.randomness[31] = 1,
        |r| r.comm_r_old[0] = 1,
        |r| r.comm_r_new[0] = 1,
        |r| r.comm_d_new[0] = 1,
        |r| r.kind = PROVE_SNAP,
    ] {
        let mut r = named(&bytes);
        change(&mut r);
        fails(start(p, &r).unwrap_err(), PROVER_ERR_ID_CONFLICT, "request_id");
    }
    // What says nothing about the proof does not matter.
    let mut r = named(&bytes);
    (r.tag, r.priority, r.deadline_ns) = (9, PROVE_PRIORITY_HIGH, i64::MAX);
    let c = start(p, &r).unwrap();
    // One hold ends, the job goes on for the others.
    assert_eq!(prove_cancel(b), PROVER_OK);
    assert_eq!(poll(b).1.stage, PROVE_STAGE_DONE);
    assert_eq!(prove_wait(b, 0), PROVER_ERR_CANCELLED);
    assert_eq!((poll(a).0, poll(c).0), (PROVER_PENDING, PROVER_PENDING));
    gate.open();
    let code = prove_wait(a, -1);
    assert_eq!((code, prove_wait(c, -1)), (prove_wait(a, 0), code));
    assert_ne!(code, PROVER_ERR_CANCELLED);
    for proof in [a, b, c] {
        assert_eq!(drop_pending_proof(proof), PROVER_OK);
    }
    // Nobody holds the id any more.
    assert!(start(p, &named(&other)).is_ok());
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn of_many_finishers_one_gets_the_proof() {
    let p = engine();
    for _ in 0..50 {
        let proof = free(p, End::Empty, 0).unwrap();
        let ends: Vec<_> = (0..4)
            .map(|i| {
                thread::spawn(move || match i {
                    3 => drop_pending_proof(proof),
                    _ => finish(proof).map(|_| 0).unwrap_or_else(|said| said.status),
                })
            })
            .collect();
        let codes: Vec<i32> = ends.into_iter().map(|t| t.join().unwrap()).collect();
        assert_eq!(codes.iter().filter(|c| **c == PROVER_OK).count(), 1, "{codes:?}");
        assert_eq!(codes.iter().filter(|c| **c == PROVER_ERR_INVALID_HANDLE).count(), 3, "{codes:?}");
    }
    assert_eq!(prover_destroy(p), PROVER_OK);
}

#[test]
fn an_events_handle_is_always_good() {
    let p = engine();
    let (stop, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|s| {
        s.spawn(|| {
            while !stop.load(Ordering::Acquire) || seen.load(Ordering::Acquire) < 2000 {
                // May come before prove_start has returned in the other thread.
                let Some(e) = event(p) else { continue };
                assert_eq!(e.status, PROVER_OK);
                assert!(finish(e.proof).unwrap().is_empty());
                seen.fetch_add(1, Ordering::AcqRel);
            }
        });
        for tag in 0..2000 {
            while free(p, End::Empty, tag).is_err() {
                thread::yield_now();
            }
        }
        stop.store(true, Ordering::Release);
    });
    assert_eq!(prover_destroy(p), PROVER_OK);
}

/// A few calls a thread from a small random number generator, on handles that others end meanwhile.
#[test]
fn anything_from_any_thread() {
    const THREADS: u64 = 6;
    let began = Instant::now();
    let handles = std::sync::Mutex::new((vec![engine()], Vec::<pending_proof>::new()));
    let calls = AtomicUsize::new(0);
    thread::scope(|s| {
        for seed in 1..=THREADS {
            let (handles, calls) = (&handles, &calls);
            s.spawn(move || {
                let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut random = |n: usize| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state >> 33) as usize % n
                };
                while began.elapsed() < Duration::from_millis(1500) {
                    calls.fetch_add(1, Ordering::Relaxed);
                    let (p, proof) = {
                        let h = handles.lock().unwrap();
                        let p = h.0[random(h.0.len())];
                        let proof = h.1.get(random(h.1.len().max(1))).copied().unwrap_or_default();
                        (p, proof)
                    };
                    let code = match random(40) {
                        0 => {
                            let new = engine();
                            let old = {
                                let mut h = handles.lock().unwrap();
                                let i = random(h.0.len());
                                std::mem::replace(&mut h.0[i], new)
                            };
                            prover_destroy(old)
                        }
                        1 => prover_destroy(p),
                        2..=13 => {
                            match free(p, if random(4) == 0 { End::Panics(Box::new("x")) } else { End::Empty }, 1) {
                                Ok(proof) => {
                                    handles.lock().unwrap().1.push(proof);
                                    0
                                }
                                Err(e) => e.code as i32,
                            }
                        }
                        14..=19 => poll(proof).0,
                        20..=23 => prove_wait(proof, MS),
                        24..=26 => prove_cancel(proof),
                        27..=29 => finish(proof).map(|_| 0).unwrap_or_else(|said| said.status),
                        30..=32 => drop_pending_proof(proof),
                        33..=36 => {
                            let mut e = sized!(prover_event);
                            // SAFETY: the pointer is of a living value.
                            unsafe { prover_next_event(p, &mut e) }
                        }
                        37 => prover_drain(p, MS),
                        _ => {
                            let mut s = sized!(prover_stats);
                            // SAFETY: the pointer is of a living value.
                            unsafe { prover_stats_get(p, &mut s) }
                        }
                    };
                    let known = [
                        PROVER_OK,
                        PROVER_PENDING,
                        PROVER_ERR_BUSY,
                        PROVER_ERR_TIMEOUT,
                        PROVER_ERR_CANCELLED,
                        PROVER_ERR_SHUTDOWN,
                        PROVER_ERR_INVALID_HANDLE,
                        PROVER_ERR_PANIC,
                    ];
                    assert!(known.contains(&code), "{code}");
                }
            });
        }
    });
    assert!(calls.load(Ordering::Relaxed) > 100);
    let (provers, proofs) = handles.into_inner().unwrap();
    for p in provers {
        assert!([PROVER_OK, PROVER_ERR_INVALID_HANDLE].contains(&prover_destroy(p)));
    }
    for proof in proofs {
        assert!([PROVER_OK, PROVER_ERR_INVALID_HANDLE].contains(&drop_pending_proof(proof)));
        assert_eq!(hooks::are_live(prover { id: 0 }, proof), (false, false));
    }
}
