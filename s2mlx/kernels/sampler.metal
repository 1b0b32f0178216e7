// One draw from logits in one launch: softmax, top-k, top-p, temperature, inverse CDF, and the repetition-aware second
// draw.
//
// One threadgroup per sequence. Entries are taken best first, ties by lower index: every thread holds the best of its
// own share, every simdgroup the best of its threads; taking one costs one barrier, and only its owner looks for its
// next best. The walk ends where both top-k and top-p are passed, after some tens of entries.
#include <metal_simdgroup>

namespace s2 {

struct Entry {
  float logit;
  int index;
};

constant constexpr int NOBODY = 0x7FFFFFFF;

inline bool before(Entry a, Entry b) { return a.logit > b.logit || (a.logit == b.logit && a.index < b.index); }

// The same in every lane.
inline Entry simd_first(Entry e) {
  Entry best;
  best.logit = simd_max(e.logit);
  best.index = simd_min(e.logit == best.logit ? e.index : NOBODY);
  return best;
}

// The logit at `i`; the last one is closed while the sequence may not end.
template <typename T>
inline float logit_at(const device T* logits, int i, int n, bool may_end) {
  return i == n - 1 && !may_end ? -INFINITY : float(logits[i]);
}

// The best of a thread's share that comes after `last`.
template <typename T>
inline Entry next_of_share(const device T* logits, int n, bool may_end, Entry last, int thread_index, int threads) {
  Entry best = {-INFINITY, NOBODY};
  for (int i = thread_index; i < n; i += threads) {
    Entry e = {logit_at(logits, i, n, may_end), i};
    if (before(last, e) && before(e, best)) best = e;
  }
  return best;
}

// Index of the entry drawn among the `count` best: the first whose cumulative weight reaches u times the whole.
template <typename L, typename I>
inline int draw(L logits, I indices, int count, float temperature, float u) {
  if (temperature <= 0.0f) return indices[0];
  float total = 0.0f;
  for (int i = 0; i < count; i++) total += exp((logits[i] - logits[0]) / temperature);
  float cumulative = 0.0f;
  for (int i = 0; i < count; i++) {
    cumulative += exp((logits[i] - logits[0]) / temperature);
    if (cumulative >= u * total) return indices[i];
  }
  return indices[0];
}

}  // namespace s2

// logits T [B, n], settings float32 [8]: temperature, top_p, top_k and for the second draw temperature, top_p; the rest
// unused. uniforms float32 [B, 1 or 2], window int32 [B, WINDOW], may_end int32 [B] -> tokens int32 [B], window moved
// on by it. Template: T, AGAIN (draw once more when the token is in the window and is not the last one), WINDOW,
// SIMDGROUPS, LIMIT.
//: kernel sampler(logits, settings, uniforms, window, may_end) -> tokens, next_window
  const int n = logits_shape[1], b = int(threadgroup_position_in_grid.y);
  const int me = int(thread_index_in_threadgroup), simdgroup = int(simdgroup_index_in_threadgroup);
  const int lane = int(thread_index_in_simdgroup);
  constexpr int THREADS = 32 * SIMDGROUPS;
  const device T* row = logits + size_t(b) * n;
  const bool open = may_end[b] != 0;
  const float temperature = settings[0], top_p = settings[1];
  const float again_temperature = settings[3], again_top_p = settings[4];
  const int top_k = min(int(settings[2]), min(n, LIMIT));

  threadgroup float best_logit[2][SIMDGROUPS];
  threadgroup int best_index[2][SIMDGROUPS];
  threadgroup float partial[SIMDGROUPS];
  threadgroup float kept_logit[LIMIT];
  threadgroup int kept_index[LIMIT];

  s2::Entry everything = {INFINITY, -1};
  s2::Entry mine = s2::next_of_share(row, n, open, everything, me, THREADS);
  s2::Entry ours = s2::simd_first(mine);
  float peak = 0.0f, total = 0.0f, mass = 0.0f;
  int first_count = 0, again_count = 0;
  for (int rank = 0; rank < top_k; rank++) {
    const int side = rank & 1;      // two sides: who is late still reads the one while the other is written
    if (lane == 0) {
      best_logit[side][simdgroup] = ours.logit;
      best_index[side][simdgroup] = ours.index;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    s2::Entry seen = {-INFINITY, s2::NOBODY};
    if (lane < SIMDGROUPS) {
      seen.logit = best_logit[side][lane];
      seen.index = best_index[side][lane];
    }
    const s2::Entry best = s2::simd_first(seen);
    if (rank == 0) {
      peak = best.logit;
      float sum = 0.0f;
      for (int i = me; i < n; i += THREADS) sum += exp(s2::logit_at(row, i, n, open) - peak);
      sum = simd_sum(sum);
      if (lane == 0) partial[simdgroup] = sum;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      total = simd_sum(lane < SIMDGROUPS ? partial[lane] : 0.0f);
    }
    // one sum for all threads, so that all leave the walk together
    mass += exp(best.logit - peak) / total;
    const bool first_keeps = rank == 0 || top_p >= 1.0f || mass <= top_p;
    const bool again_keeps = AGAIN && (rank == 0 || mass <= again_top_p);
    if (!first_keeps && !again_keeps) break;
    if (first_keeps) first_count = rank + 1;
    if (again_keeps) again_count = rank + 1;
    if (me == 0) {
      kept_logit[rank] = best.logit;
      kept_index[rank] = min(best.index, n - 1);
    }
    if (simdgroup == best.index % THREADS / 32) {
      if (me == best.index % THREADS) mine = s2::next_of_share(row, n, open, best, me, THREADS);
      ours = s2::simd_first(mine);
    }
  }

  if (me == 0) {
    int token = s2::draw(kept_logit, kept_index, first_count, temperature, uniforms[b * uniforms_shape[1]]);
    if (AGAIN) {
      bool repeated = false;
      for (int i = 0; i < WINDOW; i++) repeated = repeated || window[b * WINDOW + i] == token;
      if (repeated && token != n - 1)
        token = s2::draw(kept_logit, kept_index, again_count, again_temperature, uniforms[b * uniforms_shape[1] + 1]);
    }
    tokens[b] = token;
    for (int i = 0; i < WINDOW; i++) next_window[b * WINDOW + i] = i + 1 < WINDOW ? window[b * WINDOW + i + 1] : token;
  }
