// GGUF blocks as they lie in the file, opened a unit at a time: 32 weights (of floats 16) that one thread takes. Knows
// the formats, nothing of what is done with them.
//
// A unit is eight *fours* of four neighbours each (floats: four). Of a 256-weight block a unit is eight neighbours of
// each of the four rows of 32 in one half, so that scales are opened once for 32 weights and no byte is read twice.
//
// Weights stay as the file has them, masked in place: a number below 1024 in the low bits of a half-precision word *is*
// that number times 2^-24, a subnormal, and half-precision operands of float32 operations cost nothing on Apple's GPUs.
// The powers of two come back by the vector, which is multiplied by `lift(four)` before (see qmv.metal). With the sum s
// of a group's lifted values, and n the raw weights,
//   W x = d * sum over groups of scale * (n . x + OFFSET's share of s) - least * minimum * s,
// where `side(group)` times s is that share, or s for the minimum. All products of weights are exact in float32.
//
// Blocks of 34, 110 and 210 bytes (Q8_0, Q3_K, Q6_K) lie on even addresses only, so their words are read as two halves.

// What must live in registers; MLX has no macro of its own where kernels of users are built.
#define S2_UNROLL _Pragma("clang loop unroll(full)")

namespace s2 {

constant constexpr float UP = 16777216.0f;            // 2^24
constant constexpr float DOWN = 1.0f / 16777216.0f;

// A quantized unit. q[2j] has columns 0 and 2 of four j as half-precision words, q[2j + 1] columns 1 and 3.
struct Unit {
  uint q[16];
  float4 scale;
  float4 minimum;
  float d;
  float least;
};

inline uint word(const device uchar* p) {
  const device ushort* halves = (const device ushort*)p;
  return uint(halves[0]) | uint(halves[1]) << 16;
}

inline half half_at(const device uchar* p) { return *(const device half*)p; }

// The four bytes of `bytes` as two words of two.
inline void split(uint bytes, thread uint* q) {
  q[0] = bytes & 0x00FF00FFu;
  q[1] = (bytes >> 8) & 0x00FF00FFu;
}

// Rows 0 to 3 of what `even` has of rows 0 and 2, and `odd` of 1 and 3.
inline float4 woven(uint even, uint odd) {
  const half2 a = as_type<half2>(even), b = as_type<half2>(odd);
  return float4(float(a.x), float(b.x), float(a.y), float(b.y));
}

inline float four_dot(const thread uint* q, float4 x, float sum) {
  const half2 even = as_type<half2>(q[0]), odd = as_type<half2>(q[1]);
  sum = fma(float(even.x), x.x, sum);
  sum = fma(float(odd.x), x.y, sum);
  sum = fma(float(even.y), x.z, sum);
  return fma(float(odd.y), x.w, sum);
}

// Weight i of a four, without its scale.
inline float four_at(const thread uint* q, int i) {
  const half2 pair = as_type<half2>(q[i & 1]);
  return float(i < 2 ? pair.x : pair.y);
}

// Quantized blocks: GROUPS scales in a unit; a minimum, or an offset that is subtracted from all weights.
struct Quantized {
  typedef s2::Unit Unit;
  enum { UNIT = 32, FOURS = 8 };
};

// Numbers are GGML's own type numbers. Of each: where in a unit a column lies (`unit_of` and `four_of` of a block's
// column, and `position` back), `lift`, `side`, and `open`.
template <int FORMAT>
struct Block;

template <>
struct Block<8> : Quantized {  // Q8_0: d | 32 x int8
  enum { BYTES = 34, WEIGHTS = 32, GROUPS = 1, HAS_MINIMUM = 0 };
  static int unit_of(int) { return 0; }
  static int four_of(int column) { return column / 4; }
  static int position(int, int four) { return 4 * four; }
  static float lift(int) { return UP; }
  static float side(int) { return -128.0f * DOWN; }
  static Unit open(const device uchar* block, int) {
    Unit r;
    r.d = float(half_at(block));
    S2_UNROLL for (int f = 0; f < 8; f++) split(word(block + 2 + 4 * f) ^ 0x80808080u, r.q + 2 * f);
    r.scale = float4(1.0f);
    return r;
  }
};

// The 256-weight formats.
struct Block256 : Quantized {
  enum { WEIGHTS = 256, GROUPS = 4 };
  static int unit_of(int column) { return (column >> 7) * 4 + ((column >> 3) & 3); }
  static int four_of(int column) { return ((column >> 5) & 3) * 2 + ((column >> 2) & 1); }
  static int position(int unit, int four) {
    return (unit >> 2) * 128 + (four >> 1) * 32 + (unit & 3) * 8 + (four & 1) * 4;
  }
  static float lift(int) { return UP * UP; }
};

template <>
struct Block<10> : Block256 {  // Q2_K: 16 x (scale 4, minimum 4) | 64 x 4 x 2 bits | d | dmin
  enum { BYTES = 84, HAS_MINIMUM = 1 };
  // row r stands 2r bits higher, and minima four
  static float lift(int four) { return as_type<float>(uint(127 + 48 - (four >> 1) * 2) << 23); }
  static float side(int row) { return as_type<float>(uint(127 - 28 + 2 * row) << 23); }
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 2, c = 2 * (unit & 3), shift = (c >> 2) * 8;
    Unit r;
    S2_UNROLL for (int i = 0; i < 2; i++) {
      const uint even = words[4 + 8 * h + c + i], odd = even >> 8;
      S2_UNROLL for (int s = 0; s < 4; s++) {
        r.q[4 * s + 2 * i] = even & (0x00030003u << (2 * s));
        r.q[4 * s + 2 * i + 1] = odd & (0x00030003u << (2 * s));
      }
    }
    const half2 a = as_type<half2>((words[2 * h] >> shift) & 0x000F000Fu);
    const half2 b = as_type<half2>((words[2 * h + 1] >> shift) & 0x000F000Fu);
    const half2 u = as_type<half2>((words[2 * h] >> shift) & 0x00F000F0u);
    const half2 v = as_type<half2>((words[2 * h + 1] >> shift) & 0x00F000F0u);
    r.scale = float4(float(a.x), float(a.y), float(b.x), float(b.y));
    r.minimum = float4(float(u.x), float(u.y), float(v.x), float(v.y));
    const half2 d = as_type<half2>(words[20]);
    r.d = float(d.x);
    r.least = float(d.y);
    return r;
  }
};

