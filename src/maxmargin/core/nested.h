// A problem too large for the second-level cache, solved by small tiles: the same loop as the
// solver's, one level down. K is stored, or computed from the points where that costs less than a
// matrix that is used once.
//
//   repeat  choose the variables that violate optimality most, and keep half of the last choice
//           solve the problem of these variables alone, on a compact copy of their tile (smo.h)
//           G += K[moved]' delta
//   until   no pair of variables can improve by more than tol
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "products.h"
#include "smo.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr int64_t inner_size = 512;     // a float32 tile of 1 MB still fits the second-level cache
constexpr int64_t computed_size = 256;  // where the tile must be computed: a quarter of the values
constexpr int64_t direct_size = 2048;   // up to here the whole tile costs less than copies of parts
// After `burst` pair steps for each variable on a whole tile, a copy of its movable part pays,
// if that is at most `compact_share` of it.
constexpr int64_t burst = 2;
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

template <class T>
struct Stored {
  const T* K;
  int64_t n;

  bool tile(const std::vector<int64_t>& chosen, T* out) const {
    for (int64_t k : chosen)
      for (int64_t l : chosen) *out++ = K[k * n + l];
    return true;
  }
  // G += K[moved]' delta, four rows at a time
  bool update(std::vector<int64_t>& moved, std::vector<double>& delta, double* G) const {
    while (moved.size() % 4) moved.push_back(moved.back()), delta.push_back(0.0);
    for (size_t s = 0; s < moved.size(); s += 4) {
      const T *r0 = K + moved[s] * n, *r1 = K + moved[s + 1] * n, *r2 = K + moved[s + 2] * n,
              *r3 = K + moved[s + 3] * n;
      const double d0 = delta[s], d1 = delta[s + 1], d2 = delta[s + 2], d3 = delta[s + 3];
      for (int64_t k = 0; k < n; ++k)
        G[k] +=
            (d0 * double(r0[k]) + d1 * double(r1[k])) + (d2 * double(r2[k]) + d3 * double(r3[k]));
    }
    return true;
  }
};

template <class T>
struct Computed {
  Kernel kernel;
  Selection<T> points;
  int threads;

  std::vector<int64_t> at(const std::vector<int64_t>& some) const {
    std::vector<int64_t> index(some.size());
    for (size_t r = 0; r < some.size(); ++r) index[r] = points.at(some[r]);
    return index;
  }
  bool tile(const std::vector<int64_t>& chosen, T* out) const {
    const std::vector<int64_t> index = at(chosen);
    const Selection<T> some{points.points, index.data(), int64_t(index.size())};
    return kernel_block(kernel, some, some, out, nullptr, true, threads);
  }
  bool update(std::vector<int64_t>& moved, std::vector<double>& delta, double* G) const {
    const std::vector<int64_t> index = at(moved);
    return kernel_product(kernel, {points.points, index.data(), int64_t(index.size())},
                          delta.data(), 1, points, G, threads);
  }
};

template <class T, class Access>
class Nested {
 public:
  Nested(const Block<T>& block, const Access& access, int64_t inner)
      : block(block), access(access), n(block.size), inner(inner), taken(size_t(n)) {}

