//! As much of parameters as their table and the budget need.

use crate::memory::Permit;

/// Parameters of `permit`'s bytes.
pub struct Params {
    pub circuit: u64,
    pub permit: Permit,
}
