// Products with the data matrix X itself, for linear models: values of float32 or float64, all sums
// in float64.
//
// A sum over samples is taken over strips of them, as many as the data, not the threads, say, and
// the strips are added in order.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "threads.h"
#include "types.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template <class T>
inline double dot(const Points<T>& X, int64_t i, const double* w) {
  if (X.indptr) {
    double even = 0, odd = 0;
    int64_t k = X.indptr[i];
    const int64_t end = X.indptr[i + 1];
    for (; k + 1 < end; k += 2) {
      even += double(X.values[k]) * w[X.indices[k]];
      odd += double(X.values[k + 1]) * w[X.indices[k + 1]];
    }
    if (k < end) even += double(X.values[k]) * w[X.indices[k]];
    return even + odd;
  }
  constexpr int width = lanes<double>;
  const T* x = X.values + i * X.d;
  Vec<double> first = {}, second = {};
  int64_t k = 0;
  for (; k + 2 * width <= X.d; k += 2 * width) {
    first += load_as<double>(x + k) * load<double>(w + k);
    second += load_as<double>(x + k + width) * load<double>(w + k + width);
  }
  if (k + width <= X.d) first += load_as<double>(x + k) * load<double>(w + k), k += width;
  first += second;
  double sum = 0;
  for (; k < X.d; ++k) sum += double(x[k]) * w[k];
  for (int l = 0; l < width; ++l) sum += first[l];
  return sum;
}

template <class T>
inline void add(const Points<T>& X, int64_t i, double coef, double* out) {
  if (X.indptr) {
    for (int64_t k = X.indptr[i]; k < X.indptr[i + 1]; ++k)
      out[X.indices[k]] += coef * double(X.values[k]);
    return;
  }
  const T* x = X.values + i * X.d;
  for (int64_t k = 0; k < X.d; ++k) out[k] += coef * double(x[k]);
}

template <class T>
void linear_values(const Selection<T>& A, const double* w, double* out, int threads) {
  parallel(threads, A.size, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = dot(A.points, A.at(i), w);
  });
}

template <class T>
void linear_squares(const Points<T>& X, double* out, int threads) {
  parallel(threads, X.n, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0;
      const int64_t last = X.indptr ? X.indptr[i + 1] : (i + 1) * X.d;
      for (int64_t k = X.indptr ? X.indptr[i] : i * X.d; k < last; ++k)
        sum += double(X.values[k]) * double(X.values[k]);
      out[i] = sum;
    }
  });
}

constexpr int64_t most_strips = 16;

constexpr int64_t values_of_strip = 1 << 16;
constexpr int64_t values_for_weight = 4;  // of a strip: adding up its sums must cost little beside

// How many strips a sum over these samples has: as many as their number and their values say.
template <class T>
int64_t strips_of(const Selection<T>& A) {
  const Points<T>& X = A.points;
  const int64_t values = X.indptr ? X.indptr[X.n] : X.n * X.d,
                mine = int64_t(double(values) * double(A.size) / double(std::max<int64_t>(1, X.n))),
                least = std::max(values_of_strip, values_for_weight * X.d);
  return std::clamp<int64_t>(std::min(mine / least, A.size), 1, most_strips);
}

// out = the sum over strips of what work(begin, end, sums) adds to the d sums of a strip.
template <class T, class Work>
void sum_strips(const Selection<T>& A, double* out, int threads, Work work) {
  const int64_t d = A.points.d, strips = strips_of(A), length = pieces_of(A.size, strips);
  Aligned<double> sums(size_t((strips - 1) * d), 0.0);
  std::fill(out, out + d, 0.0);
  on_team(team_size(threads, strips, 1), [&](Team& team) {
    team.each(strips, 1, [&](int64_t strip, int64_t) {
      work(strip * length, std::min(A.size, (strip + 1) * length),
           strip == 0 ? out : sums.data() + (strip - 1) * d);
    });
    if (strips > 1)
      team.each(d, 4096, [&](int64_t begin, int64_t end) {
        for (int64_t strip = 0; strip + 1 < strips; ++strip) {
          const double* some = sums.data() + strip * d;
          for (int64_t k = begin; k < end; ++k) out[k] += some[k];
        }
      });
  });
}

// out = sum_i coef_i x_i
template <class T>
void linear_sum(const Selection<T>& A, const double* coef, double* out, int threads) {
  const int64_t d = A.points.d;
  sum_strips(A, out, threads, [&](int64_t i, int64_t end, double* mine) {
    if (!A.points.indptr)
      for (; i + 4 <= end; i += 4) {  // four samples at a time: the sums are read and written once
        const T *x0 = A.points.values + A.at(i) * d, *x1 = A.points.values + A.at(i + 1) * d;
        const T *x2 = A.points.values + A.at(i + 2) * d, *x3 = A.points.values + A.at(i + 3) * d;
        const double c0 = coef[i], c1 = coef[i + 1], c2 = coef[i + 2], c3 = coef[i + 3];
#pragma GCC ivdep  // the sums are nobody else's
        for (int64_t k = 0; k < d; ++k)
          mine[k] +=
              (c0 * double(x0[k]) + c1 * double(x1[k])) + (c2 * double(x2[k]) + c3 * double(x3[k]));
      }
    for (; i < end; ++i)
      if (coef[i] != 0) add(A.points, A.at(i), coef[i], mine);
  });
}

