//! Parameter files: find, read, check, and make development ones.

mod check;
pub mod file;
pub mod generate;
mod layout;
mod names;
mod new_file;
mod point;
mod provenance;
mod qap;
mod random;
mod regular;
mod sizes;
mod subgroup;
mod trapdoor;
mod write;

use std::path::PathBuf;

use blstrs::{Bls12, G1Affine, G2Affine};

use crate::circuit::Shape;
use crate::error::{Code, Error, Result};
use crate::memory::{Accounts, Buf, Permit, Plain};
use crate::telemetry::{Class, Stage};

pub use check::{check, Report};
pub use file::{read, read_layout, read_verifying_key, read_with, ReadOptions};
pub use generate::generate_in_memory;
pub use layout::{Layout, Section};
pub use names::{circuit_of, is_development, Names};
pub use provenance::{admit, admit_read, provenance, Provenance};
pub use sizes::expected_layout;
pub use trapdoor::Trapdoor;
pub use write::{generate, Generated};

/// bellperson's verifying key over BLS12-381.
pub type VerifyingKey = bellperson::groth16::VerifyingKey<Bls12>;

/// A parameter file's content, decoded, every point checked to lie on its curve.
pub struct Params {
    /// The verifying key.
    pub vk: VerifyingKey,
    /// τⁱ·t(τ)/δ for i < domain − 1.
    pub h: Buf<G1Affine>,
    /// (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ for every aux variable.
    pub l: Buf<G1Affine>,
    /// uᵢ(τ) for every input, then for the aux variables that occur in A.
    pub a: Buf<G1Affine>,
    /// vᵢ(τ) for the inputs, then the aux variables, that occur in B.
    pub b_g1: Buf<G1Affine>,
    /// The same in G2.
    pub b_g2: Buf<G2Affine>,
    /// Where it was read from; empty if made in memory.
    pub path: PathBuf,
}

impl Params {
    /// An upper bound of the circuit's size: rows are bounded by the domain.
    pub fn shape(&self) -> Shape {
        Shape { constraints: self.h.len() + 1, inputs: self.vk.ic.len(), aux: self.l.len() }
    }

    /// Charges the points to an engine, out of `permit`. `PARAMS_CORRUPT` when the file has grown since it was measured.
    pub fn charge(&mut self, accounts: &Accounts, mut permit: Permit) -> Result<()> {
        fn one<P: Plain>(buf: &mut Buf<P>, accounts: &Accounts, permit: &mut Permit) -> Result<()> {
            let share = permit
                .split(buf.mapped_bytes() as u64)
                .ok_or_else(|| Error::new(Code::ParamsCorrupt, "params", "the file has changed while it was read"))?;
            buf.set_charge(accounts.charge(Class::Params, Stage::Loading, share));
            Ok(())
        }
        one(&mut self.h, accounts, &mut permit)?;
        one(&mut self.l, accounts, &mut permit)?;
        one(&mut self.a, accounts, &mut permit)?;
        one(&mut self.b_g1, accounts, &mut permit)?;
        one(&mut self.b_g2, accounts, &mut permit)
    }

    /// Bytes of the decoded points.
    pub fn bytes(&self) -> usize {
        self.h.mapped_bytes()
            + self.l.mapped_bytes()
            + self.a.mapped_bytes()
            + self.b_g1.mapped_bytes()
            + self.b_g2.mapped_bytes()
    }
}

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod generate_tests;
