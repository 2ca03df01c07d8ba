// Tiles of the kernel matrix k(A_j, B_i), j down, i along the SIMD lanes: raw values, mapped while
// they are in the cache, then given to a sink, which stores them or multiplies them with
// coefficients.
#pragma once
#include <atomic>
#include <limits>
#include <type_traits>
#include <vector>

#include "maps.h"
#include "raw.h"
#include "threads.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template <class T>
constexpr int chunk_width = 8 * dense_width<T>;  // points of B packed together, at most
constexpr int64_t dense_rows = 4 * panel_rows;   // of a tile of packed points

// Points of A packed together, a multiple of dense_rows: a megabyte of them, which a second-level
// cache holds.
template <class T>
int64_t chunk_rows(int64_t d) {
  constexpr int64_t least = 480, megabyte = int64_t(1) << 20;
  return least *
         std::max<int64_t>(1, megabyte / (int64_t(sizeof(T)) * std::max<int64_t>(1, d) * least));
}

template <class T>
bool norms_are_moderate(const Selection<T>& S) {
  bool moderate = true;
  for (int64_t i = 0; i < S.size; ++i)
    moderate &= S.points.norms[S.at(i)] < std::numeric_limits<T>::max() / 8;
  return moderate;
}

// What a thread owns: the panel of B's points and their norms, and whether all values were finite.
template <class T, class Map, class Sink>
struct Columns {
  const Map& map;
  const Selection<T>&A, &B;
  const bool symmetric;  // A = B: tiles wholly below the diagonal are left out
  const Sink& sink;
  std::atomic<bool>& finite;
  Aligned<T> panel = {}, norms = {};

  void load_panels(int64_t begin, int64_t end, int64_t width, int64_t at_once) {
    panel.resize(size_t(A.points.d * at_once + 1), T(0));
    norms.assign(size_t(at_once), T(0));
    for (int64_t i = begin; i < end; ++i) norms[size_t(i - begin)] = B.points.norms[B.at(i)];
    for (int64_t i = begin; i < end; i += width)
      pack(B, i, std::min(i + width, end), int(width), panel.data() + (i - begin) * A.points.d);
  }
  void clear_panels(int64_t begin, int64_t end, int64_t width) {
    for (int64_t i = begin; i < end; i += width)
      clear(B, i, std::min(i + width, end), int(width), panel.data() + (i - begin) * A.points.d);
  }
  // Rows from j on, at most `most`, that are not wholly left of the diagonal of columns i, i + 1,
  // ..., i + width - 1.
  int64_t rows_needed(int64_t j, int64_t most, int64_t i, int64_t width) const {
    return symmetric ? std::min(most, i + width - j) : most;
  }

  // Map a tile of raw values of rows j, j + 1, ... and columns i, i + 1, ..., and give it away.
  template <int W>
  void finish(T* tile, int64_t j, int64_t rows, const T* norm_b, int64_t i, int64_t width) {
    Vec<T> zero = {};  // NaN once a value is not finite
    for (int64_t r = 0; r < rows; ++r) {
      const T norm_a = A.points.norms[A.at(j + r)];
#pragma GCC unroll 4
      for (int v = 0; v < W; v += lanes<T>) {
        T* at = tile + r * W + v;
        const Vec<T> value = map(load<T>(at), norm_a, load<T>(norm_b + v));
        store<T>(at, value);
        if (Map::bounded) continue;
        if (v + lanes<T> <= width) zero += value - value;
        else
          for (int64_t l = 0; v + l < width; ++l) zero[0] += value[l] - value[l];
      }
    }
    if (!Map::bounded)
      for (int l = 0; l < lanes<T>; ++l)
        if (zero[l] != zero[l]) finite = false;
    sink.template take<W>(tile, j, rows, i, width);
  }
};

