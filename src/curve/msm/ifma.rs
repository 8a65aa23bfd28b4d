//! Eight independent elements of BLS12-381's base field in AVX-512 IFMA registers.
//!
//! An element is eight limbs of 52 bits in Montgomery form with R = 2^416. The modulus p has 381 bits, so a value may
//! be as large as 2^35 p before it stops fitting eight limbs, and a product of values below 2^i p and 2^j p comes out
//! below (2^(i + j - 35) + 2) p. Sums and differences therefore stay unreduced; "small" in this file means below 3 p.
//!
//! Every function needs a CPU with `avx512f` and `avx512ifma`.

use std::arch::x86_64::*;

/// One 64-bit word of each of eight lanes.
pub type Vector = __m512i;

/// Limb bits.
pub const LIMB_BITS: usize = 52;
/// Mask of one limb.
pub const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// The base field's modulus, 64-bit words, low first.
pub const MODULUS_WORDS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// The modulus p in limbs.
pub const MODULUS: [u64; 8] = split(MODULUS_WORDS);

/// -1 / p mod 2^52.
const NEGATED_INVERSE: u64 = {
    let mut x = 1u64;
    let mut i = 0;
    while i < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(MODULUS_WORDS[0].wrapping_mul(x)));
        i += 1;
    }
    x.wrapping_neg() & LIMB_MASK
};

/// N' = (k p + 1) / 2^52 with k = -1/p mod 2^52. As k p = 2^52 N' - 1, adding m k p to a value whose low limb is m
/// clears that limb and adds m N' one limb higher: a reduction step without a multiplication for its factor.
const STEP: [u64; 8] = {
    let k = NEGATED_INVERSE as u128;
    let mut out = [0u64; 8];
    let mut carry: u128 = k * MODULUS[0] as u128 + 1;
    let mut i = 0;
    while i < 7 {
        carry = (carry >> LIMB_BITS) + k * MODULUS[i + 1] as u128;
        out[i] = carry as u64 & LIMB_MASK;
        i += 1;
    }
    out[7] = (carry >> LIMB_BITS) as u64;
    out
};

/// R mod p, Montgomery's one.
pub const ONE: [u64; 8] = power_of_two(416);

/// Splits a 384-bit value into limbs.
pub const fn split(w: [u64; 6]) -> [u64; 8] {
    let mut out = [0u64; 8];
    let mut i = 0;
    while i < 8 {
        let bit = i * LIMB_BITS;
        let (word, offset) = (bit / 64, bit % 64);
        let mut limb = w[word] >> offset;
        if offset > 64 - LIMB_BITS && word < 5 {
            limb |= w[word + 1] << (64 - offset);
        }
        out[i] = limb & LIMB_MASK;
        i += 1;
    }
    out
}

/// Joins limbs of a value below 2^384 into words.
pub const fn join(l: [u64; 8]) -> [u64; 6] {
    let mut out = [0u64; 6];
    let mut i = 0;
    while i < 8 {
        let bit = i * LIMB_BITS;
        let (word, offset) = (bit / 64, bit % 64);
        out[word] |= l[i] << offset;
        if offset > 64 - LIMB_BITS && word < 5 {
            out[word + 1] |= l[i] >> (64 - offset);
        }
        i += 1;
    }
    out
}

/// 2^exponent mod p in limbs.
pub const fn power_of_two(exponent: usize) -> [u64; 8] {
    let mut value = [1u64, 0, 0, 0, 0, 0, 0, 0];
    let mut step = 0;
    while step < exponent {
        let mut i = 7;
        while i > 0 {
            value[i] = ((value[i] << 1) | (value[i - 1] >> (LIMB_BITS - 1))) & LIMB_MASK;
            i -= 1;
        }
        value[0] = (value[0] << 1) & LIMB_MASK;
        value = subtract_modulus_once(value);
        step += 1;
    }
    value
}

/// value - p if that is not negative, else value.
const fn subtract_modulus_once(value: [u64; 8]) -> [u64; 8] {
    let mut out = [0u64; 8];
    let mut borrow = 0i64;
    let mut i = 0;
    while i < 8 {
        let d = value[i] as i64 - MODULUS[i] as i64 + borrow;
        borrow = d >> LIMB_BITS;
        out[i] = d as u64 & LIMB_MASK;
        i += 1;
    }
    if borrow < 0 {
        value
    } else {
        out
    }
}

/// factor * p in limbs; factor at most 2^34.
pub const fn multiple_of_modulus(factor: u64) -> [u64; 8] {
    let mut out = [0u64; 8];
    let mut carry = 0u128;
    let mut i = 0;
    while i < 8 {
        carry += factor as u128 * MODULUS[i] as u128;
        out[i] = carry as u64 & LIMB_MASK;
        carry >>= LIMB_BITS;
        i += 1;
    }
    out
}

/// [expression of i for i in 0..8]. A loop, as a closure would leave the functions that may use vector instructions.
macro_rules! eight {
    ($i:ident => $value:expr) => {{
        let mut out = [_mm512_setzero_si512(); 8];
        for $i in 0..8 {
            out[$i] = $value;
        }
        out
    }};
}
pub(super) use eight;

