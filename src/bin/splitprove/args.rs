//! Arguments that several subcommands take.

use std::path::PathBuf;

use clap::Args;
use splitprove::engine::Options;
use splitprove::error::{Code, Error, Result};
use splitprove::proofs::{CircuitId, Kind};

/// What every proving command takes.
#[derive(Args, Clone, Debug, Default)]
pub struct Device {
    /// Prove on the CPU even where there is a GPU
    #[arg(long)]
    pub no_gpu: bool,
    /// Use only these GPUs: UUIDs or indexes, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub devices: Option<Vec<String>>,
    /// Take at most this much memory of each GPU (bytes, or a number with KiB, MiB or GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub vram_limit: Option<u64>,
    /// Accept 32 and 64 GiB parameters that Filecoin's list does not know
    #[arg(long)]
    pub insecure_params: bool,
    /// Load parameters only if every point lies in its subgroup
    #[arg(long)]
    pub params_subgroup: bool,
    /// Load only parameter files that Filecoin lists, byte for byte
    #[arg(long)]
    pub params_digest: bool,
}

impl Device {
    /// The engine's options. `NO_DEVICE` when GPUs are asked for by name: this version has the CPU only.
    pub fn options(&self) -> Result<Options> {
        if let (Some(devices), false) = (&self.devices, self.no_gpu) {
            let text = format!("{}: this version proves on the CPU only", devices.join(","));
            return Err(Error::new(Code::NoDevice, "devices", text));
        }
        Ok(Options {
            no_gpu: self.no_gpu,
            devices: self.devices.clone(),
            device_memory_limit: self.vram_limit.unwrap_or(0),
            allow_insecure_params: self.insecure_params,
            check_params_subgroup: self.params_subgroup,
            check_params_digest: self.params_digest,
            ..Options::default()
        })
    }
}

/// What a statement is: a proof kind and its public values.
#[derive(Args, Clone, Debug)]
pub struct Statement {
    /// porep, snap, window-post or winning-post
    #[arg(long, value_parser = parse_kind)]
    pub kind: Kind,
    /// JSON file with the public values
    #[arg(long, value_name = "FILE")]
    pub public: PathBuf,
}

fn parse_kind(s: &str) -> Result<Kind, String> {
    s.parse().map_err(|e: Error| e.message)
}

/// For clap: a circuit's name.
pub fn parse_circuit(s: &str) -> Result<CircuitId, String> {
    s.parse().map_err(|e: Error| e.message)
}

/// For clap: a number of bytes, plain or with KiB, MiB or GiB behind it; then it may have a fraction (`12.5GiB`).
pub fn parse_bytes(s: &str) -> Result<u64, String> {
    let digits = s.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &s[digits.len()..] {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        unit => return Err(format!("unit {unit:?} is none of B, KiB, MiB, GiB")),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) if shift > 0 => (whole, Some(fraction)),
        _ => (digits, None),
    };
    let no_number = || format!("{digits:?} is no {}", if shift > 0 { "number" } else { "whole number" });
    let too_large = || format!("{s} does not fit into 64 bits");
    let bytes = whole.parse::<u64>().map_err(|_| no_number())?.checked_mul(1 << shift).ok_or_else(too_large)?;
    let Some(fraction) = fraction else { return Ok(bytes) };
    // Nine digits are finer than a byte of a GiB, and their product with 2^30 fits.
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(no_number());
    }
    let part = fraction.parse::<u64>().map_err(|_| no_number())? << shift;
    bytes.checked_add(part / 10u64.pow(fraction.len() as u32)).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("0"), Ok(0));
        assert_eq!(parse_bytes("1536"), Ok(1536));
        assert_eq!(parse_bytes("3KiB"), Ok(3072));
        assert_eq!(parse_bytes("8GiB"), Ok(8 << 30));
        assert_eq!(parse_bytes("12.5GiB"), Ok(25 << 29));
        assert_eq!(parse_bytes("0.001KiB"), Ok(1));
        for bad in ["", "GiB", "1GB", "-1", "1.5", "1.5B", ".5GiB", "1.GiB", "1.-5GiB", "1.2.3GiB", "17179869184GiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn named_gpus_are_refused_unless_none_is_wanted() {
        let mut d = Device { devices: Some(vec!["0".into()]), ..Device::default() };
        assert_eq!(d.options().unwrap_err().code, Code::NoDevice);
        d.no_gpu = true;
        assert!(d.options().unwrap().no_gpu);
    }
}
