// The binding of the losses of linear models, and of coordinate descent on them.
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "columns.h"
#include "coordinate.h"
#include "holder.h"
#include "lasso.h"
#include "threads.h"
#include "tube.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

Tube tube_of(int64_t n, const Vector& low, const Vector& high, const Vector& up, const Vector& down,
             bool squared) {
  const char* message = "tube: lengths differ";
  return {n,
          of_length(low, n, message),
          of_length(high, n, message),
          of_length(up, n, message),
          of_length(down, n, message),
          squared};
}

std::tuple<double, double, double> tube_duals(
    const Vector& low, const Vector& high, const Vector& up, const Vector& down, bool squared,
    const Vector& f, const std::optional<Vector>& prox_centre, double smoothing,
    const Writable<double>& t, const std::optional<Writable<double>>& curvature, int threads) {
  const int64_t n = int64_t(f.size());
  const Tube c = tube_of(n, low, high, up, down, squared);
  require(squared || smoothing > 0, "tube_duals: the smoothing must be positive");
  const double* middle =
      prox_centre ? of_length(*prox_centre, n, "tube_duals: length of prox_centre") : nullptr;
  double* to = of_length(t, n, "tube_duals: length of t");
  double* curved =
      curvature ? of_length(*curvature, n, "tube_duals: length of curvature") : nullptr;
  nb::gil_scoped_release release;
  const TubeSums s = hot::tube_duals(c, f.data(), middle, smoothing, to, curved, threads);
  return {s.loss, s.neg_conjugate, s.total};
}

double tube_slope(const Vector& low, const Vector& high, const Vector& up, const Vector& down,
                  bool squared, const Vector& f, const Vector& change, double step,
                  const std::optional<Vector>& prox_centre, double smoothing, int threads) {
  const int64_t n = int64_t(f.size());
  const Tube c = tube_of(n, low, high, up, down, squared);
  const double* direction = of_length(change, n, "tube_slope: length of change");
  const double* middle =
      prox_centre ? of_length(*prox_centre, n, "tube_slope: length of prox_centre") : nullptr;
  require(squared || smoothing > 0, "tube_slope: the smoothing must be positive");
  nb::gil_scoped_release release;
  return hot::tube_slope(c, f.data(), direction, step, middle, smoothing, threads);
}

// Dual coordinate descent on one problem: its samples, in the form that a pass reads.
template <class T>
struct Descent {
  const PointsHolder<T>* X;
  bool squared, one_ended = true;
  double column;
  std::vector<Sample> samples;     // aligned to cache lines, as the type says
  std::vector<unsigned char> out;  // of the pass under way

  Descent(const PointsHolder<T>& X, const Vector& low, const Vector& high, const Vector& up,
          const Vector& down, bool squared, const Vector& squares, const Vector& beta,
          double column)
      : X(&X), squared(squared), column(column), samples(size_t(X.view.n)) {
    const int64_t n = X.view.n;
    const Tube c = tube_of(n, low, high, up, down, squared);
    const double *square = of_length(squares, n, "Descent: lengths differ"),
                 *dual = of_length(beta, n, "Descent: lengths differ");
    for (int64_t i = 0; i < n; ++i) {
      const int64_t begin = X.view.indptr ? X.view.indptr[i] : i * X.view.d,
                    end = X.view.indptr ? X.view.indptr[i + 1] : begin + X.view.d;
      samples[size_t(i)] = {c.low[i],           c.high[i], c.up[i], c.down[i],
                            square[i] + column, dual[i],   begin,   end};
      one_ended = one_ended && (c.up[i] > 0) != (c.down[i] > 0);
    }
  }

  // A part of a pass, from the sample at `begin` of the order; returns where it ended, which is
  // `active` when the pass is done.
  std::tuple<double, double, int64_t, double> run(const Writable<double>& w, double bias,
                                                  const Writable<int32_t>& order, int64_t active,
                                                  int64_t begin, double shrink_above, uint64_t seed,
                                                  int threads) {
    require(order.ndim() == 1 && active >= 0 && active <= int64_t(order.shape(0)),
            "Descent: active samples");
    check_range(order.data(), size_t(active), X->view.n, "Descent: sample out of range");
    require(begin == 0 || (begin > 0 && begin <= active && out.size() == size_t(active)),
            "Descent: where to go on");
    if (begin == 0) out.assign(size_t(active), 0);
    CoordinatePass<T> pass{X->view,
                           samples.data(),
                           squared,
                           one_ended,
                           of_length(w, X->view.d, "Descent: length of w"),
                           &bias,
                           column,
                           order.data(),
                           active,
                           begin,
                           out.data(),
                           shrink_above,
                           seed,
                           threads};
    PartResult result;
    {
      nb::gil_scoped_release release;
      result = hot::coordinate_pass(pass);
    }
    return {result.gap, result.violation, result.end, bias};
  }