/// Eight elements: limb i of lane l is lane l of vector i.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Fp(pub [Vector; 8]);

impl Fp {
    /// The same limbs in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn splat(limbs: &[u64; 8]) -> Fp {
        Fp(eight!(i => _mm512_set1_epi64(limbs[i] as i64)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn zero() -> Fp {
        Fp([_mm512_setzero_si512(); 8])
    }

    /// Limb-wise sum, no carry: the result is for `carried` or for the addend of a product.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn plus(&self, b: &Fp) -> Fp {
        Fp(eight!(i => _mm512_add_epi64(self.0[i], b.0[i])))
    }

    /// Limb-wise difference, no carry.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn minus(&self, b: &Fp) -> Fp {
        Fp(eight!(i => _mm512_sub_epi64(self.0[i], b.0[i])))
    }

    /// Limb-wise negation in the lanes of `lanes`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn negated_in(&self, lanes: __mmask8) -> Fp {
        let zero = _mm512_setzero_si512();
        Fp(eight!(i => {
            _mm512_mask_sub_epi64(self.0[i], lanes, zero, self.0[i])
        }))
    }

    /// `b` in the lanes of `lanes`, `self` elsewhere.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn select(&self, lanes: __mmask8, b: &Fp) -> Fp {
        Fp(eight!(i => {
            _mm512_mask_blend_epi64(lanes, self.0[i], b.0[i])
        }))
    }

    /// Carries signed limbs into limbs of 52 bits; the value must be in 0..2^416.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn carried(mut self) -> Fp {
        let mask = _mm512_set1_epi64(LIMB_MASK as i64);
        for i in 0..7 {
            self.0[i + 1] = _mm512_add_epi64(self.0[i + 1], _mm512_srai_epi64::<52>(self.0[i]));
            self.0[i] = _mm512_and_si512(self.0[i], mask);
        }
        self
    }

    /// Lanes whose limbs are all zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn zero_lanes(&self) -> __mmask8 {
        let mut any = self.0[0];
        for i in 1..8 {
            any = _mm512_or_si512(any, self.0[i]);
        }
        _mm512_cmpeq_epi64_mask(any, _mm512_setzero_si512())
    }

    /// The value below p of a value below 4 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub fn canonical(&self) -> Fp {
        let p = Fp::splat(&MODULUS);
        let mut value = *self;
        for _ in 0..3 {
            let mut d = value.minus(&p);
            let mask = _mm512_set1_epi64(LIMB_MASK as i64);
            for i in 0..7 {
                d.0[i + 1] = _mm512_add_epi64(d.0[i + 1], _mm512_srai_epi64::<52>(d.0[i]));
                d.0[i] = _mm512_and_si512(d.0[i], mask);
            }
            let negative = _mm512_cmplt_epi64_mask(d.0[7], _mm512_setzero_si512());
            value = d.select(negative, &value);
        }
        value
    }
}

/// Calls `$step` with 0 to 7 as literals: the compiler keeps all columns in registers only in straight-line code.
macro_rules! eight_times {
    ($step:ident) => {
        $step!(0);
        $step!(1);
        $step!(2);
        $step!(3);
        $step!(4);
        $step!(5);
        $step!(6);
        $step!(7);
    };
}

/// (sum of a b over `pairs`) / R + addend mod p; the addend's limbs may be signed and uncarried.
///
/// Columns hold at most 2 * 16 products of 52 bits and the carries, so they never leave 64 bits. Column i is complete
/// after row i of every pair and is reduced at once.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn sum_of_products<const PAIRS: usize>(pairs: [(&Fp, &Fp); PAIRS], addend: &Fp) -> Fp {
    let mut columns = [_mm512_setzero_si512(); 17];
    macro_rules! row {
        ($i:literal) => {
            for (a, b) in pairs {
                for j in 0..8 {
                    columns[$i + j] = _mm512_madd52lo_epu64(columns[$i + j], a.0[$i], b.0[j]);
                }
                for j in 0..8 {
                    let column = &mut columns[$i + j + 1];
                    *column = _mm512_madd52hi_epu64(*column, a.0[$i], b.0[j]);
                }
            }
            reduce_column::<$i>(&mut columns);
        };
    }
    eight_times!(row);
    finish(&columns, addend)
}

/// a^2 / R + addend mod p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn square_plus(a: &Fp, addend: &Fp) -> Fp {
    let mut columns = [_mm512_setzero_si512(); 17];
    for i in 0..8 {
        for j in i + 1..8 {
            columns[i + j] = _mm512_madd52lo_epu64(columns[i + j], a.0[i], a.0[j]);
            columns[i + j + 1] = _mm512_madd52hi_epu64(columns[i + j + 1], a.0[i], a.0[j]);
        }
    }
    for column in &mut columns[1..16] {
        *column = _mm512_add_epi64(*column, *column);
    }
    for i in 0..8 {
        columns[2 * i] = _mm512_madd52lo_epu64(columns[2 * i], a.0[i], a.0[i]);
        columns[2 * i + 1] = _mm512_madd52hi_epu64(columns[2 * i + 1], a.0[i], a.0[i]);
    }
    macro_rules! row {
        ($i:literal) => {
            reduce_column::<$i>(&mut columns);
        };
    }
    eight_times!(row);
    finish(&columns, addend)
}

