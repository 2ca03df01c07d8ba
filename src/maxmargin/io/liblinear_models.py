"""LIBLINEAR's model files.

    solver_type L2R_L2LOSS_SVC_DUAL
    nr_class 3                2 for regression and one-class
    label 2 0 1               for classes; in the order of the training file, but 1 before -1
    nr_feature 13
    bias 1                    B; negative without an intercept
    rho 0.5                   one-class only
    w
    w_1 of each function      a line for each feature; with an intercept one more, multiplied by B
    ...

For two classes there is one function, positive for the first label (two with MCSVM_CS); otherwise
one for each class. Our classes are sorted. A model remembers the order of its file. The order
breaks ties (of equal values the first wins, of two labels the second), and labels are written in
it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.estimators import LinearOneClassSVM, LinearSVC, LinearSVR
from maxmargin.estimators.records import restore_linear
from maxmargin.io.files import compressed_write
from maxmargin.io.folding import linear_without_scaling
from maxmargin.io.label_orders import whole_labels
from maxmargin.io.model_text import Head, Lines, numbers_of_lines, read_head
from maxmargin.linear.model import LinearModel, imported

WORDS = {b"solver_type", b"nr_class", b"label", b"nr_feature", b"bias", b"rho"}
ROWS = 10_000
"""Features converted to text at a time."""
TOGETHER, ONE_CLASS = "MCSVM_CS", "ONECLASS_SVM"
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "L2R_L2LOSS_SVC_DUAL": {"loss": "squared_hinge"},
    "L2R_L2LOSS_SVC": {"loss": "squared_hinge", "dual": False},
    "L2R_L1LOSS_SVC_DUAL": {"loss": "hinge"},
    TOGETHER: {"multi_class": "crammer_singer"},
    "L1R_L2LOSS_SVC": {"penalty": "l1", "loss": "squared_hinge"},
}
REGRESSORS: dict[str, dict[str, Any]] = {
    "L2R_L2LOSS_SVR_DUAL": {"loss": "squared_epsilon_insensitive"},
    "L2R_L2LOSS_SVR": {"loss": "squared_epsilon_insensitive", "dual": False},
    "L2R_L1LOSS_SVR_DUAL": {"loss": "epsilon_insensitive"},
}
PRIMAL = {"L2R_L2LOSS_SVC_DUAL": "L2R_L2LOSS_SVC", "L2R_L2LOSS_SVR_DUAL": "L2R_L2LOSS_SVR"}
"""The same models with dual=False (-s 2, 11)."""
OTHERS = ("L2R_LR", "L1R_LR", "L2R_LR_DUAL")
"""Logistic regression, which is not a support vector machine."""


def solver_of(model: Any) -> str:
    """Return LIBLINEAR's name for the problem that a linear model of ours solves."""
    if isinstance(model, LinearSVC):
        if model.multi_class == "crammer_singer":
            return TOGETHER
        wanted = {"penalty": model.penalty, "loss": model.loss}
        return _name(CLASSIFIERS, {"penalty": "l2"}, wanted, model.dual)
    if isinstance(model, LinearSVR):
        return _name(REGRESSORS, {}, {"loss": model.loss}, model.dual)
    return ONE_CLASS


def _name(
    table: dict[str, dict[str, Any]], defaults: dict[str, Any], wanted: dict[str, Any], dual: Any
) -> str:
    """Return LIBLINEAR's name for a model with these parameters.

    If LIBLINEAR has two solvers, "auto" is its default, the dual one.
    """
    name = next(name for name, values in table.items() if defaults | values == wanted)
    return PRIMAL.get(name, name) if dual is False else name


# ---- writing -------------------------------------------------------------------------------------


def save_liblinear(model: Any, path: Any) -> None:
    """Write a fitted linear model to a model file that LIBLINEAR's programs predict the same from.

    Parameters
    ----------
    model : LinearSVC, LinearSVR, LinearOneClassSVM or a search over their parameters
        Labels must be integers: LIBLINEAR has no others. Scalers before the model in a pipeline
        become part of its weights, which rounds them.
    path : str or path-like
        File to write. The suffixes .gz, .bz2, .xz and .zst compress it. Numbers read back exactly.

    Notes
    -----
    Labels are written in the order of the file that the model was read from, or that
    ``maxmargin linear-train`` trained it on. A model fitted in Python does not know in which order
    its labels occurred: two are written as ``classes_[1] classes_[0]`` (-1 and 1 as ``1 -1``, as
    LIBLINEAR always does), more as in ``classes_``, so that LIBLINEAR breaks ties as ``predict``
    does.

    See Also
    --------
    load_liblinear : read one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from maxmargin import LinearSVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save_liblinear(LinearSVC().fit(X, y), "model.liblinear")
    >>> print(Path("model.liblinear").read_text().splitlines()[0])
    solver_type L2R_L2LOSS_SVC_DUAL
    """
    model, found = linear_without_scaling(model)
    if len(found.prob_b) or found.isotonic is not None:
        raise ValueError(
            "LIBLINEAR has no probabilities of support vector machines: fit with "
            "probability=False. io.save keeps them."
        )
    solver = solver_of(model)
    head = [
        f"solver_type {solver}",
        f"nr_class {2 if found.classes is None else len(found.classes)}",
    ]
    columns, intercept = found.weights(), found.intercepts()
    if found.classes is not None:
        order = _order(found)
        labels = whole_labels(found.classes, "LIBLINEAR")
        if len(labels) == 2:
            columns, intercept = np.vstack([-columns, columns]), np.append(-intercept, intercept)
        columns, intercept = columns[order], intercept[order]
        if len(labels) == 2:
            columns, intercept = (
                (columns / 2, intercept / 2) if solver == TOGETHER else (columns[:1], intercept[:1])
            )
        head.append("label " + " ".join(str(labels[k]) for k in order))
    one_class = solver == ONE_CLASS
    extra = bool(model.fit_intercept or intercept.any()) and not one_class
    head += [f"nr_feature {columns.shape[1]}", f"bias {1 if extra else -1}"]
    head += [f"rho {-float(intercept[0])!r}"] if one_class else []
    rows = np.vstack([columns.T, intercept]) if extra else columns.T
    with compressed_write(path) as file:
        file.write("\n".join([*head, "w", ""]).encode())
        for begin in range(0, len(rows), ROWS):
            file.write(
                "".join(
                    " ".join(map(repr, row)) + "\n" for row in rows[begin : begin + ROWS].tolist()
                ).encode()
            )


