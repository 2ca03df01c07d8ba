// The binding of products with the data of linear models, of Crammer and Singer's machine, of
// logistic functions of a few features, and of the pairs of a ranking.
#include <tuple>
#include <vector>

#include "crammer_singer.h"
#include "hinges.h"
#include "holder.h"
#include "linear.h"
#include "logistic.h"
#include "ranking.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

template <class T>
void linear_values(const PointsHolder<T>& X, const Index& index, const Vector& w,
                   const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(w, X.view.d, "linear_values: length of w");
  double* to = of_length(out, A.size, "linear_values: length of out");
  nb::gil_scoped_release release;
  hot::linear_values(A, weights, to, threads);
}

template <class T>
void linear_sum(const PointsHolder<T>& X, const Index& index, const Vector& coef,
                const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* factors = of_length(coef, A.size, "linear_sum: length of coef");
  double* to = of_length(out, X.view.d, "linear_sum: length of out");
  nb::gil_scoped_release release;
  hot::linear_sum(A, factors, to, threads);
}

// The sum of the steps, which is the entry of the bias.
template <class T>
double linear_hessian(const PointsHolder<T>& X, const Index& index, const Vector& weight,
                      const Vector& u, double shift, const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(weight, A.size, "linear_hessian: length of weight");
  const double* along = of_length(u, X.view.d, "linear_hessian: length of u");
  double* to = of_length(out, X.view.d, "linear_hessian: length of out");
  nb::gil_scoped_release release;
  std::vector<double> step(size_t(A.size));
  hot::linear_hessian(A, weights, along, shift, step.data(), to, threads);
  double total = 0;
  for (double one : step) total += one;
  return total;
}

template <class T>
void linear_diagonal(const PointsHolder<T>& X, const Index& index, const Vector& weight,
                     const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(weight, A.size, "linear_diagonal: length of weight");
  double* to = of_length(out, X.view.d, "linear_diagonal: length of out");
  nb::gil_scoped_release release;
  hot::linear_diagonal(A, weights, to, threads);
}

template <class T>
void linear_squares(const PointsHolder<T>& X, const Writable<double>& out, int threads) {
  double* to = of_length(out, X.view.n, "linear_squares: length of out");
  nb::gil_scoped_release release;
  hot::linear_squares(X.view, to, threads);
}

template <class T>
void gram(const PointsHolder<T>& X, const Index& index, const Vector& weight,
          const Writable<double>& out, int threads) {
  const Selection<T> A = select(X, index);
  const double* weights = of_length(weight, A.size, "gram: length of weight");
  require(out.ndim() == 2 && int64_t(out.shape(0)) == X.view.d && int64_t(out.shape(1)) == X.view.d,
          "gram: shape of out");
  nb::gil_scoped_release release;
  hot::gram(A, weights, out.data(), threads);
}

// For each problem its steps, and whether it ended.
template <class T>
std::vector<std::tuple<int64_t, bool>> squared_hinges(const PointsHolder<T>& X, const Vector& sign,
                                                      const Vector& cost, double column, double m,
                                                      double goal, int64_t most,
                                                      const Writable<double>& u,
                                                      const Writable<double>& f, int threads) {
  const char* message = "squared_hinges: shapes differ";
  const int64_t n = X.view.n, d = X.view.d;
  require(sign.ndim() == 2 && int64_t(sign.shape(1)) == n && n > 0, message);
  const int64_t problems = int64_t(sign.shape(0));
  require(u.ndim() == 2 && int64_t(u.shape(0)) == problems && int64_t(u.shape(1)) == d + 1,
          message);
  require(f.ndim() == 2 && int64_t(f.shape(0)) == problems && int64_t(f.shape(1)) == n, message);
  const double* costs = of_length(cost, n, message);
  nb::gil_scoped_release release;
  std::vector<std::tuple<int64_t, bool>> found;
  for (const HingeResult& one : hot::squared_hinges(X.view, sign.data(), costs, problems, column, m,
                                                    goal, most, u.data(), f.data(), threads))
    found.emplace_back(one.steps, one.ended);
  return found;
}

template <class T>
std::tuple<double, double, int64_t> crammer_singer_pass(
    const PointsHolder<T>& X, const Array<int32_t>& label, const Vector& C, const Vector& norms,
    const Writable<double>& t, const Writable<double>& W, const Writable<double>& bias,
    double column, const Writable<int32_t>& order, int64_t active, double shrink_above,
    uint64_t seed) {
  const char* message = "crammer_singer_pass: lengths differ";
  const int64_t n = X.view.n;
  require(
      t.ndim() == 2 && int64_t(t.shape(0)) == n && W.ndim() == 2 && int64_t(W.shape(0)) == X.view.d,
      message);
  const int64_t classes = int64_t(t.shape(1)), wide = int64_t(W.shape(1));
  require(wide >= classes && wide % 8 == 0, "crammer_singer_pass: W needs a multiple of 8 columns");
  require(label.ndim() == 1 && int64_t(label.shape(0)) == n, message);
  check_range(label.data(), size_t(n), classes, "crammer_singer_pass: label out of range");
  require(order.ndim() == 1 && active >= 0 && active <= int64_t(order.shape(0)),
          "crammer_singer_pass: active samples");
  check_range(order.data(), size_t(active), n, "crammer_singer_pass: sample out of range");
  CrammerSingerPass<T> pass{X.view,
                            label.data(),
                            of_length(C, n, message),
                            of_length(norms, n, message),
                            t.data(),
                            W.data(),
                            of_length(bias, wide, message),
                            classes,
                            wide,
                            column,
                            order.data(),
                            active,
                            shrink_above,
                            seed};
  nb::gil_scoped_release release;
  const PassResult result = hot::crammer_singer_pass(pass);
  return {result.gap, result.violation, result.active};
}

