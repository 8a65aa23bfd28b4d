//! Numbers as bytes: seven bits a byte, the lowest first, the top bit set while more follow.

use super::intern::{extend, push};
use crate::error::{Code, Error, Result};

/// Bytes being written.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        extend(&mut self.0, bytes)
    }

    pub fn varint(&mut self, mut n: u64) -> Result<()> {
        while n >= 0x80 {
            push(&mut self.0, n as u8 | 0x80)?;
            n >>= 7;
        }
        push(&mut self.0, n as u8)
    }

    /// Small numbers of either sign are short.
    pub fn signed(&mut self, n: i64) -> Result<()> {
        self.varint((n << 1 ^ n >> 63) as u64)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes being read, none of which is trusted.
pub(super) struct Reader<'a> {
    left: &'a [u8],
    field: &'static str,
}

impl<'a> Reader<'a> {
    /// A reader whose errors name `field`.
    pub fn new(bytes: &'a [u8], field: &'static str) -> Self {
        Reader { left: bytes, field }
    }

    /// The next errors name `field`.
    pub fn enter(&mut self, field: &'static str) {
        self.field = field;
    }

    /// `PARAMS_CORRUPT` at this field.
    #[cold]
    pub fn wrong(&self, message: &str) -> Error {
        corrupt(self.field, message)
    }

    pub fn left(&self) -> usize {
        self.left.len()
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        if count > self.left.len() {
            return Err(self.wrong("the file ends in it"));
        }
        let (bytes, left) = self.left.split_at(count);
        self.left = left;
        Ok(bytes)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let Some((byte, left)) = self.left.split_first() else {
                return Err(self.wrong("the file ends in it"));
            };
            self.left = left;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(self.wrong("a number has more than 64 bits"))
    }

    pub fn signed(&mut self) -> Result<i64> {
        let n = self.varint()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// A number of things, `most` at most.
    pub fn count(&mut self, most: usize) -> Result<usize> {
        let n = self.varint()?;
        match usize::try_from(n) {
            Ok(n) if n <= most => Ok(n),
            _ => Err(self.wrong(&format!("{n} where {most} at most can be"))),
        }
    }

    /// A number of 32 bits.
    pub fn small(&mut self) -> Result<u32> {
        let n = self.varint()?;
        u32::try_from(n).map_err(|_| self.wrong(&format!("{n} has more than 32 bits")))
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<()> {
        match self.left.len() {
            0 => Ok(()),
            n => Err(self.wrong(&format!("{n} bytes too many"))),
        }
    }
}

/// `PARAMS_CORRUPT` at a field of the file.
#[cold]
pub(super) fn corrupt(field: &'static str, message: impl Into<String>) -> Error {
    Error::new(Code::ParamsCorrupt, field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let all = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut out = Writer::default();
        for n in all {
            out.varint(n).unwrap();
            out.signed(n as i64).unwrap();
            out.signed((n as i64).wrapping_neg()).unwrap();
        }
        let bytes = out.into_bytes();
        let mut reader = Reader::new(&bytes, "x");
        for n in all {
            assert_eq!(reader.varint().unwrap(), n);
            assert_eq!(reader.signed().unwrap(), n as i64);
            assert_eq!(reader.signed().unwrap(), (n as i64).wrapping_neg());
        }
        reader.end().unwrap();
    }

    #[test]
    fn wrong_numbers_are_errors() {
        for bytes in [&[][..], &[0x80], &[0xff; 12], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            let e = Reader::new(bytes, "circuit.x").varint().unwrap_err();
            assert_eq!((e.code, &*e.field), (Code::ParamsCorrupt, "circuit.x"));
        }
        assert!(Reader::new(&[9], "x").count(8).is_err());
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f], "x").small().is_err());
    }
}
