//! The same circuit through bellperson's prover and ours, at the same r and s.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellpepper_core::Circuit;
use bellperson::groth16;
use blstrs::{Bls12, Scalar};
use ff::Field;
use rand::rngs::StdRng;
use rand::SeedableRng;

use splitprove::circuit::compiled::Circuits;
use splitprove::circuit::CompiledCircuit;
use splitprove::engine::{compiled_circuit, Options};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::{Backend, Blinding};
use splitprove::memory::Room;
use splitprove::params;
use splitprove::proofs::{CircuitVisitor, Decoded};
use splitprove::telemetry::Control;
use splitprove::witness::assign;

use crate::fixture::Fixture;

struct Theirs<'a>(&'a Path, [Scalar; 2]);

impl CircuitVisitor for Theirs<'_> {
    type Output = Vec<u8>;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Vec<u8> {
        let Theirs(path, [r, s]) = self;
        let params = groth16::Parameters::<Bls12>::build_mapped_parameters(path.into(), false).unwrap();
        let mut bytes = vec![];
        groth16::create_proof(circuit, &params, r, s).unwrap().write(&mut bytes).unwrap();
        bytes
    }
}

struct Ours<'a>(&'a Path, Arc<CompiledCircuit>, [Scalar; 2]);

impl CircuitVisitor for Ours<'_> {
    type Output = Vec<u8>;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Vec<u8> {
        let Ours(path, compiled, [r, s]) = self;
        let params = Arc::new(params::read(path, Control::NONE).unwrap());
        let partition = assign(circuit, &compiled, Room::default(), &AtomicBool::new(false)).unwrap();
        let backend = CpuBackend::new();
        let started = backend.start(&params, partition, Control::NONE).unwrap();
        let mut bytes = vec![];
        backend.finish(started, &Blinding::fixed(r, s), Control::NONE).unwrap().write(&mut bytes).unwrap();
        bytes
    }
}

/// The circuit of a request, from the circuit cache if it is there.
pub fn compiled(decoded: &Decoded) -> Arc<CompiledCircuit> {
    let circuits = Circuits::shared(&Options::default().circuit_cache_dir);
    compiled_circuit(&circuits, &decoded.circuit(), Control::NONE).unwrap()
}

/// Asserts that both provers make the same bytes of every partition, r and s drawn from `seed`.
pub fn same_bytes(fixture: &Fixture, seed: u64) {
    let path = fixture.parameters();
    let mut rng = StdRng::seed_from_u64(seed);
    let decoded = fixture.decode();
    for k in 0..decoded.partitions() {
        let blinding = [Scalar::random(&mut rng), Scalar::random(&mut rng)];
        let ours = decoded.with_circuit(k, Ours(&path, compiled(&decoded), blinding)).unwrap();
        let theirs = decoded.with_circuit(k, Theirs(&path, blinding)).unwrap();
        assert_eq!(ours, theirs, "partition {k}");
    }
}
