// Pairwise SMO with second-order selection on one dense block.
//
//   minimise  1/2 b' (K + diag(ridge)) b + linear' b    subject to  lower <= b <= upper, sum(b) fixed inside each group
//
// G is the gradient. In a group, b_i can grow (b_i < upper_i) and b_j can shrink (b_j > lower_j); moving t from j to i changes the
// objective by -t (G_j - G_i) + t^2/2 eta,  eta = Q_ii + Q_jj - 2 Q_ij. So i = argmin of G over those that can grow, j maximises
// (G_j - G_i)^2 / eta over those that can shrink, and t = (G_j - G_i) / eta is cut at the bounds. The block is optimal to tol when
// G_j - G_i <= tol for every such pair. (Fan, Chen and Lin 2005; Platt 1998.)
//
// grow[k] is G_k or +infinity where b_k cannot grow, shrink[k] is G_k or -infinity: one pass updates both and finds argmin.
#pragma once
#include <limits>
#include <vector>

#include "level.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int L8 = lanes<double>;

// The extreme of a sequence and its first position, gathered lane by lane.
struct Best {
  Vec<double> value;
  IVec<double> index;
  void see(const Vec<double>& v, const IVec<double>& i) {  // keeps the greater, the earlier among equals
    const IVec<double> better = v > value;
    value = better ? v : value;
    index = better ? i : index;
  }
  void reduce(double& best, int64_t& at) const {
    for (int l = 0; l < L8; ++l)
      if (value[l] > best || (value[l] == best && index[l] < at)) best = value[l], at = index[l];
  }
};

inline IVec<double> iota() {
  IVec<double> lane;
  for (int l = 0; l < L8; ++l) lane[l] = l;
  return lane;
}

template <class T>
inline Vec<double> load_as_double(const T* p) {
  typedef T narrow __attribute__((vector_size(sizeof(T) * L8)));
  narrow v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Vec<double>);
}

struct Extremes {  // of one group
  double least_growable = infinity, greatest_shrinkable = -infinity;
  int64_t i = -1;
};

inline Extremes extremes(const double* grow, const double* shrink, int64_t begin, int64_t end) {
  Extremes found;
  Best best{broadcast<double>(-infinity), {}};
  Vec<double> top = broadcast<double>(-infinity);
  IVec<double> index = iota() + begin;
  int64_t k = begin;
  for (; k + L8 <= end; k += L8, index += L8) {
    best.see(-load(grow + k), index);
    const Vec<double> s = load(shrink + k);
    top = s > top ? s : top;
  }
  double negated = -infinity;
  int64_t at = std::numeric_limits<int64_t>::max();
  best.reduce(negated, at);
  for (int l = 0; l < L8; ++l) found.greatest_shrinkable = std::max(found.greatest_shrinkable, top[l]);
  for (; k < end; ++k) {
    if (-grow[k] > negated) negated = -grow[k], at = k;
    found.greatest_shrinkable = std::max(found.greatest_shrinkable, shrink[k]);
  }
  if (negated > -infinity) found.least_growable = -negated, found.i = at;
  return found;
}

inline double curvature_floor(double sum_of_diagonals) { return 1e-15 * sum_of_diagonals + 1e-300; }

// The partner j of i in [begin, end) with the greatest gain; raises `gain` and sets j if it beats what is there.
template <class T>
inline void partner(const T* Ki, const double* diagonal, const double* shrink, int64_t begin, int64_t end, double Gi,
                    double diagonal_i, double& gain, int64_t& j) {
  Best best{broadcast<double>(gain), IVec<double>{} - 1};
  IVec<double> index = iota() + begin;
  int64_t k = begin;
  for (; k + L8 <= end; k += L8, index += L8) {
    const Vec<double> difference = load(shrink + k) - Gi, sum = load(diagonal + k) + diagonal_i;
    Vec<double> eta = sum - 2.0 * load_as_double(Ki + k);
    const Vec<double> floor = 1e-15 * (sum < Vec<double>{} ? -sum : sum) + 1e-300;
    eta = eta > floor ? eta : floor;
    const Vec<double> value = difference * difference / eta;
    best.see(difference > Vec<double>{} ? value : broadcast<double>(-1), index);
  }
  int64_t at = std::numeric_limits<int64_t>::max();
  double top = gain;
  for (int l = 0; l < L8; ++l)
    if (best.index[l] >= 0 && (best.value[l] > top || (best.value[l] == top && best.index[l] < at)))
      top = best.value[l], at = best.index[l];
  if (at != std::numeric_limits<int64_t>::max()) gain = top, j = at;
  for (; k < end; ++k) {
    const double difference = shrink[k] - Gi, sum = diagonal[k] + diagonal_i;
    const double eta = std::max(sum - 2.0 * double(Ki[k]), curvature_floor(std::abs(sum)));
    if (difference > 0 && difference * difference / eta > gain) gain = difference * difference / eta, j = k;
  }
}

