// A set of points as Python holds it, selections of its points, and kernels as Python names them.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "binding.h"
#include "raw.h"

namespace maxmargin::MAXMARGIN_LEVEL {

namespace hot = maxmargin::MAXMARGIN_LEVEL;  // hot::f is the core's function, f the binding of it

// Owns the arrays of one set of points, or references to those of Python. Whoever makes one has
// checked every index in it.
template <class T>
struct PointsHolder {
  Array<T> values;
  std::optional<Array<int64_t>> indptr;
  std::optional<Array<int32_t>> indices;
  std::vector<T> norms;
  Points<T> view;
  int64_t terms = 0;                // the most terms in a dot product
  std::unique_ptr<T[]> own_values;  // of points that C++ made
  std::vector<int64_t> own_indptr;
  std::unique_ptr<int32_t[]> own_indices;

  void finish() {
    norms.resize(size_t(view.n));
    terms = view.indptr ? 0 : view.d;
    for (int64_t i = 0; view.indptr && i < view.n; ++i)
      terms = std::max(terms, view.indptr[i + 1] - view.indptr[i]);
    nb::gil_scoped_release release;
    hot::norms(view, norms.data());
    view.norms = norms.data();
  }
};

template <class T>
Selection<T> select(const PointsHolder<T>& points, const Index& index) {
  if (!index) return {points.view, nullptr, points.view.n};
  require(index->ndim() == 1, "index: a 1-d array is needed");
  const int64_t size = int64_t(index->shape(0));
  check_range(index->data(), size_t(size), points.view.n, "index: out of range");
  return {points.view, index->data(), size};
}

using KernelTuple = std::tuple<int, double, double, int>;

inline Kernel kernel_of(const KernelTuple& k) {
  const auto [kind, gamma, coef0, degree] = k;
  require(kind >= 0 && kind <= int(Kind::rbf_by_differences) && degree >= 0,
          "kernel: unknown kind or negative degree");
  return {Kind(kind), gamma, coef0, degree};
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
