//! The circuits by name: parameter identifiers, blank circuits, and the circuit of a sealed sector.

use std::sync::atomic::AtomicBool;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use splitprove::circuit::{Shape, Synthesis, Witness};
use splitprove::memory::Room;
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::{CircuitId, CircuitVisitor, Kind};
use splitprove::witness::{plain_witness, synthesize};
use storage_proofs_core::parameter_cache::{get_parameter_data, get_verifying_key_data};

use crate::fixtures::{Count, Porep};

#[test]
fn identifiers_are_those_of_the_published_parameters() {
    for kind in Kind::ALL {
        for (sector_size, name) in SECTOR_SIZES {
            let id = CircuitId { kind, sector_size }.parameter_identifier().unwrap();
            let data = get_parameter_data(&id).unwrap_or_else(|| panic!("{kind}-{name}: {id} is not published"));
            assert_eq!(data.sector_size, sector_size, "{kind}-{name}");
            assert!(get_verifying_key_data(&id).is_some(), "{kind}-{name}");
        }
    }
    let unknown = CircuitId { kind: Kind::Porep, sector_size: 4096 };
    assert_eq!(unknown.parameter_identifier().unwrap_err().field, "circuit");
    assert_eq!(unknown.with_blank_circuit(Count).unwrap_err().field, "circuit");
}

#[test]
fn every_circuit_has_its_own_identifier() {
    let mut seen = std::collections::BTreeSet::new();
    for kind in Kind::ALL {
        for (sector_size, _) in SECTOR_SIZES {
            assert!(seen.insert(CircuitId { kind, sector_size }.parameter_identifier().unwrap()));
        }
    }
}

#[test]
fn blank_circuits_have_the_measured_sizes() {
    let count = |name: &str| name.parse::<CircuitId>().unwrap().with_blank_circuit(Count).unwrap();
    let constraints_and_inputs = |name| (count(name).0, count(name).1);
    assert_eq!(constraints_and_inputs("porep-2KiB"), (2_687_921, 40));
    assert_eq!(constraints_and_inputs("window-post-2KiB"), (21_866, 23));
    assert_eq!(constraints_and_inputs("winning-post-2KiB"), (90_750, 133));
    assert_eq!(constraints_and_inputs("snap-2KiB"), (1_705_039, 5));
    assert_eq!(count("winning-post-32GiB"), (370_590, 133, 375_210));
}

/// Synthesis of a sealed sector's circuit, in full and for the witness alone.
struct Both;

impl CircuitVisitor for Both {
    type Output = Synthesis;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Synthesis {
        synthesize(circuit, &Shape::default(), Room::default(), &AtomicBool::new(false)).unwrap()
    }
}

struct WitnessOnly;

impl CircuitVisitor for WitnessOnly {
    type Output = Witness;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Witness {
        plain_witness(circuit).unwrap()
    }
}

#[test]
fn a_sealed_sector_satisfies_its_circuit() {
    let porep = Porep::load("porep-2k");
    let decoded = porep.decode();
    let full = decoded.with_circuit(0, Both).unwrap();
    let witness = decoded.with_circuit(0, WitnessOnly).unwrap();
    assert_eq!(full.evaluations.a.len(), 2_687_961, "constraints and input rows");
    assert_eq!(full.witness.inputs.len(), 40);
    assert_eq!(full.witness.inputs[1..], decoded.public_inputs(0).unwrap());
    assert_eq!(full.witness.inputs, witness.inputs);
    assert!(full.witness.aux[..] == witness.aux[..], "the witness-only system gives another witness");
    let (constraints, inputs, aux) = decoded.with_circuit(0, Count).unwrap();
    assert_eq!((constraints, inputs), (2_687_921, 40));
    assert_eq!(aux, witness.aux.len());
}
