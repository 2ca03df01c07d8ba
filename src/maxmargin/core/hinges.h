// Squared hinges of several problems on the same few points: Newton's method on their weights.
//
//   P(w, b) = 1/2 |w|^2 + m/2 b^2 + sum_i c_i max(0, e_i)^2          e_i = 1 - y_i (x_i . w + b)
//   t_i = 2 c_i y_i max(0, e_i),  gradient  w - X't,  m b - sum t
//   Hessian  diag(1, m) + 2 sum over e_i > 0 of c_i [x_i, 1] [x_i, 1]'
//
// The loss has the same curvature everywhere outside the margin, so a step is exact once no sample
// crosses it. The Hessian is updated by the samples that crossed. One thread solves a problem from
// its first step to its last, so no bit depends on their number.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linear.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// As in linear/semismooth.py: the line search ends where the slope is this share of the first.
constexpr double flat_slope = 0.1;
constexpr int most_slopes = 30;
constexpr double bracket_guard = 0.05;
// Samples that crossed, as a share of those outside, above which the Hessian is computed again.
constexpr double crossed_share = 0.7;
constexpr int most_updates = 30;  // after which rounding may have added up

// sum_i c_i [x_i, column] [x_i, column]', its diagonal and above, of size d + 1.
template <class T>
void bordered_gram(const Selection<T>& A, const double* cost, double column, double* out) {
  const int64_t d = A.points.d, wide = d + 1;
  std::vector<double> square(size_t(d * d)), border(size_t(wide), 0.0);
  gram(A, cost, square.data(), 1);
  linear_sum(A, cost, border.data(), 1);
  for (int64_t i = 0; i < A.size; ++i) border[size_t(d)] += cost[i];
  for (int64_t i = 0; i < d; ++i) {
    std::copy(square.data() + i * d, square.data() + (i + 1) * d, out + i * wide);
    out[i * wide + d] = column * border[size_t(i)];
  }
  out[d * wide + d] = column * column * border[size_t(d)];
}

// The solution of H x = x by a Cholesky factor U'U in the upper half of H; false where H is not
// positive definite.
inline bool solve_by_cholesky(double* H, int64_t n, double* x) {
  for (int64_t k = 0; k < n; ++k) {
    double* row = H + k * n;
    if (!(row[k] > 0)) return false;
    const double scale = 1 / std::sqrt(row[k]);
    for (int64_t j = k; j < n; ++j) row[j] *= scale;
    for (int64_t i = k + 1; i < n; ++i) {
      double* other = H + i * n;
      const double factor = row[i];
#pragma GCC ivdep  // the rows are two
      for (int64_t j = i; j < n; ++j) other[j] -= factor * row[j];
    }
    x[k] *= scale;
    for (int64_t j = k + 1; j < n; ++j) x[j] -= row[j] * x[k];
  }
  for (int64_t k = n; k-- > 0;) {
    for (int64_t j = k + 1; j < n; ++j) x[k] -= H[k * n + j] * x[j];
    x[k] /= H[k * n + k];
  }
  return true;
}

struct HingeResult {
  int64_t steps;
  bool ended;  // at the goal, or where only rounding is left
};

template <class T>
class Hinge {
 public:
  // `whole` is the bordered matrix of all samples; column 1 is for a bias, 0 for none.
  Hinge(const Points<T>& X, const double* sign, const double* cost, double column, double m,
        const std::vector<double>& whole)
      : X(X), n(X.n), d(X.d), sign(sign), cost(cost), column(column), m(m), matrix(whole) {
    e.assign(size_t(n), 1.0), t.resize(size_t(n)), q.resize(size_t(n)), f.resize(size_t(n));
    outside.assign(size_t(n), 1);
    count = n;
  }

  // Lowers the own gap, P - D at w, to goal P. u is (w, b), 0 at first.
  HingeResult solve(double goal, int64_t most, double* u) {
    std::vector<double> gradient(size_t(d + 1)), p, H;
    double last = std::numeric_limits<double>::infinity();
    for (int64_t steps = 0;; ++steps) {
      const double value = evaluate(u, gradient.data());
      const bool same = crossings() == 0;
      if (gap <= goal * value || (same && !(gap < 0.5 * last))) return {steps, true};
      if (steps == most || !(value < std::numeric_limits<double>::infinity()))
        return {steps, false};
      last = same ? gap : std::numeric_limits<double>::infinity();
      H.resize(matrix.size()), p.resize(gradient.size());
      for (size_t k = 0; k < H.size(); ++k) H[k] = 2 * matrix[k];
      for (int64_t k = 0; k < d; ++k) H[size_t(k * (d + 2))] += 1;
      double& corner = H.back();
      corner = corner + m > 0 ? corner + m : 1.0;
      double slope = 0;
      for (size_t k = 0; k < p.size(); ++k) p[k] = -gradient[k];
      if (!solve_by_cholesky(H.data(), d + 1, p.data())) return {steps, false};
      for (size_t k = 0; k < p.size(); ++k) slope += p[k] * gradient[k];
      if (!(slope < 0)) return {steps, true};
      const double length = line_search(u, p.data(), slope);
      for (size_t k = 0; k < p.size(); ++k) u[k] += length * p[k];
      for (int64_t i = 0; i < n; ++i) e[size_t(i)] -= length * q[size_t(i)];
    }
  }

  // The decision values.
  void values(double* out) const {
    for (int64_t i = 0; i < n; ++i) out[i] = sign[i] * (1 - e[size_t(i)]);
  }

