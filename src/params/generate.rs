//! Development parameters: a Groth16 set-up with a trapdoor of our own.
//!
//! Gives, at the same trapdoor, byte for byte what `bellperson::groth16::generate_parameters` gives. For variables i with
//! columns uᵢ, vᵢ, wᵢ, the domain's vanishing polynomial t and xᵢ = β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ):
//!
//! ```text
//! h    = τʲ·t(τ)/δ · g1    j < domain − 1
//! ic   = xᵢ/γ · g1         inputs
//! l    = xᵢ/δ · g1         aux variables
//! a    = uᵢ(τ) · g1        where not zero
//! b_g1 = vᵢ(τ) · g1        where not zero
//! b_g2 = vᵢ(τ) · g2        where not zero
//! ```

use blstrs::{G1Affine, G2Affine, Scalar};
use ff::Field;
use group::Curve;
use rayon::prelude::*;

use super::layout::Layout;
use super::qap::{self, ColumnValues};
use super::{Params, Trapdoor, VerifyingKey};
use crate::circuit::Matrices;
use crate::curve::msm::{FixedBaseG1, FixedBaseG2};
use crate::curve::Stopped;
use crate::error::{Code, Error, Result};
use crate::memory::Buf;
use crate::telemetry::Control;

/// Scalars one task of element-wise work takes.
const TASK: usize = 1 << 12;

/// Everything the set-up's points are multiples by.
pub(crate) struct Setup {
    trapdoor: Trapdoor,
    /// t(τ)/δ.
    h_scale: Scalar,
    /// Points in `h`.
    h_count: usize,
    inputs: usize,
    /// xᵢ/γ for inputs, then xᵢ/δ for aux variables.
    x: Buf<Scalar>,
    /// uᵢ(τ) ≠ 0.
    a: Buf<Scalar>,
    /// vᵢ(τ) ≠ 0.
    b: Buf<Scalar>,
    g1: FixedBaseG1,
    g2: FixedBaseG2,
}

impl Setup {
    /// Evaluates the circuit's polynomials. `INVALID_ARGUMENT` for a circuit that no parameter file can hold: an aux
    /// variable in no row, or nothing at all in B.
    pub(crate) fn new(matrices: &Matrices, trapdoor: Trapdoor, control: Control<'_>) -> Result<Self> {
        let shape = matrices.shape;
        let log = shape.log_domain();
        if log == 0 || log > 31 {
            return Err(Error::argument("circuit", format!("{} rows: 2 to 2^31 can be proved", shape.constraints)));
        }
        let bad_trapdoor = || Error::argument("trapdoor", "gamma and delta must not be 0, tau not in the domain");
        let inverse = |s: &Scalar| Option::<Scalar>::from(s.invert()).ok_or_else(bad_trapdoor);
        let (gamma_inverse, delta_inverse) = (inverse(&trapdoor.gamma)?, inverse(&trapdoor.delta)?);
        let t = qap::vanishing(log, &trapdoor.tau);
        if t.is_zero_vartime() || trapdoor.tau.is_zero_vartime() {
            return Err(bad_trapdoor());
        }
        let ColumnValues { u, v, w: mut x } = qap::column_values(matrices, &trapdoor.tau, control)?;
        let (inputs_x, aux_x) = x.split_at_mut(shape.inputs);
        for (x, first, scale) in [(inputs_x, 0, gamma_inverse), (aux_x, shape.inputs, delta_inverse)] {
            let (u, v) = (&u[first..], &v[first..]);
            x.par_chunks_mut(TASK).zip(u.par_chunks(TASK)).zip(v.par_chunks(TASK)).for_each(|((x, u), v)| {
                for ((x, u), v) in x.iter_mut().zip(u).zip(v) {
                    *x = (trapdoor.beta * u + trapdoor.alpha * v + *x) * scale;
                }
            });
        }
        if let Some(i) = x.par_iter().position_first(|x| x.is_zero_vartime()) {
            let what = match i.checked_sub(shape.inputs) {
                Some(aux) => format!("aux variable {aux} stands in no row"),
                None => format!("input {i} stands in no row"),
            };
            return Err(Error::argument("circuit", what));
        }
        let (a, b) = (without_zeros(u)?, without_zeros(v)?);
        if b.is_empty() || shape.aux == 0 {
            return Err(Error::argument("circuit", "a circuit must have aux variables, and variables in B"));
        }
        Ok(Setup {
            h_scale: t * delta_inverse,
            h_count: (1 << log) - 1,
            inputs: shape.inputs,
            x,
            a,
            b,
            g1: FixedBaseG1::new(&trapdoor.g1.to_affine()),
            g2: FixedBaseG2::new(&trapdoor.g2.to_affine()),
            trapdoor,
        })
    }

