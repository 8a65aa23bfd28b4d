/* Names, numbers, field order and signatures of the C surface, as they were fixed. Compiled against the generated header
 * and, with -DSPLITPROVE_HEADER, against tests/data/abi/splitprove-design.h: what holds for both is the same in both.
 * Nothing here ever changes; versions append. */
#ifndef SPLITPROVE_HEADER
#define SPLITPROVE_HEADER "splitprove.h"
#endif
#include SPLITPROVE_HEADER

#define VALUE(name, value) _Static_assert((name) == (value), #name)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define FIELD(type, field, offset, declared)                                        \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " offset");      \
  _Static_assert(sizeof(declared) == sizeof(((type *)0)->field), #type "." #field " size"); \
  _Static_assert(_Generic(&((type *)0)->field, __typeof__(declared) *: 1, default: 0), #type "." #field " type")
#define FUNCTION(result, name, ...) _Static_assert(_Generic(&(name), result(*)(__VA_ARGS__): 1, default: 0), #name)

VALUE(PROVER_VERSION_NUMBER, 1000);
VALUE(PROVER_OK, 0);
VALUE(PROVER_PENDING, 1);
VALUE(PROVER_ERR_BUSY, -1);
VALUE(PROVER_ERR_TIMEOUT, -2);
VALUE(PROVER_ERR_CANCELLED, -3);
VALUE(PROVER_ERR_SHUTDOWN, -4);
VALUE(PROVER_ERR_INVALID_ARGUMENT, -20);
VALUE(PROVER_ERR_INVALID_HANDLE, -21);
VALUE(PROVER_ERR_ABI_MISMATCH, -22);
VALUE(PROVER_ERR_BUFFER_TOO_SMALL, -23);
VALUE(PROVER_ERR_MALFORMED_INPUT, -24);
VALUE(PROVER_ERR_UNSUPPORTED, -25);
VALUE(PROVER_ERR_ID_CONFLICT, -26);
VALUE(PROVER_ERR_TOO_LARGE, -27);
VALUE(PROVER_ERR_UNSATISFIED, -28);
VALUE(PROVER_ERR_PROOF_INVALID, -29);
VALUE(PROVER_ERR_PARAMS_NOT_FOUND, -40);
VALUE(PROVER_ERR_PARAMS_CORRUPT, -41);
VALUE(PROVER_ERR_PARAMS_INSECURE, -42);
VALUE(PROVER_ERR_IO, -43);
VALUE(PROVER_ERR_OUT_OF_MEMORY, -44);
VALUE(PROVER_ERR_NO_DEVICE, -45);
VALUE(PROVER_ERR_DEVICE, -46);
VALUE(PROVER_ERR_SELF_CHECK, -60);
VALUE(PROVER_ERR_PANIC, -61);
VALUE(PROVER_ERR_INTERNAL, -62);
VALUE(PROVE_POREP, 1);
VALUE(PROVE_SNAP, 2);
VALUE(PROVE_WINDOW_POST, 3);
VALUE(PROVE_WINNING_POST, 4);
VALUE(PROVE_PRIORITY_BY_KIND, 0);
VALUE(PROVE_PRIORITY_LOW, 1);
VALUE(PROVE_PRIORITY_NORMAL, 2);
VALUE(PROVE_PRIORITY_HIGH, 3);
VALUE(PROVE_PRIORITY_CRITICAL, 4);
VALUE(PROVE_STAGE_QUEUED, 1);
VALUE(PROVE_STAGE_LOADING, 2);
VALUE(PROVE_STAGE_WITNESS, 3);
VALUE(PROVE_STAGE_DEVICE, 4);
VALUE(PROVE_STAGE_FINISHING, 5);
VALUE(PROVE_STAGE_DONE, 6);
VALUE(PROVER_BUFFER_REQUEST, 1);
VALUE(PROVER_BUFFER_WITNESS, 2);
VALUE(PROVER_BUFFER_EVALUATIONS, 3);
VALUE(PROVER_BUFFER_PARAMS, 4);
VALUE(PROVER_BUFFER_PINNED, 5);
VALUE(PROVER_BUFFER_DEVICE, 6);
VALUE(PROVER_NO_GPU, 1);
VALUE(PROVER_NO_SELF_CHECK, 2);
VALUE(PROVER_ALLOW_INSECURE_PARAMS, 4);
VALUE(PROVER_ISOLATED, 8);

_Static_assert(_Generic((prover_status)0, int32_t: 1, default: 0), "prover_status");

SIZE(prover, 8);
FIELD(prover, id, 0, uint64_t);

SIZE(pending_proof, 8);
FIELD(pending_proof, id, 0, uint64_t);

SIZE(prover_error, 344);
FIELD(prover_error, struct_size, 0, uint32_t);
FIELD(prover_error, code, 4, prover_status);
FIELD(prover_error, os_code, 8, int64_t);
FIELD(prover_error, retry_after_ns, 16, int64_t);
FIELD(prover_error, field, 24, char[64]);
FIELD(prover_error, message, 88, char[256]);

SIZE(prover_options, 72);
FIELD(prover_options, struct_size, 0, uint32_t);
FIELD(prover_options, flags, 4, uint32_t);
FIELD(prover_options, synthesis_threads, 8, uint32_t);
FIELD(prover_options, cpu_threads, 12, uint32_t);
FIELD(prover_options, queue_depth, 16, uint32_t);
FIELD(prover_options, reserved0, 20, uint32_t);
FIELD(prover_options, host_memory_limit, 24, uint64_t);
FIELD(prover_options, pinned_memory_limit, 32, uint64_t);
FIELD(prover_options, device_memory_limit, 40, uint64_t);
FIELD(prover_options, params_dir, 48, const char *);
FIELD(prover_options, circuit_cache_dir, 56, const char *);
FIELD(prover_options, devices, 64, const char *);

SIZE(prove_request, 272);
FIELD(prove_request, struct_size, 0, uint32_t);
FIELD(prove_request, kind, 4, uint32_t);
FIELD(prove_request, registered_proof, 8, uint32_t);
FIELD(prove_request, priority, 12, uint32_t);
FIELD(prove_request, partition_index, 16, uint32_t);
FIELD(prove_request, vanilla_count, 20, uint32_t);
FIELD(prove_request, miner_id, 24, uint64_t);
FIELD(prove_request, sector_number, 32, uint64_t);
FIELD(prove_request, vanilla, 40, const uint8_t *);
FIELD(prove_request, vanilla_lens, 48, const uint64_t *);
FIELD(prove_request, vanilla_len, 56, uint64_t);
FIELD(prove_request, randomness, 64, uint8_t[32]);
FIELD(prove_request, comm_r_old, 96, uint8_t[32]);
FIELD(prove_request, comm_r_new, 128, uint8_t[32]);
FIELD(prove_request, comm_d_new, 160, uint8_t[32]);
FIELD(prove_request, deadline_ns, 192, int64_t);
FIELD(prove_request, tag, 200, uint64_t);
FIELD(prove_request, request_id, 208, char[64]);

SIZE(prove_progress, 80);
FIELD(prove_progress, struct_size, 0, uint32_t);
FIELD(prove_progress, stage, 4, uint32_t);
FIELD(prove_progress, permille, 8, uint32_t);
FIELD(prove_progress, partitions, 12, uint32_t);
FIELD(prove_progress, partitions_done, 16, uint32_t);
FIELD(prove_progress, queue_position, 20, uint32_t);
FIELD(prove_progress, device, 24, int32_t);
FIELD(prove_progress, reserved0, 28, uint32_t);
FIELD(prove_progress, queued_ns, 32, uint64_t);
FIELD(prove_progress, loading_ns, 40, uint64_t);
FIELD(prove_progress, witness_ns, 48, uint64_t);
FIELD(prove_progress, device_ns, 56, uint64_t);
FIELD(prove_progress, finish_ns, 64, uint64_t);
FIELD(prove_progress, total_ns, 72, uint64_t);

SIZE(prover_event, 24);
FIELD(prover_event, struct_size, 0, uint32_t);
FIELD(prover_event, status, 4, prover_status);
FIELD(prover_event, proof, 8, pending_proof);
FIELD(prover_event, tag, 16, uint64_t);

SIZE(prover_stats, 96);
FIELD(prover_stats, struct_size, 0, uint32_t);
FIELD(prover_stats, lanes, 4, uint32_t);
FIELD(prover_stats, started, 8, uint64_t);
FIELD(prover_stats, finished, 16, uint64_t);
FIELD(prover_stats, failed, 24, uint64_t);
FIELD(prover_stats, cancelled, 32, uint64_t);
FIELD(prover_stats, rejected, 40, uint64_t);
FIELD(prover_stats, queued, 48, uint64_t);
FIELD(prover_stats, running, 56, uint64_t);
FIELD(prover_stats, budget_bytes, 64, uint64_t);
FIELD(prover_stats, budget_used_bytes, 72, uint64_t);
FIELD(prover_stats, budget_peak_bytes, 80, uint64_t);
FIELD(prover_stats, params_bytes, 88, uint64_t);

SIZE(prover_buffer_stats, 40);
FIELD(prover_buffer_stats, struct_size, 0, uint32_t);
FIELD(prover_buffer_stats, reserved0, 4, uint32_t);
FIELD(prover_buffer_stats, count, 8, uint64_t);
FIELD(prover_buffer_stats, bytes, 16, uint64_t);
FIELD(prover_buffer_stats, peak_count, 24, uint64_t);
FIELD(prover_buffer_stats, peak_bytes, 32, uint64_t);

SIZE(prover_capabilities, 24);
FIELD(prover_capabilities, struct_size, 0, uint32_t);
FIELD(prover_capabilities, features, 4, uint32_t);
FIELD(prover_capabilities, cuda_runtime_version, 8, uint32_t);
FIELD(prover_capabilities, cuda_driver_version, 12, uint32_t);
FIELD(prover_capabilities, device_count, 16, uint32_t);
FIELD(prover_capabilities, reserved0, 20, uint32_t);

SIZE(prover_log_record, 40);
FIELD(prover_log_record, struct_size, 0, uint32_t);
FIELD(prover_log_record, level, 4, uint32_t);
FIELD(prover_log_record, unix_ns, 8, int64_t);
FIELD(prover_log_record, target, 16, const char *);
FIELD(prover_log_record, message, 24, const char *);
FIELD(prover_log_record, message_len, 32, uint64_t);

SIZE(prover_sector, 40);
FIELD(prover_sector, sector_number, 0, uint64_t);
FIELD(prover_sector, comm_r, 8, uint8_t[32]);

SIZE(prover_public, 296);
FIELD(prover_public, struct_size, 0, uint32_t);
FIELD(prover_public, kind, 4, uint32_t);
FIELD(prover_public, registered_proof, 8, uint32_t);
FIELD(prover_public, sector_count, 12, uint32_t);
FIELD(prover_public, miner_id, 16, uint64_t);
FIELD(prover_public, sector_number, 24, uint64_t);
FIELD(prover_public, ticket, 32, uint8_t[32]);
FIELD(prover_public, seed, 64, uint8_t[32]);
FIELD(prover_public, comm_d, 96, uint8_t[32]);
FIELD(prover_public, comm_r, 128, uint8_t[32]);
FIELD(prover_public, randomness, 160, uint8_t[32]);
FIELD(prover_public, comm_r_old, 192, uint8_t[32]);
FIELD(prover_public, comm_r_new, 224, uint8_t[32]);
FIELD(prover_public, comm_d_new, 256, uint8_t[32]);
FIELD(prover_public, sectors, 288, const prover_sector *);

_Static_assert(_Generic((prover_log_fn)0, void (*)(void *, const prover_log_record *): 1, default: 0), "prover_log_fn");

FUNCTION(uint32_t, prover_version_number, void);
FUNCTION(const char *, prover_version_string, void);
FUNCTION(prover_status, prover_capabilities_get, prover_capabilities *);
FUNCTION(const char *, prover_status_name, prover_status);
FUNCTION(const char *, prover_status_text, prover_status);
FUNCTION(prover_status, prover_set_log, uint32_t, prover_log_fn, void *);
FUNCTION(prover_status, prover_self_test, prover, prover_error *);
FUNCTION(prover_status, prover_create, const prover_options *, prover *, prover_error *);
FUNCTION(prover_status, prover_drain, prover, int64_t);
FUNCTION(prover_status, prover_destroy, prover);
FUNCTION(prover_status, prover_stats_get, prover, prover_stats *);
FUNCTION(prover_status, prover_buffer_stats_get, prover, uint32_t, uint32_t, prover_buffer_stats *);
FUNCTION(size_t, prover_metrics_text, prover, char *, size_t);
FUNCTION(size_t, prover_status_json, prover, char *, size_t);
FUNCTION(prover_status, prover_trace_start, prover, const char *, prover_error *);
FUNCTION(prover_status, prover_trace_stop, prover);
FUNCTION(prover_status, prover_params_load, prover, uint32_t, uint32_t, pending_proof *, prover_error *);
FUNCTION(prover_status, prover_params_evict, prover, uint32_t, uint32_t, uint64_t *);
FUNCTION(prover_status, prove_start, prover, const prove_request *, pending_proof *, prover_error *);
FUNCTION(prover_status, prove_poll, pending_proof, prove_progress *);
FUNCTION(prover_status, prove_wait, pending_proof, int64_t);
FUNCTION(prover_status, prove_cancel, pending_proof);
FUNCTION(prover_status, finish_pending_proof, pending_proof, uint8_t *, size_t, size_t *, prove_progress *, prover_error *);
FUNCTION(prover_status, drop_pending_proof, pending_proof);
FUNCTION(prover_status, prover_verify, prover, const prover_public *, const uint8_t *, size_t, prover_error *);
FUNCTION(int, prover_event_fd, prover);
FUNCTION(prover_status, prover_next_event, prover, prover_event *);

int main(void) { return 0; }
