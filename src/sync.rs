//! What the pipeline's own concurrency is built from, in one place: `tests/loom` compiles the same files over a model
//! checker's types instead.

pub use std::sync::atomic;
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use std::time::Duration;

/// Locks, whether or not a thread panicked while it held the lock: what the pipeline guards is consistent between any
/// two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Waits on a condition.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(|e| e.into_inner())
}

/// Waits on a condition, for `timeout` at most.
pub fn wait_for<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>, timeout: Duration) -> MutexGuard<'a, T> {
    condition.wait_timeout(guard, timeout).unwrap_or_else(|e| e.into_inner()).0
}
