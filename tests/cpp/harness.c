/* The C surface from a C11 program: harness_c plain|misuse|threads|fork|space|locals|prove FIXTURE. */
#include "harness.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

int checks;

prover_options options_of(uint32_t threads) {
  prover_options o = {.struct_size = sizeof o, .synthesis_threads = threads, .cpu_threads = threads};
  return o;
}

prover engine(uint32_t threads) {
  prover_error err = {.struct_size = sizeof err};
  prover_options o = options_of(threads);
  prover p = {0};
  if (prover_create(&o, &p, &err) != PROVER_OK) {
    fprintf(stderr, "prover_create: %s: %s\n", err.field, err.message);
    exit(1);
  }
  CHECK(p.id != 0);
  return p;
}

static const uint8_t NO_PROOF[] = "no vanilla proof";

prove_request garbage(void) {
  prove_request r = {.struct_size = sizeof r, .kind = PROVE_POREP, .vanilla_count = 1};
  r.vanilla = NO_PROOF;
  r.vanilla_len = sizeof NO_PROOF;
  return r;
}

pending_proof start(prover p, const prove_request *r) {
  prover_error err = {.struct_size = sizeof err};
  pending_proof proof = {0};
  if (prove_start(p, r, &proof, &err) != PROVER_OK) {
    fprintf(stderr, "prove_start: %s: %s\n", err.field, err.message);
    exit(1);
  }
  CHECK(proof.id != 0);
  return proof;
}

static int readable(int fd, int ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What needs no proof: versions, an engine's life, a request that fails, events, draining. */
static void plain(void) {
  CHECK(prover_version_number() >= PROVER_VERSION_NUMBER);
  CHECK(strcmp(prover_version_string(), "0.1.0") == 0);
  CHECK(strcmp(prover_status_name(PROVER_ERR_BUSY), "PROVER_ERR_BUSY") == 0);
  prover_capabilities caps = {.struct_size = sizeof caps};
  GIVES(PROVER_OK, prover_capabilities_get(&caps));

  prover p = {0};
  GIVES(PROVER_OK, prover_create(NULL, &p, NULL));
  GIVES(PROVER_OK, prover_destroy(p));

  p = engine(1);
  prover_error err = {.struct_size = sizeof err};
  GIVES(PROVER_OK, prover_self_test(p, &err));
  const int fd = prover_event_fd(p);
  CHECK(fd >= 0 && !readable(fd, 0));
  prover_event event = {.struct_size = sizeof event};
  GIVES(PROVER_PENDING, prover_next_event(p, &event));

  prove_request r = garbage();
  r.tag = 77;
  pending_proof proof = start(p, &r);
  CHECK(readable(fd, 10000));
  GIVES(PROVER_OK, prover_next_event(p, &event));
  CHECK(event.proof.id == proof.id && event.tag == 77 && event.status == PROVER_ERR_MALFORMED_INPUT);
  GIVES(PROVER_PENDING, prover_next_event(p, &event));
  CHECK(!readable(fd, 0));
  prove_progress progress = {.struct_size = sizeof progress};
  GIVES(PROVER_ERR_MALFORMED_INPUT, prove_poll(proof, &progress));
  CHECK(progress.stage == PROVE_STAGE_DONE && progress.total_ns > 0 && progress.device == -1);
  size_t len = 7;
  GIVES(PROVER_ERR_MALFORMED_INPUT, finish_pending_proof(proof, NULL, 0, &len, NULL, &err));
  CHECK(len == 0 && err.code == PROVER_ERR_MALFORMED_INPUT && err.field[0] && err.message[0]);
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_poll(proof, &progress));

  prover_stats stats = {.struct_size = sizeof stats};
  GIVES(PROVER_OK, prover_stats_get(p, &stats));
  CHECK(stats.started == 1 && stats.failed == 1 && stats.queued == 0 && stats.lanes >= 1);
  char text[4096];
  CHECK(prover_status_json(p, text, sizeof text) == strlen(text) && text[0] == '{');

  GIVES(PROVER_OK, prover_drain(p, -1));
  GIVES(PROVER_ERR_SHUTDOWN, prove_start(p, &r, &proof, &err));
  CHECK(err.code == PROVER_ERR_SHUTDOWN);
  GIVES(PROVER_OK, prover_destroy(p));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_destroy(p));
  CHECK(readable(fd, 0));
  CHECK(close(fd) == 0);
}

