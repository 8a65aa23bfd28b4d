//! PoRep vanilla proofs as `SealCommitPhase1Output` spells them, in JSON and in bincode.
//!
//! filecoin-proofs' own types hide their rows and labels, so nobody outside can check their lengths before its circuits
//! index into them; they are generic over the tree, while what is on the wire is not; and they grow with whatever comes.
//! These read what serde writes of them (the same fields in the same order), take exactly what the circuit takes, refuse
//! what is no field element, and keep only what the circuit needs: the labels that `labeling_proofs` and
//! `encoding_proof` repeat are checked and let go.

use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::drgraph::BASE_DEGREE;
use storage_proofs_porep::stacked::{EXP_DEGREE, TOTAL_PARENTS};

use super::place::Place;
use super::reader::Reader;
use super::registered::{self, SEAL_PROOFS};
use super::shape::{Part, Shape};
use crate::error::{Error, Result};

/// A field element, little endian, less than the modulus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node(pub [u8; 32]);

impl Node {
    /// The element of these bytes, if they are less than the modulus.
    #[inline]
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        // The modulus begins 0x73; most elements begin lower and need no conversion to be told apart.
        (bytes[31] < 0x73 || Scalar::from_repr_vartime(bytes).is_some()).then_some(Node(bytes))
    }

    /// The element. `INTERNAL` where it was not made by [`from_bytes`](Self::from_bytes).
    #[inline]
    pub fn scalar(&self) -> Result<Scalar> {
        Scalar::from_repr_vartime(self.0).ok_or_else(|| Error::internal("a node is no field element"))
    }
}

/// One step up a tree.
#[derive(Debug)]
pub(crate) struct PathElement {
    /// The siblings: arity - 1 of them.
    pub hashes: Vec<Node>,
    /// Where among them the node on the path stands.
    pub index: u64,
}

/// A Merkle proof.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// The tree's root.
    pub root: Node,
    /// The node proved to be in it.
    pub leaf: Node,
    /// The parts of the path, the leaf's first: within the base tree, under a root of such, under two.
    parts: [Vec<PathElement>; 3],
}

impl Opening {
    /// All steps, the leaf's first.
    pub fn steps(&self) -> impl Iterator<Item = &PathElement> {
        self.parts.iter().flatten()
    }

    #[cfg(test)]
    pub fn parts_mut(&mut self) -> &mut [Vec<PathElement>; 3] {
        &mut self.parts
    }
}

/// The labels of a node, one a layer, and the proof that their hash is in tree C.
#[derive(Debug, Default)]
pub(crate) struct ColumnOpening {
    /// The node.
    pub index: u32,
    /// Its labels.
    pub rows: Vec<Node>,
    pub inclusion_proof: Opening,
}

/// What proves one challenge.
#[derive(Debug, Default)]
pub(crate) struct SealProof {
    pub comm_d_proofs: Opening,
    pub comm_r_last_proof: Opening,
    /// The challenged node's column.
    pub c_x: ColumnOpening,
    /// The columns of its parents.
    pub drg_parents: Vec<ColumnOpening>,
    pub exp_parents: Vec<ColumnOpening>,
    /// The challenged node, as the first of `labeling_proofs` has it.
    pub node: u64,
}

/// `SealCommitPhase1Output`.
#[derive(Debug, Default)]
pub(crate) struct C1 {
    /// By partition and challenge.
    pub vanilla_proofs: Vec<Vec<SealProof>>,
    pub comm_r: Node,
    pub comm_d: Node,
    pub replica_id: Node,
    pub seed: [u8; 32],
    pub ticket: [u8; 32],
}

/// The variants of vanilla proofs: one a sector size.
const SIZES: [&str; 5] =
    ["StackedDrg2KiBV1", "StackedDrg8MiBV1", "StackedDrg512MiBV1", "StackedDrg32GiBV1", "StackedDrg64GiBV1"];

