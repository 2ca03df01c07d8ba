// Expansions in RBF kernels, for prediction: f_c(x) = sum over j of coef[j][c] k(x, z_j).
//
// Points are centred and scaled: x' = (x - centre) scale with scale^2 = 2 gamma log2(e). With h =
// |x'|^2 / 2,
//
//     exp(-gamma |x - z|^2) = 2^-(h_x + h_z - x'.z')
//
// so that a kernel value costs a multiply-add for each feature, those of 2^-s, and one for each
// column. The z_j are packed once, in panels; rows of X are packed by the thread that evaluates
// them. A value is summed over the features in their order, a sum over the z_j in theirs: bits do
// not depend on threads or on the batch, and equal points are at distance exactly 0, as in raw.h.
#pragma once
#include <algorithm>
#include <atomic>
#include <limits>

#include "raw.h"
#include "threads.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// Accumulators of a register tile: packed_rows x packed_vectors. The rest of the registers is for
// the exponentials.
constexpr int packed_rows = vector_bytes == 64 ? 8 : 4, packed_vectors = 2;
template <class T>
constexpr int packed_width = packed_vectors * lanes<T>;
// Rows whose exponentials are computed side by side: those of float64 take more steps.
template <class T>
constexpr int together = vector_bytes < 64 ? 1 : int(sizeof(T)) / 2;
// Columns of stored values that are summed at once: their sums and runs are in registers.
constexpr int64_t most_columns = vector_bytes == 64 ? 6 : 4;
// Terms are summed in T over run_points points, the runs over points_together points, and those
// sums in double: no term is rounded to T more often than longest_run (products.h) says.
constexpr int64_t run_points = 16, points_together = 64;
// Panels of X that meet points_together points while these are in the first-level cache.
constexpr int64_t panels_together = 4;

// The points z_j of an expansion and their coefficients. Groups of points have sums of their own;
// each is filled up to whole panels with points of coefficient 0.
template <class T>
struct Packed {
  int64_t d, columns;
  double scale;
  std::vector<double> centre;
  std::vector<int64_t> begin;  // of each group, after filling up
  Aligned<T> panels, halves, coef;
  bool moderate = true;  // no h overflows, or comes near

  T prepared(double x, int64_t k) const { return T((x - centre[size_t(k)]) * scale); }
  static bool is_moderate(T half) { return half < std::numeric_limits<T>::max() / 16; }

  // Points Z, n x d, rows first[g], ..., first[g + 1] - 1 in group g; weight is n x columns.
  void pack(const double* Z, const int64_t* first, int64_t groups, const double* weight) {
    constexpr int64_t R = packed_rows;
    begin.assign(1, 0);
    for (int64_t g = 0; g < groups; ++g)
      begin.push_back(begin.back() + (first[g + 1] - first[g] + R - 1) / R * R);
    panels.assign(size_t(begin.back() * d), T(0));
    halves.assign(size_t(begin.back()), T(0));
    coef.assign(size_t(begin.back() * columns), T(0));
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t j = first[g]; j < first[g + 1]; ++j) {
        const int64_t at = begin[size_t(g)] + j - first[g];
        T *panel = panels.data() + at / R * R * d + at % R, sum = 0;
        for (int64_t k = 0; k < d; ++k) {
          const T value = panel[k * R] = prepared(Z[j * d + k], k);
          sum = multiply_add(value, value, sum);
        }
        halves[size_t(at)] = sum / 2;
        moderate &= is_moderate(sum / 2);
        for (int64_t c = 0; c < columns; ++c)
          coef[size_t(at * columns + c)] = T(weight[j * columns + c]);
      }
  }
};

