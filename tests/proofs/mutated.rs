//! Inputs changed at random: never a panic, and what is taken for good gives circuits of the right shape.

use std::panic::{catch_unwind, AssertUnwindSafe};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::{json, Value};
use splitprove::error::Code;
use splitprove::proofs::CircuitVisitor;

use crate::fixtures::{decode, Count, Porep};

/// Decodes, and builds every circuit of what is taken for good; every so often synthesises one too.
fn survive(porep: &Porep, bytes: &[u8], synthesize: bool, what: &str) -> bool {
    struct Build;
    impl CircuitVisitor for Build {
        type Output = ();
        fn visit<C: bellpepper_core::Circuit<blstrs::Scalar> + Send>(self, _: C) {}
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let decoded = match decode(&porep.request, bytes) {
            Ok(decoded) => decoded,
            Err(e) => {
                assert_eq!(e.code, Code::MalformedInput, "{what}: {e}");
                assert!(!e.field.is_empty() && e.field.len() < 64, "{what}: {e}");
                return false;
            }
        };
        for k in 0..decoded.partitions() {
            decoded.with_circuit(k, Build).unwrap();
            assert_eq!(decoded.public_inputs(k).unwrap().len(), 39);
        }
        if synthesize {
            let (constraints, inputs, _) = decoded.with_circuit(0, Count).unwrap();
            assert_eq!((constraints, inputs), (2_687_921, 40), "{what}");
        }
        true
    }));
    outcome.unwrap_or_else(|_| panic!("{what}: panicked"))
}

fn change_bytes(rng: &mut StdRng, bytes: &mut Vec<u8>) -> String {
    let mut what = String::new();
    for _ in 0..rng.gen_range(1..4) {
        let at = rng.gen_range(0..bytes.len());
        match rng.gen_range(0..6) {
            0 => bytes[at] ^= 1 << rng.gen_range(0..8),
            1 => bytes[at] = *[0, 1, 0x7f, 0x80, 0xff, b'"', b'[', b']', b'{', b'}', b',', b'0'].choose(rng).unwrap(),
            2 => drop(bytes.drain(at..bytes.len().min(at + rng.gen_range(1..64)))),
            3 => drop(bytes.splice(at..at, (0..rng.gen_range(1..32)).map(|_| rng.gen()).collect::<Vec<u8>>())),
            4 => {
                let from = bytes[at..bytes.len().min(at + rng.gen_range(1..512))].to_vec();
                drop(bytes.splice(at..at, from));
            }
            _ => {
                let to = rng.gen_range(0..bytes.len());
                bytes.swap(at, to);
            }
        }
        what += &format!(" {at}");
    }
    what
}

#[test]
fn bytes() {
    let porep = Porep::load("porep-2k");
    let mut rng = StdRng::seed_from_u64(7);
    let mut good = 0;
    for round in 0..1000 {
        for (encoding, bytes) in [("JSON", &porep.json), ("wrapper", &porep.wrapped), ("bincode", &porep.bincode)] {
            let mut bytes = bytes.clone();
            let at = change_bytes(&mut rng, &mut bytes);
            let what = format!("{encoding}, round {round}, at{at}");
            good += survive(&porep, &bytes, round % 50 == 0, &what) as usize;
        }
    }
    // Much of a C1 are hashes, whose being wrong is the circuit's to find.
    assert!(good > 100, "{good} of 3000 were taken for good");
}

/// Every value of a JSON document, by pointer.
fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| pointers(v, format!("{at}/{i}"), all));
        }
        Value::Object(fields) => fields.iter().for_each(|(k, v)| pointers(v, format!("{at}/{k}"), all)),
        _ if !at.len().is_multiple_of(7) => return, // leaves are many
        _ => {}
    }
    all.push(at);
}

#[test]
fn json_values() {
    let porep = Porep::load("porep-2k");
    let c1: Value = serde_json::from_slice(&porep.json).unwrap();
    let mut all = Vec::new();
    pointers(&c1, String::new(), &mut all);
    // Structures are few beside the bytes of hashes, so they get their turn apart.
    let structures: Vec<_> =
        all.iter().filter(|p| c1.pointer(p).unwrap().is_array() || c1.pointer(p).unwrap().is_object()).collect();
    let mut rng = StdRng::seed_from_u64(11);
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(255),
        json!(256),
        json!(u64::MAX),
        json!(1.5),
        json!(""),
        json!("StackedDrg8MiBV1"),
        json!([]),
        json!({}),
        json!([[]]),
        json!(vec![0; 32]),
        json!(vec![255; 32]),
    ];
    let mut good = 0;
    for round in 0..1500 {
        let mut other = c1.clone();
        let mut what = format!("round {round}");
        for _ in 0..rng.gen_range(1..3) {
            let pointer = if rng.gen() { all.choose(&mut rng).unwrap() } else { *structures.choose(&mut rng).unwrap() };
            let from = c1.pointer(all.choose(&mut rng).unwrap()).unwrap().clone();
            let Some(value) = other.pointer_mut(pointer) else { continue };
            what += &format!(" {pointer}");
            match (rng.gen_range(0..5), &mut *value) {
                (0, Value::Array(items)) if !items.is_empty() => drop(items.remove(rng.gen_range(0..items.len()))),
                (1, Value::Array(items)) if !items.is_empty() => {
                    let item = items.choose(&mut rng).unwrap().clone();
                    items.insert(rng.gen_range(0..items.len()), item);
                }
                (2, Value::Array(items)) => items.shuffle(&mut rng),
                (0, Value::Number(n)) => *value = json!(n.as_u64().unwrap_or(0) ^ 1),
                (1, Value::Object(fields)) => {
                    if let Some(key) = fields.keys().next().cloned() {
                        fields.remove(&key);
                    }
                }
                (3, value) => *value = from,
                (_, value) => *value = others.choose(&mut rng).unwrap().clone(),
            }
        }
        good += survive(&porep, other.to_string().as_bytes(), round % 100 == 0, &what) as usize;
    }
    assert!(good > 20, "{good} of 1500 were taken for good");
}