  // The greatest violation over the groups.
  double measure() {
    ends.assign(size_t(block.groups), {});
    double worst = 0;
    for (int64_t g = 0; g < block.groups; ++g) {
      Extremes& e = ends[size_t(g)];
      for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k) {
        if (can_grow(k) && block.G[k] < e.least_growable) e.least_growable = block.G[k], e.i = k;
        if (can_shrink(k)) e.greatest_shrinkable = std::max(e.greatest_shrinkable, block.G[k]);
      }
      if (!block.fixed[g]) e.with_origin(n);
      worst = std::max(worst, e.violation());
    }
    return worst;
  }

  // How many variables are free or violate optimality: those that a choice without limit takes.
  int64_t movable() {
    measure();
    chosen.clear();
    select();
    const int64_t count = int64_t(chosen.size());
    chosen.clear();
    return count;
  }

  BlockResult run(double tol, int64_t max_steps) {
    BlockResult total{0, 0, false, false};
    for (;;) {
      total.violation = measure();
      if (!(total.violation > tol) || total.steps >= max_steps) break;
      select();
      const BlockResult part = solve(std::max(tol, 0.1 * total.violation), max_steps - total.steps);
      total.steps += part.steps;
      total.negative |= part.negative;
      total.unbounded |= part.unbounded;
      total.finite &= part.finite;
      if (part.steps == 0 || part.unbounded || !part.finite) break;
    }
    return total;
  }

 private:
  Block<T> block;
  Access access;
  int64_t n, inner;
  std::vector<Extremes> ends;
  std::vector<char> taken;
  std::vector<int64_t> chosen, sorted, begins, moved;
  std::vector<std::pair<double, int64_t>> keys;
  Aligned<T> tile;
  Aligned<double> G, b, lower, upper, ridge;
  std::vector<double> delta;

  bool can_grow(int64_t k) const { return block.b[k] < block.upper[k]; }
  bool can_shrink(int64_t k) const { return block.b[k] > block.lower[k]; }

  // The newest half of the last choice (all of it where the choice may take everything), then the
  // worst violators of both kinds in each group, the worst last.
  void select() {
    const size_t kept = inner < n ? std::min(chosen.size(), size_t(inner / 2)) : chosen.size();
    chosen.erase(chosen.begin(), chosen.end() - int64_t(kept));
    std::fill(taken.begin(), taken.end(), char(0));
    for (int64_t k : chosen) taken[size_t(k)] = 1;
    const int64_t share = inner < n ? (inner - int64_t(kept)) / (2 * block.groups) : n;
    for (int64_t g = 0; g < block.groups; ++g)
      for (int side = 0; side < 2; ++side) {
        keys.clear();
        const Extremes& e = ends[size_t(g)];
        for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k) {
          if (taken[size_t(k)]) continue;
          if (side == 0 && can_grow(k) && block.G[k] < e.greatest_shrinkable)
            keys.emplace_back(block.G[k], k);
          if (side == 1 && can_shrink(k) && block.G[k] > e.least_growable)
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

  BlockResult solve(double tol, int64_t max_steps) {
    sorted = chosen;
    std::sort(sorted.begin(), sorted.end());
    const size_t size = sorted.size();
    tile.resize(size * size);
    for (auto* values : {&G, &b, &lower, &upper, &ridge}) values->resize(size);
    begins.assign(size_t(block.groups) + 1, int64_t(size));
    for (int64_t g = 0; g < block.groups; ++g)
      begins[size_t(g)] =
          std::lower_bound(sorted.begin(), sorted.end(), block.group_begin[g]) - sorted.begin();
    for (size_t r = 0; r < size; ++r) {
      const int64_t k = sorted[r];
      G[r] = block.G[k], b[r] = block.b[k], lower[r] = block.lower[k], upper[r] = block.upper[k],
      ridge[r] = block.ridge[k];
    }
    const Block<T> small{int64_t(size), tile.data(),  G.data(),      b.data(),    lower.data(),
                         upper.data(),  ridge.data(), begins.data(), block.fixed, block.groups};
    if (!access.tile(sorted, tile.data())) return {0, 0, false, false, false};
    BlockResult result = Smo<T>(small).run(tol, max_steps);
    moved.clear(), delta.clear();
    for (size_t r = 0; r < size; ++r) {
      const int64_t k = sorted[r];
      const double change = b[r] - block.b[k];
      if (change == 0) continue;
      moved.push_back(k), delta.push_back(change);
      block.G[k] += block.ridge[k] * change;
      block.b[k] = b[r];
    }
    if (!moved.empty()) result.finite = access.update(moved, delta, block.G);
    return result;
  }
};

// Pair steps on the whole tile. If they are many, the rest is done on a compact copy of the
// variables that still move: near the solution half of a tile is at a bound and stays there. A tile
// that fits the second-level cache gains too little by it.
template <class T>
BlockResult solve_whole(const Block<T>& block, double tol, int64_t max_steps) {
  if (block.size <= inner_size) return Smo<T>(block).run(tol, max_steps);
  const int64_t most = std::min(max_steps, burst * block.size);
  const BlockResult first = Smo<T>(block).run(tol, most);
  if (first.steps < most || most == max_steps) return first;
  Nested<T, Stored<T>> part(block, {block.K, block.size}, block.size);
  const bool few = part.movable() <= compact_share * double(block.size);
  BlockResult rest = few ? part.run(tol, max_steps - first.steps)
                         : Smo<T>(block).run(tol, max_steps - first.steps);
  rest.steps += first.steps;
  rest.negative |= first.negative;
  return rest;
}

// Until the violation is at most tol, or for max_steps steps.
template <class T>
BlockResult pair_steps(const Block<T>& block, double tol, int64_t max_steps) {
  if (block.size <= direct_size) return solve_whole(block, tol, max_steps);
  return Nested<T, Stored<T>>(block, {block.K, block.size}, inner_size).run(tol, max_steps);
}

// The same without a stored K (block.K is null): parts of k(points, points) are computed.
template <class T>
BlockResult pair_steps_on_points(const Block<T>& block, const Kernel& kernel,
                                 const Selection<T>& points, double tol, int64_t max_steps,
                                 int threads) {
  return Nested<T, Computed<T>>(block, {kernel, points, threads}, computed_size)
      .run(tol, max_steps);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
