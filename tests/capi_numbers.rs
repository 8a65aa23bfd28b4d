//! Every number of the C surface, and the names of statuses. Nothing here ever changes; versions append.

use std::ffi::CStr;
use std::mem::offset_of;

use splitprove::capi::*;
use splitprove::engine::{Priority, Stage};
use splitprove::error::Code;
use splitprove::proofs::Kind;

const NUMBERS: &[(i64, i64)] = &[
    (PROVER_OK as i64, 0),
    (PROVER_PENDING as i64, 1),
    (PROVER_ERR_BUSY as i64, -1),
    (PROVER_ERR_TIMEOUT as i64, -2),
    (PROVER_ERR_CANCELLED as i64, -3),
    (PROVER_ERR_SHUTDOWN as i64, -4),
    (PROVER_ERR_INVALID_ARGUMENT as i64, -20),
    (PROVER_ERR_INVALID_HANDLE as i64, -21),
    (PROVER_ERR_ABI_MISMATCH as i64, -22),
    (PROVER_ERR_BUFFER_TOO_SMALL as i64, -23),
    (PROVER_ERR_MALFORMED_INPUT as i64, -24),
    (PROVER_ERR_UNSUPPORTED as i64, -25),
    (PROVER_ERR_ID_CONFLICT as i64, -26),
    (PROVER_ERR_TOO_LARGE as i64, -27),
    (PROVER_ERR_UNSATISFIED as i64, -28),
    (PROVER_ERR_PROOF_INVALID as i64, -29),
    (PROVER_ERR_PARAMS_NOT_FOUND as i64, -40),
    (PROVER_ERR_PARAMS_CORRUPT as i64, -41),
    (PROVER_ERR_PARAMS_INSECURE as i64, -42),
    (PROVER_ERR_IO as i64, -43),
    (PROVER_ERR_OUT_OF_MEMORY as i64, -44),
    (PROVER_ERR_NO_DEVICE as i64, -45),
    (PROVER_ERR_DEVICE as i64, -46),
    (PROVER_ERR_SELF_CHECK as i64, -60),
    (PROVER_ERR_PANIC as i64, -61),
    (PROVER_ERR_INTERNAL as i64, -62),
    (PROVE_POREP as i64, 1),
    (PROVE_SNAP as i64, 2),
    (PROVE_WINDOW_POST as i64, 3),
    (PROVE_WINNING_POST as i64, 4),
    (PROVE_PRIORITY_BY_KIND as i64, 0),
    (PROVE_PRIORITY_LOW as i64, 1),
    (PROVE_PRIORITY_NORMAL as i64, 2),
    (PROVE_PRIORITY_HIGH as i64, 3),
    (PROVE_PRIORITY_CRITICAL as i64, 4),
    (PROVE_STAGE_QUEUED as i64, 1),
    (PROVE_STAGE_LOADING as i64, 2),
    (PROVE_STAGE_WITNESS as i64, 3),
    (PROVE_STAGE_DEVICE as i64, 4),
    (PROVE_STAGE_FINISHING as i64, 5),
    (PROVE_STAGE_DONE as i64, 6),
    (PROVER_BUFFER_REQUEST as i64, 1),
    (PROVER_BUFFER_WITNESS as i64, 2),
    (PROVER_BUFFER_EVALUATIONS as i64, 3),
    (PROVER_BUFFER_PARAMS as i64, 4),
    (PROVER_BUFFER_PINNED as i64, 5),
    (PROVER_BUFFER_DEVICE as i64, 6),
    (PROVER_NO_GPU as i64, 1),
    (PROVER_NO_SELF_CHECK as i64, 2),
    (PROVER_ALLOW_INSECURE_PARAMS as i64, 4),
    (PROVER_ISOLATED as i64, 8),
    (PROVER_VERSION_NUMBER as i64, 1000),
    (PROVER_FEATURE_AVX512_IFMA as i64, 1),
    (PROVER_FEATURE_CUDA as i64, 2),
    (PROVER_LOG_OFF as i64, 0),
    (PROVER_LOG_ERROR as i64, 1),
    (PROVER_LOG_WARN as i64, 2),
    (PROVER_LOG_INFO as i64, 3),
    (PROVER_LOG_DEBUG as i64, 4),
    (PROVER_LOG_TRACE as i64, 5),
];

