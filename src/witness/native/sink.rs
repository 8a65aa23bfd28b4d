//! Where a maker's variables go.

use blstrs::Scalar;
use ff::Field;

use crate::circuit::Packer;
use crate::error::Result;

/// Takes a partition's variables in the order in which its circuit allocates them.
pub trait Sink {
    /// Appends `count` values that are 0 or 1: the bits of `words`, the lowest of the first word first. Whatever the words
    /// have beyond does not count.
    fn bits(&mut self, words: &[u64], count: usize) -> Result<()>;

    /// Appends values of any size.
    fn scalars(&mut self, values: &[Scalar]) -> Result<()>;

    /// Appends a public input. (The constant one is not handed over.)
    fn input(&mut self, value: Scalar) -> Result<()>;
}

/// Packs a partition's values as they come.
#[derive(Debug)]
pub struct Packing {
    /// Public inputs, the constant one first.
    pub inputs: Vec<Scalar>,
    /// Aux values.
    pub packer: Packer,
}

impl Packing {
    /// With the constant one, into `packer`.
    pub fn into_packer(packer: Packer) -> Self {
        Packing { inputs: vec![Scalar::ONE], packer }
    }
}

impl Sink for Packing {
    fn bits(&mut self, words: &[u64], count: usize) -> Result<()> {
        let (whole, rest) = (count / 64, count % 64);
        words[..whole].iter().try_for_each(|word| self.packer.push_bits(*word, 64))?;
        if rest > 0 {
            self.packer.push_bits(words[whole], rest as u32)?;
        }
        Ok(())
    }

    fn scalars(&mut self, values: &[Scalar]) -> Result<()> {
        values.iter().try_for_each(|value| self.packer.push(value))
    }

    fn input(&mut self, value: Scalar) -> Result<()> {
        self.inputs.push(value);
        Ok(())
    }
}

/// Plain values, for comparisons: the aux values, and the inputs with the constant one first.
impl Sink for crate::circuit::Witness {
    fn bits(&mut self, words: &[u64], count: usize) -> Result<()> {
        for i in 0..count {
            self.aux.push("witness", Scalar::from(words[i / 64] >> (i % 64) & 1))?;
        }
        Ok(())
    }

    fn scalars(&mut self, values: &[Scalar]) -> Result<()> {
        values.iter().try_for_each(|value| self.aux.push("witness", *value))
    }

    fn input(&mut self, value: Scalar) -> Result<()> {
        self.inputs.push(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Witness;

    #[test]
    fn packed_values_are_the_values() {
        let mut packing = Packing::into_packer(Packer::new());
        let mut plain = Witness::default();
        plain.inputs.push(Scalar::ONE);
        let mut word = 1u64;
        for n in 0..300usize {
            let words: Vec<u64> = (0..n / 64 + 1)
                .map(|_| {
                    word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    word ^ word >> 29
                })
                .collect();
            let scalars: Vec<Scalar> =
                (0..n % 70).map(|i| Scalar::from([0, 1, 2, word][(word >> (i % 50)) as usize & 3])).collect();
            for sink in [&mut packing as &mut dyn Sink, &mut plain] {
                sink.bits(&words, n).unwrap();
                sink.scalars(&scalars).unwrap();
                sink.input(Scalar::from(word)).unwrap();
            }
        }
        assert_eq!(packing.inputs, plain.inputs);
        let packed = packing.packer.finish().unwrap();
        assert_eq!(packed.len(), plain.aux.len());
        assert!(packed.iter().eq(plain.aux.iter().copied()));
        let wide = plain.aux.iter().filter(|v| **v != Scalar::ZERO && **v != Scalar::ONE).count();
        assert_eq!(packed.wide().len(), wide);
    }
}
