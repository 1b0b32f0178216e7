// Matrix-vector product over raw GGUF blocks: y[m] = W x[m] for up to M = 1, 2, 4 or 8 vectors, W read once, sums in
// float32. Template: FORMAT (GGML type), T (type of x and y), M, SIMDGROUPS of a threadgroup, CHUNK (columns staged at
// a time, a multiple of 512).
//
// A threadgroup brings x into its memory, lifted (see blocks.metal) and with the norm's gain, so that it is read from
// device memory once for all its rows, and puts it so that neighbouring threads find their fours side by side. A *team*
// of 16 lanes computes a few rows: its lanes share out the units of a row, so that neighbours read neighbouring words,
// and meet once at the end. With one vector a unit's values stay in registers while the rows pass by; with more, the
// opened units stay and the vectors pass by.
#include <metal_simdgroup>

#include "blocks.metal"

namespace s2 {

enum { TEAM = 16 };

template <int M>
struct Rows {
  enum { COUNT = M == 1 ? 4 : 2 };  // of a team
};

// First row of this thread's team, of R each.
inline int first_row(uint group, uint simdgroup, uint lane, int simdgroups, int rows_each) {
  return (int(group) * simdgroups + int(simdgroup)) * 2 * rows_each + int(lane / TEAM) * rows_each;
}

// Columns from `begin` on of x [vectors, K] into `staged` [M, FOURS, units]; adds up squares of x as it was.
template <typename B, int M, int CHUNK, int THREADS, bool NORM, typename T, typename G>
inline void stage(const device T* x, int vectors, int K, int begin, const device G* gain, int me,
                  threadgroup float4* staged, thread float* squares) {
  constexpr int UNITS = CHUNK / B::UNIT;
  S2_UNROLL for (int m = 0; m < M; m++) {
    const device T* row = x + size_t(min(m, vectors - 1)) * K;
    for (int c = begin + 4 * me; c < min(K, begin + CHUNK); c += 4 * THREADS) {
      float4 v = float4(float(row[c]), float(row[c + 1]), float(row[c + 2]), float(row[c + 3]));
      const int inside = c % B::WEIGHTS, four = B::four_of(inside);
      const int unit = (c - begin) / B::WEIGHTS * (B::WEIGHTS / B::UNIT) + B::unit_of(inside);
      if (NORM) {
        squares[m] += dot(v, v);
        v = v * float4(float(gain[c]), float(gain[c + 1]), float(gain[c + 2]), float(gain[c + 3]));
      }
      staged[(m * B::FOURS + four) * UNITS + unit] = v * B::lift(four);
    }
  }
}

// sum[m][r] = row[r] . x[m], the same in every lane of a team; with NORM x[m] counts as RMSNorm(x[m]) * gain. Every
// thread of the group comes here. staged: M * CHUNK / 4, partial: M * SIMDGROUPS.
template <int FORMAT, int M, int R, int SIMDGROUPS, int CHUNK, bool NORM, typename T, typename G>
inline void product(const device uchar* const thread* row, const device T* x, int vectors, int K, const device G* gain,
                    float eps, uint simdgroup, uint lane, threadgroup float4* staged, threadgroup float* partial,
                    thread float (&sum)[M][R]) {
  typedef Block<FORMAT> B;
  constexpr int UNITS = CHUNK / B::UNIT, IN_BLOCK = B::WEIGHTS / B::UNIT;
  float squares[M];
  S2_UNROLL for (int m = 0; m < M; m++) {
    squares[m] = 0.0f;
    S2_UNROLL for (int r = 0; r < R; r++) sum[m][r] = 0.0f;
  }
  for (int begin = 0; begin < K; begin += CHUNK) {
    if (begin > 0) threadgroup_barrier(mem_flags::mem_threadgroup);
    stage<B, M, CHUNK, 32 * SIMDGROUPS, NORM>(x, vectors, K, begin, gain, int(simdgroup * 32 + lane), staged, squares);
    if (NORM && begin + CHUNK >= K)
      S2_UNROLL for (int m = 0; m < M; m++) {
        const float whole = simd_sum(squares[m]);
        if (lane == 0) partial[m * SIMDGROUPS + int(simdgroup)] = whole;
      }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int units = min(CHUNK, K - begin) / B::UNIT;
    for (int unit = int(lane % TEAM); unit < units; unit += TEAM) {
      const int part = unit % IN_BLOCK;
      const size_t bytes = size_t(begin / B::WEIGHTS + unit / IN_BLOCK) * B::BYTES;
      if (M == 1) {
        float4 v[B::FOURS];
        S2_UNROLL for (int f = 0; f < B::FOURS; f++) v[f] = staged[f * UNITS + unit];
        const float4 side = sides<B>(v, B());
        S2_UNROLL for (int r = 0; r < R; r++) {
          const typename B::Unit w = B::open(row[r] + bytes, part);
          sum[0][r] = unit_dot<B>(w, v, side, sum[0][r]);
        }
      } else {
        typename B::Unit w[R];
        S2_UNROLL for (int r = 0; r < R; r++) w[r] = B::open(row[r] + bytes, part);
        S2_UNROLL for (int m = 0; m < M; m++) {
          float4 v[B::FOURS];
          S2_UNROLL for (int f = 0; f < B::FOURS; f++) v[f] = staged[(m * B::FOURS + f) * UNITS + unit];
          const float4 side = sides<B>(v, B());
          S2_UNROLL for (int r = 0; r < R; r++) sum[m][r] = unit_dot<B>(w[r], v, side, sum[m][r]);
        }
      }
    }
  }
  S2_UNROLL for (int m = 0; m < M; m++) {
    float scale = 1.0f;
    if (NORM) {
      float whole = 0.0f;
      for (int s = 0; s < SIMDGROUPS; s++) whole += partial[m * SIMDGROUPS + s];
      scale = rsqrt(whole / float(K) + eps);
    }
    S2_UNROLL for (int r = 0; r < R; r++) {
      float whole = sum[m][r];
      S2_UNROLL for (int step = TEAM / 2; step > 0; step /= 2) whole += simd_shuffle_xor(whole, ushort(step));
      sum[m][r] = whole * scale;
    }
  }
}

// Starts of `count` rows from `first` on; past the end the last row again, whose result nobody writes.
inline void row_starts(const device uchar* w, int first, int count, int rows, size_t row_bytes,
                       const device uchar* thread* row) {
  for (int r = 0; r < count; r++) row[r] = w + size_t(min(first + r, rows - 1)) * row_bytes;
}

}  // namespace s2

