"""``maxmargin tune``: cross-validated search over a grid of parameters, with a heat map."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn import config_context
from sklearn.base import clone, is_outlier_detector
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import GridSearchCV, ParameterGrid

from maxmargin.cli import fitting, model_files, problems
from maxmargin.cli.errors import usage
from maxmargin.cli.options import AsJson, DataFile, DataOptions, Quiet, Seed, Weight
from maxmargin.cli.outputs import check_outputs, check_picture, write_picture
from maxmargin.cli.reports import console, progress, show
from maxmargin.io.table_columns import Data
from maxmargin.suggestions import did_you_mean

DEFAULT_C = "log2:-3,9,2"
DEFAULT_GAMMA = "log2:-9,1,2"
MOST_SHOWN = 10


def tune(
    data: DataFile,
    problem: problems.ProblemName = "svc",
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="Kernel of all points of the grid.")
    ] = None,
    C: Annotated[
        str | None,
        typer.Option(
            "-C", help=f"Values: 0.1,1,10 or log2:begin,end,step; {DEFAULT_C} by default."
        ),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            "--gamma",
            "-g",
            help=f"Values, as for -C; {DEFAULT_GAMMA} by default if the kernel has a gamma.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary", help="Another parameter and its values: epsilon=0.01,0.1. May be repeated."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of all points: name=value. May be repeated."),
    ] = None,
    cv: Annotated[int, typer.Option(help="Folds.")] = 5,
    scoring: Annotated[
        str | None, typer.Option(help="scikit-learn's name of a score; by default accuracy or R2.")
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option(help="Draw the scores as a heat map to this file (.png, .svg, .pdf)."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Train with the best parameters on all data and write the model here."),
    ] = None,
    *,
    options: DataOptions,
    weight: Weight = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find good parameters by cross-validation over a grid.

    Examples:

      maxmargin tune train.svm --picture grid.png

      maxmargin tune train.svm -C log2:-5,15,2 --gamma log2:-15,3,2 --model best.mm

      maxmargin tune houses.csv --problem svr --target price --vary epsilon=0.01,0.1,1
    """
    fixed = problems.assignments(set_, {"kernel": kernel})
    estimator = problems.build(problem, fixed, random_state=seed)
    fitting.check_weight(estimator, problem, weight)
    grid = grid_of(estimator, C, gamma, vary, fixed)
    check_outputs(picture, model, inputs=(data,))
    if model is not None:
        # refuse the name of another kind of file before the work
        model_files.model_format(Path(model), None, estimator)
    if picture is not None:
        check_picture(picture)
    table = fitting.with_kernel(estimator, options.read(data, weight=weight), training=True)
    found = search(estimator, grid, table, cv, scoring, seed, quiet)
    if picture is not None:
        from maxmargin.plots import GridSearchDisplay

        write_picture(GridSearchDisplay.from_search(found), picture)
    if model is not None:
        best = fitting.fit(estimator.set_params(**found.best_params_), table)
        model_files.FORMATS[model_files.model_format(Path(model), None, best)](best, Path(model))
    _report(found, {"picture": picture, "model": model}, as_json, quiet)


def grid_of(
    estimator: Any, C: str | None, gamma: str | None, vary: list[str] | None, fixed: dict[str, Any]
) -> dict[str, list[Any]]:
    """Return the values of each parameter that varies. C and gamma do unless they are set."""
    known, grid = estimator.get_params(), {}
    if C is not None or ("C" in known and "C" not in fixed):
        grid["C"] = values_of("-C", C or DEFAULT_C)
    has_gamma = (
        "gamma" in known
        and "gamma" not in fixed
        and known.get("kernel") not in ("linear", "precomputed", "cosine")
    )
    if gamma is not None or has_gamma:
        grid["gamma"] = values_of("--gamma", gamma or DEFAULT_GAMMA)
    for item in vary or []:
        name, mark, text = item.partition("=")
        if not mark:
            raise usage(f"--vary takes name=value,value,..., got {item!r}.")
        grid[name.strip()] = values_of(f"--vary {name.strip()}", text)
    both = [name for name in grid if name in fixed]
    if both:
        raise usage(f"{', '.join(both)} cannot both vary and be --set.")
    problems.check_parameters(type(estimator).__name__, grid, known)
    if not grid:
        raise usage("nothing varies: give --vary name=value,value,...")
    return grid


