"""The Karush-Kuhn-Tucker conditions of the soft margin, point by point.

``fan`` (27) to (31) and "Solution interpretation";
``boyd_graber`` (6) to (8). With the margin m = t y(x):

    a = 0        m >= 1    the point is outside the margin and could be left out
    0 < a < C    m  = 1    it lies on the margin, slack 0
    a = C        m <= 1    it lies inside (slack up to 1) or on the wrong side (slack above 1)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maxmargin.textbook.checks import Array, signs
from maxmargin.textbook.models import KernelModel

CASES = ("a = 0", "0 < a < C", "a = C")
MEANING = ("outside the margin", "on the margin", "inside the margin", "misclassified")


@dataclass(frozen=True, eq=False)
class KKTTable:
    """One row for each point; printing it shows the table.

    See Also
    --------
    kkt_table : makes it.

    Examples
    --------
    >>> from maxmargin import SVC, textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> table = textbook.kkt_table(SVC(kernel="linear", C=1.0).fit(X, y), X, y)
    >>> table.case
    array([0, 1, 1, 0])
    >>> bool(table.violation.max() <= table.tol)
    True
    """

    t: Array
    a: Array
    margin: Array
    slack: Array
    case: NDArray[np.intp]
    """Index into CASES."""
    violation: Array
    """By how much the case's condition on the margin fails; 0 where it holds."""
    tol: float

    @property
    def holds(self) -> NDArray[np.bool_]:
        """Whether each point's condition holds to tol."""
        return np.asarray(self.violation <= self.tol)

    @property
    def place(self) -> list[str]:
        """Where each point lies, in words."""
        outside, on = self.margin > 1.0 + self.tol, self.margin >= 1.0 - self.tol
        which = np.select([outside, on, self.slack <= 1.0], [0, 1, 2], default=3)
        return [MEANING[k] for k in which]

    def __str__(self) -> str:
        head = (
            f"{'i':>5} {'t':>3} {'a':>12} {'t y(x)':>12} {'slack':>10}  {'case':<10} "
            f"{'condition':<10} {'holds':<6} where"
        )
        rows = [head, "-" * (len(head) + 14)]
        conditions = ("t y >= 1", "t y = 1", "t y <= 1")
        for i, place in enumerate(self.place):
            numbers = (
                f"{i:>5} {self.t[i]:>+3.0f} {self.a[i]:>12.6g} {self.margin[i]:>12.6f} "
                f"{self.slack[i]:>10.6f}"
            )
            rows.append(
                f"{numbers}  {CASES[self.case[i]]:<10} {conditions[self.case[i]]:<10} "
                f"{'yes' if self.holds[i] else 'NO':<6} {place}"
            )
        counts = ", ".join(f"{np.sum(self.case == k)} with {CASES[k]}" for k in range(3))
        rows.append(
            f"{len(self.a)} points: {counts}. sum of a t = {self.a @ self.t:.2g}; largest "
            f"violation {self.violation.max():.2g}."
        )
        return "\n".join(rows)

    __repr__ = __str__


def kkt_table(
    model: Any, X: ArrayLike, y: ArrayLike, C: float | ArrayLike | None = None, tol: float = 1e-3
) -> KKTTable:
    """Check the three cases for every training point.

    Parameters
    ----------
    model : a fitted ``SVC`` (ours or scikit-learn's) or ``LinearSVC`` with two classes and the
        hinge loss, or a model of this package.
    X, y : the data it was trained on, in the same order.
    C : the bound, one number or one for each point; by default the estimator's C times its class
        weights. Give C for a model of this package, and C times the sample weights if the fit had
        some.
    tol : a condition holds if it is violated by at most this.

    Returns
    -------
    KKTTable

    Examples
    --------
    >>> from maxmargin import SVC, textbook
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> table = textbook.kkt_table(SVC(kernel="linear", C=1.0).fit(X, y), X, y)
    >>> table.a.round(3)
    array([0. , 0.5, 0.5, 0. ])
    """
    a, t, bound = (
        _textbook(model, y, C) if isinstance(model, KernelModel) else _estimator(model, y, C)
    )
    if len(a) != len(t):
        raise ValueError(
            f"The model was trained on {len(a)} points, but y has {len(t)}: give the training data."
        )
    values = np.asarray(model.decision_function(X), float)
    if values.shape != t.shape:
        raise ValueError(f"X has {len(values)} rows but y has {len(t)} labels.")
    margin = t * values
    if a.max() > bound[np.argmax(a)] * (1.0 + 1e-9):
        raise ValueError(
            f"A multiplier is {a.max():g}, above its bound C = {bound[np.argmax(a)]:g}: give the "
            "C, times weights, of the fit."
        )
    close = 1e-9 * np.where(np.isinf(bound), max(float(a.max()), 1.0), bound)
    case = np.select([a <= close, a < bound - close], [0, 1], default=2)
    violation = np.select(
        [case == 0, case == 1],
        [np.maximum(0.0, 1.0 - margin), np.abs(margin - 1.0)],
        default=np.maximum(0.0, margin - 1.0),
    )
    return KKTTable(t, a, margin, np.maximum(0.0, 1.0 - margin), case, violation, tol)


def _textbook(
    model: KernelModel, y: ArrayLike, C: float | ArrayLike | None
) -> tuple[Array, Array, Array]:
    if C is None:
        raise ValueError(
            "A model of maxmargin.textbook does not keep C: give the C it was trained with."
        )
    t = signs(y)
    return model.alpha, t, np.broadcast_to(np.asarray(C, float), t.shape)


def _estimator(model: Any, y: ArrayLike, C: float | ArrayLike | None) -> tuple[Array, Array, Array]:
    if not hasattr(model, "dual_coef_") or len(getattr(model, "classes_", ())) != 2:
        raise ValueError(
            f"kkt_table needs a fitted SVC with two classes; {type(model).__name__} has no "
            "multipliers for one."
        )
    if getattr(model, "loss", "hinge") != "hinge" or not hasattr(model, "C"):
        raise ValueError(
            "kkt_table shows the conditions of the hinge loss with a given C; this model has "
            "another loss or no C."
        )
    labels = np.asarray(y)
    if not np.isin(labels, model.classes_).all():
        raise ValueError(
            f"y has labels that are not classes of the model, which are {model.classes_[0]} and "
            f"{model.classes_[1]}."
        )
    t = np.where(labels == model.classes_[1], 1.0, -1.0)
    coef = model.dual_coef_
    dual = np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)
    # a linear model keeps all multipliers
    support = np.asarray(getattr(model, "support_", np.arange(len(dual))))
    if support.max(initial=-1) >= len(t):
        raise ValueError(
            f"The model's support vectors go up to row {support.max()}, but y has {len(t)} labels: "
            "give the training data."
        )
    a = np.zeros(len(t))
    a[support] = np.abs(dual)
    if C is None:
        weight = np.asarray(getattr(model, "class_weight_", np.ones(2)), float)
        C = model.C * np.where(t > 0, weight[1], weight[0])
    return a, t, np.broadcast_to(np.asarray(C, float), t.shape)