  // Ends a pass, or what there was of it: the samples that were not shrunk come first in the order;
  // returns how many.
  int64_t settle(const Writable<int32_t>& order) {
    require(order.ndim() == 1 && out.size() <= order.shape(0), "Descent: active samples");
    int64_t active = 0;
    for (size_t k = 0; k < out.size(); ++k)
      if (!out[k]) std::swap(order.data()[active++], order.data()[k]);
    return active;
  }

  void assign(const Vector& beta) {
    const double* from = of_length(beta, X->view.n, "Descent: length of beta");
    for (Sample& sample : samples) sample.beta = *from++;
  }

  double duals(const Writable<double>& out) const {
    double *to = of_length(out, X->view.n, "Descent: length of out"), sum = 0;
    for (const Sample& s : samples) {
      *to++ = s.beta;
      if (s.beta != 0) sum += neg_conjugate_at({s.low, s.high, s.up, s.down, squared}, s.beta);
    }
    return sum;
  }
};

double lasso_descent(const Writable<double>& H, const Vector& penalty, const Writable<double>& u,
                     const Writable<double>& slope, double tol, int64_t most) {
  const int64_t size = int64_t(penalty.size());
  const char* message = "lasso_descent: lengths differ";
  require(H.ndim() == 2 && int64_t(H.shape(0)) == size && int64_t(H.shape(1)) == size, message);
  const LassoModel model{size, H.data(), of_length(penalty, size, message),
                         of_length(u, size, message), of_length(slope, size, message)};
  nb::gil_scoped_release release;
  return hot::lasso_descent(model, tol, most);
}

// The columns of diag(factor) X as points, X in CSR, and at the end one that is `last` times the
// factors. With twice as many factors as samples all samples are there twice. Strips of rows are
// counted, then put where their counts say, side by side.
template <class T>
PointsHolder<T>* scaled_columns(const PointsHolder<T>& X, const Vector& factor, double last,
                                int threads) {
  const int64_t n = X.view.n, d = X.view.d, rows = int64_t(factor.size());
  require(X.view.indptr, "scaled_columns: CSR is needed");
  require(factor.ndim() == 1 && (rows == n || rows == 2 * n), "scaled_columns: number of factors");
  auto holder = std::make_unique<PointsHolder<T>>();
  {
    nb::gil_scoped_release release;
    const Points<T>& A = X.view;
    const int64_t strips = std::clamp<int64_t>(A.indptr[n] / (4 * d + 1), 1, 8),
                  length = pieces_of(rows, strips);
    std::vector<int64_t> slot(size_t(strips * d), 0), &indptr = holder -> own_indptr;
    auto each = [&](auto work) {  // work(slots of the strip, row, place of a value)
      parallel(threads, strips, 1, [&](int64_t strip, int64_t) {
        for (int64_t row = strip * length; row < std::min(rows, (strip + 1) * length); ++row)
          for (int64_t i = row % n, k = A.indptr[i]; k < A.indptr[i + 1]; ++k)
            work(slot.data() + strip * d, row, k);
      });
    };
    each([&](int64_t* mine, int64_t, int64_t k) { ++mine[A.indices[k]]; });
    indptr.assign(size_t(d + 2), 0);
    for (int64_t j = 0; j < d; ++j) {
      int64_t at = indptr[size_t(j)];
      for (int64_t strip = 0; strip < strips; ++strip)
        at += std::exchange(slot[size_t(strip * d + j)], at);
      indptr[size_t(j + 1)] = at;
    }
    const int64_t most = indptr[size_t(d)],
                  entries = indptr[size_t(d + 1)] = most + (last != 0 ? rows : 0);
    holder->own_values.reset(new T[size_t(entries)]),
        holder->own_indices.reset(new int32_t[size_t(entries)]);
    T* values = holder->own_values.get();
    int32_t* indices = holder->own_indices.get();
    const double* scale = factor.data();
    each([&](int64_t* mine, int64_t row, int64_t k) {
      const int64_t to = mine[A.indices[k]]++;
      values[to] = T(scale[row] * double(A.values[k])), indices[to] = int32_t(row);
    });
    for (int64_t row = 0; row < entries - most; ++row)
      values[most + row] = T(last * scale[row]), indices[most + row] = int32_t(row);
    holder->view = {d + 1, rows, values, indptr.data(), indices, nullptr};
  }
  holder->finish();
  return holder.release();
}

