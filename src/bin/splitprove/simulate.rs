//! `splitprove simulate`: the engine's own scheduler, budget and reclaimer queue on machines that are not here.

mod machine;
mod plot;
mod rival;
mod run;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{json, Value};
use splitprove::error::{Error, Result};

use crate::args::parse_bytes;
use crate::{interrupt, output};
use machine::{Machine, Proof, Work};
use rival::Rule;
use run::{Outcome, Policy};

/// Run the scheduler on a machine that is not here: stand-in stages, virtual clock.
///
/// The scheduler, the pace, the budget and the reclaimer's queue are the engine's; only the work is replaced by its times and
/// sizes. What is not given is the published machine's (`--preset published`): 12 workers, synthesis 29 to 36 s, one lane, 3.5 s
/// of device and 1.7 s of finishing, 12.5 GiB of evaluations and 4 GiB of witness a partition, 10 partitions a proof, 15 proofs,
/// 10 at a time, 384 GiB for everything: of them 69.7 GiB are parameters (44) and compiled matrices (25.7), and two
/// times 49 MiB every request; the rest is for partitions. Its figures are printed as "reported".
///
/// Policies: `ours` holds a partition's bytes until they are freed; `at-end-of-synthesis` gives its permit back when
/// synthesis ends; `queue-of-one` holds the permit (one for every worker) until the partition is in a queue with one place, which
/// blocks the worker. The last two have no budget and exist only here. `unbounded` is `ours` with no end of memory. On the
/// published times no policy makes the lane wait; where synthesis spreads wider a queue of one does
/// (`--synthesis-min 20 --synthesis-max 60 --proofs 60`).
///
/// Sizes are held from the first to the last moment a stage may need them, so that memory is never more than shown. Decoding
/// and loading take no time; stages do not slow each other.
///
/// `--json` prints one object: `machine` {the flags' values}, `seed`, `policies` [{`policy`, `seconds_per_proof`, `seconds`,
/// `proofs`, `peak_partitions`, `peak_evaluations`, `peak_bytes`, `budget_bytes` (null without), `lane_idle_percent`,
/// `against_never_waiting_percent` (throughput against workers that never wait), `reported` (null unless published)}].
#[derive(Args)]
pub struct Simulate {
    /// The published machine, or (the same where nothing else is given) one's own
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// Partitions synthesised at one time
    #[arg(long, value_name = "N", default_value_t = 12)]
    workers: usize,
    /// Devices
    #[arg(long, value_name = "N", default_value_t = 1)]
    lanes: usize,
    /// The shortest synthesis of a partition
    #[arg(long, value_name = "SECONDS", default_value_t = 29.0)]
    synthesis_min: f64,
    /// The longest; all between are as likely
    #[arg(long, value_name = "SECONDS", default_value_t = 36.0)]
    synthesis_max: f64,
    /// A partition on a lane
    #[arg(long, value_name = "SECONDS", default_value_t = 3.5)]
    device: f64,
    /// The rest of a partition, on one thread beside the lanes
    #[arg(long, value_name = "SECONDS", default_value_t = 1.7)]
    finish: f64,
    /// a, b and c of a partition (bytes, or a number with KiB, MiB or GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "12.5GiB")]
    evaluations: u64,
    /// Witness of a partition
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "4GiB")]
    witness: u64,
    /// Parameters and whatever else is held throughout
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "69.7GiB")]
    params: u64,
    /// A request; what it decodes to is as large
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "49MiB")]
    request: u64,
    /// Partitions of a proof
    #[arg(long, value_name = "N", default_value_t = 10)]
    partitions: usize,
    /// Proofs in all
    #[arg(long, value_name = "N", default_value_t = 15)]
    proofs: usize,
    /// Proofs in flight at one time
    #[arg(long, value_name = "N", default_value_t = 10)]
    concurrency: usize,
    /// Memory for everything; the policy `ours` keeps to it
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "384GiB")]
    budget: u64,
    /// How fast the reclaimer frees, a second
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "8GiB")]
    free_rate: u64,
    /// Who says what goes next
    #[arg(long, value_enum, default_value = "all")]
    policy: Choice,
    /// Draws the synthesis times
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Draw memory over time, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    Published,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    Ours,
    AtEndOfSynthesis,
    QueueOfOne,
    All,
}

