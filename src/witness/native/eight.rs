//! Eight Poseidon hashes at once with AVX-512 IFMA; their variables as blst has them, each hash's at a place of its own.
//!
//! Elements are vectors of [`ifma`](crate::curve::ntt::ifma) in blst's Montgomery form (R = 2^256). What is allocated is
//! made canonical at once, and powers and dense matrices take nothing else, so that their bounds are short:
//!
//! - A product of two canonical elements by R is x y 2^4 / 2^260 + p < 1.5 p.
//! - A row of a matrix, at R = 2^260, is below 12 p^2 / 2^260 + p < 1.4 p.
//! - In partial rounds the elements after the first only take up multiples of the first ([`multiply_fixed`]: below 6 p
//!   each). They begin within p..2 p and are brought back there after five rounds, so that they stay below 2^260 (35.3 p).
//!   The first is then below 11 * 35 p^2 / 2^260 + 3 p.

use std::arch::x86_64::*;

use blstrs::Scalar;

use super::poseidon::{Poseidon, WIDTH};
use crate::curve::ntt::ifma::{
    add, bias, broadcast, canonical, carry, digits, integer, multiply_fixed, pack, reduce_limb, settle, two_to, unpack,
    Factor, Fixed, Vector,
};
use crate::curve::ntt::memory::load_eight;

pub(super) use crate::curve::ntt::ifma::available;

/// After how many partial rounds the elements are brought back.
const ROUNDS: usize = 5;

/// An element common to all lanes, in blst's form.
#[derive(Clone, Copy, Debug)]
struct Element([u64; 5]);

impl Element {
    fn new(x: &Scalar) -> Self {
        Element(integer(&(*x * two_to(256))))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn broadcast(&self) -> Vector {
        broadcast(&self.0)
    }
}

/// A hash's constants. Made only where the CPU has the instructions.
#[derive(Debug)]
pub(super) struct Tables {
    len: usize,
    half: usize,
    tag: Element,
    keys: Vec<Element>,
    mds: Vec<Factor>,
    before_sparse: Vec<Factor>,
    sparse: Vec<Sparse>,
}

#[derive(Debug)]
struct Sparse {
    row: Vec<Factor>,
    column: Vec<Fixed>,
}

fn factors(values: &[Scalar]) -> Vec<Factor> {
    values.iter().map(|x| Factor::new(*x)).collect()
}

impl Tables {
    pub fn new(poseidon: &Poseidon) -> Self {
        Tables {
            len: poseidon.len(),
            half: poseidon.half,
            tag: Element::new(&poseidon.tag),
            keys: poseidon.keys.iter().map(Element::new).collect(),
            mds: factors(&poseidon.mds),
            before_sparse: factors(&poseidon.before_sparse),
            sparse: poseidon
                .sparse
                .iter()
                .map(|m| Sparse { row: factors(&m.row), column: Fixed::table(&m.column) })
                .collect(),
        }
    }

