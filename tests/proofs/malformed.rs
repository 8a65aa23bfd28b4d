//! Inputs as they should not be: each with the code and the field that it must give.

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use filecoin_proofs_api::seal::SealCommitPhase1Output;
use serde_json::{json, Value};
use splitprove::error::{Code, Error};
use splitprove::proofs::{public_from_json, request_from_json, Kind, Request};

use crate::fixtures::{data, decode, Porep};

/// The modulus of the field, little endian.
const MODULUS: [u8; 32] = [
    1, 0, 0, 0, 255, 255, 255, 255, 254, 91, 254, 255, 2, 164, 189, 83, 5, 216, 161, 9, 8, 216, 57, 51, 72, 125, 157,
    41, 83, 167, 237, 115,
];

const PROOFS: &str = "/vanilla_proofs/StackedDrg2KiBV1";

/// Asserts what went wrong. A field too long for the C surface is expected shortened.
fn expect(what: &str, result: Result<impl Sized, Error>, code: Code, field: &str) {
    let Err(e) = result else { panic!("{what}: taken for good") };
    assert_eq!((e.code, &*e.field), (code, field), "{what}: {}", e.message);
    assert!(!e.message.is_empty() && e.field.len() < 64, "{what}");
}

fn malformed(what: &str, request: &Request, bytes: &[u8], field: &str) {
    expect(what, decode(request, bytes), Code::MalformedInput, field);
}

fn wrap(c1: &[u8]) -> Value {
    json!({"SectorNum": 1, "Phase1Out": STANDARD.encode(c1), "SectorSize": 2048})
}