#[test]
fn constants_have_their_numbers() {
    for (i, (have, want)) in NUMBERS.iter().enumerate() {
        assert_eq!(have, want, "entry {i}");
    }
}

#[test]
fn fields_have_their_places() {
    assert_eq!(size_of::<prover>(), 8);
    assert_eq!(offset_of!(prover, id), 0);
    assert_eq!(size_of::<pending_proof>(), 8);
    assert_eq!(offset_of!(pending_proof, id), 0);
    assert_eq!(size_of::<prover_error>(), 344);
    assert_eq!(offset_of!(prover_error, struct_size), 0);
    assert_eq!(offset_of!(prover_error, code), 4);
    assert_eq!(offset_of!(prover_error, os_code), 8);
    assert_eq!(offset_of!(prover_error, retry_after_ns), 16);
    assert_eq!(offset_of!(prover_error, field), 24);
    assert_eq!(offset_of!(prover_error, message), 88);
    assert_eq!(size_of::<prover_options>(), 72);
    assert_eq!(offset_of!(prover_options, struct_size), 0);
    assert_eq!(offset_of!(prover_options, flags), 4);
    assert_eq!(offset_of!(prover_options, synthesis_threads), 8);
    assert_eq!(offset_of!(prover_options, cpu_threads), 12);
    assert_eq!(offset_of!(prover_options, queue_depth), 16);
    assert_eq!(offset_of!(prover_options, reserved0), 20);
    assert_eq!(offset_of!(prover_options, host_memory_limit), 24);
    assert_eq!(offset_of!(prover_options, pinned_memory_limit), 32);
    assert_eq!(offset_of!(prover_options, device_memory_limit), 40);
    assert_eq!(offset_of!(prover_options, params_dir), 48);
    assert_eq!(offset_of!(prover_options, circuit_cache_dir), 56);
    assert_eq!(offset_of!(prover_options, devices), 64);
    assert_eq!(size_of::<prove_request>(), 272);
    assert_eq!(offset_of!(prove_request, struct_size), 0);
    assert_eq!(offset_of!(prove_request, kind), 4);
    assert_eq!(offset_of!(prove_request, registered_proof), 8);
    assert_eq!(offset_of!(prove_request, priority), 12);
    assert_eq!(offset_of!(prove_request, partition_index), 16);
    assert_eq!(offset_of!(prove_request, vanilla_count), 20);
    assert_eq!(offset_of!(prove_request, miner_id), 24);
    assert_eq!(offset_of!(prove_request, sector_number), 32);
    assert_eq!(offset_of!(prove_request, vanilla), 40);
    assert_eq!(offset_of!(prove_request, vanilla_lens), 48);
    assert_eq!(offset_of!(prove_request, vanilla_len), 56);
    assert_eq!(offset_of!(prove_request, randomness), 64);
    assert_eq!(offset_of!(prove_request, comm_r_old), 96);
    assert_eq!(offset_of!(prove_request, comm_r_new), 128);
    assert_eq!(offset_of!(prove_request, comm_d_new), 160);
    assert_eq!(offset_of!(prove_request, deadline_ns), 192);
    assert_eq!(offset_of!(prove_request, tag), 200);
    assert_eq!(offset_of!(prove_request, request_id), 208);
    assert_eq!(size_of::<prove_progress>(), 80);
    assert_eq!(offset_of!(prove_progress, struct_size), 0);
    assert_eq!(offset_of!(prove_progress, stage), 4);
    assert_eq!(offset_of!(prove_progress, permille), 8);
    assert_eq!(offset_of!(prove_progress, partitions), 12);
    assert_eq!(offset_of!(prove_progress, partitions_done), 16);
    assert_eq!(offset_of!(prove_progress, queue_position), 20);
    assert_eq!(offset_of!(prove_progress, device), 24);
    assert_eq!(offset_of!(prove_progress, reserved0), 28);
    assert_eq!(offset_of!(prove_progress, queued_ns), 32);
    assert_eq!(offset_of!(prove_progress, loading_ns), 40);
    assert_eq!(offset_of!(prove_progress, witness_ns), 48);
    assert_eq!(offset_of!(prove_progress, device_ns), 56);
    assert_eq!(offset_of!(prove_progress, finish_ns), 64);
    assert_eq!(offset_of!(prove_progress, total_ns), 72);
    assert_eq!(size_of::<prover_event>(), 24);
    assert_eq!(offset_of!(prover_event, struct_size), 0);
    assert_eq!(offset_of!(prover_event, status), 4);
    assert_eq!(offset_of!(prover_event, proof), 8);
    assert_eq!(offset_of!(prover_event, tag), 16);
    assert_eq!(size_of::<prover_stats>(), 96);
    assert_eq!(offset_of!(prover_stats, struct_size), 0);
    assert_eq!(offset_of!(prover_stats, lanes), 4);
    assert_eq!(offset_of!(prover_stats, started), 8);
    assert_eq!(offset_of!(prover_stats, finished), 16);
    assert_eq!(offset_of!(prover_stats, failed), 24);
    assert_eq!(offset_of!(prover_stats, cancelled), 32);
    assert_eq!(offset_of!(prover_stats, rejected), 40);
    assert_eq!(offset_of!(prover_stats, queued), 48);
    assert_eq!(offset_of!(prover_stats, running), 56);
    assert_eq!(offset_of!(prover_stats, budget_bytes), 64);
    assert_eq!(offset_of!(prover_stats, budget_used_bytes), 72);
    assert_eq!(offset_of!(prover_stats, budget_peak_bytes), 80);
    assert_eq!(offset_of!(prover_stats, params_bytes), 88);
    assert_eq!(size_of::<prover_buffer_stats>(), 40);
    assert_eq!(offset_of!(prover_buffer_stats, struct_size), 0);
    assert_eq!(offset_of!(prover_buffer_stats, reserved0), 4);
    assert_eq!(offset_of!(prover_buffer_stats, count), 8);
    assert_eq!(offset_of!(prover_buffer_stats, bytes), 16);
    assert_eq!(offset_of!(prover_buffer_stats, peak_count), 24);
    assert_eq!(offset_of!(prover_buffer_stats, peak_bytes), 32);
    assert_eq!(size_of::<prover_capabilities>(), 24);
    assert_eq!(offset_of!(prover_capabilities, struct_size), 0);
    assert_eq!(offset_of!(prover_capabilities, features), 4);
    assert_eq!(offset_of!(prover_capabilities, cuda_runtime_version), 8);
    assert_eq!(offset_of!(prover_capabilities, cuda_driver_version), 12);
    assert_eq!(offset_of!(prover_capabilities, device_count), 16);
    assert_eq!(offset_of!(prover_capabilities, reserved0), 20);
    assert_eq!(size_of::<prover_log_record>(), 40);
    assert_eq!(offset_of!(prover_log_record, struct_size), 0);
    assert_eq!(offset_of!(prover_log_record, level), 4);
    assert_eq!(offset_of!(prover_log_record, unix_ns), 8);
    assert_eq!(offset_of!(prover_log_record, target), 16);
    assert_eq!(offset_of!(prover_log_record, message), 24);
    assert_eq!(offset_of!(prover_log_record, message_len), 32);
    assert_eq!(size_of::<prover_sector>(), 40);
    assert_eq!(offset_of!(prover_sector, sector_number), 0);
    assert_eq!(offset_of!(prover_sector, comm_r), 8);
    assert_eq!(size_of::<prover_public>(), 296);
    assert_eq!(offset_of!(prover_public, struct_size), 0);
    assert_eq!(offset_of!(prover_public, kind), 4);
    assert_eq!(offset_of!(prover_public, registered_proof), 8);
    assert_eq!(offset_of!(prover_public, sector_count), 12);
    assert_eq!(offset_of!(prover_public, miner_id), 16);
    assert_eq!(offset_of!(prover_public, sector_number), 24);
    assert_eq!(offset_of!(prover_public, ticket), 32);
    assert_eq!(offset_of!(prover_public, seed), 64);
    assert_eq!(offset_of!(prover_public, comm_d), 96);
    assert_eq!(offset_of!(prover_public, comm_r), 128);
    assert_eq!(offset_of!(prover_public, randomness), 160);
    assert_eq!(offset_of!(prover_public, comm_r_old), 192);
    assert_eq!(offset_of!(prover_public, comm_r_new), 224);
    assert_eq!(offset_of!(prover_public, comm_d_new), 256);
    assert_eq!(offset_of!(prover_public, sectors), 288);
}

