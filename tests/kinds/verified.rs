//! Proofs that both verifiers accept, and statements that both refuse.

use splitprove::error::Code;
use splitprove::proofs::Kind;

use crate::fixture::{engine, filecoin_verifies, Change, Fixture};

#[test]
fn winning_post_verifies_with_filecoin_proofs() {
    let wrong: [Change; 3] =
        [|p| p.randomness[0] ^= 1, |p| p.sectors[0].comm_r[0] ^= 1, |p| p.sectors[0].sector_number += 1];
    Fixture::winning().proves_and_verifies(1, &wrong);
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
    Fixture::window().proves_and_verifies(2, &wrong);
}

#[test]
fn window_post_of_one_partition_verifies_with_filecoin_proofs() {
    let whole = Fixture::window();
    for (sectors, index) in [(0..2, 0), (2..3, 1), (1..2, 7)] {
        whole.only(sectors, index).proves_and_verifies(1, &[|p| p.randomness[5] ^= 8]);
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
    fixture.proves_and_verifies(1, &wrong);
}
