// One attention head's vector in the lanes of a simdgroup, and a softmax that runs along with the keys.
// Pairs of neighbours stay in one lane, as interleaved RoPE rotates them: lane l holds pairs l, l + 32, ... of D / 2.
#include <metal_simdgroup>

namespace s2 {

template <int D>
struct Head {
  enum { PAIRS = (D / 2 + 31) / 32 };
  float2 pair[PAIRS];

  template <typename E>
  void load(const device E* from, uint lane) {
    for (int j = 0; j < PAIRS; j++) {
      const int i = 2 * (int(lane) + 32 * j);
      pair[j] = i < D ? float2(float(from[i]), float(from[i + 1])) : float2(0.0f);
    }
  }

  template <typename E>
  void store(device E* to, uint lane) const {
    for (int j = 0; j < PAIRS; j++) {
      const int i = 2 * (int(lane) + 32 * j);
      if (i < D) {
        to[i] = E(pair[j].x);
        to[i + 1] = E(pair[j].y);
      }
    }
  }

  // What a cache of E gives back
  template <typename E>
  void round_to() {
    for (int j = 0; j < PAIRS; j++) pair[j] = float2(float(E(pair[j].x)), float(E(pair[j].y)));
  }

  float dot(const thread Head& other) const {
    float sum = 0.0f;
    for (int j = 0; j < PAIRS; j++) sum += pair[j].x * other.pair[j].x + pair[j].y * other.pair[j].y;
    return simd_sum(sum);
  }

  // RMSNorm over the head
  template <typename G>
  void normalize(const device G* gain, float eps, uint lane) {
    const float scale = rsqrt(dot(*this) / float(D) + eps);
    Head g;
    g.load(gain, lane);
    for (int j = 0; j < PAIRS; j++) pair[j] = pair[j] * g.pair[j] * scale;
  }

  // `table`: cos and sin of each pair at this position, interleaved
  void rotate(const device float* table, uint lane) {
    Head t;
    t.load(table, lane);
    for (int j = 0; j < PAIRS; j++) {
      const float2 p = pair[j], r = t.pair[j];
      pair[j] = float2(p.x * r.x - p.y * r.y, p.x * r.y + p.y * r.x);
    }
  }
};

template <int D>
struct Softmax {
  float peak = -1e30f;
  float total = 0.0f;
  Head<D> sum;

  void start() {
    for (int j = 0; j < Head<D>::PAIRS; j++) sum.pair[j] = float2(0.0f);
  }

  void add(float score, const thread Head<D>& value) {
    const float higher = max(peak, score), keep = exp(peak - higher), weight = exp(score - higher);
    for (int j = 0; j < Head<D>::PAIRS; j++) sum.pair[j] = sum.pair[j] * keep + value.pair[j] * weight;
    total = total * keep + weight;
    peak = higher;
  }

  // Rows first, first + step, ... below `count` of keys and values, D apart
  template <typename E>
  void add_rows(const thread Head<D>& q, const device E* keys, const device E* values, int first, int count, int step,
                uint lane) {
    Head<D> k, v;
    for (int p = first; p < count; p += step) {
      k.load(keys + size_t(p) * D, lane);
      v.load(values + size_t(p) * D, lane);
      add(q.dot(k) * rsqrt(float(D)), v);
    }
  }
};

}  // namespace s2
