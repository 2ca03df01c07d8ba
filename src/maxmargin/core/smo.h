// Pairwise SMO with second-order selection on one dense tile that stays in the second-level cache.
//
//   minimise    1/2 b' (K + diag(ridge)) b + linear' b
//   subject to  lower <= b <= upper, and sum(b) fixed in some groups
//
// G is the gradient. In a group, b_i can grow (b_i < upper_i) and b_j can shrink (b_j > lower_j);
// moving t from j to i changes the objective by -t (G_j - G_i) + t^2/2 eta,  eta = Q_ii + Q_jj - 2
// Q_ij. So i = argmin of G over those that can grow, j maximises (G_j - G_i)^2 / eta over those
// that can shrink, and t = (G_j - G_i) / eta is cut at the bounds. The tile is optimal to tol when
// G_j - G_i <= tol for every such pair. (Fan, Chen and Lin 2005; Platt 1998.)
//
// A group whose sum is not fixed has one more variable, number n: it has no bounds, its row of K is
// zero, and so is its gradient. A pair of it and another variable is a step of that variable alone.
//
// A step makes two passes over the tile's variables: one updates G and finds i, one finds j. The
// gains that choose j are computed in float32, where a division is cheap; the step itself in
// float64.
#pragma once
#include <limits>
#include <vector>

#include "types.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int L8 = lanes<double>;
typedef float Narrow __attribute__((vector_size(sizeof(float) * L8)));
typedef int32_t INarrow __attribute__((vector_size(sizeof(int32_t) * L8)));

template <class To, class T>
inline To load_as(const T* p) {  // L8 values, converted
  typedef T From __attribute__((vector_size(sizeof(T) * L8)));
  From v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, To);
}

struct Extremes {  // of one group
  double least_growable = infinity, greatest_shrinkable = -infinity;
  int64_t i = -1;
  double violation() const { return i < 0 ? -infinity : greatest_shrinkable - least_growable; }
  void with_origin(int64_t n) {  // the variable of gradient 0
    if (0 < least_growable) least_growable = 0, i = n;
    greatest_shrinkable = std::max(greatest_shrinkable, 0.0);
  }
};

// One working-set problem; variables of a group are contiguous: group g is [group_begin[g],
// group_begin[g + 1]).
template <class T>
struct Block {
  int64_t size;
  const T* K;  // size x size
  double* G;   // gradient, in and out
  double* b;   // variables, in and out
  const double *lower, *upper, *ridge;
  const int64_t* group_begin;
  const bool* fixed;  // whether the sum of a group is fixed
  int64_t groups;
};

struct BlockResult {
  int64_t steps;
  double violation;    // after the last step
  bool negative;       // a pair of negative curvature was met
  bool unbounded;      // a step had no bound
  bool finite = true;  // all kernel values were finite
};

template <class T>
class Smo {
 public:
  Smo(const Block<T>& block)
      : block(block),
        n(block.size),
        blocked_up(size_t(n)),
        blocked_down(size_t(n)),
        diagonal(size_t(n)),
        ends(size_t(block.groups)) {
    double greatest = 0;
    for (int64_t k = 0; k < n; ++k) greatest = std::max(greatest, std::abs(diagonal_of(k)));
    scale = greatest > 0 ? 1 / greatest : 1;
    for (int64_t k = 0; k < n; ++k) diagonal[size_t(k)] = float(diagonal_of(k) * scale), refresh(k);
    for (int64_t g = 0; g < block.groups; ++g)
      if (!block.fixed[g]) zeros.assign(size_t(n), T(0));
  }

  BlockResult run(double tol, int64_t max_steps) {
    BlockResult result{0, 0, false, false};
    update(0, block.K, block.K);
    for (;;) {
      result.violation = 0;
      for (const Extremes& e : ends) result.violation = std::max(result.violation, e.violation());
      if (!(result.violation > tol) || result.steps >= max_steps) break;
      int64_t i = -1, j = -1;
      float gain = 0;
      for (int64_t g = 0; g < block.groups; ++g)
        if (partner(g, 1 / result.violation, gain, j)) i = ends[size_t(g)].i;
      if (j < 0 || !step(i, j, result)) break;
      ++result.steps;
    }
    return result;
  }