    /// As [`Poseidon::hash_lanes`].
    pub fn hash(&self, preimage: &[[Scalar; 8]], outs: &mut [&mut [Scalar]], at: usize) -> [Scalar; 8] {
        let mut filled = [[Scalar::default(); 8]; WIDTH];
        let filled = &mut filled[..preimage.len()];
        filled.copy_from_slice(preimage);
        let Some((first, others)) = outs.split_first_mut() else { return [Scalar::default(); 8] };
        // A lane without a place of its own does what the first does, at the first's place.
        let mut places = [first[at..at + self.len].as_mut_ptr(); 8];
        let taken = 1 + others.len();
        for (place, out) in places[1..].iter_mut().zip(others) {
            *place = out[at..at + self.len].as_mut_ptr();
        }
        for element in filled.iter_mut().filter(|_| taken < 8) {
            let first = element[0];
            element[taken..].fill(first);
        }
        let mut out = Out { places, len: 0, room: self.len };
        // SAFETY: there are tables only where the CPU has the instructions.
        unsafe { self.hash_ifma(filled, &mut out) };
        // SAFETY: the last of the places, written above.
        places.map(|place| unsafe { *place.add(self.len - 1) })
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn hash_ifma(&self, preimage: &[[Scalar; 8]], out: &mut Out) {
        let t = preimage.len() + 1;
        let mut keys = self.keys[2 * t..].iter();
        let mut state = [[_mm512_setzero_si512(); 5]; WIDTH];
        let state = &mut state[..t];
        state[0] = self.tag.broadcast();
        for (i, element) in preimage.iter().enumerate() {
            // SAFETY: eight scalars.
            let x = unpack(&unsafe { load_eight(element.as_ptr()) });
            let l = canonical(&carry(&add(&x, &self.keys[i + 1].broadcast())));
            state[i + 1] = power(&l, &self.keys[t + i + 1].broadcast(), out);
        }
        multiply(state, &self.mds);
        for round in 1..self.half {
            for x in state.iter_mut() {
                out.put(x);
                *x = power(x, &next_key(&mut keys), out);
            }
            multiply(state, if round + 1 == self.half { &self.before_sparse } else { &self.mds });
        }
        let one = bias::<1>();
        let (first, others) = state.split_at_mut(1);
        for other in others.iter_mut() {
            *other = add(other, &one);
        }
        for (round, Sparse { row, column }) in self.sparse.iter().enumerate() {
            out.put(&first[0]);
            let x = power(&first[0], &next_key(&mut keys), out);
            let mut sum = Sum::new();
            for (other, row) in others.iter_mut().zip(&row[1..]) {
                sum.add(&digits(other), row);
            }
            sum.add(&x, &row[0]);
            for (other, column) in others.iter_mut().zip(column) {
                *other = multiply_fixed(&x, column, other);
            }
            first[0] = canonical(&settle(&sum.reduce(&one)));
            if round % ROUNDS == ROUNDS - 1 {
                for other in others.iter_mut() {
                    *other = add(&settle(other), &one);
                }
            }
        }
        for other in others.iter_mut() {
            *other = canonical(&settle(other));
        }
        for _ in 1..self.half {
            for x in state.iter_mut() {
                out.put(x);
                *x = power(x, &next_key(&mut keys), out);
            }
            multiply(state, &self.mds);
        }
        let zero = bias::<0>();
        for x in state.iter_mut() {
            out.put(x);
            *x = power(x, &zero, out);
        }
        out.put(&product(state, &self.mds[t..2 * t]));
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn next_key<'a>(keys: &mut impl Iterator<Item = &'a Element>) -> Vector {
    match keys.next() {
        Some(key) => key.broadcast(),
        None => bias::<0>(),
    }
}

/// Puts l^2, l^4 and l^5 + key, and gives the last; l and key canonical.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn power(l: &Vector, key: &Vector, out: &mut Out) -> Vector {
    let l2 = canonical(&carry(&square(l)));
    out.put(&l2);
    let l4 = canonical(&carry(&square(&l2)));
    out.put(&l4);
    // Below 2.5 p.
    let l5 = canonical(&canonical(&carry(&multiply_by_r(&l4, l, key))));
    out.put(&l5);
    l5
}

/// x y / 2^256 + start, for digits x and y.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_by_r(x: &Vector, y: &Vector, start: &Vector) -> Vector {
    let mut acc = [_mm512_setzero_si512(); 10];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            acc[i + j] = _mm512_madd52lo_epu64(acc[i + j], *x, *y);
            acc[i + j + 1] = _mm512_madd52hi_epu64(acc[i + j + 1], *x, *y);
        }
    }
    for limb in &mut acc {
        *limb = _mm512_slli_epi64::<4>(*limb);
    }
    for (limb, start) in acc[5..].iter_mut().zip(start) {
        *limb = _mm512_add_epi64(*limb, *start);
    }
    reduce(acc)
}

