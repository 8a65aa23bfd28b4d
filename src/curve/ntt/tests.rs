use std::sync::atomic::{AtomicUsize, Ordering};

use bellperson::domain::EvaluationDomain;
use blstrs::Scalar;
use ec_gpu_gen::threadpool::Worker;
use ff::Field;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

fn never() -> bool {
    false
}

/// Both arithmetics, where the CPU has both.
fn domains(log_n: u32) -> Vec<Domain> {
    vec![Domain::new(log_n).unwrap(), Domain::portable(log_n).unwrap()]
}

fn inputs(log_n: u32, rng: &mut StdRng) -> Vec<Vec<Scalar>> {
    let n = 1usize << log_n;
    let mut sparse = vec![Scalar::ZERO; n];
    for _ in 0..3 {
        sparse[rng.gen_range(0..n)] = Scalar::random(&mut *rng);
    }
    let mixed = (0..n)
        .map(|_| match rng.gen_range(0..4) {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::ONE,
            _ => Scalar::random(&mut *rng),
        })
        .collect();
    vec![
        (0..n).map(|_| Scalar::random(&mut *rng)).collect(),
        vec![Scalar::ZERO; n],
        vec![Scalar::ONE; n],
        vec![-Scalar::ONE; n],
        sparse,
        mixed,
    ]
}

#[derive(Clone, Copy, Debug)]
enum Transform {
    Ntt,
    Intt,
    ToCoset,
    FromCoset,
}

fn oracle(transform: Transform, values: &[Scalar], worker: &Worker) -> Vec<Scalar> {
    let mut domain = EvaluationDomain::from_coeffs(values.to_vec()).unwrap();
    match transform {
        Transform::Ntt => domain.fft(worker, &mut None).unwrap(),
        Transform::Intt => domain.ifft(worker, &mut None).unwrap(),
        Transform::ToCoset => {
            domain.ifft(worker, &mut None).unwrap();
            domain.coset_fft(worker, &mut None).unwrap();
        }
        Transform::FromCoset => domain.icoset_fft(worker, &mut None).unwrap(),
    }
    domain.into_coeffs()
}

fn run(domain: &Domain, transform: Transform, values: &mut [Scalar]) {
    match transform {
        Transform::Ntt => domain.ntt(values, &never),
        Transform::Intt => domain.intt(values, &never),
        Transform::ToCoset => domain.to_coset(values, &never),
        Transform::FromCoset => domain.from_coset(values, &never),
    }
    .unwrap();
}

const TRANSFORMS: [Transform; 4] = [Transform::Ntt, Transform::Intt, Transform::ToCoset, Transform::FromCoset];

/// Equal, and canonical: limb by limb, not only as field elements.
fn assert_same(ours: &[Scalar], theirs: &[Scalar], what: &str) {
    let limbs = |x: &Scalar| blst::blst_fr::from(*x).l;
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(limbs(a), limbs(b), "{what}, element {i}");
    }
}

#[test]
fn transforms_agree_with_bellperson() {
    let worker = Worker::new();
    let mut rng = StdRng::seed_from_u64(1);
    for log_n in 0..=14 {
        for (kind, values) in inputs(log_n, &mut rng).iter().enumerate() {
            if log_n > 11 && kind > 0 && kind < 5 {
                continue;
            }
            for transform in TRANSFORMS {
                let expected = oracle(transform, values, &worker);
                for (path, domain) in domains(log_n).iter().enumerate() {
                    let mut ours = values.clone();
                    run(domain, transform, &mut ours);
                    let what = format!("{transform:?} 2^{log_n} input {kind} path {path}");
                    assert_same(&ours, &expected, &what);
                }
            }
        }
    }
}

