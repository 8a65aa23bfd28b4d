//! SnapDeals, WindowPoSt and WinningPoSt inputs as they should not be: each with the code and the field that it must give.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filecoin_proofs::constants::SectorShapeBase;
use filecoin_proofs::FallbackPoStSectorProof;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{json, Value};
use splitprove::error::{Code, Error};
use splitprove::proofs::{Kind, Public, Request};
use storage_proofs_update::PartitionProof;

use crate::fixtures::{data, decode};
use crate::large::Build;
use crate::others::{Input, KINDS};

fn expect(what: &str, result: Result<impl Sized, Error>, code: Code, field: &str) {
    let Err(e) = result else { panic!("{what}: taken for good") };
    assert_eq!((e.code, &*e.field), (code, field), "{what}: {}", e.message);
    assert!(!e.message.is_empty() && e.field.len() < 64, "{what}");
}

/// Changes one place of a fixture's vanilla proof `i`, by way of filecoin-proofs' own types.
fn changed(kind: Kind, i: usize, pointer: &str, change: impl Fn(&mut Value), field: &str) {
    let mut input = Input::load(kind);
    let bytes = &input.pieces[i];
    let mut value = match kind {
        Kind::Snap => serde_json::to_value(bincode::deserialize::<PartitionProof<SectorShapeBase>>(bytes).unwrap()),
        _ => serde_json::to_value(bincode::deserialize::<FallbackPoStSectorProof<SectorShapeBase>>(bytes).unwrap()),
    }
    .unwrap();
    change(value.pointer_mut(pointer).unwrap_or_else(|| panic!("{kind}: no {pointer}")));
    input.pieces[i] = match kind {
        Kind::Snap => bincode::serialize(&serde_json::from_value::<PartitionProof<SectorShapeBase>>(value).unwrap()),
        _ => bincode::serialize(&serde_json::from_value::<FallbackPoStSectorProof<SectorShapeBase>>(value).unwrap()),
    }
    .unwrap();
    expect(&format!("{kind}, {i}, {pointer}"), input.decode(), Code::MalformedInput, field);
}

fn shorten(v: &mut Value) {
    v.as_array_mut().unwrap().pop().unwrap();
}

fn lengthen(v: &mut Value) {
    let items = v.as_array_mut().unwrap();
    items.push(items[0].clone());
}

fn empty(v: &mut Value) {
    *v = json!([]);
}

fn flip(v: &mut Value) {
    *v = json!(v.as_u64().unwrap() ^ 1);
}

fn no_element(v: &mut Value) {
    *v = json!(vec![255; 32]);
}

const COUNTS: [fn(&mut Value); 3] = [shorten, lengthen, empty];
const PROOFS: &str = "/vanilla_proof/sectors/0/inclusion_proofs";
const PATH: &str = "data/Single/path/path";

#[test]
fn post_counts() {
    for change in COUNTS {
        for (kind, i, n) in [(Kind::WindowPost, 2, 9), (Kind::WinningPost, 0, 65)] {
            changed(kind, i, "/vanilla_proof/sectors", change, &format!("vanilla[{i}].vanilla_proof.sectors"));
            let proofs = format!("vanilla[{i}].vanilla_proof.sectors[0].inclusion_proofs");
            changed(kind, i, PROOFS, change, &proofs);
            changed(kind, i, &format!("{PROOFS}/{n}/{PATH}"), change, &format!("{proofs}[{n}].path").shortened());
            let hashes = format!("{PROOFS}/{n}/{PATH}/1/hashes");
            changed(kind, i, &hashes, change, &format!("{proofs}[{n}].path[1].hashes").shortened());
        }
    }
}

/// A place as the C surface has room for it.
trait Shortened {
    fn shortened(&self) -> String;
}

impl Shortened for String {
    fn shortened(&self) -> String {
        if self.len() < 64 {
            return self.clone();
        }
        let head = &self[..self.find('.').unwrap()];
        let tail = self.match_indices('.').map(|(i, _)| &self[i + 1..]).find(|t| head.len() + 2 + t.len() < 64);
        format!("{head}..{}", tail.unwrap())
    }
}

