// Losses that are 0 inside a tube of decision values; losses.py has the mathematics.
#pragma once
#include <algorithm>
#include <vector>

#include "threads.h"
#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// The losses of n samples: leaving the tube [low, high] of decision values costs `up` a unit below
// it and `down` a unit above it, or a unit squared; see losses.py.
struct Tube {
  int64_t n;
  const double *low, *high, *up, *down;
  bool squared;
};

// Sums over all samples at given decision values f and duals t; see losses.py.
struct TubeSums {
  double loss, neg_conjugate, total;
};

struct Loss {
  double low, high, up, down;
  bool squared;
};

inline Loss loss_of(const Tube& c, int64_t i) {
  return {c.low[i], c.high[i], c.up[i], c.down[i], c.squared};
}

struct Dual {
  double t, curvature;  // curvature = -dt/df
};

// The dual that belongs to the decision value f: of a squared loss itself, and of a plain loss with
// a proximal term around the dual `prox_centre`, which smooths it over a length `smoothing`.
inline Dual dual_at(const Loss& l, double f, double prox_centre, double smoothing) {
  if (l.squared) {
    if (f < l.low) return {2 * l.up * (l.low - f), 2 * l.up};
    if (f > l.high) return {2 * l.down * (l.high - f), 2 * l.down};
    return {0, 0};
  }
  const double rate = std::max(l.up, l.down) / smoothing;
  if (l.up > 0) {
    const double t = prox_centre + (l.low - f) * rate;
    if (t >= l.up) return {l.up, 0};
    if (t > 0) return {t, rate};
  }
  if (l.down > 0) {
    const double t = prox_centre + (l.high - f) * rate;
    if (t <= -l.down) return {-l.down, 0};
    if (t < 0) return {t, rate};
  }
  return {0, 0};
}

inline double loss_at(const Loss& l, double f) {
  const double below = l.low - f, above = f - l.high;
  if (below > 0) return l.up * (l.squared ? below * below : below);
  if (above > 0) return l.down * (l.squared ? above * above : above);
  return 0;
}

// -loss*(-t), with loss* the convex conjugate: the term of the dual t in the dual objective.
inline double neg_conjugate_at(const Loss& l, double t) {
  if (t == 0) return 0;
  const double edge = t > 0 ? l.low : l.high, cost = t > 0 ? l.up : l.down;
  return edge * t - (l.squared ? t * t / (4 * cost) : 0.0);
}

constexpr int64_t tube_piece = 8192;  // samples of a partial sum, for any number of threads

inline TubeSums tube_duals(const Tube& c, const double* f, const double* prox_centre,
                           double smoothing, double* t, double* curvature, int threads) {
  std::vector<TubeSums> parts(size_t(pieces_of(c.n, tube_piece)));
  parallel(threads, c.n, tube_piece, [&](int64_t begin, int64_t end) {
    TubeSums sums = {0, 0, 0};
    for (int64_t i = begin; i < end; ++i) {
      const Loss l = loss_of(c, i);
      const Dual dual = dual_at(l, f[i], prox_centre ? prox_centre[i] : 0.0, smoothing);
      t[i] = dual.t;
      if (curvature) curvature[i] = dual.curvature;
      sums.loss += loss_at(l, f[i]);
      sums.neg_conjugate += neg_conjugate_at(l, dual.t);
      sums.total += dual.t;
    }
    parts[size_t(begin / tube_piece)] = sums;
  });
  TubeSums all = {0, 0, 0};
  for (const TubeSums& part : parts)
    all = {all.loss + part.loss, all.neg_conjugate + part.neg_conjugate, all.total + part.total};
  return all;
}

// The derivative of the smoothed losses by s at f + s change.
inline double tube_slope(const Tube& c, const double* f, const double* change, double step,
                         const double* prox_centre, double smoothing, int threads) {
  std::vector<double> parts(size_t(pieces_of(c.n, tube_piece)));
  parallel(threads, c.n, tube_piece, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double at = f[i] + step * change[i], around = prox_centre ? prox_centre[i] : 0.0;
      sum -= change[i] * dual_at(loss_of(c, i), at, around, smoothing).t;
    }
    parts[size_t(begin / tube_piece)] = sum;
  });
  double all = 0;
  for (double part : parts) all += part;
  return all;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
