//! Loading a parameter file into the form that the CPU proves from: `make bench-load`.
//!
//! Ours checks every point to lie on its curve; bellperson's `Parameters::read` is asked not to check. Beside them the file
//! is read from its first byte to its last and thrown away, which is as fast as any loading from this disk (or from the
//! system's memory of it) can be. The three alternate. The last lines are medians, with the file's bytes a second, and the
//! ratio.
//!
//! `bench_load CIRCUIT [RUNS]`, with parameters in `FIL_PROOFS_PARAMETER_CACHE`.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Instant;

use bellperson::groth16;
use blstrs::Bls12;
use splitprove::engine::{params_path, Options};
use splitprove::params;
use splitprove::proofs::CircuitId;
use splitprove::telemetry::Control;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Bytes asked for at a time by whoever only reads.
const CHUNK: usize = 4 << 20;

fn plain(path: &Path) -> Outcome<f64> {
    let mut chunk = vec![0; CHUNK];
    let begun = Instant::now();
    let mut file = File::open(path)?;
    while file.read(&mut chunk)? > 0 {
        black_box(&chunk);
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn theirs(path: &Path) -> Outcome<f64> {
    let begun = Instant::now();
    let params = groth16::Parameters::<Bls12>::read(BufReader::new(File::open(path)?), false)?;
    let took = begun.elapsed().as_secs_f64();
    black_box(&params);
    Ok(took)
}

fn ours(path: &Path) -> Outcome<f64> {
    let begun = Instant::now();
    let params = params::read(path, Control::NONE)?;
    let took = begun.elapsed().as_secs_f64();
    black_box(&params);
    Ok(took)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (circuit, runs) = match args.as_slice() {
        [circuit] => (circuit, 5),
        [circuit, runs] => (circuit, runs.parse::<usize>()?.max(1)),
        _ => return Err("usage: bench_load CIRCUIT [RUNS]".into()),
    };
    let circuit: CircuitId = circuit.parse()?;
    let path = params_path(&Options::default().params_dir, &circuit)?;
    let bytes = path.metadata().map_err(|e| format!("{}: {e}", path.display()))?.len() as f64;
    let threads = rayon::current_num_threads();
    println!("{circuit}: {bytes} bytes, {threads} threads; {runs} runs of each after one that does not count");

    let mut times: [Vec<f64>; 3] = Default::default();
    for run in 0..=runs {
        let now = [plain(&path)?, theirs(&path)?, ours(&path)?];
        println!("run {run}: plain reading {:.3} s  bellperson {:.3} s  splitprove {:.3} s", now[0], now[1], now[2]);
        if run > 0 {
            times.iter_mut().zip(now).for_each(|(all, one)| all.push(one));
        }
    }
    let [plain, bellperson, splitprove] = times.map(median);
    let rate = |seconds: f64| bytes / seconds / 1e9;
    println!("plain reading {plain:.3} s, {:.2} GB/s", rate(plain));
    println!("bellperson {bellperson:.3} s, {:.2} GB/s (unchecked)", rate(bellperson));
    println!("splitprove {splitprove:.3} s, {:.2} GB/s (every point on its curve)", rate(splitprove));
    println!("ratio {:.2}", bellperson / splitprove);
    Ok(())
}
