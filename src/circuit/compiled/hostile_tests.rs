//! Files that were damaged, or made to do harm: refused at the field, and never followed.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::Field;

use super::code::{Code, Kind, Place, Term};
use super::format::{encode, reseal};
use super::*;
use crate::circuit::testing::{Numbers, RandomCircuit, Style, Values};
use crate::circuit::Packer;

fn identity() -> Identity {
    Identity { circuit: "test".into(), crates: "none".into() }
}

fn good() -> Recorded {
    let circuit = RandomCircuit::new(3, Style { inputs: 6, rows: 900, terms: 5, values: Values::Bits });
    Recorded::record(circuit.blank(), identity(), 0, Control::NONE).unwrap()
}

/// The field that a file is refused at; "" when it is not.
fn field(bytes: &[u8]) -> String {
    match Recorded::from_bytes(bytes, &identity()) {
        Ok(_) => String::new(),
        Err(e) => {
            let e = e.into_error();
            assert_eq!(e.code, crate::error::Code::ParamsCorrupt);
            e.field.into_owned()
        }
    }
}

/// The bytes of a good circuit with something changed in it.
fn with(change: impl FnOnce(&mut Code)) -> Vec<u8> {
    let Recorded { mut code, identity } = good();
    change(&mut code);
    encode(&code, &identity).unwrap()
}

/// The bytes of a good circuit with bytes changed, and the digest made right.
fn with_bytes(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = good().to_bytes().unwrap();
    change(&mut bytes);
    reseal(&mut bytes);
    bytes
}

/// Where the sizes stand in the bytes.
const SIZES: usize = 8 + 4 + 2 + 4 + 2 + 4;

fn size(number: usize, value: u64) -> Vec<u8> {
    with_bytes(|bytes| bytes[SIZES + 8 * number..][..8].copy_from_slice(&value.to_le_bytes()))
}

/// Replaces the first term of the first template.
fn term(kind: Kind, number: u32, run: u8) -> Vec<u8> {
    with(|code| {
        let first = code.templates[0].0[0] as usize;
        code.terms[first] = Term { place: Place::new(kind, number), coefficient: 0, run };
    })
}

#[test]
fn a_good_file_is_not_refused() {
    assert_eq!(field(&with(|_| {})), "");
    assert_eq!(field(&with_bytes(|_| {})), "");
    assert_eq!(size(1, good().code.shape.inputs as u64), with(|_| {}));
}

