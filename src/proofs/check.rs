//! What must hold of a C1 before its circuits are built: that it belongs to the request, that it has the circuit's
//! shape, and that its paths lead to the challenged nodes.
//!
//! Whether the hashes along the paths are right is the circuit's to say (`UNSATISFIED`).

use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::drgraph::{Graph, BASE_DEGREE};
use storage_proofs_core::merkle::{base_path_length, MerkleTreeTrait};
use storage_proofs_porep::stacked::{PublicParams, EXP_DEGREE, TOTAL_PARENTS};
use typenum::Unsigned;

use super::place::Place;
use super::vanilla::{ColumnOpening, Opening, SealProof, C1};
use super::{porep, registered, Request};
use crate::error::{Error, Result};

/// The public inputs that come before the challenges': replica_id, comm_d, comm_r.
const COMMITMENTS: usize = 3;

/// A challenge's public inputs: the path in tree D, those of the parents in tree C, the challenge itself, and its paths
/// in trees R and C.
const INPUTS_A_CHALLENGE: usize = 1 + BASE_DEGREE + EXP_DEGREE + 1 + 2;

/// Whether request, wrapper and C1 speak of the same sector. `MALFORMED_INPUT` names what they differ in.
pub(crate) fn agreement(
    request: &Request,
    proof: RegisteredSealProof,
    c1: &C1,
    wrapper: Option<(u64, u64)>,
) -> Result<()> {
    let name = registered::seal_name;
    if c1.registered_proof != proof {
        return Err(Error::malformed(
            "registered_proof",
            format!("the C1 is of {}, the request says {}", name(c1.registered_proof), name(proof)),
        ));
    }
    let sector_size = u64::from(proof.sector_size());
    if let Some((sector_number, size)) = wrapper {
        if size != sector_size {
            return Err(Error::malformed(
                "sector_size",
                format!("SectorSize is {size}, sectors of {} have {sector_size} bytes", name(proof)),
            ));
        }
        if sector_number != request.sector_number {
            return Err(Error::malformed(
                "sector_number",
                format!("SectorNum is {sector_number}, the request says {}", request.sector_number),
            ));
        }
    }
    let size_of_proofs = c1.vanilla_proofs.size_index();
    if registered::seal_number(proof) as usize % 5 != size_of_proofs {
        return Err(Error::malformed(
            "sector_size",
            format!("vanilla_proofs are of another sector size than {}", name(proof)),
        ));
    }
    let ours = porep::replica_id(proof, request.miner_id, request.sector_number, &c1.ticket, c1.comm_d);
    if ours != c1.replica_id {
        return Err(Error::malformed(
            "miner_id",
            format!(
                "replica_id {} does not follow from miner_id {}, sector_number {}, the ticket and comm_d",
                registered::to_hex(&c1.replica_id.0),
                request.miner_id,
                request.sector_number
            ),
        ));
    }
    Ok(())
}

/// How many of everything the circuit of a seal proof takes.
#[derive(Debug)]
pub(crate) struct Shape {
    partitions: usize,
    challenges: usize,
    layers: usize,
    /// log2 of the number of nodes: the steps of a path in the binary tree D.
    tree_d: usize,
    /// Trees C and R from the leaf up: the name of the path's part, its steps, its arity.
    tree_r: Vec<(&'static str, usize, usize)>,
}

impl Shape {
    /// The shape that the circuit of `proof` expects.
    pub fn of<Tree: 'static + MerkleTreeTrait>(proof: RegisteredSealProof, params: &PublicParams<Tree>) -> Self {
        let nodes = params.graph.size();
        let (base, sub, top) = (Tree::Arity::USIZE, Tree::SubTreeArity::USIZE, Tree::TopTreeArity::USIZE);
        let steps = base_path_length::<Tree::Arity, Tree::SubTreeArity, Tree::TopTreeArity>(nodes);
        let mut tree_r = vec![(if sub == 0 { "path" } else { "base_proof" }, steps, base)];
        tree_r.extend((sub > 0).then_some(("sub_proof", 1, sub)));
        tree_r.extend((top > 0).then_some(("top_proof", 1, top)));
        Shape {
            partitions: proof.partitions().into(),
            challenges: params.challenges.num_challenges_per_partition(),
            layers: params.num_layers,
            tree_d: nodes.trailing_zeros() as usize,
            tree_r,
        }
    }

