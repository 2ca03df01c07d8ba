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

constexpr int64_t inner_size = 256;    // variables of a small tile: 256 KB in float32
constexpr int64_t direct_size = 2048;  // up to here the whole tile costs less than copies of parts
// After `burst` pair steps for each variable on a whole tile of more than `compact_size`, a copy of
// its movable part pays, if that is at most `compact_share` of it.
constexpr int64_t compact_size = 512, burst = 2;
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

  bool tile(Team& team, const std::vector<int64_t>& chosen, T* out) const {
    const int64_t size = int64_t(chosen.size());
    team.each(size, 16, [&](int64_t begin, int64_t end) {
      T* to = out + begin * size;
      for (int64_t r = begin; r < end; ++r)
        for (int64_t l : chosen) *to++ = K[chosen[size_t(r)] * n + l];
    });
    return true;
  }
  // G += K[moved]' delta, four rows at a time
  bool update(Team& team, const std::vector<int64_t>& moved, const std::vector<double>& delta,
              double* G) const {
    team.each(n, 256, [&](int64_t begin, int64_t end) {
      for (size_t s = 0; s < moved.size(); s += 4) {
        const T* r[4];
        double d[4];
        for (size_t q = 0; q < 4; ++q) {  // the last rows count for nothing where they are too many
          const bool more = s + q < moved.size();
          r[q] = K + moved[more ? s + q : s] * n, d[q] = more ? delta[s + q] : 0.0;
        }
        for (int64_t k = begin; k < end; ++k)
          G[k] += (d[0] * double(r[0][k]) + d[1] * double(r[1][k])) +
                  (d[2] * double(r[2][k]) + d[3] * double(r[3][k]));
      }
    });
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
  bool tile(Team&, const std::vector<int64_t>& chosen, T* out) const {
    const std::vector<int64_t> index = at(chosen);
    const Selection<T> some{points.points, index.data(), int64_t(index.size())};
    return kernel_block(kernel, some, some, out, nullptr, true, threads);
  }
  bool update(Team&, const std::vector<int64_t>& moved, const std::vector<double>& delta,
              double* G) const {
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

  // One thread chooses and takes the steps; all of them copy the tile and update the gradient.
  BlockResult run(double tol, int64_t max_steps, int threads = 1) {
    total = {0, 0, false, false};
    bool goes_on = true;
    on_team(threads, [&](Team& team) {
      const auto alone = [&](auto&& work) {
        team.each(1, 1, [&](int64_t, int64_t) {
          goes_on = false;  // whatever is thrown
          goes_on = work();
        });
        return goes_on;
      };
      while (alone([&] { return prepare(tol, max_steps); })) {
        const bool finite = access.tile(team, sorted, tile.data());
        if (!alone([&] { return (total.finite = finite) && solve(tol, max_steps); })) break;
        const bool updated = access.update(team, moved, delta, block.G);
        if (!alone([&] { return (total.finite = updated) && !total.unbounded; })) break;
      }
    });
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
  BlockResult total;

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

  // Choose the next variables and copy what belongs to them; false if there is nothing to do.
  bool prepare(double tol, int64_t max_steps) {
    total.violation = measure();
    if (!(total.violation > tol) || total.steps >= max_steps) return false;
    select();
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
    return true;
  }

  // Solve the problem of the chosen variables, and note which of them moved; false if none did.
  bool solve(double tol, int64_t max_steps) {
    const int64_t size = int64_t(sorted.size());
    const Block<T> small{size,         tile.data(),  G.data(),      b.data(),    lower.data(),
                         upper.data(), ridge.data(), begins.data(), block.fixed, block.groups};
    const BlockResult part =
        Smo<T>(small).run(std::max(tol, 0.1 * total.violation), max_steps - total.steps);
    total.steps += part.steps;
    total.negative |= part.negative;
    total.unbounded |= part.unbounded;
    moved.clear(), delta.clear();
    for (size_t r = 0; r < sorted.size(); ++r) {
      const int64_t k = sorted[r];
      const double change = b[r] - block.b[k];
      if (change == 0) continue;
      moved.push_back(k), delta.push_back(change);
      block.G[k] += block.ridge[k] * change;
      block.b[k] = b[r];
    }
    return !moved.empty();
  }
};

// Pair steps on the whole tile. If they are many, the rest is done on a compact copy of the
// variables that still move: near the solution half of a tile is at a bound and stays there. A tile
// that fits the second-level cache gains too little by it.
template <class T>
BlockResult solve_whole(const Block<T>& block, double tol, int64_t max_steps) {
  if (block.size <= compact_size) return Smo<T>(block).run(tol, max_steps);
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
BlockResult pair_steps(const Block<T>& block, double tol, int64_t max_steps, int threads = 1) {
  if (block.size <= direct_size) return solve_whole(block, tol, max_steps);
  return Nested<T, Stored<T>>(block, {block.K, block.size}, inner_size)
      .run(tol, max_steps, threads);
}

// The same without a stored K (block.K is null): parts of k(points, points) are computed.
template <class T>
BlockResult pair_steps_on_points(const Block<T>& block, const Kernel& kernel,
                                 const Selection<T>& points, double tol, int64_t max_steps,
                                 int threads) {
  return Nested<T, Computed<T>>(block, {kernel, points, threads}, inner_size).run(tol, max_steps);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
