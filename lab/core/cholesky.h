// Cholesky's factor of a dense symmetric matrix, which the library takes from LAPACK.
#pragma once
#include <cmath>
#include <vector>

#include "vectors.h"

namespace maxmargin::MAXMARGIN_LEVEL {

inline double dot(const double* x, const double* y, int64_t n) {
  constexpr int L = lanes<double>;
  Vec<double> sum[4] = {};
  int64_t k = 0;
  for (; k + 4 * L <= n; k += 4 * L)
    for (int v = 0; v < 4; ++v) sum[v] += load(x + k + v * L) * load(y + k + v * L);
  const Vec<double> all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double total = 0;
  for (int l = 0; l < L; ++l) total += all[l];
  for (; k < n; ++k) total += x[k] * y[k];
  return total;
}

class Cholesky {
 public:
  // A = L L' of n rows, from the lower triangle of A, in its place.
  Cholesky(Aligned<double>&& matrix, int64_t n) : L(std::move(matrix)), n(n) {
    for (int64_t i = 0; i < n && definite; ++i) {
      double* row = &L[size_t(i * n)];
      for (int64_t j = 0; j < i; ++j)
        row[j] = (row[j] - dot(row, &L[size_t(j * n)], j)) / L[size_t(j * n + j)];
      const double pivot = row[i] - dot(row, row, i);
      definite = pivot > 0;
      row[i] = std::sqrt(pivot);
    }
  }
  bool exists() const { return definite; }

  // x <- A^-1 x
  void solve(double* x) const {
    for (int64_t i = 0; i < n; ++i)
      x[i] = (x[i] - dot(&L[size_t(i * n)], x, i)) / L[size_t(i * n + i)];
    for (int64_t i = n - 1; i >= 0; --i) {
      const double* row = &L[size_t(i * n)];
      x[i] /= row[i];
      for (int64_t j = 0; j < i; ++j) x[j] -= x[i] * row[j];
    }
  }

 private:
  Aligned<double> L;
  int64_t n;
  bool definite = true;
};

}  // namespace maxmargin::MAXMARGIN_LEVEL
