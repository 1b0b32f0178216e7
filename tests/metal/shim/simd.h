// Barriers, simd-wide operations and 8x8 simdgroup matrices, each a meeting of threads (see machine.h).
#pragma once
#include "machine.h"

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
inline mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }

// `line` keeps two calls of one operation apart: the language forbids threads to meet across them.
#define SHIM_LINE int line = __builtin_LINE()

inline void threadgroup_barrier(mem_flags flags, SHIM_LINE) {
  shim::wait(shim::AT_BARRIER, "threadgroup_barrier", line, int(flags));
}

template <class T>
SHIM_UNWATCHED const shim::Snapshot& shim_meet(T value, const char* operation, int line) {
  static_assert(sizeof(T) <= shim::SLOT_BYTES, "too wide for a simd operation");
  shim::Fiber& me = *shim::machine.current;
  memset(me.slot, 0, shim::SLOT_BYTES);
  memcpy(me.slot, &value, sizeof(T));
  shim::wait(shim::AT_SIMD, operation, line);
  return shim::machine.snapshots[me.ids.simdgroup_index_in_threadgroup];
}

template <class T>
SHIM_UNWATCHED T shim_lane(const shim::Snapshot& snapshot, uint lane) {
  if (!(snapshot.active >> lane & 1)) shim::fail("a simd operation reads a lane that has returned");
  T value;
  memcpy(&value, snapshot.slot[lane], sizeof(T));
  return value;
}

inline uint shim_my_lane() { return shim::machine.current->ids.thread_index_in_simdgroup; }

inline void simdgroup_barrier(mem_flags, SHIM_LINE) { shim_meet(0, "simdgroup_barrier", line); }

// In the order of a butterfly, as hardware does; lanes that have returned take no part.
template <class T, class F>
SHIM_UNWATCHED T shim_reduce(T value, const char* operation, int line, F combine) {
  const shim::Snapshot& snapshot = shim_meet(value, operation, line);
  T v[shim::SIMD];
  bool active[shim::SIMD];
  for (uint i = 0; i < shim::SIMD; i++) {
    active[i] = snapshot.active >> i & 1;
    if (active[i]) v[i] = shim_lane<T>(snapshot, i);
  }
  for (uint step = shim::SIMD / 2; step; step /= 2)
    for (uint i = 0; i < step; i++) {
      if (!active[i + step]) continue;
      v[i] = active[i] ? combine(v[i], v[i + step]) : v[i + step];
      active[i] = true;
    }
  return v[0];
}
template <class T> T simd_sum(T v, SHIM_LINE) {
  return shim_reduce(v, "simd_sum", line, [](T a, T b) { return T(a + b); });
}
template <class T> T simd_max(T v, SHIM_LINE) {
  return shim_reduce(v, "simd_max", line, [](T a, T b) { return a > b ? a : b; });
}
template <class T> T simd_min(T v, SHIM_LINE) {
  return shim_reduce(v, "simd_min", line, [](T a, T b) { return a < b ? a : b; });
}
template <class T> T simd_broadcast(T v, ushort lane, SHIM_LINE) {
  return shim_lane<T>(shim_meet(v, "simd_broadcast", line), lane);
}
template <class T> T simd_shuffle_xor(T v, ushort mask, SHIM_LINE) {
  return shim_lane<T>(shim_meet(v, "simd_shuffle_xor", line), shim_my_lane() ^ mask);
}

// Two elements of the 8x8 matrix lie in each lane, in the places of Apple's GPUs (as MLX's own kernels assume).
inline uint shim_matrix_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
inline uint shim_matrix_column(uint lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }

template <class T, int R, int C>
struct simdgroup_matrix {
  static_assert(R == 8 && C == 8, "only 8x8");
  vec<T, 2> elements;
  vec<T, 2>& thread_elements() { return elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;

inline void simdgroup_multiply_accumulate(simdgroup_float8x8& d, simdgroup_float8x8 a, simdgroup_float8x8 b,
                                          simdgroup_float8x8 c, SHIM_LINE) {
  const float4 mine(a.elements.x, a.elements.y, b.elements.x, b.elements.y);
  const shim::Snapshot& snapshot = shim_meet(mine, "simdgroup_multiply_accumulate", line);
  float left[8][8], right[8][8];
  for (uint lane = 0; lane < shim::SIMD; lane++) {
    const float4 v = shim_lane<float4>(snapshot, lane);
    const uint row = shim_matrix_row(lane), column = shim_matrix_column(lane);
    left[row][column] = v.x, left[row][column + 1] = v.y;
    right[row][column] = v.z, right[row][column + 1] = v.w;
  }
  const uint row = shim_matrix_row(shim_my_lane()), column = shim_matrix_column(shim_my_lane());
  for (uint i = 0; i < 2; i++) {
    float sum = c.elements[i];
    for (uint k = 0; k < 8; k++) sum += left[row][k] * right[k][column + i];
    d.elements[i] = sum;
  }
}

}  // namespace metal
