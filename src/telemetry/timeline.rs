//! A timeline for Chrome's and Perfetto's viewers: who worked on what from when to when, and the bytes in flight.
//!
//! Spans are kept in memory, up to a limit, and written when the recording ends. While nothing is recorded a span costs
//! one relaxed load.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{json, Value};

use super::buffers::{Buffers, Class};
use crate::error::{Code, Error, Result};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{lock, Mutex};

/// Spans and counter samples that are kept; what comes later is counted and left out. About 30 MB.
const MOST_EVENTS: usize = 400_000;

/// Records spans while a recording is on.
#[derive(Default)]
pub struct Timeline {
    on: AtomicBool,
    recording: Mutex<Option<Recording>>,
}

struct Recording {
    path: PathBuf,
    file: File,
    begun: Instant,
    /// Track numbers by name.
    tracks: BTreeMap<String, u32>,
    events: Vec<Event>,
    left_out: u64,
}

enum Event {
    Span { track: u32, name: &'static str, from_us: f64, us: f64, of: Option<(u64, usize)> },
    Bytes { at_us: f64, by_class: [u64; 6] },
}

impl Timeline {
    /// Begins a recording that will be written to `path`, which is created now. `INVALID_ARGUMENT` when one is on, `IO`
    /// when the file cannot be created.
    pub fn start(&self, path: &Path) -> Result<()> {
        let mut recording = lock(&self.recording);
        if recording.is_some() {
            return Err(Error::argument("path", "a timeline is being recorded already"));
        }
        // A pipe that nobody reads is an error instead of a wait, in which every span would wait, too.
        let mut options = File::options();
        options.write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let file = options.open(path).map_err(|e| Error::io("path", "creating", path, &e))?;
        *recording = Some(Recording {
            path: path.into(),
            file,
            begun: Instant::now(),
            tracks: BTreeMap::new(),
            events: Vec::new(),
            left_out: 0,
        });
        self.on.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends the recording and writes it. `INVALID_ARGUMENT` when none is on, `IO` when it cannot be written.
    pub fn stop(&self) -> Result<()> {
        self.on.store(false, Ordering::Release);
        let recording = lock(&self.recording).take();
        let recording = recording.ok_or_else(|| Error::new(Code::InvalidArgument, "", "no timeline is recorded"))?;
        // No lock is held while the file is written.
        let path = recording.path.clone();
        recording.write().map_err(|e| Error::io("path", "writing", &path, &e))
    }

    /// Whether a recording is on.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Acquire)
    }

    /// The present, while a recording is on.
    #[inline]
    pub fn now(&self) -> Option<Instant> {
        self.on.load(Ordering::Relaxed).then(Instant::now)
    }

    /// A span from `begun` to now on a track; `of` is a job's number and a partition's.
    pub fn span(&self, track: &str, name: &'static str, begun: Option<Instant>, of: Option<(u64, usize)>) {
        let Some(begun) = begun else { return };
        self.record(|r| {
            let track = r.track(track);
            let us = begun.elapsed().as_nanos() as f64 / 1e3;
            Event::Span { track, name, from_us: r.at(begun), us, of }
        });
    }

    /// As [`span`](Self::span), on the track of the present thread.
    pub fn span_of_thread(&self, name: &'static str, begun: Option<Instant>, of: Option<(u64, usize)>) {
        if begun.is_some() {
            let thread = std::thread::current();
            self.span(thread.name().unwrap_or("thread"), name, begun, of);
        }
    }

    /// A sample of the bytes in flight.
    pub fn count(&self, buffers: &Buffers) {
        let Some(now) = self.now() else { return };
        let by_class = Class::ALL.map(|class| buffers.stats(class, None).bytes);
        self.record(|r| Event::Bytes { at_us: r.at(now), by_class });
    }

    fn record(&self, event: impl FnOnce(&mut Recording) -> Event) {
        if let Some(recording) = lock(&self.recording).as_mut() {
            if recording.events.len() >= MOST_EVENTS || recording.events.try_reserve(1).is_err() {
                recording.left_out += 1;
                return;
            }
            let event = event(recording);
            recording.events.push(event);
        }
    }
}

impl Recording {
    fn at(&self, when: Instant) -> f64 {
        when.saturating_duration_since(self.begun).as_nanos() as f64 / 1e3
    }

    fn track(&mut self, name: &str) -> u32 {
        if let Some(track) = self.tracks.get(name) {
            return *track;
        }
        let track = self.tracks.len() as u32 + 1;
        self.tracks.insert(name.to_string(), track);
        track
    }

    /// Chrome's trace event format: an object with an array of events, times in microseconds.
    fn write(self) -> io::Result<()> {
        let mut out = BufWriter::new(self.file);
        write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"left_out\":{}}},\"traceEvents\":[", self.left_out)?;
        write!(out, "{}", json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "splitprove"}}))?;
        for (name, track) in &self.tracks {
            let name = json!({"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": name}});
            write!(out, ",\n{name}")?;
        }
        for event in &self.events {
            let event: Value = match event {
                Event::Span { track, name, from_us, us, of } => {
                    let args = of.map_or(json!({}), |(job, partition)| json!({"job": job, "partition": partition}));
                    json!({"ph": "X", "pid": 1, "tid": track, "name": name, "ts": from_us, "dur": us, "args": args})
                }
                Event::Bytes { at_us, by_class } => {
                    let bytes: serde_json::Map<String, Value> =
                        Class::ALL.iter().zip(by_class).map(|(c, b)| (c.name().to_string(), json!(b))).collect();
                    json!({"ph": "C", "pid": 1, "name": "bytes in flight", "ts": at_us, "args": bytes})
                }
            };
            write!(out, ",\n{event}")?;
        }
        write!(out, "]}}")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Arc;
    use crate::telemetry::{Counted, Stage};

    #[test]
    fn a_recording_is_json_with_tracks_spans_and_counters() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.json");
        let timeline = Timeline::default();
        assert!(timeline.now().is_none());
        assert_eq!(timeline.stop().unwrap_err().code, Code::InvalidArgument);
        timeline.start(&path).unwrap();
        assert_eq!(timeline.start(&path).unwrap_err().code, Code::InvalidArgument);
        let buffers = Arc::new(Buffers::default());
        let _buffer = Counted::new(&buffers, Class::Witness, Stage::Synthesis, 77);
        timeline.span("lane 0", "device", timeline.now(), Some((3, 1)));
        timeline.count(&buffers);
        timeline.stop().unwrap();
        let all: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let events = all["traceEvents"].as_array().unwrap();
        let with = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
        assert_eq!(with("X").len(), 1);
        assert_eq!((&with("X")[0]["args"]["job"], &with("X")[0]["args"]["partition"]), (&json!(3), &json!(1)));
        assert_eq!(with("C")[0]["args"]["witness"], 77);
        assert!(with("M").iter().any(|e| e["args"]["name"] == "lane 0"));
        let missing = dir.path().join("no/such/folder");
        assert_eq!(timeline.start(&missing).unwrap_err().code, Code::Io);
        let pipe = dir.path().join("pipe");
        let c_pipe = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the string ends in a zero byte and lives over the call.
        assert_eq!(unsafe { libc::mkfifo(c_pipe.as_ptr(), 0o600) }, 0);
        assert_eq!(timeline.start(&pipe).unwrap_err().code, Code::Io);
    }
}