template <class T>
BlockResult solve_block(const Block<T>& block, double tol, int64_t max_steps) {
  const int64_t n = block.size;
  std::vector<double> grow(static_cast<size_t>(n)), shrink(grow), diagonal(grow);
  auto refresh = [&](int64_t k, double G) {
    grow[size_t(k)] = block.b[k] < block.upper[k] ? G : infinity;
    shrink[size_t(k)] = block.b[k] > block.lower[k] ? G : -infinity;
  };
  for (int64_t k = 0; k < n; ++k) {
    diagonal[size_t(k)] = double(block.K[k * n + k]) + block.ridge[k];
    refresh(k, block.G[k]);
  }
  double* G = block.G;
  BlockResult result{0, 0, false, false};
  std::vector<Extremes> ends(size_t(block.groups));

  for (;;) {
    result.violation = 0;
    for (int64_t g = 0; g < block.groups; ++g) {
      ends[size_t(g)] = extremes(grow.data(), shrink.data(), block.group_begin[g], block.group_begin[g + 1]);
      const Extremes& e = ends[size_t(g)];
      if (e.i >= 0) result.violation = std::max(result.violation, e.greatest_shrinkable - e.least_growable);
    }
    if (!(result.violation > tol) || result.steps >= max_steps) break;

    int64_t i = -1, j = -1;
    double gain = 0;
    for (int64_t g = 0; g < block.groups; ++g) {
      const Extremes& e = ends[size_t(g)];
      if (e.i < 0) continue;
      const int64_t before = j;
      partner(block.K + e.i * n, diagonal.data(), shrink.data(), block.group_begin[g], block.group_begin[g + 1],
              e.least_growable, diagonal[size_t(e.i)], gain, j);
      if (j != before) i = e.i;
    }
    if (j < 0) break;  // every gain vanished in rounding

    const T *Ki = block.K + i * n, *Kj = block.K + j * n;
    const double sum = diagonal[size_t(i)] + diagonal[size_t(j)], curvature = sum - 2.0 * double(Ki[j]);
    const bool negative = curvature < -1e3 * std::numeric_limits<T>::epsilon() * (std::abs(sum) + std::abs(2.0 * double(Ki[j])));
    result.negative |= negative;
    const double Gi = G[i], Gj = G[j];
    // For a positive semidefinite kernel the curvature is at least the ridge, whatever rounding makes of it.
    const double ridge = block.ridge[i] + block.ridge[j], floor = std::max(curvature_floor(std::abs(sum)), ridge);
    double step = (Gj - Gi) / std::max(curvature, floor);
    const double room_i = block.upper[i] - block.b[i], room_j = block.b[j] - block.lower[j];
    if ((ridge > 0 ? negative : curvature <= floor) && room_i == infinity && room_j == infinity) {
      result.unbounded = true;
      break;
    }
    // Cut at the nearer bound, exactly onto it.
    if (step < room_i && step < room_j) block.b[i] += step, block.b[j] -= step;
    else if (room_i <= room_j) step = room_i, block.b[i] = block.upper[i], block.b[j] = room_i == room_j ? block.lower[j] : block.b[j] - step;
    else step = room_j, block.b[j] = block.lower[j], block.b[i] += step;

    for (int64_t k = 0; k < n; k += L8) {
      if (k + L8 <= n) {
        const Vec<double> change = step * (load_as_double(Ki + k) - load_as_double(Kj + k));
        store<double>(G + k, load(G + k) + change);
        store<double>(&grow[size_t(k)], load(&grow[size_t(k)]) + change);
        store<double>(&shrink[size_t(k)], load(&shrink[size_t(k)]) + change);
      } else {
        for (int64_t l = k; l < n; ++l) {
          const double change = step * (double(Ki[l]) - double(Kj[l]));
          G[l] += change, grow[size_t(l)] += change, shrink[size_t(l)] += change;
        }
      }
    }
    G[i] += block.ridge[i] * step;
    G[j] -= block.ridge[j] * step;
    refresh(i, G[i]);
    refresh(j, G[j]);
    ++result.steps;
  }
  return result;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
