//! Log records reach the callback, on a thread of their own. One test, as the log is the process's.

mod capi_support;

use std::ffi::{c_void, CStr};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use capi_support::*;
use splitprove::capi::*;

static RECORDS: Mutex<Vec<(u32, String, String, usize)>> = Mutex::new(Vec::new());
static SLOW: AtomicBool = AtomicBool::new(false);

/// Keeps a record; userdata is the number of a caller.
unsafe extern "C" fn keep(userdata: *mut c_void, record: *const prover_log_record) {
    while SLOW.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: the record is valid during the call and its texts end in NUL.
    let (r, target, message) = unsafe {
        let r = *record;
        (r, CStr::from_ptr(r.target).to_str().unwrap(), CStr::from_ptr(r.message).to_str().unwrap())
    };
    assert_eq!(r.struct_size as usize, size_of::<prover_log_record>());
    assert_eq!(r.message_len as usize, message.len());
    assert!(r.unix_ns > 1_600_000_000_000_000_000);
    assert!(thread::current().name().is_some_and(|n| n == "splitprove-log"));
    RECORDS.lock().unwrap().push((r.level, target.into(), message.into(), userdata as usize));
}

/// Removes itself.
unsafe extern "C" fn once(userdata: *mut c_void, _: *const prover_log_record) {
    // SAFETY: the test gives a counter that lives for ever.
    unsafe { &*userdata.cast::<AtomicUsize>() }.fetch_add(1, Ordering::AcqRel);
    // SAFETY: no function, nothing to promise.
    assert_eq!(unsafe { prover_set_log(0, None, ptr::null_mut()) }, PROVER_OK);
}

fn set(level: u32, user: usize) {
    // SAFETY: userdata is only a number.
    assert_eq!(unsafe { prover_set_log(level, Some(keep), user as *mut c_void) }, PROVER_OK);
}

fn remove() {
    // SAFETY: no function, nothing to promise.
    assert_eq!(unsafe { prover_set_log(PROVER_LOG_TRACE, None, ptr::null_mut()) }, PROVER_OK);
}

fn taken() -> Vec<(u32, String, String, usize)> {
    std::mem::take(&mut RECORDS.lock().unwrap())
}

fn log_threads() -> usize {
    // A name of a thread has 15 characters.
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter(|t| {
            let name = t.as_ref().map(|t| std::fs::read_to_string(t.path().join("comm")).unwrap_or_default());
            name.is_ok_and(|n| n.trim() == "splitprove-log")
        })
        .count()
}

/// A thread names itself once it runs, which is after its start.
fn log_threads_become(want: usize) {
    let until = Instant::now() + Duration::from_secs(10);
    while log_threads() != want && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(log_threads(), want);
}

