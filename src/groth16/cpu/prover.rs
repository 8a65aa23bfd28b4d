//! A partition's proof on the CPU.

use std::sync::Arc;

use bellperson::groth16::Proof;
use blstrs::{Bls12, G1Affine, G1Projective, G2Projective, Scalar};
use ff::Field;

use super::query::Terms;
use crate::circuit::{Aux, CompiledCircuit, Partition, Sizes};
use crate::curve::msm::{self, msm_g1, msm_sparse_g1, msm_sparse_g2};
use crate::curve::ntt::Domain;
use crate::error::{Code, Error, Result};
use crate::groth16::proof::{assemble, Sums};
use crate::groth16::{Backend, Blinding, Started};
use crate::memory::{Buf, Room};
use crate::params::Params;
use crate::telemetry::{Class, Control};

/// A partition's second half runs beside the next one's first half: measured, see "The CPU lane's split" in
/// `src/engine/README.md`.
const FINISHES_BESIDE: bool = true;

/// The CPU backend. Works on the rayon pool it is called in.
#[derive(Default)]
pub struct CpuBackend {}

impl CpuBackend {
    /// The backend.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        "CPU".into()
    }

    fn device(&self) -> i32 {
        -1
    }

    fn start_bytes(&self, sizes: &Sizes) -> u64 {
        sizes.shape.evaluation_bytes()
    }

    fn scratch_bytes(&self, sizes: &Sizes) -> u64 {
        let shape = sizes.shape;
        let h = msm::scratch_bytes(1 << shape.log_domain());
        let wide = sizes.wide_values();
        let queries = msm::sparse_scratch_bytes(wide) + Terms::bytes(shape.inputs + shape.aux, wide);
        (shape.inputs * size_of::<Scalar>()) as u64 + h.max(queries)
    }

    fn finishes_beside(&self) -> bool {
        FINISHES_BESIDE
    }

    fn start(&self, params: &Arc<Params>, partition: Partition, control: Control<'_>) -> Result<Started> {
        let Partition { inputs, aux, circuit, mut room } = partition;
        let h = quotient(&circuit, &inputs, &aux, &mut room, control)?;
        room.close();
        (control.progress)(300);
        if h.len() != params.h.len() + 1 {
            return Err(Error::new(Code::ParamsCorrupt, "h", "the query is not as long as the circuit's quotient"));
        }
        let sum = msm_g1(&params.h, &h[..params.h.len()], &|| control.is_cancelled())?;
        (control.progress)(1000);
        Ok(Started { params: params.clone(), inputs, aux, circuit, h: sum, room })
    }

    fn finish(&self, started: Started, blinding: &Blinding, control: Control<'_>) -> Result<Proof<Bls12>> {
        let Started { params, inputs, aux, circuit, h, room: _room } = started;
        let densities = circuit.densities();
        let sum_g1 = |points: &[G1Affine], terms: &Terms| {
            msm_sparse_g1(points, &terms.ones, &terms.wide, &terms.scalars, &|| control.is_cancelled())
        };

        let mut terms = Terms::default();
        terms.add_aux(&aux, None, 0)?;
        let l = sum_g1(&params.l, &terms)?;
        (control.progress)(350);

        let mut terms = Terms::default();
        let next = terms.add_values(&inputs, None, 0)?;
        terms.add_aux(&aux, Some(&densities.a_aux), next)?;
        let a: G1Projective = sum_g1(&params.a, &terms)?;
        (control.progress)(700);

        let mut terms = Terms::default();
        let next = terms.add_values(&inputs, Some(&densities.b_inputs), 0)?;
        terms.add_aux(&aux, Some(&densities.b_aux), next)?;
        drop(aux);
        let b_g1 = sum_g1(&params.b_g1, &terms)?;
        (control.progress)(800);
        let b_g2: G2Projective =
            msm_sparse_g2(&params.b_g2, &terms.ones, &terms.wide, &terms.scalars, &|| control.is_cancelled())?;
        (control.progress)(980);

        assemble(&params.vk, &Sums { h, l, a, b_g1, b_g2 }, blinding)
    }
}

/// The coefficients of h = (a·b − c)/t, as many as the domain has elements; the last is zero.
///
/// Two buffers do: when a·b stands on the coset, c takes b's place. Evaluating C by itself for that costs a third of an
/// evaluation and saves a third of the memory.
fn quotient(
    circuit: &CompiledCircuit,
    inputs: &[Scalar],
    aux: &Aux,
    room: &mut Room,
    control: Control<'_>,
) -> Result<Buf<Scalar>> {
    let shape = circuit.shape();
    let log_n = shape.log_domain();
    let n = 1usize << log_n;
    let domain = Domain::new(log_n)
        .ok_or_else(|| Error::new(Code::TooLarge, "circuit", format!("{n} rows are more than the field has roots")))?;
    let mut a = room.zeroed("evaluations a", Class::Evaluations, n)?;
    let mut b = room.zeroed("evaluations b", Class::Evaluations, n)?;
    if let Some(row) = circuit.evaluate(inputs, aux, [Some(&mut a), Some(&mut b), None], true, control)? {
        return Err(circuit.unsatisfied(row));
    }
    let cancelled = &|| control.is_cancelled();
    let transform = |values: &mut Buf<_>, done| {
        domain.to_coset(values, cancelled)?;
        (control.progress)(done);
        Ok::<_, Error>(())
    };
    transform(&mut a, 90)?;
    transform(&mut b, 170)?;
    domain.product(&mut a, &b, cancelled)?;
    let mut c = b;
    c[shape.constraints..].fill(Scalar::ZERO);
    circuit.evaluate(inputs, aux, [None, None, Some(&mut c)], false, control)?;
    transform(&mut c, 250)?;
    domain.subtract(&mut a, &c, cancelled)?;
    drop(c);
    domain.from_coset(&mut a, cancelled)?;
    Ok(a)
}
