//! The structs and numbers of the header.
//!
//! Every struct is free of padding, so that all its bytes are initialised and a copy of them is a copy of the value.
//! Fields are only ever appended.

use std::ffi::{c_char, c_void};

/// The version this header belongs to: major * 1000000 + minor * 1000 + patch. Compare with prover_version_number()
/// before the first call: a library older than the header may lack functions.
pub const PROVER_VERSION_NUMBER: u32 = 1000;

/// A proving engine: an id in a table, never an address. id 0 is "none". Made by prover_create, ended by
/// prover_destroy; a stale or invented one is PROVER_ERR_INVALID_HANDLE.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct prover {
    pub id: u64,
}

/// A proof that was started: an id in a table, never an address. id 0 is "none". Made by prove_start, ended by
/// finish_pending_proof or drop_pending_proof; it outlives its prover.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct pending_proof {
    pub id: u64,
}

/// How a call ended: 0 done, above 0 not a failure, below 0 a failure, in bands by what the caller does next. Numbers
/// are never reused.
pub type prover_status = i32;

/// Done.
pub const PROVER_OK: prover_status = 0;
/// Not done yet; no failure.
pub const PROVER_PENDING: prover_status = 1;

/// -1 to -19, try again or elsewhere. The queue is full: try again after retry_after_ns.
pub const PROVER_ERR_BUSY: prover_status = -1;
/// The time given, or the proof's deadline, was over first.
pub const PROVER_ERR_TIMEOUT: prover_status = -2;
/// The proof was cancelled.
pub const PROVER_ERR_CANCELLED: prover_status = -3;
/// The prover is draining or was destroyed.
pub const PROVER_ERR_SHUTDOWN: prover_status = -4;

/// -20 to -39, the call or its input is wrong. An argument is wrong; field names it.
pub const PROVER_ERR_INVALID_ARGUMENT: prover_status = -20;
/// The handle is stale, ended, invented or of another kind.
pub const PROVER_ERR_INVALID_HANDLE: prover_status = -21;
/// A struct from a newer header sets what this library does not know.
pub const PROVER_ERR_ABI_MISMATCH: prover_status = -22;
/// The buffer is too small; the length says how much is needed.
pub const PROVER_ERR_BUFFER_TOO_SMALL: prover_status = -23;
/// The input's bytes are not what they should be; field names the place.
pub const PROVER_ERR_MALFORMED_INPUT: prover_status = -24;
/// Not offered by this version.
pub const PROVER_ERR_UNSUPPORTED: prover_status = -25;
/// The request id is in use for another input.
pub const PROVER_ERR_ID_CONFLICT: prover_status = -26;
/// The request can never fit into the memory given.
pub const PROVER_ERR_TOO_LARGE: prover_status = -27;
/// The input does not satisfy its circuit.
pub const PROVER_ERR_UNSATISFIED: prover_status = -28;
/// The proof does not verify.
pub const PROVER_ERR_PROOF_INVALID: prover_status = -29;

/// -40 to -59, the machine lacks or broke something. A parameter file is not there.
pub const PROVER_ERR_PARAMS_NOT_FOUND: prover_status = -40;
/// A parameter file's content is wrong.
pub const PROVER_ERR_PARAMS_CORRUPT: prover_status = -41;
/// Parameters that Filecoin does not know, for 32 or 64 GiB.
pub const PROVER_ERR_PARAMS_INSECURE: prover_status = -42;
/// The system refused a read, a write or another call; os_code says why.
pub const PROVER_ERR_IO: prover_status = -43;
/// Memory could not be had.
pub const PROVER_ERR_OUT_OF_MEMORY: prover_status = -44;
/// There is no device to prove on.
pub const PROVER_ERR_NO_DEVICE: prover_status = -45;
/// A device failed.
pub const PROVER_ERR_DEVICE: prover_status = -46;

/// -60 and below, ours: report it. A finished proof did not verify against its own key.
pub const PROVER_ERR_SELF_CHECK: prover_status = -60;
/// A panic was caught.
pub const PROVER_ERR_PANIC: prover_status = -61;
/// Another fault of the library's own.
pub const PROVER_ERR_INTERNAL: prover_status = -62;

