// A pass of dual coordinate descent for linear models: each dual in turn is set to its best value,
// the others fixed.
//
//   f = x . w + bias,  w = sum_i beta_i x_i,  Q = |x|^2 + column
//   beta <- the minimiser of  Q/2 (t - beta)^2 + f (t - beta) - neg_conjugate(t)  over the bounds
//
// Samples at a bound whose condition holds by more than `shrink_above` are shrunk until the caller
// looks at them again.
//
// **Lanes.** The samples of a stretch are dealt to a fixed number of lanes, which run side by side,
// each with its own copy of w. A lane that ends with w + D_l improves the dual objective by itself;
// all together may do too much. So they are joined by the best shares s_l in [0, 1]: with the gains
// g_l and the changes c_l of the sum of duals the objective grows by at least
//
//   sum_l s_l (g_l - w . D_l - bias c_l) - 1/2 sum_lm s_l s_m (D_l . D_m + column c_l c_m)
//
// (exactly that for plain losses, whose gains are linear). Short stretches make the shares nearly
// 1; joining costs a few passes over w, so a stretch has several times as many values as w, and
// where there are too few samples for one they are all in one lane. The number of lanes does not
// depend on that of the threads: nor do the bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linear.h"
#include "threads.h"
#include "tube.h"
#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// A sample as coordinate descent meets it: all it needs to know in one cache line.
struct alignas(64) Sample {
  double low, high, up, down;
  double square;       // |x|^2 and the bias column's square
  double beta;         // the dual
  int64_t begin, end;  // of its values
};

// A pass of dual coordinate descent.
template <class T>
struct CoordinatePass {
  Points<T> X;
  Sample* samples;
  bool squared, one_ended;  // every sample has one end: in a classification
  double* w;                // sum of beta x, in and out
  double* bias;             // in and out
  double column;            // the bias column's square: bias += column * change of the sum of beta
  int32_t* order;           // the active samples, shuffled where a pass begins
  int64_t active;
  int64_t begin;        // how many of them the pass has visited; a call visits some of the others
  unsigned char* out;   // for each place of the order: whether its sample was shrunk
  double shrink_above;  // a sample at a bound is shrunk if its condition holds by more than this
  uint64_t seed;
  int threads;
};

struct PassResult {
  double gap, violation;  // as met on the way
  int64_t active;
};

struct PartResult {
  double gap, violation;  // as met on the way
  int64_t end;            // how many samples the pass has visited by now
};

constexpr int coordinate_lanes = 2;
constexpr int64_t values_of_stretch = 16;    // for each weight, in each lane
constexpr int64_t least_stretch = 512;       // samples of a lane
constexpr int64_t values_of_call = 1 << 25;  // before the caller looks at the clock: some 50 ms
constexpr int64_t ahead = 6;  // samples whose values are fetched before they are needed

struct Draw {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) {
    return int64_t((unsigned __int128)next() * (unsigned __int128)n >> 64);
  }
};

// The best value of one dual, at the decision value f.
inline double best_dual(const Loss& l, double f, double beta, double Q) {
  if (l.up > 0) {
    const double t = (Q * beta + l.low - f) / (l.squared ? Q + 1 / (2 * l.up) : Q);
    if (t > 0) return l.squared ? t : std::min(t, l.up);
  }
  if (l.down > 0) {
    const double t = (Q * beta + l.high - f) / (l.squared ? Q + 1 / (2 * l.down) : Q);
    if (t < 0) return l.squared ? t : std::max(t, -l.down);
  }
  return 0;
}

// By how much the condition of a sample is broken (positive) or, at a bound, holds (negative).
inline double broken(const Loss& l, double f, double beta) {
  if (beta > 0) {
    const double g = f - l.low + (l.squared ? beta / (2 * l.up) : 0.0);
    return !l.squared && beta >= l.up ? g : std::fabs(g);
  }
  if (beta < 0) {
    const double g = f - l.high + (l.squared ? beta / (2 * l.down) : 0.0);
    return !l.squared && beta <= -l.down ? -g : std::fabs(g);
  }
  return std::max(l.up > 0 ? l.low - f : -INFINITY, l.down > 0 ? f - l.high : -INFINITY);
}

// Loads a value that is needed later: a prefetch of a page that is not in the TLB may be dropped, a
// load is not.
template <class V>
inline void touch(const V& value) {
  V loaded = *const_cast<const volatile V*>(&value);
  (void)loaded;
}

