//! WindowPoSt and WinningPoSt: what is proved about sectors, and the partition circuits.
//!
//! Both are one circuit in two sizes: as many slots as a partition has, each a sector's comm_r and some of its challenged
//! leaves. A WindowPoSt's slots are its sectors, in the order of their numbers; the last partition repeats its last sector
//! until it is full. A WinningPoSt has one sector, which stands in every slot, and a challenge a slot.
//!
//! Which of its forms a WindowPoSt request has, its vanilla proofs say: up to as many as a partition has sectors are one
//! partition, `partition_index`; more are all partitions from the first on, and `partition_index` must be 0. (Only the
//! challenges of V1 depend on the number of the partition; those of V1_2 do not.)
//!
//! The top two bits of the randomness' last byte are cleared, here and in statements: Filecoin's callers and its verifier
//! clear them, so a proof over other bytes would verify nowhere.

use std::sync::atomic::AtomicBool;

use blstrs::Scalar;
use ff::PrimeField;
use filecoin_hashers::{HashFunction, Hasher};
use filecoin_proofs::constants::DefaultTreeHasher;
use filecoin_proofs::parameters::{window_post_setup_params, winning_post_setup_params};
use filecoin_proofs_api::RegisteredPoStProof;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_post::fallback::{
    generate_leaf_challenge, get_challenge_index, ComponentPrivateInputs, FallbackPoSt, FallbackPoStCompound, Proof,
    PublicInputs, PublicParams, PublicSector, SectorProof, SetupParams,
};

use super::binary::Binary;
use super::check::node_of;
use super::inspect::{Format, Inspected};
use super::pieces::{expect_count, pieces, VANILLA};
use super::place::Place;
use super::reader::Reader;
use super::session::Session;
use super::shape::{allocated, opening_bytes, opening_wire_bytes, replica_tree, Part};
use super::trees::{internal, merkle_proof, with_tree};
use super::vanilla::{node, opening, Node, Opening};
use super::{registered, CircuitId, CircuitVisitor, Kind, Public, Request, Sector};
use crate::error::{Error, Result};

/// What storage-proofs' hashing needs at most, and cannot be refused.
const HASHING_BYTES: usize = 256 << 10;

type Domain = <DefaultTreeHasher as Hasher>::Domain;

/// What a PoSt proves: that the sectors' replicas are there when the randomness is known.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    kind: Kind,
    proof: RegisteredPoStProof,
    miner_id: u64,
    /// The top two bits of its last byte are zero.
    randomness: [u8; 32],
    /// The number of the first partition.
    first_partition: usize,
    /// A WindowPoSt's are in ascending order, a WinningPoSt has one.
    sectors: Vec<Sector>,
    /// The circuit's slots (`sector_count`) and the challenges of each.
    params: PublicParams,
}

impl Statement {
    /// Without its sectors.
    fn new(kind: Kind, number: u32, miner_id: u64, randomness: &[u8; 32]) -> Result<Self> {
        registered::circuit(kind, number)?;
        let proof = registered::post_from_number(number)?;
        let config = proof.as_v1_config();
        let SetupParams { sector_size, challenge_count, sector_count, api_version } = match kind {
            Kind::WinningPost => winning_post_setup_params(&config).map_err(internal)?,
            _ => window_post_setup_params(&config),
        };
        let params = PublicParams { sector_size, challenge_count, sector_count, api_version };
        let mut randomness = *randomness;
        randomness[31] &= 0x3f;
        Ok(Statement { kind, proof, miner_id, randomness, first_partition: 0, sectors: Vec::new(), params })
    }

    /// The statement of a [`Public`], from its first partition on. A WindowPoSt's sectors may come in any order and more
    /// than once, as Filecoin's verifier takes them. `INVALID_ARGUMENT` names the field.
    pub fn of(public: &Public) -> Result<Self> {
        let mut statement = Self::new(public.kind, public.registered_proof, public.miner_id, &public.randomness)?;
        let sectors = &mut statement.sectors;
        sectors
            .try_reserve_exact(public.sectors.len())
            .map_err(|_| Error::out_of_memory("sectors", public.sectors.len() * size_of::<Sector>()))?;
        sectors.extend_from_slice(&public.sectors);
        if let Some(i) = sectors.iter().position(|s| Node::from_bytes(s.comm_r).is_none()) {
            return Err(Error::argument(format!("sectors[{i}].comm_r"), "is no field element"));
        }
        match public.kind {
            Kind::WinningPost if sectors.len() != 1 => {
                let text = format!("{} sectors, a WinningPoSt has one", sectors.len());
                return Err(Error::argument("sectors", text));
            }
            Kind::WinningPost => {}
            _ => {
                sectors.sort_unstable_by_key(|s| (s.sector_number, s.comm_r));
                sectors.dedup();
                if let Some(twice) = sectors.windows(2).find(|s| s[0].sector_number == s[1].sector_number) {
                    let text = format!("sector {} has two comm_r", twice[0].sector_number);
                    return Err(Error::argument("sectors", text));
                }
                if sectors.is_empty() {
                    return Err(Error::argument("sectors", "a WindowPoSt has at least one sector"));
                }
            }
        }
        Ok(statement)
    }

