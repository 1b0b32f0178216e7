// GGUF blocks as they lie in the file, opened 16 weights at a time. Knows the formats, nothing of what is done with
// them.
//
// A *unit* is the 16 weights that one thread opens with the fewest loads: four groups of four neighbours, the groups
// STRIDE apart. Value of a weight: scale[s] * q[s][i] - minimum[s]. All products are exact in float32.
//
// Blocks of 34, 110 and 210 bytes (Q8_0, Q3_K, Q6_K) lie on even addresses only, so their words are read as two halves.

namespace s2 {

struct Unit {
  float4 scale;
  float4 minimum;
  float4 q[4];
};

inline uint word(const device uchar* p) {
  const device ushort* halves = (const device ushort*)p;
  return uint(halves[0]) | uint(halves[1]) << 16;
}

inline float half_at(const device uchar* p) { return float(*(const device half*)p); }

inline float4 four(uint bytes) { return float4(as_type<uchar4>(bytes)); }

// Numbers are GGML's own type numbers.
template <int FORMAT>
struct Block;

template <>
struct Block<8> {  // Q8_0: d | 32 x int8
  enum { BYTES = 34, WEIGHTS = 32, UNITS = 2, STRIDE = 4, HAS_MINIMUM = 0 };
  static int position(int unit) { return unit * 16; }
  static Unit open(const device uchar* block, int unit) {
    Unit r;
    r.scale = float4(half_at(block));
    r.minimum = float4(0.0f);
    for (int s = 0; s < 4; s++) r.q[s] = float4(as_type<char4>(word(block + 2 + unit * 16 + s * 4)));
    return r;
  }
};

// Floats are kept as they are; 16 neighbours count as a block. Blocks lie on 16 bytes (F32)
// or on 8.
struct Floats {
  enum { WEIGHTS = 16, UNITS = 1, STRIDE = 4, HAS_MINIMUM = 0 };
  static int position(int) { return 0; }
  static Unit start() {
    Unit r;
    r.scale = float4(1.0f);
    r.minimum = float4(0.0f);
    return r;
  }
};

template <>
struct Block<0> : Floats {  // F32
  enum { BYTES = 64 };
  static Unit open(const device uchar* block, int) {
    Unit r = start();
    const device uint4* words = (const device uint4*)block;
    for (int s = 0; s < 4; s++) r.q[s] = as_type<float4>(words[s]);
    return r;
  }
};

template <>
struct Block<1> : Floats {  // F16
  enum { BYTES = 32 };
  static Unit open(const device uchar* block, int) {
    Unit r = start();
    const device uint2* words = (const device uint2*)block;
    for (int s = 0; s < 4; s++) {
      const half2 a = as_type<half2>(words[s].x), b = as_type<half2>(words[s].y);
      r.q[s] = float4(float(a.x), float(a.y), float(b.x), float(b.y));
    }
    return r;
  }
};

template <>
struct Block<30> : Floats {  // BF16: the upper half of a float32
  enum { BYTES = 32 };
  static Unit open(const device uchar* block, int) {
    Unit r = start();
    const device uint2* words = (const device uint2*)block;
    for (int s = 0; s < 4; s++) {
      const uint a = words[s].x, b = words[s].y;
      r.q[s] = float4(as_type<float>(a << 16), as_type<float>(a & 0xFFFF0000u), as_type<float>(b << 16),
                      as_type<float>(b & 0xFFFF0000u));
    }
    return r;
  }
};

// The 256-weight formats: unit = 8 * h + c is columns 4c..4c+3 of the four rows of 32 in half h.
struct Block256 {
  enum { WEIGHTS = 256, UNITS = 16, STRIDE = 32 };
  static int position(int unit) { return (unit >> 3) * 128 + (unit & 7) * 4; }
};

template <>
struct Block<10> : Block256 {  // Q2_K: 16 x (scale 4, minimum 4) | 64 x 4 x 2 bits | d | dmin
  enum { BYTES = 84, HAS_MINIMUM = 1 };
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 3, c = unit & 7, shift = (c >> 2) * 8;
    const uint a = words[2 * h] >> shift, b = words[2 * h + 1] >> shift;  // groups of rows 0, 1 and 2, 3
    const uint4 group = uint4(a & 255, (a >> 16) & 255, b & 255, (b >> 16) & 255);
    const half2 d = as_type<half2>(words[20]);
    Unit r;
    r.scale = float(d.x) * float4(group.x & 15, group.y & 15, group.z & 15, group.w & 15);
    r.minimum = float(d.y) * float4(group.x >> 4, group.y >> 4, group.z >> 4, group.w >> 4);
    const uint q = words[4 + 8 * h + c];
    for (int s = 0; s < 4; s++) r.q[s] = four((q >> (2 * s)) & 0x03030303);
    return r;
  }
};

