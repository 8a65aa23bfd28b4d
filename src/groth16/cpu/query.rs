//! Which points of a query meet which scalars.
//!
//! Almost half of a PoRep witness is 1 and half is 0: a 1 costs one addition, a 0 nothing, so both are kept from the
//! multi-scalar multiplication proper.

use blstrs::Scalar;
use ff::Field;

use crate::circuit::{Aux, Bits};
use crate::error::Result;
use crate::memory::Buf;

/// What an error calls the terms.
const WHAT: &str = "terms of a query";

/// A query's points that take part in a sum, by index.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// Points whose scalar is one.
    pub ones: Buf<u32>,
    /// Points whose scalar is neither zero nor one.
    pub wide: Buf<u32>,
    /// The scalars of `wide`.
    pub scalars: Buf<Scalar>,
}

impl Terms {
    /// Bytes that `count` terms take at most, `wide` of them neither zero nor one.
    pub fn bytes(count: usize, wide: usize) -> u64 {
        (count * size_of::<u32>() + wide * size_of::<Scalar>()) as u64
    }

    fn add(&mut self, point: u32, value: &Scalar) -> Result<()> {
        if bool::from(value.is_zero()) {
            return Ok(());
        }
        if *value == Scalar::ONE {
            return self.ones.push(WHAT, point);
        }
        self.wide.push(WHAT, point)?;
        self.scalars.push(WHAT, *value)
    }

    /// Adds `values`, of which those in `dense` (`None`: all) have a point, from point `first` on.
    /// Returns the number of the point after the last. `OUT_OF_MEMORY` when there is no room for them.
    pub fn add_values(&mut self, values: &[Scalar], dense: Option<&Bits>, first: u32) -> Result<u32> {
        let mut point = first;
        for (i, value) in values.iter().enumerate() {
            if dense.is_none_or(|d| d.get(i)) {
                self.add(point, value)?;
                point += 1;
            }
        }
        Ok(point)
    }

    /// As [`add_values`](Self::add_values), of aux values. Packed ones are sorted already.
    pub fn add_aux(&mut self, aux: &Aux, dense: Option<&Bits>, first: u32) -> Result<u32> {
        let packed = match aux {
            Aux::Plain(values) => return self.add_values(values, dense, first),
            Aux::Packed(packed) => packed,
        };
        let mut wide_values = packed.wide().iter();
        let mut point = first;
        for (i, (ones, wides)) in packed.words().enumerate() {
            let dense = match dense {
                Some(dense) => dense.words()[i],
                None if packed.len() - 64 * i < 64 => (1 << (packed.len() - 64 * i)) - 1,
                None => u64::MAX,
            };
            // Points before the one of bit k.
            let before = |k: u32| point + (dense & ((1 << k) - 1)).count_ones();
            for k in set_bits(ones & dense) {
                self.ones.push(WHAT, before(k))?;
            }
            for k in set_bits(wides) {
                let Some(value) = wide_values.next() else { break };
                if dense >> k & 1 == 1 {
                    self.wide.push(WHAT, before(k))?;
                    self.scalars.push(WHAT, *value)?;
                }
            }
            point += dense.count_ones();
        }
        Ok(point)
    }
}

/// The numbers of the bits that are set, from the lowest on.
fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let k = word.trailing_zeros();
            word &= word - 1;
            k
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::Numbers;
    use crate::circuit::Packer;

    #[test]
    fn points_are_numbered_by_density() {
        let s = |n: u64| Scalar::from(n);
        let mut dense = Bits::default();
        for bit in [true, false, true, true, true] {
            dense.push_zero();
            if bit {
                dense.set(dense.len() - 1);
            }
        }
        let mut terms = Terms::default();
        let next = terms.add_values(&[s(1), s(5)], None, 0).unwrap();
        assert_eq!(next, 2);
        let next = terms.add_values(&[s(7), s(1), s(0), s(1), s(9)], Some(&dense), next).unwrap();
        assert_eq!(next, 6);
        assert_eq!((&terms.ones[..], &terms.wide[..]), (&[0, 4][..], &[1, 2, 5][..]));
        assert_eq!(terms.scalars[..], [s(5), s(7), s(9)]);
    }

    #[test]
    fn packed_values_give_the_same_terms() {
        let mut numbers = Numbers::new(6);
        for len in [0, 1, 63, 64, 65, 700] {
            let values: Vec<Scalar> = (0..len)
                .map(|_| if numbers.below(5) == 0 { numbers.scalar() } else { Scalar::from(numbers.below(2) as u64) })
                .collect();
            let (mut packer, mut dense) = (Packer::new(), Bits::default());
            for value in &values {
                packer.push(value).unwrap();
                dense.push_zero();
                if numbers.below(3) > 0 {
                    dense.set(dense.len() - 1);
                }
            }
            let packed = Aux::Packed(packer.finish().unwrap());
            for dense in [None, Some(&dense)] {
                let (mut expected, mut terms) = (Terms::default(), Terms::default());
                let next = expected.add_values(&values, dense, 7).unwrap();
                assert_eq!(terms.add_aux(&packed, dense, 7).unwrap(), next);
                assert_eq!(terms.ones[..], expected.ones[..]);
                assert_eq!(terms.wide[..], expected.wide[..]);
                assert_eq!(terms.scalars[..], expected.scalars[..]);
            }
        }
    }
}
