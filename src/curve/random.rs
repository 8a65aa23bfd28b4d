//! Field elements from the system's random source.

use blst::{blst_fr, blst_fr_from_scalar, blst_scalar, blst_scalar_from_le_bytes};
use blstrs::Scalar;
use ff::Field;
use rand_core::{OsRng, RngCore};

use crate::error::{Code, Error, Result};

/// A field element that is not zero, uniform up to a bias below 2^-256, from the system's random source.
pub fn random_scalar() -> Result<Scalar> {
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
