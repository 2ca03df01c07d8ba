// Newton steps on the free variables of one tile. maxmargin/kernel/newton.py and face.py have the
// mathematics, the order of the steps and the reasons for the constants; the steps from bound to
// bound are the library's (core/face.h). Here each face gets a factor of its own, which for a few
// hundred points costs little.
#pragma once
#include <numeric>
#include <optional>

#include "cholesky.h"
#include "face.h"
#include "pair_steps.h"

namespace maxmargin::MAXMARGIN_LEVEL {

struct NewtonResult {
  int64_t steps;  // pair steps between the faces
  bool convex;
};

class Newton {
 public:
  explicit Newton(const Block<double>& block) : block(block), n(block.size) {
    for (int64_t k = 0; k < n; ++k)
      noise = std::max(noise, rounding * std::abs(block.K[k * n + k]));
  }

  // Lower the violation to tol, or as far as float64 can.
  NewtonResult run(double tol, int64_t max_steps) {
    int64_t steps = 0, burst = 1;
    int idle = 0;
    double least = infinity, violation = measure();
    for (;;) {
      const double size = std::sqrt(dot(block.b, block.b, n));
      if (violation <= std::max(tol, noise * size) || idle > idle_cycles || steps >= max_steps)
        return {steps, true};
      const Minimum found = minimise_free();
      if (!found.convex) return {steps, false};
      burst = found.whole ? std::max<int64_t>(1, burst / burst_growth)
                          : std::min(longest_burst, burst * burst_growth);
      idle = found.gain > noise * size * size || violation < 0.5 * least ? 0 : idle + 1;
      least = std::min(least, violation);
      violation = measure();
      if (!(violation > tol)) continue;
      const BlockResult done =
          pair_steps(block, std::max(tol, 0.1 * violation), std::min(burst * n, max_steps - steps));
      steps += done.steps, violation = done.violation;
      if (done.negative) return {steps, false};
    }
  }

 private:
  struct Minimum {  // of a face
    double gain;    // by how much the objective fell
    bool whole;     // whether the minimum was reached
    bool convex = true;
  };
  static constexpr double rounding = 1e-15, dependent = 1e-14;
  static constexpr int64_t burst_growth = 4, longest_burst = 64, pins = 256, columns_ahead = 24;
  static constexpr int idle_cycles = 3;

  Block<double> block;
  int64_t n;
  double noise = 0;

  double measure() const {
    double worst = -infinity;
    for (int64_t g = 0; g < block.groups; ++g) {
      Extremes e;
      for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k) {
        if (block.b[k] < block.upper[k] && block.G[k] < e.least_growable)
          e.least_growable = block.G[k], e.i = k;
        if (block.b[k] > block.lower[k])
          e.greatest_shrinkable = std::max(e.greatest_shrinkable, block.G[k]);
      }
      worst = std::max(worst, e.violation());
    }
    return worst;
  }

  Minimum minimise_free() {
    std::vector<int64_t> free;
    for (int64_t k = 0; k < n; ++k)
      if (block.b[k] > block.lower[k] && block.b[k] < block.upper[k]) free.push_back(k);
    if (free.size() < 2) return {0, true};
    const std::optional<Cholesky> factor = factorize(free);
    if (!factor) return {0, false, false};
    // Where rounding spoils the columns of a nearly singular Q^-1: up to the first bound.
    for (const int64_t most : {pins, int64_t(0)})
      if (const std::optional<Minimum> found = minimise(free, *factor, most)) return *found;
    return {0, false};
  }

