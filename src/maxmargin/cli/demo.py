"""``maxmargin demo``: a small tour, with data, models and pictures in a folder."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.datasets import load_breast_cancer, make_moons

import maxmargin
from maxmargin.cli import model_files
from maxmargin.cli.options import AsJson
from maxmargin.cli.outputs import write_picture
from maxmargin.cli.plot import draw
from maxmargin.cli.ranges import ranges_of, save_ranges
from maxmargin.cli.reports import console, show
from maxmargin.cli.tune import search, values_of
from maxmargin.io.tables import Data
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
    written: list[str] = []
    commands: list[str] = []
    for step in (_moons, _regression, _outliers, _cancer):
        step(place, written, commands)
    if as_json:
        return show({"folder": folder, "files": written, "commands": commands}, True)
    out = console()
    out.print(f"[bold]{folder}[/] now holds {len(written)} files: {', '.join(written)}")
    out.print("The commands that do the same:")
    for line in commands:
        out.print(f"  [green]{line}[/]", markup=True)
    return None


def _write(
    place: Path, name: str, X: Any, y: Any, written: list[str], names: list[str] | None = None
) -> Data:
    table = Data(X, y, names, "csv", str(place / name))
    write_table(table, place / name)
    written.append(name)
    return table


def _draw(place: Path, name: str, kind: str, model: Any, table: Data, written: list[str]) -> None:
    write_picture(draw(kind, model, table, None), place / name)
    written.append(name)


def _moons(place: Path, written: list[str], commands: list[str]) -> None:
    """Two classes, a curved boundary."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    table = _write(place, "moons.csv", X, y, written)
    model = maxmargin.SVC(C=10, gamma=1.0).fit(X, y)
    model_files.save_model(model, place / "moons.mm", "mm")
    written.append("moons.mm")
    _draw(place, "moons.png", "decision", model, table, written)
    commands += [
        "maxmargin train moons.csv moons.mm -C 10 --gamma 1",
        "maxmargin plot moons.csv moons.mm moons.png",
    ]


def _regression(place: Path, written: list[str], commands: list[str]) -> None:
    """A curve with a tube around it."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-3, 3, (120, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.15 * rng.normal(size=120)
    table = _write(place, "curve.csv", X, y, written)
    model = maxmargin.SVR(C=10, epsilon=0.2, gamma=1.0).fit(X, y)
    model_files.save_model(model, place / "curve.mm", "mm")
    written.append("curve.mm")
    _draw(place, "curve.png", "tube", model, table, written)
    commands += [
        "maxmargin train curve.csv curve.mm --problem svr -C 10 --epsilon 0.2 --gamma 1",
        "maxmargin plot curve.csv curve.mm curve.png",
    ]


def _outliers(place: Path, written: list[str], commands: list[str]) -> None:
    """The region that holds most points."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)), rng.uniform(-5, 5, (15, 2))])
    table = _write(place, "points.csv", X, None, written)
    model = maxmargin.OneClassSVM(nu=0.1, gamma=0.3).fit(X)
    model_files.save_model(model, place / "points.mm", "mm")
    written.append("points.mm")
    _draw(place, "points.png", "outliers", model, table, written)
    commands += [
        "maxmargin train points.csv points.mm --problem one-class --nu 0.1 --gamma 0.3 --target "
        "none"
    ]


def _cancer(place: Path, written: list[str], commands: list[str]) -> None:
    """Real data: scaling, a grid search and its heat map."""
    import matplotlib

    matplotlib.use("Agg")
    from maxmargin.plots import GridSearchDisplay

    bunch = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in bunch.feature_names]
    ranges = ranges_of(bunch.data, -1.0, 1.0)
    save_ranges(ranges, place / "ranges.txt")
    written.append("ranges.txt")
    table = _write(place, "cancer.csv", ranges(bunch.data), bunch.target, written, names)
    grid = {"C": values_of("-C", "log2:-1,7,2"), "gamma": values_of("--gamma", "log2:-7,1,2")}
    found = search(maxmargin.SVC(), grid, table, 5, None, 0, quiet=False)
    write_picture(GridSearchDisplay.from_search(found), place / "search.png")
    written.append("search.png")
    commands += [
        "maxmargin tune cancer.csv -C log2:-1,7,2 --gamma log2:-7,1,2 --picture search.png"
    ]
