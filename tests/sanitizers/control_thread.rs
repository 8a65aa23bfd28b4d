//! Hand-over between threads as the engine does it, well and badly: what `make sanitizers` must and must not report.
//!
//! `ordered` has no race, and every way of std's to order two threads that the engine, its tests and rayon use. Each of the
//! others has a race.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

/// A value that is guarded by whatever its users agree on.
#[derive(Default)]
struct Cell(UnsafeCell<u64>);

// SAFETY: `ordered` orders all accesses; the others are what a sanitizer must find.
unsafe impl Sync for Cell {}

impl Cell {
    fn add(&self, n: u64) {
        // SAFETY: as above.
        unsafe { *self.0.get() += n }
    }

    fn get(&self) -> u64 {
        // SAFETY: as above.
        unsafe { *self.0.get() }
    }
}

/// A queue with a condition, as between the engine's threads.
#[derive(Default)]
struct Queue {
    items: Mutex<VecDeque<Option<Arc<Cell>>>>,
    pushed: Condvar,
}

impl Queue {
    fn push(&self, item: Option<Arc<Cell>>) {
        self.items.lock().unwrap().push_back(item);
        self.pushed.notify_one();
    }

    fn pop(&self, timed: bool) -> Option<Arc<Cell>> {
        let mut items = self.items.lock().unwrap();
        loop {
            match items.pop_front() {
                Some(item) => return item,
                None if timed => items = self.pushed.wait_timeout(items, Duration::from_millis(5)).unwrap().0,
                None => items = self.pushed.wait(items).unwrap(),
            }
        }
    }
}

const ROUNDS: usize = 2000;

/// Items go through a queue; `late` is added to each by the sender after it has let go of it.
fn hand_over(late: u64) {
    let queue = Queue::default();
    thread::scope(|s| {
        for timed in [false, true] {
            let queue = &queue;
            s.spawn(move || {
                while let Some(item) = queue.pop(timed) {
                    item.add(1);
                }
            });
        }
        for i in 0..ROUNDS {
            let item = Arc::new(Cell::default());
            item.add(1);
            queue.push(Some(item.clone()));
            if late > 0 {
                item.add(late);
            }
            if i % 16 == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
        queue.push(None);
        queue.push(None);
    });
}

/// Many threads add under one lock, long enough for it to be contended, and read under another.
fn locks(locked: bool) {
    let (mutex, rw, cell, other) = (Mutex::new(()), RwLock::new(()), Cell::default(), Cell::default());
    // All are there before any begins: they do run side by side.
    let begin = Barrier::new(8);
    thread::scope(|s| {
        for t in 0..8 {
            let (mutex, rw, cell, other, begin) = (&mutex, &rw, &cell, &other, &begin);
            s.spawn(move || {
                begin.wait();
                for i in 0..ROUNDS {
                    let guard = (locked || t > 0).then(|| mutex.lock().unwrap());
                    cell.add(1);
                    drop(guard);
                    if !locked {
                        // The other lock would order them, too.
                    } else if i % 8 == t {
                        let _guard = rw.write().unwrap();
                        other.add(1);
                    } else {
                        let _guard = rw.read().unwrap();
                        std::hint::black_box(other.get());
                    }
                }
            });
        }
    });
    // The scope's end orders all that was before it.
    cell.add(1);
    assert!(!locked || cell.get() as usize == 8 * ROUNDS + 1);
}

/// A value made once, seen by many.
fn once() {
    for _ in 0..100 {
        let once = OnceLock::new();
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    let cell: &Cell = once.get_or_init(|| {
                        let cell = Cell::default();
                        cell.add(7);
                        cell
                    });
                    assert_eq!(cell.get(), 7);
                });
            }
        });
    }
}

/// The last of several owners frees what all of them read.
fn owners() {
    for _ in 0..200 {
        let cell = Arc::new(Cell::default());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cell = cell.clone();
                thread::spawn(move || assert_eq!(cell.get(), 0))
            })
            .collect();
        drop(cell);
        // Half of them are never joined before the value is gone.
        threads.into_iter().skip(2).for_each(|t| t.join().unwrap());
    }
}

/// Channels, which the tests use.
fn channels() {
    let (send, receive) = mpsc::channel::<Box<Cell>>();
    thread::scope(|s| {
        s.spawn(move || {
            for item in receive {
                item.add(1);
            }
        });
        for i in 0..ROUNDS {
            let item = Box::new(Cell::default());
            item.add(1);
            send.send(item).unwrap();
            if i % 16 == 0 {
                thread::sleep(Duration::from_micros(50));
            }
        }
        drop(send);
    });
}

/// A flag says that the value is there.
fn flag(order: Ordering) {
    for _ in 0..ROUNDS / 10 {
        let (cell, there, seen) = (Cell::default(), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                cell.add(1);
                there.store(true, order);
            });
            s.spawn(|| {
                while !there.load(if order == Ordering::Relaxed { order } else { Ordering::Acquire }) {
                    std::hint::spin_loop();
                }
                seen.store(cell.get() as usize, Ordering::Relaxed);
            });
        });
        assert_eq!(seen.into_inner(), 1);
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("ordered") => {
            hand_over(0);
            locks(true);
            once();
            owners();
            channels();
            flag(Ordering::Release);
        }
        Some("changed-after-hand-over") => hand_over(1),
        Some("without-the-lock") => locks(false),
        Some("relaxed-flag") => flag(Ordering::Relaxed),
        _ => std::process::exit(2),
    }
    println!("went through");
}
