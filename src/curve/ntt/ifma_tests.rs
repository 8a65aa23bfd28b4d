//! The vector arithmetic against blst, on edge integers and limbs out of their 52 bits.

use std::arch::x86_64::*;

use blstrs::Scalar;
use ff::{Field, PrimeField};
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};

use super::ifma::*;
use super::memory::{load_eight, store_eight, transpose};
use super::ordered::*;

/// The lanes' integers modulo p; limbs are signed.
fn values(x: &Lanes) -> [Scalar; 8] {
    let step = Scalar::from(1u64 << 52);
    std::array::from_fn(|lane| {
        x.0.iter().rev().fold(Scalar::ZERO, |sum, limb| {
            let limb = limb[lane] as i64;
            let size = Scalar::from(limb.unsigned_abs());
            sum * step + if limb < 0 { -size } else { size }
        })
    })
}

fn lane(x: &Lanes, lane: usize) -> [i64; 5] {
    std::array::from_fn(|limb| x.0[limb][lane] as i64)
}

/// Carried limbs as (top limb, ..), to compare sizes; the top limb may have any size.
fn carried(mut x: [i64; 5]) -> [i64; 5] {
    for i in 0..4 {
        x[i + 1] += x[i] >> 52;
        x[i] &= (1 << 52) - 1;
    }
    x
}

fn times_p(k: i64) -> [i64; 5] {
    let bytes = (-Scalar::ONE).to_repr();
    let words: [u64; 4] = std::array::from_fn(|i| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap()));
    let mask = (1 << 52) - 1;
    let limbs = [
        words[0] & mask,
        (words[0] >> 52 | words[1] << 12) & mask,
        (words[1] >> 40 | words[2] << 24) & mask,
        (words[2] >> 28 | words[3] << 36) & mask,
        words[3] >> 16,
    ];
    let mut r: [i64; 5] = std::array::from_fn(|i| limbs[i] as i64 * k);
    r[0] += k; // words are p - 1
    carried(r)
}