#[test]
fn post_values() {
    for (kind, i) in [(Kind::WindowPost, 1), (Kind::WinningPost, 0)] {
        let sector = format!("vanilla[{i}].vanilla_proof.sectors[0]");
        let proof = format!("{sector}.inclusion_proofs[3]");
        changed(kind, i, "/comm_r", no_element, &format!("vanilla[{i}].comm_r"));
        changed(kind, i, "/vanilla_proof/sectors/0/comm_c", no_element, &format!("{sector}.comm_c"));
        changed(kind, i, "/vanilla_proof/sectors/0/comm_r_last", no_element, &format!("{sector}.comm_r_last"));
        changed(kind, i, &format!("{PROOFS}/3/data/Single/leaf"), no_element, &format!("{proof}.leaf"));
        changed(kind, i, &format!("{PROOFS}/3/data/Single/root"), no_element, &format!("{proof}.root"));
        let hash = format!("{PROOFS}/3/{PATH}/0/hashes/6");
        changed(kind, i, &hash, no_element, &format!("{proof}.path[0].hashes[6]").shortened());
        let index = format!("{PROOFS}/3/{PATH}/1/index");
        for to in [8, u64::MAX] {
            changed(kind, i, &index, |v| *v = json!(to), &format!("{proof}.path[1].index").shortened());
        }
        // Whether they are the request's.
        changed(kind, i, &index, flip, &proof);
        changed(kind, i, &format!("{PROOFS}/3/data/Single/root/0"), flip, &format!("{proof}.root"));
        changed(kind, i, "/comm_r/5", flip, &format!("vanilla[{i}].comm_r"));
        changed(kind, i, "/vanilla_proof/sectors/0/comm_c/5", flip, &format!("vanilla[{i}].comm_r"));
        changed(kind, i, "/vanilla_proof/sectors/0/comm_r_last/5", flip, &format!("{sector}.inclusion_proofs[0].root"));
        let other_tree = |v: &mut Value| {
            let node = json!(vec![0; 32]);
            *v = json!({"Sub": {"base_proof": {"path": []}, "sub_proof": {"path": []}, "root": node, "leaf": node}});
        };
        // A Merkle proof's kind is seen before filecoin-proofs' own type would look at its tree.
        changed(kind, i, &format!("{PROOFS}/3/data"), other_tree, &proof);
        let first = format!("{sector}.inclusion_proofs[0]");
        changed(kind, i, PROOFS, |v| v.as_array_mut().unwrap().reverse(), &first);
    }
    changed(Kind::WinningPost, 0, "/sector_id", flip, "vanilla[0].vanilla_proof.sectors[0].inclusion_proofs[0]");
    for number in [0, 20, 21] {
        changed(Kind::WindowPost, 1, "/sector_id", |v| *v = json!(number), "vanilla[1].sector_id");
    }
    for number in [23, u64::MAX] {
        changed(Kind::WindowPost, 1, "/sector_id", |v| *v = json!(number), "vanilla[2].sector_id");
    }
}

#[test]
fn snap_counts() {
    for change in COUNTS {
        changed(Kind::Snap, 0, "/apex_leafs", change, "vanilla[0].apex_leafs");
        changed(Kind::Snap, 0, "/challenge_proofs", change, "vanilla[0].challenge_proofs");
        for (j, name) in [(0, "proof_r_old"), (4, "proof_d_new"), (9, "proof_r_new")] {
            let (at, field) =
                (format!("/challenge_proofs/{j}/{name}"), format!("vanilla[0].challenge_proofs[{j}].{name}"));
            changed(Kind::Snap, 0, &format!("{at}/{PATH}"), change, &format!("{field}.path"));
            changed(Kind::Snap, 0, &format!("{at}/{PATH}/1/hashes"), change, &format!("{field}.path[1].hashes"));
        }
    }
}

#[test]
fn snap_values() {
    let snap = |pointer: &str, change: &dyn Fn(&mut Value), field: &str| {
        changed(Kind::Snap, 0, pointer, change, field);
    };
    snap("/comm_c", &no_element, "vanilla[0].comm_c");
    snap("/apex_leafs/7", &no_element, "vanilla[0].apex_leafs[7]");
    for (j, name) in [(0, "proof_r_old"), (4, "proof_d_new"), (9, "proof_r_new")] {
        let (at, field) = (format!("/challenge_proofs/{j}/{name}"), format!("vanilla[0].challenge_proofs[{j}].{name}"));
        snap(&format!("{at}/data/Single/root"), &no_element, &format!("{field}.root"));
        snap(&format!("{at}/data/Single/leaf"), &no_element, &format!("{field}.leaf"));
        snap(&format!("{at}/{PATH}/1/hashes/0"), &no_element, &format!("{field}.path[1].hashes[0]"));
        snap(&format!("{at}/{PATH}/1/index"), &|v| *v = json!(8), &format!("{field}.path[1].index"));
        snap(&format!("{at}/{PATH}/1/index"), &flip, &field);
        let root = if j == 0 { "comm_r_old".to_string() } else { format!("{field}.root") };
        snap(&format!("{at}/data/Single/root/0"), &flip, &root);
    }
    snap("/challenge_proofs/0/proof_d_new/data/Single/root/0", &flip, "comm_d_new");
    snap("/challenge_proofs/0/proof_r_new/data/Single/root/0", &flip, "comm_r_new");
    snap("/comm_c/0", &flip, "comm_r_old");
}

