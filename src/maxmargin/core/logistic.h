// The most likely logistic function of m features: Newton's method with halved steps.
//
//   minimise over x   F(x) = sum_i w_i (t_i z_i + log(1 + exp(-z_i))),   z = X' x
//   p_i = 1 / (1 + exp(z_i)),   dF/dz_i = w_i (t_i - p_i),   d2F/dz_i^2 = w_i p_i (1 - p_i)
//
// With e = exp(-|z|) both log(1 + exp(-z)) = max(-z, 0) + log(1 + e) and p = 1 / (1 + e) or
// e / (1 + e) keep their digits for every z.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

struct Minimum {
  double value;    // F
  int64_t passes;  // over the samples
};

// log(1 + e) for 0 <= e <= 1: 2 atanh(y) = 2 (y + y^3 / 3 + ...), y = e / (2 + e) <= 1/3.
inline Vec<double> log1p_of(Vec<double> e) {
  const Vec<double> y = e / (2.0 + e), square = y * y;
  Vec<double> sum = broadcast<double>(1.0 / 35);
  for (int k = 33; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2.0 * y * sum;
}

template <int m>
class LogisticFit {
 public:
  // X has m rows of n values. A sample of weight 0 adds nothing: they fill the last vector.
  LogisticFit(const double* X, const double* t, const double* w, int64_t n)
      : room((n + width - 1) / width * width),
        t(copy(t, 1, n)),
        w(copy(w, 1, n)),
        X(copy(X, m, n)) {}

  // From x on, for at most `most` steps; x is replaced by the minimum.
  Minimum minimise(double* x, int64_t most) {
    Sums here = at(x), there;
    for (int64_t k = 0; k < most; ++k) {
      double step[m], trial[m];
      solve(here, step);
      double expected = 0, length = 1;
      for (int r = 0; r < m; ++r) expected += here.gradient[r] * step[r];
      if (-expected <= 1e-9 * (1 + std::abs(here.value))) {  // the error after it is its square
        for (int r = 0; r < m; ++r) x[r] += step[r];
        return {here.value + expected / 2, passes};
      }
      for (; length > shortest; length *= 0.5) {
        for (int r = 0; r < m; ++r) trial[r] = x[r] + length * step[r];
        there = at(trial);
        if (there.value <= here.value + 1e-4 * length * expected) break;
      }
      if (!(length > shortest)) break;
      std::copy(trial, trial + m, x);
      here = there;
    }
    return {here.value, passes};
  }

 private:
  static constexpr int width = lanes<double>;
  static constexpr double shortest = 1e-10;
  struct Sums {
    double value, gradient[m], hessian[m][m];
  };
  int64_t room, passes = 0;
  Aligned<double> t, w, X;

  Aligned<double> copy(const double* from, int rows, int64_t n) const {
    Aligned<double> found(size_t(rows * room), 0.0);
    for (int r = 0; r < rows; ++r)
      std::copy(from + r * n, from + (r + 1) * n, &found[size_t(r * room)]);
    return found;
  }

  static double total(Vec<double> v) {
    double sum = 0;
    for (int l = 0; l < width; ++l) sum += v[l];
    return sum;
  }

  Sums at(const double* x) {
    ++passes;
    Vec<double> value{}, gradient[m] = {}, hessian[m][m] = {};
    for (int64_t i = 0; i < room; i += width) {
      Vec<double> row[m], z{};
      for (int r = 0; r < m; ++r) row[r] = load(&X[size_t(r * room + i)]), z += x[r] * row[r];
      const Vec<double> size = z < 0 ? -z : z, e = exp2<double>(size * -log2_e),
                        whole = 1.0 / (1.0 + e), share = e * whole, p = z < 0 ? whole : share;
      const Vec<double> weight = load(&w[size_t(i)]), target = load(&t[size_t(i)]);
      const Vec<double> slope = weight * (target - p), curvature = weight * (whole * share);
      value += weight * (target * z + ((z < 0 ? -z : broadcast<double>(0.0)) + log1p_of(e)));
      for (int r = 0; r < m; ++r) {
        gradient[r] += slope * row[r];
        for (int c = 0; c <= r; ++c) hessian[r][c] += curvature * row[r] * row[c];
      }
    }
    Sums found{};
    found.value = total(value);
    for (int r = 0; r < m; ++r) {
      found.gradient[r] = total(gradient[r]);
      for (int c = 0; c <= r; ++c) found.hessian[r][c] = found.hessian[c][r] = total(hessian[r][c]);
    }
    return found;
  }

  // step = -H^-1 gradient by elimination; H may be singular up to rounding.
  static void solve(const Sums& at, double* step) {
    double rows[m][m + 1], trace = 0;
    for (int r = 0; r < m; ++r) trace += at.hessian[r][r];
    for (int r = 0; r < m; ++r) {
      std::copy(at.hessian[r], at.hessian[r] + m, rows[r]);
      rows[r][r] += 1e-12 * std::max(trace, std::numeric_limits<double>::min());
      rows[r][m] = -at.gradient[r];
    }
    for (int r = 0; r < m; ++r)
      for (int other = 0; other < m; ++other) {
        if (other == r) continue;
        const double share = rows[other][r] / rows[r][r];
        for (int c = r; c <= m; ++c) rows[other][c] -= share * rows[r][c];
      }
    for (int r = 0; r < m; ++r) step[r] = rows[r][m] / rows[r][r];
  }
};

// Two or three features, the rows of X.
inline Minimum minimise_logistic(int64_t m, const double* X, const double* t, const double* w,
                                 int64_t n, double* x, int64_t most) {
  return m == 2 ? LogisticFit<2>(X, t, w, n).minimise(x, most)
                : LogisticFit<3>(X, t, w, n).minimise(x, most);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
