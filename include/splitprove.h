/* The C surface of splitprove: Filecoin's Groth16 proofs inside the caller's process.
 *
 * Written by cbindgen from src/capi; edit there.
 *
 * Two kinds of handles, a prover (the engine) and a pending_proof (one proof that was started), are ids passed by value:
 * a stale or invented one is PROVER_ERR_INVALID_HANDLE. A status says how a call ended; failing calls that take a
 * prover_error fill it. Structs begin with struct_size: set it to sizeof; the library neither reads nor writes more.
 * Times are nanoseconds, -1 for ever, 0 look only. Any function may be called from any thread. What a function's
 * comment says after "Errors" are statuses without PROVER_ERR_; INTERNAL and PANIC may come from every function.
 *
 * fork: a child of a process that used the library has none of its engines. In it every function that takes a handle
 * answers PROVER_ERR_INVALID_HANDLE at once ("the engine belongs to the process that forked this one"), prover_destroy and
 * drop_pending_proof do nothing and are PROVER_OK, prover_create and prover_set_log are PROVER_ERR_UNSUPPORTED, and nothing
 * of the parent's changes; descriptors of prover_event_fd are shared until one side closes its own. Versions, names of
 * statuses and prover_capabilities_get work everywhere and are no use of the library. To prove in a child, fork before
 * the first use, or exec.
 *
 *   prover p; prover_create(NULL, &p, &err);
 *   pending_proof proof; prove_start(p, &request, &proof, &err);
 *   finish_pending_proof(proof, buf, sizeof buf, &len, NULL, &err);
 *   prover_destroy(p);
 */

#ifndef SPLITPROVE_H
#define SPLITPROVE_H

#include <stddef.h>
#include <stdint.h>

// The version this header belongs to: major * 1000000 + minor * 1000 + patch. Compare with prover_version_number()
// before the first call: a library older than the header may lack functions.
#define PROVER_VERSION_NUMBER 1000

// Kinds of proofs. PoRep C2: from a C1 output.
#define PROVE_POREP 1

// SnapDeals (empty sector update).
#define PROVE_SNAP 2

// One partition of a WindowPoSt.
#define PROVE_WINDOW_POST 3

// WinningPoSt.
#define PROVE_WINNING_POST 4

// Priorities. The kind's own: WinningPoSt critical, WindowPoSt high, others normal.
#define PROVE_PRIORITY_BY_KIND 0

// Whatever can wait.
#define PROVE_PRIORITY_LOW 1

// Before low.
#define PROVE_PRIORITY_NORMAL 2

// Before normal.
#define PROVE_PRIORITY_HIGH 3

// Before all others.
#define PROVE_PRIORITY_CRITICAL 4

// Stages of a proof. Waiting, or being decoded.
#define PROVE_STAGE_QUEUED 1

// Parameters are being loaded.
#define PROVE_STAGE_LOADING 2

// A partition's witness is being made.
#define PROVE_STAGE_WITNESS 3

// A partition is on the device.
#define PROVE_STAGE_DEVICE 4

// A partition's proof is being put together and checked.
#define PROVE_STAGE_FINISHING 5

// Over, well or not.
#define PROVE_STAGE_DONE 6

// Classes of buffers. Requests' bytes and decoded vanilla proofs.
#define PROVER_BUFFER_REQUEST 1

// Values of circuits' variables.
#define PROVER_BUFFER_WITNESS 2

// Evaluations of circuits' constraints.
#define PROVER_BUFFER_EVALUATIONS 3

// Parameters.
#define PROVER_BUFFER_PARAMS 4

// Pinned memory.
#define PROVER_BUFFER_PINNED 5

// Device memory.
#define PROVER_BUFFER_DEVICE 6

// prover_options.flags. Prove on the CPU even where there is a GPU.
#define PROVER_NO_GPU 1

// Do not verify finished proofs before handing them out.
#define PROVER_NO_SELF_CHECK 2

// Accept parameters that Filecoin does not know for 32 and 64 GiB.
#define PROVER_ALLOW_INSECURE_PARAMS 4

