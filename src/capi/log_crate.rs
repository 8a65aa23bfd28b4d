//! Records of code below the library that uses the `log` crate (storage-proofs, bellperson, merkletree).
//!
//! The shared library has a `log` of its own, whose logger no other code sees. A Rust program that links the crate shares
//! its `log`, and keeps the logger that it has set.

use std::sync::atomic::{AtomicBool, Ordering};

use log::{Level, LevelFilter, Log, Metadata, Record};

use super::log::{send, Cut};
use super::structs::*;

/// Whether the logger is ours, and with it `log`'s level.
static OURS: AtomicBool = AtomicBool::new(false);

struct Forward;

/// Sets the logger, unless the program has one.
pub(super) fn install() {
    if log::set_logger(&Forward).is_ok() {
        OURS.store(true, Ordering::Release);
    }
}

/// Sets `log`'s level, at which its macros look first, to a `PROVER_LOG_*`.
pub(super) fn follow(level: u32) {
    if OURS.load(Ordering::Acquire) {
        log::set_max_level(match level {
            PROVER_LOG_OFF => LevelFilter::Off,
            PROVER_LOG_ERROR => LevelFilter::Error,
            PROVER_LOG_WARN => LevelFilter::Warn,
            PROVER_LOG_INFO => LevelFilter::Info,
            PROVER_LOG_DEBUG => LevelFilter::Debug,
            _ => LevelFilter::Trace,
        });
    }
}

fn number(level: Level) -> u32 {
    match level {
        Level::Error => PROVER_LOG_ERROR,
        Level::Warn => PROVER_LOG_WARN,
        Level::Info => PROVER_LOG_INFO,
        Level::Debug => PROVER_LOG_DEBUG,
        Level::Trace => PROVER_LOG_TRACE,
    }
}

impl Log for Forward {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut message = String::new();
        // Fails when the message is too long, which is how the rest is cut.
        let _ = std::fmt::write(&mut Cut(&mut message), *record.args());
        send(number(record.level()), record.target().to_string().into(), message);
    }

    fn flush(&self) {}
}
