//! What bellpepper's SHA-256 compression allocates for a block, which depends on what each input bit is (a constant, a
//! variable, or a variable negated) and never on its value.
//!
//! Every operation on 32-bit words is a [`Site`]: a mask of the bits of its result that become variables, in order, and
//! which of those are allocated complemented. Operations on constants are folded away, as the gadgets do:
//! `bellpepper-core/src/gadgets/boolean.rs` for single bits, `bellpepper/src/gadgets/{uint32,sha256}.rs` for words.

use super::sha256::K;

/// One bit of the circuit, without its value unless that is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// Known when the circuit is made.
    Constant(bool),
    /// A variable.
    Plain,
    /// One minus a variable.
    Negated,
}

use Bit::{Constant, Negated, Plain};

impl Bit {
    fn not(self) -> Bit {
        match self {
            Constant(value) => Constant(!value),
            Plain => Negated,
            Negated => Plain,
        }
    }

    /// a AND b; a variable sets bit `i` of `mask`.
    fn and(self, other: Bit, mask: &mut u64, i: usize) -> Bit {
        match (self, other) {
            (Constant(false), _) | (_, Constant(false)) => Constant(false),
            (Constant(true), x) | (x, Constant(true)) => x,
            _ => {
                *mask |= 1 << i;
                Plain
            }
        }
    }
}

/// Bits of a word, the lowest first.
pub(super) type Word = [Bit; 32];

/// A word of variables.
pub(super) const VARIABLE: Word = [Plain; 32];

/// A constant word.
pub(super) fn constant(value: u32) -> Word {
    std::array::from_fn(|i| Constant(value >> i & 1 == 1))
}

/// What an operation allocates: the bits of (result XOR `flip`) under `mask`, the lowest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub mask: u64,
    pub flip: u64,
    /// Ones of `mask`.
    pub count: u32,
    /// Whether the mask's ones are its lowest bits.
    pub dense: bool,
}

/// Sites of a block: message extension, rounds (the first adds nothing), sums with the state before.
pub(super) const SITES: usize = 48 * 5 + 64 * 8 - 2 + 8;

/// What a block allocates, site by site.
#[derive(Debug)]
pub(super) struct Plan {
    pub sites: Vec<Site>,
    /// Variables in all.
    pub count: usize,
    /// What the state is after the block, for comparisons.
    #[cfg_attr(not(test), expect(dead_code))]
    pub state: [Word; 8],
}

fn rotate_right(word: &Word, n: usize) -> Word {
    std::array::from_fn(|i| word[(i + n) % 32])
}

fn shift_right(word: &Word, n: usize) -> Word {
    std::array::from_fn(|i| word.get(i + n).copied().unwrap_or(Constant(false)))
}

/// Sites as they come.
struct Planner(Vec<Site>);

impl Planner {
    fn site(&mut self, mask: u64, flip: u64) {
        let dense = mask & mask.wrapping_add(1) == 0;
        self.0.push(Site { mask, flip: flip & mask, count: mask.count_ones(), dense });
    }

    /// `Boolean::xor`.
    fn xor(&mut self, a: &Word, b: &Word) -> Word {
        let (mut mask, mut flip) = (0, 0);
        let word = std::array::from_fn(|i| match (a[i], b[i]) {
            (Constant(false), x) | (x, Constant(false)) => x,
            (Constant(true), x) | (x, Constant(true)) => x.not(),
            (Plain, Negated) | (Negated, Plain) => {
                mask |= 1 << i;
                flip |= 1 << i;
                Negated
            }
            _ => {
                mask |= 1 << i;
                Plain
            }
        });
        self.site(mask, flip);
        word
    }

    /// `Boolean::sha256_ch`: (a AND b) XOR (NOT a AND c).
    fn choose(&mut self, a: &Word, b: &Word, c: &Word) -> Word {
        let (mut mask, mut flip) = (0, 0);
        let word = std::array::from_fn(|i| match (a[i], b[i], c[i]) {
            (Constant(a), Constant(b), Constant(c)) => Constant(if a { b } else { c }),
            (Constant(false), _, c) => c,
            (a, Constant(false), c) => a.not().and(c, &mut mask, i),
            (a, b, Constant(false)) => a.and(b, &mut mask, i),
            (a, b, Constant(true)) => {
                flip |= 1 << i;
                a.and(b.not(), &mut mask, i).not()
            }
            (a, Constant(true), c) => {
                flip |= 1 << i;
                a.not().and(c.not(), &mut mask, i).not()
            }
            _ => {
                mask |= 1 << i;
                Plain
            }
        });
        self.site(mask, flip);
        word
    }