    /// Whether vanilla proofs, by partition and challenge, have this shape. `MALFORMED_INPUT` names the first that
    /// differs.
    pub fn check(&self, vanilla: &[Vec<SealProof>]) -> Result<()> {
        let place = Place::of("vanilla_proofs");
        count(&place, "partitions", vanilla.len(), self.partitions)?;
        for (k, partition) in vanilla.iter().enumerate() {
            let place = place.item(k);
            count(&place, "challenges", partition.len(), self.challenges)?;
            for (i, proof) in partition.iter().enumerate() {
                self.check_proof(&place.item(i), proof)?;
                self.check_roots(&place.item(i), proof, &partition[0])?;
            }
        }
        Ok(())
    }

    fn check_proof(&self, place: &Place<'_>, proof: &SealProof) -> Result<()> {
        check_path(&place.field("comm_d_proofs"), &proof.comm_d_proofs, &[("path", self.tree_d, 2)])?;
        check_path(&place.field("comm_r_last_proof"), &proof.comm_r_last_proof, &self.tree_r)?;

        let columns = &proof.replica_column_proofs;
        let at = place.field("replica_column_proofs");
        self.check_column(&at.field("c_x"), &columns.c_x)?;
        for (name, parents, degree) in
            [("drg_parents", &columns.drg_parents, BASE_DEGREE), ("exp_parents", &columns.exp_parents, EXP_DEGREE)]
        {
            let at = at.field(name);
            count(&at, "parents", parents.len(), degree)?;
            for (i, parent) in parents.iter().enumerate() {
                self.check_column(&at.item(i), parent)?;
            }
        }

        let at = place.field("labeling_proofs");
        count(&at, "layers", proof.labeling_proofs.len(), self.layers)?;
        for (i, labeling) in proof.labeling_proofs.iter().enumerate() {
            count(&at.item(i).field("parents"), "labels", labeling.parents.0, TOTAL_PARENTS)?;
        }
        count(&place.field("encoding_proof").field("parents"), "labels", proof.encoding_proof.parents.0, TOTAL_PARENTS)
    }

    fn check_column(&self, place: &Place<'_>, column: &ColumnOpening) -> Result<()> {
        count(&place.field("column").field("rows"), "rows", column.column.rows.len(), self.layers)?;
        check_path(&place.field("inclusion_proof"), &column.inclusion_proof, &self.tree_r)
    }

    /// The circuit takes one comm_r_last and one comm_c a partition, those of the first challenge.
    fn check_roots(&self, place: &Place<'_>, proof: &SealProof, first: &SealProof) -> Result<()> {
        let differs =
            |place: Place<'_>| Err(place.field("root").error("is not that of the partition's first challenge"));
        if proof.comm_r_last_proof.root() != first.comm_r_last_proof.root() {
            return differs(place.field("comm_r_last_proof"));
        }
        if proof.replica_column_proofs.c_x.inclusion_proof.root()
            != first.replica_column_proofs.c_x.inclusion_proof.root()
        {
            return differs(place.field("replica_column_proofs").field("c_x").field("inclusion_proof"));
        }
        Ok(())
    }
}

fn count(place: &Place<'_>, what: &str, there: usize, expected: usize) -> Result<()> {
    if there == expected {
        return Ok(());
    }
    Err(place.error(format!("has {there} {what} where the circuit takes {expected}")))
}

