//! The table of a circuit's distinct coefficients.

use std::collections::HashMap;

use blst::blst_fr;
use blstrs::Scalar;
use ff::Field;

use super::too_large;
use crate::error::Result;

/// Coefficients and their numbers.
pub(super) struct Table {
    coefficients: Vec<Scalar>,
    numbers: HashMap<[u64; 4], u16>,
    /// The coefficient last seen with each value of a short hash. Hits nearly always, at a tenth of the map's time.
    recent: Vec<([u64; 4], u16)>,
}

impl Table {
    const RECENT_BITS: u32 = 12;

    /// A table of 1 and -1.
    pub(super) fn new() -> Self {
        // No field element has these limbs.
        let none = ([u64::MAX; 4], 0);
        let mut table =
            Table { coefficients: Vec::new(), numbers: HashMap::new(), recent: vec![none; 1 << Self::RECENT_BITS] };
        for (number, coefficient) in [Scalar::ONE, -Scalar::ONE].into_iter().enumerate() {
            table.coefficients.push(coefficient);
            table.numbers.insert(limbs(&coefficient), number as u16);
        }
        table
    }

    /// The coefficient's number, a new one if need be.
    #[inline]
    pub(super) fn number(&mut self, coefficient: &Scalar) -> Result<u16> {
        let key = limbs(coefficient);
        // Montgomery form spreads even small values over all limbs.
        let hash = (key[0] ^ key[3]).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - Self::RECENT_BITS);
        let recent = self.recent[hash as usize];
        if recent.0 == key {
            return Ok(recent.1);
        }
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(self.coefficients.len())
                    .map_err(|_| too_large("more than 65,536 distinct coefficients"))?;
                self.coefficients.push(*coefficient);
                self.numbers.insert(key, number);
                number
            }
        };
        self.recent[hash as usize] = (key, number);
        Ok(number)
    }

    /// The coefficients so far, by number.
    pub(super) fn coefficients(&self) -> &[Scalar] {
        &self.coefficients
    }

    /// The coefficients, by number.
    pub(super) fn into_coefficients(self) -> Vec<Scalar> {
        self.coefficients
    }
}

/// The limbs of a scalar's Montgomery form.
fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst_fr::from(*scalar).l
}
