//! "Something has changed": what threads of the pipeline wait for.

use std::time::Duration;

use crate::sync::{lock, wait, wait_for, Condvar, Mutex};

/// A counter of changes that can be waited on.
///
/// Whoever waits reads the counter first, looks at the state, and then waits for the counter to move on: a change between
/// looking and waiting is not lost. The counter has a lock of its own that is never held while another is taken, so that
/// changes may be told while any lock is held.
#[derive(Default)]
pub struct Signal {
    changes: Mutex<u64>,
    condition: Condvar,
}

impl Signal {
    /// Changes so far.
    pub fn seen(&self) -> u64 {
        *lock(&self.changes)
    }

    /// Tells of a change.
    pub fn notify(&self) {
        *lock(&self.changes) += 1;
        self.condition.notify_all();
    }

    /// Waits until there are changes beyond `seen`, for `timeout` at most (`None`: for ever).
    pub fn wait(&self, seen: u64, timeout: Option<Duration>) {
        let mut changes = lock(&self.changes);
        match timeout {
            None => {
                while *changes == seen {
                    changes = wait(&self.condition, changes);
                }
            }
            Some(timeout) if *changes == seen => drop(wait_for(&self.condition, changes, timeout)),
            Some(_) => {}
        }
    }
}
