//! Inputs as they should be.

use serde_json::{json, Value};
use splitprove::error::Code;
use splitprove::proofs::{public_from_json, request_from_json, Kind};

use crate::fixtures::{data, decode, Count, Porep, POREPS};

#[test]
fn public_inputs_are_filecoins() {
    for name in POREPS {
        let porep = Porep::load(name);
        let decoded = porep.decode();
        assert_eq!(decoded.partitions(), porep.inputs.len(), "{name}");
        for (k, inputs) in porep.inputs.iter().enumerate() {
            assert_eq!(decoded.public_inputs(k).unwrap(), *inputs, "{name}, partition {k}");
        }
        assert_eq!(porep.public.inputs().unwrap(), porep.inputs, "{name}");
        assert_eq!(porep.public.circuit().unwrap(), decoded.circuit(), "{name}");
        decoded.agrees_with(&porep.public).unwrap();
    }
}

#[test]
fn every_encoding_gives_the_same() {
    for name in POREPS {
        let porep = Porep::load(name);
        for (encoding, bytes) in [("JSON", &porep.json), ("wrapper", &porep.wrapped), ("bincode", &porep.bincode)] {
            let decoded = decode(&porep.request, bytes).unwrap_or_else(|e| panic!("{name}, {encoding}: {e}"));
            for (k, inputs) in porep.inputs.iter().enumerate() {
                assert_eq!(decoded.public_inputs(k).unwrap(), *inputs, "{name}, {encoding}");
            }
            assert_eq!(format!("{decoded:?}"), format!("{:?}", porep.decode()), "{name}, {encoding}");
        }
    }
}

#[test]
fn every_partition_has_its_circuit() {
    let porep = Porep::load("porep-2k-noninteractive");
    let decoded = porep.decode();
    assert_eq!(decoded.circuit().to_string(), "porep-2KiB");
    let blank = decoded.circuit().with_blank_circuit(Count).unwrap();
    for k in [0, 12] {
        assert_eq!(decoded.with_circuit(k, Count).unwrap(), blank);
    }
    assert_eq!(decoded.with_circuit(13, Count).unwrap_err().code, Code::Internal);
    let larger = Porep::load("porep-8m").decode();
    assert_eq!(larger.circuit().to_string(), "porep-8MiB");
    assert_eq!(larger.with_circuit(0, Count).unwrap(), larger.circuit().with_blank_circuit(Count).unwrap());
}

#[test]
fn json_may_be_written_in_other_ways() {
    let porep = Porep::load("porep-2k");
    let c1: Value = serde_json::from_slice(&porep.json).unwrap();
    let wrapper: Value = serde_json::from_slice(&porep.wrapped).unwrap();
    let field = |v: &Value, name: &str| v[name].to_string();
    let (number, size, out) =
        (field(&wrapper, "SectorNum"), field(&wrapper, "SectorSize"), field(&wrapper, "Phase1Out"));
    let keys = ["registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed", "ticket"];
    let object = |keys: &[&str]| {
        let fields: Vec<_> = keys.iter().map(|k| format!("\"{k}\" : {}", field(&c1, k))).collect();
        format!("{{ {} }}", fields.join(" ,\n"))
    };
    let mut reversed = keys;
    reversed.reverse();
    let around = |c1: &[u8]| {
        use base64::Engine;
        json!({"SectorSize": 2048, "Phase1Out": base64::engine::general_purpose::STANDARD.encode(c1), "SectorNum": 1})
    };
    let ways = [
        ("indented", serde_json::to_string_pretty(&c1).unwrap()),
        ("keys the other way round", object(&reversed)),
        ("space before and after", format!("\n\t \r\n{}\n\n", String::from_utf8(porep.json.clone()).unwrap())),
        ("a key more", object(&keys).replacen('{', "{\"phase\": [1, {\"SectorNum\": 9}], ", 1)),
        ("escaped key", object(&keys).replacen("comm_r", "comm\\u005fr", 1)),
        ("fields by position", format!("[{}]", keys.map(|k| field(&c1, k)).join(","))),
        ("Go's order", format!("{{\"SectorNum\":{number},\"Phase1Out\":{out},\"SectorSize\":{size}}}")),
        ("size first", format!("{{\"SectorSize\":{size},\n  \"SectorNum\":{number},\"Phase1Out\":{out}}}\n")),
        (
            "wrapper, a key more",
            format!("{{\"a\":{{}},\"SectorSize\":{size},\"SectorNum\":{number},\"Phase1Out\":{out}}}"),
        ),
        (
            "wrapper, escaped base64",
            format!("{{\"Phase1Out\":{},\"SectorNum\":1,\"SectorSize\":2048}}", out.replacen("e", "\\u0065", 1)),
        ),
        ("wrapper, indented", serde_json::to_string_pretty(&wrapper).unwrap()),
        ("bincode in a wrapper", around(&porep.bincode).to_string()),
        ("JSON with space in a wrapper", around(format!(" {}", object(&keys)).as_bytes()).to_string()),
    ];
    for (way, bytes) in ways {
        let decoded = decode(&porep.request, bytes.as_bytes()).unwrap_or_else(|e| panic!("{way}: {e}"));
        assert_eq!(decoded.public_inputs(0).unwrap(), porep.inputs[0], "{way}");
    }
}

#[test]
fn public_json_of_every_kind() {
    let post = |name| data(&format!("{name}/public.json"));
    let window = public_from_json(Kind::WindowPost, &post("window-2k")).unwrap();
    assert_eq!(window.registered_proof, 10);
    assert_eq!(window.sectors.iter().map(|s| s.sector_number).collect::<Vec<_>>(), [21, 22, 23]);
    assert_eq!(window.sectors[2].comm_r[..2], [0x56, 0xc7]);
    assert_eq!(window.randomness[..2], [0x4d, 0x58]);
    let winning = request_from_json(Kind::WinningPost, &post("winning-2k")).unwrap();
    assert_eq!((winning.registered_proof, winning.miner_id), (0, 1000));
    let snap = request_from_json(Kind::Snap, &post("update-2k")).unwrap();
    assert_eq!((snap.registered_proof, snap.sector_number), (0, 31));
    assert_eq!((snap.comm_r_old[0], snap.comm_r_new[0], snap.comm_d_new[0]), (0x4e, 0x9b, 0x38));
    let porep = request_from_json(Kind::Porep, &post("porep-2k-noninteractive")).unwrap();
    assert_eq!((porep.registered_proof, porep.miner_id, porep.sector_number), (15, 1000, 2));
}

/// The fuzzer starts from cuts of the 2 KiB sector's C1, and from all of it in bincode, where it is smallest.
#[test]
fn the_fuzzers_seed_is_well_formed() {
    let porep = Porep::load("porep-2k");
    assert!(porep.bincode == data("../fuzz/seeds/c1/bincode"));
    for (kind, name) in [
        (Kind::Porep, "porep-2k"),
        (Kind::Snap, "update-2k"),
        (Kind::WindowPost, "window-2k"),
        (Kind::WinningPost, "winning-2k"),
    ] {
        let whole = public_from_json(kind, &data(&format!("{name}/public.json"))).unwrap();
        let seed = public_from_json(kind, &data(&format!("../fuzz/seeds/public_json/{name}.json"))).unwrap();
        assert_eq!(whole, seed);
    }
}
