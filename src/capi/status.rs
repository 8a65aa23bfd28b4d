//! Names and texts of statuses.

use std::ffi::CStr;

use super::structs::prover_status;
use crate::error::Code;

/// The header's name of a status.
pub(super) fn name(status: prover_status) -> &'static CStr {
    match status {
        0 => c"PROVER_OK",
        1 => c"PROVER_PENDING",
        _ => code(status).map_or(c"PROVER_STATUS_UNKNOWN", |code| both(code).0),
    }
}

/// A sentence about a status.
pub(super) fn text(status: prover_status) -> &'static CStr {
    match status {
        0 => c"done",
        1 => c"not done yet",
        _ => code(status).map_or(c"a status this version does not know", |code| both(code).1),
    }
}

/// The failure with this number.
fn code(status: prover_status) -> Option<Code> {
    Code::ALL.into_iter().find(|c| *c as prover_status == status)
}

fn both(code: Code) -> (&'static CStr, &'static CStr) {
    match code {
        Code::Busy => (c"PROVER_ERR_BUSY", c"the queue is full, try again later"),
        Code::Timeout => (c"PROVER_ERR_TIMEOUT", c"the time given was over first"),
        Code::Cancelled => (c"PROVER_ERR_CANCELLED", c"the proof was cancelled"),
        Code::Shutdown => (c"PROVER_ERR_SHUTDOWN", c"the prover is draining or was destroyed"),
        Code::InvalidArgument => (c"PROVER_ERR_INVALID_ARGUMENT", c"an argument of the call is wrong"),
        Code::InvalidHandle => (c"PROVER_ERR_INVALID_HANDLE", c"the handle is stale, ended or invented"),
        Code::AbiMismatch => (c"PROVER_ERR_ABI_MISMATCH", c"a struct sets what this version does not know"),
        Code::BufferTooSmall => (c"PROVER_ERR_BUFFER_TOO_SMALL", c"the buffer is too small"),
        Code::MalformedInput => (c"PROVER_ERR_MALFORMED_INPUT", c"the input's bytes are not what they should be"),
        Code::Unsupported => (c"PROVER_ERR_UNSUPPORTED", c"not offered by this version"),
        Code::IdConflict => (c"PROVER_ERR_ID_CONFLICT", c"the request id is in use for another input"),
        Code::TooLarge => (c"PROVER_ERR_TOO_LARGE", c"the request can never fit into the memory given"),
        Code::Unsatisfied => (c"PROVER_ERR_UNSATISFIED", c"the input does not satisfy its circuit"),
        Code::ProofInvalid => (c"PROVER_ERR_PROOF_INVALID", c"the proof does not verify"),
        Code::ParamsNotFound => (c"PROVER_ERR_PARAMS_NOT_FOUND", c"a parameter file is not there"),
        Code::ParamsCorrupt => (c"PROVER_ERR_PARAMS_CORRUPT", c"a parameter file's content is wrong"),
        Code::ParamsInsecure => (c"PROVER_ERR_PARAMS_INSECURE", c"the parameters are none that Filecoin knows"),
        Code::Io => (c"PROVER_ERR_IO", c"the system refused a read, a write or another call"),
        Code::OutOfMemory => (c"PROVER_ERR_OUT_OF_MEMORY", c"memory could not be had"),
        Code::NoDevice => (c"PROVER_ERR_NO_DEVICE", c"there is no device to prove on"),
        Code::Device => (c"PROVER_ERR_DEVICE", c"a device failed"),
        Code::SelfCheck => (c"PROVER_ERR_SELF_CHECK", c"a finished proof did not verify against its own key"),
        Code::Panic => (c"PROVER_ERR_PANIC", c"a panic was caught inside the library"),
        Code::Internal => (c"PROVER_ERR_INTERNAL", c"a fault of the library's own"),
    }
}
