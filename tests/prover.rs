//! The prover against bellperson's, at the same r and s: the bytes are the same.

mod common;

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use common::{assigned, assortment, ours, SmallCircuit, Style};
use ff::Field;
use rand::rngs::StdRng;
use rand::SeedableRng;

use splitprove::circuit::Shape;
use splitprove::error::Code;
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{verify, Backend, Blinding};
use splitprove::memory::Room;
use splitprove::params::Params;
use splitprove::telemetry::Control;
use splitprove::witness::{plain_witness, synthesize};

fn bytes(proof: &groth16::Proof<Bls12>) -> Vec<u8> {
    let mut out = vec![];
    proof.write(&mut out).unwrap();
    out
}

fn prove(params: &Arc<Params>, circuit: SmallCircuit, r: Scalar, s: Scalar) -> Vec<u8> {
    let backend = CpuBackend::new();
    let partition = assigned(&circuit);
    let started = backend.start(params, partition, Control::NONE).unwrap();
    bytes(&backend.finish(started, &Blinding::fixed(r, s), Control::NONE).unwrap())
}

#[test]
fn bytes_equal_bellperson_on_random_circuits() {
    let mut rng = StdRng::seed_from_u64(1);
    for circuit in assortment(240) {
        let theirs = circuit.parameters();
        let params = Arc::new(ours(&theirs));
        for zero in [false, true] {
            // Zero blinding leaves nothing but the sums.
            let (r, s) =
                if zero { (Scalar::ZERO, Scalar::ZERO) } else { (Scalar::random(&mut rng), Scalar::random(&mut rng)) };
            let expected = bytes(&groth16::create_proof(circuit.clone(), &theirs, r, s).unwrap());
            let proof = prove(&params, circuit.clone(), r, s);
            assert_eq!(proof, expected, "{circuit:?}");
            if !zero {
                verify(&params.vk, &proof, &circuit.public_inputs()).unwrap();
            }
        }
    }
}

#[test]
fn parameters_serve_every_witness_of_a_circuit() {
    let circuit = SmallCircuit::new(Style::Sparse, 5, 300, 9);
    let params = Arc::new(ours(&circuit.parameters()));
    let mut other = circuit.clone();
    other.values = 1234;
    let (r, s) = (Scalar::from(3), Scalar::from(4));
    let (one, two) = (prove(&params, circuit.clone(), r, s), prove(&params, other.clone(), r, s));
    verify(&params.vk, &one, &circuit.public_inputs()).unwrap();
    verify(&params.vk, &two, &other.public_inputs()).unwrap();
    for (proof, inputs) in [(&one, other.public_inputs()), (&two, circuit.public_inputs())] {
        assert_eq!(verify(&params.vk, proof, &inputs).unwrap_err().code, Code::ProofInvalid);
    }
    for i in 0..one.len() {
        let mut bad = one.clone();
        bad[i] ^= 1;
        assert_eq!(verify(&params.vk, &bad, &circuit.public_inputs()).unwrap_err().code, Code::ProofInvalid, "{i}");
    }
}

#[test]
fn an_unsatisfied_circuit_names_its_row() {
    for style in [Style::Dense, Style::Sparse, Style::AllZero, Style::AllOne] {
        let mut circuit = SmallCircuit::new(style, 2, 50, 4);
        circuit.broken = true;
        let e = synthesize(circuit.clone(), &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap_err();
        // In full, and through the compiled circuit: the broken one has its own rows.
        circuit.broken = false;
        let params = Arc::new(ours(&circuit.parameters()));
        circuit.broken = true;
        let proved = CpuBackend::new().start(&params, assigned(&circuit), Control::NONE).err().unwrap();
        for e in [e, proved] {
            assert_eq!(e.code, Code::Unsatisfied, "{style:?}");
            assert!(e.message.contains("row 49"), "{style:?}: {}", e.message);
        }
    }
}

#[test]
fn cancelled_work_stops() {
    let circuit = SmallCircuit::new(Style::Dense, 2, 9000, 4);
    let cancelled = AtomicBool::new(true);
    assert_eq!(synthesize(circuit, &Shape::default(), Room::default(), &cancelled).unwrap_err().code, Code::Cancelled);
    let circuit = SmallCircuit::new(Style::Dense, 2, 900, 4);
    let params = Arc::new(ours(&circuit.parameters()));
    let partition = assigned(&circuit);
    let control = Control { cancelled: &cancelled, progress: &|_| {} };
    assert_eq!(CpuBackend::new().start(&params, partition, control).err().unwrap().code, Code::Cancelled);
}

#[test]
fn the_short_witness_is_the_same() {
    for circuit in assortment(48) {
        let partition =
            synthesize(circuit.clone(), &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap();
        let witness = plain_witness(circuit).unwrap();
        assert_eq!(witness.inputs, partition.witness.inputs);
        assert_eq!(&witness.aux[..], &partition.witness.aux[..]);
    }
}
