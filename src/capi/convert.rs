//! Between C's values and ours: structs by their size, texts, times, and errors.

use std::ffi::{c_char, CStr};
use std::mem::{offset_of, MaybeUninit};
use std::ptr;
use std::time::Duration;

use super::fork;
use super::structs::{
    prove_progress, prove_request, prover_buffer_stats, prover_capabilities, prover_error, prover_event,
    prover_options, prover_public, prover_stats, prover_status,
};
use crate::engine::Progress;
use crate::error::{Code, Error, Result};
use crate::panics;

/// A struct of the header that begins with its own size.
///
/// # Safety
/// `repr(C)` without padding, the first four bytes being `struct_size`; any bit pattern is a value.
pub(super) unsafe trait CStruct: Copy {}

// SAFETY: integers, arrays of them and raw pointers without padding (tests/cpp/abi.c compiles with -Wpadded).
unsafe impl CStruct for prover_error {}
// SAFETY: as above.
unsafe impl CStruct for prover_options {}
// SAFETY: as above.
unsafe impl CStruct for prove_request {}
// SAFETY: as above.
unsafe impl CStruct for prove_progress {}
// SAFETY: as above.
unsafe impl CStruct for prover_event {}
// SAFETY: as above.
unsafe impl CStruct for prover_stats {}
// SAFETY: as above.
unsafe impl CStruct for prover_buffer_stats {}
// SAFETY: as above.
unsafe impl CStruct for prover_capabilities {}
// SAFETY: as above.
unsafe impl CStruct for prover_public {}

/// Less than `struct_size` and the field after it cannot say anything: the caller forgot to set it.
const SMALLEST: usize = 8;

/// No header will ever have a struct of more bytes; a larger size is garbage, and its tail is not looked at.
const LARGEST: usize = 4096;

/// A value of zeros.
pub(super) fn zeroed<T: CStruct>() -> T {
    // SAFETY: any bit pattern is a value of a CStruct.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Runs the body of an export that takes a handle; a failure or a panic goes to `err` and is returned as its code. In a
/// forked child the body is not run: handles are the parent's.
///
/// # Safety
/// `err` is NULL or points to a `prover_error` whose first `struct_size` bytes may be written.
pub(super) unsafe fn call(err: *mut prover_error, body: impl FnOnce() -> Result<prover_status>) -> prover_status {
    // SAFETY: the caller's promise is ours.
    unsafe { call_unless_child(Code::InvalidHandle, fork::FOREIGN_HANDLE, err, body) }
}

/// As [`call`], for an export that takes no handle and works on what all the library shares.
///
/// # Safety
/// As for [`call`].
pub(super) unsafe fn call_shared(
    err: *mut prover_error,
    body: impl FnOnce() -> Result<prover_status>,
) -> prover_status {
    // SAFETY: the caller's promise is ours.
    unsafe { call_unless_child(Code::Unsupported, fork::USED_BY_PARENT, err, body) }
}

/// Runs the body of an export that shares nothing with other calls, and so works in a forked child.
pub(super) fn call_alone(body: impl FnOnce() -> Result<prover_status>) -> prover_status {
    panics::guard(body).unwrap_or_else(|e| e.code as prover_status)
}

/// Runs `body` guarded; in a forked child the answer is `code` with `text`, and nothing is locked or allocated for it.
///
/// # Safety
/// As for [`call`].
unsafe fn call_unless_child(
    code: Code,
    text: &str,
    err: *mut prover_error,
    body: impl FnOnce() -> Result<prover_status>,
) -> prover_status {
    let mut said = zeroed::<prover_error>();
    if fork::is_child() {
        said.code = code as prover_status;
        // SAFETY: the caller's promise is ours.
        unsafe { fill(err, said, "", text) };
        return said.code;
    }
    panics::install_hook();
    match panics::guard(body) {
        Ok(status) => status,
        Err(e) => {
            said.code = e.code as prover_status;
            said.os_code = e.os_code;
            said.retry_after_ns = nanoseconds(e.retry_after);
            // SAFETY: the caller's promise is ours.
            unsafe { fill(err, said, &e.field, &e.message) };
            said.code
        }
    }
}

/// Runs the body of an export that has no `prover_error`.
pub(super) fn call_bare(body: impl FnOnce() -> Result<prover_status>) -> prover_status {
    // SAFETY: NULL is allowed.
    unsafe { call(ptr::null_mut(), body) }
}

/// Reads the caller's struct: as much as both know. A missing tail is 0; a non-zero tail we do not know is
/// `ABI_MISMATCH`; NULL and a size too small for any field are `INVALID_ARGUMENT` naming `name` or `struct_size`.
///
/// # Safety
/// `from` is NULL or points to `struct_size` readable bytes.
pub(super) unsafe fn read_struct<T: CStruct>(name: &'static str, from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(null(name));
    }
    let bytes = from.cast::<u8>();
    // SAFETY: every struct has at least its size field; it is read unaligned, as C code may place it anywhere.
    let theirs = unsafe { bytes.cast::<u32>().read_unaligned() } as usize;
    if theirs < SMALLEST {
        return Err(Error::argument("struct_size", format!("{name} has struct_size {theirs}: set it to sizeof")));
    }
    if theirs > LARGEST {
        return Err(Error::new(
            Code::AbiMismatch,
            "struct_size",
            format!("{name} has struct_size {theirs}, no version has more than {LARGEST}"),
        ));
    }
    let ours = size_of::<T>();
    let mut value = zeroed::<T>();
    // SAFETY: min(theirs, ours) bytes are readable there and writable here; any bit pattern is a value.
    unsafe { ptr::copy_nonoverlapping(bytes, (&raw mut value).cast::<u8>(), theirs.min(ours)) };
    for at in ours..theirs {
        // SAFETY: at < theirs, which the caller says is readable.
        if unsafe { bytes.add(at).read() } != 0 {
            return Err(Error::new(
                Code::AbiMismatch,
                name,
                format!("byte {at} is set, version {} knows {ours} bytes", env!("CARGO_PKG_VERSION")),
            ));
        }
    }
    Ok(value)
}

