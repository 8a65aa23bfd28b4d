// What a C++ program sees of the installed library: both headers compile as C++17, and an engine starts.
#include <splitprove.hpp>

#include <cstdio>

int main() {
  prover_error error{};
  error.struct_size = sizeof error;
  prover_options options{};
  options.struct_size = sizeof options;
  options.flags = PROVER_NO_GPU;
  prover engine{};
  if (prover_version_number() != PROVER_VERSION_NUMBER) {
    std::fprintf(stderr, "library %u, header %u\n", prover_version_number(), PROVER_VERSION_NUMBER);
    return 1;
  }
  if (prover_create(&options, &engine, &error) != PROVER_OK) {
    std::fprintf(stderr, "%s: %s\n", error.field, error.message);
    return 1;
  }
  std::printf("C++: splitprove %s\n", prover_version_string());
  return prover_destroy(engine) == PROVER_OK ? 0 : 1;
}
