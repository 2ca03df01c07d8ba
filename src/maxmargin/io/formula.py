"""A fitted model as a formula for exports: functions of a point, and a rule from values to a label.

    f_k(x) = sum_j coef_kj k(x_j, z) + intercept_k

z is x after the preparation, the operations of scalers before the model (preparation.py); of a
table its features (table_features.py). With a linear kernel there are no vectors: coef holds the
weights of the features.

A classifier with probabilities has r_ij = P(i | i or j) for each pair k of classes i < j, a
function of the pair's value v: f_k, or f_i - f_j where each class has a function,

    r = 1 / (1 + exp(a_k v + d_k asinh(s_k v) + b_k)),    d_k = 0 for Platt's sigmoids,
    or linear between points (v, r), constant beyond them

calibration.py says how they become probabilities of the classes. A one-class model counts the marks
that its value reaches.
"""

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators._classifier import BaseSVC
from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._online import BaseOnline
from maxmargin.estimators._outlier import BaseOneClass
from maxmargin.estimators._record import checked
from maxmargin.estimators._scored import PlaneMachine
from maxmargin.estimators.libsvm_layout import libsvm_sign
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.records import of_best, record_of
from maxmargin.io.preparation import Step, parts_of, table_steps
from maxmargin.io.table_features import TableFeatures
from maxmargin.isotonic import Isotonic
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import combine
from maxmargin.online.model import OnlineModel
from maxmargin.sigmoid import Bent
from maxmargin.structured.model import PlaneModel

MOST_NUMBERS = 2**26
"""Largest number of values in an exported formula."""


class Rule(Enum):
    """How the values of the functions give the prediction."""

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


class Calibration(NamedTuple):
    """How probabilities come from the values; one of the four is given."""

    sigmoids: tuple[Floats, Floats] | None = None
    """a and b of each pair."""
    bent: Bent | None = None
    """a, d, s and b of each pair."""
    isotonic: Isotonic | None = None
    """Points (v, r) of each pair."""
    marks: Floats | None = None
    """Of a one-class model."""
    differences: bool = False
    """Whether v is a difference of two functions."""


class Formula(NamedTuple):
    """The functions and the rule; see the top of this file."""

    kernel: Kernel
    vectors: Floats | None
    columns: NDArray[np.int64] | None
    """For a precomputed kernel: indices of the support vectors among the training samples."""
    n_inputs: int
    """Number of features, or of training samples for a precomputed kernel."""
    coef: Floats
    intercept: Floats
    rule: Rule
    classes: NDArray[Any] | None
    pairs_shown: bool
    """Whether decision_function returns the values of the pairs, not votes with confidence."""
    label_order: NDArray[np.int64] | None = None
    """Positions in classes; of classes with equal votes or values the first in this order wins."""
    preparation: tuple[Step, ...] = ()
    """What is done with a point, or the numbers of a table, before the functions see it."""
    table: TableFeatures | None = None
    """The columns of a table and their features."""
    calibration: Calibration | None = None
    """For a model with probabilities."""
    name: str = ""
    """The class of the estimator."""

    @property
    def n_given(self) -> int:
        """The number of numbers that are given."""
        return self.n_inputs if self.table is None else len(self.table.numbers)

    @property
    def labels(self) -> NDArray[Any]:
        """The classes; -1 and 1, outside and inside, of a one-class model."""
        return np.array([-1, 1]) if self.classes is None else self.classes


def formula_of(model: Any) -> Formula:
    """Return the formula of a fitted estimator whose kernel is not a Python function.

    Scalers before it in a pipeline become part of the formula.
    """
    scalers, machine = parts_of(model)
    machine = of_best(machine)
    if not isinstance(machine, BaseSVM | BaseLinear):
        raise TypeError(
            f"{type(machine).__name__} is not an estimator of maxmargin whose decision function is "
            "one formula of the features: exports hold kernel machines and linear models."
        )
    found = _formula(machine)
    steps, table = table_steps(scalers)
    found = found._replace(preparation=tuple(steps), table=table)
    same = table is None or table.width == found.n_inputs
    if not same or any(len(step.numbers) != found.n_given for step in steps):
        raise ValueError("the scalers and the model of the pipeline have other numbers of features")
    return found._replace(calibration=_calibration(machine), name=type(machine).__name__)


