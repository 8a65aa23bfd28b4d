//! Inputs of SnapDeals and PoSts for the tests of `hostile.rs`, and what those that are no vanilla proofs may take at most.

use filecoin_proofs::constants::SectorShapeSub8;
use splitprove::error::Code;
use splitprove::proofs::{Kind, Request};

use crate::fixtures::decode;
use crate::hostile::{decode_within, in_a_process, End, Input, MIB};
use crate::others::{self, KINDS};
use crate::others_large::{post, update};

/// What a decoding takes beside the vanilla proofs it holds: memory kept back, hashing, public inputs.
const BESIDE: u64 = 2 * MIB;

fn input(name: &'static str, request: &Request, pieces: &[Vec<u8>], good: bool) -> Input {
    let lens = pieces.iter().map(|p| p.len() as u64).collect();
    Input { name, request: Request { vanilla_lens: lens, ..request.clone() }, bytes: pieces.concat(), good }
}

/// Inputs of each about `len` bytes, none of which is a request's vanilla proofs, and how many bytes of them may have to be
/// held before that is seen.
fn bounded(len: usize) -> Vec<(Input, usize)> {
    let mut all = Vec::new();
    let zeros = |bytes: &[u8]| [bytes, &vec![0; len]].concat();
    for (kind, _) in KINDS {
        let others::Input { request, pieces, .. } = others::Input::load(kind);
        let mut hostile = |name, pieces: &[Vec<u8>]| all.push((input(name, &request, pieces, false), 0));
        // The first of a PoSt is a sector's, whose others are as they should be.
        let with = |piece: Vec<u8>| [&[piece], &pieces[1..]].concat();
        let lying = |at: usize, count: u64| {
            let mut piece = zeros(&pieces[0]);
            piece[at..at + 8].copy_from_slice(&count.to_le_bytes());
            with(piece)
        };
        let names = match kind {
            Kind::Snap => ["apex leaves", "challenges", "steps", "siblings"],
            _ => ["sectors", "challenges", "steps", "siblings"],
        };
        let places = if kind == Kind::Snap { [32, 296, 372, 380] } else { [40, 48, 124, 132] };
        for (name, at) in names.into_iter().zip(places) {
            for count in [1 << 20, 1 << 40, u64::MAX] {
                hostile(name, &lying(at, count));
            }
        }
        hostile("nothing but zeros", &with(zeros(&[])));
        hostile("no element", &with(vec![255; len]));
        hostile("zeros behind", &with(zeros(&pieces[0])));
    }
    let window = others::Input::load(Kind::WindowPost);
    let sectors = len / window.pieces[0].len();
    let twice = vec![window.pieces[0].clone(); sectors];
    all.push((input("one sector again and again", &window.request, &twice, false), len));
    let ascending: Vec<Vec<u8>> =
        (0..sectors as u64).map(|i| [&(21 + i).to_le_bytes(), &window.pieces[0][8..]].concat()).collect();
    all.push((input("many sectors with one's paths", &window.request, &ascending, false), len));
    let bytes = Request { vanilla_lens: vec![1; len / 8], ..window.request.clone() };
    all.push((Input { name: "as many sectors as bytes", request: bytes, bytes: vec![0; len / 8], good: false }, len));
    // A production size's.
    let mut large = window.request.clone();
    large.registered_proof = 13;
    all.push((input("zeros for a 32 GiB sector", &large, &[zeros(&[])], false), 0));
    let mut snap = update::<SectorShapeSub8>(3);
    let most = snap.pieces.concat().len();
    snap.pieces[15] = zeros(&snap.pieces[15]);
    all.push((input("zeros behind the last of 16 partitions", &snap.request, &snap.pieces, false), most));
    all
}

/// Those of [`bounded`].
pub fn hostile(len: usize) -> impl Iterator<Item = Input> {
    bounded(len).into_iter().map(|(input, _)| input)
}

/// Inputs that are taken for good.
pub fn good() -> Vec<Input> {
    let window = post::<SectorShapeSub8>(Kind::WindowPost, 13, 400, 0);
    let winning = post::<SectorShapeSub8>(Kind::WinningPost, 3, 1, 0);
    let snap = update::<SectorShapeSub8>(3);
    vec![
        input("32 GiB, 400 sectors' WindowPoSt, bincode", &window.request, &window.pieces, true),
        input("32 GiB, WinningPoSt, bincode", &winning.request, &winning.pieces, true),
        input("32 GiB, SnapDeals, bincode", &snap.request, &snap.pieces, true),
    ]
}

/// Each is refused in the end, with the place.
#[test]
fn they_are_malformed() {
    for (input, _) in bounded(1 << 20) {
        let e = decode(&input.request, &input.bytes).unwrap_err();
        assert_eq!(e.code, Code::MalformedInput, "{}: {e}", input.name);
        assert!(e.field.starts_with("vanilla["), "{}: {e}", input.name);
    }
}

#[test]
fn what_is_held_is_bounded() {
    in_a_process("hostile_others::child_bounded", 1);
}

/// 30 MB that are no vanilla proof are refused within the memory that real ones would take.
#[test]
#[ignore = "run by what_is_held_is_bounded"]
fn child_bounded() {
    for (input, held) in bounded(30_000_000) {
        let most = 2 * held as u64 + BESIDE;
        assert_eq!(decode_within(&input, most), End::Malformed, "{}: within {most} bytes", input.name);
    }
}
