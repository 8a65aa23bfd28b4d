//! Writes the mutants: copies of the whole tree of modules below `src/lib.rs`, the library's own files included, with one
//! fragment of one file replaced in each (`mutations.txt`).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One thing to break.
struct Mutation {
    name: String,
    /// The module of the scenario that is to notice.
    scenarios: String,
    /// The end of the path of the file.
    file: String,
    from: String,
    to: String,
}

/// `== name, noticed by module`, `in file`, and the fragment's and its replacement's lines, which begin with `-` and `+`.
fn mutations(text: &str) -> Vec<Mutation> {
    let mut all: Vec<Mutation> = Vec::new();
    for line in text.lines() {
        if let Some((name, scenarios)) = line.strip_prefix("== ").and_then(|l| l.split_once(", noticed by ")) {
            let [file, from, to] = [(); 3].map(|()| String::new());
            all.push(Mutation { name: name.into(), scenarios: scenarios.into(), file, from, to });
        } else if let Some(last) = all.last_mut() {
            if let Some(file) = line.strip_prefix("in ") {
                last.file = file.into();
            } else if let Some(from) = line.strip_prefix('-') {
                last.from += from;
                last.from.push('\n');
            } else if let Some(to) = line.strip_prefix('+') {
                last.to += to;
                last.to.push('\n');
            }
        }
    }
    all
}

/// The text of a module's file with its submodules' texts in their places, and the fragment replaced.
fn tree(file: &Path, mutation: &Mutation, found: &mut usize) -> String {
    println!("cargo::rerun-if-changed={}", file.display());
    let mut text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    if file.ends_with(&mutation.file) {
        *found += text.matches(&mutation.from).count();
        text = text.replace(&mutation.from, &mutation.to);
    }
    let folder = file.parent().expect("a file is in a folder");
    let inner = if file.ends_with("lib.rs") { folder.to_path_buf() } else { file.with_extension("") };
    let scenario_file = file.ends_with("scenarios.rs");
    let (mut out, mut path) = (String::new(), None);
    for line in text.lines() {
        if line == "pub mod mutants {" {
            break;
        }
        let other = |name| name != "gauge" && name != mutation.scenarios;
        let declared = line.strip_suffix(';').and_then(|l| l.split_once("mod "));
        let declared = declared.filter(|(visibility, _)| ["", "pub "].contains(visibility));
        if scenario_file && declared.is_some_and(|(_, name)| other(name)) || line.contains("evict;") && other("evict") {
            continue;
        }
        if let Some(at) = line.strip_prefix("#[path = \"").and_then(|l| l.strip_suffix("\"]")) {
            path = Some(folder.join(at));
        } else if let Some((visibility, name)) = declared {
            let file: PathBuf = path.take().unwrap_or_else(|| inner.join(format!("{name}.rs")));
            let body = tree(&file, mutation, found);
            writeln!(out, "{visibility}mod {name} {{\n{body}}}").expect("a String takes it");
        } else {
            let line = line.replace("crate::", &format!("crate::mutants::{}::", mutation.name));
            writeln!(out, "{line}").expect("a String takes it");
        }
    }
    out
}

fn main() {
    println!("cargo::rerun-if-changed=mutations.txt");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string("mutations.txt").expect("the mutations");
    let mut out = String::new();
    for mutation in mutations(&text) {
        let mut found = 0;
        let body = tree(Path::new("src/lib.rs"), &mutation, &mut found);
        let Mutation { name, file, from, .. } = &mutation;
        assert!(found == 1, "mutation {name}: {file} has this {found} times instead of once:\n{from}");
        writeln!(out, "#[allow(warnings, clippy::all)]\npub mod {name} {{\n{body}}}").expect("a String takes it");
    }
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("mutants.rs");
    fs::write(target, out).expect("the mutants can be written");
}
