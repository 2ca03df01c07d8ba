// Pegasos and NORMA: stochastic (sub)gradient steps, one sample or a mini-batch at a time.
//
// Pegasos minimises  alpha/2 |w|^2 + mean hinge loss.  Step t with a mini-batch B of k samples:
//
//   margins    m_i = y_i (w.x_i + b),  i in B, all at the same w and b
//   shrink     w <- (1 - 1/t) w
//   add        w += weight_i y_i x_i / (alpha t k),   b += bias_step weight_i y_i / (k sqrt(t)),
//              for the i in B with m_i < 1 (less rounding)
//   project    w <- w min(1, 1 / (sqrt(alpha) |w|))
//
// w is kept as scale v, so that shrinking costs nothing and a step costs the non-zeros of its
// samples. The average with weights 1, 2, 3, ... of the iterates w_(t+1) = scale_t v_t costs as
// little: with sigma_t = sum_{r <= t} r scale_r,
//
//   sum_t t w_(t+1) = sigma_T v_T - u_T
//
// where u += sigma_(t-1) d whenever v += d. (Shalev-Shwartz et al. 2011; Lacoste-Julien, Schmidt
// and Bach 2012; Xu 2011.)
//
// On a tile of a kernel matrix the same steps move coefficients c: z = K c, w.x_i = scale z_i.
//
// NORMA (Kivinen, Smola and Williamson 2004) takes steps of size eta = eta0 / t^power on
// alpha/2 |g|^2 + max(0, rho - y f) - nu rho,  f = g + b:
//
//   g   <- (1 - eta alpha) g + [y f < rho] eta weight y k(x, .)
//   b   += [y f < rho] eta weight y
//   rho += eta weight (nu - [y f < rho])
//
// With a bias that is not penalised, x and x - m give the same model for any m, and steps along
// x - m with m the mean do not disturb the bias. v = sum d (x_i - m) is kept as V = sum d x_i and
// v_sum = sum d, so that sparse rows stay sparse:
//
//   v.(x_i - m) = V.x_i - V.m - v_sum m.(x_i - m)
//
// u is null where the caller keeps the coefficients of the samples: it is a sum over them.
//
// Projections make scale small fast at first. Before sigma v - u could cancel, the steps stop and
// the caller multiplies scale into v.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "linear.h"
#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// The update rules of Pegasos and NORMA.
struct PegasosRule {
  double alpha, bias_step;
  int64_t batch;
  bool project;
};
struct NormaRule {
  double alpha, eta0, power, nu;  // nu < 0: rho is fixed
  bool bias;
};

// The state of one function. online/pegasos.py and online/norma.py name the same fields.
struct PegasosState {
  double steps, scale, sigma;     // steps so far; w = scale v; sigma weights v in the average
  double norm;                    // |w|^2
  double bias, mean_bias;         // the bias and its average
  double base;                    // steps * scale when scale was last multiplied into v
  double v_sum, v_centre, u_sum;  // centred samples: sum of steps, V.m, sum of steps of u
};
struct NormaState {
  double steps, scale, bias, rho;
};

// All that a step reads and writes of a sample besides its row, in one cache line.
struct PegasosSample {
  double sign, weight;
  double centre;   // m.x for the centre m of the samples
  double square;   // |x - m|^2
  double coef[2];  // its coefficients in v and in u
  double unused[2];
};

static_assert(sizeof(PegasosState) == 10 * sizeof(double));
static_assert(sizeof(NormaState) == 4 * sizeof(double));
static_assert(sizeof(PegasosSample) == 8 * sizeof(double));

// Pegasos over the rows order[0], order[1], ... of X.
template <class T>
struct PegasosRows {
  Points<T> X;
  const int64_t* order;
  int64_t count;
  PegasosSample* samples;
  double *v, *u;  // u may be null
  double square;  // m.m
  double* margins;
  PegasosState* state;
  PegasosRule rule;
};

// Steps over the samples begin, ..., n - 1 with the kernel matrix K; z and added are changed.
struct OnlineTile {
  const double* K;
  int64_t n, begin;
  double* z;
  const double *y, *weight;
  double* added;
};

constexpr double least_scale = 1e-3;  // of steps * scale, beside its value at the last rescaling
// An exact bias puts samples on the margin: rounding must not decide about them.
constexpr double margin = 1 - 1e-10;

// One Pegasos iterate. The state is copied, since the caller's memory is written less often, and
// copied back at the end.
struct Iterate : PegasosState {
  const PegasosRule rule;
  PegasosState* const home;
  double t = 0;

  Iterate(PegasosState* home, const PegasosRule& rule)
      : PegasosState(*home), rule(rule), home(home) {}
  Iterate(const Iterate&) = delete;
  ~Iterate() { *home = *this; }

  bool must_rescale() const { return steps > 0 && steps * scale < least_scale * base; }

