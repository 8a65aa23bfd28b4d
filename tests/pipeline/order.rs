//! Who goes first.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use splitprove::engine::{Options, Priority};

use crate::support::*;

#[test]
fn t8_a_critical_job_waits_for_one_partition_at_most() {
    for beside in [false, true] {
        let bench = Bench::new(Options { queue_depth: 8, ..two() }, beside);
        // The lane takes 150 ms for every partition: long beside what a busy machine takes for the rest.
        bench.backend.set(Some((Place::BeforeStart, Deed::Sleep(Duration::from_millis(150)))));
        let jobs: Vec<_> = (0..8).map(|_| bench.start(10, Plot::default())).collect();
        until("partitions ahead of the lane", || bench.backend.reached() >= 2);
        for _ in 0..5 {
            let mut critical = bench.submission(bench.job(1, Plot::default()));
            critical.priority = Priority::Critical;
            let before = bench.backend.reached();
            let begun = Instant::now();
            // The queue is full, and it still comes in.
            let critical = bench.engine.submit(critical).unwrap();
            bench.verify(&result(&critical).unwrap());
            // It, the one before it, and the lane's next at most, which may begin before this thread looks.
            assert!(bench.backend.reached() - before <= 3, "{} went first", bench.backend.reached() - before);
            println!("critical after {:?}", begun.elapsed());
        }
        assert!(jobs.iter().all(|j| !j.is_done()), "the others were still waiting");
        drop(jobs);
        bench.comes_to_nothing();
    }
}

#[test]
fn partitions_go_by_priority_then_by_arrival() {
    let bench = Bench::new(Options { synthesis_threads: 1, ..two() }, false);
    let (plot, go) = held_at(Place::BeforeSynthesis);
    let first = bench.start(1, plot);
    until("synthesis", || bench.order.lock().unwrap().len() == 1);
    let plan =
        [(1, Priority::Low), (2, Priority::Normal), (3, Priority::High), (4, Priority::Normal), (5, Priority::Low)];
    let jobs: Vec<_> = plan
        .iter()
        .map(|(tag, priority)| {
            let mut job = bench.job(2, Plot::default());
            job.tag = *tag;
            let mut submission = bench.submission(job);
            submission.priority = *priority;
            bench.engine.submit(submission).unwrap()
        })
        .collect();
    until("decoding", || jobs.iter().all(|j| j.progress().partitions == 2));
    go.store(true, Ordering::SeqCst);
    for job in &jobs {
        bench.verify(&result(job).unwrap());
    }
    assert_eq!(*bench.order.lock().unwrap(), [0, 3, 3, 2, 2, 4, 4, 1, 1, 5, 5]);
    drop((first, jobs));
    bench.comes_to_nothing();
}