// out = sum_i weight_i (x_i . u + shift) x_i, which reads each sample once; step_i = weight_i times
// the bracket.
template <class T>
void linear_hessian(const Selection<T>& A, const double* weight, const double* u, double shift,
                    double* step, double* out, int threads) {
  sum_strips(A, out, threads, [&](int64_t i, int64_t end, double* mine) {
    for (; i < end; ++i) {
      step[i] = weight[i] * (dot(A.points, A.at(i), u) + shift);
      if (step[i] != 0) add(A.points, A.at(i), step[i], mine);
    }
  });
}

// out_j = sum_i weight_i x_ij^2
template <class T>
void linear_diagonal(const Selection<T>& A, const double* weight, double* out, int threads) {
  const Points<T>& X = A.points;
  sum_strips(A, out, threads, [&](int64_t k, int64_t end, double* mine) {
    for (; k < end; ++k) {
      const int64_t i = A.at(k), begin = X.indptr ? X.indptr[i] : i * X.d,
                    last = X.indptr ? X.indptr[i + 1] : (i + 1) * X.d;
      for (int64_t v = begin; v < last; ++v)
        mine[X.indptr ? X.indices[v] : v - begin] +=
            weight[k] * double(X.values[v]) * double(X.values[v]);
    }
  });
}

// The upper triangle of H += Z'Z for a block of rows Z, `wide` numbers each, zeros beyond the d-th.
template <int rows_of_tile>
inline void rank_update(const double* Z, int64_t rows, int64_t wide, double* H) {
  constexpr int width = lanes<double>, columns_of_tile = 2 * width;
  for (int64_t i = 0; i < wide; i += rows_of_tile)
    for (int64_t j = i / columns_of_tile * columns_of_tile; j < wide; j += columns_of_tile) {
      Vec<double> sums[rows_of_tile][2];
      for (int a = 0; a < rows_of_tile; ++a)
        for (int b = 0; b < 2; ++b) sums[a][b] = load<double>(H + (i + a) * wide + j + b * width);
      for (int64_t r = 0; r < rows; ++r) {
        const double* z = Z + r * wide;
        const Vec<double> left = load<double>(z + j), right = load<double>(z + j + width);
#pragma GCC unroll 8
        for (int a = 0; a < rows_of_tile; ++a) {
          const Vec<double> factor = broadcast<double>(z[i + a]);
          sums[a][0] += factor * left;
          sums[a][1] += factor * right;
        }
      }
      for (int a = 0; a < rows_of_tile; ++a)
        for (int b = 0; b < 2; ++b) store<double>(H + (i + a) * wide + j + b * width, sums[a][b]);
    }
}

// out = sum_i weight_i x_i x_i', weights >= 0. Rows with few non-zeros are added entry by entry,
// others in blocks that stay in the cache.
template <class T>
void gram(const Selection<T>& A, const double* weight, double* out, int threads) {
  constexpr int tile = 8;
  constexpr int64_t pad = 2 * lanes<double> > tile ? 2 * lanes<double> : tile;
  const Points<T>& X = A.points;
  const int64_t d = X.d, wide = pieces_of(d, pad) * pad, size = wide * wide;
  const int64_t strips =
      std::clamp<int64_t>(std::min<int64_t>((1 << 23) / size, A.size / 512), 1, most_strips);
  const int64_t strips_used = A.size >= 1024 ? std::max<int64_t>(strips, 4) : strips,
                length = pieces_of(A.size, strips_used);
  const int64_t block = std::clamp<int64_t>(32768 / wide, 16, 512);
  Aligned<double> sums(size_t(strips_used * size), 0.0);
  parallel(threads, strips_used, 1, [&](int64_t strip, int64_t) {
    double* H = sums.data() + strip * size;
    const int64_t end = std::min(A.size, (strip + 1) * length);
    Aligned<double> Z(size_t(block * wide), 0.0);
    int64_t filled = 0;
    for (int64_t k = strip * length; k < end; ++k) {
      const int64_t i = A.at(k);
      if (weight[k] == 0) continue;
      if (X.indptr && (X.indptr[i + 1] - X.indptr[i]) * 8 < d) {
        for (int64_t a = X.indptr[i]; a < X.indptr[i + 1]; ++a) {
          const double factor = weight[k] * double(X.values[a]);
          double* row = H + int64_t(X.indices[a]) * wide;
          for (int64_t b = a; b < X.indptr[i + 1]; ++b)
            row[X.indices[b]] += factor * double(X.values[b]);
        }
        continue;
      }
      const double root = std::sqrt(weight[k]);
      double* z = Z.data() + filled * wide;
      std::fill(z, z + wide, 0.0);
      add(X, i, root, z);
      if (++filled == block) rank_update<tile>(Z.data(), filled, wide, H), filled = 0;
    }
    rank_update<tile>(Z.data(), filled, wide, H);
  });
  for (int64_t strip = 1; strip < strips_used; ++strip)
    for (int64_t k = 0; k < size; ++k) sums[size_t(k)] += sums[size_t(strip * size + k)];
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i; j < d; ++j) out[i * d + j] = out[j * d + i] = sums[size_t(i * wide + j)];
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
