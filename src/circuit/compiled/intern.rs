//! Numbers for distinct contents. A hash finds the candidates; what is equal is decided by the contents alone.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::circuit::too_large;
use crate::error::{Error, Result};

/// A hasher for keys of a few words, fast and for no adversary: a collision costs time only.
#[derive(Clone, Copy, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }
}

/// A map with that hasher.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// `hash` with another word in it.
#[inline(always)]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    (product >> 64) as u64 ^ (product as u64).rotate_left(23)
}

/// Numbers from 0 on, by the hash of the content they stand for. The contents stand elsewhere.
#[derive(Default)]
pub(super) struct Interner {
    /// The last number with each hash.
    heads: Map<u64, u32>,
    /// The one before it with the same hash, or itself.
    before: Vec<u32>,
}

impl Interner {
    /// The number whose content `same` says is the one looked for.
    #[inline]
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mut number = *self.heads.get(&hash)?;
        loop {
            if same(number) {
                return Some(number);
            }
            let before = self.before[number as usize];
            if before == number {
                return None;
            }
            number = before;
        }
    }

    /// A new number for a content with this hash.
    pub fn add(&mut self, hash: u64) -> Result<u32> {
        let number = u32::try_from(self.before.len()).map_err(|_| too_large("2^32 distinct pieces or more"))?;
        self.heads.try_reserve(1).map_err(|_| refused())?;
        let before = self.heads.insert(hash, number).unwrap_or(number);
        push(&mut self.before, before)?;
        Ok(number)
    }
}

/// `OUT_OF_MEMORY` for a circuit.
#[cold]
pub(super) fn refused() -> Error {
    Error::new(crate::error::Code::OutOfMemory, "circuit", "the system has no memory for the compiled circuit")
}

/// Appends a value.
#[inline]
pub(super) fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() {
        values.try_reserve(1).map_err(|_| refused())?;
    }
    values.push(value);
    Ok(())
}

/// Appends values.
pub(super) fn extend<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Result<()> {
    values.try_reserve(more.len()).map_err(|_| refused())?;
    values.extend_from_slice(more);
    Ok(())
}

/// An empty vector with room for `capacity` values.
pub(super) fn room_for<T>(capacity: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(capacity).map_err(|_| refused())?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_hashes_do_not_make_equal_contents() {
        let contents = ["a", "b", "c", "a"];
        let mut interner = Interner::default();
        let mut numbers = Vec::new();
        let mut known: Vec<&str> = Vec::new();
        for content in contents {
            // One hash for everything.
            let number = match interner.find(7, |n| known[n as usize] == content) {
                Some(number) => number,
                None => {
                    known.push(content);
                    interner.add(7).unwrap()
                }
            };
            numbers.push(number);
        }
        assert_eq!(numbers, [0, 1, 2, 0]);
        assert_eq!(interner.find(8, |_| true), None);
    }
}
