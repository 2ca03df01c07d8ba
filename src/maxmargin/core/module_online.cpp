// The binding of the online family: checks shapes, releases the GIL. Plain loops: they wait for memory, not for wide instructions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "pegasos.h"

namespace nb = nanobind;
using namespace maxmargin::online;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using Writable = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

void check_order(const Array<int64_t>& order, int64_t n) {
  require(order.ndim() == 1, "online: order must be 1-d");
  bool inside = true;
  for (size_t k = 0; k < order.shape(0); ++k) inside &= order.data()[k] >= 0 && order.data()[k] < n;
  require(inside, "online: a sample in order is out of range");
}

// Rows of a dense array, or of CSR arrays, after every check that indexing needs.
template <class T>
struct RowsHolder {
  Array<T> values;
  std::optional<Array<int64_t>> indptr;
  std::optional<Array<int32_t>> indices;
  Rows<T> view;
};

template <class T>
RowsHolder<T>* dense_rows(Array<T> X) {
  require(X.ndim() == 2, "online rows: a 2-d array is needed");
  return new RowsHolder<T>{X, {}, {}, {int64_t(X.shape(0)), int64_t(X.shape(1)), X.data(), nullptr, nullptr}};
}

template <class T>
RowsHolder<T>* sparse_rows(Array<T> values, Array<int64_t> indptr, Array<int32_t> indices, int64_t d) {
  require(values.ndim() == 1 && indptr.ndim() == 1 && indices.ndim() == 1 && indptr.shape(0) >= 1, "online rows: malformed CSR");
  const int64_t n = int64_t(indptr.shape(0)) - 1, entries = int64_t(values.shape(0));
  const int64_t* p = indptr.data();
  require(int64_t(indices.shape(0)) == entries && p[0] == 0 && p[n] == entries, "online rows: CSR arrays differ in length");
  for (int64_t i = 0; i < n; ++i) require(p[i] <= p[i + 1], "online rows: CSR indptr decreases");
  bool inside = true;
  for (int64_t k = 0; k < entries; ++k) inside &= indices.data()[k] >= 0 && indices.data()[k] < d;
  require(inside, "online rows: CSR index out of range");
  return new RowsHolder<T>{values, indptr, indices, {n, d, values.data(), p, indices.data()}};
}

template <class T>
int64_t pegasos_rows(const RowsHolder<T>& X, Array<int64_t> order, Array<double> y, Array<double> gain, Writable<double> v,
                     Writable<double> u, std::optional<Writable<double>> coef_v, std::optional<Writable<double>> coef_u,
                     std::optional<Array<double>> centre, double square, Writable<double> numbers, double alpha, double bias_step, int64_t batch, bool project, bool average) {
  const size_t n = size_t(X.view.n), d = size_t(X.view.d);
  require(y.size() == n && gain.size() == n && v.size() == d && u.size() == d && numbers.size() == 10 && batch >= 1,
          "pegasos_rows: lengths differ");
  require(coef_v.has_value() == coef_u.has_value() && (!coef_v || (coef_v->size() == n && coef_u->size() == n)),
          "pegasos_rows: length of the coefficients");
  require(!centre || centre->size() == n, "pegasos_rows: length of the centre's products");
  check_order(order, X.view.n);
  const int64_t count = int64_t(order.shape(0));
  std::vector<double> margins(size_t(std::min(batch, std::max<int64_t>(count, 1))));
  nb::gil_scoped_release release;
  return walk_rows(X.view, order.data(), count, y.data(), gain.data(), v.data(), u.data(), coef_v ? coef_v->data() : nullptr,
                   coef_u ? coef_u->data() : nullptr, {centre ? centre->data() : nullptr, centre ? square : 0.0}, margins.data(), numbers.data(), {alpha, bias_step, batch, project, average});
}

// out = X w
template <class T>
void row_scores(const RowsHolder<T>& X, Array<double> w, Writable<double> out) {
  require(int64_t(w.size()) == X.view.d && int64_t(out.size()) == X.view.n, "row_scores: lengths differ");
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < X.view.n; ++i) out.data()[i] = dot(X.view, i, w.data());
}

// out += X' coef
template <class T>
void row_sum(const RowsHolder<T>& X, Array<double> coef, Writable<double> out) {
  require(int64_t(coef.size()) == X.view.n && int64_t(out.size()) == X.view.d, "row_sum: lengths differ");
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < X.view.n; ++i)
    if (coef.data()[i] != 0) add(X.view, i, coef.data()[i], out.data());
}