def _order(found: LinearModel) -> NDArray[np.int64]:
    """Return positions in classes in the order in which labels are written; see save_liblinear."""
    assert found.classes is not None
    if found.label_order is not None:
        return found.label_order
    return np.array([1, 0]) if len(found.classes) == 2 else np.arange(len(found.classes))


# ---- reading -------------------------------------------------------------------------------------


def load_liblinear(path: Any) -> Any:
    """Read a model file of LIBLINEAR; safe for untrusted files.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not. Logistic regression is an error.

    Returns
    -------
    model : LinearSVC, LinearSVR or LinearOneClassSVM
        It predicts the same as LIBLINEAR's predict. C, epsilon and class weights have their
        defaults, because the file does not hold them. The file has no dual variables either, so
        ``certify`` raises an error.

    See Also
    --------
    save_liblinear : write one.

    Examples
    --------
    >>> from maxmargin import LinearSVC, io
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> io.save_liblinear(LinearSVC().fit(X, y), "model.liblinear")
    >>> io.load_liblinear("model.liblinear").predict(X)
    array([0, 0, 1, 1])
    """
    with Lines(path) as lines:
        head = read_head(lines, WORDS, b"w")
        solver = _solver(head)
        n_classes, labels = head.classes(solver in CLASSIFIERS, solver)
        width = head.whole(b"nr_feature", least=1)[0]
        bias = float(head.numbers(b"bias", 1)[0])
        rho = head.numbers(b"rho", 1) if solver == ONE_CLASS else None
        functions = n_classes if n_classes > 2 or solver == TOGETHER else 1
        table = _table(lines, width + (bias >= 0), functions)
    weights, intercept = table[:width].T, bias * table[width] if bias >= 0 else np.zeros(functions)
    if rho is not None:
        found = imported(np.ascontiguousarray(weights), intercept - rho)
        return restore_linear(found, LinearOneClassSVM)
    weights, intercept, classes = _sorted(weights, intercept, labels)
    order = np.argsort(np.argsort(labels)) if labels else None
    has = (
        {"intercept": "regularised", "intercept_scaling": bias}
        if bias > 0
        else {"fit_intercept": False}
    )
    found = imported(weights, intercept if bias > 0 else 0.0, classes, order)
    if classes is None:
        return restore_linear(found, LinearSVR, **REGRESSORS[solver], **has)
    return restore_linear(found, LinearSVC, **CLASSIFIERS[solver], **has)


def _solver(head: Head) -> str:
    known = {name.encode(): name for name in (*CLASSIFIERS, *REGRESSORS, ONE_CLASS, *OTHERS)}
    solver: str = head.one_of(b"solver_type", known)
    if solver in OTHERS:
        raise head.error(
            b"solver_type",
            f"{solver} is logistic regression, not a support vector machine: its probabilities "
            "would be lost",
        )
    return solver


def _table(lines: Lines, rows: int, functions: int) -> Floats:
    """Return the weights, a row for each feature."""
    lines.require_rows(rows, "lines of weights")
    parts: list[Floats] = [np.empty((0, functions))]
    for text, n in lines.blocks():
        first = lines.number - n + 1
        words = [line.split(None, functions) for line in text.split(b"\n")]
        odd = next((k for k, some in enumerate(words) if len(some) != functions), None)
        if odd is not None:
            raise lines.error(f"{functions} weights were expected", first + odd)
        parts.append(np.array(numbers_of_lines(words, lines, first)).reshape(n, functions))
    return np.concatenate(parts)


def _sorted(
    weights: Floats, intercept: Floats, labels: list[int]
) -> tuple[Floats, Floats, NDArray[np.int64] | None]:
    """Return the functions in the order of the sorted classes.

    For two classes there is one, positive for the second class.
    """
    if not labels:
        return np.ascontiguousarray(weights), intercept, None
    classes = np.array(labels, np.int64)
    order = np.argsort(classes)
    if len(labels) > 2:
        weights, intercept = weights[order], intercept[order]
    elif len(weights) == 2:
        weights, intercept = (
            weights[order[[1]]] - weights[order[[0]]],
            intercept[order[[1]]] - intercept[order[[0]]],
        )
    elif order[0] == 0:  # positive for the first label, which is the smaller
        weights, intercept = -weights, -intercept
    return np.ascontiguousarray(weights), intercept, classes[order]