    fn sector_size(&self) -> u64 {
        self.params.sector_size
    }

    /// The replicas' tree.
    fn tree(&self) -> Result<Vec<Part>> {
        with_tree!(self.sector_size(), Tree => Ok(replica_tree::<Tree>(self.sector_size() as usize / 32)))
    }

    /// Challenges of a sector's vanilla proof.
    fn challenges_a_sector(&self) -> usize {
        match self.kind {
            Kind::WinningPost => self.params.sector_count * self.params.challenge_count,
            _ => self.params.challenge_count,
        }
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        match self.kind {
            Kind::WinningPost => 1,
            _ => self.sectors.len().div_ceil(self.params.sector_count),
        }
    }

    /// What stands in the slots of partition `k`: the place in `sectors`, and the slot that the challenges are those of,
    /// another where a slot repeats one before it.
    fn slots(&self, k: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        let first = k * self.params.sector_count;
        let last = (self.sectors.len() - 1).saturating_sub(first);
        (0..self.params.sector_count).map(move |slot| match self.kind {
            Kind::WinningPost => (0, slot),
            _ => (first + slot.min(last), slot.min(last)),
        })
    }

    /// Challenge `n` of a slot of partition `k`: a leaf of its sector.
    fn challenge(&self, k: usize, slot: usize, sector_number: u64, n: usize) -> u64 {
        let params = &self.params;
        let slot = (self.first_partition + k) * params.sector_count + slot;
        let index = get_challenge_index(params.api_version, slot, params.challenge_count, n);
        generate_leaf_challenge::<Domain>(params, self.randomness.into(), sector_number, index)
    }

    /// The public inputs of every partition, without the constant one: of each slot comm_r, then the challenges.
    pub fn public_inputs(&self) -> Result<Vec<Vec<Scalar>>> {
        self.inputs(|| Ok(()))
    }

    /// As above; `look` is called often and may end it.
    fn inputs(&self, look: impl Fn() -> Result<()>) -> Result<Vec<Vec<Scalar>>> {
        let len = self.params.sector_count * (1 + self.params.challenge_count);
        let full = |_| Error::out_of_memory(VANILLA, self.partitions() * len * size_of::<Scalar>());
        let mut all = Vec::new();
        all.try_reserve_exact(self.partitions()).map_err(full)?;
        for k in 0..self.partitions() {
            let mut inputs = Vec::new();
            inputs.try_reserve_exact(len).map_err(full)?;
            for (sector, slot) in self.slots(k) {
                look()?;
                let Sector { sector_number, comm_r } = self.sectors[sector];
                // Checked where it was read.
                inputs.push(Scalar::from_repr_vartime(comm_r).ok_or_else(|| Error::internal("comm_r is no element"))?);
                let challenge = |n| Scalar::from(self.challenge(k, slot, sector_number, n));
                inputs.extend((0..self.params.challenge_count).map(challenge));
            }
            all.push(inputs);
        }
        Ok(all)
    }
}

/// A sector's vanilla proof: `FallbackPoStSectorProof`. Its number and comm_r are the statement's.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    pub comm_c: Node,
    pub comm_r_last: Node,
    /// By challenge.
    pub inclusion_proofs: Vec<Opening>,
}

/// What stands in a slot of a partition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    pub comm_r: Node,
    pub comm_c: Node,
    pub comm_r_last: Node,
    /// By challenge.
    pub inclusion_proofs: &'a [Opening],
}

