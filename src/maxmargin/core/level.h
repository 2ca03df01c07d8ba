// The contract between the hot code (hot.cpp, compiled once per instruction level) and the binding (module.cpp).
//
// Nothing here depends on an instruction level: plain structs and one table of function pointers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace maxmargin {

// The scalar maps that reach the core. Their numbers are those of maxmargin.kernels.Kind.
enum class Kind : int { linear = 0, poly = 1, rbf = 2, tanh = 3, logistic = 4, laplacian = 5, chi2 = 6 };

struct Kernel {
  Kind kind;
  double gamma, coef0;
  int degree;
};

// n points of dimension d, dense row-major (values, no indptr) or CSR (sorted columns, no duplicates).
template <class T>
struct Points {
  int64_t n, d;
  const T* values;
  const int64_t* indptr;   // null: dense
  const int32_t* indices;  // null: dense
  const T* norms;          // squared norms, from Level::norms
};

// A selection of points: all of them (index null, size n) or those listed.
template <class T>
struct Selection {
  Points<T> points;
  const int64_t* index;
  int64_t size;
  int64_t at(int64_t i) const { return index ? index[i] : i; }
};

// One working-set problem; variables of a group are contiguous: group g is [group_begin[g], group_begin[g + 1]).
template <class T>
struct Block {
  int64_t size;
  const T* K;  // size x size
  double* G;   // gradient, in and out
  double* b;   // variables, in and out
  const double *lower, *upper, *ridge;
  const int64_t* group_begin;
  int64_t groups;
};

struct BlockResult {
  int64_t steps;
  double violation;    // after the last step
  bool negative;       // a pair of negative curvature was met
  bool unbounded;      // a step without end was met
  bool finite = true;  // no kernel value was infinite or not a number
};

// The same where K is not stored: k(points, points) is computed as it is needed.
template <class T>
struct PointsBlock {
  Block<T> block;  // its K is null
  Kernel kernel;
  Selection<T> points;
  int threads;
};

template <class T>
struct LevelOf {
  void (*norms)(const Points<T>&, T* out);
  bool (*kernel_block)(const Kernel&, const Selection<T>& A, const Selection<T>& B, T* out, const int64_t* slots, bool symmetric,
                       int threads);
  bool (*kernel_matvec)(const Kernel&, const Selection<T>& A, const double* coef, int64_t columns, const Selection<T>& B,
                        double* out, int threads);
  bool (*kernel_matvec_in_runs)(const Kernel&, const Selection<T>& A, const T* coef, int64_t columns, const Selection<T>& B,
                                double* out, int threads);
  void (*update_gradient)(const T* rows, int64_t row_length, const int64_t* slots, const double* delta, int64_t count,
                          double* F, int threads);
  void (*gather)(const T* rows, int64_t row_length, const int64_t* slots, int64_t count, const int64_t* columns,
                 int64_t width, T* out, int threads);
  BlockResult (*solve_block)(const Block<T>&, double tol, int64_t max_steps);
  BlockResult (*solve_points)(const PointsBlock<T>&, double tol, int64_t max_steps);
};

struct Level {
  const char* name;
  LevelOf<float> f32;
  LevelOf<double> f64;
  uint64_t (*fingerprint)(const unsigned char* bytes, size_t count);
};

}  // namespace maxmargin
