"""``maxmargin bench``: this library beside scikit-learn, on the user's own file."""

import time
from typing import Annotated, Any

import numpy as np
import typer
from sklearn import svm
from sklearn.base import clone, is_classifier, is_outlier_detector

from maxmargin.cli import fitting, problems
from maxmargin.cli.options import AsJson, DataFile, DataOptions, Quiet, labels, one_of, with_target
from maxmargin.cli.reports import console, progress, show

THEIRS: dict[str, Any] = {
    name: getattr(svm, ours.__name__)
    for name, ours in problems.PROBLEMS.items()
    if hasattr(svm, ours.__name__)
}
"""The problems that scikit-learn has too, with its estimators."""


def bench(
    data: DataFile,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help=f"One of {', '.join(THEIRS)}.")
    ] = "svc",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of both: name=value. May be repeated."),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Fits of each, in turns; the median counts.")
    ] = 3,
    *,
    options: DataOptions,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Time this library and scikit-learn on your data, in turns, and show the medians.

    Linear models solve scikit-learn's problem, with the penalised intercept. Predictions are
    compared on the training data.

    Examples:

      maxmargin bench train.svm --set C=10 --set gamma=0.1

      maxmargin bench houses.csv --problem svr --target price --rounds 5
    """
    one_of("--problem", problem, THEIRS)
    given = problems.assignments(set_)
    ours = problems.build(
        problem, {**({"intercept": "regularised"} if problem.startswith("linear") else {}), **given}
    )
    theirs = THEIRS[problem](**given)
    table = options.read(data)
    y = None if is_outlier_detector(ours) else with_target(table)
    y = labels(y) if is_classifier(ours) else y if y is None else fitting.numbers(y, table)
    times: dict[str, list[list[float]]] = {"maxmargin": [], "scikit-learn": []}
    predictions = {}
    with progress("rounds", 2 * rounds, quiet) as advance:
        for _ in range(rounds):
            for name, model in (("maxmargin", ours), ("scikit-learn", theirs)):
                seconds, predictions[name] = _timed(clone(model), table.X, y)
                times[name].append(seconds)
                advance()
    medians = {name: np.median(rows, axis=0) for name, rows in times.items()}
    agreement = _agreement(predictions, is_classifier(ours) or is_outlier_detector(ours))
    _report(table.source, medians, agreement, as_json, quiet)


def _timed(model: Any, X: Any, y: Any) -> tuple[list[float], Any]:
    """Seconds of a fit and of a prediction, and the prediction."""
    began = time.perf_counter()
    model.fit(X, y)
    middle = time.perf_counter()
    predicted = model.predict(X)
    return [middle - began, time.perf_counter() - middle], predicted


def _agreement(predictions: dict[str, Any], classes: bool) -> dict[str, float]:
    a, b = predictions.values()
    if classes:
        return {"same_predictions": float(np.mean(a == b))}
    return {"greatest_difference": float(np.max(np.abs(a - b)))}


def _report(
    source: str, medians: dict[str, Any], agreement: dict[str, float], as_json: bool, quiet: bool
) -> None:
    seconds = {
        name: {"fit": float(row[0]), "predict": float(row[1])} for name, row in medians.items()
    }
    ratios = {
        step: seconds["scikit-learn"][step] / max(seconds["maxmargin"][step], 1e-9)
        for step in ("fit", "predict")
    }
    if as_json or quiet:
        report = {"data": source, "seconds": seconds, "ratio": ratios, **agreement}
        return show(report, as_json, quiet)
    from rich.table import Table

    shown = Table("", "fit", "predict", title=f"seconds on {source}")
    for name, row in seconds.items():
        shown.add_row(name, f"{row['fit']:.4g}", f"{row['predict']:.4g}")
    shown.add_row("ratio", f"{ratios['fit']:.3g}", f"{ratios['predict']:.3g}")
    console().print(shown)
    return show(agreement)
