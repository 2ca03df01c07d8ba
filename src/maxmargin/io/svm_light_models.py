"""SVM-light's model files; SVM-rank's and SVM-perf's have the same layout.

    SVM-light Version V6.02
    2 # kernel type           0 linear, 1 (s x.z + r)^d, 2 exp(-g |x - z|^2), 3 tanh(s x.z + r)
    3 # kernel parameter -d
    0.5 # kernel parameter -g
    1 # kernel parameter -s
    1 # kernel parameter -r
    empty# kernel parameter -u
    9 # highest feature index
    100 # number of training documents
    41 # number of support vectors plus 1
    0.2 # threshold b, each following line is a SV (starting with alpha*y)
    0.5 1:0.1 4:2 #

The function is f(x) = sum_j (alpha y)_j k(x_j, x) - b, positive for the label +1. The file does not
say whether it is a classifier, a regression or a ranking. The weights w of a linear model may be
written as one support vector: 1 1:w_1 2:w_2 ... SVM-rank and SVM-perf do so.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_outlier_detector

from maxmargin.core.arrays import Floats
from maxmargin.core.memory import contiguous
from maxmargin.core.text import format_svmlight
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators.records import of_best, restore
from maxmargin.io.files import compressed_write
from maxmargin.io.folding import linear_without_scaling, machine_without_scaling
from maxmargin.io.model_text import HEAD, Lines, numbers, read_vectors, whole
from maxmargin.io.preparation import parts_of
from maxmargin.io.svmlight_rows import Layout
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.model import Problem, imported

BEGIN = b"SVM-light Version"
VERSION = "SVM-light Version V6.02"
"""The first line of what we write."""
KERNELS = {Kind.LINEAR: 0, Kind.POLY: 1, Kind.RBF: 2, Kind.TANH: 3}
ROWS = 2000
"""Support vectors converted to text at a time."""
LINES = (
    "kernel type",
    "-d",
    "-g",
    "-s",
    "-r",
    "-u",
    "highest feature index",
    "number of training documents",
    "number of support vectors",
)

# ---- writing -------------------------------------------------------------------------------------


class Expansion(NamedTuple):
    """What a file holds: f(x) = sum_j coef_j k(x_j, x) + intercept."""

    kernel: Kernel
    vectors: Any
    coef: Floats
    intercept: float
    n_samples: int
    """Number of training samples; 0 if it is not known."""


def save_svm_light(model: Any, path: Any) -> None:
    """Write a fitted model to a model file that SVM-light's programs predict the same from.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, LinearSVC or LinearSVR
        Of classifiers, those with the labels -1 and 1. SVM-light has only "linear", "poly", "rbf"
        and "sigmoid" kernels. Scalers before a linear model become part of it, which rounds it;
        other kernels allow none.
    path : str or path-like
        File to write. The suffixes .gz, .bz2, .xz and .zst compress it. Numbers read back exactly;
        SVM-light's own programs read features in single precision.

    See Also
    --------
    load_svm_light : read one.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1]
    >>> io.save_svm_light(SVC(C=10).fit(X, y), "model")
    >>> io.load_svm_light("model").predict(X)
    array([-1, -1,  1,  1])
    """
    write_expansion(_expansion(model), path)


def write_expansion(found: Expansion, path: Any) -> None:
    """Write a function that is known by its support vectors."""
    rows = sparse.csr_matrix(found.vectors, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    ends, count = rows.indptr.astype(np.int64), len(found.coef)
    entries = rows.indices.astype(np.int32), contiguous(rows.data), 1
    with compressed_write(path) as file:
        file.write(_head(found, rows.shape[1]))
        for begin in range(0, count, ROWS):
            end = begin + ROWS
            some = contiguous(found.coef[begin:end]), None, ends[begin : end + 1]
            file.write(format_svmlight(*some, *entries).replace(b"\n", b" #\n"))


def _head(found: Expansion, width: int) -> bytes:
    """Return the lines before the support vectors; numbers that a kernel lacks are 1, 3 and 1."""
    kernel, kind = found.kernel, KERNELS[found.kernel.kind]
    inner = kernel.kind in (Kind.POLY, Kind.TANH)
    lines = [
        VERSION,
        f"{kind} # kernel type",
        f"{int(kernel.degree)} # kernel parameter -d ",
        f"{float(kernel.gamma) if kernel.kind is Kind.RBF else 1.0!r} # kernel parameter -g ",
        f"{float(kernel.gamma) if inner else 1.0!r} # kernel parameter -s ",
        f"{float(kernel.coef0) if inner else 1.0!r} # kernel parameter -r ",
        "empty# kernel parameter -u ",
        f"{width} # highest feature index ",
        f"{found.n_samples} # number of training documents ",
        f"{len(found.coef) + 1} # number of support vectors plus 1 ",
        f"{0.0 - found.intercept!r} # threshold b, each following line is a SV "
        "(starting with alpha*y)",
    ]
    return "\n".join([*lines, ""]).encode()


def _expansion(model: Any) -> Expansion:
    """Return the function of a fitted estimator; ValueError for what SVM-light does not have."""
    last = of_best(parts_of(model)[1])
    if is_outlier_detector(last):
        raise ValueError("SVM-light has no one-class models. io.save writes them.")
    if isinstance(last, BaseLinear):
        _, linear = linear_without_scaling(model)
        _refuse(linear.classes, len(linear.intercepts()), len(linear.prob_b) > 0)
        weights, intercept = linear.weights(), float(linear.intercepts()[0])
        return Expansion(Kernel.linear(), weights, np.ones(1), intercept, linear.duals.shape[1])
    machine = machine_without_scaling(model, "SVM-light")
    if machine.kernel.kind not in KERNELS:
        raise ValueError(
            f"SVM-light has no {machine.kernel!r}: its kernels are 'linear', 'poly', 'rbf' and "
            "'sigmoid'. io.save writes models of every kernel."
        )
    learnt = machine.problem.classifies and len(machine.prob_b) > 0
    _refuse(machine.classes, len(machine.intercept), learnt or machine.isotonic is not None)
    return Expansion(
        machine.kernel,
        machine.vectors,
        machine.coef[0],
        float(machine.intercept[0]),
        machine.n_samples,
    )


def _refuse(classes: NDArray[Any] | None, functions: int, probabilities: bool) -> None:
    """Raise ValueError for labels, several functions and probabilities, which a file has not."""
    if classes is not None and classes.tolist() != [-1, 1]:
        raise ValueError(
            f"The labels in SVM-light are -1 and 1, not {classes[:5].tolist()}: fit on "
            "np.where(y == label, 1, -1). io.save writes every kind of label."
        )
    if functions != 1:
        raise ValueError(
            f"An SVM-light file holds one function, and the model has {functions}. io.save writes "
            "all of them."
        )
    if probabilities:
        raise ValueError(
            "SVM-light has no probabilities: fit with probability=False. io.save writes them."
        )


# ---- reading -------------------------------------------------------------------------------------


def load_svm_light(path: Any, *, regression: bool = False, n_features: int | None = None) -> Any:
    """Read a model file of SVM-light; safe for untrusted files.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not.
    regression : bool, default=False
        Whether it is a regression (svm_learn -z r); the file does not say.
    n_features : int or None, default=None
        The number of features of the data, at least that of the file, which is the default: the
        highest index of the training data.

    Returns
    -------
    model : SVC or SVR
        An SVC with the labels -1 and 1, or an SVR. It predicts the same as svm_classify. C and
        epsilon have their defaults. The decision values of a ranking are its scores.

    See Also
    --------
    save_svm_light : write one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from maxmargin import io
    >>> lines = [
    ...     "SVM-light Version V6.02",
    ...     "0 # kernel type",
    ...     "3 # kernel parameter -d",
    ...     "1 # kernel parameter -g",
    ...     "1 # kernel parameter -s",
    ...     "1 # kernel parameter -r",
    ...     "empty# kernel parameter -u",
    ...     "1 # highest feature index",
    ...     "2 # number of training documents",
    ...     "3 # number of support vectors plus 1",
    ...     "0.5 # threshold b, each following line is a SV (starting with alpha*y)",
    ...     "-1 1:0 #",
    ...     "1 1:1 #",
    ... ]
    >>> _ = Path("model").write_text("\\n".join(lines))
    >>> model = io.load_svm_light("model")
    >>> model.decision_function([[0.0], [1.0]])
    array([-0.5,  0.5])
    """
    with Lines(path) as lines:
        if not (lines.line(HEAD) or b"").startswith(BEGIN):
            raise lines.error(f"a model file of SVM-light begins with {BEGIN.decode()}")
        words = [_value(lines, name) for name in (*LINES, "threshold b")]
        kernel = _kernel(lines, words)
        width, _, count = (
            whole(words[k], lines, k + 2, least) for k, least in ((6, 1), (7, 0), (8, 1))
        )
        count, rho = count - 1, np.array(numbers(words[9:], lines))
        if n_features is not None and n_features < width:
            raise lines.error(f"there are {width} features, more than n_features={n_features}")
        coef, rows = read_vectors(lines, 1, count, comments=True)
        if rows.greatest > width or rows.least < 1:
            raise lines.error(
                f"the features must be 1 to {width}, the highest feature index, but they are "
                f"{rows.least} to {rows.greatest}"
            )
    width = width if n_features is None else int(n_features)
    X = rows.matrix(Layout(count, width, zero_based=False), np.float64)
    if regression:
        return restore(
            imported(Problem.EPSILON_SVR, kernel, X, width, coef, -rho, np.array([count]))
        )
    order = np.argsort(coef[0] > 0, kind="stable")  # the support vectors of -1 come first
    n_support = np.bincount((coef[0] > 0).astype(np.int64), minlength=2)
    classes = np.array([-1, 1])
    found = imported(
        Problem.C_SVC, kernel, X[order], width, coef[:, order], -rho, n_support, classes=classes
    )
    return restore(found)


def _value(lines: Lines, name: str) -> bytes:
    """Return the text before the comment of the next line."""
    text = lines.line(HEAD)
    if text is None:
        raise lines.error(f"the file ends where {name} was expected")
    value, mark, comment = text.partition(b"#")
    if not mark or name.encode() not in comment:
        raise lines.error(f"a line with the comment {name!r} was expected")
    return value.strip()


def _kernel(lines: Lines, words: list[bytes]) -> Kernel:
    kind = whole(words[0], lines, 2, most=4)
    if kind == 4:
        raise lines.error(
            "kernel type 4 is a user-defined function, which the file does not hold", 2
        )
    degree = whole(words[1], lines, 3)
    g, s, r = (numbers([words[k]], lines, k + 2)[0] for k in (2, 3, 4))
    try:
        if kind == 0:
            return Kernel.linear()
        if kind == 1:
            return Kernel.poly(degree, s, r)
        return Kernel.rbf(g) if kind == 2 else Kernel.sigmoid(s, r)
    except ValueError as error:
        raise lines.error(str(error), 2) from None
