// Pairwise SMO with second-order selection on one dense tile that stays in the second-level cache.
//
//   minimise    1/2 b' (K + diag(ridge)) b + linear' b
//   subject to  lower <= b <= upper, and sum(b) fixed in some groups
//
// G is the gradient. In a group, b_i can grow (b_i < upper_i) and b_j can shrink (b_j > lower_j);
// moving t from j to i changes the objective by -t (G_j - G_i) + t^2/2 eta,  eta = Q_ii + Q_jj - 2
// Q_ij. So i = argmin of G over those that can grow, j maximises (G_j - G_i)^2 / eta over those
// that can shrink, and t = (G_j - G_i) / eta is cut at the bounds. The tile is optimal to tol when
// G_j - G_i <= tol for every such pair. (Fan, Chen and Lin 2005; Platt 1998.)
//
// A group whose sum is not fixed has one more variable, number n: it has no bounds, its row of K is
// zero, and so is its gradient. A pair of it and another variable is a step of that variable alone.
//
// A step makes two passes over the tile's variables: one updates G and finds i, one finds j.
//
// **Precision.** The passes work on a copy of G in the precision of K,
//
//   (G - level of its group) / violation,
//
// so that what is near the margin is near 0 and keeps its digits. Steps and b are float64. Before
// rounding of the copy can hide what is left of the violation,
//
//   G += (K + diag(ridge)) (b - b at the copy)        in float64,
//
// and steps go on from a new copy.
//
// Many steps on one tile are conjugate (direction.h): half as many do where few meet a bound. A
// step costs a quarter more.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "direction.h"
#include "types.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

constexpr double infinity = std::numeric_limits<double>::infinity();
// The copy of the gradient is doubted once its violation is at most this many times its rounding
// error, and where it reaches the tolerance, unless that is a negligible share of it (decision 40).
// Steps aim a little below the tolerance: rounding may leave them above.
constexpr double doubt = 8, negligible = 0.25, within = 0.99;
// A step rounds K t, and entries of the copy, of which those near the level are about 1/4.
constexpr double rounded_square = 1.0 / 16;
// The least curvature of a pair, relative to its diagonal values, when gains are compared.
constexpr double least_curvature = 1e-6, least_positive = 1e-30;

struct Extremes {  // of one group
  double least_growable = infinity, greatest_shrinkable = -infinity;
  int64_t i = -1;
  double violation() const { return i < 0 ? -infinity : greatest_shrinkable - least_growable; }
  void with_origin(int64_t n) {  // the variable of gradient 0
    if (0 < least_growable) least_growable = 0, i = n;
    greatest_shrinkable = std::max(greatest_shrinkable, 0.0);
  }
};

// One working-set problem; variables of a group are contiguous: group g is [group_begin[g],
// group_begin[g + 1]). Variable k has row k mod rows of K: in regression two share a row.
template <class T>
struct Block {
  int64_t size, rows;  // size is a multiple of rows
  const T* K;          // rows x rows
  double* G;           // gradient, in and out
  double* b;           // variables, in and out
  const double *lower, *upper, *ridge;
  const int64_t* group_begin;
  const bool* fixed;  // whether the sum of a group is fixed
  int64_t groups;

  const T* row(int64_t k) const { return K + k % rows * rows; }
  double value(int64_t k, int64_t l) const { return double(row(k)[l % rows]); }
  bool can_grow(int64_t k) const { return b[k] < upper[k]; }
  bool can_shrink(int64_t k) const { return b[k] > lower[k]; }
  Extremes extremes(int64_t g) const {
    Extremes e;
    for (int64_t k = group_begin[g]; k < group_begin[g + 1]; ++k) {
      if (can_grow(k) && G[k] < e.least_growable) e.least_growable = G[k], e.i = k;
      if (can_shrink(k)) e.greatest_shrinkable = std::max(e.greatest_shrinkable, G[k]);
    }
    if (!fixed[g]) e.with_origin(size);
    return e;
  }
  double violation() const {
    double worst = 0;
    for (int64_t g = 0; g < groups; ++g) worst = std::max(worst, extremes(g).violation());
    return worst;
  }
};