template <class T>
inline void fetch(const Points<T>& X, int64_t begin, int64_t end) {
  const int64_t most = std::min<int64_t>(end, begin + 192);
  if (begin == end) return;
  touch(X.values[begin]);
  if (X.indptr) touch(X.indices[begin]);
  for (int64_t k = begin; k < most; k += 64 / int64_t(sizeof(T))) __builtin_prefetch(X.values + k);
  if (X.indptr)
    for (int64_t k = begin; k < most; k += 16) __builtin_prefetch(X.indices + k);
}

template <class T>
inline void fetch_sample(const Points<T>& X, int64_t i) {
  if (X.indptr) fetch(X, X.indptr[i], X.indptr[i + 1]);
  else fetch(X, i * X.d, (i + 1) * X.d);
}

// What a sample's condition says at the decision value f: by how much it is broken, its share of
// the gap, the best value of its dual, and what the dual objective gains by it apart from |w|^2.
struct Visit {
  double wrong, gap, beta, gain;
};

inline Visit at_sample(const Sample& s, bool squared, double f) {
  const Loss l = {s.low, s.high, s.up, s.down, squared};
  const double before = neg_conjugate_at(l, s.beta), wrong = broken(l, f, s.beta);
  // a sample at the origin, without a bias, has a dual that nothing else depends on
  const double t = s.square > 0 ? best_dual(l, f, s.beta, s.square) : dual_at(l, f, 0.0, 1e-300).t;
  return {wrong, loss_at(l, f) - before + s.beta * f, t, neg_conjugate_at(l, t) - before};
}

// The same where the tube has one end. Turned such that it is the lower one, nothing branches on
// which end it was, which no processor can guess.
inline Visit at_one_end(const Sample& s, bool squared, double f) {
  const bool lower = s.up > 0;
  const double sign = lower ? 1.0 : -1.0, edge = sign * (lower ? s.low : s.high),
               cost = s.up + s.down, ridge = squared ? 0.5 / cost : 0.0,
               most = squared ? INFINITY : cost, inverse = 1 / (s.square + ridge);
  const double beta = sign * s.beta, above = sign * f - edge, slope = above + ridge * beta,
               below = std::max(0.0, -above);
  const double t = std::min(std::max(beta - slope * inverse, 0.0), most);
  return {beta <= 0 ? -slope : (beta >= most ? slope : std::fabs(slope)),
          cost * below * (squared ? below : 1.0) + beta * (above + 0.5 * ridge * beta), sign * t,
          edge * (t - beta) - 0.5 * ridge * (t * t - beta * beta)};
}

// Lines of its own: two lanes that write to one line wait for each other at every sample.
struct alignas(128) Lane {
  Aligned<double> w;
  std::vector<double> before;  // duals of the stretch, before
  double gain = 0, sum = 0;    // g_l, c_l
  double gap = 0, violation = 0;
  int64_t begin = 0, end = 0;
};

// The samples order[lane.begin], ..., one after the other; w is that of the lane.
template <class T, class At>
void visit(const CoordinatePass<T>& p, Lane& lane, double* w, const At& at) {
  double bias = *p.bias, gain = 0, sum = 0, gap = 0, violation = 0;
  for (int64_t k = lane.begin; k < lane.end; ++k) {
    if (k + 2 * ahead < lane.end) touch(p.samples[p.order[k + 2 * ahead]].beta);
    if (k + ahead < lane.end) {
      const Sample& next = p.samples[p.order[k + ahead]];
      fetch(p.X, next.begin, next.end);
    }
    const int64_t i = p.order[k];
    Sample& s = p.samples[i];
    const Visit found = at(s, dot(p.X, i, w) + bias);
    const double change = found.beta - s.beta;
    if (!lane.before.empty()) lane.before[size_t(k - lane.begin)] = s.beta;
    p.out[k] = found.wrong < -p.shrink_above;
    if (p.out[k]) continue;
    gap += found.gap;
    if (found.wrong <= 0) continue;
    violation = std::max(violation, found.wrong);
    if (change == 0) continue;
    s.beta = found.beta;
    gain += found.gain;
    sum += change;
    add(p.X, i, change, w);
    bias += p.column * change;
  }
  lane.gain = gain, lane.sum = sum, lane.gap += gap;
  lane.violation = std::max(lane.violation, violation);
}

template <class T>
void visit(const CoordinatePass<T>& p, Lane& lane, double* w) {
  const bool squared = p.squared;
  if (p.one_ended)
    visit(p, lane, w, [=](const Sample& s, double f) { return at_one_end(s, squared, f); });
  else visit(p, lane, w, [=](const Sample& s, double f) { return at_sample(s, squared, f); });
}

