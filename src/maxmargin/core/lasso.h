// Coordinate descent where the weights' absolute values are penalised: on a quadratic model, and on squared losses column by column.
//
// A weight w_j whose other weights are fixed meets a smooth part of slope g and curvature h and the penalty price |w_j|. The best next
// weight of the quadratic g, h is  soft(w_j - g / h, price / h),  soft(a, c) = sign(a) max(|a| - c, 0). The condition of optimality is broken
// by |g + price sign(w_j)|, at w_j = 0 by |g| - price where that is positive.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "coordinate.h"
#include "level.h"
#include "linear.h"

namespace maxmargin::MAXMARGIN_LEVEL {

inline double soft(double a, double c) { return a > c ? a - c : a < -c ? a + c : 0.0; }

inline double broken_by(double w, double g, double price) {
  if (w > 0) return std::fabs(g + price);
  if (w < 0) return std::fabs(g - price);
  return std::max(std::fabs(g) - price, 0.0);
}

// minimise  slope' (u - u_0) + 1/2 (u - u_0)' H (u - u_0) + price' |u|.  In: u_0 and the slope there; out: u and the slope there. Rounds
// over all weights alternate with rounds over those that are not 0. Returns by how much the conditions are still broken.
inline double lasso_descent(const LassoModel& m, double tol, int64_t most) {
  std::vector<int64_t> some;
  double worst = 0;
  auto visit = [&](int64_t j) {
    const double* row = m.H + j * m.size;
    const double wrong = broken_by(m.u[j], m.slope[j], m.price[j]);
    worst = std::max(worst, wrong);
    if (wrong == 0 || row[j] <= 0) return;
    const double u = soft(m.u[j] - m.slope[j] / row[j], m.price[j] / row[j]), change = u - m.u[j];
    m.u[j] = u;
    if (change == 0) return;
    for (int64_t l = 0; l < m.size; ++l) m.slope[l] += change * row[l];
  };
  for (int64_t round = 0; round < most; ++round) {
    worst = 0;
    some.clear();
    for (int64_t j = 0; j < m.size; ++j) {
      visit(j);
      if (m.u[j] != 0) some.push_back(j);
    }
    if (worst <= tol) break;
    for (; round < most; ++round) {
      worst = 0;
      for (int64_t j : some) visit(j);
      if (worst <= 0.5 * tol) break;
    }
  }
  return worst;
}

struct Slope {
  double g, h;
};

// Adds -step x_j to the residuals r and returns the slope and curvature of factor/2 sum max(0, r)^2 by w_j there.
template <bool moves, class T>
inline Slope column_slope(const Points<T>& X, int64_t j, double step, double* r) {
  double g = 0, h = 0;
  if (X.indptr) {
    for (int64_t k = X.indptr[j]; k < X.indptr[j + 1]; ++k) {
      const double x = double(X.values[k]);
      double& at = r[X.indices[k]];
      if (moves) at -= step * x;
      const double inside = at > 0 ? x : 0.0;
      g -= inside * at;
      h += inside * x;
    }
    return {g, h};
  }
  constexpr int width = lanes<double>;
  const T* column = X.values + j * X.d;
  Vec<double> gs = {}, hs = {};
  int64_t k = 0;
  for (; k + width <= X.d; k += width) {
    const Vec<double> x = load_as<double>(column + k);
    Vec<double> at = load<double>(r + k);
    if (moves) store<double>(r + k, at -= broadcast<double>(step) * x);
    const Vec<double> inside = at > Vec<double>{} ? x : Vec<double>{};
    gs -= inside * at;
    hs += inside * x;
  }
  for (; k < X.d; ++k) {
    const double x = double(column[k]);
    if (moves) r[k] -= step * x;
    if (r[k] > 0) g -= x * r[k], h += x * x;
  }
  for (int l = 0; l < width; ++l) g += gs[l], h += hs[l];
  return {g, h};
}

// One pass over the active columns of  factor/2 sum_i max(0, r_i)^2 + price' |w|,  r = r_0 - X w: each weight is moved until its own
// condition is broken by a small part of what it was. The curvature at r may be far less than on the way; all of column j's, squares_j, is
// never too little. Weights that are 0 by more than `aside` are set aside until the caller looks at them again.
template <class T>
PassResult column_pass(const ColumnPass<T>& p) {
  Draw draw{p.seed};
  PassResult result{0, 0, p.active};
  for (int64_t k = p.active - 1; k > 0; --k) std::swap(p.order[k], p.order[draw.below(k + 1)]);
  for (int64_t k = 0; k < result.active;) {
    const int64_t j = p.order[k];
    const double price = p.price[j];
    Slope at = column_slope<false>(p.X, j, 0.0, p.r);
    double w = p.w[j];
    if (w == 0 && (std::fabs(p.factor * at.g) < price - p.aside || p.squares[j] <= 0)) {
      std::swap(p.order[k], p.order[--result.active]);
      continue;
    }
    ++k;
    const double first = broken_by(w, p.factor * at.g, price);
    result.violation = std::max(result.violation, first);
    double wrong = first;
    for (int steps = 0; steps < 8 && wrong > 0.2 * first; ++steps) {
      const double h = p.factor * (steps < 2 ? std::max(at.h, 1e-3 * p.squares[j]) : p.squares[j]);
      const double next = soft(w - p.factor * at.g / h, price / h);
      if (next == w) break;
      at = column_slope<true>(p.X, j, next - w, p.r);
      w = next;
      wrong = broken_by(w, p.factor * at.g, price);
    }
    p.w[j] = w;
  }
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
