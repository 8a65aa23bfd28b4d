//! Uncompressed points, eight at a time: canonical, on their curve, and from big-endian bytes to blst's form.
//!
//! A parameter file has a hundred million points, and reading it is mostly this. With x and y the coordinates, R = 2^416
//! and blst's form X = 2^384·x, Y = 2^384·y: a product in [`ifma`](super::msm::ifma) divides by R, so X comes from x by a
//! product with 2^800, X²·X is 2^320·x³, and Y²·2^384 is 2^320·y². The point is on its curve when 2^320·x³ + 2^320·b
//! equals 2^320·y².

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use blstrs::{G1Affine, G2Affine};

#[cfg(target_arch = "x86_64")]
use super::msm::ifma::{self, Fp};
#[cfg(target_arch = "x86_64")]
use super::msm::lanes::{store, Element};

/// Points decoded together.
pub const TOGETHER: usize = 8;

/// Decodes eight points of G1 from 768 bytes. True when all are canonical, not at infinity and on the curve (their
/// subgroup is not looked at); false when one is not or when this CPU cannot say, and `points` may hold anything then.
pub fn eight_g1(bytes: &[u8; TOGETHER * 96], points: &mut [G1Affine; TOGETHER]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_ifma() {
        let put = |lane: usize, coordinate: usize, words: [u64; 6]| {
            let point = points[lane].as_mut();
            match coordinate {
                0 => point.x.l = words,
                _ => point.y.l = words,
            }
        };
        // SAFETY: the CPU has what the function needs.
        return unsafe { decode::<1, 12>(bytes, put) };
    }
    let _ = (bytes, points);
    false
}

/// As [`eight_g1`] in G2, from 1,536 bytes.
pub fn eight_g2(bytes: &[u8; TOGETHER * 192], points: &mut [G2Affine; TOGETHER]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_ifma() {
        let put = |lane: usize, coordinate: usize, words: [u64; 6]| {
            let point = points[lane].as_mut();
            match coordinate {
                0 => point.x.fp[0].l = words,
                1 => point.x.fp[1].l = words,
                2 => point.y.fp[0].l = words,
                _ => point.y.fp[1].l = words,
            }
        };
        // SAFETY: the CPU has what the function needs.
        return unsafe { decode::<2, 24>(bytes, put) };
    }
    let _ = (bytes, points);
    false
}

#[cfg(target_arch = "x86_64")]
fn has_ifma() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512bw")
}

/// 2^(384 + 416): a product with it takes a number to blst's form.
#[cfg(target_arch = "x86_64")]
const TO_BLST: [u64; 8] = ifma::power_of_two(800);

/// 2^384: a product with it takes Y² = 2^352·y² to 2^320·y².
#[cfg(target_arch = "x86_64")]
const Y_FACTOR: [u64; 8] = ifma::power_of_two(384);

/// 2^320·4; b is 4 in G1 and 4·(1 + u) in G2.
#[cfg(target_arch = "x86_64")]
const B: [u64; 8] = ifma::power_of_two(322);

/// Decodes eight points over the field of degree D. `put` takes lane, coordinate component (x's D, then y's D, the lowest
/// first) and words. WORDS is 12·D.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512ifma,avx512bw")]
fn decode<const D: usize, const WORDS: usize>(bytes: &[u8], mut put: impl FnMut(usize, usize, [u64; 6])) -> bool {
    const { assert!(WORDS == 12 * D) };
    assert_eq!(bytes.len(), TOGETHER * WORDS * 8);
    let modulus = Fp::splat(&ifma::MODULUS);
    let mut canonical: __mmask8 = 0xff;
    // An extension's higher component is written first.
    let mut coordinate = |which: usize| {
        Element::<D>(std::array::from_fn(|d| {
            let value = load_big_endian(bytes, WORDS * 8, (which * D + (D - 1 - d)) * 48);
            let below = value.minus(&modulus).carried();
            canonical &= _mm512_cmplt_epi64_mask(below.0[7], _mm512_setzero_si512());
            value
        }))
    };
    let (x, y) = (coordinate(0), coordinate(1));
    if canonical != 0xff {
        return false;
    }
    let (x, y) = (x.scaled(&TO_BLST), y.scaled(&TO_BLST));
    let zero = Element::zero();
    let right = x.square_plus(&zero).times(&x).plus(&Element::bound(&B)).carried().canonical();
    let left = y.square_plus(&zero).scaled(&Y_FACTOR).canonical();
    if left.minus(&right).zero_lanes() != 0xff {
        return false;
    }
    let (x, y) = (x.canonical(), y.canonical());
    for (component, value) in x.0.iter().chain(&y.0).enumerate() {
        let rows = ifma::transpose(&ifma::limbs_to_words(value));
        for (lane, row) in rows.iter().enumerate() {
            let mut words = [0; 8];
            store(&mut words, *row);
            put(lane, component, [words[0], words[1], words[2], words[3], words[4], words[5]]);
        }
    }
    true
}