/// A caller's struct to be written to.
#[derive(Clone, Copy)]
pub(super) struct Out<T> {
    to: *mut T,
    size: usize,
}

impl<T: CStruct> Out<T> {
    /// Checks that there is one. NULL and a size too small for any field are `INVALID_ARGUMENT`.
    ///
    /// # Safety
    /// `to` is NULL or points to `struct_size` writable bytes, whose first four are set, until the last use.
    pub(super) unsafe fn new(name: &'static str, to: *mut T) -> Result<Self> {
        // SAFETY: the caller's promise is ours.
        match unsafe { Self::optional(name, to) }? {
            Some(out) => Ok(out),
            None => Err(null(name)),
        }
    }

    /// As [`Out::new`], but NULL is nothing to write.
    ///
    /// # Safety
    /// As for [`Out::new`].
    pub(super) unsafe fn optional(name: &'static str, to: *mut T) -> Result<Option<Self>> {
        if to.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller set the first four bytes.
        let size = unsafe { to.cast::<u32>().read_unaligned() } as usize;
        if size < SMALLEST {
            return Err(Error::argument("struct_size", format!("{name} has struct_size {size}: set it to sizeof")));
        }
        Ok(Some(Out { to, size: size.min(size_of::<T>()) }))
    }

    /// Writes the fields that fit; the caller's `struct_size` stays.
    pub(super) fn write(&self, value: &T) {
        let from = ptr::from_ref(value).cast::<u8>();
        // SAFETY: `size` bytes are writable (promised to `new`) and no more than a T has, all of them initialised
        // (no padding); the size field's four bytes are left out.
        unsafe { ptr::copy_nonoverlapping(from.add(4), self.to.cast::<u8>().add(4), self.size - 4) };
    }
}

/// Checks a plain out pointer.
pub(super) fn not_null<T>(name: &'static str, to: *const T) -> Result<()> {
    if to.is_null() {
        return Err(null(name));
    }
    Ok(())
}

fn null(name: &'static str) -> Error {
    Error::argument(name, format!("{name} is NULL"))
}

/// A slice of the caller's.
///
/// # Safety
/// `from` is NULL or points to `len` readable values that nobody writes to while the slice lives.
pub(super) unsafe fn slice<'a, T>(name: &'static str, from: *const T, len: usize) -> Result<&'a [T]> {
    not_null(name, from)?;
    if !from.is_aligned() {
        return Err(Error::argument(name, format!("{name} is not aligned")));
    }
    if len.checked_mul(size_of::<T>()).is_none_or(|n| n > isize::MAX as usize) {
        return Err(Error::argument(name, format!("{name} cannot have {len} values")));
    }
    // SAFETY: not NULL, aligned, of a possible size; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(from, len) })
}

/// A text of the caller's; NULL is `None`. An empty one is `INVALID_ARGUMENT`.
///
/// # Safety
/// `from` is NULL or points to bytes that end in NUL and that nobody writes to while the slice lives.
pub(super) unsafe fn text<'a>(name: &'static str, from: *const c_char) -> Result<Option<&'a [u8]>> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise is ours.
    let bytes = unsafe { CStr::from_ptr(from) }.to_bytes();
    if bytes.is_empty() {
        return Err(Error::argument(name, format!("{name} is empty; NULL is the default")));
    }
    Ok(Some(bytes))
}

