//! Sums of runs of affine points, eight additions at a time in AVX-512 IFMA registers.
//!
//! A run is summed as a tree: every round adds neighbours. The additions of a round are independent, so a batch of them
//! shares one inversion (Montgomery's trick): an addition costs five multiplications and a square. Coordinates stay
//! unreduced; the bounds double with every round:
//!   x < X_r p and |y| < Y_r p with X_r = 4099 * 2^r - 3, Y_r = 7 * 2^r - 3, where a round computes
//!   x3 = l^2 - x1 - x2 and y3 = l (x1 - x3) - y1, l = (y2 - y1) / (x2 - x1).
//! After 16 rounds, enough for `MAX_TERMS` terms, X is below 2^29 and everything still fits 2^35 p.
//!
//! The common path looks at no special case. If two points of a pair have equal x, their batch's product of denominators
//! is zero, and the batch is done again with every case told apart. From a round that gives an identity on, all rounds
//! of that call are.

use super::adder::{Adder, Term, MAX_TERMS};
use super::curve::{AffinePoint, Coordinate, Curve, G1, G2};
use super::ifma::{self, Vector};
use super::lanes::{point_words, read, store, store_bases, words_of, Element, Limbs, Point};
use std::arch::x86_64::*;

/// Vectors (eight additions each) of one batch: 2.5 KiB of G1 or 5 KiB of G2 state each, to stay in a 2 MiB cache.
const BATCH: usize = 256;

/// Rounds that `MAX_TERMS` terms can take.
const ROUNDS: usize = MAX_TERMS.trailing_zeros() as usize;

/// Pairs ahead of the one being read whose bases are called into the cache.
const PREFETCH: usize = 32;

/// Additions with AVX-512 IFMA; a value of this type says that the CPU has been seen to have it.
#[derive(Clone, Copy)]
pub struct Ifma(());

impl Ifma {
    /// The adder, if this CPU can run it.
    pub fn detect() -> Option<Ifma> {
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")).then_some(Ifma(()))
    }
}

/// One addition: two terms and the slot of the result.
#[derive(Clone, Copy, Default)]
struct Pair {
    a: Term,
    b: Term,
    slot: u32,
}

/// What the backward pass needs of eight additions.
#[derive(Clone, Copy)]
struct State<const D: usize> {
    /// Product of the denominators before this one.
    before: Element<D>,
    /// The denominator: x2 - x1, or 2 y1 where a point is doubled, or 1 where nothing is to be inverted.
    denominator: Element<D>,
    /// y2 - y1, or 3 x1^2 where a point is doubled.
    numerator: Element<D>,
    x1: Element<D>,
    /// Signed, uncarried limbs.
    y1: Element<D>,
}

/// Lanes of eight additions that are not plain additions.
#[derive(Clone, Copy, Default)]
struct Special {
    /// The two points are equal.
    double: u8,
    /// One is the identity: the result is (x1, y1).
    keep: u8,
    /// The result is the identity.
    identity: u8,
}

/// Multiples of p that keep differences of one round positive.
#[derive(Clone, Copy)]
struct Bounds {
    /// X_r.
    x: [u64; 8],
    /// 3 X_r.
    three_x: [u64; 8],
    /// X_(r+1).
    next_x: [u64; 8],
    /// Y_r.
    y: [u64; 8],
    /// 2 Y_r.
    two_y: [u64; 8],
}

impl Bounds {
    const fn of(round: u32) -> Bounds {
        let x = (4099 << round) - 3;
        let y = (7 << round) - 3;
        Bounds {
            x: ifma::multiple_of_modulus(x),
            three_x: ifma::multiple_of_modulus(3 * x),
            next_x: ifma::multiple_of_modulus(2 * x + 3),
            y: ifma::multiple_of_modulus(y),
            two_y: ifma::multiple_of_modulus(2 * y),
        }
    }
}

static BOUNDS: [Bounds; ROUNDS] = {
    let mut all = [Bounds::of(0); ROUNDS];
    let mut round = 1;
    while round < ROUNDS {
        all[round] = Bounds::of(round as u32);
        round += 1;
    }
    all
};

/// Buffers of one task.
pub struct Scratch<const D: usize> {
    slots: Vec<Point<D>>,
    states: Vec<State<D>>,
    special: Vec<Special>,
    pairs: Vec<Pair>,
    /// First slot and number of points of the runs that still hold more than one.
    open: Vec<(u32, u32)>,
    first: Vec<u32>,
}

