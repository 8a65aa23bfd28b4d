//! The check of a built library's exports can fail: it refuses the one that these tests are built with, for its hooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shared library that cargo built with this test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    folder.join("libsplitprove.so")
}

/// Whether the check passes, and what it says.
fn check(library: &Path) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abi/check-exports.sh");
    let run = Command::new(script).arg(library).output().unwrap();
    (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn a_library_with_test_hooks_is_refused() {
    let (passes, text) = check(&library());
    assert!(!passes, "{text}");
    assert!(text.contains("it was built with test-hooks"), "{text}");
    // Nothing else is wrong with it.
    let others = text.lines().filter(|l| l.contains("libsplitprove.so: ") && !l.contains("test"));
    assert_eq!(others.count(), 0, "{text}");
}

#[test]
fn without_symbols_the_mark_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("libsplitprove.so");
    let done = Command::new("strip").arg("-o").arg(&stripped).arg(library()).status().unwrap();
    assert!(done.success());
    let (passes, text) = check(&stripped);
    assert!(!passes && text.contains("it was built with test-hooks"), "{text}");

    // And it is what is found: the same library with another mark is not refused.
    let mut bytes = fs::read(&stripped).unwrap();
    let mark = b"splitprove_test_hooks_are_in";
    let found: Vec<usize> = (0..bytes.len() - mark.len()).filter(|i| bytes[*i..].starts_with(mark)).collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at..at + 10].copy_from_slice(b"no_such___");
    }
    fs::write(&stripped, bytes).unwrap();
    let (passes, text) = check(&stripped);
    assert!(passes, "{text}");
}
