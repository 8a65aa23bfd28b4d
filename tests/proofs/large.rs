//! Every registered seal proof, with vanilla proofs of the right shape around made-up hashes: no circuit would be
//! satisfied by them, and everything before that is as with real ones.

use filecoin_hashers::{poseidon::PoseidonHasher, sha256::Sha256Hasher, Hasher};
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub8, SectorShapeTop2};
use filecoin_proofs_api::seal::{SealCommitPhase1Output, VanillaSealProof};
use filecoin_proofs_api::RegisteredSealProof;
use sha2::{Digest, Sha256};
use splitprove::proofs::registered::{prover_id, SEAL_PROOFS};
use splitprove::proofs::{CircuitVisitor, Decoded, Kind, Public, Request};
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait};
use storage_proofs_porep::stacked::{
    generate_replica_id, ColumnProof, EncodingProof, LabelingProof, Proof, ReplicaColumnProof,
};
use typenum::{U0, U2};

use crate::fixtures::decode;

type Domain = <PoseidonHasher as Hasher>::Domain;

/// A hash that is made up: below the modulus, and hardly twice the same.
pub fn hash(seed: u64) -> [u8; 32] {
    let mut bytes: [u8; 32] = Sha256::digest(seed.to_le_bytes()).into();
    bytes[31] &= 0x3f;
    bytes
}

/// A path up the tree from a node.
pub fn opening<H, A, S, T>(mut node: u64, nodes: u64) -> MerkleProof<H, A, S, T>
where
    H: Hasher,
    A: filecoin_hashers::PoseidonArity,
    S: filecoin_hashers::PoseidonArity,
    T: filecoin_hashers::PoseidonArity,
{
    let mut arities = Vec::new();
    let roots: Vec<u64> = [S::U64, T::U64].into_iter().filter(|a| *a > 0).collect();
    let mut left = nodes / roots.iter().product::<u64>();
    while left > 1 {
        arities.push(A::U64);
        left /= A::U64;
    }
    arities.extend(roots);
    let seed = node << 8;
    let steps = arities.into_iter().zip(0..).map(|(arity, height)| {
        let index = (node % arity) as usize;
        node /= arity;
        ((1..arity).map(|i| hash(seed + 8 * height + i).into()).collect(), index)
    });
    let steps = steps.collect();
    MerkleProof::from_parts(hash(seed).into(), hash(7).into(), steps)
}

fn proofs<Tree>(public: &Public, layers: usize, nodes: u64) -> Vec<Vec<Proof<Tree, Sha256Hasher>>>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let value = |s: &blstrs::Scalar| u64::from_le_bytes(s.to_bytes_le()[..8].try_into().unwrap());
    let labels = || -> Vec<Domain> { (0..37).map(|i| hash(i).into()).collect() };
    let column = |node: u64| {
        let rows = (1..=layers as u64).map(|i| hash((node << 8) + (i << 40)).into()).collect();
        ColumnProof::new(node as u32, rows, opening(node, nodes))
    };
    let challenge = |of: &[blstrs::Scalar]| {
        let node = value(&of[15]);
        Proof {
            comm_d_proofs: opening::<_, U2, U0, U0>(value(&of[0]), nodes),
            comm_r_last_proof: opening(value(&of[16]), nodes),
            replica_column_proofs: ReplicaColumnProof {
                c_x: column(value(&of[17])),
                drg_parents: of[1..7].iter().map(|p| column(value(p))).collect(),
                exp_parents: of[7..15].iter().map(|p| column(value(p))).collect(),
            },
            labeling_proofs: (1..=layers).map(|i| LabelingProof::new(i as u32, node, labels())).collect(),
            encoding_proof: EncodingProof::new(layers as u32, node, labels()),
        }
    };
    let inputs = public.inputs().unwrap();
    inputs.iter().map(|inputs| inputs[3..].chunks_exact(18).map(challenge).collect()).collect()
}

/// A C1 of made-up hashes and the request for its proof.
pub fn made_up(proof: RegisteredSealProof) -> (Request, Public, SealCommitPhase1Output) {
    let public = Public {
        kind: Kind::Porep,
        registered_proof: proof as u32,
        miner_id: 1 << 40,
        sector_number: 77,
        ticket: hash(1),
        seed: hash(2),
        comm_d: hash(3),
        comm_r: hash(4),
        randomness: [0; 32],
        comm_r_old: [0; 32],
        comm_r_new: [0; 32],
        comm_d_new: [0; 32],
        sectors: Vec::new(),
    };
    let nodes = u64::from(proof.sector_size()) / 32;
    let layers = if nodes < 1 << 30 { 2 } else { 11 };
    let vanilla_proofs = match proof as usize % 5 {
        0 => VanillaSealProof::StackedDrg2KiBV1(proofs::<SectorShapeBase>(&public, layers, nodes)),
        1 => VanillaSealProof::StackedDrg8MiBV1(proofs::<SectorShapeBase>(&public, layers, nodes)),
        2 => VanillaSealProof::StackedDrg512MiBV1(proofs::<SectorShapeBase>(&public, layers, nodes)),
        3 => VanillaSealProof::StackedDrg32GiBV1(proofs::<SectorShapeSub8>(&public, layers, nodes)),
        _ => VanillaSealProof::StackedDrg64GiBV1(proofs::<SectorShapeTop2>(&public, layers, nodes)),
    };
    let porep_id = proof.as_v1_config().porep_id;
    let c1 = SealCommitPhase1Output {
        registered_proof: proof,
        vanilla_proofs,
        comm_r: public.comm_r,
        comm_d: public.comm_d,
        replica_id: generate_replica_id::<PoseidonHasher, _>(
            &prover_id(public.miner_id),
            public.sector_number,
            &public.ticket,
            public.comm_d,
            &porep_id,
        ),
        seed: public.seed,
        ticket: public.ticket,
    };
    let request = Request {
        kind: Kind::Porep,
        registered_proof: proof as u32,
        partition_index: 0,
        miner_id: public.miner_id,
        sector_number: public.sector_number,
        randomness: [0; 32],
        comm_r_old: [0; 32],
        comm_r_new: [0; 32],
        comm_d_new: [0; 32],
        vanilla_lens: Vec::new(),
    };
    (request, public, c1)
}

