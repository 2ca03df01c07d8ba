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
// Projections shrink scale fast at first: before sigma v - u could cancel, the walk stops and the caller multiplies scale into v.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace maxmargin::online {

constexpr double least_scale = 1e-3;  // of steps * scale, beside what it was when scale was last multiplied into v
constexpr double missed = 1 - 1e-10;  // an exact bias puts samples on the margin: rounding must not decide about them
constexpr int lanes = 8;

template <class T>
struct Rows {  // dense if indptr is null
  int64_t n, d;
  const T* values;
  const int64_t* indptr;
  const int32_t* indices;
};

template <class T>
double dot(const Rows<T>& X, int64_t i, const double* w) {
  if (X.indptr) {
    double sum = 0;
    for (int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p) sum += double(X.values[p]) * w[X.indices[p]];
    return sum;
  }
  const T* x = X.values + i * X.d;
  double part[lanes] = {}, sum = 0;  // a fixed order of additions that compilers can vectorise
  int64_t k = 0;
  for (; k + lanes <= X.d; k += lanes)
    for (int l = 0; l < lanes; ++l) part[l] += double(x[k + l]) * w[k + l];
  for (; k < X.d; ++k) sum += double(x[k]) * w[k];
  for (double p : part) sum += p;
  return sum;
}

template <class T>
double squared_norm(const Rows<T>& X, int64_t i) {
  const int64_t begin = X.indptr ? X.indptr[i] : i * X.d, end = X.indptr ? X.indptr[i + 1] : (i + 1) * X.d;
  double sum = 0;
  for (int64_t p = begin; p < end; ++p) sum += double(X.values[p]) * double(X.values[p]);
  return sum;
}

template <class T>
void add(const Rows<T>& X, int64_t i, double c, double* w) {  // w += c x_i
  if (X.indptr)
    for (int64_t p = X.indptr[i]; p < X.indptr[i + 1]; ++p) w[X.indices[p]] += c * double(X.values[p]);
  else
    for (int64_t k = 0; k < X.d; ++k) w[k] += c * double(X.values[i * X.d + k]);
}

struct Centre {  // of the samples: m, m.x_i and m.m; not used if products is null
  const double* products;
  double square;
  double at(int64_t i) const { return products ? products[i] : 0.0; }
};

struct Rule {
  double alpha, bias_step;
  int64_t batch;
  bool project, average;
};

// The numbers of one walk, in the caller's array: see solvers/pegasos.py.
struct Walk {
  double &steps, &scale, &sigma, &norm, &bias, &mean_bias, &base;
  Rule rule;
  double t = 0;

  Walk(double* numbers, const Rule& rule)
      : steps(numbers[0]), scale(numbers[1]), sigma(numbers[2]), norm(numbers[3]), bias(numbers[4]), mean_bias(numbers[5]), base(numbers[6]), rule(rule) {}

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

// Walk over the samples order[0], order[1], ...; returns how many were used. coef_v and coef_u take what v and u take of each sample.
template <class T>
int64_t walk_rows(const Rows<T>& X, const int64_t* order, int64_t count, const double* y, const double* gain, double* v, double* u,
                  double* coef_v, double* coef_u, const Centre& m, double* margins, double* numbers, const Rule& rule) {
  Walk walk(numbers, rule);
  double &D = numbers[7], &Vm = numbers[8], &E = numbers[9];
  const auto product = [&](int64_t i) { return dot(X, i, v) - Vm - D * (m.at(i) - m.square); };
  for (int64_t at = 0; at < count; at += rule.batch) {
    if (walk.must_fold()) return at;
    const int64_t batch = std::min(rule.batch, count - at);
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = order[at + j];
      margins[j] = y[i] * (walk.scale * product(i) + walk.bias);
    }
    const double bias = walk.bias;
    walk.begin();
    for (int64_t j = 0; j < batch; ++j) {
      const int64_t i = order[at + j];
      if (!(margins[j] < missed)) continue;
      double wx = 0, xx = 0;
      if (rule.project) {  // in a batch of one w.x is known
        wx = batch > 1 ? walk.scale * product(i) : (margins[j] * y[i] - bias) * (walk.t > 1 ? (walk.t - 1) / walk.t : 1.0);
        xx = squared_norm(X, i) - 2 * m.at(i) + m.square;
      }
      const double d = walk.take(y[i] * gain[i], batch, wx, xx);
      add(X, i, d, v);
      if (m.products) D += d, Vm += d * m.at(i), E += walk.sigma * d;
      if (rule.average) add(X, i, walk.sigma * d, u);
      if (coef_v) coef_v[i] += d, coef_u[i] += walk.sigma * d;
    }
    walk.end();
  }
  return count;
}

// The same on a tile: z_i = sum_j c_j k(x_j, x_i) over all coefficients c; given_v and given_u take what c and its average's u take.
inline int64_t walk_tile(const double* K, int64_t n, int64_t begin, double* z, const double* y, const double* gain, double* given_v,
                         double* given_u, double* margins, double* numbers, const Rule& rule) {
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

struct NormaRule {
  double alpha, eta0, power, nu;  // nu < 0: rho is fixed
  bool bias;
};

// NORMA on a tile; numbers are steps, scale, bias, rho; scale must not underflow. Returns how many samples were used.
inline int64_t norma_tile(const double* K, int64_t n, int64_t begin, double* z, const double* y, const double* gain, double* given,
                          double* numbers, const NormaRule& rule) {
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

}  // namespace maxmargin::online
