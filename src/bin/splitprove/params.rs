//! `splitprove params`: make development parameters, check a file, list what is there.

use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde_json::{json, Value};
use splitprove::engine::Options;
use splitprove::error::{Code, Error, Result};
use splitprove::panics;
use splitprove::params;
use splitprove::proofs::CircuitId;
use splitprove::telemetry::Control;

use crate::args::parse_circuit;
use crate::files::{ParameterFile, State};
use crate::progress::Bar;
use crate::{interrupt, output};

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Make, check and list parameter files.
#[derive(Args)]
pub struct Params {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(Generate),
    Check(Check),
    List(List),
}

/// Make development parameters: fit for tests, worthless on a network
///
/// `--json` prints `circuit`, `file`, `bytes`, `seconds`, `made` (false when the file was there), `development`.
#[derive(Args)]
struct Generate {
    /// KIND-SIZE, such as porep-2KiB
    #[arg(long, value_parser = parse_circuit)]
    circuit: CircuitId,
    /// Folder for the file [default: $FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Read a whole parameter file and check every section and point of it
///
/// Each point is on its curve and in its subgroup, beta, delta and B's points are the same numbers in both groups, the `.vk`
/// file beside it holds its key, and a file with a key of Filecoin's is Filecoin's to the last byte. Whether the points of
/// any other file belong to its circuit cannot be told from the file.
///
/// `--json` prints `file`, `bytes`, `seconds`, `circuit` and `development` (by the file's name; null when it is no circuit's),
/// `key_digest`, `file_digest`, `listed` (whether it is the file that Filecoin lists under its name), `key_file` (whether the
/// `.vk` beside it is there) and `sections` (points in `ic`, `h`, `l`, `a`, `b_g1`, `b_g2`).
#[derive(Args)]
struct Check {
    /// The parameter file
    file: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// List the circuits of this version and their parameter files
///
/// `--json` prints `folder` and `circuits`, as `doctor` does.
#[derive(Args)]
struct List {
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

impl Params {
    /// Whether standard output carries one JSON object.
    pub fn json(&self) -> bool {
        match &self.command {
            Command::Generate(c) => c.json,
            Command::Check(c) => c.json,
            Command::List(c) => c.json,
        }
    }

    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Generate(c) => c.run(),
            Command::Check(c) => c.run(),
            Command::List(c) => c.run(),
        }
    }
}

impl Generate {
    fn run(self) -> Result<()> {
        let dir = self.dir.clone().unwrap_or_else(|| Options::default().params_dir);
        let before = ParameterFile::look(&dir, self.circuit)?;
        let begun = Instant::now();
        let make = match before.state {
            State::Missing => {
                let made = with_bar(&format!("parameters of {}", self.circuit), |control| {
                    params::generate(&self.circuit, &dir, control)
                });
                match made {
                    Ok(_) => true,
                    // Another process was faster.
                    Err(e) if e.code == Code::InvalidArgument && before.path.exists() => false,
                    Err(e) => return Err(e),
                }
            }
            State::There { .. } => false,
            State::Broken(e) => return Err(e),
        };
        let after = ParameterFile::look(&dir, self.circuit)?;
        let bytes = after.path.metadata().map(|m| m.len()).unwrap_or(0);
        let seconds = begun.elapsed().as_secs_f64();
        if self.json {
            output::print_json(&json!({
                "circuit": self.circuit.to_string(),
                "file": after.path.display().to_string(),
                "bytes": bytes,
                "seconds": seconds,
                "made": make,
                "development": after.is_development(),
            }));
        } else if make {
            let shown = after.path.display();
            output::say(&format!("{shown}: {}, made in {seconds:.1} s", output::bytes(bytes)));
        } else {
            output::say(&format!("{}: there already ({})", after.path.display(), output::bytes(bytes)));
        }
        after.warn();
        Ok(())
    }
}

impl Check {
    fn run(self) -> Result<()> {
        let begun = Instant::now();
        let report = with_bar("checking", |control| params::check(&self.file, control))?;
        let seconds = begun.elapsed().as_secs_f64();
        let (file, bytes) = (self.file.display(), report.layout.file_bytes());
        let named = ParameterFile::named(&self.file);
        if self.json {
            let sections: serde_json::Map<String, Value> =
                report.layout.sections().iter().map(|s| (s.name.to_string(), s.count.into())).collect();
            output::print_json(&json!({
                "file": file.to_string(),
                "bytes": bytes,
                "seconds": seconds,
                "circuit": named.as_ref().map(|n| n.circuit.to_string()),
                "development": named.as_ref().map(ParameterFile::is_development),
                "key_digest": report.key_digest,
                "file_digest": report.file_digest,
                "listed": report.listed,
                "key_file": report.key_file,
                "sections": sections,
            }));
            return Ok(());
        }
        let origin = match &named {
            Some(n) => n.line(),
            None => "named after no circuit".to_string(),
        };
        let known = if report.listed {
            "it is the file on Filecoin's list"
        } else {
            "its points are sound; whether h, l, a and ic are of its circuit only a proof made with them shows"
        };
        output::say(&format!("{file}: good, {}, {seconds:.1} s\n{origin}\n{known}", output::bytes(bytes)));
        Ok(())
    }
}

impl List {
    fn run(self) -> Result<()> {
        let folder = Options::default().params_dir;
        let files = ParameterFile::all(&folder);
        if self.json {
            let circuits: Vec<_> = files.iter().map(ParameterFile::json).collect();
            output::print_json(&json!({ "folder": folder.display().to_string(), "circuits": circuits }));
            return Ok(());
        }
        output::say(&format!("{}", folder.display()));
        for file in &files {
            output::say(&format!("  {}", file.line()));
        }
        Ok(())
    }
}

/// Runs long work on a thread of its own, shows how far it is, and hands it the flag of Ctrl-C.
pub fn with_bar<T: Send>(what: &str, work: impl FnOnce(Control<'_>) -> Result<T> + Send) -> Result<T> {
    let permille = AtomicU32::new(0);
    let report = |n: u32| permille.store(n, Ordering::Relaxed);
    let control = Control { cancelled: interrupt::flag(), progress: &report };
    let bar = Bar::new(what);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        scope.spawn(move || {
            // The receiver waits until it has this.
            let _ = send.send(panics::guard(|| work(control)));
        });
        loop {
            match receive.recv_timeout(TICK) {
                Ok(outcome) => return outcome,
                Err(mpsc::RecvTimeoutError::Timeout) => bar.set(permille.load(Ordering::Relaxed)),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Error::internal("the work's thread is gone")),
            }
        }
    })
}