// Prove in a process of its own. PROVER_ERR_UNSUPPORTED in this version.
#define PROVER_ISOLATED 8

// prover_capabilities.features. The CPU has AVX-512 IFMA.
#define PROVER_FEATURE_AVX512_IFMA 1

// The library was built with its CUDA backend.
#define PROVER_FEATURE_CUDA 2

// Levels of log records. No records at all.
#define PROVER_LOG_OFF 0

// Failures.
#define PROVER_LOG_ERROR 1

// What the operator should look at.
#define PROVER_LOG_WARN 2

// What happens rarely: parameters loaded, an engine made.
#define PROVER_LOG_INFO 3

// What happens for every proof.
#define PROVER_LOG_DEBUG 4

// Everything.
#define PROVER_LOG_TRACE 5

// How a call ended: 0 done, above 0 not a failure, below 0 a failure, in bands by what the caller does next. Numbers
// are never reused.
typedef int32_t prover_status;

// What the library and the machine can do.
typedef struct prover_capabilities {
  uint32_t struct_size;
  // PROVER_FEATURE_*.
  uint32_t features;
  // As CUDA numbers versions (12040 for 12.4); 0 none.
  uint32_t cuda_runtime_version;
  uint32_t cuda_driver_version;
  // Devices that can prove.
  uint32_t device_count;
  uint32_t reserved0;
} prover_capabilities;

// A proving engine: an id in a table, never an address. id 0 is "none". Made by prover_create, ended by
// prover_destroy; a stale or invented one is PROVER_ERR_INVALID_HANDLE.
typedef struct prover {
  uint64_t id;
} prover;

// Where a failing call says what went wrong. The caller's; set struct_size to sizeof before the call. Only a failing
// call writes to it, and no more than struct_size bytes. Texts end in NUL and are valid UTF-8.
typedef struct prover_error {
  uint32_t struct_size;
  // What the call returned.
  prover_status code;
  // errno or the CUDA error, else 0.
  int64_t os_code;
  // PROVER_ERR_BUSY: a hint when to try again, else 0.
  int64_t retry_after_ns;
  // The field or structure at fault, "" if none.
  char field[64];
  // A sentence for people.
  char message[256];
} prover_error;

// A log record. Valid only during the callback.
typedef struct prover_log_record {
  uint32_t struct_size;
  // PROVER_LOG_*.
  uint32_t level;
  // When, since 1970.
  int64_t unix_ns;
  // The part of the library it comes from; ends in NUL.
  const char *target;
  // UTF-8, ends in NUL.
  const char *message;
  // Bytes of message, without the NUL.
  uint64_t message_len;
} prover_log_record;

// Takes log records; see prover_set_log. Must not throw.
typedef void (*prover_log_fn)(void *userdata, const struct prover_log_record *record);

// How an engine is set up. All 0 but struct_size: the defaults.
typedef struct prover_options {
  uint32_t struct_size;
  // PROVER_NO_GPU, PROVER_NO_SELF_CHECK, PROVER_ALLOW_INSECURE_PARAMS.
  uint32_t flags;
  // Threads that make witnesses; 0: one a core. At most 1024; more than four a core (or than 64, where that is more)
  // are taken as that many, with a warning in the log.
  uint32_t synthesis_threads;
  // Threads of the CPU backend; 0: one a core. Limits as for synthesis_threads.
  uint32_t cpu_threads;
  // Proofs that may wait or run at once; 0: 64. One more is PROVER_ERR_BUSY.
  uint32_t queue_depth;
  // 0.
  uint32_t reserved0;
  // Bytes of host memory to stay under; 0: what the machine and its control group allow.
  uint64_t host_memory_limit;
  // Bytes of pinned memory to stay under; 0: no limit of its own.
  uint64_t pinned_memory_limit;
  // Bytes of device memory to stay under; 0: what the device allows.
  uint64_t device_memory_limit;
  // Folder of the parameter files; NULL: FIL_PROOFS_PARAMETER_CACHE, or else /var/tmp/filecoin-proof-parameters.
  const char *params_dir;
  // Folder where compiled circuits are kept; NULL: the user's cache. Unwritable: they are kept in memory.
  const char *circuit_cache_dir;
  // Devices to use, UUIDs or indexes, comma-separated; NULL: all.
  const char *devices;
} prover_options;

