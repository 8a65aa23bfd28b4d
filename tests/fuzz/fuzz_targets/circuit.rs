//! Any bytes behind a right digest as a compiled circuit: an error that names a field, or a circuit that is evaluated
//! without harm.

#![no_main]

use blstrs::Scalar;
use libfuzzer_sys::fuzz_target;
use splitprove::circuit::{Aux, Identity, Packer, Recorded};
use splitprove::error::Code;
use splitprove::telemetry::Control;

/// Larger ones cost memory and show nothing else.
const LARGEST: usize = 1 << 14;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    let identity = Identity { circuit: "seed".into(), crates: "none".into() };
    let recorded = match Recorded::from_resealed(&mut bytes, &identity) {
        Ok(recorded) => recorded,
        Err(e) => {
            let e = e.into_error();
            assert!(e.code == Code::ParamsCorrupt || e.code == Code::OutOfMemory, "{e}");
            return;
        }
    };
    assert_eq!(Recorded::from_bytes(&recorded.to_bytes().unwrap(), &identity).unwrap(), recorded);
    let shape = recorded.shape();
    if shape.constraints + shape.aux > LARGEST {
        return;
    }
    let circuit = recorded.ready().unwrap();
    let mut packer = Packer::new();
    (0..shape.aux).for_each(|i| packer.push(&Scalar::from(i as u64 % 3)).unwrap());
    let aux = Aux::Packed(packer.finish().unwrap());
    let inputs = vec![Scalar::from(2); shape.inputs];
    let mut a = vec![Scalar::from(0); shape.constraints];
    circuit.evaluate(&inputs, &aux, [Some(&mut a), None, None], true, Control::NONE).unwrap();
});
