//! Any bytes as vanilla proofs of a SnapDeals update, a WindowPoSt or a WinningPoSt: an error that names a place, or circuits
//! that can be built. Never a panic.
//!
//! The first byte says which kind, the second how many proofs the rest is (WindowPoSt), the third of which sector size; the
//! statement is that of the fixture, so that the fixture's own bytes are taken for good.

#![no_main]

use std::sync::atomic::AtomicBool;
use std::sync::OnceLock;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use libfuzzer_sys::fuzz_target;
use splitprove::error::Code;
use splitprove::proofs::{decode, request_from_json, CircuitVisitor, Kind, Request};

struct Build;

impl CircuitVisitor for Build {
    type Output = ();
    fn visit<C: Circuit<Scalar> + Send>(self, _: C) {}
}

/// The fixtures' requests.
fn requests() -> &'static [Request; 3] {
    static REQUESTS: OnceLock<[Request; 3]> = OnceLock::new();
    REQUESTS.get_or_init(|| {
        let read = |kind, json: &[u8]| request_from_json(kind, json).expect("a fixture's statement");
        [
            read(Kind::Snap, include_bytes!("../../data/update-2k/public.json")),
            read(Kind::WindowPost, include_bytes!("../../data/window-2k/public.json")),
            read(Kind::WinningPost, include_bytes!("../../data/winning-2k/public.json")),
        ]
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some(([kind, count, size], vanilla)) = bytes.split_first_chunk() else { return };
    let mut request = requests()[usize::from(*kind) % 3].clone();
    request.registered_proof += u32::from(*size) % 3;
    let count = if request.kind == Kind::WindowPost { usize::from(*count) % 4 + 1 } else { 1 };
    let each = vanilla.len() / count;
    request.vanilla_lens = vec![each as u64; count];
    request.vanilla_lens[count - 1] += (vanilla.len() - each * count) as u64;
    match decode(&request, vanilla, &AtomicBool::new(false)) {
        Ok(decoded) => {
            assert_eq!(decoded.circuit().kind, request.kind);
            for k in 0..decoded.partitions() {
                decoded.with_circuit(k, Build).expect("decoded proofs have all their circuits");
                assert!(decoded.public_inputs(k).is_ok_and(|inputs| !inputs.is_empty()));
            }
        }
        Err(e) => {
            // How many proofs a size takes is the request's matter.
            assert!(e.code == Code::MalformedInput || e.field == "vanilla_count", "{:?} {e}", e.code);
            assert!(!e.field.is_empty() && e.field.len() < 64, "{e}");
        }
    }
});
