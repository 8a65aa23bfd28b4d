//! A Rust program with a `log` logger of its own keeps it. One test, as the logger is the process's.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

use splitprove::capi::*;

/// The program's own logger.
struct Own;

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl log::Log for Own {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        SEEN.lock().unwrap().push(record.args().to_string());
    }
    fn flush(&self) {}
}

static FORWARDED: Mutex<u32> = Mutex::new(0);

unsafe extern "C" fn count(_: *mut c_void, _: *const prover_log_record) {
    *FORWARDED.lock().unwrap() += 1;
}

#[test]
fn the_programs_logger_stays() {
    log::set_logger(&Own).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    // SAFETY: the function takes any userdata.
    assert_eq!(unsafe { prover_set_log(PROVER_LOG_TRACE, Some(count), ptr::null_mut()) }, PROVER_OK);
    log::warn!("for the program");
    log::info!("for nobody");
    tracing::info!("for the library's log");
    // SAFETY: no function, nothing to promise.
    assert_eq!(unsafe { prover_set_log(0, None, ptr::null_mut()) }, PROVER_OK);
    assert_eq!(*SEEN.lock().unwrap(), ["for the program"]);
    assert_eq!(*FORWARDED.lock().unwrap(), 1);
    assert_eq!(log::max_level(), log::LevelFilter::Warn);
}