/// The variants of a Merkle proof by the heights of its tree, and the fields of each.
const TREES: [&str; 3] = ["Single", "Sub", "Top"];
const TREE_FIELDS: [&[&str]; 3] = [
    &["root", "leaf", "path"],
    &["base_proof", "sub_proof", "root", "leaf"],
    &["base_proof", "sub_proof", "top_proof", "root", "leaf"],
];

/// The names of a C1's fields, in order.
pub(crate) const C1_FIELDS: [&str; 7] =
    ["registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"];

impl C1 {
    /// Reads a C1 for `proof`, whose circuit takes `shape`. `whole` names what has no place of its own.
    pub fn read<R: Reader>(
        reader: &mut R,
        whole: &Place<'_>,
        proof: RegisteredSealProof,
        shape: &Shape,
    ) -> Result<Self> {
        let mut c1 = C1::default();
        reader.fields(whole, &C1_FIELDS, |r, i, at| {
            match i {
                0 => registered_proof(r, at, proof)?,
                1 => c1.vanilla_proofs = vanilla_proofs(r, at, proof, shape)?,
                2 => c1.comm_r = node(r, at)?,
                3 => c1.comm_d = node(r, at)?,
                4 => c1.replica_id = node(r, at)?,
                5 => c1.seed = r.bytes32(at)?,
                _ => c1.ticket = r.bytes32(at)?,
            }
            Ok(())
        })?;
        Ok(c1)
    }
}

/// Refused at once where it is another than the request's: what follows would have another shape.
fn registered_proof<R: Reader>(r: &mut R, at: &Place<'_>, expected: RegisteredSealProof) -> Result<()> {
    let names = SEAL_PROOFS.map(registered::seal_name);
    let number = r.name(at, &names.each_ref().map(String::as_str))?;
    if SEAL_PROOFS[number] != expected {
        let expected = registered::seal_name(expected);
        return Err(r.session().fault(at, format_args!("the C1 is of {}, the request says {expected}", names[number])));
    }
    Ok(())
}

fn vanilla_proofs<R: Reader>(
    r: &mut R,
    at: &Place<'_>,
    proof: RegisteredSealProof,
    shape: &Shape,
) -> Result<Vec<Vec<SealProof>>> {
    r.variant(at, &SIZES, |r, size| {
        if registered::seal_number(proof) as usize % SIZES.len() != size {
            r.session().let_go();
            return Err(Error::malformed(
                "sector_size",
                format!("vanilla_proofs are of another sector size than {}", registered::seal_name(proof)),
            ));
        }
        r.list(at, "partitions", shape.partitions, |r, at| {
            r.list(at, "challenges", shape.challenges, |r, at| seal_proof(r, at, shape))
        })
    })
}

fn seal_proof<R: Reader>(r: &mut R, at: &Place<'_>, shape: &Shape) -> Result<SealProof> {
    const FIELDS: [&str; 5] =
        ["comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs", "encoding_proof"];
    let mut proof = SealProof::default();
    r.fields(at, &FIELDS, |r, i, at| {
        match i {
            0 => proof.comm_d_proofs = opening(r, at, &shape.tree_d)?,
            1 => proof.comm_r_last_proof = opening(r, at, &shape.tree_r)?,
            2 => r.fields(at, &["c_x", "drg_parents", "exp_parents"], |r, i, at| {
                match i {
                    0 => proof.c_x = column(r, at, shape)?,
                    1 => proof.drg_parents = r.list(at, "parents", BASE_DEGREE, |r, at| column(r, at, shape))?,
                    _ => proof.exp_parents = r.list(at, "parents", EXP_DEGREE, |r, at| column(r, at, shape))?,
                }
                Ok(())
            })?,
            3 => {
                let mut first = None;
                r.items(at, "layers", shape.layers, |r, at| {
                    let node = labeling(r, at)?;
                    first.get_or_insert(node);
                    Ok(())
                })?;
                proof.node = first.unwrap_or_default();
            }
            _ => drop(labeling(r, at)?),
        }
        Ok(())
    })?;
    Ok(proof)
}