/// Changes one place of the 2 KiB sector's C1 and expects the field in JSON, in the wrapper, and in bincode where
/// filecoin-proofs' own type can hold the change.
fn changed(what: &str, pointer: &str, change: impl Fn(&mut Value), field: &str) {
    let porep = Porep::load("porep-2k");
    let mut c1: Value = serde_json::from_slice(&porep.json).unwrap();
    change(c1.pointer_mut(pointer).unwrap_or_else(|| panic!("{what}: no {pointer}")));
    let json = c1.to_string();
    malformed(&format!("{what}, JSON"), &porep.request, json.as_bytes(), field);
    malformed(&format!("{what}, wrapper"), &porep.request, wrap(json.as_bytes()).to_string().as_bytes(), field);
    if let Ok(c1) = serde_json::from_value::<SealCommitPhase1Output>(c1) {
        let bytes = bincode::serialize(&c1).unwrap();
        malformed(&format!("{what}, bincode"), &porep.request, &bytes, field);
    }
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

fn set(to: Value) -> impl Fn(&mut Value) {
    move |v| *v = to.clone()
}

#[test]
fn shapes_that_are_not_the_circuits() {
    type Change = fn(&mut Value);
    let counts: &[(&str, &str)] = &[
        ("", "vanilla_proofs"),
        ("/0", "vanilla_proofs[0]"),
        ("/0/0/comm_d_proofs/data/Single/path/path", "vanilla_proofs[0][0].comm_d_proofs.path"),
        ("/0/1/comm_d_proofs/data/Single/path/path/5/hashes", "vanilla_proofs[0][1].comm_d_proofs.path[5].hashes"),
        ("/0/1/comm_r_last_proof/data/Single/path/path", "vanilla_proofs[0][1].comm_r_last_proof.path"),
        (
            "/0/0/comm_r_last_proof/data/Single/path/path/1/hashes",
            "vanilla_proofs[0][0].comm_r_last_proof.path[1].hashes",
        ),
        ("/0/0/replica_column_proofs/c_x/column/rows", "vanilla_proofs[0][0].replica_column_proofs.c_x.column.rows"),
        (
            "/0/0/replica_column_proofs/c_x/inclusion_proof/data/Single/path/path",
            "vanilla_proofs[0][0]..c_x.inclusion_proof.path",
        ),
        ("/0/0/replica_column_proofs/drg_parents", "vanilla_proofs[0][0].replica_column_proofs.drg_parents"),
        ("/0/1/replica_column_proofs/exp_parents", "vanilla_proofs[0][1].replica_column_proofs.exp_parents"),
        ("/0/0/replica_column_proofs/drg_parents/5/column/rows", "vanilla_proofs[0][0]..drg_parents[5].column.rows"),
        ("/0/1/replica_column_proofs/exp_parents/7/column/rows", "vanilla_proofs[0][1]..exp_parents[7].column.rows"),
        (
            "/0/1/replica_column_proofs/exp_parents/0/inclusion_proof/data/Single/path/path",
            "vanilla_proofs[0][1]..exp_parents[0].inclusion_proof.path",
        ),
        (
            "/0/1/replica_column_proofs/drg_parents/3/inclusion_proof/data/Single/path/path/0/hashes",
            "vanilla_proofs[0][1]..inclusion_proof.path[0].hashes",
        ),
        ("/0/0/labeling_proofs", "vanilla_proofs[0][0].labeling_proofs"),
        ("/0/1/labeling_proofs/1/parents", "vanilla_proofs[0][1].labeling_proofs[1].parents"),
        ("/0/0/encoding_proof/parents", "vanilla_proofs[0][0].encoding_proof.parents"),
    ];
    let changes: [(&str, Change); 3] = [("one less", shorten), ("one more", lengthen), ("none", empty)];
    for (pointer, field) in counts {
        for (what, change) in changes {
            changed(&format!("{pointer}: {what}"), &format!("{PROOFS}{pointer}"), change, field);
        }
    }
}

#[test]
fn paths_that_are_not_the_trees() {
    let proof = format!("{PROOFS}/0/1");
    let index = |path: &str, i: u64, to: Value, field: &str| {
        changed(&format!("index {to}"), &format!("{proof}/{path}/data/Single/path/path/{i}/index"), set(to), field);
    };
    index("comm_d_proofs", 0, json!(2), "vanilla_proofs[0][1].comm_d_proofs.path[0].index");
    index("comm_d_proofs", 5, json!(u64::MAX), "vanilla_proofs[0][1].comm_d_proofs.path[5].index");
    index("comm_r_last_proof", 1, json!(8), "vanilla_proofs[0][1].comm_r_last_proof.path[1].index");
    index("comm_r_last_proof", 0, json!(1u64 << 63), "vanilla_proofs[0][1].comm_r_last_proof.path[0].index");

    let node = json!(vec![0; 32]);
    let path = json!({"path": []});
    let sub = json!({"Sub": {"base_proof": path, "sub_proof": path, "root": node, "leaf": node}});
    let top = json!({"Top": {"base_proof": path, "sub_proof": path, "top_proof": path, "root": node, "leaf": node}});
    for other in [sub, top] {
        changed(
            "another tree",
            &format!("{proof}/comm_d_proofs/data"),
            set(other.clone()),
            "vanilla_proofs[0][1].comm_d_proofs",
        );
        changed(
            "another tree",
            &format!("{proof}/comm_r_last_proof/data"),
            set(other.clone()),
            "vanilla_proofs[0][1].comm_r_last_proof",
        );
        let column = format!("{proof}/replica_column_proofs/drg_parents/0/inclusion_proof/data");
        changed("another tree", &column, set(other), "vanilla_proofs[0][1]..drg_parents[0].inclusion_proof");
    }
    let single = json!({"Single": {"root": node, "leaf": node, "path": path}});
    changed("no path", &format!("{proof}/comm_d_proofs/data"), set(single), "vanilla_proofs[0][1].comm_d_proofs.path");

    let flip = |v: &mut Value| *v = json!(v.as_u64().unwrap() ^ 1);
    changed(
        "another node",
        &format!("{proof}/labeling_proofs/0/node"),
        flip,
        "vanilla_proofs[0][1].labeling_proofs[0].node",
    );
    for (at, field) in [
        ("comm_d_proofs", "vanilla_proofs[0][1].comm_d_proofs"),
        ("comm_r_last_proof", "vanilla_proofs[0][1].comm_r_last_proof"),
        ("replica_column_proofs/c_x/inclusion_proof", "vanilla_proofs[0][1].replica_column_proofs.c_x.inclusion_proof"),
        ("replica_column_proofs/drg_parents/4/inclusion_proof", "vanilla_proofs[0][1]..drg_parents[4].inclusion_proof"),
        ("replica_column_proofs/exp_parents/0/inclusion_proof", "vanilla_proofs[0][1]..exp_parents[0].inclusion_proof"),
    ] {
        changed("a path to another node", &format!("{proof}/{at}/data/Single/path/path/0/index"), flip, field);
    }
    changed(
        "challenges the other way round",
        &format!("{PROOFS}/0"),
        |v| v.as_array_mut().unwrap().reverse(),
        "vanilla_proofs[0][0].comm_d_proofs",
    );
    changed(
        "another root",
        &format!("{proof}/comm_r_last_proof/data/Single/root/0"),
        flip,
        "vanilla_proofs[0][1].comm_r_last_proof.root",
    );
    changed(
        "another root",
        &format!("{proof}/replica_column_proofs/c_x/inclusion_proof/data/Single/root/31"),
        flip,
        "vanilla_proofs[0][1]..c_x.inclusion_proof.root",
    );
    changed("another seed", "/seed/3", flip, "vanilla_proofs[0][0].comm_d_proofs");
}

#[test]
fn what_is_no_field_element() {
    for bytes in [MODULUS, [255; 32]] {
        let to = json!(bytes);
        let at = |pointer: &str, field: &str| {
            // filecoin-proofs' types take it, and panic later.
            changed(&format!("{pointer} = {to}"), pointer, set(to.clone()), field);
        };
        for name in ["comm_r", "comm_d", "replica_id"] {
            at(&format!("/{name}"), name);
        }
        let proof = format!("{PROOFS}/0/1");
        at(&format!("{proof}/comm_d_proofs/data/Single/leaf"), "vanilla_proofs[0][1].comm_d_proofs.leaf");
        at(
            &format!("{proof}/comm_d_proofs/data/Single/path/path/4/hashes/0"),
            "vanilla_proofs[0][1].comm_d_proofs.path[4].hashes[0]",
        );
        at(&format!("{proof}/comm_r_last_proof/data/Single/root"), "vanilla_proofs[0][1].comm_r_last_proof.root");
        at(
            &format!("{proof}/replica_column_proofs/c_x/column/rows/1"),
            "vanilla_proofs[0][1].replica_column_proofs.c_x.column.rows[1]",
        );
        at(
            &format!("{proof}/replica_column_proofs/exp_parents/7/inclusion_proof/data/Single/path/path/1/hashes/6"),
            "vanilla_proofs[0][1]..inclusion_proof.path[1].hashes[6]",
        );
        at(&format!("{proof}/labeling_proofs/1/parents/36"), "vanilla_proofs[0][1].labeling_proofs[1].parents[36]");
        at(&format!("{proof}/encoding_proof/parents/0"), "vanilla_proofs[0][1].encoding_proof.parents[0]");
    }
    // One less than the modulus is an element; the replica id then does not follow from it.
    let mut below = MODULUS;
    below[0] = 0;
    changed("comm_d", "/comm_d", set(json!(below)), "miner_id");
}

#[test]
fn disagreement() {
    let porep = Porep::load("porep-2k");
    let with = |change: fn(&mut Request)| {
        let mut request = porep.request.clone();
        change(&mut request);
        request
    };
    for bytes in [&porep.json, &porep.wrapped, &porep.bincode] {
        for (number, what) in [(0, "version"), (10, "feature"), (15, "feature"), (8, "size")] {
            let mut request = porep.request.clone();
            request.registered_proof = number;
            malformed(what, &request, bytes, "registered_proof");
        }
        malformed("miner", &with(|r| r.miner_id += 1), bytes, "miner_id");
        malformed("miner", &with(|r| r.miner_id = u64::MAX), bytes, "miner_id");
    }
    // Without a wrapper only the replica id tells of the sector number, and not which of the two is wrong.
    let other = with(|r| r.sector_number = 9);
    malformed("sector number", &other, &porep.wrapped, "sector_number");
    malformed("sector number", &other, &porep.json, "miner_id");
    let message = decode(&other, &porep.json).unwrap_err().message;
    for word in ["replica_id", "miner_id", "sector_number"] {
        assert!(message.contains(word), "{message}");
    }
    let wrapper = |n: u64, size: u64| {
        json!({"SectorNum": n, "Phase1Out": STANDARD.encode(&porep.json), "SectorSize": size}).to_string()
    };
    malformed("SectorNum", &porep.request, wrapper(2, 2048).as_bytes(), "sector_number");
    malformed("SectorSize", &porep.request, wrapper(1, 34359738368).as_bytes(), "sector_size");
    malformed("SectorSize", &porep.request, wrapper(1, 0).as_bytes(), "sector_size");

    changed("registered_proof", "/registered_proof", set(json!("StackedDrg2KiBV1")), "registered_proof");
    changed(
        "the size's name",
        "/vanilla_proofs",
        |v| *v = json!({"StackedDrg8MiBV1": v["StackedDrg2KiBV1"]}),
        "sector_size",
    );
    let flip = |v: &mut Value| *v = json!(v.as_u64().unwrap() ^ 1);
    for name in ["comm_d", "ticket", "replica_id"] {
        changed(name, &format!("/{name}/5"), flip, "miner_id");
    }

    let decoded = porep.decode();
    for (field, change) in [
        ("comm_d", (|p| p.comm_d[0] ^= 1) as fn(&mut splitprove::proofs::Public)),
        ("comm_r", |p| p.comm_r[0] ^= 1),
        ("seed", |p| p.seed[0] ^= 1),
        ("ticket", |p| p.ticket[0] ^= 1),
        ("miner_id", |p| p.miner_id ^= 1),
        ("miner_id", |p| p.sector_number ^= 1),
        ("registered_proof", |p| p.registered_proof = 0),
        ("kind", |p| p.kind = Kind::Snap),
    ] {
        let mut public = porep.public.clone();
        change(&mut public);
        expect(field, decoded.agrees_with(&public), Code::MalformedInput, field);
    }
}

#[test]
fn requests_that_are_wrong_themselves() {
    let porep = Porep::load("porep-2k");
    for number in [20, 255, u32::MAX] {
        let request = Request { registered_proof: number, ..porep.request.clone() };
        expect("number", decode(&request, &porep.json), Code::InvalidArgument, "registered_proof");
    }
    let len = porep.json.len() as u64;
    for (lens, field) in [
        (vec![len, 0], "vanilla_count"),
        (vec![len / 2, len - len / 2], "vanilla_count"),
        (vec![len - 1], "vanilla_lens"),
        (vec![u64::MAX], "vanilla_lens"),
    ] {
        let request = Request { vanilla_lens: lens, ..porep.request.clone() };
        expect("lengths", decode(&request, &porep.json), Code::InvalidArgument, field);
    }
    let request = Request { vanilla_lens: vec![len], ..porep.request.clone() };
    assert!(decode(&request, &porep.json).is_ok());

    for (field, change) in [
        ("comm_d", (|p| p.comm_d = MODULUS) as fn(&mut splitprove::proofs::Public)),
        ("comm_r", |p| p.comm_r = [255; 32]),
        ("registered_proof", |p| p.registered_proof = 20),
    ] {
        let mut public = porep.public.clone();
        change(&mut public);
        expect(field, public.inputs(), Code::InvalidArgument, field);
    }
}

#[test]
fn text_that_is_no_c1() {
    let porep = Porep::load("porep-2k");
    let good = String::from_utf8(porep.json.clone()).unwrap();
    let reject = |what: &str, bytes: &[u8], field: &str| malformed(what, &porep.request, bytes, field);
    for (bytes, field) in [
        ("", "vanilla"),
        (" \n\t ", "vanilla"),
        ("null", "vanilla"),
        ("true", "vanilla"),
        ("\"StackedDrg2KiBV1_1\"", "vanilla"),
        ("7", "vanilla"),
        ("{", "vanilla"),
        ("[", "vanilla"),
        ("{}", "registered_proof"),
        ("[]", "vanilla"),
        ("{]", "vanilla"),
        ("{\"registered_proof\"", "vanilla"),
        ("{\"registered_proof\":}", "registered_proof"),
        ("{\"registered_proof\":\"StackedDrg2KiBV9\"}", "registered_proof"),
        ("{\"registered_proof\":5}", "registered_proof"),
        ("{\"registered_proof\":null}", "registered_proof"),
        ("{\"seed\":\"00\"}", "seed"),
        ("{1:2}", "vanilla"),
        ("\u{feff}{}", "vanilla"),
        ("---\nseed: 1", "vanilla"),
    ] {
        reject(bytes, bytes.as_bytes(), field);
    }
    reject("something after it", format!("{good}x").as_bytes(), "vanilla");
    reject("a comma after it", format!("{good},").as_bytes(), "vanilla");
    reject("another after it", format!("{good}{good}").as_bytes(), "vanilla");
    reject("a zero byte after it", format!("{good}\0").as_bytes(), "vanilla");
    reject("a comma too much", good.replacen("]]", "]],", 1).as_bytes(), "vanilla_proofs[0][0].comm_d_proofs.path[0]");
    reject("UTF-16", &good.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), "vanilla");
    let mut invalid = porep.json.clone();
    invalid[2] = 0xff;
    reject("a key that is not UTF-8", &invalid, "vanilla");

    let keys = ["registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"];
    let c1: Value = serde_json::from_slice(&porep.json).unwrap();
    for key in keys {
        changed(&format!("no {key}"), "", |v| drop(v.as_object_mut().unwrap().remove(key)), key);
        let twice = good.replacen('{', &format!("{{\"{key}\":{},", c1[key]), 1);
        reject(&format!("{key} twice"), twice.as_bytes(), key);
        changed(&format!("{key} is null"), &format!("/{key}"), set(Value::Null), key);
    }
    for key in ["comm_r", "seed"] {
        let at = format!("/{key}");
        changed("31 bytes", &at, shorten, key);
        changed("33 bytes", &at, lengthen, key);
        for value in
            [json!(256), json!(-1), json!(1.5), json!(1e300), json!("1"), json!(u64::MAX), json!([1]), json!(null)]
        {
            changed(&value.to_string(), &format!("{at}/7"), set(value.clone()), key);
        }
        reject(
            "a huge number",
            good.replacen(&format!("\"{key}\":["), &format!("\"{key}\":[1{}", "0".repeat(400)), 1).as_bytes(),
            key,
        );
    }
    for (value, field) in [
        (json!({}), "vanilla_proofs"),
        (json!([]), "vanilla_proofs"),
        (json!("StackedDrg2KiBV1"), "vanilla_proofs"),
        (json!({"StackedDrg4KiBV1": []}), "vanilla_proofs"),
        (json!({"StackedDrg2KiBV1": [], "StackedDrg8MiBV1": []}), "vanilla_proofs"),
        (json!({"StackedDrg2KiBV1": {}}), "vanilla_proofs"),
        (json!({"StackedDrg2KiBV1": null}), "vanilla_proofs"),
        (json!({"StackedDrg2KiBV1": [[]]}), "vanilla_proofs[0]"),
        (json!({"StackedDrg2KiBV1": [[null, null]]}), "vanilla_proofs[0][0]"),
        (json!({"StackedDrg2KiBV1": [[{}, {}]]}), "vanilla_proofs[0][0].comm_d_proofs"),
    ] {
        changed(&value.to_string(), "/vanilla_proofs", set(value.clone()), field);
    }
    changed(
        "no phantom",
        &format!("{PROOFS}/0/0/replica_column_proofs/c_x/column"),
        |v| drop(v.as_object_mut().unwrap().remove("_h")),
        "vanilla_proofs[0][0].replica_column_proofs.c_x.column._h",
    );
    changed(
        "a negative node",
        &format!("{PROOFS}/0/0/labeling_proofs/0/node"),
        set(json!(-1)),
        "vanilla_proofs[0][0].labeling_proofs[0].node",
    );
    changed(
        "a layer beyond 32 bits",
        &format!("{PROOFS}/0/0/labeling_proofs/0/layer_index"),
        set(json!(1u64 << 32)),
        "vanilla_proofs[0][0].labeling_proofs[0].layer_index",
    );
    changed(
        "an index that is a float",
        &format!("{PROOFS}/0/1/comm_d_proofs/data/Single/path/path/0/index"),
        set(json!(1.0)),
        "vanilla_proofs[0][1].comm_d_proofs.path[0].index",
    );
}

