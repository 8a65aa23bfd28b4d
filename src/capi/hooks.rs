//! Work of a test's own behind the C surface's handles. Not in a shipped library.

use super::convert::call_bare;
use super::handles::{PROOFS, PROVERS};
use super::proofs::submit;
use super::structs::{pending_proof, prover, prover_status, PROVER_OK};
use crate::engine::Submission;
use crate::error::Result;
use crate::memory::Accounts;

/// What a library with this module in it is recognised by (tests/abi/check-exports.sh).
pub(super) static MARK: &str = "splitprove_test_hooks_are_in";

/// Starts a submission as `prove_start` does a request; its key is the handle's id.
pub fn start(p: prover, submission: Submission) -> Result<pending_proof> {
    submit(&*PROVERS.get(p.id)?, submission)
}

/// What an export returns whose body panics.
pub fn guarded(body: impl FnOnce()) -> prover_status {
    call_bare(|| {
        body();
        Ok(PROVER_OK)
    })
}

/// An engine's budget, counters and reclaimer.
pub fn with_accounts<T>(p: prover, look: impl FnOnce(&Accounts) -> T) -> Result<T> {
    Ok(look(PROVERS.get(p.id)?.accounts()))
}

/// Whether these are ids of living handles.
pub fn are_live(p: prover, proof: pending_proof) -> (bool, bool) {
    (PROVERS.is_live(p.id), PROOFS.is_live(proof.id))
}
