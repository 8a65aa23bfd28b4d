//! Wrong calls: every one is a status and a field, none a crash.

mod capi_support;

use std::ffi::{c_char, CString};
use std::ptr;

use capi_support::*;
use splitprove::capi::*;

const BYTES: &[u8] = b"no vanilla proof";

/// An engine that ends with the test.
struct Owned(prover);

impl Owned {
    fn new() -> Self {
        Owned(create(&small()))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        assert_eq!(prover_destroy(self.0), PROVER_OK);
    }
}

fn created(o: *const prover_options) -> Said {
    let mut p = prover { id: 77 };
    // SAFETY: the options are NULL or of a living value.
    let said = said(|err| unsafe { prover_create(o, &mut p, err) });
    assert_eq!(p.id == 77, said.status != PROVER_OK, "written on success only");
    if said.status == PROVER_OK {
        assert_eq!(prover_destroy(p), PROVER_OK);
    }
    said
}

#[test]
fn options() {
    assert_eq!(created(ptr::null()).status, PROVER_OK);
    // SAFETY: NULL is what is tested.
    fails(said(|err| unsafe { prover_create(&small(), ptr::null_mut(), err) }), PROVER_ERR_INVALID_ARGUMENT, "out");
    // SAFETY: as above; a NULL error is allowed.
    assert_eq!(unsafe { prover_create(&small(), ptr::null_mut(), ptr::null_mut()) }, PROVER_ERR_INVALID_ARGUMENT);

    let with = |change: &dyn Fn(&mut prover_options)| {
        let mut o = small();
        change(&mut o);
        created(&o)
    };
    for size in [0, 1, 4, 7] {
        fails(with(&|o| o.struct_size = size), PROVER_ERR_INVALID_ARGUMENT, "struct_size");
    }
    for size in [5000, 0xdead_beef, u32::MAX] {
        fails(with(&|o| o.struct_size = size), PROVER_ERR_ABI_MISMATCH, "struct_size");
    }
    for bits in [16, 1 << 31, 0xaaaa_aaaa, u32::MAX] {
        fails(with(&|o| o.flags = bits), PROVER_ERR_INVALID_ARGUMENT, "flags");
    }
    fails(with(&|o| o.flags = PROVER_ISOLATED), PROVER_ERR_UNSUPPORTED, "flags");
    fails(with(&|o| o.reserved0 = 1), PROVER_ERR_ABI_MISMATCH, "reserved0");
    fails(with(&|o| o.synthesis_threads = u32::MAX), PROVER_ERR_INVALID_ARGUMENT, "synthesis_threads");
    fails(with(&|o| o.cpu_threads = 1025), PROVER_ERR_INVALID_ARGUMENT, "cpu_threads");
    let empty = c"".as_ptr();
    fails(with(&|o| o.params_dir = empty), PROVER_ERR_INVALID_ARGUMENT, "params_dir");
    fails(with(&|o| o.circuit_cache_dir = empty), PROVER_ERR_INVALID_ARGUMENT, "circuit_cache_dir");
    fails(with(&|o| o.devices = empty), PROVER_ERR_INVALID_ARGUMENT, "devices");
    fails(with(&|o| o.devices = c"0,,1".as_ptr()), PROVER_ERR_INVALID_ARGUMENT, "devices");
    fails(with(&|o| o.devices = c"\xff\xfe".as_ptr()), PROVER_ERR_INVALID_ARGUMENT, "devices");
    // A struct cut after the thread counts: what is not there is the default, whatever lies behind.
    assert_eq!(
        with(&|o| {
            o.struct_size = 16;
            o.reserved0 = u32::MAX;
            o.params_dir = empty;
        })
        .status,
        PROVER_OK
    );
}

#[test]
fn a_longer_struct_may_have_a_tail_of_zeros() {
    #[repr(C)]
    struct Longer {
        options: prover_options,
        tail: [u8; 24],
    }
    let mut longer = Longer { options: small(), tail: [0; 24] };
    longer.options.struct_size = size_of::<Longer>() as u32;
    assert_eq!(created((&raw const longer).cast()).status, PROVER_OK);
    longer.tail[23] = 1;
    fails(created((&raw const longer).cast()), PROVER_ERR_ABI_MISMATCH, "options");

    #[repr(C)]
    struct LongerRequest {
        request: prove_request,
        tail: [u8; 8],
    }
    let p = Owned::new();
    let mut longer = LongerRequest { request: request(BYTES), tail: [0; 8] };
    longer.request.struct_size = size_of::<LongerRequest>() as u32;
    let mut proof = pending_proof { id: 0 };
    // SAFETY: the struct has as many bytes as it says.
    let started = said(|err| unsafe { prove_start(p.0, (&raw const longer).cast(), &mut proof, err) });
    assert_eq!(started.status, PROVER_OK, "{started:?}");
    assert_eq!(drop_pending_proof(proof), PROVER_OK);
    longer.tail[0] = 1;
    // SAFETY: as above.
    let started = said(|err| unsafe { prove_start(p.0, (&raw const longer).cast(), &mut proof, err) });
    fails(started, PROVER_ERR_ABI_MISMATCH, "request");
}

