//! What the tests of the C surface share: structs ready to use, and calls as Rust would write them.
#![allow(dead_code)]

use std::ffi::{c_char, CStr};
use std::ptr;

use splitprove::capi::*;

/// A value of zeros.
pub fn zeros<T: Copy>() -> T {
    // SAFETY: the tests only ask for structs of the header, for all of which zeros are a value.
    unsafe { std::mem::zeroed() }
}

/// A struct of zeros with its size set.
macro_rules! sized {
    ($type:ty) => {{
        let mut value: $type = crate::capi_support::zeros();
        value.struct_size = std::mem::size_of::<$type>() as u32;
        value
    }};
}
#[allow(unused_imports)] // not every test file makes structs
pub(crate) use sized;

/// What a failing call said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub status: i32,
    pub code: i32,
    pub field: String,
    pub message: String,
    pub os_code: i64,
    pub retry_after_ns: i64,
}

fn text(c: &[c_char]) -> String {
    let bytes: Vec<u8> = c.iter().map(|b| *b as u8).collect();
    CStr::from_bytes_until_nul(&bytes).expect("ends in NUL").to_str().expect("is UTF-8").to_string()
}

/// Runs a call with an error struct to fill.
pub fn said(call: impl FnOnce(*mut prover_error) -> i32) -> Said {
    let mut err = sized!(prover_error);
    let status = call(&mut err);
    Said {
        status,
        code: err.code,
        field: text(&err.field),
        message: text(&err.message),
        os_code: err.os_code,
        retry_after_ns: err.retry_after_ns,
    }
}

/// Checks status, code and field.
#[track_caller]
pub fn fails(said: Said, status: i32, field: &str) {
    assert_eq!((said.status, said.code, said.field.as_str()), (status, status, field), "{said:?}");
    assert!(!said.message.is_empty());
}

/// Options of a small engine.
pub fn small() -> prover_options {
    let mut o = sized!(prover_options);
    o.synthesis_threads = 1;
    o.cpu_threads = 1;
    o
}

pub fn create(o: &prover_options) -> prover {
    let mut p = prover { id: 0 };
    // SAFETY: all pointers are of living values.
    let said = said(|err| unsafe { prover_create(o, &mut p, err) });
    assert_eq!(said.status, PROVER_OK, "{said:?}");
    assert_ne!(p.id, 0);
    p
}

/// A request with a few bytes that are no vanilla proof.
pub fn request(bytes: &[u8]) -> prove_request {
    let mut r = sized!(prove_request);
    r.kind = PROVE_POREP;
    r.vanilla_count = 1;
    r.vanilla = bytes.as_ptr();
    r.vanilla_len = bytes.len() as u64;
    r
}

pub fn start(p: prover, r: &prove_request) -> Result<pending_proof, Said> {
    let mut proof = pending_proof { id: 0 };
    // SAFETY: all pointers are of living values.
    let said = said(|err| unsafe { prove_start(p, r, &mut proof, err) });
    if said.status == PROVER_OK {
        assert_ne!(proof.id, 0);
        Ok(proof)
    } else {
        assert_eq!(proof.id, 0, "written on success only");
        Err(said)
    }
}

pub fn poll(proof: pending_proof) -> (i32, prove_progress) {
    let mut progress = sized!(prove_progress);
    // SAFETY: the pointer is of a living value.
    let status = unsafe { prove_poll(proof, &mut progress) };
    (status, progress)
}

pub fn finish(proof: pending_proof) -> Result<Vec<u8>, Said> {
    let mut buf = vec![0u8; 4096];
    let mut len = 0;
    // SAFETY: all pointers are of living values.
    let said =
        said(|err| unsafe { finish_pending_proof(proof, buf.as_mut_ptr(), buf.len(), &mut len, ptr::null_mut(), err) });
    if said.status == PROVER_OK {
        buf.truncate(len);
        Ok(buf)
    } else {
        Err(said)
    }
}

pub fn event(p: prover) -> Option<prover_event> {
    let mut e = sized!(prover_event);
    // SAFETY: the pointer is of a living value.
    let status = unsafe { prover_next_event(p, &mut e) };
    assert!(status == PROVER_OK || status == PROVER_PENDING, "{status}");
    (status == PROVER_OK).then_some(e)
}

pub fn stats(p: prover) -> prover_stats {
    let mut s = sized!(prover_stats);
    // SAFETY: the pointer is of a living value.
    assert_eq!(unsafe { prover_stats_get(p, &mut s) }, PROVER_OK);
    s
}

/// Whether a descriptor is readable now.
pub fn readable(fd: i32) -> bool {
    let mut p = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&mut p, 1, 0) == 1 && p.revents & libc::POLLIN != 0 }
}