// Joins the lanes of a stretch: w and bias, the duals where a share is below 1, and every lane's
// copy of w.
template <class T>
void join(const CoordinatePass<T>& p, std::vector<Lane>& side) {
  const int count = int(side.size());
  const int64_t d = p.X.d;
  double a[coordinate_lanes], A[coordinate_lanes][coordinate_lanes], share[coordinate_lanes];
  for (int l = 0; l < count; ++l) {
    double* mine = side[size_t(l)].w.data();
    double along = 0;
    for (int64_t k = 0; k < d; ++k) mine[k] -= p.w[k];
    for (int64_t k = 0; k < d; ++k) along += p.w[k] * mine[k];
    a[l] = side[size_t(l)].gain - along - *p.bias * side[size_t(l)].sum;
    for (int m = 0; m <= l; ++m) {
      const double* other = side[size_t(m)].w.data();
      double product = p.column * side[size_t(l)].sum * side[size_t(m)].sum;
      for (int64_t k = 0; k < d; ++k) product += mine[k] * other[k];
      A[l][m] = A[m][l] = product;
    }
    share[l] = 1;
  }
  for (int sweep = 0; sweep < 20; ++sweep)
    for (int l = 0; l < count; ++l) {
      double slope = a[l];
      for (int m = 0; m < count; ++m) slope -= A[l][m] * share[m];
      if (A[l][l] > 0) share[l] = std::clamp(share[l] + slope / A[l][l], 0.0, 1.0);
    }
  for (int l = 0; l < count; ++l) {
    Lane& lane = side[size_t(l)];
    const double s = share[l];
    for (int64_t k = 0; k < d; ++k) p.w[k] += s * lane.w[size_t(k)];
    *p.bias += s * p.column * lane.sum;
    if (s == 1) continue;
    for (int64_t k = lane.begin; k < lane.end; ++k) {
      double& beta = p.samples[p.order[k]].beta;
      const double before = lane.before[size_t(k - lane.begin)];
      if (beta != before) beta = before + s * (beta - before);
    }
  }
}

// The next stretches of a pass; whole stretches, so that the bits do not depend on how many a call
// takes.
template <class T>
PartResult coordinate_pass(const CoordinatePass<T>& p) {
  Draw draw{p.seed};
  if (p.begin == 0)
    for (int64_t k = p.active - 1; k > 0; --k) std::swap(p.order[k], p.order[draw.below(k + 1)]);
  const int64_t d = p.X.d,
                values = std::max<int64_t>(
                    1, (p.X.indptr ? p.X.indptr[p.X.n] : p.X.n * d) / std::max<int64_t>(1, p.X.n));
  const int64_t length = std::max(least_stretch, values_of_stretch * d / values),
                stretches = pieces_of(p.active, coordinate_lanes * length);
  const int64_t each = pieces_of(p.active, std::max<int64_t>(1, stretches));
  const int64_t first = p.begin / std::max<int64_t>(1, each),
                many = pieces_of(values_of_call, std::max<int64_t>(1, each * values));
  const int64_t last = std::min(stretches, first + many);
  const int count = p.active >= length ? coordinate_lanes : 1;
  std::vector<Lane> side(static_cast<size_t>(count));
  if (count > 1)
    for (Lane& lane : side)
      lane.w.resize(size_t(d)), lane.before.resize(size_t(pieces_of(each, count)) + 1);
  PartResult result{0, 0, std::min(p.active, last * each)};
  on_team(team_size(p.threads, count, 1), [&](Team& team) {
    for (int64_t stretch = first; stretch < last; ++stretch) {
      team.each(count, 1, [&](int64_t l, int64_t) {
        Lane& lane = side[size_t(l)];
        const int64_t begin = stretch * each, end = std::min(p.active, begin + each),
                      part = pieces_of(end - begin, count);
        lane.begin = std::min(end, begin + l * part), lane.end = std::min(end, lane.begin + part);
        if (count == 1) {
          visit(p, lane, p.w);
          *p.bias += p.column * lane.sum;
          return;
        }
        std::copy(p.w, p.w + d, lane.w.begin());
        visit(p, lane, lane.w.data());
      });
      if (count > 1) team.each(1, 1, [&](int64_t, int64_t) { join(p, side); });
    }
  });
  for (const Lane& lane : side)
    result.gap += lane.gap, result.violation = std::max(result.violation, lane.violation);
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