/// Checks a Merkle proof against its parts' names, steps and arities.
fn check_path(place: &Place<'_>, opening: &Opening, expected: &[(&'static str, usize, usize)]) -> Result<()> {
    let parts = opening.parts();
    if !parts.iter().map(|(name, _)| *name).eq(expected.iter().map(|(name, ..)| *name)) {
        let names = |parts: Vec<&str>| parts.join(" + ");
        return Err(place.error(format!(
            "is a Merkle proof of {} where this sector size has {}",
            names(parts.iter().map(|(name, _)| *name).collect()),
            names(expected.iter().map(|(name, ..)| *name).collect())
        )));
    }
    for ((name, part), (_, steps, arity)) in parts.into_iter().zip(expected) {
        let at = place.field(name);
        count(&at, "steps", part.len(), *steps)?;
        for (i, step) in part.iter().enumerate() {
            count(&at.item(i).field("hashes"), "siblings", step.hashes.len(), arity - 1)?;
            if step.index >= *arity as u64 {
                return Err(at.item(i).field("index").error(format!("{} is not below the arity, {arity}", step.index)));
            }
        }
    }
    Ok(())
}

/// The node that a path leads to. The path's shape is checked, so its arities are its siblings and one.
fn node_of(opening: &Opening) -> u64 {
    let mut node = 0;
    let mut leaves = 1;
    for step in opening.steps() {
        node += step.index * leaves;
        leaves *= step.hashes.len() as u64 + 1;
    }
    node
}

/// Whether the paths lead to the nodes that the statement's public inputs ask for, which follow from registered_proof,
/// replica_id and seed (or comm_r). If they do not, the circuit may hold, and its proof be of another statement.
pub(crate) fn challenges(vanilla: &[Vec<SealProof>], inputs: &[Vec<Scalar>]) -> Result<()> {
    let place = Place::of("vanilla_proofs");
    for (k, (partition, inputs)) in vanilla.iter().zip(inputs).enumerate() {
        let expected = inputs.get(COMMITMENTS..).unwrap_or_default().chunks_exact(INPUTS_A_CHALLENGE);
        if expected.len() != partition.len() {
            return Err(Error::internal("storage-proofs gives another number of public inputs than it did"));
        }
        for (i, (proof, expected)) in partition.iter().zip(expected).enumerate() {
            for (j, (node, expected)) in nodes_of(proof).into_iter().zip(expected).enumerate() {
                if Scalar::from(node) != *expected {
                    return Err(not_the_challenge(&place.item(k).item(i), j, node, expected));
                }
            }
        }
    }
    Ok(())
}

/// The nodes that a challenge's proof is about, in the order of the public inputs.
fn nodes_of(proof: &SealProof) -> Vec<u64> {
    let columns = &proof.replica_column_proofs;
    let parents = columns.drg_parents.iter().chain(&columns.exp_parents);
    let mut nodes = vec![node_of(&proof.comm_d_proofs)];
    nodes.extend(parents.map(|parent| node_of(&parent.inclusion_proof)));
    nodes.push(proof.labeling_proofs.first().map_or(0, |labeling| labeling.node));
    nodes.push(node_of(&proof.comm_r_last_proof));
    nodes.push(node_of(&columns.c_x.inclusion_proof));
    nodes
}

/// The error about the `j`th of [`nodes_of`].
fn not_the_challenge(proof: &Place<'_>, j: usize, node: u64, expected: &Scalar) -> Error {
    const EXP: usize = 1 + BASE_DEGREE;
    const CHALLENGE: usize = EXP + EXP_DEGREE;
    const REPLICA: usize = CHALLENGE + 1;
    let [a, b, c, d, e, f, g, h, ..] = expected.to_repr();
    let expected = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let message = format!("is of node {node} where registered_proof, replica_id and seed ask for node {expected}");
    let columns = proof.field("replica_column_proofs");
    match j {
        0 => proof.field("comm_d_proofs").error(message),
        1..EXP => columns.field("drg_parents").item(j - 1).field("inclusion_proof").error(message),
        EXP..CHALLENGE => columns.field("exp_parents").item(j - EXP).field("inclusion_proof").error(message),
        CHALLENGE => proof.field("labeling_proofs").item(0).field("node").error(message),
        REPLICA => proof.field("comm_r_last_proof").error(message),
        _ => columns.field("c_x").field("inclusion_proof").error(message),
    }
}
