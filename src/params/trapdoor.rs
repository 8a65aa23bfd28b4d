//! The set-up's secret.

use blstrs::{G1Projective, G2Projective, Scalar};
use group::Group;

use crate::curve::random_scalar;
use crate::error::Result;

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