// take(r, v, 2^-(h_x + h_z - x'.z')) for a panel of points z, packed_rows of them, and one of
// points x, packed_vectors of them.
template <class T, class Take>
inline void packed_values(int64_t d, const T* z, const T* half_z, const T* x, const T* half_x,
                          const Take& take) {
  constexpr int L = lanes<T>, R = packed_rows, V = packed_vectors, W = packed_width<T>,
                N = together<T> * V;
  Vec<T> dot[R][V] = {};
  for (int64_t k = 0; k < d; ++k) {
    const Vec<T> x0 = load<T>(x + k * W), x1 = load<T>(x + k * W + L);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      dot[r][0] += x0 * z[k * R + r];
      dot[r][1] += x1 * z[k * R + r];
    }
  }
#pragma GCC unroll 8
  for (int first = 0; first < R; first += together<T>) {
    Vec<T> s[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      const int r = first + i / V, v = i % V;
      s[i] = at_most<T>((load<T>(half_x + v * L) + half_z[r]) - dot[r][v], Exp2<T>::zero);
    }
    halves_to_the<T, N>(s);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) take(first + i / V, i % V, s[i]);
  }
}

// Rows [begin, end) of X against all points: one object for each thread.
template <class T, class X>
struct PackedSums {
  const Packed<T>& packed;
  const X* rows;
  int64_t n;
  double* out;     // groups x columns x n
  double* halves;  // h of each row, or null
  std::atomic<bool>& finite;
  Aligned<T> panels = {}, half = {};
  Aligned<double> sums = {};

  static constexpr int64_t W = packed_width<T>;

  void operator()(int64_t begin, int64_t end) {
    const int64_t width = (end - begin + W - 1) / W * W;
    pack(begin, end, width);
    for (size_t g = 0; g + 1 < packed.begin.size(); ++g) {
      sums.assign(size_t(packed.columns * width), 0.0);
      for (int64_t j = packed.begin[g]; j < packed.begin[g + 1]; j += points_together)
        for (int64_t i = 0; i < width; i += W)
          add_points(j, std::min<int64_t>(points_together, packed.begin[g + 1] - j), i, width);
      for (int64_t c = 0; c < packed.columns; ++c)
        std::copy_n(sums.data() + c * width, end - begin,
                    out + (int64_t(g) * packed.columns + c) * n + begin);
    }
  }

 private:
  void pack(int64_t begin, int64_t end, int64_t width) {
    const int64_t d = packed.d;
    panels.assign(size_t(width * d + 1), T(0));
    half.assign(size_t(width), T(0));
    for (int64_t i = 0; i < end - begin; ++i) {
      T* panel = panels.data() + i / W * W * d + i % W;
      for (int64_t k = 0; k < d; ++k)
        panel[k * W] = packed.prepared(double(rows[(begin + i) * d + k]), k);
    }
    for (int64_t i = 0; i < width; i += lanes<T>) {
      const T* panel = panels.data() + i / W * W * d + i % W;
      Vec<T> sum = {};
      for (int64_t k = 0; k < d; ++k) sum += load<T>(panel + k * W) * load<T>(panel + k * W);
      store<T>(half.data() + i, sum / T(2));
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      if (halves) halves[begin + i] = double(half[size_t(i)]);
      if (!Packed<T>::is_moderate(half[size_t(i)])) finite = false;
    }
  }

  // The terms of points j, ..., j + count - 1 to the sums of rows i, ..., i + W - 1.
  void add_points(int64_t j, int64_t count, int64_t i, int64_t width) {
    if (packed.columns == 1) return add_few<1>(j, count, i, width);
    if (packed.columns == 2) return add_few<2>(j, count, i, width);
    alignas(64) T values[points_together * W];
    for (int64_t r = 0; r < count; r += packed_rows)
      each_value(j + r, i, [&](int q, int v, const Vec<T>& value) {
        store<T>(values + (r + q) * W + v * lanes<T>, value);
      });
    // In equal parts: one column alone takes as long as four, each addition waits for the last.
    const int64_t parts = pieces_of(packed.columns, most_columns);
    for (int64_t part = 0, c = 0; part < parts; ++part) {
      const int64_t size = (packed.columns - c) / (parts - part);
      add_columns(size, values, count, j, c, i, width);
      c += size;
    }
  }
  // 2 to most_columns of them.
  void add_columns(int64_t size, const T* values, int64_t count, int64_t j, int64_t c, int64_t i,
                   int64_t width) {
    switch (size) {
      case 3: return add_stored<3>(values, count, j, c, i, width);
      case 4: return add_stored<4>(values, count, j, c, i, width);
      case 5: return add_stored<5>(values, count, j, c, i, width);
      case 6: return add_stored<6>(values, count, j, c, i, width);
      default: return add_stored<2>(values, count, j, c, i, width);
    }
  }

