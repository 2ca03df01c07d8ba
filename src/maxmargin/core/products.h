// Blocks of kernel matrices, products with them, and work on stored rows.
#pragma once
#include <algorithm>
#include <cstring>

#include "tile.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// The part below the diagonal from the part above it, by small squares: read whole, turned in the
// first-level cache, written whole.
template <class T>
void mirror(T* out, int64_t n, Team& team) {
  constexpr int64_t side = 16;
  team.each(n, 4 * side, [&](int64_t begin, int64_t end) {
    T square[side * side];
    for (int64_t p = begin; p < end; p += side) {
      const int64_t height = std::min(side, end - p);
      for (int64_t q = 0; q < p; q += side) {
        for (int64_t l = 0; l < side; ++l)
          std::memcpy(square + l * side, out + (q + l) * n + p, size_t(height) * sizeof(T));
        for (int64_t r = 0; r < height; ++r)
          for (int64_t l = 0; l < side; ++l) out[(p + r) * n + q + l] = square[l * side + r];
      }
      for (int64_t r = p; r < p + height; ++r)
        for (int64_t l = p; l < r; ++l) out[r * n + l] = out[l * n + r];
    }
  });
}

// Columns `places` of a symmetric n x n matrix from its rows of these numbers, which are in order.
template <class T>
void mirror_rows(T* matrix, int64_t n, const int64_t* places, int64_t count, int threads) {
  constexpr int64_t side = 8;  // rows written side by side: those of a place are then one line
  parallel(threads, n, side, [&](int64_t begin, int64_t end) {
    int64_t others[side], height = 0;  // rows that are not of a place: others read those
    for (int64_t r = begin; r < end; ++r)
      if (!std::binary_search(places, places + count, r)) others[height++] = r;
    for (int64_t j = 0; j < count; ++j) {
      const T* row = matrix + places[j] * n;
      for (int64_t k = 0; k < height; ++k) matrix[others[k] * n + places[j]] = row[others[k]];
    }
  });
}

// Row j goes to out[slots[j]], or to out[j] where no slots are given.
template <class T>
struct Store {
  T* out;
  int64_t row_length;
  const int64_t* slots;
  bool symmetric;

  void finish(Team& team) const {
    if (symmetric) mirror(out, row_length, team);
  }
  template <int W>
  void take(const T* tile, int64_t j, int64_t rows, int64_t i, int64_t width) const {
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(out + (slots ? slots[j + r] : j + r) * row_length + i, tile + r * W,
                  size_t(width) * sizeof(T));
  }
};

template <class T>
bool kernel_block(const Kernel& kernel, const Selection<T>& A, const Selection<T>& B, T* out,
                  const int64_t* slots, bool symmetric, int threads) {
  const Store<T> store{out, B.size, slots, symmetric};
  return with_map<T>(kernel,
                     [&](const auto& map) { return walk(map, A, B, symmetric, threads, store); });
}

// out[c][i] += sum over j, in order, of coef[j][c] k(A_j, B_i)
//
// Sums of double coefficients continue those of the tiles before. Sums of float coefficients are
// float over runs of run_rows rows and, again in float, over the runs of a tile; the tiles' are
// added to out in double: no term is rounded more than longest_run times, however many.
constexpr int64_t run_rows = 16, longest_run = 20;
static_assert(std::max<int64_t>(dense_rows, sparse_rows) <= run_rows * (longest_run - run_rows),
              "rounding.py counts on it");

template <class T, class S>
struct Multiply {
  const S* coef;
  int64_t columns;
  double* out;
  int64_t row_length;

  void finish(Team&) const {}
  template <int W>
  void take(const T* tile, int64_t j, int64_t rows, int64_t i, int64_t width) const {
    // Registers for sums: of a tile, or of a tile and of a run.
    constexpr int registers =
        (vector_bytes == 64 ? 16 : 8) / (std::is_same<S, double>::value ? 1 : 2);
    constexpr int most = registers * lanes<S> / W;  // columns whose sums fit
    int64_t c = 0;
    for (; columns - c >= 8 && most >= 8; c += 8) add<W, 8>(tile, j, rows, i, width, c);
    for (; columns - c >= 4 && most >= 4; c += 4) add<W, 4>(tile, j, rows, i, width, c);
    for (; columns - c >= 2 && most >= 2; c += 2) add<W, 2>(tile, j, rows, i, width, c);
    for (; columns - c >= 1; ++c) add<W, 1>(tile, j, rows, i, width, c);
  }