/* Threads that use, end and replace the same handles. */
static struct {
  pthread_mutex_t lock;
  prover p[2];
  pending_proof proof[8];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *any_call(void *seed_) {
  uint64_t state = (uint64_t)(uintptr_t)seed_;
  const int64_t until = now_ns() + 1500000000;
  while (now_ns() < until) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned n = (unsigned)(state >> 40);
    pthread_mutex_lock(&shared.lock);
    prover p = shared.p[n % 2];
    pending_proof proof = shared.proof[n % 8];
    pthread_mutex_unlock(&shared.lock);
    prove_progress progress = {.struct_size = sizeof progress};
    prover_event event = {.struct_size = sizeof event};
    prover_stats stats = {.struct_size = sizeof stats};
    prover_error err = {.struct_size = sizeof err};
    prove_request r = garbage();
    uint8_t buf[8];
    size_t len;
    prover_status status = PROVER_OK;
    switch (n / 8 % 32) {
    case 0: {
      prover made = engine(1);
      pthread_mutex_lock(&shared.lock);
      p = shared.p[n % 2];
      shared.p[n % 2] = made;
      pthread_mutex_unlock(&shared.lock);
      status = prover_destroy(p);
      break;
    }
    case 1: status = prover_destroy(p); break;
    case 2: case 3: case 4: case 5: case 6: case 7: case 8: case 9: {
      pending_proof made = {0};
      status = prove_start(p, &r, &made, &err);
      pthread_mutex_lock(&shared.lock);
      proof = shared.proof[n % 8];
      shared.proof[n % 8] = made;
      pthread_mutex_unlock(&shared.lock);
      drop_pending_proof(proof);
      break;
    }
    case 10: case 11: case 12: status = prove_wait(proof, 1000000); break;
    case 13: case 14: status = prove_cancel(proof); break;
    case 15: case 16: status = finish_pending_proof(proof, buf, sizeof buf, &len, NULL, &err); break;
    case 17: status = drop_pending_proof(proof); break;
    case 18: case 19: case 20: status = prover_next_event(p, &event); break;
    case 21: status = prover_drain(p, 0); break;
    case 22: status = prover_stats_get(p, &stats); break;
    case 23: {
      const int fd = prover_event_fd(p);
      if (fd >= 0) close(fd);
      break;
    }
    default: status = prove_poll(proof, &progress);
    }
    CHECK(status == PROVER_OK || status == PROVER_PENDING || status == PROVER_ERR_INVALID_HANDLE ||
          status == PROVER_ERR_SHUTDOWN || status == PROVER_ERR_CANCELLED || status == PROVER_ERR_TIMEOUT ||
          status == PROVER_ERR_BUSY || status == PROVER_ERR_MALFORMED_INPUT);
  }
  return NULL;
}

static void threads(void) {
  for (int i = 0; i < 2; i++) shared.p[i] = engine(1);
  pthread_t t[6];
  for (uintptr_t i = 0; i < 6; i++) CHECK(pthread_create(&t[i], NULL, any_call, (void *)(i + 1)) == 0);
  for (int i = 0; i < 6; i++) CHECK(pthread_join(t[i], NULL) == 0);
  for (int i = 0; i < 8; i++) drop_pending_proof(shared.proof[i]);
  for (int i = 0; i < 2; i++) prover_destroy(shared.p[i]);
}

static void *destroy_soon(void *p) {
  usleep(20000);
  GIVES(PROVER_OK, prover_destroy(*(prover *)p));
  return NULL;
}

/* Waits until a proof is at work on its witness or beyond. */
static void until_at_work(pending_proof proof) {
  prove_progress progress = {.struct_size = sizeof progress};
  do {
    GIVES(PROVER_PENDING, prove_poll(proof, &progress));
    usleep(200);
  } while (progress.stage < PROVE_STAGE_WITNESS);
}

