//! What `src/sync.rs` has, over loom's types.
//!
//! `Arc` is std's: methods that take `self: &Arc<Self>` can be written for no other. Its counts are not part of the
//! model, what it holds is.

pub use loom::sync::atomic;
pub use loom::sync::{Condvar, Mutex, MutexGuard};
pub use std::sync::Arc;

use std::time::Duration;

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(|e| e.into_inner())
}

/// Loom has no clock: a time never runs out, so nothing here is saved by one.
pub fn wait_for<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>, timeout: Duration) -> MutexGuard<'a, T> {
    condition.wait_timeout(guard, timeout).unwrap_or_else(|e| e.into_inner()).0
}
