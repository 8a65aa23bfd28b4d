//! `cuda/splitprove_cuda.h`, declared by hand: what the functions do and who owns what is written there.

use std::ffi::{c_char, c_void, CStr};

use crate::error::{Code, Error};

/// What went wrong; code 0: nothing.
#[repr(C)]
pub(super) struct SpcError {
    pub code: i32,
    pub cuda_error: i32,
    message: [c_char; 248],
}

pub(super) const OK: i32 = 0;
pub(super) const OUT_OF_MEMORY: i32 = 1;
const CANCELLED: i32 = 2;
const INVALID: i32 = 3;

impl SpcError {
    /// The text: the call that failed, file and line.
    fn text(&self) -> String {
        // SAFETY: the backend ends every message in NUL, and a zeroed one is empty.
        unsafe { CStr::from_ptr(self.message.as_ptr()) }.to_string_lossy().into_owned()
    }

    /// The library's error. `field` is what an argument's fault is blamed on.
    pub fn into_error(self, field: &'static str) -> Error {
        let text = self.text();
        match self.code {
            OUT_OF_MEMORY => Error::new(Code::OutOfMemory, "device memory", text),
            CANCELLED => Error::cancelled(),
            INVALID => Error::new(Code::ParamsCorrupt, field, text),
            _ => Error::new(Code::Device, "", text),
        }
    }

    /// `Ok` for code 0.
    pub fn check(self, field: &'static str) -> Result<(), Error> {
        if self.code == OK {
            Ok(())
        } else {
            Err(self.into_error(field))
        }
    }
}

#[repr(C)]
pub(super) struct SpcDevice {
    pub uuid: [c_char; 48],
    pub name: [c_char; 80],
    pub memory_bytes: u64,
    pub capability_major: i32,
    pub capability_minor: i32,
}

/// A device's lane.
#[repr(C)]
pub(super) struct SpcContext {
    _opaque: [u8; 0],
}

/// A circuit's parameters on a device.
#[repr(C)]
pub(super) struct SpcParams {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Default)]
pub(super) struct SpcMemory {
    pub device_bytes: u64,
    pub device_peak_bytes: u64,
    pub pinned_bytes: u64,
    pub pinned_peak_bytes: u64,
}

#[repr(C)]
pub(super) struct SpcPoints {
    pub points: *const c_void,
    pub count: u64,
}

#[repr(C)]
pub(super) struct SpcParamsView {
    pub h: SpcPoints,
    pub l: SpcPoints,
    pub a: SpcPoints,
    pub b_g1: SpcPoints,
    pub b_g2: SpcPoints,
}

#[repr(C)]
pub(super) struct SpcWitness {
    pub inputs: *const c_void,
    pub input_count: u64,
    pub aux: *const c_void,
    pub aux_count: u64,
    pub aux_planes: *const u64,
    pub aux_ranks: *const u32,
    pub aux_wide: *const c_void,
    pub aux_wide_count: u64,
    pub a: *const c_void,
    pub b: *const c_void,
    pub rows: u64,
    pub a_aux_used: *const u64,
    pub b_inputs_used: *const u64,
    pub b_aux_used: *const u64,
    pub log_domain: u32,
    pub reserved0: u32,
}

#[repr(C)]
#[derive(Default)]
pub(super) struct SpcSums {
    pub l: [u64; 12],
    pub a: [u64; 12],
    pub b_g1: [u64; 12],
    pub b_g2: [u64; 24],
}

extern "C" {
    pub(super) fn spc_device_count(count: *mut i32, runtime_version: *mut i32, driver_version: *mut i32) -> SpcError;
    pub(super) fn spc_device_get(index: i32, out: *mut SpcDevice) -> SpcError;
    pub(super) fn spc_context_create(
        index: i32,
        memory_limit: u64,
        pinned_limit: u64,
        out: *mut *mut SpcContext,
    ) -> SpcError;
    pub(super) fn spc_context_destroy(context: *mut SpcContext);
    pub(super) fn spc_context_memory(context: *mut SpcContext, out: *mut SpcMemory) -> SpcError;
    pub(super) fn spc_params_load(
        context: *mut SpcContext,
        params: *const SpcParamsView,
        cancelled: *const u8,
        out: *mut *mut SpcParams,
    ) -> SpcError;
    pub(super) fn spc_params_unload(context: *mut SpcContext, params: *mut SpcParams);
    pub(super) fn spc_prove_start(
        context: *mut SpcContext,
        params: *mut SpcParams,
        witness: *const SpcWitness,
        cancelled: *const u8,
        h: *mut u64,
    ) -> SpcError;
    pub(super) fn spc_prove_finish(
        context: *mut SpcContext,
        params: *mut SpcParams,
        witness: *const SpcWitness,
        cancelled: *const u8,
        out: *mut SpcSums,
    ) -> SpcError;
}