/// x x / 2^256, for digits x.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn square(x: &Vector) -> Vector {
    let mut acc = [_mm512_setzero_si512(); 10];
    for i in 0..5 {
        for j in i + 1..5 {
            acc[i + j] = _mm512_madd52lo_epu64(acc[i + j], x[i], x[j]);
            acc[i + j + 1] = _mm512_madd52hi_epu64(acc[i + j + 1], x[i], x[j]);
        }
    }
    for limb in &mut acc {
        *limb = _mm512_add_epi64(*limb, *limb);
    }
    for i in 0..5 {
        acc[2 * i] = _mm512_madd52lo_epu64(acc[2 * i], x[i], x[i]);
        acc[2 * i + 1] = _mm512_madd52hi_epu64(acc[2 * i + 1], x[i], x[i]);
    }
    for limb in &mut acc {
        *limb = _mm512_slli_epi64::<4>(*limb);
    }
    reduce(acc)
}

/// acc / 2^260.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce(mut acc: [__m512i; 10]) -> Vector {
    for i in 0..5 {
        reduce_limb(&mut acc[i..]);
    }
    [acc[5], acc[6], acc[7], acc[8], acc[9]]
}

/// A sum of products. Twelve keep its limbs below 2^60.
struct Sum([__m512i; 10]);

impl Sum {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new() -> Self {
        Sum([_mm512_setzero_si512(); 10])
    }

    /// Adds x m, for digits x.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, x: &Vector, m: &Factor) {
        let m = m.broadcast();
        for (i, x) in x.iter().enumerate() {
            for (j, m) in m.iter().enumerate() {
                self.0[i + j] = _mm512_madd52lo_epu64(self.0[i + j], *x, *m);
                self.0[i + j + 1] = _mm512_madd52hi_epu64(self.0[i + j + 1], *x, *m);
            }
        }
    }

    /// The sum / 2^260 + start.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduce(mut self, start: &Vector) -> Vector {
        for (limb, start) in self.0[5..].iter_mut().zip(start) {
            *limb = _mm512_add_epi64(*limb, *start);
        }
        reduce(self.0)
    }
}

/// A row of a matrix: canonical, of canonical elements.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn product(state: &[Vector], column: &[Factor]) -> Vector {
    let mut sum = Sum::new();
    for (x, m) in state.iter().zip(column) {
        sum.add(x, m);
    }
    canonical(&carry(&sum.reduce(&bias::<0>())))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply(state: &mut [Vector], matrix: &[Factor]) {
    let t = state.len();
    let mut next = [[_mm512_setzero_si512(); 5]; WIDTH];
    for (next, column) in next.iter_mut().zip(matrix.chunks_exact(t)) {
        *next = product(state, column);
    }
    state.copy_from_slice(&next[..t]);
}

/// Where the lanes' variables go.
struct Out {
    places: [*mut Scalar; 8],
    len: usize,
    /// Places a lane has.
    room: usize,
}

impl Out {
    /// Writes a canonical element.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn put(&mut self, x: &Vector) {
        assert!(self.len < self.room, "a hash has more variables than its length");
        let w = pack(x);
        // Words 0 and 1, then 2 and 3, of lanes (0, 2, 4, 6) and (1, 3, 5, 7).
        let even = [_mm512_unpacklo_epi64(w[0], w[1]), _mm512_unpacklo_epi64(w[2], w[3])];
        let odd = [_mm512_unpackhi_epi64(w[0], w[1]), _mm512_unpackhi_epi64(w[2], w[3])];
        let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        for (first, half) in [(0, &even), (1, &odd)] {
            for (pair, index) in [(0, low), (1, high)] {
                let z = _mm512_permutex2var_epi64(half[0], index, half[1]);
                let lane = first + 4 * pair;
                // SAFETY: every lane has `room` places, and `len` is below; a scalar is four words.
                unsafe {
                    _mm256_storeu_si256(self.places[lane].add(self.len).cast(), _mm512_castsi512_si256(z));
                    let upper = _mm512_extracti64x4_epi64::<1>(z);
                    _mm256_storeu_si256(self.places[lane + 2].add(self.len).cast(), upper);
                }
            }
        }
        self.len += 1;
    }
}
