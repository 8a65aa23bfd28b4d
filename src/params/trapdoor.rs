//! The set-up's secret.

use blst::{blst_fr, blst_fr_from_scalar, blst_scalar, blst_scalar_from_le_bytes};
use blstrs::{G1Projective, G2Projective, Scalar};
use ff::Field;
use group::Group;
use rand_core::{OsRng, RngCore};

use crate::error::{Code, Error, Result};

/// The generators and the secret of a Groth16 set-up. Who knows it can prove anything.
pub struct Trapdoor {
    pub(crate) g1: G1Projective,
    pub(crate) g2: G2Projective,
    pub(crate) alpha: Scalar,
    pub(crate) beta: Scalar,
    pub(crate) gamma: Scalar,
    pub(crate) delta: Scalar,
    pub(crate) tau: Scalar,
}

impl Trapdoor {
    /// A fresh secret from the system's random source. `IO` when the system has none to give.
    pub fn random() -> Result<Self> {
        Ok(Trapdoor {
            g1: G1Projective::generator() * random_scalar()?,
            g2: G2Projective::generator() * random_scalar()?,
            alpha: random_scalar()?,
            beta: random_scalar()?,
            gamma: random_scalar()?,
            delta: random_scalar()?,
            tau: random_scalar()?,
        })
    }

    /// A given secret, for tests that compare bytes.
    #[cfg(any(test, feature = "test-hooks"))]
    #[allow(clippy::too_many_arguments)]
    pub fn given(
        g1: G1Projective,
        g2: G2Projective,
        alpha: Scalar,
        beta: Scalar,
        gamma: Scalar,
        delta: Scalar,
        tau: Scalar,
    ) -> Self {
        Trapdoor { g1, g2, alpha, beta, gamma, delta, tau }
    }
}

/// A field element that is not zero, uniform up to a bias below 2^-256, from the system's random source.
fn random_scalar() -> Result<Scalar> {
    loop {
        let mut wide = [0u8; 64];
        OsRng
            .try_fill_bytes(&mut wide)
            .map_err(|e| Error::new(Code::Io, "random", format!("the system's random source failed: {e}")))?;
        let mut reduced = blst_scalar::default();
        let mut fr = blst_fr::default();
        // SAFETY: blst reads the 64 bytes, reduces them modulo the group's order and writes one scalar; the second call
        // reads that scalar, which is below the order, and writes one field element.
        unsafe {
            blst_scalar_from_le_bytes(&mut reduced, wide.as_ptr(), wide.len());
            blst_fr_from_scalar(&mut fr, &reduced);
        }
        let scalar = Scalar::from(fr);
        if !scalar.is_zero_vartime() {
            return Ok(scalar);
        }
    }
}
