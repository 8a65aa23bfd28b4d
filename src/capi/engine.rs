//! The section "engine" of the header.

use std::ffi::{c_char, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::convert::{self, call, call_bare, call_shared, not_null, read_struct, timeout, write_text, Out};
use super::fork;
use super::handles::PROVERS;
use super::structs::*;
use crate::engine::{Engine, HeldParams, Options};
use crate::error::{Code, Error, Result};
use crate::panics;
use crate::params;
use crate::telemetry::{Class, Stage};

/// More threads than any machine has cores: a larger number is a mistake.
const MOST_THREADS: u32 = 1024;

/// Threads a core that may be asked for, and how many may be asked for on any machine. More of them only wait for each
/// other, and each one's start and end is waited for.
const THREADS_A_CORE: usize = 4;
const THREADS_ANYWHERE: usize = 64;

/// Starts an engine. NULL options are the defaults. Reads the environment, once.
///
/// Blocks: for milliseconds, while it starts its threads. Threads: any. Ownership: *out is written on success only and
/// ended by prover_destroy; options and err are the caller's and not looked at after return. Errors: INVALID_ARGUMENT,
/// ABI_MISMATCH, UNSUPPORTED (PROVER_ISOLATED; in a child forked from a process that used the library), NO_DEVICE,
/// OUT_OF_MEMORY, IO.
#[no_mangle]
pub unsafe extern "C" fn prover_create(
    options: *const prover_options,
    out: *mut prover,
    err: *mut prover_error,
) -> prover_status {
    let body = || {
        not_null("out", out)?;
        let options = if options.is_null() {
            Options::default()
        } else {
            // SAFETY: not NULL; the rest is the caller's promise.
            unsafe { read_options(&read_struct("options", options)?) }?
        };
        let id = PROVERS.insert(Engine::new(options)?)?;
        // SAFETY: not NULL, and the caller says it may be written.
        unsafe { out.write_unaligned(prover { id }) };
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call_shared(err, body) }
}

/// Refuses new requests from now on (PROVER_ERR_SHUTDOWN) and waits for those it has. timeout_ns: -1 for ever, 0 look
/// only.
///
/// Blocks: until all proofs are over or time is. Threads: any. Ownership: none; finished proofs wait for
/// finish_pending_proof. Errors: TIMEOUT (proofs still run), INVALID_HANDLE, INVALID_ARGUMENT.
#[no_mangle]
pub extern "C" fn prover_drain(p: prover, timeout_ns: i64) -> prover_status {
    call_bare(|| {
        let timeout = timeout("timeout_ns", timeout_ns)?;
        PROVERS.get(p.id)?.drain(timeout)?;
        Ok(PROVER_OK)
    })
}

/// Ends an engine: stops all work, joins every thread, frees the parameters. Proofs that were not done end as
/// PROVER_ERR_SHUTDOWN; pending proofs stay valid until finished or dropped. id 0, and any in a forked child: does
/// nothing.
///
/// Blocks: until the work looks up, about a second at most (a verification or self-test that has begun is finished first). Threads: any; calls that wait in other threads return.
/// Ownership: ends p. Errors: INVALID_HANDLE.
#[no_mangle]
pub extern "C" fn prover_destroy(p: prover) -> prover_status {
    if fork::is_child() {
        return PROVER_OK;
    }
    call_bare(|| {
        if p.id != 0 {
            PROVERS.take(p.id)?.shutdown();
        }
        Ok(PROVER_OK)
    })
}

/// Counts and sizes.
///
/// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_HANDLE,
/// INVALID_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn prover_stats_get(p: prover, out: *mut prover_stats) -> prover_status {
    call_bare(|| {
        // SAFETY: the caller's promise, see the comment above.
        let out = unsafe { Out::new("out", out) }?;
        out.write(&stats(&*PROVERS.get(p.id)?));
        Ok(PROVER_OK)
    })
}

/// Buffers of a class (PROVER_BUFFER_*) held in a stage (PROVE_STAGE_*, 0: all): QUEUED while they wait, LOADING for
/// parameters as long as they are held, WITNESS in synthesis, DEVICE, FINISHING, and DONE while they are being freed.
///
/// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_HANDLE,
/// INVALID_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn prover_buffer_stats_get(
    p: prover,
    buffer: u32,
    stage: u32,
    out: *mut prover_buffer_stats,
) -> prover_status {
    call_bare(|| {
        // SAFETY: the caller's promise, see the comment above.
        let out = unsafe { Out::new("out", out) }?;
        let class = Class::ALL.into_iter().find(|class| *class as u32 == buffer);
        let class =
            class.ok_or_else(|| Error::argument("buffer", format!("{buffer} is no class of buffers (1 to 6)")))?;
        let in_stage = Stage::ALL.into_iter().find(|s| *s as u32 == stage);
        if in_stage.is_none() && stage != 0 {
            return Err(Error::argument("stage", format!("{stage} is no stage (0 to 6)")));
        }
        let s = PROVERS.get(p.id)?.accounts().buffers.stats(class, in_stage);
        out.write(&prover_buffer_stats {
            struct_size: size_of::<prover_buffer_stats>() as u32,
            reserved0: 0,
            count: s.count,
            bytes: s.bytes,
            peak_count: s.peak_count,
            peak_bytes: s.peak_bytes,
        });
        Ok(PROVER_OK)
    })
}

