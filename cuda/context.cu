#include "context.cuh"

using namespace splitprove;

// Device memory that is left to others when no limit is given.
static constexpr uint64_t SPARE = uint64_t(512) << 20;
static constexpr uint64_t PINNED = uint64_t(128) << 20;

spc_context::spc_context(int32_t index, uint64_t memory_limit, uint64_t pinned_limit) : device(index) {
  SP_CUDA(cudaSetDevice(index));
  size_t free_bytes = 0, all = 0;
  SP_CUDA(cudaMemGetInfo(&free_bytes, &all));
  limit_ = free_bytes > SPARE ? free_bytes - SPARE : 0;
  if (memory_limit) limit_ = std::min<uint64_t>(limit_, memory_limit);
  stream_.reset(new Stream);
  words_ = PinnedBuffer(pinned_meter, 4096);
  queue_.reset(new MsmQueue(words_.as<uint32_t>() + 64));
  ntt_.reset(new Ntt(device_meter, *stream_));
  uploader_.reset(new Uploader(pinned_meter, pinned_limit ? std::max<uint64_t>(pinned_limit, 1 << 20) : PINNED));
}

spc_context::~spc_context() {
  cudaSetDevice(device);
  cudaDeviceSynchronize();
}

void spc_context::reserve(DeviceBuffer& buffer, uint64_t bytes) {
  if (bytes <= buffer.bytes()) return;
  if (bytes - buffer.bytes() > left())
    fail(SPC_OUT_OF_MEMORY, "%llu bytes are wanted and %llu of %llu are left", (unsigned long long)bytes,
         (unsigned long long)(left() + buffer.bytes()), (unsigned long long)limit_);
  buffer.reserve(device_meter, bytes);
}

template <class M>
MsmPlan spc_context::make_room(uint64_t count) {
  uint64_t bytes = left() + scratch_.bytes();
  for (;;) {
    MsmPlan plan = Msm<M>::plan(count, bytes);
    try {
      reserve(scratch_, plan.bytes);
      return plan;
    } catch (const Fault& f) {
      // Somebody else has the memory: a smaller plan. A plan that is too small for anything fails above.
      if (f.error.code != SPC_OUT_OF_MEMORY) throw;
      bytes = plan.bytes / 2;
    }
  }
}

template <class M>
void spc_context::load_points(const spc_points& list, const char* name, const Cancel& cancel, DevicePoints<M>& out) {
  out.count = list.count;
  if (!list.count) return;
  if (!list.points) fail(SPC_INVALID, "%s has no points", name);
  if (list.count >= uint64_t(1) << 31) fail(SPC_INVALID, "%s has more points than can be numbered", name);
  reserve(out.memory, list.count * sizeof(Affine<M>));
  uploader_->copy(out.memory.template as<char>(), list.points, list.count * sizeof(Affine<M>), *stream_, cancel);
  stream_->wait();
  reserve(scratch_, 1024);
  uint64_t off = Msm<M>::first_off_curve(*queue_, Arena(scratch_.as<char>(), scratch_.bytes()), out.at(), list.count);
  if (off != list.count) fail(SPC_INVALID, "point %llu of %s is not on the curve", (unsigned long long)off, name);
}

void spc_context::load(const spc_params_view& view, const Cancel& cancel, spc_params& out) {
  // Working memory of other circuits makes room; it comes back when it is needed.
  scratch_.release();
  values_.release();
  load_points(view.h, "h", cancel, out.h);
  load_points(view.l, "l", cancel, out.l);
  load_points(view.a, "a", cancel, out.a);
  load_points(view.b_g1, "b_g1", cancel, out.b_g1);
  load_points(view.b_g2, "b_g2", cancel, out.b_g2);
  if (out.b_g1.count != out.b_g2.count) fail(SPC_INVALID, "b_g1 and b_g2 differ in length");
}

