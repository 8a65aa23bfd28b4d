//! The section "proofs" of the header.

use super::convert::{self, call, call_bare, not_null, read_struct, timeout, Out};
use super::fork;
use super::handles::{PROOFS, PROVERS};
use super::request;
use super::structs::*;
use crate::engine::{FilecoinSource, Holding, Pending, Progress, Source, Stage, Submission};
use crate::error::{Code, Error};

/// Starts a proof: checks the struct and copies the bytes (20 ms for 51 MB at most); decodes nothing. What is wrong
/// inside the input comes through poll, wait and finish. A full queue and a prover that drains refuse before they copy.
///
/// Blocks: no. Threads: any. Ownership: *out is written on success only and ended by finish_pending_proof or
/// drop_pending_proof; an event may arrive in another thread before this call returns. request, what it points to and
/// err are the caller's and not looked at after return. Errors: BUSY (with retry_after_ns), SHUTDOWN,
/// INVALID_ARGUMENT, INVALID_HANDLE, ABI_MISMATCH, ID_CONFLICT, TOO_LARGE, OUT_OF_MEMORY.
#[no_mangle]
pub unsafe extern "C" fn prove_start(
    p: prover,
    request: *const prove_request,
    out: *mut pending_proof,
    err: *mut prover_error,
) -> prover_status {
    let body = || {
        not_null("out", out)?;
        // SAFETY: the caller's promise about request.
        let c = unsafe { read_struct("request", request) }?;
        let engine = PROVERS.get(p.id)?;
        // SAFETY: the caller's promise about what the request points to.
        let checked = unsafe { request::check(&c, engine.options().host_memory_limit) }?;
        let (priority, deadline) = (checked.priority, checked.deadline);
        // The engine has to know the id first, as the proof may be over before it is told.
        let reservation = PROOFS.reserve()?;
        let holder = Holding { key: reservation.id(), tag: c.tag, deadline, priority };
        let joined = match engine.knows(&checked.request_id) {
            true => engine.join(&checked.request_id, checked.fingerprint(), holder)?,
            false => None,
        };
        let pending = match joined {
            Some(pending) => pending,
            None => {
                // Room first: no byte is copied that the budget does not have.
                let place = engine.reserve(priority, checked.len())?;
                let taken = checked.take()?;
                let source = FilecoinSource::new(taken.request, taken.vanilla, engine.options());
                let submission = Submission {
                    source: Box::new(source) as Box<dyn Source>,
                    priority,
                    deadline,
                    tag: c.tag,
                    key: holder.key,
                    request_id: taken.request_id,
                    fingerprint: taken.fingerprint,
                };
                engine.submit_into(place, submission)?
            }
        };
        let proof = pending_proof { id: reservation.fill(pending) };
        // SAFETY: not NULL, and the caller says it may be written.
        unsafe { out.write_unaligned(proof) };
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

/// Hands a submission to the engine under a handle of its own.
#[cfg(feature = "test-hooks")]
pub(super) fn submit(
    engine: &crate::engine::Engine,
    mut submission: Submission,
) -> crate::error::Result<pending_proof> {
    // The engine has to know the id first, as the proof may be over before `submit` returns.
    let reservation = PROOFS.reserve()?;
    submission.key = reservation.id();
    let pending = engine.submit(submission)?;
    Ok(pending_proof { id: reservation.fill(pending) })
}

/// Where a proof stands.
///
/// Blocks: no; allocates nothing. Threads: any. Ownership: out is the caller's, struct_size set. Errors: PENDING while
/// it runs; once over, OK or why it failed (*out is written then, too); INVALID_HANDLE, INVALID_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn prove_poll(proof: pending_proof, out: *mut prove_progress) -> prover_status {
    call_bare(|| {
        // SAFETY: the caller's promise, see the comment above.
        let out = unsafe { Out::new("out", out) }?;
        let pending = PROOFS.get(proof.id)?;
        let (status, progress) = look(&pending);
        out.write(&convert::progress(&progress));
        Ok(status)
    })
}

/// Status and progress that belong together: the stage is "done" if and only if the status is not PENDING.
fn look(pending: &Pending) -> (prover_status, Progress) {
    if !pending.is_done() {
        let progress = pending.progress();
        if progress.stage != Stage::Done {
            return (PROVER_PENDING, progress);
        }
    }
    let mut progress = pending.progress();
    // A cancelled hold of a job that goes on for others is over, its job is not.
    progress.stage = Stage::Done;
    (status(pending), progress)
}

fn status(pending: &Pending) -> prover_status {
    match pending.ended() {
        None => PROVER_PENDING,
        Some(None) => PROVER_OK,
        Some(Some(code)) => code as prover_status,
    }
}

/// Waits until a proof is over. timeout_ns: -1 for ever, 0 look only.
///
/// Blocks: until it is over or time is. Threads: any, several at once. Ownership: none. Errors: PENDING when time was
/// over first; once over, OK or why it failed; INVALID_HANDLE, INVALID_ARGUMENT.
#[no_mangle]
pub extern "C" fn prove_wait(proof: pending_proof, timeout_ns: i64) -> prover_status {
    call_bare(|| {
        let timeout = timeout("timeout_ns", timeout_ns)?;
        let pending = PROOFS.get(proof.id)?;
        pending.wait(timeout);
        Ok(status(&pending))
    })
}

/// Cancels a proof: it ends as PROVER_ERR_CANCELLED, at once while it waits, else as soon as its work looks up. Does
/// nothing once it is over. The handle stays.
///
/// Blocks: no. Threads: any. Ownership: none. Errors: INVALID_HANDLE.
#[no_mangle]
pub extern "C" fn prove_cancel(proof: pending_proof) -> prover_status {
    call_bare(|| {
        PROOFS.get(proof.id)?.cancel();
        Ok(PROVER_OK)
    })
}

/// Waits until a proof is over if needed, gives its bytes and ends the handle; when the proof failed, gives its error
/// and ends the handle, too. Only PROVER_ERR_BUFFER_TOO_SMALL and PROVER_ERR_INVALID_ARGUMENT leave the handle, and
/// no proof ends as either. buf NULL with cap 0 asks for the length. *len is the proof's length whenever there is one,
/// else 0. timings may be NULL.
///
/// Blocks: until the proof is over. Threads: any; of several calls one gets the bytes. Ownership: ends proof; all
/// pointers are the caller's. Errors: BUFFER_TOO_SMALL, INVALID_ARGUMENT, INVALID_HANDLE, and every error a proof can
/// end with.
#[no_mangle]
pub unsafe extern "C" fn finish_pending_proof(
    proof: pending_proof,
    buf: *mut u8,
    cap: usize,
    len: *mut usize,
    timings: *mut prove_progress,
    err: *mut prover_error,
) -> prover_status {
    let body = || {
        not_null("len", len)?;
        if cap > 0 {
            not_null("buf", buf)?;
        }
        // SAFETY: the caller's promise about timings.
        let timings = unsafe { Out::optional("timings", timings) }?;
        let pending = PROOFS.get(proof.id)?;
        pending.wait(None);
        let outcome = pending.outcome().ok_or_else(|| Error::internal("a proof that is over has no outcome"))?;
        let size = outcome.as_ref().map_or(0, |bytes| bytes.len());
        // SAFETY: not NULL, and the caller says it may be written.
        unsafe { len.write_unaligned(size) };
        if let Some(timings) = timings {
            timings.write(&convert::progress(&look(&pending).1));
        }
        if size > cap {
            let text = format!("{cap} bytes, the proof has {size}");
            return Err(Error::new(Code::BufferTooSmall, "buf", text));
        }
        // From here on the handle is over; of several calls in several threads one gets here.
        PROOFS.take(proof.id)?;
        let bytes = outcome?;
        if !bytes.is_empty() {
            // SAFETY: bytes.len() <= cap writable bytes, so buf is not NULL; they are not the library's own.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buf, bytes.len()) };
        }
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

/// Cancels a proof and forgets it; no event of it comes any more. Other calls that wait for it return. id 0, and any in a
/// forked child: does nothing.
///
/// Blocks: no. Threads: any. Ownership: ends proof. Errors: INVALID_HANDLE.
#[no_mangle]
pub extern "C" fn drop_pending_proof(proof: pending_proof) -> prover_status {
    if fork::is_child() {
        return PROVER_OK;
    }
    call_bare(|| {
        if proof.id != 0 {
            // Other threads may be in calls with it, so that dropping it here would not be its end.
            PROOFS.take(proof.id)?.cancel();
        }
        Ok(PROVER_OK)
    })
}

/// Verifies a proof against its public statement with the key of the prover's parameter file.
///
/// Blocks: for milliseconds a partition. Threads: any. Ownership: all pointers are the caller's. Errors: PROOF_INVALID,
/// INVALID_ARGUMENT, INVALID_HANDLE, ABI_MISMATCH, UNSUPPORTED, SHUTDOWN, PARAMS_NOT_FOUND, PARAMS_CORRUPT, IO.
#[no_mangle]
pub unsafe extern "C" fn prover_verify(
    p: prover,
    what: *const prover_public,
    proof: *const u8,
    len: usize,
    err: *mut prover_error,
) -> prover_status {
    let body = || {
        // SAFETY: the caller's promise about what and proof, for all three.
        let (public, proof) = unsafe {
            let c = read_struct("what", what)?;
            (request::public(&c)?, convert::slice("proof", proof, len)?)
        };
        PROVERS.get(p.id)?.verify(&public, proof)?;
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}
