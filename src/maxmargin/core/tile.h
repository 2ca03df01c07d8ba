// Tiles of the kernel matrix k(A_j, B_i), j down, i along the SIMD lanes.
//
// A raw value (dot product, L1 distance or chi-squared distance) is accumulated over the features in their order, one
// multiply-add per feature, whatever the tile, the thread, the batch or the storage: absent entries of a sparse row add an
// exact zero. Therefore k(a, b) has the same bits wherever it is computed, and k(a, b) = k(b, a). Squared distances use norms
// accumulated the same way, so that equal points are at distance exactly 0.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "level.h"
#include "threads.h"
#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template <class T>
constexpr int tile_width = 2 * lanes<T>;
template <class T>
constexpr int chunk_width = 8 * tile_width<T>;  // columns packed together
constexpr int64_t chunk_rows = 480;             // rows of A packed together; a multiple of every panel_rows

// ---- packing: panels of `width` points, feature by feature -----------------------------------------------------------

template <class T>
void pack(const Selection<T>& S, int64_t begin, int64_t end, int width, T* panel) {
  const Points<T>& P = S.points;
  if (P.indptr || end - begin < width) std::fill(panel, panel + P.d * width, T(0));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = S.at(i);
    T* to = panel + (i - begin);
    if (P.indptr) {
      for (int64_t e = P.indptr[row]; e < P.indptr[row + 1]; ++e) to[int64_t(P.indices[e]) * width] = P.values[e];
    } else {
      const T* from = P.values + row * P.d;
      for (int64_t k = 0; k < P.d; ++k) to[k * width] = from[k];
    }
  }
}

// ---- raw values ------------------------------------------------------------------------------------------------------

struct Dot {
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) { return sum + b * a; }
};
struct AbsoluteDifference {
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    const Vec<T> d = b - a;
    return sum + (d < Vec<T>{} ? -d : d);
  }
};
struct ChiSquared {  // (a - b)^2 / (a + b), and 0 where both are 0
  template <class T>
  static Vec<T> add(Vec<T> sum, T a, Vec<T> b) {
    const Vec<T> d = b - a, s = b + a;
    return sum + (s == Vec<T>{} ? Vec<T>{} : d * d / s);
  }
};

template <class T, class Op>
inline void raw_tile(int64_t d, const T* a, const T* b, T* tile) {
  constexpr int L = lanes<T>, R = panel_rows, W = tile_width<T>;
  Vec<T> sum[R][2] = {};
  for (int64_t k = 0; k < d; ++k) {
    const Vec<T> b0 = load<T>(b + k * W), b1 = load<T>(b + k * W + L);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const T ar = a[k * R + r];
      sum[r][0] = Op::template add<T>(sum[r][0], ar, b0);
      sum[r][1] = Op::template add<T>(sum[r][1], ar, b1);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r) {
    store<T>(tile + r * W, sum[r][0]);
    store<T>(tile + r * W + L, sum[r][1]);
  }
}

// Dot products of one panel of A with sparse columns, at the cost of their non-zeros; the panel is padded to whole vectors.
template <class T>
inline void raw_sparse(const Selection<T>& B, int64_t begin, int64_t end, const T* a, T* tile) {
  constexpr int L = lanes<T>, R = tile_width<T>, W = tile_width<T>;
  const Points<T>& P = B.points;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = B.at(i);
    Vec<T> s0 = {}, s1 = {};
    for (int64_t e = P.indptr[row]; e < P.indptr[row + 1]; ++e) {
      const T* column = a + int64_t(P.indices[e]) * R;
      s0 = Dot::add<T>(s0, P.values[e], load<T>(column));
      s1 = Dot::add<T>(s1, P.values[e], load<T>(column + L));
    }
    for (int r = 0; r < L; ++r) tile[r * W + (i - begin)] = s0[r];
    for (int r = 0; r < L; ++r) tile[(r + L) * W + (i - begin)] = s1[r];
  }
}

// ---- the scalar maps -------------------------------------------------------------------------------------------------

template <class T>
inline Vec<T> power(Vec<T> base, int degree) {
  Vec<T> result = broadcast<T>(T(1));
  for (; degree > 0; degree >>= 1, base *= base)
    if (degree & 1) result *= base;
  return result;
}

