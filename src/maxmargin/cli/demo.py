"""``maxmargin demo``: a small tour, with data, models and pictures in a folder."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from sklearn.datasets import load_breast_cancer, make_moons

import maxmargin
from maxmargin.cli.options import AsJson
from maxmargin.cli.outputs import write_picture
from maxmargin.cli.plot import draw
from maxmargin.cli.ranges import ranges_of, save_ranges
from maxmargin.cli.reports import console, show
from maxmargin.cli.searching import How, search
from maxmargin.cli.tune import values_of
from maxmargin.io import save
from maxmargin.io.table_columns import Data
from maxmargin.io.tables_write import write_table


def demo(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder for the files.")
    ] = "maxmargin-demo",
    as_json: AsJson = False,
) -> None:
    """Write a small tour to a folder: data, scaling, a search, three models and their pictures.

    Examples:

      maxmargin demo

      maxmargin demo somewhere --json
    """
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ValueError(f"{folder} is a file: name a folder, existing or new")
    place.mkdir(parents=True, exist_ok=True)
    tour = Tour(place, [], [])
    for step in (_moons, _regression, _outliers, _cancer):
        step(tour)
    if as_json:
        return show({"folder": folder, "files": tour.written, "commands": tour.commands}, True)
    out = console()
    out.print(f"[bold]{folder}[/] now holds {len(tour.written)} files: {', '.join(tour.written)}")
    out.print("The commands that do the same:")
    for line in tour.commands:
        out.print(f"  [green]{line}[/]", markup=True)
    return None


class Tour(NamedTuple):
    """The folder, the names of the files written to it, and the commands that write the same."""

    place: Path
    written: list[str]
    commands: list[str]

    def file(self, name: str) -> Path:
        """Return the path of a new file."""
        self.written.append(name)
        return self.place / name

    def table(self, name: str, X: Any, y: Any, names: list[str] | None = None) -> Data:
        """Write a data file."""
        path = self.file(name)
        table = Data(X, y, names, "csv", str(path))
        write_table(table, path)
        return table

    def model(self, name: str, X: Any, y: Any, model: Any, kind: str) -> None:
        """Write data, a model fitted to them and its picture."""
        table = self.table(f"{name}.csv", X, y)
        save(model.fit(X, y), self.file(f"{name}.mm"))
        write_picture(draw(kind, model, table, None), self.file(f"{name}.png"))


def _moons(tour: Tour) -> None:
    """Two classes, a curved boundary."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    tour.model("moons", X, y, maxmargin.SVC(C=10, gamma=1.0), "decision")
    tour.commands.append("maxmargin train moons.csv moons.mm -C 10 --gamma 1")
    tour.commands.append("maxmargin plot moons.csv moons.mm moons.png")


def _regression(tour: Tour) -> None:
    """A curve with a tube around it."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-3, 3, (120, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.15 * rng.normal(size=120)
    tour.model("curve", X, y, maxmargin.SVR(C=10, epsilon=0.2, gamma=1.0), "tube")
    tour.commands.append(
        "maxmargin train curve.csv curve.mm --problem svr -C 10 --epsilon 0.2 --gamma 1"
    )
    tour.commands.append("maxmargin plot curve.csv curve.mm curve.png")


def _outliers(tour: Tour) -> None:
    """The region that holds most points."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)), rng.uniform(-5, 5, (15, 2))])
    tour.model("points", X, None, maxmargin.OneClassSVM(nu=0.1, gamma=0.3), "outliers")
    tour.commands.append(
        "maxmargin train points.csv points.mm --problem one-class --nu 0.1 --gamma 0.3 --target "
        "none"
    )


def _cancer(tour: Tour) -> None:
    """Real data: scaling, a grid search and its heat map."""
    import matplotlib

    matplotlib.use("Agg")
    from maxmargin.plots import GridSearchDisplay

    bunch = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in bunch.feature_names]
    ranges = ranges_of(bunch.data, -1.0, 1.0)
    save_ranges(ranges, tour.file("ranges.txt"))
    table = tour.table("cancer.csv", ranges(bunch.data), bunch.target, names)
    grid = {"C": values_of("-C", "log2:-1,7,2"), "gamma": values_of("--gamma", "log2:-7,1,2")}
    found = search(maxmargin.SVC(), grid, table, How())
    write_picture(GridSearchDisplay.from_search(found), tour.file("search.png"))
    tour.commands.append(
        "maxmargin tune cancer.csv -C log2:-1,7,2 --gamma log2:-7,1,2 --picture search.png"
    )
