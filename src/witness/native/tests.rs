//! The gadgets one by one, against the official ones; and that other values give other witnesses.

use std::sync::atomic::AtomicBool;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::Circuit;
use bellperson::gadgets::sha256::sha256_compression_function;
use bellperson::gadgets::uint32::UInt32;
use blstrs::Scalar;
use ff::Field;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::{HashFunction, Hasher};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use storage_proofs_core::gadgets::insertion::insert as official_insert;
use typenum::{U11, U2, U8};

use super::lanes::insert;
use super::plan::{constant, Bit, Plan, Word, VARIABLE};
use super::poseidon::Poseidon;
use super::sha256::{compress, Block, START};
use crate::circuit::Witness;
use crate::error::Code;
use crate::memory::Buf;
use crate::proofs::vanilla::{Node, PathElement};
use crate::proofs::{decode, request_from_json, CircuitVisitor, Content, Decoded, Kind};
use crate::telemetry::Control;
use crate::witness::assign::{AssigningSystem, Values};
use crate::witness::plain_witness;

/// Values that meet the edges: 0, 1, the largest, and any.
fn element(rng: &mut StdRng) -> Scalar {
    match rng.gen_range(0..12) {
        0 => Scalar::ZERO,
        1 => Scalar::ONE,
        2 => -Scalar::ONE,
        3 => Scalar::from(rng.gen::<u64>()),
        _ => Scalar::random(rng),
    }
}

fn system() -> AssigningSystem<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    AssigningSystem::new(Values::Plain(Buf::new()), 1, &NEVER)
}

/// What it has taken.
fn values<'a>(cs: &'a AssigningSystem<'_>) -> &'a [Scalar] {
    match &cs.aux {
        Values::Plain(values) => values,
        _ => panic!("made plain"),
    }
}

fn allocate(cs: &mut AssigningSystem<'_>, value: Scalar) -> AllocatedNum<Scalar> {
    AllocatedNum::alloc(cs, || Ok(value)).unwrap()
}

/// A word's bits in the gadgets, of the kinds given.
fn bits(cs: &mut AssigningSystem<'_>, kinds: &Word, value: u32) -> Vec<Boolean> {
    let one = |(i, kind): (usize, &Bit)| {
        let bit = value >> i & 1 == 1;
        let mut allocate = |bit| Boolean::from(AllocatedBit::alloc::<Scalar, _>(&mut *cs, Some(bit)).unwrap());
        match kind {
            Bit::Constant(constant) => {
                assert_eq!(*constant, bit);
                Boolean::constant(bit)
            }
            Bit::Plain => allocate(bit),
            Bit::Negated => allocate(!bit).not(),
        }
    };
    kinds.iter().enumerate().map(one).collect()
}

fn kind(bit: &Boolean) -> Bit {
    match bit {
        Boolean::Constant(value) => Bit::Constant(*value),
        Boolean::Is(_) => Bit::Plain,
        Boolean::Not(_) => Bit::Negated,
    }
}

/// Compares a block with the gadget's; gives its number of variables.
fn block(block: &mut Block, kinds: &[Word; 16], before: &[Word; 8], message: &[u32; 16], state: &[u32; 8]) -> usize {
    let mut cs = system();
    let mut input = Vec::new();
    for (kinds, value) in kinds.iter().zip(message) {
        input.extend(bits(&mut cs, kinds, *value).into_iter().rev());
    }
    let words: Vec<UInt32> =
        before.iter().zip(state).map(|(kinds, value)| UInt32::from_bits(&bits(&mut cs, kinds, *value))).collect();
    let from = values(&cs).len();
    let out = sha256_compression_function(&mut cs, &input, &words).unwrap();
    let official = &values(&cs)[from..];

    let plan = Plan::new(kinds, before);
    let mut after = *state;
    block.compress(&plan, &mut after, message);
    let (words, count) = block.bits();
    assert_eq!((count, plan.count), (official.len(), official.len()));
    for (i, value) in official.iter().enumerate() {
        assert_eq!(*value, Scalar::from(words[i / 64] >> (i % 64) & 1), "variable {i} of {count}");
    }
    for ((word, kinds), value) in out.into_iter().zip(&plan.state).zip(after) {
        let bits = word.into_bits();
        assert!(bits.iter().zip(kinds).all(|(bit, expected)| kind(bit) == *expected));
        let official = bits.iter().rev().fold(0, |word, bit| word << 1 | u32::from(bit.get_value().unwrap()));
        assert_eq!(official, value);
    }
    let mut plain = *state;
    compress(&mut plain, message);
    assert_eq!(plain, after);
    count
}

