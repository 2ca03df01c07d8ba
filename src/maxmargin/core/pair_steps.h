// Pair steps (smo.h) on a tile that is stored, or that is computed from the points part by part:
//
//   repeat  choose the variables that violate optimality most, and keep half of the last choice
//           solve the problem of these variables alone, on their part of the tile
//           G += K[moved]' delta
//   until   no pair of variables can improve by more than tol
//
// Where few variables are support vectors, parts need far fewer kernel values than the whole tile.
// Once they have cost as many as it has, the tile is computed and stored after all: that is at most
// about twice the work of the better way.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "products.h"
#include "smo.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr int64_t part_size = 256;  // variables of a part: 256 KB in float32
// After `many` pair steps for each variable on a tile of more than `compact_size`, a copy of its
// movable part pays, if that is at most `compact_share` of it (decision 12).
constexpr int64_t compact_size = 512, many = 2;
constexpr double compact_share = 0.5;

// Compiled in module_kernel.cpp.
extern template bool kernel_block(const Kernel&, const Selection<float>&, const Selection<float>&,
                                  float*, const int64_t*, bool, int);
extern template bool kernel_product(const Kernel&, const Selection<float>&, const double*, int64_t,
                                    const Selection<float>&, double*, int);
extern template bool kernel_block(const Kernel&, const Selection<double>&, const Selection<double>&,
                                  double*, const int64_t*, bool, int);
extern template bool kernel_product(const Kernel&, const Selection<double>&, const double*, int64_t,
                                    const Selection<double>&, double*, int);

// Some variables of a problem, copied, with a tile of their own.
template <class T>
class Part {
 public:
  explicit Part(const Block<T>& block) : block(block) {}

  std::vector<int64_t> chosen;  // in order
  Aligned<T> tile;              // theirs: for the caller to fill
  std::vector<int64_t> moved;   // by the last solve
  std::vector<double> delta;    // how far

  void take(const std::vector<int64_t>& variables) {
    chosen = variables;
    std::sort(chosen.begin(), chosen.end());
    const size_t size = chosen.size();
    tile.resize(size * size);
    for (auto* values : {&G, &b, &lower, &upper, &ridge}) values->resize(size);
    begins.assign(size_t(block.groups) + 1, int64_t(size));
    for (int64_t g = 0; g < block.groups; ++g)
      begins[size_t(g)] =
          std::lower_bound(chosen.begin(), chosen.end(), block.group_begin[g]) - chosen.begin();
    for (size_t r = 0; r < size; ++r) {
      const int64_t k = chosen[r];
      G[r] = block.G[k], b[r] = block.b[k], lower[r] = block.lower[k], upper[r] = block.upper[k],
      ridge[r] = block.ridge[k];
    }
  }
  void copy_tile() {
    T* to = tile.data();
    for (int64_t k : chosen)
      for (int64_t l : chosen) *to++ = T(block.value(k, l));
  }

  // Solves their problem alone. G lacks K[moved]' delta afterwards.
  void solve(double tol, int64_t max_steps, bool conjugate, BlockResult& total) {
    const int64_t size = int64_t(chosen.size());
    const Block<T> small{size,          size,         tile.data(),  G.data(),
                         b.data(),      lower.data(), upper.data(), ridge.data(),
                         begins.data(), block.fixed,  block.groups};
    const BlockResult found = Smo<T>(small, conjugate).run(tol, max_steps - total.steps);
    total.steps += found.steps;
    total.negative |= found.negative;
    total.unbounded |= found.unbounded;
    moved.clear(), delta.clear();
    for (size_t r = 0; r < chosen.size(); ++r) {
      const int64_t k = chosen[r];
      const double change = b[r] - block.b[k];
      if (change == 0) continue;
      moved.push_back(k), delta.push_back(change);
      block.G[k] += block.ridge[k] * change;
      block.b[k] = b[r];
    }
  }

 private:
  const Block<T>& block;
  std::vector<int64_t> begins;
  Aligned<double> G, b, lower, upper, ridge;
};

// The variables of a violating pair: those that can grow below the greatest gradient that can
// shrink, and the other way round. At most `share` of each kind in each group that are not taken
// yet, the worst; the worst last.
template <class T>
class Violators {
 public:
  explicit Violators(const Block<T>& block) : block(block), taken(size_t(block.size)) {}

