//! PoRep C2: what is proved about a sealed sector, and its partition circuits.

use std::sync::atomic::AtomicBool;

use blstrs::Scalar;
use filecoin_hashers::Hasher;
use filecoin_proofs::constants::{DefaultPieceHasher, DefaultTreeHasher};
use filecoin_proofs::parameters::public_params;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait};
use storage_proofs_porep::stacked::{
    generate_replica_id, ColumnProof, EncodingProof, LabelingProof, Proof, PublicInputs, PublicParams,
    ReplicaColumnProof, StackedCompound, StackedDrg, Tau,
};

use super::inspect::Inspected;
use super::session::Session;
use super::shape::Shape;
use super::trees::{internal, merkle_proof, with_tree};
use super::vanilla::{ColumnOpening, Node, SealProof, C1};
use super::{c1, check, registered, CircuitId, CircuitVisitor, Kind, Public, Request};
use crate::error::{Error, Result};

/// What storage-proofs needs at most for its parameters and one partition's public inputs, and cannot be refused.
const PARAMS_BYTES: usize = 256 << 10;

/// Storage-proofs' PoRep over a tree: shortens the calls below.
type Compound<Tree> = StackedCompound<Tree, DefaultPieceHasher>;
type Scheme<'a, Tree> = StackedDrg<'a, Tree, DefaultPieceHasher>;
type Inputs<Tree> =
    PublicInputs<<<Tree as MerkleTreeTrait>::Hasher as Hasher>::Domain, <DefaultPieceHasher as Hasher>::Domain>;

/// What a PoRep proves: that `comm_r` commits to a replica of the data under `comm_d`, sealed for `replica_id`.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub proof: RegisteredSealProof,
    pub replica_id: Node,
    pub comm_d: Node,
    pub comm_r: Node,
    pub seed: [u8; 32],
    pub ticket: [u8; 32],
}

impl Statement {
    /// The statement of a [`Public`]. `INVALID_ARGUMENT` names the field.
    pub fn of(public: &Public) -> Result<Self> {
        let element = |field: &'static str, bytes| {
            Node::from_bytes(bytes).ok_or_else(|| Error::argument(field, "is no field element"))
        };
        let proof = registered::seal_from_number(public.registered_proof)?;
        let comm_d = element("comm_d", public.comm_d)?;
        Ok(Statement {
            proof,
            replica_id: replica_id(proof, public.miner_id, public.sector_number, &public.ticket, comm_d),
            comm_d,
            comm_r: element("comm_r", public.comm_r)?,
            seed: public.seed,
            ticket: public.ticket,
        })
    }

    fn sector_size(&self) -> u64 {
        self.proof.sector_size().into()
    }

    /// The public inputs of every partition, without the constant one.
    pub fn public_inputs(&self) -> Result<Vec<Vec<Scalar>>> {
        self.inputs(|| Ok(()))
    }

    /// As above; `look` is called before each and may end it.
    fn inputs(&self, look: impl Fn() -> Result<()>) -> Result<Vec<Vec<Scalar>>> {
        with_tree!(self.sector_size(), Tree => {
            let params = params::<Tree>(self.proof)?;
            let inputs = self.stacked::<Tree>();
            (0..usize::from(self.proof.partitions()))
                .map(|k| {
                    look()?;
                    <Compound<Tree> as CompoundProof<Scheme<'_, Tree>, _>>::generate_public_inputs(
                        &inputs, &params, Some(k),
                    )
                    .map_err(internal)
                })
                .collect()
        })
    }

    fn stacked<Tree: 'static + MerkleTreeTrait>(&self) -> Inputs<Tree> {
        PublicInputs {
            replica_id: self.replica_id.0.into(),
            seed: Some(self.seed),
            tau: Some(Tau { comm_d: self.comm_d.0.into(), comm_r: self.comm_r.0.into() }),
            k: None,
        }
    }
}

/// The id of a replica: SHA-256 of prover id, sector number (big endian), ticket, comm_d and porep id, cut to 254 bits.
pub(crate) fn replica_id(
    proof: RegisteredSealProof,
    miner_id: u64,
    sector_number: u64,
    ticket: &[u8; 32],
    comm_d: Node,
) -> Node {
    let prover = registered::prover_id(miner_id);
    let porep_id = proof.as_v1_config().porep_id;
    let id = generate_replica_id::<DefaultTreeHasher, _>(&prover, sector_number, ticket, comm_d.0, &porep_id);
    let mut bytes = [0; 32];
    bytes.copy_from_slice(id.as_ref());
    Node(bytes)
}

