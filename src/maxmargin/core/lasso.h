// Coordinate descent on a quadratic model where the weights' absolute values are penalised;
// columns.h does it on the losses themselves.
//
// A weight w_j whose other weights are fixed meets a smooth part of slope g and curvature h and the
// penalty weight times |w_j|. The best next weight of the quadratic g, h is  soft(w_j - g / h,
// penalty / h),  soft(a, c) = sign(a) max(|a| - c, 0). The condition of optimality is broken by |g
// + penalty sign(w_j)|, at w_j = 0 by |g| - penalty where that is positive.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// A quadratic model of a penalised problem.
struct LassoModel {
  int64_t size;
  const double* H;        // size x size
  const double* penalty;  // of |u|
  double *u, *slope;      // in and out
};

inline double soft(double a, double c) { return a > c ? a - c : a < -c ? a + c : 0.0; }

inline double broken_by(double w, double g, double penalty) {
  if (w > 0) return std::fabs(g + penalty);
  if (w < 0) return std::fabs(g - penalty);
  return std::max(std::fabs(g) - penalty, 0.0);
}

// minimise  slope' (u - u_0) + 1/2 (u - u_0)' H (u - u_0) + penalty' |u|.  In: u_0 and the slope
// there; out: u and the slope there. Rounds over all weights alternate with rounds over those that
// are not 0. Returns by how much the conditions are still broken.
inline double lasso_descent(const LassoModel& m, double tol, int64_t most) {
  std::vector<int64_t> some;
  double worst = 0;
  auto visit = [&](int64_t j) {
    const double* row = m.H + j * m.size;
    const double wrong = broken_by(m.u[j], m.slope[j], m.penalty[j]);
    worst = std::max(worst, wrong);
    if (wrong == 0 || row[j] <= 0) return;
    const double u = soft(m.u[j] - m.slope[j] / row[j], m.penalty[j] / row[j]), change = u - m.u[j];
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

}  // namespace maxmargin::MAXMARGIN_LEVEL
