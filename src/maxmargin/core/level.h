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

// The losses of n samples: leaving the corridor [low, high] of decision values costs `up` a unit below it and `down` a unit above it, or a
// unit squared; see losses.py.
struct Corridor {
  int64_t n;
  const double *low, *high, *up, *down;
  bool squared;
};

// Sums over all samples at given decision values f and duals t; see losses.py.
struct CorridorSums {
  double smooth, loss, gain, total;
};

// One pass of dual coordinate descent; see coordinate.h.
template <class T>
struct CoordinatePass {
  Points<T> X;
  Corridor corridor;
  const double* norms;  // squared norms in float64, with the bias column's square
  double* beta;         // duals, in and out
  double* w;            // X' beta, in and out
  double* bias;         // in and out
  double column;        // the bias column's square: bias += column * change of beta
  int32_t* order;       // the active samples; in: any order, out: shuffled, those set aside at the end
  int64_t active;
  double aside;         // a sample at a bound is set aside if its condition holds by more than this
  uint64_t seed;
};

struct PassResult {
  double gap, violation;  // as met on the way
  int64_t active;
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
  void (*linear_values)(const Selection<T>& A, const double* w, double* out, int threads);
  void (*linear_sum)(const Selection<T>& A, const double* coef, double* out, int threads);
  void (*linear_squares)(const Points<T>& X, double* out, int threads);
  void (*gram)(const Selection<T>& A, const double* weight, double* out, int threads);
  PassResult (*coordinate_pass)(const CoordinatePass<T>&);
};

struct Level {
  const char* name;
  LevelOf<float> f32;
  LevelOf<double> f64;
  CorridorSums (*corridor_duals)(const Corridor&, const double* f, const double* centre, double width, double* t, double* curvature,
                                 int threads);
  double (*corridor_slope)(const Corridor&, const double* f, const double* change, double step, const double* centre, double width,
                           int threads);
  uint64_t (*fingerprint)(const unsigned char* bytes, size_t count);
};

}  // namespace maxmargin