 private:
  Block<T> block;
  int64_t n;
  // Added to G they leave out the variables that cannot grow (+infinity) or shrink (-infinity).
  Aligned<double> blocked_up, blocked_down;
  Aligned<float> diagonal;  // of Q, scaled to at most 1
  double scale;
  std::vector<Extremes> ends;
  std::vector<T> zeros;  // the row of variable n

  // With `alone` one of the variables may be number n.
  template <bool alone>
  bool real(int64_t k) const {
    return !alone || k < n;
  }
  const T* row(int64_t k) const { return k < n ? block.K + k * n : zeros.data(); }
  template <bool alone>
  double value(int64_t k, int64_t l) const {
    return real<alone>(k) && real<alone>(l) ? double(block.K[k * n + l]) : 0.0;
  }
  template <bool alone>
  double at(const double* values, int64_t k, double otherwise) const {
    return real<alone>(k) ? values[k] : otherwise;
  }
  template <bool alone = false>
  double diagonal_of(int64_t k) const {
    return value<alone>(k, k) + at<alone>(block.ridge, k, 0.0);
  }
  template <bool alone>
  void move(int64_t k, double t) {
    if (real<alone>(k)) block.b[k] += t;
  }
  template <bool alone = false>
  void refresh(int64_t k) {
    if (!real<alone>(k)) return;
    blocked_up[size_t(k)] = block.b[k] < block.upper[k] ? 0 : infinity;
    blocked_down[size_t(k)] = block.b[k] > block.lower[k] ? 0 : -infinity;
  }

  // G += t (Ki - Kj), and the extremes of every group
  void update(double t, const T* Ki, const T* Kj) {
    double* G = block.G;
    for (int64_t g = 0; g < block.groups; ++g) {
      const int64_t begin = block.group_begin[g], end = block.group_begin[g + 1];
      Extremes found;
      Vec<double> least = broadcast<double>(infinity), greatest = broadcast<double>(-infinity);
      IVec<double> at = {}, index = {};
      for (int l = 0; l < L8; ++l) index[l] = begin + l;
      int64_t k = begin;
      for (; k + L8 <= end; k += L8, index += L8) {
        const Vec<double> now =
            load(G + k) + t * (load_as<Vec<double>>(Ki + k) - load_as<Vec<double>>(Kj + k));
        store<double>(G + k, now);
        const Vec<double> up = now + load(&blocked_up[size_t(k)]),
                          down = now + load(&blocked_down[size_t(k)]);
        at = up < least ? index : at;
        least = up < least ? up : least;
        greatest = down > greatest ? down : greatest;
      }
      for (int l = 0; l < L8; ++l) {
        if (least[l] < found.least_growable ||
            (least[l] == found.least_growable && least[l] < infinity && at[l] < found.i))
          found.least_growable = least[l], found.i = at[l];
        found.greatest_shrinkable = std::max(found.greatest_shrinkable, greatest[l]);
      }
      for (; k < end; ++k) {
        G[k] += t * (double(Ki[k]) - double(Kj[k]));
        if (G[k] + blocked_up[size_t(k)] < found.least_growable)
          found.least_growable = G[k], found.i = k;
        found.greatest_shrinkable =
            std::max(found.greatest_shrinkable, G[k] + blocked_down[size_t(k)]);
      }
      if (!block.fixed[g]) found.with_origin(n);
      ends[size_t(g)] = found;
    }
  }

