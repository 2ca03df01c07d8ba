"""``maxmargin tune``: cross-validated search over a grid of parameters, with a heat map."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from maxmargin.cli import fitting, model_files, problems
from maxmargin.cli.errors import usage
from maxmargin.cli.options import AsJson, DataFile, DataOptions, Jobs, Quiet, Scale, Seed, Weight
from maxmargin.cli.outputs import check_outputs, check_picture, write_picture
from maxmargin.cli.reports import console, show
from maxmargin.cli.searching import Found, How, search

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
    scale: Scale = None,
    refine: Annotated[
        bool,
        typer.Option(
            "--refine", help="Then try values halfway between the best and its neighbours."
        ),
    ] = False,
    jobs: Jobs = None,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds after which the search ends with what is done."),
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

    The fits of a kernel machine share their kernel values. Ctrl-C ends their search with what is
    done.

    Examples:

      maxmargin tune train.svm --picture grid.png

      maxmargin tune train.svm -C log2:-5,15,2 --gamma log2:-15,3,2 --model best.mm

      maxmargin tune churn.csv --target churned --scale standard --refine --model churn.mm

      maxmargin tune houses.csv --problem svr --target price --vary epsilon=0.01,0.1,1
    """
    fixed = problems.assignments(set_, {"kernel": kernel})
    estimator = problems.build(problem, fixed, random_state=seed)
    fitting.check_weight(estimator, problem, weight)
    fitting.check_scale(estimator, scale)
    grid = grid_of(estimator, C, gamma, vary, fixed)
    check_outputs(picture, model, inputs=(data,))
    if model is not None:
        # refuse the name of another kind of file before the work
        kind = model_files.model_format(Path(model), None, estimator)
        model_files.check_scaling(kind, scale, estimator)
    if picture is not None:
        check_picture(picture)
    table = fitting.with_kernel(estimator, options.read(data, weight=weight), training=True)
    how = How(cv, scoring, seed, jobs, time_limit, quiet, scale, refine)
    found = search(estimator, grid, table, how)
    if picture is not None:
        from maxmargin.plots import GridSearchDisplay

        write_picture(GridSearchDisplay.from_search(found), picture)
    if model is not None:
        best = fitting.fit(estimator.set_params(**found.best_params_), table, scale)
        model_files.FORMATS[kind](best, Path(model))
    _report(found, {"scaling": scale, "picture": picture, "model": model}, as_json, quiet)


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
        raise usage(
            "nothing varies: all of C and gamma that this problem has are given. maxmargin tune "
            "--vary name=value,value,... searches another parameter."
        )
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


def _report(found: Found, files: dict[str, Any], as_json: bool, quiet: bool) -> None:
    results = found.cv_results_
    best: dict[str, Any] = {
        "best_score": float(found.best_score_),
        "best_parameters": found.best_params_,
    }
    if found.fits_done is not None:
        best |= {"fits_done": found.fits_done}
    order = np.argsort(-results["mean_test_score"], kind="stable")  # those without a score are last
    rows = [
        {
            "parameters": results["params"][k],
            "score": float(results["mean_test_score"][k]),
            "deviation": float(results["std_test_score"][k]),
        }
        for k in order
        if np.isfinite(results["mean_test_score"][k])
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
