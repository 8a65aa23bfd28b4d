//! SnapDeals (empty sector update): what is proved about an updated sector, and its partition circuits.

use std::sync::atomic::AtomicBool;

use blstrs::Scalar;
use filecoin_proofs_api::RegisteredUpdateProof;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_update::constants::{h_default, TreeRDomain};
use storage_proofs_update::{
    ChallengeProof, Challenges, EmptySectorUpdate, EmptySectorUpdateCompound, PartitionProof, PublicInputs,
    PublicParams,
};

use super::binary::Binary;
use super::check::node_of;
use super::inspect::{Format, Inspected};
use super::pieces::{expect_count, pieces, VANILLA};
use super::place::Place;
use super::post::hash2;
use super::reader::Reader;
use super::session::Session;
use super::shape::{allocated, data_tree, opening_bytes, replica_tree, Part};
use super::trees::{internal, merkle_proof, with_tree};
use super::vanilla::{node, opening, Node, Opening};
use super::{registered, CircuitId, CircuitVisitor, Kind, Public, Request};
use crate::error::{Error, Result};

/// What storage-proofs' hashing needs at most, and cannot be refused.
const HASHING_BYTES: usize = 256 << 10;

/// What an update proves: that the replica under `comm_r_new` is that under `comm_r_old` with the data under `comm_d_new`
/// in it.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    proof: RegisteredUpdateProof,
    pub comm_r_old: Node,
    pub comm_r_new: Node,
    pub comm_d_new: Node,
    pub params: PublicParams,
}

impl Statement {
    fn new(number: u32, comm_r_old: [u8; 32], comm_r_new: [u8; 32], comm_d_new: [u8; 32]) -> Result<Self> {
        let element = |field: &'static str, bytes| {
            Node::from_bytes(bytes).ok_or_else(|| Error::argument(field, "is no field element"))
        };
        let proof = registered::update_from_number(number)?;
        Ok(Statement {
            proof,
            comm_r_old: element("comm_r_old", comm_r_old)?,
            comm_r_new: element("comm_r_new", comm_r_new)?,
            comm_d_new: element("comm_d_new", comm_d_new)?,
            params: PublicParams::from_sector_size(proof.sector_size().into()),
        })
    }

    /// The statement of a [`Public`]. `INVALID_ARGUMENT` names the field.
    pub fn of(public: &Public) -> Result<Self> {
        Self::new(public.registered_proof, public.comm_r_old, public.comm_r_new, public.comm_d_new)
    }

    fn sector_size(&self) -> u64 {
        self.proof.sector_size().into()
    }

    fn update(&self, k: usize) -> PublicInputs {
        PublicInputs {
            k,
            comm_r_old: self.comm_r_old.0.into(),
            comm_d_new: self.comm_d_new.0.into(),
            comm_r_new: self.comm_r_new.0.into(),
            h: self.h(),
        }
    }

    /// How many of a challenge's high bits choose the factor of its data.
    pub fn h(&self) -> usize {
        h_default(self.params.sector_nodes)
    }

    /// The public inputs of every partition, without the constant one.
    pub fn public_inputs(&self) -> Result<Vec<Vec<Scalar>>> {
        with_tree!(self.sector_size(), Tree => {
            type Compound = EmptySectorUpdateCompound<Tree>;
            (0..self.params.partition_count)
                .map(|k| {
                    <Compound as CompoundProof<EmptySectorUpdate<Tree>, _>>::generate_public_inputs(
                        &self.update(k), &self.params, Some(k),
                    )
                    .map_err(internal)
                })
                .collect()
        })
    }

    /// The leaves that partition `k` is challenged about: they follow from comm_r_new.
    fn challenges(&self, k: usize) -> Challenges {
        let comm_r_new: TreeRDomain = self.comm_r_new.0.into();
        Challenges::new(self.params.sector_nodes, comm_r_new, k)
    }
}

