//! Kernels against sums made one point at a time, on both kinds of arithmetic.

use super::*;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group};
use rand::{Rng, SeedableRng};
use rand_xorshift::XorShiftRng;

const BOTH: [Arithmetic; 2] = [Arithmetic::Detect, Arithmetic::Portable];

fn never() -> bool {
    false
}

fn rng(seed: u8) -> XorShiftRng {
    XorShiftRng::from_seed([seed | 1; 16])
}

/// The scalars' names and values worth trying for n points.
fn scalar_sets(n: usize, rng: &mut XorShiftRng) -> Vec<(&'static str, Vec<Scalar>)> {
    let mut set = |name, f: &mut dyn FnMut(usize, &mut XorShiftRng) -> Scalar| {
        (name, (0..n).map(|i| f(i, rng)).collect::<Vec<_>>())
    };
    vec![
        set("random", &mut |_, r| Scalar::random(r)),
        set("zero", &mut |_, _| Scalar::ZERO),
        set("one", &mut |_, _| Scalar::ONE),
        set("minus one", &mut |_, _| -Scalar::ONE),
        set("small", &mut |i, _| Scalar::from(i as u64 % 5)),
        set("near the order", &mut |i, _| -Scalar::from(i as u64)),
        set("powers of two", &mut |i, _| Scalar::from(2u64).pow_vartime([i as u64 % 255])),
        set("window edges", &mut |i, _| Scalar::from(2u64).pow_vartime([i as u64 % 255]) - Scalar::from(i as u64 % 3)),
        set("witness-like", &mut |i, r| match i % 64 {
            0 => Scalar::random(r),
            1..=30 => Scalar::ONE,
            _ => Scalar::ZERO,
        }),
        set("equal", &mut |_, _| -Scalar::from(0x1234_5678_9abc_def1).square()),
    ]
}

