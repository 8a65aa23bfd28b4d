//! Vector field arithmetic against blst's.

use super::curve::{AffinePoint, Coordinate, Curve, G1, G2};
use super::ifma::{self, Fp, LIMB_MASK};
use super::lanes::{read, store_bases, words_of, Element, Limbs, Point};
use super::{G1Affine, G2Affine};
use blst::{blst_fp, blst_fp2};
use group::Group;
use rand::{RngCore, SeedableRng};
use rand_xorshift::XorShiftRng;

/// Runs `$test`, a function for CPUs with AVX-512 IFMA, where the CPU has it.
macro_rules! with_ifma {
    ($test:expr) => {
        if super::batch_affine::Ifma::detect().is_some() {
            // SAFETY: the CPU has been seen to have the features.
            unsafe { $test }
        }
    };
}

/// Values below p worth trying, then random ones.
fn values(count: usize) -> Vec<[u64; 6]> {
    let mut rng = XorShiftRng::from_seed([5; 16]);
    let mut out = vec![[0; 6], [1, 0, 0, 0, 0, 0], ifma::MODULUS_WORDS, [u64::MAX; 6]];
    out[2][0] -= 1;
    out[3][5] = 0x1a01_11ea_397f_e699;
    out.push(ifma::join(ifma::ONE));
    for bit in [51, 52, 53, 103, 104, 155, 156, 208, 260, 312, 363, 364, 380] {
        let mut power = [0; 6];
        power[bit / 64] = 1 << (bit % 64);
        out.push(power);
    }
    while out.len() < count {
        let mut words: [u64; 6] = std::array::from_fn(|_| rng.next_u64());
        words[5] %= 0x1a01_11ea_397f_e69a;
        out.push(words);
    }
    out
}

/// value + factor * p, in limbs: an unreduced form of the value.
fn unreduced(value: [u64; 6], factor: u64) -> [u64; 8] {
    let (a, b) = (ifma::split(value), ifma::multiple_of_modulus(factor));
    let mut carry = 0;
    std::array::from_fn(|i| {
        let sum = a[i] + b[i] + carry;
        carry = sum >> 52;
        sum & LIMB_MASK
    })
}

/// blst's product of values taken as R = 2^384 forms is a b / 2^384; times this, a b / 2^416.
fn vector_product(a: [u64; 6], b: [u64; 6]) -> [u64; 6] {
    let scale = blst_fp { l: ifma::join(ifma::power_of_two(384 - 32)) };
    let mut shifted = blst_fp { l: a }.times(&blst_fp { l: b });
    // 2^352 / 2^384 = 2^-32.
    shifted = shifted.times(&scale);
    shifted.l
}

fn vector(limbs: [[u64; 8]; 8]) -> Element<1> {
    let rows = limbs.map(|l| [Limbs(l)]);
    // SAFETY: called where the CPU has been seen to have the features.
    unsafe { Element::from_rows(std::array::from_fn(|l| &rows[l])) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_products(a: [[u64; 6]; 8], b: [[u64; 6]; 8], factor: u64) {
    let small = vector(a.map(|v| unreduced(v, 2)));
    let large = vector(b.map(|v| unreduced(v, factor)));
    let zero = Fp::zero();
    let product = ifma::sum_of_products([(&small.0[0], &large.0[0])], &zero);
    let square = ifma::square_plus(&small.0[0], &zero);
    // The product plus 3 p minus itself, in signed limbs.
    let three = Fp::splat(&ifma::multiple_of_modulus(3));
    let none = ifma::sum_of_products([(&small.0[0], &large.0[0])], &three.minus(&product));
    let got = Element([product.canonical()]).to_limbs();
    let squares = Element([square.canonical()]).to_limbs();
    let zeros = Element([none.canonical()]).to_limbs();
    for l in 0..8 {
        assert_eq!(ifma::join(got[l][0].0), vector_product(a[l], b[l]));
        assert_eq!(ifma::join(squares[l][0].0), vector_product(a[l], a[l]));
        assert_eq!(zeros[l][0].0, [0; 8]);
    }
}

#[test]
fn products_of_reduced_and_unreduced_values() {
    let values = values(64);
    for factor in [0, 1, 2, 1 << 13, 1 << 30] {
        for shift in 0..values.len() {
            for start in (0..values.len()).step_by(8) {
                let a = std::array::from_fn(|l| values[start + l]);
                let b = std::array::from_fn(|l| values[(start + l + shift) % values.len()]);
                with_ifma!(check_products(a, b, factor));
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_extension(a: [[[u64; 6]; 2]; 8], b: [[[u64; 6]; 2]; 8]) {
    let lanes = |v: [[[u64; 6]; 2]; 8], factor: u64| {
        let rows = v.map(|e| e.map(|c| Limbs(unreduced(c, factor))));
        Element::<2>::from_rows(std::array::from_fn(|l| &rows[l]))
    };
    let (x, y) = (lanes(a, 2), lanes(b, 1 << 13));
    let products = x.times(&y).canonical().to_limbs();
    let squares = x.square_plus(&Element::zero()).canonical().to_limbs();
    let scale = blst_fp2::from_components(|d| match d {
        0 => ifma::join(ifma::power_of_two(384 - 32)),
        _ => [0; 6],
    });
    for l in 0..8 {
        let of = |v: [[u64; 6]; 2]| blst_fp2::from_components(|d| v[d]);
        let expected = of(a[l]).times(&of(b[l])).times(&scale);
        let square = of(a[l]).square().times(&scale);
        for d in 0..2 {
            assert_eq!(ifma::join(products[l][d].0), expected.component(d));
            assert_eq!(ifma::join(squares[l][d].0), square.component(d));
        }
    }
}

#[test]
fn products_in_the_extension() {
    let values = values(128);
    for shift in 0..values.len() {
        let at = |i: usize| values[i % values.len()];
        let a = std::array::from_fn(|l| [at(l + shift), at(3 * l + 2 * shift)]);
        let b = std::array::from_fn(|l| [at(5 * l + shift), at(7 * l + 11 * shift)]);
        with_ifma!(check_extension(a, b));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_points<C: Curve, const D: usize>(bases: &[C::Affine]) {
    let (x, y) = read::<D, true>(C::words(bases), std::array::from_fn(|l| l));
    let (rows_x, rows_y) = (x.small().to_limbs(), y.small().to_limbs());
    let points: Vec<Point<D>> = (0..8).map(|l| Point { x: rows_x[l], y: rows_y[l] }).collect();
    let (x, y) = read::<D, false>(words_of(&points), std::array::from_fn(|l| 7 - l));
    let mut words = [[[0; 6]; 4]; 8];
    store_bases(&x, &y, |l, c, w| words[l][c] = w);
    for l in 0..8 {
        let x = C::Field::from_components(|d| words[7 - l][d]);
        let y = C::Field::from_components(|d| words[7 - l][D + d]);
        assert!(AffinePoint { x, y } == C::coordinates(bases)[l]);
    }
}

#[test]
fn points_come_back_as_they_were() {
    let mut rng = XorShiftRng::from_seed([6; 16]);
    let mut g1: Vec<G1Affine> = (0..8).map(|_| blstrs::G1Projective::random(&mut rng).into()).collect();
    let mut g2: Vec<G2Affine> = (0..8).map(|_| blstrs::G2Projective::random(&mut rng).into()).collect();
    g1[3] = blstrs::G1Projective::identity().into();
    g2[5] = blstrs::G2Projective::identity().into();
    with_ifma!(check_points::<G1, 1>(&g1));
    with_ifma!(check_points::<G2, 2>(&g2));
}