 private:
  Points<T> X;
  int64_t n, d;
  const double *sign, *cost;
  double column, m;
  std::vector<double> matrix;  // of the samples outside
  std::vector<double> e, t, q, f, some;
  std::vector<char> outside;
  std::vector<int64_t> entered, left;
  int64_t count;
  int updates = 0;
  double gap = 0;

  // P at u, its gradient, and the gap.
  double evaluate(const double* u, double* gradient) {
    double loss = 0, total = 0, curvature = m;
    for (int64_t i = 0; i < n; ++i) {
      const double over = std::max(0.0, e[size_t(i)]);
      t[size_t(i)] = 2 * cost[i] * sign[i] * over;
      loss += cost[i] * over * over, total += t[size_t(i)];
      if (over > 0) curvature += 2 * cost[i];
    }
    linear_sum(Selection<T>{X, nullptr, n}, t.data(), gradient, 1);
    double square = 0, own = 0;
    for (int64_t k = 0; k < d; ++k) {
      gradient[k] = u[k] - gradient[k];
      own += gradient[k] * gradient[k], square += u[k] * u[k];
    }
    const double last = column * (m * u[d] - total);
    gradient[d] = last;
    gap = 0.5 * own;
    if (last != 0) gap += 0.5 * last * last / (m > 0 ? m : curvature);
    return 0.5 * square + 0.5 * m * u[d] * u[d] + loss;
  }

  void add(const std::vector<int64_t>& rows, double factor) {
    if (rows.empty()) return;
    some.resize(rows.size());
    for (size_t k = 0; k < rows.size(); ++k) some[k] = cost[rows[k]];
    std::vector<double> change(matrix.size());
    bordered_gram(Selection<T>{X, rows.data(), int64_t(rows.size())}, some.data(), column,
                  change.data());
    for (size_t k = 0; k < matrix.size(); ++k) matrix[k] += factor * change[k];
  }

  // Brings the matrix to the samples outside; returns how many crossed.
  int64_t crossings() {
    entered.clear(), left.clear();
    for (int64_t i = 0; i < n; ++i) {
      const char now = e[size_t(i)] > 0;
      if (now != outside[size_t(i)]) (now ? entered : left).push_back(i);
      outside[size_t(i)] = now;
    }
    const int64_t crossed = int64_t(entered.size() + left.size());
    count += int64_t(entered.size()) - int64_t(left.size());
    if (crossed == 0) return 0;
    if (double(crossed) > crossed_share * double(count) || ++updates > most_updates) {
      updates = 0;
      entered.clear(), left.clear();
      for (int64_t i = 0; i < n; ++i)
        if (outside[size_t(i)]) entered.push_back(i);
      std::fill(matrix.begin(), matrix.end(), 0.0);
    }
    add(entered, 1.0), add(left, -1.0);
    return crossed;
  }

  // The length of the step p at which the slope of P is nearly 0: a bracket, then guarded regula
  // falsi.
  double line_search(const double* u, const double* p, double first) {
    linear_values(Selection<T>{X, nullptr, n}, p, f.data(), 1);
    for (int64_t i = 0; i < n; ++i) q[size_t(i)] = sign[i] * (f[size_t(i)] + column * p[d]);
    double linear = m * u[d] * p[d], quadratic = m * p[d] * p[d];
    for (int64_t k = 0; k < d; ++k) linear += u[k] * p[k], quadratic += p[k] * p[k];
    const auto slope = [&](double s) {
      double sums[4] = {0, 0, 0, 0};
      for (int64_t i = 0; i < n; ++i)
        sums[i % 4] += cost[i] * q[size_t(i)] * std::max(0.0, e[size_t(i)] - s * q[size_t(i)]);
      return linear + s * quadratic - 2 * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    };
    double low = 0, at_low = first, high = 1, at_high = slope(1);
    while (at_high < flat_slope * first && high < 1e6)
      low = high, at_low = at_high, high *= 2, at_high = slope(high);
    double s = high, at = at_high;
    for (int k = 0; k < most_slopes && std::abs(at) > -flat_slope * first; ++k) {
      if (!(low < high && at_low < at_high)) break;
      const double share = at_low / (at_low - at_high);
      s = low + (high - low) * std::clamp(share, bracket_guard, 1 - bracket_guard);
      at = slope(s);
      (at > 0 ? high : low) = s, (at > 0 ? at_high : at_low) = at;
    }
    return s;
  }
};

// Problem k has the signs sign[k n], ...; u gets its weights and bias, f its decision values.
template <class T>
std::vector<HingeResult> squared_hinges(const Points<T>& X, const double* sign, const double* cost,
                                        int64_t problems, double column, double m, double goal,
                                        int64_t most, double* u, double* f, int threads) {
  std::vector<double> whole(size_t((X.d + 1) * (X.d + 1)), 0.0);
  bordered_gram(Selection<T>{X, nullptr, X.n}, cost, column, whole.data());
  std::vector<HingeResult> found(static_cast<size_t>(problems));
  on_team(team_size(threads, problems, 1), [&](Team& team) {
    team.each(problems, 1, [&](int64_t k, int64_t) {
      Hinge<T> mine(X, sign + k * X.n, cost, column, m, whole);
      found[size_t(k)] = mine.solve(goal, most, u + k * (X.d + 1));
      mine.values(f + k * X.n);
    });
  });
  return found;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
