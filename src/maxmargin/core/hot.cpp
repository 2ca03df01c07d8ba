// The hot code, compiled once per instruction level (MAXMARGIN_LEVEL names it) and chosen at import by module.cpp.
#include "columns.h"
#include "coordinate.h"
#include "crammer_singer.h"
#include "fingerprint.h"
#include "lasso.h"
#include "level.h"
#include "linear.h"
#include "nested.h"
#include "pegasos.h"
#include "products.h"
#include "tube.h"

namespace maxmargin::MAXMARGIN_LEVEL {

#define MAXMARGIN_QUOTE2(x) #x
#define MAXMARGIN_QUOTE(x) MAXMARGIN_QUOTE2(x)

// Every entry by its name: two functions of one signature cannot be mistaken for each other.
template <class T>
constexpr LevelOf<T> functions_of() {
  LevelOf<T> f{};
  f.norms = norms<T>;
  f.kernel_block = kernel_block<T>;
  f.kernel_matvec = kernel_matvec<T, double>;
  f.kernel_matvec_in_runs = kernel_matvec<T, T>;
  f.update_gradient = update_gradient<T>;
  f.gather = gather<T>;
  f.solve_block = solve_block<T>;
  f.solve_points = solve_points<T>;
  f.linear_values = linear_values<T>;
  f.linear_sum = linear_sum<T>;
  f.linear_squares = linear_squares<T>;
  f.gram = gram<T>;
  f.coordinate_pass = coordinate_pass<T>;
  f.column_pass = column_pass<T>;
  f.crammer_singer_pass = crammer_singer_pass<T>;
  f.class_values = values_of_all_classes<T>;
  f.class_sum = sum_of_all_classes<T>;
  f.pegasos_rows = pegasos_rows<T>;
  return f;
}

constexpr Level functions() {
  Level f{};
  f.name = MAXMARGIN_QUOTE(MAXMARGIN_LEVEL);
  f.f32 = functions_of<float>();
  f.f64 = functions_of<double>();
  f.tube_duals = tube_duals;
  f.tube_slope = tube_slope;
  f.lasso_descent = lasso_descent;
  f.pegasos_tile = pegasos_tile;
  f.norma_tile = norma_tile;
  f.fingerprint = fingerprint;
  return f;
}

extern const Level level;
const Level level = functions();

}  // namespace maxmargin::MAXMARGIN_LEVEL