/// A C1 of made-up hashes for interactive PoRep of this size, decoded.
pub fn made_up_of(sector_size: u64) -> Decoded {
    let of_size = |proof: &RegisteredSealProof| u64::from(proof.sector_size()) == sector_size;
    let proof = SEAL_PROOFS.into_iter().find(of_size).unwrap();
    let (request, _, c1) = made_up(proof);
    decode(&request, &bincode::serialize(&c1).unwrap()).unwrap()
}

/// Builds a circuit and no more.
pub struct Build;

impl CircuitVisitor for Build {
    type Output = ();
    fn visit<C: bellpepper_core::Circuit<blstrs::Scalar> + Send>(self, _: C) {}
}

#[test]
fn every_registered_proof_decodes() {
    for proof in SEAL_PROOFS {
        let (request, public, c1) = made_up(proof);
        let production = u64::from(proof.sector_size()) >= 32 << 30;
        // 126 partitions of a production size are 640 MB of JSON.
        let partitions = usize::from(proof.partitions());
        let bytes = bincode::serialize(&c1).unwrap();
        drop(c1);
        let decoded = decode(&request, &bytes).unwrap_or_else(|e| panic!("{proof:?}: {e}"));
        assert_eq!(decoded.partitions(), partitions, "{proof:?}");
        decoded.agrees_with(&public).unwrap();
        assert_eq!(decoded.circuit().sector_size, u64::from(proof.sector_size()));
        assert_eq!(decoded.public_inputs(0).unwrap().len(), if production { 327 } else { 39 });
        for k in [0, partitions - 1] {
            decoded.with_circuit(k, Build).unwrap();
        }
    }
}

/// `cargo test --release --test proofs -- --ignored --nocapture decoding_times`
#[test]
#[ignore = "measures"]
fn decoding_times() {
    use base64::Engine;
    let (request, _, c1) = made_up(RegisteredSealProof::StackedDrg32GiBV1_1);
    let json = serde_json::to_vec(&c1).unwrap();
    let out = base64::engine::general_purpose::STANDARD.encode(&json);
    let wrapped = serde_json::json!({"SectorNum": 77, "Phase1Out": out, "SectorSize": 32u64 << 30}).to_string();
    let encodings = [("JSON", json), ("wrapper", wrapped.into_bytes()), ("bincode", bincode::serialize(&c1).unwrap())];
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e3
    };
    // The thread's own processor time, which other load leaves alone.
    let now = || -> f64 {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    };
    let time = |f: &mut dyn FnMut()| {
        let start = now();
        f();
        now() - start
    };
    for (encoding, bytes) in &encodings {
        let ours = median((0..7).map(|_| time(&mut || drop(decode(&request, bytes).unwrap()))).collect());
        println!("32 GiB, {encoding}, {} bytes: {ours:.0} ms", bytes.len());
    }
    let theirs = median(
        (0..5)
            .map(|_| time(&mut || drop(serde_json::from_slice::<SealCommitPhase1Output>(&encodings[0].1).unwrap())))
            .collect(),
    );
    println!("JSON into filecoin-proofs' own type: {theirs:.0} ms");
    let decoded = decode(&request, &encodings[2].1).unwrap();
    let inputs = median((0..7).map(|_| time(&mut || drop(made_up_inputs(&request)))).collect());
    println!("public inputs of 10 partitions: {inputs:.1} ms");
    let build = median((0..7).map(|_| time(&mut || decoded.with_circuit(3, Build).unwrap())).collect());
    println!("building one circuit: {build:.1} ms");
}

fn made_up_inputs(request: &Request) -> Vec<Vec<blstrs::Scalar>> {
    let proof = SEAL_PROOFS[request.registered_proof as usize];
    assert_eq!(proof, RegisteredSealProof::StackedDrg32GiBV1_1);
    let public = Public {
        kind: Kind::Porep,
        registered_proof: request.registered_proof,
        miner_id: request.miner_id,
        sector_number: request.sector_number,
        ticket: hash(1),
        seed: hash(2),
        comm_d: hash(3),
        comm_r: hash(4),
        randomness: [0; 32],
        comm_r_old: [0; 32],
        comm_r_new: [0; 32],
        comm_d_new: [0; 32],
        sectors: Vec::new(),
    };
    public.inputs().unwrap()
}
