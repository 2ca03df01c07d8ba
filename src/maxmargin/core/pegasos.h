// Pegasos and NORMA: stochastic (sub)gradient steps, one sample or a small batch at a time.
//
// Pegasos minimises  alpha/2 |w|^2 + mean hinge.  Step t with the batch B of k samples:
//
//   margins    m_i = y_i (w.x_i + b),  i in B, all at the same w and b
//   shrink     w <- (1 - 1/t) w
//   add        w += gain_i y_i x_i / (alpha t k),   b += bias_step gain_i y_i / (k sqrt(t)),   i in B with m_i < 1 (less rounding)
//   project    w <- w min(1, 1 / (sqrt(alpha) |w|))
//
// w is kept as scale v, so that shrinking costs nothing and a step costs the non-zeros of its samples. The average with weights 1, 2, 3...
// of the iterates w_(t+1) = scale_t v_t costs as little: with sigma_t = sum_{r <= t} r scale_r,  sum_t t w_(t+1) = sigma_T v_T - u_T,  where
// u takes sigma_(t-1) d whenever v takes d. (Shalev-Shwartz et al. 2011; Lacoste-Julien, Schmidt and Bach 2012; Xu 2011.)
//
// On a tile of a kernel matrix the same steps move coefficients: z = K c over the tile, w.x_i = scale z_i.
//
// NORMA (Kivinen, Smola and Williamson 2004) has the step eta = eta0 / t^power on  alpha/2 |g|^2 + max(0, rho - y f) - nu rho,  f = g + b:
//
//   g <- (1 - eta alpha) g + [y f < rho] eta gain y k(x, .),   b += [y f < rho] eta gain y,   rho += eta gain (nu - [y f < rho])
//
// With a bias that is not penalised, x and x - m give the same model for any m, and steps along x - m with m the mean do not disturb the
// bias: v = sum d (x_i - m) is kept as V = sum d x_i and D = sum d, so that sparse rows stay sparse:
// v.(x_i - m) = V.x_i - V.m - D m.(x_i - m).
//
// u need not be kept along where its coefficients are: it is their sum. It is null then.
//
// Projections shrink scale fast at first: before sigma v - u could cancel, the walk stops and the caller multiplies scale into v.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "level.h"
#include "linear.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr double least_scale = 1e-3;  // of steps * scale, beside what it was when scale was last multiplied into v
constexpr double missed = 1 - 1e-10;  // an exact bias puts samples on the margin: rounding must not decide about them

// The numbers of one walk, see solvers/pegasos.py: copied from the caller's array, where nothing else is written as often, and back.
struct Walk {
  double steps, scale, sigma, norm, bias, mean_bias, base, D, Vm, E;
  const PegasosRule rule;
  double* const home;
  double t = 0;

  Walk(double* n, const PegasosRule& rule)
      : steps(n[0]), scale(n[1]), sigma(n[2]), norm(n[3]), bias(n[4]), mean_bias(n[5]), base(n[6]), D(n[7]), Vm(n[8]), E(n[9]), rule(rule), home(n) {}
  Walk(const Walk&) = delete;
  ~Walk() {
    const double now[] = {steps, scale, sigma, norm, bias, mean_bias, base, D, Vm, E};
    std::copy(std::begin(now), std::end(now), home);
  }

  bool must_fold() const { return steps > 0 && steps * scale < least_scale * base; }

  void begin() {
    t = steps + 1;
    if (t == 1) return;  // w is 0
    const double shrunk = (t - 1) / t;
    scale *= shrunk, norm *= shrunk * shrunk;
  }
  // What v takes of a sample that violates its margin; wx = w.x after what the batch added before it.
  double take(double signed_gain, int64_t batch, double wx, double xx) {
    const double step = signed_gain / (rule.alpha * t * double(batch));
    norm += step * (2 * wx + step * xx);
    bias += rule.bias_step * signed_gain / (double(batch) * std::sqrt(t));
    return step / scale;
  }
  void end() {
    if (rule.project && rule.alpha * norm > 1) scale /= std::sqrt(rule.alpha * norm), norm = 1 / rule.alpha;
    sigma += t * scale;
    mean_bias += 2 / (t + 1) * (bias - mean_bias);
    steps = t;
  }
};

