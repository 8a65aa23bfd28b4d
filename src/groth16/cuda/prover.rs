//! A partition's proof on a CUDA device. The device makes the sums; what is left is the assembly.

use std::sync::{Arc, Mutex};

use bellperson::groth16::Proof;
use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{Bls12, G1Affine, G2Affine};

use super::device::{check_bits, Device, Lane};
use crate::circuit::{Partition, Shape};
use crate::error::{Code, Error, Result};
use crate::groth16::proof::{assemble, Sums};
use crate::groth16::{Backend, Blinding, Started};
use crate::params::Params;
use crate::sync::lock;
use crate::telemetry::Control;

/// Beside a partition's bits, copies of them with their ranks: the host's part of `finish`.
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

    fn scratch_bytes(&self, shape: &Shape) -> u64 {
        2 * shape.small_bytes() + HOST_BYTES
    }

    fn finishes_beside(&self) -> bool {
        false
    }

    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started> {
        control.check()?;
        let log_domain = partition.shape().log_domain();
        let Partition { witness, evaluations, densities, mut room } = partition;
        check_bits(&witness, &densities)?;
        if params.h.len() + 1 != 1 << log_domain {
            return Err(Error::new(Code::ParamsCorrupt, "h", "the query is not as long as the circuit's quotient"));
        }
        let values = (&witness, &evaluations, &densities);
        let h = lock(&self.lane).start(params, values, log_domain, control.cancelled)?;
        drop(evaluations);
        room.close();
        (control.progress)(1000);
        Ok(Started { params: params.clone(), witness, densities, h: g1(&h).into(), room })
    }

    fn finish(&self, started: Started, blinding: &Blinding, control: Control<'_>) -> Result<Proof<Bls12>> {
        let Started { params, witness, densities, h, room: _room } = started;
        control.check()?;
        let log_domain = (params.h.len() + 1).trailing_zeros();
        let sums = lock(&self.lane).finish(&params, (&witness, &densities), log_domain, control.cancelled)?;
        drop(witness);
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