/// a < b as integers, both carried.
fn less(a: [i64; 5], b: [i64; 5]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// Integers in low p..high p (exclusive), at and next to multiples of p and of 2^257, limbs
/// spread out of their 52 bits without changing the integer.
fn samples(low: i64, high: i64, rng: &mut StdRng) -> Vec<Lanes> {
    let mut integers = Vec::new();
    for k in low..high {
        let m = times_p(k);
        let mut next = m;
        next[0] += 1;
        integers.extend([m, carried(next)]);
        let mut below = times_p(k + 1);
        below[0] -= 1;
        integers.push(carried(below));
        let mut random = m;
        random[4] += rng.gen_range(0..0x73ed_a753_2990);
        random[2] = rng.gen_range(0..1 << 52);
        integers.push(carried(random));
    }
    for i in 1..8i64 {
        for limbs in [[0, 0, 0, 0, i << 49], [-1, 0, 0, 0, i << 49], [(1 << 52) - 1; 5]] {
            integers.push(carried(limbs));
        }
    }
    integers.retain(|x| !less(*x, times_p(low)) && less(*x, times_p(high)));
    while integers.len() % 8 != 0 {
        integers.push(integers[0]);
    }
    let mut spread = integers.clone();
    for x in &mut spread {
        for i in 0..4 {
            let move_down = rng.gen_range(-200i64..200);
            x[i] += move_down << 52;
            x[i + 1] -= move_down;
        }
    }
    integers
        .chunks(8)
        .chain(spread.chunks(8))
        .map(|eight| {
            let mut lanes = Lanes::ZERO;
            for (l, x) in eight.iter().enumerate() {
                for (limb, value) in x.iter().enumerate() {
                    lanes.0[limb][l] = *value as u64;
                }
            }
            lanes
        })
        .collect()
}

fn edge_scalars(rng: &mut StdRng) -> [Scalar; 8] {
    [
        Scalar::ZERO,
        Scalar::ONE,
        -Scalar::ONE,
        Scalar::from(u64::MAX),
        Scalar::from(2).pow_vartime([208u64]),
        Scalar::random(&mut *rng),
        Scalar::random(&mut *rng),
        Scalar::random(&mut *rng),
    ]
}

/// The integer that stands for x in memory, x 2^256, as a field element.
fn stored(x: Scalar) -> Scalar {
    x * Scalar::from(2).pow_vartime([256u64])
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_fixed_products(rng: &mut StdRng) {
    let mut previous = samples(0, 1, rng).swap_remove(0);
    for x in samples(0, 35, rng) {
        let xs = values(&x);
        let ws = edge_scalars(rng);
        for i in 0..8 {
            let w = [Fixed::new(ws[i]), Fixed::new(ws[7 - i])];
            let both = [&digits(&x.load()), &digits(&previous.load())];
            let pair = multiply_fixed_two(both, [&w[0], &w[1]], &bias::<-3>());
            let mut r = [Lanes::ZERO; 2];
            r[0].store(&pair[0]);
            r[1].store(&pair[1]);
            assert_eq!(values(&r[0]), xs.map(|x| x * ws[i]));
            assert_eq!(values(&r[1]), values(&previous).map(|x| x * ws[7 - i]));
        }
        previous = x;
        for w in ws {
            let mut r = Lanes::ZERO;
            r.store(&multiply_fixed(&digits(&x.load()), &Fixed::new(w), &bias::<-3>()));
            assert_eq!(values(&r), xs.map(|x| x * w));
            for l in 0..8 {
                let r = carried(lane(&r, l));
                assert!(!less(r, times_p(-3)) && less(r, times_p(3)));
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_general_products(rng: &mut StdRng) {
    for x in samples(0, 35, rng) {
        let (xs, ws) = (values(&x), edge_scalars(rng));
        let factors = Lanes::factors(&ws);
        let mut r = Lanes::ZERO;
        r.store(&multiply(&digits(&x.load()), &digits(&factors.load()), &bias::<1>()));
        let expected: [Scalar; 8] = std::array::from_fn(|l| xs[l] * ws[l]);
        assert_eq!(values(&r), expected);
        let steps = FixedLanes::new(&edge_scalars(&mut StdRng::seed_from_u64(7)));
        let (product, next) = multiply_and_step(&digits(&x.load()), &digits(&factors.load()), &steps, &bias::<1>());
        r.store(&next);
        let r_260 = Scalar::from(2).pow_vartime([260u64]);
        let stepped = edge_scalars(&mut StdRng::seed_from_u64(7));
        let following: [Scalar; 8] = std::array::from_fn(|l| ws[l] * stepped[l] * r_260);
        assert_eq!(values(&r), following);
        r.store(&product);
        assert_eq!(values(&r), expected);
        for l in 0..8 {
            let r = carried(lane(&r, l));
            assert!(!less(r, times_p(1)) && less(r, times_p(3)));
        }
        for w in ws {
            r.store(&multiply(&digits(&x.load()), &Factor::new(w).broadcast(), &bias::<0>()));
            assert_eq!(values(&r), xs.map(|x| x * w));
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_reductions(rng: &mut StdRng) {
    for x in samples(1, 35, rng) {
        let xs = values(&x);
        let mut r = Lanes::ZERO;
        r.store(&lower(&x.load()));
        assert_eq!(values(&r), xs);
        for l in 0..8 {
            // Limbs out of their bits can put 2^-30 p on either side.
            let mut slack = [0, 0, 0, 1 << 30, 0];
            let r = carried(lane(&r, l));
            slack = carried(std::array::from_fn(|i| r[i] + slack[i]));
            assert!(!less(slack, times_p(9)) && less(r, times_p(15)));
        }
        let settled = settle(&x.load());
        r.store(&settled);
        assert_eq!(values(&r), xs);
        for l in 0..8 {
            let r = lane(&r, l);
            assert_eq!(r, carried(r));
            assert!(r[4] >= 0 && less(r, times_p(2)));
        }
        // Packed, canonical values are what blst holds.
        let mut out = [Scalar::ZERO; 8];
        // SAFETY: eight scalars.
        unsafe { store_eight(out.as_mut_ptr(), &pack(&canonical(&settled))) };
        let limbs = |x: Scalar| blst::blst_fr::from(x).l;
        for (out, x) in out.into_iter().zip(xs) {
            assert_eq!(stored(out), x);
            assert_eq!(limbs(out), limbs(out * Scalar::ONE));
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn check_moves(rng: &mut StdRng) {
    let xs = edge_scalars(rng);
    // SAFETY: eight scalars.
    let words = unsafe { load_eight(xs.as_ptr()) };
    let mut lanes = Lanes::ZERO;
    lanes.store(&unpack(&words));
    assert_eq!(values(&lanes), xs.map(stored));
    let mut back = [Scalar::ZERO; 8];
    // SAFETY: eight scalars.
    unsafe { store_eight(back.as_mut_ptr(), &pack(&lanes.load())) };
    assert_eq!(back, xs);

    let matrix: [[u64; 8]; 8] = std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()));
    let mut rows = [_mm512_setzero_si512(); 8];
    for (row, words) in rows.iter_mut().zip(&matrix) {
        // SAFETY: eight words.
        *row = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
    }
    for (i, column) in transpose(&rows).into_iter().enumerate() {
        let mut words = [0u64; 8];
        // SAFETY: eight words.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), column) };
        assert_eq!(words, matrix.map(|row| row[i]));
    }
}

/// A test of a body written with the instructions, where the CPU has them.
macro_rules! with_instructions {
    ($($name:ident => $body:ident,)*) => {$(
        #[test]
        fn $name() {
            if available() {
                // SAFETY: the CPU has the instructions.
                unsafe { $body(&mut StdRng::seed_from_u64(6)) }
            }
        }
    )*};
}

with_instructions! {
    fixed_products_agree_with_blst => check_fixed_products,
    general_products_agree_with_blst => check_general_products,
    reductions_keep_the_value_and_their_bounds => check_reductions,
    moves_keep_every_word => check_moves,
}