/// What proves one challenge.
#[derive(Debug, Default)]
pub(crate) struct Update {
    pub proof_r_old: Opening,
    pub proof_d_new: Opening,
    pub proof_r_new: Opening,
}

/// A partition's vanilla proof: `PartitionProof`.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    pub comm_c: Node,
    pub apex_leafs: Vec<Node>,
    pub challenge_proofs: Vec<Update>,
}

/// The trees' paths.
struct Trees {
    r: Vec<Part>,
    d: Vec<Part>,
}

impl Trees {
    fn of(params: &PublicParams) -> Result<Self> {
        with_tree!(params.sector_nodes as u64 * 32, Tree => {
            Ok(Trees { r: replica_tree::<Tree>(params.sector_nodes), d: data_tree(params.sector_nodes) })
        })
    }

    /// Bytes of the vanilla proofs of every partition, in memory.
    fn bytes(&self, params: &PublicParams) -> usize {
        let a_challenge = 2 * opening_bytes(&self.r) + opening_bytes(&self.d);
        let a_partition = allocated::<Node>(params.apex_leaf_count)
            + allocated::<Update>(params.challenge_count)
            + params.challenge_count * a_challenge;
        allocated::<Partition>(params.partition_count) + params.partition_count * a_partition
    }
}

/// Decoded vanilla proofs: checked, so that their circuits can be built.
#[derive(Debug)]
pub(crate) struct Snap {
    statement: Statement,
    miner_id: u64,
    sector_number: u64,
    vanilla: Vec<Partition>,
    /// By partition.
    inputs: Vec<Vec<Scalar>>,
    /// What `vanilla` takes.
    bytes: usize,
}

impl Snap {
    /// Reads and checks the vanilla proofs of a request, one a partition. Errors: `INVALID_ARGUMENT` for the request
    /// itself, `MALFORMED_INPUT` for the bytes (`vanilla[2].…`), for a shape that is not the circuit's, and for a commitment
    /// that they are not about. `OUT_OF_MEMORY` (`vanilla`) when the system refuses, `CANCELLED` soon after the flag is set.
    pub fn decode(request: &Request, bytes: &[u8], cancelled: &AtomicBool) -> Result<Self> {
        let Request { comm_r_old, comm_r_new, comm_d_new, .. } = *request;
        let statement = Statement::new(request.registered_proof, comm_r_old, comm_r_new, comm_d_new)?;
        let pieces = pieces(request, bytes)?;
        let params = &statement.params;
        expect_count(pieces.len(), params.partition_count, &registered::update_name(statement.proof))?;
        let session = Session::new(cancelled)?;
        session.look()?;
        let trees = Trees::of(params)?;
        let size = trees.bytes(params);
        session.probe(size)?;
        session.probe_heap(HASHING_BYTES)?;
        let mut vanilla = session.vec(params.partition_count)?;
        let all = Place::of(VANILLA);
        for (k, piece) in pieces.enumerate() {
            let place = all.item(k);
            let mut binary = Binary::new(piece, &session);
            let partition = read(&mut binary, &place, params, &trees)?;
            binary.end(&place)?;
            check(&statement, k, &partition, &place, &session)?;
            session.push(&mut vanilla, partition)?;
        }
        let Request { miner_id, sector_number, .. } = *request;
        let inputs = statement.public_inputs()?;
        Ok(Snap { statement, miner_id, sector_number, vanilla, inputs, bytes: size })
    }