/// Kinds of proofs. PoRep C2: from a C1 output.
pub const PROVE_POREP: u32 = 1;
/// SnapDeals (empty sector update).
pub const PROVE_SNAP: u32 = 2;
/// One partition of a WindowPoSt.
pub const PROVE_WINDOW_POST: u32 = 3;
/// WinningPoSt.
pub const PROVE_WINNING_POST: u32 = 4;

/// Priorities. The kind's own: WinningPoSt critical, WindowPoSt high, others normal.
pub const PROVE_PRIORITY_BY_KIND: u32 = 0;
/// Whatever can wait.
pub const PROVE_PRIORITY_LOW: u32 = 1;
/// Before low.
pub const PROVE_PRIORITY_NORMAL: u32 = 2;
/// Before normal.
pub const PROVE_PRIORITY_HIGH: u32 = 3;
/// Before all others.
pub const PROVE_PRIORITY_CRITICAL: u32 = 4;

/// Stages of a proof. Waiting, or being decoded.
pub const PROVE_STAGE_QUEUED: u32 = 1;
/// Parameters are being loaded.
pub const PROVE_STAGE_LOADING: u32 = 2;
/// A partition's witness is being made.
pub const PROVE_STAGE_WITNESS: u32 = 3;
/// A partition is on the device.
pub const PROVE_STAGE_DEVICE: u32 = 4;
/// A partition's proof is being put together and checked.
pub const PROVE_STAGE_FINISHING: u32 = 5;
/// Over, well or not.
pub const PROVE_STAGE_DONE: u32 = 6;

/// Classes of buffers. Requests' bytes and decoded vanilla proofs.
pub const PROVER_BUFFER_REQUEST: u32 = 1;
/// Values of circuits' variables.
pub const PROVER_BUFFER_WITNESS: u32 = 2;
/// Evaluations of circuits' constraints.
pub const PROVER_BUFFER_EVALUATIONS: u32 = 3;
/// Parameters.
pub const PROVER_BUFFER_PARAMS: u32 = 4;
/// Pinned memory.
pub const PROVER_BUFFER_PINNED: u32 = 5;
/// Device memory.
pub const PROVER_BUFFER_DEVICE: u32 = 6;

/// prover_options.flags. Prove on the CPU even where there is a GPU.
pub const PROVER_NO_GPU: u32 = 1;
/// Do not verify finished proofs before handing them out.
pub const PROVER_NO_SELF_CHECK: u32 = 2;
/// Accept parameters that Filecoin does not know for 32 and 64 GiB.
pub const PROVER_ALLOW_INSECURE_PARAMS: u32 = 4;
/// Prove in a process of its own. PROVER_ERR_UNSUPPORTED in this version.
pub const PROVER_ISOLATED: u32 = 8;

/// prover_capabilities.features. The CPU has AVX-512 IFMA.
pub const PROVER_FEATURE_AVX512_IFMA: u32 = 1;
/// The library was built with its CUDA backend.
pub const PROVER_FEATURE_CUDA: u32 = 2;

/// Levels of log records. No records at all.
pub const PROVER_LOG_OFF: u32 = 0;
/// Failures.
pub const PROVER_LOG_ERROR: u32 = 1;
/// What the operator should look at.
pub const PROVER_LOG_WARN: u32 = 2;
/// What happens rarely: parameters loaded, an engine made.
pub const PROVER_LOG_INFO: u32 = 3;
/// What happens for every proof.
pub const PROVER_LOG_DEBUG: u32 = 4;
/// Everything.
pub const PROVER_LOG_TRACE: u32 = 5;

/// Where a failing call says what went wrong. The caller's; set struct_size to sizeof before the call. Only a failing
/// call writes to it, and no more than struct_size bytes. Texts end in NUL and are valid UTF-8.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct prover_error {
    pub struct_size: u32,
    /// What the call returned.
    pub code: prover_status,
    /// errno or the CUDA error, else 0.
    pub os_code: i64,
    /// PROVER_ERR_BUSY: a hint when to try again, else 0.
    pub retry_after_ns: i64,
    /// The field or structure at fault, "" if none.
    pub field: [c_char; 64],
    /// A sentence for people.
    pub message: [c_char; 256],
}