const NEVER_WAITING: Policy = Policy::Rival(Rule::AtEndOfSynthesis);

impl Choice {
    fn policies(self) -> &'static [Policy] {
        const ALL: [Policy; 4] = [NEVER_WAITING, Policy::Rival(Rule::QueueOfOne), Policy::Unbounded, Policy::Ours];
        match self {
            Choice::Ours => &ALL[3..],
            Choice::AtEndOfSynthesis => &ALL[..1],
            Choice::QueueOfOne => &ALL[1..2],
            Choice::All => &ALL,
        }
    }
}

/// What is told of a policy on the published machine.
#[derive(Clone, Copy)]
struct Reported {
    seconds: Option<f64>,
    evaluations: Option<u32>,
    gib: Option<u32>,
    text: &'static str,
}

/// On the published machine: Curio's cuzk, 12 workers.
fn reported(policy: Policy) -> Option<Reported> {
    Some(match policy {
        Policy::Rival(Rule::AtEndOfSynthesis) => Reported {
            seconds: None,
            evaluations: Some(28),
            gib: Some(668),
            text: "28 sets of evaluations, killed at 668 GiB",
        },
        Policy::Rival(Rule::QueueOfOne) => Reported {
            seconds: Some(40.5),
            evaluations: None,
            gib: None,
            text: "40.5 s a proof (38.8 without its waits)",
        },
        Policy::Ours => {
            Reported { seconds: Some(38.4), evaluations: None, gib: Some(384), text: "38.4 s a proof at 384 GiB" }
        }
        Policy::Unbounded => return None,
    })
}

fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::Ours => "ours",
        Policy::Unbounded => "unbounded",
        Policy::Rival(Rule::AtEndOfSynthesis) => "at-end-of-synthesis",
        Policy::Rival(Rule::QueueOfOne) => "queue-of-one",
    }
}

/// One policy's run.
struct Row {
    policy: Policy,
    outcome: Outcome,
    /// Throughput against workers that never wait, in percent.
    against: f64,
    reported: Option<Reported>,
}

impl Simulate {
    pub fn run(self) -> Result<()> {
        if let Some(plot) = &self.plot {
            output::check_output(plot).map_err(|e| Error { field: "plot".into(), ..e })?;
        }
        let (machine, work) = (self.machine(), self.work());
        machine.check(&work)?;
        let run = |policy| run::run(&machine, &work, policy, interrupt::flag());
        let free = run(NEVER_WAITING)?;
        let published = self.is_published();
        let mut rows = Vec::new();
        for policy in self.policy.policies() {
            let outcome = if *policy == NEVER_WAITING { free.clone() } else { run(*policy)? };
            rows.push(Row {
                policy: *policy,
                against: 100.0 * free.end_ns as f64 / outcome.end_ns as f64,
                outcome,
                reported: if published { reported(*policy) } else { None },
            });
        }
        if let Some(plot) = &self.plot {
            output::write_file(plot, plot::memory(&machine, &rows)?.as_bytes())?;
        }
        if self.json {
            output::print_json(&self.report(&machine, &rows));
        } else {
            self.print(&machine, &rows);
        }
        Ok(())
    }

    fn machine(&self) -> Machine {
        Machine {
            workers: self.workers,
            lanes: self.lanes,
            synthesis: (self.synthesis_min, self.synthesis_max),
            device: self.device,
            finish: self.finish,
            params: self.params,
            budget: self.budget,
            free_rate: self.free_rate,
        }
    }

    fn work(&self) -> Work {
        let proof = Proof {
            priority: 2,
            partitions: self.partitions,
            evaluations: self.evaluations,
            witness: self.witness,
            request: self.request,
        };
        // A number beyond all reason is refused by the check, which needs only a few more than it allows.
        let proofs = self.proofs.min(machine::MOST_PARTITIONS + 1);
        Work { proofs: vec![proof; proofs], concurrency: self.concurrency, seed: self.seed }
    }

