//! `splitprove inspect`: what a vanilla proof contains, and what its proof will take.

use std::path::PathBuf;

use clap::Args;
use serde_json::{json, Map, Value};
use splitprove::engine::Options;
use splitprove::error::Result;
use splitprove::proofs::{self, registered, Format, Inspected, Kind};

use crate::estimate::{Estimate, SECONDS_FROM};
use crate::files::ParameterFile;
use crate::{input, interrupt, output};

/// Say what a C1 or another vanilla proof contains, and what its proof will take.
///
/// What the file is, is seen: a C1 as JSON, in the wrapper that lotus-bench and Curio use, or as bincode; a SnapDeals
/// partition's or a PoSt sector's vanilla proof. What is wrong with it is refused as in proving, with the place.
///
/// `--json` prints one object: `file`, `bytes`, `format` ("json", "wrapper", "bincode"), `kind`, `circuit`, `sector_size`,
/// `registered_proofs` [{`number`, `name`}] (several where the bytes do not say), `sector_number` (null where they do not),
/// `partitions` of the whole proof (null for a WindowPoSt), `partition` (SnapDeals: which this is, else null), `challenges` (of
/// a partition, or of a PoSt's sector), `commitments` {name: hex}, and `estimate` {`memory_bytes` (with one partition at a time),
/// `parameter_bytes`, `partition_bytes`, `request_bytes`, `sizes_from` ("parameter file" or "table"), `seconds` (the proof's, on
/// this machine's cores with parameters loaded; a WindowPoSt's for one partition), `seconds_from` (how that was estimated)}.
#[derive(Args)]
pub struct Inspect {
    /// The C1 or vanilla proof
    file: PathBuf,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Inspect {
    pub fn run(self) -> Result<()> {
        let (bytes, _) = input::read_vanilla(std::slice::from_ref(&self.file))?;
        let inspected = proofs::inspect(&bytes, interrupt::flag())?;
        let parameters = ParameterFile::look(&Options::default().params_dir, inspected.circuit)?;
        let estimate = Estimate::of(&inspected, &parameters)?;
        let names: Vec<(u32, String)> = inspected
            .registered_proofs
            .iter()
            .map(|n| Ok((*n, registered::name_from_number(inspected.circuit.kind, *n)?)))
            .collect::<Result<_>>()?;
        if self.json {
            output::print_json(&self.report(bytes.len(), &inspected, &names, &estimate));
        } else {
            self.print(bytes.len(), &inspected, &names, &estimate);
        }
        Ok(())
    }

    fn report(&self, bytes: usize, it: &Inspected, names: &[(u32, String)], estimate: &Estimate) -> Value {
        let commitments: Map<String, Value> =
            it.values.iter().map(|(name, value)| (name.to_string(), registered::to_hex(value).into())).collect();
        let proofs: Vec<Value> = names.iter().map(|(n, name)| json!({ "number": n, "name": name })).collect();
        json!({
            "file": self.file.display().to_string(),
            "bytes": bytes,
            "format": it.format.word(),
            "kind": it.circuit.kind.word(),
            "circuit": it.circuit.to_string(),
            "sector_size": it.circuit.sector_size,
            "registered_proofs": proofs,
            "sector_number": it.sector_number,
            "partitions": it.partitions,
            "partition": it.partition,
            "challenges": it.challenges,
            "commitments": commitments,
            "estimate": estimate.json(),
        })
    }

    fn print(&self, bytes: usize, it: &Inspected, names: &[(u32, String)], estimate: &Estimate) {
        let say = |name: &str, text: String| output::say(&format!("{name:<17} {text}"));
        let what = match (it.circuit.kind, it.format) {
            (Kind::Porep, Format::Json) => "commit phase 1, JSON".to_string(),
            (Kind::Porep, Format::Wrapper) => "commit phase 1, JSON in a wrapper".to_string(),
            (Kind::Porep, Format::Bincode) => "commit phase 1, bincode".to_string(),
            (Kind::Snap, _) => "a partition's vanilla proof".to_string(),
            (Kind::WindowPost | Kind::WinningPost, _) => "a sector's vanilla proof".to_string(),
        };
        output::say(&format!("{}: {}, {what}, {}", self.file.display(), it.circuit, output::bytes(bytes as u64)));
        let proofs: Vec<String> = names.iter().map(|(n, name)| format!("{name} ({n})")).collect();
        say("registered proof", proofs.join(" or "));
        if let Some(number) = it.sector_number {
            say("sector", number.to_string());
        }
        let challenges = output::count(it.challenges, "challenge");
        match (it.partitions, it.circuit.kind) {
            (Some(n), Kind::Snap) => {
                let which = it.partition.map_or("of no partition".into(), |k| format!("of partition {k}"));
                say("partitions", format!("{n}; this is one {which}, {challenges}"));
            }
            (Some(n), _) => say("partitions", format!("{n}, {challenges} each")),
            (None, _) => say("partitions", format!("as the sectors need; {challenges} a sector")),
        }
        for (name, value) in &it.values {
            say(name, registered::to_hex(value));
        }
        say("memory", estimate.memory());
        say("time", format!("{} ({SECONDS_FROM})", estimate.time()));
    }
}