// Counts since the engine was made, and what it holds now.
typedef struct prover_stats {
  uint32_t struct_size;
  // Devices that prove, the CPU being one.
  uint32_t lanes;
  // Requests taken.
  uint64_t started;
  // Proofs made.
  uint64_t finished;
  // Requests that failed.
  uint64_t failed;
  // Requests cancelled, by the caller, a deadline or prover_destroy.
  uint64_t cancelled;
  // Requests refused: PROVER_ERR_BUSY and PROVER_ERR_SHUTDOWN.
  uint64_t rejected;
  // Waiting now.
  uint64_t queued;
  // Being proved now.
  uint64_t running;
  // Bytes of host memory the engine may take.
  uint64_t budget_bytes;
  // Of those, taken now.
  uint64_t budget_used_bytes;
  // The most ever taken.
  uint64_t budget_peak_bytes;
  // Bytes of parameters held.
  uint64_t params_bytes;
} prover_stats;

// Buffers of one class.
typedef struct prover_buffer_stats {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t count;
  uint64_t bytes;
  uint64_t peak_count;
  uint64_t peak_bytes;
} prover_buffer_stats;

// A proof that was started: an id in a table, never an address. id 0 is "none". Made by prove_start, ended by
// finish_pending_proof or drop_pending_proof; it outlives its prover.
typedef struct pending_proof {
  uint64_t id;
} pending_proof;

// What is to be proved. All 0 but struct_size, then the fields the kind needs.
typedef struct prove_request {
  uint32_t struct_size;
  // PROVE_POREP, PROVE_SNAP, PROVE_WINDOW_POST, PROVE_WINNING_POST.
  uint32_t kind;
  // Go's abi.Registered{Seal,PoSt,Update}Proof number.
  uint32_t registered_proof;
  // PROVE_PRIORITY_*.
  uint32_t priority;
  // WindowPoSt: which partition the vanilla proofs are; 0 when they are more than one partition's, which are then all
  // partitions' from the first on. Other kinds: 0.
  uint32_t partition_index;
  // How many vanilla proofs there are. PoRep and WinningPoSt: 1; Snap: one a partition; WindowPoSt: one a sector.
  uint32_t vanilla_count;
  // Actor id.
  uint64_t miner_id;
  // PoRep, Snap.
  uint64_t sector_number;
  // vanilla_count proofs back to back (PoRep: one C1), vanilla_len bytes in all. A WindowPoSt's are in the order of their
  // sectors' numbers, each once.
  const uint8_t *vanilla;
  // Each one's length; NULL when vanilla_count is 1.
  const uint64_t *vanilla_lens;
  uint64_t vanilla_len;
  // PoSt. The top two bits of the last byte do not count.
  uint8_t randomness[32];
  // Snap: the commitment of the replica before.
  uint8_t comm_r_old[32];
  // Snap: the commitment of the replica after.
  uint8_t comm_r_new[32];
  // Snap: the commitment of the data after.
  uint8_t comm_d_new[32];
  // Nanoseconds from now after which the proof is worthless (it ends as PROVER_ERR_TIMEOUT); 0 none.
  int64_t deadline_ns;
  // Comes back with the proof's event.
  uint64_t tag;
  // UTF-8, ends in NUL, "" none. A request with the id and input of one that is held joins it; with the id and
  // another input it is PROVER_ERR_ID_CONFLICT. Each holder has a deadline and an end of its own, and the proof becomes
  // as urgent as the most urgent of them. One that was cancelled, came too late or failed while it was proved is not
  // joined: it is begun anew.
  char request_id[64];
} prove_request;

