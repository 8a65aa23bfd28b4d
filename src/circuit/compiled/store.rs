//! Compiled circuits in the circuit cache: read where they are there and good, else recorded and written.
//!
//! A file is written under a temporary name, synced and renamed, so that there is the whole of it or none. A folder that
//! cannot be written costs recording again in the next process, nothing else.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use super::format::{unreadable, Unusable};
use super::intern::room_for;
use super::{CompiledCircuit, Identity, Recorded};
use crate::error::{Error, Result};

/// No compiled circuit of Filecoin's has more; whatever does is none.
const LONGEST_FILE: u64 = 64 << 20;

/// How often whoever waits for another's recording looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// Where the circuit's file is in the cache folder `dir`.
pub fn path(dir: &Path, circuit: &str) -> PathBuf {
    dir.join("circuits").join(format!("{circuit}.compiled"))
}

/// Reads a circuit's file. The error names the field at fault, `circuit.file` when it cannot be read.
pub fn read(path: &Path, identity: &Identity) -> Result<Recorded, Unusable> {
    let io = |e: &io::Error| unreadable(format!("{e} (reading {})", path.display()));
    // Not blocking: a name may be a pipe's.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path);
    let file = file.map_err(|e| io(&e))?;
    let metadata = file.metadata().map_err(|e| io(&e))?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return Err(unreadable(format!("{} is no compiled circuit's file", path.display())));
    }
    let mut bytes = room_for(metadata.len() as usize + 1)?;
    file.take(LONGEST_FILE).read_to_end(&mut bytes).map_err(|e| io(&e))?;
    Recorded::from_bytes(&bytes, identity)
}

/// Writes a circuit's file, in place of the one that is there.
pub fn write(path: &Path, recorded: &Recorded) -> Result<u64> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let bytes = recorded.to_bytes()?;
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|e| Error::io("circuit", "making", dir, &e))?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let temporary = Temporary(dir.join(name));
    // What another process with our number left, long dead.
    let _ = fs::remove_file(&temporary.0);
    let wrote = |e: io::Error| Error::io("circuit", "writing", path, &e);
    let mut file = File::options().write(true).create_new(true).mode(0o644).open(&temporary.0).map_err(wrote)?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(wrote)?;
    fs::rename(&temporary.0, path).map_err(wrote)?;
    // The name is on the disk only when the folder is. Not every file system can say.
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(bytes.len() as u64)
}

/// A half-written file; gone when dropped, unless it has been renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Compiled circuits of one cache folder, each in memory once.
pub struct Circuits {
    dir: PathBuf,
    slots: Mutex<HashMap<Identity, Slot>>,
    made: Condvar,
}

