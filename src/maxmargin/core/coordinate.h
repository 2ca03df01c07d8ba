// One pass of dual coordinate descent for linear models: each dual in turn is set to its best value, the others fixed.
//
//   f_i = x_i . w + bias,  w = sum_i beta_i x_i,  Q = |x_i|^2 + column
//   beta_i <- the minimiser of  Q/2 (t - beta_i)^2 + f_i (t - beta_i) - gain_i(t)  over the bounds
//
// Samples at a bound whose condition holds by more than `aside` are set aside until the caller looks at them again.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "corridor.h"
#include "level.h"
#include "linear.h"

namespace maxmargin::MAXMARGIN_LEVEL {

struct Draw {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return int64_t((unsigned __int128)next() * (unsigned __int128)n >> 64); }
};

// The best value of one dual, in units where it is beta now and the decision value is f.
inline double best_dual(const Corridor& c, int64_t i, double f, double beta, double Q) {
  const double up = c.up[i], down = c.down[i];
  if (up > 0) {
    const double t = (Q * beta + c.low[i] - f) / (c.squared ? Q + 1 / (2 * up) : Q);
    if (t > 0) return c.squared ? t : std::min(t, up);
  }
  if (down > 0) {
    const double t = (Q * beta + c.high[i] - f) / (c.squared ? Q + 1 / (2 * down) : Q);
    if (t < 0) return c.squared ? t : std::max(t, -down);
  }
  return 0;
}

// By how much the condition of sample i is broken (positive) or, at a bound, holds (negative).
inline double broken(const Corridor& c, int64_t i, double f, double beta) {
  const double up = c.up[i], down = c.down[i];
  if (beta > 0) {
    const double g = f - c.low[i] + (c.squared ? beta / (2 * up) : 0.0);
    return !c.squared && beta >= up ? g : std::fabs(g);
  }
  if (beta < 0) {
    const double g = f - c.high[i] + (c.squared ? beta / (2 * down) : 0.0);
    return !c.squared && beta <= -down ? -g : std::fabs(g);
  }
  return std::max(up > 0 ? c.low[i] - f : -INFINITY, down > 0 ? f - c.high[i] : -INFINITY);
}

template <class T>
inline void prefetch(const Points<T>& X, int64_t i) {
  const int64_t begin = X.indptr ? X.indptr[i] : i * X.d, end = X.indptr ? X.indptr[i + 1] : begin + X.d;
  const int64_t most = std::min<int64_t>(end, begin + 256);
  for (int64_t k = begin; k < most; k += 64 / int64_t(sizeof(T))) __builtin_prefetch(X.values + k);
  if (X.indptr)
    for (int64_t k = begin; k < most; k += 16) __builtin_prefetch(X.indices + k);
}

template <class T>
PassResult coordinate_pass(const CoordinatePass<T>& p) {
  const Corridor& c = p.corridor;
  Draw draw{p.seed};
  PassResult result{0, 0, p.active};
  for (int64_t k = p.active - 1; k > 0; --k) std::swap(p.order[k], p.order[draw.below(k + 1)]);
  double bias = *p.bias;
  for (int64_t k = 0; k < result.active;) {
    const int64_t i = p.order[k];
    if (k + 4 < result.active) prefetch(p.X, p.order[k + 4]);
    const double beta = p.beta[i], Q = p.norms[i], f = dot(p.X, i, p.w) + bias;
    const double wrong = broken(c, i, f, beta);
    if (wrong < -p.aside || Q <= 0) {
      if (Q <= 0) p.beta[i] = dual_at(c, i, bias, 0.0, 1e-300).t;  // a sample at the origin, no bias: its dual changes nothing else
      std::swap(p.order[k], p.order[--result.active]);
      continue;
    }
    ++k;
    result.gap += loss_at(c, i, f) - gain_at(c, i, beta) + beta * f;
    if (wrong <= 0) continue;
    result.violation = std::max(result.violation, wrong);
    const double t = best_dual(c, i, f, beta, Q), change = t - beta;
    if (change == 0) continue;
    p.beta[i] = t;
    add(p.X, i, change, p.w);
    bias += p.column * change;
  }
  *p.bias = bias;
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
