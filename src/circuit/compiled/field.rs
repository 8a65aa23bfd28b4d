//! Arithmetic on the scalar field's limbs, for sums that blst would reduce term by term.

// Loops over limbs index several arrays at once.
#![allow(clippy::needless_range_loop)]

use blst::blst_fr;
use blstrs::Scalar;

/// r.
const R: [u64; 4] = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// -1/r modulo 2^64.
const INVERSE: u64 = 0xffff_fffe_ffff_ffff;

/// The limbs of the Montgomery form.
#[inline(always)]
fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst_fr::from(*scalar).l
}

/// The scalar with this Montgomery form, which must be below 2r.
#[inline(always)]
fn reduced(l: [u64; 4]) -> Scalar {
    let (less, borrow) = minus(l, R);
    Scalar::from(blst_fr { l: if borrow { l } else { less } })
}

#[inline(always)]
fn minus(a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut out = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (x, first) = a[i].overflowing_sub(b[i]);
        let (x, second) = x.overflowing_sub(borrow.into());
        (out[i], borrow) = (x, first | second);
    }
    (out, borrow)
}

/// A coefficient prepared for products with 64-bit numbers: multiplied by 2^64, so that one step of Montgomery's
/// reduction gives the product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared([u64; 4]);

impl Prepared {
    pub fn new(coefficient: &Scalar) -> Self {
        Prepared(limbs(&(*coefficient * (Scalar::from(1 << 32) * Scalar::from(1 << 32)))))
    }

    /// coefficient · factor.
    #[inline(always)]
    pub fn times(&self, factor: u64) -> Scalar {
        let mut product = [0u64; 5];
        let mut carry = 0u128;
        for i in 0..4 {
            carry += u128::from(self.0[i]) * u128::from(factor);
            product[i] = carry as u64;
            carry >>= 64;
        }
        product[4] = carry as u64;
        let m = product[0].wrapping_mul(INVERSE);
        let mut carry = (u128::from(product[0]) + u128::from(m) * u128::from(R[0])) >> 64;
        for i in 1..4 {
            carry += u128::from(product[i]) + u128::from(m) * u128::from(R[i]);
            product[i - 1] = carry as u64;
            carry >>= 64;
        }
        // (r·2^64 + 2^64·r) / 2^64 = 2r at most, which fits into four limbs.
        carry += u128::from(product[4]);
        reduced([product[0], product[1], product[2], carry as u64])
    }
}

/// A sum of products, reduced once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Products {
    sum: [u64; 9],
    count: u32,
}

/// Products before the sum is reduced. More would outgrow the estimate in `value`.
const MOST: u32 = 32;

impl Products {
    /// Adds x·y.
    #[inline(always)]
    pub fn add(&mut self, x: &Scalar, y: &Scalar) {
        if self.count == MOST {
            self.fold();
        }
        self.count += 1;
        let (x, y) = (limbs(x), limbs(y));
        // The product first and the sum then: two chains of carries that stay in registers.
        let mut product = [0u64; 8];
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                let t = u128::from(x[j]) * u128::from(y[i]) + u128::from(product[i + j]) + u128::from(carry);
                product[i + j] = t as u64;
                carry = (t >> 64) as u64;
            }
            product[i + 4] = carry;
        }
        let mut carry = false;
        for (sum, limb) in self.sum.iter_mut().zip(product) {
            let (t, first) = sum.overflowing_add(limb);
            let (t, second) = t.overflowing_add(carry.into());
            (*sum, carry) = (t, first | second);
        }
        self.sum[8] += u64::from(carry);
    }

    /// Reduces what is there. It stands for as much as three products then.
    #[cold]
    fn fold(&mut self) {
        let value = limbs(&self.value());
        // value·2^256 reduces to value again.
        self.sum = [0, 0, 0, 0, value[0], value[1], value[2], value[3], 0];
        self.count = 3;
    }

    /// The sum. (Montgomery's reduction, four steps; then the multiple of r that is left goes.)
    #[inline(always)]
    pub fn value(&self) -> Scalar {
        let mut t = self.sum;
        let mut above = 0;
        for i in 0..4 {
            let m = t[i].wrapping_mul(INVERSE);
            let mut carry = 0;
            for j in 0..4 {
                let sum = u128::from(m) * u128::from(R[j]) + u128::from(t[i + j]) + u128::from(carry);
                t[i + j] = sum as u64;
                carry = (sum >> 64) as u64;
            }
            let sum = u128::from(t[i + 4]) + u128::from(carry) + u128::from(above);
            t[i + 4] = sum as u64;
            above = (sum >> 64) as u64;
        }
        t[8] += above;
        // Below (32·r²)/2^256 + r < 16r. r's top byte is 0x73, so dividing by 0x74 gives the quotient or one less.
        let top = t[8] << 8 | t[7] >> 56;
        let quotient = top / 0x74;
        let mut left = [0u64; 4];
        let (mut carry, mut borrow) = (0u128, false);
        for i in 0..4 {
            carry += u128::from(quotient) * u128::from(R[i]);
            let (x, first) = t[i + 4].overflowing_sub(carry as u64);
            let (x, second) = x.overflowing_sub(borrow.into());
            (left[i], borrow) = (x, first | second);
            carry >>= 64;
        }
        reduced(left)
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;
    use crate::circuit::testing::Numbers;

    fn edges(numbers: &mut Numbers) -> Vec<Scalar> {
        let mut values = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2), Scalar::from(u64::MAX)];
        // The largest and smallest Montgomery forms.
        values.push(Scalar::from(blst_fr { l: [R[0] - 1, R[1], R[2], R[3]] }));
        values.push(Scalar::from(blst_fr { l: [1, 0, 0, 0] }));
        values.extend((0..40).map(|_| numbers.scalar()));
        values
    }

    #[test]
    fn the_modulus_is_the_fields() {
        let minus_one = Scalar::from(blst_fr { l: [R[0] - 1, R[1], R[2], R[3]] });
        let one = Scalar::from(blst_fr { l: [1, 0, 0, 0] });
        assert_eq!(minus_one + one, Scalar::ZERO);
        assert_eq!(R[0].wrapping_mul(INVERSE), u64::MAX);
    }

    #[test]
    fn products_with_numbers() {
        let mut numbers = Numbers::new(1);
        for coefficient in edges(&mut numbers) {
            let prepared = Prepared::new(&coefficient);
            for factor in [0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, numbers.next_u64(), numbers.next_u64()] {
                assert_eq!(prepared.times(factor), coefficient * Scalar::from(factor), "{coefficient} {factor}");
            }
        }
    }

    #[test]
    fn sums_of_products() {
        let mut numbers = Numbers::new(2);
        let values = edges(&mut numbers);
        for count in [0usize, 1, 2, 3, 7, 31, 32, 33, 64, 65, 200, 1000] {
            // All the largest, then mixtures.
            for seed in 0..20 {
                let (mut sum, mut expected) = (Products::default(), Scalar::ZERO);
                for _ in 0..count {
                    let mut pick = || if seed == 0 { values[5] } else { values[numbers.below(values.len())] };
                    let (x, y) = (pick(), pick());
                    sum.add(&x, &y);
                    expected += x * y;
                }
                assert_eq!(sum.value(), expected, "{count} {seed}");
            }
        }
    }
}
