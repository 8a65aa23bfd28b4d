//! The section "parameters" of the header.

use super::convert::{call, call_bare, not_null};
use super::handles::{PROOFS, PROVERS};
use super::structs::*;
use crate::proofs::{registered, Kind};

/// Begins to load the parameters of a kind and registered proof, so that the first proof does not wait for them. The
/// load is polled, waited for and finished like a proof, without bytes.
///
/// Blocks: no. Threads: any. Ownership: *out is written on success only and ended by finish_pending_proof or
/// drop_pending_proof. Errors: INVALID_HANDLE, INVALID_ARGUMENT, SHUTDOWN; the load's own come through poll, wait and
/// finish.
#[no_mangle]
pub unsafe extern "C" fn prover_params_load(
    p: prover,
    kind: u32,
    registered_proof: u32,
    out: *mut pending_proof,
    err: *mut prover_error,
) -> prover_status {
    let body = || {
        not_null("out", out)?;
        let circuit = registered::circuit(Kind::from_number(kind)?, registered_proof)?;
        let engine = PROVERS.get(p.id)?;
        let reservation = PROOFS.reserve()?;
        let pending = engine.load_params(&circuit, reservation.id(), 0)?;
        let proof = pending_proof { id: reservation.fill(pending) };
        // SAFETY: not NULL, and the caller says it may be written.
        unsafe { out.write_unaligned(proof) };
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

/// Lets the parameters of a kind and registered proof go, if no proof uses them. *freed_bytes says how much that was;
/// NULL: nobody asks.
///
/// Blocks: while memory is given back. Threads: any. Ownership: freed_bytes is the caller's. Errors: INVALID_HANDLE,
/// INVALID_ARGUMENT, BUSY (they are being loaded, or proofs use them).
#[no_mangle]
pub unsafe extern "C" fn prover_params_evict(
    p: prover,
    kind: u32,
    registered_proof: u32,
    freed_bytes: *mut u64,
) -> prover_status {
    call_bare(|| {
        let circuit = registered::circuit(Kind::from_number(kind)?, registered_proof)?;
        let freed = PROVERS.get(p.id)?.evict_params(&circuit)?;
        if !freed_bytes.is_null() {
            // SAFETY: not NULL, and the caller says it may be written.
            unsafe { freed_bytes.write_unaligned(freed) };
        }
        Ok(PROVER_OK)
    })
}
