// splitprove for C++17: owners for the handles of splitprove.h, exceptions for its statuses. Header-only.
//
//   splitprove::Prover prover;
//   splitprove::Request request(PROVE_POREP, registered_proof, {c1.data(), c1.size()});
//   request.fields().miner_id = 1000;
//   splitprove::PendingProof pending = prover.start(request);
//   std::vector<std::uint8_t> proof = pending.finish();
//
// Everything may be used from any thread, except that moving, destroying and finishing an object is for one thread at a time.
#ifndef SPLITPROVE_HPP
#define SPLITPROVE_HPP

#include "splitprove.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace splitprove {

using Nanoseconds = std::chrono::nanoseconds;

/// Waits for ever.
inline constexpr Nanoseconds forever{-1};

/// A struct of the C header, zeros but for its size.
template <class Struct> inline Struct sized() noexcept {
  Struct value;
  std::memset(&value, 0, sizeof value);
  value.struct_size = static_cast<std::uint32_t>(sizeof value);
  return value;
}

/// A failure: a PROVER_ERR_* code, the field at fault ("" if none) and a sentence.
class Error : public std::exception {
public:
  explicit Error(prover_status code) : code_(code), message_(prover_status_text(code)) { describe(); }

  Error(prover_status code, const prover_error &e)
      : code_(code), os_code_(e.os_code), retry_after_(e.retry_after_ns), field_(e.field), message_(e.message) {
    describe();
  }

  prover_status code() const noexcept { return code_; }
  const std::string &field() const noexcept { return field_; }
  const std::string &message() const noexcept { return message_; }
  /// errno or the CUDA error, else 0.
  std::int64_t os_code() const noexcept { return os_code_; }
  /// PROVER_ERR_BUSY: a hint when to try again.
  Nanoseconds retry_after() const noexcept { return Nanoseconds(retry_after_); }
  /// "PROVER_ERR_…: field: message".
  const char *what() const noexcept override { return what_.c_str(); }

private:
  void describe() {
    what_ = prover_status_name(code_);
    if (!field_.empty()) what_ += ": " + field_;
    if (!message_.empty()) what_ += ": " + message_;
  }

  prover_status code_;
  std::int64_t os_code_ = 0;
  std::int64_t retry_after_ = 0;
  std::string field_;
  std::string message_;
  std::string what_;
};

/// Bytes of somebody else's.
struct Bytes {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;

  Bytes() = default;
  Bytes(const std::uint8_t *bytes, std::size_t count) : data(bytes), size(count) {}
  Bytes(const std::vector<std::uint8_t> &bytes) : data(bytes.data()), size(bytes.size()) {}
};

namespace detail {

inline void check(prover_status status) {
  if (status < 0) throw Error(status);
}

template <class Call> inline prover_status check_with(Call &&call) {
  prover_error e = sized<prover_error>();
  const prover_status status = call(&e);
  if (status < 0) throw Error(status, e);
  return status;
}

} // namespace detail

/// Throws unless the loaded library is as new as the header. Call it before anything else.
inline void check_version() {
  if (prover_version_number() < static_cast<std::uint32_t>(PROVER_VERSION_NUMBER)) throw Error(PROVER_ERR_ABI_MISMATCH);
}

inline prover_capabilities capabilities() {
  prover_capabilities out = sized<prover_capabilities>();
  detail::check(prover_capabilities_get(&out));
  return out;
}

/// Options of an engine; keeps its texts alive.
class Options {
public:
  Options() : options_(sized<prover_options>()) {}

  prover_options &fields() noexcept { return options_; }
  Options &params_dir(std::string dir) { return params_dir_ = std::move(dir), *this; }
  Options &circuit_cache_dir(std::string dir) { return circuit_cache_dir_ = std::move(dir), *this; }
  Options &devices(std::string list) { return devices_ = std::move(list), *this; }

  /// The C struct; valid while this lives and is not changed.
  prover_options get() const noexcept {
    prover_options o = options_;
    if (params_dir_) o.params_dir = params_dir_->c_str();
    if (circuit_cache_dir_) o.circuit_cache_dir = circuit_cache_dir_->c_str();
    if (devices_) o.devices = devices_->c_str();
    return o;
  }

private:
  prover_options options_;
  std::optional<std::string> params_dir_, circuit_cache_dir_, devices_;
};