#[test]
fn damage_is_refused_at_its_field() {
    let code = good().code;
    let (inputs, aux) = (code.shape.inputs as u32, code.shape.aux as u32);
    let whole = good().to_bytes().unwrap();
    let flipped = |i: usize| {
        let mut bytes = whole.clone();
        bytes[i] ^= 4;
        bytes
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("circuit.magic", vec![]),
        ("circuit.magic", whole[..7].to_vec()),
        ("circuit.magic", flipped(3)),
        ("circuit.version", whole[..10].to_vec()),
        ("circuit.version", flipped(8)),
        ("circuit.digest", whole[..12].to_vec()),
        ("circuit.digest", whole[..40].to_vec()),
        ("circuit.digest", whole[..whole.len() - 1].to_vec()),
        ("circuit.digest", [&whole[..], &[0]].concat()),
        ("circuit.digest", flipped(whole.len() / 2)),
        ("circuit.digest", flipped(whole.len() - 1)),
        ("circuit.identity", with_bytes(|b| b[14] ^= 1)),
        ("circuit.identity", with_bytes(|b| b[12] = 200)),
        ("circuit.identity", with_bytes(|b| b[18] = 255)),
        ("circuit.identity", with_bytes(|b| b[21] ^= 1)),
        ("circuit.sizes", with_bytes(|b| b.truncate(SIZES + 60))),
        ("circuit.sizes", size(0, u64::MAX)),
        ("circuit.sizes", size(0, 1 << 31)),
        ("circuit.sizes", size(0, 3)),
        ("circuit.sizes", size(1, 0)),
        ("circuit.sizes", size(2, 1 << 40)),
        ("circuit.sizes", size(3, u64::from(aux) + 1)),
        ("circuit.sizes", size(4, 65_537)),
        ("circuit.sizes", size(4, 60_000)),
        ("circuit.sizes", size(5, 1 << 29)),
        ("circuit.sizes", size(6, 1 << 29)),
        ("circuit.sizes", size(7, 1 << 29)),
        ("circuit.sizes", size(8, 1 << 29)),
        ("circuit.sizes", size(9, 1 << 29)),
        ("circuit.sizes", size(10, 1 << 29)),
        ("circuit.coefficients", with_bytes(|b| b[SIZES + 88..][..32].fill(0xff))),
        ("circuit.coefficients", with(|c| c.coefficients[1] = Scalar::ZERO)),
        ("circuit.templates", with(|c| c.terms[0].coefficient = c.coefficients.len() as u16)),
        ("circuit.templates", term(Kind::Back, 40, 33)),
        ("circuit.templates", term(Kind::Back, 40, 255)),
        ("circuit.templates", term(Kind::Back, 0, 1)),
        ("circuit.templates", term(Kind::Back, 4, 5)),
        ("circuit.templates", term(Kind::Aux, 4, 2)),
        ("circuit.templates", term(Kind::Aux, aux, 1)),
        ("circuit.templates", term(Kind::Input, inputs, 1)),
        ("circuit.templates", term(Kind::Input, 0, 2)),
        ("circuit.templates", term(Kind::InputBack, 0, 1)),
        ("circuit.templates", term(Kind::InputBack, 1, 3)),
        ("circuit.symbols", with(|c| c.symbols[2].template = c.templates.len() as u32)),
        ("circuit.symbols", with(|c| c.symbols[2].template = u32::MAX)),
        ("circuit.chunks", with(|c| c.chunk_rows[3] = c.symbols.len() as u32)),
        ("circuit.chunks", with(|c| c.chunk_ends[1] = 0)),
        ("circuit.chunks", with(|c| c.chunk_ends[1] = 300)),
        ("circuit.chunks", with(|c| c.symbols[5].aux = u32::MAX)),
        ("circuit.chunks", with(|c| c.symbols[5].inputs = Place::LIMIT + 1)),
        ("circuit.sequence", with(|c| c.sequence[1] = c.chunks() as u32)),
        ("circuit.sequence", with(|c| c.sequence.swap(0, c.chunk_ends.len() - 2))),
        ("circuit.sequence", with(|c| c.sequence.truncate(c.sequence.len() - 1))),
        ("circuit.sequence", with(|c| c.symbols[5].aux += 1)),
        ("circuit.sequence", with(|c| c.symbols[5].inputs = 9)),
        ("circuit.sequence", with(|c| (c.shape.aux, c.wide) = (c.shape.aux - 2, 0))),
        ("circuit.sequence", with(|c| c.shape.constraints += 1)),
        ("circuit.sequence", term(Kind::Back, aux, 1)),
        ("circuit.sequence", term(Kind::InputBack, inputs, 1)),
        ("circuit.sequence", with_bytes(|b| b.insert(b.len() - 32, 0))),
        ("circuit.sequence", with_bytes(|b| b.truncate(b.len() - 1))),
    ];
    assert!(cases.len() >= 30);
    for (i, (expected, bytes)) in cases.into_iter().enumerate() {
        assert_eq!(field(&bytes), expected, "case {i}");
    }
}

