// The minimum of a quadratic over a face of the box, from bound to bound: the steps between two
// questions for columns of Q^-1. maxmargin/kernel/face.py has the mathematics.
//
//   repeat  d = Z' x - u  with  R x = (values of the constraints at u)
//           b += t d, u += t d, up to the first bound;  t = 1: the minimum is reached
//           pin the variable k that met it:  w = Q^-1 e_k - Z' Z e_k,
//           w / sqrt(w_k) is the next row of Z,  (Z e_k, sqrt(w_k)) the next row of R
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace maxmargin::MAXMARGIN_LEVEL {

struct Walk {
  int64_t m;
  double *b, *u, *d;  // the variables, Q^-1 times the gradient, the next step
  const double *lower, *upper;
  bool* pinned;
  const int64_t* group;  // whose sum is fixed; -1: none
  int64_t groups;
  double *Z, *R;        // room x m, room x room
  int64_t* constraint;  // the pinned variable of each row of Z; -1 - g: the sum of group g
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
      find_step();
      const double t = first_bound();
      if (!std::isfinite(t)) return {count, Walked::not_finite};
      hit.clear();
      if (t < 1)
        for (int64_t k = 0; k < m; ++k)
          if (reach[size_t(k)] <= t) hit.push_back(k);
      for (int64_t k : hit)
        if (walk.at[k] < 0) return {count, Walked::missing};
      for (int64_t k = 0; k < m; ++k) {
        const double moved = walk.b[k] + t * walk.d[k];
        move(k, std::min(std::max(moved, walk.lower[k]), walk.upper[k]));
      }
      if (hit.empty()) return {count, Walked::reached};
      for (int64_t k : hit) {
        move(k, walk.d[k] > 0 ? walk.upper[k] : walk.lower[k]);
        walk.pinned[k] = true;
      }
      if (count + int64_t(hit.size()) > walk.room) return {count, Walked::full};
      for (int64_t k : hit) pin(k);
    }
  }

 private:
  Walk walk;
  int64_t m, count;
  std::vector<double> reach, w, x;
  std::vector<int64_t> hit;

  void move(int64_t k, double to) {
    walk.u[k] += to - walk.b[k];
    walk.b[k] = to;
  }

  // out += sum of c_j Z_j, four rows at a time
  void add_rows(const double* c, double* out) const {
    int64_t j = 0;
    for (; j + 4 <= count; j += 4) {
      const double *z0 = walk.Z + j * m, *z1 = z0 + m, *z2 = z1 + m, *z3 = z2 + m;
      const double c0 = c[j], c1 = c[j + 1], c2 = c[j + 2], c3 = c[j + 3];
      for (int64_t i = 0; i < m; ++i)
        out[i] += (c0 * z0[i] + c1 * z1[i]) + (c2 * z2[i] + c3 * z3[i]);
    }
    for (; j < count; ++j) {
      const double* z = walk.Z + j * m;
      for (int64_t i = 0; i < m; ++i) out[i] += c[j] * z[i];
    }
  }

  // The step to the minimum. Rounding leaves neither the sums nor what is pinned: they are
  // restored.
  void find_step() {
    x.resize(size_t(count));
    for (int64_t j = 0; j < count; ++j) {
      const double* row = walk.R + j * walk.room;
      double left = value(walk.constraint[j]);
      for (int64_t i = 0; i < j; ++i) left -= row[i] * x[size_t(i)];
      x[size_t(j)] = left / row[j];
    }
    for (int64_t k = 0; k < m; ++k) walk.d[k] = -walk.u[k];
    add_rows(x.data(), walk.d);
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

  double value(int64_t constraint) const {
    if (constraint >= 0) return walk.u[constraint];
    double sum = 0;
    for (int64_t k = 0; k < m; ++k)
      if (walk.group[k] == -1 - constraint) sum += walk.u[k];
    return sum;
  }

  // How far d can be followed, at most 1; not a number if d is not finite.
  double first_bound() {
    double t = 1, sum = 0;
    for (int64_t k = 0; k < m; ++k) {
      const double step = walk.d[k];
      const double room = step > 0 ? walk.upper[k] - walk.b[k] : walk.b[k] - walk.lower[k];
      const double r = step != 0 ? room / std::abs(step) : HUGE_VAL;
      reach[size_t(k)] = r;
      t = r < t ? r : t;
      sum += step * 0;
    }
    return t + sum;
  }

  void pin(int64_t k) {
    const double* column = walk.columns + walk.at[k] * m;
    std::copy(column, column + m, w.begin());
    double* row = walk.R + count * walk.room;
    for (int64_t j = 0; j < count; ++j) row[j] = -walk.Z[j * m + k];
    add_rows(row, w.data());
    for (int64_t j = 0; j < count; ++j) row[j] = -row[j];
    const double pivot = w[size_t(k)];
    if (!(pivot > walk.dependent * column[k])) return;  // the other constraints fix it
    const double scale = 1 / std::sqrt(pivot);
    double* z = walk.Z + count * m;
    for (int64_t i = 0; i < m; ++i) z[i] = scale * w[size_t(i)];
    row[count] = std::sqrt(pivot);
    walk.constraint[count++] = k;
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
