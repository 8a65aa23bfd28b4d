//! The section "event loops" of the header.

use std::ffi::c_int;

use super::convert::{call_bare, Out};
use super::handles::{PROOFS, PROVERS};
use super::structs::*;

/// A new descriptor (an eventfd, non-blocking, close-on-exec) that is readable while finished proofs wait for
/// prover_next_event, and for good once the prover is destroyed. It is for poll, epoll and the like (edge-triggered,
/// too): neither read nor write it; prover_next_event makes it unreadable again.
///
/// Blocks: no. Threads: any. Ownership: the descriptor is the caller's to close, before or after prover_destroy.
/// Errors: below 0, a prover_status: INVALID_HANDLE, IO.
#[no_mangle]
pub extern "C" fn prover_event_fd(p: prover) -> c_int {
    call_bare(|| PROVERS.get(p.id)?.event_fd())
}

/// Takes the oldest event: a proof that is over, well or not. Every started proof has one, unless its handle is ended
/// before.
///
/// Blocks: no. Threads: any; each event goes to one. Ownership: out is the caller's, struct_size set; the proof's
/// handle stays. Errors: PENDING when no event waits; INVALID_HANDLE, INVALID_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn prover_next_event(p: prover, out: *mut prover_event) -> prover_status {
    call_bare(|| {
        // SAFETY: the caller's promise, see the comment above.
        let out = unsafe { Out::new("out", out) }?;
        let engine = PROVERS.get(p.id)?;
        while let Some(event) = engine.next_event() {
            // A handle that ended while another thread waited for it has events to the last.
            if PROOFS.is_live(event.key) {
                out.write(&prover_event {
                    struct_size: size_of::<prover_event>() as u32,
                    status: event.failure.map_or(PROVER_OK, |code| code as prover_status),
                    proof: pending_proof { id: event.key },
                    tag: event.tag,
                });
                return Ok(PROVER_OK);
            }
        }
        Ok(PROVER_PENDING)
    })
}