/// What is to be proved. The vanilla proofs' bytes are copied by Prover::start, not here.
class Request {
public:
  /// One vanilla proof (PoRep: the C1 output). The bytes must live until start has returned.
  Request(std::uint32_t kind, std::uint32_t registered_proof, Bytes vanilla) : request_(sized<prove_request>()) {
    request_.kind = kind;
    request_.registered_proof = registered_proof;
    request_.vanilla = vanilla.data;
    request_.vanilla_len = vanilla.size;
    request_.vanilla_count = 1;
  }

  /// Several vanilla proofs, copied back to back.
  Request(std::uint32_t kind, std::uint32_t registered_proof, const std::vector<Bytes> &vanilla)
      : Request(kind, registered_proof, Bytes()) {
    for (const Bytes &proof : vanilla) {
      lens_.push_back(proof.size);
      flat_.insert(flat_.end(), proof.data, proof.data + proof.size);
    }
    request_.vanilla_count = static_cast<std::uint32_t>(vanilla.size());
  }

  /// Every other field.
  prove_request &fields() noexcept { return request_; }

  /// PROVER_ERR_INVALID_ARGUMENT when it has more than 63 bytes.
  Request &request_id(const std::string &id) {
    if (id.size() >= sizeof request_.request_id) throw Error(PROVER_ERR_INVALID_ARGUMENT);
    std::memset(request_.request_id, 0, sizeof request_.request_id);
    std::memcpy(request_.request_id, id.data(), id.size());
    return *this;
  }

  /// From now; none when it is 0.
  Request &deadline(Nanoseconds from_now) { return request_.deadline_ns = from_now.count(), *this; }

  /// The C struct; valid while this lives and is not changed.
  prove_request get() const noexcept {
    prove_request r = request_;
    if (!lens_.empty()) {
      r.vanilla = flat_.data();
      r.vanilla_len = flat_.size();
      r.vanilla_lens = lens_.data();
    }
    return r;
  }

private:
  prove_request request_;
  std::vector<std::uint8_t> flat_;
  std::vector<std::uint64_t> lens_;
};

/// A proof that was started. Destroying it cancels and forgets the proof.
class PendingProof {
public:
  PendingProof() noexcept = default;
  /// Takes over a handle.
  explicit PendingProof(pending_proof handle) noexcept : handle_(handle) {}
  PendingProof(PendingProof &&other) noexcept : handle_(other.release()) {}
  PendingProof &operator=(PendingProof &&other) noexcept {
    if (this != &other) {
      drop_pending_proof(handle_);
      handle_ = other.release();
    }
    return *this;
  }
  PendingProof(const PendingProof &) = delete;
  PendingProof &operator=(const PendingProof &) = delete;
  ~PendingProof() { drop_pending_proof(handle_); }

  pending_proof handle() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_.id != 0; }

  /// Gives the handle away: the caller ends it.
  pending_proof release() noexcept { return std::exchange(handle_, pending_proof{0}); }

  /// Where it stands, whether it is over or not; never throws for a proof that failed.
  prove_progress progress() const {
    prove_progress out = sized<prove_progress>();
    const prover_status status = prove_poll(handle_, &out);
    if (status == PROVER_ERR_INVALID_HANDLE || status == PROVER_ERR_INVALID_ARGUMENT) throw Error(status);
    return out;
  }

  /// PROVER_PENDING, PROVER_OK or why it failed.
  prover_status status() const noexcept { return prove_wait(handle_, 0); }

  /// Waits; whether it is over, well or not.
  bool wait(Nanoseconds timeout = forever) const {
    const prover_status status = prove_wait(handle_, timeout.count());
    if (status == PROVER_ERR_INVALID_HANDLE || status == PROVER_ERR_INVALID_ARGUMENT) throw Error(status);
    return status != PROVER_PENDING;
  }

  void cancel() const { detail::check(prove_cancel(handle_)); }

  /// Waits and gives the proof; throws why there is none. Either way it is over with this object.
  std::vector<std::uint8_t> finish(prove_progress *timings = nullptr) {
    // Ten partitions of 192 bytes fit; a larger proof says how large it is.
    std::vector<std::uint8_t> proof(1920);
    std::size_t len = 0;
    prover_error e = sized<prover_error>();
    prover_status status = finish_pending_proof(handle_, proof.data(), proof.size(), &len, timings, &e);
    if (status == PROVER_ERR_BUFFER_TOO_SMALL) {
      proof.resize(len);
      status = finish_pending_proof(handle_, proof.data(), proof.size(), &len, timings, &e);
    }
    const pending_proof ended = release();
    // These two leave the handle.
    if (status == PROVER_ERR_INVALID_ARGUMENT || status == PROVER_ERR_BUFFER_TOO_SMALL) drop_pending_proof(ended);
    if (status < 0) throw Error(status, e);
    proof.resize(len);
    return proof;
  }