  // Whether group g has a pair of greater gain than `gain`; raises it and sets the partner j.
  bool partner(int64_t g, double unit, float& gain, int64_t& j) const {
    const Extremes& e = ends[size_t(g)];
    if (e.i < 0) return false;
    const double* G = block.G;
    const T* Ki = row(e.i);
    const int64_t begin = block.group_begin[g], end = block.group_begin[g + 1];
    const float diagonal_i = e.i < n ? diagonal[size_t(e.i)] : 0.0f;
    const T scaled = T(scale);
    Narrow best = Narrow{} + gain;
    INarrow at = INarrow{} - 1, index = {};
    for (int l = 0; l < L8; ++l) index[l] = int32_t(begin) + l;
    int64_t k = begin;
    for (; k + L8 <= end; k += L8, index += L8) {
      const Vec<double> difference =
          (load(G + k) + load(&blocked_down[size_t(k)]) - e.least_growable) * unit;
      const Narrow r = __builtin_convertvector(difference, Narrow),
                   sum = load_as<Narrow>(&diagonal[size_t(k)]) + diagonal_i;
      Narrow eta = sum - 2 * scaled_row(Ki + k, scaled);
      const Narrow floor = 1e-6f * (sum < Narrow{} ? -sum : sum) + 1e-30f;
      eta = eta > floor ? eta : floor;
      Narrow value = r * r / eta;
      value = r > Narrow{} ? value : Narrow{} - 1;
      at = value > best ? index : at;
      best = value > best ? value : best;
    }
    int64_t found = -1;
    for (int l = 0; l < L8; ++l)
      if (at[l] >= 0 && (best[l] > gain || (best[l] == gain && found >= 0 && at[l] < found)))
        gain = best[l], found = at[l];
    for (; k < end; ++k) {
      const float r = float((G[k] + blocked_down[size_t(k)] - e.least_growable) * unit),
                  sum = diagonal[size_t(k)] + diagonal_i;
      const float eta = std::max(sum - 2 * float(Ki[k] * scaled), 1e-6f * std::abs(sum) + 1e-30f);
      if (r > 0 && r * r / eta > gain) gain = r * r / eta, found = k;
    }
    if (!block.fixed[g] && e.i < n) {
      const float r = float(-e.least_growable * unit), eta = std::max(diagonal_i, 1e-30f);
      if (r > 0 && r * r / eta > gain) gain = r * r / eta, found = n;
    }
    if (found >= 0) j = found;
    return found >= 0;
  }
  static Narrow scaled_row(const T* p, T scaled) {
    typedef T From __attribute__((vector_size(sizeof(T) * L8)));
    From v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v * scaled, Narrow);
  }

  // Move along the pair; false if nothing bounds the step.
  bool step(int64_t i, int64_t j, BlockResult& result) {
    return i < n && j < n ? step_along<false>(i, j, result) : step_along<true>(i, j, result);
  }
  template <bool alone>
  bool step_along(int64_t i, int64_t j, BlockResult& result) {
    const double between = value<alone>(i, j), sum = diagonal_of<alone>(i) + diagonal_of<alone>(j),
                 curvature = sum - 2.0 * between;
    const bool negative = curvature < -1e3 * std::numeric_limits<T>::epsilon() *
                                          (std::abs(sum) + std::abs(2.0 * between));
    result.negative |= negative;
    // For a positive semidefinite kernel the curvature is at least the ridge, whatever rounding
    // makes of it.
    const double ridge_i = at<alone>(block.ridge, i, 0.0), ridge_j = at<alone>(block.ridge, j, 0.0),
                 ridge = ridge_i + ridge_j;
    const double floor = std::max(1e-15 * std::abs(sum) + 1e-300, ridge);
    double t =
        (at<alone>(block.G, j, 0.0) - at<alone>(block.G, i, 0.0)) / std::max(curvature, floor);
    // Between equal rows nothing bends the objective: it falls as far as the bounds allow. These
    // differences are exact.
    if (curvature <= floor && ridge == 0 &&
        (value<alone>(i, i) - between) + (value<alone>(j, j) - between) <= 0)
      t = infinity;
    const double room_i = real<alone>(i) ? block.upper[i] - block.b[i] : infinity,
                 room_j = real<alone>(j) ? block.b[j] - block.lower[j] : infinity;
    if ((ridge > 0 ? negative : curvature <= floor) && room_i == infinity && room_j == infinity) {
      result.unbounded = true;
      return false;
    }
    // Cut at the nearer bound, exactly onto it.
    if (t < room_i && t < room_j) {
      move<alone>(i, t), move<alone>(j, -t);
    } else if (room_i <= room_j) {
      t = room_i, block.b[i] = block.upper[i];
      if (room_i == room_j) block.b[j] = block.lower[j];
      else move<alone>(j, -t);
    } else {
      t = room_j, block.b[j] = block.lower[j], move<alone>(i, t);
    }
    if (real<alone>(i)) block.G[i] += ridge_i * t;
    if (real<alone>(j)) block.G[j] -= ridge_j * t;
    refresh<alone>(i);
    refresh<alone>(j);
    update(t, row(i), row(j));
    return true;
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
