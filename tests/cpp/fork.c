/* Children of a process that uses the library: no call hangs, none changes the parent.
 *
 * Half of the children are made by fork(), half by the system call alone, after which nothing that locks or allocates may
 * be called: the library's answers do neither. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 200

static atomic_int over;
static prover p;
static pending_proof held;

/* Everything that takes the library's locks, all the time. */
static void *hammer(void *number) {
  const int mine = (int)(intptr_t)number;
  for (unsigned n = 0; !atomic_load(&over); n++) {
    prover_error err = {.struct_size = sizeof err};
    prove_progress progress = {.struct_size = sizeof progress};
    prover_event event = {.struct_size = sizeof event};
    prover_stats stats = {.struct_size = sizeof stats};
    prove_request r = garbage();
    pending_proof proof = {0};
    uint8_t buf[8];
    size_t len;
    char text[1024];
    prove_start(p, &r, &proof, &err);
    prove_poll(proof, &progress);
    prover_next_event(p, &event);
    prover_stats_get(p, &stats);
    prover_status_json(p, text, sizeof text);
    if (n % 2) finish_pending_proof(proof, buf, sizeof buf, &len, NULL, &err);
    else drop_pending_proof(proof);
    if (mine == 0 && n % 16 == 0) GIVES(PROVER_OK, prover_destroy(engine(1)));
    if (mine == 1 && n % 64 == 0) GIVES(PROVER_OK, prover_set_log(n % 128 ? 0 : PROVER_LOG_TRACE, NULL, NULL));
  }
  return NULL;
}

static void ignore(void *userdata, const prover_log_record *record) {
  (void)userdata;
  (void)record;
}

#define FOREIGN(call)                                                                       \
  do {                                                                                      \
    err.message[0] = 0;                                                                     \
    GIVES(PROVER_ERR_INVALID_HANDLE, call);                                                 \
    CHECK(err.code == PROVER_ERR_INVALID_HANDLE && strstr(err.message, "forked") != NULL); \
  } while (0)

/* Every export, in a child. */
static void child(void) {
  alarm(10);
  prover_error err = {.struct_size = sizeof err};
  prover_capabilities caps = {.struct_size = sizeof caps};
  prove_progress progress = {.struct_size = sizeof progress};
  prover_event event = {.struct_size = sizeof event};
  prover_stats stats = {.struct_size = sizeof stats};
  prover_buffer_stats buffers = {.struct_size = sizeof buffers};
  prover_public what = {.struct_size = sizeof what};
  prove_request r = garbage();
  prover made = {0};
  pending_proof proof = {0};
  uint8_t buf[8];
  size_t len = 0;
  uint64_t freed = 0;
  char text[64];

  CHECK(prover_version_number() == PROVER_VERSION_NUMBER && prover_version_string()[0]);
  CHECK(prover_status_name(0)[0] && prover_status_text(0)[0]);
  GIVES(PROVER_OK, prover_capabilities_get(&caps));

  FOREIGN(prove_start(p, &r, &proof, &err));
  FOREIGN(finish_pending_proof(held, buf, sizeof buf, &len, NULL, &err));
  FOREIGN(prover_self_test(p, &err));
  FOREIGN(prover_trace_start(p, "/nowhere", &err));
  FOREIGN(prover_params_load(p, PROVE_POREP, 5, &proof, &err));
  FOREIGN(prover_verify(p, &what, buf, sizeof buf, &err));
  CHECK(proof.id == 0);
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_drain(p, -1));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_stats_get(p, &stats));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_buffer_stats_get(p, 1, 0, &buffers));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_trace_stop(p));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_params_evict(p, PROVE_POREP, 5, &freed));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_next_event(p, &event));
  GIVES(PROVER_ERR_INVALID_HANDLE, prover_event_fd(p));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_poll(held, &progress));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_wait(held, -1));
  GIVES(PROVER_ERR_INVALID_HANDLE, prove_cancel(held));
  text[0] = 'x';
  CHECK(prover_status_json(p, text, sizeof text) == 0 && text[0] == 0);
  CHECK(prover_metrics_text(p, text, sizeof text) == 0);

  GIVES(PROVER_ERR_UNSUPPORTED, prover_create(NULL, &made, &err));
  CHECK(made.id == 0 && err.code == PROVER_ERR_UNSUPPORTED && strstr(err.message, "forked") != NULL);
  GIVES(PROVER_ERR_UNSUPPORTED, prover_set_log(PROVER_LOG_INFO, ignore, NULL));
  GIVES(PROVER_ERR_UNSUPPORTED, prover_set_log(0, NULL, NULL));

  GIVES(PROVER_OK, drop_pending_proof(held));
  GIVES(PROVER_OK, prover_destroy(p));
  _exit(0);
}

/* Before its first use the library is anybody's. */
static void unused_child(void) {
  alarm(60);
  p = engine(1);
  prover_error err = {.struct_size = sizeof err};
  GIVES(PROVER_OK, prover_self_test(p, &err));
  GIVES(PROVER_OK, prover_destroy(p));
  _exit(0);
}

static void ends_well(pid_t pid) {
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) fprintf(stderr, "a child was ended by signal %d\n", WTERMSIG(status));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void forks(void) {
  prover_capabilities caps = {.struct_size = sizeof caps};
  GIVES(PROVER_OK, prover_capabilities_get(&caps));
  pid_t pid = fork();
  if (pid == 0) unused_child();
  ends_well(pid);

  p = engine(1);
  prove_request r = garbage();
  held = start(p, &r);
  GIVES(PROVER_ERR_MALFORMED_INPUT, prove_wait(held, -1));
  GIVES(PROVER_OK, prover_set_log(PROVER_LOG_TRACE, ignore, NULL));
  pthread_t threads[4];
  for (intptr_t i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, hammer, (void *)i) == 0);
  for (int i = 0; i < FORKS; i++) {
    pid = i % 2 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (pid == 0) child();
    ends_well(pid);
  }
  atomic_store(&over, 1);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);

  /* The parent's are as they were. */
  prove_progress progress = {.struct_size = sizeof progress};
  GIVES(PROVER_ERR_MALFORMED_INPUT, prove_poll(held, &progress));
  GIVES(PROVER_OK, drop_pending_proof(held));
  prover_error err = {.struct_size = sizeof err};
  GIVES(PROVER_OK, prover_self_test(p, &err));
  GIVES(PROVER_OK, prover_set_log(0, NULL, NULL));
  GIVES(PROVER_OK, prover_destroy(p));
}
