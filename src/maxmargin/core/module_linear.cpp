// The binding of what linear models use: products with the data, corridor losses, coordinate descent.
#include <tuple>

#include "binding.h"

namespace maxmargin {
namespace {

using Vector = Array<double>;

const double* of_length(const Vector& v, int64_t n, const char* message) {
  require(v.ndim() == 1 && int64_t(v.shape(0)) == n, message);
  return v.data();
}

double* of_length(const Writable<double>& v, int64_t n, const char* message) {
  require(v.ndim() == 1 && int64_t(v.shape(0)) == n, message);
  return v.data();
}

Corridor corridor_of(int64_t n, const Vector& low, const Vector& high, const Vector& up, const Vector& down, bool squared) {
  const char* message = "corridor: lengths differ";
  return {n, of_length(low, n, message), of_length(high, n, message), of_length(up, n, message), of_length(down, n, message), squared};
}

std::tuple<double, double, double, double> corridor_duals(const Vector& low, const Vector& high, const Vector& up, const Vector& down,
                                                          bool squared, const Vector& f, const std::optional<Vector>& centre, double width,
                                                          const Writable<double>& t, const std::optional<Writable<double>>& curvature,
                                                          int threads) {
  const int64_t n = int64_t(f.size());
  const Corridor c = corridor_of(n, low, high, up, down, squared);
  require(squared || width > 0, "corridor_duals: the width must be positive");
  const double* middle = centre ? of_length(*centre, n, "corridor_duals: length of centre") : nullptr;
  double* to = of_length(t, n, "corridor_duals: length of t");
  double* curved = curvature ? of_length(*curvature, n, "corridor_duals: length of curvature") : nullptr;
  nb::gil_scoped_release release;
  const CorridorSums s = chosen_level().corridor_duals(c, f.data(), middle, width, to, curved, threads);
  return {s.smooth, s.loss, s.gain, s.total};
}

double corridor_slope(const Vector& low, const Vector& high, const Vector& up, const Vector& down, bool squared, const Vector& f,
                      const Vector& change, double step, const std::optional<Vector>& centre, double width, int threads) {
  const int64_t n = int64_t(f.size());
  const Corridor c = corridor_of(n, low, high, up, down, squared);
  const double* direction = of_length(change, n, "corridor_slope: length of change");
  const double* middle = centre ? of_length(*centre, n, "corridor_slope: length of centre") : nullptr;
  require(squared || width > 0, "corridor_slope: the width must be positive");
  nb::gil_scoped_release release;
  return chosen_level().corridor_slope(c, f.data(), direction, step, middle, width, threads);
}

template <class T>
void linear_values(const PointsHolder<T>& X, const Index& index, const Vector& w, const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(w, X.view.d, "linear_values: length of w");
  double* to = of_length(out, A.size, "linear_values: length of out");
  nb::gil_scoped_release release;
  table<T>().linear_values(A, weights, to, threads);
}

template <class T>
void linear_sum(const PointsHolder<T>& X, const Index& index, const Vector& coef, const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* factors = of_length(coef, A.size, "linear_sum: length of coef");
  double* to = of_length(out, X.view.d, "linear_sum: length of out");
  nb::gil_scoped_release release;
  table<T>().linear_sum(A, factors, to, threads);
}

template <class T>
void linear_squares(const PointsHolder<T>& X, const Writable<double>& out, int threads) {
  double* to = of_length(out, X.view.n, "linear_squares: length of out");
  nb::gil_scoped_release release;
  table<T>().linear_squares(X.view, to, threads);
}

template <class T>
void gram(const PointsHolder<T>& X, const Index& index, const Vector& weight, const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(weight, A.size, "gram: length of weight");
  require(out.ndim() == 2 && int64_t(out.shape(0)) == X.view.d && int64_t(out.shape(1)) == X.view.d, "gram: shape of out");
  nb::gil_scoped_release release;
  table<T>().gram(A, weights, out.data(), threads);
}

template <class T>
std::tuple<double, double, int64_t, double> coordinate_pass(const PointsHolder<T>& X, const Vector& low, const Vector& high, const Vector& up,
                                                            const Vector& down, bool squared, const Vector& norms,
                                                            const Writable<double>& beta, const Writable<double>& w, double bias,
                                                            double column, const Writable<int32_t>& order, int64_t active, double aside,
                                                            uint64_t seed) {
  const int64_t n = X.view.n;
  const Corridor c = corridor_of(n, low, high, up, down, squared);
  const char* message = "coordinate_pass: lengths differ";
  require(order.ndim() == 1 && active >= 0 && active <= int64_t(order.shape(0)), "coordinate_pass: active samples");
  check_range(order.data(), size_t(active), n, "coordinate_pass: sample out of range");
  CoordinatePass<T> pass{X.view, c, of_length(norms, n, message), of_length(beta, n, message), of_length(w, X.view.d, message), &bias,
                         column, order.data(), active, aside, seed};
  PassResult result;
  {
    nb::gil_scoped_release release;
    result = table<T>().coordinate_pass(pass);
  }
  return {result.gap, result.violation, result.active, bias};
}

template <class T>
void bind(nb::module_& m) {
  m.def("linear_values", &linear_values<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("w"), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("linear_sum", &linear_sum<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("coef"), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("linear_squares", &linear_squares<T>, nb::arg("X"), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("gram", &gram<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("weight"), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("coordinate_pass", &coordinate_pass<T>, nb::arg("X"), nb::arg("low"), nb::arg("high"), nb::arg("up"), nb::arg("down"),
        nb::arg("squared"), nb::arg("norms"), nb::arg("beta").noconvert(), nb::arg("w").noconvert(), nb::arg("bias"), nb::arg("column"),
        nb::arg("order").noconvert(), nb::arg("active"), nb::arg("aside"), nb::arg("seed"));
}

}  // namespace

void bind_linear(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  m.def("corridor_duals", &corridor_duals, nb::arg("low"), nb::arg("high"), nb::arg("up"), nb::arg("down"), nb::arg("squared"), nb::arg("f"),
        nb::arg("centre").none(), nb::arg("width"), nb::arg("t").noconvert(), nb::arg("curvature").none(), nb::arg("threads"));
  m.def("corridor_slope", &corridor_slope, nb::arg("low"), nb::arg("high"), nb::arg("up"), nb::arg("down"), nb::arg("squared"), nb::arg("f"),
        nb::arg("change"), nb::arg("step"), nb::arg("centre").none(), nb::arg("width"), nb::arg("threads"));
}

}  // namespace maxmargin