/// What passes is followed without harm, whatever it says.
fn follow(bytes: &[u8]) -> bool {
    let Ok(recorded) = Recorded::from_bytes(bytes, &identity()) else { return false };
    let Shape { constraints, inputs, aux } = recorded.code.shape;
    if constraints + inputs + aux > 1 << 16 {
        return false;
    }
    let compiled = recorded.ready().unwrap();
    let mut packer = Packer::new();
    let mut numbers = Numbers::new(bytes.len() as u64);
    for _ in 0..aux {
        packer.push(&if numbers.below(30) == 0 { numbers.scalar() } else { Scalar::ONE }).unwrap();
    }
    let packed = packer.finish().unwrap();
    let plain: Vec<Scalar> = packed.iter().collect();
    let plain = Aux::Plain(crate::memory::Buf::copy_of("test", &plain).unwrap());
    let inputs = vec![Scalar::from(5); inputs];
    let out = [Aux::Packed(packed), plain].map(|aux| {
        let mut a = vec![Scalar::ZERO; constraints];
        let failed = compiled.evaluate(&inputs, &aux, [Some(&mut a), None, None], true, Control::NONE).unwrap();
        (a, failed)
    });
    assert!(out[0] == out[1]);
    true
}

/// Bytes changed at random behind a right digest. What the fuzzer does, for a moment.
#[test]
fn mutations_do_no_harm() {
    let whole = good().to_bytes().unwrap();
    let mut numbers = Numbers::new(11);
    let mut followed = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + numbers.below(3) {
            // Coefficients would be most of it.
            let from = if numbers.below(8) == 0 { SIZES } else { SIZES + 88 + 32 * good_coefficients() };
            let i = from + numbers.below(bytes.len() - 32 - from);
            match numbers.below(3) {
                0 => bytes[i] ^= 1 << numbers.below(8),
                1 => bytes[i] = numbers.next_u64() as u8,
                _ => bytes.truncate(bytes.len() - 1),
            }
        }
        reseal(&mut bytes);
        followed += usize::from(follow(&bytes));
    }
    assert!(followed > 20, "{followed} of them were good enough to be evaluated");
}

fn good_coefficients() -> usize {
    static COUNT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *COUNT.get_or_init(|| good().code.coefficients.len())
}

/// 2^48 · (x + 2·y + …) over and over is no integer of 64 bits.
#[test]
fn sums_that_would_overflow_are_field_elements() {
    struct Large;
    impl Circuit<Scalar> for Large {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let mut lc = LinearCombination::zero();
            for _ in 0..900 {
                for k in 0..32 {
                    let x = cs.alloc(|| "", || Ok(Scalar::ONE))?;
                    lc = lc + (Scalar::from(1 << 48 >> (31 - k)), x);
                }
            }
            lc = lc + (Scalar::from(1 << 48), CS::one());
            cs.enforce(|| "", |_| lc, |l| l, |l| l);
            Ok(())
        }
    }
    let compiled = Recorded::record(Large, identity(), 0, Control::NONE).unwrap().ready().unwrap();
    let aux = compiled.shape().aux;
    let mut packer = Packer::new();
    (0..aux).for_each(|_| packer.push(&Scalar::ONE).unwrap());
    let plain = crate::memory::Buf::copy_of("test", &vec![Scalar::ONE; aux]).unwrap();
    let run: Scalar = (0..32).map(|k| Scalar::from(1 << 48 >> (31 - k))).sum();
    let expected = run * Scalar::from(900) + Scalar::from(1 << 48);
    for aux in [Aux::Packed(packer.finish().unwrap()), Aux::Plain(plain)] {
        let mut a = vec![Scalar::ZERO; compiled.shape().constraints];
        compiled.evaluate(&[Scalar::ONE], &aux, [Some(&mut a), None, None], true, Control::NONE).unwrap();
        assert_eq!(a[0], expected);
    }
}

/// What the fuzzer starts from is a circuit of today's format. `SPLITPROVE_WRITE_SEEDS=1` writes it.
#[test]
fn the_fuzzers_seed_is_good() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds/circuit/random");
    let identity = Identity { circuit: "seed".into(), ..identity() };
    let recorded = Recorded { identity: identity.clone(), ..good() };
    if std::env::var_os("SPLITPROVE_WRITE_SEEDS").is_some() {
        std::fs::write(&path, recorded.to_bytes().unwrap()).unwrap();
    }
    assert_eq!(Recorded::from_bytes(&std::fs::read(&path).unwrap(), &identity).unwrap(), recorded);
}
