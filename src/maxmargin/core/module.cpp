// The module: chooses the best instruction level of this processor and binds its functions.
//
// The files module_*.cpp and the headers they include are compiled once per instruction level, each
// in a namespace of its own (MAXMARGIN_LEVEL). Only one level is ever bound.
//
// To add a core function, touch three files:
//   1. a header with the algorithm, in namespace maxmargin::MAXMARGIN_LEVEL;
//   2. the module_*.cpp of its family: a function that checks shapes and indices and releases the
//      GIL, and its m.def;
//   3. cpu.py: a method of the CPU, which says how many threads a call gets.
// If solvers call it through their backend, it also needs a line of the contract in backend.py.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "threads.h"

namespace nb = nanobind;

#define MAXMARGIN_DECLARE(name)      \
  namespace maxmargin::name {        \
  void bind_points(nb::module_& m);  \
  void bind_kernel(nb::module_& m);  \
  void bind_duals(nb::module_& m);   \
  void bind_linear(nb::module_& m);  \
  void bind_descent(nb::module_& m); \
  void bind_online(nb::module_& m);  \
  inline void bind(nb::module_& m) { \
    bind_points(m);                  \
    bind_kernel(m);                  \
    bind_duals(m);                   \
    bind_linear(m);                  \
    bind_descent(m);                 \
    bind_online(m);                  \
  }                                  \
  }
MAXMARGIN_DECLARE(base)
MAXMARGIN_DECLARE(v3)
MAXMARGIN_DECLARE(v4)

namespace maxmargin {

void bind_io(nb::module_& m);  // module_io.cpp: the same for every level

namespace {

struct Level {
  const char* name;
  void (*bind)(nb::module_&);
};

// The levels that were compiled (MAXMARGIN_HAS_...) and that this processor runs, the best last.
std::vector<Level> available_levels() {
  std::vector<Level> levels;
#ifdef MAXMARGIN_HAS_base
  levels.push_back({"base", base::bind});
#endif
#if defined(MAXMARGIN_HAS_v3) || defined(MAXMARGIN_HAS_v4)
  __builtin_cpu_init();
  const bool runs_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi2");
#endif
#ifdef MAXMARGIN_HAS_v3
  if (runs_v3) levels.push_back({"v3", v3::bind});
#endif
#ifdef MAXMARGIN_HAS_v4
  const bool runs_v4 = runs_v3 && __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  if (runs_v4) levels.push_back({"v4", v4::bind});
#endif
  return levels;
}

// The best level, or the one that the environment variable MAXMARGIN_LEVEL names.
Level choose(const std::vector<Level>& levels) {
  if (levels.empty()) throw std::invalid_argument("maxmargin was compiled for other processors");
  const char* wanted = std::getenv("MAXMARGIN_LEVEL");
  if (!wanted) return levels.back();
  for (const Level& level : levels)
    if (std::string(wanted) == level.name) return level;
  throw std::invalid_argument(std::string("MAXMARGIN_LEVEL=") + wanted +
                              " is not an instruction level of this processor");
}

}  // namespace
}  // namespace maxmargin

NB_MODULE(_cpu, m) {
  const std::vector<maxmargin::Level> levels = maxmargin::available_levels();
  const maxmargin::Level level = maxmargin::choose(levels);
  level.bind(m);
  maxmargin::bind_io(m);
  nb::class_<maxmargin::Crew>(m, "Crew")
      .def(nb::init<>())
      .def("open", &maxmargin::Crew::open)
      .def("close", &maxmargin::Crew::close, nb::call_guard<nb::gil_scoped_release>());
  std::vector<std::string> names;
  for (const maxmargin::Level& each : levels) names.emplace_back(each.name);
  m.attr("LEVEL") = level.name;
  m.attr("LEVELS") = names;
}