#[test]
fn blocks_of_any_bits_have_the_gadgets_variables() {
    let mut rng = StdRng::seed_from_u64(7);
    let mut ours = Block::new();
    let full = block(&mut ours, &[VARIABLE; 16], &[VARIABLE; 8], &rng.gen(), &rng.gen());
    assert_eq!(full, 26_166);
    block(&mut ours, &[VARIABLE; 16], &START.map(constant), &rng.gen(), &START);
    let (message, state) = (rng.gen::<[u32; 16]>(), rng.gen::<[u32; 8]>());
    assert_eq!(block(&mut ours, &message.map(constant), &state.map(constant), &message, &state), 0);
    for round in 0..60 {
        let constants = [0, 10, 50, 90, 98][round % 5];
        let negated = [0, 30, 100][round % 3];
        let whole_words = round % 2 == 0;
        let (message, state) = (rng.gen::<[u32; 16]>(), rng.gen::<[u32; 8]>());
        let mut kinds = |value: u32| -> Word {
            let whole = rng.gen_range(0..100) < constants;
            std::array::from_fn(|i| {
                let one = if whole_words { whole } else { rng.gen_range(0..100) < constants };
                match (one, rng.gen_range(0..100) < negated) {
                    (true, _) => Bit::Constant(value >> i & 1 == 1),
                    (_, true) => Bit::Negated,
                    _ => Bit::Plain,
                }
            })
        };
        let (of_message, of_state) = (message.map(&mut kinds), state.map(&mut kinds));
        block(&mut ours, &of_message, &of_state, &message, &state);
    }
}

/// The official variables of a hash.
fn official_hash(preimage: &[Scalar]) -> Vec<Scalar> {
    type Function = <PoseidonHasher as Hasher>::Function;
    let mut cs = system();
    let nums: Vec<_> = preimage.iter().map(|x| allocate(&mut cs, *x)).collect();
    let from = values(&cs).len();
    match nums.len() {
        2 => Function::hash_multi_leaf_circuit::<U2, _>(&mut cs, &nums, 0),
        8 => Function::hash_multi_leaf_circuit::<U8, _>(&mut cs, &nums, 0),
        _ => Function::hash_multi_leaf_circuit::<U11, _>(&mut cs, &nums, 0),
    }
    .unwrap();
    values(&cs)[from..].to_vec()
}

#[test]
fn hashes_have_the_gadgets_variables_one_by_one_and_eight_at_once() {
    let mut rng = StdRng::seed_from_u64(9);
    for arity in [2, 8, 11] {
        let poseidon = Poseidon::of(arity).unwrap();
        for round in 0..24 {
            let lanes = 1 + round % 8;
            let preimage: Vec<[Scalar; 8]> = (0..arity).map(|_| std::array::from_fn(|_| element(&mut rng))).collect();
            let margin = round % 3;
            let mut turn = vec![vec![Scalar::ZERO; margin + poseidon.len()]; lanes];
            let mut once = turn.clone();
            let places = |all: &mut Vec<Vec<Scalar>>, turn: bool| {
                let mut outs: Vec<&mut [Scalar]> = all.iter_mut().map(|out| &mut out[..]).collect();
                if turn {
                    poseidon.hash_in_turn(&preimage, &mut outs, margin)
                } else {
                    poseidon.hash_lanes(&preimage, &mut outs, margin)
                }
            };
            let (a, b) = (places(&mut turn, true), places(&mut once, false));
            assert!(turn == once, "arity {arity}, {lanes} lanes");
            for lane in 0..lanes {
                let one: Vec<Scalar> = preimage.iter().map(|all| all[lane]).collect();
                let official = official_hash(&one);
                assert_eq!(once[lane][margin..], official, "arity {arity}, lane {lane}");
                assert!(a[lane] == official[official.len() - 1] && b[lane] == a[lane]);
            }
        }
    }
    assert!([1, 3, 4, 16].iter().all(|arity| Poseidon::of(*arity).is_none()));
    assert_eq!([2, 8, 11].map(|arity| Poseidon::of(arity).unwrap().len()), [311, 505, 598]);
}

#[test]
fn insertions_have_the_gadgets_variables() {
    let mut rng = StdRng::seed_from_u64(11);
    for arity in [2u64, 8] {
        for index in 0..arity {
            let mut cs = system();
            let current = element(&mut rng);
            let siblings: Vec<Scalar> = (1..arity).map(|_| element(&mut rng)).collect();
            let a = allocate(&mut cs, current);
            let others: Vec<_> = siblings.iter().map(|x| allocate(&mut cs, *x)).collect();
            let bits: Vec<Boolean> = (0..arity.trailing_zeros())
                .map(|i| AllocatedBit::alloc::<Scalar, _>(&mut cs, Some(index >> i & 1 == 1)).unwrap().into())
                .collect();
            let from = values(&cs).len();
            let official = official_insert(&mut cs, &a, &bits, &others).unwrap();
            let mut ours = vec![Scalar::ZERO; values(&cs).len() - from];
            let all = insert(current, index, &siblings, &mut ours);
            assert_eq!(ours, values(&cs)[from..]);
            assert!(official.iter().zip(all).all(|(official, ours)| official.get_value() == Some(ours)));
            assert_eq!(all[index as usize], current);
        }
    }
}

struct Official;

impl CircuitVisitor for Official {
    type Output = Witness;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Witness {
        plain_witness(circuit).unwrap()
    }
}

