//! Threads of the library: named, every signal blocked, so that a handler of the host's runs on the host's threads only.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::thread::{Builder, JoinHandle};

use super::start::handshake;
use crate::error::{Code, Error, Result};
use crate::panics::THREAD_PREFIX;

/// Starts a thread named `splitprove-NAME` with all signals blocked; returns once it has all its thread-locals.
/// `OUT_OF_MEMORY` when it cannot be had.
pub fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let (starter, starting) = handshake()?;
    let body = move || {
        if starting.arrive() {
            f();
        }
    };
    let blocked = BlockedSignals::new();
    let thread = Builder::new().name(format!("{THREAD_PREFIX}-{name}")).spawn(body);
    drop(blocked);
    let thread = thread.map_err(|e| no_thread(name, &e))?;
    if !starter.wait() {
        let _ = thread.join();
        return Err(no_thread(name, &io::Error::from_raw_os_error(libc::ENOMEM)));
    }
    Ok(thread)
}

/// A rayon pool of our own with `threads` threads, never the global one.
///
/// Rayon does not join its threads when a pool is dropped; [`Pool`]'s drop does.
pub struct Pool {
    pool: Option<rayon::ThreadPool>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts the pool.
    pub fn new(name: &'static str, threads: usize) -> Result<Self> {
        let handles = std::sync::Mutex::new(Vec::with_capacity(threads));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(|worker| {
                let handle = spawn(&format!("{name}-{}", worker.index()), move || worker.run())
                    .map_err(|e| io::Error::other(e.message))?;
                handles.lock().unwrap_or_else(|e| e.into_inner()).push(handle);
                Ok(())
            })
            // A panic that escapes a spawned task ends here instead of aborting; callers of `install` get theirs back.
            .panic_handler(|_| {})
            .build();
        let threads = handles.into_inner().unwrap_or_else(|e| e.into_inner());
        match pool {
            Ok(pool) => Ok(Pool { pool: Some(pool), threads }),
            Err(e) => {
                // The builder has told the threads it started to end.
                for t in threads {
                    let _ = t.join();
                }
                Err(Error::new(Code::OutOfMemory, name, format!("a thread pool cannot be started: {e}")))
            }
        }
    }

    /// Runs `f` on a thread of the pool and waits for it.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(f),
            // Only `drop` takes the pool, and nothing borrows it then.
            None => f(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.pool = None;
        for t in self.threads.drain(..) {
            let _ = t.join();
        }
    }
}

fn no_thread(name: &str, e: &io::Error) -> Error {
    let mut error = Error::new(Code::OutOfMemory, "threads", format!("thread {name} cannot be started: {e}"));
    error.os_code = e.raw_os_error().unwrap_or(0).into();
    error
}

/// Blocks every signal in the calling thread while alive; threads started meanwhile inherit the mask.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn new() -> Self {
        let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: both sets are valid for writes; a sigset of zeros is valid should the second call fail.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            BlockedSignals { before: before.assume_init() }
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask the thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn a_pool_works_and_its_threads_block_signals() {
        let pool = Pool::new("test", 2).unwrap();
        let sum: u64 = pool.run(|| (0..1000u64).into_par_iter().sum());
        assert_eq!(sum, 499_500);
        let mask = pool.run(|| std::fs::read_to_string("/proc/thread-self/status").unwrap());
        let blocked = mask.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap().trim().to_string();
        // SIGKILL, SIGSTOP and the two that glibc keeps to itself cannot be blocked.
        assert_eq!(u64::from_str_radix(&blocked, 16).unwrap() | 1 << 8 | 1 << 18 | 3 << 31, u64::MAX);
    }

    #[test]
    fn a_panic_in_the_pool_comes_back() {
        let pool = Pool::new("test", 1).unwrap();
        let e = crate::panics::guard::<()>(|| pool.run(|| panic!("inside"))).unwrap_err();
        assert!(e.message.starts_with("inside"), "{}", e.message);
    }
}
