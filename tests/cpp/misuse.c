/* Wrong calls, each with the status it has to give. */
#include "harness.h"

#include <pthread.h>

static void wrong_options(void) {
  prover p = {123};
  prover_error err = {.struct_size = sizeof err};
  prover_options o = options_of(1);
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_create(&o, NULL, &err));
  CHECK(err.code == PROVER_ERR_INVALID_ARGUMENT && strcmp(err.field, "out") == 0);
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_create(&o, NULL, NULL));
#define OPTION(status, change)                   \
  do {                                           \
    o = options_of(1);                           \
    change;                                      \
    GIVES(status, prover_create(&o, &p, &err));  \
    CHECK(p.id == 123);                          \
  } while (0)
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.struct_size = 0);
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.struct_size = 3);
  OPTION(PROVER_ERR_ABI_MISMATCH, o.struct_size = 0xffffffffu);
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.flags = 16);
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.flags = 0xffffffffu);
  OPTION(PROVER_ERR_UNSUPPORTED, o.flags = PROVER_ISOLATED);
  OPTION(PROVER_ERR_ABI_MISMATCH, o.reserved0 = 1);
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.cpu_threads = 0xffffffffu);
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.params_dir = "");
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.circuit_cache_dir = "");
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.devices = "");
  OPTION(PROVER_ERR_INVALID_ARGUMENT, o.devices = ",");
  /* Bytes that never were options. */
  memset(&o, 0xa7, sizeof o);
  CHECK(prover_create(&o, &p, &err) < 0);
  memset(&o, 0xff, sizeof o);
  o.struct_size = sizeof o;
  CHECK(prover_create(&o, &p, &err) < 0);
  /* A struct with a longer tail, of zeros and not. */
  struct {
    prover_options options;
    uint64_t tail;
  } longer = {options_of(1), 1};
  longer.options.struct_size = sizeof longer;
  GIVES(PROVER_ERR_ABI_MISMATCH, prover_create(&longer.options, &p, &err));
  longer.tail = 0;
  GIVES(PROVER_OK, prover_create(&longer.options, &p, &err));
  GIVES(PROVER_OK, prover_destroy(p));
}

static void wrong_requests(prover p) {
  pending_proof proof = {123};
  prover_error err = {.struct_size = sizeof err};
  prove_request r = garbage();
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_start(p, NULL, &proof, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_start(p, &r, NULL, &err));
  const uint64_t short_by_one[2] = {4, 12}, too_much[2] = {UINT64_MAX, 18}, none[2] = {0, 17};
#define REQUEST(status, name, change)                             \
  do {                                                            \
    r = garbage();                                                \
    change;                                                       \
    GIVES(status, prove_start(p, &r, &proof, &err));              \
    CHECK(proof.id == 123 && strcmp(err.field, name) == 0);       \
  } while (0)
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "struct_size", r.struct_size = 4);
  REQUEST(PROVER_ERR_ABI_MISMATCH, "struct_size", r.struct_size = 1000000);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "kind", r.kind = 0);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "kind", r.kind = 5);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "registered_proof", r.registered_proof = 20);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "priority", r.priority = 5);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla", r.vanilla = NULL);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_len", r.vanilla_len = 0);
  REQUEST(PROVER_ERR_TOO_LARGE, "vanilla_len", r.vanilla_len = UINT64_MAX);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_count", r.vanilla_count = 0);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_count", r.vanilla_count = 2);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_lens", (r.kind = PROVE_SNAP, r.vanilla_count = 2));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_lens", (r.kind = PROVE_SNAP, r.vanilla_count = 2, r.vanilla_lens = short_by_one));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_lens", (r.kind = PROVE_SNAP, r.vanilla_count = 2, r.vanilla_lens = too_much));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_lens", (r.kind = PROVE_SNAP, r.vanilla_count = 2, r.vanilla_lens = none));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "vanilla_len", (r.kind = PROVE_SNAP, r.vanilla_count = 0xffffffffu, r.vanilla_lens = short_by_one));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "deadline_ns", r.deadline_ns = -1);
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "request_id", memset(r.request_id, 'x', sizeof r.request_id));
  REQUEST(PROVER_ERR_INVALID_ARGUMENT, "request_id", memcpy(r.request_id, "\xc3\x28", 3));
  memset(&r, 0xa7, sizeof r);
  CHECK(prove_start(p, &r, &proof, &err) < 0);
  r.struct_size = sizeof r;
  CHECK(prove_start(p, &r, &proof, &err) < 0);
}

/* The same wrong call for every function that takes the handle. */
static void no_prover(prover p) {
  prover_error err = {.struct_size = sizeof err};
  pending_proof proof = {0};
  prove_request r = garbage();
  prover_stats stats = {.struct_size = sizeof stats};
  prover_buffer_stats buffers = {.struct_size = sizeof buffers};
  prover_event event = {.struct_size = sizeof event};
  prover_public what = {.struct_size = sizeof what, .kind = PROVE_POREP};
  uint8_t byte = 0;
  char text[4] = "abc";
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_start(p, &r, &proof, &err));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_verify(p, &what, &byte, 1, &err));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_self_test(p, &err));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_drain(p, 0));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_stats_get(p, &stats));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_buffer_stats_get(p, PROVER_BUFFER_WITNESS, 0, &buffers));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_next_event(p, &event));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_event_fd(p));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_trace_start(p, "/nowhere", &err));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_trace_stop(p));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_params_load(p, PROVE_POREP, 0, &proof, &err));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_params_evict(p, PROVE_POREP, 0, NULL));
  CHECK(prover_status_json(p, text, sizeof text) == 0 && text[0] == 0);
  CHECK(prover_metrics_text(p, NULL, 0) == 0);
}

