//! `splitprove doctor`: what this machine has, and whether it can prove.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use clap::Args;
use group::prime::PrimeCurveAffine;
use group::Curve;
use pairing::Engine as _;
use serde_json::{json, Value};
use splitprove::engine::{Engine, Options};
use splitprove::error::{Code, Error, Result};
use splitprove::memory::MachineMemory;

use crate::files::ParameterFile;
use crate::output;

/// Say what this machine has and whether it can prove.
///
/// Exit code 0 when at least one circuit's parameters are there and the CPU computes rightly, else 3.
///
/// `--json` prints one object:
/// `version`; `can_prove`;
/// `cpu` {`model`, `cores`, `features` {name: there or not}, `works`};
/// `memory` {`total_bytes`, `available_bytes`, `cgroup_limit_bytes` or null, `cgroup_used_bytes`, `free_bytes`};
/// `parameters` {`folder`, `circuits` [{`circuit`, `kind`, `sector_size`, `offered` (this version proves it), `file`,
/// `expected_bytes` (what the circuit's file has), `state` "there", "missing" or "broken", `bytes`, `provenance` "listed",
/// "development" or "unknown", `development` (not listed), `resident` ("disk": this process has loaded none), `problem`}]};
/// `devices` [{`device` (-1 the CPU), `name`, `used`}]; `gpu` (why there is none);
/// `circuit_cache` {`folder`, `writable`};
/// `problems` [what keeps it from proving] and `warnings` [what it proves in spite of].
#[derive(Args)]
pub struct Doctor {
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Leave GPUs out
    #[arg(long)]
    no_gpu: bool,
}

struct Report {
    cpu_model: String,
    cores: usize,
    features: Vec<(&'static str, bool)>,
    /// The device's name, or why there is no engine.
    device: Result<String>,
    cpu_works: bool,
    memory: MachineMemory,
    params_dir: PathBuf,
    files: Vec<ParameterFile>,
    cache_dir: PathBuf,
    cache_writable: bool,
    gpu: &'static str,
}

impl Doctor {
    pub fn run(self) -> ExitCode {
        let report = Report::make(self.no_gpu);
        let problems = report.problems();
        if self.json {
            output::print_json(&report.json(&problems));
        } else {
            report.print();
        }
        // With --json the object is out already, so the reason goes to standard error alone.
        problems.first().map_or(ExitCode::SUCCESS, |first| output::fail(first, false))
    }
}

impl Report {
    fn make(no_gpu: bool) -> Self {
        let options = Options { no_gpu, ..Options::default() };
        let (params_dir, cache_dir) = (options.params_dir.clone(), options.circuit_cache_dir.clone());
        Report {
            cpu_model: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            features: cpu_features(),
            device: Engine::new(options).map(|e| e.device_name()),
            cpu_works: pairing_is_bilinear(),
            memory: MachineMemory::read(),
            files: ParameterFile::all(&params_dir),
            params_dir,
            cache_writable: can_write(&cache_dir),
            cache_dir,
            gpu: if no_gpu { "left out by --no-gpu" } else { "this version proves on the CPU only" },
        }
    }

    /// What keeps it from proving.
    fn problems(&self) -> Vec<Error> {
        let mut problems = Vec::new();
        if let Err(e) = &self.device {
            problems.push(e.clone());
        }
        if !self.cpu_works {
            problems.push(Error::new(Code::Device, "cpu", "a pairing computed on it is wrong"));
        }
        if !self.files.iter().any(ParameterFile::is_there) {
            let text = format!("{} has parameters of no circuit", self.params_dir.display());
            problems.push(Error::new(Code::ParamsNotFound, "parameters", text));
        }
        problems
    }

    /// What it proves in spite of.
    fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.files.iter().filter_map(ParameterFile::warning).collect();
        if !self.cache_writable {
            warnings.push(format!("{} cannot be written: circuits are kept in memory only", self.cache_dir.display()));
        }
        warnings
    }

