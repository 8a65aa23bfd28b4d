//! A proof whose answer is known: parameters for a small circuit are made, a proof with them, and the proof verified.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;

use crate::circuit::record::record;
use crate::circuit::{Identity, Recorded};
use crate::error::{Code, Error, Result};
use crate::groth16::{self, Backend, Blinding, PROOF_BYTES};
use crate::memory::Room;
use crate::params::generate::generate_in_memory;
use crate::params::Trapdoor;
use crate::telemetry::Control;
use crate::witness;

/// Rows of the circuit, a few hundred so that every path of the kernels runs, vector and remainder.
const STEPS: usize = 300;

/// xₖ₊₁ = xₖ·(xₖ + bₖ) with bits bₖ; the last x is public. Zeros, ones and wide values all occur.
#[derive(Clone)]
struct Chain {
    start: Scalar,
}

impl Chain {
    fn bit(k: usize) -> Scalar {
        Scalar::from(u64::from(k.is_multiple_of(3)))
    }

    fn result(&self) -> Scalar {
        (0..STEPS).fold(self.start, |x, k| x * (x + Self::bit(k)))
    }
}

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        let public = cs.alloc_input(|| "result", || Ok(self.result()))?;
        let mut value = self.start;
        let mut x = cs.alloc(|| "start", || Ok(value))?;
        for k in 0..STEPS {
            let bit = Self::bit(k);
            let b = cs.alloc(|| "bit", || Ok(bit))?;
            cs.enforce(|| "bit", |l| l + b, |l| l + CS::one() - b, |l| l);
            let next_value = value * (value + bit);
            let next = cs.alloc(|| "next", || Ok(next_value))?;
            cs.enforce(|| "step", |l| l + x, |l| l + x + b, |l| l + next);
            (x, value) = (next, next_value);
        }
        cs.enforce(|| "result", |l| l + x, |l| l + CS::one(), |l| l + public);
        Ok(())
    }
}

/// Proves on `backend`, in the current rayon pool. `DEVICE` when the proof is wrong.
pub(super) fn run(backend: &dyn Backend) -> Result<()> {
    let circuit = Chain { start: Scalar::from(3) };
    let params = Arc::new(generate_in_memory(&record(circuit.clone())?, Trapdoor::random()?)?);
    let compiled = Recorded::record(circuit.clone(), Identity::default(), 0, Control::NONE)?.ready()?;
    let partition = witness::assign(circuit.clone(), &Arc::new(compiled), Room::default(), &AtomicBool::new(false))?;
    let started = backend.start(&params, partition, Control::NONE)?;
    let proof = backend.finish(started, &Blinding::random()?, Control::NONE)?;
    let mut bytes = Vec::with_capacity(PROOF_BYTES);
    proof.write(&mut bytes).map_err(|e| Error::internal(format!("a proof cannot be written: {e}")))?;
    let wrong = |what: &str| Error::new(Code::Device, "device", format!("{} {what}", backend.name()));
    groth16::verify(&params.vk, &bytes, &[circuit.result()])
        .map_err(|e| wrong(&format!("made a proof that does not verify: {}", e.message)))?;
    if groth16::verify(&params.vk, &bytes, &[circuit.result() + Scalar::ONE]).is_ok() {
        return Err(wrong("made a proof that verifies against a wrong statement"));
    }
    Ok(())
}
