"""``maxmargin grid.py``: LIBSVM's search over C and gamma, its options and its lines.

    -log2c begin,end,step   C = 2^begin, ..., 2^end (-5,15,2); null leaves C alone
    -log2g begin,end,step   gamma in the same way (3,-15,-2)
    -v folds 5   -out file (data.out) or null   -png file (data.png)   -gnuplot null: no picture
    -resume [file]: keep the rates of an earlier output (data.out)
    everything else as svm-train takes it, but -c and -g

The rate of a point is the accuracy that ``svm-train -v`` prints for it. The points are fitted as
one job that shares kernel values, so their lines come at the end. They come in grid.py's order,
from the middle of both ranges outwards, which decides between points of equal rate.
"""

import re
from pathlib import Path
from typing import Annotated, Any
from warnings import warn

import numpy as np
import typer

from maxmargin.cli import fitting, searching
from maxmargin.cli.grid_options import Options, parse_options
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.outputs import check_outputs, check_picture, write_picture
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_train import estimator, use_weights
from maxmargin.io.files import atomic_write, require_file
from maxmargin.io.table_columns import Data

Point = tuple[float | None, float | None]
"""The logarithms of C and gamma; None where the parameter is not searched."""
Rates = dict[Point, float]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATASET", help="As grid.py takes them."),
]


def grid_py(arguments: Arguments = None) -> None:
    """Search C and gamma as LIBSVM's grid.py does: its options, its lines, its output file.

    -log2c begin,end,step or null (-5,15,2), -log2g begin,end,step or null (3,-15,-2), -v folds (5),
    -out file or null (DATASET.out), -png file (DATASET.png), -gnuplot null for no picture, -resume
    [file]; everything else as svm-train takes it. All points share their kernel values. -svmtrain
    and the path of -gnuplot have no effect.

    Examples:

      maxmargin grid.py -log2c -5,15,2 -log2g 3,-15,-2 -v 5 heart_scale

      maxmargin grid.py -log2g null -t 0 -out null -gnuplot null heart_scale
    """
    options = parse_options(arguments or [])
    best, rate = find_parameters(options)
    typer.echo(" ".join(str(2.0**k) for k in best if k is not None) + f" {rate}")


def find_parameters(options: Options, quiet: bool = False) -> tuple[Point, float]:
    """Rate every point, print the lines unless quiet, and return the best point and its rate."""
    check_outputs(options.out, options.picture, inputs=(options.data,))
    if options.picture is not None:
        check_picture(options.picture)
    known = {} if options.resume is None else read_rates(options.resume)
    data = read_svmlight(options.data, zero_based=options.flags["t"] == 4)
    points = in_order(options.log2c, options.log2g)
    found = rated(options, data, [point for point in points if point not in known])
    best: tuple[Point, float] = (None, None), -1.0
    for worker, rates in (("resumed", known), ("local", found)):
        for point in rates if worker == "resumed" else points:
            if point in rates:
                best = _better(best, point, rates[point])
                if not quiet:
                    typer.echo(_line(worker, point, rates[point], best))
    if options.out is not None:
        _write_rates(options, found)
    if options.picture is not None:
        _draw(options.picture, known | found, best[0])
    return best


def in_order(log2c: list[Any], log2g: list[Any]) -> list[Point]:
    """All points in grid.py's order: a rectangle that grows from the middle of both ranges.

    Each step adds the next C for the gammas that it has, or the next gamma for its Cs, whichever
    range is covered less; with equal shares a gamma.
    """
    c, g = _outwards(log2c), _outwards(log2g)
    found: list[Point] = []
    i = j = 0
    while i < len(c) or j < len(g):
        if i * len(g) < j * len(c):
            found += [(c[i], other) for other in g[:j]]
            i += 1
        else:
            found += [(other, g[j]) for other in c[:i]]
            j += 1
    return found


def _outwards(values: list[Any]) -> list[Any]:
    """The middle first, then both halves in the same way, in turns."""
    if len(values) <= 1:
        return values
    middle = len(values) // 2
    halves = [_outwards(values[:middle]), _outwards(values[middle + 1 :])]
    turns = [half[k] for k in range(middle) for half in halves if k < len(half)]
    return [values[middle], *turns]


