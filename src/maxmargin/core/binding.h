// What the binding's files share: array types and checks.
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

namespace nb = nanobind;

namespace maxmargin {

// A C-contiguous array at an address that is aligned for T. NumPy arrays may lie at any address;
// core.memory.contiguous copies those that are not aligned.
template <class T>
struct AlignedArray : nb::ndarray<T, nb::c_contig, nb::device::cpu> {};
template <class T>
using Array = AlignedArray<const T>;
template <class T>
using Writable = AlignedArray<T>;
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

// Arrays that take over memory.
template <class T>
using Flat = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Flat<T> owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Flat<T>(kept->data(), {kept->size()}, owner);
}

template <class T>
Flat<T> owned(std::unique_ptr<T[]>&& values, int64_t count) {
  T* kept = values.release();
  nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Flat<T>(kept, {size_t(count)}, owner);
}

using Vector = Array<double>;

inline const double* of_length(const Vector& v, int64_t n, const char* message) {
  require(v.ndim() == 1 && int64_t(v.shape(0)) == n, message);
  return v.data();
}

inline double* of_length(const Writable<double>& v, int64_t n, const char* message) {
  require(v.ndim() == 1 && int64_t(v.shape(0)) == n, message);
  return v.data();
}

}  // namespace maxmargin

namespace nanobind::detail {

template <class T>
struct type_caster<maxmargin::AlignedArray<T>> {
  using Plain = ndarray<T, c_contig, device::cpu>;
  NB_TYPE_CASTER(maxmargin::AlignedArray<T>, const_name("aligned ") + make_caster<Plain>::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<Plain> plain;
    if (!plain.from_python(source, flags, cleanup)) return false;
    value = {plain.value};
    return reinterpret_cast<uintptr_t>(value.data()) % alignof(T) == 0;
  }
};

}  // namespace nanobind::detail