#[test]
fn nesting_is_no_danger() {
    let porep = Porep::load("porep-2k");
    let good = String::from_utf8(porep.json.clone()).unwrap();
    let deep = 1 << 20;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nest = format!("{}0{}", open.repeat(deep), close.repeat(deep));
        let vanilla = format!("{{\"vanilla_proofs\":{nest}}}");
        malformed("deep vanilla proofs", &porep.request, vanilla.as_bytes(), "vanilla_proofs");
        // serde passes over what it does not know, however deep it is.
        let unknown = good.replacen('{', &format!("{{\"unknown\":{nest},"), 1);
        assert!(decode(&porep.request, unknown.as_bytes()).is_ok());
        malformed("nothing but nesting", &porep.request, nest.as_bytes(), "registered_proof");
        malformed(
            "never closed",
            &porep.request,
            open.repeat(deep).as_bytes(),
            if open == "[" { "registered_proof" } else { "a" },
        );
        let e = public_from_json(Kind::Porep, format!("{{\"registered_seal_proof\":{nest}}}").as_bytes()).unwrap_err();
        assert_eq!(e.code, Code::MalformedInput);
        assert!(e.field.starts_with("registered_seal_proof") && e.field.len() < 64, "{e}");
    }
}

#[test]
fn wrappers_that_are_none() {
    let porep = Porep::load("porep-2k");
    let good = wrap(&porep.json);
    let with = |key: &str, value: Value| {
        let mut wrapper = good.clone();
        wrapper[key] = value;
        wrapper.to_string()
    };
    let reject = |what: &str, text: &str, field: &str| malformed(what, &porep.request, text.as_bytes(), field);
    let text = good.to_string();
    for key in ["SectorNum", "Phase1Out", "SectorSize"] {
        let mut wrapper = good.clone();
        wrapper.as_object_mut().unwrap().remove(key);
        reject(&format!("no {key}"), &wrapper.to_string(), key);
        reject(&format!("{key} twice"), &text.replacen('{', &format!("{{\"{key}\":{},", good[key]), 1), key);
        for value in [json!(-1), json!(1.5), json!(null), json!([]), json!({}), json!(true)] {
            reject(&format!("{key}: {value}"), &with(key, value.clone()), key);
        }
    }
    reject("SectorNum as text", &with("SectorNum", json!("1")), "SectorNum");
    reject(
        "SectorNum beyond 64 bits",
        &text.replace("\"SectorNum\":1,", "\"SectorNum\":18446744073709551616,"),
        "SectorNum",
    );
    let base64 = good["Phase1Out"].as_str().unwrap();
    for (what, out) in [
        ("a character that is none", base64.replacen('e', "*", 1)),
        ("URL's alphabet", base64.replacen('e', "_", 1)),
        ("no padding", base64.trim_end_matches('=').to_owned() + "A"),
        ("cut", base64[..base64.len() - 5].to_owned()),
        ("hex", "7b7d0".to_owned()),
        ("a line break", base64.replacen('e', "e\n", 1)),
    ] {
        reject(what, &with("Phase1Out", json!(out)), "Phase1Out");
    }
    for (what, inner) in [("empty", &b""[..]), ("text", b"hello"), ("zeros", &[0xee; 64]), ("space", b"  ")] {
        reject(what, &with("Phase1Out", json!(STANDARD.encode(inner))), "Phase1Out");
    }
    // A wrapper in a wrapper is an object without a C1's fields.
    reject("a wrapper in it", &wrap(text.as_bytes()).to_string(), "registered_proof");
    reject(
        "a C1 cut short in it",
        &with("Phase1Out", json!(STANDARD.encode(&porep.json[..200]))),
        "vanilla_proofs[0][0].comm_d_proofs.root",
    );
    reject("the C1 as it is", &with("Phase1Out", serde_json::from_slice(&porep.json).unwrap()), "Phase1Out");
    reject("something after it", &format!("{text} {text}"), "vanilla");
    let positions = format!("[1,\"{base64}\",2048]");
    reject("by position", &positions, "registered_proof");
}