#[test]
fn what_the_request_says() {
    let with = |kind, change: fn(&mut Request)| {
        let mut input = Input::load(kind);
        change(&mut input.request);
        input.decode()
    };
    let first = "vanilla[0].vanilla_proof.sectors[0].inclusion_proofs[0]";
    for kind in [Kind::WindowPost, Kind::WinningPost] {
        expect("randomness", with(kind, |r| r.randomness[3] ^= 1), Code::MalformedInput, first);
        expect("number", with(kind, |r| r.registered_proof = 15), Code::InvalidArgument, "registered_proof");
        // The bits that callers clear do not count.
        assert!(with(kind, |r| r.randomness[31] |= 0xc0).is_ok());
    }
    expect("kind", with(Kind::WindowPost, |r| r.kind = Kind::WinningPost), Code::InvalidArgument, "registered_proof");
    expect("kind", with(Kind::WinningPost, |r| r.kind = Kind::WindowPost), Code::InvalidArgument, "registered_proof");
    // Another size's paths are longer, and its partitions take more sectors.
    let path = format!("{first}.path");
    for (kind, number) in [(Kind::WindowPost, 11), (Kind::WinningPost, 1)] {
        let mut input = Input::load(kind);
        input.request.registered_proof = number;
        expect("size", input.decode(), Code::MalformedInput, &path);
        input.request.registered_proof += 2;
        expect("size", input.decode(), Code::MalformedInput, first);
    }
    expect("index", with(Kind::WindowPost, |r| r.partition_index = 1), Code::InvalidArgument, "partition_index");

    expect("comm_r_old", with(Kind::Snap, |r| r.comm_r_old[0] ^= 1), Code::MalformedInput, "comm_r_old");
    expect("comm_r_new", with(Kind::Snap, |r| r.comm_r_new[0] ^= 1), Code::MalformedInput, "comm_r_new");
    expect("comm_d_new", with(Kind::Snap, |r| r.comm_d_new[0] ^= 1), Code::MalformedInput, "comm_d_new");
    expect("comm_r_old", with(Kind::Snap, |r| r.comm_r_old = [255; 32]), Code::InvalidArgument, "comm_r_old");
    expect("comm_r_new", with(Kind::Snap, |r| r.comm_r_new = [255; 32]), Code::InvalidArgument, "comm_r_new");
    expect("comm_d_new", with(Kind::Snap, |r| r.comm_d_new = [255; 32]), Code::InvalidArgument, "comm_d_new");
    expect("number", with(Kind::Snap, |r| r.registered_proof = 5), Code::InvalidArgument, "registered_proof");
    // Four partitions at 8 MiB.
    expect("size", with(Kind::Snap, |r| r.registered_proof = 1), Code::InvalidArgument, "vanilla_count");
    let mut four = Input::load(Kind::Snap);
    four.request.registered_proof = 1;
    four.pieces = vec![four.pieces[0].clone(); 4];
    expect("size", four.decode(), Code::MalformedInput, "vanilla[0].apex_leafs");

    for kind in [Kind::Snap, Kind::WinningPost] {
        let mut twice = Input::load(kind);
        twice.pieces.push(twice.pieces[0].clone());
        expect("twice", twice.decode(), Code::InvalidArgument, "vanilla_count");
    }
    let mut twice = Input::load(Kind::WindowPost);
    twice.pieces[1] = twice.pieces[0].clone();
    expect("twice", twice.decode(), Code::MalformedInput, "vanilla[1].sector_id");
    let mut backwards = Input::load(Kind::WindowPost);
    backwards.pieces.reverse();
    expect("backwards", backwards.decode(), Code::MalformedInput, "vanilla[1].sector_id");
}

