//! Parameters of Filecoin's own circuits: slow, so run by `make large-tests`.

use std::path::Path;
use std::time::Instant;

use splitprove::params;
use splitprove::proofs::CircuitId;
use splitprove::telemetry::Control;

fn cpu() -> f64 {
    // SAFETY: writes one struct that is ours.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let s = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    s(usage.ru_utime) + s(usage.ru_stime)
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, cpu_start) = (Instant::now(), cpu());
    let result = work();
    println!(
        "{what}: {:.2} s, {:.2} CPU s, peak {} MB",
        start.elapsed().as_secs_f64(),
        cpu() - cpu_start,
        splitprove::memory::peak_rss_bytes() >> 20
    );
    result
}

#[test]
#[ignore = "minutes"]
fn porep() {
    let circuit: CircuitId = std::env::var("CIRCUIT").unwrap_or("porep-2KiB".into()).parse().unwrap();
    let dir = Path::new("/tmp/params-scratch/out");
    let _ = std::fs::remove_dir_all(dir);
    struct V;
    impl splitprove::proofs::CircuitVisitor for V {
        type Output = splitprove::circuit::Matrices;
        fn visit<C: bellpepper_core::Circuit<blstrs::Scalar> + Send>(self, c: C) -> Self::Output {
            splitprove::circuit::record(c).unwrap()
        }
    }
    let m = timed("record", || circuit.with_blank_circuit(V).unwrap());
    println!("{:?} {} MB {} coefficients", m.shape, m.bytes() as f64 / 1e6, m.coefficients.len());
    drop(m);
    let g = timed("generate", || params::generate(&circuit, dir, Control::NONE).unwrap());
    println!("{g:?}");
    timed("bellperson read", || {
        let f = std::io::BufReader::new(std::fs::File::open(&g.params).unwrap());
        bellperson::groth16::Parameters::<blstrs::Bls12>::read(f, false).unwrap()
    });
    timed("read", || params::read(&g.params, Control::NONE).unwrap());
    timed("read", || params::read(&g.params, Control::NONE).unwrap());
}
