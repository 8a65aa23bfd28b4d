//! The panic policy: nothing unwinds out of the library, nothing is printed, and the text survives as an error.

use std::any::Any;
use std::cell::Cell;
use std::fmt::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, Once};

use crate::error::{Code, Error, Result};

thread_local! {
    /// How many guards this thread is inside of.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
    /// The place of this thread's last panic.
    static LAST_HERE: Cell<Place> = const { Cell::new(Place::NONE) };
}

/// Both thread-locals are plain bytes: one with a destructor needs memory when a thread first touches it, and glibc ends
/// the process of the caller whose thread enters the library when there is none.
const _: () = assert!(!std::mem::needs_drop::<Place>());

/// Touches this thread's thread-locals.
pub(crate) fn touch() {
    GUARDED.with(|g| g.set(g.get()));
    LAST_HERE.with(|l| l.set(Place::NONE));
}

/// A place in source code as text, `file:line`; of a longer one, the end.
#[derive(Clone, Copy)]
struct Place {
    len: u8,
    text: [u8; 120],
}

impl Place {
    const NONE: Place = Place { len: 0, text: [0; 120] };

    fn of(file: &str, line: u32) -> Self {
        let mut place = Place::NONE;
        // A line has at most ten digits.
        let mut start = file.len().saturating_sub(place.text.len() - 11);
        while !file.is_char_boundary(start) {
            start += 1;
        }
        // It fits; if it did not, the text would be cut.
        let _ = write!(place, "{}:{line}", &file[start..]);
        place
    }

    fn as_str(&self) -> &str {
        // Only whole texts were written.
        std::str::from_utf8(&self.text[..self.len.into()]).unwrap_or_default()
    }
}

impl Write for Place {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let from = usize::from(self.len);
        let to = self.text.get_mut(from..from + s.len()).ok_or(fmt::Error)?;
        to.copy_from_slice(s.as_bytes());
        self.len += s.len() as u8;
        Ok(())
    }
}

/// The last panic of any thread of ours: rayon carries a payload to another thread, but not its place.
static LAST: Mutex<Option<(String, Place)>> = Mutex::new(None);

/// Prefix of the names of the library's threads.
pub const THREAD_PREFIX: &str = "splitprove";

/// Puts a hook before the present one that stores the place of a panic inside the library instead of printing it. Panics
/// of other code in the process go to the hook that was there.
pub fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = GUARDED.try_with(|g| g.get() > 0).unwrap_or(false)
                || std::thread::current().name().is_some_and(|n| n.starts_with(THREAD_PREFIX));
            if !ours {
                return previous(info);
            }
            let text = payload_text(info.payload());
            let place = info.location().map_or(Place::NONE, |l| Place::of(l.file(), l.line()));
            let _ = LAST_HERE.try_with(|l| l.set(place));
            if let Ok(mut last) = LAST.lock() {
                *last = Some((text, place));
            }
        }));
        // Unwinds once without a panic, so that what the unwinder looks up and allocates first is there.
        let _ = panic::catch_unwind(|| panic::resume_unwind(Box::new(())));
    });
}

/// Runs `f`; a panic in it becomes `PANIC` with the panic's text and place.
pub fn guard<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    GUARDED.with(|g| g.set(g.get() + 1));
    let outcome = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| Err(caught(payload)));
    GUARDED.with(|g| g.set(g.get() - 1));
    outcome
}

/// What was caught as an error; frees the payload.
fn caught(payload: Box<dyn Any + Send>) -> Error {
    let text = payload_text(payload.as_ref());
    let mut place = LAST_HERE.replace(Place::NONE);
    if place.len == 0 {
        if let Some((_, elsewhere)) = LAST.lock().ok().as_deref().and_then(Option::as_ref).filter(|l| l.0 == text) {
            place = *elsewhere;
        }
    }
    // A payload's own drop may panic, too; what that throws could do so again and is leaked.
    if let Err(thrown) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(thrown);
        LAST_HERE.set(Place::NONE);
    }
    let place = place.as_str();
    Error::new(Code::Panic, "", if place.is_empty() { text } else { format!("{text} (at {place})") })
}

fn payload_text(payload: &(dyn Any + Send)) -> String {
    if let Some(s) = payload.downcast_ref::<&str>() {
        (*s).to_string()
    } else if let Some(s) = payload.downcast_ref::<String>() {
        s.clone()
    } else if let Some(e) = payload.downcast_ref::<Error>() {
        e.to_string()
    } else {
        "a panic with a payload that is no text".to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn of_a_long_place_the_end_is_kept() {
        assert_eq!(Place::of("src/a.rs", 7).as_str(), "src/a.rs:7");
        let long = Place::of(&format!("{}/b.rs", "ä".repeat(200)), u32::MAX);
        assert!(long.as_str().ends_with("ä/b.rs:4294967295") && (115..=120).contains(&long.as_str().len()));
        let mut full = Place::NONE;
        assert!(full.write_str(&"x".repeat(121)).is_err() && full.as_str().is_empty());
    }

    #[test]
    fn payloads_survive() {
        install_hook();
        let text = |f: fn()| {
            let e = guard(|| {
                f();
                Ok(())
            })
            .unwrap_err();
            assert_eq!(e.code, Code::Panic);
            e.message
        };
        assert!(text(|| panic!("plain text")).starts_with("plain text (at src/panics.rs:"));
        assert!(text(|| panic!("text {}", 7)).starts_with("text 7 (at "));
        assert!(text(|| panic::panic_any(Error::internal("an error"))).starts_with("an error"));
        assert!(text(|| panic::panic_any(17u8)).starts_with("a panic with a payload that is no text"));
        assert_eq!(guard(|| Ok(3)).unwrap(), 3);
    }

    /// Its drop counts, and panics if it is told to.
    struct Payload(&'static AtomicU32, bool);

    impl Drop for Payload {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(!self.1, "a payload's drop");
        }
    }

    #[test]
    fn payloads_are_freed_and_may_panic_as_they_are() {
        static DROPPED: AtomicU32 = AtomicU32::new(0);
        install_hook();
        for bad in [false, true] {
            let e = guard(|| -> Result<()> { panic::panic_any(Payload(&DROPPED, bad)) }).unwrap_err();
            assert!(
                e.message.starts_with("a panic with a payload that is no text (at src/panics.rs:"),
                "{}",
                e.message
            );
        }
        assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
        assert_eq!(GUARDED.get(), 0);
    }
}
