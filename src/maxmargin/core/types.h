// What all algorithms share: kernels, points, selections of points. Nothing here depends on an
// instruction level.
#pragma once
#include <cstddef>
#include <cstdint>

namespace maxmargin {

// The scalar maps that reach the core. Their numbers are those of maxmargin.kernel.kernels.Kind;
// the last is RBF with distances by differences (cpu.py: RBF_BY_DIFFERENCES).
enum class Kind : int {
  linear = 0,
  poly = 1,
  rbf = 2,
  tanh = 3,
  logistic = 4,
  laplacian = 5,
  chi2 = 6,
  rbf_by_differences = 7
};

struct Kernel {
  Kind kind;
  double gamma, coef0;
  int degree;
};

// n points of dimension d, dense row-major (values, no indptr) or CSR (sorted columns, no
// duplicates).
template <class T>
struct Points {
  int64_t n, d;
  const T* values;
  const int64_t* indptr;   // null: dense
  const int32_t* indices;  // null: dense
  const T* norms;          // squared norms, from norms() in raw.h
};

// A selection of points: all of them (index is null, size is n), or those listed.
template <class T>
struct Selection {
  Points<T> points;
  const int64_t* index;
  int64_t size;
  int64_t at(int64_t i) const { return index ? index[i] : i; }
};

}  // namespace maxmargin
