//! Native witnesses against those of the official circuits: every aux value, every input.

use std::sync::atomic::AtomicBool;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use splitprove::circuit::{Packer, Witness};
use splitprove::error::Code;
use splitprove::memory::Buf;
use splitprove::proofs::kind::SECTOR_SIZES;
use splitprove::proofs::{CircuitId, CircuitVisitor, Decoded, Kind};
use splitprove::telemetry::Control;
use splitprove::witness::native::{self, Packing};
use splitprove::witness::plain_witness;

use crate::fixtures::{Porep, POREPS};
use crate::large;
use crate::others::{Input, KINDS};
use crate::others_large::{made_up_post, made_up_update};

struct Official;

impl CircuitVisitor for Official {
    type Output = Witness;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Witness {
        plain_witness(circuit).unwrap()
    }
}

/// Whether both have the same values, with a word on the first that is another.
fn same(what: &str, official: &Witness, aux: impl Iterator<Item = Scalar>, len: usize, inputs: &[Scalar]) {
    assert_eq!(inputs, official.inputs, "{what}: inputs");
    assert_eq!(len, official.aux.len(), "{what}: how many");
    if let Some((i, (theirs, ours))) = official.aux.iter().zip(aux).enumerate().find(|(_, (a, b))| **a != *b) {
        panic!("{what}: variable {i} of {len} is {ours:?}, not {theirs:?}");
    }
}

/// Compares partition `k` made natively in every way there is with the official one.
fn compare(decoded: &Decoded, k: usize) {
    let what = format!("{}, partition {k}", decoded.circuit());
    let official = decoded.with_circuit(k, Official).unwrap();
    let mut packing = Packing::into_packer(Packer::new());
    native::write(decoded, k, Control::NONE, &mut packing).unwrap();
    let (inputs, packed) = (packing.inputs, packing.packer.finish().unwrap());
    same(&what, &official, packed.iter(), packed.len(), &inputs);
    assert_eq!(inputs[1..], decoded.public_inputs(k).unwrap(), "{what}");
    drop(packed);
    if matches!(decoded.circuit().kind, Kind::WindowPost | Kind::WinningPost) {
        let mut aux = Buf::zeroed("test", official.aux.len()).unwrap();
        let inputs = native::write_slots(decoded, k, Control::NONE, &mut aux).unwrap();
        same(&what, &official, aux.iter().copied(), aux.len(), &[&[Scalar::from(1)], &inputs[..]].concat());
    }
}

#[test]
fn sealed_sectors_have_the_official_witness() {
    for name in POREPS {
        let decoded = Porep::load(name).decode();
        for k in 0..decoded.partitions() {
            compare(&decoded, k);
        }
    }
}

#[test]
fn proofs_of_the_other_kinds_have_the_official_witness() {
    for (kind, _) in KINDS {
        let decoded = Input::load(kind).decode().unwrap();
        for k in 0..decoded.partitions() {
            compare(&decoded, k);
        }
    }
}

/// The circuits that the tests of this file compare: all of them.
const COMPARED: [(Kind, [u64; 5]); 4] =
    [(Kind::Porep, SIZES), (Kind::Snap, SIZES), (Kind::WindowPost, SIZES), (Kind::WinningPost, SIZES)];

const SIZES: [u64; 5] = [2 << 10, 8 << 20, 512 << 20, 32 << 30, 64 << 30];

#[test]
fn only_circuits_that_are_compared_have_native_witnesses() {
    for kind in Kind::ALL {
        for (sector_size, _) in SECTOR_SIZES {
            let compared = COMPARED.iter().any(|(k, sizes)| *k == kind && sizes.contains(&sector_size));
            assert_eq!(native::is_exact(&CircuitId { kind, sector_size }), compared, "{kind} {sector_size}");
        }
    }
}