    /// `Boolean::sha256_maj`. A bit has two places: its own, and that of b AND c, which is allocated after it unless one of
    /// the three is constant.
    fn majority(&mut self, a: &Word, b: &Word, c: &Word) -> Word {
        let (mut mask, mut flip) = (0, 0);
        let word = std::array::from_fn(|i| {
            let place = 2 * i;
            // One of three is true: NOT (NOT x AND NOT y) of the others.
            let mut either = |x: Bit, y: Bit| {
                flip |= 1 << place;
                x.not().and(y.not(), &mut mask, place).not()
            };
            match (a[i], b[i], c[i]) {
                (Constant(a), Constant(b), Constant(c)) => Constant((a & b) ^ (a & c) ^ (b & c)),
                (Constant(false), x, y) | (x, Constant(false), y) | (x, y, Constant(false)) => {
                    x.and(y, &mut mask, place)
                }
                (x, y, Constant(true)) | (x, Constant(true), y) | (Constant(true), x, y) => either(x, y),
                _ => {
                    mask |= 3 << place;
                    Plain
                }
            }
        });
        self.site(mask, flip);
        word
    }

    /// `UInt32::addmany`: as many bits as the largest sum has, and none where everything is constant.
    fn sum(&mut self, terms: &[Word]) -> Word {
        let value = |word: &Word| {
            word.iter().enumerate().try_fold(0u32, |value, (i, bit)| match bit {
                Constant(bit) => Some(value | u32::from(*bit) << i),
                _ => None,
            })
        };
        if let Some(sum) = terms.iter().try_fold(0u32, |sum, word| Some(sum.wrapping_add(value(word)?))) {
            self.site(0, 0);
            return constant(sum);
        }
        let largest = terms.len() as u64 * u64::from(u32::MAX);
        self.site(u64::MAX >> largest.leading_zeros(), 0);
        VARIABLE
    }
}

impl Plan {
    /// The plan of a block with these bits, after a state of those.
    pub fn new(message: &[Word; 16], before: &[Word; 8]) -> Plan {
        let mut p = Planner(Vec::with_capacity(SITES));
        let mut w = message.to_vec();
        for i in 16..64 {
            let s0 = p.xor(&rotate_right(&w[i - 15], 7), &rotate_right(&w[i - 15], 18));
            let s0 = p.xor(&s0, &shift_right(&w[i - 15], 3));
            let s1 = p.xor(&rotate_right(&w[i - 2], 17), &rotate_right(&w[i - 2], 19));
            let s1 = p.xor(&s1, &shift_right(&w[i - 2], 10));
            let next = p.sum(&[w[i - 16], s0, w[i - 7], s1]);
            w.push(next);
        }
        // a and e are sums that are made when they are needed.
        let [a, mut b, mut c, mut d, e, mut f, mut g, mut h] = *before;
        let (mut a, mut e) = (vec![a], vec![e]);
        for i in 0..64 {
            let new_e = if i == 0 { e[0] } else { p.sum(&e) };
            let s1 = p.xor(&rotate_right(&new_e, 6), &rotate_right(&new_e, 11));
            let s1 = p.xor(&s1, &rotate_right(&new_e, 25));
            let choice = p.choose(&new_e, &f, &g);
            let common = [h, s1, choice, constant(K[i]), w[i]];
            let new_a = if i == 0 { a[0] } else { p.sum(&a) };
            let s0 = p.xor(&rotate_right(&new_a, 2), &rotate_right(&new_a, 13));
            let s0 = p.xor(&s0, &rotate_right(&new_a, 22));
            let majority = p.majority(&new_a, &b, &c);
            e = [&common[..], &[d]].concat();
            a = [&common[..], &[s0, majority]].concat();
            (h, g, f, d, c, b) = (g, f, new_e, c, b, new_a);
        }
        a.push(before[0]);
        e.push(before[4]);
        let state = [
            p.sum(&a),
            p.sum(&[before[1], b]),
            p.sum(&[before[2], c]),
            p.sum(&[before[3], d]),
            p.sum(&e),
            p.sum(&[before[5], f]),
            p.sum(&[before[6], g]),
            p.sum(&[before[7], h]),
        ];
        let count = p.0.iter().map(|site| site.count as usize).sum();
        Plan { sites: p.0, count, state }
    }
}
