//! Large inputs meant to exhaust memory or time: an error within the memory that the proof allows, never the end of the
//! process, and soon after a cancel nothing runs any more.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use filecoin_proofs_api::RegisteredSealProof;
use splitprove::error::{Code, Error};
use splitprove::proofs::{self, Decoded, Request};

use crate::fixtures::Porep;
use crate::hostile_others;
use crate::large::made_up;

pub struct Input {
    pub name: &'static str,
    pub request: Request,
    pub bytes: Vec<u8>,
    pub good: bool,
}

/// A text of about `len` bytes: a beginning, a part again and again.
fn repeated(begin: &str, part: &str, len: usize) -> Vec<u8> {
    (begin.to_owned() + &part.repeat((len - begin.len()) / part.len())).into_bytes()
}

/// Inputs of each about `len` bytes; none of them is what its request asks for.
fn hostile(len: usize) -> impl Iterator<Item = Input> {
    hostile_c1s(len).chain(hostile_others::hostile(len))
}

/// Inputs for the 2 KiB sector's request; none of them is a C1.
fn hostile_c1s(len: usize) -> impl Iterator<Item = Input> {
    let porep = Porep::load("porep-2k");
    let good = String::from_utf8(porep.json).unwrap();
    let before = |what: &str| {
        let at = good.find(what).unwrap();
        good[..at + what.len()].to_owned()
    };
    let proofs = before("\"StackedDrg2KiBV1\":[");
    let challenges = before("\"StackedDrg2KiBV1\":[[");
    let hashes = before("\"hashes\":[");
    let index = before("\"index\":");
    let bincode = porep.bincode;
    type Make = Box<dyn FnOnce(usize) -> Vec<u8>>;
    let text = |begin: String, part: &'static str| -> Make { Box::new(move |len| repeated(&begin, part, len)) };
    let object = |begin: &str, part| text(begin.to_owned(), part);
    let lengths = move |at: usize| -> Make {
        let mut bytes = bincode.clone();
        bytes[at..at + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
        Box::new(move |len| [bytes, vec![0; len]].concat())
    };
    let base64 = |part: &'static str| text("{\"SectorNum\":1,\"SectorSize\":2048,\"Phase1Out\":\"".into(), part);
    let wrapped = |inner: Make| -> Make {
        Box::new(move |len| {
            let out = STANDARD.encode(inner(len / 4 * 3));
            format!("{{\"SectorNum\":1,\"SectorSize\":2048,\"Phase1Out\":\"{out}\"}}").into_bytes()
        })
    };
    let makes: Vec<(&'static str, Make)> = vec![
        ("empty partitions", text(proofs.clone(), "[],")),
        ("empty challenges", text(challenges, "{},")),
        ("many siblings", text(hashes, "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],")),
        ("a long key", object("{\"", "k")),
        ("a long key with escapes", object("{\"", "k\\n")),
        ("many keys", object("{", "\"key\":[{\"key\":null}],")),
        ("escapes for a number", text(index.clone(), "\"\\u0041")),
        ("a string of escapes for a number", text(index + "\"", "\\u0041")),
        ("escapes for a key's value", object("{\"key\":\"", "\\u0041")),
        ("a long number", object("{\"seed\":[", "1")),
        ("a long number for a key", object("{\"key\":", "1")),
        ("nothing but brackets", object("[", "[")),
        ("brackets for a key", object("{\"key\":", "[")),
        ("objects for a key", object("{\"key\":", "{\"key\":")),
        ("brackets for proofs", text(proofs, "[")),
        ("space", object(" ", " ")),
        ("space within", object("{\"seed\":[", "\n")),
        ("base64 without end", base64("AAAA")),
        ("base64 of zeros", wrapped(Box::new(|len| vec![0; len]))),
        ("base64 that is none", wrapped(Box::new(|len| vec![0xee; len]))),
        ("base64 of brackets", wrapped(object("{\"key\":", "["))),
        (
            "base64 with escapes",
            Box::new(|len| {
                let text = repeated("{\"SectorNum\":1,\"SectorSize\":2048,\"Phase1Out\":\"", "\\u0041", len);
                [text, b"\"}".to_vec()].concat()
            }),
        ),
        ("a length of partitions", lengths(8)),
        ("a length of challenges", lengths(16)),
        ("a length of steps", lengths(24 + 4 + 64)),
        ("a length of siblings", lengths(24 + 4 + 64 + 8)),
    ];
    let request = porep.request;
    makes.into_iter().map(move |(name, make)| Input { name, request: request.clone(), bytes: make(len), good: false })
}

/// Inputs that are taken for good: a small sector's C1 and one of 32 GiB, in every encoding, and other kinds' of 32 GiB.
fn good() -> Vec<Input> {
    let small = Porep::load("porep-2k-noninteractive");
    let (request, _, c1) = made_up(RegisteredSealProof::StackedDrg32GiBV1_1);
    let bincode = bincode::serialize(&c1).unwrap();
    let json = serde_json::to_vec(&c1).unwrap();
    let out = STANDARD.encode(&json);
    let wrapped = format!("{{\"SectorNum\":77,\"SectorSize\":{},\"Phase1Out\":\"{out}\"}}", 32u64 << 30).into_bytes();
    let input = |name, request: &Request, bytes| Input { name, request: request.clone(), bytes, good: true };
    let c1s = [
        input("2 KiB, JSON", &small.request, small.json),
        input("2 KiB, wrapper", &small.request, small.wrapped),
        input("2 KiB, bincode", &small.request, small.bincode),
        input("32 GiB, JSON", &request, json),
        input("32 GiB, wrapper", &request, wrapped),
        input("32 GiB, bincode", &request, bincode),
    ];
    c1s.into_iter().chain(hostile_others::good()).collect()
}

/// How a decoding in a process of its own ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Good,
    Malformed,
    /// Refused before reading, or while.
    OutOfMemory,
    OutOfMemoryWithin,
    Other(i32),
}

