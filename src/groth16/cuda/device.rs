//! Devices, and a device's lane with the parameters that lie on it.

use std::ffi::{c_char, CStr};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

use super::ffi::{self, SpcContext, SpcParams, SpcParamsView, SpcPoints, SpcSums, SpcWitness};
use blstrs::Scalar;

use crate::circuit::{Aux, CompiledCircuit};
use crate::error::{Error, Result};
use crate::memory::{Buf, Plain};
use crate::params::Params;

/// A device that CUDA sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number among the visible ones.
    pub index: i32,
    /// `GPU-…`, as nvidia-smi prints it.
    pub uuid: String,
    /// The product's name.
    pub name: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Compute capability, as (9, 0).
    pub capability: (i32, i32),
}

/// What CUDA sees on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices {
    /// The devices; none where there is no driver.
    pub list: Vec<Device>,
    /// The runtime that was linked, 13000 for 13.0.
    pub runtime_version: i32,
    /// What the driver supports; 0 where there is none.
    pub driver_version: i32,
}

/// The devices of this machine. Starts no context on them. `DEVICE` when the driver is there and refuses.
pub fn devices() -> Result<Devices> {
    let mut found = Devices::default();
    let mut count = 0;
    // SAFETY: three places to write to.
    unsafe { ffi::spc_device_count(&mut count, &mut found.runtime_version, &mut found.driver_version) }.check("")?;
    for index in 0..count {
        let mut device = MaybeUninit::<ffi::SpcDevice>::zeroed();
        // SAFETY: a place to write to.
        unsafe { ffi::spc_device_get(index, device.as_mut_ptr()) }.check("")?;
        // SAFETY: all of its fields are integers: zeros were a value, and so is what has been written.
        let device = unsafe { device.assume_init() };
        found.list.push(Device {
            index,
            uuid: text(&device.uuid),
            name: text(&device.name),
            memory_bytes: device.memory_bytes,
            capability: (device.capability_major, device.capability_minor),
        });
    }
    Ok(found)
}

fn text(bytes: &[c_char]) -> String {
    // SAFETY: the backend ends its texts in NUL.
    unsafe { CStr::from_ptr(bytes.as_ptr()) }.to_string_lossy().into_owned()
}

/// The points of one circuit on the device.
struct Resident {
    of: Weak<Params>,
    at: *mut SpcParams,
}

/// A device's lane. Its functions take `&mut self`: one thread at a time.
pub(super) struct Lane {
    context: *mut SpcContext,
    /// The least recently used first.
    resident: Vec<Resident>,
}

// SAFETY: the backend makes its device current in every call; any thread may call, one at a time.
unsafe impl Send for Lane {}

impl Lane {
    pub fn new(index: i32, memory_limit: u64) -> Result<Self> {
        let mut context = ptr::null_mut();
        // SAFETY: a place to write to, which is done on success alone.
        unsafe { ffi::spc_context_create(index, memory_limit, 0, &mut context) }.check("")?;
        Ok(Lane { context, resident: Vec::new() })
    }