macro_rules! group_tests {
    ($module:ident, $affine:ident, $projective:ident, $msm:ident, $sparse:ident, $sum:ident, $fixed:ident, $n:literal) => {
        mod $module {
            use super::*;

            fn random_points(n: usize, rng: &mut XorShiftRng) -> Vec<$affine> {
                let mut point = $projective::random(&mut *rng);
                let step = $projective::random(rng);
                let mut points = Vec::new();
                for _ in 0..n {
                    points.push(point);
                    point += step;
                }
                let mut out = vec![<$affine>::default(); n];
                $projective::batch_normalize(&points, &mut out);
                out
            }

            /// The bases' names and values worth trying.
            fn base_sets(n: usize, rng: &mut XorShiftRng) -> Vec<(&'static str, Vec<$affine>)> {
                let distinct = random_points(n, rng);
                let with = |f: &dyn Fn(usize) -> $affine| (0..n).map(f).collect::<Vec<_>>();
                let identity = <$affine>::from($projective::identity());
                vec![
                    ("equal", with(&|_| distinct[0])),
                    (
                        "negatives",
                        with(&|i| {
                            if i % 2 == 0 {
                                distinct[i / 2]
                            } else {
                                -distinct[i / 2]
                            }
                        }),
                    ),
                    (
                        "one point and its negative",
                        with(&|i| {
                            if i % 3 == 0 {
                                distinct[0]
                            } else {
                                -distinct[0]
                            }
                        }),
                    ),
                    ("few", with(&|i| distinct[i % 3])),
                    ("identities", with(&|i| if i % 3 == 0 { identity } else { distinct[i] })),
                    ("all identities", with(&|_| identity)),
                    ("distinct", distinct.clone()),
                ]
            }

            fn naive(bases: &[$affine], scalars: &[Scalar]) -> $projective {
                bases.iter().zip(scalars).map(|(b, s)| b * s).sum()
            }

            #[test]
            fn multiply_sum_of_any_input() {
                let mut rng = rng(11);
                for n in [0, 1, 2, 3, 7, 8, 9, 33, $n] {
                    for (points, bases) in base_sets(n, &mut rng) {
                        for (what, scalars) in scalar_sets(n, &mut rng) {
                            let expected = naive(&bases, &scalars);
                            for arithmetic in BOTH {
                                let got = $msm(arithmetic, &bases, &scalars, &never);
                                assert_eq!(got, Ok(expected), "{n} {points}, {what}, {arithmetic:?}");
                            }
                        }
                    }
                }
            }

            #[test]
            fn multiply_sum_with_giant_buckets() {
                // All terms of a window in one bucket, more than one task takes.
                let mut rng = rng(12);
                let n = 70_000;
                let few = random_points(100, &mut rng);
                let bases: Vec<_> = (0..n).map(|i| if i % 7 == 0 { -few[i % 100] } else { few[i % 100] }).collect();
                let scalar = Scalar::random(&mut rng);
                let sum: $projective = bases.iter().map($projective::from).sum();
                for arithmetic in BOTH {
                    let got = $msm(arithmetic, &bases, &vec![scalar; n], &never);
                    assert_eq!(got, Ok(sum * scalar), "{arithmetic:?}");
                    assert_eq!($sum(arithmetic, &bases, &never), Ok(sum), "{arithmetic:?}");
                }
            }

            #[test]
            fn sparse_sum() {
                let mut rng = rng(13);
                for n in [1, 10, 3000] {
                    for (points, bases) in base_sets(n, &mut rng) {
                        let mut ones: Vec<u32> = (0..n as u32).filter(|_| rng.gen_bool(0.4)).collect();
                        let mut wide: Vec<u32> = (0..n as u32).filter(|_| rng.gen_bool(0.05)).collect();
                        ones.extend_from_within(..ones.len() / 2);
                        wide.reverse();
                        let scalars: Vec<_> = wide.iter().map(|_| Scalar::random(&mut rng)).collect();
                        let wide_bases: Vec<_> = wide.iter().map(|&i| bases[i as usize]).collect();
                        let sum: $projective = ones.iter().map(|&i| $projective::from(bases[i as usize])).sum();
                        let expected = sum + naive(&wide_bases, &scalars);
                        for arithmetic in BOTH {
                            let got = $sparse(arithmetic, &bases, &ones, &wide, &scalars, &never);
                            assert_eq!(got, Ok(expected), "{n} {points}, {arithmetic:?}");
                        }
                    }
                }
            }

            #[test]
            fn fixed_base_multiples() {
                let mut rng = rng(14);
                let base = <$affine>::from($projective::random(&mut rng));
                let mut scalars: Vec<Scalar> = scalar_sets(40, &mut rng).into_iter().flat_map(|(_, s)| s).collect();
                scalars.resize_with(2500, || Scalar::random(&mut rng));
                let expected: Vec<_> = scalars.iter().map(|s| (base * s).to_affine()).collect();
                for arithmetic in BOTH {
                    let mut out = vec![base; scalars.len()];
                    let table = $fixed::with_arithmetic(arithmetic, &base);
                    assert_eq!(table.multiply_many(&scalars, &mut out, &never), Ok(()));
                    assert!(out == expected, "{arithmetic:?}");
                    let identity = $fixed::with_arithmetic(arithmetic, &$projective::identity().into());
                    assert_eq!(identity.multiply_many(&scalars[..9], &mut out[..9], &never), Ok(()));
                    assert!(out[..9].iter().all(|p| bool::from(p.is_identity())));
                }
            }

            #[test]
            fn stops_when_cancelled() {
                let mut rng = rng(15);
                let bases = random_points(100, &mut rng);
                let scalars = vec![Scalar::from(77).invert().unwrap(); 100];
                for arithmetic in BOTH {
                    assert_eq!($msm(arithmetic, &bases, &scalars, &|| true), Err(Stopped::Cancelled));
                    let ones: Vec<u32> = (0..100).collect();
                    assert_eq!($sparse(arithmetic, &bases, &ones, &[], &[], &|| true), Err(Stopped::Cancelled));
                    let table = $fixed::with_arithmetic(arithmetic, &bases[0]);
                    let out = &mut bases.clone();
                    assert_eq!(table.multiply_many(&scalars, out, &|| true), Err(Stopped::Cancelled));
                }
            }
        }
    };
}

