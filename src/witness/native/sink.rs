//! Where a maker's variables go.

use blstrs::Scalar;
use ff::Field;

use crate::error::Result;
use crate::memory::Buf;

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

/// A growing row of bits.
#[derive(Debug, Default)]
struct Row {
    /// Full words.
    words: Buf<u64>,
    last: u64,
    filled: u32,
}

impl Row {
    fn with_capacity(len: usize) -> Result<Self> {
        Ok(Row { words: Buf::with_capacity("witness", len / 64 + 1)?, ..Row::default() })
    }

    /// Appends the low `count` bits of `value`, at most 64; its others are zero.
    #[inline]
    fn push(&mut self, value: u64, count: u32) -> Result<()> {
        self.last |= value << self.filled;
        let filled = self.filled + count;
        if filled >= 64 {
            self.words.push("witness", self.last)?;
            // In two steps, so that nothing is shifted by 64.
            self.last = value >> 1 >> (63 - self.filled);
        }
        self.filled = filled % 64;
        Ok(())
    }

    fn get(&self, i: usize) -> bool {
        self.words.get(i / 64).unwrap_or(&self.last) >> (i % 64) & 1 == 1
    }
}

/// A partition's values with two bits a variable, and 32 bytes more for one that is neither 0 nor 1.
#[derive(Debug, Default)]
pub struct Packed {
    /// Public inputs, the constant one first.
    pub inputs: Vec<Scalar>,
    len: usize,
    /// Which variables are 1.
    ones: Row,
    /// Which are neither.
    wides: Row,
    wide: Buf<Scalar>,
}

impl Packed {
    /// An empty one with room for `len` variables, `wide` of them neither 0 nor 1. It grows where that is not enough.
    /// `OUT_OF_MEMORY` names the witness.
    pub fn with_capacity(len: usize, wide: usize) -> Result<Self> {
        Ok(Packed {
            inputs: vec![Scalar::ONE],
            len: 0,
            ones: Row::with_capacity(len)?,
            wides: Row::with_capacity(len)?,
            wide: Buf::with_capacity("witness", wide)?,
        })
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many of the variables are neither 0 nor 1.
    pub fn wide(&self) -> usize {
        self.wide.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        8 * (self.ones.words.len() + self.wides.words.len()) + 32 * self.wide.len()
    }

    /// The values one by one.
    pub fn iter(&self) -> impl Iterator<Item = Scalar> + '_ {
        let mut wide = self.wide.iter();
        (0..self.len).map(move |i| match (self.wides.get(i), self.ones.get(i)) {
            // As many as there are bits set.
            (true, _) => wide.next().copied().unwrap_or_default(),
            (_, true) => Scalar::ONE,
            _ => Scalar::ZERO,
        })
    }
}

impl Sink for Packed {
    fn bits(&mut self, words: &[u64], count: usize) -> Result<()> {
        for &word in &words[..count / 64] {
            self.ones.push(word, 64)?;
            self.wides.push(0, 64)?;
        }
        let rest = count as u32 % 64;
        if rest > 0 {
            self.ones.push(words[count / 64] & ((1 << rest) - 1), rest)?;
            self.wides.push(0, rest)?;
        }
        self.len += count;
        Ok(())
    }

    fn scalars(&mut self, values: &[Scalar]) -> Result<()> {
        for values in values.chunks(64) {
            let (mut ones, mut wides) = (0, 0);
            for (i, value) in values.iter().enumerate() {
                if *value == Scalar::ONE {
                    ones |= 1 << i;
                } else if !value.is_zero_vartime() {
                    wides |= 1 << i;
                    self.wide.push("witness", *value)?;
                }
            }
            self.ones.push(ones, values.len() as u32)?;
            self.wides.push(wides, values.len() as u32)?;
            self.len += values.len();
        }
        Ok(())
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
        let mut packed = Packed::with_capacity(10, 1).unwrap();
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
            for sink in [&mut packed as &mut dyn Sink, &mut plain] {
                sink.bits(&words, n).unwrap();
                sink.scalars(&scalars).unwrap();
                sink.input(Scalar::from(word)).unwrap();
            }
        }
        assert_eq!(packed.inputs, plain.inputs);
        assert_eq!(packed.len(), plain.aux.len());
        assert!(packed.iter().eq(plain.aux.iter().copied()));
        let wide = plain.aux.iter().filter(|v| **v != Scalar::ZERO && **v != Scalar::ONE).count();
        assert_eq!(packed.wide(), wide);
    }
}