/// Metrics in Prometheus' text format. As snprintf: writes at most cap bytes with the NUL and returns the whole
/// length without it; buf NULL with cap 0 asks for the length.
///
/// Blocks: no. Threads: any. Ownership: buf is the caller's. Errors: 0 for an invalid handle.
#[no_mangle]
pub unsafe extern "C" fn prover_metrics_text(p: prover, buf: *mut c_char, cap: usize) -> usize {
    // SAFETY: the caller's promise about buf.
    unsafe { text_out(buf, cap, || Ok(PROVERS.get(p.id)?.metrics_text())) }
}

/// The engine's state as one JSON object: "version", "device", "params_dir", the fields of prover_stats, "params" (what it
/// holds or loads: "circuit", "file", "state" "resident" or "loading", "bytes", "users": partitions that use them now), and
/// "buffers" (by class, then stage: "count", "bytes", "peak_count", "peak_bytes"). Texts as in prover_metrics_text.
///
/// Blocks: no. Threads: any. Ownership: buf is the caller's. Errors: 0 for an invalid handle.
#[no_mangle]
pub unsafe extern "C" fn prover_status_json(p: prover, buf: *mut c_char, cap: usize) -> usize {
    // SAFETY: the caller's promise about buf.
    unsafe { text_out(buf, cap, || Ok(status_json(&*PROVERS.get(p.id)?))) }
}

/// Begins to record a timeline of all work for Chrome's and Perfetto's viewers (JSON): a track for every lane, synthesis
/// thread and other worker, and the bytes in flight. Kept in memory, 400,000 spans at most, and written to path, which is
/// made now, by prover_trace_stop.
///
/// Blocks: while it makes the file. Threads: any. Ownership: path is the caller's. Errors: INVALID_HANDLE,
/// INVALID_ARGUMENT (also while a timeline is being recorded), IO.
#[no_mangle]
pub unsafe extern "C" fn prover_trace_start(p: prover, path: *const c_char, err: *mut prover_error) -> prover_status {
    let body = || {
        not_null("path", path)?;
        // SAFETY: the caller's promise about path.
        let text = unsafe { convert::text("path", path) }?.unwrap_or_default();
        PROVERS.get(p.id)?.start_trace(Path::new(OsStr::from_bytes(text)))?;
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

/// Ends the timeline and closes its file.
///
/// Blocks: while it writes. Threads: any. Ownership: none. Errors: INVALID_HANDLE, INVALID_ARGUMENT (no timeline is being
/// recorded), IO.
#[no_mangle]
pub extern "C" fn prover_trace_stop(p: prover) -> prover_status {
    call_bare(|| {
        PROVERS.get(p.id)?.stop_trace()?;
        Ok(PROVER_OK)
    })
}

/// An export that gives a text: its length, 0 when it fails.
///
/// # Safety
/// `buf` is NULL or points to `cap` writable bytes.
unsafe fn text_out(buf: *mut c_char, cap: usize, text: impl FnOnce() -> Result<String>) -> usize {
    if fork::is_child() {
        // SAFETY: the caller's promise is ours.
        return unsafe { write_text("", buf, cap) };
    }
    // SAFETY: the caller's promise is ours.
    panics::guard(|| text().map(|text| unsafe { write_text(&text, buf, cap) })).unwrap_or_else(|_| {
        // SAFETY: as above. Who looks at the text only sees an empty one.
        unsafe { write_text("", buf, cap) }
    })
}

fn stats(engine: &Engine) -> prover_stats {
    let s = engine.stats();
    prover_stats {
        struct_size: size_of::<prover_stats>() as u32,
        lanes: s.lanes,
        started: s.started,
        finished: s.finished,
        failed: s.failed,
        cancelled: s.cancelled,
        rejected: s.rejected,
        queued: s.queued,
        running: s.running,
        budget_bytes: s.budget_bytes,
        budget_used_bytes: s.budget_used_bytes,
        budget_peak_bytes: s.budget_peak_bytes,
        params_bytes: s.params_bytes,
    }
}

fn status_json(engine: &Engine) -> String {
    let s = stats(engine);
    let buffers = &engine.accounts().buffers;
    let stages = |class| -> serde_json::Map<String, serde_json::Value> {
        let cell = |stage| {
            let s = buffers.stats(class, stage);
            serde_json::json!({
                "count": s.count, "bytes": s.bytes, "peak_count": s.peak_count, "peak_bytes": s.peak_bytes,
            })
        };
        let each = Stage::ALL.into_iter().map(|stage| (stage.name().to_string(), cell(Some(stage))));
        each.chain([("all".to_string(), cell(None))]).collect()
    };
    let buffers: serde_json::Map<String, serde_json::Value> =
        Class::ALL.into_iter().map(|class| (class.name().to_string(), stages(class).into())).collect();
    let params = |held: HeldParams| {
        serde_json::json!({
            "circuit": params::circuit_of(&held.path).map(|circuit| circuit.to_string()),
            "file": held.path.to_string_lossy(),
            "state": if held.resident { "resident" } else { "loading" },
            "bytes": held.bytes,
            "users": held.users,
        })
    };
    let params: Vec<serde_json::Value> = engine.held_params().into_iter().map(params).collect();
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "device": engine.device_name(),
        "params_dir": engine.params_dir().to_string_lossy(),
        "lanes": s.lanes,
        "started": s.started,
        "finished": s.finished,
        "failed": s.failed,
        "cancelled": s.cancelled,
        "rejected": s.rejected,
        "queued": s.queued,
        "running": s.running,
        "budget_bytes": s.budget_bytes,
        "budget_used_bytes": s.budget_used_bytes,
        "budget_peak_bytes": s.budget_peak_bytes,
        "params_bytes": s.params_bytes,
        "params": params,
        "buffers": buffers,
    })
    .to_string()
}

