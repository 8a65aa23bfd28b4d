//! Whether this process is the child of one that used the library.
//!
//! A child has none of its parent's threads, and locks that they held stay held for ever, the library's own and those of
//! the code below it. Nothing of that can be used again, so every export looks here first, before it locks or allocates
//! anything.
//!
//! The look has to cost nothing and be right for every way to make a process. One page tells: the system hands it to
//! children filled with zeros (MADV_WIPEONFORK), after `fork` as after `_Fork` and `clone`, whatever threads do meanwhile.
//! Where it cannot (before Linux 4.14), the page holds the process's id to compare with.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// What the page holds in the process that made it: [`WIPED`], or its process id plus two. In a child it is 0, or another
/// process's.
const WIPED: u64 = 1;

/// Where the page is; NULL until the library is first used.
static MARK: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

/// Whether the library was first used in a parent of this process. The first call marks this process as the one that uses
/// it. Takes no lock.
pub(super) fn is_child() -> bool {
    match NonNull::new(MARK.load(Ordering::Acquire)) {
        Some(mark) => !is_ours(mark),
        None => {
            first_use();
            false
        }
    }
}

/// Why a handle is none in a child.
pub(super) const FOREIGN_HANDLE: &str = "the engine belongs to the process that forked this one";

/// Why a child cannot use the library for itself.
pub(super) const USED_BY_PARENT: &str =
    "this process was forked from one that used the library: exec after fork, or fork before the first use";

#[inline]
fn is_ours(mark: NonNull<AtomicU64>) -> bool {
    // SAFETY: the page is never unmapped.
    match unsafe { mark.as_ref() }.load(Ordering::Relaxed) {
        0 => false,
        WIPED => true,
        other => other == own_id(),
    }
}

fn own_id() -> u64 {
    u64::from(std::process::id()) + 2
}

/// Makes the page. Of several threads one places its own; should a child begin in between, nobody has gone on yet, and
/// the library is as good as new.
#[cold]
fn first_use() {
    let Some(page) = new_page(true) else { return };
    if MARK.compare_exchange(ptr::null_mut(), page.as_ptr(), Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: the page was made here and nobody else knows it.
        unsafe { libc::munmap(page.as_ptr().cast(), page_bytes()) };
    }
}

/// A page that says "ours"; `None` without memory, which the next call tries again.
fn new_page(wipe: bool) -> Option<NonNull<AtomicU64>> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping anywhere.
    let page = unsafe { libc::mmap(ptr::null_mut(), page_bytes(), protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page is ours alone.
    let wiped = wipe && unsafe { libc::madvise(page, page_bytes(), libc::MADV_WIPEONFORK) } == 0;
    let page = NonNull::new(page.cast::<AtomicU64>())?;
    // SAFETY: the page is readable and writable, and zeros are an AtomicU64.
    unsafe { page.as_ref() }.store(if wiped { WIPED } else { own_id() }, Ordering::Relaxed);
    Some(page)
}

fn page_bytes() -> usize {
    // SAFETY: sysconf takes no pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a child says about the page.
    fn in_child(page: NonNull<AtomicU64>) -> bool {
        // SAFETY: the child only reads the page, asks for its id and ends.
        unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::_exit(i32::from(is_ours(page)));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
            assert!(libc::WIFEXITED(status));
            libc::WEXITSTATUS(status) != 0
        }
    }

    #[test]
    fn a_page_is_ours_here_and_not_in_a_child() {
        for wipe in [true, false] {
            let page = new_page(wipe).unwrap();
            assert!(is_ours(page));
            assert!(!in_child(page));
            assert!(is_ours(page), "a child changes nothing here");
        }
        assert!(!is_child() && !is_child());
    }
}