    fn json(&self, problems: &[Error]) -> Value {
        let features: serde_json::Map<String, Value> =
            self.features.iter().map(|(name, there)| (name.to_string(), json!(there))).collect();
        let devices: Vec<Value> =
            self.device.iter().map(|name| json!({ "device": -1, "name": name, "used": true })).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "can_prove": problems.is_empty(),
            "cpu": {
                "model": self.cpu_model, "cores": self.cores, "features": features, "works": self.cpu_works,
            },
            "memory": {
                "total_bytes": self.memory.total,
                "available_bytes": self.memory.available,
                "cgroup_limit_bytes": self.memory.cgroup_limit,
                "cgroup_used_bytes": self.memory.cgroup_used,
                "free_bytes": self.memory.free_for_us(),
            },
            "parameters": {
                "folder": self.params_dir.display().to_string(),
                "circuits": self.files.iter().map(ParameterFile::json).collect::<Vec<_>>(),
            },
            "devices": devices,
            "gpu": self.gpu,
            "circuit_cache": { "folder": self.cache_dir.display().to_string(), "writable": self.cache_writable },
            "problems": problems.iter().map(Error::to_string).collect::<Vec<_>>(),
            "warnings": self.warnings(),
        })
    }

    fn print(&self) {
        let say = |name: &str, text: String| output::say(&format!("{name:<12} {text}"));
        say("splitprove", env!("CARGO_PKG_VERSION").to_string());
        say("cpu", format!("{}, {}", self.cpu_model, output::count(self.cores, "core")));
        let there: Vec<&str> = self.features.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
        say("", format!("features: {}", there.join(" ")));
        let memory = &self.memory;
        let limit = match memory.cgroup_limit {
            Some(limit) => {
                format!("; control group: {} of {}", output::bytes(memory.cgroup_used), output::bytes(limit))
            }
            None => String::new(),
        };
        let (available, total) = (output::bytes(memory.available), output::bytes(memory.total));
        say("memory", format!("{available} of {total} available{limit}"));
        match &self.device {
            Ok(name) => say("device", format!("{name} (GPU: {})", self.gpu)),
            Err(e) => say("device", format!("none: {e}")),
        }
        say("parameters", self.params_dir.display().to_string());
        for file in &self.files {
            say("", file.line());
        }
        let writable = if self.cache_writable { "writable" } else { "not writable" };
        say("circuits", format!("{} ({writable})", self.cache_dir.display()));
        for warning in self.warnings() {
            output::note(&format!("warning: {warning}"));
        }
    }
}

/// A known answer from the code that proofs are made of: e(6·G, 7·H) = e(42·G, H), and not e(41·G, H).
fn pairing_is_bilinear() -> bool {
    let g = |n: u64| (G1Affine::generator() * Scalar::from(n)).to_affine();
    let h = |n: u64| (G2Affine::generator() * Scalar::from(n)).to_affine();
    let left = Bls12::pairing(&g(6), &h(7));
    left == Bls12::pairing(&g(42), &h(1)) && left != Bls12::pairing(&g(41), &h(1))
}

fn cpu_model() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_string(), |(_, name)| name.trim().to_string())
}

/// The instructions that field arithmetic and hashing gain from.
#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<(&'static str, bool)> {
    vec![
        ("adx", is_x86_feature_detected!("adx")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("sha", is_x86_feature_detected!("sha")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
        ("avx512vbmi", is_x86_feature_detected!("avx512vbmi")),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<(&'static str, bool)> {
    Vec::new()
}

/// Whether a file can be made in a folder, or in the closest folder above it that is there. Leaves nothing behind.
fn can_write(folder: &Path) -> bool {
    let Some(there) = folder.ancestors().find(|p| p.is_dir()) else { return false };
    let probe = there.join(format!(".splitprove-{}.probe", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&probe).is_ok();
    if made {
        let _ = std::fs::remove_file(&probe);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_cpu_works() {
        assert!(pairing_is_bilinear());
        assert!(!cpu_model().is_empty());
    }

    #[test]
    fn folders_that_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(can_write(folder.path()) && can_write(&folder.path().join("not/there/yet")));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(!can_write(Path::new("/proc/1")));
    }
}
