"""Reading SVM-light's model files; SVM-rank's and SVM-perf's have the same layout.

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
written as one support vector: 1 1:w_1 2:w_2 ... SVM-rank and SVM-perf do so. svm_light_write.py
writes the files.
"""

from typing import Any

import numpy as np

from maxmargin.estimators.records import restore
from maxmargin.io.model_text import HEAD, Lines, numbers, read_vectors, whole
from maxmargin.io.svmlight_rows import Layout
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.model import Problem, imported

BEGIN = b"SVM-light Version"
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
