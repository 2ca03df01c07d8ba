// The binding of kernel values: blocks of them, products with them, and work on stored rows.
#include "expansion.h"
#include "holder.h"
#include "products.h"

namespace maxmargin::MAXMARGIN_LEVEL {

// pair_steps.h uses these too; they take long to compile and are compiled here alone.
template bool kernel_block(const Kernel&, const Selection<float>&, const Selection<float>&, float*,
                           const int64_t*, bool, int);
template bool kernel_product(const Kernel&, const Selection<float>&, const double*, int64_t,
                             const Selection<float>&, double*, int);
template bool kernel_block(const Kernel&, const Selection<double>&, const Selection<double>&,
                           double*, const int64_t*, bool, int);
template bool kernel_product(const Kernel&, const Selection<double>&, const double*, int64_t,
                             const Selection<double>&, double*, int);

namespace {

template <class T>
bool kernel_block(const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a,
                  const PointsHolder<T>& B, const Index& b, Writable<T> out, const Index& slots,
                  int threads) {
  const Selection<T> SA = select(A, a), SB = select(B, b);
  require(A.view.d == B.view.d, "kernel_block: points differ in dimension");
  require(out.ndim() == 2 && int64_t(out.shape(1)) == SB.size, "kernel_block: shape of out");
  if (slots) {
    require(slots->ndim() == 1 && int64_t(slots->shape(0)) == SA.size,
            "kernel_block: one slot for each row");
    check_range(slots->data(), slots->shape(0), int64_t(out.shape(0)),
                "kernel_block: slot out of range");
  } else {
    require(int64_t(out.shape(0)) == SA.size, "kernel_block: shape of out");
  }
  const Kernel k = kernel_of(kernel);
  nb::gil_scoped_release release;
  const bool symmetric =
      SA.points.values == SB.points.values && SA.index == SB.index && SA.size == SB.size && !slots;
  return hot::kernel_block(k, SA, SB, out.data(), slots ? slots->data() : nullptr, symmetric,
                           threads);
}

template <class T, class S>
bool kernel_product(const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a,
                    Array<S> coef, const PointsHolder<T>& B, const Index& b, Writable<double> out,
                    int threads) {
  const Selection<T> SA = select(A, a), SB = select(B, b);
  require(A.view.d == B.view.d, "kernel_product: points differ in dimension");
  require(coef.ndim() == 2 && int64_t(coef.shape(0)) == SA.size, "kernel_product: shape of coef");
  require(out.ndim() == 2 && out.shape(0) == coef.shape(1) && int64_t(out.shape(1)) == SB.size,
          "kernel_product: shape of out");
  const Kernel k = kernel_of(kernel);
  nb::gil_scoped_release release;
  return hot::kernel_product<T, S>(k, SA, coef.data(), int64_t(coef.shape(1)), SB, out.data(),
                                   threads);
}

// Points begin, ..., end - 1.
template <class T>
Selection<T> range(Points<T> points, int64_t begin, int64_t end) {
  if (points.indptr) points.indptr += begin;
  else points.values += begin * points.d;
  points.norms += begin;
  points.n = end - begin;
  return {points, nullptr, points.n};
}

// out[g] += coef[begin_g : begin_(g+1)]' k(A[begin_g : begin_(g+1)], B)
template <class T, class S>
bool kernel_products(const KernelTuple& kernel, const PointsHolder<T>& A, Array<int64_t> begin,
                     Array<S> coef, const PointsHolder<T>& B, Writable<double> out, int threads) {
  require(A.view.d == B.view.d && begin.ndim() == 1 && begin.shape(0) >= 1,
          "kernel_products: points or groups");
  const size_t groups = begin.shape(0) - 1;
  const int64_t* p = begin.data();
  require(p[0] == 0 && p[groups] == A.view.n, "kernel_products: groups do not span the points");
  for (size_t g = 0; g < groups; ++g) require(p[g] <= p[g + 1], "kernel_products: groups");
  require(coef.ndim() == 2 && int64_t(coef.shape(0)) == A.view.n, "kernel_products: shape of coef");
  require(out.ndim() == 3 && out.shape(0) == groups && out.shape(1) == coef.shape(1) &&
              int64_t(out.shape(2)) == B.view.n,
          "kernel_products: shape of out");
  const Kernel k = kernel_of(kernel);
  const int64_t columns = int64_t(coef.shape(1));
  nb::gil_scoped_release release;
  bool finite = true;
  for (size_t g = 0; g < groups && finite; ++g)
    finite = hot::kernel_product<T, S>(k, range(A.view, p[g], p[g + 1]),
                                       coef.data() + p[g] * columns, columns, select(B, {}),
                                       out.data() + int64_t(g) * columns * B.view.n, threads);
  return finite;
}

template <class T>
void update_gradient(Array<T> rows, Array<int64_t> slots, Array<double> delta, Writable<double> F,
                     int threads) {
  require(rows.ndim() == 2 && F.ndim() == 1 && F.shape(0) == rows.shape(1),
          "update_gradient: shape of F");
  require(slots.ndim() == 1 && delta.ndim() == 1 && slots.shape(0) == delta.shape(0),
          "update_gradient: shape of delta");
  check_range(slots.data(), slots.shape(0), int64_t(rows.shape(0)),
              "update_gradient: slot out of range");
  nb::gil_scoped_release release;
  hot::update_gradient(rows.data(), int64_t(rows.shape(1)), slots.data(), delta.data(),
                       int64_t(slots.shape(0)), F.data(), threads);
}

template <class T>
void gather(Array<T> rows, Array<int64_t> slots, Array<int64_t> columns, Writable<T> out,
            int threads) {
  require(rows.ndim() == 2 && slots.ndim() == 1 && columns.ndim() == 1, "gather: dimensions");
  require(out.ndim() == 2 && out.shape(0) == slots.shape(0) && out.shape(1) == columns.shape(0),
          "gather: shape of out");
  check_range(slots.data(), slots.shape(0), int64_t(rows.shape(0)), "gather: slot out of range");
  check_range(columns.data(), columns.shape(0), int64_t(rows.shape(1)),
              "gather: column out of range");
  nb::gil_scoped_release release;
  hot::gather(rows.data(), int64_t(rows.shape(1)), slots.data(), int64_t(slots.shape(0)),
              columns.data(), int64_t(columns.shape(0)), out.data(), threads);
}

// matrix[:, places] = matrix[places]'
template <class T>
void mirror(Writable<T> matrix, Array<int64_t> places, int threads) {
  require(matrix.ndim() == 2 && matrix.shape(0) == matrix.shape(1), "mirror: a square matrix");
  const int64_t n = int64_t(matrix.shape(0)), count = int64_t(places.size());
  check_range(places.data(), places.size(), n, "mirror: place out of range");
  require(std::is_sorted(places.data(), places.data() + count), "mirror: places in order");
  nb::gil_scoped_release release;
  hot::mirror_rows(matrix.data(), n, places.data(), count, threads);
}

// out = [first, between; between', second]
template <class T>
void join_blocks(Array<T> first, Array<T> between, Array<T> second, Writable<T> out) {
  require(first.ndim() == 2 && between.ndim() == 2 && second.ndim() == 2 && out.ndim() == 2,
          "join_blocks: dimensions");
  const size_t p = first.shape(0), q = second.shape(0), n = p + q;
  require(first.shape(1) == p && second.shape(1) == q && between.shape(0) == p &&
              between.shape(1) == q && out.shape(0) == n && out.shape(1) == n,
          "join_blocks: shapes do not fit");
  const T *A = first.data(), *B = between.data(), *D = second.data();
  T* to = out.data();
  nb::gil_scoped_release release;
  for (size_t r = 0; r < p; ++r) {
    std::copy(A + r * p, A + (r + 1) * p, to + r * n);
    std::copy(B + r * q, B + (r + 1) * q, to + r * n + p);
  }
  constexpr size_t side = 32;
  for (size_t c = 0; c < q; c += side)
    for (size_t r = 0; r < p; r += side)
      for (size_t i = c; i < std::min(q, c + side); ++i)
        for (size_t j = r; j < std::min(p, r + side); ++j) to[(p + i) * n + j] = B[j * q + i];
  for (size_t r = 0; r < q; ++r) std::copy(D + r * q, D + (r + 1) * q, to + (p + r) * n + p);
}

template <class T>
Packed<T>* packed_expansion(Array<double> Z, Array<int64_t> begin, Array<double> coef,
                            Vector centre, double scale) {
  require(Z.ndim() == 2 && coef.ndim() == 2 && coef.shape(0) == Z.shape(0),
          "expansion: shape of coef");
  require(begin.ndim() == 1 && begin.shape(0) >= 1, "expansion: groups");
  const int64_t n = int64_t(Z.shape(0)), d = int64_t(Z.shape(1)),
                groups = int64_t(begin.shape(0)) - 1;
  const int64_t* p = begin.data();
  require(p[0] == 0 && p[groups] == n, "expansion: groups do not span the points");
  for (int64_t g = 0; g < groups; ++g) require(p[g] <= p[g + 1], "expansion: groups");
  const double* middle = of_length(centre, d, "expansion: length of the centre");
  nb::gil_scoped_release release;
  auto packed = std::make_unique<Packed<T>>();
  packed->d = d, packed->columns = int64_t(coef.shape(1)), packed->scale = scale;
  packed->centre.assign(middle, middle + d);
  packed->pack(Z.data(), p, groups, coef.data());
  return packed.release();
}

template <class T, class X>
bool expansion_sums(const Packed<T>& packed, Array<X> rows, Writable<double> out,
                    std::optional<Writable<double>> halves, int threads) {
  require(rows.ndim() == 2 && int64_t(rows.shape(1)) == packed.d, "expansion: shape of X");
  const int64_t n = int64_t(rows.shape(0));
  require(out.ndim() == 3 && out.shape(0) + 1 == packed.begin.size() &&
              int64_t(out.shape(1)) == packed.columns && int64_t(out.shape(2)) == n,
          "expansion: shape of out");
  double* half = halves ? of_length(*halves, n, "expansion: length of halves") : nullptr;
  nb::gil_scoped_release release;
  return hot::packed_sums<T, X>(packed, rows.data(), n, out.data(), half, threads);
}

template <class T>
void bind_expansion(nb::module_& m, const char* name, const char* make) {
  nb::class_<Packed<T>>(m, name);
  m.def(make, &packed_expansion<T>, nb::arg("Z"), nb::arg("begin"), nb::arg("coef"),
        nb::arg("centre"), nb::arg("scale"), nb::rv_policy::take_ownership);
  m.def("expansion_sums", &expansion_sums<T, double>, nb::arg("expansion"),
        nb::arg("X").noconvert(), nb::arg("out").noconvert(), nb::arg("halves").none(),
        nb::arg("threads"));
  m.def("expansion_sums", &expansion_sums<T, float>, nb::arg("expansion"), nb::arg("X").noconvert(),
        nb::arg("out").noconvert(), nb::arg("halves").none(), nb::arg("threads"));
}

template <class T, class S>
void bind_products(nb::module_& m) {
  m.def("kernel_product", &kernel_product<T, S>, nb::arg("kernel"), nb::arg("A"),
        nb::arg("a").none(), nb::arg("coef").noconvert(), nb::arg("B"), nb::arg("b").none(),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("kernel_products", &kernel_products<T, S>, nb::arg("kernel"), nb::arg("A"),
        nb::arg("begin"), nb::arg("coef").noconvert(), nb::arg("B"), nb::arg("out").noconvert(),
        nb::arg("threads"));
}

template <class T>
void bind(nb::module_& m) {
  m.def("kernel_block", &kernel_block<T>, nb::arg("kernel"), nb::arg("A"), nb::arg("a").none(),
        nb::arg("B"), nb::arg("b").none(), nb::arg("out").noconvert(), nb::arg("slots").none(),
        nb::arg("threads"));
  bind_products<T, double>(m);
  m.def("update_gradient", &update_gradient<T>, nb::arg("rows").noconvert(), nb::arg("slots"),
        nb::arg("delta"), nb::arg("F").noconvert(), nb::arg("threads"));
  m.def("gather", &gather<T>, nb::arg("rows").noconvert(), nb::arg("slots"), nb::arg("columns"),
        nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("mirror", &mirror<T>, nb::arg("matrix").noconvert(), nb::arg("places"), nb::arg("threads"));
  m.def("join_blocks", &join_blocks<T>, nb::arg("first").noconvert(),
        nb::arg("between").noconvert(), nb::arg("second").noconvert(), nb::arg("out").noconvert());
}

}  // namespace

void bind_kernel(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_products<float, float>(m);
  bind_expansion<float>(m, "Expansion32", "expansion32");
  bind_expansion<double>(m, "Expansion64", "expansion64");
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
