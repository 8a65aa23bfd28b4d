//! SIGINT and SIGTERM: asked to stop, the command cancels its work, removes what it half wrote and exits.
//!
//! The library installs no handlers and its threads block every signal, so the main thread gets them here.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn note_signal(signal: libc::c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
    REQUESTED.store(true, Ordering::Release);
}

/// Takes over SIGINT and SIGTERM. A second one ends the process at once.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: an all-zero sigaction is valid; the handler only stores to atomics, which is safe in a signal handler.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note_signal as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// The flag that long work looks at.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// Whether the command was asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Acquire)
}

/// 128 + the signal's number, as shells report it.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        libc::SIGTERM => 143,
        _ => 130,
    }
}