/// A label's preimage, or that of the encoding key: the node.
fn labeling<R: Reader>(r: &mut R, at: &Place<'_>) -> Result<u64> {
    let mut of = 0;
    r.fields(at, &["parents", "layer_index", "node"], |r, i, at| {
        match i {
            0 => r.items(at, "labels", TOTAL_PARENTS, |r, at| node(r, at).map(drop))?,
            1 => drop(r.u32(at)?),
            _ => of = r.u64(at)?,
        }
        Ok(())
    })?;
    Ok(of)
}

fn column<R: Reader>(r: &mut R, at: &Place<'_>, shape: &Shape) -> Result<ColumnOpening> {
    let mut column = ColumnOpening::default();
    r.fields(at, &["column", "inclusion_proof"], |r, i, at| {
        match i {
            0 => r.fields(at, &["index", "rows", "_h"], |r, i, at| {
                match i {
                    0 => column.index = r.u32(at)?,
                    1 => column.rows = r.list(at, "rows", shape.layers, node)?,
                    _ => r.unit(at)?,
                }
                Ok(())
            })?,
            _ => column.inclusion_proof = opening(r, at, &shape.tree_r)?,
        }
        Ok(())
    })?;
    Ok(column)
}

/// Reads a Merkle proof of exactly this tree.
pub(crate) fn opening<R: Reader>(r: &mut R, at: &Place<'_>, tree: &[Part]) -> Result<Opening> {
    let mut opening = Opening::default();
    r.fields(at, &["data"], |r, _, at| {
        r.variant(at, &TREES, |r, height| {
            let names = TREE_FIELDS[height];
            if height + 1 != tree.len() {
                let (theirs, ours) = (TREES[height], TREES[tree.len() - 1]);
                let message = format_args!("is a Merkle proof of kind {theirs} where this sector size has {ours}");
                return Err(r.session().fault(at, message));
            }
            r.fields(at, names, |r, i, at| {
                match names[i] {
                    "root" => opening.root = node(r, at)?,
                    "leaf" => opening.leaf = node(r, at)?,
                    name => {
                        // The names of a tree's parts are its fields', as many as it has heights.
                        for (steps, part) in opening.parts.iter_mut().zip(tree).filter(|(_, part)| part.name == name) {
                            *steps = path(r, at, part)?;
                        }
                    }
                }
                Ok(())
            })
        })
    })?;
    Ok(opening)
}

fn path<R: Reader>(r: &mut R, at: &Place<'_>, part: &Part) -> Result<Vec<PathElement>> {
    let mut steps = Vec::new();
    r.fields(at, &["path"], |r, _, at| {
        steps = r.list(at, "steps", part.steps, |r, at| step(r, at, part.arity))?;
        Ok(())
    })?;
    Ok(steps)
}

fn step<R: Reader>(r: &mut R, at: &Place<'_>, arity: usize) -> Result<PathElement> {
    let mut step = PathElement { hashes: Vec::new(), index: 0 };
    r.fields(at, &["hashes", "index"], |r, i, at| {
        if i == 0 {
            step.hashes = r.list(at, "siblings", arity - 1, node)?;
            return Ok(());
        }
        step.index = r.u64(at)?;
        if step.index >= arity as u64 {
            let message = format_args!("{} is not below the arity, {arity}", step.index);
            return Err(r.session().fault(at, message));
        }
        Ok(())
    })?;
    Ok(step)
}

/// Reads a field element.
#[inline]
pub(crate) fn node<R: Reader>(r: &mut R, at: &Place<'_>) -> Result<Node> {
    match Node::from_bytes(r.bytes32(at)?) {
        Some(node) => Ok(node),
        None => {
            Err(r.session().fault(at, format_args!("32 bytes that are no field element (not less than the modulus)")))
        }
    }
}
