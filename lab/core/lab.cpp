// The solver's core for WebAssembly: the functions of src/maxmargin/core that the lab calls, behind
// an interface of numbers and pointers. lab/src/svm/core.ts is the other side of it.
//
// Everything is in float64 and on one thread. Points are dense, row after row. A tile is the
// problem of `n` variables on their own matrix Q; the variables of group g are begin[g], ...,
// begin[g + 1] - 1.
#include "newton.h"
#include "products.h"

namespace maxmargin::MAXMARGIN_LEVEL {

template bool kernel_block(const Kernel&, const Selection<double>&, const Selection<double>&,
                           double*, const int64_t*, bool, int);
template bool kernel_product(const Kernel&, const Selection<double>&, const double*, int64_t,
                             const Selection<double>&, double*, int);

namespace {

class Rows {  // points with their squared norms
 public:
  Rows(const double* values, int n, int d)
      : squares(size_t(n)), points{n, d, values, nullptr, nullptr, squares.data()} {
    norms(points, squares.data());
  }
  Selection<double> all() const { return {points, nullptr, points.n}; }

 private:
  std::vector<double> squares;
  Points<double> points;
};

struct Tile {
  std::vector<int64_t> begins;
  bool fixed[2] = {true, true};
  Block<double> block;

  Tile(int n, const double* Q, double* G, double* b, const double* lower, const double* upper,
       const double* ridge, const int* begin, int groups)
      : begins(begin, begin + groups + 1),
        block{n, n, Q, G, b, lower, upper, ridge, begins.data(), fixed, groups} {}
};

}  // namespace
}  // namespace maxmargin::MAXMARGIN_LEVEL

using namespace maxmargin;
using namespace maxmargin::MAXMARGIN_LEVEL;

extern "C" {

// out[j][i] = k(A_j, B_i); false if a value is not finite.
bool lab_kernel_block(int kind, double gamma, double coef0, int degree, int d, const double* A,
                      int n_a, const double* B, int n_b, double* out) {
  const Rows a(A, n_a, d), b(B, n_b, d);
  return kernel_block({Kind(kind), gamma, coef0, degree}, a.all(), b.all(), out, nullptr,
                      A == B && n_a == n_b, 1);
}

// out[c][i] += sum over j of coef[j][c] k(A_j, B_i); false if a kernel value is not finite.
bool lab_kernel_product(int kind, double gamma, double coef0, int degree, int d, const double* A,
                        int n_a, const double* coef, int columns, const double* B, int n_b,
                        double* out) {
  const Rows a(A, n_a, d), b(B, n_b, d);
  return kernel_product({Kind(kind), gamma, coef0, degree}, a.all(), coef, columns, b.all(), out,
                        1);
}

// Whether a symmetric matrix is positive semidefinite, up to this shift of its diagonal.
bool lab_is_definite(int n, const double* K, double shift) {
  Aligned<double> copy(K, K + int64_t(n) * n);
  for (int k = 0; k < n; ++k) copy[size_t(int64_t(k) * n + k)] += shift;
  return Cholesky(std::move(copy), n).exists();
}

// Pair steps until the violation is at most tol. result: the number of steps, the violation, and
// whether negative curvature was met. No step is without a bound: variables of one sign sum up to
// a given total.
void lab_pair_steps(int n, const double* Q, double* G, double* b, const double* lower,
                    const double* upper, const double* ridge, const int* begin, int groups,
                    double tol, double max_steps, double* result) {
  const Tile tile(n, Q, G, b, lower, upper, ridge, begin, groups);
  const BlockResult found = pair_steps(tile.block, tol, int64_t(max_steps));
  result[0] = double(found.steps), result[1] = found.violation, result[2] = found.negative;
}

// Newton steps and pair steps in turn. result: the number of pair steps, and whether the problem
// is convex.
void lab_newton(int n, const double* Q, double* G, double* b, const double* lower,
                const double* upper, const double* ridge, const int* begin, int groups, double tol,
                double max_steps, double* result) {
  const Tile tile(n, Q, G, b, lower, upper, ridge, begin, groups);
  const NewtonResult found = Newton(tile.block).run(tol, int64_t(max_steps));
  result[0] = double(found.steps), result[1] = found.convex;
}
}
