//! Parts of a witness that have one shape, up to eight side by side: sequences of Poseidon hashes and paths up trees.
//!
//! Each lane has places of its own for its variables. All lanes are filled at one pace, so that every hash is made for all
//! of them at once.

use blstrs::Scalar;

use super::poseidon::Poseidon;
use crate::error::{Error, Result};
use crate::proofs::vanilla::{Node, Opening, PathElement};

/// An element of each lane.
pub(super) type Eight = [Scalar; 8];

/// Up to eight lanes, filled from their start.
pub(super) struct Lanes<'a> {
    outs: [&'a mut [Scalar]; 8],
    lanes: usize,
    at: usize,
}

/// Where the bits of a path's indices are.
#[derive(Clone, Copy)]
pub(super) enum Indices<'a> {
    /// They and the siblings are allocated step by step.
    Own,
    /// They are there already, as are the siblings: the leaf's place by lane.
    Given(&'a [u64]),
}

impl<'a> Lanes<'a> {
    /// The places of the lanes, of one length; more than eight are left out.
    pub fn new(outs: impl IntoIterator<Item = &'a mut [Scalar]>) -> Self {
        let mut outs = outs.into_iter();
        let mut lanes = 0;
        let outs = std::array::from_fn(|_| {
            let out = outs.next();
            lanes += usize::from(out.is_some());
            out.unwrap_or_default()
        });
        Lanes { outs, lanes, at: 0 }
    }

    /// Fills the next `len` places of every lane.
    pub fn each(&mut self, len: usize, mut fill: impl FnMut(usize, &mut [Scalar]) -> Result<()>) -> Result<()> {
        for (lane, out) in self.outs[..self.lanes].iter_mut().enumerate() {
            let places = out.get_mut(self.at..self.at + len).ok_or_else(shape)?;
            fill(lane, places)?;
        }
        self.at += len;
        Ok(())
    }

    /// Puts a value a lane.
    pub fn put(&mut self, values: &Eight) -> Result<()> {
        self.each(1, |lane, out| {
            out[0] = values[lane];
            Ok(())
        })
    }

    /// Puts a hash.
    pub fn hash(&mut self, poseidon: &Poseidon, preimage: &[Eight]) -> Result<Eight> {
        let end = self.at + poseidon.len();
        let outs = &mut self.outs[..self.lanes];
        if preimage.len() + 1 != poseidon.width || outs.iter().any(|out| out.len() < end) {
            return Err(shape());
        }
        let results = poseidon.hash_lanes(preimage, outs, self.at);
        self.at = end;
        Ok(results)
    }

    /// Puts the siblings of whole paths.
    pub fn siblings(&mut self, paths: &[&Opening]) -> Result<()> {
        let len = paths.first().map_or(0, |path| path.steps().map(|step| step.hashes.len()).sum());
        self.each(len, |lane, out| {
            let siblings = paths.get(lane).ok_or_else(shape)?.steps().flat_map(|step| &step.hashes);
            copy(siblings, out)
        })
    }

    /// Puts paths up a Poseidon tree from these leaves; gives the roots.
    pub fn climb(&mut self, leaves: &Eight, paths: &[&Opening], indices: Indices<'_>) -> Result<Eight> {
        let mut current = *leaves;
        let mut steps: Vec<_> = paths.iter().map(|path| path.steps()).collect();
        let mut shift = 0;
        loop {
            let at: Vec<Option<&PathElement>> = steps.iter_mut().map(Iterator::next).collect();
            let Some(Some(first)) = at.first() else { return Ok(current) };
            let arity = first.hashes.len() + 1;
            let (own, poseidon) = (matches!(indices, Indices::Own), tree_hash(arity)?);
            let bits = arity.trailing_zeros();
            let before = if own { bits as usize + arity - 1 } else { 0 };
            let mut preimage = [Eight::default(); 8];
            self.each(before + picks(arity), |lane, out| {
                let Some(Some(step)) = at.get(lane) else { return Err(shape()) };
                let index = match indices {
                    Indices::Own => step.index,
                    Indices::Given(leaves) => leaves.get(lane).ok_or_else(shape)? >> shift,
                };
                let mut siblings = [Scalar::default(); 7];
                copy(&step.hashes, &mut siblings[..arity - 1])?;
                if own {
                    for (i, bit) in out[..bits as usize].iter_mut().enumerate() {
                        *bit = Scalar::from(index >> i & 1);
                    }
                    out[bits as usize..before].copy_from_slice(&siblings[..arity - 1]);
                }
                let all = insert(current[lane], index, &siblings[..arity - 1], &mut out[before..]);
                preimage.iter_mut().zip(all).for_each(|(to, x)| to[lane] = x);
                Ok(())
            })?;
            current = self.hash(poseidon, &preimage[..arity])?;
            shift += bits;
        }
    }
}