impl<const D: usize> Scratch<D> {
    fn new() -> Self {
        Scratch {
            slots: Vec::new(),
            states: Vec::with_capacity(BATCH),
            special: vec![Special::default(); BATCH],
            pairs: Vec::new(),
            open: Vec::new(),
            first: Vec::new(),
        }
    }
}

/// Field work done lane by lane between the vector passes: the inversion.
trait Invert<const D: usize> {
    /// The inverses of the rows' elements, R = 2^416; the rows are canonical and none is zero.
    fn invert(rows: &mut [[Limbs; D]; 8]);
}

/// A blst value read as R = 2^384 is 2^32 times the R = 2^416 value of the same limbs, so its inverse lacks 2^64.
const INVERSE_FACTOR: [u64; 6] = ifma::join(ifma::power_of_two(384 + 64));

impl<C: Curve, const D: usize> Invert<D> for (C,) {
    fn invert(rows: &mut [[Limbs; D]; 8]) {
        let values: [C::Field; 8] = std::array::from_fn(|l| C::Field::from_components(|d| ifma::join(rows[l][d].0)));
        let mut products = values;
        for l in 1..8 {
            products[l] = products[l - 1].times(&values[l]);
        }
        let factor = C::Field::from_components(|d| if d == 0 { INVERSE_FACTOR } else { [0; 6] });
        let mut inverse = products[7].inverse().times(&factor);
        for l in (0..8).rev() {
            let value = if l > 0 { inverse.times(&products[l - 1]) } else { inverse };
            inverse = inverse.times(&values[l]);
            rows[l] = std::array::from_fn(|d| Limbs(ifma::split(value.component(d))));
        }
    }
}

/// The indices of the points of eight terms, and the lanes that enter negated.
#[inline]
fn decode(terms: [Term; 8]) -> ([usize; 8], u8) {
    let mut negated = 0;
    for (l, term) in terms.iter().enumerate() {
        negated |= ((term & 1) as u8) << l;
    }
    (terms.map(|term| (term >> 1) as usize), negated)
}

