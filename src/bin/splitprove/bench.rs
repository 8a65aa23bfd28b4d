//! `splitprove bench`: how long proofs take when several are made at one time, and what memory that needs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{json, Map, Value};
use splitprove::engine::{Engine, Pending, Priority, Progress, Stats};
use splitprove::error::{Code, Error, Result};
use splitprove::memory::peak_rss_bytes;
use splitprove::proofs::Kind;
use splitprove::telemetry::Durations;

use crate::args::{parse_bytes, Device, Statement};
use crate::files::ParameterFile;
use crate::progress::Bar;
use crate::stated::Stated;
use crate::{interrupt, output};

/// How often Ctrl-C and what is in flight are looked at. A proof's end is seen so much later at most.
const TICK: Duration = Duration::from_millis(5);

/// Make the same proof many times, several at one time, and verify each.
///
/// Proofs are verified after the last one is made, outside the time. A request that is refused as busy is handed in again when
/// the hint it came with is over.
///
/// `--json` prints one object: `kind`, `circuit`, `count`, `parallel`, `seconds` (from the first request to the last
/// proof), `seconds_per_proof` (`seconds` / `count`, loading parameters included), `loading_seconds` (of the proof that
/// waited longest for parameters), `seconds_per_proof_loaded` ((`seconds` − `loading_seconds`) / `count`), `peak_rss_bytes`
/// (of the process), `budget_bytes`, `budget_peak_bytes`, `verified` (how many proofs), `busy` (how often a request was refused
/// as busy), `device`, `development_parameters`, `stages`.
/// `stages` has `queued` (decoding included), `loading`, `witness`, `device`, `finishing`, each with `per_proof` {`mean`, `min`,
/// `max`} in seconds: while several partitions are at work, a proof is in the furthest stage any of them is in; and the last
/// three with `per_partition` likewise, each partition's own time in that stage.
#[derive(Args)]
pub struct Bench {
    #[command(flatten)]
    statement: Statement,
    /// File with a vanilla proof (PoRep: the output of commit phase 1); once for each
    #[arg(long, value_name = "FILE", required = true)]
    input: Vec<PathBuf>,
    /// Proofs in all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    count: u64,
    /// Proofs in flight at one time
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = at_least_one)]
    parallel: u64,
    /// Memory for large buffers; without: what the machine allows (bytes, or a number with KiB, MiB or GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
    /// Partitions synthesised at one time; without: one a core
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    workers: Option<u64>,
    /// Proofs that may wait or run in the engine: one more is refused as busy; without: 64
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    queue_depth: Option<u64>,
    /// low, normal, high or critical; without: the kind's own
    #[arg(long, value_name = "PRIORITY", value_parser = parse_priority)]
    priority: Option<u32>,
    /// Write a timeline for Chrome's and Perfetto's viewers
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    device: Device,
}

fn at_least_one(s: &str) -> Result<u64, String> {
    match s.parse() {
        Ok(n) if (1..=1_000_000).contains(&n) => Ok(n),
        _ => Err("a number from 1 to 1000000".into()),
    }
}

fn parse_priority(s: &str) -> Result<u32, String> {
    match s {
        "low" | "1" => Ok(1),
        "normal" | "2" => Ok(2),
        "high" | "3" => Ok(3),
        "critical" | "4" => Ok(4),
        _ => Err("none of low, normal, high, critical".into()),
    }
}

/// What was made.
#[derive(Default)]
struct Made {
    proofs: Vec<std::sync::Arc<[u8]>>,
    progress: Vec<Progress>,
    busy: u64,
    seconds: f64,
}