fn shape() -> Error {
    Error::internal("parts of a witness differ in shape")
}

/// The hash of a node's children.
fn tree_hash(arity: usize) -> Result<&'static Poseidon> {
    match arity {
        2 | 8 => Poseidon::of(arity).ok_or_else(shape),
        _ => Err(Error::internal(format!("a Poseidon tree of arity {arity}"))),
    }
}

fn copy<'n>(nodes: impl IntoIterator<Item = &'n Node>, out: &mut [Scalar]) -> Result<()> {
    let mut nodes = nodes.into_iter();
    for place in out.iter_mut() {
        *place = nodes.next().ok_or_else(shape)?.scalar()?;
    }
    if nodes.next().is_some() {
        return Err(shape());
    }
    Ok(())
}

/// Variables of a path: all of them where it allocates its indices and siblings, otherwise without these.
pub(super) fn path_len(path: &Opening, own: bool) -> Result<usize> {
    path.steps()
        .map(|step| {
            let arity = step.hashes.len() + 1;
            let before = if own { arity.trailing_zeros() as usize + arity - 1 } else { 0 };
            Ok(before + picks(arity) + tree_hash(arity)?.len())
        })
        .sum()
}

/// Siblings of a path.
pub(super) fn siblings_len(path: &Opening) -> usize {
    path.steps().map(|step| step.hashes.len()).sum()
}

/// Variables of [`insert`].
fn picks(arity: usize) -> usize {
    if arity == 8 {
        22
    } else {
        2
    }
}

/// Puts what `insert` of storage-proofs' gadgets allocates, and gives `current` at `index` among the siblings. For two it
/// picks both; for eight there are NOR and AND of the two lower bits first, then picks place by place.
pub(super) fn insert(current: Scalar, index: u64, siblings: &[Scalar], out: &mut [Scalar]) -> [Scalar; 8] {
    let mut all = [Scalar::default(); 8];
    let a = current;
    let [b0, b1, b2] = [0, 1, 2].map(|i| index >> i & 1 == 1);
    let mut places = out.iter_mut();
    let mut put = |value| {
        if let Some(place) = places.next() {
            *place = value;
        }
        value
    };
    if let [b] = *siblings {
        all[0] = put(if b0 { b } else { a });
        all[1] = put(if b0 { a } else { b });
        return all;
    }
    let [b, c, d, e, f, g, h] = *siblings else { return all };
    let (nor, and) = (!b0 & !b1, b0 & b1);
    put(Scalar::from(u64::from(nor)));
    put(Scalar::from(u64::from(and)));
    let mut pick = |condition, x, y| put(if condition { x } else { y });
    let x = pick(nor, a, b);
    all[0] = pick(b2, b, x);
    let x = pick(b0, a, b);
    let x = pick(b1, c, x);
    all[1] = pick(b2, c, x);
    let x = pick(b0, d, a);
    let x = pick(b1, x, c);
    all[2] = pick(b2, d, x);
    let x = pick(and, a, d);
    all[3] = pick(b2, e, x);
    let x = pick(nor, a, f);
    all[4] = pick(b2, x, e);
    let x = pick(b0, a, f);
    let x = pick(b1, g, x);
    all[5] = pick(b2, x, f);
    let x = pick(b0, h, a);
    let x = pick(b1, x, g);
    all[6] = pick(b2, x, g);
    let x = pick(and, a, h);
    all[7] = pick(b2, x, h);
    all
}
