//! Go's numbers of registered proofs, what they stand for, and how they are written.
//!
//! | numbers | seal | PoSt | update |
//! |---|---|---|---|
//! | 0–4 | V1 | winning V1 | V1 |
//! | 5–9 | V1_1 | window V1 | |
//! | 10–14 | V1_1, synthetic | window V1_2 (Go calls it V1_1) | |
//! | 15–19 | V1_2, non-interactive | | |
//!
//! Within each five: 2 KiB, 8 MiB, 512 MiB, 32 GiB, 64 GiB.

use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};

use super::kind::{CircuitId, Kind};
use crate::error::{Error, Result};

/// Seal proofs by number.
pub const SEAL_PROOFS: [RegisteredSealProof; 20] = {
    use RegisteredSealProof::*;
    [
        StackedDrg2KiBV1,
        StackedDrg8MiBV1,
        StackedDrg512MiBV1,
        StackedDrg32GiBV1,
        StackedDrg64GiBV1,
        StackedDrg2KiBV1_1,
        StackedDrg8MiBV1_1,
        StackedDrg512MiBV1_1,
        StackedDrg32GiBV1_1,
        StackedDrg64GiBV1_1,
        StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
        StackedDrg8MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg512MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg64GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg8MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg512MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg32GiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg64GiBV1_2_Feat_NonInteractivePoRep,
    ]
};

/// PoSt proofs by number.
pub const POST_PROOFS: [RegisteredPoStProof; 15] = {
    use RegisteredPoStProof::*;
    [
        StackedDrgWinning2KiBV1,
        StackedDrgWinning8MiBV1,
        StackedDrgWinning512MiBV1,
        StackedDrgWinning32GiBV1,
        StackedDrgWinning64GiBV1,
        StackedDrgWindow2KiBV1,
        StackedDrgWindow8MiBV1,
        StackedDrgWindow512MiBV1,
        StackedDrgWindow32GiBV1,
        StackedDrgWindow64GiBV1,
        StackedDrgWindow2KiBV1_2,
        StackedDrgWindow8MiBV1_2,
        StackedDrgWindow512MiBV1_2,
        StackedDrgWindow32GiBV1_2,
        StackedDrgWindow64GiBV1_2,
    ]
};

/// Update proofs by number.
pub const UPDATE_PROOFS: [RegisteredUpdateProof; 5] = {
    use RegisteredUpdateProof::*;
    [StackedDrg2KiBV1, StackedDrg8MiBV1, StackedDrg512MiBV1, StackedDrg32GiBV1, StackedDrg64GiBV1]
};

/// The field that every error here names.
const FIELD: &str = "registered_proof";

fn by_number<T: Copy>(proofs: &[T], what: &str, number: u32) -> Result<T> {
    usize::try_from(number).ok().and_then(|i| proofs.get(i).copied()).ok_or_else(|| {
        Error::argument(FIELD, format!("{number} is no registered {what} proof (0 to {})", proofs.len() - 1))
    })
}

fn by_name<T: Copy>(names: impl Iterator<Item = String>, proofs: &[T], what: &str, name: &str) -> Result<T> {
    names
        .zip(proofs)
        .find(|(n, _)| n == name)
        .map(|(_, proof)| *proof)
        .ok_or_else(|| Error::argument(FIELD, format!("{name:?} is no registered {what} proof")))
}

/// The seal proof with this number; `INVALID_ARGUMENT` names `registered_proof`, as in every function here.
pub fn seal_from_number(number: u32) -> Result<RegisteredSealProof> {
    by_number(&SEAL_PROOFS, "seal", number)
}

/// The PoSt proof with this number.
pub fn post_from_number(number: u32) -> Result<RegisteredPoStProof> {
    by_number(&POST_PROOFS, "PoSt", number)
}

/// The update proof with this number.
pub fn update_from_number(number: u32) -> Result<RegisteredUpdateProof> {
    by_number(&UPDATE_PROOFS, "update", number)
}

/// A seal proof's number.
pub fn seal_number(proof: RegisteredSealProof) -> u32 {
    proof as u32
}

