"""``maxmargin svm-train``: LIBSVM's options, defaults and model files, our solver.

    -s 0 C-SVC   1 nu-SVC   2 one-class   3 eps-SVR   4 nu-SVR
    -t 0 linear   1 polynomial   2 RBF   3 sigmoid   4 precomputed
    -d degree 3   -g gamma 1/features   -r coef0 0   -c C 1   -n nu 0.5   -p epsilon 0.1
    -m cache MB 100   -e tolerance 0.001
    -h shrinking 1   -b probabilities 0   -wi weight of class i, C-SVC only   -v folds   -q quiet

-b 1 is an error with -v. LIBSVM accepts options that the chosen -s or -t
does not use, and weights of classes that do not occur. So does this command, with a warning.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_classifier, is_outlier_detector, is_regressor

import maxmargin
from maxmargin.cli import fitting, probabilities, problems
from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, files, parse
from maxmargin.cli.options import labels, read_svmlight, with_target
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_predict import regression_errors
from maxmargin.cli.train import cross_predict
from maxmargin.io import save_libsvm
from maxmargin.io.label_orders import label_order
from maxmargin.io.table_columns import Data

SOLVERS = (maxmargin.SVC, maxmargin.NuSVC, maxmargin.OneClassSVM, maxmargin.SVR, maxmargin.NuSVR)
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
DEFAULTS: dict[str, Any] = {
    "s": 0,
    "t": 2,
    "d": 3,
    "g": 0.0,
    "r": 0.0,
    "c": 1.0,
    "n": 0.5,
    "p": 0.1,
    "m": 100.0,
    "e": 0.001,
    "h": 1,
    "b": 0,
    "v": 0,
}
USED_BY_SOLVER = {"c": (0, 3, 4), "n": (1, 2, 4), "p": (3,)}
USED_BY_KERNEL = {"d": (1,), "g": (1, 2, 3), "r": (1, 3)}
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="TRAINING_FILE [MODEL_FILE]", help="As svm-train takes them."),
]


def svm_train(arguments: Arguments = None) -> None:
    """Train as LIBSVM's svm-train does: its options, its defaults, its model file.

    -s problem: 0 C-SVC, 1 nu-SVC, 2 one-class, 3 eps-SVR, 4 nu-SVR. -t kernel: 0 linear, 1
    polynomial, 2 RBF, 3 sigmoid, 4 precomputed. -d degree (3), -g gamma (1/features), -r coef0 (0),
    -c C (1), -n nu (0.5), -p epsilon (0.1), -m cache in MB (100), -e tolerance (0.001), -h
    shrinking (1), -b 1 probabilities, -wi weight of class i, -v folds, -q quiet.

    Options that the chosen -s or -t does not use have no effect, as in LIBSVM; a warning says so.

    Examples:

      maxmargin svm-train -s 0 -t 2 -c 10 -g 0.1 heart_scale

      maxmargin svm-train -s 3 -p 0.1 -v 5 housing_scale

      maxmargin svm-train -w1 2 -w-1 1 -q a9a a9a.model
    """
    found = parse(arguments or [], DEFAULTS, weights=True)
    _refuse(found)
    path, output = training_files(found)
    data, quiet = read_svmlight(path, zero_based=found["t"] == 4), "q" in found.given
    warn_unused(found, "s", USED_BY_SOLVER)
    warn_unused(found, "t", USED_BY_KERNEL)
    use_weights(found, data, found["s"] == 0)
    model = estimator(found, verbosity(quiet))
    data = fitting.with_kernel(model, data, training=True)
    if found["v"]:
        return print_cross_validation(model, data, found["v"], quiet)
    fitting.fit(model, data)
    if is_classifier(model):
        model.model_ = replace(model.model_, label_order=label_order(labels(data.y)))
    if found["b"] and is_classifier(model):
        probabilities.learn(model, data)
    save_libsvm(model, output)
    if not quiet:
        typer.echo(str(model.certificate_))
        typer.echo(f"Total nSV = {len(model.support_)}")
    return None


def check_values(found: Flags) -> None:
    """Raise an error for numbers that name no problem, kernel or switch."""
    for name in "st":
        if not 0 <= found[name] <= 4:
            raise usage(f"-{name} must be 0 to 4, got {found[name]}")
    for name in "hb":
        if found[name] not in (0, 1):
            raise usage(f"-{name} must be 0 or 1, got {found[name]}")


def _refuse(found: Flags) -> None:
    """Raise an error for options that LIBSVM refuses or that are not available."""
    check_values(found)
    if found["b"] and found["v"]:
        raise usage("-b 1 needs a model that is written to a file: it does not work with -v")
    check_folds(found)
    if "g" in found.given and found["g"] < 0:
        raise usage(f"-g must be at least 0, got {found['g']}")


def training_files(found: Flags) -> tuple[str, Path]:
    """Return the training file and the model file, whose name may be left out."""
    paths = files(found, 1, 2, "a training file and a model file")
    output = Path(paths[1] if len(paths) > 1 else f"{Path(paths[0]).name}.model")
    check_outputs(str(output), inputs=(paths[0],))
    return paths[0], output


def check_folds(found: Flags) -> None:
    """Raise an error for a single fold."""
    if "v" in found.given and found["v"] < 2:
        raise usage(f"-v needs at least 2 folds, got {found['v']}")


def warn_unused(found: Flags, flag: str, used: Mapping[str, tuple[Any, ...]]) -> None:
    """Warn about options that were given but have no effect with the value of another."""
    for name, values in used.items():
        if name in found.given and found[flag] not in values:
            warnings.warn(f"-{name} has no effect with -{flag} {found[flag]}", stacklevel=2)


def estimator(found: Flags, verbose: int) -> Any:
    """The estimator with LIBSVM's meaning of the options."""
    gamma: Any = found["g"] if "g" in found.given and found["g"] > 0 else "auto"
    values = {
        "kernel": KERNELS[found["t"]],
        "degree": found["d"],
        "gamma": gamma,
        "coef0": found["r"],
        "C": found["c"],
        "nu": found["n"],
        "epsilon": found["p"],
        "tol": found["e"],
        "cache_size": found["m"],
        "shrinking": bool(found["h"]),
        "class_weight": found.weights or None,
        "interval": bool(found["b"]),
        "probability": bool(found["b"] and found["s"] == 2),
        "verbose": verbose,
    }
    return problems.with_own(SOLVERS[found["s"]], values)


