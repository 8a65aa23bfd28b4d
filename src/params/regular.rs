//! Opening what should be a regular file, in a folder that others may write to.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read. A pipe is not waited for and a terminal not taken; both, devices and folders are errors
/// that say what they are.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // close-on-exec is the standard library's own.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(file)
}

/// A text of at most `most` bytes; what is longer or not UTF-8 is an error.
pub(super) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let c_pipe = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the string ends in a zero byte and lives over the call.
        assert_eq!(unsafe { libc::mkfifo(c_pipe.as_ptr(), 0o600) }, 0);
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&pipe, &socket, Path::new("/dev/zero"), dir.path()] {
            assert!(open(path).is_err() && read_text(path, 10).is_err(), "{}", path.display());
        }
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        assert!(open(&link).unwrap_err().to_string().contains("no regular file"));

        let file = dir.path().join("file");
        std::fs::write(&file, "ten bytes.").unwrap();
        assert_eq!(read_text(&file, 10).unwrap(), "ten bytes.");
        assert!(read_text(&file, 9).is_err());
        std::fs::write(&file, b"\xff").unwrap();
        assert!(read_text(&file, 9).is_err());
    }
}
