//! Reads what callgrind writes and adds up what belongs to the engine rather than to proofs.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;

/// The modules whose cost is asked for; names of functions and paths of files have one of these in them.
const PARTS: [(&str, &[&str], &[&str]); 4] = [
    ("tracing", &["tracing::", "tracing_core::", "log::"], &["/tracing-0", "/tracing-core-0", "/log-0"]),
    ("memory", &["splitprove::memory::"], &["src/memory/"]),
    ("telemetry", &["splitprove::telemetry::"], &["src/telemetry/"]),
    ("engine", &["splitprove::engine::"], &["src/engine/"]),
];

/// What the parts call and cannot do without: counted with the part that calls it, with all that it calls itself.
const SERVANTS: [&str; 9] = [
    "std::sys::sync::",
    "std::sys::pal::",
    "std::sys::time::",
    "std::time::",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "alloc::raw_vec::",
    "hashbrown::",
];

/// Instructions by part.
#[derive(Default)]
pub struct Profile {
    pub total: u64,
    /// Spent in the part's own lines, wherever they were inlined, and in the rest of its functions.
    own: BTreeMap<&'static str, u64>,
    /// Spent in functions of std and the C library that it called.
    called: BTreeMap<&'static str, u64>,
    /// The costliest functions: name to own cost.
    functions: HashMap<String, u64>,
}

fn part(function: &str, file: &str) -> Option<&'static str> {
    let of = |(name, functions, files): &(&'static str, &[&str], &[&str])| {
        let hit = functions.iter().any(|f| function.contains(f)) || files.iter().any(|f| file.contains(f));
        hit.then_some(*name)
    };
    PARTS.iter().find_map(of)
}

fn is_servant(function: &str, object: &str) -> bool {
    object.contains("/libc.so") || SERVANTS.iter().any(|s| function.contains(s))
}

/// `(7) name` or `(7)`: the name, which is given the first time only.
fn name(names: &mut HashMap<String, String>, text: &str) -> String {
    let (number, name) = text.split_once(' ').unwrap_or((text, ""));
    if !name.is_empty() {
        names.insert(number.into(), name.into());
    }
    names.get(number).cloned().unwrap_or_else(|| text.into())
}

impl Profile {
    pub fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(path)?;
        let (mut files, mut functions, mut objects) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut function, mut file, mut object) = (String::new(), String::new(), String::new());
        let (mut callee, mut callee_object) = (String::new(), String::new());
        let mut is_call = false;
        let mut profile = Profile::default();
        for line in text.lines() {
            if let Some((key, value)) = line.split_once('=').filter(|(key, _)| key.len() <= 5) {
                match key {
                    "fl" | "fi" | "fe" => file = name(&mut files, value),
                    "cfi" | "cfl" => drop(name(&mut files, value)),
                    "fn" => function = name(&mut functions, value),
                    "ob" => object = name(&mut objects, value),
                    "cfn" => callee = name(&mut functions, value),
                    "cob" => callee_object = name(&mut objects, value),
                    "calls" => is_call = true,
                    _ => {}
                }
                continue;
            }
            if !line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
                continue;
            }
            let cost: u64 = line.split_whitespace().nth(1).unwrap_or("0").parse()?;
            let of = part(&function, &file);
            if std::mem::take(&mut is_call) {
                let object = if callee_object.is_empty() { &object } else { &callee_object };
                if let Some(of) = of.filter(|_| part(&callee, "").is_none() && is_servant(&callee, object)) {
                    *profile.called.entry(of).or_default() += cost;
                    *profile.functions.entry(format!("{of}: {callee}")).or_default() += cost;
                }
                callee_object.clear();
                continue;
            }
            profile.total += cost;
            if let Some(of) = of {
                *profile.own.entry(of).or_default() += cost;
                *profile.functions.entry(format!("{of}: {function}")).or_default() += cost;
            }
        }
        if profile.total == 0 {
            return Err(format!("{path} has no costs").into());
        }
        Ok(profile)
    }
}

/// Prints instructions a job by part, from two runs that differ by `jobs` jobs. The last line is `engine N`: all parts.
pub fn report(few: &str, many: &str, jobs: u64) -> Result<(), Box<dyn Error>> {
    let (few, many) = (Profile::read(few)?, Profile::read(many)?);
    let a_job = |many: u64, few: u64| many.saturating_sub(few) / jobs;
    let of = |map: &BTreeMap<&'static str, u64>, part| map.get(part).copied().unwrap_or(0);
    let mut all = 0;
    for (part, ..) in PARTS {
        let own = a_job(of(&many.own, part), of(&few.own, part));
        let called = a_job(of(&many.called, part), of(&few.called, part));
        println!("  {part:<10} {own:>8} of its own, {called:>8} in what it calls of std and libc");
        all += own + called;
    }
    let mut functions: Vec<(u64, &String)> = many
        .functions
        .iter()
        .map(|(name, cost)| (a_job(*cost, few.functions.get(name).copied().unwrap_or(0)), name))
        .collect();
    functions.sort_by(|a, b| b.cmp(a));
    for (cost, name) in functions.iter().take(12) {
        println!("    {cost:>8} {}", name.chars().take(110).collect::<String>());
    }
    println!("  all that ran, tiny proof and its verification included: {}", a_job(many.total, few.total));
    println!("engine {all}");
    Ok(())
}
