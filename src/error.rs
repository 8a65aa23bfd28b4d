//! The one failure type of the library.
//!
//! Codes come in bands by what the caller does next: try again or elsewhere (-1…), mend the call or its input (-20…),
//! mend the machine (-40…), report a bug (-60…). The numbers are part of the C surface and never change.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

/// `Result` with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as the C surface numbers it (`PROVER_ERR_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Code {
    /// The queue is full; [`Error::retry_after`] hints when to try again.
    Busy = -1,
    /// The time given was over first.
    Timeout = -2,
    /// The caller cancelled the proof.
    Cancelled = -3,
    /// The engine is draining or destroyed.
    Shutdown = -4,
    /// An argument of the call is wrong.
    InvalidArgument = -20,
    /// A handle that is stale, ended or invented.
    InvalidHandle = -21,
    /// A struct from a newer header carries what this library does not know.
    AbiMismatch = -22,
    /// The output buffer is too small; the length says how much is needed.
    BufferTooSmall = -23,
    /// The input's bytes are not what they should be; [`Error::field`] names the place.
    MalformedInput = -24,
    /// Not offered by this version.
    Unsupported = -25,
    /// A request id is in use for another input.
    IdConflict = -26,
    /// The request can never fit into the memory given.
    TooLarge = -27,
    /// The input does not satisfy its circuit.
    Unsatisfied = -28,
    /// A proof does not verify.
    ProofInvalid = -29,
    /// A parameter file is not there.
    ParamsNotFound = -40,
    /// A parameter file's content is wrong.
    ParamsCorrupt = -41,
    /// Parameters that Filecoin does not know, for a production size.
    ParamsInsecure = -42,
    /// The system refused a read, a write or another call; [`Error::os_code`] says why.
    Io = -43,
    /// Memory could not be had.
    OutOfMemory = -44,
    /// No device to prove on.
    NoDevice = -45,
    /// A device failed.
    Device = -46,
    /// A finished proof did not verify against its own key.
    SelfCheck = -60,
    /// A panic was caught.
    Panic = -61,
    /// Another fault of the library's own.
    Internal = -62,
}

impl Code {
    /// Every code, in the order of the header.
    pub const ALL: [Code; 24] = [
        Code::Busy,
        Code::Timeout,
        Code::Cancelled,
        Code::Shutdown,
        Code::InvalidArgument,
        Code::InvalidHandle,
        Code::AbiMismatch,
        Code::BufferTooSmall,
        Code::MalformedInput,
        Code::Unsupported,
        Code::IdConflict,
        Code::TooLarge,
        Code::Unsatisfied,
        Code::ProofInvalid,
        Code::ParamsNotFound,
        Code::ParamsCorrupt,
        Code::ParamsInsecure,
        Code::Io,
        Code::OutOfMemory,
        Code::NoDevice,
        Code::Device,
        Code::SelfCheck,
        Code::Panic,
        Code::Internal,
    ];
}

/// A failure: its code, the field or structure at fault ("" if none) and a sentence for people.
#[derive(Clone, Debug, thiserror::Error)]
pub struct Error {
    /// What the caller does next depends on this.
    pub code: Code,
    /// The field or structure at fault, "" if none.
    pub field: Cow<'static, str>,
    /// One sentence, for people.
    pub message: String,
    /// `errno` or the CUDA error, else 0.
    pub os_code: i64,
    /// With [`Code::Busy`]: when to try again.
    pub retry_after: Duration,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.field, self.message)
        }
    }
}

impl Error {
    /// An error with a code, the field at fault ("" if none) and a sentence.
    pub fn new(code: Code, field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Error { code, field: field.into(), message: message.into(), os_code: 0, retry_after: Duration::ZERO }
    }

    /// [`Code::InvalidArgument`].
    pub fn argument(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, field, message)
    }

    /// [`Code::MalformedInput`].
    pub fn malformed(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Code::MalformedInput, field, message)
    }

    /// [`Code::Unsupported`].
    pub fn unsupported(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, field, message)
    }

    /// [`Code::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, "", message)
    }

    /// [`Code::Cancelled`].
    pub fn cancelled() -> Self {
        Self::new(Code::Cancelled, "", "the proof was cancelled")
    }

    /// [`Code::OutOfMemory`] for a buffer of `bytes`.
    pub fn out_of_memory(what: impl Into<Cow<'static, str>>, bytes: usize) -> Self {
        Self::new(Code::OutOfMemory, what, format!("the system has no {bytes} bytes for it"))
    }

    /// [`Code::Io`] about a file: the system's answer, what was done, and the path, which may be cut.
    pub fn io(field: impl Into<Cow<'static, str>>, doing: &str, path: &Path, source: &io::Error) -> Self {
        let mut e = Self::new(Code::Io, field, format!("{source} ({doing} {})", path.display()));
        e.os_code = source.raw_os_error().unwrap_or(0).into();
        e
    }
}
