//! bellperson's bytes at the same r and s; the same witness, synthesised in several ways.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bellpepper_core::Circuit;
use blstrs::Scalar;

use splitprove::circuit::{Partition, Shape};
use splitprove::memory::Room;
use splitprove::proofs::{CircuitVisitor, Decoded};
use splitprove::witness::{synthesize, synthesize_slots, WitnessSystem};

use crate::fixture::Fixture;
use crate::same_bytes::same_bytes;

#[test]
fn bytes_equal_on_window_post() {
    same_bytes(&Fixture::window(), 1);
}

#[test]
fn bytes_equal_on_winning_post() {
    same_bytes(&Fixture::winning(), 2);
}

#[test]
fn bytes_equal_on_snap() {
    same_bytes(&Fixture::snap(), 3);
}

/// Synthesis in full.
struct Full;

impl CircuitVisitor for Full {
    type Output = Partition;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Partition {
        synthesize(circuit, &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap()
    }
}

/// The same, slots side by side where there are some.
struct BySlots;

impl CircuitVisitor for BySlots {
    type Output = Partition;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Partition {
        Full.visit(circuit)
    }
    fn visit_slots<W, C>(self, circuit: W, slots: impl FnOnce(W) -> Vec<C>) -> Partition
    where
        W: Circuit<Scalar> + Send,
        C: Send + Sync,
        for<'a> &'a C: Circuit<Scalar>,
    {
        synthesize_slots(&slots(circuit), &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap()
    }
}

/// The witness alone.
struct Values;

impl CircuitVisitor for Values {
    type Output = (Vec<Scalar>, Vec<Scalar>);
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let witness = WitnessSystem::run(circuit).unwrap();
        (witness.inputs, witness.aux.to_vec())
    }
}

fn satisfied(decoded: &Decoded, k: usize, rows: usize, inputs: usize) {
    let full = decoded.with_circuit(k, Full).unwrap();
    assert_eq!(full.evaluations.a.len(), rows + inputs, "constraints and input rows");
    assert_eq!(full.witness.inputs.len(), inputs);
    assert_eq!(full.witness.inputs[1..], decoded.public_inputs(k).unwrap());
    let slots = decoded.with_circuit(k, BySlots).unwrap();
    assert!(full.witness.aux[..] == slots.witness.aux[..] && full.witness.inputs == slots.witness.inputs);
    assert!(full.evaluations.a[..] == slots.evaluations.a[..] && full.evaluations.b[..] == slots.evaluations.b[..]);
    assert!(full.densities == slots.densities);
    let (inputs, aux) = decoded.with_circuit(k, Values).unwrap();
    assert_eq!(full.witness.inputs, inputs);
    assert!(full.witness.aux[..] == aux[..], "the witness-only system gives another witness");
}

#[test]
fn fixtures_satisfy_their_circuits() {
    satisfied(&Fixture::window().decode(), 0, 21_866, 23);
    satisfied(&Fixture::window().decode(), 1, 21_866, 23);
    satisfied(&Fixture::winning().decode(), 0, 90_750, 133);
    satisfied(&Fixture::snap().decode(), 0, 1_705_039, 5);
}

/// `cargo test --release --features test-hooks --test kinds -- --ignored --nocapture synthesis_times`
#[test]
#[ignore = "measures"]
fn synthesis_times() {
    for (name, fixture) in [("window", Fixture::window()), ("winning", Fixture::winning()), ("snap", Fixture::snap())] {
        let decoded = fixture.decode();
        let median = |f: &dyn Fn()| {
            let mut times: Vec<f64> = (0..15)
                .map(|_| {
                    let begun = Instant::now();
                    f();
                    begun.elapsed().as_secs_f64() * 1e3
                })
                .collect();
            times.sort_by(f64::total_cmp);
            format!("{:.1} ms ({:.1} to {:.1})", times[times.len() / 2], times[0], times[times.len() - 1])
        };
        let whole = median(&|| drop(decoded.with_circuit(0, Full).unwrap()));
        let slots = median(&|| drop(decoded.with_circuit(0, BySlots).unwrap()));
        println!("{name}: {whole}; by slots {slots}");
    }
}
