// The binding: checks shapes and types, releases the GIL, chooses the instruction level once.
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "binding.h"

using namespace maxmargin;

#define MAXMARGIN_DECLARE(name) \
  namespace maxmargin::name {   \
  extern const Level level;     \
  }
MAXMARGIN_DECLARE(base)
MAXMARGIN_DECLARE(v3)
MAXMARGIN_DECLARE(v4)

namespace {

// Instruction levels that were compiled (MAXMARGIN_HAS_...) and that this processor runs, the best last.
std::vector<const Level*> available_levels() {
  std::vector<const Level*> levels;
#ifdef MAXMARGIN_HAS_base
  levels.push_back(&maxmargin::base::level);
#endif
#if defined(MAXMARGIN_HAS_v3) || defined(MAXMARGIN_HAS_v4)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
#ifdef MAXMARGIN_HAS_v3
  if (v3) levels.push_back(&maxmargin::v3::level);
#endif
#ifdef MAXMARGIN_HAS_v4
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  if (v4) levels.push_back(&maxmargin::v4::level);
#endif
  return levels;
}

}  // namespace

const Level& maxmargin::chosen_level() {
  static const Level* level = [] {
    const auto levels = available_levels();
    const char* wanted = std::getenv("MAXMARGIN_LEVEL");
    if (levels.empty()) throw std::invalid_argument("maxmargin was compiled for other processors than this one");
    if (!wanted) return levels.back();
    for (const Level* l : levels)
      if (std::string(wanted) == l->name) return l;
    throw std::invalid_argument(std::string("MAXMARGIN_LEVEL=") + wanted + " is not an instruction level of this processor");
  }();
  return *level;
}

namespace {

template <class T>
PointsHolder<T>* dense_points(Array<T> X) {
  require(X.ndim() == 2, "points: a 2-d array is needed");
  auto* holder = new PointsHolder<T>{X, {}, {}, {}, {int64_t(X.shape(0)), int64_t(X.shape(1)), X.data(), nullptr, nullptr, nullptr}};
  holder->finish();
  return holder;
}

template <class T>
PointsHolder<T>* sparse_points(Array<T> values, Array<int64_t> indptr, Array<int32_t> indices, int64_t d) {
  require(values.ndim() == 1 && indptr.ndim() == 1 && indices.ndim() == 1 && indptr.shape(0) >= 1, "points: malformed CSR");
  require(values.shape(0) == indices.shape(0), "points: CSR data and indices differ in length");
  const int64_t n = int64_t(indptr.shape(0)) - 1, entries = int64_t(values.shape(0));
  const int64_t* p = indptr.data();
  require(p[0] == 0 && p[n] == entries, "points: CSR indptr does not span the data");
  for (int64_t i = 0; i < n; ++i) require(p[i] <= p[i + 1], "points: CSR indptr decreases");
  check_range(indices.data(), size_t(entries), d, "points: CSR index out of range");
  auto* holder = new PointsHolder<T>{values, indptr, indices, {}, {n, d, values.data(), indptr.data(), indices.data(), nullptr}};
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
    holder->own_values.reset(new T[entries + 1]);  // every entry is written, and the next goes on top of it if it was zero: no branch
    holder->own_indices.reset(new int32_t[entries + 1]);
    for (int64_t i = 0, at = 0; i < n; ++i)
      for (int64_t k = 0; k < d; ++k) {
        const T value = x[i * d + k];
        holder->own_values[size_t(at)] = value;
        holder->own_indices[size_t(at)] = int32_t(k);
        at += value != 0;
      }
  }
  holder->view = {n, d, holder->own_values.get(), holder->own_indptr.data(), holder->own_indices.get(), nullptr};
  holder->finish();
  return holder.release();
}

Kernel kernel_of(const std::tuple<int, double, double, int>& k) {
  const auto [kind, gamma, coef0, degree] = k;
  require(kind >= 0 && kind <= int(Kind::rbf_by_differences) && degree >= 0, "kernel: unknown kind or negative degree");
  return {Kind(kind), gamma, coef0, degree};
}
using KernelTuple = std::tuple<int, double, double, int>;