def rated(options: Options, data: Data, points: list[Point]) -> Rates:
    """The rates of points: the accuracy of a cross-validation, in per cent and six digits."""
    if not points:
        return {}
    flags = options.flags
    use_weights(flags, data, flags["s"] == 0)
    model = estimator(flags, verbosity("q" in flags.given))
    data = fitting.with_kernel(model, data, training=True)
    axes = {"C": [c for c, _ in points], "gamma": [g for _, g in points]}
    grid = {
        name: sorted({2.0**k for k in exponents if k is not None})
        for name, exponents in axes.items()
        if exponents[0] is not None
    }
    quiet = "q" in flags.given
    found = searching.search(model, grid, data, searching.How(options.folds, quiet=quiet))
    y = fitting.target_of(model, data)
    folds = fitting.folds_of(model, y, options.folds, searching.How().seed).split(data.X, y)
    right: Any = 0
    for k, (_, test) in enumerate(folds):
        right = right + found.cv_results_[f"split{k}_test_score"] * len(test)
    rates = {
        tuple(sorted(one.items())): float(f"{100 * round(count) / len(y):.6g}")
        for one, count in zip(found.cv_results_["params"], right, strict=True)
        if np.isfinite(count)
    }
    keys = {point: _key(point) for point in points}
    return {point: rates[key] for point, key in keys.items() if key in rates}


def _key(point: Point) -> Any:
    """The parameters of a point, sorted by name."""
    named = zip(("C", "gamma"), point, strict=True)
    return tuple((name, 2.0**k) for name, k in named if k is not None)


def _better(best: tuple[Point, float], point: Point, rate: float) -> tuple[Point, float]:
    """The better of two points: the greater rate; with the same gamma and rate, the smaller C."""
    (c, g), greatest = best
    smaller = point[1] == g and point[0] is not None and c is not None and point[0] < c
    return (point, rate) if rate > greatest or (rate == greatest and smaller) else best


def _line(worker: str, point: Point, rate: float, best: tuple[Point, float]) -> str:
    """One of grid.py's lines."""
    named = zip(("c", "g"), best[0], strict=True)
    shown = "".join(f"{name}={2.0**k}, " for name, k in named if k is not None)
    here = " ".join(str(k) for k in point if k is not None)
    return f"[{worker}] {here} {rate} (best {shown}rate={best[1]})"


# ---- files ---------------------------------------------------------------------------------------


def read_rates(path: str) -> Rates:
    """The rates of an earlier output; lines without a rate are skipped, as in grid.py."""
    require_file(Path(path))
    found: Rates = {}
    for line in Path(path).read_text(errors="replace").splitlines():
        words = dict(re.findall(r"(log2c|log2g|rate)=(-?[0-9.]+(?:e-?[0-9]+)?)", line))
        if "rate" in words:
            exponents = [float(words[k]) if k in words else None for k in ("log2c", "log2g")]
            found[exponents[0], exponents[1]] = float(words["rate"])
    return found


def _write_rates(options: Options, rates: Rates) -> None:
    """Write grid.py's output file; what was resumed from the same file stays in it."""
    lines = []
    for point, rate in rates.items():
        named = zip(("log2c", "log2g"), point, strict=True)
        lines.append("".join(f"{name}={k} " for name, k in named if k is not None) + f"rate={rate}")
    assert options.out is not None
    old = b""
    if options.resume is not None and Path(options.out).exists():
        old = Path(options.out).read_bytes()
    with atomic_write(options.out) as file:
        file.write(old + "".join(f"{line}\n" for line in lines).encode())


def _draw(path: str, rates: Rates, best: Point) -> None:
    """Draw the rates as a heat map with a frame around the best, also where others equal it."""
    rates = rates | {best: float(np.nextafter(rates[best], np.inf))}
    try:
        from maxmargin.plots import GridSearchDisplay

        table = {
            "param_log2(C)": [c for c, _ in rates],
            "param_log2(gamma)": [g for _, g in rates],
            "accuracy in %": list(rates.values()),
        }
        axes = {"x": "log2(C)", "y": "log2(gamma)", "score": "accuracy in %"}
        display = GridSearchDisplay.from_search(table, **axes)
    except ImportError as missing:
        warn(f"no picture: {missing}", stacklevel=2)
        return
    write_picture(display, path)