#[test]
fn bincode_that_is_none() {
    let porep = Porep::load("porep-2k");
    let good = &porep.bincode;
    let reject = |what: &str, bytes: &[u8], field: &str| malformed(what, &porep.request, bytes, field);
    let with = |at: usize, to: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        bytes
    };
    // registered_proof, variant of vanilla_proofs, partitions, challenges, variant of the first Merkle proof, root,
    // leaf, steps, siblings, 32 bytes, index
    let (partitions, challenges, variant, steps) = (8, 16, 24, 24 + 4 + 64);
    for (what, at, to, field) in [
        ("no registered proof", 0, &20u32.to_le_bytes()[..], "vanilla"),
        ("no registered proof", 0, &u32::MAX.to_le_bytes(), "vanilla"),
        ("no sector size", 4, &5u32.to_le_bytes(), "vanilla_proofs"),
        ("no sector size", 4, &u32::MAX.to_le_bytes(), "vanilla_proofs"),
        ("no Merkle proof", variant, &3u32.to_le_bytes(), "vanilla_proofs[0][0].comm_d_proofs"),
        ("no steps", steps, &0u64.to_le_bytes(), "vanilla_proofs[0][0].comm_d_proofs.path"),
    ] {
        let error = decode(&porep.request, &with(at, to)).unwrap_err();
        assert_eq!(error.code, Code::MalformedInput, "{what}");
        assert!(error.field.starts_with(field) || what == "no steps", "{what}: {}", error.field);
    }
    for length in [1u64 << 20, 1 << 32, 1 << 40, 1 << 60, (1 << 63) - 1, u64::MAX] {
        for (at, name) in
            [(partitions, "partitions"), (challenges, "challenges"), (steps, "steps"), (steps + 8, "siblings")]
        {
            let error = decode(&porep.request, &with(at, &length.to_le_bytes())).unwrap_err();
            assert_eq!(error.code, Code::MalformedInput, "{length} {name}");
            let place = if at == partitions { "vanilla_proofs" } else { "vanilla_proofs[" };
            assert!(error.field.starts_with(place), "{length} {name}: {}", error.field);
        }
    }
    reject("a byte after it", &[&good[..], &[0]].concat(), "vanilla");
    reject("itself after it", &[&good[..], &good[..]].concat(), "vanilla");
    // Zeros are another registered proof's number.
    reject("zeros", &vec![0; 1 << 20], "registered_proof");
    let none = Request { registered_proof: 0, ..porep.request.clone() };
    malformed("zeros", &none, &vec![0; 1 << 20], "vanilla_proofs");
    reject("a number and no more", &5u32.to_le_bytes(), "vanilla_proofs");
    reject("less than a number", &[5, 0, 0], "vanilla");
    reject("one byte", &[5], "vanilla");
}

