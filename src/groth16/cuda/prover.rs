//! A partition's proof on a CUDA device. The host evaluates the rows and assembles the proof; the device makes the sums.

use std::sync::{Arc, Mutex};

use bellperson::groth16::Proof;
use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar};

use super::device::{Device, Lane, Values};
use crate::circuit::{Partition, Sizes};
use crate::error::{Code, Error, Result};
use crate::groth16::proof::{assemble, Sums};
use crate::groth16::{Backend, Blinding, Started};
use crate::params::Params;
use crate::sync::lock;
use crate::telemetry::{Class, Control};

/// More than the small things of both halves on the host.
const HOST_BYTES: u64 = 1 << 20;

/// The CUDA backend on one device.
pub struct CudaBackend {
    device: Device,
    lane: Mutex<Lane>,
}

impl CudaBackend {
    /// Takes a device. `memory_limit`: bytes of its memory to stay under, 0: what is free. `DEVICE` or `OUT_OF_MEMORY` when
    /// it refuses.
    pub fn new(device: Device, memory_limit: u64) -> Result<Self> {
        let lane = Lane::new(device.index, memory_limit)?;
        Ok(CudaBackend { device, lane: Mutex::new(lane) })
    }

    /// Bytes in use on the device, and the most there ever were.
    pub fn memory(&self) -> Result<(u64, u64)> {
        lock(&self.lane).memory()
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> String {
        self.device.name.clone()
    }

    fn device(&self) -> i32 {
        self.device.index
    }

    fn start_bytes(&self, sizes: &Sizes) -> u64 {
        sizes.shape.evaluation_bytes()
    }

    fn scratch_bytes(&self, sizes: &Sizes) -> u64 {
        // The inputs, and a rank for every 64 variables.
        (sizes.shape.inputs * size_of::<Scalar>() + (sizes.shape.aux + sizes.shape.inputs) / 16) as u64 + HOST_BYTES
    }

    fn finishes_beside(&self) -> bool {
        false
    }

    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started> {
        control.check()?;
        let Partition { inputs, aux, circuit, mut room } = partition;
        let shape = circuit.shape();
        if params.h.len() + 1 != 1 << shape.log_domain() {
            return Err(Error::new(Code::ParamsCorrupt, "h", "the query is not as long as the circuit's quotient"));
        }
        let mut a = room.zeroed("evaluations a", Class::Evaluations, shape.constraints)?;
        let mut b = room.zeroed("evaluations b", Class::Evaluations, shape.constraints)?;
        room.close();
        if let Some(row) = circuit.evaluate(&inputs, &aux, [Some(&mut a), Some(&mut b), None], true, control)? {
            return Err(circuit.unsatisfied(row));
        }
        (control.progress)(300);
        let values = Values { inputs: &inputs, aux: &aux, circuit: &circuit };
        let h = lock(&self.lane).start(params, &values, (&a, &b), control.cancelled)?;
        (control.progress)(1000);
        Ok(Started { params: params.clone(), inputs, aux, circuit, h: g1(&h).into(), room })
    }

    fn finish(&self, started: Started, blinding: &Blinding, control: Control<'_>) -> Result<Proof<Bls12>> {
        let Started { params, inputs, aux, circuit, h, room: _room } = started;
        control.check()?;
        let values = Values { inputs: &inputs, aux: &aux, circuit: &circuit };
        let sums = lock(&self.lane).finish(&params, &values, control.cancelled)?;
        drop(aux);
        (control.progress)(980);
        let sums = Sums {
            h,
            l: g1(&sums.l).into(),
            a: g1(&sums.a).into(),
            b_g1: g1(&sums.b_g1).into(),
            b_g2: g2(&sums.b_g2).into(),
        };
        assemble(&params.vk, &sums, blinding)
    }
}

fn fp(words: &[u64]) -> blst_fp {
    let mut l = [0; 6];
    l.copy_from_slice(words);
    blst_fp { l }
}

/// x, y in Montgomery form; zeros: infinity, for blst as for the backend.
fn g1(words: &[u64; 12]) -> G1Affine {
    let mut point = G1Affine::default();
    *point.as_mut() = blst_p1_affine { x: fp(&words[..6]), y: fp(&words[6..]) };
    point
}

fn g2(words: &[u64; 24]) -> G2Affine {
    let fp2 = |at: usize| blst_fp2 { fp: [fp(&words[at..at + 6]), fp(&words[at + 6..at + 12])] };
    let mut point = G2Affine::default();
    *point.as_mut() = blst_p2_affine { x: fp2(0), y: fp2(12) };
    point
}
