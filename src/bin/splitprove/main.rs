//! The `splitprove` command: for operators, scripts and tests. The library does the work.
//!
//! Exit codes: 0 done; 1 a proof or a file does not verify (an unsatisfied circuit and a failed self-check too); 2 bad
//! usage or bad input; 3 the machine lacks something (parameters, a device, memory); 70 a fault of splitprove's own; 130
//! and 143 stopped by SIGINT and SIGTERM. The last line on standard error says what went wrong and in which field.

mod args;
mod bench;
mod circuit;
mod doctor;
mod estimate;
mod files;
mod input;
mod inspect;
mod interrupt;
mod output;
mod params;
mod progress;
mod prove;
mod simulate;
mod stated;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use splitprove::error::{Error, Result};
use splitprove::panics;

/// Filecoin's Groth16 proofs: make them, verify them, and see whether this machine can.
#[derive(Parser)]
#[command(name = "splitprove", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a proof or file does not verify; 2 bad usage or input; 3 the machine \
lacks something; 70 a fault of splitprove's own; 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    Prove(prove::Prove),
    Verify(verify::Verify),
    Params(params::Params),
    Inspect(inspect::Inspect),
    Circuit(circuit::Circuit),
    Doctor(doctor::Doctor),
    Bench(Box<bench::Bench>),
    Simulate(Box<simulate::Simulate>),
    // Words of later versions: known, so that the answer names them instead of guessing at a typing error.
    #[command(hide = true)]
    Sample(Later),
}

/// Whatever follows a word that this version does not have.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
}

impl Command {
    /// Whether standard output carries one JSON object.
    fn json(&self) -> bool {
        match self {
            Command::Prove(c) => c.json,
            Command::Verify(c) => c.json,
            Command::Params(c) => c.json(),
            Command::Circuit(c) => c.json(),
            Command::Doctor(c) => c.json,
            Command::Bench(c) => c.json,
            Command::Simulate(c) => c.json,
            Command::Inspect(c) => c.json,
            Command::Sample(_) => false,
        }
    }

    fn run(self) -> Result<ExitCode> {
        match self {
            Command::Doctor(c) => return Ok(c.run()),
            Command::Prove(c) => c.run(),
            Command::Verify(c) => c.run(),
            Command::Params(c) => c.run(),
            Command::Circuit(c) => c.run(),
            Command::Sample(l) => l.refuse("sample"),
            Command::Inspect(c) => c.run(),
            Command::Bench(c) => c.run(),
            Command::Simulate(c) => c.run(),
        }
        .map(|()| ExitCode::SUCCESS)
    }
}

impl Later {
    fn refuse(self, word: &str) -> Result<()> {
        drop(self.rest);
        let version = env!("CARGO_PKG_VERSION");
        Err(Error::unsupported("command", format!("`splitprove {word}` is not in this version ({version})")))
    }
}

fn main() -> ExitCode {
    panics::install_hook();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return usage(&e),
    };
    interrupt::install();
    let json = cli.command.json();
    match panics::guard(|| cli.command.run()) {
        Ok(code) => code,
        Err(e) => output::fail(&e, json),
    }
}

/// Prints what clap has to say: help and version to standard output, a wrong call to standard error with its one-line
/// reason last.
fn usage(e: &clap::Error) -> ExitCode {
    if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = e.print();
        return ExitCode::SUCCESS;
    }
    let text = e.render().to_string();
    if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::note(text.trim_end());
        output::note("splitprove: command: a subcommand is needed");
        return ExitCode::from(output::BAD_USAGE);
    }
    // clap's text: "error: …" over one or more lines, an empty line, then usage and hints.
    let (reason, hints) = text.split_once("\n\n").unwrap_or((&text, ""));
    if !hints.trim().is_empty() {
        output::note(hints.trim_end());
    }
    let reason: Vec<&str> = reason.trim_start_matches("error:").split_whitespace().collect();
    output::note(&format!("splitprove: {}", reason.join(" ")));
    ExitCode::from(output::BAD_USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn words_of_later_versions_are_refused_by_name() {
        let word = "sample";
        let cli = Cli::try_parse_from(["splitprove", word, "--circuit", "porep-2KiB", "--json"]).unwrap();
        let e = cli.command.run().unwrap_err();
        assert_eq!(output::exit_code(&e), output::BAD_USAGE);
        assert!(e.message.contains(word) && e.message.contains("not in this version"), "{}", e.message);
        assert!(Cli::try_parse_from(["splitprove", "proof"]).is_err());
    }
}
