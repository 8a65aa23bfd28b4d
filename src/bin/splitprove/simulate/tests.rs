use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::machine::{mix, Machine, Proof, Work};
use super::rival::Rule;
use super::run::{self, Outcome, Policy, Step};

const GIB: u64 = 1 << 30;
const AT_END: Policy = Policy::Rival(Rule::AtEndOfSynthesis);
const QUEUE_OF_ONE: Policy = Policy::Rival(Rule::QueueOfOne);

fn run(machine: &Machine, work: &Work, policy: Policy) -> Outcome {
    run::run(machine, work, policy, &AtomicBool::new(false)).unwrap()
}

/// The published machine, and proofs for it.
fn published(proofs: usize, seed: u64) -> (Machine, Work) {
    let machine = Machine {
        workers: 12,
        lanes: 1,
        synthesis: (29.0, 36.0),
        device: 3.5,
        finish: 1.7,
        params: 70 * GIB,
        budget: 384 * GIB,
        free_rate: 8 * GIB,
    };
    let proof = Proof { priority: 2, partitions: 10, evaluations: 25 * GIB / 2, witness: 4 * GIB, request: 49 << 20 };
    (machine, Work { proofs: vec![proof; proofs], concurrency: 10, seed })
}

/// As many partitions as the workers make a lane can take, and the times differ: here waiting costs.
fn balanced(seed: u64) -> (Machine, Work) {
    let (machine, work) = published(60, seed);
    (Machine { synthesis: (20.0, 60.0), ..machine }, work)
}

fn throughput(of: &Outcome, against: &Outcome) -> f64 {
    against.end_ns as f64 / of.end_ns as f64
}

#[test]
fn a_permit_that_ends_with_synthesis_bounds_nothing() {
    let alive = [5, 15, 30].map(|proofs| {
        let (machine, work) = published(proofs, 1);
        let out = run(&machine, &work, AT_END);
        assert_eq!(out.proofs, proofs);
        out.peak_partitions
    });
    assert!(alive[0] < alive[1] && alive[1] < alive[2], "{alive:?}");
    assert!(alive[1] > 2 * 12, "{alive:?}");
    let (machine, work) = published(15, 1);
    assert!(run(&machine, &work, AT_END).peak_bytes > 668 * GIB);
}

#[test]
fn a_queue_of_one_is_bounded_by_the_workers() {
    for seed in 0..5 {
        let (mut machine, work) = published(15, seed);
        // On the lane's other side: one is finished and one is freed.
        assert!(run(&machine, &work, QUEUE_OF_ONE).peak_partitions <= 12 + 2 + 2);
        (machine.finish, machine.free_rate) = (0.0, 1 << 60);
        // One in the queue, one on the lane; and one that leaves in the moment the next is taken up.
        let out = run(&machine, &work, QUEUE_OF_ONE);
        assert_eq!((out.peak_partitions, out.peak_evaluations), (12 + 2 + 1, 12 + 2 + 1));
    }
}

#[test]
fn a_queue_of_one_costs_throughput_and_ours_does_not() {
    for seed in 0..5 {
        let (machine, work) = balanced(seed);
        let free = run(&machine, &work, AT_END);
        let one = throughput(&run(&machine, &work, QUEUE_OF_ONE), &free);
        let ours = run(&machine, &work, Policy::Ours);
        assert!(one < 0.98, "{one}");
        assert!(throughput(&ours, &free) > 0.99, "seed {seed}: {}", throughput(&ours, &free));
        assert!(ours.peak_bytes <= machine.budget && ours.peak_partitions < free.peak_partitions);
        // On the published times nobody ever waits for long, and ours loses nothing.
        let (machine, work) = published(15, seed);
        let (free, ours) = (run(&machine, &work, AT_END), run(&machine, &work, Policy::Ours));
        assert!(throughput(&ours, &free) > 0.99);
        assert!(ours.peak_partitions <= 18, "{}", ours.peak_partitions);
    }
}

#[test]
fn memory_adds_up() {
    let (machine, work) = published(15, 3);
    for policy in [Policy::Ours, Policy::Unbounded, AT_END, QUEUE_OF_ONE] {
        let out = run(&machine, &work, policy);
        // This module's own count and the budget's agree, and all but the parameters comes back.
        assert_eq!(out.peak_bytes, out.budget_peak_bytes);
        assert_eq!(out.trace.last().map(|(_, bytes)| *bytes), Some(machine.params));
        assert_eq!(out.trace.iter().map(|(_, bytes)| *bytes).max(), Some(out.peak_bytes));
        // A lane that is never idle is the shortest there can be.
        assert!(out.end_ns as f64 / 1e9 > 29.0 + 150.0 * 3.5);
        assert!((0.0..0.01).contains(&out.lane_idle), "{}", out.lane_idle);
    }
}

#[test]
fn a_slow_reclaimer_holds_the_next_partitions_back() {
    let (mut machine, work) = published(15, 1);
    let fast = run(&machine, &work, Policy::Ours);
    machine.free_rate = 2 * GIB;
    let slow = run(&machine, &work, Policy::Ours);
    // 16.5 GiB at 2 GiB/s take longer than the lane does.
    assert!(slow.end_ns > fast.end_ns * 3 / 2);
    assert!(slow.peak_bytes <= machine.budget);
    assert!(run(&machine, &work, AT_END).peak_bytes > machine.budget);
}