template <>
struct Block<11> : Block256 {  // Q3_K: 32 x high bits of 8 | 64 x 4 x 2 bits | 16 scales of 6 bits | d
  enum { BYTES = 110, HAS_MINIMUM = 0 };
  static float side(int) { return -4.0f * DOWN; }
  static Unit open(const device uchar* block, int unit) {
    const int h = unit >> 2, c = 8 * (unit & 3), shift = (c >> 4) * 8;
    Unit r;
    S2_UNROLL for (int i = 0; i < 2; i++) {
      const uint low = word(block + 32 + 32 * h + c + 4 * i), top = word(block + c + 4 * i) >> (4 * h);
      split((low & 0x03030303u) | ((top << 2) & 0x04040404u), r.q + 2 * i);
      split(((low >> 2) & 0x03030303u) | ((top << 1) & 0x04040404u), r.q + 4 + 2 * i);
      split(((low >> 4) & 0x03030303u) | (top & 0x04040404u), r.q + 8 + 2 * i);
      split(((low >> 6) & 0x03030303u) | ((top >> 1) & 0x04040404u), r.q + 12 + 2 * i);
    }
    const uint high = word(block + 104) >> (4 * h);
    const uint a = (((word(block + 96) >> (4 * h)) & 0x0F0F0F0Fu) | ((high & 0x03030303u) << 4)) >> shift;
    const uint b = (((word(block + 100) >> (4 * h)) & 0x0F0F0F0Fu) | (((high >> 2) & 0x03030303u) << 4)) >> shift;
    const half2 u = as_type<half2>(a & 0x003F003Fu), v = as_type<half2>(b & 0x003F003Fu);
    r.scale = float4(float(u.x), float(u.y), float(v.x), float(v.y)) - 32.0f * DOWN;
    r.d = float(half_at(block + 108));
    return r;
  }
};

// Q4_K and Q5_K start alike: d, dmin, then 8 scales and 8 minima of 6 bits in 12 bytes. Their blocks lie on 16 bytes.
inline void open_scales(const device uint* words, int h, thread Unit& r) {
  const uint4 head = *(const device uint4*)words;
  const half2 d = as_type<half2>(head.x);
  r.d = float(d.x);
  r.least = float(d.y);
  const uint scales = ((h ? head.w : head.y) & 0x0F0F0F0Fu) | ((head.y >> (2 * h)) & 0x30303030u);
  const uint minima = ((h ? head.w >> 4 : head.z) & 0x0F0F0F0Fu) | ((head.z >> (2 * h)) & 0x30303030u);
  r.scale = woven(scales & 0x003F003Fu, (scales >> 8) & 0x003F003Fu);
  r.minimum = woven(minima & 0x003F003Fu, (minima >> 8) & 0x003F003Fu);
}

