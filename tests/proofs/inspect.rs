//! What vanilla proofs contain, seen from their bytes alone.

use std::sync::atomic::AtomicBool;

use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub8, SectorShapeTop2};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use splitprove::error::{Code, Error};
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::registered::SEAL_PROOFS;
use splitprove::proofs::{self, Format, Inspected, Kind};

use crate::fixtures::{Porep, POREPS};
use crate::large::made_up;
use crate::others::{Input, KINDS};
use crate::others_large::{of_size, post, update};

fn inspect(bytes: &[u8]) -> Result<Inspected, Error> {
    proofs::inspect(bytes, &AtomicBool::new(false))
}

fn value(it: &Inspected, name: &str) -> [u8; 32] {
    it.values.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn c1s_in_every_encoding() {
    for name in POREPS {
        let porep = Porep::load(name);
        let partitions = if name == "porep-2k-noninteractive" { 13 } else { 1 };
        for (bytes, format) in
            [(&porep.json, Format::Json), (&porep.wrapped, Format::Wrapper), (&porep.bincode, Format::Bincode)]
        {
            let it = inspect(bytes).unwrap_or_else(|e| panic!("{name}, {format:?}: {e}"));
            assert_eq!((it.format, it.circuit), (format, porep.public.circuit().unwrap()));
            assert_eq!((it.partitions, it.partition, it.challenges), (Some(partitions), None, 2));
            assert_eq!(it.registered_proofs, [porep.public.registered_proof]);
            let wrapped = format == Format::Wrapper;
            assert_eq!(it.sector_number, wrapped.then_some(porep.request.sector_number));
            let public = &porep.public;
            for (name, expected) in [
                ("comm_d", public.comm_d),
                ("comm_r", public.comm_r),
                ("seed", public.seed),
                ("ticket", public.ticket),
                ("replica_id", porep.inputs[0][0].to_bytes_le()),
            ] {
                assert_eq!(value(&it, name), expected, "{name}");
            }
            assert_eq!(it.decoded_bytes, porep.decode().bytes());
        }
        // White space before it, fields in another order, and a sequence in place of an object.
        let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&porep.json).unwrap();
        let proof = fields.remove("registered_proof").unwrap();
        let vanilla = fields["vanilla_proofs"].clone();
        let (rest, tail) = (serde_json::to_string(&fields).unwrap(), serde_json::to_string(&proof).unwrap());
        let last = format!("\n {},\"registered_proof\":{tail}}}", &rest[..rest.len() - 1]);
        let values = ["comm_r", "comm_d", "replica_id", "seed", "ticket"].map(|name| fields[name].clone());
        let array = serde_json::to_string(&[&[proof, vanilla][..], &values].concat()).unwrap();
        for json in [last, array] {
            let it = inspect(json.as_bytes()).unwrap();
            assert_eq!((it.format, it), (Format::Json, inspect(&porep.json).unwrap()));
        }
    }
}

#[test]
fn every_seal_proof() {
    for proof in SEAL_PROOFS.into_iter().filter(|p| p.partitions() <= 10) {
        let (request, public, c1) = made_up(proof);
        let it = inspect(&bincode::serialize(&c1).unwrap()).unwrap_or_else(|e| panic!("{proof:?}: {e}"));
        assert_eq!(it.registered_proofs, [request.registered_proof]);
        assert_eq!((it.circuit, it.partitions), (public.circuit().unwrap(), Some(proof.partitions().into())));
    }
}

#[test]
fn vanilla_proofs_of_the_other_kinds() {
    for (kind, _) in KINDS {
        let input = Input::load(kind);
        for (i, piece) in input.pieces.iter().enumerate() {
            let it = inspect(piece).unwrap();
            assert_eq!((it.circuit, it.format), (input.public.circuit().unwrap(), Format::Bincode));
            let public = &input.public;
            if kind == Kind::Snap {
                assert_eq!((it.partitions, it.partition, it.sector_number), (Some(1), Some(0), None));
                assert_eq!(value(&it, "comm_r_old"), public.comm_r_old);
                assert_eq!(value(&it, "comm_r_new"), public.comm_r_new);
                assert_eq!(value(&it, "comm_d_new"), public.comm_d_new);
                assert_eq!(it.registered_proofs, [0]);
                continue;
            }
            let sector = public.sectors[i];
            assert_eq!((it.sector_number, value(&it, "comm_r")), (Some(sector.sector_number), sector.comm_r));
            let window = kind == Kind::WindowPost;
            assert_eq!((it.challenges, it.partitions), if window { (10, None) } else { (66, Some(1)) });
            assert_eq!(it.registered_proofs, if window { vec![5, 10] } else { vec![0] });
        }
    }
}

