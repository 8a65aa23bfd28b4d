//! The section "parameters" of the header.

use super::convert::{call, call_bare, not_null};
use super::handles::PROVERS;
use super::structs::*;
use crate::error::Error;
use crate::proofs::{registered, Kind};

/// Begins to load the parameters of a kind and registered proof, so that the first proof does not wait for them. The
/// load is polled, waited for and finished like a proof, without bytes.
///
/// Blocks: no. Threads: any. Ownership: *out is written on success only and ended by finish_pending_proof or
/// drop_pending_proof. Errors: INVALID_HANDLE, INVALID_ARGUMENT, SHUTDOWN; the load's own come through poll, wait and
/// finish. This version: UNSUPPORTED.
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
        registered::circuit(Kind::from_number(kind)?, registered_proof)?;
        let _engine = PROVERS.get(p.id)?;
        Err(Error::unsupported("", "loading parameters ahead is not offered by this version"))
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

/// Lets the parameters of a kind and registered proof go, if no proof uses them. *freed_bytes says how much that was;
/// NULL: nobody asks.
///
/// Blocks: while memory is given back. Threads: any. Ownership: none. Errors: INVALID_HANDLE, INVALID_ARGUMENT, BUSY.
/// This version: UNSUPPORTED.
#[no_mangle]
pub unsafe extern "C" fn prover_params_evict(
    p: prover,
    kind: u32,
    registered_proof: u32,
    freed_bytes: *mut u64,
) -> prover_status {
    call_bare(|| {
        registered::circuit(Kind::from_number(kind)?, registered_proof)?;
        let _ = freed_bytes;
        let _engine = PROVERS.get(p.id)?;
        Err(Error::unsupported("", "evicting parameters is not offered by this version"))
    })
}
