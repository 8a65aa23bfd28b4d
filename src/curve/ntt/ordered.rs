//! Products of [`ifma`](super::ifma) in assembly, for the order of their multiply-adds.
//!
//! The compiler puts the ten terms of a sum one after the other, 4 cycles of latency each, and
//! gathers multipliers with shuffles that take the multipliers' port: measured on a Xeon with two
//! 512-bit multipliers, 65 cycles a product by a fixed multiplier in a transform, against 51 here
//! and 46 for the instructions' ports alone.

use std::arch::asm;
use std::arch::x86_64::*;

use super::ifma::{Fixed, FixedLanes, Vector, NEGATIVE_INVERSE, P};

/// Limbs of p, and -1/p modulo 2^52.
static REDUCTION: [u64; 6] = [P[0], P[1], P[2], P[3], P[4], NEGATIVE_INVERSE];

/// a[j..j + 2] += x[i] w0[i][j], b[j..j + 2] += y[i] w1[i][j]; j and the next are literals.
macro_rules! term {
    ($i:literal, $j:literal, $next:literal) => {
        concat!(
            "vpbroadcastq {t}, [{v} + 8 * (5 * ",
            $i,
            " + ",
            $j,
            ")]\n",
            "vpbroadcastq {u}, [{w} + 8 * (5 * ",
            $i,
            " + ",
            $j,
            ")]\n",
            "vpmadd52luq {a",
            $j,
            "}, {x",
            $i,
            "}, {t}\n",
            "vpmadd52luq {b",
            $j,
            "}, {y",
            $i,
            "}, {u}\n",
            "vpmadd52huq {a",
            $next,
            "}, {x",
            $i,
            "}, {t}\n",
            "vpmadd52huq {b",
            $next,
            "}, {y",
            $i,
            "}, {u}\n",
        )
    };
}

/// The limbs j in an order that leaves each sum 4 cycles, the latency, between its terms.
macro_rules! terms {
    ($i:literal) => {
        concat!(term!($i, 0, 1), term!($i, 2, 3), term!($i, 4, 5), term!($i, 1, 2), term!($i, 3, 4),)
    };
}

/// a[j..j + 2] += t p[j], b[j..j + 2] += u p[j].
macro_rules! reduction_term {
    ($j:literal, $next:literal) => {
        concat!(
            "vpbroadcastq {p}, [{r} + 8 * ",
            $j,
            "]\n",
            "vpmadd52luq {a",
            $j,
            "}, {t}, {p}\n",
            "vpmadd52luq {b",
            $j,
            "}, {u}, {p}\n",
            "vpmadd52huq {a",
            $next,
            "}, {t}, {p}\n",
            "vpmadd52huq {b",
            $next,
            "}, {u}, {p}\n",
        )
    };
}

