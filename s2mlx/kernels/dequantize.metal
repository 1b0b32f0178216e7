// Raw GGUF blocks to plain numbers: a whole matrix for prefill, or chosen rows of an embedding. One thread opens one
// unit. Template: FORMAT (GGML type), T (type of the result).
#include "blocks.metal"

namespace s2 {

template <int FORMAT, typename T>
inline void open_unit(const device uchar* row, int unit, device T* to) {
  typedef Block<FORMAT> B;
  constexpr int UNITS = B::WEIGHTS / B::UNIT;
  const int block = unit / UNITS, part = unit % UNITS;
  const typename B::Unit u = B::open(row + size_t(block) * B::BYTES, part);
  to += block * B::WEIGHTS;
  S2_UNROLL for (int f = 0; f < B::FOURS; f++)
    S2_UNROLL for (int i = 0; i < 4; i++) to[B::position(part, f) + i] = T(unit_at<B>(u, f, i));
}

}  // namespace s2

// w uint8 [rows, row_bytes] -> y T [rows, K]; grid (units in a row, rows, 1)
//: kernel dequantize(w) -> y
  const uint3 at = thread_position_in_grid;
  const size_t columns = size_t(threads_per_grid.x) * s2::Block<FORMAT>::UNIT;
  s2::open_unit<FORMAT, T>(w + at.y * size_t(w_shape[1]), int(at.x), y + at.y * columns);

// w uint8 [rows, row_bytes], ids int32 [n] -> y T [n, K]; grid (units in a row, n, 1)
//: kernel dequantize_rows(w, ids) -> y
  const uint3 at = thread_position_in_grid;
  const size_t columns = size_t(threads_per_grid.x) * s2::Block<FORMAT>::UNIT;
  const size_t row = size_t(ids[at.y]);
  s2::open_unit<FORMAT, T>(w + row * size_t(w_shape[1]), int(at.x), y + at.y * columns);
