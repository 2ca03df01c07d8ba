"""``maxmargin train``: fit any estimator on a data file, show its certificate, write the model."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone, is_outlier_detector

from maxmargin.cli import fitting, model_files, problems
from maxmargin.cli.errors import usage
from maxmargin.cli.options import (
    AsJson,
    DataFile,
    DataOptions,
    Jobs,
    Query,
    Quiet,
    Scale,
    Seed,
    Weight,
    with_target,
)
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.reports import progress, show, verbosity
from maxmargin.cli.searching import How, search
from maxmargin.cli.tune import grid_of
from maxmargin.io.preparation import parts_of
from maxmargin.io.table_columns import Data


@dataclass(frozen=True)
class Parameters:
    """Parameters of the estimators that have an option of their own."""

    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            "-k",
            help="rbf, linear, poly, sigmoid, laplacian, chi2, cosine, logistic, precomputed.",
        ),
    ] = None
    C: Annotated[
        float | None, typer.Option("-C", help="Weight of the errors; inf is the hard margin.")
    ] = None
    gamma: Annotated[
        str | None,
        typer.Option("--gamma", "-g", help="Kernel coefficient: a number, scale or auto."),
    ] = None
    degree: Annotated[
        int | None, typer.Option("--degree", "-d", help="Degree of the polynomial kernel.")
    ] = None
    coef0: Annotated[
        float | None, typer.Option(help="Constant of the polynomial and sigmoid kernels.")
    ] = None
    nu: Annotated[
        float | None, typer.Option("--nu", "-n", help="Share of margin errors or outliers.")
    ] = None
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", "-e", help="Half width of the tube of a regression."),
    ] = None
    tol: Annotated[float | None, typer.Option(help="Tolerance.")] = None
    loss: Annotated[
        str | None, typer.Option(help="hinge, squared_hinge, epsilon_insensitive, ...")
    ] = None
    penalty: Annotated[str | None, typer.Option(help="l1 or l2; for linear models.")] = None
    class_weight: Annotated[
        str | None, typer.Option(help="balanced, or label=weight,label=weight.")
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds after which training stops and keeps its best model."),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the parameters, parsed; those that were not given are None."""
        gamma = None if self.gamma is None else problems.value_of(self.gamma)
        weight = problems.class_weights(self.class_weight)
        return {**vars(self), "gamma": gamma, "class_weight": weight}