fn bellperson_quotient(a: &[Scalar], b: &[Scalar], c: &[Scalar], worker: &Worker) -> Vec<Scalar> {
    let domain = |x: &[Scalar]| EvaluationDomain::from_coeffs(x.to_vec()).unwrap();
    let (mut a, mut b, mut c) = (domain(a), domain(b), domain(c));
    EvaluationDomain::ifft_many(&mut [&mut a, &mut b, &mut c], worker, &mut None).unwrap();
    EvaluationDomain::coset_fft_many(&mut [&mut a, &mut b, &mut c], worker, &mut None).unwrap();
    a.mul_assign(worker, &b);
    a.sub_assign(worker, &c);
    a.divide_by_z_on_coset(worker);
    a.icoset_fft(worker, &mut None).unwrap();
    a.into_coeffs()
}

#[test]
fn quotient_agrees_with_bellperson() {
    let worker = Worker::new();
    let mut rng = StdRng::seed_from_u64(2);
    for log_n in (0..=11).chain([16]) {
        let inputs = inputs(log_n, &mut rng);
        for (a, b, c) in [(0, 5, 3), (5, 4, 1), (3, 3, 0), (1, 2, 5)] {
            if log_n == 16 && a != 0 {
                continue;
            }
            let (a, b, c) = (&inputs[a], &inputs[b], &inputs[c]);
            let expected = bellperson_quotient(a, b, c, &worker);
            for (path, domain) in domains(log_n).iter().enumerate() {
                let (mut a, mut b, mut c) = (a.clone(), b.clone(), c.clone());
                for x in [&mut a, &mut b, &mut c] {
                    domain.to_coset(x, &never).unwrap();
                }
                domain.product(&mut a, &b, &never).unwrap();
                domain.subtract(&mut a, &c, &never).unwrap();
                domain.from_coset(&mut a, &never).unwrap();
                assert_same(&a, &expected, &format!("h 2^{log_n} path {path}"));
            }
        }
    }
}

#[test]
fn domains_end_at_the_two_adicity() {
    assert!(Domain::new(33).is_none());
    assert!(Domain::new(u32::MAX).is_none());
    // 2^27: no table may grow with n.
    let domain = Domain::new(27).unwrap();
    assert_eq!(domain.size(), 1 << 27);
}

/// Cancelled from the k-th question on: an error, and no more than one question a thread after.
#[test]
fn cancellation_stops_every_function_at_once() {
    let log_n = 14;
    let mut rng = StdRng::seed_from_u64(4);
    let values = inputs(log_n, &mut rng).swap_remove(0);
    for domain in domains(log_n) {
        type Call<'a> = &'a dyn Fn(&mut [Scalar], &(dyn Fn() -> bool + Sync)) -> Result<(), Stopped>;
        let calls: [Call; 6] = [
            &|x, stop| domain.to_coset(x, stop),
            &|x, stop| domain.product(x, &values, stop),
            &|x, stop| domain.subtract(x, &values, stop),
            &|x, stop| domain.from_coset(x, stop),
            &|x, stop| domain.ntt(x, stop),
            &|x, stop| domain.intt(x, stop),
        ];
        for (which, call) in calls.iter().enumerate() {
            let questions = AtomicUsize::new(0);
            let count = || {
                questions.fetch_add(1, Ordering::Relaxed);
                false
            };
            call(&mut values.clone(), &count).unwrap();
            let whole = questions.into_inner();
            assert!(whole > 1, "call {which} asked {whole} times");
            for allowed in [0, whole / 2, whole - 1] {
                let questions = AtomicUsize::new(0);
                let stop = || questions.fetch_add(1, Ordering::Relaxed) >= allowed;
                assert_eq!(call(&mut values.clone(), &stop), Err(Stopped::Cancelled));
                let asked = questions.into_inner();
                assert!(asked <= allowed + rayon::current_num_threads());
            }
        }
    }
}

#[test]
fn runs_in_the_callers_pool() {
    let mut rng = StdRng::seed_from_u64(5);
    let values = inputs(14, &mut rng).swap_remove(0);
    let domain = Domain::new(14).unwrap();
    let mut expected = values.clone();
    domain.to_coset(&mut expected, &never).unwrap();
    for threads in [1, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let inside = || rayon::current_num_threads() != threads || rayon::current_thread_index().is_none();
        let mut ours = values.clone();
        pool.install(|| domain.to_coset(&mut ours, &inside)).unwrap();
        assert_same(&ours, &expected, "pool");
    }
}
