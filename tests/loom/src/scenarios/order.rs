//! Two permits waiting.

use loom::thread;

use super::{check, demand, scheduler};
use crate::engine::Turn;
use crate::memory::{Budget, Signal};
use crate::sync::Arc;

/// A large partition and, behind it, small ones wait for bytes that come back piece by piece. Each piece would do for a
/// small one; the large one is first all the same.
pub fn a_large_partition_is_not_starved() {
    check(3, 5, || {
        let dispatch = Arc::new(Signal::default());
        let budget = Arc::new(Budget::new(3, 0, dispatch.clone()));
        let pieces = [1, 2].map(|bytes| budget.try_take(bytes, false));
        let pieces = pieces.map(|permit| thread::spawn(move || drop(permit)));
        let mut scheduler = scheduler::<()>(&[demand(2, 1, 1), demand(1, 1, 3)]);
        let mut order = Vec::new();
        while order.len() < 2 {
            let seen = dispatch.seen();
            match scheduler.turn(&budget) {
                Turn::Synthesise(task) => order.push(task.ticket),
                _ => dispatch.wait(seen, None),
            }
        }
        let _ = pieces.map(|thread| thread.join().expect("it drops a permit"));
        assert_eq!(order, [1, 2]);
        assert_eq!(budget.used(), 0);
    });
}
