//! `src/memory/plain.rs` without the field's and the curve's types.

/// Types for which memory full of zeros is a valid value and which own nothing.
///
/// # Safety
/// The all-zero bit pattern must be a valid value of the type, and dropping a value must do nothing.
pub unsafe trait Plain: Copy {}

// SAFETY: integers of zeros are 0.
unsafe impl Plain for u8 {}
