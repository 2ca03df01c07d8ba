// Coordinate descent on penalised squared losses, a column of the data at a time:
//
//   P(w) = factor/2 sum_i max(0, r_i)^2 + penalty' |w|,   r = r_0 - X w
//
// Each weight in turn is moved until its own condition (lasso.h) is broken by a small part of what
// it was.
//
// **Lanes.** The columns of a stretch are dealt to two lanes, which run side by side, each with its
// own copy of r. Both moves together may do too much; by convexity half of each does no worse than
// the mean of the two lanes, P(w + D_1/2 + D_2/2) <= (P(w + D_1) + P(w + D_2)) / 2. So they are
// taken as a whole where that does no worse, else by half. Joining costs a few passes over r: a
// stretch has several times as many values. The number of lanes does not depend on that of the
// threads: nor do the bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "coordinate.h"
#include "lasso.h"
#include "linear.h"
#include "threads.h"
#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// One pass of coordinate descent over the columns of penalised squared losses.
template <class T>
struct ColumnPass {
  Points<T> X;            // a point for each column
  const double* penalty;  // of |w|
  const double* squares;  // of each column, summed
  double factor;
  double *w, *r;   // in and out
  int32_t* order;  // the active columns, as in CoordinatePass
  int64_t active;
  double shrink_above;
  uint64_t seed;
  int threads;
};

constexpr int column_lanes = 2;
constexpr int64_t values_of_column_stretch = 8;  // for each residual, in all lanes
constexpr int64_t least_column_stretch = 1 << 16;

struct Slope {
  double g, h;
};

// Adds -step x_j to the residuals r and returns the slope and curvature of 1/2 sum max(0, r)^2 by
// w_j there.
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

struct ColumnLane {
  Aligned<double> r;
  std::vector<double> before;  // weights of the stretch
  int64_t begin = 0, end = 0;  // its part of the order
  double violation = 0;
};

// The columns order[lane.begin], ..., one after the other. The curvature at r may be far less than
// on the way; all of column j's, squares_j, is never too little. Weights that are 0 by more than
// `shrink_above` are shrunk until the caller looks at them again.
template <class T>
void visit_columns(const ColumnPass<T>& p, ColumnLane& lane, double* r, unsigned char* out) {
  for (int64_t k = lane.begin; k < lane.end; ++k) {
    const int64_t j = p.order[k];
    const double penalty = p.penalty[j];
    Slope at = column_slope<false>(p.X, j, 0.0, r);
    double w = p.w[j];
    lane.before[size_t(k - lane.begin)] = w;
    out[k] = w == 0 && (std::fabs(p.factor * at.g) < penalty - p.shrink_above || p.squares[j] <= 0);
    if (out[k]) continue;
    const double first = broken_by(w, p.factor * at.g, penalty);
    lane.violation = std::max(lane.violation, first);
    double wrong = first;
    for (int steps = 0; steps < 8 && wrong > 0.2 * first; ++steps) {
      const double h = p.factor * (steps < 2 ? std::max(at.h, 1e-3 * p.squares[j]) : p.squares[j]);
      const double next = soft(w - p.factor * at.g / h, penalty / h);
      if (next == w) break;
      at = column_slope<true>(p.X, j, next - w, r);
      w = next;
      wrong = broken_by(w, p.factor * at.g, penalty);
    }
    p.w[j] = w;
  }
}

// Joins two lanes of a stretch, of which w has the whole moves: r, and w where they are halved.
template <class T>
void join_columns(const ColumnPass<T>& p, std::vector<ColumnLane>& side) {
  double *r = p.r, *first = side[0].r.data(), *second = side[1].r.data();
  double loss = 0, mean = 0;
  for (int64_t i = 0; i < p.X.d; ++i) {
    const double a = std::max(first[i], 0.0), b = std::max(second[i], 0.0),
                 both = std::max(first[i] + (second[i] - r[i]), 0.0);
    mean += 0.5 * (a * a + b * b);
    loss += both * both;
  }
  // Of the whole moves, less that of w before; each lane knows its own part.
  double penalty = 0;
  for (const ColumnLane& lane : side)
    for (int64_t k = lane.begin; k < lane.end; ++k)
      penalty += p.penalty[p.order[k]] *
                 (std::fabs(p.w[p.order[k]]) - std::fabs(lane.before[size_t(k - lane.begin)]));
  if (0.5 * p.factor * loss + penalty <= 0.5 * p.factor * mean + 0.5 * penalty) {
    for (int64_t i = 0; i < p.X.d; ++i) r[i] = first[i] + (second[i] - r[i]);
    return;
  }
  for (int64_t i = 0; i < p.X.d; ++i) r[i] = 0.5 * (first[i] + second[i]);
  for (const ColumnLane& lane : side)
    for (int64_t k = lane.begin; k < lane.end; ++k) {
      double& w = p.w[p.order[k]];
      w = 0.5 * (w + lane.before[size_t(k - lane.begin)]);
    }
}

// Where the stretches of the order begin and, between them, the second lanes: about as many values
// for each.
template <class T>
std::vector<int64_t> cuts_of(const ColumnPass<T>& p) {
  const int64_t most =
      std::max(least_column_stretch, values_of_column_stretch * p.X.d) / column_lanes;
  std::vector<int64_t> cuts = {0};
  int64_t values = 0;
  for (int64_t k = 0; k < p.active; ++k) {
    values += p.X.indptr ? p.X.indptr[p.order[k] + 1] - p.X.indptr[p.order[k]] : p.X.d;
    if (values >= most) cuts.push_back(k + 1), values = 0;
  }
  if (cuts.back() < p.active) cuts.push_back(p.active);
  return cuts;
}

template <class T>
PassResult column_pass(const ColumnPass<T>& p) {
  Draw draw{p.seed};
  for (int64_t k = p.active - 1; k > 0; --k) std::swap(p.order[k], p.order[draw.below(k + 1)]);
  std::vector<unsigned char> out(static_cast<size_t>(p.active));
  std::vector<ColumnLane> side(column_lanes);
  const std::vector<int64_t> cuts = cuts_of(p);
  const int64_t parts = int64_t(cuts.size()) - 1;
  on_team(team_size(p.threads, std::min<int64_t>(parts, column_lanes), 1), [&](Team& team) {
    for (int64_t part = 0; part < parts; part += column_lanes) {
      const int64_t count = std::min<int64_t>(parts - part, column_lanes);
      team.each(count, 1, [&](int64_t l, int64_t) {
        ColumnLane& lane = side[size_t(l)];
        lane.begin = cuts[size_t(part + l)], lane.end = cuts[size_t(part + l + 1)];
        lane.before.resize(size_t(lane.end - lane.begin));
        if (count > 1) lane.r.assign(p.r, p.r + p.X.d);
        visit_columns(p, lane, count > 1 ? lane.r.data() : p.r, out.data());
      });
      if (count > 1) team.each(1, 1, [&](int64_t, int64_t) { join_columns(p, side); });
    }
  });
  PassResult result{0, 0, 0};
  for (const ColumnLane& lane : side) result.violation = std::max(result.violation, lane.violation);
  for (int64_t k = 0; k < p.active; ++k)
    if (!out[size_t(k)]) std::swap(p.order[result.active++], p.order[k]);
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
