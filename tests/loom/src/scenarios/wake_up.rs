//! Lost wake-up.

use loom::thread;

use super::{check, demand, scheduler};
use crate::engine::Turn;
use crate::memory::{Budget, Signal};
use crate::sync::Arc;

/// Bytes come back between the dispatcher's look at the budget and its wait: in two pieces, neither of which is enough,
/// from two threads. The dispatcher gets its bytes; a lost wake-up would be a deadlock.
pub fn bytes_come_back_while_the_dispatcher_looks() {
    check(3, 5, || {
        let dispatch = Arc::new(Signal::default());
        let budget = Arc::new(Budget::new(10, 0, dispatch.clone()));
        let mut first = budget.try_take(10, false).expect("nothing is taken");
        let second = first.split(5).expect("it has ten");
        let returning = [first, second].map(|permit| thread::spawn(move || drop(permit)));
        let mut scheduler = scheduler::<()>(&[demand(1, 1, 10)]);
        // As in dispatch_loop: the counter, then the look, then the wait.
        let task = loop {
            let seen = dispatch.seen();
            match scheduler.turn(&budget) {
                Turn::Synthesise(task) => break task,
                _ => dispatch.wait(seen, None),
            }
        };
        let _ = returning.map(|thread| thread.join().expect("it drops a permit"));
        assert_eq!((task.permit.bytes(), budget.used()), (10, 10));
        drop(task);
        assert_eq!((budget.used(), budget.peak()), (0, 10));
    });
}
