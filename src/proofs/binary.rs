//! Bincode as `bincode::serialize` writes it: little-endian integers of fixed width, 8 bytes of length before a sequence,
//! 4 bytes of number before a variant, nothing around a struct.

use super::place::Place;
use super::reader::Reader;
use super::session::Session;
use crate::error::Result;

/// Reads bincode.
pub(crate) struct Binary<'a> {
    rest: &'a [u8],
    session: &'a Session<'a>,
}

impl<'a> Binary<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8], session: &'a Session<'a>) -> Self {
        Binary { rest: bytes, session }
    }

    /// Bytes that have not been read.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Whether this was all; `place` is the whole.
    pub fn end(&self, place: &Place<'_>) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(self.session.fault(place, format_args!("has {more} bytes after its end"))),
        }
    }

    #[inline]
    fn take<const N: usize>(&mut self, place: &Place<'_>) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(self.session.fault(place, format_args!("ends {} bytes early", N - self.rest.len()))),
        }
    }
}

impl Reader for Binary<'_> {
    fn session(&self) -> &Session<'_> {
        self.session
    }

    fn fields(
        &mut self,
        place: &Place<'_>,
        names: &[&'static str],
        mut each: impl FnMut(&mut Self, usize, &Place<'_>) -> Result<()>,
    ) -> Result<()> {
        names.iter().enumerate().try_for_each(|(i, name)| each(self, i, &place.field(name)))
    }

    fn items(
        &mut self,
        place: &Place<'_>,
        what: &str,
        expected: usize,
        mut each: impl FnMut(&mut Self, &Place<'_>) -> Result<()>,
    ) -> Result<()> {
        let len = self.u64(place)?;
        if len != expected as u64 {
            return Err(self.session.fault(place, format_args!("has {len} {what} where the circuit takes {expected}")));
        }
        (0..expected).try_for_each(|i| each(self, &place.item(i)))
    }

    fn variant<T>(
        &mut self,
        place: &Place<'_>,
        names: &[&str],
        content: impl FnOnce(&mut Self, usize) -> Result<T>,
    ) -> Result<T> {
        let number = self.name(place, names)?;
        content(self, number)
    }

    fn name(&mut self, place: &Place<'_>, names: &[&str]) -> Result<usize> {
        let number = self.u32(place)?;
        if number as usize >= names.len() {
            return Err(self.session.fault(place, format_args!("{number} is none of its {} variants", names.len())));
        }
        Ok(number as usize)
    }

    fn unit(&mut self, _: &Place<'_>) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn bytes32(&mut self, place: &Place<'_>) -> Result<[u8; 32]> {
        self.session.look()?;
        self.take(place)
    }

    fn u32(&mut self, place: &Place<'_>) -> Result<u32> {
        self.take(place).map(u32::from_le_bytes)
    }

    fn u64(&mut self, place: &Place<'_>) -> Result<u64> {
        self.take(place).map(u64::from_le_bytes)
    }
}
