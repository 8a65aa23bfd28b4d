/* What a C program sees of the installed library: the header and the library are of one version, and an engine starts. */
#include <splitprove.h>
#include <stdio.h>

int main(void) {
  prover_error error = {.struct_size = sizeof error};
  prover_options options = {.struct_size = sizeof options, .flags = PROVER_NO_GPU};
  prover engine = {0};
  if (prover_version_number() != PROVER_VERSION_NUMBER) {
    fprintf(stderr, "library %u, header %u\n", prover_version_number(), PROVER_VERSION_NUMBER);
    return 1;
  }
  if (prover_create(&options, &engine, &error) != PROVER_OK) {
    fprintf(stderr, "%s: %s\n", error.field, error.message);
    return 1;
  }
  printf("C: splitprove %s\n", prover_version_string());
  return prover_destroy(engine) == PROVER_OK ? 0 : 1;
}