/// x and signed y of both terms of eight pairs. `SPECIAL` gives each pass its own copy to be inlined.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn read_pairs<const D: usize, const BASES: bool, const SPECIAL: bool>(
    words: &[u64],
    pairs: &[Pair; 8],
) -> [(Element<D>, Element<D>); 2] {
    let mut out = [(Element::zero(), Element::zero()); 2];
    for (side, out) in out.iter_mut().enumerate() {
        let terms = pairs.map(|pair| if side == 0 { pair.a } else { pair.b });
        let (index, negated) = decode(terms);
        let (x, y) = read::<D, BASES>(words, index);
        *out = (x, if BASES || negated != 0 { y.negated_in(negated) } else { y });
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn prefetch<const D: usize>(words: &[u64], pair: &Pair) {
    let size = point_words(D, true);
    for term in [pair.a, pair.b] {
        let point = words.as_ptr().wrapping_add((term >> 1) as usize * size);
        for line in 0..size.div_ceil(8) {
            _mm_prefetch::<_MM_HINT_T0>(point.wrapping_add(8 * line).cast());
        }
    }
}

/// The pairs of lanes of one vector; missing ones repeat the first.
#[inline]
fn lanes_of(pairs: &[Pair]) -> [Pair; 8] {
    match pairs.first_chunk::<8>() {
        Some(whole) => *whole,
        None => std::array::from_fn(|l| if l < pairs.len() { pairs[l] } else { pairs[0] }),
    }
}

/// Reads eight pairs a vector and multiplies up their denominators; returns the product. Bases are called into
/// the cache before they are read.
#[target_feature(enable = "avx512f,avx512ifma")]
fn forward<const D: usize, const BASES: bool>(
    words: &[u64],
    pairs: &[Pair],
    bounds: &Bounds,
    states: &mut Vec<State<D>>,
) -> Element<D> {
    states.clear();
    let mut product = Element::one();
    let x_bound = Element::bound(&bounds.x);
    let y_bound = Element::bound(&bounds.two_y);
    for (v, chunk) in pairs.chunks(8).enumerate() {
        if BASES {
            for ahead in pairs.iter().skip(8 * v + PREFETCH).take(8) {
                prefetch::<D>(words, ahead);
            }
        }
        let [(x1, y1), (x2, y2)] = read_pairs::<D, BASES, false>(words, &lanes_of(chunk));
        let mut denominator = x2.minus(&x1).plus(&x_bound).carried();
        if chunk.len() < 8 {
            denominator = denominator.select(0xff << chunk.len(), &Element::one());
        }
        let numerator = y2.minus(&y1).plus(&y_bound).carried();
        states.push(State { before: product, denominator, numerator, x1, y1 });
        product = product.times(&denominator);
    }
    product
}

/// As `forward`, telling all cases apart; true if a result is the identity.
#[target_feature(enable = "avx512f,avx512ifma")]
fn forward_special<const D: usize, const BASES: bool>(
    words: &[u64],
    pairs: &[Pair],
    bounds: &Bounds,
    states: &mut Vec<State<D>>,
    special: &mut [Special],
) -> (Element<D>, bool) {
    states.clear();
    let mut product = Element::one();
    let mut any_identity = false;
    let x_bound = Element::bound(&bounds.x);
    let y_bound = Element::bound(&bounds.y);
    let two_y_bound = Element::bound(&bounds.two_y);
    for (chunk, special) in pairs.chunks(8).zip(special) {
        let [(x1, y1), (x2, y2)] = read_pairs::<D, BASES, true>(words, &lanes_of(chunk));
        let (zero1, zero2) = (y1.zero_lanes(), y2.zero_lanes());
        let difference = x2.minus(&x1).plus(&x_bound).carried();
        let same_x = difference.small().canonical().zero_lanes() & !zero1 & !zero2;
        let numerator = y2.minus(&y1).plus(&two_y_bound).carried();
        let same_y = numerator.small().canonical().zero_lanes();
        let used = if chunk.len() < 8 { (1 << chunk.len()) - 1 } else { 0xff };
        *special = Special {
            double: same_x & same_y & used,
            keep: (zero1 | zero2) & used,
            identity: (same_x & !same_y | zero1 & zero2) & used,
        };
        any_identity |= special.identity != 0;
        // An identity's y is all zeros in memory, and minus that is zero too: the lane takes the other point.
        let x1 = x1.select(zero1, &x2);
        let y1 = y1.select(zero1, &y2);
        let one = Element::one();
        let mut denominator = difference.select(!used | special.keep | special.identity, &one);
        let mut numerator = numerator;
        if special.double != 0 {
            let y = y1.plus(&y_bound).carried();
            denominator = denominator.select(special.double, &y.plus(&y).carried());
            let x = x1.small();
            let square = x.square_plus(&Element::zero());
            let three = square.plus(&square).plus(&square).carried();
            numerator = numerator.select(special.double, &three);
        }
        states.push(State { before: product, denominator, numerator, x1, y1 });
        product = product.times(&denominator);
    }
    (product, any_identity)
}

/// Finishes the additions of a batch from the last to the first; `inverse` is that of the product of all denominators.
#[target_feature(enable = "avx512f,avx512ifma")]
fn backward<const D: usize>(
    pairs: &[Pair],
    bounds: &Bounds,
    states: &[State<D>],
    special: Option<&[Special]>,
    mut inverse: Element<D>,
    slots: &mut [Point<D>],
) {
    let three_x = Element::bound(&bounds.three_x);
    let next_x = Element::bound(&bounds.next_x);
    let y_bound = Element::bound(&bounds.y);
    for (v, (chunk, state)) in pairs.chunks(8).zip(states).enumerate().rev() {
        let reciprocal = inverse.times(&state.before);
        inverse = inverse.times(&state.denominator);
        let slope = reciprocal.times(&state.numerator);
        let case = special.map_or(Special::default(), |s| s[v]);
        // The denominator is x2 - x1 but for doubled points, whose difference is zero.
        let mut difference = state.denominator;
        if case.double != 0 {
            difference = difference.select(case.double, &Element::bound(&bounds.x));
        }
        let addend = three_x.minus(&difference).minus(&state.x1).minus(&state.x1);
        let mut x3 = slope.square_plus(&addend);
        let step = state.x1.minus(&x3).plus(&next_x).carried();
        let mut y3 = slope.times_plus(&step, &y_bound.minus(&state.y1));
        if case.keep | case.identity != 0 {
            x3 = x3.select(case.keep, &state.x1).select(case.identity, &Element::zero());
            let kept = state.y1.plus(&y_bound).carried();
            y3 = y3.select(case.keep, &kept).select(case.identity, &Element::zero());
        }
        let (x_rows, y_rows) = (x3.rows(), y3.rows());
        if let Some(pairs) = chunk.first_chunk::<8>() {
            for l in 0..8 {
                store_point(&mut slots[pairs[l].slot as usize], &x_rows, &y_rows, l);
            }
        } else {
            for (l, pair) in chunk.iter().enumerate() {
                store_point(&mut slots[pair.slot as usize], &x_rows, &y_rows, l);
            }
        }
    }
}

/// Writes the point of lane l.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store_point<const D: usize>(slot: &mut Point<D>, x_rows: &[[Vector; 8]; D], y_rows: &[[Vector; 8]; D], l: usize) {
    for d in 0..D {
        store(&mut slot.x[d].0, x_rows[d][l]);
        store(&mut slot.y[d].0, y_rows[d][l]);
    }
}

/// Adds the pairs of one batch and puts the sums into their slots. With `careful` or if a denominator is zero, every case
/// is told apart; true if a result is the identity. `words` of None are the slots themselves.
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_batch<const D: usize, const BASES: bool, I: Invert<D>>(
    words: Option<&[u64]>,
    pairs: &[Pair],
    bounds: &Bounds,
    buffers: (&mut [Point<D>], &mut Vec<State<D>>, &mut [Special]),
    careful: bool,
) -> bool {
    let (slots, states, special) = buffers;
    let mut any_identity = false;
    let mut product = Element::zero();
    if !careful {
        let words = words.unwrap_or(words_of(slots));
        product = forward::<D, BASES>(words, pairs, bounds, states).canonical();
    }
    let use_special = product.zero_lanes() != 0;
    if use_special {
        let words = words.unwrap_or(words_of(slots));
        (product, any_identity) = forward_special::<D, BASES>(words, pairs, bounds, states, special);
        product = product.canonical();
    }
    let mut rows = product.to_limbs();
    I::invert(&mut rows);
    let inverse = Element::from_rows(std::array::from_fn(|l| &rows[l]));
    let cases = use_special.then_some(&special[..]);
    backward(pairs, bounds, states, cases, inverse, slots);
    any_identity
}

/// Adds the pairs of one round, batch by batch. `words` of None are the slots themselves.
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_round<const D: usize, const BASES: bool, I: Invert<D>>(
    words: Option<&[u64]>,
    bounds: &Bounds,
    scratch: &mut Scratch<D>,
    careful: &mut bool,
) {
    let Scratch { slots, states, special, pairs, .. } = scratch;
    let mut any_identity = false;
    for batch in pairs.chunks(8 * BATCH) {
        let buffers = (&mut slots[..], &mut *states, &mut special[..]);
        any_identity |= add_batch::<D, BASES, I>(words, batch, bounds, buffers, *careful);
    }
    *careful |= any_identity;
}

/// `Adder::sum_bases` and `Adder::sum_points`.
#[target_feature(enable = "avx512f,avx512ifma")]
fn sum_runs<const D: usize, const BASES: bool, I: Invert<D>>(
    words: &[u64],
    scratch: &mut Scratch<D>,
    terms: &[Term],
    lengths: &[u32],
    out: &mut [Point<D>],
) {
    scratch.pairs.clear();
    scratch.open.clear();
    scratch.first.clear();
    let slots_used: usize = lengths.iter().map(|&n| n.div_ceil(2) as usize).sum();
    if scratch.slots.len() < slots_used {
        scratch.slots.resize(slots_used, Point::IDENTITY);
    }
    let (mut at, mut slot) = (0, 0u32);
    for &length in lengths {
        let run = &terms[at..at + length as usize];
        at += length as usize;
        scratch.first.push(slot);
        let count = length.div_ceil(2);
        if count > 1 {
            scratch.open.push((slot, count));
        }
        let (whole, rest) = run.as_chunks::<2>();
        for &[a, b] in whole {
            scratch.pairs.push(Pair { a, b, slot });
            slot += 1;
        }
        if let [last] = rest {
            scratch.slots[slot as usize] = read_one::<D, BASES>(words, *last);
            slot += 1;
        }
    }
    let mut careful = false;
    add_round::<D, BASES, I>(Some(words), &BOUNDS[0], scratch, &mut careful);
    // The sums of a run of n points now stand in slots first, first + 1, ...; round r adds those 2^(r-1) apart.
    let mut stride = 1;
    for bounds in &BOUNDS[1..] {
        if scratch.open.is_empty() {
            break;
        }
        let Scratch { pairs, open, .. } = scratch;
        pairs.clear();
        open.retain_mut(|(first, count)| {
            for i in 0..*count / 2 {
                let slot = *first + 2 * i * stride;
                pairs.push(Pair { a: slot << 1, b: (slot + stride) << 1, slot });
            }
            *count = count.div_ceil(2);
            *count > 1
        });
        stride *= 2;
        add_round::<D, false, I>(None, bounds, scratch, &mut careful);
    }
    let Scratch { slots, first, .. } = scratch;
    let live: Vec<usize> = (0..lengths.len()).filter(|&s| lengths[s] > 0).collect();
    for (s, _) in lengths.iter().enumerate().filter(|(_, &n)| n == 0) {
        out[s] = Point::IDENTITY;
    }
    for chunk in live.chunks(8) {
        let of: [&Point<D>; 8] = std::array::from_fn(|l| &slots[first[chunk[l.min(chunk.len() - 1)]] as usize]);
        let x = Element::from_rows(of.map(|p| &p.x)).small().to_limbs();
        let y = Element::from_rows(of.map(|p| &p.y)).small().to_limbs();
        for (l, &s) in chunk.iter().enumerate() {
            out[s] = Point { x: x[l], y: y[l] };
        }
    }
}

/// The point of one term, x below X_0 p and y in 0..Y_0 p.
#[target_feature(enable = "avx512f,avx512ifma")]
fn read_one<const D: usize, const BASES: bool>(words: &[u64], term: Term) -> Point<D> {
    let (index, negated) = decode([term; 8]);
    let (x, y) = read::<D, BASES>(words, index);
    let y = y.negated_in(negated);
    let bound = Element::bound(&BOUNDS[0].y);
    let y = y.plus(&Element::zero().select_all(negated, &bound)).carried();
    Point { x: x.to_limbs()[0], y: y.to_limbs()[0] }
}

impl<const D: usize> Element<D> {
    /// `b` if any lane is set, else self.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn select_all(self, lanes: u8, b: &Self) -> Self {
        if lanes != 0 {
            *b
        } else {
            self
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn export<F: Coordinate, const D: usize>(points: &[Point<D>], put: &mut dyn FnMut(usize, AffinePoint<F>)) {
    for (start, chunk) in points.chunks(8).enumerate() {
        let of: [&Point<D>; 8] = std::array::from_fn(|l| &chunk[l.min(chunk.len() - 1)]);
        let x = Element::from_rows(of.map(|p| &p.x));
        let y = Element::from_rows(of.map(|p| &p.y));
        let mut words = [[[0u64; 6]; 4]; 8];
        store_bases(&x, &y, |l, c, w| words[l][c] = w);
        for (l, words) in words.iter().enumerate().take(chunk.len()) {
            let x = F::from_components(|d| words[d]);
            let y = F::from_components(|d| words[D + d]);
            put(8 * start + l, AffinePoint { x, y });
        }
    }
}

macro_rules! adder {
    ($curve:ty, $degree:literal) => {
        impl Adder<$curve> for Ifma {
            type Point = Point<$degree>;
            type Scratch = Scratch<$degree>;
            const IDENTITY: Self::Point = Point::IDENTITY;

            fn scratch(&self) -> Self::Scratch {
                Scratch::new()
            }

            fn is_identity(point: &Self::Point) -> bool {
                point.is_identity()
            }

            fn sum_bases(
                &self,
                scratch: &mut Self::Scratch,
                bases: &[<$curve as Curve>::Affine],
                terms: &[Term],
                lengths: &[u32],
                out: &mut [Self::Point],
            ) {
                let words = <$curve>::words(bases);
                // SAFETY: `Ifma` values exist only on CPUs with both features.
                unsafe { sum_runs::<$degree, true, ($curve,)>(words, scratch, terms, lengths, out) }
            }

            fn sum_points(
                &self,
                scratch: &mut Self::Scratch,
                points: &[Self::Point],
                terms: &[Term],
                lengths: &[u32],
                out: &mut [Self::Point],
            ) {
                let words = words_of(points);
                // SAFETY: `Ifma` values exist only on CPUs with both features.
                unsafe { sum_runs::<$degree, false, ($curve,)>(words, scratch, terms, lengths, out) }
            }

            fn export(
                &self,
                points: &[Self::Point],
                put: &mut dyn FnMut(usize, AffinePoint<<$curve as Curve>::Field>),
            ) {
                // SAFETY: `Ifma` values exist only on CPUs with both features.
                unsafe { export(points, put) }
            }
        }
    };
}

adder!(G1, 1);
adder!(G2, 2);
