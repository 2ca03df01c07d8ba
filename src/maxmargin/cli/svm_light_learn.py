"""``maxmargin svm_learn``: SVM-light's options, defaults and files, our solver.

    -z c classification, r regression, p ranking of the examples of each query (qid:)
    -c C, by default 1 / (mean length of phi(x))^2
    -w epsilon 0.1   -j factor of the cost of positive examples 1   -b intercept 1
    -i 1 remove examples at the upper bound and train again, until there are none
    -x 1 leave-one-out   -o rho of the xi-alpha estimates 1
    -t 0 linear   1 polynomial (s x.z + r)^d   2 RBF exp(-g |x - z|^2)   3 sigmoid tanh(s x.z + r)
    -d 3   -g 1   -s 1   -r 1   -e tolerance 0.001   -m cache MB   -v verbosity 1
    -a file of the dual variables
    -p share of the positive class among unlabelled examples   -l file of their labels

The label of an example is the sign of its target; 0 is an unlabelled example, for transduction
(svm_light_transduction.py). svm_light_rank.py trains rankings. -q, -n, -h, -f and -# steer
SVM-light's algorithm: they are accepted, and the optimum is the same. -e bounds the violation of
the optimality conditions, as there. svm_light_estimates.py explains what is printed.
"""

import warnings
from typing import Annotated, Any

import numpy as np
import typer

import maxmargin
from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, files, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.outputs import check_outputs
from maxmargin.cli.problems import with_own
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_light_estimates import (
    AT_BOUND,
    Fitted,
    check_classes,
    coefficients,
    cost_of,
    lengths_of,
    print_fit,
    print_leave_one_out,
    print_xi_alpha,
    write_numbers,
)
from maxmargin.cli.svm_light_options import check_choice, check_kernel, kernel_of
from maxmargin.cli.svm_light_rank import learn_preferences
from maxmargin.cli.svm_light_transduction import PREDICTIONS, learn_transduction
from maxmargin.cli.svm_train import warn_unused
from maxmargin.core.arrays import Floats, Mask
from maxmargin.io import save_svm_light
from maxmargin.io.table_columns import Data
from maxmargin.model_selection import leave_one_out

DEFAULTS: dict[str, Any] = {
    "z": "c",
    "c": 0.0,
    "w": 0.1,
    "j": 1.0,
    "b": 1,
    "i": 0,
    "x": 0,
    "o": 1.0,
    "k": 0,
    "p": -1.0,
    "t": 0,
    "d": 3,
    "g": 1.0,
    "s": 1.0,
    "r": 1.0,
    "u": "",
    "q": 10,
    "n": 0,
    "m": 40.0,
    "e": 0.001,
    "h": 100,
    "f": 1,
    "y": "",
    "#": 100_000,
    "l": PREDICTIONS,
    "a": "",
    "v": 1,
}
USED_BY_TYPE = {"w": ("r",), "j": ("c",), "i": ("c",), "x": ("c",), "o": ("c",)}
MODEL = "svm_model"
"""The model file if none is named."""
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="EXAMPLE_FILE [MODEL_FILE]", help="As svm_learn takes them."),
]


def svm_learn(arguments: Arguments = None) -> None:
    """Train as SVM-light's svm_learn does: its options, its defaults, its model file.

    -z c classification, r regression, p ranking. -c C (by default 1 / (mean |x|)^2), -w epsilon
    (0.1), -j cost factor of positive examples (1), -b 0 without intercept, -i 1 remove inconsistent
    examples, -x 1 leave-one-out, -o rho (1). -t kernel: 0 linear, 1 polynomial, 2 RBF, 3 sigmoid;
    -d degree (3), -g gamma (1), -s factor (1), -r constant (1). -e tolerance (0.001), -m cache in
    MB, -v 0 quiet, -a file of the dual variables.

    Examples with the label 0 are unlabelled: -p is the share of the positive ones among them (as
    among the others), -l the file of the labels found (trans_predictions).

    -q, -n, -h, -f and -# are accepted: they do not change the optimum.

    Examples:

      maxmargin svm_learn train.dat model

      maxmargin svm_learn -c 10 -t 2 -g 0.1 -x 1 train.dat model

      maxmargin svm_learn -z r -w 0.05 -t 1 -d 2 houses.dat model
    """
    found = parse(arguments or [], DEFAULTS, switches="")
    _refuse(found)
    path, *rest = files(found, 1, 2, "an example file and a model file")
    output = rest[0] if rest else MODEL
    check_outputs(output, found["a"] or None, inputs=(path,))
    warn_unused(found, "z", USED_BY_TYPE)
    data = read_svmlight(path, zero_based=False)
    if found["z"] == "c" and (np.asarray(data.y) == 0).any():
        check_outputs(output, found["a"] or None, found["l"], inputs=(path,))
        return learn_transduction(found, data, output)
    for name in sorted(found.given & {"p", "l"}):
        warnings.warn(f"-{name} has no effect without unlabelled examples", stacklevel=2)
    if found["z"] == "p":
        return learn_preferences(found, data, output)
    if found["z"] == "r":
        return _regress(found, data, output)
    return _classify(found, data, output)


# ---- the problems --------------------------------------------------------------------------------


