//! Proofs of several kinds at a time: each gets its own.

use splitprove::groth16::PROOF_BYTES;

use crate::fixture::{engine, filecoin_verifies, finish, Fixture};

#[test]
fn t8_posts_while_a_porep_runs() {
    let engine = engine();
    let window = Fixture::window();
    let porep = Fixture::porep();
    let posts = [window.only(0..2, 0), Fixture::winning(), window.only(2..3, 1), Fixture::window()];
    let running = porep.start(&engine, 100);
    let pending: Vec<_> = posts.iter().zip(1..).map(|(post, tag)| post.start(&engine, tag)).collect();
    let proofs: Vec<_> = pending.iter().map(|pending| finish(pending).unwrap()).collect();
    for (i, (post, proof)) in posts.iter().zip(&proofs).enumerate() {
        engine.verify(&post.public, proof).unwrap();
        assert!(filecoin_verifies(&post.public, proof));
        // None has another's.
        for (j, other) in posts.iter().enumerate().filter(|(j, _)| *j != i) {
            assert!(engine.verify(&other.public, proof).is_err(), "proof {i} for statement {j}");
        }
    }
    let proof = finish(&running).unwrap();
    assert_eq!(proof.len(), PROOF_BYTES);
    engine.verify(&porep.public, &proof).unwrap();
    let mut other = porep.public.clone();
    other.seed[0] ^= 1;
    assert!(engine.verify(&other, &proof).is_err());
}
