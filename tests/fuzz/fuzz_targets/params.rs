//! Any bytes as a parameter file: an error that names a section, or a file that is read and checked to its end. Never a
//! panic, and never more memory than the file has points.

#![no_main]

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Mutex;

use libfuzzer_sys::fuzz_target;
use splitprove::error::{Code, Error};
use splitprove::params::{check, read_layout, read_verifying_key, read_with, ReadOptions};
use splitprove::telemetry::Control;

const FIELDS: [&str; 14] = [
    "alpha_g1", "beta_g1", "beta_g2", "gamma_g2", "delta_g1", "delta_g2", "ic", "h", "l", "a", "b_g1", "b_g2", "vk", "params",
];

/// A file without a name, written anew for every input, and a path by which it can be opened.
static FILE: Mutex<Option<(File, PathBuf)>> = Mutex::new(None);

fn make() -> (File, PathBuf) {
    let name = std::env::temp_dir().join(format!("splitprove-fuzz-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&name).expect("a temporary file");
    fs::remove_file(name).expect("its name is ours");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
    (file, path)
}

fn corrupt(e: &Error) {
    assert!(e.code == Code::ParamsCorrupt && FIELDS.contains(&&*e.field), "{:?} {e}", e.code);
}

fuzz_target!(|bytes: &[u8]| {
    let mut guard = FILE.lock().expect("no input has panicked");
    let (file, path) = guard.get_or_insert_with(make);
    file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(bytes)).expect("room for the input");

    let key = read_verifying_key(path);
    let layout = match read_layout(path) {
        Ok(layout) => layout,
        Err(e) => {
            corrupt(&e);
            assert!(read_with(path, ReadOptions::default(), Control::NONE).is_err() && check(path, Control::NONE).is_err());
            return;
        }
    };
    assert_eq!(layout.file_bytes(), bytes.len() as u64);
    let plain = read_with(path, ReadOptions::default(), Control::NONE);
    let strict = read_with(path, ReadOptions { subgroup: true, ..ReadOptions::default() }, Control::NONE);
    let checked = check(path, Control::NONE);
    for e in [plain.as_ref().err(), strict.as_ref().err(), checked.as_ref().err(), key.as_ref().err()] {
        e.into_iter().for_each(corrupt);
    }
    // Each looks at no less than the one before.
    assert!(key.is_ok() || plain.is_err());
    assert!(plain.is_ok() || strict.is_err());
    assert!(strict.is_ok() || checked.is_err());
    if let Ok(params) = plain {
        assert_eq!((params.h.len() as u64, params.b_g2.len() as u64), (layout.h.count, layout.b_g2.count));
    }
});