#[test]
fn requests() {
    let p = Owned::new();
    let with = |change: &dyn Fn(&mut prove_request)| {
        let mut r = request(BYTES);
        change(&mut r);
        start(p.0, &r).expect_err("a wrong request")
    };
    let wrong = |field: &str, change: &dyn Fn(&mut prove_request)| {
        fails(with(change), PROVER_ERR_INVALID_ARGUMENT, field);
    };
    wrong("struct_size", &|r| r.struct_size = 0);
    wrong("struct_size", &|r| r.struct_size = 7);
    fails(with(&|r| r.struct_size = 1 << 30), PROVER_ERR_ABI_MISMATCH, "struct_size");
    for kind in [0, 5, u32::MAX] {
        wrong("kind", &|r| r.kind = kind);
    }
    for (kind, number) in [(PROVE_POREP, 20), (PROVE_SNAP, 5), (PROVE_WINDOW_POST, 0), (PROVE_WINNING_POST, 5)] {
        wrong("registered_proof", &|r| {
            r.kind = kind;
            r.registered_proof = number;
        });
    }
    for priority in [5, u32::MAX] {
        wrong("priority", &|r| r.priority = priority);
    }
    wrong("vanilla_count", &|r| r.vanilla_count = 0);
    wrong("vanilla_count", &|r| r.vanilla_count = 2);
    wrong("vanilla", &|r| r.vanilla = ptr::null());
    wrong("vanilla_len", &|r| r.vanilla_len = 0);
    wrong("deadline_ns", &|r| r.deadline_ns = -1);
    wrong("deadline_ns", &|r| r.deadline_ns = i64::MIN);
    wrong("request_id", &|r| r.request_id = [b'x' as c_char; 64]);
    wrong("request_id", &|r| r.request_id[0] = 0xffu8 as c_char);
    // Cut before vanilla_len: no bytes.
    wrong("vanilla_len", &|r| r.struct_size = 56);

    let lens = [4u64, 12];
    let two = |r: &mut prove_request, lens: &[u64]| {
        r.kind = PROVE_WINDOW_POST;
        r.registered_proof = 5;
        r.vanilla_count = lens.len() as u32;
        r.vanilla_lens = lens.as_ptr();
    };
    let mut good = request(BYTES);
    two(&mut good, &lens);
    assert_eq!(drop_pending_proof(start(p.0, &good).unwrap()), PROVER_OK);
    wrong("vanilla_lens", &|r| {
        two(r, &lens);
        r.vanilla_lens = ptr::null();
    });
    for lens in [[4u64, 11], [0, 16], [u64::MAX, 17], [16, 0]] {
        wrong("vanilla_lens", &|r| two(r, &lens));
    }
    // A list so long cannot be for 16 bytes; it is not looked at.
    wrong("vanilla_len", &|r| {
        two(r, &lens);
        r.vanilla_count = u32::MAX;
    });
    wrong("vanilla_lens", &|r| {
        two(r, &lens);
        r.vanilla_lens = ptr::dangling::<u8>().cast();
    });
    fails(with(&|r| r.vanilla_len = u64::MAX), PROVER_ERR_TOO_LARGE, "vanilla_len");
    fails(with(&|r| r.vanilla_len = 1 << 50), PROVER_ERR_TOO_LARGE, "vanilla_len");

    let mut tight = small();
    tight.host_memory_limit = BYTES.len() as u64 - 1;
    let tight = create(&tight);
    fails(start(tight, &request(BYTES)).unwrap_err(), PROVER_ERR_TOO_LARGE, "vanilla_len");
    assert_eq!(prover_destroy(tight), PROVER_OK);

    // SAFETY: NULL is what is tested.
    let none = said(|err| unsafe { prove_start(p.0, ptr::null(), &mut pending_proof { id: 0 }, err) });
    fails(none, PROVER_ERR_INVALID_ARGUMENT, "request");
    // SAFETY: as above.
    let none = said(|err| unsafe { prove_start(p.0, &request(BYTES), ptr::null_mut(), err) });
    fails(none, PROVER_ERR_INVALID_ARGUMENT, "out");
    assert_eq!(stats(p.0).queued + stats(p.0).running, 0);
}

