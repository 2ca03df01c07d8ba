"""``maxmargin predict``: labels, values and decision values of a model for a data file."""

import warnings
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_classifier, is_regressor

from maxmargin.cli import fitting, model_files
from maxmargin.cli.options import (
    AsJson,
    DataFile,
    DataOptions,
    ModelFile,
    Query,
    Quiet,
    Weight,
    labels,
)
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.reports import plain, show
from maxmargin.estimators.records import interval_of
from maxmargin.io.files import compressed_write
from maxmargin.io.table_columns import Data


def predict(
    data: DataFile,
    model: ModelFile,
    output: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="File to write; - is standard output.")
    ] = "-",
    decision: Annotated[
        bool, typer.Option("--decision", help="Write decision values after each label.")
    ] = False,
    probability: Annotated[
        bool,
        typer.Option("--probability", help="Write the classes' probabilities after each label."),
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            help="Write after each prediction of a regression the interval of this confidence.",
        ),
    ] = None,
    *,
    options: DataOptions,
    weight: Weight = None,
    query: Query = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict with a model, one line for each sample.

    Named columns are matched to the model's features and target by name, in any order; other
    columns are left out with a warning. If the data have targets, the accuracy or the error is
    shown too, on standard error if the predictions go to standard output. Decision values and
    probabilities are in the order of the classes; intervals are a lower and an upper end. With
    --json and no OUTPUT, the object holds the predictions. A model that was trained
    with --scale scales the data itself.

    Examples:

      maxmargin predict test.svm train.svm.mm

      maxmargin predict test.csv churn.mm predictions.txt --target churned --decision

      maxmargin predict new.csv churn.mm --json

      maxmargin predict test.svm train.svm.mm --probability

      maxmargin predict test.csv houses.mm --interval 0.9
    """
    check_outputs(output, inputs=(data, model))
    fitted = model_files.load_model(model)
    fitting.check_query(fitted, type(fitted).__name__, query)
    if options.zero_based is None and fitting.takes_kernel(fitted):
        options = replace(options, zero_based=True)
    table = options.read(data, weight=weight, query=query, **model_files.known(fitted))
    table = fitting.with_kernel(fitted, table, training=False)
    fitted = model_files.widened(fitted, model, table.X.shape[1])
    X = model_files.rows_for(fitted, table)
    predicted = fitted.predict(X)
    asked = {
        "decision_values": decision,
        "probabilities": probability,
        "intervals": interval is not None,
    }
    kind = [name for name, given in asked.items() if given]
    if len(kind) > 1:
        raise ValueError("--decision, --probability and --interval write values: give one of them")
    values = None
    if interval is not None:
        values = intervals(fitted, X, model, interval)
    elif kind:
        values = decision_values(fitted, X) if decision else probabilities(fitted, X, model)
    report = {"samples": len(predicted), **_scores(fitted, predicted, table)}
    if as_json and output == "-":
        report["predictions"] = predicted
        if kind:
            report[kind[0]] = values
        return show(report, as_json)
    write_predictions(output, predicted, values)
    there = None if output == "-" else output
    return show({**report, "output": there}, as_json, quiet, stderr=output == "-")


def decision_values(model: Any, X: Any) -> Any:
    """Return decision values, one row for each sample."""
    if is_regressor(model) or fitting.is_ranker(model):
        raise ValueError(
            "a regression or a ranking has no decision values besides its predictions: leave "
            "--decision out"
        )
    values = np.asarray(model.decision_function(X))
    return values.reshape(len(values), -1)


def probabilities(model: Any, X: Any, path: str) -> Any:
    """Return probabilities, one row for each sample."""
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{path} has no probabilities: train it with --probability (and a problem that has "
            "some; those of a regression are intervals, --interval)"
        )
    return model.predict_proba(X)


def intervals(model: Any, X: Any, path: str, confidence: float) -> Any:
    """Return intervals of a regression, one row for each sample."""
    try:
        return interval_of(model, X, confidence)
    except AttributeError:  # NotFittedError is one
        raise ValueError(
            f"{path} has no intervals: train it with --probability (and --problem svr or nu-svr)"
        ) from None


def _scores(model: Any, predicted: Any, table: Data) -> dict[str, Any]:
    """Return the scores if the targets can be compared with the predictions.

    Words where the model predicts numbers, or numbers where it predicts words, are an error.
    Several predictions for each sample (quantiles, targets) have no scores.
    """
    if table.y is None or np.ndim(predicted) > 1:
        return {}
    y = table.y
    if is_regressor(model) or fitting.is_ranker(model):
        y = fitting.numbers(y, table)
    elif is_classifier(model):
        y = labels(y)
        if (y.dtype.kind in "US") != (np.asarray(predicted).dtype.kind in "US"):
            raise ValueError(
                f"{table.source} has targets like {str(y[0])!r}, the model predicts classes like "
                f"{str(predicted[0])!r}: is it the right column?"
            )
        _check_labels(y, model.classes_, table)
    return fitting.scores(model, predicted, y, table.weight, table.queries)


def _check_labels(y: Any, classes: Any, table: Data) -> None:
    """Check labels that the model was not trained on, which are never predicted.

    If all labels are unknown, the column is not the target: an error. If some are, warn.
    """
    unknown = np.setdiff1d(y, classes).tolist()
    if not unknown:
        return
    shown = ", ".join(map(repr, unknown[:5])) + ", ..." * (len(unknown) > 5)
    said = f"{table.source} has targets that are not classes of the model: {shown}"
    if not np.isin(y, classes).any():
        column = "the last column" if table.target is None else repr(table.target)
        raise ValueError(f"{said}: is {column} the target? --target names another column, or none")
    warnings.warn(f"{said}; they count as errors", stacklevel=2)


def write_predictions(
    path: str, predicted: Any, values: Any = None, heading: str | None = None
) -> None:
    """Write one line for each sample, atomically: the prediction, then its values.

    A heading, if there is one, comes first.
    """
    several = np.ndim(predicted) > 1
    lines = [
        " ".join(map(number, value)) if several else number(value) for value in plain(predicted)
    ]
    if values is not None:
        lines = [
            " ".join([line, *(number(v) for v in row)])
            for line, row in zip(lines, values.tolist(), strict=True)
        ]
    lines = lines if heading is None else [heading, *lines]
    with compressed_write(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def number(value: Any) -> str:
    """Return a value as text that reads back exactly, without a point if it is whole."""
    whole = isinstance(value, float) and value == int(value) and abs(value) < 2**53
    return str(int(value) if whole else value)
