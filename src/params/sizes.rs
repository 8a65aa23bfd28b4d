//! How many points the parameters of each circuit have, counted once on the blank circuits.

use super::Layout;
use crate::error::{Error, Result};
use crate::proofs::kind::SECTOR_SIZES;
use crate::proofs::{CircuitId, Kind};

/// Points in `ic`, log2 of `h`'s domain, points in `l`, in `a`, and in each of `b_g1` and `b_g2`; by sector size, as in
/// [`SECTOR_SIZES`]. `tests/proofs/sizes.rs` counts them again.
const fn counts(kind: Kind) -> [[usize; 5]; SECTOR_SIZES.len()] {
    match kind {
        Kind::Porep => [[0; 5]; 5],
        Kind::Snap => [[0; 5]; 5],
        Kind::WindowPost => [[0; 5]; 5],
        Kind::WinningPost => [[0; 5]; 5],
    }
}

/// What the parameter file of a circuit looks like, whether it is there or not. `INVALID_ARGUMENT` names `circuit` when
/// the sector size is none of Filecoin's.
pub fn expected_layout(circuit: &CircuitId) -> Result<Layout> {
    let size = SECTOR_SIZES.iter().position(|(size, _)| *size == circuit.sector_size);
    let [ic, log_domain, l, a, b] = size
        .map(|i| counts(circuit.kind)[i])
        .ok_or_else(|| Error::argument("circuit", format!("{circuit} is of no sector size of Filecoin")))?;
    Ok(Layout::with_counts(ic, (1 << log_domain) - 1, l, a, b))
}
