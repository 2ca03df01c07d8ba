// Separate problems on the same points: every group of variables by itself, as if K were 0 between
// the groups. The pairs of classes of one fit are such groups.
//
//   repeat  pair steps on the group's kernel values, in the precision of the points
//           G = G before + K (b - b before) with values in float64
//   until   the violation is at most tol, or no longer falls
//
// One thread solves a group from its first step to its last, so no bit depends on their number.
#pragma once
#include <type_traits>
#include <vector>

#include "pair_steps.h"
#include "threads.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// A tile of this many variables or fewer is stored as a whole; of a larger one parts are computed.
constexpr int64_t stored_size = 1024;
// Steps aim at this share of tol: the rest is room for what float64 values change.
constexpr double aim = 0.5;
// A group whose violation falls by less than this in a round is given up.
constexpr double least_fall = 0.5;

template <class T>
class Separate {
 public:
  Separate(const Block<T>& all, const Kernel& kernel, const Selection<T>& points,
           const Selection<double>& exact)
      : all(all), kernel(kernel), points(points), exact(exact) {}

  BlockResult solve(int64_t g, double tol, int64_t max_steps) {
    const int64_t begin = all.group_begin[g], size = all.group_begin[g + 1] - begin,
                  own[2] = {0, size};
    const Block<T> block{size,
                         size,
                         nullptr,
                         all.G + begin,
                         all.b + begin,
                         all.lower + begin,
                         all.upper + begin,
                         all.ridge + begin,
                         own,
                         all.fixed + g,
                         1};
    before.assign(block.b, block.b + size), start.assign(block.G, block.G + size);
    BlockResult total{0, infinity, false, false};
    for (double last = infinity;; last = total.violation) {
      const BlockResult part = steps(block, begin, aim * tol, max_steps - total.steps);
      total.steps += part.steps;
      total.negative |= part.negative;
      total.unbounded |= part.unbounded;
      total.finite = part.finite && renew(block, begin);
      if (!total.finite) return total;
      total.violation = block.violation();
      const bool spent = part.steps == 0 || part.unbounded || total.steps >= max_steps;
      if (total.violation <= tol || spent || !(total.violation < least_fall * last)) return total;
    }
  }

 private:
  Block<T> all;
  Kernel kernel;
  Selection<T> points;
  Selection<double> exact;
  Aligned<T> tile;
  std::vector<double> before, start, delta;
  std::vector<int64_t> moved;

  template <class S>
  static Selection<S> part(const Selection<S>& some, int64_t begin, int64_t size) {
    return {some.points, some.index + begin, size};
  }

  BlockResult steps(Block<T> block, int64_t begin, double tol, int64_t max_steps) {
    const Selection<T> own = part(points, begin, block.size);
    const auto room = [&] {
      tile.resize(size_t(block.size * block.size));
      return tile.data();
    };
    if (block.size > stored_size)
      return pair_steps_on_points(block, kernel, own, tol, max_steps, 1, room);
    room();
    if (!kernel_block(kernel, own, own, tile.data(), nullptr, true, 1))
      return {0, infinity, false, false, false};
    block.K = tile.data();
    return pair_steps(block, tol, max_steps);
  }

  // G from its values before the first step; whether all kernel values were finite.
  bool renew(const Block<T>& block, int64_t begin) {
    moved.clear(), delta.clear();
    for (int64_t k = 0; k < block.size; ++k) {
      const double change = block.b[k] - before[size_t(k)];
      block.G[k] = start[size_t(k)] + block.ridge[k] * change;
      if (change != 0) moved.push_back(k), delta.push_back(change);
    }
    if constexpr (std::is_same_v<T, double>)  // the tile's values, where it is stored
      if (block.size <= stored_size) {
        for (size_t m = 0; m < moved.size(); ++m) {
          const double *row = tile.data() + moved[m] * block.size, change = delta[m];
          for (int64_t k = 0; k < block.size; ++k) block.G[k] += change * row[k];
        }
        return true;
      }
    for (int64_t& k : moved) k = exact.at(begin + k);
    return kernel_product(kernel, {exact.points, moved.data(), int64_t(moved.size())}, delta.data(),
                          1, part(exact, begin, block.size), block.G, 1);
  }
};

// Group g takes at most most[g] steps.
template <class T>
std::vector<BlockResult> separate_steps(const Block<T>& all, const Kernel& kernel,
                                        const Selection<T>& points, const Selection<double>& exact,
                                        double tol, const int64_t* most, int threads) {
  std::vector<BlockResult> found(static_cast<size_t>(all.groups));
  on_team(team_size(threads, all.groups, 1), [&](Team& team) {
    Separate<T> mine(all, kernel, points, exact);
    team.each(all.groups, 1,
              [&](int64_t g, int64_t) { found[size_t(g)] = mine.solve(g, tol, most[g]); });
  });
  return found;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