// w uint8 [rows, row_bytes], x T [up to M, K] -> y T [as many, rows]
//: kernel qmv(w, x) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  threadgroup float4 staged[M * CHUNK / 4];
  threadgroup float partial[1];
  const uint simdgroup = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
  const int rows = w_shape[0], vectors = x_shape[0];
  const int first = s2::first_row(threadgroup_position_in_grid.x, simdgroup, lane, SIMDGROUPS, R);
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, SIMDGROUPS, CHUNK, false>(row, x, vectors, x_shape[1], x, 0.0f, simdgroup, lane, staged,
                                                      partial, sum);
  if (lane % s2::TEAM != 0) return;
  for (int m = 0; m < min(M, vectors); m++)
    for (int r = 0; r < min(R, rows - first); r++) y[m * rows + first + r] = T(sum[m][r]);

// y = residual + W x; residual T as y
//: kernel qmv_add(w, x, residual) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  threadgroup float4 staged[M * CHUNK / 4];
  threadgroup float partial[1];
  const uint simdgroup = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
  const int rows = w_shape[0], vectors = x_shape[0];
  const int first = s2::first_row(threadgroup_position_in_grid.x, simdgroup, lane, SIMDGROUPS, R);
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, SIMDGROUPS, CHUNK, false>(row, x, vectors, x_shape[1], x, 0.0f, simdgroup, lane, staged,
                                                      partial, sum);
  if (lane % s2::TEAM != 0) return;
  for (int m = 0; m < min(M, vectors); m++)
    for (int r = 0; r < min(R, rows - first); r++) {
      const int at = m * rows + first + r;
      y[at] = T(float(residual[at]) + sum[m][r]);
    }

// y = W RMSNorm(x); gain [K], eps scalar
//: kernel qmv_norm(w, x, gain, eps) -> y
  constexpr int R = s2::Rows<M>::COUNT;
  threadgroup float4 staged[M * CHUNK / 4];
  threadgroup float partial[M * SIMDGROUPS];
  const uint simdgroup = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
  const int rows = w_shape[0], vectors = x_shape[0];
  const int first = s2::first_row(threadgroup_position_in_grid.x, simdgroup, lane, SIMDGROUPS, R);
  const device uint8_t* row[R];
  s2::row_starts(w, first, R, rows, size_t(w_shape[1]), row);
  float sum[M][R];
  s2::product<FORMAT, M, R, SIMDGROUPS, CHUNK, true>(row, x, vectors, x_shape[1], gain, eps, simdgroup, lane, staged,
                                                     partial, sum);
  if (lane % s2::TEAM != 0) return;
  for (int m = 0; m < min(M, vectors); m++)
    for (int r = 0; r < min(R, rows - first); r++) y[m * rows + first + r] = T(sum[m][r]);

// y = silu(W1 n) * (W3 n), n = RMSNorm(x); w1 and w3 uint8 [rows, row_bytes] of one format
//: kernel qmv_norm_swiglu(w1, w3, x, gain, eps) -> y
  constexpr int R = s2::Rows<M>::COUNT, H = R / 2;
  threadgroup float4 staged[M * CHUNK / 4];
  threadgroup float partial[M * SIMDGROUPS];
  const uint simdgroup = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
  const int rows = w1_shape[0], vectors = x_shape[0];
  const int first = s2::first_row(threadgroup_position_in_grid.x, simdgroup, lane, SIMDGROUPS, H);
  const device uint8_t* row[R];
  s2::row_starts(w1, first, H, rows, size_t(w1_shape[1]), row);
  s2::row_starts(w3, first, H, rows, size_t(w1_shape[1]), row + H);
  float sum[M][R];
  s2::product<FORMAT, M, R, SIMDGROUPS, CHUNK, true>(row, x, vectors, x_shape[1], gain, eps, simdgroup, lane, staged,
                                                     partial, sum);
  if (lane % s2::TEAM != 0) return;
  for (int m = 0; m < min(M, vectors); m++)
    for (int r = 0; r < min(H, rows - first); r++) {
      const float gate = sum[m][r], up = sum[m][H + r];
      y[m * rows + first + r] = T(gate / (1.0f + exp(-gate)) * up);
    }