enum Slot {
    /// A thread reads or records it.
    Making,
    Ready(Arc<CompiledCircuit>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Circuits {
    /// The circuits of a folder, shared by all in this process that ask for the same. They are let go with the last of
    /// whoever holds them.
    pub fn shared(dir: &Path) -> Arc<Self> {
        static ALL: Mutex<Vec<Weak<Circuits>>> = Mutex::new(Vec::new());
        let mut all = lock(&ALL);
        all.retain(|circuits| circuits.strong_count() > 0);
        if let Some(circuits) = all.iter().filter_map(Weak::upgrade).find(|c| c.dir == dir) {
            return circuits;
        }
        let circuits = Arc::new(Circuits { dir: dir.into(), slots: Mutex::new(HashMap::new()), made: Condvar::new() });
        all.push(Arc::downgrade(&circuits));
        circuits
    }

    /// A circuit: from memory, from the cache, or recorded by `record` and put there. When another thread is at it, its
    /// result is waited for; `CANCELLED` soon after the flag is set.
    pub fn get(
        &self,
        identity: &Identity,
        cancelled: &AtomicBool,
        record: impl FnOnce() -> Result<Recorded>,
        finish: impl FnOnce(CompiledCircuit) -> CompiledCircuit,
    ) -> Result<Arc<CompiledCircuit>> {
        let mut slots = lock(&self.slots);
        loop {
            match slots.get(identity) {
                Some(Slot::Ready(circuit)) => return Ok(circuit.clone()),
                Some(Slot::Making) => {
                    if cancelled.load(Ordering::Relaxed) {
                        return Err(Error::cancelled());
                    }
                    slots = self.made.wait_timeout(slots, LOOK).unwrap_or_else(|e| e.into_inner()).0;
                }
                None => break,
            }
        }
        slots.insert(identity.clone(), Slot::Making);
        drop(slots);
        let making = Making { circuits: self, identity };
        let circuit = Arc::new(finish(self.read_or_record(identity, record)?));
        lock(&self.slots).insert(identity.clone(), Slot::Ready(circuit.clone()));
        drop(making);
        Ok(circuit)
    }

    fn read_or_record(
        &self,
        identity: &Identity,
        record: impl FnOnce() -> Result<Recorded>,
    ) -> Result<CompiledCircuit> {
        let path = path(&self.dir, &identity.circuit);
        let circuit = &*identity.circuit;
        match read(&path, identity) {
            Ok(recorded) => return recorded.ready(),
            Err(_) if path.symlink_metadata().is_err() => tracing::debug!(circuit, "recording a circuit"),
            Err(Unusable::Stale(e)) => tracing::debug!(circuit, "recording a circuit again: {e}"),
            Err(Unusable::Damaged(e)) => tracing::warn!(circuit, path = %path.display(), "a damaged circuit: {e}"),
        }
        let recorded = record()?;
        if let Err(e) = write(&path, &recorded) {
            tracing::warn!(circuit, "a compiled circuit cannot be kept, the next process records it again: {e}");
        }
        recorded.ready()
    }
}

/// While a thread makes a circuit. Whatever ends that, those who wait look again.
struct Making<'a> {
    circuits: &'a Circuits,
    identity: &'a Identity,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut slots = lock(&self.circuits.slots);
        if let Some(Slot::Making) = slots.get(self.identity) {
            slots.remove(self.identity);
        }
        drop(slots);
        self.circuits.made.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::{RandomCircuit, Style, Values};
    use crate::error::Code;
    use crate::telemetry::Control;

    fn identity() -> Identity {
        Identity { circuit: "test-1".into(), crates: "a 1".into() }
    }

    fn record(seed: u64) -> Result<Recorded> {
        let circuit = RandomCircuit::new(seed, Style { inputs: 3, rows: 700, terms: 5, values: Values::Bits });
        Recorded::record(circuit.blank(), identity(), 0, Control::NONE)
    }

    fn get(
        circuits: &Circuits,
        identity: &Identity,
        record: impl FnOnce() -> Result<Recorded>,
    ) -> Arc<CompiledCircuit> {
        circuits.get(identity, &AtomicBool::new(false), record, |c| c).unwrap()
    }

    fn never() -> Result<Recorded> {
        panic!("recorded though the cache has it")
    }

    #[test]
    fn recorded_once_then_read() {
        let dir = tempfile::tempdir().unwrap();
        let circuits = Circuits::shared(dir.path());
        let first = get(&circuits, &identity(), || record(1));
        assert!(Arc::ptr_eq(&first, &get(&Circuits::shared(dir.path()), &identity(), never)));
        drop(circuits);
        let again = get(&Circuits::shared(dir.path()), &identity(), never);
        assert_eq!((again.shape(), again.densities()), (first.shape(), first.densities()));
        let names = fs::read_dir(dir.path().join("circuits")).unwrap().map(|e| e.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["test-1.compiled"]);
    }

    #[test]
    fn stale_and_damaged_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = path(dir.path(), "test-1");
        write(&path, &record(1).unwrap()).unwrap();
        let good = fs::read(&path).unwrap();
        let newer = Identity { crates: "a 2".into(), ..identity() };
        assert!(matches!(read(&path, &newer), Err(Unusable::Stale(_))));
        for bad in [&good[..good.len() - 1], &good[..0], b"SPLITPCC", &[7; 300]] {
            fs::write(&path, bad).unwrap();
            get(&Circuits::shared(dir.path()), &identity(), || record(1));
            assert_eq!(fs::read(&path).unwrap(), good);
        }
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = path(dir.path(), "test-1");
        fs::create_dir_all(&path).unwrap();
        assert_eq!(read(&path, &identity()).unwrap_err().into_error().field, "circuit.file");
        // Nor written: it stays in memory.
        get(&Circuits::shared(dir.path()), &identity(), || record(1));
        fs::remove_dir(&path).unwrap();
        let large = File::create(&path).unwrap();
        large.set_len(LONGEST_FILE + 1).unwrap();
        assert_eq!(read(&path, &identity()).unwrap_err().into_error().field, "circuit.file");
    }

    #[test]
    fn an_unwritable_cache_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let circuits = Circuits::shared(&file);
        let first = get(&circuits, &identity(), || record(1));
        assert!(Arc::ptr_eq(&first, &get(&circuits, &identity(), never)));
    }

    #[test]
    fn failures_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let circuits = Circuits::shared(dir.path());
        let fail = || Err(Error::cancelled());
        let e = circuits.get(&identity(), &AtomicBool::new(false), fail, |c| c).unwrap_err();
        assert_eq!(e.code, Code::Cancelled);
        get(&circuits, &identity(), || record(1));
    }

    #[test]
    fn threads_wait_for_one_recording() {
        let dir = tempfile::tempdir().unwrap();
        let circuits = Circuits::shared(dir.path());
        let (recorded, go) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    get(&circuits, &identity(), || {
                        recorded.fetch_add(1, Ordering::SeqCst);
                        while !go.load(Ordering::SeqCst) {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        record(1)
                    })
                });
            }
            while recorded.load(Ordering::SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let cancelled = AtomicBool::new(true);
            let e = circuits.get(&identity(), &cancelled, never, |c| c).unwrap_err();
            assert_eq!(e.code, Code::Cancelled);
            go.store(true, Ordering::SeqCst);
        });
        assert_eq!(recorded.load(Ordering::SeqCst), 1);
    }
}
