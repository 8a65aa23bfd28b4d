//! bellperson's bytes at the same r and s; the same witness, synthesised in several ways.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field;

use splitprove::circuit::{Shape, Synthesis};
use splitprove::memory::Room;
use splitprove::proofs::{CircuitVisitor, Decoded};
use splitprove::telemetry::Control;
use splitprove::witness::{assign_native, assign_official, plain_witness, synthesize};

use crate::fixture::Fixture;
use crate::same_bytes::{compiled, same_bytes};

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
    type Output = Synthesis;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Synthesis {
        synthesize(circuit, &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap()
    }
}

/// The witness alone.
struct Values;

impl CircuitVisitor for Values {
    type Output = (Vec<Scalar>, Vec<Scalar>);
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let witness = plain_witness(circuit).unwrap();
        (witness.inputs, witness.aux.to_vec())
    }
}

fn satisfied(decoded: &Decoded, k: usize, rows: usize, inputs: usize) {
    let full = decoded.with_circuit(k, Full).unwrap();
    assert_eq!(full.evaluations.a.len(), rows + inputs, "constraints and input rows");
    assert_eq!(full.witness.inputs.len(), inputs);
    assert_eq!(full.witness.inputs[1..], decoded.public_inputs(k).unwrap());
    let compiled = compiled(decoded);
    let go = AtomicBool::new(false);
    let official = assign_official(decoded, k, &compiled, Room::default(), &go).unwrap();
    let assigned = assign_native(decoded, k, &compiled, Room::default(), &go).unwrap();
    for partition in [&official, &assigned] {
        assert!(full.witness.inputs == partition.inputs);
        assert!((0..partition.aux.len()).map(|i| partition.aux.get(i)).eq(full.witness.aux.iter().copied()));
    }
    assert_eq!(compiled.shape(), full.shape());
    assert!(*compiled.densities() == full.densities);
    let [mut a, mut b, mut c] = [0; 3].map(|_| vec![Scalar::ZERO; rows + inputs]);
    let outputs = [Some(&mut a[..]), Some(&mut b[..]), Some(&mut c[..])];
    assert_eq!(compiled.evaluate(&assigned.inputs, &assigned.aux, outputs, true, Control::NONE).unwrap(), None);
    assert!(a == full.evaluations.a[..] && b == full.evaluations.b[..]);
    assert!((0..c.len()).all(|i| c[i] == a[i] * b[i]));
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
    satisfied(&Fixture::porep().decode(), 0, 2_687_921, 40);
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
        let compiled = compiled(&decoded);
        let go = AtomicBool::new(false);
        let official = median(&|| drop(assign_official(&decoded, 0, &compiled, Room::default(), &go).unwrap()));
        let native = median(&|| drop(assign_native(&decoded, 0, &compiled, Room::default(), &go).unwrap()));
        println!("{name}: in full {whole}; values {official}; natively {native}");
    }
}
