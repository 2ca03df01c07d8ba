"""A fitted model as a formula, for the exports that write it out: functions of a point, and a rule
that makes a label of their values.

    f_k(x) = sum_j coef_kj k(x_j, x) + intercept_k

With a linear kernel the vectors are the unit vectors: coef holds the weights of the features, and
there are no vectors.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.arrays import Floats
from maxmargin.estimators import _state
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._online import BaseOnline
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.linear_cv import LinearSVCCV
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import combine

MOST_NUMBERS = 2**26
"""Numbers of a formula that is written out."""


class Rule(Enum):
    """What becomes of the values of the functions."""

    VALUE = "the value is the prediction"
    INSIDE = "1 from 0 on, else -1"
    ABOVE = "the second class above 0, else the first"
    FROM = "the second class from 0 on, else the first"
    GREATEST = "the class of the greatest value, the first where equal"
    VOTES = (
        "each pair of classes votes for its first where positive, else for its second; most votes "
        "win, the first where equal"
    )
    CONFIDENCE = "votes, and where equal the sum of a class's values"


class Formula(NamedTuple):
    """See the top of this file."""

    kernel: Kernel
    vectors: Floats | None
    columns: NDArray[np.int64] | None
    """For a precomputed kernel: which of the training samples the support vectors are."""
    n_inputs: int
    """Features; training samples for a precomputed kernel."""
    coef: Floats
    intercept: Floats
    rule: Rule
    classes: NDArray[Any] | None
    pairs_shown: bool
    """Whether decision_function returns the values of the pairs, not votes with confidence."""
    label_order: NDArray[np.int64] | None = None
    """Positions in classes: of classes with equal votes or values the first in this order wins."""


def formula_of(model: Any) -> Formula:
    """The formula of any fitted estimator but one with a Python function as kernel."""
    model = (
        model.estimator_
        if isinstance(model, LinearSVCCV) and hasattr(model, "estimator_")
        else model
    )
    if not isinstance(model, BaseSVM | BaseLinear):
        raise TypeError(f"{type(model).__name__} is no estimator of maxmargin.")
    check_is_fitted(model)
    classes, ties = getattr(model, "classes_", None), getattr(model, "_label_order", None)
    if isinstance(model, BaseLinear):
        _state.check_linear(model)
        weights, intercept = model._models()
        return Formula(
            Kernel.linear(),
            None,
            None,
            weights.shape[1],
            weights,
            np.array(intercept),
            _rule(model),
            classes,
            False,
            ties,
        )
    if model._kernel.kind is Kind.CALLABLE:
        raise ValueError(
            "The kernel is a Python function, which cannot be written in another language."
        )
    columns, intercept = _functions(model)
    kernel, pairs = model._kernel, getattr(model, "decision_function_shape", "") == "ovo"
    if kernel.kind is Kind.PRECOMPUTED:
        width = model._matrix_width if isinstance(model, BaseOnline) else model.shape_fit_[0]
        return Formula(
            kernel,
            None,
            np.asarray(model.support_, np.int64),
            width,
            columns,
            intercept,
            _rule(model),
            classes,
            pairs,
            ties,
        )
    if kernel.kind is Kind.LINEAR:
        _refuse_large(len(columns), model.n_features_in_)
        found: Any = (
            columns if hasattr(model, "_coef") else combine(columns, model.support_vectors_)
        )
        rows = found.toarray() if sparse.issparse(found) else found
        return Formula(
            kernel, None, None, rows.shape[1], rows, intercept, _rule(model), classes, pairs, ties
        )
    vectors: Any = model.support_vectors_
    _refuse_large(*vectors.shape)
    dense = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, np.float64)
    return Formula(
        kernel,
        dense,
        None,
        model.n_features_in_,
        columns,
        intercept,
        _rule(model),
        classes,
        pairs,
        ties,
    )


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > MOST_NUMBERS:
        raise ValueError(
            f"{rows} x {columns} numbers are too many to be written out: at most {MOST_NUMBERS} "
            "are. compact() makes models smaller."
        )


def _functions(model: Any) -> tuple[Floats, Floats]:
    """Coefficients and intercepts of what decision_function is made of.

    Of a linear Pegasos the weights.
    """
    if isinstance(model, BaseOnline):
        _state.check_online(model)
        return np.asarray(
            getattr(model, "_coef", None) if hasattr(model, "_coef") else model.dual_coef_
        ), np.asarray(model.intercept_)
    _state.check(model)
    two = len(getattr(model, "classes_", ())) == 2
    sign = -1.0 if two else 1.0
    return sign * model._columns(), sign * np.asarray(model._intercept_)


def _rule(model: Any) -> Rule:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Rule.INSIDE if isinstance(model, BaseOneClass) else Rule.VALUE
    if len(classes) == 2:
        order = getattr(model, "_label_order", None)
        if isinstance(model, LinearSVC):
            return Rule.FROM if model._zero_is_second() else Rule.ABOVE
        return Rule.FROM if order is None or order[1] == 1 else Rule.ABOVE
    if getattr(model, "_one_vs_one", False):
        return Rule.CONFIDENCE if model.break_ties else Rule.VOTES
    return Rule.GREATEST
