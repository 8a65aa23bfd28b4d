//! Values of auxiliary variables in two bits each, and 32 bytes where a value is neither 0 nor 1.
//!
//! Of a PoRep's or SnapDeals' values 98.4 % are 0 or 1. Two bit planes, interleaved by 64-bit word, say which values are one
//! and which are wide; the wide ones stand in a list of their own, and a rank a word says where in it. A 2 KiB PoRep's
//! 85.9 MB become 2.2.

use blst::blst_fr;
use blstrs::Scalar;
use ff::Field;

use crate::error::{Code, Error, Result};
use crate::memory::{mapped_bytes, Buf, Room};
use crate::telemetry::{Class, Stage};

/// What errors call it.
const WHAT: &str = "witness";

/// Packed values. Made by a [`Packer`].
#[derive(Debug, Default)]
pub struct Packed {
    /// Two words for every 64 values: which are one, which are wide. Two more words of zeros at the end.
    planes: Buf<u64>,
    /// How many wide values come before each 64.
    ranks: Buf<u32>,
    wide: Buf<Scalar>,
    len: usize,
}

impl Packed {
    /// Bytes that `len` values take of which `wide` are neither 0 nor 1.
    pub fn bytes_for(len: usize, wide: usize) -> u64 {
        let words = words_for(len);
        mapped_bytes::<u64>(2 * words) + mapped_bytes::<u32>(words) + mapped_bytes::<Scalar>(wide)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values that are neither 0 nor 1, in order.
    pub fn wide(&self) -> &[Scalar] {
        &self.wide
    }

    /// Two words for every 64 values: which are one, which are wide.
    pub fn planes(&self) -> &[u64] {
        &self.planes[..2 * self.len.div_ceil(64)]
    }

    /// For every 64 values: how many wide ones come before them.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks[..self.len.div_ceil(64)]
    }

    /// For every 64 values in order: which are one, which are wide.
    pub fn words(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.planes.chunks_exact(2).map(|pair| (pair[0], pair[1])).take(self.len.div_ceil(64))
    }

    /// The 64 values from `first` on, which must be below the length: which are one, which are wide. Past the end they
    /// are 0.
    #[inline(always)]
    pub fn window(&self, first: usize) -> (u64, u64) {
        let (word, bit) = (first / 64, first % 64);
        let p = &self.planes[2 * word..2 * word + 4];
        (p[0] >> bit | (p[2] << 1) << (63 - bit), p[1] >> bit | (p[3] << 1) << (63 - bit))
    }

    /// Whether value `i` is one, whether it is wide. `i` must be below the length.
    #[inline(always)]
    pub fn bits(&self, i: usize) -> (u64, u64) {
        let p = &self.planes[2 * (i / 64)..2 * (i / 64) + 2];
        (p[0] >> (i % 64) & 1, p[1] >> (i % 64) & 1)
    }

    /// Value `i`, which must be wide.
    #[inline]
    pub fn wide_at(&self, i: usize) -> &Scalar {
        let before = self.planes[2 * (i / 64) + 1] & ((1 << (i % 64)) - 1);
        &self.wide[self.ranks[i / 64] as usize + before.count_ones() as usize]
    }

    /// Value `i`, which must be below the length.
    pub fn get(&self, i: usize) -> Scalar {
        match self.bits(i) {
            (0, 0) => Scalar::ZERO,
            (1, 0) => Scalar::ONE,
            _ => *self.wide_at(i),
        }
    }

    /// Every value in order.
    pub fn iter(&self) -> impl Iterator<Item = Scalar> + '_ {
        (0..self.len).map(|i| self.get(i))
    }

    /// All its memory is in another stage from here on.
    pub fn enter(&mut self, stage: Stage) {
        self.planes.enter(stage);
        self.ranks.enter(stage);
        self.wide.enter(stage);
    }
}

/// Words of a plane for `len` values, the one of zeros at the end included.
fn words_for(len: usize) -> usize {
    len.div_ceil(64) + 1
}

/// Packs values one after the other.
#[derive(Debug, Default)]
pub struct Packer {
    packed: Packed,
    /// The word being filled.
    ones: u64,
    wides: u64,
    /// Wide values in whole words.
    rank: usize,
    /// Wide values that there may be.
    most: Option<usize>,
}

impl Packer {
    /// A packer whose buffers grow.
    pub fn new() -> Self {
        Self::default()
    }

    /// A packer for `len` values in buffers of `room`, at most `wide` of them neither 0 nor 1: one more is `UNSATISFIED`.
    pub fn in_room(len: usize, wide: usize, room: &mut Room) -> Result<Self> {
        let words = words_for(len);
        let packed = Packed {
            planes: room.buf(WHAT, Class::Witness, 2 * words)?,
            ranks: room.buf(WHAT, Class::Witness, words)?,
            wide: room.buf(WHAT, Class::Witness, wide)?,
            len: 0,
        };
        Ok(Packer { packed, most: Some(wide), ..Self::default() })
    }

    /// Number of values so far.
    pub fn len(&self) -> usize {
        self.packed.len
    }

    /// Whether there is no value yet.
    pub fn is_empty(&self) -> bool {
        self.packed.len == 0
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: &Scalar) -> Result<()> {
        let bit = self.packed.len % 64;
        let limbs = blst_fr::from(*value).l;
        if limbs[0] | limbs[1] | limbs[2] | limbs[3] != 0 {
            if *value == Scalar::ONE {
                self.ones |= 1 << bit;
            } else {
                self.push_wide(value)?;
                self.wides |= 1 << bit;
            }
        }
        self.packed.len += 1;
        if bit == 63 {
            self.flush()?;
        }
        Ok(())
    }

