//! Every registered PoSt and update proof, with vanilla proofs of the right shape around made-up hashes.

use blstrs::Scalar;
use filecoin_hashers::{poseidon::PoseidonHasher, sha256::Sha256Hasher, HashFunction, Hasher};
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub8, SectorShapeTop2};
use filecoin_proofs::FallbackPoStSectorProof;
use splitprove::error::Code;
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::registered::{post_from_number, UPDATE_PROOFS};
use splitprove::proofs::{Kind, Public, Request, Sector};
use storage_proofs_core::merkle::{MerkleProof, MerkleProofTrait, MerkleTreeTrait};
use storage_proofs_post::fallback::{generate_leaf_challenge, get_challenge_index, Proof, PublicParams, SectorProof};
use storage_proofs_update::constants::{h_default, TreeDDomain};
use storage_proofs_update::{phi, rho, ChallengeProof, Challenges, PartitionProof};

use crate::large::{hash, opening, Build};
use crate::others::Input;

type Domain = <PoseidonHasher as Hasher>::Domain;

/// The root of every made-up opening, and what commits to it.
fn comm_r() -> [u8; 32] {
    <PoseidonHasher as Hasher>::Function::hash2(&hash(8).into(), &hash(7).into()).into()
}

fn blank(kind: Kind, registered_proof: u32) -> (Request, Public) {
    let (randomness, comm_d_new) = (hash(1), hash(7));
    let request = Request {
        kind,
        registered_proof,
        partition_index: 0,
        miner_id: 77,
        sector_number: 5,
        randomness,
        comm_r_old: comm_r(),
        comm_r_new: comm_r(),
        comm_d_new,
        vanilla_lens: Vec::new(),
    };
    let public = Public {
        kind,
        registered_proof,
        miner_id: 77,
        sector_number: 5,
        ticket: [0; 32],
        seed: [0; 32],
        comm_d: [0; 32],
        comm_r: [0; 32],
        randomness,
        comm_r_old: comm_r(),
        comm_r_new: comm_r(),
        comm_d_new,
        sectors: Vec::new(),
    };
    (request, public)
}

/// A PoSt of made-up sectors, beginning with partition `first`.
pub fn post<Tree>(kind: Kind, number: u32, sectors: u64, first: u32) -> Input
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let config = post_from_number(number).unwrap().as_v1_config();
    let params = PublicParams {
        sector_size: config.sector_size.into(),
        challenge_count: config.challenge_count,
        sector_count: config.sector_count,
        api_version: config.api_version,
    };
    let nodes = params.sector_size / 32;
    let (mut request, mut public) = blank(kind, number);
    request.partition_index = first;
    let randomness: Domain = request.randomness.into();
    let mut pieces = Vec::new();
    for i in 0..sectors {
        let sector_number = 2 * i + 9;
        let inclusion_proofs = (0..params.challenge_count)
            .map(|n| {
                let place = first as usize * params.sector_count + i as usize;
                let index = get_challenge_index(params.api_version, place, params.challenge_count, n);
                opening(generate_leaf_challenge(&params, randomness, sector_number, index), nodes)
            })
            .collect();
        let sector = SectorProof { inclusion_proofs, comm_c: hash(8).into(), comm_r_last: hash(7).into() };
        let proof = FallbackPoStSectorProof::<Tree> {
            sector_id: sector_number.into(),
            comm_r: comm_r().into(),
            vanilla_proof: Proof { sectors: vec![sector] },
        };
        pieces.push(bincode::serialize(&proof).unwrap());
        public.sectors.push(Sector { sector_number, comm_r: comm_r() });
    }
    Input { request, public, pieces }
}