#[test]
fn a_seed_says_all() {
    let runs = |seed| {
        let (machine, work) = balanced(seed);
        [Policy::Ours, AT_END, QUEUE_OF_ONE].map(|policy| run(&machine, &work, policy))
    };
    assert_eq!(runs(7), runs(7));
    assert_ne!(runs(7), runs(8));
}

#[test]
fn what_cannot_be_is_refused() {
    let (good, work) = published(15, 1);
    good.check(&work).unwrap();
    let field = |machine: &Machine, work: &Work| machine.check(work).unwrap_err().field.to_string();
    assert_eq!(field(&Machine { workers: 0, ..good.clone() }, &work), "workers");
    assert_eq!(field(&Machine { synthesis: (2.0, 1.0), ..good.clone() }, &work), "synthesis-max");
    assert_eq!(field(&Machine { synthesis: (f64::NAN, 1.0), ..good.clone() }, &work), "synthesis-min");
    assert_eq!(field(&Machine { device: 0.0, ..good.clone() }, &work), "device");
    assert_eq!(field(&Machine { finish: -1.0, ..good.clone() }, &work), "finish");
    assert_eq!(field(&Machine { free_rate: 0, ..good.clone() }, &work), "free-rate");
    assert_eq!(field(&Machine { budget: 90 * GIB, ..good.clone() }, &work), "budget");
    assert_eq!(field(&good, &Work { proofs: Vec::new(), ..work.clone() }), "proofs");
    let mut huge = work.clone();
    huge.proofs[3].evaluations = u64::MAX;
    assert_eq!(field(&good, &huge), "evaluations");
    huge.proofs[3] = Proof { request: u64::MAX / 2 + 1, ..work.proofs[0].clone() };
    assert_eq!(field(&good, &huge), "evaluations");
}

/// Numbers drawn one after the other.
struct Draw(u64);

impl Draw {
    fn from(&mut self, least: u64, most: u64) -> u64 {
        self.0 = mix(self.0);
        least + self.0 % (most - least + 1)
    }
}

fn random_machine(seed: u64) -> (Machine, Work) {
    let mut draw = Draw(seed);
    let device = draw.from(1, 500) as f64 / 100.0;
    let least = draw.from(1, 4000) as f64 / 100.0;
    let proofs: Vec<Proof> = (0..draw.from(1, 20))
        .map(|_| Proof {
            priority: draw.from(1, 3) as u32,
            partitions: draw.from(1, 12) as usize,
            evaluations: draw.from(0, 12 * GIB),
            witness: draw.from(1, 4 * GIB),
            request: draw.from(0, GIB / 4),
        })
        .collect();
    let params = draw.from(0, 50 * GIB);
    let largest = proofs.iter().map(|p| p.partition_bytes() + 2 * p.request).max().unwrap_or(0);
    // From what just suffices (an eighth is for requests) to plenty.
    let budget = (params + largest) * 8 / 7 + 8 + draw.from(0, 10) * draw.from(0, largest);
    let machine = Machine {
        workers: draw.from(1, 16) as usize,
        lanes: draw.from(1, 4) as usize,
        synthesis: (least, least + draw.from(0, 3000) as f64 / 100.0),
        device,
        finish: draw.from(0, 200) as f64 / 100.0,
        params,
        budget,
        free_rate: draw.from(GIB, 40 * GIB),
    };
    (machine, Work { proofs, concurrency: draw.from(1, 12) as usize, seed })
}

#[test]
fn ours_keeps_to_the_budget_and_starves_nobody_on_any_machine() {
    let (mut tight, mut overtaken) = (0, 0);
    for seed in 0..200 {
        let (machine, work) = random_machine(seed);
        machine.check(&work).unwrap();
        let out = run(&machine, &work, Policy::Ours);
        assert!(out.trace.iter().all(|(_, bytes)| *bytes <= machine.budget), "seed {seed}");
        // A request that finds room for one half only gives it back: the budget has seen it, memory has not.
        assert!(out.peak_bytes <= out.budget_peak_bytes && out.budget_peak_bytes <= machine.budget, "seed {seed}");
        assert_eq!(out.proofs, work.proofs.len(), "seed {seed}");
        assert_eq!(out.trace.last().map(|(_, bytes)| *bytes), Some(machine.params), "seed {seed}");

        // Every partition is taken up once, and none before one that is more urgent or, as urgent, came first.
        let mut waiting = BTreeSet::new();
        let (mut taken, mut over, mut newest) = (0, 0, 0);
        for step in &out.log {
            match *step {
                Step::Submitted(t) => {
                    let Proof { priority, partitions, .. } = work.proofs[t as usize];
                    waiting.extend((0..partitions).map(|k| (Reverse(priority), t, k)));
                    newest = t;
                }
                Step::TakenUp(t, k) => {
                    let first = waiting.pop_first();
                    assert_eq!(first, Some((Reverse(work.proofs[t as usize].priority), t, k)), "seed {seed}");
                    overtaken += usize::from(t == newest && waiting.iter().any(|(_, other, _)| *other < t));
                    taken += 1;
                }
                Step::Over(_) => over += 1,
            }
        }
        assert!(waiting.is_empty());
        assert_eq!(taken, work.proofs.iter().map(|p| p.partitions).sum::<usize>(), "seed {seed}");
        assert_eq!(over, work.proofs.len(), "seed {seed}");
        tight += usize::from(run(&machine, &work, AT_END).peak_bytes > machine.budget);
    }
    // The budgets are such that they matter, and so are the priorities.
    assert!(tight > 20 && overtaken > 20, "{tight}, {overtaken}");
}