def _classify(found: Flags, data: Data, output: str) -> None:
    """Train a classifier, write it, and print what SVM-light prints."""
    X, y = data.X, np.sign(np.asarray(data.y, np.float64))
    check_classes(y, data.source)
    lengths = lengths_of(kernel_of(found), X)
    C = cost_of(found, lengths.mean)
    cost = np.where(y > 0, C * found["j"], C)
    model = _estimator(found, C, class_weight={1.0: found["j"]})
    inside = np.ones(len(y), bool)
    if found["i"]:
        inside = _fit_consistent(model, X, y, cost)
    else:
        model.fit(X, y)
    b = coefficients(model, len(y))
    save_svm_light(model, output)
    if found["a"]:
        write_numbers(found["a"], b)
    if found["v"] < 1:
        return
    f = model.decision_function(X)
    fit = Fitted(model, y, f, b, cost, np.maximum(0.0, 1.0 - y * f), lengths)
    print_fit(fit, int(np.sum(~inside)) if found["i"] else None)
    if not found["i"]:
        print_xi_alpha(fit, found["o"])
    if found["x"]:
        print_leave_one_out(leave_one_out(model, X, y).decision_values, y)
    typer.echo(str(model.certificate_))


def _regress(found: Flags, data: Data, output: str) -> None:
    """Train a regression, write it, and print what SVM-light prints."""
    X, z = data.X, np.asarray(data.y, np.float64)
    lengths = lengths_of(kernel_of(found), X)
    C = cost_of(found, lengths.mean)
    model = _estimator(found, C, epsilon=found["w"]).fit(X, z)
    b = coefficients(model, len(z))
    save_svm_light(model, output)
    if found["a"]:  # those of targets above the tube, then, last first, of targets below it
        write_numbers(found["a"], np.append(np.maximum(b, 0.0), np.minimum(b, 0.0)[::-1]))
    if found["v"] < 1:
        return
    f = model.predict(X)
    loss = np.maximum(0.0, np.abs(z - f) - found["w"])
    print_fit(Fitted(model, z, f, b, np.full(len(z), C), loss, lengths))
    typer.echo(str(model.certificate_))


def _fit_consistent(model: Any, X: Any, y: Floats, cost: Floats) -> Mask:
    """Leave out examples at their upper bound and train again, until there are none.

    Return which examples are left.
    """
    inside = np.ones(len(y), bool)
    while True:
        model.fit(X, y, sample_weight=inside.astype(np.float64))
        bounded = inside & (np.abs(coefficients(model, len(y))) >= AT_BOUND * cost)
        if not bounded.any():
            return inside
        inside &= ~bounded
        if len(np.unique(y[inside])) < 2:
            raise ValueError(
                f"-i 1 removed all examples of a class, {int(np.sum(~inside))} of {len(y)}: no "
                "hyperplane with the desired margin; use a greater C or -i 0"
            )


# ---- options -------------------------------------------------------------------------------------


def _refuse(found: Flags) -> None:
    """Raise an error for options that SVM-light refuses or that are not available."""
    check_choice(found, "z", ("c", "r", "p"))
    for name in "bixf":
        check_choice(found, name, (0, 1))
    check_kernel(found)
    if found["c"] < 0:
        raise usage(f"-c must be positive, or 0 for the default, got {found['c']}")
    for name in ("j", "e"):
        if not found[name] > 0:
            raise usage(f"-{name} must be positive, got {found[name]}")
    if found["p"] > 1 or ("p" in found.given and found["p"] < 0):
        raise usage(f"-p must be from 0 to 1, got {found['p']}")
    if not 0 < found["o"] <= 2:
        raise usage(f"-o must be above 0 and at most 2, got {found['o']}")
    if found["k"]:
        raise usage("-k, the extended xi-alpha estimate, is not available: -x 1 is exact")
    if found["q"] < 2 or found["n"] > found["q"] or found["h"] < 1:
        raise usage("-q must be at least 2, -n at most -q, -h at least 1")
    if found["y"]:
        raise usage("-y, a start from given variables, is not available; the optimum is the same")
    if found["z"] == "p" and found["a"]:
        raise usage("-a is not available with -z p: the solver keeps no variables of all pairs")
    if found["z"] == "r" and found["t"] and not found["b"]:
        raise usage("-z r -b 0 is available for the linear kernel, -t 0")
    if found["x"] and (found["i"] or not found["b"]):
        raise usage("-x 1 leaves examples out of models with -i 0 and -b 1 only")


def _estimator(found: Flags, C: float, **more: Any) -> Any:
    """Return the estimator with SVM-light's meaning of the options.

    Without intercept it is a linear model, or PerfSVC. Their tolerance is a relative gap, e^2: no
    example of a linear model then adds more than e times its weight to the gap.
    """
    values = {"C": C, "tol": found["e"], "verbose": verbosity(found["v"] < 1), **more}
    values |= {"kernel": kernel_of(found)}
    if "m" in found.given:
        values["cache_size"] = found["m"]
    classifier = found["z"] == "c"
    if found["b"]:
        return with_own(maxmargin.SVC if classifier else maxmargin.SVR, values)
    values |= {"tol": found["e"] ** 2, "fit_intercept": False}
    if found["t"]:
        return with_own(maxmargin.PerfSVC, values)
    cls: Any = maxmargin.LinearSVC if classifier else maxmargin.LinearSVR
    return with_own(cls, values | {"loss": "hinge" if classifier else "epsilon_insensitive"})
