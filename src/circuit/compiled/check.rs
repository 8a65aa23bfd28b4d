//! That a recorded circuit names no variable that is not there: what the evaluation relies on.

use super::bytes::corrupt;
use super::code::{Code, Kind, Place, Term, CHUNK_ROWS, LONGEST_RUN};
use super::intern::{push, room_for};
use crate::error::Result;

/// How far a chunk moves the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub rows: u32,
    pub aux: u32,
    pub inputs: u32,
}

/// How many variables must be allocated before a row or chunk, so that counting back ends at one that is there.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    aux: u32,
    inputs: u32,
}

/// Checks every number of a decoded circuit. The extents of its chunks. `PARAMS_CORRUPT` names the field.
pub(super) fn check(code: &Code) -> Result<Vec<Extent>> {
    let needs = templates(code)?;
    let mut extents = room_for(code.chunks())?;
    let mut chunk_needs: Vec<Need> = room_for(code.chunks())?;
    for chunk in 0..code.chunks() as u32 {
        let mut extent = Extent::default();
        let mut need = Need::default();
        for symbol in code.chunk(chunk) {
            let symbol = &code.symbols[*symbol as usize];
            let far = || corrupt("circuit.chunks", "a chunk allocates more variables than any circuit has");
            let add = |a: u32, b: u32| a.checked_add(b).filter(|n| *n <= Place::LIMIT).ok_or_else(far);
            extent.aux = add(extent.aux, symbol.aux)?;
            extent.inputs = add(extent.inputs, symbol.inputs)?;
            extent.rows += 1;
            let of_row = needs[symbol.template as usize];
            need.aux = need.aux.max(of_row.aux.saturating_sub(extent.aux));
            need.inputs = need.inputs.max(of_row.inputs.saturating_sub(extent.inputs));
        }
        push(&mut extents, extent)?;
        push(&mut chunk_needs, need)?;
    }

    let wrong = |message: &str| corrupt("circuit.sequence", message);
    let shape = code.shape;
    let (mut rows, mut aux, mut inputs) = (0, 0, 1);
    for (i, chunk) in code.sequence.iter().enumerate() {
        let (Some(extent), Some(need)) = (extents.get(*chunk as usize), chunk_needs.get(*chunk as usize)) else {
            return Err(wrong("a chunk that is not there"));
        };
        if (extent.rows as usize) < CHUNK_ROWS[0] && i + 1 < code.sequence.len() {
            return Err(wrong("a chunk that is too short for its place"));
        }
        if need.aux as usize > aux || need.inputs as usize > inputs {
            return Err(wrong("a row that counts back beyond the first variable"));
        }
        rows += extent.rows as usize;
        aux += extent.aux as usize;
        inputs += extent.inputs as usize;
        if aux > shape.aux || inputs > shape.inputs {
            return Err(wrong("more variables than the sizes say"));
        }
    }
    if rows + shape.inputs != shape.constraints {
        return Err(wrong("another number of rows than the sizes say"));
    }
    Ok(extents)
}

/// What each template needs.
fn templates(code: &Code) -> Result<Vec<Need>> {
    let mut needs = room_for(code.templates.len())?;
    for template in 0..code.templates.len() as u32 {
        let mut need = Need::default();
        for term in code.template(template).into_iter().flatten() {
            of_term(code, term, &mut need).map_err(|message| corrupt("circuit.templates", message))?;
        }
        push(&mut needs, need)?;
    }
    Ok(needs)
}

fn of_term(code: &Code, term: &Term, need: &mut Need) -> Result<(), &'static str> {
    let number = term.place.number();
    let kind = term.place.kind();
    if usize::from(term.coefficient) >= code.coefficients.len() {
        return Err("a coefficient that is not there");
    }
    if !(1..=LONGEST_RUN).contains(&term.run) || (term.run > 1 && kind != Kind::Back) {
        return Err("a run that cannot be");
    }
    match kind {
        Kind::Back if number < u32::from(term.run) => return Err("a run beyond the last variable"),
        Kind::Back => need.aux = need.aux.max(number),
        Kind::Aux if number as usize >= code.shape.aux => return Err("an aux variable that is not there"),
        Kind::InputBack if number == 0 => return Err("an input beyond the last"),
        Kind::InputBack => need.inputs = need.inputs.max(number),
        Kind::Input if number as usize >= code.shape.inputs => return Err("an input that is not there"),
        Kind::Aux | Kind::Input => {}
    }
    Ok(())
}
