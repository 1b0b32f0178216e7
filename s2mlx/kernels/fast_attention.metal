// Attention of the Fast-AR over the few positions of one frame, in one launch: q/k norm, RoPE, cache append, softmax.
// Template: T (type of qkv and y), C (type of the cache), D, HEADS, KV_HEADS, N new positions, PAST (there are older
// ones), NORM (q/k norm).
//
// One threadgroup per kv head and sequence; one simdgroup per query head and new position. MLX's kernels never write to
// their inputs, so the past, a few kilobytes, moves into new arrays on the way.
#include "heads.metal"

// qkv T [B, N, (HEADS + 2 KV_HEADS) D] as [q | k | v], keys and values C [B, KV_HEADS, P, D], table float32 [>= P + N,
// D], gains [D] -> y T [B, N, HEADS D], keys and values with the new positions C [B, KV_HEADS, P + N, D]
//: kernel fast_attention(qkv, keys, values, table, q_gain, k_gain, eps) -> y, all_keys, all_values
  constexpr int GROUP = HEADS / KV_HEADS, WIDTH = (HEADS + 2 * KV_HEADS) * D;
  const int past = PAST ? keys_shape[2] : 0;
  const uint lane = thread_index_in_simdgroup;
  const int simdgroup = int(simdgroup_index_in_threadgroup), simdgroups = int(simdgroups_per_threadgroup);
  const int kv = int(threadgroup_position_in_grid.y), b = int(threadgroup_position_in_grid.z);

  device C* k_all = all_keys + size_t(b * KV_HEADS + kv) * (past + N) * D;
  device C* v_all = all_values + size_t(b * KV_HEADS + kv) * (past + N) * D;
  if (PAST) {
    const size_t old = size_t(b * KV_HEADS + kv) * past * D;
    for (int i = int(thread_index_in_threadgroup); i < past * D; i += 32 * simdgroups) {
      k_all[i] = C(keys[old + i]);
      v_all[i] = C(values[old + i]);
    }
  }
  for (int i = simdgroup; i < N; i += simdgroups) {
    const device T* token = qkv + size_t(b * N + i) * WIDTH;
    s2::Head<D> k, v;
    k.load(token + (HEADS + kv) * D, lane);
    if (NORM) k.normalize(k_gain, eps, lane);
    k.rotate(table + (past + i) * D, lane);
    k.store(k_all + (past + i) * D, lane);
    v.load(token + (HEADS + KV_HEADS + kv) * D, lane);
    v.store(v_all + (past + i) * D, lane);
  }
  threadgroup_barrier(mem_flags::mem_device);

  for (int task = simdgroup; task < GROUP * N; task += simdgroups) {
    const int i = task / GROUP, head = kv * GROUP + task % GROUP;
    s2::Head<D> q;
    q.load(qkv + size_t(b * N + i) * WIDTH + head * D, lane);
    if (NORM) q.normalize(q_gain, eps, lane);
    q.rotate(table + (past + i) * D, lane);
    s2::Softmax<D> softmax;
    softmax.start();
    for (int p = 0; p <= past + i; p++) {
      s2::Head<D> k, v;
      k.load(k_all + p * D, lane);
      v.load(v_all + p * D, lane);
      softmax.add(q.dot(k) * rsqrt(float(D)), v);
    }
    for (int j = 0; j < s2::Head<D>::PAIRS; j++) softmax.sum.pair[j] = softmax.sum.pair[j] * (1.0f / softmax.total);
    softmax.sum.store(y + (size_t(b * N + i) * HEADS + head) * D, lane);
  }