/// A PoSt proof's number.
pub fn post_number(proof: RegisteredPoStProof) -> u32 {
    proof as u32
}

/// An update proof's number.
pub fn update_number(proof: RegisteredUpdateProof) -> u32 {
    proof as u32
}

/// A seal proof's name, such as `StackedDrg2KiBV1_1`.
pub fn seal_name(proof: RegisteredSealProof) -> String {
    format!("{proof:?}")
}

/// A PoSt proof's name, such as `StackedDrgWindow2KiBV1_2`.
pub fn post_name(proof: RegisteredPoStProof) -> String {
    format!("{proof:?}")
}

/// An update proof's name, such as `StackedDrg2KiBV1`.
pub fn update_name(proof: RegisteredUpdateProof) -> String {
    format!("{proof:?}")
}

/// The seal proof of this name. Go's `…_Feat_NiPoRep` is understood too.
pub fn seal_from_name(name: &str) -> Result<RegisteredSealProof> {
    let rust = name.replace("_Feat_NiPoRep", "_Feat_NonInteractivePoRep");
    by_name(SEAL_PROOFS.into_iter().map(seal_name), &SEAL_PROOFS, "seal", &rust)
}

/// The PoSt proof of this name. Go's `StackedDrgWindow…V1_1` is understood as V1_2, which it is.
pub fn post_from_name(name: &str) -> Result<RegisteredPoStProof> {
    let rust = name.strip_suffix("V1_1").map(|stem| format!("{stem}V1_2"));
    by_name(POST_PROOFS.into_iter().map(post_name), &POST_PROOFS, "PoSt", rust.as_deref().unwrap_or(name))
}

/// The update proof of this name.
pub fn update_from_name(name: &str) -> Result<RegisteredUpdateProof> {
    by_name(UPDATE_PROOFS.into_iter().map(update_name), &UPDATE_PROOFS, "update", name)
}

/// A registered proof's number from its name, whatever its kind.
pub fn number_from_name(kind: Kind, name: &str) -> Result<u32> {
    let number = match kind {
        Kind::Porep => seal_number(seal_from_name(name)?),
        Kind::Snap => update_number(update_from_name(name)?),
        Kind::WindowPost | Kind::WinningPost => post_number(post_from_name(name)?),
    };
    circuit(kind, number).map(|_| number)
}

/// A registered proof's name from its number, whatever its kind.
pub fn name_from_number(kind: Kind, number: u32) -> Result<String> {
    circuit(kind, number)?;
    Ok(match kind {
        Kind::Porep => seal_name(seal_from_number(number)?),
        Kind::Snap => update_name(update_from_number(number)?),
        Kind::WindowPost | Kind::WinningPost => post_name(post_from_number(number)?),
    })
}

/// The circuit that a registered proof of a kind is proved with.
pub fn circuit(kind: Kind, number: u32) -> Result<CircuitId> {
    let sector_size = match kind {
        Kind::Porep => seal_from_number(number)?.sector_size(),
        Kind::Snap => update_from_number(number)?.sector_size(),
        Kind::WindowPost | Kind::WinningPost => {
            let proof = post_from_number(number)?;
            let winning = number < 5;
            if winning != (kind == Kind::WinningPost) {
                return Err(Error::argument(FIELD, format!("{} ({number}) is no {kind} proof", post_name(proof))));
            }
            proof.sector_size()
        }
    };
    Ok(CircuitId { kind, sector_size: sector_size.into() })
}

