// What a round asks of all variables: the gradient G = F[row] + ridge b + linear, its extremes in
// every group, b'(G + linear), and how far b is from another point.
//
// Sums are those of pieces of fixed length, added up in order: no bit depends on the threads.
#pragma once
#include <algorithm>
#include <vector>

#include "smo.h"
#include "threads.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr int64_t surveyed_at_once = 4096;

// The gradient in one group, or in a piece of it.
struct Reach {
  double least = infinity, greatest = -infinity;  // of what can grow, of what can shrink
  double free_sum = 0, free = 0;                  // over the free variables; their number
};

struct Gradient {  // what G is made of, and where it goes
  const double *F, *linear, *ridge, *other;
  const int64_t* row;
  double* G;
};

struct Survey {
  std::vector<Reach> groups;
  double value, squared;  // b'(G + linear), |b - other|^2
};

template <class V>
struct ReachOf {  // a vector of variables, or one of them
  V least = V{} + infinity, greatest = V{} - infinity, free_sum = {}, free = {};

  void look(const V& G, const V& b, const V& lower, const V& upper) {
    const V none = {}, up = b < upper ? G : none + infinity, down = b > lower ? G : none - infinity,
            inside = b < upper ? (b > lower ? none + 1 : none) : none;
    least = up < least ? up : least;
    greatest = down > greatest ? down : greatest;
    free_sum += inside > none ? G : none;
    free += inside;
  }
};

inline void join(Reach& all, double least, double greatest, double free_sum, double free) {
  all.least = std::min(all.least, least), all.greatest = std::max(all.greatest, greatest);
  all.free_sum += free_sum, all.free += free;
}

inline Reach reach(const double* G, const double* b, const double* lower, const double* upper,
                   int64_t begin, int64_t end) {
  constexpr int L = lanes<double>;
  ReachOf<Vec<double>> some;
  int64_t k = begin;
  for (; k + L <= end; k += L)
    some.look(load(G + k), load(b + k), load(lower + k), load(upper + k));
  ReachOf<double> rest;
  for (; k < end; ++k) rest.look(G[k], b[k], lower[k], upper[k]);
  Reach found{rest.least, rest.greatest, rest.free_sum, rest.free};
  for (int l = 0; l < L; ++l)
    join(found, some.least[l], some.greatest[l], some.free_sum[l], some.free[l]);
  return found;
}

// G of a piece, and its sums
inline void gradient(const Gradient& g, const double* b, int64_t begin, int64_t end, double& value,
                     double& squared) {
  constexpr int L = lanes<double>;
  double* G = g.G;
  for (int64_t k = begin; k < end; ++k) G[k] = g.F[g.row[k]];
  Vec<double> values = {}, squares = {};
  int64_t k = begin;
  for (; k + L <= end; k += L) {
    const Vec<double> own = load(b + k), linear = load(g.linear + k),
                      now = load(G + k) + load(g.ridge + k) * own + linear,
                      moved = own - load(g.other + k);
    store<double>(G + k, now);
    values += own * (now + linear), squares += moved * moved;
  }
  for (; k < end; ++k) {
    G[k] = G[k] + g.ridge[k] * b[k] + g.linear[k];
    value += b[k] * (G[k] + g.linear[k]);
    squared += (b[k] - g.other[k]) * (b[k] - g.other[k]);
  }
  for (int l = 0; l < L; ++l) value += values[l], squared += squares[l];
}

// Without the parts of the gradient G is given.
inline Survey survey(const Gradient* parts, const double* G, const double* b, const double* lower,
                     const double* upper, const int64_t* group_begin, const bool* fixed,
                     int64_t groups, int threads) {
  struct Piece {
    int64_t group, begin, end;
    Reach reach;
    double value = 0, squared = 0;
  };
  std::vector<Piece> pieces;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t k = group_begin[g]; k < group_begin[g + 1]; k += surveyed_at_once)
      pieces.push_back({g, k, std::min(k + surveyed_at_once, group_begin[g + 1]), {}});
  parallel(threads, int64_t(pieces.size()), 1, [&](int64_t p, int64_t) {
    Piece& piece = pieces[size_t(p)];
    if (parts) gradient(*parts, b, piece.begin, piece.end, piece.value, piece.squared);
    piece.reach = reach(G, b, lower, upper, piece.begin, piece.end);
  });
  Survey found{std::vector<Reach>(size_t(groups)), 0, 0};
  for (const Piece& piece : pieces) {
    const Reach& part = piece.reach;
    join(found.groups[size_t(piece.group)], part.least, part.greatest, part.free_sum, part.free);
    found.value += piece.value, found.squared += piece.squared;
  }
  for (int64_t g = 0; g < groups; ++g)
    if (!fixed[g]) join(found.groups[size_t(g)], 0, 0, 0, 0);
  return found;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
