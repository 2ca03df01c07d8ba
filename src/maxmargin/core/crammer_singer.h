// One pass of dual coordinate descent for the multi-class machine of Crammer and Singer;
// crammer_singer.py has the mathematics.
//
//   f = x_i W + bias,  g = f + [not the label],  Q = |x_i|^2 + column
//   t_i <- the minimiser of  Q/2 |t - t_i|^2 + g . (t - t_i)
//          subject to  t_m <= C_i [m is the label],  sum_m t_m = 0
//
// which is t_m = min(C_i [label], (level - B_m) / Q) with B = g - Q t_i and the level that makes
// the sum 0. Classes lie along the SIMD lanes: W has a row of `wide` numbers for each feature,
// zeros beyond the last class.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "coordinate.h"
#include "linear.h"
#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// One pass over the samples for the machine of Crammer and Singer.
template <class T>
struct CrammerSingerPass {
  Points<T> X;
  const int32_t* label;
  const double *C, *norms;  // norms: squared, in float64, with the bias column's square
  double* t;                // duals, samples x classes, in and out
  double* W;                // X't, features x wide, in and out
  double* bias;             // wide, in and out
  int64_t classes, wide;
  double column;   // the bias column's square
  int32_t* order;  // the active samples, as in CoordinatePass
  int64_t active;
  double shrink_above;
  uint64_t seed;
};

template <int V, class T>
inline void values_of_classes(const Points<T>& X, int64_t i, const double* W, int64_t wide,
                              double* f) {
  constexpr int width = lanes<double>;
  Vec<double> sums[V];
  for (int v = 0; v < V; ++v) sums[v] = load<double>(f + v * width);
  const int64_t begin = X.indptr ? X.indptr[i] : i * X.d,
                end = X.indptr ? X.indptr[i + 1] : begin + X.d;
  for (int64_t k = begin; k < end; ++k) {
    const double* row = W + (X.indptr ? int64_t(X.indices[k]) : k - begin) * wide;
    const Vec<double> x = broadcast<double>(double(X.values[k]));
    for (int v = 0; v < V; ++v) sums[v] += x * load<double>(row + v * width);
  }
  for (int v = 0; v < V; ++v) store<double>(f + v * width, sums[v]);
}

// f += x_i W, up to four vectors of classes at once
template <class T>
inline void row_class_values(const Points<T>& X, int64_t i, const double* W, int64_t wide,
                             double* f) {
  constexpr int width = lanes<double>;
  for (int64_t m = 0; m < wide;) {
    const int64_t left = (wide - m) / width;
    if (left >= 4) values_of_classes<4>(X, i, W + m, wide, f + m), m += 4 * width;
    else if (left >= 2) values_of_classes<2>(X, i, W + m, wide, f + m), m += 2 * width;
    else values_of_classes<1>(X, i, W + m, wide, f + m), m += width;
  }
}

template <class T>
inline void add_to_classes(const Points<T>& X, int64_t i, const double* change, int64_t wide,
                           double* W) {
  constexpr int width = lanes<double>;
  const int64_t begin = X.indptr ? X.indptr[i] : i * X.d,
                end = X.indptr ? X.indptr[i + 1] : begin + X.d;
  for (int64_t k = begin; k < end; ++k) {
    double* row = W + (X.indptr ? int64_t(X.indices[k]) : k - begin) * wide;
    const Vec<double> x = broadcast<double>(double(X.values[k]));
    for (int64_t m = 0; m < wide; m += width)
      store<double>(row + m, load<double>(row + m) + x * load<double>(change + m));
  }
}

// Some samples at once: out = X W, a row of classes for each sample.
template <class T>
void class_values(const Selection<T>& X, const double* W, int64_t wide, double* out, int threads) {
  parallel(threads, X.size, 256, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      std::fill(out + k * wide, out + (k + 1) * wide, 0.0);
      row_class_values(X.points, X.index ? X.index[k] : k, W, wide, out + k * wide);
    }
  });
}

// out = X't, a row of classes for each feature
template <class T>
void class_sum(const Selection<T>& X, const double* t, int64_t wide, double* out) {
  std::fill(out, out + X.points.d * wide, 0.0);
  for (int64_t k = 0; k < X.size; ++k)
    add_to_classes(X.points, X.index ? X.index[k] : k, t + k * wide, wide, out);
}

// The level: with D_m = B_m + Q upper_m sorted downwards, the mean of the first r less Q C / r
// where the next D is not above it.
inline double best_level(const double* B, int64_t classes, int64_t label, double QC,
                         double* sorted) {
  std::copy(B, B + classes, sorted);
  sorted[label] += QC;
  std::sort(sorted, sorted + classes, std::greater<double>());
  double level = sorted[0] - QC;
  int64_t r = 1;
  for (; r < classes && level < double(r) * sorted[r]; ++r) level += sorted[r];
  return level / double(r);
}

template <class T>
PassResult crammer_singer_pass(const CrammerSingerPass<T>& p) {
  const int64_t classes = p.classes, wide = p.wide;
  Draw draw{p.seed};
  PassResult result{0, 0, p.active};
  for (int64_t k = p.active - 1; k > 0; --k) std::swap(p.order[k], p.order[draw.below(k + 1)]);
  Aligned<double> f(size_t(wide), 0.0), B(size_t(wide), 0.0), change(size_t(wide), 0.0),
      sorted(size_t(wide), 0.0);
  for (int64_t k = 0; k < result.active;) {
    const int64_t i = p.order[k], label = p.label[i];
    if (k + 4 < result.active) fetch_sample(p.X, p.order[k + 4]);
    const double Q = p.norms[i], C = p.C[i];
    double* t = p.t + i * classes;
    std::copy(p.bias, p.bias + wide, f.begin());
    row_class_values(p.X, i, p.W, wide, f.data());
    for (int64_t m = 0; m < classes; ++m) f[size_t(m)] += m != label;
    double most = -INFINITY, second = -INFINITY, least = INFINITY, gap = 0;
    int64_t free = 0;
    for (int64_t m = 0; m < classes; ++m) {
      const double g = f[size_t(m)];
      second = std::max(second, std::min(g, most)), most = std::max(most, g);
      if (t[m] < (m == label ? C : 0.0)) least = std::min(least, g), ++free;
      gap += t[m] * g;
    }
    // one class carries all, and is ahead: the sample will not move soon
    if (C <= 0 || Q <= 0 || (free == 1 && least == most && most - second > p.shrink_above)) {
      std::swap(p.order[k], p.order[--result.active]);
      continue;
    }
    ++k;
    result.gap += C * (most - f[size_t(label)]) + gap;
    const double wrong = most - least;
    result.violation = std::max(result.violation, wrong);
    if (wrong <= 1e-15) continue;
    for (int64_t m = 0; m < classes; ++m) B[size_t(m)] = f[size_t(m)] - Q * t[m];
    const double level = best_level(B.data(), classes, label, Q * C, sorted.data());
    bool moves = false;
    for (int64_t m = 0; m < classes; ++m) {
      double next = std::min(m == label ? C : 0.0, (level - B[size_t(m)]) / Q);
      // Rounding must not keep a sample from being shrunk.
      if (std::fabs(next) < 1e-14 * C) next = 0;
      change[size_t(m)] = next - t[m];
      moves |= next != t[m];
      t[m] = next;
    }
    if (!moves) continue;
    add_to_classes(p.X, i, change.data(), wide, p.W);
    for (int64_t m = 0; m < classes; ++m) p.bias[m] += p.column * change[size_t(m)];
  }
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