private:
  pending_proof handle_{0};
};

/// An engine. Destroying it stops all work; proofs that were not done end as PROVER_ERR_SHUTDOWN.
class Prover {
public:
  Prover() : Prover(Options()) {}
  explicit Prover(const Options &options) {
    const prover_options o = options.get();
    detail::check_with([&](prover_error *e) { return prover_create(&o, &handle_, e); });
  }
  Prover(Prover &&other) noexcept : handle_(std::exchange(other.handle_, prover{0})) {}
  Prover &operator=(Prover &&other) noexcept {
    if (this != &other) {
      prover_destroy(handle_);
      handle_ = std::exchange(other.handle_, prover{0});
    }
    return *this;
  }
  Prover(const Prover &) = delete;
  Prover &operator=(const Prover &) = delete;
  ~Prover() { prover_destroy(handle_); }

  prover handle() const noexcept { return handle_; }

  PendingProof start(const Request &request) const {
    const prove_request r = request.get();
    pending_proof out{0};
    detail::check_with([&](prover_error *e) { return prove_start(handle_, &r, &out, e); });
    return PendingProof(out);
  }

  /// Starts and finishes.
  std::vector<std::uint8_t> prove(const Request &request) const { return start(request).finish(); }

  /// Throws PROVER_ERR_PROOF_INVALID when it does not verify.
  void verify(const prover_public &what, Bytes proof) const {
    detail::check_with([&](prover_error *e) { return prover_verify(handle_, &what, proof.data, proof.size, e); });
  }

  /// Refuses new requests and waits for the present ones; whether all are over.
  bool drain(Nanoseconds timeout = forever) const {
    const prover_status status = prover_drain(handle_, timeout.count());
    if (status == PROVER_ERR_TIMEOUT) return false;
    detail::check(status);
    return true;
  }

  prover_stats stats() const {
    prover_stats out = sized<prover_stats>();
    detail::check(prover_stats_get(handle_, &out));
    return out;
  }

  std::string status_json() const {
    return text([this](char *buf, std::size_t cap) { return prover_status_json(handle_, buf, cap); });
  }

  std::string metrics() const {
    return text([this](char *buf, std::size_t cap) { return prover_metrics_text(handle_, buf, cap); });
  }

  /// Buffers of a class (PROVER_BUFFER_*) in a stage (PROVE_STAGE_*; 0: in all).
  prover_buffer_stats buffer_stats(std::uint32_t buffer, std::uint32_t stage = 0) const {
    prover_buffer_stats out = sized<prover_buffer_stats>();
    detail::check(prover_buffer_stats_get(handle_, buffer, stage, &out));
    return out;
  }

  /// Records a timeline from here on, to be written to path by trace_stop.
  void trace_start(const std::string &path) const {
    detail::check_with([&](prover_error *e) { return prover_trace_start(handle_, path.c_str(), e); });
  }

  void trace_stop() const { detail::check(prover_trace_stop(handle_)); }

  /// A descriptor to poll, readable while next_event has something; the caller closes it.
  int event_fd() const {
    const int fd = prover_event_fd(handle_);
    detail::check(fd);
    return fd;
  }

  /// The oldest event, if one waits.
  std::optional<prover_event> next_event() const {
    prover_event out = sized<prover_event>();
    const prover_status status = prover_next_event(handle_, &out);
    detail::check(status);
    if (status == PROVER_PENDING) return std::nullopt;
    return out;
  }

  void self_test() const {
    detail::check_with([&](prover_error *e) { return prover_self_test(handle_, e); });
  }

private:
  template <class Write> static std::string text(Write &&write) {
    std::string out;
    // It may grow between two calls: then once more.
    for (std::size_t len = write(nullptr, 0); len > out.size();) {
      out.resize(len);
      len = write(out.data(), out.size() + 1);
      if (len <= out.size()) {
        out.resize(len);
        break;
      }
    }
    return out;
  }

  prover handle_{0};
};

} // namespace splitprove

#endif
