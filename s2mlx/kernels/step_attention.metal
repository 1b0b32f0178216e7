// Attention of one new position of the Slow-AR against its cache, in one launch: q/k norm, RoPE, softmax over all.
// Template: T (type of qkv and y), C (type of the cache), D, HEADS, KV_HEADS, NORM (q/k norm), PREFIX (a past that the
// sequences share stands before their own), BODY (most of their own stands in other arrays), SIMDGROUPS, CAPACITY.
//
// One threadgroup per query head and sequence; its simdgroups share out the cached positions, each with a softmax of
// its own, and merge at the end. MLX's kernels never write to their inputs, and what they read is copied when it is
// written to. So a sequence's past comes in three parts, and only the last, which is short, grows at every step: it
// moves into new arrays on the way, the heads of a group sharing the work.
#include "heads.metal"

// qkv T [B, (HEADS + 2 KV_HEADS) D] as [q | k | v]; new position positions[b] (int32 [B]); its past: the first
// lengths[0] positions of prefix_keys and prefix_values C [1, KV_HEADS, any, D], the first lengths[1] of body_keys and
// body_values C [B, KV_HEADS, any, D], then as many as are missing, n, of keys and values C [B, KV_HEADS, any, D];
// table float32 [> positions[b], D]; gains [D]
// -> y T [B, HEADS D], keys and values with the new position C [B, KV_HEADS, CAPACITY > n, D]; what lies behind it stays
// as it was
//: kernel step_attention(qkv, keys, values, prefix_keys, prefix_values, body_keys, body_values, lengths,
//:     positions, table, q_gain, k_gain, eps)
//:     -> y, all_keys, all_values
  constexpr int GROUP = HEADS / KV_HEADS;
  const uint lane = thread_index_in_simdgroup;
  const int simdgroup = int(simdgroup_index_in_threadgroup);
  const int head = int(threadgroup_position_in_grid.y), b = int(threadgroup_position_in_grid.z), kv = head / GROUP;
  const int past = positions[b];
  const device T* token = qkv + size_t(b) * (HEADS + 2 * KV_HEADS) * D;

  int newest = past;  // the new position among those of the last part
  if (PREFIX) newest -= lengths[0];
  if (BODY) newest -= lengths[1];

  s2::Head<D> q;
  q.load(token + head * D, lane);
  if (NORM) q.normalize(q_gain, eps, lane);
  q.rotate(table + size_t(past) * D, lane);

  s2::Softmax<D> softmax;
  softmax.start();
  s2::Head<D> k, v;
  if (simdgroup == 0) {
    k.load(token + (HEADS + kv) * D, lane);
    if (NORM) k.normalize(k_gain, eps, lane);
    k.rotate(table + size_t(past) * D, lane);
    v.load(token + (HEADS + KV_HEADS + kv) * D, lane);
    if (head % GROUP == 0) {
      const size_t to = (size_t(b * KV_HEADS + kv) * CAPACITY + newest) * D;
      k.store(all_keys + to, lane);
      v.store(all_values + to, lane);
    }
    k.template round_to<C>();
    v.template round_to<C>();
    softmax.add(q.dot(k) * rsqrt(float(D)), v);
  }
  if (PREFIX) {
    const size_t at = size_t(kv) * prefix_keys_shape[2] * D;
    softmax.add_rows(q, prefix_keys + at, prefix_values + at, simdgroup, lengths[0], SIMDGROUPS, lane);
  }
  if (BODY) {
    const size_t at = size_t(b * KV_HEADS + kv) * body_keys_shape[2] * D;
    softmax.add_rows(q, body_keys + at, body_values + at, simdgroup, lengths[1], SIMDGROUPS, lane);
  }
  const size_t at = size_t(b * KV_HEADS + kv) * keys_shape[2] * D, to = size_t(b * KV_HEADS + kv) * CAPACITY * D;
  softmax.add_rows(q, keys + at, values + at, simdgroup, newest, SIMDGROUPS, lane);
  for (int i = head % GROUP * 32 * SIMDGROUPS + int(thread_index_in_threadgroup); i < newest * D;
       i += GROUP * 32 * SIMDGROUPS) {
    all_keys[to + i] = keys[at + i];
    all_values[to + i] = values[at + i];
  }

  threadgroup float peaks[SIMDGROUPS];
  threadgroup float totals[SIMDGROUPS];
  threadgroup float sums[SIMDGROUPS][D];
  if (lane == 0) {
    peaks[simdgroup] = softmax.peak;
    totals[simdgroup] = softmax.total;
  }
  for (int j = 0; j < s2::Head<D>::PAIRS; j++) {
    const int i = 2 * (int(lane) + 32 * j);
    if (i < D) {
      sums[simdgroup][i] = softmax.sum.pair[j].x;
      sums[simdgroup][i + 1] = softmax.sum.pair[j].y;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float peak = peaks[0];
  for (int s = 1; s < SIMDGROUPS; s++) peak = max(peak, peaks[s]);
  for (int i = int(thread_index_in_threadgroup); i < D; i += 32 * SIMDGROUPS) {
    float sum = 0.0f, total = 0.0f;
    for (int s = 0; s < SIMDGROUPS; s++) {
      const float weight = exp(peaks[s] - peak);
      sum += weight * sums[s][i];
      total += weight * totals[s];
    }
    y[(size_t(b) * HEADS + head) * D + i] = T(sum / total);
  }
