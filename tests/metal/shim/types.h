// Scalar and vector types of the Metal Shading Language, as far as the kernels use them. Knows nothing of threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

typedef uint8_t uchar;
typedef uint16_t ushort;
typedef uint32_t uint;
typedef uint64_t ulong;

template <class To, class From>
inline To as_type(From f) {
  static_assert(sizeof(To) == sizeof(From), "as_type between types of different size");
  To t;
  memcpy(&t, &f, sizeof(To));
  return t;
}

inline float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t(h >> 15) << 31, exponent = (h >> 10) & 31, fraction = h & 1023;
  if (exponent == 0) {
    const float f = float(fraction) * 5.9604644775390625e-8f;  // 2^-24
    return sign ? -f : f;
  }
  const uint32_t e = exponent == 31 ? 255 : exponent + 112;
  return as_type<float>(sign | e << 23 | fraction << 13);
}

// Round to nearest even, as the GPU does.
inline uint16_t float_to_half(float f) {
  const uint32_t u = as_type<uint32_t>(f), sign = (u >> 16) & 0x8000, a = u & 0x7FFFFFFF;
  if (a > 0x7F800000) return uint16_t(sign | 0x7E00);
  if (a >= 0x477FF000) return uint16_t(sign | 0x7C00);
  if (a < 0x38800000) {  // subnormal half: the addition rounds at 2^-24
    const uint32_t r = as_type<uint32_t>(as_type<float>(a) + 0.5f);
    return uint16_t(sign | (r - 0x3F000000));
  }
  return uint16_t(sign | ((a + 0xFFF + ((a >> 13) & 1) - 0x38000000) >> 13));
}

#ifdef SHIM_COUNT  // compiled to be counted, not to be run
typedef _Float16 half;
#else
struct half {
  uint16_t bits;
  half() = default;
  template <class S, class = std::enable_if_t<std::is_arithmetic<S>::value>>
  half(S s) : bits(float_to_half(float(s))) {}
  operator float() const { return half_to_float(bits); }
};
#endif

struct bfloat {
  uint16_t bits;
  bfloat() = default;
  template <class S, class = std::enable_if_t<std::is_arithmetic<S>::value>>
  bfloat(S s) {
    const uint32_t u = as_type<uint32_t>(float(s));
    bits = std::isnan(float(s)) ? 0x7FC0 : uint16_t((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
  }
  operator float() const { return as_type<float>(uint32_t(bits) << 16); }
};

// half op half rounds to half, as on the GPU, and does not stay float.
#define SHIM_OPERATOR(H, op) \
  inline H operator op(H a, H b) { return H(float(a) op float(b)); }
#ifndef SHIM_COUNT
SHIM_OPERATOR(half, +) SHIM_OPERATOR(half, -) SHIM_OPERATOR(half, *) SHIM_OPERATOR(half, /)
#endif
SHIM_OPERATOR(bfloat, +) SHIM_OPERATOR(bfloat, -) SHIM_OPERATOR(bfloat, *) SHIM_OPERATOR(bfloat, /)
#undef SHIM_OPERATOR

typedef half float16_t;
typedef bfloat bfloat16_t;

// ---- vectors of 2, 3, 4: aligned to their size (3 as 4), so that UBSan sees a misaligned vector load
template <class T, int N> struct vec_storage;
template <class T> struct alignas(2 * sizeof(T)) vec_storage<T, 2> { T x, y; };
template <class T> struct alignas(4 * sizeof(T)) vec_storage<T, 3> { T x, y, z; };
template <class T> struct alignas(4 * sizeof(T)) vec_storage<T, 4> { T x, y, z, w; };

template <class T, int N>
struct vec : vec_storage<T, N> {
  vec() = default;
  template <class S, class = std::enable_if_t<std::is_convertible<S, T>::value>>
  vec(S s) { for (int i = 0; i < N; i++) (*this)[i] = T(s); }
  template <class S>
  explicit vec(const vec<S, N>& o) { for (int i = 0; i < N; i++) (*this)[i] = T(o[i]); }
  template <class A, class B, class... Rest>
  vec(A a, B b, Rest... rest) {
    static_assert(2 + sizeof...(rest) == N, "wrong number of components");
    const T all[] = {T(a), T(b), T(rest)...};
    for (int i = 0; i < N; i++) (*this)[i] = all[i];
  }
  T& operator[](int i) { return ((T*)this)[i]; }
  const T& operator[](int i) const { return ((const T*)this)[i]; }
};

#define SHIM_VECTOR_OPERATOR(op)                                                            \
  template <class T, int N>                                                                 \
  vec<T, N> operator op(const vec<T, N>& a, const vec<T, N>& b) {                           \
    vec<T, N> r;                                                                            \
    for (int i = 0; i < N; i++) r[i] = T(a[i] op b[i]);                                     \
    return r;                                                                               \
  }                                                                                         \
  template <class T, int N, class S, class = std::enable_if_t<std::is_arithmetic<S>::value>> \
  vec<T, N> operator op(const vec<T, N>& a, S s) { return a op vec<T, N>(s); }              \
  template <class T, int N, class S, class = std::enable_if_t<std::is_arithmetic<S>::value>> \
  vec<T, N> operator op(S s, const vec<T, N>& a) { return vec<T, N>(s) op a; }              \
  template <class T, int N, class S>                                                        \
  vec<T, N>& operator op##=(vec<T, N>& a, const S& s) { return a = a op s; }
SHIM_VECTOR_OPERATOR(+) SHIM_VECTOR_OPERATOR(-) SHIM_VECTOR_OPERATOR(*) SHIM_VECTOR_OPERATOR(/)
#undef SHIM_VECTOR_OPERATOR

#define SHIM_VECTOR(name, T) \
  typedef vec<T, 2> name##2; \
  typedef vec<T, 3> name##3; \
  typedef vec<T, 4> name##4;
SHIM_VECTOR(float, float) SHIM_VECTOR(half, half) SHIM_VECTOR(bfloat, bfloat) SHIM_VECTOR(int, int)
SHIM_VECTOR(uint, uint) SHIM_VECTOR(short, int16_t) SHIM_VECTOR(ushort, ushort) SHIM_VECTOR(char, int8_t)
SHIM_VECTOR(uchar, uchar)
#undef SHIM_VECTOR