  template <class Take>
  void each_value(int64_t j, int64_t i, const Take& take) const {
    packed_values<T>(packed.d, packed.panels.data() + j * packed.d, packed.halves.data() + j,
                     panels.data() + i * packed.d, half.data() + i, take);
  }

  // C columns, all there are, straight from the registers.
  template <int C>
  void add_few(int64_t j, int64_t count, int64_t i, int64_t width) {
    Vec<T> sum[C][packed_vectors] = {};
    for (int64_t first = 0; first < count; first += run_points) {
      Vec<T> run[C][packed_vectors] = {};
      for (int64_t r = first; r < std::min(first + run_points, count); r += packed_rows) {
        const T* coef = packed.coef.data() + (j + r) * C;
        each_value(j + r, i, [&](int q, int v, const Vec<T>& value) {
#pragma GCC unroll 2
          for (int c = 0; c < C; ++c) run[c][v] += value * coef[q * C + c];
        });
      }
      add_to<C>(run, sum);
    }
    add_sums<C>(sum, 0, i, width);
  }

  // Columns c, ..., c + C - 1.
  template <int C>
  void add_stored(const T* values, int64_t count, int64_t j, int64_t c, int64_t i, int64_t width) {
    const T* coef = packed.coef.data() + j * packed.columns + c;
    Vec<T> sum[C][packed_vectors] = {};
    for (int64_t first = 0; first < count; first += run_points) {
      Vec<T> run[C][packed_vectors] = {};
      for (int64_t r = first; r < std::min(first + run_points, count); ++r)
#pragma GCC unroll 2
        for (int v = 0; v < packed_vectors; ++v) {
          const Vec<T> value = load<T>(values + r * W + v * lanes<T>);
#pragma GCC unroll 6
          for (int q = 0; q < C; ++q) run[q][v] += value * coef[r * packed.columns + q];
        }
      add_to<C>(run, sum);
    }
    add_sums<C>(sum, c, i, width);
  }

  template <int C>
  static void add_to(const Vec<T> (&run)[C][packed_vectors], Vec<T> (&sum)[C][packed_vectors]) {
    for (int q = 0; q < C; ++q)
      for (int v = 0; v < packed_vectors; ++v) sum[q][v] += run[q][v];
  }

  template <int C>
  void add_sums(const Vec<T> (&sum)[C][packed_vectors], int64_t c, int64_t i, int64_t width) {
    for (int q = 0; q < C; ++q)
#pragma GCC unroll 2
      for (int v = 0; v < packed_vectors; ++v) {
        alignas(64) T edge[lanes<T>];
        store<T>(edge, sum[q][v]);
        double* to = sums.data() + (c + q) * width + i + v * lanes<T>;
        for (int l = 0; l < lanes<T>; l += lanes<double>)
          store<double>(to + l, load<double>(to + l) + load_as<double>(edge + l));
      }
  }
};

// out[g][c][i] = sum over j in group g of coef[j][c] k(z_j, x_i) for the n rows of X. Returns
// whether all points, and all rows unless their h is asked for, are in range.
template <class T, class X>
bool packed_sums(const Packed<T>& packed, const X* rows, int64_t n, double* out, double* halves,
                 int threads) {
  if (!packed.moderate) return false;
  constexpr int64_t W = packed_width<T>;
  const bool many = n >= 2 * panels_together * W * threads;
  std::atomic<bool> finite{true};
  parallel(threads, n, many ? panels_together * W : W,
           PackedSums<T, X>{packed, rows, n, out, halves, finite});
  return finite || halves;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