template <class T>
std::tuple<double, int64_t> column_pass(const PointsHolder<T>& X, const Vector& penalty,
                                        const Vector& squares, double factor,
                                        const Writable<double>& w, const Writable<double>& r,
                                        const Writable<int32_t>& order, int64_t active,
                                        double shrink_above, uint64_t seed, int threads) {
  const char* message = "column_pass: lengths differ";
  const int64_t n = X.view.n;
  require(order.ndim() == 1 && active >= 0 && active <= int64_t(order.shape(0)),
          "column_pass: active columns");
  check_range(order.data(), size_t(active), n, "column_pass: column out of range");
  ColumnPass<T> pass{X.view,
                     of_length(penalty, n, message),
                     of_length(squares, n, message),
                     factor,
                     of_length(w, n, message),
                     of_length(r, X.view.d, message),
                     order.data(),
                     active,
                     shrink_above,
                     seed,
                     threads};
  nb::gil_scoped_release release;
  const PassResult result = hot::column_pass(pass);
  return {result.violation, result.active};
}

template <class T>
void bind(nb::module_& m, const char* descent_name) {
  nb::class_<Descent<T>>(m, descent_name)
      .def(nb::init<const PointsHolder<T>&, const Vector&, const Vector&, const Vector&,
                    const Vector&, bool, const Vector&, const Vector&, double>(),
           nb::keep_alive<1, 2>())
      .def("run", &Descent<T>::run, nb::arg("w").noconvert(), nb::arg("bias"),
           nb::arg("order").noconvert(), nb::arg("active"), nb::arg("begin"),
           nb::arg("shrink_above"), nb::arg("seed"), nb::arg("threads"))
      .def("settle", &Descent<T>::settle, nb::arg("order").noconvert())
      .def("assign", &Descent<T>::assign, nb::arg("beta"))
      .def("duals", &Descent<T>::duals, nb::arg("out").noconvert());
  m.def("scaled_columns", &scaled_columns<T>, nb::arg("X"), nb::arg("factor"), nb::arg("last"),
        nb::arg("threads"), nb::rv_policy::take_ownership);
  m.def("column_pass", &column_pass<T>, nb::arg("X"), nb::arg("penalty"), nb::arg("squares"),
        nb::arg("factor"), nb::arg("w").noconvert(), nb::arg("r").noconvert(),
        nb::arg("order").noconvert(), nb::arg("active"), nb::arg("shrink_above"), nb::arg("seed"),
        nb::arg("threads"));
}

void bind_float64(nb::module_& m) {
  m.def("tube_duals", &tube_duals, nb::arg("low"), nb::arg("high"), nb::arg("up"), nb::arg("down"),
        nb::arg("squared"), nb::arg("f"), nb::arg("prox_centre").none(), nb::arg("smoothing"),
        nb::arg("t").noconvert(), nb::arg("curvature").none(), nb::arg("threads"));
  m.def("tube_slope", &tube_slope, nb::arg("low"), nb::arg("high"), nb::arg("up"), nb::arg("down"),
        nb::arg("squared"), nb::arg("f"), nb::arg("change"), nb::arg("step"),
        nb::arg("prox_centre").none(), nb::arg("smoothing"), nb::arg("threads"));
  m.def("lasso_descent", &lasso_descent, nb::arg("H").noconvert(), nb::arg("penalty"),
        nb::arg("u").noconvert(), nb::arg("slope").noconvert(), nb::arg("tol"), nb::arg("most"));
}

}  // namespace

void bind_descent(nb::module_& m) {
  bind<float>(m, "Descent32");
  bind<double>(m, "Descent64");
  bind_float64(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
