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

/// Makes an input hostile, of about so many bytes.
type Make = Box<dyn FnOnce(&mut others::Input, usize)>;

/// An input that is no request's vanilla proofs, made when it is its turn: 30 MB each.
struct Hostile {
    name: &'static str,
    kind: Kind,
    /// Out of the fixture's vanilla proofs.
    make: Make,
    /// Whether as much of it must be held as there is before that is seen.
    held: bool,
}

impl Hostile {
    fn input(self, len: usize) -> Input {
        let mut from = others::Input::load(self.kind);
        (self.make)(&mut from, len);
        input(self.name, &from.request, &from.pieces, false)
    }
}

/// Zeros, `len` of them, behind bytes.
fn zeros(bytes: &[u8], len: usize) -> Vec<u8> {
    [bytes, &vec![0; len]].concat()
}

/// Every hostile input: of each kind those whose first vanilla proof is at fault, then those of many or large ones.
fn all(counts: &'static [u64]) -> Vec<Hostile> {
    let mut all = Vec::new();
    let mut add = |name, kind, held, make: Make| {
        all.push(Hostile { name, kind, make, held });
    };
    for (kind, _) in KINDS {
        let (names, places) = match kind {
            Kind::Snap => (["apex leaves", "challenges", "steps", "siblings"], [32, 296, 372, 380]),
            _ => (["sectors", "challenges", "steps", "siblings"], [40, 48, 124, 132]),
        };
        for (name, at) in names.into_iter().zip(places) {
            for count in counts {
                let make = move |it: &mut others::Input, len| {
                    it.pieces[0] = zeros(&it.pieces[0], len);
                    it.pieces[0][at..at + 8].copy_from_slice(&count.to_le_bytes());
                };
                add(name, kind, false, Box::new(make));
            }
        }
        add("nothing but zeros", kind, false, Box::new(|it, len| it.pieces[0] = vec![0; len]));
        add("no element", kind, false, Box::new(|it, len| it.pieces[0] = vec![255; len]));
        add("zeros behind", kind, false, Box::new(|it, len| it.pieces[0] = zeros(&it.pieces[0], len)));
    }
    add(
        "one sector again and again",
        Kind::WindowPost,
        true,
        Box::new(|it, len| it.pieces = vec![it.pieces[0].clone(); len / it.pieces[0].len()]),
    );
    add(
        "many sectors with one's paths",
        Kind::WindowPost,
        true,
        Box::new(|it, len| {
            let one = it.pieces[0].clone();
            let sector = |i: usize| [&(21 + i as u64).to_le_bytes(), &one[8..]].concat();
            it.pieces = (0..len / one.len()).map(sector).collect();
        }),
    );
    add("a byte a sector", Kind::WindowPost, false, Box::new(|it, len| it.pieces = vec![vec![0]; len / 64]));
    add(
        "zeros for a 32 GiB sector",
        Kind::WindowPost,
        false,
        Box::new(|it, len| {
            it.request.registered_proof = 13;
            it.pieces = vec![vec![0; len]];
        }),
    );
    add(
        "zeros behind the last of 16 partitions",
        Kind::Snap,
        true,
        Box::new(|it, len| {
            *it = update::<SectorShapeSub8>(3);
            it.pieces[15] = zeros(&it.pieces[15], len);
        }),
    );
    all
}

/// Some of them, of each about `len` bytes.
pub fn hostile(len: usize) -> impl Iterator<Item = Input> {
    all(&[1 << 40]).into_iter().map(move |hostile| hostile.input(len))
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

/// Counts that lie, from what there is room for to what there is not.
const COUNTS: &[u64] = &[0, 1 << 20, 1 << 40, u64::MAX];

/// Each is refused in the end, with the place.
#[test]
fn they_are_malformed() {
    let all = all(COUNTS);
    assert!(all.len() >= 40, "{}", all.len());
    for hostile in all {
        let input = hostile.input(1 << 20);
        let e = decode(&input.request, &input.bytes).unwrap_err();
        assert_eq!(e.code, Code::MalformedInput, "{}: {e}", input.name);
        assert!(e.field.starts_with("vanilla["), "{}: {e}", input.name);
    }
}

#[test]
fn what_is_held_is_bounded() {
    in_a_process("hostile_others::child_bounded", 1);
}

/// 30 MB that are no vanilla proofs are refused within little more than real ones would take.
#[test]
#[ignore = "run by what_is_held_is_bounded"]
fn child_bounded() {
    for hostile in all(COUNTS) {
        let held = hostile.held;
        let input = hostile.input(30_000_000);
        let most = BESIDE + if held { 2 * input.bytes.len() as u64 } else { 0 };
        assert_eq!(decode_within(&input, most), End::Malformed, "{}: within {most} bytes", input.name);
    }
}
