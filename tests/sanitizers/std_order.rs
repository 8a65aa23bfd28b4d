//! What std does unseen, told to ThreadSanitizer.
//!
//! The std that comes with the compiler is not instrumented: what is generic or inlined (a lock that is free, an unlock, every
//! atomic) is compiled with the crates that use it and seen; the slow paths are not, and every wait for a condition would
//! look like a race. Each function here stands before one of std's (`ld --wrap`), calls it, and tells what order it made,
//! no more. `run.sh` writes std's mangled names, which change with each compiler, in the places of WRAP_… and REAL_….
#![no_std]

use core::ffi::c_void;
use core::time::Duration;

extern "C" {
    fn __tsan_acquire(at: *const c_void);
    fn __tsan_release(at: *const c_void);
    #[link_name = "__real___tsan_atomic64_fetch_sub"]
    fn real_fetch_sub(at: *mut u64, by: u64, order: i32) -> u64;
}

/// The state word of a lock or of a `Once`, or where a struct begins.
type Word = *const c_void;

extern "Rust" {
    #[link_name = "REAL_LOCK"]
    fn real_lock(mutex: Word);
    #[link_name = "REAL_READ"]
    fn real_read(lock: Word);
    #[link_name = "REAL_WRITE"]
    fn real_write(lock: Word);
    #[link_name = "REAL_WAIT"]
    fn real_wait(condition: Word, mutex: Word);
    #[link_name = "REAL_TIMED_WAIT"]
    fn real_timed_wait(condition: Word, mutex: Word, timeout: Duration) -> bool;
    #[link_name = "REAL_ONCE"]
    fn real_once(once: Word, ignore_poisoning: bool, f: &mut dyn FnMut(Word), caller: Word);
    #[link_name = "REAL_SCOPE_END"]
    fn real_scope_end(scope: *const usize, panicked: bool);
}

/// `Mutex::lock` of a lock that is taken.
#[export_name = "WRAP_LOCK"]
unsafe fn lock(mutex: Word) {
    // SAFETY: std's own arguments; the word is the lock's state, where the unlock is a release.
    unsafe {
        real_lock(mutex);
        __tsan_acquire(mutex);
    }
}

/// `RwLock::read` of a lock that is taken.
#[export_name = "WRAP_READ"]
unsafe fn read(lock: Word) {
    // SAFETY: as above; the state is one of the lock's two words of four bytes.
    unsafe {
        real_read(lock);
        __tsan_acquire(lock);
        __tsan_acquire(lock.byte_add(4));
    }
}

/// `RwLock::write` of a lock that is taken.
#[export_name = "WRAP_WRITE"]
unsafe fn write(lock: Word) {
    // SAFETY: as above.
    unsafe {
        real_write(lock);
        __tsan_acquire(lock);
        __tsan_acquire(lock.byte_add(4));
    }
}

/// `Condvar::wait`: an unlock and a lock.
#[export_name = "WRAP_WAIT"]
unsafe fn wait(condition: Word, mutex: Word) {
    // SAFETY: std's own arguments; the lock is held before and after.
    unsafe {
        __tsan_release(mutex);
        real_wait(condition, mutex);
        __tsan_acquire(mutex);
    }
}

/// `Condvar::wait_timeout`.
#[export_name = "WRAP_TIMED_WAIT"]
unsafe fn timed_wait(condition: Word, mutex: Word, timeout: Duration) -> bool {
    // SAFETY: as above.
    unsafe {
        __tsan_release(mutex);
        let in_time = real_timed_wait(condition, mutex, timeout);
        __tsan_acquire(mutex);
        in_time
    }
}

/// `Once`, `OnceLock`, `LazyLock` that are not done yet: who runs the closure lets go after it, who comes later finds it done.
#[export_name = "WRAP_ONCE"]
unsafe fn once(once: Word, ignore_poisoning: bool, f: &mut dyn FnMut(Word), caller: Word) {
    let mut told = |state: Word| {
        f(state);
        // SAFETY: the word is the state that others load.
        unsafe { __tsan_release(once) };
    };
    // SAFETY: std's own arguments, the closure in another.
    unsafe {
        real_once(once, ignore_poisoning, &mut told, caller);
        __tsan_acquire(once);
    }
}

/// The end of a scoped thread, which the scope's owner sees in a counter: one of the struct's first two words.
#[export_name = "WRAP_SCOPE_END"]
unsafe fn scope_end(scope: *const usize, panicked: bool) {
    // SAFETY: std's own arguments; the struct has more than two words. After the call it may be gone.
    unsafe {
        __tsan_release(scope.cast());
        __tsan_release(scope.add(1).cast());
        real_scope_end(scope, panicked);
    }
}

/// `Arc` and `Weak` count down with a release, and whoever comes to zero goes on with a fence, which ThreadSanitizer does not
/// know. The count is an acquire, too, here.
#[export_name = "__wrap___tsan_atomic64_fetch_sub"]
unsafe extern "C" fn fetch_sub(at: *mut u64, by: u64, order: i32) -> u64 {
    const RELEASE: i32 = 3;
    const ACQ_REL: i32 = 4;
    // SAFETY: the compiler's own arguments.
    unsafe { real_fetch_sub(at, by, if order == RELEASE { ACQ_REL } else { order }) }
}
