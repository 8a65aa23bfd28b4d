//! Which points of a query meet which scalars.
//!
//! Almost half of a PoRep witness is 1 and half is 0: a 1 costs one addition, a 0 nothing, so both are kept from the
//! multi-scalar multiplication proper.

use blstrs::Scalar;
use ff::Field;

use crate::circuit::Bits;
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
    /// Bytes that `count` terms take at most.
    pub fn bytes(count: usize) -> u64 {
        (count * (size_of::<u32>() + size_of::<Scalar>())) as u64
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