// Loads what the samples after the k-th need, those of `group` steps at once: they lie where no processor can guess, and loads that do not
// depend on each other wait together. Prefetches would not do: processors drop those whose page is not at hand, as here it seldom is.
template <class T>
inline void fetch_after(const PegasosRows<T>& p, int64_t k) {
  constexpr int64_t group = 16, most = 256;  // of a longer row the processor guesses the rest
  if (k % group) return;
  const int64_t first = std::min(p.count, k ? k + group : 0), last = std::min(p.count, k + 2 * group);
  double sum = 0;
  int64_t whole = 0;
  for (int64_t j = first; j < last; ++j) {
    sum += p.samples[p.order[j]].sign;
    if (p.X.indptr) whole += p.X.indptr[p.order[j]];
  }
  for (int64_t j = first; j < last; ++j) {
    const int64_t i = p.order[j], begin = p.X.indptr ? p.X.indptr[i] : i * p.X.d;
    const int64_t end = std::min(p.X.indptr ? p.X.indptr[i + 1] : begin + p.X.d, begin + most);
    if (begin >= end) continue;
    for (int64_t at = begin; at < end; at += 64 / int64_t(sizeof(T))) sum += double(p.X.values[at]);
    sum += double(p.X.values[end - 1]);  // rows do not begin where cache lines do
    for (int64_t at = begin; p.X.indptr && at < end; at += 16) whole += p.X.indices[at];
  }
  asm volatile("" ::"r"(&sum), "r"(&whole) : "memory");  // not to be left out, though nobody asks for the sums
}

// Walk over the samples order[0], order[1], ...; returns how many were used.
template <class T>
int64_t pegasos_rows(const PegasosRows<T>& p) {
  const Points<T>& X = p.X;
  Walk walk(p.numbers, p.rule);
  const auto product = [&](int64_t i) { return dot(X, i, p.v) - walk.Vm - walk.D * (p.samples[i].centre - p.square); };
  for (int64_t at = 0; at < p.count; at += p.rule.batch) {
    if (walk.must_fold()) return at;
    const int64_t batch = std::min(p.rule.batch, p.count - at);
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = p.order[at + j];
      fetch_after(p, at + j);
      p.margins[j] = p.samples[i].sign * (walk.scale * product(i) + walk.bias);
    }
    const double bias = walk.bias;
    walk.begin();
    for (int64_t j = 0; j < batch; ++j) {
      if (!(p.margins[j] < missed)) continue;
      const int64_t i = p.order[at + j];
      PegasosSample& x = p.samples[i];
      double wx = 0;
      if (p.rule.project)  // in a batch of one w.x is known
        wx = batch > 1 ? walk.scale * product(i) : (p.margins[j] * x.sign - bias) * (walk.t > 1 ? (walk.t - 1) / walk.t : 1.0);
      const double d = walk.take(x.sign * x.gain, batch, wx, x.square), e = walk.sigma * d;
      add(X, i, d, p.v);
      if (p.u) add(X, i, e, p.u);
      walk.D += d, walk.Vm += d * x.centre, walk.E += e;
      x.coef_v += d, x.coef_u += e;
    }
    walk.end();
  }
  return p.count;
}

// The same on a tile: z_i = sum_j c_j k(x_j, x_i) over all coefficients c; given_v and given_u take what c and its average's u take.
inline int64_t pegasos_tile(const OnlineTile& tile, double* given_u, double* margins, double* numbers, const PegasosRule& rule) {
  const auto& [K, n, begin, z, y, gain, given_v] = tile;
  Walk walk(numbers, rule);
  for (int64_t at = begin; at < n; at += rule.batch) {
    if (walk.must_fold()) return at;
    const int64_t batch = std::min(rule.batch, n - at);
    for (int64_t j = 0; j < batch; ++j) margins[j] = y[at + j] * (walk.scale * z[at + j] + walk.bias);
    walk.begin();
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = at + j;
      if (!(margins[j] < missed)) continue;
      const double d = walk.take(y[i] * gain[i], batch, walk.scale * z[i], K[i * n + i]);
      given_v[i] += d, given_u[i] += walk.sigma * d;
      for (int64_t k = 0; k < n; ++k) z[k] += d * K[i * n + k];
    }
    walk.end();
  }
  return n;
}

// NORMA on a tile; numbers are steps, scale, bias, rho; scale must not underflow. Returns how many samples were used.
inline int64_t norma_tile(const OnlineTile& tile, double* numbers, const NormaRule& rule) {
  const auto& [K, n, begin, z, y, gain, given] = tile;
  double &steps = numbers[0], &scale = numbers[1], &bias = numbers[2], &rho = numbers[3];
  for (int64_t i = begin; i < n; ++i) {
    if (scale < 1e-100) return i;
    const double eta = rule.eta0 / std::pow(steps + 1, rule.power);
    const bool error = y[i] * (scale * z[i] + bias) < rho;
    scale *= 1 - eta * rule.alpha;
    if (error) {
      const double d = eta * gain[i] * y[i] / scale;
      given[i] += d;
      for (int64_t k = 0; k < n; ++k) z[k] += d * K[i * n + k];
      if (rule.bias) bias += eta * gain[i] * y[i];
    }
    if (rule.nu >= 0) rho += eta * gain[i] * (rule.nu - double(error));
    steps += 1;
  }
  return n;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