// Where a proof stands.
typedef struct prove_progress {
  uint32_t struct_size;
  // PROVE_STAGE_*.
  uint32_t stage;
  // How much of all is done, 0 to 1000; never falls.
  uint32_t permille;
  // Partitions in all; 0 until decoded.
  uint32_t partitions;
  uint32_t partitions_done;
  // Proofs that go first.
  uint32_t queue_position;
  // -1 CPU or not yet.
  int32_t device;
  uint32_t reserved0;
  // Time spent in each stage so far.
  uint64_t queued_ns;
  uint64_t loading_ns;
  uint64_t witness_ns;
  uint64_t device_ns;
  uint64_t finish_ns;
  // Since prove_start, until done.
  uint64_t total_ns;
} prove_progress;

// A sector of a PoSt.
typedef struct prover_sector {
  uint64_t sector_number;
  uint8_t comm_r[32];
} prover_sector;

// The public statement that a proof is verified against. All 0 but struct_size, then the fields the kind needs.
typedef struct prover_public {
  uint32_t struct_size;
  // PROVE_*.
  uint32_t kind;
  // Go's abi.Registered{Seal,PoSt,Update}Proof number.
  uint32_t registered_proof;
  // PoSt: how many sectors there are.
  uint32_t sector_count;
  // Actor id.
  uint64_t miner_id;
  // PoRep, Snap.
  uint64_t sector_number;
  // PoRep.
  uint8_t ticket[32];
  // PoRep.
  uint8_t seed[32];
  // PoRep.
  uint8_t comm_d[32];
  // PoRep.
  uint8_t comm_r[32];
  // PoSt. The top two bits of the last byte do not count.
  uint8_t randomness[32];
  // Snap.
  uint8_t comm_r_old[32];
  // Snap.
  uint8_t comm_r_new[32];
  // Snap.
  uint8_t comm_d_new[32];
  // PoSt: a WinningPoSt's one; a WindowPoSt's in any order, of which each counts once, as in Filecoin's verifier.
  const struct prover_sector *sectors;
} prover_public;

// A proof that is over, well or not.
typedef struct prover_event {
  uint32_t struct_size;
  // PROVER_OK or why it failed.
  prover_status status;
  struct pending_proof proof;
  // The request's.
  uint64_t tag;
} prover_event;

// Done.
#define PROVER_OK 0

// Not done yet; no failure.
#define PROVER_PENDING 1

// -1 to -19, try again or elsewhere. The queue is full: try again after retry_after_ns.
#define PROVER_ERR_BUSY -1

// The time given, or the proof's deadline, was over first.
#define PROVER_ERR_TIMEOUT -2

// The proof was cancelled.
#define PROVER_ERR_CANCELLED -3

// The prover is draining or was destroyed.
#define PROVER_ERR_SHUTDOWN -4

// -20 to -39, the call or its input is wrong. An argument is wrong; field names it.
#define PROVER_ERR_INVALID_ARGUMENT -20

// The handle is stale, ended, invented or of another kind.
#define PROVER_ERR_INVALID_HANDLE -21

// A struct from a newer header sets what this library does not know.
#define PROVER_ERR_ABI_MISMATCH -22

// The buffer is too small; the length says how much is needed.
#define PROVER_ERR_BUFFER_TOO_SMALL -23

// The input's bytes are not what they should be; field names the place.
#define PROVER_ERR_MALFORMED_INPUT -24

// Not offered by this version.
#define PROVER_ERR_UNSUPPORTED -25

// The request id is in use for another input.
#define PROVER_ERR_ID_CONFLICT -26

// The request can never fit into the memory given.
#define PROVER_ERR_TOO_LARGE -27

// The input does not satisfy its circuit.
#define PROVER_ERR_UNSATISFIED -28

// The proof does not verify.
#define PROVER_ERR_PROOF_INVALID -29

// -40 to -59, the machine lacks or broke something. A parameter file is not there.
#define PROVER_ERR_PARAMS_NOT_FOUND -40

// A parameter file's content is wrong.
#define PROVER_ERR_PARAMS_CORRUPT -41

// Parameters that Filecoin does not know, for 32 or 64 GiB.
#define PROVER_ERR_PARAMS_INSECURE -42

// The system refused a read, a write or another call; os_code says why.
#define PROVER_ERR_IO -43

// Memory could not be had.
#define PROVER_ERR_OUT_OF_MEMORY -44