    /// Whether this is the published machine, whatever the seed: only then its figures mean something.
    fn is_published(&self) -> bool {
        let published = <Alone as clap::Parser>::parse_from(["splitprove simulate"]).simulate;
        matches!(self.preset, Some(Preset::Published))
            && self.machine() == published.machine()
            && self.work().proofs == published.work().proofs
            && self.concurrency == published.concurrency
    }

    fn report(&self, machine: &Machine, rows: &[Row]) -> Value {
        let policies: Vec<Value> = rows
            .iter()
            .map(|row| {
                let out = &row.outcome;
                json!({
                    "policy": name(row.policy),
                    "seconds_per_proof": row.seconds_per_proof(),
                    "seconds": out.end_ns as f64 / 1e9,
                    "proofs": out.proofs,
                    "peak_partitions": out.peak_partitions,
                    "peak_evaluations": out.peak_evaluations,
                    "peak_bytes": out.peak_bytes,
                    "budget_bytes": (row.policy == Policy::Ours).then_some(machine.budget),
                    "lane_idle_percent": 100.0 * out.lane_idle,
                    "against_never_waiting_percent": row.against,
                    "reported": row.reported.map(|r| json!({
                        "seconds_per_proof": r.seconds, "evaluations": r.evaluations, "gib": r.gib, "text": r.text,
                    })),
                })
            })
            .collect();
        json!({
            "machine": {
                "workers": self.workers, "lanes": self.lanes,
                "synthesis_min": self.synthesis_min, "synthesis_max": self.synthesis_max,
                "device": self.device, "finish": self.finish,
                "evaluations": self.evaluations, "witness": self.witness,
                "params": self.params, "request": self.request,
                "partitions": self.partitions, "proofs": self.proofs, "concurrency": self.concurrency,
                "budget": self.budget, "free_rate": self.free_rate,
            },
            "seed": self.seed,
            "policies": policies,
        })
    }

    fn print(&self, machine: &Machine, rows: &[Row]) {
        output::say(&format!(
            "{} on {}, {}: synthesis {} to {} s, device {} s, finish {} s; {} of evaluations and {} of witness a partition;",
            output::count(self.proofs, "proof") + " of " + &output::count(self.partitions, "partition"),
            output::count(self.workers, "worker"),
            output::count(self.lanes, "lane"),
            self.synthesis_min,
            self.synthesis_max,
            self.device,
            self.finish,
            output::bytes(self.evaluations),
            output::bytes(self.witness),
        ));
        output::say(&format!(
            "{} of parameters and the like, requests of 2 x {}; budget {}, freed at {} a second, seed {}.",
            output::bytes(self.params),
            output::bytes(self.request),
            output::bytes(machine.budget),
            output::bytes(self.free_rate),
            self.seed
        ));
        output::say("");
        output::say(
            format!(
                "{:<20} {:>9} {:>10} {:>11} {:>10} {:>6} {:>10}  {}",
                "policy",
                "s a proof",
                "partitions",
                "evaluations",
                "memory",
                "idle",
                "throughput",
                if rows.iter().any(|r| r.reported.is_some()) { "reported" } else { "" }
            )
            .trim_end(),
        );
        for row in rows {
            let out = &row.outcome;
            output::say(
                format!(
                    "{:<20} {:>9.2} {:>10} {:>11} {:>10} {:>4.1} % {:>8.1} %  {}",
                    name(row.policy),
                    row.seconds_per_proof(),
                    out.peak_partitions,
                    out.peak_evaluations,
                    output::bytes(out.peak_bytes),
                    100.0 * out.lane_idle,
                    row.against,
                    row.reported.map_or("", |r| r.text)
                )
                .trim_end(),
            );
        }
        output::say("");
        output::say(
            "partitions, evaluations (sets of a, b and c) and memory: the most alive at one time; idle: the lanes, from their \
             first partition to their last; throughput: against workers that never wait.",
        );
    }
}

/// The flags alone: what they are when none is given.
#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    simulate: Simulate,
}

impl Row {
    fn seconds_per_proof(&self) -> f64 {
        self.outcome.end_ns as f64 / 1e9 / self.outcome.proofs as f64
    }
}