/// Each is what it is and no other, whatever its first bytes look like.
#[test]
fn every_size_of_the_other_kinds() {
    for (i, (sector_size, name)) in SECTOR_SIZES.into_iter().enumerate() {
        let number = i as u32;
        let snap = of_size!(number, update(number));
        for (k, piece) in snap.pieces.iter().enumerate() {
            let it = inspect(piece).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((it.circuit.kind, it.circuit.sector_size, it.partition), (Kind::Snap, sector_size, Some(k)));
        }
        for (kind, number) in [(Kind::WinningPost, number), (Kind::WindowPost, number + 10)] {
            let mut bytes = of_size!(number, post(kind, number, 1, 0)).pieces.remove(0);
            // A tab, JSON's brackets, a space, a seal proof's number, and more.
            for sector in [9, 0x7b, 0x5b, 0x20, 5, 10, 300, u64::from(u32::MAX) + 1, u64::MAX] {
                bytes[..8].copy_from_slice(&sector.to_le_bytes());
                let it = inspect(&bytes).unwrap_or_else(|e| panic!("{kind}-{name}: {e}"));
                let expected = (kind, sector_size, Some(sector));
                assert_eq!((it.circuit.kind, it.circuit.sector_size, it.sector_number), expected);
            }
        }
    }
}

#[track_caller]
fn refused(bytes: &[u8], field: &str, words: &[&str]) {
    let e = inspect(bytes).unwrap_err();
    assert_eq!((e.code, &*e.field), (Code::MalformedInput, field), "{e}");
    for word in words {
        assert!(e.message.contains(word), "{word:?} is not in {e}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let porep = Porep::load("porep-2k");
    let [snap, window, winning] =
        [Kind::Snap, Kind::WindowPost, Kind::WinningPost].map(|kind| Input::load(kind).pieces.remove(0));
    refused(b"", "vanilla", &["empty"]);
    for nothing in [&b"hello"[..], &[0; 7], &[255; 1000], b"\x7fELF"] {
        refused(nothing, "vanilla", &["neither JSON nor bincode"]);
    }
    refused(b"  \n", "vanilla", &["empty"]);
    refused(b"{}", "registered_proof", &["missing"]);
    refused(br#"{"registered_proof":"StackedDrg1KiBV1"}"#, "registered_proof", &["StackedDrg1KiBV1"]);
    for bytes in [&porep.json[..50_000], &porep.bincode[..5000]] {
        let e = inspect(bytes).unwrap_err();
        assert!(e.code == Code::MalformedInput && e.field.starts_with("vanilla_proofs[0]"), "{e}");
        assert!(e.message.contains("early"), "{e}");
    }
    refused(&window[..window.len() - 40], "vanilla.vanilla_proof.sectors[0].comm_c", &["window-post-2KiB", "early"]);
    refused(&[&winning[..], &[0]].concat(), "vanilla", &["winning-post-2KiB", "1 bytes after"]);
    let last = "vanilla.challenge_proofs[9].proof_r_new.path[1].index";
    refused(&snap[..snap.len() - 4], last, &["snap-2KiB", "4 bytes early"]);
    let mut other = window.clone();
    other[8] ^= 1;
    refused(&other, "vanilla.comm_r", &["window-post-2KiB", "hash of comm_c"]);
    let mut other = snap.clone();
    other[0] ^= 1;
    // comm_c is what both replicas' commitments follow from: others are challenged.
    refused(&other, "vanilla.challenge_proofs[0].proof_r_old", &["leaf"]);
    let wrapped = String::from_utf8(porep.wrapped).unwrap().replace("2048", "2049");
    refused(wrapped.as_bytes(), "SectorSize", &["2049"]);
}

#[test]
fn cancelled_at_once() {
    for bytes in [Porep::load("porep-2k").json, Input::load(Kind::Snap).pieces.remove(0)] {
        assert_eq!(proofs::inspect(&bytes, &AtomicBool::new(true)).unwrap_err().code, Code::Cancelled);
    }
}

/// Whatever the bytes are, there is an answer, and a refusal names its place.
#[test]
fn changed_at_random() {
    let mut rng = StdRng::seed_from_u64(11);
    let porep = Porep::load("porep-2k");
    let mut inputs = vec![porep.json, porep.wrapped, porep.bincode];
    inputs.extend(KINDS.iter().map(|(kind, _)| Input::load(*kind).pieces.remove(0)));
    for good in &inputs {
        for round in 0..200 {
            let mut bytes = good.clone();
            let at = rng.gen_range(0..bytes.len().min(if round % 2 == 0 { 100 } else { usize::MAX }));
            match round % 4 {
                0 => bytes[at] = rng.gen(),
                1 => bytes[at] ^= 1 << rng.gen_range(0..8),
                2 => bytes.truncate(at),
                _ => drop(bytes.splice(at..at, (0..rng.gen_range(1..9)).map(|_| rng.gen()).collect::<Vec<u8>>())),
            }
            if let Err(e) = inspect(&bytes) {
                assert_eq!(e.code, Code::MalformedInput, "{e}");
                assert!(!e.field.is_empty() && !e.message.is_empty(), "{e:?}");
            }
        }
    }
}
