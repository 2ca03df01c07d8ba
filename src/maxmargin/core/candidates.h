// The variables that a round may choose from: with below = -level - G, level that of the group,
//
//   first    those that are free or violate optimality (below > 0 can grow, below < 0 can shrink)
//   nearest  of the others, at a bound where they should be, those with the least |below|
//
// Both are found piece by piece, so no choice depends on the threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "smo.h"
#include "threads.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr int64_t looked_at_once = 4096;
// The nearest are looked for below a guess of their greatest |below|: that of a sample, one in
// `sampled` of all, which `room` times as many are expected to be below.
constexpr int64_t sampled = 32, room = 2;

struct Candidates {
  std::vector<int64_t> first;
  std::vector<double> below;  // of the first
  std::vector<int64_t> nearest;
};

class Look {
 public:
  Look(const double* G, const double* b, const double* lower, const double* upper,
       const int64_t* group_begin, const double* level, int64_t groups, int threads)
      : G(G), b(b), lower(lower), upper(upper), level(level), threads(threads) {
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t k = group_begin[g]; k < group_begin[g + 1]; k += looked_at_once)
        pieces.push_back({g, k, std::min(k + looked_at_once, group_begin[g + 1]), {}, {}});
  }

  Candidates run(int64_t size) {
    parallel(threads, int64_t(pieces.size()), 1, [&](int64_t p, int64_t) {
      Piece& piece = pieces[size_t(p)];
      for (int64_t k = piece.begin; k < piece.end; ++k)
        if (moves(k, below(piece, k))) piece.first.push_back(k);
    });
    Candidates found;
    for (const Piece& piece : pieces)
      for (int64_t k : piece.first)
        found.first.push_back(k), found.below.push_back(below(piece, k));
    const int64_t missing = size - int64_t(found.first.size());
    if (missing > 0) find_nearest(missing, found);
    return found;
  }

 private:
  using Key = std::pair<double, int64_t>;
  struct Piece {
    int64_t group, begin, end;
    std::vector<int64_t> first;
    std::vector<Key> others;
  };
  const double *G, *b, *lower, *upper, *level;
  int threads;
  std::vector<Piece> pieces;

  double below(const Piece& piece, int64_t k) const { return -level[piece.group] - G[k]; }
  bool moves(int64_t k, double below) const {
    const bool grow = b[k]<upper[k], shrink = b[k]> lower[k];
    return (grow && (shrink || below > 0)) || (shrink && below < 0);
  }

  // The others with |below| < limit.
  std::vector<Key> others(double limit, int64_t step) {
    parallel(threads, int64_t(pieces.size()), 1, [&](int64_t p, int64_t) {
      Piece& piece = pieces[size_t(p)];
      piece.others.clear();
      for (int64_t k = piece.begin; k < piece.end; k += step) {
        const double value = below(piece, k),
                     away = lower[k] < upper[k] ? std::fabs(value) : infinity;
        if (!(away > limit) && !moves(k, value)) piece.others.emplace_back(away, k);
      }
    });
    std::vector<Key> found;
    for (const Piece& piece : pieces)
      found.insert(found.end(), piece.others.begin(), piece.others.end());
    return found;
  }

  void find_nearest(int64_t missing, Candidates& found) {
    std::vector<Key> keys = others(infinity, sampled);
    const int64_t expected = room * missing / sampled + 1;
    double limit = infinity;
    if (expected < int64_t(keys.size())) {
      std::nth_element(keys.begin(), keys.begin() + expected, keys.end());
      limit = keys[size_t(expected)].first;
    }
    keys = others(limit, 1);
    if (int64_t(keys.size()) < missing && limit < infinity) keys = others(infinity, 1);
    if (int64_t(keys.size()) > missing) {
      std::nth_element(keys.begin(), keys.begin() + missing, keys.end());
      keys.resize(size_t(missing));
    }
    for (const Key& key : keys) found.nearest.push_back(key.second);
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
