// The binding of dual variables: extremes of the gradient, pair steps, and walks along faces.
#include "face.h"
#include "holder.h"
#include "separate.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

// The problem of n variables with the tile K, or without one, after every check.
template <class T>
Block<T> block_of(const T* K, size_t n, const Writable<double>& G, const Writable<double>& b,
                  const Array<double>& lower, const Array<double>& upper,
                  const Array<double>& ridge, const Array<int64_t>& group_begin,
                  const Array<bool>& fixed) {
  require(G.ndim() == 1 && b.ndim() == 1 && lower.ndim() == 1 && upper.ndim() == 1 &&
              ridge.ndim() == 1 && group_begin.ndim() == 1,
          "pair_steps: 1-d arrays are needed");
  require(G.shape(0) == n && b.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n &&
              ridge.shape(0) == n,
          "pair_steps: lengths differ");
  const int64_t groups = int64_t(group_begin.shape(0)) - 1;
  require(groups >= 0 && group_begin.data()[0] == 0 && group_begin.data()[groups] == int64_t(n),
          "pair_steps: groups");
  for (int64_t g = 0; g < groups; ++g)
    require(group_begin.data()[g] <= group_begin.data()[g + 1], "pair_steps: groups");
  require(fixed.ndim() == 1 && int64_t(fixed.shape(0)) == groups,
          "pair_steps: whether the sum of each group is fixed");
  return {int64_t(n),   K,
          G.data(),     b.data(),
          lower.data(), upper.data(),
          ridge.data(), group_begin.data(),
          fixed.data(), groups};
}

template <class T>
std::tuple<int64_t, double, bool, bool> pair_steps(Array<T> K, Writable<double> G,
                                                   Writable<double> b, Array<double> lower,
                                                   Array<double> upper, Array<double> ridge,
                                                   Array<int64_t> group_begin, Array<bool> fixed,
                                                   double tol, int64_t max_steps, int threads) {
  require(K.ndim() == 2 && K.shape(0) == G.size() && K.shape(1) == G.size(),
          "pair_steps: K must be square and fit G");
  const Block<T> block =
      block_of<T>(K.data(), K.shape(0), G, b, lower, upper, ridge, group_begin, fixed);
  BlockResult r;
  {
    nb::gil_scoped_release release;
    r = hot::pair_steps(block, tol, max_steps, threads);
  }
  return {r.steps, r.violation, r.negative, r.unbounded};
}

template <class T>
std::tuple<int64_t, double, bool, bool, bool> pair_steps_on_points(
    const KernelTuple& kernel, const PointsHolder<T>& A, const Index& a, Writable<double> G,
    Writable<double> b, Array<double> lower, Array<double> upper, Array<double> ridge,
    Array<int64_t> group_begin, Array<bool> fixed, double tol, int64_t max_steps, int threads) {
  const Selection<T> S = select(A, a);
  const Block<T> block =
      block_of<T>(nullptr, size_t(S.size), G, b, lower, upper, ridge, group_begin, fixed);
  const Kernel k = kernel_of(kernel);
  BlockResult r;
  {
    nb::gil_scoped_release release;
    r = hot::pair_steps_on_points(block, k, S, tol, max_steps, threads);
  }
  return {r.steps, r.violation, r.negative, r.unbounded, r.finite};
}

// The outcome of each group.
template <class T>
std::vector<std::tuple<int64_t, double, bool, bool, bool>> separate_steps(
    const KernelTuple& kernel, const PointsHolder<T>& A, const PointsHolder<double>& exact,
    const Array<int64_t>& a, Writable<double> G, Writable<double> b, Array<double> lower,
    Array<double> upper, Array<double> ridge, Array<int64_t> group_begin, Array<bool> fixed,
    double tol, Array<int64_t> most, int threads) {
  const Selection<T> S = select(A, a);
  const Selection<double> E = select(exact, a);
  const Block<T> all =
      block_of<T>(nullptr, size_t(S.size), G, b, lower, upper, ridge, group_begin, fixed);
  require(most.ndim() == 1 && int64_t(most.shape(0)) == all.groups, "separate_steps: most");
  const Kernel k = kernel_of(kernel);
  std::vector<BlockResult> results;
  {
    nb::gil_scoped_release release;
    results = hot::separate_steps(all, k, S, E, tol, most.data(), threads);
  }
  std::vector<std::tuple<int64_t, double, bool, bool, bool>> found;
  for (const BlockResult& r : results)
    found.emplace_back(r.steps, r.violation, r.negative, r.unbounded, r.finite);
  return found;
}