/// A SnapDeals update around made-up hashes.
pub fn update<Tree>(number: u32) -> Input
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let size = u64::from(UPDATE_PROOFS[number as usize].sector_size());
    let params = storage_proofs_update::PublicParams::from_sector_size(size);
    let (request, public) = blank(Kind::Snap, number);
    let nodes = size / 32;
    let h = h_default(params.sector_nodes);
    let phi = phi::<TreeDDomain>(&request.comm_d_new.into(), &request.comm_r_old.into());
    let pieces = (0..params.partition_count).map(|k| {
        let challenge = |c: u32| {
            let proof_r_old: MerkleProof<PoseidonHasher, _, _, _> = opening(c.into(), nodes);
            let mut data: MerkleProof<Sha256Hasher, _, _, _> = opening(c.into(), nodes);
            // All leave the partition by the same path.
            let mut steps = data.path();
            for (siblings, _) in steps.iter_mut().rev().take(params.partition_bit_len) {
                siblings[0] = hash(9).into();
            }
            data = MerkleProof::from_parts(data.leaf(), data.root(), steps);
            // The new leaf is the old one and a multiple of the data's, which the circuit's code asserts.
            let factor = rho(&phi, c >> (params.challenge_bit_len - h));
            let new = Scalar::from(proof_r_old.leaf()) + Scalar::from(data.leaf()) * factor;
            let path =
                opening::<PoseidonHasher, Tree::Arity, Tree::SubTreeArity, Tree::TopTreeArity>(c.into(), nodes).path();
            ChallengeProof::<Tree> {
                proof_r_new: MerkleProof::from_parts(new.into(), proof_r_old.root(), path),
                proof_r_old,
                proof_d_new: data,
            }
        };
        let proof = PartitionProof::<Tree> {
            comm_c: hash(8).into(),
            apex_leafs: (0..params.apex_leaf_count as u64).map(|i| hash(i).into()).collect(),
            challenge_proofs: Challenges::new(params.sector_nodes, comm_r().into(), k).map(challenge).collect(),
        };
        bincode::serialize(&proof).unwrap()
    });
    Input { request, public, pieces: pieces.collect() }
}

/// Calls a function over the tree of a registered proof's sector size.
macro_rules! of_size {
    ($number:expr, $f:ident($($arg:expr),*)) => {
        match $number % 5 {
            3 => $f::<SectorShapeSub8>($($arg),*),
            4 => $f::<SectorShapeTop2>($($arg),*),
            _ => $f::<SectorShapeBase>($($arg),*),
        }
    };
}
pub(crate) use of_size;

/// A WindowPoSt or WinningPoSt of this size, in its latest version.
pub fn made_up_post(kind: Kind, sector_size: u64, sectors: u64) -> Input {
    let first = if kind == Kind::WinningPost { 0 } else { 10 };
    let place = SECTOR_SIZES.iter().position(|(size, _)| *size == sector_size).unwrap() as u32;
    of_size!(place, post(kind, first + place, sectors, 0))
}

/// An update of this size.
pub fn made_up_update(sector_size: u64) -> Input {
    let place = SECTOR_SIZES.iter().position(|(size, _)| *size == sector_size).unwrap() as u32;
    of_size!(place, update(place))
}

fn decodes(input: &Input, partitions: usize) {
    let decoded = input.decode().unwrap_or_else(|e| panic!("{:?}: {e}", input.public.circuit()));
    assert_eq!(decoded.partitions(), partitions);
    assert_eq!(decoded.circuit(), input.public.circuit().unwrap());
    decoded.agrees_with(&input.public).unwrap();
    for k in [0, partitions - 1] {
        decoded.with_circuit(k, Build).unwrap();
    }
    let bytes: usize = input.pieces.iter().map(Vec::len).sum();
    assert!((bytes..3 * bytes).contains(&decoded.bytes()), "{} of {bytes}", decoded.bytes());
}

#[test]
fn every_registered_proof_decodes() {
    for number in 0..5 {
        decodes(&of_size!(number, update(number)), [1, 4, 16, 16, 16][number as usize]);
        decodes(&of_size!(number, post(Kind::WinningPost, number, 1, 0)), 1);
    }
    for number in 5..15 {
        for (sectors, partitions) in if number % 5 < 3 { [(2, 1), (5, 3)] } else { [(3, 1), (2400, 2)] } {
            let input = of_size!(number, post(Kind::WindowPost, number, sectors, 0));
            decodes(&input, partitions);
            assert_eq!(input.decode().unwrap().public_inputs(0).unwrap(), input.public.inputs().unwrap()[0]);
        }
    }
}

/// V1's challenges depend on the number of the partition, V1_2's do not.
#[test]
fn partitions_have_their_numbers() {
    for number in [5, 10] {
        let whole = post::<SectorShapeBase>(Kind::WindowPost, number, 4, 0);
        let inputs = whole.public.inputs().unwrap();
        let mut second = whole.clone();
        second.pieces.drain(..2);
        second.request.partition_index = 1;
        assert_eq!(second.decode().unwrap().public_inputs(0).unwrap(), inputs[1]);
        second.request.partition_index = 0;
        match second.decode() {
            Ok(decoded) => {
                assert_eq!(number, 10);
                assert_eq!(decoded.public_inputs(0).unwrap(), inputs[1]);
            }
            Err(e) => {
                assert_eq!((number, e.code), (5, Code::MalformedInput));
                assert!(e.field.starts_with("vanilla[0].") && e.field.contains("inclusion_proofs[0]"), "{e}");
            }
        }
    }
    let far = post::<SectorShapeBase>(Kind::WindowPost, 5, 2, u32::MAX);
    assert_eq!(far.decode().unwrap().partitions(), 1);
}