    /// Reads one partition's vanilla proof of `proof` for what it contains, without a request. Its place is `vanilla`.
    pub fn inspect(binary: &mut Binary<'_>, proof: RegisteredUpdateProof, session: &Session<'_>) -> Result<Inspected> {
        let params = PublicParams::from_sector_size(proof.sector_size().into());
        let trees = Trees::of(&params)?;
        let place = Place::of(VANILLA);
        let partition = read(binary, &place, &params, &trees)?;
        binary.end(&place)?;
        let Partition { comm_c, challenge_proofs, .. } = &partition;
        // There is at least one.
        let first = &challenge_proofs[0];
        let root_d = first.proof_d_new.root.0;
        let [comm_r_old, comm_r_new] = [&first.proof_r_old, &first.proof_r_new].map(|o| hash2(*comm_c, o.root));
        let number = registered::update_number(proof);
        let statement = Statement::new(number, comm_r_old, comm_r_new, root_d)?;
        // Which partition it is, its challenges say.
        let challenged = |k: &usize| {
            let leaves = challenge_proofs.iter().map(|update| node_of(&update.proof_r_new));
            leaves.eq(statement.challenges(*k).map(u64::from))
        };
        let k = (0..params.partition_count).find(challenged);
        check(&statement, k.unwrap_or(0), &partition, &place, session)?;
        Ok(Inspected {
            circuit: CircuitId { kind: Kind::Snap, sector_size: proof.sector_size().into() },
            format: Format::Bincode,
            registered_proofs: vec![number],
            sector_number: None,
            partitions: Some(params.partition_count),
            partition: k,
            challenges: challenge_proofs.len(),
            values: vec![
                ("comm_r_old", comm_r_old),
                ("comm_r_new", comm_r_new),
                ("comm_d_new", root_d),
                ("comm_c", comm_c.0),
            ],
            decoded_bytes: trees.bytes(&params),
        })
    }

    /// Whether the vanilla proofs prove this statement; `MALFORMED_INPUT` names the first value that differs.
    pub fn agrees_with(&self, public: &Public) -> Result<()> {
        let mine = &self.statement;
        let same = [
            ("registered_proof", registered::update_number(mine.proof) == public.registered_proof),
            ("comm_r_old", mine.comm_r_old.0 == public.comm_r_old),
            ("comm_r_new", mine.comm_r_new.0 == public.comm_r_new),
            ("comm_d_new", mine.comm_d_new.0 == public.comm_d_new),
            ("miner_id", self.miner_id == public.miner_id),
            ("sector_number", self.sector_number == public.sector_number),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            Some((field, _)) => Err(Error::malformed(field, "the request has another than the statement")),
            None => Ok(()),
        }
    }

    /// Bytes of the vanilla proofs, in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.vanilla.len()
    }

    /// The sector size in bytes.
    pub fn sector_size(&self) -> u64 {
        self.statement.sector_size()
    }

    /// Public inputs of partition `k`, without the constant one.
    pub fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        self.inputs.get(k).cloned().ok_or_else(|| self.no_partition(k))
    }

    /// The statement, and the vanilla proof of partition `k`.
    pub fn vanilla(&self, k: usize) -> Result<(&Statement, &Partition)> {
        let partition = self.vanilla.get(k).ok_or_else(|| self.no_partition(k))?;
        Ok((&self.statement, partition))
    }

    #[cfg(test)]
    pub fn vanilla_mut(&mut self) -> &mut Vec<Partition> {
        &mut self.vanilla
    }

    /// Hands the visitor the circuit of partition `k`.
    pub fn with_circuit<V: CircuitVisitor>(&self, k: usize, visitor: V) -> Result<V::Output> {
        let partition = self.vanilla.get(k).ok_or_else(|| self.no_partition(k))?;
        with_tree!(self.sector_size(), Tree => {
            type Compound = EmptySectorUpdateCompound<Tree>;
            let challenge = |update: &Update| ChallengeProof::<Tree> {
                proof_r_old: merkle_proof(&update.proof_r_old),
                proof_d_new: merkle_proof(&update.proof_d_new),
                proof_r_new: merkle_proof(&update.proof_r_new),
            };
            let proof = PartitionProof::<Tree> {
                comm_c: partition.comm_c.0.into(),
                apex_leafs: partition.apex_leafs.iter().map(|leaf| leaf.0.into()).collect(),
                challenge_proofs: partition.challenge_proofs.iter().map(challenge).collect(),
            };
            let circuit = <Compound as CompoundProof<EmptySectorUpdate<Tree>, _>>::circuit(
                &self.statement.update(k), (), &proof, &self.statement.params, Some(k),
            )
            .map_err(internal)?;
            drop(proof);
            Ok(visitor.visit(circuit))
        })
    }

    fn no_partition(&self, k: usize) -> Error {
        Error::internal(format!("partition {k} of {}", self.partitions()))
    }
}

