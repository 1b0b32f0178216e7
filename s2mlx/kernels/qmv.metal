// Matrix-vector product over raw GGUF blocks: y[m] = W x[m] for M = 1 to 8 vectors, W read once, sums in float32.
// Template: FORMAT (GGML type), T (type of x and y), M.
//
// A simdgroup computes a few rows; its lanes share out the units of a row (see blocks.metal), so that neighbouring
// lanes read neighbouring words, and meet once at the end. With M <= 2 a unit's x values stay in registers while the
// rows pass by; with more, the opened units stay and the vectors pass by. Two simdgroups make a threadgroup; they share
// nothing.
#include <metal_simdgroup>

#include "blocks.metal"

namespace s2 {

enum { SIMDGROUPS = 2 };

template <int M>
struct Rows {
  enum { COUNT = M <= 2 ? 4 : 2 };
};

template <typename B, typename T>
inline void take(const device T* x, thread float4* values) {
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 4; i++) values[s][i] = float(x[s * B::STRIDE + i]);
}

// Applies the norm's gain to x and adds up the squares of x as it was.
inline float with_gain(thread float4* x, const thread float4* gain) {
  float squares = 0.0f;
  for (int s = 0; s < 4; s++) {
    squares += dot(x[s], x[s]);
    x[s] = x[s] * gain[s];
  }
  return squares;
}

// Adds a unit's product to `sum`. Fused by hand: in MLX's safe math mode the compiler need not do it.
template <typename B>
inline float multiply(const thread Unit& w, const thread float4* x, float sum) {
  for (int s = 0; s < 4; s++) {
    const float4 q = w.q[s], v = x[s];
    sum = fma(w.scale[s], fma(q.w, v.w, fma(q.z, v.z, fma(q.y, v.y, q.x * v.x))), sum);
    if (B::HAS_MINIMUM) sum = fma(-w.minimum[s], v.x + v.y + v.z + v.w, sum);
  }
  return sum;
}

// sum[m][r] = row[r] . x[m], the same in every lane; with NORM x[m] counts as RMSNorm(x[m]) * gain. x is [M, K].
template <int FORMAT, int M, int R, bool NORM, typename T, typename G>
inline void product(const device uchar* const thread* row, const device T* x, int K, const device G* gain, float eps,
                    uint lane, thread float (&sum)[M][R]) {
  typedef Block<FORMAT> B;
  float squares[M];
  for (int m = 0; m < M; m++) {
    squares[m] = 0.0f;
    for (int r = 0; r < R; r++) sum[m][r] = 0.0f;
  }
  for (int unit = int(lane); unit < K / 16; unit += 32) {
    const int block = unit / B::UNITS, part = unit % B::UNITS;
    const size_t bytes = size_t(block) * B::BYTES;
    const int column = block * B::WEIGHTS + B::position(part);
    float4 g[4];
    if (NORM) take<B>(gain + column, g);
    if (M <= 2) {
      float4 v[M][4];
      for (int m = 0; m < M; m++) {
        take<B>(x + m * K + column, v[m]);
        if (NORM) squares[m] += with_gain(v[m], g);
      }
      for (int r = 0; r < R; r++) {
        const Unit w = B::open(row[r] + bytes, part);
        for (int m = 0; m < M; m++) sum[m][r] = multiply<B>(w, v[m], sum[m][r]);
      }
    } else {
      Unit w[R];
      for (int r = 0; r < R; r++) w[r] = B::open(row[r] + bytes, part);
      for (int m = 0; m < M; m++) {
        float4 v[4];
        take<B>(x + m * K + column, v);
        if (NORM) squares[m] += with_gain(v, g);
        for (int r = 0; r < R; r++) sum[m][r] = multiply<B>(w[r], v, sum[m][r]);
      }
    }
  }
  for (int m = 0; m < M; m++) {
    const float scale = NORM ? rsqrt(simd_sum(squares[m]) / float(K) + eps) : 1.0f;
    for (int r = 0; r < R; r++) sum[m][r] = simd_sum(sum[m][r]) * scale;
  }
}

// Starts of `count` rows from `first` on; past the end the last row again, whose result nobody writes.
inline void row_starts(const device uchar* w, int first, int count, int rows, size_t row_bytes,
                       const device uchar* thread* row) {
  for (int r = 0; r < count; r++) row[r] = w + size_t(min(first + r, rows - 1)) * row_bytes;
}

}  // namespace s2

// w uint8 [rows, row_bytes], x T [M, K] -> y T [M, rows]
//: kernel qmv(w, x) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  const int rows = w_shape[0];
  const int first = int(threadgroup_position_in_grid.x * s2::SIMDGROUPS + simdgroup_index_in_threadgroup) * R;
  if (first >= rows) return;
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, false>(row, x, x_shape[1], x, 0.0f, thread_index_in_simdgroup, sum);
  if (thread_index_in_simdgroup != 0) return;
  for (int m = 0; m < M; m++)
    for (int r = 0; r < min(R, rows - first); r++) y[m * rows + first + r] = T(sum[m][r]);

// y = residual + W x; residual T [M, rows]
//: kernel qmv_add(w, x, residual) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  const int rows = w_shape[0];
  const int first = int(threadgroup_position_in_grid.x * s2::SIMDGROUPS + simdgroup_index_in_threadgroup) * R;
  if (first >= rows) return;
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, false>(row, x, x_shape[1], x, 0.0f, thread_index_in_simdgroup, sum);
  if (thread_index_in_simdgroup != 0) return;
  for (int m = 0; m < M; m++)
    for (int r = 0; r < min(R, rows - first); r++) {
      const int at = m * rows + first + r;
      y[at] = T(float(residual[at]) + sum[m][r]);
    }

// y = W RMSNorm(x); gain [K], eps scalar
//: kernel qmv_norm(w, x, gain, eps) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  const int rows = w_shape[0];
  const int first = int(threadgroup_position_in_grid.x * s2::SIMDGROUPS + simdgroup_index_in_threadgroup) * R;
  if (first >= rows) return;
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, true>(row, x, x_shape[1], gain, eps, thread_index_in_simdgroup, sum);
  if (thread_index_in_simdgroup != 0) return;
  for (int m = 0; m < M; m++)
    for (int r = 0; r < min(R, rows - first); r++) y[m * rows + first + r] = T(sum[m][r]);

// y = silu(W1 n) * (W3 n), n = RMSNorm(x); w1 and w3 uint8 [rows, row_bytes] of one format
//: kernel qmv_norm_swiglu(w1, w3, x, gain, eps) -> y
  constexpr int R = s2::Rows<M>::COUNT, H = R / 2;
  const int rows = w1_shape[0];
  const int first = int(threadgroup_position_in_grid.x * s2::SIMDGROUPS + simdgroup_index_in_threadgroup) * H;
  if (first >= rows) return;
  const device uint8_t* row[R];
  s2::row_starts(w1, first, H, rows, size_t(w1_shape[1]), row);
  s2::row_starts(w3, first, H, rows, size_t(w1_shape[1]), row + H);
  float sum[M][R];
  s2::product<FORMAT, M, R, true>(row, x, x_shape[1], gain, eps, thread_index_in_simdgroup, sum);
  if (thread_index_in_simdgroup != 0) return;
  for (int m = 0; m < M; m++)
    for (int r = 0; r < min(H, rows - first); r++) {
      const float gate = sum[m][r], up = sum[m][H + r];
      y[m * rows + first + r] = T(gate / (1.0f + exp(-gate)) * up);
    }
