//! Counters against readers.

use loom::thread;

use super::check;
use crate::sync::Arc;
use crate::telemetry::{Buffers, Class, Counted, Stage};

/// Buffers come, move between stages and threads and go while somebody reads: no number is ever below zero or above what
/// there was, and all end at zero.
pub fn moves_against_readers() {
    // Every number that is read multiplies the orders: a model each.
    for stage in [Some(Stage::Synthesis), Some(Stage::Device), None] {
        check(2, 4, move || {
            let buffers: Arc<Buffers> = Arc::default();
            let mut moved = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 100);
            let mover = thread::spawn(move || moved.enter(Stage::Device));
            let b = buffers.clone();
            let maker = thread::spawn(move || drop(Counted::new(&b, Class::Witness, Stage::Device, 10)));
            let s = buffers.stats(Class::Witness, stage);
            assert!(s.count <= 2 && s.bytes <= 110 && s.peak_bytes <= 110, "{s:?}");
            mover.join().expect("the mover ends");
            maker.join().expect("the maker ends");
            for stage in Stage::ALL.into_iter().map(Some).chain([None]) {
                let s = buffers.stats(Class::Witness, stage);
                assert_eq!((s.count, s.bytes), (0, 0));
            }
            let most = buffers.stats(Class::Witness, None);
            assert!((1..=2).contains(&most.peak_count) && (100..=110).contains(&most.peak_bytes));
        });
    }
}

/// A class's total is right at any time while one of its buffers moves between stages.
pub fn a_total_does_not_see_moves() {
    check(4, 8, || {
        let buffers: Arc<Buffers> = Arc::default();
        let mut moved = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 1);
        let mover = thread::spawn(move || {
            moved.enter(Stage::Queued);
            moved
        });
        assert_eq!(buffers.stats(Class::Witness, None).count, 1);
        drop(mover.join().expect("the mover ends"));
    });
}

/// What does not hold, and what nobody may rely on: that the sum over the stages is right at any time.
pub fn a_sum_over_stages_may_miss_a_buffer() {
    check(4, 8, || {
        let buffers: Arc<Buffers> = Arc::default();
        let mut moved = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 1);
        let mover = thread::spawn(move || {
            moved.enter(Stage::Queued);
            moved
        });
        let sum: u64 = Stage::ALL.into_iter().map(|s| buffers.stats(Class::Witness, Some(s)).count).sum();
        drop(mover.join().expect("the mover ends"));
        assert_eq!(sum, 1);
    });
}