template <class T>
inline Vec<T> map(const Kernel& kernel, Vec<T> raw, T norm_a, Vec<T> norm_b) {
  const T gamma = T(kernel.gamma), coef0 = T(kernel.coef0);
  switch (kernel.kind) {
    case Kind::linear: return raw;
    case Kind::poly: return power<T>(raw * gamma + coef0, kernel.degree);
    case Kind::rbf: {
      const Vec<T> squared = (norm_b + norm_a) - T(2) * raw;
      return vexp<T>((squared < Vec<T>{} ? Vec<T>{} : squared) * -gamma);
    }
    case Kind::tanh: {
      Vec<T> value = raw * gamma + coef0;
      for (int l = 0; l < lanes<T>; ++l) value[l] = std::tanh(value[l]);
      return value;
    }
    case Kind::logistic: return T(1) / (T(1) + vexp<T>(-(raw * gamma + coef0)));
    default: return vexp<T>(raw * -gamma);  // laplacian, chi2
  }
}

// ---- the walk over all tiles -----------------------------------------------------------------------------------------

// Calls sink(tile, first row, rows, first column, columns) for every tile of k(A, B); rows arrive in order for each column.
// Returns whether all values are finite.
template <class T, class Sink>
bool walk(const Kernel& kernel, const Selection<T>& A, const Selection<T>& B, int threads, const Sink& sink) {
  constexpr int W = tile_width<T>;
  const bool distance = kernel.kind == Kind::laplacian || kernel.kind == Kind::chi2;
  const bool sparse = B.points.indptr && !distance;
  const int R = sparse ? W : panel_rows;
  const int64_t d = A.points.d;
  std::atomic<bool> finite{true};
  const int64_t rows_at_once = std::max<int64_t>(R, chunk_rows / R * R);
  const int64_t panels_at_once = (std::min(rows_at_once, A.size) + R - 1) / R;
  std::unique_ptr<T[]> panels(new T[size_t(panels_at_once * R * d + 1)]);
  std::vector<T> norms(size_t(panels_at_once * R), T(0));

  for (int64_t first = 0; first < A.size; first += rows_at_once) {
    const int64_t last = std::min(A.size, first + rows_at_once);
    parallel(threads, last - first, R, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j += R) {
        pack(A, first + j, first + std::min(j + R, end), R, panels.get() + j * d);
        if (A.points.norms)
          for (int64_t r = j; r < std::min(j + R, end); ++r) norms[size_t(r)] = A.points.norms[A.at(first + r)];
      }
    });
    parallel(threads, B.size, chunk_width<T>, [&](int64_t begin, int64_t end) {
      std::unique_ptr<T[]> chunk(new T[size_t(sparse ? 1 : d * chunk_width<T> + 1)]);
      alignas(64) T tile[std::max(panel_rows, W) * W], norm_b[chunk_width<T>] = {};
      Vec<T> zero = {};
      for (int64_t c = begin; c < end; c += chunk_width<T>) {
        const int64_t stop = std::min(end, c + chunk_width<T>);
        for (int64_t i = c; i < stop; ++i) {
          if (!sparse && (i - c) % W == 0) pack(B, i, std::min(i + W, stop), W, chunk.get() + (i - c) * d);
          if (B.points.norms) norm_b[i - c] = B.points.norms[B.at(i)];
        }
        for (int64_t j = first; j < last; j += R) {
          const T* panel = panels.get() + (j - first) * d;
          const int64_t rows = std::min<int64_t>(R, last - j);
          for (int64_t i = c; i < stop; i += W) {
            const T* columns = chunk.get() + (i - c) * d;
            if (sparse) raw_sparse<T>(B, i, std::min(i + W, stop), panel, tile);
            else if (kernel.kind == Kind::laplacian) raw_tile<T, AbsoluteDifference>(d, panel, columns, tile);
            else if (kernel.kind == Kind::chi2) raw_tile<T, ChiSquared>(d, panel, columns, tile);
            else raw_tile<T, Dot>(d, panel, columns, tile);
            for (int64_t r = 0; r < rows; ++r)
              for (int v = 0; v < W; v += lanes<T>) {
                T* at = tile + r * W + v;
                const Vec<T> value = map<T>(kernel, load<T>(at), norms[size_t(j - first + r)], load<T>(norm_b + (i - c) + v));
                store<T>(at, value);
                if (i + v + lanes<T> <= stop) zero += value - value;  // NaN once a value is not finite
                else for (int64_t l = 0; i + v + l < stop; ++l) zero[0] += value[l] - value[l];
              }
            sink(tile, j, rows, i, std::min<int64_t>(W, stop - i));
          }
        }
      }
      for (int l = 0; l < lanes<T>; ++l)
        if (zero[l] != zero[l]) finite = false;
    });
  }
  return finite;
}