def values_of(name: str, text: str) -> list[Any]:
    """Parse values such as 0.1,1,10 or rbf,linear, or a range of powers.

    log2:-5,15,2 and log10:-3,3,1 mean exponents from the first to the second number, in steps of
    the third.
    """
    base, mark, rest = text.partition(":")
    if not mark:
        return [problems.value_of(item.strip()) for item in text.split(",")]
    try:
        begin, end, step = (float(item) for item in rest.split(","))
        power = {"log2": 2.0, "log10": 10.0}[base]
    except (ValueError, KeyError):
        raise usage(
            f"{name} takes values or log2:begin,end,step or log10:begin,end,step, got {text!r}."
        ) from None
    if step == 0 or (end - begin) / step < 0 or (end - begin) / step > 1000:
        raise usage(f"{name}: {text} is not a range of at most 1001 values.")
    return [
        power ** float(value)
        for value in begin + step * np.arange(int((end - begin) / step + 1e-9) + 1)
    ]


def search(
    estimator: Any,
    grid: dict[str, list[Any]],
    table: Data,
    cv: int,
    scoring: str | None,
    seed: int,
    quiet: bool,
) -> GridSearchCV:
    """Run scikit-learn's search with a progress bar, which the scorer advances after each fit."""
    if is_outlier_detector(estimator):
        raise ValueError("tune needs a classifier or a regressor: a one-class model has no score")
    y = fitting.target_of(estimator, table)
    if cv < 2:
        raise usage(f"--cv must be at least 2, got {cv}.")
    folds = fitting.folds_of(estimator, y, cv, seed)
    own = fitting.weights(table.weight)
    with (
        config_context(enable_metadata_routing=bool(own)),
        progress("search", len(ParameterGrid(grid)) * cv, quiet) as advance,
    ):
        if own:
            estimator = (
                clone(estimator)
                .set_fit_request(sample_weight=True)
                .set_score_request(sample_weight=True)
            )
        score = Counted(_scorer(estimator, scoring, weighted=bool(own)), advance)
        return GridSearchCV(
            estimator, grid, scoring=score, cv=folds, refit=False, error_score="raise"
        ).fit(table.X, y, **own)


def _scorer(estimator: Any, scoring: str | None, weighted: bool) -> Any:
    """Return scikit-learn's scorer; one that takes sample weights if there are some."""
    known = get_scorer_names()
    if scoring is not None and scoring not in known:
        raise usage(
            "--scoring must be one of scikit-learn's scores, got "
            f"{scoring!r}.{did_you_mean(scoring, known)}"
        )
    score = check_scoring(estimator, scoring=scoring)
    if not weighted or scoring is None:
        return score
    if "sample_weight" not in signature(score._score_func).parameters:
        raise ValueError(
            f"--scoring {scoring} takes no sample weights: leave --weight out, or choose another "
            "score"
        )
    return score.set_score_request(sample_weight=True)


class Counted:
    """A scorer that advances the progress bar on each call."""

    def __init__(self, score: Any, advance: Callable[[], None]) -> None:
        self._score, self._advance = score, advance

    def __call__(self, model: Any, X: Any, y: Any, **options: Any) -> float:
        """Return the score."""
        self._advance()
        return float(self._score(model, X, y, **options))

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the scorer takes."""
        return self._score.get_metadata_routing()


def _report(found: GridSearchCV, files: dict[str, Any], as_json: bool, quiet: bool) -> None:
    results = found.cv_results_
    best = {"best_score": float(found.best_score_), "best_parameters": found.best_params_}
    order = np.argsort(-results["mean_test_score"], kind="stable")
    rows = [
        {
            "parameters": results["params"][k],
            "score": float(results["mean_test_score"][k]),
            "deviation": float(results["std_test_score"][k]),
        }
        for k in order
    ]
    if as_json or quiet:
        return show({**best, **files, "results": rows}, as_json, quiet)
    from rich.table import Table

    names = list(rows[0]["parameters"])
    shown = Table(*names, "score", "deviation", title=f"the best of {len(rows)}")
    for row in rows[:MOST_SHOWN]:
        shown.add_row(
            *(f"{v:.6g}" if isinstance(v, float) else str(v) for v in row["parameters"].values()),
            f"{row['score']:.4f}",
            f"{row['deviation']:.4f}",
        )
    console().print(shown)
    return show({**best, **files})
