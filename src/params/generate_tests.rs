//! What is generated is what bellperson generates.

use bellperson::groth16;
use blstrs::{Bls12, G1Projective, G2Projective, Scalar};
use group::Group;

use super::*;
use crate::circuit::testing::{styles, Numbers, RandomCircuit};
use crate::circuit::{record, Matrices};

/// bellperson's parameters at a trapdoor, and ours at the same one.
fn both(circuit: RandomCircuit, seed: u64) -> (groth16::Parameters<Bls12>, Params, Matrices) {
    let mut numbers = Numbers::new(seed);
    let mut next = || numbers.scalar();
    let (g1, g2) = (G1Projective::generator() * next(), G2Projective::generator() * next());
    let s: Vec<Scalar> = (0..5).map(|_| next()).collect();
    let theirs =
        groth16::generate_parameters::<Bls12, _>(circuit.clone(), g1, g2, s[0], s[1], s[2], s[3], s[4]).unwrap();
    let matrices = record(circuit.blank()).unwrap();
    let ours = generate_in_memory(&matrices, Trapdoor::given(g1, g2, s[0], s[1], s[2], s[3], s[4])).unwrap();
    (theirs, ours, matrices)
}

#[test]
fn equals_bellperson() {
    for (seed, style) in styles().into_iter().enumerate() {
        let (theirs, ours, _) = both(RandomCircuit::new(seed as u64, style), seed as u64 + 1000);
        assert_eq!(theirs.vk, ours.vk, "{style:?}");
        assert_eq!(&theirs.h[..], &ours.h[..], "{style:?}");
        assert_eq!(&theirs.l[..], &ours.l[..], "{style:?}");
        assert_eq!(&theirs.a[..], &ours.a[..], "{style:?}");
        assert_eq!(&theirs.b_g1[..], &ours.b_g1[..], "{style:?}");
        assert_eq!(&theirs.b_g2[..], &ours.b_g2[..], "{style:?}");
    }
}