  void begin() {
    t = steps + 1;
    if (t == 1) return;  // w is 0
    const double shrunk = (t - 1) / t;
    scale *= shrunk, norm *= shrunk * shrunk;
  }
  // The step of v along a sample that violates its margin; wx = w.x after the samples of the
  // mini-batch before it.
  double add(double signed_weight, int64_t batch, double wx, double xx) {
    const double step = signed_weight / (rule.alpha * t * double(batch));
    norm += step * (2 * wx + step * xx);
    bias += rule.bias_step * signed_weight / (double(batch) * std::sqrt(t));
    return step / scale;
  }
  void end() {
    if (rule.project && rule.alpha * norm > 1) {
      scale /= std::sqrt(rule.alpha * norm);
      norm = 1 / rule.alpha;
    }
    sigma += t * scale;
    mean_bias += 2 / (t + 1) * (bias - mean_bias);
    steps = t;
  }
};

// Loads what the samples after the k-th need, those of `group` steps at once. They lie in random
// places, and loads that do not depend on each other wait together. Prefetches would not do:
// processors drop those whose page is not in the TLB, as here it seldom is.
template <class T>
inline void fetch_after(const PegasosRows<T>& p, int64_t k) {
  constexpr int64_t group = 16;
  constexpr int64_t most = 256;  // the hardware prefetcher finds the rest of a longer row
  if (k % group) return;
  const int64_t first = std::min(p.count, k ? k + group : 0);
  const int64_t last = std::min(p.count, k + 2 * group);
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
    sum += double(p.X.values[end - 1]);  // rows do not begin at cache lines
    for (int64_t at = begin; p.X.indptr && at < end; at += 16) whole += p.X.indices[at];
  }
  // The compiler must keep these sums, though nobody reads them.
  asm volatile("" ::"r"(&sum), "r"(&whole) : "memory");
}

// Steps over the samples order[0], order[1], ...; returns how many were used.
template <class T>
int64_t pegasos_rows(const PegasosRows<T>& p) {
  const Points<T>& X = p.X;
  Iterate w(p.state, p.rule);
  const auto product = [&](int64_t i) {
    return dot(X, i, p.v) - w.v_centre - w.v_sum * (p.samples[i].centre - p.square);
  };
  for (int64_t at = 0; at < p.count; at += p.rule.batch) {
    if (w.must_rescale()) return at;
    const int64_t batch = std::min(p.rule.batch, p.count - at);
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = p.order[at + j];
      fetch_after(p, at + j);
      p.margins[j] = p.samples[i].sign * (w.scale * product(i) + w.bias);
    }
    const double bias = w.bias;
    w.begin();
    for (int64_t j = 0; j < batch; ++j) {
      if (!(p.margins[j] < margin)) continue;
      const int64_t i = p.order[at + j];
      PegasosSample& x = p.samples[i];
      double wx = 0;
      if (p.rule.project)  // in a mini-batch of one, w.x is known
        wx = batch > 1 ? w.scale * product(i)
                       : (p.margins[j] * x.sign - bias) * (w.t > 1 ? (w.t - 1) / w.t : 1.0);
      const double d = w.add(x.sign * x.weight, batch, wx, x.square), e = w.sigma * d;
      add(X, i, d, p.v);
      if (p.u) add(X, i, e, p.u);
      w.v_sum += d, w.v_centre += d * x.centre, w.u_sum += e;
      x.coef[0] += d, x.coef[1] += e;
    }
    w.end();
  }
  return p.count;
}

// The same on a tile: z_i = sum_j c_j k(x_j, x_i) over all coefficients c; tile.added and added_u
// receive the steps of c and of u.
inline int64_t pegasos_tile(const OnlineTile& tile, double* added_u, double* margins,
                            PegasosState* state, const PegasosRule& rule) {
  const auto& [K, n, begin, z, y, weight, added_v] = tile;
  Iterate w(state, rule);
  for (int64_t at = begin; at < n; at += rule.batch) {
    if (w.must_rescale()) return at;
    const int64_t batch = std::min(rule.batch, n - at);
    for (int64_t j = 0; j < batch; ++j) margins[j] = y[at + j] * (w.scale * z[at + j] + w.bias);
    w.begin();
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = at + j;
      if (!(margins[j] < margin)) continue;
      const double d = w.add(y[i] * weight[i], batch, w.scale * z[i], K[i * n + i]);
      added_v[i] += d, added_u[i] += w.sigma * d;
      for (int64_t k = 0; k < n; ++k) z[k] += d * K[i * n + k];
    }
    w.end();
  }
  return n;
}

// NORMA on a tile; stops before scale underflows. Returns how many samples were used.
inline int64_t norma_tile(const OnlineTile& tile, NormaState* state, const NormaRule& rule) {
  const auto& [K, n, begin, z, y, weight, added] = tile;
  auto& [steps, scale, bias, rho] = *state;
  for (int64_t i = begin; i < n; ++i) {
    if (scale < 1e-100) return i;
    const double eta = rule.eta0 / std::pow(steps + 1, rule.power);
    const bool error = y[i] * (scale * z[i] + bias) < rho;
    scale *= 1 - eta * rule.alpha;
    if (error) {
      const double d = eta * weight[i] * y[i] / scale;
      added[i] += d;
      for (int64_t k = 0; k < n; ++k) z[k] += d * K[i * n + k];
      if (rule.bias) bias += eta * weight[i] * y[i];
    }
    if (rule.nu >= 0) rho += eta * weight[i] * (rule.nu - double(error));
    steps += 1;
  }
  return n;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
