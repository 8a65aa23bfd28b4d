//! The C surface: what `include/splitprove.h` declares.
//!
//! Every export reads check, convert, call, map: pointers and sizes are looked at first, C's values become ours, the
//! engine does the work, and its outcome becomes a status and texts in the caller's structs. A guard around each turns
//! panics into `PROVER_ERR_PANIC`. Nothing here holds state but the tables of handles, the log, and the page that tells
//! forked children.
//!
//! One file a section of the header; its comments are the header's (`cbindgen.toml`, `tests/header.rs`).

// The names are C's, and so are the contracts of pointers: each function's comment says who owns what until when.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod convert;
mod engine;
mod events;
mod fork;
mod handles;
mod library;
mod log;
mod log_crate;
mod params;
mod proofs;
mod request;
mod status;
mod structs;

#[cfg(feature = "test-hooks")]
pub mod hooks;

pub use engine::*;
pub use events::*;
pub use library::*;
pub use log::prover_set_log;
pub use params::*;
pub use proofs::*;
pub use structs::*;
