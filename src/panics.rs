//! The panic policy: nothing unwinds out of the library, nothing is printed, and the text survives as an error.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, Once};

use crate::error::{Code, Error, Result};

thread_local! {
    /// How many guards this thread is inside of.
    static GUARDED: Cell<u32> = const { Cell::new(0) };
    static LAST_HERE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The last panic of any thread of ours: rayon carries a payload to another thread, but not its place.
static LAST: Mutex<Option<(String, String)>> = Mutex::new(None);

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
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
            let _ = LAST_HERE.try_with(|l| *l.borrow_mut() = Some(place.clone()));
            if let Ok(mut last) = LAST.lock() {
                *last = Some((text, place));
            }
        }));
    });
}

/// Runs `f`; a panic in it becomes `PANIC` with the panic's text and place.
pub fn guard<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    GUARDED.with(|g| g.set(g.get() + 1));
    let outcome = panic::catch_unwind(AssertUnwindSafe(f));
    GUARDED.with(|g| g.set(g.get() - 1));
    outcome.unwrap_or_else(|payload| {
        let text = payload_text(payload.as_ref());
        let here = LAST_HERE.with(|l| l.borrow_mut().take());
        let elsewhere = || {
            let last = LAST.lock().ok()?;
            last.as_ref().filter(|(t, _)| *t == text).map(|(_, place)| place.clone())
        };
        let place = here.or_else(elsewhere).unwrap_or_default();
        // A payload's own drop may panic too; it is small, so it is leaked instead.
        std::mem::forget(payload);
        Err(Error::new(Code::Panic, "", if place.is_empty() { text } else { format!("{text} (at {place})") }))
    })
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
    use super::*;

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
}