fn end(result: Result<Decoded, Error>) -> End {
    match result {
        Ok(_) => End::Good,
        Err(e) if e.message.is_empty() || e.message.len() > 500 || e.field.is_empty() || e.field.len() > 63 => {
            End::Other(4)
        }
        Err(e) if e.code == Code::MalformedInput => End::Malformed,
        // What is asked for first comes in pieces of no less than 16 KiB.
        Err(e) if e.code == Code::OutOfMemory && e.field == "vanilla" => {
            let bytes: u64 = e.message.split(' ').find_map(|word| word.parse().ok()).unwrap();
            if bytes < 16 * KIB {
                End::OutOfMemoryWithin
            } else {
                End::OutOfMemory
            }
        }
        Err(_) => End::Other(5),
    }
}

/// Bytes of address space that this process has, and of it what can be written and is its own.
fn address_space() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    ["VmSize:", "VmData:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * KIB
    })
}

/// Takes what malloc has left without asking the system, but for a few small pieces: an error has a text.
fn drain_the_heap() {
    const LEFT: [usize; 2] = [4 << 10; 2];
    let left = LEFT.map(Vec::<u8>::with_capacity);
    for size in (4..=20).rev().map(|bits| 1 << bits) {
        loop {
            let mut block = Vec::<u8>::new();
            if block.try_reserve_exact(size).is_err() {
                break;
            }
            std::mem::forget(block);
        }
    }
    drop(left);
}

/// Decodes in a fork that can have `more` bytes than this process has now.
pub fn decode_within(input: &Input, more: u64) -> End {
    // A thread's arena holds address space that it may not write to until it grows: the second limit counts that.
    let [all, writable] = address_space();
    let limit = |more: Option<u64>| {
        for (resource, bytes) in [(libc::RLIMIT_AS, all), (libc::RLIMIT_DATA, writable)] {
            let rlim_cur = more.map_or(libc::RLIM_INFINITY, |more| bytes + more);
            let limit = libc::rlimit { rlim_cur, rlim_max: libc::RLIM_INFINITY };
            // SAFETY: the struct is whole and only read.
            assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
        }
    };
    // SAFETY: the child decodes on its only thread, in memory that nobody shares, and leaves without returning.
    match unsafe { libc::fork() } {
        0 => {
            let end = catch_unwind(AssertUnwindSafe(|| {
                limit(Some(0));
                drain_the_heap();
                limit(Some(more));
                let result = proofs::decode(&input.request, &input.bytes, &AtomicBool::new(false));
                limit(None);
                end(result)
            }));
            let status = match end {
                Ok(End::Good) => 0,
                Ok(End::Malformed) => 1,
                Ok(End::OutOfMemory) => 2,
                Ok(End::OutOfMemoryWithin) => 3,
                Ok(End::Other(status)) => status,
                Err(_) => 6,
            };
            // SAFETY: ends the child at once, without the harness's destructors.
            unsafe { libc::_exit(status) }
        }
        child => {
            assert!(child > 0);
            let mut status = 0;
            // SAFETY: waits for the child made above; the status is ours.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert!(libc::WIFEXITED(status), "{}, {more} bytes: signal {}", input.name, libc::WTERMSIG(status));
            match libc::WEXITSTATUS(status) {
                0 => End::Good,
                1 => End::Malformed,
                2 => End::OutOfMemory,
                3 => End::OutOfMemoryWithin,
                other => End::Other(other),
            }
        }
    }
}