#[test]
fn what_is_wrong_inside_comes_later_with_its_field() {
    let p = Owned::new();
    let proof = start(p.0, &request(BYTES)).unwrap();
    let code = prove_wait(proof, -1);
    assert!(code < 0);
    let (status, progress) = poll(proof);
    assert_eq!((status, progress.stage), (code, PROVE_STAGE_DONE));
    assert_eq!(event(p.0).unwrap().status, code);
    let said = finish(proof).unwrap_err();
    assert_eq!((said.status, said.code), (code, code));
    assert!(!said.field.is_empty() && !said.message.is_empty(), "{said:?}");
    assert_eq!(finish(proof).unwrap_err().status, PROVER_ERR_INVALID_HANDLE);
}

#[test]
fn handles() {
    let p = Owned::new();
    let proof = start(p.0, &request(BYTES)).unwrap();
    let ended = start(p.0, &request(BYTES)).unwrap();
    assert_eq!(drop_pending_proof(ended), PROVER_OK);
    let gone = create(&small());
    assert_eq!(prover_destroy(gone), PROVER_OK);

    assert_eq!(prover_destroy(prover { id: 0 }), PROVER_OK);
    assert_eq!(drop_pending_proof(pending_proof { id: 0 }), PROVER_OK);

    let ids = [1, 2, 1 << 31, 1 << 32, u64::MAX, 0xdead_beef_dead_beef];
    let invented =
        |real: u64| ids.into_iter().chain([real ^ 1 << 32, real ^ 1 << 63, real ^ 1 << 31, real + (1 << 20)]);
    for id in invented(p.0.id).chain([gone.id, proof.id, ended.id]) {
        let q = prover { id };
        assert_eq!(prover_destroy(q), PROVER_ERR_INVALID_HANDLE, "{id:#x}");
        not_a_prover(q);
    }
    not_a_prover(prover { id: 0 });
    for id in invented(proof.id).chain([gone.id, p.0.id, ended.id]) {
        let q = pending_proof { id };
        assert_eq!(drop_pending_proof(q), PROVER_ERR_INVALID_HANDLE, "{id:#x}");
        not_a_proof(q);
    }
    not_a_proof(pending_proof { id: 0 });
    assert_eq!(drop_pending_proof(proof), PROVER_OK);
}

fn not_a_prover(p: prover) {
    let (mut proof, mut freed) = (pending_proof { id: 0 }, 0);
    let public = public();
    let mut text = [1 as c_char; 8];
    // SAFETY: all pointers are of living values.
    unsafe {
        fails(said(|err| prove_start(p, &request(BYTES), &mut proof, err)), PROVER_ERR_INVALID_HANDLE, "p");
        fails(said(|err| prover_verify(p, &public, [0].as_ptr(), 1, err)), PROVER_ERR_INVALID_HANDLE, "p");
        fails(said(|err| prover_self_test(p, err)), PROVER_ERR_INVALID_HANDLE, "p");
        fails(said(|err| prover_trace_start(p, c"x".as_ptr(), err)), PROVER_ERR_INVALID_HANDLE, "p");
        fails(said(|err| prover_params_load(p, 1, 0, &mut proof, err)), PROVER_ERR_INVALID_HANDLE, "p");
        assert_eq!(prover_params_evict(p, 1, 0, &mut freed), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_trace_stop(p), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_drain(p, 0), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_stats_get(p, &mut sized!(prover_stats)), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_buffer_stats_get(p, 1, 0, &mut sized!(prover_buffer_stats)), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_next_event(p, &mut sized!(prover_event)), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_event_fd(p), PROVER_ERR_INVALID_HANDLE);
        assert_eq!(prover_status_json(p, text.as_mut_ptr(), text.len()), 0);
        assert_eq!(text[0], 0);
        assert_eq!(prover_metrics_text(p, ptr::null_mut(), 0), 0);
    }
}