template <>
struct Block<11> : Block256 {  // Q3_K: 32 x high bits of 8 | 64 x 4 x 2 bits | 16 scales of 6 bits | d
  enum { BYTES = 110, HAS_MINIMUM = 0 };
  static Unit open(const device uchar* block, int unit) {
    const int h = unit >> 3, c = unit & 7, shift = (c >> 2) * 8;
    const uint high = word(block + 104) >> (4 * h);
    const uint a = (((word(block + 96) >> (4 * h)) & 0x0F0F0F0F) | ((high & 0x03030303) << 4)) >> shift;
    const uint b = (((word(block + 100) >> (4 * h)) & 0x0F0F0F0F) | (((high >> 2) & 0x03030303) << 4)) >> shift;
    Unit r;
    r.scale = half_at(block + 108) * (float4(a & 255, (a >> 16) & 255, b & 255, (b >> 16) & 255) - 32.0f);
    r.minimum = float4(0.0f);
    const uint low = word(block + 32 + 32 * h + 4 * c), top = word(block + 4 * c) >> (4 * h);
    for (int s = 0; s < 4; s++)
      r.q[s] = four(((low >> (2 * s)) & 0x03030303) | (((top >> s) & 0x01010101) << 2)) - 4.0f;
    return r;
  }
};

// Q4_K and Q5_K start alike: d, dmin, then 8 scales and 8 minima of 6 bits in 12 bytes. Their blocks lie on 16 bytes.
inline void open_scales(const device uint* words, int h, thread Unit& r) {
  const uint4 head = *(const device uint4*)words;
  const half2 d = as_type<half2>(head.x);
  const uint scales = h ? (head.w & 0x0F0F0F0F) | ((head.y >> 2) & 0x30303030) : head.y & 0x3F3F3F3F;
  const uint minima = h ? ((head.w >> 4) & 0x0F0F0F0F) | ((head.z >> 2) & 0x30303030) : head.z & 0x3F3F3F3F;
  r.scale = float(d.x) * four(scales);
  r.minimum = float(d.y) * four(minima);
}

template <>
struct Block<12> : Block256 {  // Q4_K: scales | 4 x 32 x (low row, high row)
  enum { BYTES = 144, HAS_MINIMUM = 1 };
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 3, c = unit & 7;
    Unit r;
    open_scales(words, h, r);
    const uint a = words[4 + 16 * h + c], b = words[12 + 16 * h + c];
    r.q[0] = four(a & 0x0F0F0F0F);
    r.q[1] = four((a >> 4) & 0x0F0F0F0F);
    r.q[2] = four(b & 0x0F0F0F0F);
    r.q[3] = four((b >> 4) & 0x0F0F0F0F);
    return r;
  }
};

template <>
struct Block<13> : Block256 {  // Q5_K: scales | 32 x high bits of 8 | as Q4_K
  enum { BYTES = 176, HAS_MINIMUM = 1 };
  static Unit open(const device uchar* block, int unit) {
    const device uint* words = (const device uint*)block;
    const int h = unit >> 3, c = unit & 7;
    Unit r;
    open_scales(words, h, r);
    const uint top = words[4 + c] >> (4 * h), a = words[12 + 16 * h + c], b = words[20 + 16 * h + c];
    r.q[0] = four((a & 0x0F0F0F0F) | ((top & 0x01010101) << 4));
    r.q[1] = four(((a >> 4) & 0x0F0F0F0F) | (((top >> 1) & 0x01010101) << 4));
    r.q[2] = four((b & 0x0F0F0F0F) | (((top >> 2) & 0x01010101) << 4));
    r.q[3] = four(((b >> 4) & 0x0F0F0F0F) | (((top >> 3) & 0x01010101) << 4));
    return r;
  }
};

template <>
struct Block<14> : Block256 {  // Q6_K: 128 x 2 x low 4 bits | 64 x 4 x high 2 bits | 16 x int8 scale | d
  enum { BYTES = 210, HAS_MINIMUM = 0 };
  static Unit open(const device uchar* block, int unit) {
    const int h = unit >> 3, c = unit & 7;
    const device int8_t* scales = (const device int8_t*)(block + 192 + 8 * h + (c >> 2));
    Unit r;
    r.scale = half_at(block + 208) * float4(scales[0], scales[2], scales[4], scales[6]);
    r.minimum = float4(0.0f);
    const uint a = word(block + 64 * h + 4 * c), b = word(block + 64 * h + 32 + 4 * c);
    const uint top = word(block + 128 + 32 * h + 4 * c);
    r.q[0] = four((a & 0x0F0F0F0F) | ((top & 0x03030303) << 4)) - 32.0f;
    r.q[1] = four((b & 0x0F0F0F0F) | (((top >> 2) & 0x03030303) << 4)) - 32.0f;
    r.q[2] = four(((a >> 4) & 0x0F0F0F0F) | (((top >> 4) & 0x03030303) << 4)) - 32.0f;
    r.q[3] = four(((b >> 4) & 0x0F0F0F0F) | (((top >> 6) & 0x03030303) << 4)) - 32.0f;
    return r;
  }
};

}  // namespace s2