/// How an engine is set up. All 0 but struct_size: the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct prover_options {
    pub struct_size: u32,
    /// PROVER_NO_GPU, PROVER_NO_SELF_CHECK, PROVER_ALLOW_INSECURE_PARAMS.
    pub flags: u32,
    /// Threads that make witnesses; 0: one a core. At most 1024; more than four a core (or than 64, where that is more)
    /// are taken as that many, with a warning in the log.
    pub synthesis_threads: u32,
    /// Threads of the CPU backend; 0: one a core. Limits as for synthesis_threads.
    pub cpu_threads: u32,
    /// Proofs that may wait or run at once; 0: 64. One more is PROVER_ERR_BUSY.
    pub queue_depth: u32,
    /// 0.
    pub reserved0: u32,
    /// Bytes of host memory to stay under; 0: what the machine and its control group allow.
    pub host_memory_limit: u64,
    /// Bytes of pinned memory to stay under; 0: no limit of its own.
    pub pinned_memory_limit: u64,
    /// Bytes of device memory to stay under; 0: what the device allows.
    pub device_memory_limit: u64,
    /// Folder of the parameter files; NULL: FIL_PROOFS_PARAMETER_CACHE, or else /var/tmp/filecoin-proof-parameters.
    pub params_dir: *const c_char,
    /// Folder where compiled circuits are kept; NULL: the user's cache. Unwritable: they are kept in memory.
    pub circuit_cache_dir: *const c_char,
    /// Devices to use, UUIDs or indexes, comma-separated; NULL: all.
    pub devices: *const c_char,
}

/// What is to be proved. All 0 but struct_size, then the fields the kind needs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct prove_request {
    pub struct_size: u32,
    /// PROVE_POREP, PROVE_SNAP, PROVE_WINDOW_POST, PROVE_WINNING_POST.
    pub kind: u32,
    /// Go's abi.Registered{Seal,PoSt,Update}Proof number.
    pub registered_proof: u32,
    /// PROVE_PRIORITY_*.
    pub priority: u32,
    /// WindowPoSt: which partition the vanilla proofs are; 0 when they are more than one partition's, which are then all
    /// partitions' from the first on. Other kinds: 0.
    pub partition_index: u32,
    /// How many vanilla proofs there are. PoRep and WinningPoSt: 1; Snap: one a partition; WindowPoSt: one a sector.
    pub vanilla_count: u32,
    /// Actor id.
    pub miner_id: u64,
    /// PoRep, Snap.
    pub sector_number: u64,
    /// vanilla_count proofs back to back (PoRep: one C1), vanilla_len bytes in all. A WindowPoSt's are in the order of their
    /// sectors' numbers, each once.
    pub vanilla: *const u8,
    /// Each one's length; NULL when vanilla_count is 1.
    pub vanilla_lens: *const u64,
    pub vanilla_len: u64,
    /// PoSt. The top two bits of the last byte do not count.
    pub randomness: [u8; 32],
    /// Snap: the commitment of the replica before.
    pub comm_r_old: [u8; 32],
    /// Snap: the commitment of the replica after.
    pub comm_r_new: [u8; 32],
    /// Snap: the commitment of the data after.
    pub comm_d_new: [u8; 32],
    /// Nanoseconds from now after which the proof is worthless (it ends as PROVER_ERR_TIMEOUT); 0 none.
    pub deadline_ns: i64,
    /// Comes back with the proof's event.
    pub tag: u64,
    /// UTF-8, ends in NUL, "" none. A request with the id and input of one that is held joins it; with the id and
    /// another input it is PROVER_ERR_ID_CONFLICT. Each holder has a deadline and an end of its own, and the proof becomes
    /// as urgent as the most urgent of them. One that was cancelled, came too late or failed while it was proved is not
    /// joined: it is begun anew.
    pub request_id: [c_char; 64],
}