    fn push_wide(&mut self, value: &Scalar) -> Result<()> {
        if self.most.is_some_and(|most| self.packed.wide.len() >= most) {
            return Err(Error::new(Code::Unsatisfied, "vanilla", "a value that must be 0 or 1 is neither"));
        }
        self.packed.wide.push(WHAT, *value)
    }

    /// Appends the lowest `count` (at most 64) bits of `bits` as zeros and ones, the lowest first.
    #[inline]
    pub fn push_bits(&mut self, bits: u64, count: u32) -> Result<()> {
        self.push_word(bits, 0, count)
    }

    /// Appends all values of `other`.
    pub fn append(&mut self, other: &Packed) -> Result<()> {
        for value in &other.wide[..] {
            self.push_wide(value)?;
        }
        let mut left = other.len;
        for (ones, wides) in other.words() {
            self.push_word(ones, wides, left.min(64) as u32)?;
            left -= left.min(64);
        }
        Ok(())
    }

    /// `count` bits of both planes; the wide values stand in their list already.
    fn push_word(&mut self, ones: u64, wides: u64, count: u32) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let bit = self.packed.len % 64;
        let mask = u64::MAX >> (64 - count);
        let (ones, wides) = (ones & mask, wides & mask);
        self.ones |= ones << bit;
        self.wides |= wides << bit;
        self.packed.len += count as usize;
        if bit + count as usize >= 64 {
            self.flush()?;
            if bit > 0 {
                (self.ones, self.wides) = (ones >> (64 - bit), wides >> (64 - bit));
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.packed.planes.push(WHAT, self.ones)?;
        self.packed.planes.push(WHAT, self.wides)?;
        self.packed.ranks.push(WHAT, self.rank as u32)?;
        self.rank += self.wides.count_ones() as usize;
        (self.ones, self.wides) = (0, 0);
        Ok(())
    }

    /// The values.
    pub fn finish(mut self) -> Result<Packed> {
        if !self.packed.len.is_multiple_of(64) {
            self.flush()?;
        }
        // So that a window at the end reads zeros.
        self.flush()?;
        Ok(self.packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::Numbers;

    fn values(seed: u64, len: usize) -> Vec<Scalar> {
        let mut numbers = Numbers::new(seed);
        let mut value = || match numbers.below(9) {
            0 => numbers.scalar(),
            n => Scalar::from(n as u64 % 2),
        };
        (0..len).map(|_| value()).collect()
    }

    fn pack(values: &[Scalar]) -> Packed {
        let mut packer = Packer::new();
        values.iter().for_each(|v| packer.push(v).unwrap());
        packer.finish().unwrap()
    }

    #[test]
    fn values_come_back() {
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000, 4096] {
            let values = values(len as u64, len);
            let packed = pack(&values);
            assert_eq!(packed.len(), len);
            assert!(packed.iter().eq(values.iter().copied()), "{len}");
            let wide: Vec<_> = values.iter().filter(|v| **v != Scalar::ZERO && **v != Scalar::ONE).copied().collect();
            assert_eq!(packed.wide(), wide);
            for first in 0..len {
                let (ones, wides) = packed.window(first);
                for k in 0..64 {
                    let value = values.get(first + k).copied().unwrap_or(Scalar::ZERO);
                    let is_wide = value != Scalar::ZERO && value != Scalar::ONE;
                    assert_eq!(ones >> k & 1 == 1, value == Scalar::ONE, "{first} {k}");
                    assert_eq!(wides >> k & 1 == 1, is_wide, "{first} {k}");
                }
            }
        }
    }

    #[test]
    fn pieces_make_the_whole() {
        for (i, lens) in [[0, 5, 64], [64, 64, 1], [63, 2, 200], [1, 130, 0], [100, 28, 128]].into_iter().enumerate() {
            let parts: Vec<_> = lens.iter().map(|len| values(i as u64 * 7 + *len as u64, *len)).collect();
            let mut packer = Packer::new();
            for part in &parts {
                packer.append(&pack(part)).unwrap();
                packer.push_bits(0b10110, 5).unwrap();
                packer.push_bits(u64::MAX, 64).unwrap();
                packer.push_bits(7, 0).unwrap();
            }
            let (zero, one) = (Scalar::ZERO, Scalar::ONE);
            let all: Vec<_> = parts
                .into_iter()
                .flat_map(|part| part.into_iter().chain([zero, one, one, zero, one]).chain([one; 64]))
                .collect();
            assert_eq!(packer.len(), all.len());
            assert!(packer.finish().unwrap().iter().eq(all), "{lens:?}");
        }
    }

    #[test]
    fn sizes_are_known_before() {
        let values = values(3, 777);
        let wide = values.iter().filter(|v| **v != Scalar::ZERO && **v != Scalar::ONE).count();
        let mut packer = Packer::in_room(values.len(), wide, &mut Room::default()).unwrap();
        values.iter().for_each(|v| packer.push(v).unwrap());
        assert_eq!(packer.push(&Scalar::from(2)).unwrap_err().code, Code::Unsatisfied);
        let packed = packer.finish().unwrap();
        let mapped = packed.planes.mapped_bytes() + packed.ranks.mapped_bytes() + packed.wide.mapped_bytes();
        assert_eq!(mapped as u64, Packed::bytes_for(values.len(), wide));
    }
}