static void no_proof(pending_proof proof) {
  prover_error err = {.struct_size = sizeof err};
  prove_progress progress = {.struct_size = sizeof progress};
  uint8_t buf[8];
  size_t len = 0;
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_poll(proof, &progress));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_wait(proof, 0));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_wait(proof, -1));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_cancel(proof));
  GIVES(PROVER_ERR_INVALID_HANDLE, finish_pending_proof(proof, buf, sizeof buf, &len, NULL, &err));
}

static void wrong_handles(prover p) {
  prove_request r = garbage();
  const pending_proof proof = start(p, &r), ended = start(p, &r);
  GIVES(PROVER_OK, drop_pending_proof(ended));
  const prover gone = engine(1);
  GIVES(PROVER_OK, prover_destroy(gone));
  GIVES(PROVER_OK, prover_destroy((prover){0}));
  GIVES(PROVER_OK, drop_pending_proof((pending_proof){0}));
  no_prover((prover){0});
  no_proof((pending_proof){0});
  const uint64_t provers[] = {1, 2, 0x100000001, UINT64_MAX, p.id + 1, p.id ^ 0x100000000, gone.id, proof.id, ended.id};
  for (size_t i = 0; i < sizeof provers / sizeof *provers; i++) {
    GIVES(PROVER_ERR_INVALID_HANDLE, prover_destroy((prover){provers[i]}));
    no_prover((prover){provers[i]});
  }
  const uint64_t proofs[] = {1, 2, 0x100000001, UINT64_MAX, proof.id ^ 0x100000000, proof.id ^ 0x80000000, ended.id, p.id, gone.id};
  for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
    GIVES(PROVER_ERR_INVALID_HANDLE, drop_pending_proof((pending_proof){proofs[i]}));
    no_proof((pending_proof){proofs[i]});
  }
  GIVES(PROVER_OK, drop_pending_proof(proof));
}

static void wrong_pointers_and_times(prover p) {
  prover_error err = {.struct_size = sizeof err};
  prove_progress progress = {.struct_size = sizeof progress}, small = {.struct_size = 7};
  prover_event event = {.struct_size = 0};
  prove_request r = garbage();
  uint8_t buf[8];
  size_t len = 5;
  const pending_proof proof = start(p, &r);
  const prover_status ended = prove_wait(proof, -1);
  CHECK(ended < 0);
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_poll(proof, NULL));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_poll(proof, &small));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_wait(proof, -2));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prove_wait(proof, INT64_MIN));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_drain(p, -2));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_stats_get(p, NULL));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_next_event(p, NULL));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_next_event(p, &event));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_capabilities_get(NULL));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, finish_pending_proof(proof, buf, 8, NULL, NULL, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, finish_pending_proof(proof, NULL, 8, &len, NULL, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, finish_pending_proof(proof, buf, 8, &len, &small, &err));
  CHECK(len == 5);
  GIVES(ended, prove_poll(proof, &progress));
  GIVES(ended, finish_pending_proof(proof, buf, 8, &len, &progress, &err));
  CHECK(len == 0 && progress.stage == PROVE_STAGE_DONE);

  prover_public what = {.struct_size = sizeof what, .kind = PROVE_POREP};
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, NULL, buf, 8, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, &what, NULL, 8, &err));
  what.kind = 9;
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, &what, buf, 8, &err));
  what.kind = PROVE_WINDOW_POST;
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, &what, buf, 8, &err));
  what.sector_count = 3;
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, &what, buf, 8, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_trace_start(p, NULL, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_params_load(p, PROVE_POREP, 0, NULL, &err));
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_set_log(6, NULL, NULL));

  /* An out struct is written up to its size, an error cut short still ends in NUL. */
  prover_stats stats;
  memset(&stats, 0xa5, sizeof stats);
  stats.struct_size = 16;
  GIVES(PROVER_OK, prover_stats_get(p, &stats));
  CHECK(stats.struct_size == 16 && stats.lanes >= 1 && ((uint8_t *)&stats)[16] == 0xa5);
  prover_error cut;
  memset(&cut, 0xa5, sizeof cut);
  cut.struct_size = 27;
  GIVES(PROVER_ERR_INVALID_ARGUMENT, prover_verify(p, NULL, buf, 8, &cut));
  CHECK(cut.code == PROVER_ERR_INVALID_ARGUMENT && memcmp(cut.field, "wh\0\xa5", 4) == 0);
}

static void *all(void *p) {
  for (int i = 0; i < 20; i++) {
    wrong_requests(*(prover *)p);
    wrong_handles(*(prover *)p);
    wrong_pointers_and_times(*(prover *)p);
  }
  return NULL;
}

void misuse(void) {
  wrong_options();
  prover p = engine(1);
  wrong_requests(p);
  wrong_handles(p);
  wrong_pointers_and_times(p);
  pthread_t t[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&t[i], NULL, all, &p) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(t[i], NULL) == 0);
  GIVES(PROVER_OK, prover_destroy(p));
}