// There is no device to prove on.
#define PROVER_ERR_NO_DEVICE -45

// A device failed.
#define PROVER_ERR_DEVICE -46

// -60 and below, ours: report it. A finished proof did not verify against its own key.
#define PROVER_ERR_SELF_CHECK -60

// A panic was caught.
#define PROVER_ERR_PANIC -61

// Another fault of the library's own.
#define PROVER_ERR_INTERNAL -62

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the loaded library: major * 1000000 + minor * 1000 + patch. Callers compare it with
// PROVER_VERSION_NUMBER before anything else.
//
// Blocks: no. Threads: any. Ownership: none. Errors: none.
uint32_t prover_version_number(void);

// The version as text, such as "0.1.0".
//
// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
const char *prover_version_string(void);

// What the library and the machine can do. Needs no prover, and answers in a forked child, too.
//
// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_ARGUMENT.
prover_status prover_capabilities_get(struct prover_capabilities *out);

// The name of a status, such as "PROVER_ERR_BUSY"; "PROVER_STATUS_UNKNOWN" for a number that is none. Never NULL.
//
// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
const char *prover_status_name(prover_status code);

// A short text about a status, for people. Never NULL.
//
// Blocks: no. Threads: any. Ownership: the text is the library's and lives for ever. Errors: none.
const char *prover_status_text(prover_status code);

// Makes and verifies a small proof on every device of the prover.
//
// Blocks: for about a second. Threads: any. Ownership: err is the caller's. Errors: INVALID_HANDLE, SHUTDOWN, what a
// device reports, SELF_CHECK.
prover_status prover_self_test(struct prover p, struct prover_error *err);

// Sends log records up to a level (PROVER_LOG_*) to a function. The function is called on one thread of the library,
// never on one that works; a record that finds 1024 others waiting is dropped, and a later one says how many were. fn
// NULL or level 0 ends it: what waits is delivered, the thread is joined, and no call of the function runs any more
// when this returns. Another fn replaces the one before in the same way. One log for the whole process. What the library's
// own parts record comes through it, whichever of Rust's logging crates they use.
//
// Called from inside the function itself it takes effect at once, too, but the function's own call is still running:
// nothing may be freed that it uses, and the thread is joined by the next call from elsewhere.
//
// Blocks: while the function before runs. Threads: any. Ownership: userdata is the caller's and must live until fn is
// removed or replaced. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, UNSUPPORTED (a Rust program has a subscriber of its own; in
// a child forked from a process that used the library).
prover_status prover_set_log(uint32_t max_level,
                             prover_log_fn fn,
                             void *userdata);

// Starts an engine. NULL options are the defaults. Reads the environment, once.
//
// Blocks: for milliseconds, while it starts its threads. Threads: any. Ownership: *out is written on success only and
// ended by prover_destroy; options and err are the caller's and not looked at after return. Errors: INVALID_ARGUMENT,
// ABI_MISMATCH, UNSUPPORTED (PROVER_ISOLATED; in a child forked from a process that used the library), NO_DEVICE,
// OUT_OF_MEMORY, IO.
prover_status prover_create(const struct prover_options *options, struct prover *out, struct prover_error *err);

// Refuses new requests from now on (PROVER_ERR_SHUTDOWN) and waits for those it has. timeout_ns: -1 for ever, 0 look
// only.
//
// Blocks: until all proofs are over or time is. Threads: any. Ownership: none; finished proofs wait for
// finish_pending_proof. Errors: TIMEOUT (proofs still run), INVALID_HANDLE, INVALID_ARGUMENT.
prover_status prover_drain(struct prover p, int64_t timeout_ns);

// Ends an engine: stops all work, joins every thread, frees the parameters. Proofs that were not done end as
// PROVER_ERR_SHUTDOWN; pending proofs stay valid until finished or dropped. id 0, and any in a forked child: does
// nothing.
//
// Blocks: until the work looks up, about a second at most (a verification or self-test that has begun is finished first). Threads: any; calls that wait in other threads return.
// Ownership: ends p. Errors: INVALID_HANDLE.
prover_status prover_destroy(struct prover p);

