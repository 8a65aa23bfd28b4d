//! Sharing a pass out to the threads of the current rayon pool, with cancellation.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use blstrs::Scalar;

use super::Stopped;

/// Whether the caller has asked for the work to stop.
pub(super) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// An exclusively borrowed slice whose disjoint parts several threads write at once.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    start: *mut Scalar,
    len: usize,
    borrow: PhantomData<&'a mut [Scalar]>,
}

// SAFETY: it stands for a `&mut [Scalar]`; users of `at` keep threads to disjoint elements.
unsafe impl Send for Shared<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    pub(super) fn new(values: &'a mut [Scalar]) -> Shared<'a> {
        Shared { start: values.as_mut_ptr(), len: values.len(), borrow: PhantomData }
    }

    /// The address of `count` elements from `index` on.
    ///
    /// # Safety
    /// index + count <= len, and no other thread may access these elements while this one does.
    #[inline(always)]
    pub(super) unsafe fn at(self, index: usize, count: usize) -> *mut Scalar {
        debug_assert!(index + count <= self.len);
        // SAFETY: within the slice, by the caller's promise.
        unsafe { self.start.add(index) }
    }
}

/// Elements below which a second thread costs more than it brings (some 10 us of work).
const PER_THREAD: usize = 1 << 12;

/// Calls `body` once for each group in 0..groups, which together touch `elements` elements, on
/// the current pool's threads. Each thread makes one scratch. Asks `cancelled` before each group.
pub(super) fn for_each_group<S>(
    groups: usize,
    elements: usize,
    cancelled: Stop<'_>,
    scratch: impl Fn() -> S + Sync,
    body: impl Fn(&mut S, usize) + Sync,
) -> Result<(), Stopped> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let work = || {
        let mut own = None;
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= groups || stopped.load(Ordering::Relaxed) {
                return;
            }
            if cancelled() {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
            body(own.get_or_insert_with(&scratch), group);
        }
    };
    let threads = rayon::current_num_threads().min(groups).min(elements / PER_THREAD);
    if threads <= 1 {
        work();
    } else {
        rayon::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| work());
            }
            work();
        });
    }
    if stopped.into_inner() {
        Err(Stopped::Cancelled)
    } else {
        Ok(())
    }
}