// ---- what the core offers --------------------------------------------------------------------------------------------

template <class T>
void norms(const Points<T>& P, T* out) {
  const Selection<T> all{P, nullptr, P.n};
  constexpr int W = tile_width<T>, L = lanes<T>;
  std::unique_ptr<T[]> panel(new T[size_t(P.d * W + 1)]);
  for (int64_t i = 0; i < P.n; i += W) {
    const int64_t stop = std::min(P.n, i + W);
    pack(all, i, stop, W, panel.get());
    Vec<T> s0 = {}, s1 = {};
    for (int64_t k = 0; k < P.d; ++k) {
      const Vec<T> x0 = load<T>(panel.get() + k * W), x1 = load<T>(panel.get() + k * W + L);
      s0 = s0 + x0 * x0;
      s1 = s1 + x1 * x1;
    }
    for (int64_t l = 0; i + l < stop; ++l) out[i + l] = l < L ? s0[l] : s1[l - L];
  }
}

// Row j of k(A, B) goes to out[slots[j]], or to out[j] where no slots are given.
template <class T>
bool kernel_block(const Kernel& kernel, const Selection<T>& A, const Selection<T>& B, T* out, const int64_t* slots, int threads) {
  constexpr int W = tile_width<T>;
  return walk<T>(kernel, A, B, threads, [&](const T* tile, int64_t j, int64_t rows, int64_t i, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t slot = slots ? slots[j + r] : j + r;
      std::memcpy(out + slot * B.size + i, tile + r * W, size_t(columns) * sizeof(T));
    }
  });
}

// out[c][i] += sum over j, in order, of coef[j][c] k(A_j, B_i)
template <class T>
bool kernel_matvec(const Kernel& kernel, const Selection<T>& A, const double* coef, int64_t columns, const Selection<T>& B,
                   double* out, int threads) {
  constexpr int W = tile_width<T>;
  return walk<T>(kernel, A, B, threads, [&](const T* tile, int64_t j, int64_t rows, int64_t i, int64_t width) {
    for (int64_t c = 0; c < columns; ++c) {
      double sum[W];
      double* to = out + c * B.size + i;
      for (int64_t l = 0; l < W; ++l) sum[l] = l < width ? to[l] : 0;
      for (int64_t r = 0; r < rows; ++r) {
        const double weight = coef[(j + r) * columns + c];
        if (weight != 0)
          for (int l = 0; l < W; ++l) sum[l] += weight * double(tile[r * W + l]);
      }
      for (int64_t l = 0; l < width; ++l) to[l] = sum[l];
    }
  });
}

// F[i] += sum over s, in order, of delta[s] rows[slots[s]][i]
template <class T>
void update_gradient(const T* rows, int64_t row_length, const int64_t* slots, const double* delta, int64_t count, double* F,
                     int threads) {
  constexpr int64_t strip = 256;
  parallel(threads, row_length, strip, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += strip) {
      const int64_t width = std::min(strip, end - i);
      double sum[strip];
      std::copy(F + i, F + i + width, sum);
      for (int64_t s = 0; s < count; ++s) {
        const T* row = rows + slots[s] * row_length + i;
        const double weight = delta[s];
        for (int64_t l = 0; l < width; ++l) sum[l] += weight * double(row[l]);
      }
      std::copy(sum, sum + width, F + i);
    }
  });
}

template <class T>
void gather(const T* rows, int64_t row_length, const int64_t* slots, int64_t count, const int64_t* columns, int64_t width,
            T* out, int threads) {
  parallel(threads, count, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = rows + slots[r] * row_length;
      for (int64_t c = 0; c < width; ++c) out[r * width + c] = row[columns[c]];
    }
  });
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