fn native(decoded: &Decoded) -> Witness {
    let mut witness = Witness::default();
    witness.inputs.push(Scalar::ONE);
    super::write(decoded, 0, Control::NONE, &mut witness).unwrap();
    witness
}

fn equal(a: &Witness, b: &Witness) -> bool {
    a.inputs == b.inputs && a.aux[..] == b.aux[..]
}

fn load(kind: Kind, folder: &str, vanilla: &[&str]) -> Decoded {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder);
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let pieces: Vec<Vec<u8>> = vanilla.iter().map(|name| read(name)).collect();
    let mut request = request_from_json(kind, &read("public.json")).unwrap();
    request.vanilla_lens = pieces.iter().map(|piece| piece.len() as u64).collect();
    decode(&request, &pieces.concat(), &AtomicBool::new(false)).unwrap()
}

/// Changes one value and compares: the witness is another, and still the official circuit's for that value.
fn changed<T>(decoded: &mut Decoded, what: &str, place: impl Fn(&mut Content) -> &mut T, value: T) {
    let before = native(decoded);
    let kept = std::mem::replace(place(decoded.content_mut()), value);
    let after = native(decoded);
    assert!(!equal(&before, &after), "{what}");
    assert!(equal(&after, &decoded.with_circuit(0, Official).unwrap()), "{what}");
    *place(decoded.content_mut()) = kept;
    assert!(equal(&before, &native(decoded)), "{what}");
}

macro_rules! field {
    ($kind:ident, $vanilla:ident => $place:expr) => {
        |content: &mut Content| match content {
            Content::$kind(content) => {
                let $vanilla = content.vanilla_mut();
                &mut $place
            }
            _ => unreachable!(),
        }
    };
}

#[test]
fn another_value_is_another_witness() {
    let node = Node([1; 32]);
    let porep = &mut load(Kind::Porep, "porep-2k", &["c1.json"]);
    assert!(equal(&native(porep), &porep.with_circuit(0, Official).unwrap()));
    let index = |step: &PathElement| step.index ^ 1;
    let Content::Porep(content) = porep.content() else { unreachable!() };
    let (_, proofs) = content.vanilla(0).unwrap();
    let last = proofs.len() - 1;
    let data = index(proofs[last].comm_d_proofs.steps().nth(2).unwrap());
    let column = index(proofs[last].exp_parents[7].inclusion_proof.steps().next().unwrap());
    changed(porep, "challenge", field!(Porep, v => v[0][last].node), 5);
    changed(porep, "data", field!(Porep, v => v[0][last].comm_d_proofs.leaf), node);
    changed(porep, "bit of a data path", field!(Porep, v => v[0][last].comm_d_proofs.parts_mut()[0][2].index), data);
    changed(
        porep,
        "bit of a column's path",
        field!(Porep, v => v[0][last].exp_parents[7].inclusion_proof.parts_mut()[0][0].index),
        column,
    );
    changed(porep, "label", field!(Porep, v => v[0][0].drg_parents[3].rows[1]), node);
    changed(porep, "label", field!(Porep, v => v[0][0].exp_parents[0].rows[0]), node);
    changed(porep, "sibling", field!(Porep, v => v[0][0].c_x.inclusion_proof.parts_mut()[0][1].hashes[6]), node);

    let post = &mut load(Kind::WindowPost, "window-2k", &["vanilla-0.bin", "vanilla-1.bin", "vanilla-2.bin"]);
    assert!(equal(&native(post), &post.with_circuit(0, Official).unwrap()));
    changed(post, "leaf", field!(Post, v => v[1].inclusion_proofs[9].leaf), node);
    changed(post, "comm_c", field!(Post, v => v[0].comm_c), node);
    changed(post, "sibling", field!(Post, v => v[1].inclusion_proofs[0].parts_mut()[0][0].hashes[3]), node);

    let snap = &mut load(Kind::Snap, "update-2k", &["vanilla-0.bin"]);
    assert!(equal(&native(snap), &snap.with_circuit(0, Official).unwrap()));
    changed(snap, "apex leaf", field!(Snap, v => v[0].apex_leafs[5]), node);
    changed(
        snap,
        "data sibling",
        field!(Snap, v => v[0].challenge_proofs[9].proof_d_new.parts_mut()[0][0].hashes[0]),
        node,
    );
    changed(snap, "sibling", field!(Snap, v => v[0].challenge_proofs[0].proof_r_old.parts_mut()[0][1].hashes[2]), node);
    changed(snap, "root", field!(Snap, v => v[0].challenge_proofs[0].proof_r_new.root), node);
}

#[test]
fn what_the_official_circuit_refuses_is_refused() {
    let snap = &mut load(Kind::Snap, "update-2k", &["vanilla-0.bin"]);
    let Content::Snap(content) = snap.content_mut() else { unreachable!() };
    content.vanilla_mut()[0].challenge_proofs[9].proof_r_new.leaf = Node([1; 32]);
    let e = super::write(snap, 0, Control::NONE, &mut Witness::default()).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::Unsatisfied, "vanilla[0]"));
    assert!(e.message.contains("challenge_proofs[9]"), "{}", e.message);
}