// Counts and sizes.
//
// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_HANDLE,
// INVALID_ARGUMENT.
prover_status prover_stats_get(struct prover p, struct prover_stats *out);

// Buffers of a class (PROVER_BUFFER_*) held in a stage (PROVE_STAGE_*, 0: all): QUEUED while they wait, LOADING for
// parameters as long as they are held, WITNESS in synthesis, DEVICE, FINISHING, and DONE while they are being freed.
//
// Blocks: no. Threads: any. Ownership: out is the caller's, struct_size set. Errors: INVALID_HANDLE,
// INVALID_ARGUMENT.
prover_status prover_buffer_stats_get(struct prover p,
                                      uint32_t buffer,
                                      uint32_t stage,
                                      struct prover_buffer_stats *out);

// Metrics in Prometheus' text format. As snprintf: writes at most cap bytes with the NUL and returns the whole
// length without it; buf NULL with cap 0 asks for the length.
//
// Blocks: no. Threads: any. Ownership: buf is the caller's. Errors: 0 for an invalid handle.
size_t prover_metrics_text(struct prover p, char *buf, size_t cap);

// The engine's state as one JSON object: "version", "device", "params_dir", the fields of prover_stats, "params" (what it
// holds or loads: "circuit", "file", "state" "resident" or "loading", "bytes", "users": partitions that use them now), and
// "buffers" (by class, then stage: "count", "bytes", "peak_count", "peak_bytes"). Texts as in prover_metrics_text.
//
// Blocks: no. Threads: any. Ownership: buf is the caller's. Errors: 0 for an invalid handle.
size_t prover_status_json(struct prover p,
                          char *buf,
                          size_t cap);

// Begins to record a timeline of all work for Chrome's and Perfetto's viewers (JSON): a track for every lane, synthesis
// thread and other worker, and the bytes in flight. Kept in memory, 400,000 spans at most, and written to path, which is
// made now, by prover_trace_stop.
//
// Blocks: while it makes the file. Threads: any. Ownership: path is the caller's. Errors: INVALID_HANDLE,
// INVALID_ARGUMENT (also while a timeline is being recorded), IO.
prover_status prover_trace_start(struct prover p,
                                 const char *path,
                                 struct prover_error *err);

// Ends the timeline and closes its file.
//
// Blocks: while it writes. Threads: any. Ownership: none. Errors: INVALID_HANDLE, INVALID_ARGUMENT (no timeline is being
// recorded), IO.
prover_status prover_trace_stop(struct prover p);

// Begins to load the parameters of a kind and registered proof, so that the first proof does not wait for them. The
// load is polled, waited for and finished like a proof, without bytes.
//
// Blocks: no. Threads: any. Ownership: *out is written on success only and ended by finish_pending_proof or
// drop_pending_proof. Errors: INVALID_HANDLE, INVALID_ARGUMENT, SHUTDOWN; the load's own come through poll, wait and
// finish.
prover_status prover_params_load(struct prover p,
                                 uint32_t kind,
                                 uint32_t registered_proof,
                                 struct pending_proof *out,
                                 struct prover_error *err);

// Lets the parameters of a kind and registered proof go, if no proof uses them. *freed_bytes says how much that was;
// NULL: nobody asks.
//
// Blocks: while memory is given back. Threads: any. Ownership: freed_bytes is the caller's. Errors: INVALID_HANDLE,
// INVALID_ARGUMENT, BUSY (they are being loaded, or proofs use them).
prover_status prover_params_evict(struct prover p, uint32_t kind, uint32_t registered_proof, uint64_t *freed_bytes);

// Starts a proof: checks the struct and copies the bytes (20 ms for 51 MB at most); decodes nothing. What is wrong
// inside the input comes through poll, wait and finish. A full queue and a prover that drains refuse before they copy.
//
// Blocks: no. Threads: any. Ownership: *out is written on success only and ended by finish_pending_proof or
// drop_pending_proof; an event may arrive in another thread before this call returns. request, what it points to and
// err are the caller's and not looked at after return. Errors: BUSY (with retry_after_ns), SHUTDOWN,
// INVALID_ARGUMENT, INVALID_HANDLE, ABI_MISMATCH, ID_CONFLICT, TOO_LARGE, OUT_OF_MEMORY.
prover_status prove_start(struct prover p,
                          const struct prove_request *request,
                          struct pending_proof *out,
                          struct prover_error *err);

