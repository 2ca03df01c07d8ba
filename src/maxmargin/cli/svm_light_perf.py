"""``maxmargin svm_perf_learn`` and ``svm_perf_classify``: SVM-perf's options and files, our solver.

    -c C 0.01   -e tolerance 0.1   -v verbosity 1
    -l 1 F1   2 error rate   3 break-even point of precision and recall   4 precision of the k best
       5 recall of the k best   10 area under the ROC curve
    --b value of a constant feature 1, 0 without   --p k as a multiple of the positive examples
    -t 0 linear   1 polynomial (s x.z + r)^d   2 RBF exp(-g |x - z|^2)   3 sigmoid tanh(s x.z + r)
    -d 3   -g 1   -s 1   -r 1

The objective is SVM-perf's. For n examples it is 1/2 |w|^2 + c L, where L bounds what the measure
lacks in percent: L = 100/n times the loss of PerfSVC, so that its C is 100 c/n. There is no free
intercept: the weight of the constant feature is penalised like the others. With kernels there is
none.

Two losses differ, -l 4 and -l 5. SVM-perf compares with labelings of at least k or at most k
positive examples, and its loss is not an upper bound. PerfSVC labels exactly k (Kar et al. 2015).

-e is 100 times the duality gap relative to the objective, which bounds the error of the answer. In
SVM-perf it is a loss in percent. Kernels are exact here: --t and --i, with --k, --r and --f,
approximate them by few basis functions and are not available. svm_light_options.py lists the
options of SVM-struct.
"""

from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from scipy import sparse

from maxmargin.cli.errors import usage
from maxmargin.cli.flags import Flags, parse
from maxmargin.cli.options import read_svmlight
from maxmargin.cli.reports import verbosity
from maxmargin.cli.svm_light_classify import predicted
from maxmargin.cli.svm_light_estimates import check_classes
from maxmargin.cli.svm_light_options import (
    STRUCT,
    check_choice,
    check_struct,
    kernel_of,
    print_solution,
    struct_files,
)
from maxmargin.core.arrays import Floats
from maxmargin.estimators import PerfSVC
from maxmargin.io import save_svm_light

DEFAULTS = STRUCT | {"l": 2, "w": 9, "e": 0.1, "-b": 1.0, "-p": 0.0, "-s": 1}
APPROXIMATE = {"-t": 0, "-i": 0, "-k": 0, "-r": 0, "-f": ""}
"""Options of approximate kernels; 0 is none."""
MEASURES = {
    1: "f1",
    2: "error",
    3: "prbep",
    4: "precision_at_k",
    5: "recall_at_k",
    10: "auc",
}
BEST = {4: 0.5, 5: 2.0}
"""k as a multiple of the positive examples, if --p does not give it."""
LearnArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="EXAMPLE_FILE [MODEL_FILE]", help="As svm_perf_learn takes them."),
]
ClassifyArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="EXAMPLE_FILE MODEL_FILE [OUTPUT_FILE]", help="As svm_perf_classify takes them."
    ),
]


def svm_perf_learn(arguments: LearnArguments = None) -> None:
    """Train as SVM-perf's svm_perf_learn does: its options, its defaults, its model file.

    -c C (0.01), -l measure: 1 F1, 2 error rate, 3 precision/recall break-even point, 4 precision of
    the k best, 5 recall of the k best, 10 area under the ROC curve. --b constant feature (1; 0
    without), --p k as a multiple of the positive examples (0.5 with -l 4, 2 with -l 5). -t kernel:
    0 linear, 1 polynomial, 2 RBF, 3 sigmoid; -d degree (3), -g gamma (1), -s factor (1), -r
    constant (1). -e is 100 times the relative duality gap (0.1), -v 0 quiet.

    -w, -k, -f, -b, -n, -m, -h, -#, -y and --s are accepted: they do not change the optimum.

    Examples:

      maxmargin svm_perf_learn -c 20 train.dat model

      maxmargin svm_perf_learn -c 20 -l 10 --b 0 train.dat model

      maxmargin svm_perf_learn -c 20 -l 4 --p 1 train.dat model
    """
    found = parse(arguments or [], DEFAULTS | APPROXIMATE, switches="")
    _refuse(found)
    path, output = struct_files(found)
    data = read_svmlight(path, zero_based=False)
    X, y = data.X, np.where(np.asarray(data.y) > 0, 1, -1)
    check_classes(y, data.source)
    n, positive = len(y), int(np.sum(y > 0))
    if found["v"] > 0:
        typer.echo(
            f"Training set properties: {X.shape[1]} features, {n} examples "
            f"({positive} pos / {n - positive} neg)"
        )
    constant = found["-b"] if found["t"] == 0 else 0.0
    model = PerfSVC(
        MEASURES[found["l"]],
        C=100.0 * found["c"] / n,
        k=_best(found, positive, n),
        kernel=kernel_of(found),
        fit_intercept=False,
        tol=found["e"] / 100.0,
        verbose=verbosity(found["v"] < 1),
    )
    if constant:
        X = sparse.hstack([X, np.full((n, 1), constant)], format="csr")
    model.fit(X, y)
    if constant:
        _take_intercept(model, constant)
    save_svm_light(model, output, version="6.20")
    if found["v"] > 0:
        print_solution(model)