fn not_a_proof(proof: pending_proof) {
    assert_eq!(poll(proof).0, PROVER_ERR_INVALID_HANDLE);
    assert_eq!(prove_wait(proof, 0), PROVER_ERR_INVALID_HANDLE);
    assert_eq!(prove_wait(proof, -1), PROVER_ERR_INVALID_HANDLE);
    assert_eq!(prove_cancel(proof), PROVER_ERR_INVALID_HANDLE);
    fails(finish(proof).unwrap_err(), PROVER_ERR_INVALID_HANDLE, "proof");
}

#[test]
fn times_and_pointers() {
    let p = Owned::new();
    let proof = start(p.0, &request(BYTES)).unwrap();
    prove_wait(proof, -1);
    for ns in [-2, i64::MIN] {
        assert_eq!(prove_wait(proof, ns), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(prover_drain(p.0, ns), PROVER_ERR_INVALID_ARGUMENT);
    }
    let (mut len, mut buf) = (7usize, [0u8; 8]);
    let mut small_progress = sized!(prove_progress);
    small_progress.struct_size = 4;
    // SAFETY: pointers are NULL or of living values.
    unsafe {
        assert_eq!(prove_poll(proof, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(prove_poll(proof, &mut small_progress), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(prover_stats_get(p.0, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(prover_next_event(p.0, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(prover_capabilities_get(ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        let finish = |buf, cap, len, timings| said(|err| finish_pending_proof(proof, buf, cap, len, timings, err));
        let none = ptr::null_mut();
        fails(finish(buf.as_mut_ptr(), 8, ptr::null_mut(), none), PROVER_ERR_INVALID_ARGUMENT, "len");
        fails(finish(ptr::null_mut(), 8, &mut len, none), PROVER_ERR_INVALID_ARGUMENT, "buf");
        fails(finish(buf.as_mut_ptr(), 8, &mut len, &mut small_progress), PROVER_ERR_INVALID_ARGUMENT, "struct_size");
        assert_eq!(len, 7);
        // None of them ended the handle.
        assert!(prove_wait(proof, 0) < 0 && prove_wait(proof, 0) != PROVER_ERR_INVALID_HANDLE);
        let code = prove_wait(proof, 0);
        assert_eq!(finish(buf.as_mut_ptr(), 8, &mut len, none).status, code);
    }
    assert_eq!(len, 0);
    not_a_proof(proof);
}

#[test]
fn out_structs_are_written_up_to_their_size() {
    let p = Owned::new();
    for size in [8usize, 12, 24, 40, 96] {
        let mut s = sized!(prover_stats);
        // SAFETY: bytes are a value.
        unsafe { ptr::write_bytes((&raw mut s).cast::<u8>(), 0xa5, size_of::<prover_stats>()) };
        s.struct_size = size as u32;
        // SAFETY: the pointer is of a living value.
        assert_eq!(unsafe { prover_stats_get(p.0, &mut s) }, PROVER_OK);
        // SAFETY: the struct has no padding.
        let bytes: [u8; size_of::<prover_stats>()] = unsafe { std::mem::transmute(s) };
        assert_eq!(s.struct_size, size as u32, "the caller's size stays");
        assert_eq!(s.lanes, 1);
        assert!(bytes[size..].iter().all(|b| *b == 0xa5), "{size}");
        assert!(size < 16 || bytes[8..16].iter().all(|b| *b == 0));
    }
    // An error cut inside its texts has whole texts; one without room for any field is left alone.
    for size in [0usize, 4, 7, 8, 24, 25, 26, 30, 88, 89, 100] {
        let mut err = sized!(prover_error);
        // SAFETY: bytes are a value.
        unsafe { ptr::write_bytes((&raw mut err).cast::<u8>(), 0xa5, size_of::<prover_error>()) };
        err.struct_size = size as u32;
        // SAFETY: the pointers are NULL or of living values.
        assert_eq!(unsafe { prover_create(&small(), ptr::null_mut(), &mut err) }, PROVER_ERR_INVALID_ARGUMENT);
        // SAFETY: the struct has no padding.
        let bytes: [u8; size_of::<prover_error>()] = unsafe { std::mem::transmute(err) };
        assert!(bytes[size.max(4)..].iter().all(|b| *b == 0xa5), "{size}");
        if size >= 8 {
            assert_eq!(err.code, PROVER_ERR_INVALID_ARGUMENT);
            for (start, end, whole) in [(24, 88, "out"), (88, 344, "out is NULL")] {
                let text = &bytes[start.min(size)..end.min(size)];
                let want = &whole[..whole.len().min(text.len().saturating_sub(1))];
                assert_eq!(text.split(|b| *b == 0).next().unwrap(), want.as_bytes(), "{size}");
                assert!(text.is_empty() || text.contains(&0));
            }
        }
    }
}

#[test]
fn long_texts_are_cut_between_characters() {
    let long = CString::new(format!("{}ß", "ä".repeat(400))).unwrap();
    let mut o = small();
    let list = CString::new(format!(",{}", long.to_str().unwrap())).unwrap();
    o.devices = list.as_ptr();
    let said = created(&o);
    fails(said.clone(), PROVER_ERR_INVALID_ARGUMENT, "devices");
    assert!((253..=255).contains(&said.message.len()), "{}", said.message.len());
}

#[test]
fn texts_follow_snprintf() {
    let p = Owned::new();
    // SAFETY: NULL asks for the length.
    let len = unsafe { prover_status_json(p.0, ptr::null_mut(), 0) };
    assert!(len > 50);
    for cap in [0, 1, 2, 20, len, len + 1, len + 100] {
        let mut buf = vec![0xa5u8; len + 200];
        // SAFETY: the buffer has more than `cap` bytes.
        let again = unsafe { prover_status_json(p.0, buf.as_mut_ptr().cast(), cap) };
        // The budget is what the machine has free, which may have changed its number of digits.
        assert!(again.abs_diff(len) <= 2);
        let end = buf.iter().position(|b| *b == 0xa5).unwrap();
        assert_eq!(end, cap.min(again + 1));
        assert!(end == 0 || buf[end - 1] == 0);
        if cap > again {
            let json: serde_json::Value = serde_json::from_slice(&buf[..end - 1]).unwrap();
            assert_eq!((json["version"].as_str(), json["lanes"].as_u64()), (Some("0.1.0"), Some(1)));
        }
    }
}

/// More threads than the machine has use for are not started, so that creating and destroying take no longer.
#[test]
fn threads_are_started_up_to_a_limit() {
    let mut o = small();
    o.synthesis_threads = 1024;
    o.cpu_threads = 1000;
    let began = std::time::Instant::now();
    let p = create(&o);
    let cores = std::thread::available_parallelism().unwrap().get();
    let pools = 2 * (4 * cores).max(64);
    let ours = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok())
        .filter(|name| name.starts_with("splitprove-syn") || name.starts_with("splitprove-cpu"))
        .count();
    // Tests beside this one in its process have small engines of their own.
    assert!((pools..pools + 40).contains(&ours), "{ours} threads, {pools} expected");
    assert_eq!(prover_destroy(p), PROVER_OK);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

#[test]
fn a_folders_name_that_is_no_text_is_still_json() {
    let mut o = small();
    o.params_dir = c"/tmp/\xff\xfe\"quoted\"\\\x01\n\xe2\x82".as_ptr();
    let p = create(&o);
    let mut buf = vec![0u8; 4096];
    // SAFETY: the buffer has 4096 bytes.
    let len = unsafe { prover_status_json(p, buf.as_mut_ptr().cast(), buf.len()) };
    let json: serde_json::Value = serde_json::from_str(std::str::from_utf8(&buf[..len]).unwrap()).unwrap();
    assert_eq!(json["params_dir"], "/tmp/\u{fffd}\u{fffd}\"quoted\"\\\u{1}\n\u{fffd}");
    // A text cut anywhere is still UTF-8.
    for cap in 1..len {
        // SAFETY: the buffer has more than `cap` bytes.
        unsafe { prover_status_json(p, buf.as_mut_ptr().cast(), cap) };
        assert!(std::ffi::CStr::from_bytes_until_nul(&buf).unwrap().to_str().is_ok(), "{cap}");
    }
    assert_eq!(prover_destroy(p), PROVER_OK);
}

/// This version proves on the CPU alone.
#[test]
fn capabilities_are_those_of_a_machine_without_devices() {
    let mut caps = sized!(prover_capabilities);
    (caps.device_count, caps.cuda_runtime_version, caps.cuda_driver_version, caps.reserved0) = (7, 7, 7, 7);
    // SAFETY: the pointer is of a living value.
    assert_eq!(unsafe { prover_capabilities_get(&mut caps) }, PROVER_OK);
    assert_eq!((caps.device_count, caps.cuda_runtime_version, caps.cuda_driver_version, caps.reserved0), (0, 0, 0, 0));
    assert_eq!(caps.features & PROVER_FEATURE_CUDA != 0, cfg!(feature = "cuda"));
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let ifma = ["avx512f", "avx512ifma"].iter().all(|f| flags.split(' ').any(|g| g == *f));
    assert_eq!(caps.features & PROVER_FEATURE_AVX512_IFMA != 0, ifma);
    assert_eq!(caps.features & !(PROVER_FEATURE_CUDA | PROVER_FEATURE_AVX512_IFMA), 0);
}

#[test]
fn what_is_not_offered_says_so() {
    let p = Owned::new();
    let mut proof = pending_proof { id: 0 };
    // SAFETY: pointers are NULL or of living values.
    unsafe {
        fails(said(|err| prover_trace_start(p.0, c"/no/such/folder/x".as_ptr(), err)), PROVER_ERR_IO, "path");
        fails(said(|err| prover_trace_start(p.0, ptr::null(), err)), PROVER_ERR_INVALID_ARGUMENT, "path");
        fails(said(|err| prover_trace_start(p.0, c"".as_ptr(), err)), PROVER_ERR_INVALID_ARGUMENT, "path");
        assert_eq!(prover_trace_stop(p.0), PROVER_ERR_INVALID_ARGUMENT);
        assert_eq!(said(|err| prover_self_test(p.0, err)).status, PROVER_OK);
        fails(said(|err| prover_params_load(p.0, 9, 0, &mut proof, err)), PROVER_ERR_INVALID_ARGUMENT, "kind");
        fails(
            said(|err| prover_params_load(p.0, 2, 9, &mut proof, err)),
            PROVER_ERR_INVALID_ARGUMENT,
            "registered_proof",
        );
        fails(said(|err| prover_params_load(p.0, 1, 0, ptr::null_mut(), err)), PROVER_ERR_INVALID_ARGUMENT, "out");
        assert_eq!(proof.id, 0);
        assert_eq!(prover_params_evict(p.0, 1, 0, ptr::null_mut()), PROVER_OK, "nothing is loaded, so nothing goes");
        assert_eq!(prover_params_evict(p.0, 0, 0, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        let mut b = sized!(prover_buffer_stats);
        assert_eq!(prover_buffer_stats_get(p.0, 1, 0, &mut b), PROVER_OK);
        for (buffer, stage) in [(0, 0), (7, 0), (1, 7), (u32::MAX, u32::MAX)] {
            assert_eq!(prover_buffer_stats_get(p.0, buffer, stage, &mut b), PROVER_ERR_INVALID_ARGUMENT);
        }
        assert_eq!(prover_buffer_stats_get(p.0, 1, 0, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
        assert!(prover_metrics_text(p.0, ptr::null_mut(), 0) > 1000);
        assert_eq!(prover_set_log(6, None, ptr::null_mut()), PROVER_ERR_INVALID_ARGUMENT);
    }
}

fn public() -> prover_public {
    let mut public = sized!(prover_public);
    public.kind = PROVE_POREP;
    public
}

#[test]
fn statements() {
    let p = Owned::new();
    let proof = [0u8; 192];
    // SAFETY: pointers are NULL, dangling where they are not looked at, or of living values.
    let verify = |what: *const prover_public, proof: *const u8, len| {
        // SAFETY: each case passes NULL or what it names.
        said(|err| unsafe { prover_verify(p.0, what, proof, len, err) })
    };
    fails(verify(ptr::null(), proof.as_ptr(), 192), PROVER_ERR_INVALID_ARGUMENT, "what");
    fails(verify(&public(), ptr::null(), 0), PROVER_ERR_INVALID_ARGUMENT, "proof");
    fails(verify(&public(), proof.as_ptr(), usize::MAX), PROVER_ERR_INVALID_ARGUMENT, "proof");
    let with = |change: &dyn Fn(&mut prover_public)| {
        let mut public = public();
        change(&mut public);
        verify(&public, proof.as_ptr(), 192)
    };
    fails(with(&|w| w.kind = 0), PROVER_ERR_INVALID_ARGUMENT, "kind");
    fails(with(&|w| w.struct_size = 0), PROVER_ERR_INVALID_ARGUMENT, "struct_size");
    fails(with(&|w| w.struct_size = 1 << 20), PROVER_ERR_ABI_MISMATCH, "struct_size");
    for kind in [PROVE_WINDOW_POST, PROVE_WINNING_POST] {
        fails(with(&|w| w.kind = kind), PROVER_ERR_INVALID_ARGUMENT, "sector_count");
        fails(
            with(&|w| {
                w.kind = kind;
                w.sector_count = 2;
            }),
            PROVER_ERR_INVALID_ARGUMENT,
            "sectors",
        );
    }
    // The parameters' folder has none.
    assert!(with(&|_| ()).status < 0);
}