  // The factor of Q between the free variables, shifted as little as it needs.
  std::optional<Cholesky> factorize(const std::vector<int64_t>& free) const {
    const size_t m = free.size();
    double scale = 0;
    for (int64_t k : free) scale = std::max(scale, std::abs(block.K[k * n + k] + block.ridge[k]));
    if (scale == 0) scale = 1;
    for (const double shift : {1e-13, 1e-12, 1e-11}) {
      Aligned<double> Q(m * m);
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j <= i; ++j) Q[i * m + j] = block.K[free[i] * n + free[j]];
        Q[i * m + i] += block.ridge[free[i]] + shift * scale;
      }
      Cholesky found(std::move(Q), int64_t(m));
      if (found.exists()) return found;
    }
    return std::nullopt;
  }

  // The minimum of the face, with at most this number of pins; nothing where rounding spoils it.
  std::optional<Minimum> minimise(const std::vector<int64_t>& free, const Cholesky& factor,
                                  int64_t most) {
    Face face(block, free, factor, most);
    const std::optional<bool> whole = face.minimise();
    if (!whole) return std::nullopt;
    std::vector<double> effect(size_t(n), 0.0);
    double fall = 0;
    for (size_t i = 0; i < free.size(); ++i) {
      const double change = face.b[i] - block.b[free[i]];
      if (change == 0) continue;
      const double* row = block.K + free[i] * n;
      for (int64_t k = 0; k < n; ++k) effect[size_t(k)] += change * row[k];
      effect[size_t(free[i])] += block.ridge[free[i]] * change;
    }
    for (size_t i = 0; i < free.size(); ++i)
      fall -= (face.b[i] - block.b[free[i]]) * (block.G[free[i]] + 0.5 * effect[size_t(free[i])]);
    const std::vector<double> before(block.b, block.b + n);
    for (size_t i = 0; i < free.size(); ++i) block.b[free[i]] = face.b[i];
    if (!(fall >= -noise * dot(block.b, block.b, n))) {
      std::copy(before.begin(), before.end(), block.b);
      return std::nullopt;
    }
    for (int64_t k = 0; k < n; ++k) block.G[k] += effect[size_t(k)];
    return Minimum{fall, *whole};
  }

  // The free variables as those of a quadratic, and what face.h asks for.
  struct Face {
    const Cholesky& factor;
    int64_t m, room;
    std::vector<double> b, lower, upper, u, d, Z, R, columns;
    std::vector<int64_t> group, constraint, at;
    std::vector<char> pinned;
    int64_t groups, count = 0, made = 0;

    Face(const Block<double>& block, const std::vector<int64_t>& free, const Cholesky& factor,
         int64_t most)
        : factor(factor), m(int64_t(free.size())), room(block.groups + most), groups(block.groups) {
      const size_t size = size_t(m);
      for (auto* values : {&b, &lower, &upper, &u, &d}) values->resize(size);
      Z.resize(size_t(room) * size), R.resize(size_t(room * room));
      columns.resize(size_t(most + columns_ahead) * size);
      group.resize(size), constraint.resize(size_t(room)), at.assign(size, -1);
      pinned.assign(size, 0);
      for (size_t i = 0; i < size; ++i) {
        const int64_t k = free[i];
        b[i] = block.b[k], lower[i] = block.lower[k], upper[i] = block.upper[k], u[i] = block.G[k];
        group[i] = groups == 2 && k >= block.group_begin[1];
      }
    }

    // Whether the minimum was reached; nothing where rounding leaves no digits.
    std::optional<bool> minimise() {
      if (!constrain_sums()) return std::nullopt;
      remove_means();
      factor.solve(u.data());
      for (;;) {
        const Walk walk{m,
                        b.data(),
                        u.data(),
                        d.data(),
                        lower.data(),
                        upper.data(),
                        reinterpret_cast<bool*>(pinned.data()),
                        group.data(),
                        groups,
                        Z.data(),
                        R.data(),
                        constraint.data(),
                        room,
                        columns.data(),
                        at.data(),
                        dependent};
        const auto [now, ended] = FaceSteps(walk, count).run();
        count = now;
        if (ended == Walked::not_finite) return std::nullopt;
        if (ended != Walked::missing) return ended == Walked::reached;
        add_columns();
      }
    }

    // Z and R of the sums of the groups, which share no variable but are coupled by Q.
    bool constrain_sums() {
      for (int64_t g = 0; g < groups; ++g) {
        double* z = &Z[size_t(count * m)];
        bool any = false;
        for (int64_t k = 0; k < m; ++k) z[k] = group[size_t(k)] == g, any |= z[k] != 0;
        if (!any) continue;
        factor.solve(z);
        double* row = &R[size_t(count * room)];
        for (int64_t j = 0; j < count; ++j) {
          row[j] = sum_of(&Z[size_t(j * m)], g);
          for (int64_t k = 0; k < m; ++k) z[k] -= row[j] * Z[size_t(j * m + k)];
        }
        const double pivot = sum_of(z, g);
        if (!(pivot > 0)) return false;
        row[count] = std::sqrt(pivot);
        for (int64_t k = 0; k < m; ++k) z[k] /= row[count];
        constraint[size_t(count++)] = -1 - g;
      }
      return true;
    }
    double sum_of(const double* values, int64_t g) const {
      double sum = 0;
      for (int64_t k = 0; k < m; ++k)
        if (group[size_t(k)] == g) sum += values[k];
      return sum;
    }

    // The sums take up the mean gradient of each group: without it less is lost to rounding.
    void remove_means() {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t members = std::count(group.begin(), group.end(), g);
        const double mean = members ? sum_of(u.data(), g) / double(members) : 0;
        for (int64_t k = 0; k < m; ++k)
          if (group[size_t(k)] == g) u[size_t(k)] -= mean;
      }
    }

    // Columns of Q^-1 of the variables that will meet their bounds next, it seems.
    void add_columns() {
      std::vector<std::pair<double, int64_t>> reach;
      for (int64_t k = 0; k < m; ++k) {
        const size_t i = size_t(k);
        if (d[i] == 0 || at[i] >= 0) continue;
        const double space = d[i] > 0 ? upper[i] - b[i] : b[i] - lower[i];
        if (std::isfinite(space)) reach.emplace_back(space / std::abs(d[i]), k);
      }
      std::sort(reach.begin(), reach.end());
      if (int64_t(reach.size()) > columns_ahead) reach.resize(columns_ahead);
      if ((made + int64_t(reach.size())) * m > int64_t(columns.size())) {
        std::fill(at.begin(), at.end(), -1);
        made = 0;
      }
      for (const auto& next : reach) {
        double* column = &columns[size_t(made * m)];
        std::fill(column, column + m, 0.0);
        column[next.second] = 1;
        factor.solve(column);
        at[size_t(next.second)] = made++;
      }
    }
  };
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
