//! Any bytes as a public.json of every kind: an error that names a field, or a statement that has a circuit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use splitprove::error::Code;
use splitprove::proofs::{public_from_json, request_from_json, Kind};

fuzz_target!(|bytes: &[u8]| {
    for kind in Kind::ALL {
        match public_from_json(kind, bytes) {
            Ok(public) => {
                assert!(public.circuit().is_ok_and(|circuit| circuit.kind == kind));
                assert!(request_from_json(kind, bytes).is_ok());
                if let Err(e) = public.inputs() {
                    assert!(matches!(e.code, Code::InvalidArgument | Code::Unsupported), "{e}");
                }
            }
            Err(e) => {
                assert_eq!(e.code, Code::MalformedInput, "{e}");
                assert!(!e.field.is_empty() && e.field.len() < 64, "{e}");
            }
        }
    }
});