/// A number of threads: 0 the default, as many as asked for up to what the machine has use for.
fn threads(name: &'static str, asked: u32) -> Result<usize> {
    if asked > MOST_THREADS {
        return Err(Error::argument(name, format!("{asked} threads, at most {MOST_THREADS}")));
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let most = (cores * THREADS_A_CORE).max(THREADS_ANYWHERE);
    if asked as usize > most {
        tracing::warn!("{name}: {asked} threads were asked for, {most} are started for {cores} cores");
    }
    Ok(most.min(asked as usize))
}

/// The engine's options from the caller's.
///
/// # Safety
/// The texts are NULL or end in NUL.
unsafe fn read_options(c: &prover_options) -> Result<Options> {
    let known = PROVER_NO_GPU | PROVER_NO_SELF_CHECK | PROVER_ALLOW_INSECURE_PARAMS | PROVER_ISOLATED;
    if c.flags & !known != 0 {
        return Err(Error::argument("flags", format!("{:#x} has bits that are no flags", c.flags)));
    }
    if c.flags & PROVER_ISOLATED != 0 {
        return Err(Error::unsupported("flags", "PROVER_ISOLATED is not offered by this version"));
    }
    if c.reserved0 != 0 {
        return Err(Error::new(Code::AbiMismatch, "reserved0", "it is set, this version does not know it"));
    }
    let mut o = Options {
        no_gpu: c.flags & PROVER_NO_GPU != 0,
        self_check: c.flags & PROVER_NO_SELF_CHECK == 0,
        allow_insecure_params: c.flags & PROVER_ALLOW_INSECURE_PARAMS != 0,
        synthesis_threads: threads("synthesis_threads", c.synthesis_threads)?,
        cpu_threads: threads("cpu_threads", c.cpu_threads)?,
        queue_depth: c.queue_depth as usize,
        host_memory_limit: c.host_memory_limit,
        pinned_memory_limit: c.pinned_memory_limit,
        device_memory_limit: c.device_memory_limit,
        ..Options::default()
    };
    // SAFETY: the caller's promise is ours, for all three.
    let (params, cache, devices) = unsafe {
        (
            convert::text("params_dir", c.params_dir)?,
            convert::text("circuit_cache_dir", c.circuit_cache_dir)?,
            convert::text("devices", c.devices)?,
        )
    };
    if let Some(dir) = params {
        o.params_dir = PathBuf::from(OsStr::from_bytes(dir));
    }
    if let Some(dir) = cache {
        o.circuit_cache_dir = PathBuf::from(OsStr::from_bytes(dir));
    }
    if let Some(list) = devices {
        let list = std::str::from_utf8(list).map_err(|_| Error::argument("devices", "it is not UTF-8"))?;
        let names: Vec<String> = list.split(',').map(|d| d.trim().to_string()).collect();
        if names.iter().any(String::is_empty) {
            return Err(Error::argument("devices", format!("{list:?} has an empty name")));
        }
        o.devices = Some(names);
    }
    Ok(o)
}