  // Appends them to what is chosen, which counts as taken.
  void choose(std::vector<int64_t>& chosen, int64_t share) {
    std::fill(taken.begin(), taken.end(), char(0));
    for (int64_t k : chosen) taken[size_t(k)] = 1;
    for (int64_t g = 0; g < block.groups; ++g) {
      const Extremes e = block.extremes(g);
      for (bool grows : {true, false}) {
        keys.clear();
        for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k) {
          if (taken[size_t(k)]) continue;
          if (grows && block.can_grow(k) && block.G[k] < e.greatest_shrinkable)
            keys.emplace_back(block.G[k], k);
          if (!grows && block.can_shrink(k) && block.G[k] > e.least_growable)
            keys.emplace_back(-block.G[k], k);
        }
        if (int64_t(keys.size()) > share) {
          std::nth_element(keys.begin(), keys.begin() + share, keys.end());
          keys.resize(size_t(share));
        }
        std::sort(keys.rbegin(), keys.rend());
        for (const auto& key : keys) chosen.push_back(key.second), taken[size_t(key.second)] = 1;
      }
    }
  }

 private:
  const Block<T>& block;
  std::vector<char> taken;
  std::vector<std::pair<double, int64_t>> keys;
};

// Until the violation is at most tol, or for max_steps steps, on a stored tile. If the steps are
// many, the rest is done by conjugate steps on a compact copy of the variables that still move:
// near the solution half of a tile is at a bound and stays there.
template <class T>
BlockResult pair_steps(const Block<T>& block, double tol, int64_t max_steps) {
  const int64_t n = block.size, first = n <= compact_size ? max_steps : many * n;
  BlockResult total = Smo<T>(block).run(tol, std::min(first, max_steps));
  if (total.steps < first || total.steps >= max_steps) return total;
  Part<T> part(block);
  for (;;) {
    std::vector<int64_t> movable;
    Violators<T>(block).choose(movable, n);
    if (double(movable.size()) > compact_share * double(n)) break;
    part.take(movable);
    part.copy_tile();
    part.solve(tol, max_steps, true, total);
    add_rows(block, part.moved, part.delta);
    total.violation = block.violation();
    const bool stuck = part.moved.empty() || total.unbounded;
    if (stuck || !(total.violation > tol) || total.steps >= max_steps) return total;
  }
  const BlockResult rest = Smo<T>(block, true).run(tol, max_steps - total.steps);
  return {total.steps + rest.steps, rest.violation, total.negative || rest.negative,
          rest.unbounded};
}

// The same where K is not stored (block.K is null) but computed from the points, some of it or all.
// room() is memory for all of it.
template <class T, class Room>
BlockResult pair_steps_on_points(Block<T> block, const Kernel& kernel, const Selection<T>& points,
                                 double tol, int64_t max_steps, int threads, const Room& room) {
  const int64_t n = block.size;
  const auto some = [&](const std::vector<int64_t>& from, std::vector<int64_t>& index) {
    index.resize(from.size());
    for (size_t r = 0; r < from.size(); ++r) index[r] = points.at(from[r]);
    return Selection<T>{points.points, index.data(), int64_t(index.size())};
  };
  BlockResult total{0, block.violation(), false, false};
  Part<T> part(block);
  Violators<T> violators(block);
  std::vector<int64_t> chosen, index;
  for (int64_t values = 0; values < n * n;) {
    if (!(total.violation > tol) || total.steps >= max_steps) return total;
    const size_t kept = std::min(chosen.size(), size_t(part_size / 2));
    chosen.erase(chosen.begin(), chosen.end() - int64_t(kept));
    violators.choose(chosen, (part_size - int64_t(kept)) / (2 * block.groups));
    part.take(chosen);
    const Selection<T> own = some(part.chosen, index);
    total.finite = kernel_block(kernel, own, own, part.tile.data(), nullptr, true, threads);
    if (!total.finite) return total;
    part.solve(std::max(tol, 0.1 * total.violation), max_steps, false, total);
    if (part.moved.empty() || total.unbounded) return total;
    const Selection<T> rows = some(part.moved, index);
    total.finite = kernel_product(kernel, rows, part.delta.data(), 1, points, block.G, threads);
    if (!total.finite) return total;
    total.violation = block.violation();
    values += part_size * part_size / 2 + int64_t(part.moved.size()) * n;
  }
  T* K = room();
  total.finite = kernel_block(kernel, points, points, K, nullptr, true, threads);
  if (!total.finite) return total;
  block.K = K;
  const BlockResult rest = pair_steps(block, tol, max_steps - total.steps);
  return {total.steps + rest.steps, rest.violation, total.negative || rest.negative,
          rest.unbounded};
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
