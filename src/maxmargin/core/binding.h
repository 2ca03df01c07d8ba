// What the binding's files share: array types, checks, and the holder of a set of points.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "level.h"

namespace nb = nanobind;

namespace maxmargin {

const Level& chosen_level();  // module.cpp

template <class T>
const LevelOf<T>& table();
template <>
inline const LevelOf<float>& table<float>() { return chosen_level().f32; }
template <>
inline const LevelOf<double>& table<double>() { return chosen_level().f64; }

// An array in C's order that lies where C++ reads a T. NumPy's may lie at any address: such do not fit (core.contiguous copies them).
template <class T>
struct Aligned : nb::ndarray<T, nb::c_contig, nb::device::cpu> {};
template <class T>
using Array = Aligned<const T>;
template <class T>
using Writable = Aligned<T>;
using Index = std::optional<Array<int64_t>>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class I>
void check_range(const I* values, size_t count, int64_t end, const char* message) {
  bool inside = true;
  for (size_t i = 0; i < count; ++i) inside &= values[i] >= 0 && int64_t(values[i]) < end;
  require(inside, message);
}

// Owns references to the arrays of one set of points; everything that native code will index is checked here.
template <class T>
struct PointsHolder {
  Array<T> values;
  std::optional<Array<int64_t>> indptr;
  std::optional<Array<int32_t>> indices;
  std::vector<T> norms;
  Points<T> view;
  int64_t terms = 0;          // non-zeros of a point at most: so many terms a dot product has
  std::unique_ptr<T[]> own_values;  // of points that are made here
  std::vector<int64_t> own_indptr;
  std::unique_ptr<int32_t[]> own_indices;

  void finish() {
    norms.resize(size_t(view.n));
    terms = view.indptr ? 0 : view.d;
    for (int64_t i = 0; view.indptr && i < view.n; ++i) terms = std::max(terms, view.indptr[i + 1] - view.indptr[i]);
    nb::gil_scoped_release release;
    table<T>().norms(view, norms.data());
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

void bind_linear(nb::module_& m);  // module_linear.cpp
void bind_online(nb::module_& m);  // module_online.cpp
void bind_io(nb::module_& m);      // module_io.cpp

}  // namespace maxmargin

namespace nanobind::detail {

template <class T>
struct type_caster<maxmargin::Aligned<T>> {
  using Plain = ndarray<T, c_contig, device::cpu>;
  NB_TYPE_CASTER(maxmargin::Aligned<T>, const_name("aligned ") + make_caster<Plain>::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<Plain> plain;
    if (!plain.from_python(source, flags, cleanup)) return false;
    value = {plain.value};
    return reinterpret_cast<uintptr_t>(value.data()) % alignof(T) == 0;
  }
};

}  // namespace nanobind::detail
