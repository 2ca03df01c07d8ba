"""``maxmargin plot``: a picture of a model and its data."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector, is_regressor

from maxmargin.cli import model_files
from maxmargin.cli.errors import usage
from maxmargin.cli.options import (
    AsJson,
    DataFile,
    DataOptions,
    Quiet,
    Seed,
    labels,
    one_of,
    with_target,
)
from maxmargin.cli.outputs import check_outputs, check_picture, write_picture
from maxmargin.cli.reports import show
from maxmargin.cli.subset import chosen_rows, rows_of
from maxmargin.io.preparation import parts_of
from maxmargin.io.table_columns import Data

KINDS: dict[str, Callable[[Any], bool]] = {
    "decision": lambda model: is_classifier(model) and len(model.classes_) == 2,
    "classes": is_classifier,
    "tube": is_regressor,
    "outliers": is_outlier_detector,
    "kernel-matrix": lambda model: hasattr(parts_of(model)[1], "kernel_"),
}
"""The kinds of pictures, and the models they suit; the first that suits is the default."""
MOST_POINTS = 2000
"""Larger data are drawn as a sample of this many points; more cannot be told apart."""


def plot(
    data: DataFile,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    picture: Annotated[
        str, typer.Argument(metavar="PICTURE", help="File to write: .png, .svg or .pdf.")
    ],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help=f"One of {', '.join(KINDS)}; by default what suits the model."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Two features to show, by name or number from 1: age,income. "
            "By default the principal components."
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, help="Draw a sample of this many points if there are more.")
    ] = MOST_POINTS,
    *,
    options: DataOptions,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw a model: regions and margins, the tube of a regression, the outliers.

    Examples:

      maxmargin plot train.svm train.svm.mm picture.png

      maxmargin plot churn.csv churn.mm churn.svg --target churned --features age,income
    """
    check_outputs(picture, inputs=(data, model))
    check_picture(picture)
    fitted = model_files.load_model(model)
    chosen = kind or next(name for name, suits in KINDS.items() if suits(fitted))
    one_of("--kind", chosen, KINDS)
    if not KINDS[chosen](fitted):
        suitable = ", ".join(name for name, suits in KINDS.items() if suits(fitted))
        raise ValueError(
            f"{model} is a {type(parts_of(fitted)[1]).__name__}, which --kind {chosen} cannot "
            f"draw: use {suitable}"
        )
    table = options.read(data, **model_files.known(fitted))
    fitted = model_files.widened(fitted, model, table.X.shape[1])
    table = table._replace(X=model_files.rows_for(fitted, table))
    if table.X.shape[0] > most:
        stratified = not is_regressor(fitted) and table.y is not None
        table = rows_of(table, chosen_rows(table, most, seed, stratified))
    table = table._replace(X=table.X.toarray() if sparse.issparse(table.X) else table.X)
    shown = draw(chosen, fitted, table, _columns(features, table))
    write_picture(shown, picture)
    show({"kind": chosen, "points": table.X.shape[0], "picture": picture}, as_json, quiet)


def draw(kind: str, model: Any, table: Data, columns: list[int] | None) -> Any:
    """Return the display."""
    import matplotlib

    matplotlib.use("Agg")
    from maxmargin import plots

    X, names = table.X, table.names
    if kind in ("decision", "classes", "outliers") and columns and len(set(columns)) != 2:
        raise ValueError(
            "a plane needs two features: give --features two different names or numbers"
        )
    plane: dict[str, Any] = {"features": columns, "feature_names": names}
    if kind == "tube":
        if columns and len(columns) > 1:
            raise ValueError("a tube needs one feature: give --features one name or number")
        k = columns[0] if columns else 0
        return plots.TubeDisplay.from_estimator(
            model,
            X,
            np.asarray(with_target(table), float),
            feature=k,
            name=names[k] if names else None,
        )
    if kind == "kernel-matrix":
        if columns:
            raise ValueError("a kernel matrix has no plane: leave --features out")
        scalers, model = parts_of(model)
        for scaler in scalers:
            X = scaler.transform(X)
        return plots.KernelMatrixDisplay.from_estimator(model, X, table.y)
    if kind == "outliers":
        return plots.OutlierDisplay.from_estimator(model, X, **plane)
    cls = plots.DecisionDisplay if kind == "decision" else plots.ClassesDisplay
    return cls.from_estimator(model, X, labels(with_target(table)), **plane)


def _columns(text: str | None, table: Data) -> list[int] | None:
    """Return the numbers of the named features."""
    if text is None:
        return None
    found = []
    for item in (part.strip() for part in text.split(",")):
        if table.names and item in table.names:
            found.append(table.names.index(item))
        elif item.isdigit() and 1 <= int(item) <= table.X.shape[1]:
            found.append(int(item) - 1)
        else:
            raise usage(
                f"--features: {item!r} is neither a name nor a number from 1 to {table.X.shape[1]}."
            )
    return found