    /// Bytes in use on the device, and the most there ever were.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let mut memory = ffi::SpcMemory::default();
        // SAFETY: the context is alive, `memory` a place to write to.
        unsafe { ffi::spc_context_memory(self.context, &mut memory) }.check("")?;
        Ok((memory.device_bytes, memory.device_peak_bytes))
    }

    fn unload(&mut self, i: usize) {
        let gone = self.resident.remove(i);
        // SAFETY: both are alive, and the parameters are used by nobody between calls.
        unsafe { ffi::spc_params_unload(self.context, gone.at) };
    }

    /// Whether something could be unloaded that is not `keep`.
    fn make_room(&mut self, keep: &Weak<Params>) -> bool {
        let Some(i) = self.resident.iter().position(|r| !r.of.ptr_eq(keep)) else { return false };
        self.unload(i);
        true
    }

    /// The parameters on the device; they are loaded, and others unloaded, when they are not there yet.
    fn params(&mut self, params: &Arc<Params>, cancelled: &AtomicBool) -> Result<*mut SpcParams> {
        while let Some(i) = self.resident.iter().position(|r| r.of.strong_count() == 0) {
            self.unload(i);
        }
        let of = Arc::downgrade(params);
        if let Some(i) = self.resident.iter().position(|r| r.of.ptr_eq(&of)) {
            let found = self.resident.remove(i);
            let at = found.at;
            self.resident.push(found);
            return Ok(at);
        }
        fn list<P: Plain>(points: &Buf<P>) -> SpcPoints {
            SpcPoints { points: points.as_ptr().cast(), count: points.len() as u64 }
        }
        let view = SpcParamsView {
            h: list(&params.h),
            l: list(&params.l),
            a: list(&params.a),
            b_g1: list(&params.b_g1),
            b_g2: list(&params.b_g2),
        };
        let at = self.retry(&of, "params", |context| {
            let mut at = ptr::null_mut();
            // SAFETY: the lists are borrowed from `params` until the call has returned; blstrs' affine points are blst's.
            let e = unsafe { ffi::spc_params_load(context, &view, flag(cancelled), &mut at) };
            (e, at)
        })?;
        self.resident.push(Resident { of, at });
        Ok(at)
    }

    /// Calls again with other circuits' parameters unloaded for as long as the device has no room.
    fn retry<T>(
        &mut self,
        keep: &Weak<Params>,
        field: &'static str,
        call: impl Fn(*mut SpcContext) -> (ffi::SpcError, T),
    ) -> Result<T> {
        loop {
            let (e, value) = call(self.context);
            if e.code == ffi::OUT_OF_MEMORY && self.make_room(keep) {
                continue;
            }
            return e.check(field).map(|()| value);
        }
    }

    /// The sum over h, affine, from the rows of A and B.
    pub fn start(
        &mut self,
        params: &Arc<Params>,
        witness: &Values<'_>,
        (a, b): (&[Scalar], &[Scalar]),
        cancelled: &AtomicBool,
    ) -> Result<[u64; 12]> {
        if a.len() != b.len() {
            return Err(Error::internal("a and b differ in length"));
        }
        let at = self.params(params, cancelled)?;
        let mut view = witness.view()?;
        (view.a, view.b) = (a.as_ptr().cast(), b.as_ptr().cast());
        view.rows = a.len() as u64;
        self.retry(&Arc::downgrade(params), "params", |context| {
            let mut h = [0; 12];
            // SAFETY: what the view points to is borrowed until the call has returned.
            let e = unsafe { ffi::spc_prove_start(context, at, &view, flag(cancelled), h.as_mut_ptr()) };
            (e, h)
        })
    }

    /// The sums over l, a, b_g1 and b_g2.
    pub fn finish(&mut self, params: &Arc<Params>, witness: &Values<'_>, cancelled: &AtomicBool) -> Result<SpcSums> {
        let at = self.params(params, cancelled)?;
        let view = witness.view()?;
        self.retry(&Arc::downgrade(params), "params", |context| {
            let mut sums = SpcSums::default();
            // SAFETY: as in `start`.
            let e = unsafe { ffi::spc_prove_finish(context, at, &view, flag(cancelled), &mut sums) };
            (e, sums)
        })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        while !self.resident.is_empty() {
            self.unload(0);
        }
        // SAFETY: alive until here, and nothing of it is in use.
        unsafe { ffi::spc_context_destroy(self.context) };
    }
}

/// The flag as the backend reads it: a byte that is zero or not.
fn flag(cancelled: &AtomicBool) -> *const u8 {
    cancelled.as_ptr().cast_const().cast()
}

/// A partition's values, and its circuit.
pub(super) struct Values<'a> {
    pub inputs: &'a [Scalar],
    pub aux: &'a Aux,
    pub circuit: &'a CompiledCircuit,
}

impl Values<'_> {
    /// Everything but the evaluations. `INTERNAL` when values and bits are not as many as the circuit has variables: the
    /// backend reads one for each.
    fn view(&self) -> Result<SpcWitness> {
        let (shape, densities) = (self.circuit.shape(), self.circuit.densities());
        let lengths = [
            (self.inputs.len(), shape.inputs),
            (self.aux.len(), shape.aux),
            (densities.a_aux.len(), shape.aux),
            (densities.b_inputs.len(), shape.inputs),
            (densities.b_aux.len(), shape.aux),
        ];
        if lengths.iter().any(|(have, want)| have != want) {
            return Err(Error::internal("a witness that is not its circuit's"));
        }
        let mut view = SpcWitness {
            inputs: self.inputs.as_ptr().cast(),
            input_count: self.inputs.len() as u64,
            aux: ptr::null(),
            aux_count: self.aux.len() as u64,
            aux_planes: ptr::null(),
            aux_ranks: ptr::null(),
            aux_wide: ptr::null(),
            aux_wide_count: 0,
            a: ptr::null(),
            b: ptr::null(),
            rows: 0,
            a_aux_used: densities.a_aux.words().as_ptr(),
            b_inputs_used: densities.b_inputs.words().as_ptr(),
            b_aux_used: densities.b_aux.words().as_ptr(),
            log_domain: shape.log_domain(),
            reserved0: 0,
        };
        match self.aux {
            Aux::Plain(plain) => view.aux = plain.as_ptr().cast(),
            Aux::Packed(packed) => {
                view.aux_planes = packed.planes().as_ptr();
                view.aux_ranks = packed.ranks().as_ptr();
                view.aux_wide = packed.wide().as_ptr().cast();
                view.aux_wide_count = packed.wide().len() as u64;
            }
        }
        Ok(view)
    }
}