#[test]
fn our_enums_have_the_headers_numbers() {
    let codes: Vec<i32> = Code::ALL.into_iter().map(|c| c as i32).collect();
    let header = [
        PROVER_ERR_BUSY,
        PROVER_ERR_TIMEOUT,
        PROVER_ERR_CANCELLED,
        PROVER_ERR_SHUTDOWN,
        PROVER_ERR_INVALID_ARGUMENT,
        PROVER_ERR_INVALID_HANDLE,
        PROVER_ERR_ABI_MISMATCH,
        PROVER_ERR_BUFFER_TOO_SMALL,
        PROVER_ERR_MALFORMED_INPUT,
        PROVER_ERR_UNSUPPORTED,
        PROVER_ERR_ID_CONFLICT,
        PROVER_ERR_TOO_LARGE,
        PROVER_ERR_UNSATISFIED,
        PROVER_ERR_PROOF_INVALID,
        PROVER_ERR_PARAMS_NOT_FOUND,
        PROVER_ERR_PARAMS_CORRUPT,
        PROVER_ERR_PARAMS_INSECURE,
        PROVER_ERR_IO,
        PROVER_ERR_OUT_OF_MEMORY,
        PROVER_ERR_NO_DEVICE,
        PROVER_ERR_DEVICE,
        PROVER_ERR_SELF_CHECK,
        PROVER_ERR_PANIC,
        PROVER_ERR_INTERNAL,
    ];
    assert_eq!(codes, header);
    let kinds = Kind::ALL.map(|k| k as u32);
    assert_eq!(kinds, [PROVE_POREP, PROVE_SNAP, PROVE_WINDOW_POST, PROVE_WINNING_POST]);
    let stages =
        [Stage::Queued, Stage::Loading, Stage::Witness, Stage::Device, Stage::Finishing, Stage::Done].map(|s| s as u32);
    assert_eq!(stages, [1, 2, 3, 4, 5, 6]);
    let priorities = [Priority::Low, Priority::Normal, Priority::High, Priority::Critical];
    for (number, priority) in (1..).zip(priorities) {
        assert_eq!(priority as u32, number);
        assert_eq!(Priority::from_number(number, Kind::Porep).unwrap(), priority);
    }
}

#[test]
fn statuses_have_names_and_texts() {
    // SAFETY: both functions give texts that end in NUL and live for ever.
    let name = |s| unsafe { CStr::from_ptr(prover_status_name(s)) }.to_str().unwrap();
    // SAFETY: as above.
    let text = |s| unsafe { CStr::from_ptr(prover_status_text(s)) }.to_str().unwrap();
    assert_eq!((name(0), name(1)), ("PROVER_OK", "PROVER_PENDING"));
    let snake = |code: Code| {
        let mut words = String::from("PROVER_ERR");
        for c in format!("{code:?}").chars() {
            if c.is_uppercase() {
                words.push('_');
            }
            words.push(c.to_ascii_uppercase());
        }
        words
    };
    for code in Code::ALL {
        assert_eq!(name(code as i32), snake(code));
        assert!(!text(code as i32).is_empty());
    }
    for none in [2, -5, -19, -30, -47, -63, i32::MIN, i32::MAX] {
        assert_eq!(name(none), "PROVER_STATUS_UNKNOWN");
        assert!(!text(none).is_empty());
    }
    // SAFETY: as above.
    let version = unsafe { CStr::from_ptr(prover_version_string()) }.to_str().unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(prover_version_number(), PROVER_VERSION_NUMBER);
}
