//! Log records to a callback.
//!
//! Working threads only format a record and put it into a bounded queue; one thread of its own takes them out and calls
//! the callback, however slow that is. Full queue: the record is dropped and counted. Two things are global, as
//! `tracing` has them: the subscriber, installed by the first call and never removed, and the level, an atomic that
//! `tracing`'s macros look at before anything else, so that a disabled record costs one load.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{c_void, CString};
use std::fmt::{self, Write};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{span, Event, Level, Metadata, Subscriber};

use super::convert::call_shared;
use super::log_crate;
use super::structs::*;
use crate::engine::spawn;
use crate::error::{Error, Result};

/// Records that may wait. At 200 bytes each: 200 kB.
const QUEUE: usize = 1024;

/// Bytes of a message; the rest is cut.
const LONGEST: usize = 8192;

/// Sends log records up to a level (PROVER_LOG_*) to a function. The function is called on one thread of the library,
/// never on one that works; a record that finds 1024 others waiting is dropped, and a later one says how many were. fn
/// NULL or level 0 ends it: what waits is delivered, the thread is joined, and no call of the function runs any more
/// when this returns. Another fn replaces the one before in the same way. One log for the whole process. What the library's
/// own parts record comes through it, whichever of Rust's logging crates they use.
///
/// Called from inside the function itself it takes effect at once, too, but the function's own call is still running:
/// nothing may be freed that it uses, and the thread is joined by the next call from elsewhere.
///
/// Blocks: while the function before runs. Threads: any. Ownership: userdata is the caller's and must live until fn is
/// removed or replaced. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, UNSUPPORTED (a Rust program has a subscriber of its own; in
/// a child forked from a process that used the library).
#[no_mangle]
pub unsafe extern "C" fn prover_set_log(max_level: u32, r#fn: prover_log_fn, userdata: *mut c_void) -> prover_status {
    let body = || {
        if max_level > PROVER_LOG_TRACE {
            return Err(Error::argument("max_level", format!("{max_level} is no level (0 to 5)")));
        }
        let sink = match r#fn {
            Some(function) if max_level > 0 => {
                install()?;
                Some(Sink::start(Callback { function, userdata: userdata as usize })?)
            }
            _ => None,
        };
        replace(sink, max_level);
        Ok(PROVER_OK)
    };
    // SAFETY: NULL is allowed.
    unsafe { call_shared(ptr::null_mut(), body) }
}

/// The caller's function. The pointer travels as a number: it is only handed back.
#[derive(Clone, Copy)]
struct Callback {
    function: unsafe extern "C" fn(*mut c_void, *const prover_log_record),
    userdata: usize,
}

/// Where records go now.
static SINK: RwLock<Option<Arc<Sink>>> = RwLock::new(None);

/// Sinks that were told to end and whose threads are not joined yet.
static ENDING: Mutex<Vec<Arc<Sink>>> = Mutex::new(Vec::new());

/// The level that is sent, 0 none.
static LEVEL: AtomicU32 = AtomicU32::new(PROVER_LOG_OFF);

thread_local! {
    /// Set on the threads that call callbacks: one that waited for another would wait for ever.
    static DELIVERS: Cell<bool> = const { Cell::new(false) };
}

/// Installs the subscriber, once in the process's life.
fn install() -> Result<()> {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    if *INSTALLED.get_or_init(|| tracing::subscriber::set_global_default(Forward).is_ok()) {
        log_crate::install();
        return Ok(());
    }
    Err(Error::unsupported("fn", "the program has a tracing subscriber of its own"))
}

/// Puts a sink in the place of the present one, ends that, and waits for all that end.
fn replace(new: Option<Arc<Sink>>, level: u32) {
    {
        // Held over both steps, so that whoever finds no sink finds it among those that end.
        let mut ending = lock(&ENDING);
        let level = if new.is_some() { level } else { PROVER_LOG_OFF };
        let old = std::mem::replace(&mut *SINK.write().unwrap_or_else(PoisonError::into_inner), new);
        LEVEL.store(level, Ordering::Relaxed);
        log_crate::follow(level);
        if let Some(old) = old {
            old.end();
            ending.push(old);
        }
    }
    tracing::callsite::rebuild_interest_cache();
    if DELIVERS.get() {
        return;
    }
    // Not under the lock: the functions that are waited for may call prover_set_log.
    let ending: Vec<Arc<Sink>> = lock(&ENDING).clone();
    for sink in &ending {
        sink.join();
    }
    lock(&ENDING).retain(|s| !ending.iter().any(|joined| Arc::ptr_eq(s, joined)));
}

/// A callback, its queue and its thread.
struct Sink {
    queue: Mutex<Queue>,
    /// A record came, or the end.
    changed: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Queue {
    records: VecDeque<Record>,
    dropped: u64,
    ended: bool,
}

struct Record {
    level: u32,
    unix_ns: i64,
    target: Cow<'static, str>,
    message: String,
}

impl Sink {
    fn start(callback: Callback) -> Result<Arc<Self>> {
        let queue = Queue { records: VecDeque::with_capacity(QUEUE), dropped: 0, ended: false };
        let sink = Arc::new(Sink { queue: Mutex::new(queue), changed: Condvar::new(), thread: Mutex::new(None) });
        let deliver = sink.clone();
        let thread = spawn("log", move || deliver.deliver(callback))?;
        *lock(&sink.thread) = Some(thread);
        Ok(sink)
    }

