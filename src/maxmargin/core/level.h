// The contract between the hot code (hot.cpp, compiled once per instruction level) and the binding (module.cpp).
//
// Nothing here depends on an instruction level: plain structs and one table of function pointers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace maxmargin {

// The scalar maps that reach the core. Their numbers are those of maxmargin.kernel.kernels.Kind; the last is
// RBF with distances by differences (cpu.py: RBF_BY_DIFFERENCES).
enum class Kind : int {
  linear = 0, poly = 1, rbf = 2, tanh = 3, logistic = 4, laplacian = 5, chi2 = 6, rbf_by_differences = 7
};

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
  const bool* fixed;  // whether a group's sum is
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

// The losses of n samples: leaving the tube [low, high] of decision values costs `up` a unit below it and `down` a unit above it, or a
// unit squared; see losses.py.
struct Tube {
  int64_t n;
  const double *low, *high, *up, *down;
  bool squared;
};

// Sums over all samples at given decision values f and duals t; see losses.py.
struct TubeSums {
  double loss, neg_conjugate, total;
};

// A sample as coordinate descent meets it: all it needs to know in one cache line.
struct alignas(64) Sample {
  double low, high, up, down;
  double square;  // |x|^2 and the bias column's square
  double beta;    // the dual
  int64_t begin, end;  // of its values
};

// A pass of dual coordinate descent; see coordinate.h.
template <class T>
struct CoordinatePass {
  Points<T> X;
  Sample* samples;
  bool squared;
  double* w;       // sum of beta x, in and out
  double* bias;    // in and out
  double column;   // the bias column's square: bias += column * change of the sum of beta
  int32_t* order;  // the active samples, shuffled where a pass begins
  int64_t active;
  int64_t begin;       // how many of them the pass has visited; a call visits the next ones, not necessarily all
  unsigned char* out;  // for each place of the order: whether its sample was shrunk
  double shrink_above;    // a sample at a bound is shrunk if its condition holds by more than this
  uint64_t seed;
  int threads;
};

struct PassResult {
  double gap, violation;  // as met on the way
  int64_t active;
};

struct PartResult {
  double gap, violation;  // as met on the way
  int64_t end;            // how many samples the pass has visited by now
};

// A quadratic model of a penalised problem; see lasso.h.
struct LassoModel {
  int64_t size;
  const double* H;      // size x size
  const double* penalty;  // of |u|
  double *u, *slope;    // in and out
};

// One pass of coordinate descent over the columns of penalised squared losses; see columns.h.
template <class T>
struct ColumnPass {
  Points<T> X;            // a point for each column
  const double* penalty;    // of |w|
  const double* squares;  // of each column, summed
  double factor;
  double *w, *r;   // in and out
  int32_t* order;  // the active columns, as in CoordinatePass
  int64_t active;
  double shrink_above;
  uint64_t seed;
  int threads;
};

// One pass over the samples for the machine of Crammer and Singer; see crammer_singer.h.
template <class T>
struct CrammerSingerPass {
  Points<T> X;
  const int32_t* label;
  const double *C, *norms;  // norms: squared, in float64, with the bias column's square
  double* t;                // duals, samples x classes, in and out
  double* W;                // X't, features x wide, in and out
  double* bias;             // wide, in and out
  int64_t classes, wide;
  double column;   // the bias column's square
  int32_t* order;  // the active samples, as in CoordinatePass
  int64_t active;
  double shrink_above;
  uint64_t seed;
};

// What does not change during a walk of Pegasos or NORMA; see pegasos.h.
struct PegasosRule {
  double alpha, bias_step;
  int64_t batch;
  bool project;
};
struct NormaRule {
  double alpha, eta0, power, nu;  // nu < 0: rho is fixed
  bool bias;
};

// A sample as a walk meets it: all that is not its row in one cache line.
struct PegasosSample {
  double sign, gain;
  double centre;          // m.x for the centre m of the samples
  double square;          // |x - m|^2
  double coef_v, coef_u;  // what v and u took of it
  double unused[2];
};

// A walk of Pegasos over the rows order[0], order[1], ... of X.
template <class T>
struct PegasosRows {
  Points<T> X;
  const int64_t* order;
  int64_t count;
  PegasosSample* samples;
  double *v, *u;  // u may be null
  double square;  // m.m
  double *margins, *numbers;
  PegasosRule rule;
};

// A walk over the samples begin, ..., n - 1 whose kernel values among each other are K; z and given are changed.
struct OnlineTile {
  const double* K;
  int64_t n, begin;
  double* z;
  const double *y, *gain;
  double* given;
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
  PartResult (*coordinate_pass)(const CoordinatePass<T>&);
  PassResult (*column_pass)(const ColumnPass<T>&);
  PassResult (*crammer_singer_pass)(const CrammerSingerPass<T>&);
  void (*class_values)(const Selection<T>&, const double* W, int64_t wide, double* out, int threads);
  void (*class_sum)(const Selection<T>&, const double* t, int64_t wide, double* out);
  int64_t (*pegasos_rows)(const PegasosRows<T>&);
};

struct Level {
  const char* name;
  LevelOf<float> f32;
  LevelOf<double> f64;
  TubeSums (*tube_duals)(const Tube&, const double* f, const double* prox_centre, double smoothing, double* t, double* curvature,
                                 int threads);
  double (*tube_slope)(const Tube&, const double* f, const double* change, double step, const double* prox_centre, double smoothing,
                           int threads);
  double (*lasso_descent)(const LassoModel&, double tol, int64_t most);
  int64_t (*pegasos_tile)(const OnlineTile&, double* given_u, double* margins, double* numbers, const PegasosRule&);
  int64_t (*norma_tile)(const OnlineTile&, double* numbers, const NormaRule&);
  uint64_t (*fingerprint)(const unsigned char* bytes, size_t count);
};

}  // namespace maxmargin
