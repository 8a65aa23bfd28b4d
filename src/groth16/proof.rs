//! Blinding factors, the assembly of a proof, and verification.

use bellperson::groth16;
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use group::prime::PrimeCurveAffine;
use group::Curve;

use crate::curve::random_scalar;
use crate::error::{Code, Error, Result};
use crate::params::VerifyingKey;

/// Bytes of a compressed proof: A 48, B 96, C 48.
pub const PROOF_BYTES: usize = 192;

/// The blinding factors r and s that make a proof zero-knowledge.
pub struct Blinding {
    pub(crate) r: Scalar,
    pub(crate) s: Scalar,
}

impl Blinding {
    /// Fresh factors from the system's random source. Fails when the system has none to give.
    pub fn random() -> Result<Self> {
        Ok(Blinding { r: random_scalar()?, s: random_scalar()? })
    }

    /// Given factors: a proof made with known ones proves nothing to anybody but its maker, so this is for tests.
    #[cfg(any(test, feature = "test-hooks"))]
    pub fn fixed(r: Scalar, s: Scalar) -> Self {
        Blinding { r, s }
    }
}

/// A partition's sums over the queries.
pub(super) struct Sums {
    pub h: G1Projective,
    pub l: G1Projective,
    pub a: G1Projective,
    pub b_g1: G1Projective,
    pub b_g2: G2Projective,
}

/// The proof, in the paper's letters (Groth 2016, section 3.2). `PARAMS_CORRUPT` for a key anybody could forge for.
pub(super) fn assemble(vk: &VerifyingKey, sums: &Sums, blinding: &Blinding) -> Result<groth16::Proof<Bls12>> {
    let (Sums { h, l, a, b_g1, b_g2 }, Blinding { r, s }) = (sums, blinding);
    if bool::from(vk.delta_g1.is_identity() | vk.delta_g2.is_identity()) {
        return Err(Error::new(Code::ParamsCorrupt, "delta_g1", "δ is zero, which would let anybody forge proofs"));
    }
    let proof_a = a + vk.alpha_g1 + vk.delta_g1 * r; //          A = α + Σ aᵢuᵢ + rδ
    let proof_b = b_g2 + vk.beta_g2 + vk.delta_g2 * s; //        B = β + Σ aᵢvᵢ + sδ
    let c = h //                                                 C = h·t/δ
        + l //                                                     + Σ aᵢ(βuᵢ + αvᵢ + wᵢ)/δ
        + (a + vk.alpha_g1) * s //                                 + s(A − rδ)
        + (b_g1 + vk.beta_g1) * r //                               + r(B − sδ)
        + vk.delta_g1 * (*r * s); //                               + rsδ
    Ok(groth16::Proof { a: proof_a.to_affine(), b: proof_b.to_affine(), c: c.to_affine() })
}

/// Verifies one partition's proof (192 compressed bytes) against a key and its public inputs (without the constant one).
///
/// `PROOF_INVALID` when it does not verify or its bytes are no proof.
pub fn verify(vk: &VerifyingKey, proof: &[u8], inputs: &[Scalar]) -> Result<()> {
    let invalid = |m: String| Error::new(Code::ProofInvalid, "proof", m);
    if proof.len() != PROOF_BYTES {
        return Err(invalid(format!("{} bytes, a partition's proof has {PROOF_BYTES}", proof.len())));
    }
    if inputs.len() + 1 != vk.ic.len() {
        return Err(invalid(format!("{} public inputs, the key has room for {}", inputs.len(), vk.ic.len() - 1)));
    }
    let decoded = groth16::Proof::<Bls12>::read(proof).map_err(|e| invalid(format!("the bytes are no proof: {e}")))?;
    let prepared = groth16::prepare_verifying_key(vk);
    match groth16::verify_proof(&prepared, &decoded, inputs) {
        Ok(true) => Ok(()),
        Ok(false) => Err(invalid("it does not verify against its public inputs".into())),
        Err(e) => Err(invalid(format!("it cannot be verified: {e}"))),
    }
}
