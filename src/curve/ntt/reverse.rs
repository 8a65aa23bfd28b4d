//! The bit reversal permutation in place, by square tiles that fit the first-level cache.

use blstrs::Scalar;
use ff::Field;

use super::roots::reverse_bits;
use super::work::{for_each_group, Shared, Stop};
use super::Stopped;

/// A tile has 2^5 runs of 2^5 elements (1 KiB a run); a pair of tiles takes 64 KiB.
const TILE_BITS: u32 = 5;
const SIDE: usize = 1 << TILE_BITS;
/// Pairs of tiles between two looks at `cancelled`.
const TILES_PER_GROUP: usize = 8;

struct Tiles {
    one: Vec<Scalar>,
    other: Vec<Scalar>,
}

/// Moves values[i] to the position with i's bits reversed; values.len() = 2^log_n.
pub(super) fn reverse(values: &mut [Scalar], log_n: u32, cancelled: Stop<'_>) -> Result<(), Stopped> {
    if log_n < 2 * TILE_BITS {
        for i in 0..values.len() {
            let j = reverse_bits(i, log_n);
            if i < j {
                values.swap(i, j);
            }
        }
        return Ok(());
    }
    // An index is (high, middle, low) with `TILE_BITS` bits at both ends. Its reversal is
    // (low', middle', high'): tile `middle` transposed lands on tile `middle'`.
    let middle_bits = log_n - 2 * TILE_BITS;
    let elements = values.len();
    let data = Shared::new(values);
    let middles = 1usize << middle_bits;
    let groups = middles.div_ceil(TILES_PER_GROUP);
    let tiles = || Tiles { one: vec![Scalar::ZERO; SIDE * SIDE], other: vec![Scalar::ZERO; SIDE * SIDE] };
    for_each_group(groups, elements, cancelled, tiles, |tiles, group| {
        let first = group * TILES_PER_GROUP;
        for middle in first..middles.min(first + TILES_PER_GROUP) {
            let partner = reverse_bits(middle, middle_bits);
            if middle > partner {
                continue;
            }
            // SAFETY: only the smaller of a pair handles it, so this thread alone has both tiles.
            unsafe {
                read(data, middle, middle_bits, &mut tiles.one);
                if middle != partner {
                    read(data, partner, middle_bits, &mut tiles.other);
                    write(data, middle, middle_bits, &tiles.other);
                }
                write(data, partner, middle_bits, &tiles.one);
            }
        }
    })
}

/// # Safety
/// This thread alone may access the tile.
unsafe fn read(data: Shared<'_>, middle: usize, middle_bits: u32, tile: &mut [Scalar]) {
    for (high, run) in tile.chunks_exact_mut(SIDE).enumerate() {
        let index = ((high << middle_bits) | middle) << TILE_BITS;
        // SAFETY: a run of the tile, which is this thread's; high < SIDE keeps it in range.
        let from = unsafe { std::slice::from_raw_parts(data.at(index, SIDE), SIDE) };
        run.copy_from_slice(from);
    }
}

/// # Safety
/// This thread alone may access the tile.
unsafe fn write(data: Shared<'_>, middle: usize, middle_bits: u32, tile: &[Scalar]) {
    for high in 0..SIDE {
        let index = ((high << middle_bits) | middle) << TILE_BITS;
        // SAFETY: a run of the tile, which is this thread's; high < SIDE keeps it in range.
        let to = unsafe { std::slice::from_raw_parts_mut(data.at(index, SIDE), SIDE) };
        let column = reverse_bits(high, TILE_BITS);
        for (low, value) in to.iter_mut().enumerate() {
            *value = tile[reverse_bits(low, TILE_BITS) * SIDE + column];
        }
    }
}
