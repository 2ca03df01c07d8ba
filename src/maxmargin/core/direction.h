// Conjugate pair steps: the direction of a step is that of its pair, made conjugate to the
// direction before (Torres-Barran, Alaiz and Dorronsoro 2021).
//
//   d <- e_i - e_j + keep d      v = K d <- K_i - K_j + keep v      keep = -(v_i - v_j) / (d' v)
//   d' K d = eta - (v_i - v_j)^2 / (d' v before)                    eta = K_ii + K_jj - 2 K_ij
//
// After a step to the minimum along d the gradient is orthogonal to it, so the next step goes as
// far as that of its pair alone, divided by the smaller curvature. Where a bound is in the way, the
// pair alone moves and the direction begins again.
#pragma once
#include <cstdint>
#include <vector>

#include "types.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// The variables that the direction moves: few, so they are copied side by side.
class Direction {
 public:
  explicit Direction(int64_t n) : place(size_t(n), -1) {}

  bool active() const { return curvature > 0; }
  double curvature = 0;  // d' K d; 0: there is no direction
  double weight = 1;     // squared rounding errors of v, in those of K_i - K_j

  // Begins with a pair that has just moved.
  template <class Block>
  void begin(const Block& block, int64_t i, int64_t j, double eta) {
    add(block, i, 1.0), add(block, j, -1.0);
    curvature = eta, weight = 1;
  }

  // Moves the variables by t along the next direction, if all of them stay inside their bounds.
  template <class Block>
  bool move(const Block& block, int64_t i, int64_t j, double keep, double t, double left) {
    for (double& part : d) part *= keep;
    add(block, i, 1.0), add(block, j, -1.0);
    bool inside = true;
    const size_t size = at.size();
    for (size_t s = 0; s < size; ++s) {
      to[s] = b[s] + t * d[s];
      inside &= (to[s] > lower[s]) & (to[s] < upper[s]);
    }
    if (!inside) return false;
    b.swap(to);
    curvature = left, weight = 1 + keep * keep * weight;
    return true;
  }

  // Ends the direction: the variables go back to where they are kept.
  template <class Block>
  void end(const Block& block) {
    for (size_t s = 0; s < at.size(); ++s) block.b[at[s]] = b[s], place[size_t(at[s])] = -1;
    at.clear();
    for (auto* values : {&d, &b, &to, &lower, &upper}) values->clear();
    curvature = 0, weight = 1;
  }

 private:
  std::vector<int64_t> at, place;  // the variables; where each is among them, -1: nowhere
  std::vector<double> d, b, to, lower, upper;

  template <class Block>
  void add(const Block& block, int64_t k, double change) {
    int64_t& s = place[size_t(k)];
    if (s < 0) {
      s = int64_t(at.size());
      at.push_back(k), d.push_back(0), b.push_back(block.b[k]), to.push_back(0);
      lower.push_back(block.lower[k]), upper.push_back(block.upper[k]);
    }
    d[size_t(s)] += change;
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
