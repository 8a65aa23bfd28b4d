//! The files a user names: what cannot be read is a wrong argument, and the field says which.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use splitprove::error::{Error, Result};
use splitprove::memory::Buf;

/// Bytes asked of a file at once.
const CHUNK: usize = 1 << 20;

/// A whole small file.
pub fn read(field: &'static str, path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| unreadable(field, path, &e))
}

/// The vanilla proofs of `--input`, back to back, and each one's length.
pub fn read_vanilla(paths: &[PathBuf]) -> Result<(Buf<u8>, Vec<u64>)> {
    let hint: u64 = paths.iter().filter_map(|p| p.metadata().ok()).map(|m| m.len()).sum();
    // One chunk more than the files hold, so that finding their ends does not grow the buffer.
    let mut all = Buf::<u8>::with_capacity("vanilla", hint as usize + CHUNK)?;
    let mut lens = Vec::with_capacity(paths.len());
    for path in paths {
        let from = all.len();
        let mut file = File::open(path).map_err(|e| unreadable("input", path, &e))?;
        let mut end = from;
        loop {
            all.resize_zeroed("vanilla", end + CHUNK)?;
            match file.read(&mut all[end..]) {
                Ok(0) => break,
                Ok(n) => end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(unreadable("input", path, &e)),
            }
        }
        all.resize_zeroed("vanilla", end)?;
        lens.push((end - from) as u64);
    }
    Ok((all, lens))
}

fn unreadable(field: &'static str, path: &Path, e: &io::Error) -> Error {
    Error::argument(field, format!("{} cannot be read: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_back_to_back() {
        let folder = tempfile::tempdir().unwrap();
        let sizes = [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK + 5];
        let mut want = Vec::new();
        let mut paths = Vec::new();
        for (i, size) in sizes.into_iter().enumerate() {
            let content = vec![i as u8 + 1; size];
            let path = folder.path().join(i.to_string());
            std::fs::write(&path, &content).unwrap();
            want.extend(content);
            paths.push(path);
        }
        let (all, lens) = read_vanilla(&paths).unwrap();
        assert_eq!(lens, sizes.map(|s| s as u64));
        assert!(all[..] == want[..]);
        paths.push(folder.path().join("none"));
        assert_eq!(read_vanilla(&paths).unwrap_err().field, "input");
        assert_eq!(read("public", folder.path()).unwrap_err().field, "public");
    }
}