  // Columns c, ..., c + C - 1.
  template <int W, int C>
  void add(const T* tile, int64_t j, int64_t rows, int64_t i, int64_t width, int64_t c) const {
    constexpr int L = lanes<S>, V = W / L;
    constexpr bool continues = std::is_same<S, double>::value;
    Vec<S> sum[C][V] = {};
    alignas(64) S edge[W] = {};
    if (continues)
      for (int q = 0; q < C; ++q) {
        std::copy(at(c + q, i), at(c + q, i) + width, edge);
        for (int v = 0; v < V; ++v) sum[q][v] = load<S>(edge + v * L);
      }
    const S* weight = coef + j * columns + c;
    const auto add_rows = [&](int64_t begin, int64_t end, Vec<S>(&to)[C][V]) {
      for (int64_t r = begin; r < end; ++r, weight += columns)
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) {
          const Vec<S> value = load_as<S>(tile + r * W + v * L);
#pragma GCC unroll 8
          for (int q = 0; q < C; ++q) to[q][v] += value * weight[q];
        }
    };
    if (continues) add_rows(0, rows, sum);
    for (int64_t r = 0; !continues && r < rows; r += run_rows) {
      Vec<S> run[C][V] = {};
      add_rows(r, std::min(rows, r + run_rows), run);
      for (int q = 0; q < C; ++q)
        for (int v = 0; v < V; ++v) sum[q][v] += run[q][v];
    }
    for (int q = 0; q < C; ++q) {
      for (int v = 0; v < V; ++v) store<S>(edge + v * L, sum[q][v]);
      double* to = at(c + q, i);
      for (int64_t l = 0; l < width; ++l) to[l] = continues ? edge[l] : to[l] + edge[l];
    }
  }
  double* at(int64_t c, int64_t i) const { return out + c * row_length + i; }
};

template <class T, class S>
bool kernel_product(const Kernel& kernel, const Selection<T>& A, const S* coef, int64_t columns,
                    const Selection<T>& B, double* out, int threads) {
  const Multiply<T, S> multiply{coef, columns, out, B.size};
  return with_map<T>(kernel,
                     [&](const auto& map) { return walk(map, A, B, false, threads, multiply); });
}

// Ask for some values before they are needed.
template <class T>
void fetch_ahead(const T* values, int64_t count) {
  constexpr int64_t line = 64 / sizeof(T);
  for (int64_t l = 0; l < count; l += line) __builtin_prefetch(values + l);
}

// F[i] += sum over s, in order, of delta[s] rows[slots[s]][i], four rows at a time. Rows lie apart
// in memory, where no processor foresees the next ones: they are fetched ahead.
template <class T>
void update_gradient(const T* rows, int64_t row_length, const int64_t* slots, const double* delta,
                     int64_t count, double* F, int threads) {
  constexpr int64_t strip = 512;
  const int64_t grain = even_grain(threads, row_length, 64, strip);
  parallel(threads, row_length, grain, [&](int64_t begin, int64_t end) {
    double sum[strip];
    const int64_t width = end - begin;
    const auto row = [&](int64_t s) { return rows + slots[s] * row_length + begin; };
    std::copy(F + begin, F + end, sum);
    int64_t s = 0;
    for (; s + 4 <= count; s += 4) {
      for (int64_t next = s + 4; next < std::min(s + 8, count); ++next)
        fetch_ahead(row(next), width);
      const T *r0 = row(s), *r1 = row(s + 1), *r2 = row(s + 2), *r3 = row(s + 3);
      const double d0 = delta[s], d1 = delta[s + 1], d2 = delta[s + 2], d3 = delta[s + 3];
      for (int64_t l = 0; l < width; ++l) {
        double value = sum[l] + d0 * double(r0[l]);
        value += d1 * double(r1[l]);
        value += d2 * double(r2[l]);
        sum[l] = value + d3 * double(r3[l]);
      }
    }
    for (; s < count; ++s)
      for (int64_t l = 0; l < width; ++l) sum[l] += delta[s] * double(row(s)[l]);
    std::copy(sum, sum + width, F + begin);
  });
}

template <class T>
void gather(const T* rows, int64_t row_length, const int64_t* slots, int64_t count,
            const int64_t* columns, int64_t width, T* out, int threads) {
  parallel(threads, count, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = rows + slots[r] * row_length;
      for (int64_t c = 0; c < width; ++c) out[r * width + c] = row[columns[c]];
    }
  });
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
