//! The section "library" of the header.

use std::ffi::c_char;

use super::convert::{call, call_alone, zeroed, Out};
use super::handles::PROVERS;
use super::status;
use super::structs::*;

/// The version of the loaded library: major * 1000000 + minor * 1000 + patch. Callers compare it with
/// PROVER_VERSION_NUMBER before anything else.
///
/// Blocks: no. Threads: any. Ownership: none. Errors: none.
#[no_mangle]
pub extern "C" fn prover_version_number() -> u32 {
    PROVER_VERSION_NUMBER
}

/// The version as text, such as "0.1.0".
///
/// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
#[no_mangle]
pub extern "C" fn prover_version_string() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What the library and the machine can do. Needs no prover, and answers in a forked child, too.
///
/// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn prover_capabilities_get(out: *mut prover_capabilities) -> prover_status {
    call_alone(|| {
        // SAFETY: the caller's promise, see the comment above.
        let out = unsafe { Out::new("out", out) }?;
        let mut value: prover_capabilities = zeroed();
        if cpu_has_ifma() {
            value.features |= PROVER_FEATURE_AVX512_IFMA;
        }
        if cfg!(feature = "cuda") {
            value.features |= PROVER_FEATURE_CUDA;
        }
        // Keeps the mark in the library, so that one with hooks cannot be shipped unseen.
        #[cfg(feature = "test-hooks")]
        std::hint::black_box(super::hooks::MARK);
        out.write(&value);
        Ok(PROVER_OK)
    })
}

fn cpu_has_ifma() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The name of a status, such as "PROVER_ERR_BUSY"; "PROVER_STATUS_UNKNOWN" for a number that is none. Never NULL.
///
/// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
#[no_mangle]
pub extern "C" fn prover_status_name(code: prover_status) -> *const c_char {
    status::name(code).as_ptr()
}

/// A short text about a status, for people. Never NULL.
///
/// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
#[no_mangle]
pub extern "C" fn prover_status_text(code: prover_status) -> *const c_char {
    status::text(code).as_ptr()
}

/// Makes and verifies a small proof on every device of the prover.
///
/// Blocks: for about a second. Threads: any. Ownership: err is the caller's. Errors: INVALID_HANDLE, SHUTDOWN, what a
/// device reports, SELF_CHECK.
#[no_mangle]
pub unsafe extern "C" fn prover_self_test(p: prover, err: *mut prover_error) -> prover_status {
    let body = || {
        PROVERS.get(p.id)?.self_test()?;
        Ok(PROVER_OK)
    };
    // SAFETY: the caller's promise about err, see prover_error.
    unsafe { call(err, body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_crates_version() {
        let number = |s: &str| s.parse::<u32>().unwrap();
        let (major, minor, patch) =
            (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH"));
        assert_eq!(PROVER_VERSION_NUMBER, number(major) * 1_000_000 + number(minor) * 1000 + number(patch));
    }
}