/// Where a proof stands.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prove_progress {
    pub struct_size: u32,
    /// PROVE_STAGE_*.
    pub stage: u32,
    /// How much of all is done, 0 to 1000; never falls.
    pub permille: u32,
    /// Partitions in all; 0 until decoded.
    pub partitions: u32,
    pub partitions_done: u32,
    /// Proofs that go first.
    pub queue_position: u32,
    /// -1 CPU or not yet.
    pub device: i32,
    pub reserved0: u32,
    /// Time spent in each stage so far.
    pub queued_ns: u64,
    pub loading_ns: u64,
    pub witness_ns: u64,
    pub device_ns: u64,
    pub finish_ns: u64,
    /// Since prove_start, until done.
    pub total_ns: u64,
}

/// A proof that is over, well or not.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prover_event {
    pub struct_size: u32,
    /// PROVER_OK or why it failed.
    pub status: prover_status,
    pub proof: pending_proof,
    /// The request's.
    pub tag: u64,
}

/// Counts since the engine was made, and what it holds now.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prover_stats {
    pub struct_size: u32,
    /// Devices that prove, the CPU being one.
    pub lanes: u32,
    /// Requests taken.
    pub started: u64,
    /// Proofs made.
    pub finished: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests cancelled, by the caller, a deadline or prover_destroy.
    pub cancelled: u64,
    /// Requests refused: PROVER_ERR_BUSY and PROVER_ERR_SHUTDOWN.
    pub rejected: u64,
    /// Waiting now.
    pub queued: u64,
    /// Being proved now.
    pub running: u64,
    /// Bytes of host memory the engine may take.
    pub budget_bytes: u64,
    /// Of those, taken now.
    pub budget_used_bytes: u64,
    /// The most ever taken.
    pub budget_peak_bytes: u64,
    /// Bytes of parameters held.
    pub params_bytes: u64,
}

/// Buffers of one class.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prover_buffer_stats {
    pub struct_size: u32,
    pub reserved0: u32,
    pub count: u64,
    pub bytes: u64,
    pub peak_count: u64,
    pub peak_bytes: u64,
}

/// What the library and the machine can do.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prover_capabilities {
    pub struct_size: u32,
    /// PROVER_FEATURE_*.
    pub features: u32,
    /// As CUDA numbers versions (12040 for 12.4); 0 none.
    pub cuda_runtime_version: u32,
    pub cuda_driver_version: u32,
    /// Devices that can prove.
    pub device_count: u32,
    pub reserved0: u32,
}

/// A log record. Valid only during the callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct prover_log_record {
    pub struct_size: u32,
    /// PROVER_LOG_*.
    pub level: u32,
    /// When, since 1970.
    pub unix_ns: i64,
    /// The part of the library it comes from; ends in NUL.
    pub target: *const c_char,
    /// UTF-8, ends in NUL.
    pub message: *const c_char,
    /// Bytes of message, without the NUL.
    pub message_len: u64,
}

/// Takes log records; see prover_set_log. Must not throw.
pub type prover_log_fn = Option<unsafe extern "C" fn(userdata: *mut c_void, record: *const prover_log_record)>;

/// A sector of a PoSt.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct prover_sector {
    pub sector_number: u64,
    pub comm_r: [u8; 32],
}

/// The public statement that a proof is verified against. All 0 but struct_size, then the fields the kind needs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct prover_public {
    pub struct_size: u32,
    /// PROVE_*.
    pub kind: u32,
    /// Go's abi.Registered{Seal,PoSt,Update}Proof number.
    pub registered_proof: u32,
    /// PoSt: how many sectors there are.
    pub sector_count: u32,
    /// Actor id.
    pub miner_id: u64,
    /// PoRep, Snap.
    pub sector_number: u64,
    /// PoRep.
    pub ticket: [u8; 32],
    /// PoRep.
    pub seed: [u8; 32],
    /// PoRep.
    pub comm_d: [u8; 32],
    /// PoRep.
    pub comm_r: [u8; 32],
    /// PoSt. The top two bits of the last byte do not count.
    pub randomness: [u8; 32],
    /// Snap.
    pub comm_r_old: [u8; 32],
    /// Snap.
    pub comm_r_new: [u8; 32],
    /// Snap.
    pub comm_d_new: [u8; 32],
    /// PoSt: a WinningPoSt's one; a WindowPoSt's in any order, of which each counts once, as in Filecoin's verifier.
    pub sectors: *const prover_sector,
}