    fn push(&self, record: Record) {
        let mut queue = lock(&self.queue);
        if queue.ended {
            return;
        }
        if queue.records.len() >= QUEUE {
            queue.dropped += 1;
            return;
        }
        queue.records.push_back(record);
        drop(queue);
        self.changed.notify_one();
    }

    fn end(&self) {
        lock(&self.queue).ended = true;
        self.changed.notify_one();
    }

    /// Waits for the thread; several callers all wait.
    fn join(&self) {
        let mut thread = lock(&self.thread);
        if let Some(thread) = thread.take() {
            let _ = thread.join();
        }
    }

    /// Calls the callback until the end, then with what is left.
    fn deliver(&self, callback: Callback) {
        DELIVERS.set(true);
        loop {
            let (record, dropped) = {
                let mut queue = lock(&self.queue);
                loop {
                    // What was dropped came after what waited then: it is told when the queue has room again.
                    let dropped = if queue.records.len() < QUEUE { std::mem::take(&mut queue.dropped) } else { 0 };
                    if let Some(record) = queue.records.pop_front() {
                        break (record, dropped);
                    }
                    if dropped > 0 {
                        break (dropped_record(dropped), 0);
                    }
                    if queue.ended {
                        return;
                    }
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
            };
            if dropped > 0 {
                callback.call(dropped_record(dropped));
            }
            callback.call(record);
        }
    }
}

fn dropped_record(dropped: u64) -> Record {
    let message = format!("{dropped} log records were dropped: they came faster than they were taken");
    Record { level: PROVER_LOG_WARN, unix_ns: now_ns(), target: "splitprove::log".into(), message }
}

impl Callback {
    fn call(&self, record: Record) {
        let text = |s: String| CString::new(s.replace('\0', " ")).unwrap_or_default();
        let (target, message) = (text(record.target.into_owned()), text(record.message));
        let c = prover_log_record {
            struct_size: size_of::<prover_log_record>() as u32,
            level: record.level,
            unix_ns: record.unix_ns,
            target: target.as_ptr(),
            message: message.as_ptr(),
            message_len: message.as_bytes().len() as u64,
        };
        // SAFETY: the function is the caller's for this record; record and texts live until it returns; userdata is
        // what the caller gave.
        unsafe { (self.function)(self.userdata as *mut c_void, &c) };
    }
}

/// Hands a record to the present callback's queue.
pub(super) fn send(level: u32, target: Cow<'static, str>, message: String) {
    let sink = SINK.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(sink) = sink {
        sink.push(Record { level, unix_ns: now_ns(), target, message });
    }
}

/// The subscriber.
struct Forward;

fn number(level: &Level) -> u32 {
    match *level {
        Level::ERROR => PROVER_LOG_ERROR,
        Level::WARN => PROVER_LOG_WARN,
        Level::INFO => PROVER_LOG_INFO,
        Level::DEBUG => PROVER_LOG_DEBUG,
        Level::TRACE => PROVER_LOG_TRACE,
    }
}

impl Subscriber for Forward {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && number(metadata.level()) <= LEVEL.load(Ordering::Relaxed)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match LEVEL.load(Ordering::Relaxed) {
            PROVER_LOG_OFF => LevelFilter::OFF,
            PROVER_LOG_ERROR => LevelFilter::ERROR,
            PROVER_LOG_WARN => LevelFilter::WARN,
            PROVER_LOG_INFO => LevelFilter::INFO,
            PROVER_LOG_DEBUG => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        })
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text { message: String::new(), fields: String::new() };
        event.record(&mut text);
        let Text { mut message, fields } = text;
        message.push_str(&fields);
        let metadata = event.metadata();
        send(number(metadata.level()), metadata.target().into(), message);
    }

    // Spans are not forwarded: `enabled` refuses them, so that none is made.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// An event's message and its other fields as ` name=value`.
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a `Cut` fails when it is full, which is how the rest is cut.
        let _ = if field.name() == "message" {
            Cut(&mut self.message).write_fmt(value)
        } else {
            Cut(&mut self.fields).write_fmt(format_args!(" {}={value}", field.name()))
        };
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, format_args!("{value}"));
    }
}

/// A text that takes no more than [`LONGEST`] bytes; writing more fails.
pub(super) struct Cut<'a>(pub(super) &'a mut String);

impl Write for Cut<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let mut end = s.len().min(LONGEST.saturating_sub(self.0.len()));
        while !s.is_char_boundary(end) {
            end -= 1;
        }
        self.0.push_str(&s[..end]);
        if end < s.len() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, super::convert::nanoseconds)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