// Columns [begin, end) against all sparse rows of A.
template <class T, int V, class Map, class Sink>
struct SparseRows {
  Columns<T, Map, Sink> columns;
  void operator()(int64_t begin, int64_t end) {
    constexpr int W = V * lanes<T>, R = sparse_rows;
    alignas(64) T tile[R * W];
    const Selection<T>& A = columns.A;
    columns.load_panels(begin, end, W, W);
    for (int64_t j = 0; j < A.size; j += R) {
      const int64_t rows =
          columns.rows_needed(j, std::min<int64_t>(R, A.size - j), begin, end - begin);
      if (rows <= 0) break;
      raw_sparse<T, V>(A, j, j + rows, columns.panel.data(), tile);
      columns.template finish<W>(tile, j, rows, columns.norms.data(), begin, end - begin);
    }
    columns.clear_panels(begin, end, W);
  }
};

// Columns [begin, end) against the packed rows [first, last) of A, panel_rows of them in a panel.
template <class T, class Map, class Sink>
struct DenseRows {
  Columns<T, Map, Sink> columns;
  T* panels;
  int64_t first = 0, last = 0;

  template <class Act>
  void each_panel(Team& team, const Act& act) {
    team.each(last - first, 4 * panel_rows, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j += panel_rows)
        act(columns.A, first + j, first + std::min<int64_t>(j + panel_rows, end), panel_rows,
            panels + j * columns.A.points.d);
    });
  }
  void operator()(int64_t begin, int64_t end) {
    constexpr int W = dense_width<T>;
    alignas(64) T tile[dense_rows * W];
    const int64_t d = columns.A.points.d;
    columns.load_panels(begin, end, W, chunk_width<T>);
    for (int64_t j = first; j < last; j += dense_rows)
      for (int64_t i = begin; i < end; i += W) {
        const int64_t width = std::min<int64_t>(W, end - i),
                      rows = columns.rows_needed(j, std::min(dense_rows, last - j), i, width);
        for (int64_t r = 0; r < rows; r += panel_rows)
          raw_dense<T, typename Map::Op>(d, panels + (j + r - first) * d,
                                         columns.panel.data() + (i - begin) * d, tile + r * W);
        if (rows <= 0) continue;
        columns.template finish<W>(tile, j, rows, columns.norms.data() + (i - begin), i, width);
      }
    columns.clear_panels(begin, end, W);
  }
};

// Every tile of k(A, B) to the sink; rows arrive in order for each column. Returns whether all
// values are finite.
template <class T, class Map, class Sink>
bool walk(const Map& map, const Selection<T>& A, const Selection<T>& B, bool symmetric, int threads,
          const Sink& sink) {
  if (Map::bounded && !(norms_are_moderate(A) && norms_are_moderate(B))) return false;
  std::atomic<bool> finite{true};
  const Columns<T, Map, Sink> columns{map, A, B, symmetric, sink, finite};
  if (A.points.indptr && std::is_same<typename Map::Op, Dot>::value) {
    on_team(team_size(threads, B.size, sparse_vectors * lanes<T>), [&](Team& team) {
      if (B.size <= lanes<T>) team.each(B.size, lanes<T>, SparseRows<T, 1, Map, Sink>{columns});
      else
        team.each(B.size, sparse_vectors * lanes<T>,
                  SparseRows<T, sparse_vectors, Map, Sink>{columns});
      sink.finish(team);
    });
    return finite;
  }
  const int64_t at_once = chunk_rows<T>(A.points.d),
                panels_at_once = (std::min(at_once, A.size) + panel_rows - 1) / panel_rows;
  Aligned<T> panels(size_t(panels_at_once * panel_rows * A.points.d + 1), T(0));
  const int64_t width = even_grain(threads, B.size, dense_width<T>, chunk_width<T>);
  on_team(team_size(threads, B.size, width), [&](Team& team) {
    DenseRows<T, Map, Sink> rows{columns, panels.data()};
    for (; rows.first < A.size; rows.first += at_once) {
      rows.last = std::min(A.size, rows.first + at_once);
      rows.each_panel(team, pack<T>);
      team.each(B.size, width, rows);
      rows.each_panel(team, clear<T>);
    }
    sink.finish(team);
  });
  return finite;
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
