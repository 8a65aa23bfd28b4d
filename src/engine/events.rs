//! Finished proofs for event loops: a queue of events and an eventfd that is readable while any wait.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::Mutex;

use crate::error::{Code, Error, Result};

/// A finished proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The submission's key.
    pub key: u64,
    /// The submission's tag.
    pub tag: u64,
    /// `None`: done; else why it failed.
    pub failure: Option<Code>,
}

/// The queue. One eventfd serves every caller: descriptors handed out are duplicates, which share its counter.
pub struct Events {
    fd: OwnedFd,
    waiting: Mutex<VecDeque<Event>>,
}

impl Events {
    /// An empty queue.
    pub fn new() -> Result<Self> {
        // SAFETY: eventfd takes no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(os_error("event fd"));
        }
        // SAFETY: fd was just made and belongs to nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Events { fd, waiting: Mutex::new(VecDeque::new()) })
    }

    /// A descriptor for the caller to poll and close.
    pub fn descriptor(&self) -> Result<RawFd> {
        let fd = self.fd.try_clone().map_err(|e| {
            let mut error = Error::new(Code::Io, "event fd", format!("no descriptor can be had: {e}"));
            error.os_code = e.raw_os_error().unwrap_or(0).into();
            error
        })?;
        Ok(fd.into_raw_fd())
    }

    /// Appends an event and wakes the pollers.
    pub fn push(&self, event: Event) {
        let mut waiting = self.lock();
        waiting.push_back(event);
        self.raise();
    }

    /// The oldest event, if any waits.
    pub fn pop(&self) -> Option<Event> {
        let mut waiting = self.lock();
        let event = waiting.pop_front();
        if waiting.is_empty() {
            self.clear();
        }
        event
    }

    /// Drops the event of a key whose handle has ended.
    pub fn forget(&self, key: u64) {
        let mut waiting = self.lock();
        let before = waiting.len();
        waiting.retain(|e| e.key != key);
        if before != 0 && waiting.is_empty() {
            self.clear();
        }
    }

    /// Makes every descriptor readable for good: the engine has ended.
    pub fn wake_all(&self) {
        self.raise();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Event>> {
        self.waiting.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn raise(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: the descriptor is ours and the buffer has the eight bytes an eventfd takes. A full counter (EAGAIN)
        // is readable already.
        retry(|| unsafe { libc::write(self.fd.as_raw_fd(), one.as_ptr().cast(), 8) });
    }

    fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: as for write; the descriptor does not block.
        retry(|| unsafe { libc::read(self.fd.as_raw_fd(), count.as_mut_ptr().cast(), 8) });
    }
}

fn retry(mut call: impl FnMut() -> isize) {
    while call() < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {}
}

fn os_error(what: &'static str) -> Error {
    let e = io::Error::last_os_error();
    let mut error = Error::new(Code::Io, what, e.to_string());
    error.os_code = e.raw_os_error().unwrap_or(0).into();
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(fd: RawFd) -> bool {
        let mut p = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut p, 1, 0) == 1 && p.revents & libc::POLLIN != 0 }
    }

    #[test]
    fn readable_while_events_wait() {
        let events = Events::new().unwrap();
        // SAFETY: the descriptors belong to the test.
        let (a, b) = unsafe {
            (OwnedFd::from_raw_fd(events.descriptor().unwrap()), OwnedFd::from_raw_fd(events.descriptor().unwrap()))
        };
        let both = || (readable(a.as_raw_fd()), readable(b.as_raw_fd()));
        let event = |key| Event { key, tag: 7, failure: None };
        assert_eq!(both(), (false, false));
        events.push(event(1));
        events.push(event(2));
        events.push(event(3));
        assert_eq!(both(), (true, true));
        assert_eq!(events.pop(), Some(event(1)));
        assert_eq!(both(), (true, true));
        events.forget(3);
        assert_eq!(events.pop(), Some(event(2)));
        assert_eq!(both(), (false, false));
        assert_eq!(events.pop(), None);
        events.push(event(4));
        events.forget(4);
        assert_eq!(both(), (false, false));
        events.wake_all();
        assert_eq!(both(), (true, true));
    }
}
