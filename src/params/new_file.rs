//! Files that appear under their name whole, or not at all.
//!
//! A file is written under a temporary name in its own folder, with a lock that its process holds for as long as it lives,
//! synced, and renamed without replacing anything. What a killed process leaves has no lock, so the next run removes it.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// What temporary names start with.
pub(crate) const TEMPORARY: &str = ".splitprove-new-";

/// A file without its name.
pub(crate) struct NewFile {
    file: File,
    temporary: PathBuf,
    finished: bool,
}

impl NewFile {
    /// An empty file in `dir`, locked.
    pub(crate) fn create(dir: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = dir.join(format!("{TEMPORARY}{}-{number}", process::id()));
            let io = |e: io::Error| Error::io("params", "creating", &temporary, &e);
            let file = match File::options().read(true).write(true).create_new(true).mode(0o644).open(&temporary) {
                Ok(file) => file,
                // Left by a killed process that had our number, or another machine's in a shared folder.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(io(e)),
            };
            let new = NewFile { file, temporary: temporary.clone(), finished: false };
            // A file system without locks cannot tell a dead process's file from ours; `remove_stale` then leaves both.
            let _ = lock(&new.file);
            // Between its making and its locking another process may have taken the file for a dead one's.
            if new.file.metadata().map_err(io)?.nlink() > 0 {
                return Ok(new);
            }
        }
    }

    /// Reserves room, so that a full disk shows before the work is done. File systems that cannot reserve are let be.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<()> {
        let Ok(len) = libc::off_t::try_from(bytes) else {
            return Err(Error::io("params", "reserving", &self.temporary, &io::Error::from_raw_os_error(libc::EFBIG)));
        };
        loop {
            // SAFETY: the descriptor is open; the call touches no memory of ours.
            if unsafe { libc::fallocate(self.file.as_raw_fd(), 0, 0, len) } == 0 {
                return Ok(());
            }
            let e = io::Error::last_os_error();
            match e.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(()),
                _ => return Err(Error::io("params", "reserving room for", &self.temporary, &e)),
            }
        }
    }

    /// Writes at byte `offset`; from any thread.
    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.file.write_all_at(bytes, offset).map_err(|e| Error::io("params", "writing", &self.temporary, &e))
    }

    /// Waits until the content is on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|e| Error::io("params", "syncing", &self.temporary, &e))
    }

    /// Gives the file its name. `INVALID_ARGUMENT` naming the path if there is one of that name, which stays as it is.
    pub(crate) fn name(mut self, path: &Path) -> Result<()> {
        match rename_new(&self.temporary, path) {
            Ok(()) => {
                self.finished = true;
                Ok(())
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
            Err(e) => Err(Error::io("params", "naming", path, &e)),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// `INVALID_ARGUMENT`: the file is there.
pub(crate) fn exists(path: &Path) -> Error {
    Error::argument(path.display().to_string(), "the file exists; it is not overwritten")
}

/// Renames; fails with `AlreadyExists` rather than replace.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let c = |path: &Path| std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let (c_from, c_to) = (c(from)?, c(to)?);
    // SAFETY: both strings end in a zero byte and live over the call. By number, as older C libraries lack the wrapper.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            c_from.as_ptr(),
            libc::AT_FDCWD,
            c_to.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    if answer == 0 {
        return Ok(());
    }
    let e = io::Error::last_os_error();
    match e.raw_os_error() {
        // The file system or the kernel does not know the flag. A hard link never replaces either.
        Some(libc::EINVAL | libc::ENOSYS | libc::EPERM) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        _ => Err(e),
    }
}

/// An exclusive lock if nobody holds one.
fn lock(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_EX | libc::LOCK_NB)
}

fn flock(file: &File, operation: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open; the call touches no memory of ours.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(());
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

/// A folder that nobody else of us names files in or removes files from. Ends when dropped.
pub(crate) struct LockedFolder {
    folder: File,
    path: PathBuf,
}

impl LockedFolder {
    /// Waits for its turn; turns are a few renames long.
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        let io = |e: io::Error| Error::io("params", "opening", path, &e);
        let folder = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(path).map_err(io)?;
        // Where folders cannot be locked, names that are never replaced still keep two runs from mixing their files.
        let _ = flock(&folder, libc::LOCK_EX);
        Ok(LockedFolder { folder, path: path.into() })
    }

    /// Waits until the names given and taken are on the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        match self.folder.sync_all() {
            // Some file systems cannot sync a folder.
            Err(e) if e.raw_os_error() != Some(libc::EINVAL) => Err(Error::io("params", "syncing", &self.path, &e)),
            _ => Ok(()),
        }
    }

    /// Removes temporary files whose process is dead.
    pub(crate) fn remove_stale(&self) -> Result<()> {
        let io = |e: io::Error| Error::io("params", "listing", &self.path, &e);
        for entry in fs::read_dir(&self.path).map_err(io)? {
            let entry = entry.map_err(io)?;
            if !entry.file_name().as_bytes().starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let opened =
                File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(entry.path());
            let Ok(file) = opened else { continue };
            if file.metadata().is_ok_and(|m| m.is_file()) && lock(&file).is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let new = NewFile::create(dir.path()).unwrap();
        new.reserve(5).unwrap();
        new.write_at(b"hello", 0).unwrap();
        assert!(names(dir.path())[0].starts_with(TEMPORARY));
        new.sync().unwrap();
        new.name(&dir.path().join("x")).unwrap();
        assert_eq!(names(dir.path()), ["x"]);
        assert_eq!(fs::read(dir.path().join("x")).unwrap(), b"hello");
        drop(NewFile::create(dir.path()).unwrap());
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[test]
    fn never_replaces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, "old").unwrap();
        let new = NewFile::create(dir.path()).unwrap();
        new.write_at(b"new", 0).unwrap();
        let error = new.name(&path).unwrap_err();
        assert_eq!((error.code, error.field.as_ref()), (Code::InvalidArgument, path.to_str().unwrap()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[test]
    fn of_many_that_want_a_name_one_gets_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let won: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8u8)
                .map(|i| {
                    let (dir, path) = (dir.path(), &path);
                    scope.spawn(move || {
                        let new = NewFile::create(dir).unwrap();
                        new.write_at(&[i; 4], 0).unwrap();
                        usize::from(new.name(path).is_ok())
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[test]
    fn stale_files_go_and_living_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let living = NewFile::create(dir.path()).unwrap();
        let dead = dir.path().join(format!("{TEMPORARY}1-0"));
        fs::write(&dead, "half").unwrap();
        fs::write(dir.path().join("other"), "").unwrap();
        LockedFolder::wait(dir.path()).unwrap().remove_stale().unwrap();
        assert!(!dead.exists());
        assert!(living.temporary.exists());
        assert_eq!(names(dir.path()).len(), 2);
    }

    #[test]
    fn no_folder_is_an_io_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = NewFile::create(&dir.path().join("none")).err().unwrap();
        assert_eq!((error.code, error.os_code), (Code::Io, libc::ENOENT.into()));
    }
}