template <class T>
bool kernel_block(const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a, const PointsHolder<T>& B, const Index& b,
                  Writable<T> out, const Index& slots, int threads) {
  const Selection<T> SA = select(A, a), SB = select(B, b);
  require(A.view.d == B.view.d, "kernel_block: points differ in dimension");
  require(out.ndim() == 2 && int64_t(out.shape(1)) == SB.size, "kernel_block: shape of out");
  if (slots) {
    require(slots->ndim() == 1 && int64_t(slots->shape(0)) == SA.size, "kernel_block: one slot for each row");
    check_range(slots->data(), slots->shape(0), int64_t(out.shape(0)), "kernel_block: slot out of range");
  } else {
    require(int64_t(out.shape(0)) == SA.size, "kernel_block: shape of out");
  }
  const Kernel k = kernel_of(kernel);
  nb::gil_scoped_release release;
  const bool symmetric = SA.points.values == SB.points.values && SA.index == SB.index && SA.size == SB.size && !slots;
  return table<T>().kernel_block(k, SA, SB, out.data(), slots ? slots->data() : nullptr, symmetric, threads);
}

template <class T, class S>
auto matvec() {
  if constexpr (std::is_same_v<S, double>) return table<T>().kernel_matvec;
  else return table<T>().kernel_matvec_in_runs;
}

