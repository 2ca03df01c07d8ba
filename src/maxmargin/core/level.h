// What all algorithms share: kernels, points, selections of points. Nothing here depends on an instruction level.
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
  const T* norms;          // squared norms, from norms() in raw.h
};

// A selection of points: all of them (index null, size n) or those listed.
template <class T>
struct Selection {
  Points<T> points;
  const int64_t* index;
  int64_t size;
  int64_t at(int64_t i) const { return index ? index[i] : i; }
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

}  // namespace maxmargin
