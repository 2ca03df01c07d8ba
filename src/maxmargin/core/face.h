// The minimum of a quadratic over a face of the box, from bound to bound: the steps between two
// questions for columns of Q^-1. maxmargin/kernel/face.py has the mathematics.
//
//   repeat  b += t d, up to the first bound;  t = 1: the minimum is reached
//           pin the variable k that met it:  w = P e_k,  d <- (1 - t) (d - (d_k / w_k) w),
//           and w / sqrt(w_k) is the next row of Z;  P = Q^-1 - Z' Z
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace maxmargin::MAXMARGIN_LEVEL {

struct Walk {
  int64_t m;
  double *b, *d;
  const double *lower, *upper;
  bool* pinned;
  const int64_t* group;  // whose sum is fixed; -1: none
  int64_t groups;
  double* Z;  // room x m
  int64_t room;
  const double* columns;  // of Q^-1, one row each
  const int64_t* at;      // where a variable's column is; -1: not there
  double dependent;       // share of its entry of Q^-1 below which a variable is fixed already
};

enum class Walked : int { reached = 0, missing = 1, full = 2, not_finite = 3 };

class FaceSteps {
 public:
  FaceSteps(const Walk& walk, int64_t count)
      : walk(walk), m(walk.m), count(count), reach(size_t(m)), w(size_t(m)) {}

  std::pair<int64_t, Walked> run() {
    for (;;) {
      keep_sums();
      const double t = first_bound();
      if (!std::isfinite(t)) return {count, Walked::not_finite};
      hit.clear();
      if (t < 1)
        for (int64_t k = 0; k < m; ++k)
          if (reach[size_t(k)] <= t) hit.push_back(k);
      for (int64_t k : hit)
        if (walk.at[k] < 0) return {count, Walked::missing};
      for (int64_t k = 0; k < m; ++k)
        walk.b[k] = std::min(std::max(walk.b[k] + t * walk.d[k], walk.lower[k]), walk.upper[k]);
      if (hit.empty()) return {count, Walked::reached};
      for (int64_t k : hit) {
        walk.b[k] = walk.d[k] > 0 ? walk.upper[k] : walk.lower[k];
        walk.pinned[k] = true;
      }
      if (count + int64_t(hit.size()) > walk.room) return {count, Walked::full};
      for (int64_t k = 0; k < m; ++k) walk.d[k] *= 1 - t;
      for (int64_t k : hit) pin(k);
    }
  }

 private:
  Walk walk;
  int64_t m, count;
  std::vector<double> reach, w;
  std::vector<int64_t> hit;

  // d without each group's mean, and 0 for what is pinned: rounding leaves neither.
  void keep_sums() {
    for (int64_t g = 0; g < walk.groups; ++g) {
      double sum = 0;
      int64_t free = 0;
      for (int64_t k = 0; k < m; ++k)
        if (walk.group[k] == g && !walk.pinned[k]) sum += walk.d[k], ++free;
      const double mean = free ? sum / double(free) : 0;
      for (int64_t k = 0; k < m; ++k)
        if (walk.group[k] == g) walk.d[k] -= mean;
    }
    for (int64_t k = 0; k < m; ++k)
      if (walk.pinned[k]) walk.d[k] = 0;
  }

  // How far d can be followed, at most 1; not a number if d is not finite.
  double first_bound() {
    double t = 1, sum = 0;
    for (int64_t k = 0; k < m; ++k) {
      const double d = walk.d[k];
      const double room = d > 0 ? walk.upper[k] - walk.b[k] : walk.b[k] - walk.lower[k];
      const double r = d != 0 ? room / std::abs(d) : HUGE_VAL;
      reach[size_t(k)] = r;
      t = r < t ? r : t;
      sum += d * 0;
    }
    return t + sum;
  }

  void pin(int64_t k) {
    const double* column = walk.columns + walk.at[k] * m;
    std::copy(column, column + m, w.begin());
    double* out = w.data();
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
      const double *z0 = walk.Z + j * m, *z1 = z0 + m, *z2 = z1 + m, *z3 = z2 + m;
      const double c0 = z0[k], c1 = z1[k], c2 = z2[k], c3 = z3[k];
      for (int64_t i = 0; i < m; ++i)
        out[i] -= (c0 * z0[i] + c1 * z1[i]) + (c2 * z2[i] + c3 * z3[i]);
    }
    for (; j < count; ++j) {
      const double* z = walk.Z + j * m;
      const double c = z[k];
      for (int64_t i = 0; i < m; ++i) out[i] -= c * z[i];
    }
    const double pivot = out[k];
    if (!(pivot > walk.dependent * column[k])) return;  // the other constraints fix it
    const double share = walk.d[k] / pivot, scale = 1 / std::sqrt(pivot);
    double* z = walk.Z + count * m;
    for (int64_t i = 0; i < m; ++i) {
      walk.d[i] -= share * out[i];
      z[i] = scale * out[i];
    }
    ++count;
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