template <class T>
void class_values(const PointsHolder<T>& X, const Index& index, const Array<double>& W,
                  const Writable<double>& out, int threads) {
  const Selection<T> rows = select(X, index);
  require(W.ndim() == 2 && int64_t(W.shape(0)) == X.view.d && W.shape(1) % 8 == 0,
          "class_values: W needs a multiple of 8 columns");
  require(out.ndim() == 2 && int64_t(out.shape(0)) == rows.size && out.shape(1) == W.shape(1),
          "class_values: lengths differ");
  nb::gil_scoped_release release;
  hot::class_values(rows, W.data(), int64_t(W.shape(1)), out.data(), threads);
}

template <class T>
void class_sum(const PointsHolder<T>& X, const Index& index, const Array<double>& t,
               const Writable<double>& out) {
  const Selection<T> rows = select(X, index);
  require(t.ndim() == 2 && int64_t(t.shape(0)) == rows.size && t.shape(1) % 8 == 0,
          "class_sum: t needs a multiple of 8 columns");
  require(out.ndim() == 2 && int64_t(out.shape(0)) == X.view.d && out.shape(1) == t.shape(1),
          "class_sum: lengths differ");
  nb::gil_scoped_release release;
  hot::class_sum(rows, t.data(), int64_t(t.shape(1)), out.data());
}

// The least F and the passes that it took; x begins as the start and ends as the minimum.
std::tuple<double, int64_t> minimise_logistic(Array<double> X, Array<double> t, Array<double> w,
                                              Writable<double> x, int64_t most) {
  require(X.ndim() == 2 && (X.shape(0) == 2 || X.shape(0) == 3) && x.size() == X.shape(0),
          "minimise_logistic: X needs two or three rows, and x as many numbers");
  require(t.size() == X.shape(1) && w.size() == X.shape(1), "minimise_logistic: lengths differ");
  nb::gil_scoped_release release;
  const Minimum found = hot::minimise_logistic(int64_t(X.shape(0)), X.data(), t.data(), w.data(),
                                               int64_t(X.shape(1)), x.data(), most);
  return {found.value, found.passes};
}

// Whether begins ascend from 0 to `end`.
bool partition(const Array<int64_t>& begin, int64_t end) {
  const size_t size = begin.size();
  if (begin.ndim() != 1 || size == 0) return false;
  if (begin.data()[0] != 0 || begin.data()[size - 1] != end) return false;
  return std::is_sorted(begin.data(), begin.data() + size);
}

void rank_pairs(Array<double> key, Array<double> weight, Array<int64_t> level_begin,
                Array<int64_t> query_begin, double margin, Writable<double> below,
                Writable<double> above, int threads) {
  const int64_t n = int64_t(key.size());
  const double* const weights = of_length(weight, n, "rank_pairs: length of weight");
  double* const to_below = of_length(below, n, "rank_pairs: length of below");
  double* const to_above = of_length(above, n, "rank_pairs: length of above");
  require(partition(level_begin, n), "rank_pairs: levels");
  require(partition(query_begin, int64_t(level_begin.size()) - 1), "rank_pairs: queries");
  nb::gil_scoped_release release;
  const bool finite = std::all_of(key.data(), key.data() + n, [](double k) { return k - k == 0; });
  require(finite, "rank_pairs: the keys must be finite");
  hot::rank_pairs({key.data(), weights, level_begin.data(), query_begin.data(),
                   int64_t(query_begin.size()) - 1, margin, to_below, to_above},
                  threads);
}

template <class T>
void bind(nb::module_& m) {
  m.def("linear_values", &linear_values<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("w"),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("linear_sum", &linear_sum<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("coef"),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("linear_hessian", &linear_hessian<T>, nb::arg("X"), nb::arg("index").none(),
        nb::arg("weight"), nb::arg("u"), nb::arg("shift"), nb::arg("out").noconvert(),
        nb::arg("threads"));
  m.def("linear_diagonal", &linear_diagonal<T>, nb::arg("X"), nb::arg("index").none(),
        nb::arg("weight"), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("linear_squares", &linear_squares<T>, nb::arg("X"), nb::arg("out").noconvert(),
        nb::arg("threads"));
  m.def("gram", &gram<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("weight"),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("squared_hinges", &squared_hinges<T>, nb::arg("X"), nb::arg("sign"), nb::arg("cost"),
        nb::arg("column"), nb::arg("m"), nb::arg("goal"), nb::arg("most"), nb::arg("u").noconvert(),
        nb::arg("f").noconvert(), nb::arg("threads"));
  m.def("crammer_singer_pass", &crammer_singer_pass<T>, nb::arg("X"), nb::arg("label"),
        nb::arg("C"), nb::arg("norms"), nb::arg("t").noconvert(), nb::arg("W").noconvert(),
        nb::arg("bias").noconvert(), nb::arg("column"), nb::arg("order").noconvert(),
        nb::arg("active"), nb::arg("shrink_above"), nb::arg("seed"));
  m.def("class_values", &class_values<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("W"),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("class_sum", &class_sum<T>, nb::arg("X"), nb::arg("index").none(), nb::arg("t"),
        nb::arg("out").noconvert());
}

void bind_float64(nb::module_& m) {
  m.def("minimise_logistic", &minimise_logistic, nb::arg("X"), nb::arg("t"), nb::arg("w"),
        nb::arg("x").noconvert(), nb::arg("most"));
  m.def("rank_pairs", &rank_pairs, nb::arg("key"), nb::arg("weight"), nb::arg("level_begin"),
        nb::arg("query_begin"), nb::arg("margin"), nb::arg("below").noconvert(),
        nb::arg("above").noconvert(), nb::arg("threads"));
}

}  // namespace

void bind_linear(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_float64(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