impl Bench {
    pub fn run(self) -> Result<()> {
        let kind = self.statement.kind;
        if let Some(trace) = &self.trace {
            output::check_output(trace).map_err(|e| Error { field: "trace".into(), ..e })?;
        }
        let stated = Stated::read(&self.statement, &self.input)?;
        let mut options = self.device.options()?;
        options.host_memory_limit = self.budget.unwrap_or(0);
        options.synthesis_threads = self.workers.unwrap_or(0) as usize;
        options.queue_depth = self.queue_depth.unwrap_or(0) as usize;
        let parameters = ParameterFile::look(&options.params_dir, stated.public().circuit()?)?;
        let engine = Engine::new(options)?;
        if let Some(trace) = &self.trace {
            engine.start_trace(trace)?;
        }
        let made = self.make(&engine, &stated, kind, &parameters);
        if self.trace.is_some() {
            // What was seen until a failure is worth a look too; the failure itself goes first.
            let written = engine.stop_trace();
            if made.is_ok() {
                written?;
            }
        }
        let made = made?;
        for proof in &made.proofs {
            engine.verify(stated.public(), proof)?;
            if interrupt::requested() {
                return Err(Error::cancelled());
            }
        }
        parameters.warn();
        let report =
            Report { bench: &self, engine: &engine, stats: engine.stats(), made: &made, parameters: &parameters };
        if self.json {
            output::print_json(&report.json());
        } else {
            report.print();
        }
        Ok(())
    }

    /// Makes the proofs. On an error or Ctrl-C all that is in flight is cancelled: a dropped `Pending` is.
    fn make(&self, engine: &Engine, stated: &Stated, kind: Kind, parameters: &ParameterFile) -> Result<Made> {
        let priority = Priority::from_number(self.priority.unwrap_or(0), kind)?;
        let bar = Bar::new(&format!("proving {} {} times", parameters.circuit, self.count));
        let mut made = Made::default();
        let mut flying: Vec<Pending> = Vec::new();
        let (mut started, mut not_before) = (0, None::<Instant>);
        let begun = Instant::now();
        while (made.proofs.len() as u64) < self.count {
            while started < self.count
                && (flying.len() as u64) < self.parallel
                && not_before.is_none_or(|at| at <= Instant::now())
            {
                match engine.submit(stated.copy()?.submission(engine, priority, started + 1)) {
                    Ok(pending) => {
                        flying.push(pending);
                        started += 1;
                        not_before = None;
                    }
                    Err(e) if e.code == Code::Busy => {
                        made.busy += 1;
                        not_before = Some(Instant::now() + e.retry_after);
                    }
                    Err(e) => return Err(e),
                }
            }
            match flying.first() {
                Some(first) => drop(first.wait(Some(TICK))),
                None => std::thread::sleep(TICK),
            }
            if interrupt::requested() {
                return Err(Error::cancelled());
            }
            for done in flying.extract_if(.., |pending| pending.ended().is_some()) {
                let nothing = || Err(Error::internal("a proof that is done has no outcome"));
                made.proofs.push(done.outcome().unwrap_or_else(nothing)?);
                made.progress.push(done.progress());
                made.seconds = begun.elapsed().as_secs_f64();
            }
            let parts: u64 = flying.iter().map(|pending| u64::from(pending.progress().permille)).sum();
            bar.set(((1000 * made.proofs.len() as u64 + parts) / self.count) as u32);
        }
        Ok(made)
    }
}

struct Report<'a> {
    bench: &'a Bench,
    engine: &'a Engine,
    stats: Stats,
    made: &'a Made,
    parameters: &'a ParameterFile,
}

/// Mean, shortest and longest, in seconds.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    min: f64,
    max: f64,
}

impl Spread {
    fn of_proofs(progress: &[Progress], stage: usize) -> Self {
        let seconds = progress.iter().map(|p| p.stage_ns[stage] as f64 / 1e9);
        Spread {
            mean: seconds.clone().sum::<f64>() / progress.len() as f64,
            min: seconds.clone().fold(f64::INFINITY, f64::min),
            max: seconds.fold(0.0, f64::max),
        }
    }

