//! Native witnesses against the official gadgets, on one thread: `make bench-witness`.
//!
//! For each circuit: processor seconds of the gadgets in bellperson's `WitnessCS`, and of the native maker, the least of some
//! runs that alternate with nothing; their ratio; and bytes of the witness. PoRep and SnapDeals are packed, a PoSt is written
//! to memory that is there. Vanilla proofs are made up, and of the right shape: no circuit looks at their values.
//!
//! `bench_witness [--native] [CIRCUIT …]`, circuits as `porep-2KiB`; `--native` leaves the gadgets out, which take minutes and
//! 5 GB at 32 GiB.

use std::error::Error;
use std::time::Instant;

use bellpepper_core::Circuit;
use bellperson::util_cs::witness_cs::WitnessCS;
use bellperson::ConstraintSystem;
use blstrs::Scalar;
use splitprove::circuit::{Packed, Packer};
use splitprove::memory::{peak_rss_bytes, Buf, Room};
use splitprove::proofs::{CircuitId, CircuitVisitor, Decoded, Kind};
use splitprove::telemetry::Control;
use splitprove::witness::native::{self, Packing, Sink};
use splitprove::witness::plain_witness;

#[allow(dead_code, unused_imports)]
#[path = "../proofs/fixtures.rs"]
mod fixtures;
#[allow(dead_code, unused_imports)]
#[path = "../proofs/large.rs"]
mod large;
#[allow(dead_code, unused_imports)]
#[path = "../proofs/others.rs"]
mod others;
#[allow(dead_code, unused_imports)]
#[path = "../proofs/others_large.rs"]
mod others_large;

/// Runs of the native maker.
const RUNS: usize = 7;

/// Processor seconds of the process, the system's for it included.
fn processor() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Processor seconds, and seconds by the clock.
fn time<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (clock, begun) = (Instant::now(), processor());
    let result = work();
    (result, processor() - begun, clock.elapsed().as_secs_f64())
}

/// The gadgets with variables of their own.
struct Gadgets;

impl CircuitVisitor for Gadgets {
    type Output = (usize, f64);
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> Self::Output {
        let mut system = WitnessCS::<Scalar>::new();
        let (outcome, seconds, _) = time(|| circuit.synthesize(&mut system));
        outcome.expect("the circuit takes its values");
        (system.aux_slice().len(), seconds)
    }
}

/// The gadgets with one variable for all, which changes no value.
struct General;

impl CircuitVisitor for General {
    type Output = f64;
    fn visit<C: Circuit<Scalar> + Send>(self, circuit: C) -> f64 {
        time(|| drop(plain_witness(circuit))).1
    }
}

/// Counts variables.
#[derive(Default)]
struct Size {
    len: usize,
    wide: usize,
}

impl Sink for Size {
    fn bits(&mut self, _: &[u64], count: usize) -> splitprove::error::Result<()> {
        self.len += count;
        Ok(())
    }

    fn scalars(&mut self, values: &[Scalar]) -> splitprove::error::Result<()> {
        self.len += values.len();
        self.wide += values.iter().filter(|v| **v != Scalar::from(0) && **v != Scalar::from(1)).count();
        Ok(())
    }

    fn input(&mut self, _: Scalar) -> splitprove::error::Result<()> {
        Ok(())
    }
}

fn bench(circuit: CircuitId, gadgets: bool) -> splitprove::error::Result<()> {
    let decoded: Decoded = match circuit.kind {
        Kind::Porep => large::made_up_of(circuit.sector_size),
        Kind::Snap => others_large::made_up_update(circuit.sector_size).decode()?,
        kind => {
            let sectors = if kind == Kind::WinningPost { 1 } else { 2400 };
            others_large::made_up_post(kind, circuit.sector_size, sectors).decode()?
        }
    };
    // Constants are made at their first use.
    let mut size = Size::default();
    native::write(&decoded, 0, Control::NONE, &mut size)?;
    let (mut processor, mut clock) = (Vec::new(), Vec::new());
    let memory = peak_rss_bytes();
    let mut bytes = 0;
    if matches!(circuit.kind, Kind::WindowPost | Kind::WinningPost) {
        let mut aux = Buf::<Scalar>::zeroed("bench", size.len)?;
        bytes = 32 * size.len;
        for _ in 0..RUNS {
            let (outcome, seconds, elapsed) = time(|| native::write_slots(&decoded, 0, Control::NONE, &mut aux));
            outcome?;
            processor.push(seconds);
            clock.push(elapsed);
        }
    } else {
        for _ in 0..RUNS {
            // Into fresh memory of the right size, as a partition's.
            let (packed, seconds, elapsed) = time(|| {
                let packer = Packer::in_room(size.len, size.wide, &mut Room::default())?;
                let mut packing = Packing::into_packer(packer);
                native::write(&decoded, 0, Control::NONE, &mut packing)?;
                packing.packer.finish()
            });
            packed?;
            bytes = Packed::bytes_for(size.len, size.wide) as usize;
            processor.push(seconds);
            clock.push(elapsed);
        }
    }
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let native = least(&processor);
    println!("{circuit}: {} variables, {} of them neither 0 nor 1; {bytes} bytes", size.len, size.wide);
    println!("  native   {native:.5} s of processor, {:.5} s by the clock", least(&clock));
    println!("  all runs {processor:.5?}");
    println!("  peak of the process: {memory} bytes before, {} after", peak_rss_bytes());
    if gadgets {
        let (count, official) = decoded.with_circuit(0, Gadgets)?;
        println!("  gadgets  {official:.3} s, {count} variables; native is 1/{:.0}", official / native);
        let general = decoded.with_circuit(0, General)?;
        println!("  gadgets with one variable for all {general:.3} s");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut circuits: Vec<String> = std::env::args().skip(1).collect();
    let gadgets = !circuits.iter().any(|arg| arg == "--native");
    circuits.retain(|arg| arg != "--native");
    if circuits.is_empty() {
        circuits = ["porep-2KiB", "snap-2KiB", "window-post-2KiB", "winning-post-2KiB"].map(String::from).to_vec();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for circuit in circuits {
        let circuit: CircuitId = circuit.parse()?;
        pool.install(|| bench(circuit, gadgets))?;
    }
    Ok(())
}
