// Every kind but PoRep, from its fixture to a proof that verifies; and what is refused.
#include "kinds.hpp"

#include <cstdlib>
#include <functional>

#include "check.h"

using namespace splitprove;

namespace {

using Buffer = std::vector<std::uint8_t>;

struct Fixture {
  std::uint32_t kind, registered_proof, partition_index = 0;
  std::vector<Buffer> vanilla;
  std::vector<prover_sector> sectors;
  prove_request values = sized<prove_request>();

  Fixture(std::uint32_t of_kind, std::uint32_t number, const std::string &folder, int inputs)
      : kind(of_kind), registered_proof(number) {
    std::size_t len = 0;
    for (int i = 0; i < inputs; i++) {
      const std::string name = "vanilla-" + std::to_string(i) + ".bin";
      std::uint8_t *bytes = read_file(folder.c_str(), name.c_str(), &len);
      vanilla.emplace_back(bytes, bytes + len);
      std::free(bytes);
    }
    char *json = reinterpret_cast<char *>(read_file(folder.c_str(), "public.json", &len));
    if (kind == PROVE_SNAP) {
      values.sector_number = json_number(json, "sector_id");
      json_bytes(json, "comm_r_old", values.comm_r_old);
      json_bytes(json, "comm_r_new", values.comm_r_new);
      json_bytes(json, "comm_d_new", values.comm_d_new);
    } else {
      values.miner_id = json_number(json, "miner_actor_id");
      json_bytes(json, "randomness", values.randomness);
      for (const char *at = std::strstr(json, "\"sectors\":"); (at = std::strstr(at, "\"comm_r\":")) != nullptr; at++) {
        prover_sector sector = {};
        sector.sector_number = json_number(at, "sector_id");
        json_bytes(at, "comm_r", sector.comm_r);
        sectors.push_back(sector);
      }
    }
    std::free(json);
  }

  // The WindowPoSt of some of the sectors alone.
  Fixture part(std::size_t from, std::size_t to, std::uint32_t index) const {
    Fixture part = *this;
    part.vanilla.assign(vanilla.begin() + static_cast<long>(from), vanilla.begin() + static_cast<long>(to));
    part.sectors.assign(sectors.begin() + static_cast<long>(from), sectors.begin() + static_cast<long>(to));
    part.partition_index = index;
    return part;
  }

  Request request() const {
    std::vector<Bytes> pieces;
    for (const Buffer &piece : vanilla) pieces.emplace_back(piece.data(), piece.size());
    Request request(kind, registered_proof, pieces);
    prove_request &fields = request.fields();
    fields.partition_index = partition_index;
    fields.miner_id = values.miner_id;
    fields.sector_number = values.sector_number;
    std::memcpy(fields.randomness, values.randomness, 32);
    std::memcpy(fields.comm_r_old, values.comm_r_old, 32);
    std::memcpy(fields.comm_r_new, values.comm_r_new, 32);
    std::memcpy(fields.comm_d_new, values.comm_d_new, 32);
    return request;
  }

  // Valid while this lives and is not changed.
  prover_public statement() const {
    prover_public what = sized<prover_public>();
    what.kind = kind;
    what.registered_proof = registered_proof;
    what.miner_id = values.miner_id;
    what.sector_number = values.sector_number;
    std::memcpy(what.randomness, values.randomness, 32);
    std::memcpy(what.comm_r_old, values.comm_r_old, 32);
    std::memcpy(what.comm_r_new, values.comm_r_new, 32);
    std::memcpy(what.comm_d_new, values.comm_d_new, 32);
    what.sector_count = static_cast<std::uint32_t>(sectors.size());
    what.sectors = sectors.data();
    return what;
  }
};

using Change = std::function<void(Fixture &)>;

// Statements that a proof is not of.
std::vector<Fixture> others(const Fixture &of) {
  std::vector<Change> changes;
  if (of.kind == PROVE_SNAP) {
    changes = {[](Fixture &f) { f.values.comm_r_old[0] ^= 1; }, [](Fixture &f) { f.values.comm_r_new[0] ^= 1; },
               [](Fixture &f) { f.values.comm_d_new[0] ^= 1; }};
  } else {
    changes = {[](Fixture &f) { f.values.randomness[0] ^= 1; }, [](Fixture &f) { f.sectors.back().comm_r[0] ^= 1; },
               [](Fixture &f) { f.sectors.back().sector_number++; }};
  }
  std::vector<Fixture> others;
  for (const Change &change : changes) {
    others.push_back(of);
    change(others.back());
  }
  return others;
}

prover_status verdict(Prover &prover, const Fixture &fixture, const Buffer &proof) {
  try {
    prover.verify(fixture.statement(), proof);
  } catch (const Error &e) {
    return e.code();
  }
  return PROVER_OK;
}

// What the request says and its vanilla proofs do not; no parameters are needed to see that.
void refused(Prover &prover, const Fixture &good, const std::string &field, const Change &change) {
  Fixture wrong = good;
  change(wrong);
  try {
    prover.start(wrong.request()).finish();
    CHECK(false);
  } catch (const Error &e) {
    if (e.code() != PROVER_ERR_MALFORMED_INPUT || e.field() != field) {
      std::fprintf(stderr, "%s, not about %s\n", e.what(), field.c_str());
    }
    CHECK(e.code() == PROVER_ERR_MALFORMED_INPUT && e.field() == field);
  }
}

} // namespace