#[test]
fn other_proofs_bytes() {
    let porep = Porep::load("porep-2k");
    for name in ["winning-2k", "window-2k", "update-2k"] {
        let e = decode(&porep.request, &data(&format!("{name}/vanilla-0.bin"))).unwrap_err();
        assert_eq!(e.code, Code::MalformedInput, "{name}: {e}");
        // The first number may happen to be a registered proof's.
        assert!(e.field.starts_with("vanilla") || e.field == "registered_proof", "{name}: {e}");
    }
    malformed("public.json", &porep.request, &data("porep-2k/public.json"), "comm_d");
    malformed("a proof", &porep.request, &[0x97; 192], "vanilla");
    malformed("the smaller sector's C1", &Porep::load("porep-8m").request, &porep.json, "registered_proof");
    malformed("the larger sector's C1", &porep.request, &data("porep-8m/c1.json"), "registered_proof");
    malformed("base64 without its wrapper", &porep.request, STANDARD.encode(&porep.json).as_bytes(), "vanilla");
}

/// Everything cut at every place where something begins or ends.
#[test]
fn truncated_anywhere() {
    let porep = Porep::load("porep-2k");
    let fields = [
        "vanilla",
        "registered_proof",
        "comm_r",
        "comm_d",
        "replica_id",
        "seed",
        "ticket",
        "SectorNum",
        "Phase1Out",
        "SectorSize",
    ];
    let cut = |bytes: &[u8], at: usize| {
        let Err(e) = decode(&porep.request, &bytes[..at]) else { panic!("cut at {at}: taken for good") };
        assert_eq!(e.code, Code::MalformedInput, "cut at {at}: {e}");
        assert!(fields.iter().any(|f| *f == e.field || e.field.starts_with("vanilla_proofs")), "cut at {at}: {e}");
    };
    let structural = |bytes: &[u8], characters: &[u8]| -> Vec<usize> {
        bytes
            .iter()
            .enumerate()
            .filter(|(_, c)| characters.contains(c))
            .flat_map(|(i, _)| [i, i + 1])
            .filter(|i| *i < bytes.len())
            .collect()
    };
    for at in structural(&porep.json, b"[]{}:\"") {
        cut(&porep.json, at);
    }
    for at in (0..porep.json.len()).step_by(997) {
        cut(&porep.json, at);
    }
    for at in structural(&porep.wrapped, b"{}:\",").into_iter().chain((0..porep.wrapped.len()).step_by(4999)) {
        cut(&porep.wrapped, at);
    }
    for at in (0..porep.bincode.len()).filter(|at| at % 4 == 0 || *at < 200 || *at > porep.bincode.len() - 200) {
        cut(&porep.bincode, at);
    }
}

