// First half of a ConvNeXt block in one launch: depthwise causal convolution and LayerNorm.
// Template: C channels, K taps. One threadgroup per time; the row between the two steps stays in threadgroup memory.
#include <metal_simdgroup>

// x [T, C], past [K - 1, C] (the rows before x), weight [K, C], bias, gain, shift [C], eps
// -> y float32 [T, C] = LayerNorm(conv(x) + bias) * gain + shift, next_past as past
//: kernel depthwise_norm(x, past, weight, bias, gain, shift, eps) -> y, next_past
  const int length = x_shape[0], time = int(threadgroup_position_in_grid.y);
  const int me = int(thread_index_in_threadgroup), threads = 32 * int(simdgroups_per_threadgroup);
  const int simdgroup = int(simdgroup_index_in_threadgroup), simdgroups = int(simdgroups_per_threadgroup);
  threadgroup float row[C];
  threadgroup float partial[2][32];

  float sum = 0.0f;
  for (int c = me; c < C; c += threads) {
    float value = float(bias[c]);
    for (int k = 0; k < K; k++) {
      const int t = time + k - (K - 1);
      value += float(weight[k * C + c]) * (t >= 0 ? float(x[t * C + c]) : float(past[(K - 1 + t) * C + c]));
    }
    row[c] = value;
    sum += value;
  }
  sum = simd_sum(sum);
  if (thread_index_in_simdgroup == 0) partial[0][simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float mean = 0.0f;
  for (int s = 0; s < simdgroups; s++) mean += partial[0][s];
  mean /= float(C);

  float squares = 0.0f;
  for (int c = me; c < C; c += threads) squares += (row[c] - mean) * (row[c] - mean);
  squares = simd_sum(squares);
  if (thread_index_in_simdgroup == 0) partial[1][simdgroup] = squares;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float variance = 0.0f;
  for (int s = 0; s < simdgroups; s++) variance += partial[1][s];
  const float scale = rsqrt(variance / float(C) + eps);
  for (int c = me; c < C; c += threads) y[time * C + c] = (row[c] - mean) * scale * float(gain[c]) + float(shift[c]);

  // rows of the next past, one by one over the groups
  for (int r = time; r < K - 1; r += length)
    for (int c = me; c < C; c += threads) {
      const int t = length - (K - 1) + r;
      next_past[r * C + c] = t >= 0 ? float(x[t * C + c]) : float(past[(K - 1 + t) * C + c]);
    }
