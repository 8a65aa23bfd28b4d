//! How many points the parameters of each circuit have, counted once on the blank circuits.

use super::Layout;
use crate::error::{Error, Result};
use crate::proofs::kind::SECTOR_SIZES;
use crate::proofs::{CircuitId, Kind};

/// Points in `ic`, log2 of `h`'s domain, points in `l`, in `a`, and in each of `b_g1` and `b_g2`; by sector size, as in
/// [`SECTOR_SIZES`]. `tests/proofs/sizes.rs` counts them again.
const fn counts(kind: Kind) -> [[usize; 5]; SECTOR_SIZES.len()] {
    match kind {
        Kind::Porep => [
            [40, 22, 2_685_673, 2_674_948, 685_522],
            [40, 22, 3_842_449, 3_815_036, 1_011_290],
            [40, 23, 4_420_837, 4_385_080, 1_174_174],
            [328, 27, 130_169_893, 129_753_620, 33_112_282],
            [328, 27, 131_076_643, 130_637_870, 33_386_944],
        ],
        Kind::Snap => [
            [5, 21, 1_703_569, 1_697_194, 444_404],
            [5, 24, 9_998_039, 9_981_020, 2_567_922],
            [5, 26, 57_401_314, 57_212_322, 14_916_880],
            [5, 27, 80_978_488, 80_743_586, 20_983_608],
            [5, 27, 84_931_220, 84_682_730, 22_012_684],
        ],
        Kind::WindowPost => [
            [23, 15, 22_128, 16_793, 16_029],
            [23, 16, 65_088, 49_353, 47_149],
            [23, 17, 86_568, 65_633, 62_709],
            [25_840, 27, 126_902_376, 96_205_645, 91_925_767],
            [25_301, 27, 131_500_200, 99_649_801, 95_413_201],
        ],
        Kind::WinningPost => [
            [133, 17, 91_674, 69_433, 66_793],
            [133, 18, 233_442, 176_881, 169_489],
            [133, 19, 304_326, 230_605, 220_837],
            [133, 19, 375_210, 284_329, 272_185],
            [133, 19, 396_000, 299_971, 287_695],
        ],
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
