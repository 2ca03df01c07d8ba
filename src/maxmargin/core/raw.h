// Raw values between points of A and B: dot products, L1 distances, squared and chi-squared
// distances.
//
// A raw value is accumulated over the features in their order, one multiply-add per feature,
// whatever the tile, the thread, the batch or the storage: absent entries of a sparse row add an
// exact zero. Therefore k(a, b) has the same bits wherever it is computed, and k(a, b) = k(b, a).
// Squared distances use norms accumulated the same way, so that equal points are at distance
// exactly 0.
//
// Points of B lie along the SIMD lanes, in panels packed feature by feature. Points of A come as
// panels too, or, where they are sparse, straight from their rows: the cost then is that of their
// non-zeros.
#pragma once
#include <algorithm>

#include "types.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template <class T>
constexpr int dense_width = 2 * lanes<T>;  // points of B in a panel, with panels of A
// Vectors of a panel with sparse rows of A: four independent sums hide the latency. A few points
// need just one.
constexpr int sparse_vectors = 4;

// Points [begin, end) of S as a panel of the given width; what is not written must be, and stays,
// zero where S is sparse.
template <class T>
void pack(const Selection<T>& S, int64_t begin, int64_t end, int width, T* panel) {
  const Points<T>& P = S.points;
  if (!P.indptr && end - begin < width) std::fill(panel, panel + P.d * width, T(0));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = S.at(i);
    T* to = panel + (i - begin);
    if (P.indptr) {
      for (int64_t e = P.indptr[row]; e < P.indptr[row + 1]; ++e)
        to[int64_t(P.indices[e]) * width] = P.values[e];
    } else {
      const T* from = P.values + row * P.d;
      for (int64_t k = 0; k < P.d; ++k) to[k * width] = from[k];
    }
  }
}

// Zero again what pack wrote for sparse points.
template <class T>
void clear(const Selection<T>& S, int64_t begin, int64_t end, int width, T* panel) {
  const Points<T>& P = S.points;
  if (!P.indptr) return;
  for (int64_t i = begin; i < end; ++i)
    for (int64_t e = P.indptr[S.at(i)]; e < P.indptr[S.at(i) + 1]; ++e)
      panel[int64_t(P.indices[e]) * width + (i - begin)] = T(0);
}

struct Dot {
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    return sum + b * a;
  }
};
struct AbsoluteDifference {
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    const Vec<T> d = b - a;
    return sum + (d < Vec<T>{} ? -d : d);
  }
};
struct SquaredDifference {
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    const Vec<T> d = b - a;
    return sum + d * d;
  }
};
struct ChiSquared {  // (a - b)^2 / (a + b), and 0 where both are 0
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    const Vec<T> d = b - a, s = b + a;
    return sum + (s == Vec<T>{} ? Vec<T>{} : d * d / s);
  }
};

// A panel of A, panel_rows points, with a panel of B, two vectors of points.
template <class T, class Op>
inline void raw_dense(int64_t d, const T* a, const T* b, T* tile) {
  constexpr int L = lanes<T>, R = panel_rows, W = dense_width<T>;
  Vec<T> sum[R][2] = {};
  for (int64_t k = 0; k < d; ++k) {
    const Vec<T> b0 = load<T>(b + k * W), b1 = load<T>(b + k * W + L);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const T ar = a[k * R + r];
      sum[r][0] = Op::template add<T>(sum[r][0], ar, b0);
      sum[r][1] = Op::template add<T>(sum[r][1], ar, b1);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    store<T>(tile + r * W, sum[r][0]);
    store<T>(tile + r * W + L, sum[r][1]);
  }
}

// Up to sparse_rows sparse points of A with a panel of B, V vectors of points: the cost is that of
// A's non-zeros. A few features at a time, so that their part of the panel stays in the first-level
// cache for all rows.
constexpr int sparse_rows = 32;
constexpr int64_t features_at_once = 64;

template <class T, int V>
inline void raw_sparse(const Selection<T>& A, int64_t begin, int64_t end, const T* b, T* tile) {
  constexpr int L = lanes<T>, W = V * L;
  const Points<T>& P = A.points;
  // A panel of one vector fits the first-level cache.
  const int64_t at_once = V == 1 ? P.d : features_at_once;
  int64_t next[sparse_rows], last[sparse_rows];
  for (int64_t j = begin; j < end; ++j)
    next[j - begin] = P.indptr[A.at(j)], last[j - begin] = P.indptr[A.at(j) + 1];
  std::fill(tile, tile + (end - begin) * W, T(0));
  for (int64_t f = 0; f < P.d; f += at_once)
    for (int64_t r = 0; r < end - begin; ++r) {
      int64_t e = next[r];
      if (e == last[r] || P.indices[e] >= f + at_once) continue;
      Vec<T> sum[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[v] = load<T>(tile + r * W + v * L);
      for (; e < last[r] && P.indices[e] < f + at_once; ++e) {
        const T* feature = b + int64_t(P.indices[e]) * W;
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v)
          sum[v] = Dot::add<T>(sum[v], P.values[e], load<T>(feature + v * L));
      }
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) store<T>(tile + r * W + v * L, sum[v]);
      next[r] = e;
    }
}

// Squared norms, with the bits of a point's dot product with itself.
template <class T>
inline T multiply_add(T a, T b, T sum) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  // The vectors above compile to this; in a scalar loop the compiler might not fuse.
  return std::fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

template <class T>
void norms(const Points<T>& P, T* out) {
  for (int64_t i = 0; i < P.n; ++i) {
    T sum = 0;
    const int64_t begin = P.indptr ? P.indptr[i] : i * P.d,
                  end = P.indptr ? P.indptr[i + 1] : begin + P.d;
    for (int64_t e = begin; e < end; ++e) sum = multiply_add(P.values[e], P.values[e], sum);
    out[i] = sum;
  }
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
