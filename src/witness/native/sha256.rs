//! The variables of SHA-256, from 32-bit words.

use super::plan::{Plan, SITES};

/// Round constants.
#[rustfmt::skip]
pub(super) const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The state before the first block.
pub(super) const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// Words that hold the variables of any block, one to spare.
const WORDS: usize = 26_166 / 64 + 2;

/// The variables of one block, in order, the first the lowest bit of the first word.
pub(super) struct Block {
    words: [u64; WORDS],
    /// Full words.
    full: usize,
    /// The word that is not full, and how many bits it has.
    last: u64,
    filled: u32,
}

impl Block {
    pub fn new() -> Self {
        Block { words: [0; WORDS], full: 0, last: 0, filled: 0 }
    }

    /// Words and number of bits.
    pub fn bits(&mut self) -> (&[u64], usize) {
        self.words[self.full] = self.last;
        (&self.words[..=self.full], self.full * 64 + self.filled as usize)
    }

    /// Appends the low `count` bits of `value`, whose others are zero.
    #[inline(always)]
    fn push(&mut self, value: u64, count: u32) {
        self.last |= value << self.filled;
        let filled = self.filled + count;
        if filled >= 64 {
            self.words[self.full] = self.last;
            self.full += 1;
            // In two steps, so that nothing is shifted by 64.
            self.last = value >> 1 >> (63 - self.filled);
        }
        self.filled = filled % 64;
    }

    /// Compresses a block: its variables are here, those of the block before gone, and `state` is the one after.
    pub fn compress(&mut self, plan: &Plan, state: &mut [u32; 8], message: &[u32; 16]) {
        (self.full, self.last, self.filled) = (0, 0, 0);
        let Some((sites, [])) = plan.sites.split_first_chunk::<SITES>() else { return };
        let mut next = 0;
        // What an operation gave.
        macro_rules! emit {
            ($value:expr) => {{
                let site = &sites[next];
                next += 1;
                let value = $value ^ site.flip;
                let value = if site.dense { value & site.mask } else { extract(value, site.mask) };
                self.push(value, site.count);
            }};
        }
        macro_rules! emit_xor {
            ($value:expr) => {{
                let value = $value;
                emit!(u64::from(value));
                value
            }};
        }
        let mut w = [0u32; 64];
        w[..16].copy_from_slice(message);
        for i in 16..64 {
            let (x, y) = (w[i - 15], w[i - 2]);
            let s0 = emit_xor!(x.rotate_right(7) ^ x.rotate_right(18));
            let s0 = emit_xor!(s0 ^ x >> 3);
            let s1 = emit_xor!(y.rotate_right(17) ^ y.rotate_right(19));
            let s1 = emit_xor!(s1 ^ y >> 10);
            let sum = sum(&[w[i - 16], s0, w[i - 7], s1]);
            emit!(sum);
            w[i] = sum as u32;
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        // a and e with their carries.
        let (mut long_a, mut long_e) = (0, 0);
        for i in 0..64 {
            if i > 0 {
                emit!(long_e);
                e = long_e as u32;
            }
            let s1 = emit_xor!(e.rotate_right(6) ^ e.rotate_right(11));
            let s1 = emit_xor!(s1 ^ e.rotate_right(25));
            let choice = emit_xor!(e & f ^ !e & g);
            let common = sum(&[h, s1, choice, K[i], w[i]]);
            if i > 0 {
                emit!(long_a);
                a = long_a as u32;
            }
            let s0 = emit_xor!(a.rotate_right(2) ^ a.rotate_right(13));
            let s0 = emit_xor!(s0 ^ a.rotate_right(22));
            let both = b & c;
            let majority = a & b ^ a & c ^ both;
            emit!(spread(majority) | spread(both) << 1);
            long_e = common + u64::from(d);
            long_a = common + sum(&[s0, majority]);
            (h, g, f, d, c, b) = (g, f, e, c, b, a);
        }
        let sums = [
            long_a + u64::from(state[0]),
            sum(&[state[1], b]),
            sum(&[state[2], c]),
            sum(&[state[3], d]),
            long_e + u64::from(state[4]),
            sum(&[state[5], f]),
            sum(&[state[6], g]),
            sum(&[state[7], h]),
        ];
        for (state, sum) in state.iter_mut().zip(sums) {
            emit!(sum);
            *state = sum as u32;
        }
    }
}

#[inline(always)]
fn sum(terms: &[u32]) -> u64 {
    terms.iter().map(|term| u64::from(*term)).sum()
}

/// The bits of `x` at the even places.
#[inline(always)]
fn spread(x: u32) -> u64 {
    let x = u64::from(x);
    let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    let x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// The bits of `value` under `mask`, moved together; `pext` for any CPU (it is slow on some that have it). Masks have few
/// runs of ones.
#[inline(never)]
fn extract(value: u64, mut mask: u64) -> u64 {
    let (mut result, mut count) = (0, 0);
    while mask != 0 {
        let from = mask.trailing_zeros();
        let run = (mask >> from).trailing_ones();
        let ones = u64::MAX >> (64 - run);
        result |= (value >> from & ones) << count;
        count += run;
        mask &= !(ones << from);
    }
    result
}

/// The state after a block, without its variables.
pub(super) fn compress(state: &mut [u32; 8], message: &[u32; 16]) {
    let mut block = sha2::digest::generic_array::GenericArray::default();
    for (bytes, word) in block.chunks_exact_mut(4).zip(message) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    sha2::compress256(state, &[block]);
}
