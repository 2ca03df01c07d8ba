// The binding of dual variables: extremes of the gradient, pair steps, and walks along faces.
#include "candidates.h"
#include "face.h"
#include "holder.h"
#include "separate.h"
#include "survey.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

// The problem of n variables with a tile K of some rows, or without one, after every check.
template <class T>
Block<T> block_of(const T* K, size_t n, size_t rows, const Writable<double>& G,
                  const Writable<double>& b, const Array<double>& lower, const Array<double>& upper,
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
  require(n == 0 || (rows > 0 && n % rows == 0), "pair_steps: K must be square and fit G");
  return {int64_t(n),   int64_t(rows), K,
          G.data(),     b.data(),      lower.data(),
          upper.data(), ridge.data(),  group_begin.data(),
          fixed.data(), groups};
}

template <class T>
std::tuple<int64_t, double, bool, bool> pair_steps(Array<T> K, Writable<double> G,
                                                   Writable<double> b, Array<double> lower,
                                                   Array<double> upper, Array<double> ridge,
                                                   Array<int64_t> group_begin, Array<bool> fixed,
                                                   double tol, int64_t max_steps) {
  require(K.ndim() == 2 && K.shape(0) == K.shape(1), "pair_steps: K must be square and fit G");
  const Block<T> block =
      block_of<T>(K.data(), G.size(), K.shape(0), G, b, lower, upper, ridge, group_begin, fixed);
  BlockResult r;
  {
    nb::gil_scoped_release release;
    r = hot::pair_steps(block, tol, max_steps);
  }
  return {r.steps, r.violation, r.negative, r.unbounded};
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
  const Block<T> all = block_of<T>(nullptr, size_t(S.size), size_t(S.size), G, b, lower, upper,
                                   ridge, group_begin, fixed);
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

struct Groups {  // checked
  const double *b, *lower, *upper;
  const int64_t* begin;
  const bool* fixed;
  int64_t count;
};
Groups groups_of(size_t n, const Array<double>& b, const Array<double>& lower,
                 const Array<double>& upper, const Array<int64_t>& begin,
                 const Array<bool>& fixed) {
  require(b.size() == n && lower.size() == n && upper.size() == n,
          "group_extremes: lengths differ");
  const size_t groups = begin.size() > 0 ? begin.size() - 1 : 0;
  check_range(begin.data(), begin.size(), int64_t(n) + 1, "group_extremes: groups out of range");
  require(fixed.size() == groups, "group_extremes: whether the sum of each group is fixed");
  return {b.data(), lower.data(), upper.data(), begin.data(), fixed.data(), int64_t(groups)};
}

// Of each group: the least gradient that can grow, the greatest that can shrink, the sum over the
// free variables, their number.
using Reaches = std::vector<std::tuple<double, double, double, int64_t>>;
Reaches listed(const Survey& survey) {
  Reaches found;
  for (const Reach& r : survey.groups)
    found.emplace_back(r.least, r.greatest, r.free_sum, int64_t(r.free));
  return found;
}

Reaches group_extremes(Array<double> G, Array<double> b, Array<double> lower, Array<double> upper,
                       Array<int64_t> group_begin, Array<bool> fixed) {
  const Groups g = groups_of(G.size(), b, lower, upper, group_begin, fixed);
  return listed(survey(nullptr, G.data(), g.b, g.lower, g.upper, g.begin, g.fixed, g.count, 1));
}

// G, and: the extremes of its groups, b'(G + linear), |b - other|^2.
std::tuple<Reaches, double, double> survey_of(Writable<double> G, Array<double> b,
                                              Array<double> lower, Array<double> upper,
                                              Array<double> ridge, Array<int64_t> group_begin,
                                              Array<bool> fixed, Array<double> F,
                                              Array<int64_t> row, Array<double> linear,
                                              Array<double> other, int threads) {
  const size_t n = G.size();
  const Groups g = groups_of(n, b, lower, upper, group_begin, fixed);
  require(ridge.size() == n && row.size() == n && linear.size() == n && other.size() == n,
          "survey: lengths differ");
  check_range(row.data(), n, int64_t(F.size()), "survey: row out of range");
  const Gradient parts{F.data(), linear.data(), ridge.data(), other.data(), row.data(), G.data()};
  Survey found;
  {
    nb::gil_scoped_release release;
    found = survey(&parts, G.data(), g.b, g.lower, g.upper, g.begin, g.fixed, g.count, threads);
  }
  return {listed(found), found.value, found.squared};
}

// The variables that are free or violate optimality, -level - G of each, and the nearest others.
std::tuple<Flat<int64_t>, Flat<double>, Flat<int64_t>> candidates(
    Array<double> G, Array<double> b, Array<double> lower, Array<double> upper,
    Array<int64_t> group_begin, Array<bool> fixed, Array<double> level, int64_t size, int threads) {
  const Groups g = groups_of(G.size(), b, lower, upper, group_begin, fixed);
  require(int64_t(level.size()) == g.count, "candidates: a level for each group");
  Candidates found;
  {
    nb::gil_scoped_release release;
    found =
        Look(G.data(), g.b, g.lower, g.upper, g.begin, level.data(), g.count, threads).run(size);
  }
  return {owned(std::move(found.first)), owned(std::move(found.below)),
          owned(std::move(found.nearest))};
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
        nb::arg("group_begin"), nb::arg("fixed"), nb::arg("tol"), nb::arg("max_steps"));
  m.def("separate_steps", &separate_steps<T>, nb::arg("kernel"), nb::arg("A"), nb::arg("exact"),
        nb::arg("a"), nb::arg("G").noconvert(), nb::arg("b").noconvert(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"),
        nb::arg("tol"), nb::arg("most"), nb::arg("threads"));
}

void bind_float64(nb::module_& m) {
  m.def("group_extremes", &group_extremes, nb::arg("G"), nb::arg("b"), nb::arg("lower"),
        nb::arg("upper"), nb::arg("group_begin"), nb::arg("fixed"));
  m.def("survey", &survey_of, nb::arg("G").noconvert(), nb::arg("b"), nb::arg("lower"),
        nb::arg("upper"), nb::arg("ridge"), nb::arg("group_begin"), nb::arg("fixed"), nb::arg("F"),
        nb::arg("row"), nb::arg("linear"), nb::arg("other"), nb::arg("threads"));
  m.def("candidates", &candidates, nb::arg("G"), nb::arg("b"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("group_begin"), nb::arg("fixed"), nb::arg("level"), nb::arg("size"),
        nb::arg("threads"));
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