#[test]
fn what_the_statement_says() {
    let decoded = KINDS.map(|(kind, _)| Input::load(kind).decode().unwrap());
    let differs = |kind: Kind, field: &str, change: fn(&mut Public)| {
        let mut public = Input::load(kind).public;
        change(&mut public);
        let i = KINDS.iter().position(|(k, _)| *k == kind).unwrap();
        expect(field, decoded[i].agrees_with(&public), Code::MalformedInput, field);
    };
    for kind in [Kind::WindowPost, Kind::WinningPost] {
        differs(kind, "miner_id", |p| p.miner_id += 1);
        differs(kind, "randomness", |p| p.randomness[9] ^= 1);
        differs(kind, "sectors[0].comm_r", |p| p.sectors[0].comm_r[0] ^= 1);
        differs(kind, "sectors[0].sector_number", |p| p.sectors[0].sector_number -= 1);
        differs(kind, "kind", |p| p.kind = Kind::Porep);
    }
    differs(Kind::WindowPost, "registered_proof", |p| p.registered_proof = 5);
    differs(Kind::WindowPost, "sectors[2].comm_r", |p| p.sectors[2].comm_r[0] ^= 1);
    differs(Kind::WindowPost, "sectors", |p| p.sectors.truncate(2));
    for (field, change) in [
        ("comm_r_old", (|p| p.comm_r_old[0] ^= 1) as fn(&mut Public)),
        ("comm_r_new", |p| p.comm_r_new[0] ^= 1),
        ("comm_d_new", |p| p.comm_d_new[0] ^= 1),
        ("miner_id", |p| p.miner_id += 1),
        ("sector_number", |p| p.sector_number += 1),
        ("registered_proof", |p| p.registered_proof = 1),
        ("kind", |p| p.kind = Kind::WinningPost),
    ] {
        differs(Kind::Snap, field, change);
    }
    let wrong = |kind: Kind, field: &str, change: fn(&mut Public)| {
        let mut public = Input::load(kind).public;
        change(&mut public);
        expect(field, public.inputs(), Code::InvalidArgument, field);
    };
    for kind in [Kind::WindowPost, Kind::WinningPost] {
        wrong(kind, "registered_proof", |p| p.registered_proof = 15);
        wrong(kind, "sectors", |p| p.sectors.clear());
        wrong(kind, "sectors[0].comm_r", |p| p.sectors[0].comm_r = [255; 32]);
    }
    wrong(Kind::WindowPost, "sectors[2].comm_r", |p| p.sectors[2].comm_r = [255; 32]);
    wrong(Kind::WindowPost, "sectors", |p| p.sectors[1].sector_number = 21);
    wrong(Kind::WinningPost, "sectors", |p| p.sectors.push(p.sectors[0]));
    wrong(Kind::Snap, "comm_r_old", |p| p.comm_r_old = [255; 32]);
    wrong(Kind::Snap, "comm_r_new", |p| p.comm_r_new = [255; 32]);
    wrong(Kind::Snap, "comm_d_new", |p| p.comm_d_new = [255; 32]);
    wrong(Kind::Snap, "registered_proof", |p| p.registered_proof = 5);
}

/// Cut everywhere, with lengths that say so: the place is in the vanilla proof that is cut.
#[test]
fn truncated_anywhere() {
    for (kind, _) in KINDS {
        let good = Input::load(kind);
        let i = good.pieces.len() - 1;
        let len = good.pieces[i].len();
        for at in (0..len).filter(|at| at % 4 == 0 || *at < 200 || *at > len - 200) {
            let mut cut = good.clone();
            cut.pieces[i].truncate(at);
            let Err(e) = cut.decode() else { panic!("{kind}, cut at {at}: taken for good") };
            assert_eq!(e.code, Code::MalformedInput, "{kind}, cut at {at}: {e}");
            assert!(e.field.starts_with(&format!("vanilla[{i}]")), "{kind}, cut at {at}: {e}");
        }
        let mut longer = good.clone();
        longer.pieces[i].push(0);
        expect("a byte more", longer.decode(), Code::MalformedInput, &format!("vanilla[{i}]"));
        let mut none = good.clone();
        none.pieces[0].clear();
        let first = if kind == Kind::Snap { "vanilla[0].comm_c" } else { "vanilla[0].sector_id" };
        expect("empty", none.decode(), Code::MalformedInput, first);
    }
}

