//! Random numbers by index, from a seed that the system gives.

use blake2b_simd::Params;
use rand_core::{OsRng, RngCore};

use crate::error::{Code, Error, Result};

/// Words one hash gives.
const WORDS: u64 = 8;

/// A sequence of random words, each found by its index: BLAKE2b of a key from the system and a counter.
#[derive(Clone)]
pub(crate) struct Bits {
    key: [u8; 32],
}

impl Bits {
    /// A fresh sequence. `IO` when the system has no random numbers to give.
    pub(crate) fn fresh() -> Result<Self> {
        let mut key = [0; 32];
        OsRng
            .try_fill_bytes(&mut key)
            .map_err(|e| Error::new(Code::Io, "random", format!("the system's random source failed: {e}")))?;
        Ok(Bits { key })
    }

    /// `count` words from word `first` on.
    pub(crate) fn words(&self, first: u64, count: usize) -> Vec<u64> {
        let mut params = Params::new();
        params.key(&self.key);
        let mut words = Vec::with_capacity(count + WORDS as usize);
        let mut counter = first / WORDS;
        let skip = (first % WORDS) as usize;
        while words.len() < count + skip {
            let hash = params.hash(&counter.to_le_bytes());
            for word in hash.as_array().chunks_exact(8) {
                let mut le = [0; 8];
                le.copy_from_slice(word);
                words.push(u64::from_le_bytes(le));
            }
            counter += 1;
        }
        words.drain(..skip);
        words.truncate(count);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_depend_on_the_index_alone() {
        let bits = Bits::fresh().unwrap();
        let all = bits.words(0, 100);
        for (first, count) in [(0, 1), (1, 7), (8, 8), (13, 50), (99, 1), (5, 0)] {
            assert_eq!(bits.words(first as u64, count), all[first..first + count]);
        }
        assert_ne!(Bits::fresh().unwrap().words(0, 4), all[..4]);
    }
}