    fn of_partitions(durations: &Durations) -> Option<Self> {
        let (min, max) = durations.extremes()?;
        Some(Spread { mean: durations.seconds() / durations.cumulative().1 as f64, min, max })
    }

    fn json(self) -> Value {
        json!({ "mean": self.mean, "min": self.min, "max": self.max })
    }

    fn words(self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.mean, self.min, self.max)
    }
}

impl Report<'_> {
    /// Every stage: its name, per proof, per partition.
    fn stages(&self) -> [(&'static str, Spread, Option<Spread>); 5] {
        let d = self.engine.durations();
        let partitions = [None, None, Some(&d.witness), Some(&d.device), Some(&d.finishing)];
        let names = ["queued", "loading", "witness", "device", "finishing"];
        std::array::from_fn(|i| {
            let proofs = Spread::of_proofs(&self.made.progress, i);
            (names[i], proofs, partitions[i].and_then(Spread::of_partitions))
        })
    }

    /// Seconds the parameters were loaded: of the proof that waited longest.
    fn loading(&self) -> f64 {
        Spread::of_proofs(&self.made.progress, 1).max
    }

    fn per_proof(&self, without: f64) -> f64 {
        (self.made.seconds - without) / self.bench.count as f64
    }

    fn json(&self) -> Value {
        let mut stages = Map::new();
        for (name, proofs, partitions) in self.stages() {
            let mut stage = json!({ "per_proof": proofs.json() });
            if let Some(partitions) = partitions {
                stage["per_partition"] = partitions.json();
            }
            stages.insert(name.into(), stage);
        }
        json!({
            "kind": self.parameters.circuit.kind.word(),
            "circuit": self.parameters.circuit.to_string(),
            "count": self.bench.count,
            "parallel": self.bench.parallel,
            "seconds": self.made.seconds,
            "seconds_per_proof": self.per_proof(0.0),
            "loading_seconds": self.loading(),
            "seconds_per_proof_loaded": self.per_proof(self.loading()),
            "peak_rss_bytes": peak_rss_bytes(),
            "budget_bytes": self.stats.budget_bytes,
            "budget_peak_bytes": self.stats.budget_peak_bytes,
            "verified": self.made.proofs.len(),
            "busy": self.made.busy,
            "device": self.engine.device_name(),
            "development_parameters": self.parameters.is_development(),
            "stages": stages,
        })
    }

    fn print(&self) {
        output::say(&format!(
            "{}: {}, {} at one time, on {}; all verify",
            self.parameters.circuit,
            output::count(self.made.proofs.len(), "proof"),
            self.bench.parallel,
            self.engine.device_name()
        ));
        output::say(&format!(
            "{:.3} s a proof ({:.2} s in all); {:.3} s without the {:.2} s in which parameters were loaded; busy {} times",
            self.per_proof(0.0),
            self.made.seconds,
            self.per_proof(self.loading()),
            self.loading(),
            self.made.busy
        ));
        output::say(&format!(
            "memory: {} resident at most; of a budget of {} at most {} taken",
            output::bytes(peak_rss_bytes()),
            output::bytes(self.stats.budget_bytes),
            output::bytes(self.stats.budget_peak_bytes)
        ));
        output::say(&format!("{:<10} {:>26} {:>26}", "seconds", "a proof", "a partition"));
        for (name, proofs, partitions) in self.stages() {
            let partitions = partitions.map_or(String::new(), Spread::words);
            output::say(format!("{name:<10} {:>26} {partitions:>26}", proofs.words()).trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_priorities() {
        assert_eq!((at_least_one("1"), at_least_one("1000000")), (Ok(1), Ok(1_000_000)));
        assert!(["0", "-1", "", "1000001", "x"].iter().all(|s| at_least_one(s).is_err()));
        assert_eq!(["low", "normal", "high", "critical"].map(|s| parse_priority(s).unwrap()), [1, 2, 3, 4]);
        assert!(parse_priority("0").is_err() && parse_priority("urgent").is_err());
    }
}
