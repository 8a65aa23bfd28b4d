//! What the command says, and the files it writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, stderr, stdout, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{json, Value};
use splitprove::error::{Code, Error, Result};

use crate::interrupt;

/// A proof or a file does not verify.
pub const DOES_NOT_VERIFY: u8 = 1;
/// Bad usage or bad input.
pub const BAD_USAGE: u8 = 2;
/// The machine lacks something.
pub const MACHINE_LACKS: u8 = 3;
/// A fault of splitprove's own (`EX_SOFTWARE`).
pub const OWN_FAULT: u8 = 70;

/// The exit code of a failure.
pub fn exit_code(e: &Error) -> u8 {
    match e.code {
        Code::Unsatisfied | Code::ProofInvalid | Code::SelfCheck | Code::ParamsCorrupt => DOES_NOT_VERIFY,
        Code::InvalidArgument
        | Code::InvalidHandle
        | Code::AbiMismatch
        | Code::BufferTooSmall
        | Code::MalformedInput
        | Code::Unsupported
        | Code::IdConflict => BAD_USAGE,
        Code::ParamsNotFound
        | Code::ParamsInsecure
        | Code::TooLarge
        | Code::Io
        | Code::OutOfMemory
        | Code::NoDevice
        | Code::Device
        | Code::Busy
        | Code::Timeout
        | Code::Shutdown => MACHINE_LACKS,
        Code::Cancelled => interrupt::exit_code(),
        Code::Panic | Code::Internal => OWN_FAULT,
    }
}

/// Reports a failure: with `--json` an object with `error` {`code`, `field`, `message`} on standard output; in any case the
/// reason as the last line on standard error.
pub fn fail(e: &Error, json: bool) -> ExitCode {
    if json {
        let error = json!({ "code": e.code as i32, "field": e.field, "message": e.message });
        print_json(&json!({ "error": error }));
    }
    let text: Vec<&str> = e.message.split_whitespace().collect();
    let text = text.join(" ");
    note(&if e.field.is_empty() { format!("splitprove: {text}") } else { format!("splitprove: {}: {text}", e.field) });
    ExitCode::from(exit_code(e))
}

/// One line for people on standard output. A reader that has gone is no failure.
pub fn say(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}

/// One line on standard error.
pub fn note(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// The one JSON object on standard output.
pub fn print_json(value: &Value) {
    say(&value.to_string());
}

/// Bytes in words, such as `12.5 MiB`.
pub fn bytes(n: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| n >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", n as f64 / unit as f64),
        None => format!("{n} B"),
    }
}

/// A number of things: `1 partition`, `3 partitions`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Looks, before long work, whether an output file can be made there; `INVALID_ARGUMENT` names `output`.
pub fn check_output(path: &Path) -> Result<()> {
    let bad = |text: String| Err(Error::argument("output", text));
    if path.file_name().is_none() || path.is_dir() {
        return bad(format!("{} is no file name", path.display()));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return bad(format!("there is no folder {}", folder.display()));
    }
    Ok(())
}

/// Writes a file under another name in its folder and renames it: there is the whole file or none.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    let part = Part(folder_of(path).join(name));
    let wrote = |e: io::Error| Error::io("output", "writing", path, &e);
    let mut file = part.create().map_err(|e| Error::argument("output", format!("{}: {e}", path.display())))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(wrote)?;
    if interrupt::requested() {
        return Err(Error::cancelled());
    }
    fs::rename(&part.0, path).map_err(wrote)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// A half-written file; gone when dropped, unless it has been renamed.
struct Part(PathBuf);

impl Part {
    fn create(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(&self.0)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_exit_code() {
        for code in Code::ALL {
            let n = exit_code(&Error::new(code, "", ""));
            assert!([1, 2, 3, 70, 130].contains(&n), "{code:?}: {n}");
        }
        assert_eq!(exit_code(&Error::malformed("vanilla", "")), BAD_USAGE);
        assert_eq!(exit_code(&Error::new(Code::ParamsNotFound, "", "")), MACHINE_LACKS);
        assert_eq!(exit_code(&Error::new(Code::Unsatisfied, "", "")), DOES_NOT_VERIFY);
    }

    #[test]
    fn files_are_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("proof.bin");
        write_file(&path, b"first").unwrap();
        write_file(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(write_file(&folder.path().join("no/proof.bin"), b"").unwrap_err().code, Code::InvalidArgument);
        assert_eq!(check_output(folder.path()).unwrap_err().field, "output");
        assert_eq!(check_output(&folder.path().join("no/proof.bin")).unwrap_err().field, "output");
        check_output(&path).unwrap();
    }

    #[test]
    fn sizes_in_words() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
        assert_eq!(count(1, "partition"), "1 partition");
        assert_eq!(count(2, "partition"), "2 partitions");
    }
}
