//! Reclaimer against shutdown.

use loom::thread;

use super::check;
use super::gauge::{Gauge, Memory};
use crate::memory::{Budget, Reclaimer};
use crate::sync::Arc;

/// Pushes race with the closing of the queue. Everything is freed once, by the reclaimer's thread before it is joined or
/// by who pushes; every place and every byte comes back.
pub fn push_against_close() {
    check(3, 5, || {
        let reclaimer = Arc::new(Reclaimer::default());
        let budget = Arc::new(Budget::new(2, 0, Arc::default()));
        let gauge: Arc<Gauge> = Arc::default();
        let r = reclaimer.clone();
        let thread = thread::spawn(move || r.run(drop));
        let pushers = [(); 2].map(|()| {
            let (place, permit) = (reclaimer.place(), budget.try_take(1, false));
            let memory = Memory::new(&gauge, 1);
            thread::spawn(move || place.push(Box::new((memory, permit))))
        });
        reclaimer.close();
        thread.join().expect("the reclaimer ends");
        let _ = pushers.map(|pusher| pusher.join().expect("a pusher ends"));
        assert_eq!((gauge.pieces(), gauge.now(), budget.used()), ((2, 2), 0, 0));
        assert_eq!((reclaimer.places(), reclaimer.waiting()), (0, 0));
    });
}

/// A push wakes the thread that frees: without it the bytes would never come back.
pub fn push_wakes_the_reclaimer() {
    check(4, 8, || {
        let reclaimer = Arc::new(Reclaimer::default());
        let freed = Arc::new(crate::memory::Signal::default());
        let budget = Arc::new(Budget::new(1, 0, freed.clone()));
        let permit = budget.try_take(1, false);
        let r = reclaimer.clone();
        let thread = thread::spawn(move || r.run(drop));
        let seen = freed.seen();
        reclaimer.place().push(Box::new(permit));
        freed.wait(seen, None);
        assert_eq!(budget.used(), 0);
        reclaimer.close();
        thread.join().expect("the reclaimer ends");
    });
}
