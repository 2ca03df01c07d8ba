// The binding of the online family: Pegasos over rows, Pegasos and NORMA on a tile of kernel values.
#include "holder.h"
#include "pegasos.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

std::vector<double> margins_of(int64_t batch, int64_t count) { return std::vector<double>(size_t(std::min(batch, std::max<int64_t>(count, 1)))); }

template <class T>
int64_t pegasos_rows(const PointsHolder<T>& X, Array<int64_t> order, Writable<double> samples, Writable<double> v,
                     std::optional<Writable<double>> u, double square, Writable<double> numbers, double alpha, double bias_step,
                     int64_t batch, bool project) {
  const size_t d = size_t(X.view.d);
  static_assert(sizeof(PegasosSample) == 8 * sizeof(double));
  require(samples.ndim() == 2 && int64_t(samples.shape(0)) == X.view.n && samples.shape(1) == 8, "pegasos_rows: eight numbers a sample");
  require(v.size() == d && (!u || u->size() == d) && numbers.size() == 10 && batch >= 1, "pegasos_rows: lengths differ");
  const Selection<T> visited = select(X, order);
  std::vector<double> margins = margins_of(batch, visited.size);
  nb::gil_scoped_release release;
  return hot::pegasos_rows<T>({X.view, visited.index, visited.size, reinterpret_cast<PegasosSample*>(samples.data()), v.data(),
                                  u ? u->data() : nullptr, square, margins.data(), numbers.data(), {alpha, bias_step, batch, project}});
}

OnlineTile tile_of(const Array<double>& K, int64_t begin, const Writable<double>& z, const Array<double>& y, const Array<double>& gain,
                   const Writable<double>& given) {
  require(K.ndim() == 2 && K.shape(0) == K.shape(1), "online tile: K must be square");
  const size_t n = K.shape(0);
  require(z.size() == n && y.size() == n && gain.size() == n && given.size() == n && begin >= 0 && begin <= int64_t(n),
          "online tile: lengths differ");
  return {K.data(), int64_t(n), begin, z.data(), y.data(), gain.data(), given.data()};
}

int64_t pegasos_tile(Array<double> K, int64_t begin, Writable<double> z, Array<double> y, Array<double> gain, Writable<double> given_v,
                     Writable<double> given_u, Writable<double> numbers, double alpha, double bias_step, int64_t batch, bool project) {
  const OnlineTile tile = tile_of(K, begin, z, y, gain, given_v);
  require(given_u.size() == given_v.size() && numbers.size() == 10 && batch >= 1, "pegasos_tile: lengths differ");
  std::vector<double> margins = margins_of(batch, tile.n);
  nb::gil_scoped_release release;
  return hot::pegasos_tile(tile, given_u.data(), margins.data(), numbers.data(), {alpha, bias_step, batch, project});
}

int64_t norma_tile(Array<double> K, int64_t begin, Writable<double> z, Array<double> y, Array<double> gain, Writable<double> given,
                   Writable<double> numbers, double alpha, double eta0, double power, double nu, bool bias) {
  const OnlineTile tile = tile_of(K, begin, z, y, gain, given);
  require(numbers.size() == 4, "norma_tile: four numbers are needed");
  nb::gil_scoped_release release;
  return hot::norma_tile(tile, numbers.data(), {alpha, eta0, power, nu, bias});
}

template <class T>
void bind(nb::module_& m) {
  m.def("pegasos_rows", &pegasos_rows<T>, nb::arg("X"), nb::arg("order"), nb::arg("samples").noconvert(), nb::arg("v").noconvert(),
        nb::arg("u").noconvert().none(), nb::arg("square"), nb::arg("numbers").noconvert(), nb::arg("alpha"), nb::arg("bias_step"),
        nb::arg("batch"), nb::arg("project"));
}

void bind_float64(nb::module_& m) {
  m.def("pegasos_tile", &pegasos_tile, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(), nb::arg("y"), nb::arg("gain"),
        nb::arg("given_v").noconvert(), nb::arg("given_u").noconvert(), nb::arg("numbers").noconvert(), nb::arg("alpha"),
        nb::arg("bias_step"), nb::arg("batch"), nb::arg("project"));
  m.def("norma_tile", &norma_tile, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(), nb::arg("y"), nb::arg("gain"),
        nb::arg("given").noconvert(), nb::arg("numbers").noconvert(), nb::arg("alpha"), nb::arg("eta0"), nb::arg("power"), nb::arg("nu"),
        nb::arg("bias"));
}

}  // namespace

void bind_online(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_float64(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
