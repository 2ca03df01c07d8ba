// The hot code, compiled once per instruction level (MAXMARGIN_LEVEL names it) and chosen at import by module.cpp.
#include "columns.h"
#include "coordinate.h"
#include "corridor.h"
#include "crammer_singer.h"
#include "fingerprint.h"
#include "lasso.h"
#include "level.h"
#include "linear.h"
#include "nested.h"
#include "pegasos.h"
#include "products.h"

namespace maxmargin::MAXMARGIN_LEVEL {

#define MAXMARGIN_QUOTE2(x) #x
#define MAXMARGIN_QUOTE(x) MAXMARGIN_QUOTE2(x)

template <class T>
LevelOf<T> functions() {
  return {norms<T>,  kernel_block<T>, kernel_matvec<T, double>, kernel_matvec<T, T>, update_gradient<T>,
          gather<T>, solve_block<T>,  solve_points<T>, linear_values<T>, linear_sum<T>, linear_squares<T>, gram<T>, coordinate_pass<T>,
          column_pass<T>, crammer_singer_pass<T>, values_of_all_classes<T>, sum_of_all_classes<T>, pegasos_rows<T>};
}

extern const Level level;
const Level level = {MAXMARGIN_QUOTE(MAXMARGIN_LEVEL), functions<float>(), functions<double>(), corridor_duals,
                     corridor_slope, lasso_descent, pegasos_tile, norma_tile, fingerprint};

}  // namespace maxmargin::MAXMARGIN_LEVEL
