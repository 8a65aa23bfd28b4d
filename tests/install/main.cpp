// What a C++ program sees of the installed library: both headers compile as C++17, and an engine starts.
#include <splitprove.hpp>

#include <cstdio>

int main() {
  try {
    splitprove::check_version();
    splitprove::Prover prover;
    std::printf("C++: splitprove %s with %u lane(s)\n", prover_version_string(), prover.stats().lanes);
  } catch (const splitprove::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
