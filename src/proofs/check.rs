//! What must hold of a C1 of the circuit's shape before its circuits are built: that it belongs to the request, and that
//! its paths lead to the challenged nodes and its partitions' roots.
//!
//! Whether the hashes along the paths are right is the circuit's to say (`UNSATISFIED`).

use blstrs::Scalar;
use ff::PrimeField;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::drgraph::BASE_DEGREE;
use storage_proofs_porep::stacked::EXP_DEGREE;

use super::place::Place;
use super::session::Session;
use super::shape::Shape;
use super::vanilla::{Opening, SealProof, C1};
use super::{porep, registered, Request};
use crate::error::{Error, Result};

/// The public inputs that come before the challenges': replica_id, comm_d, comm_r.
const COMMITMENTS: usize = 3;

/// A challenge's public inputs: the path in tree D, those of the parents in tree C, the challenge itself, and its paths
/// in trees R and C.
const INPUTS_A_CHALLENGE: usize = 1 + BASE_DEGREE + EXP_DEGREE + 1 + 2;

/// Bytes of the public inputs of every partition.
pub(crate) fn input_bytes(shape: &Shape) -> usize {
    shape.partitions * (COMMITMENTS + shape.challenges * INPUTS_A_CHALLENGE) * size_of::<Scalar>()
}

/// Whether request, wrapper and C1 speak of the same sector. `MALFORMED_INPUT` names what they differ in.
pub(crate) fn agreement(
    request: &Request,
    proof: RegisteredSealProof,
    c1: &C1,
    wrapper: Option<(u64, u64)>,
) -> Result<()> {
    let name = registered::seal_name;
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

/// Whether a partition's challenges share their roots: the circuit takes one comm_r_last and one comm_c a partition,
/// those of the first challenge. `MALFORMED_INPUT` names the first that differs.
pub(crate) fn roots(vanilla: &[Vec<SealProof>], session: &Session<'_>) -> Result<()> {
    let place = Place::of("vanilla_proofs");
    for (k, partition) in vanilla.iter().enumerate() {
        for (i, proof) in partition.iter().enumerate() {
            session.look()?;
            let place = place.item(k);
            let place = place.item(i);
            let differs = |place: Place<'_>| {
                let message = format_args!("is not that of the partition's first challenge");
                Err(session.fault(&place.field("root"), message))
            };
            let first = &partition[0];
            if proof.comm_r_last_proof.root != first.comm_r_last_proof.root {
                return differs(place.field("comm_r_last_proof"));
            }
            if proof.c_x.inclusion_proof.root != first.c_x.inclusion_proof.root {
                return differs(place.field("replica_column_proofs").field("c_x").field("inclusion_proof"));
            }
        }
    }
    Ok(())
}

/// The node that a path leads to. The path's shape is checked, so its arities are its siblings and one.
pub(crate) fn node_of(opening: &Opening) -> u64 {
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
pub(crate) fn challenges(vanilla: &[Vec<SealProof>], inputs: &[Vec<Scalar>], session: &Session<'_>) -> Result<()> {
    let place = Place::of("vanilla_proofs");
    for (k, (partition, inputs)) in vanilla.iter().zip(inputs).enumerate() {
        let expected = inputs.get(COMMITMENTS..).unwrap_or_default().chunks_exact(INPUTS_A_CHALLENGE);
        if expected.len() != partition.len() {
            return Err(Error::internal("storage-proofs gives another number of public inputs than it did"));
        }
        for (i, (proof, expected)) in partition.iter().zip(expected).enumerate() {
            session.look()?;
            for (j, (node, expected)) in nodes_of(proof).zip(expected).enumerate() {
                if Scalar::from(node) != *expected {
                    session.let_go();
                    return Err(not_the_challenge(&place.item(k).item(i), j, node, expected));
                }
            }
        }
    }
    Ok(())
}

/// The nodes that a challenge's proof is about, in the order of the public inputs.
fn nodes_of(proof: &SealProof) -> impl Iterator<Item = u64> + '_ {
    let parents = proof.drg_parents.iter().chain(&proof.exp_parents);
    std::iter::once(node_of(&proof.comm_d_proofs))
        .chain(parents.map(|parent| node_of(&parent.inclusion_proof)))
        .chain([proof.node, node_of(&proof.comm_r_last_proof), node_of(&proof.c_x.inclusion_proof)])
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
