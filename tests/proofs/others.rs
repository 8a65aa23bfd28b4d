//! SnapDeals, WindowPoSt and WinningPoSt inputs as they should be.

use filecoin_proofs::constants::SectorShapeBase;
use filecoin_proofs::parameters::{window_post_public_params, winning_post_public_params};
use splitprove::error::Result;
use splitprove::proofs::registered::{post_from_number, prover_id, UPDATE_PROOFS};
use splitprove::proofs::{public_from_json, request_from_json, CircuitId, Decoded, Kind, Public, Request, Sector};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCompound, PublicInputs, PublicSector};
use storage_proofs_update::constants::h_default;
use storage_proofs_update::{EmptySectorUpdate, EmptySectorUpdateCompound};

use crate::fixtures::{data, decode, Count};
use crate::large::hash;

pub const KINDS: [(Kind, &str); 3] =
    [(Kind::Snap, "update-2k"), (Kind::WindowPost, "window-2k"), (Kind::WinningPost, "winning-2k")];

/// A request, its statement, and its vanilla proofs one by one.
#[derive(Clone)]
pub struct Input {
    pub request: Request,
    pub public: Public,
    pub pieces: Vec<Vec<u8>>,
}

impl Input {
    /// The fixture of a kind.
    pub fn load(kind: Kind) -> Self {
        let (_, folder) = KINDS.into_iter().find(|(k, _)| *k == kind).unwrap();
        let json = data(&format!("{folder}/public.json"));
        let count = if kind == Kind::WindowPost { 3 } else { 1 };
        Input {
            request: request_from_json(kind, &json).unwrap(),
            public: public_from_json(kind, &json).unwrap(),
            pieces: (0..count).map(|i| data(&format!("{folder}/vanilla-{i}.bin"))).collect(),
        }
    }

    /// Decodes the pieces, with their lengths as they are.
    pub fn decode(&self) -> Result<Decoded> {
        let lens = self.pieces.iter().map(|p| p.len() as u64).collect();
        decode(&Request { vanilla_lens: lens, ..self.request.clone() }, &self.pieces.concat())
    }
}

/// What storage-proofs' own code gives for a statement; its code is the same for every tree.
pub fn theirs(public: &Public) -> Vec<Vec<blstrs::Scalar>> {
    if public.kind == Kind::Snap {
        let size = UPDATE_PROOFS[public.registered_proof as usize].sector_size();
        let params = storage_proofs_update::PublicParams::from_sector_size(size.into());
        let inputs = |k| storage_proofs_update::PublicInputs {
            k,
            comm_r_old: public.comm_r_old.into(),
            comm_d_new: public.comm_d_new.into(),
            comm_r_new: public.comm_r_new.into(),
            h: h_default(params.sector_nodes),
        };
        type Compound = EmptySectorUpdateCompound<SectorShapeBase>;
        type Scheme = EmptySectorUpdate<SectorShapeBase>;
        let of = |k| <Compound as CompoundProof<Scheme, _>>::generate_public_inputs(&inputs(k), &params, Some(k));
        return (0..params.partition_count).map(|k| of(k).unwrap()).collect();
    }
    let config = post_from_number(public.registered_proof).unwrap().as_v1_config();
    let winning = public.kind == Kind::WinningPost;
    let params = if winning {
        winning_post_public_params::<SectorShapeBase>(&config)
    } else {
        window_post_public_params::<SectorShapeBase>(&config)
    };
    let params = params.unwrap();
    let times = if winning { 66 } else { 1 };
    let sectors = public.sectors.iter().flat_map(|s| vec![s; times]);
    let inputs = PublicInputs {
        randomness: public.randomness.into(),
        prover_id: prover_id(public.miner_id).into(),
        sectors: sectors.map(|s| PublicSector { id: s.sector_number.into(), comm_r: s.comm_r.into() }).collect(),
        k: None,
    };
    let of = |k| {
        <FallbackPoStCompound<SectorShapeBase> as CompoundProof<FallbackPoSt<'_, SectorShapeBase>, _>>::
            generate_public_inputs(&inputs, &params, Some(k))
    };
    (0..inputs.sectors.len().div_ceil(params.sector_count)).map(|k| of(k).unwrap()).collect()
}

