//! Which variables A and B use, from the compiled form: what a chunk uses is found once and set wherever it stands.

use super::check::Extent;
use super::code::{Code, Kind};
use super::intern::{push, room_for};
use crate::circuit::{Bits, Densities};
use crate::error::Result;

/// What an error calls them.
const WHAT: &str = "circuit";

/// 64 variables counted from the one that is next when the chunk starts, and which of them the chunk uses.
type Mask = (i64, u64);

/// Of a checked circuit.
pub(super) fn densities(code: &Code, extents: &[Extent]) -> Result<Densities> {
    Ok(Densities {
        a_aux: used(code, extents, 0, true)?,
        b_inputs: used(code, extents, 1, false)?,
        b_aux: used(code, extents, 1, true)?,
    })
}

/// The aux variables (else the inputs) that matrix `m` uses.
fn used(code: &Code, extents: &[Extent], m: usize, aux: bool) -> Result<Bits> {
    let (back, absolute) = if aux { (Kind::Back, Kind::Aux) } else { (Kind::InputBack, Kind::Input) };
    let count = if aux { code.shape.aux } else { code.shape.inputs };
    let mut bits = Bits::zeros(WHAT, count)?;
    for template in 0..code.templates.len() as u32 {
        for term in code.template(template)[m].iter().filter(|t| t.place.kind() == absolute) {
            bits.set(term.place.number() as usize);
        }
    }
    let mut masks: Vec<Mask> = Vec::new();
    let mut ends = room_for(code.chunks() + 1)?;
    push(&mut ends, 0)?;
    let mut columns: Vec<i64> = Vec::new();
    for chunk in 0..code.chunks() as u32 {
        columns.clear();
        let mut allocated = 0;
        for symbol in code.chunk(chunk) {
            let symbol = &code.symbols[*symbol as usize];
            allocated += i64::from(if aux { symbol.aux } else { symbol.inputs });
            for term in code.template(symbol.template)[m].iter().filter(|t| t.place.kind() == back) {
                let first = allocated - i64::from(term.place.number());
                for column in first..first + i64::from(term.run) {
                    push(&mut columns, column)?;
                }
            }
        }
        columns.sort_unstable();
        let first_mask = masks.len();
        for column in &columns {
            match masks[first_mask..].last_mut() {
                Some((first, mask)) if column - *first < 64 => *mask |= 1 << (column - *first),
                _ => push(&mut masks, (*column, 1))?,
            }
        }
        push(&mut ends, masks.len())?;
    }
    let mut allocated = if aux { 0 } else { 1 };
    for chunk in &code.sequence {
        let i = *chunk as usize;
        for (first, mask) in &masks[ends[i]..ends[i + 1]] {
            // `check` has seen that nothing counts back beyond the first variable.
            bits.set_word((allocated + first) as usize, *mask);
        }
        allocated += i64::from(if aux { extents[i].aux } else { extents[i].inputs });
    }
    Ok(bits)
}