template <>
struct Block<12> : Block256 {  // Q4_K: scales | 4 x 32 x (low row, high row)
  enum { BYTES = 144, HAS_MINIMUM = 1 };
  // odd rows stand four bits higher
  static float lift(int four) { return four & 2 ? UP * UP / 16.0f : UP * UP; }
  static float side(int row) { return row & 1 ? DOWN * 16.0f : DOWN; }
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 2, c = 2 * (unit & 3);
    Unit r;
    open_scales(words, h, r);
    S2_UNROLL for (int p = 0; p < 2; p++) {
      const uint2 pair = *(const device uint2*)(words + 4 + 16 * h + 8 * p + c);
      S2_UNROLL for (int i = 0; i < 2; i++) {
        const uint even = pair[i], odd = even >> 8;
        r.q[8 * p + 2 * i] = even & 0x000F000Fu;
        r.q[8 * p + 2 * i + 1] = odd & 0x000F000Fu;
        r.q[8 * p + 2 * i + 4] = even & 0x00F000F0u;
        r.q[8 * p + 2 * i + 5] = odd & 0x00F000F0u;
      }
    }
    return r;
  }
};

template <>
struct Block<13> : Block256 {  // Q5_K: scales | 32 x high bits of 8 | as Q4_K
  enum { BYTES = 176, HAS_MINIMUM = 1 };
  static float side(int) { return DOWN; }
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 2, c = 2 * (unit & 3);
    Unit r;
    open_scales(words, h, r);
    const uint2 top = *(const device uint2*)(words + 4 + c);
    const uint2 low = *(const device uint2*)(words + 12 + 16 * h + c);
    const uint2 next = *(const device uint2*)(words + 20 + 16 * h + c);
    S2_UNROLL for (int i = 0; i < 2; i++) {
      const uint t = top[i] >> (4 * h), a = low[i], b = next[i];
      split((a & 0x0F0F0F0Fu) | ((t << 4) & 0x10101010u), r.q + 2 * i);
      split(((a >> 4) & 0x0F0F0F0Fu) | ((t << 3) & 0x10101010u), r.q + 4 + 2 * i);
      split((b & 0x0F0F0F0Fu) | ((t << 2) & 0x10101010u), r.q + 8 + 2 * i);
      split(((b >> 4) & 0x0F0F0F0Fu) | ((t << 1) & 0x10101010u), r.q + 12 + 2 * i);
    }
    return r;
  }
};

template <>
struct Block<14> : Block256 {  // Q6_K: 128 x 2 x low 4 bits | 64 x 4 x high 2 bits | 16 x int8 scale | d
  enum { BYTES = 210, HAS_MINIMUM = 0 };
  static float lift(int) { return UP; }
  static float side(int) { return -32.0f * DOWN; }
  static Unit open(const device uchar* block, int unit) {
    const int h = unit >> 2, c = 8 * (unit & 3);
    const device int8_t* scales = (const device int8_t*)(block + 192 + 8 * h + (c >> 4));
    Unit r;
    r.d = float(half_at(block + 208));
    r.scale = float4(scales[0], scales[2], scales[4], scales[6]);
    S2_UNROLL for (int i = 0; i < 2; i++) {
      const uint a = word(block + 64 * h + c + 4 * i), b = word(block + 64 * h + 32 + c + 4 * i);
      const uint top = word(block + 128 + 32 * h + c + 4 * i);
      split((a & 0x0F0F0F0Fu) | ((top << 4) & 0x30303030u), r.q + 2 * i);
      split((b & 0x0F0F0F0Fu) | ((top << 2) & 0x30303030u), r.q + 4 + 2 * i);
      split(((a >> 4) & 0x0F0F0F0Fu) | (top & 0x30303030u), r.q + 8 + 2 * i);
      split(((b >> 4) & 0x0F0F0F0Fu) | ((top >> 2) & 0x30303030u), r.q + 12 + 2 * i);
    }
    return r;
  }
};

// Floats are kept as they are; 16 neighbours count as a block. Blocks lie on 16 bytes.
struct FloatUnit {
  float4 q[4];
};