/// Vanilla proofs of this circuit around made-up hashes, which the circuits take as they are.
fn made_up_of(kind: Kind, sector_size: u64) -> Decoded {
    match kind {
        Kind::Porep => large::made_up_of(sector_size),
        Kind::Snap => made_up_update(sector_size).decode().unwrap(),
        Kind::WindowPost => {
            made_up_post(kind, sector_size, if sector_size < 32 << 30 { 3 } else { 2400 }).decode().unwrap()
        }
        Kind::WinningPost => made_up_post(kind, sector_size, 1).decode().unwrap(),
    }
}

/// Compares the last partition of a large circuit.
fn compare_large(kind: Kind, sector_size: u64) {
    let decoded = made_up_of(kind, sector_size);
    compare(&decoded, decoded.partitions() - 1);
}

#[test]
fn made_up_vanilla_proofs_have_the_official_witness() {
    for kind in Kind::ALL {
        let large = match kind {
            Kind::WinningPost => 5,
            Kind::Snap => 2,
            _ => 3,
        };
        for sector_size in &SIZES[..large] {
            let decoded = made_up_of(kind, *sector_size);
            compare(&decoded, decoded.partitions() - 1);
        }
    }
}

#[test]
#[ignore = "a minute and 3 GB a partition"]
fn snap_512mib_has_the_official_witness() {
    compare_large(Kind::Snap, 512 << 20);
}

#[test]
#[ignore = "a minute and 5 GB a partition"]
fn porep_32gib_has_the_official_witness() {
    compare_large(Kind::Porep, 32 << 30);
}

#[test]
#[ignore = "a minute and 5 GB a partition"]
fn porep_64gib_has_the_official_witness() {
    compare_large(Kind::Porep, 64 << 30);
}

#[test]
#[ignore = "a minute and 5 GB a partition"]
fn snap_32gib_has_the_official_witness() {
    compare_large(Kind::Snap, 32 << 30);
}

#[test]
#[ignore = "a minute and 5 GB a partition"]
fn snap_64gib_has_the_official_witness() {
    compare_large(Kind::Snap, 64 << 30);
}

#[test]
#[ignore = "minutes and 9 GB a partition"]
fn window_post_32gib_has_the_official_witness() {
    compare_large(Kind::WindowPost, 32 << 30);
}

#[test]
#[ignore = "minutes and 9 GB a partition"]
fn window_post_64gib_has_the_official_witness() {
    compare_large(Kind::WindowPost, 64 << 30);
}

#[test]
fn stops_when_cancelled_and_says_how_far_it_is() {
    let cancelled = AtomicBool::new(true);
    let stopped = Control { cancelled: &cancelled, progress: &|_| {} };
    for decoded in [Porep::load("porep-2k").decode(), Input::load(Kind::Snap).decode().unwrap()]
        .into_iter()
        .chain(KINDS.map(|(kind, _)| Input::load(kind).decode().unwrap()))
    {
        let mut packed = Packing::into_packer(Packer::new());
        let e = native::write(&decoded, 0, stopped, &mut packed).unwrap_err();
        assert_eq!(e.code, Code::Cancelled);
        let last = std::sync::atomic::AtomicU32::new(0);
        let progress = |permille| {
            assert!(permille >= last.swap(permille, std::sync::atomic::Ordering::Relaxed));
        };
        let control = Control { progress: &progress, ..Control::NONE };
        native::write(&decoded, 0, control, &mut packed).unwrap();
        assert_eq!(last.into_inner(), 1000);
    }
}

#[test]
fn only_posts_have_slots_and_places_must_fit() {
    let porep = Porep::load("porep-2k").decode();
    assert_eq!(native::write_slots(&porep, 0, Control::NONE, &mut []).unwrap_err().code, Code::Internal);
    assert!(native::write(&porep, 1, Control::NONE, &mut Packing::into_packer(Packer::new())).is_err());
    let post = Input::load(Kind::WindowPost).decode().unwrap();
    assert_eq!(native::write_slots(&post, 0, Control::NONE, &mut []).unwrap_err().code, Code::Internal);
}