impl Openings {
    /// Whether the paths lead to the tree that the sector's comm_r commits to.
    fn commits_to(&self, sector: &Sector, place: &Place<'_>, session: &Session<'_>) -> Result<()> {
        let Openings { comm_c, comm_r_last, inclusion_proofs } = self;
        if let Some(j) = inclusion_proofs.iter().position(|opening| opening.root != *comm_r_last) {
            let sectors = place.field("vanilla_proof");
            let sectors = sectors.field("sectors");
            let only = sectors.item(0);
            let proofs = only.field("inclusion_proofs");
            return Err(session.fault(&proofs.item(j).field("root"), format_args!("is not comm_r_last")));
        }
        if hash2(*comm_c, *comm_r_last) != sector.comm_r {
            let text = format_args!("is not the hash of comm_c and comm_r_last");
            return Err(session.fault(&place.field("comm_r"), text));
        }
        Ok(())
    }
}

/// Decoded vanilla proofs: checked, so that their circuits can be built.
#[derive(Debug)]
pub(crate) struct Post {
    statement: Statement,
    /// By sector, as in the statement.
    vanilla: Vec<Openings>,
    /// By partition.
    inputs: Vec<Vec<Scalar>>,
    /// What `vanilla` takes.
    bytes: usize,
}

impl Post {
    /// Reads and checks the vanilla proofs of a request, one a sector. Errors: `INVALID_ARGUMENT` for the request itself,
    /// `MALFORMED_INPUT` for the bytes (`vanilla[2].…`), for a shape that is not the circuit's, and where they do not prove
    /// what the request asks for. `OUT_OF_MEMORY` (`vanilla`) when the system refuses, `CANCELLED` soon after the flag is
    /// set.
    pub fn decode(request: &Request, bytes: &[u8], cancelled: &AtomicBool) -> Result<Self> {
        let mut statement =
            Statement::new(request.kind, request.registered_proof, request.miner_id, &request.randomness)?;
        let pieces = pieces(request, bytes)?;
        let slots = statement.params.sector_count;
        match request.kind {
            Kind::WinningPost => expect_count(pieces.len(), 1, "a WinningPoSt")?,
            _ if pieces.len() <= slots => statement.first_partition = request.partition_index as usize,
            _ if request.partition_index != 0 => {
                let text = format!("{} vanilla proofs are more than one partition, which has {slots}", pieces.len());
                return Err(Error::argument("partition_index", text));
            }
            _ => {}
        }
        let session = Session::new(cancelled)?;
        session.look()?;
        let tree = statement.tree()?;
        let challenges = statement.challenges_a_sector();
        // What comes is read one after the other, so that more than the bytes can hold is never asked for.
        let wire = 8 + 32 + 8 + 8 + challenges * opening_wire_bytes(&tree) + 2 * 32;
        let count = pieces.len().min(bytes.len() / wire + 1);
        let size = decoded_bytes(count, challenges, &tree);
        session.probe(size)?;
        session.probe_heap(HASHING_BYTES)?;
        let mut vanilla = session.vec(count)?;
        statement.sectors = session.vec(count)?;
        let all = Place::of(VANILLA);
        for (i, piece) in pieces.enumerate() {
            let place = all.item(i);
            let mut binary = Binary::new(piece, &session);
            let (sector, openings) = read(&mut binary, &place, challenges, &tree)?;
            binary.end(&place)?;
            if let Some(before) = statement.sectors.last().filter(|s| s.sector_number >= sector.sector_number) {
                let text = format_args!(
                    "{} after {}: Filecoin verifies a WindowPoSt's sectors in ascending order, each once",
                    sector.sector_number, before.sector_number
                );
                return Err(session.fault(&place.field("sector_id"), text));
            }
            session.push(&mut statement.sectors, sector)?;
            session.push(&mut vanilla, openings)?;
        }
        let post = Post { inputs: statement.inputs(|| session.look())?, statement, vanilla, bytes: size };
        post.check(&session)?;
        Ok(post)
    }

    /// Reads one sector's vanilla proof for what it contains, without a request. Its place is `vanilla`.
    pub fn inspect(binary: &mut Binary<'_>, circuit: CircuitId, session: &Session<'_>) -> Result<Inspected> {
        let numbers = 0..registered::POST_PROOFS.len() as u32;
        // Versions of a WindowPoSt differ in their challenges, which nobody knows without the randomness.
        let numbers: Vec<u32> =
            numbers.filter(|n| registered::circuit(circuit.kind, *n).is_ok_and(|c| c == circuit)).collect();
        let statement = Statement::new(circuit.kind, numbers.first().copied().unwrap_or(u32::MAX), 0, &[0; 32])?;
        let (tree, challenges) = (statement.tree()?, statement.challenges_a_sector());
        let place = Place::of(VANILLA);
        let (sector, openings) = read(binary, &place, challenges, &tree)?;
        binary.end(&place)?;
        openings.commits_to(&sector, &place, session)?;
        let winning = circuit.kind == Kind::WinningPost;
        Ok(Inspected {
            circuit,
            format: Format::Bincode,
            registered_proofs: numbers,
            sector_number: Some(sector.sector_number),
            partitions: winning.then_some(1),
            partition: None,
            challenges,
            values: vec![
                ("comm_r", sector.comm_r),
                ("comm_c", openings.comm_c.0),
                ("comm_r_last", openings.comm_r_last.0),
            ],
            decoded_bytes: decoded_bytes(if winning { 1 } else { statement.params.sector_count }, challenges, &tree),
        })
    }

