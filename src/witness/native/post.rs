//! Slots of a PoSt, as storage-proofs' `fallback::Sector` allocates each: eight side by side.

use std::sync::atomic::{AtomicUsize, Ordering};

use blstrs::Scalar;
use rayon::prelude::*;

use super::lanes::{path_len, Eight, Indices, Lanes};
use super::poseidon::Poseidon;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::memory::Buf;
use crate::proofs::check::node_of;
use crate::proofs::post::Slot;
use crate::proofs::vanilla::{Node, Opening};
use crate::telemetry::Control;

fn two() -> Result<&'static Poseidon> {
    Poseidon::of(2).ok_or_else(|| Error::internal("no hash of two"))
}

/// Variables of a slot.
pub(super) fn slot_len(slot: &Slot<'_>) -> Result<usize> {
    let paths = slot.inclusion_proofs.iter().map(|path| Ok(1 + path_len(path, true)?)).sum::<Result<usize>>()?;
    Ok(3 + two()?.len() + paths)
}

/// An element of each slot.
fn of_each<'s>(slots: &'s [Slot<'s>], node: impl Fn(&Slot<'s>) -> Node) -> Result<Eight> {
    let mut values = Eight::default();
    for (value, slot) in values.iter_mut().zip(slots) {
        *value = node(slot).scalar()?;
    }
    Ok(values)
}

/// Fills lanes with up to eight slots.
fn fill(slots: &[Slot<'_>], mut lanes: Lanes<'_>) -> Result<()> {
    let comm_r_last = of_each(slots, |slot| slot.comm_r_last)?;
    let comm_c = of_each(slots, |slot| slot.comm_c)?;
    lanes.put(&comm_r_last)?;
    lanes.put(&comm_c)?;
    lanes.put(&of_each(slots, |slot| slot.comm_r)?)?;
    lanes.hash(two()?, &[comm_c, comm_r_last])?;
    let challenges = slots.first().map_or(0, |slot| slot.inclusion_proofs.len());
    if slots.iter().any(|slot| slot.inclusion_proofs.len() != challenges) {
        return Err(Error::internal("slots differ in challenges"));
    }
    for i in 0..challenges {
        let paths: Vec<&Opening> = slots.iter().map(|slot| &slot.inclusion_proofs[i]).collect();
        let leaves = of_each(slots, |slot| slot.inclusion_proofs[i].leaf)?;
        lanes.put(&leaves)?;
        lanes.climb(&leaves, &paths, Indices::Own)?;
    }
    Ok(())
}

/// The public inputs of a slot.
fn inputs<'s>(slot: &'s Slot<'_>) -> Result<impl Iterator<Item = Scalar> + 's> {
    let comm_r = slot.comm_r.scalar()?;
    Ok(std::iter::once(comm_r).chain(slot.inclusion_proofs.iter().map(|path| Scalar::from(node_of(path)))))
}

/// Writes the slots in turn; reports them.
pub(super) fn write(slots: &[Slot<'_>], control: Control<'_>, sink: &mut impl Sink) -> Result<()> {
    let Some(first) = slots.first() else { return Ok(()) };
    let len = slot_len(first)?;
    let mut places = Buf::<Scalar>::zeroed("witness", len * slots.len().min(8))?;
    for (i, slots_here) in slots.chunks(8).enumerate() {
        control.check()?;
        fill(slots_here, Lanes::new(places.chunks_exact_mut(len).take(slots_here.len())))?;
        for (slot, values) in slots_here.iter().zip(places.chunks_exact(len)) {
            sink.scalars(values)?;
            inputs(slot)?.try_for_each(|input| sink.input(input))?;
        }
        control.report(8 * i + slots_here.len(), slots.len());
    }
    Ok(())
}

/// Writes the slots side by side into `aux`, on the rayon pool it is called in, and gives the public inputs without the
/// constant one; reports the slots. `INTERNAL` unless the places are as many as the slots' variables.
pub(super) fn write_into(slots: &[Slot<'_>], control: Control<'_>, aux: &mut [Scalar]) -> Result<Vec<Scalar>> {
    let len = slots.first().map_or(Ok(0), slot_len)?;
    if aux.len() != len * slots.len() {
        return Err(Error::internal(format!("{} places for {} slots of {len}", aux.len(), slots.len())));
    }
    let done = AtomicUsize::new(0);
    slots.par_chunks(8).zip(aux.par_chunks_mut((8 * len).max(1))).try_for_each(|(slots_here, aux)| {
        control.check()?;
        fill(slots_here, Lanes::new(aux.chunks_exact_mut(len)))?;
        let before = done.fetch_add(slots_here.len(), Ordering::Relaxed);
        control.report(before + slots_here.len(), slots.len());
        Ok::<_, Error>(())
    })?;
    let mut all = Vec::new();
    let count = slots.iter().map(|slot| 1 + slot.inclusion_proofs.len()).sum();
    all.try_reserve_exact(count).map_err(|_| Error::out_of_memory("inputs", count * size_of::<Scalar>()))?;
    for slot in slots {
        all.extend(inputs(slot)?);
    }
    Ok(all)
}
