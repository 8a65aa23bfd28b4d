//! What is generated is what bellperson generates.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use bellpepper_core::Circuit;
use bellperson::groth16;
use blstrs::{Bls12, Scalar};

use super::file_tests::trapdoor;
use super::write::{write_set, Record};
use super::*;
use crate::circuit::record;
use crate::circuit::testing::{styles, RandomCircuit};
use crate::proofs::{CircuitId, CircuitVisitor};
use crate::telemetry::Control;

#[test]
fn equals_bellperson() {
    for (seed, style) in styles().into_iter().enumerate() {
        let circuit = RandomCircuit::new(seed as u64, style);
        let matrices = record(circuit.blank()).unwrap();
        let ours = generate_in_memory(&matrices, trapdoor(seed as u64)).unwrap();
        let theirs = Theirs(trapdoor(seed as u64)).visit(circuit);
        assert_eq!(theirs.vk, ours.vk, "{style:?}");
        assert_eq!(&theirs.h[..], &ours.h[..], "{style:?}");
        assert_eq!(&theirs.l[..], &ours.l[..], "{style:?}");
        assert_eq!(&theirs.a[..], &ours.a[..], "{style:?}");
        assert_eq!(&theirs.b_g1[..], &ours.b_g1[..], "{style:?}");
        assert_eq!(&theirs.b_g2[..], &ours.b_g2[..], "{style:?}");
    }
}

/// bellperson's parameters of the circuit it visits.
struct Theirs(Trapdoor);

impl CircuitVisitor for Theirs {
    type Output = groth16::Parameters<Bls12>;

    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let t = self.0;
        groth16::generate_parameters(circuit, t.g1, t.g2, t.alpha, t.beta, t.gamma, t.delta, t.tau).unwrap()
    }
}

/// Our file of a circuit at a trapdoor, which must be bellperson's.
fn file_equals_bellperson(circuit: &str) {
    let circuit: CircuitId = circuit.parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let names = Names::of(&circuit, dir.path()).unwrap();
    let matrices = circuit.with_blank_circuit(Record { cancelled: &AtomicBool::new(false) }).unwrap().unwrap();
    write_set(&matrices, trapdoor(9), &names, dir.path(), "test", Control::NONE).unwrap();
    let ours = fs::read(&names.params).unwrap();
    let mut theirs = Vec::with_capacity(ours.len());
    circuit.with_blank_circuit(Theirs(trapdoor(9))).unwrap().write(&mut theirs).unwrap();
    assert!(ours == theirs, "{circuit}");
}

#[test]
fn large_window_post_equals_bellperson() {
    file_equals_bellperson("window-post-2KiB");
}

#[test]
fn large_winning_post_equals_bellperson() {
    file_equals_bellperson("winning-post-2KiB");
}

#[test]
#[ignore = "bellperson takes 20 CPU minutes"]
fn large_porep_equals_bellperson() {
    file_equals_bellperson("porep-2KiB");
}

#[test]
#[ignore = "bellperson takes 25 CPU minutes"]
fn large_snap_equals_bellperson() {
    file_equals_bellperson("snap-2KiB");
}

/// CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes one struct, for which all zeros are a value too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let result = work();
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    println!("{what}: {seconds:.2} s, {cpu:.2} CPU s, peak {} MB", crate::memory::peak_rss_bytes() >> 20);
    result
}

#[test]
#[ignore = "a measurement: PoRep 2 KiB's parameters made, read, checked"]
fn large_porep_times() {
    let circuit: CircuitId =
        std::env::var("SPLITPROVE_TEST_CIRCUIT").as_deref().unwrap_or("porep-2KiB").parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let made = timed("generate", || generate(&circuit, dir.path(), Control::NONE).unwrap());
    for _ in 0..3 {
        timed("read", || read(&made.params, Control::NONE).unwrap());
        timed("bellperson's read", || {
            let file = std::io::BufReader::with_capacity(1 << 20, fs::File::open(&made.params).unwrap());
            groth16::Parameters::<Bls12>::read(file, false).unwrap()
        });
    }
    timed("check", || check(&made.params, Control::NONE).unwrap());
    assert_eq!(provenance(&made.params, &circuit).unwrap(), Provenance::Development);
}