/// start + x v and start + y w, as [`multiply_fixed`](super::ifma::multiply_fixed).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_fixed_two([x, y]: [&Vector; 2], [v, w]: [&Fixed; 2], start: &Vector) -> [Vector; 2] {
    let zero = _mm512_setzero_si512();
    let (mut a0, mut b0) = (zero, zero);
    let [mut a1, mut a2, mut a3, mut a4, mut a5] = *start;
    let [mut b1, mut b2, mut b3, mut b4, mut b5] = *start;
    // SAFETY: reads the two multipliers and the constants; changes nothing but its outputs.
    unsafe {
        asm!(
            terms!(0),
            terms!(1),
            terms!(2),
            terms!(3),
            terms!(4),
            "vpbroadcastq {p}, [{r} + 40]",
            "vpxorq {t}, {t}, {t}",
            "vpxorq {u}, {u}, {u}",
            "vpmadd52luq {t}, {a0}, {p}",
            "vpmadd52luq {u}, {b0}, {p}",
            reduction_term!(0, 1),
            reduction_term!(2, 3),
            reduction_term!(4, 5),
            reduction_term!(1, 2),
            reduction_term!(3, 4),
            a0 = inout(zmm_reg) a0, a1 = inout(zmm_reg) a1, a2 = inout(zmm_reg) a2,
            a3 = inout(zmm_reg) a3, a4 = inout(zmm_reg) a4, a5 = inout(zmm_reg) a5,
            b0 = inout(zmm_reg) b0, b1 = inout(zmm_reg) b1, b2 = inout(zmm_reg) b2,
            b3 = inout(zmm_reg) b3, b4 = inout(zmm_reg) b4, b5 = inout(zmm_reg) b5,
            x0 = in(zmm_reg) x[0], x1 = in(zmm_reg) x[1], x2 = in(zmm_reg) x[2],
            x3 = in(zmm_reg) x[3], x4 = in(zmm_reg) x[4],
            y0 = in(zmm_reg) y[0], y1 = in(zmm_reg) y[1], y2 = in(zmm_reg) y[2],
            y3 = in(zmm_reg) y[3], y4 = in(zmm_reg) y[4],
            t = out(zmm_reg) _, u = out(zmm_reg) _, p = out(zmm_reg) _,
            v = in(reg) v, w = in(reg) w, r = in(reg) &REDUCTION,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    a1 = _mm512_add_epi64(a1, _mm512_srli_epi64::<52>(a0));
    b1 = _mm512_add_epi64(b1, _mm512_srli_epi64::<52>(b0));
    [[a1, a2, a3, a4, a5], [b1, b2, b3, b4, b5]]
}

/// g[j..j + 2] += t[i] step[i][j], a[i + j..i + j + 2] += x[i] t[j].
macro_rules! product_term {
    ($i:literal, $j:literal, $next:literal, $sum:literal, $above:literal) => {
        concat!(
            "vmovdqa64 {s}, [{w} + 64 * (5 * ",
            $i,
            " + ",
            $j,
            ")]\n",
            "vpmadd52luq {g",
            $j,
            "}, {t",
            $i,
            "}, {s}\n",
            "vpmadd52luq {a",
            $sum,
            "}, {x",
            $i,
            "}, {t",
            $j,
            "}\n",
            "vpmadd52huq {g",
            $next,
            "}, {t",
            $i,
            "}, {s}\n",
            "vpmadd52huq {a",
            $above,
            "}, {x",
            $i,
            "}, {t",
            $j,
            "}\n",
        )
    };
}

/// Clears limb $a of a sum with a multiple of p and carries it upwards.
macro_rules! clear_limb {
    ($m:literal, $a:literal, $b:literal, $c:literal, $d:literal, $e:literal, $f:literal) => {
        concat!(
            "vpxorq {",
            $m,
            "}, {",
            $m,
            "}, {",
            $m,
            "}\n",
            "vpmadd52luq {",
            $m,
            "}, {",
            $a,
            "}, qword ptr [{r} + 40]{{1to8}}\n",
            "vpmadd52luq {",
            $a,
            "}, {",
            $m,
            "}, qword ptr [{r}]{{1to8}}\n",
            "vpmadd52huq {",
            $b,
            "}, {",
            $m,
            "}, qword ptr [{r}]{{1to8}}\n",
            "vpmadd52luq {",
            $c,
            "}, {",
            $m,
            "}, qword ptr [{r} + 16]{{1to8}}\n",
            "vpmadd52luq {",
            $b,
            "}, {",
            $m,
            "}, qword ptr [{r} + 8]{{1to8}}\n",
            "vpmadd52huq {",
            $c,
            "}, {",
            $m,
            "}, qword ptr [{r} + 8]{{1to8}}\n",
            "vpsrlq {",
            $a,
            "}, {",
            $a,
            "}, 52\n",
            "vpmadd52huq {",
            $d,
            "}, {",
            $m,
            "}, qword ptr [{r} + 16]{{1to8}}\n",
            "vpaddq {",
            $b,
            "}, {",
            $b,
            "}, {",
            $a,
            "}\n",
            "vpmadd52luq {",
            $e,
            "}, {",
            $m,
            "}, qword ptr [{r} + 32]{{1to8}}\n",
            "vpmadd52luq {",
            $d,
            "}, {",
            $m,
            "}, qword ptr [{r} + 24]{{1to8}}\n",
            "vpmadd52huq {",
            $f,
            "}, {",
            $m,
            "}, qword ptr [{r} + 32]{{1to8}}\n",
            "vpmadd52huq {",
            $e,
            "}, {",
            $m,
            "}, qword ptr [{r} + 24]{{1to8}}\n",
        )
    };
}

/// (start + x t / 2^260, t step), interleaved: a product of a twist and the twist's next factor.
/// Both x and t as digits. The product is below the quotient x t / 2^260 + p, the factor below 6 p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply_and_step(x: &Vector, t: &Vector, step: &FixedLanes, start: &Vector) -> (Vector, Vector) {
    let zero = _mm512_setzero_si512();
    let [mut a5, mut a6, mut a7, mut a8, mut a9] = *start;
    let (mut g1, mut g2, mut g3, mut g4, mut g5) = (zero, zero, zero, zero, zero);
    // SAFETY: reads the multiplier, aligned to 64 bytes, and the constants; changes nothing but
    // its outputs.
    unsafe {
        asm!(
            product_term!(0, 0, 1, 0, 1),
            product_term!(0, 2, 3, 2, 3),
            product_term!(0, 4, 5, 4, 5),
            product_term!(0, 1, 2, 1, 2),
            product_term!(0, 3, 4, 3, 4),
            product_term!(1, 0, 1, 1, 2),
            product_term!(1, 2, 3, 3, 4),
            product_term!(1, 4, 5, 5, 6),
            product_term!(1, 1, 2, 2, 3),
            product_term!(1, 3, 4, 4, 5),
            product_term!(2, 0, 1, 2, 3),
            product_term!(2, 2, 3, 4, 5),
            product_term!(2, 4, 5, 6, 7),
            product_term!(2, 1, 2, 3, 4),
            product_term!(2, 3, 4, 5, 6),
            product_term!(3, 0, 1, 3, 4),
            product_term!(3, 2, 3, 5, 6),
            product_term!(3, 4, 5, 7, 8),
            product_term!(3, 1, 2, 4, 5),
            product_term!(3, 3, 4, 6, 7),
            product_term!(4, 0, 1, 4, 5),
            product_term!(4, 2, 3, 6, 7),
            product_term!(4, 4, 5, 8, 9),
            product_term!(4, 1, 2, 5, 6),
            product_term!(4, 3, 4, 7, 8),
            clear_limb!("m", "a0", "a1", "a2", "a3", "a4", "a5"),
            clear_limb!("s", "g0", "g1", "g2", "g3", "g4", "g5"),
            clear_limb!("m", "a1", "a2", "a3", "a4", "a5", "a6"),
            clear_limb!("m", "a2", "a3", "a4", "a5", "a6", "a7"),
            clear_limb!("m", "a3", "a4", "a5", "a6", "a7", "a8"),
            clear_limb!("m", "a4", "a5", "a6", "a7", "a8", "a9"),
            a0 = inout(zmm_reg) zero => _, a1 = inout(zmm_reg) zero => _,
            a2 = inout(zmm_reg) zero => _, a3 = inout(zmm_reg) zero => _,
            a4 = inout(zmm_reg) zero => _, a5 = inout(zmm_reg) a5,
            a6 = inout(zmm_reg) a6, a7 = inout(zmm_reg) a7,
            a8 = inout(zmm_reg) a8, a9 = inout(zmm_reg) a9,
            g0 = inout(zmm_reg) zero => _, g1 = inout(zmm_reg) g1, g2 = inout(zmm_reg) g2,
            g3 = inout(zmm_reg) g3, g4 = inout(zmm_reg) g4, g5 = inout(zmm_reg) g5,
            x0 = in(zmm_reg) x[0], x1 = in(zmm_reg) x[1], x2 = in(zmm_reg) x[2],
            x3 = in(zmm_reg) x[3], x4 = in(zmm_reg) x[4],
            t0 = in(zmm_reg) t[0], t1 = in(zmm_reg) t[1], t2 = in(zmm_reg) t[2],
            t3 = in(zmm_reg) t[3], t4 = in(zmm_reg) t[4],
            s = out(zmm_reg) _, m = out(zmm_reg) _,
            w = in(reg) step, r = in(reg) &REDUCTION,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    ([a5, a6, a7, a8, a9], [g1, g2, g3, g4, g5])
}