def _refuse(found: Flags) -> None:
    """Raise an error for options that SVM-perf refuses or that are not available."""
    check_struct(found)
    if found["l"] == 0:
        raise usage("-l 0, whether any example is wrong, is not available: use -l 2")
    check_choice(found, "l", tuple(MEASURES))
    for name in found.given & set(APPROXIMATE):
        if found[name]:
            raise usage(f"-{name}, for approximate kernels, is not available: kernels are exact")
    if found["-b"] and "-b" in found.given and found["t"]:
        raise usage("--b must be 0 with kernels, as in SVM-perf")
    if found["-p"] < 0 or (found["l"] == 4 and found["-p"] > 1):
        raise usage(f"--p must be above 0, and at most 1 with -l 4, got {found['-p']}")
    if found["l"] == 5 and 0 < found["-p"] < 1:
        raise usage(f"--p must be at least 1 with -l 5, got {found['-p']}")
    if "-p" in found.given and found["l"] not in BEST:
        raise usage("--p belongs to -l 4 and -l 5")


def _best(found: Flags, positive: int, n: int) -> int | None:
    """Return k, the number of examples to find; None for measures without it."""
    if found["l"] not in BEST:
        return None
    return min(n, max(1, int((found["-p"] or BEST[found["l"]]) * positive)))


def _take_intercept(model: PerfSVC, constant: float) -> None:
    """Turn the weight of the last feature, which is constant, into the intercept."""
    record = model.model_
    model.model_ = replace(
        record,
        coef=record.coef[:, :-1],
        slope=record.slope[:, :-1],
        intercept=constant * record.coef[:, -1],
        n_features=record.n_features - 1,
    )
    model.n_features_in_ -= 1


# ---- prediction ----------------------------------------------------------------------------------


def svm_perf_classify(arguments: ClassifyArguments = None) -> None:
    """Predict as SVM-perf's svm_perf_classify does, from its model files or ours.

    Options: -v verbosity (1; 0 prints nothing). Decision values are written to svm_predictions if
    no file is named.

    Examples:

      maxmargin svm_perf_classify test.dat model predictions
    """
    found = parse(arguments or [], {"v": 1, "y": 0, "-d": 1}, switches="")
    data, f = predicted(found)
    if found["v"] < 1:
        return
    y = np.asarray(data.y, np.float64)
    unlabelled = int(np.sum(y == 0))
    if unlabelled:
        typer.echo(f"NOTE: {unlabelled} test examples are unlabeled: there is no performance.")
        return
    wrong = int(np.sum((f > 0) != (y > 0)))
    right = int(wrong == 0)
    typer.echo(f"Average loss on test set: {100 * wrong / len(y):.4f}")
    typer.echo(
        f"Zero/one-error on test set: {100 * (1 - right):.2f}% ({right} correct, {1 - right} "
        "incorrect, 1 total)"
    )
    typer.echo(
        "NOTE: The loss reported above is the percentage of errors. The zero/one-error\n"
        "      is the multivariate zero/one-error regarding the whole prediction vector!"
    )
    for name, value in performance(y > 0, f)._asdict().items():
        typer.echo(f"{name:9}: {100 * value:5.2f}")


class Performance(NamedTuple):
    """The measures of SVM-perf, as shares; nan where they are not defined."""

    Accuracy: float
    Precision: float
    Recall: float
    F1: float
    PRBEP: float
    ROCArea: float
    AvgPrec: float


def performance(positive: Any, f: Floats) -> Performance:
    """Return the measures of decision values; of equal ones the negative examples come first."""
    p, n = int(np.sum(positive)), len(positive)
    taken, hits = int(np.sum(f > 0)), int(np.sum(positive & (f > 0)))
    order = np.lexsort((positive, -f))
    above = np.cumsum(positive[order])
    ranks = np.flatnonzero(positive[order])
    swapped = float(np.sum(ranks - np.arange(p)))

    def share(part: float, whole: float) -> float:
        return part / whole if whole else np.nan

    return Performance(
        float(np.mean(positive == (f > 0))),
        share(hits, taken),
        share(hits, p),
        share(2 * hits, taken + p),
        share(int(above[p - 1]), p) if p else np.nan,
        1.0 - share(swapped, p * (n - p)),
        float(np.mean(above[ranks] / (ranks + 1))) if p else np.nan,
    )
