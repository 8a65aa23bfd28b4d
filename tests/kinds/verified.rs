//! Proofs that both verifiers accept, and statements that both refuse.

use splitprove::error::Code;
use splitprove::groth16::PROOF_BYTES;
use splitprove::proofs::{Kind, Public};

use crate::fixture::{engine, filecoin_verifies, Fixture};

type Change = fn(&mut Public);

/// Proves; both verifiers accept, and refuse what `wrong` changes and a flipped byte.
fn proves_and_verifies(fixture: &Fixture, partitions: usize, wrong: &[Change]) {
    let engine = engine();
    let public = &fixture.public;
    let proof = fixture.prove(&engine).unwrap();
    assert_eq!(proof.len(), partitions * PROOF_BYTES);
    assert!(filecoin_verifies(public, &proof));
    engine.verify(public, &proof).unwrap();
    for (i, change) in wrong.iter().enumerate() {
        let mut other = public.clone();
        change(&mut other);
        assert!(!filecoin_verifies(&other, &proof), "{i}");
        assert_eq!(engine.verify(&other, &proof).unwrap_err().code, Code::ProofInvalid, "{i}");
    }
    for at in [0, 47, 48, 143, 144, 191].into_iter().chain(partitions.gt(&1).then_some(proof.len() - 1)) {
        let mut flipped = proof.to_vec();
        flipped[at] ^= 1;
        assert!(!filecoin_verifies(public, &flipped), "{at}");
        assert_eq!(engine.verify(public, &flipped).unwrap_err().code, Code::ProofInvalid, "{at}");
    }
    for wrong in [&proof[1..], &proof[..proof.len() - 1], &[], &[&proof[..], &proof[..]].concat()] {
        assert_eq!(engine.verify(public, wrong).unwrap_err().code, Code::ProofInvalid);
    }
}

#[test]
fn winning_post_verifies_with_filecoin_proofs() {
    let wrong: [Change; 3] =
        [|p| p.randomness[0] ^= 1, |p| p.sectors[0].comm_r[0] ^= 1, |p| p.sectors[0].sector_number += 1];
    proves_and_verifies(&Fixture::winning(), 1, &wrong);
}

#[test]
fn window_post_of_every_partition_verifies_with_filecoin_proofs() {
    let wrong: [Change; 4] = [
        |p| p.randomness[31] ^= 1,
        |p| p.sectors[2].comm_r[0] ^= 1,
        |p| p.sectors[0].sector_number -= 1,
        |p| {
            let (a, b) = (p.sectors[0].comm_r, p.sectors[1].comm_r);
            (p.sectors[0].comm_r, p.sectors[1].comm_r) = (b, a);
        },
    ];
    proves_and_verifies(&Fixture::window(), 2, &wrong);
}

#[test]
fn window_post_of_one_partition_verifies_with_filecoin_proofs() {
    let whole = Fixture::window();
    for (sectors, index) in [(0..2, 0), (2..3, 1), (1..2, 7)] {
        proves_and_verifies(&whole.only(sectors, index), 1, &[|p| p.randomness[5] ^= 8]);
    }
    // One after the other they are the proof of the whole.
    let engine = engine();
    let parts = [whole.only(0..2, 0), whole.only(2..3, 1)].map(|part| part.prove(&engine).unwrap());
    let proof = parts.concat();
    assert!(filecoin_verifies(&whole.public, &proof));
    engine.verify(&whole.public, &proof).unwrap();
    let swapped = [&parts[1][..], &parts[0][..]].concat();
    assert!(!filecoin_verifies(&whole.public, &swapped));
    assert_eq!(engine.verify(&whole.public, &swapped).unwrap_err().code, Code::ProofInvalid);
}

/// The order that a statement names sectors in does not count, as in Filecoin's verifier, nor do the bits of the
/// randomness that its callers clear.
#[test]
fn statements_are_what_filecoins_verifier_makes_of_them() {
    let fixture = Fixture::window();
    let engine = engine();
    let proof = fixture.prove(&engine).unwrap();
    let mut other = fixture.public.clone();
    other.sectors.reverse();
    other.sectors.push(other.sectors[1]);
    assert!(filecoin_verifies(&other, &proof));
    engine.verify(&other, &proof).unwrap();
    other.randomness[31] |= 0xc0;
    engine.verify(&other, &proof).unwrap();
    let mut again = Fixture::window();
    again.request.randomness[31] |= 0xc0;
    let proof = again.prove(&engine).unwrap();
    assert!(filecoin_verifies(&fixture.public, &proof));
}

#[test]
fn snap_verifies_with_filecoin_proofs() {
    let wrong: [Change; 3] = [|p| p.comm_r_old[0] ^= 1, |p| p.comm_r_new[0] ^= 1, |p| p.comm_d_new[0] ^= 1];
    let fixture = Fixture::snap();
    assert_eq!(fixture.kind, Kind::Snap);
    proves_and_verifies(&fixture, 1, &wrong);
}