/* A real proof, and what can be done to one on its way. */
static int prove(const char *folder) {
  if (!getenv("FIL_PROOFS_PARAMETER_CACHE")) {
    fprintf(stderr, "skipped: FIL_PROOFS_PARAMETER_CACHE names no parameters\n");
    return SKIP;
  }
  prove_request r;
  prover_public what;
  porep(folder, &r, &what);
  prover p = engine(0);
  const int fd = prover_event_fd(p);
  CHECK(fd >= 0);
  prover_error err = {.struct_size = sizeof err};
  prove_progress progress = {.struct_size = sizeof progress};
  prover_event event = {.struct_size = sizeof event};

  r.tag = 3;
  pending_proof proof = start(p, &r);
  GIVES(PROVER_PENDING, prove_wait(proof, 0));
  uint32_t stage = 0, permille = 0;
  while (!readable(fd, 2)) {
    const prover_status status = prove_poll(proof, &progress);
    CHECK(status == PROVER_PENDING || status == PROVER_OK);
    CHECK(progress.stage >= stage && progress.permille >= permille && progress.permille <= 1000);
    stage = progress.stage;
    permille = progress.permille;
  }
  GIVES(PROVER_OK, prover_next_event(p, &event));
  CHECK(event.proof.id == proof.id && event.tag == 3);
  if (event.status != PROVER_OK) fprintf(stderr, "the proof ended as %s\n", prover_status_name(event.status));
  CHECK(event.status == PROVER_OK);
  GIVES(PROVER_OK, prove_poll(proof, &progress));
  CHECK(progress.stage == PROVE_STAGE_DONE && progress.permille == 1000);
  CHECK(progress.partitions == 1 && progress.partitions_done == 1);

  uint8_t bytes[193];
  size_t len = 0;
  GIVES(PROVER_ERR_BUFFER_TOO_SMALL, finish_pending_proof(proof, NULL, 0, &len, NULL, &err));
  CHECK(len == 192);
  memset(bytes, 0xa5, sizeof bytes);
  GIVES(PROVER_ERR_BUFFER_TOO_SMALL, finish_pending_proof(proof, bytes, 191, &len, NULL, &err));
  CHECK(len == 192 && bytes[0] == 0xa5 && bytes[190] == 0xa5);
  GIVES(PROVER_OK, finish_pending_proof(proof, bytes, 192, &len, &progress, &err));
  CHECK(len == 192 && bytes[192] == 0xa5 && progress.witness_ns > 0 && progress.device_ns > 0);
  GIVES(PROVER_ERR_INVALID_HANDLE, finish_pending_proof(proof, bytes, 192, &len, NULL, &err));

  GIVES(PROVER_OK, prover_verify(p, &what, bytes, 192, &err));
  GIVES(PROVER_ERR_PROOF_INVALID, prover_verify(p, &what, bytes, 191, &err));
  what.seed[0] ^= 1;
  GIVES(PROVER_ERR_PROOF_INVALID, prover_verify(p, &what, bytes, 192, &err));
  what.seed[0] ^= 1;
  bytes[100] ^= 1;
  GIVES(PROVER_ERR_PROOF_INVALID, prover_verify(p, &what, bytes, 192, &err));

  /* Request and C1 disagree; a bare C1 has miner and sector number through the replica id only. */
  r.sector_number++;
  proof = start(p, &r);
  GIVES(PROVER_ERR_MALFORMED_INPUT, finish_pending_proof(proof, bytes, 192, &len, NULL, &err));
  CHECK(strcmp(err.field, "miner_id") == 0 && strstr(err.message, "sector_number") != NULL);
  r.sector_number--;

  /* Cancelled at work, then dropped. */
  proof = start(p, &r);
  until_at_work(proof);
  GIVES(PROVER_OK, prove_cancel(proof));
  const int64_t cancelled = now_ns();
  GIVES(PROVER_ERR_CANCELLED, prove_wait(proof, -1));
  printf("cancelled after %lld ms\n", (long long)((now_ns() - cancelled) / 1000000));
  GIVES(PROVER_OK, drop_pending_proof(proof));
  proof = start(p, &r);
  until_at_work(proof);
  GIVES(PROVER_OK, drop_pending_proof(proof));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_poll(proof, &progress));

  /* A deadline that cannot be met. */
  r.deadline_ns = 1000000;
  proof = start(p, &r);
  GIVES(PROVER_ERR_TIMEOUT, finish_pending_proof(proof, bytes, 192, &len, NULL, &err));
  CHECK(strcmp(err.field, "deadline_ns") == 0);
  r.deadline_ns = 0;

  /* Draining lets a proof end. */
  proof = start(p, &r);
  GIVES(PROVER_ERR_TIMEOUT, prover_drain(p, 0));
  GIVES(PROVER_OK, prover_drain(p, -1));
  GIVES(PROVER_OK, prove_wait(proof, 0));
  GIVES(PROVER_OK, prover_destroy(p));
  CHECK(close(fd) == 0);
  /* It outlives its engine. */
  GIVES(PROVER_OK, finish_pending_proof(proof, bytes, 192, &len, NULL, &err));

  /* Destroyed with work in flight while this thread waits. */
  p = engine(0);
  pending_proof two[2] = {start(p, &r), start(p, &r)};
  pthread_t t;
  until_at_work(two[0]);
  CHECK(pthread_create(&t, NULL, destroy_soon, &p) == 0);
  GIVES(PROVER_ERR_SHUTDOWN, prove_wait(two[0], -1));
  GIVES(PROVER_ERR_SHUTDOWN, prove_wait(two[1], -1));
  CHECK(pthread_join(t, NULL) == 0);
  GIVES(PROVER_ERR_SHUTDOWN, finish_pending_proof(two[0], bytes, 192, &len, NULL, &err));
  GIVES(PROVER_OK, drop_pending_proof(two[1]));
  free((void *)r.vanilla);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int rc = 0;
  if (strcmp(argv[1], "plain") == 0) plain();
  else if (strcmp(argv[1], "misuse") == 0) misuse();
  else if (strcmp(argv[1], "threads") == 0) threads();
  else if (strcmp(argv[1], "fork") == 0) forks();
  else if (strcmp(argv[1], "space") == 0) space();
  else if (strcmp(argv[1], "locals") == 0) locals(argv[2]);
  else if (strcmp(argv[1], "prove") == 0) rc = prove(argv[2]);
  else return 2;
  if (rc == 0) printf("%s: %d checks\n", argv[1], checks);
  return rc;
}