#[test]
fn lengths_that_lie() {
    for (kind, _) in KINDS {
        let good = Input::load(kind);
        let (bytes, lens): (Vec<u8>, Vec<u64>) =
            (good.pieces.concat(), good.pieces.iter().map(|p| p.len() as u64).collect());
        let of = |lens: Vec<u64>, bytes: &[u8]| decode(&Request { vanilla_lens: lens, ..good.request.clone() }, bytes);
        assert!(of(lens.clone(), &bytes).is_ok());
        let with = |i: usize, to: u64| {
            let mut lens = lens.clone();
            lens[i] = to;
            lens
        };
        for to in [0, 1, lens[0] - 1, lens[0] + 1, 1 << 40, u64::MAX] {
            expect("another sum", of(with(0, to), &bytes), Code::InvalidArgument, "vanilla_lens");
        }
        expect("bytes less", of(lens.clone(), &bytes[1..]), Code::InvalidArgument, "vanilla_lens");
        let more = [lens.clone(), vec![u64::MAX, 1]].concat();
        expect("a sum beyond 64 bits", of(more, &bytes), Code::InvalidArgument, "vanilla_lens");
    }
    let mut shifted = Input::load(Kind::WindowPost);
    let byte = shifted.pieces[0].pop().unwrap();
    shifted.pieces[1].insert(0, byte);
    expect("shifted", shifted.decode(), Code::MalformedInput, "vanilla[0].vanilla_proof.sectors[0].comm_r_last");
    // As many vanilla proofs as there are bytes: nothing is held for those that cannot be there.
    let mut many = Input::load(Kind::WindowPost).request;
    many.vanilla_lens = vec![1; 4 << 20];
    expect("many", decode(&many, &vec![0; 4 << 20]), Code::MalformedInput, "vanilla[0].sector_id");
    // Lengths inside.
    for (kind, places) in [(Kind::Snap, &[32, 296, 372, 380][..]), (Kind::WindowPost, &[40, 48, 124, 132])] {
        for at in places {
            for len in [1u64 << 20, 1 << 40, 1 << 61, u64::MAX] {
                let mut input = Input::load(kind);
                input.pieces[0][*at..*at + 8].copy_from_slice(&len.to_le_bytes());
                let Err(e) = input.decode() else { panic!("{kind}: {len} at {at}") };
                assert_eq!(e.code, Code::MalformedInput);
                assert!(e.field.starts_with("vanilla[0].") && e.message.contains(&len.to_string()), "{e}");
            }
        }
    }
}

#[test]
fn other_kinds_bytes() {
    for (kind, _) in KINDS {
        for (other, _) in KINDS.into_iter().filter(|(other, _)| *other != kind) {
            let mut input = Input::load(kind);
            let taken = Input::load(other);
            input.pieces[0] = taken.pieces[0].clone();
            let Err(e) = input.decode() else { panic!("{kind} of {other}") };
            assert_eq!(e.code, Code::MalformedInput);
            assert!(e.field.starts_with("vanilla[0]"), "{kind} of {other}: {e}");
        }
        for other in ["porep-2k/c1.json", "porep-2k/public.json", "../fuzz/seeds/c1/bincode"] {
            let mut input = Input::load(kind);
            input.pieces[0] = data(other);
            let Err(e) = input.decode() else { panic!("{kind} of {other}") };
            assert_eq!(e.code, Code::MalformedInput);
            assert!(e.field.starts_with("vanilla[0]"), "{kind} of {other}: {e}");
        }
    }
}

#[test]
fn changed_at_random() {
    for (kind, _) in KINDS {
        let mut rng = StdRng::seed_from_u64(kind as u64);
        let mut good = 0;
        for round in 0..1000 {
            let mut input = Input::load(kind);
            let i = rng.gen_range(0..input.pieces.len());
            for _ in 0..rng.gen_range(1..3) {
                let at = rng.gen_range(0..input.pieces[i].len());
                match rng.gen_range(0..4) {
                    0 => input.pieces[i][at] ^= 1 << rng.gen_range(0..8),
                    1 => input.pieces[i][at] = rng.gen(),
                    2 => drop(input.pieces[i].remove(at)),
                    _ => input.pieces[i].insert(at, rng.gen()),
                }
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| match input.decode() {
                Ok(decoded) => {
                    for k in 0..decoded.partitions() {
                        decoded.with_circuit(k, Build).unwrap();
                    }
                    true
                }
                Err(e) => {
                    assert_eq!(e.code, Code::MalformedInput, "{kind}, round {round}: {e}");
                    assert!(!e.field.is_empty() && e.field.len() < 64, "{kind}, round {round}: {e}");
                    false
                }
            }));
            good += usize::from(outcome.unwrap_or_else(|_| panic!("{kind}, round {round}: panicked")));
        }
        // Much of a vanilla proof are hashes, whose being wrong is the circuit's to find.
        assert!(good > 100, "{kind}: {good} of 1000 were taken for good");
    }
}
