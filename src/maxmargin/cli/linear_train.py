"""``maxmargin linear-train``: LIBLINEAR's options and model files, our solver.

    -s 1, 2 squared hinge   3 hinge   4 Crammer and Singer   5 squared hinge, l1 penalty
    -s 11, 12 squared epsilon-insensitive   13 epsilon-insensitive   21 one-class
    -c C 1   -p epsilon 0.1   -n nu 0.5   -e tolerance
    -B bias -1: no intercept; b > 0: a penalised intercept, the weight of a constant feature b
    -R do not penalise the intercept (with -B 1)
    -wi weight of class i   -v folds   -C find C by cross-validation (with -s 2)   -q quiet

Here -e is the relative duality gap, 1e-4 by default: it bounds the error of the answer, which
LIBLINEAR's thresholds do not. Logistic regression (-s 0, 6, 7) is not a support vector machine and
is an error, as are -M 1 and -b 1.
"""

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_classifier

import maxmargin
from maxmargin.cli import fitting, problems
from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, parse
from maxmargin.cli.options import labels, read_svmlight, with_target
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_train import (
    check_folds,
    print_cross_validation,
    training_files,
    use_weights,
    warn_unused,
)
from maxmargin.io import save_liblinear
from maxmargin.io.label_orders import label_order
from maxmargin.io.table_columns import Data

SOLVERS: dict[int, tuple[Any, dict[str, Any]]] = {
    1: (maxmargin.LinearSVC, {"dual": True}),
    2: (maxmargin.LinearSVC, {"dual": False}),
    3: (maxmargin.LinearSVC, {"loss": "hinge"}),
    4: (maxmargin.LinearSVC, {"multi_class": "crammer_singer"}),
    5: (maxmargin.LinearSVC, {"penalty": "l1"}),
    11: (maxmargin.LinearSVR, {"loss": "squared_epsilon_insensitive", "dual": False}),
    12: (maxmargin.LinearSVR, {"loss": "squared_epsilon_insensitive", "dual": True}),
    13: (maxmargin.LinearSVR, {}),
    21: (maxmargin.LinearOneClassSVM, {}),
}
DEFAULTS: dict[str, Any] = {
    "s": 1,
    "c": 1.0,
    "p": 0.1,
    "n": 0.5,
    "e": 1e-4,
    "B": -1.0,
    "M": 0,
    "v": 0,
}
SUPERVISED = tuple(solver for solver in SOLVERS if solver != 21)
USED = {"p": (11, 12, 13), "n": (21,), "c": SUPERVISED, "B": SUPERVISED}
"""The values of -s with which an option has an effect."""
LEAST_C, GREATEST_C = 2.0**-10, 2.0**10
"""-C starts at the first, or at the value of -c, and doubles it up to the second."""
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TRAINING_FILE [MODEL_FILE]", help="As LIBLINEAR's train takes them."),
]


def linear_train(arguments: Arguments = None) -> None:
    """Train as LIBLINEAR's train does: its options, its regularised bias, its model file.

    -s problem: 1, 2 squared hinge, 3 hinge, 4 Crammer and Singer, 5 squared hinge with l1 penalty,
    11, 12 squared epsilon-insensitive, 13 epsilon-insensitive, 21 one-class. -c C (1), -p epsilon
    (0.1), -n nu (0.5), -B bias (-1, none), -R do not penalise it, -wi weight of class i, -v folds,
    -C find C, -q quiet. -e is the relative duality gap (1e-4). Logistic regression (-s 0, 6, 7) is
    not available.

    Examples:

      maxmargin linear-train -s 2 -c 4 -B 1 news20.binary

      maxmargin linear-train -s 3 -v 5 rcv1.svm

      maxmargin linear-train -C -s 2 a9a
    """
    found = parse(arguments or [], DEFAULTS, switches="qRC", weights=True)
    _refuse(found)
    path, output = training_files(found)
    data, quiet = read_svmlight(path, zero_based=False), "q" in found.given
    warn_unused(found, "s", USED)
    use_weights(found, data, found["s"] <= 5)
    model = estimator(found, verbosity(quiet))
    if "C" in found.given:
        return _find_C(model, data, found["v"] or 5, found["c"] if "c" in found.given else LEAST_C)
    if found["v"]:
        return print_cross_validation(model, data, found["v"], quiet)
    if found.weights and found["s"] != 4 and len(np.unique(with_target(data))) > 2:
        raise ValueError(
            "-wi with several classes: LIBLINEAR weights a class only in its own problem against "
            "the rest, not where it is part of the rest; "
            "maxmargin train --class-weight weights it everywhere"
        )
    fitting.fit(model, data)
    if is_classifier(model):
        model.model_ = replace(model.model_, label_order=label_order(labels(data.y)))
    save_liblinear(model, output)
    if not quiet:
        typer.echo(str(model.certificate_))
    return None


def _refuse(found: Flags) -> None:
    """Raise an error for options that LIBLINEAR refuses or that are not available."""
    solver, given = found["s"], found.given
    if solver in (0, 6, 7):
        raise ValueError(
            f"-s {solver} is logistic regression, not a support vector machine: use -s 1, 2, 3, 4 "
            "or 5"
        )
    if solver not in SOLVERS:
        raise usage(f"-s must be one of {', '.join(map(str, SOLVERS))}, got {solver}")
    if found["M"]:
        raise ValueError(
            "-M 1: one-vs-one linear models are not available; svm-train -t 0 trains them"
        )
    if "R" in given and found["B"] != 1:
        raise usage("-R needs -B 1")
    if "R" in given and solver not in (2, 5, 11):
        raise usage("-R works with -s 2, 5 or 11 only")
    if "C" in given and solver != 2:
        raise usage("-C works with -s 2 only")
    check_folds(found)


def estimator(found: Flags, verbose: int) -> Any:
    """The estimator with LIBLINEAR's meaning of the options."""
    cls, special = SOLVERS[found["s"]]
    bias = found["B"]
    values = {
        "C": found["c"],
        "epsilon": found["p"],
        "nu": found["n"],
        "tol": found["e"],
        "class_weight": found.weights or None,
        "fit_intercept": bias > 0,  # a feature that is always 0 changes nothing
        "intercept": "free" if "R" in found.given else "regularised",
        "intercept_scaling": bias if bias > 0 and "R" not in found.given else 1.0,
        "verbose": verbose,
        **special,
    }
    return problems.with_own(cls, values)


def _find_C(model: Any, data: Data, folds: int, least: float) -> None:
    """Find the C with the best cross-validated accuracy."""
    if not 0 < least <= GREATEST_C:
        raise usage(
            f"-C starts at the value of -c, which must be above 0 and at most {GREATEST_C:g}, got "
            f"{least:g}"
        )
    values = least * 2.0 ** np.arange(int(np.log2(GREATEST_C / least)) + 1)
    search = maxmargin.LinearSVCCV(values, cv=folds, estimator=model).fit(
        data.X, labels(with_target(data))
    )
    typer.echo(f"Best C = {search.C_:g}  CV accuracy = {100 * search.best_score_:g}%")