static uint64_t ones_of(const uint64_t* words, uint64_t bits) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < bits; i += 64) {
    uint64_t w = words[i / 64];
    if (bits - i < 64) w &= (uint64_t(1) << (bits - i)) - 1;
    n += uint64_t(__builtin_popcountll(w));
  }
  return n;
}

// Whether the parameters are of the witness's circuit.
static void check_lengths(const spc_params& params, const spc_witness& w) {
  if (w.log_domain > uint32_t(NTT_MAX_LOG)) fail(SPC_INVALID, "a domain of 2^%u is too large", w.log_domain);
  if (!w.aux && !(w.aux_planes && w.aux_ranks && w.aux_wide))
    fail(SPC_INVALID, "the aux values are neither plain nor packed");
  if (!w.inputs || !w.a_aux_used || !w.b_inputs_used || !w.b_aux_used) fail(SPC_INVALID, "a part of the witness is NULL");
  if (params.h.count + 1 != uint64_t(1) << w.log_domain) fail(SPC_INVALID, "h is not as long as the circuit's quotient");
  if (params.l.count != w.aux_count) fail(SPC_INVALID, "l is not as long as the witness");
  if (params.a.count != w.input_count + ones_of(w.a_aux_used, w.aux_count))
    fail(SPC_INVALID, "a is not as long as its variables");
  if (params.b_g1.count != ones_of(w.b_inputs_used, w.input_count) + ones_of(w.b_aux_used, w.aux_count))
    fail(SPC_INVALID, "b_g1 is not as long as its variables");
}

template <class M>
static void put(const Extended<M>& sum, uint64_t* to) {
  Affine<M> p = sum.affine();
  std::memcpy(to, &p, sizeof p);
}

void spc_context::start(const spc_params& params, const spc_witness& w, const Cancel& cancel, uint64_t* h) {
  check_lengths(params, w);
  const uint64_t n = uint64_t(1) << w.log_domain;
  if (!w.a || !w.b || w.rows > n) fail(SPC_INVALID, "the evaluations are not those of a domain of 2^%u", w.log_domain);

  reserve(values_, 3 * n * sizeof(Fr));
  Fr *a = values_.as<Fr>(), *b = a + n, *c = b + n;
  uploader_->copy(a, w.a, w.rows * sizeof(Fr), *stream_, cancel);
  uploader_->copy(b, w.b, w.rows * sizeof(Fr), *stream_, cancel);
  ntt_->quotient(a, b, c, int(w.log_domain), w.rows, *stream_);
  MsmPlan plan = make_room<Fp>(n);
  MsmInput<Fp> input{params.h.at(), params.h.count, a, nullptr, int(w.log_domain), n};
  put(Msm<Fp>::run(*queue_, Arena(scratch_.as<char>(), scratch_.bytes()), input, plan, *stream_, cancel), h);
}

template <class M>
Extended<M> spc_context::sum_terms(const DevicePoints<M>& points, const Terms& terms, const uint32_t* lengths,
                                   const Cancel& cancel) {
  MsmPlan plan = lengths[1] ? make_room<M>(lengths[1]) : MsmPlan{};
  reserve(scratch_, Msm<M>::sum_bytes(lengths[0]));
  Arena arena(scratch_.as<char>(), scratch_.bytes());
  auto sum = Msm<M>::sum(*queue_, arena, points.at(), terms.ones, lengths[0], *stream_, cancel);
  MsmInput<M> wide{points.at(), points.count, terms.scalars, terms.wide, -1, lengths[1]};
  sum.add(Msm<M>::run(*queue_, arena, wide, plan, *stream_, cancel));
  return sum;
}