template <class T, class S>
bool kernel_matvec(const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a, Array<S> coef,
                   const PointsHolder<T>& B, const Index& b, Writable<double> out, int threads) {
  const Selection<T> SA = select(A, a), SB = select(B, b);
  require(A.view.d == B.view.d, "kernel_matvec: points differ in dimension");
  require(coef.ndim() == 2 && int64_t(coef.shape(0)) == SA.size, "kernel_matvec: shape of coef");
  require(out.ndim() == 2 && out.shape(0) == coef.shape(1) && int64_t(out.shape(1)) == SB.size, "kernel_matvec: shape of out");
  const Kernel k = kernel_of(kernel);
  nb::gil_scoped_release release;
  return matvec<T, S>()(k, SA, coef.data(), int64_t(coef.shape(1)), SB, out.data(), threads);
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
bool grouped_matvec(const KernelTuple& kernel, const PointsHolder<T>& A, Array<int64_t> begin, Array<S> coef, const PointsHolder<T>& B,
                    Writable<double> out, int threads) {
  require(A.view.d == B.view.d && begin.ndim() == 1 && begin.shape(0) >= 1, "grouped_matvec: points or groups");
  const size_t groups = begin.shape(0) - 1;
  const int64_t* p = begin.data();
  require(p[0] == 0 && p[groups] == A.view.n, "grouped_matvec: groups do not span the points");
  for (size_t g = 0; g < groups; ++g) require(p[g] <= p[g + 1], "grouped_matvec: groups");
  require(coef.ndim() == 2 && int64_t(coef.shape(0)) == A.view.n, "grouped_matvec: shape of coef");
  require(out.ndim() == 3 && out.shape(0) == groups && out.shape(1) == coef.shape(1) && int64_t(out.shape(2)) == B.view.n,
          "grouped_matvec: shape of out");
  const Kernel k = kernel_of(kernel);
  const int64_t columns = int64_t(coef.shape(1));
  nb::gil_scoped_release release;
  bool finite = true;
  for (size_t g = 0; g < groups && finite; ++g)
    finite = matvec<T, S>()(k, range(A.view, p[g], p[g + 1]), coef.data() + p[g] * columns, columns, select(B, {}),
                            out.data() + int64_t(g) * columns * B.view.n, threads);
  return finite;
}

template <class T>
void update_gradient(Array<T> rows, Array<int64_t> slots, Array<double> delta, Writable<double> F, int threads) {
  require(rows.ndim() == 2 && F.ndim() == 1 && F.shape(0) == rows.shape(1), "update_gradient: shape of F");
  require(slots.ndim() == 1 && delta.ndim() == 1 && slots.shape(0) == delta.shape(0), "update_gradient: shape of delta");
  check_range(slots.data(), slots.shape(0), int64_t(rows.shape(0)), "update_gradient: slot out of range");
  nb::gil_scoped_release release;
  table<T>().update_gradient(rows.data(), int64_t(rows.shape(1)), slots.data(), delta.data(), int64_t(slots.shape(0)), F.data(), threads);
}

template <class T>
void gather(Array<T> rows, Array<int64_t> slots, Array<int64_t> columns, Writable<T> out, int threads) {
  require(rows.ndim() == 2 && slots.ndim() == 1 && columns.ndim() == 1, "gather: dimensions");
  require(out.ndim() == 2 && out.shape(0) == slots.shape(0) && out.shape(1) == columns.shape(0), "gather: shape of out");
  check_range(slots.data(), slots.shape(0), int64_t(rows.shape(0)), "gather: slot out of range");
  check_range(columns.data(), columns.shape(0), int64_t(rows.shape(1)), "gather: column out of range");
  nb::gil_scoped_release release;
  table<T>().gather(rows.data(), int64_t(rows.shape(1)), slots.data(), int64_t(slots.shape(0)), columns.data(),
                    int64_t(columns.shape(0)), out.data(), threads);
}

// out = [first, between; between', second]
template <class T>
void join_blocks(Array<T> first, Array<T> between, Array<T> second, Writable<T> out) {
  require(first.ndim() == 2 && between.ndim() == 2 && second.ndim() == 2 && out.ndim() == 2, "join_blocks: dimensions");
  const size_t p = first.shape(0), q = second.shape(0), n = p + q;
  require(first.shape(1) == p && second.shape(1) == q && between.shape(0) == p && between.shape(1) == q && out.shape(0) == n && out.shape(1) == n,
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

// The problem of n variables with the tile K, or without one, after every check.
template <class T>
Block<T> block_of(const T* K, size_t n, const Writable<double>& G, const Writable<double>& b, const Array<double>& lower,
                  const Array<double>& upper, const Array<double>& ridge, const Array<int64_t>& group_begin, const Array<bool>& fixed) {
  require(G.ndim() == 1 && b.ndim() == 1 && lower.ndim() == 1 && upper.ndim() == 1 && ridge.ndim() == 1 && group_begin.ndim() == 1,
          "solve_block: 1-d arrays are needed");
  require(G.shape(0) == n && b.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n && ridge.shape(0) == n, "solve_block: lengths differ");
  const int64_t groups = int64_t(group_begin.shape(0)) - 1;
  require(groups >= 0 && group_begin.data()[0] == 0 && group_begin.data()[groups] == int64_t(n), "solve_block: groups");
  for (int64_t g = 0; g < groups; ++g) require(group_begin.data()[g] <= group_begin.data()[g + 1], "solve_block: groups");
  require(fixed.ndim() == 1 && int64_t(fixed.shape(0)) == groups, "solve_block: whether the sum of each group is fixed");
  return {int64_t(n), K, G.data(), b.data(), lower.data(), upper.data(), ridge.data(), group_begin.data(), fixed.data(), groups};
}

template <class T>
std::tuple<int64_t, double, bool, bool> solve_block(Array<T> K, Writable<double> G, Writable<double> b, Array<double> lower,
                                                    Array<double> upper, Array<double> ridge, Array<int64_t> group_begin,
                                                    Array<bool> fixed, double tol, int64_t max_steps) {
  require(K.ndim() == 2 && K.shape(0) == G.size() && K.shape(1) == G.size(), "solve_block: K must be square and fit G");
  const Block<T> block = block_of<T>(K.data(), K.shape(0), G, b, lower, upper, ridge, group_begin, fixed);
  BlockResult r;
  {
    nb::gil_scoped_release release;
    r = table<T>().solve_block(block, tol, max_steps);
  }
  return {r.steps, r.violation, r.negative, r.unbounded};
}

// For each group: the least gradient that can grow, the greatest that can shrink, the sum over the free variables, their number.
std::vector<std::tuple<double, double, double, int64_t>> group_ends(Array<double> G, Array<double> b, Array<double> lower,
                                                                    Array<double> upper, Array<int64_t> group_begin, Array<bool> fixed) {
  require(b.size() == G.size() && lower.size() == G.size() && upper.size() == G.size(), "group_ends: lengths differ");
  const size_t groups = group_begin.size() > 0 ? group_begin.size() - 1 : 0;
  check_range(group_begin.data(), group_begin.size(), int64_t(G.size()) + 1, "group_ends: groups out of range");
  require(fixed.size() == groups, "group_ends: whether the sum of each group is fixed");
  std::vector<std::tuple<double, double, double, int64_t>> found;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (size_t g = 0; g < groups; ++g) {
    double least = infinity, greatest = -infinity, sum = 0;
    int64_t free = 0;
    for (int64_t k = group_begin.data()[g]; k < group_begin.data()[g + 1]; ++k) {
      const double value = G.data()[k];
      const bool grow = b.data()[k] < upper.data()[k], shrink = b.data()[k] > lower.data()[k];
      if (grow && value < least) least = value;
      if (shrink && value > greatest) greatest = value;
      if (grow && shrink) sum += value, ++free;
    }
    if (!fixed.data()[g]) least = std::min(least, 0.0), greatest = std::max(greatest, 0.0);
    found.emplace_back(least, greatest, sum, free);
  }
  return found;
}

template <class T>
std::tuple<int64_t, double, bool, bool, bool> solve_points(const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a,
                                                           Writable<double> G, Writable<double> b, Array<double> lower,
                                                           Array<double> upper, Array<double> ridge, Array<int64_t> group_begin,
                                                           Array<bool> fixed, double tol, int64_t max_steps, int threads) {
  const Selection<T> S = select(A, a);
  const Block<T> block = block_of<T>(nullptr, size_t(S.size), G, b, lower, upper, ridge, group_begin, fixed);
  const PointsBlock<T> problem{block, kernel_of(kernel), S, threads};
  BlockResult r;
  {
    nb::gil_scoped_release release;
    r = table<T>().solve_points(problem, tol, max_steps);
  }
  return {r.steps, r.violation, r.negative, r.unbounded, r.finite};
}

template <class T, class S>
void bind_products(nb::module_& m) {
  m.def("kernel_matvec", &kernel_matvec<T, S>, nb::arg("kernel"), nb::arg("A"), nb::arg("a").none(), nb::arg("coef").noconvert(),
        nb::arg("B"), nb::arg("b").none(), nb::arg("out").noconvert(), nb::arg("threads"));
  m.def("grouped_matvec", &grouped_matvec<T, S>, nb::arg("kernel"), nb::arg("A"), nb::arg("begin"), nb::arg("coef").noconvert(),
        nb::arg("B"), nb::arg("out").noconvert(), nb::arg("threads"));
}

template <class T>
void bind(nb::module_& m, const char* points_name) {
  nb::class_<PointsHolder<T>>(m, points_name)
      .def_prop_ro("shape", [](const PointsHolder<T>& p) { return std::make_tuple(p.view.n, p.view.d); })
      .def_prop_ro("terms", [](const PointsHolder<T>& p) { return p.terms; })
      .def_prop_ro("norms", [](PointsHolder<T>& p) {
        return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(p.norms.data(), {p.norms.size()}, nb::find(&p));
      });
  m.def("dense_points", &dense_points<T>, nb::arg("X").noconvert(), nb::rv_policy::take_ownership);
  m.def("compressed_points", &compressed_points<T>, nb::arg("X").noconvert(), nb::rv_policy::take_ownership);
  m.def("sparse_points", &sparse_points<T>, nb::arg("values").noconvert(), nb::arg("indptr"), nb::arg("indices"), nb::arg("d"),
        nb::rv_policy::take_ownership);
  m.def("kernel_block", &kernel_block<T>, nb::arg("kernel"), nb::arg("A"), nb::arg("a").none(), nb::arg("B"), nb::arg("b").none(),
        nb::arg("out").noconvert(), nb::arg("slots").none(), nb::arg("threads"));
  bind_products<T, double>(m);
  m.def("update_gradient", &update_gradient<T>, nb::arg("rows").noconvert(), nb::arg("slots"), nb::arg("delta"),
        nb::arg("F").noconvert(), nb::arg("threads"));
  m.def("gather", &gather<T>, nb::arg("rows").noconvert(), nb::arg("slots"), nb::arg("columns"), nb::arg("out").noconvert(),
        nb::arg("threads"));
  m.def("join_blocks", &join_blocks<T>, nb::arg("first").noconvert(), nb::arg("between").noconvert(), nb::arg("second").noconvert(),
        nb::arg("out").noconvert());
  m.def("solve_block", &solve_block<T>, nb::arg("K").noconvert(), nb::arg("G").noconvert(), nb::arg("b").noconvert(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"), nb::arg("tol"), nb::arg("max_steps"));
  m.def("solve_points", &solve_points<T>, nb::arg("kernel"), nb::arg("A"), nb::arg("a").none(), nb::arg("G").noconvert(),
        nb::arg("b").noconvert(), nb::arg("lower"), nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"),
        nb::arg("tol"), nb::arg("max_steps"), nb::arg("threads"));
}

}  // namespace

NB_MODULE(_cpu, m) {
  bind<float>(m, "Points32");
  bind<double>(m, "Points64");
  bind_products<float, float>(m);
  bind_linear(m);
  bind_online(m);
  bind_io(m);
  m.def("group_ends", &group_ends, nb::arg("G"), nb::arg("b"), nb::arg("lower"), nb::arg("upper"), nb::arg("group_begin"),
        nb::arg("fixed"));
  m.def("fingerprint", [](const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& memory) {
    nb::gil_scoped_release release;
    return chosen_level().fingerprint(static_cast<const unsigned char*>(memory.data()), memory.nbytes());
  }, nb::arg("memory").noconvert());
  m.def("level", [] { return std::string(chosen_level().name); });
  m.def("levels", [] {
    std::vector<std::string> names;
    for (const Level* l : available_levels()) names.emplace_back(l->name);
    return names;
  });
}