    /// Whether the vanilla proofs are of the leaves that the statement's challenges ask for, in the trees that comm_r
    /// commits to. Whether the hashes along the paths are right is the circuit's to say.
    fn check(&self, session: &Session<'_>) -> Result<()> {
        let statement = &self.statement;
        let all = Place::of(VANILLA);
        for (i, (sector, openings)) in statement.sectors.iter().zip(&self.vanilla).enumerate() {
            session.look()?;
            let place = all.item(i);
            openings.commits_to(sector, &place, session)?;
            let proofs = place.field("vanilla_proof");
            let proofs = proofs.field("sectors");
            let proofs = proofs.item(0);
            let proofs = proofs.field("inclusion_proofs");
            for (j, opening) in openings.inclusion_proofs.iter().enumerate() {
                let (k, slot, n) = match statement.kind {
                    Kind::WinningPost => {
                        (0, j / statement.params.challenge_count, j % statement.params.challenge_count)
                    }
                    _ => (i / statement.params.sector_count, i % statement.params.sector_count, j),
                };
                let expected = statement.challenge(k, slot, sector.sector_number, n);
                let leaf = node_of(opening);
                if leaf != expected {
                    let text = format_args!(
                        "is of leaf {leaf} where registered_proof, randomness and sector number ask for leaf {expected}"
                    );
                    return Err(session.fault(&proofs.item(j), text));
                }
            }
        }
        Ok(())
    }

    /// Whether the vanilla proofs prove this statement; `MALFORMED_INPUT` names the first value that differs.
    pub fn agrees_with(&self, public: &Public) -> Result<()> {
        let mine = &self.statement;
        let theirs = Statement::of(public)?;
        let differs =
            |field: &str| Err(Error::malformed(field.to_owned(), "the request has another than the statement"));
        if registered::post_number(mine.proof) != public.registered_proof {
            return differs("registered_proof");
        }
        if mine.miner_id != theirs.miner_id {
            return differs("miner_id");
        }
        if mine.randomness != theirs.randomness {
            return differs("randomness");
        }
        if mine.sectors.len() != theirs.sectors.len() {
            let text = format!("{} vanilla proofs, the statement has {}", mine.sectors.len(), theirs.sectors.len());
            return Err(Error::malformed("sectors", text));
        }
        match mine.sectors.iter().zip(&theirs.sectors).enumerate().find(|(_, (mine, theirs))| mine != theirs) {
            Some((i, (mine, theirs))) if mine.sector_number == theirs.sector_number => {
                differs(&format!("sectors[{i}].comm_r"))
            }
            Some((i, _)) => differs(&format!("sectors[{i}].sector_number")),
            None => Ok(()),
        }
    }

    /// Bytes of the vanilla proofs, in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// WindowPoSt or WinningPoSt.
    pub fn kind(&self) -> Kind {
        self.statement.kind
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.inputs.len()
    }

    /// The sector size in bytes.
    pub fn sector_size(&self) -> u64 {
        self.statement.sector_size()
    }

    /// Public inputs of partition `k`, without the constant one.
    pub fn public_inputs(&self, k: usize) -> Result<Vec<Scalar>> {
        self.inputs.get(k).cloned().ok_or_else(|| self.no_partition(k))
    }