    /// Where the sections stand in the file.
    pub(crate) fn layout(&self) -> Layout {
        let aux = self.x.len() - self.inputs;
        Layout::with_counts(self.inputs, self.h_count, aux, self.a.len(), self.b.len())
    }

    /// The verifying key.
    pub(crate) fn key(&self, control: Control<'_>) -> Result<VerifyingKey> {
        let t = &self.trapdoor;
        let mut ic = vec![G1Affine::default(); self.inputs];
        self.g1.multiply_many(&self.x[..self.inputs], &mut ic, &|| control.is_cancelled()).map_err(stopped)?;
        Ok(VerifyingKey {
            alpha_g1: (t.g1 * t.alpha).to_affine(),
            beta_g1: (t.g1 * t.beta).to_affine(),
            beta_g2: (t.g2 * t.beta).to_affine(),
            gamma_g2: (t.g2 * t.gamma).to_affine(),
            delta_g1: (t.g1 * t.delta).to_affine(),
            delta_g2: (t.g2 * t.delta).to_affine(),
            ic,
        })
    }

    /// Computes a G1 section's points from number `first` on.
    pub(crate) fn g1_points(
        &self,
        query: G1Query,
        first: usize,
        out: &mut [G1Affine],
        control: Control<'_>,
    ) -> Result<()> {
        let powers;
        let scalars = match query {
            G1Query::H => {
                powers = self.h_scalars(first, out.len());
                &powers[..]
            }
            G1Query::L => &self.x[self.inputs..][first..][..out.len()],
            G1Query::A => &self.a[first..][..out.len()],
            G1Query::B => &self.b[first..][..out.len()],
        };
        self.g1.multiply_many(scalars, out, &|| control.is_cancelled()).map_err(stopped)
    }

    /// Computes `b_g2` from number `first` on.
    pub(crate) fn g2_points(&self, first: usize, out: &mut [G2Affine], control: Control<'_>) -> Result<()> {
        let scalars = &self.b[first..][..out.len()];
        self.g2.multiply_many(scalars, out, &|| control.is_cancelled()).map_err(stopped)
    }

    /// τʲ·t(τ)/δ for `count` values of j from `first` on.
    fn h_scalars(&self, first: usize, count: usize) -> Vec<Scalar> {
        let tau = self.trapdoor.tau;
        let mut scalars = vec![Scalar::ZERO; count];
        scalars.par_chunks_mut(TASK).enumerate().for_each(|(task, scalars)| {
            let mut power = tau.pow_vartime([(first + task * TASK) as u64]) * self.h_scale;
            for scalar in scalars {
                *scalar = power;
                power *= tau;
            }
        });
        scalars
    }
}

/// The queries in G1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum G1Query {
    H,
    L,
    A,
    B,
}

fn stopped(why: Stopped) -> Error {
    match why {
        Stopped::Cancelled => Error::new(Code::Cancelled, "", "making the parameters was cancelled"),
        other => other.into(),
    }
}

/// The values that are not zero, in order, in the same memory.
fn without_zeros(mut values: Buf<Scalar>) -> Result<Buf<Scalar>> {
    let mut kept = 0;
    for i in 0..values.len() {
        if !values[i].is_zero_vartime() {
            values[kept] = values[i];
            kept += 1;
        }
    }
    values.resize_zeroed("column sums", kept)?;
    Ok(values)
}

/// A whole set-up in memory: for tests, and for a known answer on a tiny circuit. Runs on the current rayon pool.
pub fn generate_in_memory(matrices: &Matrices, trapdoor: Trapdoor) -> Result<Params> {
    let control = Control::NONE;
    let setup = Setup::new(matrices, trapdoor, control)?;
    let layout = setup.layout();
    let g1 = |name, query, count: u64| {
        let mut points = Buf::zeroed(name, count as usize)?;
        setup.g1_points(query, 0, &mut points, control)?;
        Ok::<_, Error>(points)
    };
    let mut b_g2 = Buf::zeroed("b_g2", layout.b_g2.count as usize)?;
    setup.g2_points(0, &mut b_g2, control)?;
    Ok(Params {
        vk: setup.key(control)?,
        h: g1("h", G1Query::H, layout.h.count)?,
        l: g1("l", G1Query::L, layout.l.count)?,
        a: g1("a", G1Query::A, layout.a.count)?,
        b_g1: g1("b_g1", G1Query::B, layout.b_g1.count)?,
        b_g2,
        path: Default::default(),
    })
}
