// Declarations of the Metal Shading Language for clang's C++ front end, address spaces as clang's own: types only,
// nothing runs. Needs no system header.
typedef unsigned char uchar;
typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned short ushort;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long ulong;
typedef unsigned long uint64_t;
typedef long int64_t;
typedef unsigned long size_t;
typedef _Float16 half;
typedef __bf16 bfloat;
typedef half float16_t;
typedef bfloat bfloat16_t;
#define INFINITY __builtin_inff()

template <class T, int N> struct vec;
template <class T> struct vec<T, 2> {
  T x, y;
  vec(); vec(T); vec(T, T);
  vec(const vec&); vec(const __attribute__((address_space(1))) vec&); vec& operator=(const vec&);
  template <class S> explicit vec(vec<S, 2>);
  T& operator[](int); const T& operator[](int) const;
};
template <class T> struct vec<T, 3> {
  T x, y, z;
  vec(); vec(T); vec(T, T, T);
  template <class S> explicit vec(vec<S, 3>);
  T& operator[](int); const T& operator[](int) const;
};
template <class T> struct vec<T, 4> {
  T x, y, z, w;
  vec(); vec(T); vec(T, T, T, T);
  vec(const vec&); vec(const __attribute__((address_space(1))) vec&); vec& operator=(const vec&);
  template <class S> explicit vec(vec<S, 4>);
  T& operator[](int); const T& operator[](int) const;
};
template <class T> struct same { typedef T type; };
#define OPERATOR(op)                                                                       \
  template <class T, int N> vec<T, N> operator op(vec<T, N>, vec<T, N>);                    \
  template <class T, int N> vec<T, N> operator op(vec<T, N>, typename same<T>::type);       \
  template <class T, int N> vec<T, N> operator op(typename same<T>::type, vec<T, N>);
OPERATOR(+) OPERATOR(-) OPERATOR(*) OPERATOR(/)
#define VECTOR(name, T) typedef vec<T, 2> name##2; typedef vec<T, 3> name##3; typedef vec<T, 4> name##4;
VECTOR(float, float) VECTOR(half, half) VECTOR(bfloat, bfloat) VECTOR(int, int) VECTOR(uint, uint)
VECTOR(short, short) VECTOR(ushort, ushort) VECTOR(char, signed char) VECTOR(uchar, uchar)

// A float4 in threadgroup memory: C++ has no members of such objects, so typecheck.py writes this for it.
struct threadgroup_float4 {
  operator float4() const; threadgroup_float4& operator=(float4);
};

template <class To, class From> To as_type(From);

namespace metal {
enum class mem_flags { mem_none, mem_device, mem_threadgroup };
void threadgroup_barrier(mem_flags);
void simdgroup_barrier(mem_flags);
template <class T> T simd_sum(T);
template <class T> T simd_max(T);
template <class T> T simd_min(T);
template <class T> T simd_broadcast(T, ushort);
template <class T> T simd_shuffle_xor(T, ushort);
#define FUNCTION(f) float f(float); half f(half);
FUNCTION(sin) FUNCTION(cos) FUNCTION(exp) FUNCTION(log) FUNCTION(sqrt) FUNCTION(rsqrt) FUNCTION(tanh) FUNCTION(fabs)
FUNCTION(floor) FUNCTION(ceil)
float copysign(float, float);
float fma(float, float, float);
template <class T> T min(T, T);
template <class T> T max(T, T);
template <class T> T clamp(T, T, T);
template <class T> T abs(T);
template <class T, int N> T dot(vec<T, N>, vec<T, N>);
template <class T, int R, int C> struct simdgroup_matrix { vec<T, 2>& thread_elements(); };
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
void simdgroup_multiply_accumulate(simdgroup_float8x8&, simdgroup_float8x8, simdgroup_float8x8, simdgroup_float8x8);
}  // namespace metal
using namespace metal;

#define device __attribute__((address_space(1)))
#define constant __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#define thread
#define METAL_FUNC inline