/// Storage-proofs' parameters of a seal proof: graph, challenges a partition, layers.
fn params<Tree: 'static + MerkleTreeTrait>(proof: RegisteredSealProof) -> Result<PublicParams<Tree>> {
    public_params::<Tree>(&proof.as_v1_config()).map_err(internal)
}

/// What the circuit of a seal proof takes.
fn shape_of(proof: RegisteredSealProof) -> Result<Shape> {
    with_tree!(u64::from(proof.sector_size()), Tree => params::<Tree>(proof).map(|p| Shape::of(proof, &p)))
}

/// The circuit without values.
pub(crate) fn blank<Tree, V>(proof: RegisteredSealProof, visitor: V) -> Result<V::Output>
where
    Tree: 'static + MerkleTreeTrait,
    V: CircuitVisitor,
{
    let params = params::<Tree>(proof)?;
    Ok(visitor.visit(<Compound<Tree> as CompoundProof<Scheme<'_, Tree>, _>>::blank_circuit(&params)))
}

/// A decoded C1: checked, so that its circuits can be built.
#[derive(Debug)]
pub(crate) struct Porep {
    statement: Statement,
    /// By partition and challenge.
    vanilla: Vec<Vec<SealProof>>,
    /// By partition.
    inputs: Vec<Vec<Scalar>>,
    /// What `vanilla` takes: a decoded C1 has the shape exactly.
    bytes: usize,
}

impl Porep {
    /// Reads and checks the C1 of a request. Errors: `INVALID_ARGUMENT` for the request itself, `MALFORMED_INPUT` for
    /// the bytes, for what they disagree about with the request, and for a shape that is not the circuit's.
    /// `OUT_OF_MEMORY` (`vanilla`) when the system refuses, `CANCELLED` soon after the flag is set.
    pub fn decode(request: &Request, bytes: &[u8], cancelled: &AtomicBool) -> Result<Self> {
        let proof = registered::seal_from_number(request.registered_proof)?;
        if request.vanilla_lens.len() > 1 {
            return Err(Error::argument("vanilla_count", "a PoRep has one C1"));
        }
        if request.vanilla_lens.first().is_some_and(|len| *len != bytes.len() as u64) {
            return Err(Error::argument("vanilla_lens", "is not the length of the C1"));
        }
        let session = Session::new(cancelled)?;
        session.look()?;
        session.probe_heap(PARAMS_BYTES)?;
        let shape = shape_of(proof)?;
        let c1::Read { c1, wrapper } = c1::read(bytes, proof, &shape, &session)?;
        session.probe_heap(PARAMS_BYTES + 4 * check::input_bytes(&shape))?;
        check::agreement(request, proof, &c1, wrapper)?;
        Self::of(c1, proof, &shape, &session)
    }

    /// A C1 that belongs to its request: what must hold within it is checked.
    fn of(c1: C1, proof: RegisteredSealProof, shape: &Shape, session: &Session<'_>) -> Result<Self> {
        let C1 { vanilla_proofs: vanilla, comm_r, comm_d, replica_id, seed, ticket } = c1;
        check::roots(&vanilla, session)?;
        let statement = Statement { proof, replica_id, comm_d, comm_r, seed, ticket };
        let inputs = statement.inputs(|| session.look())?;
        check::challenges(&vanilla, &inputs, session)?;
        Ok(Porep { statement, vanilla, inputs, bytes: shape.bytes() })
    }

    /// Reads a C1 for what it contains, without a request: whatever does not need the miner's id is checked.
    pub fn inspect(bytes: &[u8], session: &Session<'_>) -> Result<Inspected> {
        let (format, proof) = c1::look(bytes, session)?;
        let shape = shape_of(proof)?;
        let c1::Read { c1, wrapper } = c1::read(bytes, proof, &shape, session)?;
        let sector_size = u64::from(proof.sector_size());
        if let Some((_, size)) = wrapper.filter(|(_, size)| *size != sector_size) {
            let text = format!("SectorSize is {size}, sectors of {} have {sector_size}", registered::seal_name(proof));
            return Err(Error::malformed("SectorSize", text));
        }
        let porep = Self::of(c1, proof, &shape, session)?;
        let Statement { replica_id, comm_d, comm_r, seed, ticket, .. } = &porep.statement;
        Ok(Inspected {
            circuit: CircuitId { kind: Kind::Porep, sector_size },
            format,
            registered_proofs: vec![registered::seal_number(proof)],
            sector_number: wrapper.map(|(number, _)| number),
            partitions: Some(porep.partitions()),
            partition: None,
            challenges: shape.challenges,
            values: vec![
                ("comm_d", comm_d.0),
                ("comm_r", comm_r.0),
                ("replica_id", replica_id.0),
                ("seed", *seed),
                ("ticket", *ticket),
            ],
            decoded_bytes: porep.bytes,
        })
    }

    /// Whether the C1 proves this statement; `MALFORMED_INPUT` names the first value that it has another of.
    pub fn agrees_with(&self, public: &Public) -> Result<()> {
        let mine = &self.statement;
        let number = registered::seal_number(mine.proof);
        let id = replica_id(mine.proof, public.miner_id, public.sector_number, &mine.ticket, mine.comm_d);
        let same = [
            ("registered_proof", number == public.registered_proof),
            ("comm_d", mine.comm_d.0 == public.comm_d),
            ("comm_r", mine.comm_r.0 == public.comm_r),
            ("seed", mine.seed == public.seed),
            ("ticket", mine.ticket == public.ticket),
            ("miner_id", id == mine.replica_id),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            Some((field, _)) => Err(Error::malformed(field, "the C1 has another than the statement")),
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

    /// The statement, and the vanilla proofs of partition `k`.
    pub fn vanilla(&self, k: usize) -> Result<(&Statement, &[SealProof])> {
        let vanilla = self.vanilla.get(k).ok_or_else(|| self.no_partition(k))?;
        Ok((&self.statement, vanilla))
    }

    #[cfg(test)]
    pub fn vanilla_mut(&mut self) -> &mut Vec<Vec<SealProof>> {
        &mut self.vanilla
    }

    /// Hands the visitor the circuit of partition `k`.
    pub fn with_circuit<V: CircuitVisitor>(&self, k: usize, visitor: V) -> Result<V::Output> {
        let vanilla = self.vanilla.get(k).ok_or_else(|| self.no_partition(k))?;
        with_tree!(self.sector_size(), Tree => {
            let params = params::<Tree>(self.statement.proof)?;
            let proofs: Vec<_> = vanilla.iter().map(stacked_proof::<Tree>).collect();
            let statement = self.statement.stacked::<Tree>();
            let circuit = <Compound<Tree> as CompoundProof<Scheme<'_, Tree>, _>>::circuit(
                &statement, (), &proofs, &params, Some(k),
            )
            .map_err(internal)?;
            drop(proofs);
            Ok(visitor.visit(circuit))
        })
    }

    fn no_partition(&self, k: usize) -> Error {
        Error::internal(format!("partition {k} of {}", self.partitions()))
    }
}

/// A vanilla proof as storage-proofs' circuit takes it. What the circuit does not read (labels' preimages, the encoding
/// key's) stays empty.
fn stacked_proof<Tree: 'static + MerkleTreeTrait>(proof: &SealProof) -> Proof<Tree, DefaultPieceHasher> {
    let node = proof.node;
    Proof {
        comm_d_proofs: merkle_proof(&proof.comm_d_proofs),
        comm_r_last_proof: merkle_proof(&proof.comm_r_last_proof),
        replica_column_proofs: ReplicaColumnProof {
            c_x: column_proof::<Tree>(&proof.c_x),
            drg_parents: proof.drg_parents.iter().map(column_proof::<Tree>).collect(),
            exp_parents: proof.exp_parents.iter().map(column_proof::<Tree>).collect(),
        },
        labeling_proofs: vec![LabelingProof::new(1, node, Vec::new())],
        encoding_proof: EncodingProof::new(0, node, Vec::new()),
    }
}

type TreeProof<Tree> = MerkleProof<
    <Tree as MerkleTreeTrait>::Hasher,
    <Tree as MerkleTreeTrait>::Arity,
    <Tree as MerkleTreeTrait>::SubTreeArity,
    <Tree as MerkleTreeTrait>::TopTreeArity,
>;

fn column_proof<Tree: 'static + MerkleTreeTrait>(column: &ColumnOpening) -> ColumnProof<TreeProof<Tree>> {
    let rows = column.rows.iter().map(|node| node.0.into()).collect();
    ColumnProof::new(column.index, rows, merkle_proof(&column.inclusion_proof))
}