/// Whether a partition's vanilla proof is about the statement's commitments and the leaves that it is challenged about.
/// Whether the hashes along the paths are right is the circuit's to say.
fn check(
    statement: &Statement,
    k: usize,
    partition: &Partition,
    place: &Place<'_>,
    session: &Session<'_>,
) -> Result<()> {
    let Partition { comm_c, challenge_proofs, .. } = partition;
    let all = place.field("challenge_proofs");
    // There is at least one; which is the circuit's word for both replicas' roots.
    let first = &challenge_proofs[0];
    let (root_old, root_new) = (first.proof_r_old.root, first.proof_r_new.root);
    let about = |field: &'static str, proof: &str| {
        let text = format_args!("vanilla[{k}] has another: see comm_c and challenge_proofs[0].{proof}.root");
        Err(session.fault(&Place::of(field), text))
    };
    if hash2(*comm_c, root_old) != statement.comm_r_old.0 {
        return about("comm_r_old", "proof_r_old");
    }
    if hash2(*comm_c, root_new) != statement.comm_r_new.0 {
        return about("comm_r_new", "proof_r_new");
    }
    if first.proof_d_new.root != statement.comm_d_new {
        return about("comm_d_new", "proof_d_new");
    }
    for (j, (update, challenge)) in challenge_proofs.iter().zip(statement.challenges(k)).enumerate() {
        session.look()?;
        let proofs = [
            ("proof_r_old", &update.proof_r_old, root_old),
            ("proof_d_new", &update.proof_d_new, statement.comm_d_new),
            ("proof_r_new", &update.proof_r_new, root_new),
        ];
        for (name, opening, root) in proofs {
            let place = all.item(j);
            let place = place.field(name);
            if opening.root != root {
                let text = format_args!("is not that of the partition's first challenge");
                return Err(session.fault(&place.field("root"), text));
            }
            let leaf = node_of(opening);
            if leaf != u64::from(challenge) {
                let text = format_args!("is of leaf {leaf} where comm_r_new asks for leaf {challenge}");
                return Err(session.fault(&place, text));
            }
        }
    }
    Ok(())
}

/// Reads a `PartitionProof`.
fn read<R: Reader>(r: &mut R, at: &Place<'_>, params: &PublicParams, trees: &Trees) -> Result<Partition> {
    let mut partition = Partition::default();
    r.fields(at, &["comm_c", "apex_leafs", "challenge_proofs"], |r, i, at| {
        match i {
            0 => partition.comm_c = node(r, at)?,
            1 => partition.apex_leafs = r.list(at, "apex leaves", params.apex_leaf_count, node)?,
            _ => {
                let list = r.list(at, "challenges", params.challenge_count, |r, at| update(r, at, trees))?;
                partition.challenge_proofs = list;
            }
        }
        Ok(())
    })?;
    Ok(partition)
}

fn update<R: Reader>(r: &mut R, at: &Place<'_>, trees: &Trees) -> Result<Update> {
    let mut update = Update::default();
    r.fields(at, &["proof_r_old", "proof_d_new", "proof_r_new"], |r, i, at| {
        match i {
            0 => update.proof_r_old = opening(r, at, &trees.r)?,
            1 => update.proof_d_new = opening(r, at, &trees.d)?,
            _ => update.proof_r_new = opening(r, at, &trees.r)?,
        }
        Ok(())
    })?;
    Ok(update)
}
