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
        pieces.push_back({g, k, std::min(k + looked_at_once, group_begin[g + 1]), {}});
  }

  Candidates run(int64_t size) {
    each_piece([&](Piece& piece) {
      gather(piece, 1, [&](int64_t k, double below) { return moves(k, below); });
    });
    Candidates found;
    for (const Piece& piece : pieces)
      for (int64_t k : piece.found)
        found.first.push_back(k), found.below.push_back(below(piece, k));
    const int64_t missing = size - int64_t(found.first.size());
    if (missing > 0) find_nearest(missing, found);
    return found;
  }

 private:
  using Key = std::pair<double, int64_t>;
  struct Piece {
    int64_t group, begin, end;
    std::vector<int64_t> found;
  };
  const double *G, *b, *lower, *upper, *level;
  int threads;
  std::vector<Piece> pieces;

  double below(const Piece& piece, int64_t k) const { return -level[piece.group] - G[k]; }
  bool moves(int64_t k, double below) const {  // without branches, which are hard to predict here
    const bool grow = b[k]<upper[k], shrink = b[k]> lower[k];
    return (grow & (shrink | (below > 0))) | (shrink & (below < 0));
  }
  // How far a variable is from moving; one that never can is infinitely far.
  double away(int64_t k, double below) const {
    return lower[k] < upper[k] ? std::fabs(below) : infinity;
  }

  template <class Act>
  void each_piece(const Act& act) {
    parallel(threads, int64_t(pieces.size()), 1,
             [&](int64_t p, int64_t) { act(pieces[size_t(p)]); });
  }
  // Every step-th variable of a piece for which wanted(k, below) holds, in order.
  template <class Wanted>
  void gather(Piece& piece, int64_t step, const Wanted& wanted) const {
    piece.found.resize(size_t(piece.end - piece.begin));
    size_t count = 0;
    for (int64_t k = piece.begin; k < piece.end; k += step) {
      piece.found[count] = k;
      count += size_t(wanted(k, below(piece, k)));
    }
    piece.found.resize(count);
  }

  // The others with |below| <= limit.
  std::vector<Key> others(double limit, int64_t step) {
    each_piece([&](Piece& piece) {
      gather(piece, step,
             [&](int64_t k, double below) { return !(away(k, below) > limit) & !moves(k, below); });
    });
    std::vector<Key> found;
    for (const Piece& piece : pieces)
      for (int64_t k : piece.found) found.emplace_back(away(k, below(piece, k)), k);
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