def train(
    data: DataFile,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="File to write; by default the data file's name and .mm."
        ),
    ] = None,
    problem: problems.ProblemName = "svc",
    *,
    parameters: Parameters,
    scale: Scale = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Any other parameter of the estimator: name=value. May be repeated."
        ),
    ] = None,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Learn probabilities, or intervals of a regression, for predict --probability and "
            "--interval.",
        ),
    ] = False,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="First choose C and gamma, if not given, by cross-validation over a grid.",
        ),
    ] = False,
    jobs: Jobs = None,
    cv: Annotated[
        int | None,
        typer.Option(help="Also show the score of a cross-validation with this many folds."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="mm, libsvm, liblinear or svm-light; by default the model's suffix decides.",
        ),
    ] = None,
    options: DataOptions,
    weight: Weight = None,
    query: Query = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a support vector machine on a data file.

    The certificate bounds how far the solution is from the optimum. Accuracy and errors are those
    on the training data; --cv adds those of a cross-validation. --tune searches the grid of the
    command tune, with as many folds as --cv says, 5 by default.

    Examples:

      maxmargin train train.svm

      maxmargin train train.csv churn.mm --target churned -C 10 --gamma 0.1 --cv 5

      maxmargin train churn.csv --target churned --scale standard --tune --probability

      maxmargin train houses.csv --problem svr --target price --epsilon 0.2

      maxmargin train houses.csv --problem svr --target price --probability

      maxmargin train survey.csv --target answer --ignore id,date --weight copies

      maxmargin train news.svm.gz news.model --problem linear-svc --loss hinge

      maxmargin train searches.svm --problem rank-svc -C 0.1 --cv 5

      zcat train.svm.gz | maxmargin train - model.mm --json
    """
    if cv is not None and cv < 2:
        raise usage(f"--cv must be at least 2, got {cv}.")
    if jobs is not None and not tune:
        raise usage("--jobs is the number of fits at once of --tune.")
    learnt = problems.learning(problem) if probability else {}
    given = problems.assignments(set_, parameters.given() | learnt)
    estimator = problems.build(problem, given, random_state=seed, verbose=verbosity(quiet))
    fitting.check_weight(estimator, problem, weight)
    fitting.check_query(estimator, problem, query)
    fitting.check_scale(estimator, scale)
    path = _model_path(data, model)
    check_outputs(str(path), inputs=(data,))
    kind = model_files.model_format(path, format, estimator)
    model_files.check_scaling(kind, scale, estimator)
    table = fitting.with_kernel(
        estimator, options.read(data, weight=weight, query=query), training=True
    )
    how = How(cv or 5, None, seed, jobs, None, quiet, scale)
    tuned = tune_first(estimator, given, table, how) if tune else None
    began = time.perf_counter()
    fitted = fitting.fit(estimator, table, scale)
    seconds = time.perf_counter() - began
    report = {
        **describe(fitted, table),
        "tuned": tuned,
        "seconds": round(seconds, 4),
        **_training_scores(fitted, table),
    }
    if cv is not None:
        report["cross_validation"] = cross_validate(estimator, table, cv, seed, quiet, scale)
    model_files.FORMATS[kind](fitted, path)
    report |= {"model": str(path), "format": kind}
    if as_json:
        report["certificate"] = model_files.certificate_report(fitted)
    show(report, as_json, quiet)


def tune_first(estimator: Any, given: dict[str, Any], table: Data, how: How) -> dict[str, Any]:
    """Choose C and gamma, unless they are given, by a search without learning probabilities."""
    grid = grid_of(estimator, None, None, None, given)
    learning = [name for name in ("probability", "interval") if name in given]
    found = search(clone(estimator).set_params(**dict.fromkeys(learning, False)), grid, table, how)
    estimator.set_params(**found.best_params_)
    return {**found.best_params_, "score": found.best_score_, "folds": how.cv}


def _model_path(data: str, model: str | None) -> Path:
    if model is not None:
        return Path(model)
    if data == "-":
        raise usage("The data come from standard input: name the model file, for example model.mm.")
    return Path(f"{Path(data).name}.mm")


def describe(model: Any, table: Data) -> dict[str, Any]:
    """Describe what was fitted, and to which data."""
    machine = parts_of(model)[1]
    support = getattr(machine, "support_", None)
    return {
        "data": f"{table.source}: {table.X.shape[0]:,} x {table.X.shape[1]:,}",
        "target": table.target,
        "weights": fitting.weight_report(table),
        "queries": query_report(machine, table),
        "scaling": model_files.scaling_report(model),
        "estimator": " ".join(str(machine).split()),
        "support_vectors": None if support is None else len(support),
        "certificate": str(machine.certificate_) if hasattr(machine, "certificate_") else None,
    }


def query_report(machine: Any, table: Data) -> int | None:
    """Return the number of queries of a ranking."""
    if not fitting.is_ranker(machine):
        return None
    return 1 if table.queries is None else len(np.unique(table.queries))


def _training_scores(model: Any, table: Data) -> dict[str, Any]:
    """Return the scores on the training data, under names that say so."""
    y = table.y if is_outlier_detector(model) else with_target(table)
    return {
        f"training_{name}": value
        for name, value in fitting.scores(
            model, model.predict(table.X), y, table.weight, table.queries
        ).items()
    }


def cross_validate(
    model: Any, table: Data, folds: int, seed: int, quiet: bool = False, scale: str | None = None
) -> dict[str, Any]:
    """Score the predictions of all folds together."""
    if is_outlier_detector(model):
        raise ValueError("--cv needs a classifier or a regressor: a one-class model has no score")
    predicted, y = cross_predict(model, table, folds, seed, quiet, scale)
    return {"folds": folds, **fitting.scores(model, predicted, y, table.weight, table.queries)}


def cross_predict(
    model: Any, table: Data, folds: int, seed: int, quiet: bool = False, scale: str | None = None
) -> tuple[Any, Any]:
    """Return predictions for each fold from a model of the others, and the targets."""
    y = fitting.target_of(model, table)
    predicted = np.empty_like(y)
    with progress("cross-validation", folds, quiet) as advance:
        for outside, fitted, rows in fitting.by_folds(
            model, table.X, y, folds, seed, table.weight, scale, fitting.queries_of(model, table)
        ):
            predicted[outside] = fitted.predict(rows)
            advance()
    return predicted, y
