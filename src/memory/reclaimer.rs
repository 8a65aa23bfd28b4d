//! The thread that frees large memory, and its queue.
//!
//! Giving tens of gigabytes back to the system takes seconds, and two threads that do so slow each other and everybody
//! else. So nobody frees large memory where it happens to be dropped: it is pushed here, and one thread frees it, in
//! pieces. What was pushed stays counted and keeps its share of the budget until it is gone.

use std::collections::VecDeque;

use crate::sync::{lock, wait, Arc, Condvar, Mutex};

/// Something to be freed, with what counts it. Dropping it frees it.
pub type Load = Box<dyn Send>;

struct Queue {
    loads: VecDeque<Load>,
    /// Places that are handed out: `loads` has room for as many more.
    places: usize,
    /// No thread frees any more: what is pushed is freed by who pushes it.
    closed: bool,
}

/// The queue of what is to be freed. [`run`](Reclaimer::run) is the thread's body.
pub struct Reclaimer {
    queue: Mutex<Queue>,
    pushed: Condvar,
}

impl Default for Reclaimer {
    fn default() -> Self {
        Reclaimer {
            queue: Mutex::new(Queue { loads: VecDeque::new(), places: 0, closed: false }),
            pushed: Condvar::new(),
        }
    }
}

impl Reclaimer {
    /// A place in the queue, for something that will be pushed one day: pushing then neither waits nor allocates.
    pub fn place(self: &Arc<Self>) -> Place {
        let mut queue = lock(&self.queue);
        queue.places += 1;
        let more = queue.places;
        queue.loads.reserve(more);
        Place { reclaimer: self.clone() }
    }

    /// Places handed out and not given back.
    pub fn places(&self) -> usize {
        lock(&self.queue).places
    }

    /// How much waits to be freed.
    pub fn waiting(&self) -> usize {
        lock(&self.queue).loads.len()
    }

    /// The next thing to free, if one waits.
    pub fn pop(&self) -> Option<Load> {
        lock(&self.queue).loads.pop_front()
    }

    /// Frees what is pushed, until the queue is closed and empty. `free` is given each thing to drop.
    pub fn run(&self, mut free: impl FnMut(Load)) {
        loop {
            let load = {
                let mut queue = lock(&self.queue);
                loop {
                    if let Some(load) = queue.loads.pop_front() {
                        break load;
                    }
                    if queue.closed {
                        return;
                    }
                    queue = wait(&self.pushed, queue);
                }
            };
            // No lock is held while memory goes back to the system.
            free(load);
        }
    }

    /// Lets [`run`](Self::run) return once everything pushed so far is freed.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.pushed.notify_all();
    }
}

/// A place in the queue. Dropping it gives it back.
pub struct Place {
    reclaimer: Arc<Reclaimer>,
}

impl Place {
    /// Hands over something to be freed. Never waits for the freeing.
    pub fn push(self, load: Load) {
        let refused = {
            let mut queue = lock(&self.reclaimer.queue);
            if queue.closed {
                Some(load)
            } else {
                queue.loads.push_back(load);
                None
            }
        };
        if refused.is_none() {
            self.reclaimer.pushed.notify_one();
        }
        // `refused` is freed here, after the lock is gone.
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.reclaimer.queue).places -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Tally(Arc<AtomicUsize>);
    impl Drop for Tally {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn everything_pushed_is_freed_by_the_thread_that_runs() {
        let reclaimer = Arc::new(Reclaimer::default());
        let freed = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            reclaimer.place().push(Box::new(Tally(freed.clone())));
        }
        assert_eq!((reclaimer.waiting(), reclaimer.places(), freed.load(Ordering::SeqCst)), (100, 0, 0));
        let r = reclaimer.clone();
        let thread = std::thread::spawn(move || r.run(drop));
        reclaimer.close();
        thread.join().unwrap();
        assert_eq!(freed.load(Ordering::SeqCst), 100);
        // Nobody runs any more, and still nothing is lost.
        reclaimer.place().push(Box::new(Tally(freed.clone())));
        assert_eq!(freed.load(Ordering::SeqCst), 101);
    }

    #[test]
    fn a_place_is_room() {
        let reclaimer = Arc::new(Reclaimer::default());
        // What waits already takes no room from places.
        for waiting in [0, 1000] {
            let places: Vec<_> = (0..1000).map(|_| reclaimer.place()).collect();
            let room = lock(&reclaimer.queue).loads.capacity();
            assert!(room >= waiting + 1000);
            for place in places {
                place.push(Box::new(()));
            }
            assert_eq!(lock(&reclaimer.queue).loads.capacity(), room);
        }
    }
}