/// A time to wait: -1 for ever (`None`), 0 look only.
pub(super) fn timeout(name: &'static str, ns: i64) -> Result<Option<Duration>> {
    match u64::try_from(ns) {
        Ok(ns) => Ok(Some(Duration::from_nanos(ns))),
        Err(_) if ns == -1 => Ok(None),
        Err(_) => Err(Error::argument(name, format!("{ns} is no time; -1 is for ever"))),
    }
}

/// Nanoseconds as C has them.
pub(super) fn nanoseconds(d: Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}

/// Fills a caller's error with numbers and texts.
///
/// # Safety
/// As for [`call`].
unsafe fn fill(err: *mut prover_error, mut value: prover_error, field: &str, message: &str) {
    // SAFETY: the caller's promise is ours. A size that holds no field is no place to write to, and no reason to fail
    // a call in another way than it fails.
    let Ok(Some(out)) = (unsafe { Out::optional("err", err) }) else { return };
    // A struct cut in the middle of a text still holds a whole one.
    let room = |start: usize, all: usize| out.size.saturating_sub(start).min(all);
    let field_room = room(offset_of!(prover_error, field), value.field.len());
    put_text(&mut value.field[..field_room], field);
    let message_room = room(offset_of!(prover_error, message), value.message.len());
    put_text(&mut value.message[..message_room], message);
    out.write(&value);
}

/// Copies a text into a field of zeros: cut between characters, NUL at the end, no NUL inside.
fn put_text(to: &mut [c_char], text: &str) {
    let part = cut(text, to.len().saturating_sub(1));
    for (to, from) in to.iter_mut().zip(part.bytes()) {
        *to = if from == 0 { b' ' } else { from } as c_char;
    }
}

/// The longest beginning of at most `most` bytes that ends between characters.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// snprintf's contract: writes what fits and a NUL, returns the whole length without the NUL.
///
/// # Safety
/// `buf` is NULL or points to `cap` writable bytes.
pub(super) unsafe fn write_text(text: &str, buf: *mut c_char, cap: usize) -> usize {
    if !buf.is_null() && cap > 0 {
        let part = cut(text, cap - 1);
        // SAFETY: part.len() < cap bytes are writable, and so is the one after them.
        unsafe {
            ptr::copy_nonoverlapping(part.as_ptr(), buf.cast::<u8>(), part.len());
            buf.add(part.len()).write(0);
        }
    }
    text.len()
}

/// Progress as C has it.
pub(super) fn progress(p: &Progress) -> prove_progress {
    let [queued_ns, loading_ns, witness_ns, device_ns, finish_ns] = p.stage_ns;
    prove_progress {
        struct_size: size_of::<prove_progress>() as u32,
        stage: p.stage as u32,
        permille: p.permille,
        partitions: p.partitions,
        partitions_done: p.partitions_done,
        queue_position: p.queue_position,
        device: p.device,
        reserved0: 0,
        queued_ns,
        loading_ns,
        witness_ns,
        device_ns,
        finish_ns,
        total_ns: p.total_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("äöü", 5), "äö");
        assert_eq!(cut("ä", 1), "");
        let mut field = [0 as c_char; 4];
        put_text(&mut field, "a\0äz");
        assert_eq!(field.map(|c| c as u8), [b'a', b' ', 0, 0]);
    }

    #[test]
    fn snprintf_contract() {
        let mut buf = [7 as c_char; 4];
        let p = buf.as_mut_ptr();
        // SAFETY: the buffer has four bytes.
        unsafe {
            assert_eq!(write_text("hello", ptr::null_mut(), 0), 5);
            assert_eq!(write_text("hello", p, 0), 5);
            assert_eq!(buf[0], 7);
            assert_eq!(write_text("hello", p, 3), 5);
        }
        assert_eq!(buf.map(|c| c as u8), [b'h', b'e', 0, 7]);
    }

    #[test]
    fn times() {
        assert_eq!(timeout("t", -1).unwrap(), None);
        assert_eq!(timeout("t", 0).unwrap(), Some(Duration::ZERO));
        assert_eq!(timeout("t", i64::MAX).unwrap(), Some(Duration::from_nanos(i64::MAX as u64)));
        for bad in [-2, i64::MIN] {
            assert_eq!(timeout("t", bad).unwrap_err().code, Code::InvalidArgument);
        }
    }
}