void check_tile(const Array<double>& K, int64_t begin, size_t z, size_t y, size_t gain, size_t given) {
  require(K.ndim() == 2 && K.shape(0) == K.shape(1), "online tile: K must be square");
  const size_t n = K.shape(0);
  require(z == n && y == n && gain == n && given == n && begin >= 0 && begin <= int64_t(n), "online tile: lengths differ");
}

int64_t pegasos_tile(Array<double> K, int64_t begin, Writable<double> z, Array<double> y, Array<double> gain, Writable<double> given_v,
                     Writable<double> given_u, Writable<double> numbers, double alpha, double bias_step, int64_t batch, bool project) {
  check_tile(K, begin, z.size(), y.size(), gain.size(), given_v.size());
  require(given_u.size() == given_v.size() && numbers.size() == 10 && batch >= 1, "pegasos_tile: lengths differ");
  const int64_t n = int64_t(K.shape(0));
  std::vector<double> margins(size_t(std::min(batch, std::max<int64_t>(n, 1))));
  nb::gil_scoped_release release;
  return walk_tile(K.data(), n, begin, z.data(), y.data(), gain.data(), given_v.data(), given_u.data(), margins.data(), numbers.data(),
                   {alpha, bias_step, batch, project, true});
}

int64_t norma_step(Array<double> K, int64_t begin, Writable<double> z, Array<double> y, Array<double> gain, Writable<double> given,
                   Writable<double> numbers, double alpha, double eta0, double power, double nu, bool bias) {
  check_tile(K, begin, z.size(), y.size(), gain.size(), given.size());
  require(numbers.size() == 4, "norma_tile: four numbers are needed");
  nb::gil_scoped_release release;
  return norma_tile(K.data(), int64_t(K.shape(0)), begin, z.data(), y.data(), gain.data(), given.data(), numbers.data(),
                    {alpha, eta0, power, nu, bias});
}

template <class T>
void bind_rows(nb::module_& m, const char* name) {
  nb::class_<RowsHolder<T>>(m, name).def_prop_ro(
      "shape", [](const RowsHolder<T>& X) { return nb::make_tuple(X.view.n, X.view.d); });
  m.def("dense_rows", &dense_rows<T>, nb::arg("X").noconvert(), nb::rv_policy::take_ownership);
  m.def("sparse_rows", &sparse_rows<T>, nb::arg("values").noconvert(), nb::arg("indptr"), nb::arg("indices"), nb::arg("d"),
        nb::rv_policy::take_ownership);
  m.def("pegasos_rows", &pegasos_rows<T>, nb::arg("X"), nb::arg("order"), nb::arg("y"), nb::arg("gain"), nb::arg("v").noconvert(),
        nb::arg("u").noconvert(), nb::arg("coef_v").noconvert().none(), nb::arg("coef_u").noconvert().none(),
        nb::arg("centre").none(), nb::arg("square"), nb::arg("numbers").noconvert(), nb::arg("alpha"), nb::arg("bias_step"), nb::arg("batch"), nb::arg("project"), nb::arg("average"));
  m.def("row_scores", &row_scores<T>, nb::arg("X"), nb::arg("w"), nb::arg("out").noconvert());
  m.def("row_sum", &row_sum<T>, nb::arg("X"), nb::arg("coef"), nb::arg("out").noconvert());
}

}  // namespace

void bind_online(nb::module_& m) {
  bind_rows<float>(m, "Rows32");
  bind_rows<double>(m, "Rows64");
  m.def("pegasos_tile", &pegasos_tile, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(), nb::arg("y"), nb::arg("gain"),
        nb::arg("given_v").noconvert(), nb::arg("given_u").noconvert(), nb::arg("numbers").noconvert(), nb::arg("alpha"),
        nb::arg("bias_step"), nb::arg("batch"), nb::arg("project"));
  m.def("norma_tile", &norma_step, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(), nb::arg("y"), nb::arg("gain"),
        nb::arg("given").noconvert(), nb::arg("numbers").noconvert(), nb::arg("alpha"), nb::arg("eta0"), nb::arg("power"), nb::arg("nu"),
        nb::arg("bias"));
}
