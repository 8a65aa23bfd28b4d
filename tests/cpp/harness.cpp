// The C++ wrapper: harness_cpp plain|threads|prove|kinds FIXTURE.
#include <splitprove.hpp>

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>

#include "check.h"
#include "kinds.hpp"

int checks;

using namespace splitprove;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<Prover> && std::is_nothrow_move_constructible_v<Prover>);
static_assert(!std::is_copy_constructible_v<PendingProof> && std::is_nothrow_move_constructible_v<PendingProof>);
static_assert(std::is_base_of_v<std::exception, Error>);

namespace {

prover_status code_of(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &e) {
    CHECK(std::string(e.what()).find(prover_status_name(e.code())) == 0);
    return e.code();
  }
  return PROVER_OK;
}

Options small() {
  Options options;
  options.fields().cpu_threads = options.fields().synthesis_threads = 1;
  return options;
}

const std::vector<std::uint8_t> no_proof(1000, 'x');

Request garbage() { return Request(PROVE_POREP, 0, no_proof); }

void plain() {
  check_version();
  capabilities();
  Prover prover(small());
  prover.self_test();
  CHECK(prover.status_json().front() == '{' && prover.metrics().rfind("# HELP", 0) == 0);
  CHECK(prover.buffer_stats(PROVER_BUFFER_WITNESS).count == 0);

  // A failure says everything.
  try {
    prover.start(garbage()).finish();
    CHECK(false);
  } catch (const Error &e) {
    CHECK(e.code() == PROVER_ERR_MALFORMED_INPUT && !e.field().empty() && !e.message().empty());
    CHECK(std::string(e.what()) == "PROVER_ERR_MALFORMED_INPUT: " + e.field() + ": " + e.message());
    CHECK(e.retry_after() == 0ns && e.os_code() == 0);
  }
  CHECK(!prover.next_event() && prover.stats().failed == 1);

  // Owners move.
  PendingProof a = prover.start(garbage()), b;
  CHECK(a && !b);
  b = std::move(a);
  CHECK(!a && b && b.wait() && b.status() == PROVER_ERR_MALFORMED_INPUT);
  CHECK(b.progress().stage == PROVE_STAGE_DONE);
  CHECK(code_of([&] { a.cancel(); }) == PROVER_ERR_INVALID_HANDLE);
  CHECK(code_of([&] { a.wait(0s); }) == PROVER_ERR_INVALID_HANDLE);
  const auto event = prover.next_event();
  CHECK(event && event->proof.id == b.handle().id && event->status == PROVER_ERR_MALFORMED_INPUT);
  CHECK(code_of([&] { b.wait(-2ns); }) == PROVER_ERR_INVALID_ARGUMENT);
  const pending_proof raw = b.release();
  CHECK(!b && drop_pending_proof(raw) == PROVER_OK);
  pending_proof dropped;
  {
    const PendingProof c = prover.start(garbage());
    dropped = c.handle();
  }
  CHECK(drop_pending_proof(dropped) == PROVER_ERR_INVALID_HANDLE);

  // Wrong requests and options.
  CHECK(code_of([&] { prover.start(Request(9, 0, no_proof)); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { prover.start(Request(PROVE_POREP, 0, Bytes())); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { prover.start(Request(PROVE_SNAP, 0, std::vector<Bytes>())); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { garbage().request_id(std::string(64, 'i')); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { prover.start(garbage().deadline(-1s)); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { Prover p(small().devices(",")); }) == PROVER_ERR_INVALID_ARGUMENT);
  CHECK(code_of([&] { Prover p(small().params_dir("")); }) == PROVER_ERR_INVALID_ARGUMENT);
  const std::vector<Bytes> two = {no_proof, Bytes(no_proof.data(), 10)};
  PendingProof window = prover.start(Request(PROVE_WINDOW_POST, 5, two).request_id("two"));
  CHECK(code_of([&] { prover.start(Request(PROVE_WINDOW_POST, 5, no_proof).request_id("two")); }) ==
        PROVER_ERR_ID_CONFLICT);
  CHECK(code_of([&] { window.finish(); }) < 0 && !window);

  CHECK(prover.drain());
  CHECK(code_of([&] { prover.start(garbage()); }) == PROVER_ERR_SHUTDOWN);
  Prover other(small().params_dir("/nowhere").circuit_cache_dir("/nowhere"));
  const ::prover old = prover.handle();
  prover = std::move(other);
  CHECK(prover_destroy(old) == PROVER_ERR_INVALID_HANDLE && prover.handle().id != 0 && other.handle().id == 0);
  CHECK(prover.status_json().find("/nowhere") != std::string::npos);
}

void threads() {
  Prover prover(small());
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++)
    all.emplace_back([&] {
      for (int i = 0; i < 100; i++) {
        const prover_status status = code_of([&] { prover.prove(garbage()); });
        CHECK(status == PROVER_ERR_MALFORMED_INPUT || status == PROVER_ERR_BUSY);
        prover.stats();
        while (prover.next_event()) {
        }
      }
    });
  for (auto &t : all) t.join();
}

int prove(const char *folder) {
  if (!std::getenv("FIL_PROOFS_PARAMETER_CACHE")) {
    std::fprintf(stderr, "skipped: FIL_PROOFS_PARAMETER_CACHE names no parameters\n");
    return SKIP;
  }
  prove_request fields;
  prover_public what;
  porep(folder, &fields, &what);
  Request request(PROVE_POREP, fields.registered_proof, Bytes(fields.vanilla, fields.vanilla_len));
  request.fields().miner_id = fields.miner_id;
  request.fields().sector_number = fields.sector_number;

  Prover prover;
  PendingProof pending = prover.start(request);
  CHECK(!pending.wait(0s));
  prove_progress timings = sized<prove_progress>();
  std::vector<std::uint8_t> proof = pending.finish(&timings);
  CHECK(proof.size() == 192 && timings.witness_ns > 0 && !pending);
  prover.verify(what, proof);
  what.ticket[0] ^= 1;
  CHECK(code_of([&] { prover.verify(what, proof); }) == PROVER_ERR_PROOF_INVALID);
  what.ticket[0] ^= 1;

  // Two callers with one request id get the same proof.
  request.request_id("sector 1");
  PendingProof a = prover.start(request), b = prover.start(request);
  CHECK(prover.stats().started == 2);
  proof = a.finish();
  CHECK(proof == b.finish());
  prover.verify(what, proof);

  // Through the event descriptor.
  const int fd = prover.event_fd();
  request.fields().tag = 9;
  pending = prover.start(request.request_id(""));
  pollfd p = {fd, POLLIN, 0};
  CHECK(::poll(&p, 1, 300000) == 1);
  const auto event = prover.next_event();
  CHECK(event && event->tag == 9 && event->status == PROVER_OK);
  PendingProof owned(event->proof);
  CHECK(owned.handle().id == pending.release().id);
  prover.verify(what, owned.finish());
  ::close(fd);

  // An engine that ends while its proof runs.
  pending = prover.start(request);
  std::thread end([&] { Prover gone(std::move(prover)); });
  CHECK(code_of([&] { pending.finish(); }) == PROVER_ERR_SHUTDOWN);
  end.join();
  std::free(const_cast<std::uint8_t *>(fields.vanilla));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const std::string part = argv[1];
  int rc = 0;
  if (part == "plain") plain();
  else if (part == "threads") threads();
  else if (part == "prove") rc = prove(argv[2]);
  else if (part == "kinds") rc = kinds(argv[2] + std::string("/.."));
  else return 2;
  if (rc == 0) std::printf("%s: %d checks\n", argv[1], checks);
  return rc;
}
