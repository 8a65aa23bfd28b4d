//! What may live in mapped memory.

/// Types for which memory full of zeros is a valid value and which own nothing.
///
/// # Safety
/// The all-zero bit pattern must be a valid value of the type, and dropping a value must do nothing.
pub unsafe trait Plain: Copy {}

// SAFETY: integers of zeros are 0.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u128 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: a blst_fr of zero limbs is the field's zero; the wrapper is transparent.
unsafe impl Plain for blstrs::Scalar {}
// SAFETY: blst writes the point at infinity as zero coordinates; the wrapper is transparent.
unsafe impl Plain for blstrs::G1Affine {}
// SAFETY: as for G1.
unsafe impl Plain for blstrs::G2Affine {}
