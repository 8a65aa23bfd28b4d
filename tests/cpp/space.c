/* Little address space: prover_create gives an engine or says OUT_OF_MEMORY, and an engine that was given works. A child of
 * its own for each limit, as what was refused once may end the process. */
#include "harness.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define STEP ((size_t)48 << 10)

static size_t address_space(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%zu", &pages) == 1);
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void *sweep(void *room) {
  const struct rlimit limit = {address_space() + *(size_t *)room, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  prover_error err = {.struct_size = sizeof err};
  prover_options o = options_of(3);
  prover p = {0};
  const prover_status status = prover_create(&o, &p, &err);
  if (status != PROVER_OK) {
    CHECK(status == PROVER_ERR_OUT_OF_MEMORY && p.id == 0);
    _exit(3);
  }
  /* Threads look for each other's work whenever some comes. */
  for (int i = 0; i < 20; i++) {
    prove_request r = garbage();
    pending_proof proof = {0};
    const prover_status started = prove_start(p, &r, &proof, &err);
    CHECK(started == PROVER_OK || started == PROVER_ERR_OUT_OF_MEMORY);
    if (started == PROVER_OK) {
      const prover_status ended = prove_wait(proof, 10000000000);
      CHECK(ended == PROVER_ERR_MALFORMED_INPUT || ended == PROVER_ERR_OUT_OF_MEMORY);
      GIVES(PROVER_OK, drop_pending_proof(proof));
    }
  }
  GIVES(PROVER_OK, prover_destroy(p));
  _exit(0);
}

void space(void) {
  int refused = 0, given = 0;
  for (size_t room = 0; room <= 48 * MIB; room += STEP) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      alarm(30);
      sweep(&room);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status)) fprintf(stderr, "with %zu KiB: ended by signal %d\n", room >> 10, WTERMSIG(status));
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3));
    if (WEXITSTATUS(status) == 0) given++;
    else refused++;
  }
  printf("of %d limits, %d were too low for an engine\n", refused + given, refused);
  CHECK(refused > 0 && given > 0);
}