group_tests!(g1, G1Affine, G1Projective, msm_g1_with, msm_sparse_g1_with, sum_g1_with, FixedBaseG1, 1000);
group_tests!(g2, G2Affine, G2Projective, msm_g2_with, msm_sparse_g2_with, sum_g2_with, FixedBaseG2, 300);

#[test]
fn runs_in_pools_of_many_threads() {
    let mut rng = rng(16);
    let scalars: Vec<_> = (0..5000).map(|_| Scalar::random(&mut rng)).collect();
    let mut bases = vec![G1Affine::default(); scalars.len()];
    let table = FixedBaseG1::new(&G1Affine::generator());
    let logs: Vec<_> = (0..5000).map(|_| Scalar::random(&mut rng)).collect();
    table.multiply_many(&logs, &mut bases, &never).unwrap();
    let log: Scalar = logs.iter().zip(&scalars).map(|(a, b)| a * b).sum();
    let expected = G1Projective::generator() * log;
    for threads in [1, 3, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for arithmetic in BOTH {
            let got = pool.install(|| msm_g1_with(arithmetic, &bases, &scalars, &never));
            assert_eq!(got, Ok(expected), "{threads} threads, {arithmetic:?}");
        }
    }
    assert_eq!(Scalar::NUM_BITS, 255);
}

/// Processor seconds of this process and all its threads, in hundredths; 0 where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after_name.split(' ').filter_map(|f| f.parse().ok()).collect();
    fields.get(10..12).map_or(0.0, |f| (f[0] + f[1]) / 100.0)
}

/// Times of the kernels: `cargo test --release -- --ignored --nocapture times`. MSM_LOG sets the largest size,
/// MSM_IFMA_ONLY leaves the portable path out, MSM_BLST adds blst's Pippenger.
#[test]
#[ignore = "takes a minute"]
fn times_of_multiply_sum() {
    let mut rng = rng(17);
    let portable = std::env::var_os("MSM_IFMA_ONLY").is_none();
    let largest: u32 = std::env::var("MSM_LOG").map_or(20, |v| v.parse().unwrap());
    let n = 1 << largest;
    let scalars: Vec<_> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
    let logs: Vec<_> = (0..n).map(|_| Scalar::random(&mut rng)).collect();
    let mut bases = vec![G1Affine::default(); n];
    let start = std::time::Instant::now();
    let table = FixedBaseG1::new(&G1Affine::generator());
    let built = start.elapsed();
    table.multiply_many(&logs, &mut bases, &never).unwrap();
    println!("fixed base, {n} multiples: tables {built:?}, all {:?}", start.elapsed());
    for log in (14..=largest).step_by(2) {
        let (bases, scalars) = (&bases[..1 << log], &scalars[..1 << log]);
        let mut results = Vec::new();
        for arithmetic in &BOTH[..1 + portable as usize] {
            for _ in 0..3 {
                let start = std::time::Instant::now();
                let cpu = cpu_seconds();
                results.push(msm_g1_with(*arithmetic, bases, scalars, &never).unwrap());
                let used = cpu_seconds() - cpu;
                println!("2^{log} {arithmetic:?} {:?}, {used:.2} s of CPU", start.elapsed());
            }
        }
        if std::env::var_os("MSM_BLST").is_some() {
            let points: Vec<_> = bases.iter().map(G1Projective::from).collect();
            let start = std::time::Instant::now();
            results.push(G1Projective::multi_exp(&points, scalars));
            println!("2^{log} blst {:?}", start.elapsed());
        }
        assert!(results.iter().all(|r| *r == results[0]));
    }
}