struct BlockResult {
  int64_t steps;
  double violation;    // after the last step
  bool negative;       // a pair of negative curvature was met
  bool unbounded;      // a step had no bound
  bool finite = true;  // all kernel values were finite
};

// G += sum of delta_s K[moved_s], four rows at a time
template <class T>
void add_rows(const Block<T>& block, const std::vector<int64_t>& moved,
              const std::vector<double>& delta) {
  for (size_t s = 0; s < moved.size(); s += 4) {
    const T* r[4];
    double d[4];
    for (size_t q = 0; q < 4; ++q) {  // the last rows count for nothing where they are too many
      const bool more = s + q < moved.size();
      r[q] = block.row(moved[more ? s + q : s]), d[q] = more ? delta[s + q] : 0.0;
    }
    for (double* G = block.G; G < block.G + block.size; G += block.rows)
      for (int64_t k = 0; k < block.rows; ++k)
        G[k] += (d[0] * double(r[0][k]) + d[1] * double(r[1][k])) +
                (d[2] * double(r[2][k]) + d[3] * double(r[3][k]));
  }
}

template <class T>
class Smo {
 public:
  explicit Smo(const Block<T>& block, bool conjugate = false)
      : block(block),
        n(block.size),
        up(size_t(n)),
        down(size_t(n)),
        diagonal(size_t(n)),
        before(size_t(n)),
        level(size_t(block.groups)),
        ends(size_t(block.groups)),
        conjugate(conjugate),
        along(conjugate ? n : 0),
        v(conjugate ? size_t(n) : 0) {
    for (int64_t k = 0; k < n; ++k) this->conjugate &= block.ridge[k] == 0;
    double greatest = 0;
    for (int64_t k = 0; k < n; ++k) greatest = std::max(greatest, std::abs(diagonal_of(k)));
    scale = greatest > 0 ? 1 / greatest : 1;
    for (int64_t k = 0; k < n; ++k) diagonal[size_t(k)] = T(diagonal_of(k) * scale);
    for (int64_t k = 1; k < n; ++k) flat &= diagonal[size_t(k)] == diagonal[0];
    for (int64_t g = 0; g < block.groups; ++g)
      if (!block.fixed[g]) zeros.assign(size_t(block.rows), T(0));
  }

  BlockResult run(double tol, int64_t max_steps) {
    BlockResult result{0, 0, false, false};
    for (;;) {
      result.violation = copy();
      if (!(result.violation > tol) || result.steps >= max_steps) return result;
      const int64_t last = result.steps;
      const bool reached = burst(tol, max_steps, result);
      along.end(block);
      if (reached) {
        take_copy();
        return result;
      }
      if (result.steps == last) return result;
      renew();
    }
  }

 private:
  static constexpr int L = lanes<T>;
  // Vectors whose extremes are found side by side: one comparison need not wait for the last.
  static constexpr int chains = vector_bytes == 64 ? 4 : 2;

  Block<T> block;
  int64_t n;
  Aligned<T> up, down;  // the copy; infinity where b cannot grow, -infinity where it cannot shrink
  double unit = 1;      // of the copy
  Aligned<T> diagonal;  // of Q, scaled to at most 1
  bool flat = true;     // whether its values are equal: they need not be read
  double scale;
  std::vector<double> before, level;  // b at the copy; of each group
  std::vector<Extremes> ends;         // of the copy
  std::vector<T> zeros;               // the row of variable n
  bool conjugate;                     // whether steps are; not where there is a ridge
  Direction along;                    // of the last step, and K times it
  Aligned<T> v;