// For each group: the least gradient that can grow, the greatest that can shrink, the sum over the
// free variables, their number.
std::vector<std::tuple<double, double, double, int64_t>> group_extremes(
    Array<double> G, Array<double> b, Array<double> lower, Array<double> upper,
    Array<int64_t> group_begin, Array<bool> fixed) {
  require(b.size() == G.size() && lower.size() == G.size() && upper.size() == G.size(),
          "group_extremes: lengths differ");
  const size_t groups = group_begin.size() > 0 ? group_begin.size() - 1 : 0;
  check_range(group_begin.data(), group_begin.size(), int64_t(G.size()) + 1,
              "group_extremes: groups out of range");
  require(fixed.size() == groups, "group_extremes: whether the sum of each group is fixed");
  std::vector<std::tuple<double, double, double, int64_t>> found;
  for (size_t g = 0; g < groups; ++g) {
    double least = infinity, greatest = -infinity, sum = 0;
    int64_t free = 0;
    for (int64_t k = group_begin.data()[g]; k < group_begin.data()[g + 1]; ++k) {
      const double value = G.data()[k];
      const bool grow = b.data()[k]<upper.data()[k], shrink = b.data()[k]> lower.data()[k];
      if (grow && value < least) least = value;
      if (shrink && value > greatest) greatest = value;
      if (grow && shrink) sum += value, ++free;
    }
    if (!fixed.data()[g]) least = std::min(least, 0.0), greatest = std::max(greatest, 0.0);
    found.emplace_back(least, greatest, sum, free);
  }
  return found;
}

std::tuple<int64_t, int> face_steps(Writable<double> b, Writable<double> u, Writable<double> d,
                                    Array<double> lower, Array<double> upper, Writable<bool> pinned,
                                    Array<int64_t> group, int64_t groups, Writable<double> Z,
                                    Writable<double> R, Writable<int64_t> constraint, int64_t count,
                                    Array<double> columns, Array<int64_t> at, double dependent) {
  const size_t m = b.size(), room = constraint.size();
  require(u.size() == m && d.size() == m && lower.size() == m && upper.size() == m &&
              pinned.size() == m && group.size() == m && at.size() == m,
          "face_steps: lengths differ");
  require(Z.ndim() == 2 && Z.shape(0) == room && Z.shape(1) == m && R.ndim() == 2 &&
              R.shape(0) == room && R.shape(1) == room && count >= 0 && count <= int64_t(room),
          "face_steps: shape of Z or R");
  require(columns.ndim() == 2 && columns.shape(1) == m, "face_steps: shape of columns");
  for (size_t k = 0; k < m; ++k)
    require(at.data()[k] >= -1 && at.data()[k] < int64_t(columns.shape(0)),
            "face_steps: column out of range");
  for (int64_t j = 0; j < count; ++j)
    require(constraint.data()[j] >= -groups && constraint.data()[j] < int64_t(m),
            "face_steps: constraint out of range");
  const Walk walk{int64_t(m),    b.data(),       u.data(),      d.data(),
                  lower.data(),  upper.data(),   pinned.data(), group.data(),
                  groups,        Z.data(),       R.data(),      constraint.data(),
                  int64_t(room), columns.data(), at.data(),     dependent};
  nb::gil_scoped_release release;
  const auto [found, outcome] = FaceSteps(walk, count).run();
  return {found, int(outcome)};
}

template <class T>
void bind(nb::module_& m) {
  m.def("pair_steps", &pair_steps<T>, nb::arg("K").noconvert(), nb::arg("G").noconvert(),
        nb::arg("b").noconvert(), nb::arg("lower"), nb::arg("upper"), nb::arg("ridge"),
        nb::arg("group_begin"), nb::arg("fixed"), nb::arg("tol"), nb::arg("max_steps"),
        nb::arg("threads"));
  m.def("pair_steps_on_points", &pair_steps_on_points<T>, nb::arg("kernel"), nb::arg("A"),
        nb::arg("a").none(), nb::arg("G").noconvert(), nb::arg("b").noconvert(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"),
        nb::arg("tol"), nb::arg("max_steps"), nb::arg("threads"));
  m.def("separate_steps", &separate_steps<T>, nb::arg("kernel"), nb::arg("A"), nb::arg("exact"),
        nb::arg("a"), nb::arg("G").noconvert(), nb::arg("b").noconvert(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"),
        nb::arg("tol"), nb::arg("most"), nb::arg("threads"));
}

void bind_float64(nb::module_& m) {
  m.def("group_extremes", &group_extremes, nb::arg("G"), nb::arg("b"), nb::arg("lower"),
        nb::arg("upper"), nb::arg("group_begin"), nb::arg("fixed"));
  m.def("face_steps", &face_steps, nb::arg("b").noconvert(), nb::arg("u").noconvert(),
        nb::arg("d").noconvert(), nb::arg("lower"), nb::arg("upper"), nb::arg("pinned").noconvert(),
        nb::arg("group"), nb::arg("groups"), nb::arg("Z").noconvert(), nb::arg("R").noconvert(),
        nb::arg("constraint").noconvert(), nb::arg("count"), nb::arg("columns").noconvert(),
        nb::arg("at"), nb::arg("dependent"));
}

}  // namespace

void bind_duals(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_float64(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