void spc_context::finish(const spc_params& params, const spc_witness& w, const Cancel& cancel, spc_sums& out) {
  check_lengths(params, w);
  const uint64_t inputs = w.input_count, aux = w.aux_count, most = inputs + aux, blocks = (aux + 63) / 64;
  const uint64_t kept = w.aux ? aux : w.aux_wide_count;  // aux values in 32 bytes
  Fr* values;
  Terms terms;
  uint64_t *words, *planes;
  uint32_t *ranks, *wide_ranks;
  auto lay_out = [&](Arena& arena) {
    values = arena.take<Fr>(inputs + kept);
    terms = Terms(arena, most, w.aux ? most : inputs + kept);
    words = arena.take<uint64_t>(most / 64 + 2);
    ranks = arena.take<uint32_t>(most / 64 + 2);
    planes = arena.take<uint64_t>(w.aux ? 0 : 2 * blocks);
    wide_ranks = arena.take<uint32_t>(w.aux ? 0 : blocks);
  };
  Arena measure;
  lay_out(measure);
  reserve(values_, measure.used());
  Arena arena(values_.as<char>(), values_.bytes());
  lay_out(arena);

  uploader_->copy(values, w.inputs, inputs * sizeof(Fr), *stream_, cancel);
  if (w.aux) {
    uploader_->copy(values + inputs, w.aux, aux * sizeof(Fr), *stream_, cancel);
    planes = nullptr;
  } else {
    // What the device reads is looked at first: no number may lead past the list.
    for (uint64_t i = 0, rank = 0; i < blocks; i++) {
      if (w.aux_ranks[i] != rank || (w.aux_planes[2 * i] & w.aux_planes[2 * i + 1]))
        fail(SPC_INVALID, "the packed values contradict themselves");
      rank += uint64_t(__builtin_popcountll(w.aux_planes[2 * i + 1]));
      if (rank > w.aux_wide_count) fail(SPC_INVALID, "the packed values are more than their list");
    }
    uploader_->copy(planes, w.aux_planes, 2 * blocks * sizeof(uint64_t), *stream_, cancel);
    uploader_->copy(wide_ranks, w.aux_ranks, blocks * sizeof(uint32_t), *stream_, cancel);
    uploader_->copy(values + inputs, w.aux_wide, kept * sizeof(Fr), *stream_, cancel);
  }
  std::vector<uint32_t> before;
  // `used` NULL: all of them.
  auto add = [&](const Fr* at, uint64_t count, const uint64_t* used, uint32_t first, bool packed = false) {
    Values v{at, count, nullptr, nullptr, first, packed ? planes : nullptr, wide_ranks};
    uint32_t set = uint32_t(count);
    if (used && count) {
      const uint64_t n = (count + 63) / 64;
      before.resize(n);
      set = 0;
      for (uint64_t i = 0; i < n; i++) before[i] = set, set += uint32_t(__builtin_popcountll(used[i]));
      // The lists before this one have been read.
      stream_->wait();
      uploader_->copy(words, used, n * sizeof(uint64_t), *stream_, cancel);
      uploader_->copy(ranks, before.data(), n * sizeof(uint32_t), *stream_, cancel);
      v.bits = words;
      v.ranks = ranks;
    }
    add_terms(terms, v, *stream_);
    return first + set;
  };
  uint32_t* lengths = words_.as<uint32_t>();
  auto counted = [&] {
    SP_CUDA(cudaMemcpyAsync(lengths, terms.lengths, 2 * sizeof(uint32_t), cudaMemcpyDeviceToHost, *stream_));
    stream_->wait();
    cancel.check();
    return lengths;
  };
  // Σ over every aux variable
  clear_terms(terms, *stream_);
  add(values + inputs, aux, nullptr, 0, true);
  put(sum_terms(params.l, terms, counted(), cancel), out.l);
  // over the inputs, then the aux variables in A
  clear_terms(terms, *stream_);
  uint32_t next = add(values, inputs, nullptr, 0);
  add(values + inputs, aux, w.a_aux_used, next, true);
  put(sum_terms(params.a, terms, counted(), cancel), out.a);
  // and those in B
  clear_terms(terms, *stream_);
  next = add(values, inputs, w.b_inputs_used, 0);
  add(values + inputs, aux, w.b_aux_used, next, true);
  const uint32_t* found = counted();
  put(sum_terms(params.b_g1, terms, found, cancel), out.b_g1);
  put(sum_terms(params.b_g2, terms, found, cancel), out.b_g2);
}