  // Makes the copy and returns the violation.
  double copy() {
    double violation = 0;
    for (int64_t g = 0; g < block.groups; ++g) {
      const Extremes e = block.extremes(g);
      const double middle = (e.least_growable + e.greatest_shrinkable) / 2;
      level[size_t(g)] = block.fixed[g] && std::isfinite(middle) ? middle : 0;
      violation = std::max(violation, e.violation());
    }
    unit = violation > 0 && violation < infinity ? violation : 1;
    for (int64_t g = 0; g < block.groups; ++g)
      for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k)
        set(k, (block.G[k] - level[size_t(g)]) / unit);
    std::copy(block.b, block.b + n, before.begin());
    if (n > 0) update(T(0), block.K, block.K);
    return violation;
  }
  void set(int64_t k, double value) {
    up[size_t(k)] = T(block.can_grow(k) ? value : infinity);
    down[size_t(k)] = T(block.can_shrink(k) ? value : -infinity);
  }
  // G from its copy; a variable that cannot move has none
  void take_copy() {
    for (int64_t g = 0; g < block.groups; ++g)
      for (int64_t k = block.group_begin[g]; k < block.group_begin[g + 1]; ++k)
        if (block.can_grow(k) || block.can_shrink(k))
          block.G[k] = level[size_t(g)] + unit * copy_of(k);
        else
          for (int64_t l = 0; l < n; ++l)
            block.G[k] += (block.b[l] - before[size_t(l)]) * block.value(k, l);
  }
  double copy_of(int64_t k) const {
    return up[size_t(k)] < T(infinity) ? up[size_t(k)] : down[size_t(k)];
  }
  // G from what was moved since the copy
  void renew() {
    std::vector<int64_t> moved;
    std::vector<double> delta;
    for (int64_t k = 0; k < n; ++k) {
      const double change = block.b[k] - before[size_t(k)];
      if (change == 0) continue;
      moved.push_back(k), delta.push_back(change);
      block.G[k] += block.ridge[k] * change;
    }
    add_rows(block, moved, delta);
  }

  // Takes steps on the copy; whether they reached the tolerance.
  bool burst(double tol, int64_t max_steps, BlockResult& result) {
    constexpr double rounding = doubt * std::numeric_limits<T>::epsilon();
    for (double squares = 0; result.steps < max_steps; ++result.steps) {  // of what was rounded
      double violation = 0;
      for (const Extremes& e : ends) violation = std::max(violation, e.violation());
      result.violation = unit * violation;
      const double noise = rounding * std::sqrt(squares);
      const bool reached = !(result.violation > within * tol);
      if (reached && unit * noise <= negligible * tol) return true;
      if (reached || (squares > 0 && !(violation > noise))) return false;
      int64_t i = -1, j = -1;
      Gain gain;
      for (int64_t g = 0; g < block.groups; ++g)
        if (partner(g, gain, j)) i = ends[size_t(g)].i;
      if (j < 0) return false;
      const double t = conjugate ? conjugate_step(i, j, result) : step(i, j, result);
      if (result.unbounded) return false;
      const double change = t / (scale * unit);
      squares += change * change * along.weight + rounded_square;
    }
    return false;
  }

  // With `alone` one of the variables may be number n.
  template <bool alone>
  bool real(int64_t k) const {
    return !alone || k < n;
  }
  const T* row(int64_t k) const { return k < n ? block.row(k) : zeros.data(); }
  template <bool alone>
  double value(int64_t k, int64_t l) const {
    return real<alone>(k) && real<alone>(l) ? block.value(k, l) : 0.0;
  }
  template <bool alone>
  double at(const double* values, int64_t k, double otherwise) const {
    return real<alone>(k) ? values[k] : otherwise;
  }
  template <bool alone = false>
  double diagonal_of(int64_t k) const {
    return value<alone>(k, k) + at<alone>(block.ridge, k, 0.0);
  }
  template <bool alone>
  void move(int64_t k, double t) {
    if (real<alone>(k)) block.b[k] += t;
  }

  static IVec<T> first_lanes(int64_t begin) {
    IVec<T> index = {};
    for (int l = 0; l < L; ++l) index[l] = decltype(index[0] + 0)(begin + l);
    return index;
  }

  // act(first, last, base) for the variables of group g in stretches: of variable k, entry k - base
  // of a row of K
  template <class Act>
  void stretches(int64_t g, const Act& act) const {
    const int64_t end = block.group_begin[g + 1];
    for (int64_t k = block.group_begin[g]; k < end;) {
      const int64_t base = k / block.rows * block.rows, last = std::min(end, base + block.rows);
      act(k, last, base);
      k = last;
    }
  }

  // The copy += t (Ki - Kj), and its extremes in every group. With a direction,
  // v = Ki - Kj + keep v and the copy += t v.
  void update(T t, const T* Ki, const T* Kj, T keep = 0) {
    for (int64_t g = 0; g < block.groups; ++g) {
      Extremes found;
      stretches(g, [&](int64_t first, int64_t last, int64_t base) {
        if (conjugate) update<true>(t, Ki - base, Kj - base, keep, first, last, found);
        else update<false>(t, Ki - base, Kj - base, keep, first, last, found);
      });
      if (!block.fixed[g]) found.with_origin(n);
      ends[size_t(g)] = found;
    }
  }
  template <bool directed>
  void update(T t, const T* Ki, const T* Kj, T keep, int64_t begin, int64_t end, Extremes& found) {
    T *u = up.data(), *d = down.data(), *w = v.data();
    struct {
      Vec<T> least = broadcast<T>(T(infinity)), greatest = broadcast<T>(-T(infinity));
      IVec<T> at = {};
      void look(const Vec<T>& grown, const Vec<T>& shrunk, const IVec<T>& index) {
        at = grown < least ? index : at;
        least = grown < least ? grown : least;
        greatest = shrunk > greatest ? shrunk : greatest;
      }
    } chain[chains];
    IVec<T> index = first_lanes(begin);
    const auto look = [&](int64_t k, int c) {
      Vec<T> row = load(Ki + k) - load(Kj + k);
      if (directed) row += keep * load(w + k), store<T>(w + k, row);
      const Vec<T> change = t * row, grown = load(u + k) + change, shrunk = load(d + k) + change;
      store<T>(u + k, grown), store<T>(d + k, shrunk);
      chain[c].look(grown, shrunk, index);
    };
    int64_t k = begin;
    for (; k + chains * L <= end; k += chains * L, index += chains * L)
#pragma GCC unroll 8
      for (int c = 0; c < chains; ++c) look(k + c * L, c);
    for (; k + L <= end; k += L, index += L) look(k, 0);
    for (int c = 1; c < chains; ++c)
      chain[0].look(chain[c].least, chain[c].greatest, chain[c].at + c * L);
    const auto consider = [&](double grown, double shrunk, int64_t at) {
      if (grown < found.least_growable || (grown == found.least_growable && at < found.i))
        found.least_growable = grown, found.i = at;
      found.greatest_shrinkable = std::max(found.greatest_shrinkable, shrunk);
    };
    for (int l = 0; l < L; ++l) consider(chain[0].least[l], chain[0].greatest[l], chain[0].at[l]);
    for (; k < end; ++k) {
      T row = Ki[k] - Kj[k];
      if (directed) row += keep * w[k], w[k] = row;
      const T change = t * row;
      consider(u[k] += change, d[k] += change, k);
    }
  }

  // r^2 / eta of a pair; gains are compared without a division.
  struct Gain {
    T squared = 0, eta = 1;
    bool operator<(const Gain& other) const { return squared * other.eta < other.squared * eta; }
  };

  // Whether group g has a pair of greater gain than `gain`; raises it and sets the partner j.
  bool partner(int64_t g, Gain& gain, int64_t& j) const {
    if (conjugate) return flat ? partner<true, true>(g, gain, j) : partner<true, false>(g, gain, j);
    return flat ? partner<false, true>(g, gain, j) : partner<false, false>(g, gain, j);
  }
  template <bool directed, bool flat>
  bool partner(int64_t g, Gain& gain, int64_t& j) const {
    const Extremes& e = ends[size_t(g)];
    if (e.i < 0) return false;
    const T own = e.i < n ? diagonal[size_t(e.i)] : T(0), least = T(e.least_growable);
    int64_t found = -1;
    const bool real = directed && along.active() && e.i < n;
    const Share share{real ? v[size_t(e.i)] : T(0),
                      real ? T(std::sqrt(scale / along.curvature)) : T(0)};
    stretches(g, [&](int64_t first, int64_t last, int64_t base) {
      partner<directed, flat>(row(e.i) - base, own, least, share, first, last, gain, found);
    });
    if (!block.fixed[g] && e.i < n) consider(n, -least, own, T(0), gain, found);
    if (found >= 0) j = found;
    return found >= 0;
  }
  // What a direction takes off the curvature of a pair: (factor (of_i - v_j))^2
  struct Share {
    T of_i, factor;
  };
  static T curvature_of(T sum, T twice) {
    return std::max(sum - twice, std::max(T(least_curvature) * sum, T(least_positive)));
  }
  static void consider(int64_t k, T r, T sum, T twice, Gain& gain, int64_t& found) {
    const Gain here{r * r, curvature_of(sum, twice)};
    if (r > 0 && gain < here) gain = here, found = k;
  }
  template <bool directed, bool flat>
  void partner(const T* Ki, T own, T least, const Share& share, int64_t begin, int64_t end,
               Gain& gain, int64_t& found) const {
    const T twice = T(2 * scale), least_share = T(least_curvature);
    const Vec<T> same = broadcast<T>(diagonal[0] + own);
    const Vec<T> zero = {}, tiny = broadcast<T>(T(least_positive));
    struct {
      Vec<T> squared, eta;
      IVec<T> at = IVec<T>{} - 1;
      void look(const Vec<T>& square, const Vec<T>& curvature, const IVec<T>& index) {
        const auto better = square * eta > squared * curvature;
        at = better ? index : at;
        squared = better ? square : squared;
        eta = better ? curvature : eta;
      }
    } chain[chains];
    for (auto& best : chain)
      best.squared = broadcast<T>(gain.squared), best.eta = broadcast<T>(gain.eta);
    IVec<T> index = first_lanes(begin);
    const auto look = [&](int64_t k, int c) {
      Vec<T> r = load(&down[size_t(k)]) - least;
      r = r > zero ? r : zero;
      const Vec<T> sum = flat ? same : load(&diagonal[size_t(k)]) + own;
      Vec<T> floor = least_share * sum, curvature = sum - twice * load(Ki + k);
      if (directed) {
        const Vec<T> part = share.factor * (share.of_i - load(&v[size_t(k)]));
        curvature -= part * part;
      }
      floor = floor > tiny ? floor : tiny;
      curvature = curvature > floor ? curvature : floor;
      chain[c].look(r * r, curvature, index);
    };
    int64_t k = begin;
    for (; k + chains * L <= end; k += chains * L, index += chains * L)
#pragma GCC unroll 8
      for (int c = 0; c < chains; ++c) look(k + c * L, c);
    for (; k + L <= end; k += L, index += L) look(k, 0);
    for (int c = 1; c < chains; ++c) {
      const IVec<T> none = IVec<T>{} - 1, at = chain[c].at;
      chain[0].look(chain[c].squared, chain[c].eta, at > none ? at + c * L : none);
    }
    for (int l = 0; l < L; ++l) {
      const Gain here{chain[0].squared[l], chain[0].eta[l]};
      const int64_t at = chain[0].at[l];
      if (at >= 0 && (gain < here || (found >= 0 && !(here < gain) && at < found)))
        gain = here, found = at;
    }
    for (; k < end; ++k) {
      const T part = directed ? share.factor * (share.of_i - v[size_t(k)]) : T(0);
      consider(k, down[size_t(k)] - least, diagonal[size_t(k)] + own, twice * Ki[k] + part * part,
               gain, found);
    }
  }

  bool inside(int64_t k) const { return k < n && block.can_grow(k) && block.can_shrink(k); }

  // Move along the next direction, or along the pair alone, and return how far.
  double conjugate_step(int64_t i, int64_t j, BlockResult& result) {
    const bool both = i < n && j < n;
    const double sum = both ? diagonal_of(i) + diagonal_of(j) : 0,
                 eta = both ? sum - 2.0 * block.value(i, j) : 0;
    if (both && along.active()) {
      const double apart = double(v[size_t(i)]) - double(v[size_t(j)]),
                   keep = -apart / along.curvature, left = eta + keep * apart;
      const double own_i = copy_of(i), own_j = copy_of(j), t = unit * (own_j - own_i) / left;
      if (left > least_curvature * sum && along.move(block, i, j, keep, t, left)) {
        for (int64_t k : {i, j}) up[size_t(k)] = down[size_t(k)] = T(k == i ? own_i : own_j);
        update(T(t / unit), row(i), row(j), T(keep));
        return t;
      }
    }
    along.end(block);
    const double t = step(i, j, result);
    if (eta > least_curvature * sum && inside(i) && inside(j)) along.begin(block, i, j, eta);
    return t;
  }

  // Move along the pair and return how far; result.unbounded if nothing bounds the step.
  double step(int64_t i, int64_t j, BlockResult& result) {
    return i < n && j < n ? step_along<false>(i, j, result) : step_along<true>(i, j, result);
  }
  template <bool alone>
  double step_along(int64_t i, int64_t j, BlockResult& result) {
    const double between = value<alone>(i, j), sum = diagonal_of<alone>(i) + diagonal_of<alone>(j),
                 curvature = sum - 2.0 * between;
    const bool negative = curvature < -1e3 * std::numeric_limits<T>::epsilon() *
                                          (std::abs(sum) + std::abs(2.0 * between));
    result.negative |= negative;
    // For a positive semidefinite kernel the curvature is at least the ridge, whatever rounding
    // makes of it.
    const double ridge_i = at<alone>(block.ridge, i, 0.0), ridge_j = at<alone>(block.ridge, j, 0.0),
                 ridge = ridge_i + ridge_j;
    const double floor = std::max(1e-15 * std::abs(sum) + 1e-300, ridge);
    const double own_i = real<alone>(i) ? copy_of(i) : 0.0,
                 own_j = real<alone>(j) ? copy_of(j) : 0.0;
    double t = unit * (own_j - own_i) / std::max(curvature, floor);
    // Between equal rows nothing bends the objective: it falls as far as the bounds allow. These
    // differences are exact.
    if (curvature <= floor && ridge == 0 &&
        (value<alone>(i, i) - between) + (value<alone>(j, j) - between) <= 0)
      t = infinity;
    const double room_i = real<alone>(i) ? block.upper[i] - block.b[i] : infinity,
                 room_j = real<alone>(j) ? block.b[j] - block.lower[j] : infinity;
    if ((ridge > 0 ? negative : curvature <= floor) && room_i == infinity && room_j == infinity) {
      result.unbounded = true;
      return 0;
    }
    // Cut at the nearer bound, exactly onto it.
    if (t < room_i && t < room_j) {
      move<alone>(i, t), move<alone>(j, -t);
    } else if (room_i <= room_j) {
      t = room_i, block.b[i] = block.upper[i];
      if (room_i == room_j) block.b[j] = block.lower[j];
      else move<alone>(j, -t);
    } else {
      t = room_j, block.b[j] = block.lower[j], move<alone>(i, t);
    }
    if (real<alone>(i)) set(i, own_i + ridge_i * t / unit);
    if (real<alone>(j)) set(j, own_j - ridge_j * t / unit);
    update(T(t / unit), row(i), row(j));
    return t;
  }
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