/// Clears column I by adding a multiple of p, and carries what lies above it.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce_column<const I: usize>(columns: &mut [Vector; 17]) {
    let low = columns[I];
    if I < 7 {
        for j in 0..8 {
            let n = _mm512_set1_epi64(STEP[j] as i64);
            columns[I + 1 + j] = _mm512_madd52lo_epu64(columns[I + 1 + j], low, n);
        }
        columns[I + 1] = _mm512_add_epi64(columns[I + 1], _mm512_srli_epi64::<52>(low));
        for j in 0..8 {
            let n = _mm512_set1_epi64(STEP[j] as i64);
            columns[I + 2 + j] = _mm512_madd52hi_epu64(columns[I + 2 + j], low, n);
        }
    } else {
        // k p is 52 bits longer than p, so the last step takes p itself to leave a value below 3 p.
        let inverse = _mm512_set1_epi64(NEGATED_INVERSE as i64);
        let factor = _mm512_madd52lo_epu64(_mm512_setzero_si512(), low, inverse);
        for j in 0..8 {
            let n = _mm512_set1_epi64(MODULUS[j] as i64);
            columns[I + j] = _mm512_madd52lo_epu64(columns[I + j], factor, n);
        }
        for j in 0..8 {
            let n = _mm512_set1_epi64(MODULUS[j] as i64);
            columns[I + j + 1] = _mm512_madd52hi_epu64(columns[I + j + 1], factor, n);
        }
        columns[I + 1] = _mm512_add_epi64(columns[I + 1], _mm512_srli_epi64::<52>(columns[I]));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn finish(columns: &[Vector; 17], addend: &Fp) -> Fp {
    Fp(eight!(i => columns[8 + i])).plus(addend).carried()
}

/// The transpose of an 8 x 8 matrix of words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn transpose(rows: &[Vector; 8]) -> [Vector; 8] {
    let mut even = [_mm512_setzero_si512(); 4];
    let mut odd = even;
    for i in 0..4 {
        even[i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        odd[i] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let mut out = [_mm512_setzero_si512(); 8];
    for parity in 0..2 {
        let half = if parity == 0 { &even } else { &odd };
        let u02 = _mm512_shuffle_i64x2::<0x88>(half[0], half[1]);
        let v02 = _mm512_shuffle_i64x2::<0x88>(half[2], half[3]);
        let u13 = _mm512_shuffle_i64x2::<0xdd>(half[0], half[1]);
        let v13 = _mm512_shuffle_i64x2::<0xdd>(half[2], half[3]);
        out[parity] = _mm512_shuffle_i64x2::<0x88>(u02, v02);
        out[2 + parity] = _mm512_shuffle_i64x2::<0x88>(u13, v13);
        out[4 + parity] = _mm512_shuffle_i64x2::<0xdd>(u02, v02);
        out[6 + parity] = _mm512_shuffle_i64x2::<0xdd>(u13, v13);
    }
    out
}

/// A 384-bit value per lane as words, shifted left by `shift` bits into limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn words_to_limbs(words: &[Vector; 6], shift: usize) -> Fp {
    let mask = _mm512_set1_epi64(LIMB_MASK as i64);
    Fp(eight!(i => {
        let limb = if i * LIMB_BITS < shift {
            _mm512_sllv_epi64(words[0], _mm512_set1_epi64((shift - i * LIMB_BITS) as i64))
        } else {
            let bit = i * LIMB_BITS - shift;
            let (word, offset) = (bit / 64, bit % 64);
            let low = _mm512_srlv_epi64(words[word], _mm512_set1_epi64(offset as i64));
            if offset > 64 - LIMB_BITS && word < 5 {
                let high =
                    _mm512_sllv_epi64(words[word + 1], _mm512_set1_epi64(64 - offset as i64));
                _mm512_or_si512(low, high)
            } else {
                low
            }
        };
        _mm512_and_si512(limb, mask)
    }))
}

/// Limbs of values below 2^384 as words; the last two vectors are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub fn limbs_to_words(value: &Fp) -> [Vector; 8] {
    let mut out = [_mm512_setzero_si512(); 8];
    for i in 0..8 {
        let bit = i * LIMB_BITS;
        let (word, offset) = (bit / 64, bit % 64);
        let low = _mm512_sllv_epi64(value.0[i], _mm512_set1_epi64(offset as i64));
        out[word] = _mm512_or_si512(out[word], low);
        if offset > 64 - LIMB_BITS && word < 5 {
            let high = _mm512_srlv_epi64(value.0[i], _mm512_set1_epi64(64 - offset as i64));
            out[word + 1] = _mm512_or_si512(out[word + 1], high);
        }
    }
    out
}