#[test]
fn records_arrive() {
    tracing::error!("before there is a log");

    set(PROVER_LOG_INFO, 1);
    tracing::info!(target: "splitprove::test", answer = 42, name = "x", "hello {}", 7);
    tracing::debug!("too deep");
    tracing::error!(error = ?Some(1), "bad\0news");
    remove();
    let records = taken();
    assert_eq!(records.len(), 2, "{records:?}");
    assert_eq!(records[0], (PROVER_LOG_INFO, "splitprove::test".into(), "hello 7 answer=42 name=x".into(), 1));
    assert_eq!(
        (records[1].0, records[1].2.as_str()),
        (PROVER_LOG_ERROR, "bad news error=Some(1)"),
        "a NUL inside is a blank"
    );
    tracing::error!("after");
    assert!(taken().is_empty());
    log_threads_become(0);

    // Records of code that uses the `log` crate, at the same levels.
    log::error!("before there is a log, again");
    set(PROVER_LOG_INFO, 6);
    log::info!(target: "storage_proofs::test", "hello {} from {}", 7, "log");
    log::debug!("too deep");
    log::warn!("{}", "ä".repeat(100_000));
    log::logger().log(&log::Record::builder().level(log::Level::Trace).args(format_args!("past the macros")).build());
    remove();
    log::error!("after");
    let records = taken();
    assert_eq!(records.len(), 2, "{records:?}");
    assert_eq!(records[0], (PROVER_LOG_INFO, "storage_proofs::test".into(), "hello 7 from log".into(), 6));
    assert_eq!((records[1].0, records[1].1.as_str()), (PROVER_LOG_WARN, "capi_log"));
    assert!((8000..=8192).contains(&records[1].2.len()));
    assert_eq!(log::max_level(), log::LevelFilter::Off);

    // Levels change for callsites that were disabled before.
    for (level, want) in [(PROVER_LOG_ERROR, 1), (PROVER_LOG_TRACE, 5), (PROVER_LOG_WARN, 2), (PROVER_LOG_OFF, 0)] {
        set(level, 2);
        tracing::error!("e");
        tracing::warn!("w");
        tracing::info!("i");
        tracing::debug!("d");
        tracing::trace!("t");
        log::error!("e");
        log::warn!("w");
        log::info!("i");
        log::debug!("d");
        log::trace!("t");
        remove();
        let levels: Vec<u32> = taken().into_iter().filter(|r| r.3 == 2).map(|r| r.0).collect();
        assert_eq!(levels, (1..=want).chain(1..=want).collect::<Vec<u32>>());
    }

    // A long message is cut, not lost.
    set(PROVER_LOG_INFO, 3);
    tracing::info!("{}", "ä".repeat(100_000));
    remove();
    let records = taken();
    assert!(records.len() == 1 && (8000..=8192).contains(&records[0].2.len()));

    // A slow callback holds nobody up; what finds no place is counted.
    SLOW.store(true, Ordering::Release);
    set(PROVER_LOG_INFO, 4);
    let began = Instant::now();
    for i in 0..5000 {
        tracing::info!("record {i}");
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    SLOW.store(false, Ordering::Release);
    remove();
    let records = taken();
    let lost: Vec<u64> = records
        .iter()
        .filter(|r| r.1 == "splitprove::log")
        .map(|r| r.2.split(' ').next().unwrap().parse().unwrap())
        .collect();
    let told = records.len() - lost.len();
    assert!((1024..5000).contains(&told), "{told}");
    assert_eq!(told as u64 + lost.iter().sum::<u64>(), 5000, "{lost:?}");

    // Replacing: the old function's last call is over when the new one is set.
    for user in 10..20 {
        set(PROVER_LOG_INFO, user);
        tracing::info!("to {user}");
        log_threads_become(1);
    }
    remove();
    assert_eq!(taken().iter().map(|r| r.3).collect::<Vec<_>>(), (10..20).collect::<Vec<_>>());

    // From inside the callback, while others set it, too.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..20 {
        // SAFETY: the counter lives for ever.
        let status = unsafe { prover_set_log(3, Some(once), (&raw const CALLS).cast_mut().cast()) };
        assert_eq!(status, PROVER_OK);
        tracing::info!("once");
        remove();
    }
    assert_eq!(CALLS.load(Ordering::Acquire), 20);
    log_threads_become(0);

    // From many threads at once, with records coming.
    let sets = AtomicU32::new(0);
    thread::scope(|s| {
        for user in 0..4 {
            let sets = &sets;
            s.spawn(move || {
                for i in 0..25 {
                    if (i + user) % 3 == 0 {
                        remove();
                    } else {
                        set(PROVER_LOG_DEBUG, user);
                    }
                    tracing::debug!("from {user}");
                    sets.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    remove();
    assert_eq!(sets.load(Ordering::Relaxed), 100);
    log_threads_become(0);
    taken();

    // The engine's own records come the same way.
    set(PROVER_LOG_DEBUG, 5);
    let p = create(&small());
    let proof = start(p, &request(&[0; 8])).unwrap();
    assert!(prove_wait(proof, -1) < 0);
    assert_eq!(drop_pending_proof(proof), PROVER_OK);
    assert_eq!(prover_destroy(p), PROVER_OK);
    remove();
    assert!(taken().iter().any(|r| r.1.starts_with("splitprove::engine") && r.2.contains("proof failed")));
}