def _formula(model: Any) -> Formula:
    """The formula of an estimator without preparation and probabilities."""
    if isinstance(model, BaseLinear):
        record = checked(model)
        return _linear(model, record.weights(), record.intercepts(), record.label_order)
    if model.kernel_.kind is Kind.CALLABLE:
        raise ValueError(
            "The kernel is a Python function, which cannot be written in another language."
        )
    if model.kernel_.kind is Kind.SUM:
        raise ValueError(
            "The kernel is a sum of kernels, which exports to other languages do not have: save "
            "the model with maxmargin.io.save."
        )
    return _of_record(model) if isinstance(model, BaseOnline | PlaneMachine) else _machine(model)


def _calibration(model: Any) -> Calibration | None:
    """How the probabilities of a model come from its values; None if it has none."""
    if not hasattr(model, "predict_proba"):
        return None
    record = checked(model)
    if record.classes is None:
        return Calibration(marks=record.marks) if len(record.marks) else None
    two, points = len(record.classes) == 2, record.isotonic
    differences = not (two or getattr(record, "pairs", False))
    if points is not None:  # P(second | f) for two classes
        r = 1 - points.p if two else points.p
        return Calibration(isotonic=points._replace(p=r), differences=differences)
    if not len(record.prob_b):
        return None
    sign, bent = libsvm_sign(record), record.bent
    if bent is not None:
        bent = bent._replace(a=sign * bent.a, d=sign * bent.d)
        return Calibration(bent=bent, differences=differences)
    return Calibration((sign * record.prob_a, record.prob_b), differences=differences)


def _linear(
    model: Any, weights: Floats, intercept: Floats, order: Any, pairs: bool = False
) -> Formula:
    """A formula of weights of the features."""
    classes, rule = getattr(model, "classes_", None), _rule(model, order)
    width = weights.shape[1]
    found = np.array(intercept)
    kernel = Kernel.linear()
    return Formula(kernel, None, None, width, weights, found, rule, classes, pairs, order)


def _of_record(model: Any) -> Formula:
    """The formula of a record with a row of coefficients for each function."""
    record: OnlineModel | PlaneModel = checked(model)
    if record.vectors is None:
        return _linear(model, record.coef, record.intercept, None)
    return _of_vectors(model, record.kernel, record.vectors, record.rows, record.coef, None)


def _machine(model: Any) -> Formula:
    """The formula of a kernel machine."""
    record = record_of(model)
    rows, order = record.rows, record.label_order
    return _of_vectors(model, record.kernel, record.vectors, rows, record.columns(), order)


def _of_vectors(
    model: Any, kernel: Kernel, vectors: Any, rows: Any, coef: Floats, order: Any
) -> Formula:
    """A formula of kernel values; of weights of the features with a linear kernel."""
    pairs = getattr(model, "decision_function_shape", "") == "ovo"
    intercept, width = np.asarray(model.intercept_), model.n_features_in_
    if kernel.kind is Kind.LINEAR:
        _refuse_large(len(coef), width)
        found: Any = combine(coef, vectors)
        weights = found.toarray() if sparse.issparse(found) else found
        return _linear(model, weights, intercept, order, pairs)
    columns = None
    if kernel.kind is Kind.PRECOMPUTED:
        vectors, columns = None, np.asarray(rows, np.int64)
    else:
        _refuse_large(*vectors.shape)
        vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
        vectors = np.asarray(vectors, np.float64)
    classes, rule = getattr(model, "classes_", None), _rule(model, order)
    return Formula(kernel, vectors, columns, width, coef, intercept, rule, classes, pairs, order)


def _refuse_large(rows: int, columns: int) -> None:
    if rows * columns > MOST_NUMBERS:
        raise ValueError(
            f"{rows} x {columns} numbers are too many to export: the limit is {MOST_NUMBERS}. "
            "compact() makes models smaller."
        )


def _rule(model: Any, order: Any) -> Rule:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Rule.INSIDE if isinstance(model, BaseOneClass) else Rule.VALUE
    if len(classes) == 2:
        first = isinstance(model, LinearSVC) if order is None else order[1] == 0
        return Rule.ABOVE if first else Rule.FROM
    if isinstance(model, BaseSVC) and model.model_.pairs:
        return Rule.CONFIDENCE if model.break_ties else Rule.VOTES
    return Rule.GREATEST
