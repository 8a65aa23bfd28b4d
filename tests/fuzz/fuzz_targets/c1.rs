//! Any bytes as a C1: an error that names a field, or circuits that can be built. Never a panic.

#![no_main]

use std::sync::atomic::AtomicBool;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use libfuzzer_sys::fuzz_target;
use splitprove::error::Code;
use splitprove::proofs::{decode, CircuitVisitor, Kind, Request};

struct Build;

impl CircuitVisitor for Build {
    type Output = ();
    fn visit<C: Circuit<Scalar> + Send>(self, _: C) {}
}

fuzz_target!(|bytes: &[u8]| {
    // Bincode begins with the registered proof's number; asking for the same one leads further in.
    let number = bytes.first_chunk().map(|b| u32::from_le_bytes(*b)).filter(|n| *n < 20);
    let request = Request {
        kind: Kind::Porep,
        registered_proof: number.unwrap_or(5),
        partition_index: 0,
        miner_id: 1000,
        sector_number: 1,
        randomness: [0; 32],
        comm_r_old: [0; 32],
        comm_r_new: [0; 32],
        comm_d_new: [0; 32],
        vanilla_lens: vec![bytes.len() as u64],
    };
    match decode(&request, bytes, &AtomicBool::new(false)) {
        Ok(decoded) => {
            for k in 0..decoded.partitions() {
                decoded.with_circuit(k, Build).expect("a decoded C1 has all its circuits");
                assert!(decoded.public_inputs(k).is_ok_and(|inputs| inputs.len() >= 39));
            }
        }
        Err(e) => {
            assert_eq!(e.code, Code::MalformedInput, "{e}");
            assert!(!e.field.is_empty() && e.field.len() < 64, "{e}");
        }
    }
});