/// Runs a test in a process of its own, where malloc has `arenas` arenas at most.
pub fn in_a_process(test: &str, arenas: usize) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "--test-threads=1", test])
        .env("MALLOC_ARENA_MAX", arenas.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{}\n{text}", output.status);
}

const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// From nothing to plenty.
const MORE: [u64; 14] = [
    0,
    32 * KIB,
    64 * KIB,
    128 * KIB,
    192 * KIB,
    256 * KIB,
    384 * KIB,
    512 * KIB,
    MIB,
    4 * MIB,
    16 * MIB,
    40 * MIB,
    100 * MIB,
    512 * MIB,
];

#[test]
fn hostile_inputs_within_any_memory() {
    in_a_process("hostile::child_hostile", 1);
}

#[test]
fn good_inputs_within_any_memory() {
    in_a_process("hostile::child_good", 1);
    in_a_process("hostile::child_good", 8);
}

#[test]
#[ignore = "run by hostile_inputs_within_any_memory"]
fn child_hostile() {
    for input in hostile(30_000_000) {
        let ends = MORE.map(|more| decode_within(&input, more));
        println!("{}: {ends:?}", input.name);
        let fine = [End::Malformed, End::OutOfMemory, End::OutOfMemoryWithin];
        assert!(ends.iter().all(|e| fine.contains(e)), "{}: {ends:?}", input.name);
        assert_eq!((ends[0], ends[MORE.len() - 1]), (End::OutOfMemory, End::Malformed), "{}", input.name);
    }
}

#[test]
#[ignore = "run by good_inputs_within_any_memory"]
fn child_good() {
    // A thread of its own has an arena of its own if there may be several.
    std::thread::scope(|scope| scope.spawn(all_good).join().unwrap());
}

fn all_good() {
    let mut within = 0;
    for input in good() {
        assert!(input.good);
        let ends = MORE.map(|more| decode_within(&input, more));
        println!("{}: {ends:?}", input.name);
        let fine = [End::Good, End::OutOfMemory, End::OutOfMemoryWithin];
        assert!(ends.iter().all(|e| fine.contains(e)), "{}: {ends:?}", input.name);
        assert_eq!((ends[0], ends[MORE.len() - 1]), (End::OutOfMemory, End::Good), "{}", input.name);
        if input.name.ends_with("bincode") {
            // Where the memory runs out while vanilla proofs are read, or just after.
            let most = MORE[ends.iter().position(|e| *e == End::Good).unwrap()];
            let step = (most / 100).next_multiple_of(4096);
            for more in (0..=most).step_by(step as usize) {
                let end = decode_within(&input, more);
                within += usize::from(end == End::OutOfMemoryWithin);
                assert!(fine.contains(&end), "{}, {more} bytes: {end:?}", input.name);
            }
        }
    }
    // Where there is one arena, what is asked for first is what is needed; a second one grows less evenly.
    println!("{within} were refused while they were read");
    assert!(within > 0 || std::env::var("MALLOC_ARENA_MAX").as_deref() == Ok("1"));
}

/// A cancelled decoding ends at once when it has not begun, and soon when it has.
#[test]
fn cancelled_soon() {
    let mut slowest = (Duration::ZERO, "");
    let mut cancelled = 0;
    for input in hostile(60_000_000).chain(good()) {
        let early = proofs::decode(&input.request, &input.bytes, &AtomicBool::new(true)).unwrap_err();
        assert_eq!((early.code, &*early.field), (Code::Cancelled, ""), "{}", input.name);
        for after in [1, 7, 30] {
            let flag = AtomicBool::new(false);
            let (took, result) = std::thread::scope(|scope| {
                let at = scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(after));
                    let at = Instant::now();
                    flag.store(true, Ordering::Relaxed);
                    at
                });
                let result = proofs::decode(&input.request, &input.bytes, &flag).map(drop);
                let done = Instant::now();
                (done.saturating_duration_since(at.join().unwrap()), result)
            });
            assert!(took < Duration::from_secs(1), "{}: {took:?}", input.name);
            slowest = slowest.max((took, input.name));
            match result {
                Ok(()) => assert!(input.good, "{}", input.name),
                Err(e) if e.code == Code::Cancelled => cancelled += 1,
                Err(e) => assert!(!input.good && e.code == Code::MalformedInput, "{}: {e}", input.name),
            }
        }
    }
    println!("{cancelled} decodings were cancelled; the slowest took {slowest:?}");
    assert!(cancelled >= 10, "{cancelled}");
}
