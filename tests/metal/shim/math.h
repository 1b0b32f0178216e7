// The functions of <metal_math> and its neighbours that the kernels use. MLX compiles kernels in Metal's "safe" math
// mode.
#pragma once
#include "types.h"

namespace metal {
using ::vec;
using std::abs; using std::ceil; using std::copysign; using std::cos; using std::exp; using std::fabs; using std::floor;
using std::fma; using std::isinf; using std::isnan; using std::log; using std::max; using std::min; using std::sin;
using std::sqrt; using std::tanh;

inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
template <class T> T clamp(T x, T low, T high) { return std::min(std::max(x, low), high); }
template <class T> T select(T otherwise, T then, bool condition) { return condition ? then : otherwise; }
template <class T, int N>
T dot(const vec<T, N>& a, const vec<T, N>& b) {
  T sum = a[0] * b[0];
  for (int i = 1; i < N; i++) sum = sum + a[i] * b[i];
  return sum;
}
namespace precise { using namespace metal; }
namespace fast { using namespace metal; }
}  // namespace metal
