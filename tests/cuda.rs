//! The CUDA backend against bellperson's prover and the CPU's, at the same r and s: the bytes are the same. Where there is
//! no device there is nothing to compare: then the tests are that the library says so.
#![cfg(splitprove_cuda)]

mod common;

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellperson::groth16;
use blstrs::{Bls12, G1Affine, Scalar};
use common::{assigned, assortment, ours, SmallCircuit, Style};
use ff::Field;
use rand::rngs::StdRng;
use rand::SeedableRng;

use splitprove::error::{Code, Result};
use splitprove::groth16::cpu::CpuBackend;
use splitprove::groth16::cuda::{devices, CudaBackend};
use splitprove::groth16::{verify, Backend, Blinding};
use splitprove::params::Params;
use splitprove::telemetry::Control;

/// The first device's backend; `None` where there is none.
fn backend(memory_limit: u64) -> Option<CudaBackend> {
    let found = devices().unwrap();
    assert!(found.runtime_version >= 12000, "{found:?}");
    let device = found.list.into_iter().next()?;
    assert!(found.driver_version > 0);
    assert!(device.uuid.starts_with("GPU-") && device.uuid.len() == 40, "{device:?}");
    Some(CudaBackend::new(device, memory_limit).unwrap())
}

fn bytes(proof: &groth16::Proof<Bls12>) -> Vec<u8> {
    let mut out = vec![];
    proof.write(&mut out).unwrap();
    out
}

fn prove(on: &dyn Backend, params: &Arc<Params>, circuit: SmallCircuit, r: Scalar, s: Scalar) -> Result<Vec<u8>> {
    let started = on.start(params, assigned(&circuit), Control::NONE)?;
    Ok(bytes(&on.finish(started, &Blinding::fixed(r, s), Control::NONE)?))
}

#[test]
fn bytes_equal_bellperson_on_random_circuits() {
    let Some(gpu) = backend(0) else { return };
    let mut rng = StdRng::seed_from_u64(7);
    for circuit in assortment(240) {
        let theirs = circuit.parameters();
        let params = Arc::new(ours(&theirs));
        for zero in [false, true] {
            let (r, s) =
                if zero { (Scalar::ZERO, Scalar::ZERO) } else { (Scalar::random(&mut rng), Scalar::random(&mut rng)) };
            let expected = bytes(&groth16::create_proof(circuit.clone(), &theirs, r, s).unwrap());
            let proof = prove(&gpu, &params, circuit.clone(), r, s).unwrap();
            assert_eq!(proof, expected, "{circuit:?}");
            if !zero {
                verify(&params.vk, &proof, &circuit.public_inputs()).unwrap();
            }
        }
    }
}

#[test]
fn bytes_equal_the_cpu_on_larger_circuits() {
    let Some(gpu) = backend(0) else { return };
    let mut rng = StdRng::seed_from_u64(8);
    for (style, rows) in [(Style::Dense, 1500), (Style::Sparse, 5000), (Style::AllOne, 17000), (Style::AllZero, 3000)] {
        let circuit = SmallCircuit::new(style, 3, rows, 11);
        let params = Arc::new(ours(&circuit.parameters()));
        let (r, s) = (Scalar::random(&mut rng), Scalar::random(&mut rng));
        let expected = prove(&CpuBackend::new(), &params, circuit.clone(), r, s).unwrap();
        assert_eq!(prove(&gpu, &params, circuit, r, s).unwrap(), expected, "{style:?}");
    }
}

#[test]
fn memory_stays_where_it_is() {
    let Some(gpu) = backend(0) else { return };
    let circuit = SmallCircuit::new(Style::Dense, 2, 900, 4);
    let params = Arc::new(ours(&circuit.parameters()));
    let mut used = vec![];
    for _ in 0..200 {
        prove(&gpu, &params, circuit.clone(), Scalar::ONE, Scalar::ONE).unwrap();
        used.push(gpu.memory().unwrap().0);
    }
    assert!(used.iter().all(|u| *u == used[0]), "{used:?}");
    // A circuit's parameters leave the device after their last holder.
    drop(params);
    let other = SmallCircuit::new(Style::Dense, 2, 10, 4);
    let params = Arc::new(ours(&other.parameters()));
    prove(&gpu, &params, other, Scalar::ONE, Scalar::ONE).unwrap();
    assert!(gpu.memory().unwrap().0 < used[0]);
}

#[test]
fn cancelled_and_refused_work_leaves_the_device_usable() {
    let Some(gpu) = backend(0) else { return };
    let circuit = SmallCircuit::new(Style::Sparse, 2, 900, 4);
    let params = Arc::new(ours(&circuit.parameters()));
    let partition = || assigned(&circuit);
    let cancelled = AtomicBool::new(true);
    let control = Control { cancelled: &cancelled, progress: &|_| {} };
    assert_eq!(gpu.start(&params, partition(), control).err().unwrap().code, Code::Cancelled);
    let started = gpu.start(&params, partition(), Control::NONE).unwrap();
    let e = gpu.finish(started, &Blinding::fixed(Scalar::ONE, Scalar::ONE), control).unwrap_err();
    assert_eq!(e.code, Code::Cancelled);

    // A point off the curve: x of one, y of another.
    let mut bad = ours(&circuit.parameters());
    let (x, y) = (bad.l[0].as_ref().x, bad.l[1].as_ref().y);
    let mut point = G1Affine::default();
    (point.as_mut().x, point.as_mut().y) = (x, y);
    bad.l[0] = point;
    let e = gpu.start(&Arc::new(bad), partition(), Control::NONE).err().unwrap();
    assert_eq!(e.code, Code::ParamsCorrupt, "{e:?}");
    assert!(e.message.contains("point 0 of l"), "{e:?}");

    let expected = prove(&CpuBackend::new(), &params, circuit.clone(), Scalar::ONE, Scalar::ZERO).unwrap();
    assert_eq!(prove(&gpu, &params, circuit.clone(), Scalar::ONE, Scalar::ZERO).unwrap(), expected);
}

#[test]
fn too_little_memory_is_an_error() {
    let Some(gpu) = backend(70 << 20) else { return };
    let circuit = SmallCircuit::new(Style::Sparse, 2, 5000, 4);
    let params = Arc::new(ours(&circuit.parameters()));
    let e = prove(&gpu, &params, circuit, Scalar::ONE, Scalar::ONE).unwrap_err();
    assert_eq!(e.code, Code::OutOfMemory, "{e:?}");
}