int kinds(const std::string &data) {
  Prover engine;
  const Fixture winning(PROVE_WINNING_POST, 0, data + "/winning-2k", 1);
  const Fixture window(PROVE_WINDOW_POST, 10, data + "/window-2k", 3);
  const Fixture snap(PROVE_SNAP, 0, data + "/update-2k", 1);
  CHECK(winning.sectors.size() == 1 && window.sectors.size() == 3);

  const std::string opening = "vanilla[0].vanilla_proof.sectors[0].inclusion_proofs[0]";
  refused(engine, winning, opening, [](Fixture &f) { f.values.randomness[0] ^= 1; });
  refused(engine, winning, "vanilla_count", [](Fixture &f) { f.vanilla.push_back(f.vanilla[0]); });
  refused(engine, window, opening, [](Fixture &f) { f.values.randomness[0] ^= 1; });
  refused(engine, window, "partition_index", [](Fixture &f) { f.partition_index = 1; });
  refused(engine, window, "vanilla[1].sector_id", [](Fixture &f) { f.vanilla[1] = f.vanilla[0]; });
  refused(engine, window, "vanilla[1].sector_id", [](Fixture &f) { std::swap(f.vanilla[0], f.vanilla[1]); });
  refused(engine, window, opening + ".path", [](Fixture &f) { f.registered_proof = 11; });
  refused(engine, snap, "comm_r_old", [](Fixture &f) { f.values.comm_r_old[0] ^= 1; });
  refused(engine, snap, "comm_r_new", [](Fixture &f) { f.values.comm_r_new[0] ^= 1; });
  refused(engine, snap, "comm_d_new", [](Fixture &f) { f.values.comm_d_new[0] ^= 1; });
  refused(engine, snap, "vanilla[0].apex_leafs", [&](Fixture &f) { f.vanilla = winning.vanilla; });

  const std::vector<Fixture> all = {winning, window, window.part(0, 2, 0), window.part(2, 3, 1), snap};
  std::vector<Buffer> proofs;
  for (const Fixture &fixture : all) {
    try {
      proofs.push_back(engine.start(fixture.request()).finish());
    } catch (const Error &e) {
      if (e.code() != PROVER_ERR_PARAMS_NOT_FOUND || std::getenv("SPLITPROVE_REQUIRE_PARAMS")) throw;
      std::fprintf(stderr, "skipped: %s\n", e.what());
      return SKIP;
    }
    Buffer &proof = proofs.back();
    CHECK(proof.size() == (fixture.sectors.size() == 3 ? 384 : 192));
    CHECK(verdict(engine, fixture, proof) == PROVER_OK);
    for (const Fixture &other : others(fixture)) CHECK(verdict(engine, other, proof) == PROVER_ERR_PROOF_INVALID);
    for (const std::size_t at : {0, 48, 191}) {
      proof[at] ^= 1;
      CHECK(verdict(engine, fixture, proof) == PROVER_ERR_PROOF_INVALID);
      proof[at] ^= 1;
    }
  }
  for (std::size_t i = 0; i < all.size(); i++)
    for (std::size_t j = 0; j < all.size(); j++)
      CHECK(verdict(engine, all[i], proofs[j]) == (i == j ? PROVER_OK : PROVER_ERR_PROOF_INVALID));

  // Partitions one after the other are the proof of the whole.
  Buffer both = proofs[2];
  both.insert(both.end(), proofs[3].begin(), proofs[3].end());
  CHECK(verdict(engine, window, both) == PROVER_OK);
  std::rotate(both.begin(), both.begin() + 192, both.end());
  CHECK(verdict(engine, window, both) == PROVER_ERR_PROOF_INVALID);

  // All at a time: each gets its own.
  std::vector<PendingProof> pending;
  for (const Fixture &fixture : all) pending.push_back(engine.start(fixture.request()));
  for (std::size_t i = 0; i < all.size(); i++) CHECK(verdict(engine, all[i], pending[i].finish()) == PROVER_OK);
  return 0;
}
