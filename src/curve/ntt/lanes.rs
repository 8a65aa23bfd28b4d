//! Transforms of eight sequences at once, one a lane, in a scratch of [`Lanes`].
//!
//! Radix four, depth first, so that small blocks stay in the first-level cache. Integers: a
//! transform starts from 0..2.2 p (blst's 256 bits) and every step keeps them within 3 p..20.5 p,
//! which is what [`lower`] and multiplication need with the sums of a step between them.
//! Products are centred: -3 p..3 p.

use super::ifma::{add, bias, digits, lower, multiply_fixed, sub, Fixed, Lanes, Vector};
use super::ordered::multiply_fixed_two;

/// `join`'s roots of a layer with halves of `half`.
#[inline]
fn layer(roots: &[Fixed], half: usize) -> &[Fixed] {
    &roots[half - 1..2 * half - 1]
}

/// Two layers on x[at[0]], .., x[at[3]]: pairs (0, 2), (1, 3) by a; (0, 1) by b; (2, 3) by c.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn four(x: &mut [Lanes], at: [usize; 4], a: &Fixed, b: &Fixed, c: &Fixed) {
    let centre = bias::<-3>();
    let (x2, x3) = (digits(&x[at[2]].load()), digits(&x[at[3]].load()));
    let [t2, t3] = multiply_fixed_two([&x2, &x3], [a, a], &centre);
    let x1 = x[at[1]].load(); // 3..20.5
    let (y1, y3) = (digits(&add(&x1, &t3)), digits(&sub(&x1, &t3))); // 0..23.5
    let [u1, u3] = multiply_fixed_two([&y1, &y3], [b, c], &centre);
    let x0 = lower(&x[at[0]].load()); // 9..14.5
    let y0 = add(&x0, &t2);
    let y2 = sub(&x0, &t2);
    x[at[0]].store(&add(&y0, &u1));
    x[at[1]].store(&sub(&y0, &u1));
    x[at[2]].store(&add(&y2, &u3));
    x[at[3]].store(&sub(&y2, &u3));
}

/// [`four`] with a = b = 1, for integers in 0..2.3 p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn first_four(x: &mut [Lanes], at: [usize; 4], c: &Fixed) {
    let [x0, x1, x2, x3] = [x[at[0]].load(), x[at[1]].load(), x[at[2]].load(), x[at[3]].load()];
    let y3 = add(&sub(&x1, &x3), &bias::<3>());
    let u3 = multiply_fixed(&digits(&y3), c, &bias::<-3>());
    let y0 = add(&x0, &x2); // 0..4.6
    let y1 = add(&x1, &x3);
    let y2 = add(&sub(&x0, &x2), &bias::<9>()); // 6.7..11.3
    x[at[0]].store(&add(&add(&y0, &y1), &bias::<3>()));
    x[at[1]].store(&add(&sub(&y0, &y1), &bias::<8>()));
    x[at[2]].store(&add(&y2, &u3));
    x[at[3]].store(&sub(&y2, &u3));
}

/// One layer with factor 1 on integers in 0..2.3 p, halves of x.
#[target_feature(enable = "avx512f,avx512ifma")]
fn first_two(x: &mut [Lanes], half: usize) {
    for block in x.chunks_exact_mut(2 * half) {
        let (low, high) = block.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            let (x0, x1): (Vector, Vector) = (a.load(), b.load());
            a.store(&add(&add(&x0, &x1), &bias::<3>()));
            b.store(&add(&sub(&x0, &x1), &bias::<6>()));
        }
    }
}

/// Natural to bit-reversed order. Block i of a layer, modulo x^2h - c^2, goes to x^h - c and
/// x^h + c with c = roots[i]. Integers 0..2.3 p become 3 p..20.5 p.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn split(x: &mut [Lanes], roots: &[Fixed]) {
    let n = x.len();
    if n.trailing_zeros() % 2 == 1 {
        first_two(x, n / 2);
        for (i, half) in x.chunks_exact_mut(n / 2).enumerate() {
            split_block(half, i, roots);
        }
    } else {
        let quarter = n / 4;
        for j in 0..quarter {
            let at = [j, j + quarter, j + 2 * quarter, j + 3 * quarter];
            first_four(x, at, &roots[1]);
        }
        for (i, block) in x.chunks_exact_mut(quarter).enumerate() {
            split_block(block, i, roots);
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn split_block(x: &mut [Lanes], i: usize, roots: &[Fixed]) {
    let quarter = x.len() / 4;
    if quarter == 0 {
        return;
    }
    let (a, b, c) = (&roots[i], &roots[2 * i], &roots[2 * i + 1]);
    for j in 0..quarter {
        let at = [j, j + quarter, j + 2 * quarter, j + 3 * quarter];
        four(x, at, a, b, c);
    }
    if quarter > 1 {
        for (k, block) in x.chunks_exact_mut(quarter).enumerate() {
            split_block(block, 4 * i + k, roots);
        }
    }
}

/// What [`join`] starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Integers in 0..2.3 p and roots without a coset: the first layers' factors are 1.
    Fresh,
    /// Integers in 3 p..20.5 p.
    Running,
}

/// Bit-reversed to natural order, values at the roots of unity (times what `roots` holds):
/// f(x) = even(x^2) + x odd(x^2). Integers become 3 p..20.5 p.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn join(x: &mut [Lanes], roots: &[Fixed], start: Start) {
    let quarter = x.len() / 4;
    if x.len() == 2 {
        match start {
            Start::Fresh => first_two(x, 1),
            Start::Running => two(x, &roots[0]),
        }
        return;
    }
    if quarter == 1 {
        let at = [0, 2, 1, 3];
        match start {
            Start::Fresh => first_four(x, at, &roots[2]),
            Start::Running => four(x, at, &roots[0], &roots[1], &roots[2]),
        }
        return;
    }
    for block in x.chunks_exact_mut(quarter) {
        join(block, roots, start);
    }
    let a = layer(roots, quarter);
    let (b, c) = layer(roots, 2 * quarter).split_at(quarter);
    for j in 0..quarter {
        // The order of bits makes the second element of the layer's pairs the third quarter's.
        let at = [j, j + 2 * quarter, j + quarter, j + 3 * quarter];
        four(x, at, &a[j], &b[j], &c[j]);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn two(x: &mut [Lanes], a: &Fixed) {
    let t = multiply_fixed(&digits(&x[1].load()), a, &bias::<-3>());
    let x0 = lower(&x[0].load());
    x[0].store(&add(&x0, &t));
    x[1].store(&sub(&x0, &t));
}