def use_weights(found: Flags, data: Data, used: bool) -> None:
    """Keep the weights of classes that occur, if the problem uses weights; warn about the rest."""
    known = set(np.unique(with_target(data)).tolist()) if used else set()
    for label in [label for label in found.weights if label not in known]:
        cause = (
            f"{data.source} has no sample of class {label}"
            if used
            else f"-s {found['s']} has no class weights"
        )
        warnings.warn(f"-w{label} has no effect: {cause}", stacklevel=2)
        del found.weights[label]


def print_cross_validation(model: Any, data: Data, folds: int, quiet: bool) -> None:
    """Print the lines of svm-train -v."""
    predicted, y = cross_predict(model, data, folds, seed=0, quiet=quiet)
    if is_outlier_detector(model) and not np.isin(y, (-1, 1)).all():
        raise ValueError(
            "-v compares the predictions of a one-class model with the labels, which must be 1 "
            "(inside) and -1"
        )
    if is_regressor(model):
        error, correlation = regression_errors(predicted, y)
        typer.echo(f"Cross Validation Mean squared error = {error:.6g}")
        typer.echo(f"Cross Validation Squared correlation coefficient = {correlation:.6g}")
    else:
        typer.echo(f"Cross Validation Accuracy = {100 * np.mean(predicted == y):.6g}%")