/// 48 big-endian bytes at `at` of each of eight rows of `row` bytes, as limbs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512bw")]
fn load_big_endian(bytes: &[u8], row: usize, at: usize) -> Fp {
    let reverse = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
    let rows: [__m512i; TOGETHER] = std::array::from_fn(|lane| {
        let coordinate = &bytes[lane * row + at..][..48];
        // SAFETY: the mask keeps the load inside the 48 bytes of the slice; it takes any alignment.
        unsafe { _mm512_maskz_loadu_epi64(0x3f, coordinate.as_ptr().cast()) }
    });
    let columns = ifma::transpose(&rows);
    ifma::words_to_limbs(&std::array::from_fn(|i| _mm512_shuffle_epi8(columns[5 - i], reverse)), 0)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::circuit::testing::Numbers;
    use blstrs::{G1Projective, G2Projective};
    use group::{Curve, Group};

    fn g1(numbers: &mut Numbers) -> ([G1Affine; TOGETHER], Vec<u8>) {
        let points = std::array::from_fn(|_| (G1Projective::generator() * numbers.scalar()).to_affine());
        (points, points.iter().flat_map(|p| p.to_uncompressed()).collect())
    }

    fn g2(numbers: &mut Numbers) -> ([G2Affine; TOGETHER], Vec<u8>) {
        let points = std::array::from_fn(|_| (G2Projective::generator() * numbers.scalar()).to_affine());
        (points, points.iter().flat_map(|p| p.to_uncompressed()).collect())
    }

    #[test]
    fn good_points_come_out_as_they_are() {
        let mut numbers = Numbers::new(5);
        for _ in 0..50 {
            let (points, bytes) = g1(&mut numbers);
            let mut decoded = [G1Affine::default(); TOGETHER];
            let ok = eight_g1(bytes[..].try_into().unwrap(), &mut decoded);
            assert!(!has_ifma() || (ok && decoded == points));
            let (points, bytes) = g2(&mut numbers);
            let mut decoded = [G2Affine::default(); TOGETHER];
            let ok = eight_g2(bytes[..].try_into().unwrap(), &mut decoded);
            assert!(!has_ifma() || (ok && decoded == points));
        }
    }

    /// Any changed bit leaves the curve, except a sign's worth: no bit flip turns y into −y, as p is odd and p − y differs
    /// from y in the lowest bit and more.
    #[test]
    fn every_flipped_bit_is_seen() {
        let mut numbers = Numbers::new(6);
        let (_, bytes) = g1(&mut numbers);
        let mut decoded = [G1Affine::default(); TOGETHER];
        for bit in 0..bytes.len() * 8 {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!eight_g1(wrong[..].try_into().unwrap(), &mut decoded), "bit {bit}");
        }
        let (_, bytes) = g2(&mut numbers);
        let mut decoded = [G2Affine::default(); TOGETHER];
        for bit in 0..bytes.len() * 8 {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!eight_g2(wrong[..].try_into().unwrap(), &mut decoded), "bit {bit}");
        }
    }

    #[test]
    fn second_encodings_and_infinity_are_refused() {
        let (_, bytes) = g1(&mut Numbers::new(7));
        let mut decoded = [G1Affine::default(); TOGETHER];
        let p = ifma_modulus_be();
        for lane in 0..TOGETHER {
            for at in [lane * 96, lane * 96 + 48] {
                // The value plus p is the same element.
                let mut wrong = bytes.clone();
                let mut carry = 0;
                for i in (0..48).rev() {
                    let sum = u16::from(wrong[at + i]) + u16::from(p[i]) + carry;
                    wrong[at + i] = sum as u8;
                    carry = sum >> 8;
                }
                assert_eq!(carry, 0);
                assert!(!eight_g1(wrong[..].try_into().unwrap(), &mut decoded));
            }
            let mut wrong = bytes.clone();
            wrong[lane * 96..][..96].fill(0);
            assert!(!eight_g1(wrong[..].try_into().unwrap(), &mut decoded));
            wrong[lane * 96] = 0x40;
            assert!(!eight_g1(wrong[..].try_into().unwrap(), &mut decoded));
        }
        // (0, 2) is on the curve (outside the subgroup).
        let mut edge = bytes.clone();
        edge[..96].fill(0);
        edge[95] = 2;
        assert_eq!(eight_g1(edge[..].try_into().unwrap(), &mut decoded), has_ifma());
    }

    fn ifma_modulus_be() -> [u8; 48] {
        let mut be = [0; 48];
        for (i, word) in ifma::MODULUS_WORDS.iter().rev().enumerate() {
            be[i * 8..][..8].copy_from_slice(&word.to_be_bytes());
        }
        be
    }
}