struct Floats {
  typedef FloatUnit Unit;
  enum { WEIGHTS = 16, UNIT = 16, FOURS = 4, GROUPS = 0, HAS_MINIMUM = 0 };
  static int unit_of(int) { return 0; }
  static int four_of(int column) { return column / 4; }
  static int position(int, int four) { return 4 * four; }
  static float lift(int) { return 1.0f; }
};

template <>
struct Block<0> : Floats {  // F32
  enum { BYTES = 64 };
  static Unit open(const device uchar* block, int) {
    Unit r;
    const device uint4* words = (const device uint4*)block;
    S2_UNROLL for (int f = 0; f < 4; f++) r.q[f] = as_type<float4>(words[f]);
    return r;
  }
};

template <>
struct Block<1> : Floats {  // F16
  enum { BYTES = 32 };
  static Unit open(const device uchar* block, int) {
    Unit r;
    const device uint2* words = (const device uint2*)block;
    S2_UNROLL for (int f = 0; f < 4; f++) {
      const half2 a = as_type<half2>(words[f].x), b = as_type<half2>(words[f].y);
      r.q[f] = float4(float(a.x), float(a.y), float(b.x), float(b.y));
    }
    return r;
  }
};

template <>
struct Block<30> : Floats {  // BF16: the upper half of a float32
  enum { BYTES = 32 };
  static Unit open(const device uchar* block, int) {
    Unit r;
    const device uint2* words = (const device uint2*)block;
    S2_UNROLL for (int f = 0; f < 4; f++) {
      const uint a = words[f].x, b = words[f].y;
      r.q[f] = float4(as_type<float>(a << 16), as_type<float>(a & 0xFFFF0000u), as_type<float>(b << 16),
                      as_type<float>(b & 0xFFFF0000u));
    }
    return r;
  }
};

// What all rows of a unit's product share: the sums of x by group, times `side`.
template <typename B>
inline float4 sides(const thread float4* x, Quantized) {
  float4 r = float4(0.0f);
  S2_UNROLL for (int g = 0; g < B::GROUPS; g++) {
    float sum = 0.0f;
    S2_UNROLL for (int f = g * 8 / B::GROUPS; f < (g + 1) * 8 / B::GROUPS; f++)
      sum = f == g * 8 / B::GROUPS ? x[f].x + x[f].y + x[f].z + x[f].w : sum + x[f].x + x[f].y + x[f].z + x[f].w;
    r[g] = sum * B::side(g);
  }
  return r;
}

template <typename B>
inline float4 sides(const thread float4*, Floats) { return float4(0.0f); }

// sum + W x of one unit; `x` lifted. Fused by hand: in MLX's safe math mode the compiler need not do it.
template <typename B>
inline float unit_dot(const thread Unit& w, const thread float4* x, float4 side, float sum) {
  float scaled = 0.0f, less = 0.0f;
  S2_UNROLL for (int g = 0; g < B::GROUPS; g++) {
    float part = B::HAS_MINIMUM ? 0.0f : side[g];
    S2_UNROLL for (int f = g * 8 / B::GROUPS; f < (g + 1) * 8 / B::GROUPS; f++) part = four_dot(w.q + 2 * f, x[f], part);
    scaled = B::GROUPS == 1 ? part : fma(w.scale[g], part, scaled);
    if (B::HAS_MINIMUM) less = fma(w.minimum[g], side[g], less);
  }
  sum = fma(w.d, scaled, sum);
  return B::HAS_MINIMUM ? fma(-w.least, less, sum) : sum;
}

template <typename B>
inline float unit_dot(const thread FloatUnit& w, const thread float4* x, float4, float sum) {
  S2_UNROLL for (int f = 0; f < 4; f++) {
    const float4 q = w.q[f], v = x[f];
    sum += fma(q.w, v.w, fma(q.z, v.z, fma(q.y, v.y, q.x * v.x)));  // more exact than one chain
  }
  return sum;
}

// Weight i of four f as a number, exactly what GGML makes of it.
template <typename B>
inline float unit_at(const thread Unit& w, int f, int i) {
  const int g = f * B::GROUPS / 8;
  const float q = four_at(w.q + 2 * f, i);
  if (B::HAS_MINIMUM)
    return w.d * (w.scale[g] * (q * B::lift(f))) - w.least * (w.minimum[g] * (B::side(g) * B::lift(f)));
  return w.d * (w.scale[g] * ((q + B::side(g)) * B::lift(f)));
}

template <typename B>
inline float unit_at(const thread FloatUnit& w, int f, int i) { return w.q[f][i]; }

}  // namespace s2