/// Actor id to prover id: unsigned LEB128, left-aligned, padded with zeros.
pub fn prover_id(miner_id: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let mut rest = miner_id;
    for byte in &mut id {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

/// 32 bytes as hex, in plain byte order.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// 32 bytes from 64 hex digits, in plain byte order; `INVALID_ARGUMENT` names `field`.
pub fn bytes32_from_hex(field: &str, hex: &str) -> Result<[u8; 32]> {
    let digit = |c: u8| (c as char).to_digit(16);
    let mut bytes = [0; 32];
    let digits = hex.as_bytes();
    let wrong = || Error::argument(field.to_owned(), format!("is not 64 hex digits ({} characters)", hex.len()));
    if digits.len() != 64 {
        return Err(wrong());
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or_else(wrong)?;
        *byte = (high << 4 | low) as u8;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn numbers_are_gos() {
        for (i, p) in SEAL_PROOFS.into_iter().enumerate() {
            assert_eq!(seal_number(p) as usize, i);
            assert_eq!(seal_from_name(&seal_name(p)).unwrap(), p);
            // filecoin-proofs writes the same number into the porep id.
            assert_eq!(p.as_v1_config().porep_id[0] as usize, i);
        }
        for (i, p) in POST_PROOFS.into_iter().enumerate() {
            assert_eq!(post_number(p) as usize, i);
            assert_eq!(post_from_name(&post_name(p)).unwrap(), p);
        }
        for (i, p) in UPDATE_PROOFS.into_iter().enumerate() {
            assert_eq!(update_number(p) as usize, i);
            assert_eq!(update_from_name(&update_name(p)).unwrap(), p);
        }
        assert_eq!(seal_number(seal_from_name("StackedDrg32GiBV1_2_Feat_NiPoRep").unwrap()), 18);
        assert_eq!(post_number(post_from_name("StackedDrgWindow64GiBV1_1").unwrap()), 14);
    }

    #[test]
    fn kinds_have_their_circuits() {
        let id = |kind, number| circuit(kind, number).map(|c| c.to_string());
        assert_eq!(id(Kind::Porep, 8).unwrap(), "porep-32GiB");
        assert_eq!(id(Kind::Porep, 15).unwrap(), "porep-2KiB");
        assert_eq!(id(Kind::Snap, 4).unwrap(), "snap-64GiB");
        assert_eq!(id(Kind::WinningPost, 1).unwrap(), "winning-post-8MiB");
        assert_eq!(id(Kind::WindowPost, 7).unwrap(), "window-post-512MiB");
        assert_eq!(id(Kind::WindowPost, 13).unwrap(), "window-post-32GiB");
        for (kind, number) in [
            (Kind::Porep, 20),
            (Kind::Porep, u32::MAX),
            (Kind::Snap, 5),
            (Kind::WinningPost, 5),
            (Kind::WindowPost, 4),
            (Kind::WindowPost, 15),
        ] {
            let e = circuit(kind, number).unwrap_err();
            assert_eq!((e.code, &*e.field), (Code::InvalidArgument, "registered_proof"));
        }
        for kind in Kind::ALL {
            for number in (0..20).filter(|n| circuit(kind, *n).is_ok()) {
                let name = name_from_number(kind, number).unwrap();
                assert_eq!(number_from_name(kind, &name).unwrap(), number);
            }
            assert!(number_from_name(kind, "StackedDrg3KiBV1").is_err());
        }
        assert!(number_from_name(Kind::WindowPost, "StackedDrgWinning2KiBV1").is_err());
    }

    #[test]
    fn prover_ids_are_leb128() {
        assert_eq!(prover_id(0), [0; 32]);
        assert_eq!(prover_id(127)[..2], [127, 0]);
        assert_eq!(prover_id(128)[..3], [0x80, 1, 0]);
        assert_eq!(prover_id(1000)[..3], [0xe8, 7, 0]);
        assert_eq!(prover_id(u64::MAX)[..11], [255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]);
    }

    #[test]
    fn hex_round_trips() {
        let bytes: [u8; 32] = std::array::from_fn(|i| (i * 37) as u8);
        assert_eq!(bytes32_from_hex("x", &to_hex(&bytes)).unwrap(), bytes);
        assert_eq!(bytes32_from_hex("x", &to_hex(&bytes).to_uppercase()).unwrap(), bytes);
        for bad in ["".to_owned(), "00".repeat(31), "0g".repeat(32), "é".repeat(32), "00".repeat(33)] {
            assert_eq!(bytes32_from_hex("ticket", &bad).unwrap_err().field, "ticket");
        }
    }
}
