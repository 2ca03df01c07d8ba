// The binding of the online family: Pegasos over rows, Pegasos and NORMA on a tile of a kernel
// matrix.
#include "holder.h"
#include "pegasos.h"

namespace maxmargin::MAXMARGIN_LEVEL {
namespace {

std::vector<double> margins_of(int64_t batch, int64_t count) {
  return std::vector<double>(size_t(std::min(batch, std::max<int64_t>(count, 1))));
}

// An array of the caller as `count` records of doubles.
template <class Record>
Record* records_of(const Writable<double>& array, int64_t count, const char* message) {
  require(int64_t(array.size() * sizeof(double)) == count * int64_t(sizeof(Record)), message);
  return reinterpret_cast<Record*>(array.data());
}

template <class T>
int64_t pegasos_rows(const PointsHolder<T>& X, Array<int64_t> order, Writable<double> samples,
                     Writable<double> v, std::optional<Writable<double>> u, double square,
                     Writable<double> state, double alpha, double bias_step, int64_t batch,
                     bool project) {
  const size_t d = size_t(X.view.d);
  require(v.size() == d && (!u || u->size() == d) && batch >= 1, "pegasos_rows: lengths differ");
  auto* const records =
      records_of<PegasosSample>(samples, X.view.n, "pegasos_rows: samples have eight fields");
  auto* const home = records_of<PegasosState>(state, 1, "pegasos_rows: a state has ten fields");
  const Selection<T> used = select(X, order);
  std::vector<double> margins = margins_of(batch, used.size);
  nb::gil_scoped_release release;
  return hot::pegasos_rows<T>({X.view,
                               used.index,
                               used.size,
                               records,
                               v.data(),
                               u ? u->data() : nullptr,
                               square,
                               margins.data(),
                               home,
                               {alpha, bias_step, batch, project}});
}

OnlineTile tile_of(const Array<double>& K, int64_t begin, const Writable<double>& z,
                   const Array<double>& y, const Array<double>& weight,
                   const Writable<double>& added) {
  require(K.ndim() == 2 && K.shape(0) == K.shape(1), "online tile: K must be square");
  const size_t n = K.shape(0);
  require(z.size() == n && y.size() == n && weight.size() == n && added.size() == n,
          "online tile: lengths differ");
  require(begin >= 0 && begin <= int64_t(n), "online tile: begin is outside the tile");
  return {K.data(), int64_t(n), begin, z.data(), y.data(), weight.data(), added.data()};
}

int64_t pegasos_tile(Array<double> K, int64_t begin, Writable<double> z, Array<double> y,
                     Array<double> weight, Writable<double> added_v, Writable<double> added_u,
                     Writable<double> state, double alpha, double bias_step, int64_t batch,
                     bool project) {
  const OnlineTile tile = tile_of(K, begin, z, y, weight, added_v);
  require(added_u.size() == added_v.size() && batch >= 1, "pegasos_tile: lengths differ");
  auto* const home = records_of<PegasosState>(state, 1, "pegasos_tile: a state has ten fields");
  std::vector<double> margins = margins_of(batch, tile.n);
  nb::gil_scoped_release release;
  return hot::pegasos_tile(tile, added_u.data(), margins.data(), home,
                           {alpha, bias_step, batch, project});
}

int64_t norma_tile(Array<double> K, int64_t begin, Writable<double> z, Array<double> y,
                   Array<double> weight, Writable<double> added, Writable<double> state,
                   double alpha, double eta0, double power, double nu, bool bias) {
  const OnlineTile tile = tile_of(K, begin, z, y, weight, added);
  auto* const home = records_of<NormaState>(state, 1, "norma_tile: a state has four fields");
  nb::gil_scoped_release release;
  return hot::norma_tile(tile, home, {alpha, eta0, power, nu, bias});
}

template <class T>
void bind(nb::module_& m) {
  m.def("pegasos_rows", &pegasos_rows<T>, nb::arg("X"), nb::arg("order"),
        nb::arg("samples").noconvert(), nb::arg("v").noconvert(), nb::arg("u").noconvert().none(),
        nb::arg("square"), nb::arg("state").noconvert(), nb::arg("alpha"), nb::arg("bias_step"),
        nb::arg("batch"), nb::arg("project"));
}

void bind_float64(nb::module_& m) {
  m.def("pegasos_tile", &pegasos_tile, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(),
        nb::arg("y"), nb::arg("weight"), nb::arg("added_v").noconvert(),
        nb::arg("added_u").noconvert(), nb::arg("state").noconvert(), nb::arg("alpha"),
        nb::arg("bias_step"), nb::arg("batch"), nb::arg("project"));
  m.def("norma_tile", &norma_tile, nb::arg("K"), nb::arg("begin"), nb::arg("z").noconvert(),
        nb::arg("y"), nb::arg("weight"), nb::arg("added").noconvert(), nb::arg("state").noconvert(),
        nb::arg("alpha"), nb::arg("eta0"), nb::arg("power"), nb::arg("nu"), nb::arg("bias"));
}

}  // namespace

void bind_online(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  bind_float64(m);
}

}  // namespace maxmargin::MAXMARGIN_LEVEL
