//! `include/splitprove.h` is what cbindgen writes from `src/capi`. `SPLITPROVE_WRITE_HEADER=1 cargo test --test header`
//! writes it; without, a difference fails.

use std::path::{Path, PathBuf};

/// The header's sections, in its order.
const SOURCES: [&str; 7] = ["structs", "library", "log", "engine", "params", "proofs", "events"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is well-formed");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(root().join("src/capi").join(format!("{name}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().expect("src/capi can be read by cbindgen").write(&mut text);
    String::from_utf8(text).expect("a header is text")
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let path: PathBuf = root().join("include/splitprove.h");
    let generated = generated();
    if std::env::var_os("SPLITPROVE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "include/splitprove.h is not what src/capi gives: SPLITPROVE_WRITE_HEADER=1 writes it"
    );
}
