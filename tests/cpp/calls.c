/* What calls cost: prove_poll's time (and that it allocates nothing), prove_start of 51 MB. Prints the figures and fails
 * when prove_poll's median is not below a microsecond or prove_start's not below 20 ms. */
#include "check.h"

#include <sys/mman.h>
#include <time.h>

int checks;

#define POLLS 1000000
#define STARTS 11
#define C1_BYTES 51000000u

/* Every allocation of the process, the library's too, comes through here. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static _Thread_local unsigned long allocations;
void *malloc(size_t n) { allocations++; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { allocations++; return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { allocations++; return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t ns[POLLS];

/* Median of POLLS polls, the clock's own time taken off. */
static int64_t polls(const char *what, pending_proof proof, prover_status first, prover_status second) {
  for (int i = 0; i < POLLS; i++) {
    const int64_t from = now_ns();
    ns[i] = now_ns() - from;
  }
  qsort(ns, POLLS, sizeof *ns, by_size);
  const int64_t clock = ns[POLLS / 2];
  prove_progress progress = {.struct_size = sizeof progress};
  const unsigned long before = allocations;
  for (int i = 0; i < POLLS; i++) {
    const int64_t from = now_ns();
    const prover_status status = prove_poll(proof, &progress);
    ns[i] = now_ns() - from;
    if (status != first && status != second) GIVES(PROVER_OK, status);
  }
  CHECK(allocations == before);
  qsort(ns, POLLS, sizeof *ns, by_size);
  const int64_t p50 = ns[POLLS / 2] - clock, p99 = ns[POLLS / 100 * 99] - clock;
  printf("prove_poll, %s: p50 %lld ns, p99 %lld ns (%d calls, clock's %lld ns taken off), 0 allocations\n", what,
         (long long)p50, (long long)p99, POLLS, (long long)clock);
  return p50;
}

/* What prove_start cannot do without: memory and a copy. */
static int64_t copy(const uint8_t *from) {
  const int64_t begun = now_ns();
  void *to = mmap(NULL, C1_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(to != MAP_FAILED);
  madvise(to, C1_BYTES, MADV_HUGEPAGE);
  memcpy(to, from, C1_BYTES);
  const int64_t took = now_ns() - begun;
  CHECK(((volatile uint8_t *)to)[C1_BYTES - 1] == ' ' && munmap(to, C1_BYTES) == 0);
  return took;
}

/* prove_start's time; the proof is gone afterwards. */
static int64_t one_start(prover p, const prove_request *r) {
  prover_error err = {.struct_size = sizeof err};
  pending_proof proof = {0};
  const int64_t begun = now_ns();
  GIVES(PROVER_OK, prove_start(p, r, &proof, &err));
  const int64_t took = now_ns() - begun;
  GIVES(PROVER_OK, drop_pending_proof(proof));
  prover_stats stats = {.struct_size = sizeof stats};
  do GIVES(PROVER_OK, prover_stats_get(p, &stats));
  while (stats.queued + stats.running > 0);
  return took;
}

/* Prints and gives the median. */
static int64_t report(const char *what, int64_t took[STARTS]) {
  qsort(took, STARTS, sizeof *took, by_size);
  printf("%s, %u bytes: median %.1f ms, %.1f to %.1f (%d calls)\n", what, C1_BYTES, (double)took[STARTS / 2] / 1e6,
         (double)took[0] / 1e6, (double)took[STARTS - 1] / 1e6, STARTS);
  return took[STARTS / 2];
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  prover p = {0};
  prover_error err = {.struct_size = sizeof err};
  prover_options o = {.struct_size = sizeof o, .flags = PROVER_NO_SELF_CHECK};
  GIVES(PROVER_OK, prover_create(&o, &p, &err));
  free(malloc(1));
  CHECK(allocations > 0);

  prove_request r;
  prover_public what;
  pending_proof proof = {0};
  porep(argv[1], &r, &what);
  GIVES(PROVER_OK, prove_start(p, &r, &proof, &err));
  const prover_status outcome = prove_wait(proof, -1);
  int64_t worst = polls("done", proof, outcome, outcome);
  GIVES(PROVER_OK, drop_pending_proof(proof));
  if (outcome == PROVER_OK) {
    /* With parameters there: while a proof is made. */
    GIVES(PROVER_OK, prove_start(p, &r, &proof, &err));
    const int64_t p50 = polls("at work", proof, PROVER_PENDING, PROVER_OK);
    if (p50 > worst) worst = p50;
    GIVES(PROVER_OK, drop_pending_proof(proof));
  }

  uint8_t *c1 = malloc(C1_BYTES);
  CHECK(c1 != NULL);
  memset(c1, ' ', C1_BYTES);
  r.vanilla = c1;
  r.vanilla_len = C1_BYTES;
  /* In turns, so that what else the machine does meets all three alike. */
  int64_t copies[STARTS], plain[STARTS], named[STARTS];
  for (int i = 0; i < STARTS; i++) {
    copies[i] = copy(c1);
    r.request_id[0] = 0;
    plain[i] = one_start(p, &r);
    strcpy(r.request_id, "an id");
    named[i] = one_start(p, &r);
  }
  const int64_t copy_ns = report("a copy into fresh memory", copies);
  const int64_t start_ns = report("prove_start", plain);
  report("prove_start with a request id", named);
  GIVES(PROVER_OK, prover_destroy(p));
  CHECK(worst < 1000);
  /* On a machine so busy that a copy alone takes longer, what it adds to one. */
  CHECK(start_ns <= 20000000 || start_ns <= 2 * copy_ns);
  return 0;
}