#[test]
fn public_json_that_is_none() {
    let good: Value = serde_json::from_slice(&data("porep-2k/public.json")).unwrap();
    let reject = |what: &str, kind: Kind, json: &str, field: &str| {
        expect(what, public_from_json(kind, json.as_bytes()), Code::MalformedInput, field);
        expect(what, request_from_json(kind, json.as_bytes()), Code::MalformedInput, field);
    };
    for (key, values) in [
        ("registered_seal_proof", vec![json!("StackedDrg3KiBV1"), json!(20), json!(-1), json!(""), json!([])]),
        ("miner_actor_id", vec![json!(-1), json!("1000"), json!(1.5)]),
        ("sector_id", vec![json!(-1), json!("1"), json!({})]),
        ("ticket", vec![json!(""), json!("00"), json!("zz".repeat(32)), json!("00".repeat(33)), json!(0)]),
        ("seed", vec![json!(vec![0; 32])]),
        ("comm_d", vec![json!(false)]),
        ("comm_r", vec![json!(format!("0x{}", "00".repeat(31)))]),
    ] {
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(key);
        reject("missing", Kind::Porep, &without.to_string(), key);
        let twice = good.to_string().replacen('{', &format!("{{\"{key}\":{},", good[key]), 1);
        reject("twice", Kind::Porep, &twice, key);
        for value in values.into_iter().chain([Value::Null]) {
            let mut other = good.clone();
            other[key] = value.clone();
            reject(&format!("{key}: {value}"), Kind::Porep, &other.to_string(), key);
        }
    }
    for text in ["", "null", "[1", "{", "{\"a\"", "\u{1}"] {
        reject(text, Kind::Porep, text, "public.json");
    }
    reject("something after it", Kind::Porep, &format!("{good}{good}"), "public.json");
    reject("another kind's", Kind::Snap, &good.to_string(), "registered_update_proof");
    reject("another kind's", Kind::WindowPost, &good.to_string(), "registered_post_proof");
    let winning = String::from_utf8(data("winning-2k/public.json")).unwrap();
    reject("the other PoSt's", Kind::WindowPost, &winning, "registered_post_proof");
    let mut window: Value = serde_json::from_slice(&data("window-2k/public.json")).unwrap();
    window["sectors"][1]["comm_r"] = json!("00");
    reject("a sector's commitment", Kind::WindowPost, &window.to_string(), "sectors[1].comm_r");
    window["sectors"][1] = json!({"sector_id": 1});
    reject("a sector's commitment", Kind::WindowPost, &window.to_string(), "sectors[1].comm_r");
}
