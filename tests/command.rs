//! The `splitprove` command from outside: exit codes, the last line on standard error, JSON, and the files it leaves.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

/// The folder of the tests' development parameters: `FIL_PROOFS_PARAMETER_CACHE`, else the user's cache.
fn params_dir() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|h| h.join(".cache"))).unwrap_or("/tmp".into());
    set("FIL_PROOFS_PARAMETER_CACHE").unwrap_or_else(|| cache().join("splitprove/params"))
}

fn command(params: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_splitprove"));
    command.args(args).env("FIL_PROOFS_PARAMETER_CACHE", params).stdin(Stdio::null());
    command
}

fn run(params: &Path, args: &[&str]) -> Output {
    command(params, args).output().unwrap()
}

/// A folder with the parameters of porep-2KiB, made on first use.
fn with_params() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = params_dir();
        let made = run(&dir, &["params", "generate", "--circuit", "porep-2KiB"]);
        assert!(made.status.success(), "{}", last_line(&made));
        dir
    })
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_string()
}

/// The one JSON object on standard output.
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stdout)))
}

fn fixture(name: &str) -> String {
    format!("{}/tests/data/porep-2k/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn prove_args<'a>(public: &'a str, input: &'a str, output: &'a str) -> Vec<&'a str> {
    vec!["prove", "--kind", "porep", "--public", public, "--input", input, "--output", output, "--json"]
}

#[track_caller]
fn fails(output: &Output, exit: i32, words: &[&str]) {
    let line = last_line(output);
    assert_eq!(output.status.code(), Some(exit), "{line}");
    for word in words {
        assert!(line.contains(word), "{word:?} is not in {line:?}");
    }
}

#[test]
fn bad_usage_is_2_and_says_what() {
    let none = Path::new("/nonexistent");
    fails(&run(none, &[]), 2, &["splitprove: command:"]);
    fails(&run(none, &["prove"]), 2, &["--kind", "--public", "--input", "--output"]);
    fails(&run(none, &["proof"]), 2, &["'proof'"]);
    fails(&run(none, &["verify", "--kind", "post", "--public", "p", "--proof", "q"]), 2, &["--kind", "porep"]);
    fails(&run(none, &["params", "generate", "--circuit", "porep-3KiB"]), 2, &["--circuit", "2KiB"]);
    fails(&run(none, &["sample", "--json"]), 2, &["sample", "not in this version"]);
    fails(&run(none, &["inspect", "--json"]), 2, &["<FILE>"]);
    fails(&run(none, &["inspect", "/nonexistent/c1"]), 2, &["splitprove: input:", "/nonexistent/c1"]);
    let missing = run(none, &["verify", "--kind", "porep", "--public", "/nonexistent/p.json", "--proof", "q"]);
    fails(&missing, 2, &["splitprove: public:", "/nonexistent/p.json"]);
    for help in [vec!["--help"], vec!["--version"], vec!["prove", "--help"], vec!["doctor", "--help"]] {
        assert_eq!(run(none, &help).status.code(), Some(0), "{help:?}");
    }
}

#[test]
fn a_proof_is_made_and_verifies() {
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof.bin");
    let proof = proof.to_str().unwrap();
    let made = run(with_params(), &prove_args(&public, &c1, proof));
    assert!(made.status.success(), "{}", last_line(&made));
    assert!(last_line(&made).contains("development parameters"), "{}", last_line(&made));
    let report = json(&made);
    assert_eq!(report["partitions"], 1);
    assert_eq!(report["proof_bytes"], 192);
    assert_eq!(report["circuit"], "porep-2KiB");
    assert_eq!(report["development_parameters"], true);
    assert!(report["device"].is_string() && report["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
    let phases = ["queued", "loading", "witness", "device", "finishing"];
    let sum: f64 = phases.iter().map(|p| report["phases"][p].as_f64().unwrap()).sum();
    let seconds = report["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0 && (sum - seconds).abs() < 0.05 * seconds + 0.01, "{sum} of {seconds}");
    let bytes = fs::read(proof).unwrap();
    assert_eq!(bytes.len(), 192);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something else was left beside the proof");

    let verify = |public: &str, proof: &str| {
        run(with_params(), &["verify", "--kind", "porep", "--public", public, "--proof", proof, "--json"])
    };
    let verified = verify(&public, proof);
    assert!(verified.status.success(), "{}", last_line(&verified));
    assert_eq!(json(&verified)["verified"], true);

    // A flipped bit in C's last byte: another point or none; a proof cut short; another statement.
    let other = folder.path().join("other.bin");
    let other = other.to_str().unwrap();
    let mut flipped = bytes.clone();
    flipped[191] ^= 1;
    fs::write(other, &flipped).unwrap();
    let refused = verify(&public, other);
    fails(&refused, 1, &["splitprove: proof:"]);
    assert_eq!(json(&refused)["error"]["field"], "proof");
    fs::write(other, &bytes[..191]).unwrap();
    fails(&verify(&public, other), 1, &["splitprove: proof:", "191"]);
    let changed = edited_public(folder.path(), "seed", &"11".repeat(32));
    fails(&verify(&changed, proof), 1, &["splitprove: proof:"]);
}

#[test]
fn every_other_kind_is_proved_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, name, inputs, bytes) in
        [("winning-post", "winning-2k", 1, 192), ("window-post", "window-2k", 3, 384), ("snap", "update-2k", 1, 192)]
    {
        let made = run(with_params(), &["params", "generate", "--circuit", &format!("{kind}-2KiB")]);
        assert!(made.status.success(), "{}", last_line(&made));
        let public = data(&format!("{name}/public.json"));
        let inputs: Vec<String> = (0..inputs).map(|i| data(&format!("{name}/vanilla-{i}.bin"))).collect();
        let statement = ["--kind", kind, "--public", &public];
        let proof = folder.path().join(kind);
        let proof = proof.to_str().unwrap();
        let mut prove = [&["prove", "--json", "--output", proof], &statement[..]].concat();
        inputs.iter().for_each(|input| prove.extend(["--input", input]));
        let made = run(with_params(), &prove);
        assert!(made.status.success(), "{}", last_line(&made));
        let report = json(&made);
        assert_eq!((&report["proof_bytes"], &report["kind"]), (&bytes.into(), &kind.into()));
        let verify = [&["verify", "--json", "--proof", proof], &statement[..]].concat();
        let verified = run(with_params(), &verify);
        assert!(verified.status.success(), "{}", last_line(&verified));

        // Another commitment: the inputs do not prove it, nor is the proof of it.
        let mut other: Value = serde_json::from_slice(&fs::read(&public).unwrap()).unwrap();
        let commitment = if kind == "snap" { "/comm_d_new" } else { "/sectors/0/comm_r" };
        *other.pointer_mut(commitment).unwrap() = "11".repeat(32).into();
        let public = folder.path().join("public.json");
        fs::write(&public, other.to_string()).unwrap();
        let statement = ["--kind", kind, "--public", public.to_str().unwrap()];
        let verify = [&["verify", "--proof", proof], &statement[..]].concat();
        fails(&run(with_params(), &verify), 1, &["splitprove: proof:"]);
        let again = folder.path().join("again");
        let mut prove = [&["prove", "--output", again.to_str().unwrap()], &statement[..]].concat();
        inputs.iter().for_each(|input| prove.extend(["--input", input]));
        fails(&run(with_params(), &prove), 2, &[if kind == "snap" { "comm_d_new" } else { "sectors[0].comm_r" }]);
        assert!(!again.exists());
    }
    let doctor = json(&run(with_params(), &["doctor", "--json"]));
    let circuits = doctor["parameters"]["circuits"].as_array().unwrap();
    for name in ["snap-2KiB", "window-post-2KiB", "winning-post-2KiB"] {
        let circuit = circuits.iter().find(|c| c["circuit"] == name).unwrap();
        assert_eq!((&circuit["state"], &circuit["offered"]), (&"there".into(), &true.into()));
    }
}

/// public.json with one value changed; its path.
fn edited_public(folder: &Path, key: &str, value: &str) -> String {
    let mut public: Value = serde_json::from_slice(&fs::read(fixture("public.json")).unwrap()).unwrap();
    public[key] = value.into();
    // What follows from the values is left out, so that only the one value disagrees.
    public.as_object_mut().unwrap().retain(|k, _| k != "public_inputs_le_hex" && k != "replica_id");
    let path = folder.join(format!("{key}.json"));
    fs::write(&path, public.to_string()).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn inputs_that_disagree_are_2_even_without_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof.bin");
    let proof = proof.to_str().unwrap();
    for key in ["ticket", "seed", "comm_d", "comm_r"] {
        let public = edited_public(folder.path(), key, &"11".repeat(32));
        let refused = run(folder.path(), &prove_args(&public, &fixture("c1.json"), proof));
        fails(&refused, 2, &["splitprove: "]);
        assert!(json(&refused)["error"]["field"].as_str().is_some_and(|f| !f.is_empty()), "{key}");
    }
    let refused = run(folder.path(), &prove_args(&fixture("public.json"), &fixture("public.json"), proof));
    fails(&refused, 2, &["splitprove: "]);
    assert!(!Path::new(proof).exists());
}

#[test]
fn what_the_machine_lacks_is_3() {
    let empty = tempfile::tempdir().unwrap();
    let proof = empty.path().join("proof.bin");
    let proof = proof.to_str().unwrap();
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let args = prove_args(&public, &c1, proof);
    let refused = run(empty.path(), &args);
    fails(&refused, 3, &["splitprove: params", empty.path().to_str().unwrap()]);
    assert_eq!(json(&refused)["error"]["code"], -40);
    let mut gpu = args.clone();
    gpu.extend(["--devices", "0"]);
    fails(&run(empty.path(), &gpu), 3, &["splitprove: devices:"]);
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "a failed proof left a file");

    let doctor = run(empty.path(), &["doctor", "--json", "--no-gpu"]);
    fails(&doctor, 3, &["splitprove: parameters:"]);
    let report = json(&doctor);
    assert_eq!(report["can_prove"], false);
    assert_eq!(report["cpu"]["works"], true);
    assert!(report["memory"]["total_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn bench_makes_several_proofs_at_one_time_and_verifies_each() {
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let args = ["bench", "--kind", "porep", "--public", &public, "--input", &c1, "--json"];
    let more = ["--count", "3", "--parallel", "3", "--workers", "1", "--budget", "3400MiB", "--priority", "low"];
    // One more in flight than the engine takes: refused at once, and taken in the end.
    let traced = ["--queue-depth", "2", "--trace", trace.to_str().unwrap()];
    let made = run(with_params(), &[&args[..], &more, &traced].concat());
    assert!(made.status.success(), "{}", last_line(&made));
    let report = json(&made);
    assert_eq!((&report["verified"], &report["count"], &report["parallel"]), (&3.into(), &3.into(), &3.into()));
    let budget = 3400u64 << 20;
    assert_eq!(report["budget_bytes"], budget);
    assert!(report["busy"].as_u64().unwrap() >= 1, "{report}");
    assert_eq!(report["development_parameters"], true);
    let (peak, rss) = (report["budget_peak_bytes"].as_u64().unwrap(), report["peak_rss_bytes"].as_u64().unwrap());
    // Within the budget, with more than one proof's: the parameters are 1.04 GiB and a partition's bytes less than 0.4.
    assert!((1500 << 20..=budget).contains(&peak), "{peak}");
    assert!((1 << 30..=budget * 11 / 10 + (150 << 20)).contains(&rss), "{rss}");
    let number = |key: &str| report[key].as_f64().unwrap();
    assert!((number("seconds_per_proof") * 3.0 - number("seconds")).abs() < 1e-6);
    assert!(number("seconds_per_proof_loaded") <= number("seconds_per_proof"));
    for stage in ["witness", "device", "finishing"] {
        for what in ["per_proof", "per_partition"] {
            let [min, mean, max] = ["min", "mean", "max"].map(|k| report["stages"][stage][what][k].as_f64().unwrap());
            assert!(0.0 < max && min <= mean && mean <= max && max < number("seconds"), "{stage} {what}: {report}");
        }
    }
    let trace: Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
    assert!(trace.to_string().contains("\"witness\""));
}

/// T11: few descriptors, no folder to write temporary files to, and an environment that would lead others astray.
#[test]
fn t11_few_descriptors_and_an_odd_environment() {
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(with_params(), &["bench", "--kind", "porep", "--public", &public, "--input", &c1]);
    command.args(["--count", "2", "--parallel", "2", "--json"]).current_dir(folder.path());
    for (name, value) in [
        ("TMPDIR", "/proc"),
        ("HOME", "/proc"),
        ("BELLMAN_NO_GPU", "0"),
        ("RAYON_NUM_THREADS", "many"),
        ("RUST_LOG", "trace"),
        ("FIL_PROOFS_PARENT_CACHE", "/proc"),
        ("FIL_PROOFS_USE_GPU_COLUMN_BUILDER", "yes"),
        ("RUST_GPU_TOOLS_CUSTOM_GPU", ","),
    ] {
        command.env(name, value);
    }
    // SAFETY: setrlimit is async-signal-safe.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            let few = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
            match libc::setrlimit(libc::RLIMIT_NOFILE, &few) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", last_line(&made));
    assert_eq!(json(&made)["verified"], 2);
    // Nothing beside what was asked for: no line of a log, no file.
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(said.lines().count() <= 1 && !said.contains("DEBUG") && !said.contains("TRACE"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn bench_refuses_what_cannot_be() {
    let none = tempfile::tempdir().unwrap();
    let none = none.path();
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let bench = ["bench", "--kind", "porep", "--public", &public, "--input", &c1];
    let with = |more: &[&str]| run(none, &[&bench[..], more].concat());
    fails(&run(none, &["bench"]), 2, &["--kind", "--public", "--input"]);
    fails(&with(&["--count", "0"]), 2, &["--count"]);
    fails(&with(&["--parallel", "0"]), 2, &["--parallel"]);
    fails(&with(&["--workers", "0"]), 2, &["--workers"]);
    fails(&with(&["--priority", "now"]), 2, &["--priority"]);
    fails(&with(&["--budget", "much"]), 2, &["--budget"]);
    fails(&with(&["--kernels"]), 2, &["--kernels"]);
    fails(&with(&["--trace", "/nonexistent/trace.json"]), 2, &["splitprove: trace:"]);
    let refused = with(&["--count", "2", "--json"]);
    fails(&refused, 3, &["splitprove: params", none.to_str().unwrap()]);
    assert_eq!(json(&refused)["error"]["code"], -40);
    // The parameters alone are larger.
    let small = run(with_params(), &[&bench[..], &["--budget", "64MiB"]].concat());
    fails(&small, 3, &["splitprove: host_memory_limit:"]);
}

#[test]
fn the_published_machine_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("memory.svg");
    let args = ["simulate", "--preset", "published", "--json", "--plot", plot.to_str().unwrap()];
    let (first, second) = (run(folder.path(), &args), run(folder.path(), &args));
    assert!(first.status.success(), "{}", last_line(&first));
    assert_eq!(first.stdout, second.stdout);
    let report = json(&first);
    let policies = report["policies"].as_array().unwrap();
    let of = |name: &str, key: &str| -> f64 {
        policies.iter().find(|p| p["policy"] == name).unwrap()[key].as_f64().unwrap()
    };
    let gib = (1u64 << 30) as f64;
    assert!(of("at-end-of-synthesis", "peak_partitions") > 24.0);
    assert!(of("at-end-of-synthesis", "peak_bytes") > 668.0 * gib);
    assert!(of("queue-of-one", "peak_partitions") <= 16.0);
    assert!(of("ours", "peak_bytes") <= 384.0 * gib);
    assert!(of("ours", "against_never_waiting_percent") > 99.0);
    assert!(policies.iter().all(|p| p["proofs"] == 15 && p["seconds_per_proof"].as_f64().unwrap() > 35.0));
    let ours = policies.iter().find(|p| p["policy"] == "ours").unwrap();
    assert_eq!((&ours["budget_bytes"], &ours["reported"]["seconds_per_proof"]), (&(384u64 << 30).into(), &38.4.into()));
    let svg = fs::read_to_string(plot).unwrap();
    for text in ["<svg", "GiB", "seconds", "ours", "queue-of-one", "668", "</svg>"] {
        assert!(svg.contains(text), "{text}");
    }

    // On another machine nothing is reported; another seed is another run.
    let other = json(&run(folder.path(), &["simulate", "--preset", "published", "--workers", "10", "--json"]));
    assert!(other["policies"].as_array().unwrap().iter().all(|p| p["reported"].is_null()));
    let seed = json(&run(folder.path(), &["simulate", "--seed", "2", "--policy", "ours", "--json"]));
    assert_ne!(seed["policies"][0]["seconds"], ours["seconds"]);
    assert_eq!(seed["policies"].as_array().unwrap().len(), 1);
}

#[test]
fn machines_that_cannot_be_are_not_simulated() {
    let none = Path::new("/nonexistent");
    fails(&run(none, &["simulate", "--workers", "0"]), 2, &["splitprove: workers:"]);
    fails(&run(none, &["simulate", "--synthesis-max", "3"]), 2, &["splitprove: synthesis-max:"]);
    fails(&run(none, &["simulate", "--evaluations", "12.5"]), 2, &["--evaluations"]);
    fails(&run(none, &["simulate", "--policy", "best"]), 2, &["--policy", "queue-of-one"]);
    fails(&run(none, &["simulate", "--plot", "/nonexistent/memory.svg"]), 2, &["splitprove: plot:"]);
    let refused = run(none, &["simulate", "--budget", "80GiB", "--json"]);
    fails(&refused, 3, &["splitprove: budget:"]);
    assert_eq!(json(&refused)["error"]["field"], "budget");
}

#[test]
fn doctor_finds_the_parameters() {
    let doctor = run(with_params(), &["doctor", "--json"]);
    assert!(doctor.status.success(), "{}", last_line(&doctor));
    let report = json(&doctor);
    assert_eq!(report["can_prove"], true);
    let circuits = report["parameters"]["circuits"].as_array().unwrap();
    let porep = circuits.iter().find(|c| c["circuit"] == "porep-2KiB").unwrap();
    assert_eq!((&porep["state"], &porep["development"]), (&"there".into(), &true.into()));
    assert!(report["warnings"].to_string().contains("porep-2KiB"));
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn vanilla_proofs_are_inspected() {
    let inspect = |params: &Path, name: &str| json(&run(params, &["inspect", &data(name), "--json"]));
    for (name, format, sector) in
        [("porep-2k/c1.json", "json", Value::Null), ("porep-2k/c1.lotus-bench.json", "wrapper", 1.into())]
    {
        let it = inspect(with_params(), name);
        assert_eq!(
            (&it["kind"], &it["circuit"], &it["format"]),
            (&"porep".into(), &"porep-2KiB".into(), &format.into())
        );
        assert_eq!((&it["sector_size"], &it["sector_number"], &it["partitions"]), (&2048.into(), &sector, &1.into()));
        let public: Value = serde_json::from_slice(&fs::read(fixture("public.json")).unwrap()).unwrap();
        assert_eq!(it["registered_proofs"][0]["name"], public["registered_seal_proof"]);
        for value in ["comm_d", "comm_r", "replica_id", "seed", "ticket"] {
            assert_eq!(it["commitments"][value], public[value]);
        }
        assert_eq!(it["bytes"], fs::metadata(data(name)).unwrap().len());
        assert_eq!(it["estimate"]["sizes_from"], "parameter file");
    }
    // Where there is no parameter file, the table has the same sizes.
    let none = tempfile::tempdir().unwrap();
    let (from_file, from_table) =
        (inspect(with_params(), "porep-2k/c1.json"), inspect(none.path(), "porep-2k/c1.json"));
    assert_eq!(from_table["estimate"]["sizes_from"], "table");
    let bytes = |it: &Value, key: &str| it["estimate"][key].as_u64().unwrap();
    for key in ["memory_bytes", "parameter_bytes", "partition_bytes", "request_bytes"] {
        assert_eq!(bytes(&from_file, key), bytes(&from_table, key), "{key}");
    }
    let sum = ["parameter_bytes", "partition_bytes", "request_bytes"].map(|key| bytes(&from_file, key));
    assert_eq!(bytes(&from_file, "memory_bytes"), sum.iter().sum::<u64>());
    assert!(from_file["estimate"]["seconds"].as_f64().unwrap() > 0.0);
    assert!(!from_file["estimate"]["seconds_from"].as_str().unwrap().is_empty());

    for (name, circuit, challenges) in [
        ("update-2k/vanilla-0.bin", "snap-2KiB", 10),
        ("window-2k/vanilla-2.bin", "window-post-2KiB", 10),
        ("winning-2k/vanilla-0.bin", "winning-post-2KiB", 66),
    ] {
        let it = inspect(none.path(), name);
        assert_eq!((&it["circuit"], &it["challenges"]), (&circuit.into(), &challenges.into()));
        let shown = run(none.path(), &["inspect", &data(name)]);
        let shown = String::from_utf8(shown.stdout).unwrap();
        for word in [circuit, "registered proof", "memory", "time", it["commitments"]["comm_c"].as_str().unwrap()] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
    let wrong = run(none.path(), &["inspect", &fixture("public.json"), "--json"]);
    fails(&wrong, 2, &["splitprove: registered_proof:"]);
    assert_eq!(json(&wrong)["error"]["field"], "registered_proof");
    let cut = none.path().join("cut.bin");
    fs::write(&cut, &fs::read(data("window-2k/vanilla-0.bin")).unwrap()[..5000]).unwrap();
    fails(&run(none.path(), &["inspect", cut.to_str().unwrap()]), 2, &["splitprove: vanilla", "window-post-2KiB"]);
}

#[test]
fn parameters_are_listed_with_where_they_are() {
    let listed = json(&run(with_params(), &["params", "list", "--json"]));
    let circuits = listed["circuits"].as_array().unwrap();
    assert_eq!(circuits.len(), 20);
    let of = |name: &str| circuits.iter().find(|c| c["circuit"] == name).unwrap();
    let porep = of("porep-2KiB");
    assert_eq!((&porep["kind"], &porep["sector_size"]), (&"porep".into(), &2048.into()));
    assert_eq!((&porep["resident"], &porep["provenance"]), (&"disk".into(), &"development".into()));
    assert_eq!(porep["bytes"], fs::metadata(porep["file"].as_str().unwrap()).unwrap().len());
    assert_eq!(porep["expected_bytes"], porep["bytes"]);
    let missing = of("snap-64GiB");
    assert_eq!(
        (&missing["state"], &missing["resident"], &missing["bytes"]),
        (&"missing".into(), &Value::Null, &Value::Null)
    );
    assert!(missing["expected_bytes"].as_u64().unwrap() > 1 << 33);
}

#[test]
fn a_parameter_file_is_checked_to_its_end() {
    let listed = json(&run(with_params(), &["params", "list", "--json"]));
    let circuits = listed["circuits"].as_array().unwrap();
    let file = circuits.iter().find(|c| c["circuit"] == "porep-2KiB").unwrap()["file"].as_str().unwrap().to_string();
    let good = run(with_params(), &["params", "check", &file, "--json"]);
    assert!(good.status.success(), "{}", last_line(&good));
    assert_eq!(json(&good)["bytes"], fs::metadata(&file).unwrap().len());

    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.params");
    let mut start = vec![0; 1 << 20];
    fs::File::open(&file).unwrap().read_exact(&mut start).unwrap();
    fs::write(&cut, &start).unwrap();
    fails(&run(with_params(), &["params", "check", cut.to_str().unwrap()]), 1, &["splitprove: "]);
    fails(&run(with_params(), &["params", "check", "/nonexistent"]), 3, &["/nonexistent"]);
}

/// Exit code 1, and the section, the point and its byte in the last line.
#[test]
fn a_check_says_what_is_wrong_where() {
    let made = run(with_params(), &["params", "generate", "--circuit", "window-post-2KiB", "--json"]);
    let file = json(&made)["file"].as_str().unwrap().to_string();
    let good = run(with_params(), &["params", "check", &file, "--json"]);
    assert!(good.status.success(), "{}", last_line(&good));
    let report = json(&good);
    assert_eq!((&report["listed"], &report["key_file"]), (&false.into(), &true.into()));
    assert!(report["key_digest"] != report["file_digest"] && report["file_digest"].as_str().unwrap().len() == 32);

    let bytes = fs::read(&file).unwrap();
    let count = |name: &str| report["sections"][name].as_u64().unwrap() as usize;
    let after = |start: usize, name: &str| start + 4 + 96 * count(name);
    let l = after(after(864, "ic"), "h") + 4;
    let b_g2 = after(after(l - 4, "l"), "a") + 4 + 96 * count("b_g1") + 4;
    assert_eq!(b_g2 + 192 * count("b_g2"), bytes.len());
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("changed.params");
    let changed = changed.to_str().unwrap();
    let check = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        fs::write(changed, bytes).unwrap();
        run(with_params(), &["params", "check", changed])
    };
    let last = count("l") - 1;
    let place = format!("splitprove: l: point {last} at byte {} is not on its curve", l + 96 * last);
    fails(&check(&|b| b[l + 96 * last + 95] ^= 1), 1, &[&place, changed]);
    // One good point of b_g2 in the place of another.
    let at = b_g2 + 5 * 192;
    let place = format!("splitprove: b_g2: point 5 at byte {at} is not the number");
    fails(&check(&|b| b.copy_within(at + 192..at + 384, at)), 1, &[&place, changed]);

    fs::copy(&file, changed).unwrap();
    fs::write(folder.path().join("changed.vk"), &bytes[..after(864, "ic") - 1]).unwrap();
    fails(&run(with_params(), &["params", "check", changed]), 1, &["splitprove: vk:", "changed.vk"]);
}

#[test]
fn only_listed_parameters_are_loaded_where_it_is_asked_for() {
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof.bin");
    let args = prove_args(&public, &c1, proof.to_str().unwrap());
    for also in [&["--params-digest"][..], &["--params-digest", "--params-subgroup", "--insecure-params"]] {
        let refused = run(with_params(), &[&args[..], also].concat());
        fails(&refused, 3, &["splitprove: params:", "Filecoin's list", "v28-"]);
    }
    assert!(!proof.exists());
}

/// Sends SIGINT once the process has got to work.
fn interrupt(child: &mut Child, after: Duration) -> Option<i32> {
    std::thread::sleep(after);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success(), "it was over before the signal");
    child.wait().unwrap().code()
}

#[test]
fn ctrl_c_ends_with_130_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &["params", "generate", "--circuit", "porep-2KiB"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let code = interrupt(&mut child, Duration::from_millis(500));
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(code, Some(130), "{text}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn ctrl_c_ends_a_bench() {
    let (public, c1) = (fixture("public.json"), fixture("c1.json"));
    let args = ["bench", "--kind", "porep", "--public", &public, "--input", &c1, "--count", "1000", "--parallel", "2"];
    let mut child = command(with_params(), &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let code = interrupt(&mut child, Duration::from_secs(2));
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(code, Some(130), "{text}");
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("cancelled") && !text.contains("a proof"), "{text}");
}