#[test]
fn fixtures_decode_to_filecoins_public_inputs() {
    for (kind, _) in KINDS {
        let input = Input::load(kind);
        let decoded = input.decode().unwrap();
        let circuit = CircuitId { kind, sector_size: 2048 };
        assert_eq!((decoded.circuit(), input.public.circuit().unwrap()), (circuit, circuit));
        let expected = theirs(&input.public);
        assert_eq!(decoded.partitions(), if kind == Kind::WindowPost { 2 } else { 1 });
        assert_eq!(decoded.partitions(), expected.len());
        for (k, inputs) in expected.iter().enumerate() {
            assert_eq!(decoded.public_inputs(k).unwrap(), *inputs, "{kind}, partition {k}");
            assert_eq!(decoded.with_circuit(k, Count).unwrap(), circuit.with_blank_circuit(Count).unwrap());
        }
        assert_eq!(input.public.inputs().unwrap(), expected);
        decoded.agrees_with(&input.public).unwrap();
        assert!(decoded.public_inputs(2).is_err() && decoded.with_circuit(2, Count).is_err());
        let bytes: usize = input.pieces.iter().map(Vec::len).sum();
        assert!((bytes..3 * bytes).contains(&decoded.bytes()), "{kind}: {} of {bytes}", decoded.bytes());
    }
}

#[test]
fn statements_of_every_registered_proof_have_filecoins_public_inputs() {
    let mut randomness = hash(1);
    randomness[31] = 0x3f;
    let public = |kind, registered_proof, sectors: u64| Public {
        kind,
        registered_proof,
        miner_id: 1 << 40,
        sector_number: 5,
        ticket: [0; 32],
        seed: [0; 32],
        comm_d: [0; 32],
        comm_r: [0; 32],
        randomness,
        comm_r_old: hash(2),
        comm_r_new: hash(3),
        comm_d_new: hash(4),
        sectors: (0..sectors).map(|i| Sector { sector_number: 3 * i + 1, comm_r: hash(100 + i) }).collect(),
    };
    let same = |public: &Public| assert_eq!(public.inputs().unwrap(), theirs(public), "{public:?}");
    for number in 0..5 {
        same(&public(Kind::Snap, number, 0));
        same(&public(Kind::WinningPost, number, 1));
    }
    for number in 5..15 {
        for sectors in if number % 5 < 3 { [1, 2, 5] } else { [1, 2000, 5000] } {
            same(&public(Kind::WindowPost, number, sectors));
        }
    }
    // The bits that callers clear do not count, nor does the order of a WindowPoSt's sectors.
    let good = public(Kind::WindowPost, 10, 5);
    let mut other = good.clone();
    other.randomness[31] = 0xff;
    other.sectors.reverse();
    other.sectors.push(other.sectors[2]);
    assert_eq!(other.inputs().unwrap(), good.inputs().unwrap());
}

#[test]
fn a_window_posts_partition_alone() {
    let whole = Input::load(Kind::WindowPost);
    let inputs = theirs(&whole.public);
    for (sectors, index, expected) in [(0..2, 0, &inputs[0]), (2..3, 1, &inputs[1]), (2..3, 0, &inputs[1])] {
        let mut part = whole.clone();
        part.pieces = whole.pieces[sectors.clone()].to_vec();
        part.request.partition_index = index;
        part.public.sectors = whole.public.sectors[sectors].to_vec();
        let decoded = part.decode().unwrap();
        assert_eq!(decoded.partitions(), 1);
        assert_eq!(decoded.public_inputs(0).unwrap(), *expected);
        decoded.agrees_with(&part.public).unwrap();
        assert_eq!(decoded.agrees_with(&whole.public).unwrap_err().field, "sectors");
    }
}