    /// The slots of partition `k`.
    pub fn vanilla(&self, k: usize) -> Result<Vec<Slot<'_>>> {
        if k >= self.partitions() {
            return Err(self.no_partition(k));
        }
        let statement = &self.statement;
        let slots = statement.slots(k);
        let mut all = Vec::new();
        all.try_reserve_exact(slots.len())
            .map_err(|_| Error::out_of_memory(VANILLA, slots.len() * size_of::<Slot<'_>>()))?;
        all.extend(slots.map(|(sector, slot)| {
            let Openings { comm_c, comm_r_last, .. } = self.vanilla[sector];
            let comm_r = Node(statement.sectors[sector].comm_r);
            Slot { comm_r, comm_c, comm_r_last, inclusion_proofs: self.openings(sector, slot) }
        }));
        Ok(all)
    }

    /// The openings of a slot: a WinningPoSt's sector has those of all its slots.
    fn openings(&self, sector: usize, slot: usize) -> &[Opening] {
        let openings = &self.vanilla[sector].inclusion_proofs;
        let challenges = self.statement.params.challenge_count;
        match self.statement.kind {
            Kind::WinningPost => &openings[slot * challenges..][..challenges],
            _ => openings,
        }
    }

    #[cfg(test)]
    pub fn vanilla_mut(&mut self) -> &mut Vec<Openings> {
        &mut self.vanilla
    }

    /// Hands the visitor the circuit of partition `k`.
    pub fn with_circuit<V: CircuitVisitor>(&self, k: usize, visitor: V) -> Result<V::Output> {
        if k >= self.partitions() {
            return Err(self.no_partition(k));
        }
        let statement = &self.statement;
        let sectors = statement.slots(k).map(|(sector, _)| {
            let Sector { sector_number, comm_r } = statement.sectors[sector];
            PublicSector::<Domain> { id: sector_number.into(), comm_r: comm_r.into() }
        });
        let inputs = PublicInputs::<Domain> {
            randomness: statement.randomness.into(),
            prover_id: registered::prover_id(statement.miner_id).into(),
            sectors: sectors.collect(),
            k: None,
        };
        with_tree!(self.sector_size(), Tree => {
            let sectors = statement.slots(k).map(|(sector, slot)| {
                let Openings { comm_c, comm_r_last, .. } = &self.vanilla[sector];
                SectorProof {
                    inclusion_proofs: self.openings(sector, slot).iter().map(merkle_proof).collect(),
                    comm_c: comm_c.0.into(),
                    comm_r_last: comm_r_last.0.into(),
                }
            });
            let proof = Proof { sectors: sectors.collect() };
            let circuit = <FallbackPoStCompound<Tree> as CompoundProof<FallbackPoSt<'_, Tree>, _>>::circuit(
                &inputs, ComponentPrivateInputs {}, &proof, &statement.params, None,
            )
            .map_err(internal)?;
            drop(proof);
            Ok(visitor.visit_slots(circuit, |circuit| circuit.sectors))
        })
    }

    fn no_partition(&self, k: usize) -> Error {
        Error::internal(format!("partition {k} of {}", self.partitions()))
    }
}

/// Bytes of the vanilla proofs of so many sectors, in memory.
fn decoded_bytes(sectors: usize, challenges: usize, tree: &[Part]) -> usize {
    let a_sector = allocated::<Opening>(challenges) + challenges * opening_bytes(tree);
    allocated::<Openings>(sectors) + allocated::<Sector>(sectors) + sectors * a_sector
}

/// The Poseidon hash of two nodes.
pub(crate) fn hash2(a: Node, b: Node) -> [u8; 32] {
    <DefaultTreeHasher as Hasher>::Function::hash2(&a.0.into(), &b.0.into()).into()
}

/// Reads a `FallbackPoStSectorProof` with as many challenges, in this tree.
fn read<R: Reader>(r: &mut R, at: &Place<'_>, challenges: usize, tree: &[Part]) -> Result<(Sector, Openings)> {
    let mut sector = Sector { sector_number: 0, comm_r: [0; 32] };
    let mut openings = Openings::default();
    r.fields(at, &["sector_id", "comm_r", "vanilla_proof"], |r, i, at| {
        match i {
            0 => sector.sector_number = r.u64(at)?,
            1 => sector.comm_r = node(r, at)?.0,
            _ => r.fields(at, &["sectors"], |r, _, at| {
                r.items(at, "sectors", 1, |r, at| {
                    r.fields(at, &["inclusion_proofs", "comm_c", "comm_r_last"], |r, i, at| {
                        match i {
                            0 => {
                                let list = r.list(at, "challenges", challenges, |r, at| opening(r, at, tree))?;
                                openings.inclusion_proofs = list;
                            }
                            1 => openings.comm_c = node(r, at)?,
                            _ => openings.comm_r_last = node(r, at)?,
                        }
                        Ok(())
                    })
                })
            })?,
        }
        Ok(())
    })?;
    Ok((sector, openings))
}