// Where a proof stands.
//
// Blocks: no; allocates nothing. Threads: any. Ownership: out is the caller's, struct_size set. Errors: PENDING while
// it runs; once over, OK or why it failed (*out is written then, too); INVALID_HANDLE, INVALID_ARGUMENT.
prover_status prove_poll(struct pending_proof proof, struct prove_progress *out);

// Waits until a proof is over. timeout_ns: -1 for ever, 0 look only.
//
// Blocks: until it is over or time is. Threads: any, several at once. Ownership: none. Errors: PENDING when time was
// over first; once over, OK or why it failed; INVALID_HANDLE, INVALID_ARGUMENT.
prover_status prove_wait(struct pending_proof proof, int64_t timeout_ns);

// Cancels a proof: it ends as PROVER_ERR_CANCELLED, at once while it waits, else as soon as its work looks up. Does
// nothing once it is over. The handle stays.
//
// Blocks: no. Threads: any. Ownership: none. Errors: INVALID_HANDLE.
prover_status prove_cancel(struct pending_proof proof);

// Waits until a proof is over if needed, gives its bytes and ends the handle; when the proof failed, gives its error
// and ends the handle, too. Only PROVER_ERR_BUFFER_TOO_SMALL and PROVER_ERR_INVALID_ARGUMENT leave the handle, and
// no proof ends as either. buf NULL with cap 0 asks for the length. *len is the proof's length whenever there is one,
// else 0. timings may be NULL.
//
// Blocks: until the proof is over. Threads: any; of several calls one gets the bytes. Ownership: ends proof; all
// pointers are the caller's. Errors: BUFFER_TOO_SMALL, INVALID_ARGUMENT, INVALID_HANDLE, and every error a proof can
// end with.
prover_status finish_pending_proof(struct pending_proof proof,
                                   uint8_t *buf,
                                   size_t cap,
                                   size_t *len,
                                   struct prove_progress *timings,
                                   struct prover_error *err);

// Cancels a proof and forgets it; no event of it comes any more. Other calls that wait for it return. id 0, and any in a
// forked child: does nothing.
//
// Blocks: no. Threads: any. Ownership: ends proof. Errors: INVALID_HANDLE.
prover_status drop_pending_proof(struct pending_proof proof);

// Verifies a proof against its public statement with the key of the prover's parameter file.
//
// Blocks: for milliseconds a partition. Threads: any. Ownership: all pointers are the caller's. Errors: PROOF_INVALID,
// INVALID_ARGUMENT, INVALID_HANDLE, ABI_MISMATCH, UNSUPPORTED, SHUTDOWN, PARAMS_NOT_FOUND, PARAMS_CORRUPT, IO.
prover_status prover_verify(struct prover p,
                            const struct prover_public *what,
                            const uint8_t *proof,
                            size_t len,
                            struct prover_error *err);

// A new descriptor (an eventfd, non-blocking, close-on-exec) that is readable while finished proofs wait for
// prover_next_event, and for good once the prover is destroyed. It is for poll, epoll and the like (edge-triggered,
// too): neither read nor write it; prover_next_event makes it unreadable again.
//
// Blocks: no. Threads: any. Ownership: the descriptor is the caller's to close, before or after prover_destroy.
// Errors: below 0, a prover_status: INVALID_HANDLE, IO.
int prover_event_fd(struct prover p);

// Takes the oldest event: a proof that is over, well or not. Every started proof has one, unless its handle is ended
// before.
//
// Blocks: no. Threads: any; each event goes to one. Ownership: out is the caller's, struct_size set; the proof's
// handle stays. Errors: PENDING when no event waits; INVALID_HANDLE, INVALID_ARGUMENT.
prover_status prover_next_event(struct prover p, struct prover_event *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPLITPROVE_H */
