// The binding of sets of points, and of the fingerprint of an array.
#include "fingerprint.h"
#include "holder.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

template <class T>
PointsHolder<T>* dense_points(Array<T> X) {
  require(X.ndim() == 2, "points: a 2-d array is needed");
  auto* holder = new PointsHolder<T>{
      X,
      {},
      {},
      {},
      {int64_t(X.shape(0)), int64_t(X.shape(1)), X.data(), nullptr, nullptr, nullptr}};
  holder->finish();
  return holder;
}

template <class T>
PointsHolder<T>* sparse_points(Array<T> values, Array<int64_t> indptr, Array<int32_t> indices,
                               int64_t d) {
  require(values.ndim() == 1 && indptr.ndim() == 1 && indices.ndim() == 1 && indptr.shape(0) >= 1,
          "points: malformed CSR");
  require(values.shape(0) == indices.shape(0), "points: CSR data and indices differ in length");
  const int64_t n = int64_t(indptr.shape(0)) - 1, entries = int64_t(values.shape(0));
  const int64_t* p = indptr.data();
  require(p[0] == 0 && p[n] == entries, "points: CSR indptr does not span the data");
  for (int64_t i = 0; i < n; ++i) require(p[i] <= p[i + 1], "points: CSR indptr decreases");
  check_range(indices.data(), size_t(entries), d, "points: CSR index out of range");
  auto* holder = new PointsHolder<T>{
      values, indptr, indices, {}, {n, d, values.data(), indptr.data(), indices.data(), nullptr}};
  holder->finish();
  return holder;
}

// The non-zeros of a dense array.
template <class T>
PointsHolder<T>* compressed_points(Array<T> X) {
  require(X.ndim() == 2, "points: a 2-d array is needed");
  const int64_t n = int64_t(X.shape(0)), d = int64_t(X.shape(1));
  auto holder = std::make_unique<PointsHolder<T>>();
  {
    nb::gil_scoped_release release;
    const T* x = X.data();
    std::vector<int64_t>& indptr = holder->own_indptr;
    indptr.assign(size_t(n + 1), 0);
    for (int64_t i = 0; i < n; ++i) {
      int64_t count = 0;
      for (int64_t k = 0; k < d; ++k) count += x[i * d + k] != 0;
      indptr[size_t(i + 1)] = indptr[size_t(i)] + count;
    }
    const size_t entries = size_t(indptr[size_t(n)]);
    // Every entry is written, and a zero is overwritten by the next entry: no branch.
    holder->own_values.reset(new T[entries + 1]);
    holder->own_indices.reset(new int32_t[entries + 1]);
    for (int64_t i = 0, at = 0; i < n; ++i)
      for (int64_t k = 0; k < d; ++k) {
        const T value = x[i * d + k];
        holder->own_values[size_t(at)] = value;
        holder->own_indices[size_t(at)] = int32_t(k);
        at += value != 0;
      }
  }
  holder->view = {
      n,      d, holder->own_values.get(), holder->own_indptr.data(), holder->own_indices.get(),
      nullptr};
  holder->finish();
  return holder.release();
}

uint64_t fingerprint(const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& memory) {
  nb::gil_scoped_release release;
  return hot::fingerprint(static_cast<const unsigned char*>(memory.data()), memory.nbytes());
}

template <class T>
void bind(nb::module_& m, const char* name) {
  using P = PointsHolder<T>;
  nb::class_<P>(m, name)
      .def_prop_ro("shape", [](const P& p) { return std::make_tuple(p.view.n, p.view.d); })
      .def_prop_ro("terms", [](const P& p) { return p.terms; })
      .def_prop_ro("norms", [](P& p) {
        using Norms = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;
        return Norms(p.norms.data(), {p.norms.size()}, nb::find(&p));
      });
  m.def("dense_points", &dense_points<T>, nb::arg("X").noconvert(), nb::rv_policy::take_ownership);
  m.def("compressed_points", &compressed_points<T>, nb::arg("X").noconvert(),
        nb::rv_policy::take_ownership);
  m.def("sparse_points", &sparse_points<T>, nb::arg("values").noconvert(), nb::arg("indptr"),
        nb::arg("indices"), nb::arg("d"), nb::rv_policy::take_ownership);
}

void bind_fingerprint(nb::module_& m) {
  m.def("fingerprint", &fingerprint, nb::arg("memory").noconvert());
}

}  // namespace

void bind_points(nb::module_& m) {
  bind<float>(m, "Points32");
  bind<double>(m, "Points64");
  bind_fingerprint(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
