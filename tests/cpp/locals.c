/* No thread, the library's or a caller's, takes a thread-local with a destructor once prover_create has returned: glibc ends
 * the process when it has no memory to take note of one. */
#include "harness.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int watched, taken;

/* Where every such note is taken; the library's calls come here first. */
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library);
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library) {
  int (*real)(void (*)(void *), void *, void *);
  *(void **)&real = dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
  atomic_fetch_add(&taken, 1);
  if (atomic_load(&watched)) fprintf(stderr, "a destructor was noted late\n");
  return real(destructor, object, library);
}

static void *calls(void *p_) {
  const prover p = *(prover *)p_;
  prover_error err = {.struct_size = sizeof err};
  prove_progress progress = {.struct_size = sizeof progress};
  prover_event event = {.struct_size = sizeof event};
  prover_stats stats = {.struct_size = sizeof stats};
  prover_capabilities caps = {.struct_size = sizeof caps};
  char text[4096];
  GIVES(PROVER_OK, prover_capabilities_get(&caps));
  GIVES(PROVER_OK, prover_self_test(p, &err));
  for (int i = 0; i < 20; i++) {
    prove_request r = garbage();
    pending_proof proof = start(p, &r);
    GIVES(PROVER_ERR_MALFORMED_INPUT, prove_wait(proof, -1));
    GIVES(PROVER_ERR_MALFORMED_INPUT, prove_poll(proof, &progress));
    prover_next_event(p, &event);
    GIVES(PROVER_OK, drop_pending_proof(proof));
  }
  GIVES(PROVER_OK, prover_stats_get(p, &stats));
  CHECK(prover_status_json(p, text, sizeof text) > 0);
  GIVES(PROVER_OK, prover_drain(p, -1));
  return NULL;
}

/* A real proof, where there are parameters. */
static void prove_watched(const char *folder) {
  prove_request r;
  prover_public what;
  porep(folder, &r, &what);
  prover p = engine(3);
  atomic_store(&taken, 0);
  atomic_store(&watched, 1);
  prover_error err = {.struct_size = sizeof err};
  uint8_t bytes[192];
  size_t len = 0;
  GIVES(PROVER_OK, finish_pending_proof(start(p, &r), bytes, sizeof bytes, &len, NULL, &err));
  GIVES(PROVER_OK, prover_verify(p, &what, bytes, len, &err));
  CHECK(atomic_load(&taken) == 0);
  atomic_store(&watched, 0);
  GIVES(PROVER_OK, prover_destroy(p));
  free((void *)r.vanilla);
}

void locals(const char *folder) {
  prover p = engine(3);
  CHECK(atomic_load(&taken) >= 8); /* one a thread at least, or this test sees nothing */
  atomic_store(&taken, 0);
  atomic_store(&watched, 1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, calls, &p) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(atomic_load(&taken) == 0);
  atomic_store(&watched, 0);
  GIVES(PROVER_OK, prover_destroy(p));
  if (getenv("FIL_PROOFS_PARAMETER_CACHE")) prove_watched(folder);
  else printf("no proof was made: FIL_PROOFS_PARAMETER_CACHE names no parameters\n");
}
