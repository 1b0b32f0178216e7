// Causal convolution with what stands around it in one launch: Snake before, bias, activation, gain and residual after.
// A causal transposed convolution is the same with its strides as further output channels (see conv.py).
// Template: K taps, DILATION, SNAKE, ACTIVATION (0 none, 1 exact GELU, 2 tanh), GAMMA, RESIDUAL,
// and the tile: WM x WN simdgroups of TM x TN matrices of 8 x 8.
//
// A matrix product on simdgroup matrices: rows are times, the inner side is (tap, input channel). Per 32 input channels
// the threadgroup stages its times and the past they reach, once, with Snake applied; the taps read it at their
// offsets. The lanes of an 8 x 8 matrix hold two neighbours of a row each, in the places MLX's own kernels rely on.
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>

namespace s2 {

enum { DEPTH = 32, PITCH = 36 };  // input channels staged at once, and the staged row's length (spread over the banks)

inline float snake(float x, float alpha) {
  const float s = sin(alpha * x);
  return x + s * s / (alpha + 1e-9f);
}

// Abramowitz and Stegun 7.1.26: error below 1.5e-7
inline float erf(float x) {
  const float a = fabs(x), t = 1.0f / (1.0f + 0.3275911f * a);
  const float p = 0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f)));
  return copysign(1.0f - t * p * exp(-a * a), x);
}

inline float activate(float x, int activation) {
  if (activation == 1) return 0.5f * x * (1.0f + erf(x * 0.70710678f));
  if (activation == 2) return tanh(x);
  return x;
}

}  // namespace s2

// x [T, in], past [(K - 1) DILATION, in] (the rows before x), weight [K, in, out], alpha [in], bias, gamma [out],
// residual [T, out] -> y float32 [T, out] = residual + gamma * activation(conv(snake(x)) + bias), next_past as past
//: kernel conv(x, past, weight, alpha, bias, gamma, residual) -> y, next_past
  constexpr int ROWS = 8 * TM * WM, COLUMNS = 8 * TN * WN, REACH = (K - 1) * DILATION, THREADS = 32 * WM * WN;
  const int length = x_shape[0], in = x_shape[1], out = weight_shape[2];
  const int lane = int(thread_index_in_simdgroup), simdgroup = int(simdgroup_index_in_threadgroup);
  const int me = int(thread_index_in_threadgroup);
  const int group = int(threadgroup_position_in_grid.x + threadgroups_per_grid.x * threadgroup_position_in_grid.y);
  const int row0 = int(threadgroup_position_in_grid.y) * ROWS;
  const int m0 = simdgroup / WN * TM * 8, n0 = int(threadgroup_position_in_grid.x) * COLUMNS + simdgroup % WN * TN * 8;
  const int fragment_row = (lane / 4 & 4) + lane / 2 % 4, fragment_column = (lane / 4 & 2) * 2 + lane % 2 * 2;

  threadgroup float staged[ROWS + REACH][s2::PITCH];

  simdgroup_float8x8 sum[TM][TN];
  for (int m = 0; m < TM; m++)
    for (int n = 0; n < TN; n++) sum[m][n].thread_elements()[0] = sum[m][n].thread_elements()[1] = 0.0f;

  for (int c0 = 0; c0 < in; c0 += s2::DEPTH) {
    const int c = c0 + me % s2::DEPTH;
    for (int r = me / s2::DEPTH; r < ROWS + REACH; r += THREADS / s2::DEPTH) {
      const int time = row0 + r - REACH;
      float value = 0.0f;
      if (c < in && time < length) {
        value = time >= 0 ? float(x[time * in + c]) : float(past[(REACH + time) * in + c]);
        if (SNAKE) value = s2::snake(value, float(alpha[c]));
      }
      staged[r][me % s2::DEPTH] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int tap = 0; tap < K; tap++)
      for (int d = 0; d < s2::DEPTH && c0 + d < in; d += 8) {
        simdgroup_float8x8 left[TM], right[TN];
        for (int m = 0; m < TM; m++)
          for (int i = 0; i < 2; i++)
            left[m].thread_elements()[i] = staged[m0 + m * 8 + fragment_row + tap * DILATION][d + fragment_column + i];
        const int channel = c0 + d + fragment_row;
        for (int n = 0; n < TN; n++)
          for (int i = 0; i < 2; i++) {
            const int column = n0 + n * 8 + fragment_column + i;
            right[n].thread_elements()[i] =
                channel < in && column < out ? float(weight[(size_t(tap) * in + channel) * out + column]) : 0.0f;
          }
        for (int m = 0; m < TM; m++)
          for (int n = 0; n < TN; n++) simdgroup_multiply_accumulate(sum[m][n], left[m], right[n], sum[m][n]);
      }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  for (int m = 0; m < TM; m++)
    for (int n = 0; n < TN; n++)
      for (int i = 0; i < 2; i++) {
        const int time = row0 + m0 + m * 8 + fragment_row, column = n0 + n * 8 + fragment_column + i;
        if (time >= length || column >= out) continue;
        float value = s2::activate(sum[m][n].thread_elements()[i] + float(bias[column]), ACTIVATION);
        if (GAMMA) value *= float(gamma[column]);
        if (RESIDUAL) value += float(residual[time * out + column]);
        y[time * out + column] = value;
      }

  const int threads = THREADS * int(threadgroups_per_grid.x * threadgroups_per_grid.y);
  for (int i = group * THREADS + me; i < REACH * in; i += threads) {
    const int time = length - REACH + i / in;
    next_past[i] = time >= 0 ? float(x[time * in + i % in]) : float(past[(REACH + time) * in + i % in]);
  }
