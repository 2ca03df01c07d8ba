"""A fitted kernel machine as a frozen record: a fit returns it, prediction evaluates it, files hold
it.

Its decision functions are

    f_k(x) = sum_j coef_kj k(x_j, x) + intercept_k

over the support vectors x_j, which are sorted by class. `coef` has one row for each function, with
one exception: where each pair of classes has a function (``pairs``), the coefficients of a class
are a dense block in LIBSVM's layout, which `maxmargin.kernel.multiclass` describes. With two
classes f is positive for the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from maxmargin import certificate, intervals, sigmoid
from maxmargin import isotonic as isotonic_functions
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.integrity import is_finite, is_matrix, refuse_altered
from maxmargin.intervals import Folds
from maxmargin.isotonic import Isotonic
from maxmargin.kernel import multiclass
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import pick
from maxmargin.kernel.training import Trained
from maxmargin.sigmoid import Bent
from maxmargin.status import Convexity, Status


def none() -> Floats:
    """No numbers."""
    return np.empty(0)


class Problem(Enum):
    """What was solved; the first five are LIBSVM's, with its names."""

    C_SVC = "c_svc"
    NU_SVC = "nu_svc"
    ONE_CLASS = "one_class"
    EPSILON_SVR = "epsilon_svr"
    NU_SVR = "nu_svr"
    QUANTILE_SVR = "quantile_svr"
    MULTI_OUTPUT_SVR = "multi_output_svr"
    SVDD = "svdd"

    @property
    def classifies(self) -> bool:
        """Whether there are labels."""
        return self in (Problem.C_SVC, Problem.NU_SVC)

    @property
    def in_libsvm(self) -> bool:
        """Whether LIBSVM has it: predictions follow from one function, or from those of pairs."""
        return self not in (Problem.QUANTILE_SVR, Problem.MULTI_OUTPUT_SVR, Problem.SVDD)

    @property
    def estimator(self) -> str:
        """The name of the estimator that solves it."""
        return ESTIMATORS[self]


NAMES = "SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR", "QuantileSVR", "MultiOutputSVR", "SVDD"
ESTIMATORS = dict(zip(Problem, NAMES, strict=True))


@dataclass(frozen=True, eq=False)
class KernelModel:
    """A fitted kernel machine; see the top of this file. Use `dataclasses.replace` to change it."""

    problem: Problem
    kernel: Kernel
    vectors: Any
    """The support vectors: an array, CSR, or objects; empty for a precomputed kernel."""
    n_features: int
    """Number of features; of training samples for a precomputed kernel; 0 for objects."""
    coef: Floats
    intercept: Floats
    n_support: NDArray[Any]
    """Number of support vectors of each class; one number where there are no classes."""
    intervals: Floats
    """For each function the least and the greatest intercept of equal objective."""
    scales: Floats
    """The variables of problem k are coef_k * scales[k]."""
    certificate: Certificate
    classes: NDArray[Any] | None = None
    """Sorted."""
    pairs: bool = False
    """Whether each pair of classes has a function (one-vs-one), of more than two classes."""
    rows: NDArray[Any] | None = None
    """The support vectors' rows among the training samples, if they are known."""
    n_samples: int = 0
    """Number of training samples, if rows are known."""
    unit: float = 1.0
    """What the tolerance on decision values is measured in."""
    epsilon: float | None = None
    """Half-width of the tube that nu-SVR found, if it is known."""
    prob_a: Floats = field(default_factory=none)
    prob_b: Floats = field(default_factory=none)
    """Platt's sigmoids as LIBSVM keeps them; prob_a alone for regression."""
    marks: Floats = field(default_factory=none)
    """LIBSVM's density marks of a one-class machine."""
    label_order: Integers | None = None
    """Positions in classes: the order of the labels in LIBSVM's file, which breaks ties; None is
    that of classes."""
    folds: Folds | None = None
    """What intervals of a regression are made of (intervals.py): machines on the union of their
    vectors."""
    isotonic: Isotonic | None = None
    bent: Bent | None = None
    """What predict_proba reads the probabilities of each pair of classes from, if not from Platt's
    sigmoids."""

    @property
    def sparse(self) -> bool:
        """Whether the machine was trained on sparse data."""
        objects = self.kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE)
        return sparse.issparse(self.vectors) and not objects

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each decision function."""
        return self.certificate.parts or (self.certificate,)

    def support_label(self) -> Integers:
        """The position in classes of each support vector's class."""
        return np.repeat(np.arange(len(self.n_support)), self.n_support)

    def columns(self) -> Floats:
        """Coefficients with one row for each decision function, whatever their layout."""
        if not self.pairs or self.classes is None:
            return self.coef
        return multiclass.unpack_pairs(self.coef, self.support_label(), len(self.classes))


def shapes(model: KernelModel) -> tuple[int, int, int]:
    """Lengths of n_support, coef and intercept; a machine without classes may have any number of
    functions.
    """
    if model.classes is None:
        return 1, len(model.intercept), len(model.intercept)
    n = len(model.classes)
    if n == 2:
        return 2, 1, 1
    return (n, n - 1, n * (n - 1) // 2) if model.pairs else (n, n, n)


# ---- checks --------------------------------------------------------------------------------------


def check(model: KernelModel) -> None:
    """Refuse a record that was altered: native code must never read one."""
    refuse_altered(model.problem.estimator, _is_consistent, model)


def _is_consistent(model: KernelModel) -> bool:
    parts, coefficients, decisions = shapes(model)
    return (
        is_finite(model.coef, (coefficients, _count(model)))
        and is_finite(model.intercept, (decisions,))
        and _vectors_are_consistent(model)
        and _rows_are_consistent(model)
        and model.n_support.shape == (parts,)
        and bool(model.n_support.min() >= 0)
        and int(model.n_support.sum()) == _count(model)
        and (model.folds is None or _folds_are_consistent(model.folds))
        and (
            model.isotonic is None
            or isotonic_functions.is_consistent(model.isotonic, count_pairs(model))
        )
        and (model.bent is None or sigmoid.is_consistent(model.bent, count_pairs(model)))
    )


def count_pairs(model: KernelModel) -> int:
    """The number of functions that probabilities are read from: one for each pair of classes."""
    classes = 0 if model.classes is None else len(model.classes)
    return classes * (classes - 1) // 2 if classes else len(model.intercept)


def _folds_are_consistent(folds: Folds) -> bool:
    return _is_consistent(folds.machine) and intervals.is_consistent(folds)


def _count(model: KernelModel) -> int:
    """Number of support vectors."""
    precomputed = model.kernel.kind is Kind.PRECOMPUTED
    return len(model.rows) if precomputed else _num_samples(model.vectors)  # type: ignore[arg-type]


def _vectors_are_consistent(model: KernelModel) -> bool:
    if model.kernel.kind in (Kind.PRECOMPUTED, Kind.CALLABLE):
        return True
    return is_matrix(model.vectors, (_count(model), model.n_features))


def _rows_are_consistent(model: KernelModel) -> bool:
    rows = model.rows
    if rows is None:
        return True
    return bool(
        np.issubdtype(rows.dtype, np.integer)
        and rows.shape == (_count(model),)
        and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < model.n_samples))
    )


# ---- records of fits and of files ----------------------------------------------------------------


def assemble(
    problem: Problem,
    kernel: Kernel,
    X: Any,
    label: Integers,
    fits: Sequence[tuple[Integers, Trained]],
    classes: NDArray[Any] | None = None,
    pairs: bool = False,
    keep: bool = True,
) -> KernelModel:
    """The record of trained functions, each with the rows of X that it was trained on.

    Its support vectors are the union of theirs, and are there unless ``keep`` is False: only their
    rows are known then. ``label`` holds positions in ``classes``, or zeros.
    """
    n_classes = 1 if classes is None else len(classes)
    used = [np.flatnonzero(trained.decision.coef) for _, trained in fits]
    own = np.concatenate([rows[some] for (rows, _), some in zip(fits, used, strict=True)])
    support = np.flatnonzero(np.bincount(own, minlength=len(label)))
    support = support[np.argsort(label[support], kind="stable")]
    position = np.empty(len(label), np.int64)
    position[support] = np.arange(len(support))
    place = np.repeat(np.arange(len(fits)), list(map(len, used)))
    if pairs:
        place = multiclass.packed_rows(place, label[own], n_classes)
    coef = np.zeros((n_classes - 1 if pairs else len(fits), len(support)))
    parts = [trained.decision.coef[some] for (_, trained), some in zip(fits, used, strict=True)]
    coef[place, position[own]] = np.concatenate(parts)
    decisions = [trained.decision for _, trained in fits]
    intercept = np.array([decision.intercept for decision in decisions])
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError(
            "The dual coefficients or intercepts are not finite. The input data may contain large "
            "values and need to be preprocessed."
        )
    return KernelModel(
        problem,
        kernel,
        kept_vectors(kernel, X, support) if keep else np.empty((0, 0)),
        0 if kernel.kind is Kind.CALLABLE else X.shape[1],
        coef,
        intercept,
        np.bincount(label[support], minlength=n_classes).astype(np.int32),
        np.array([decision.interval for decision in decisions]),
        np.array([decision.scale for decision in decisions]),
        certificate.worst([trained.certificate for _, trained in fits]),
        classes,
        pairs,
        support.astype(np.int32),
        len(label),
        decisions[0].unit,
        decisions[0].epsilon if problem is Problem.NU_SVR else None,
    )


def kept_vectors(kernel: Kernel, X: Any, support: Integers) -> Any:
    """The support vectors; a precomputed kernel has none."""
    if kernel.kind is Kind.PRECOMPUTED:
        return np.empty((0, 0))
    if kernel.kind is Kind.CALLABLE:
        return pick(X, support)
    return X[support].astype(np.float64, copy=False)


def imported(
    problem: Problem,
    kernel: Kernel,
    vectors: Any,
    n_features: int,
    coef: Floats,
    intercept: Floats,
    n_support: NDArray[Any],
    **known: Any,
) -> KernelModel:
    """The record of a machine that another program trained.

    The certificate says that nothing is known about its training.
    """
    functions = len(intercept)
    unknown = certificate.unknown(Status.IMPORTED)
    convexity = Convexity.PROVED if kernel.positive_semidefinite else Convexity.UNKNOWN
    rows, classes = known.pop("rows", None), known.get("classes")
    return KernelModel(
        problem,
        kernel,
        vectors if kernel.kind is Kind.PRECOMPUTED else vectors.astype(np.float64),
        n_features,
        coef,
        intercept,
        n_support.astype(np.int32),
        np.column_stack([intercept, intercept]),
        np.ones(functions),
        certificate.worst([replace(unknown, convexity=convexity)] * functions),
        pairs=classes is not None and len(classes) > 2,
        rows=None if rows is None else rows.astype(np.int32),
        **known,
    )


def starts(model: KernelModel, n: int) -> Floats | None:
    """Dual variables of n samples to start from, one row for each function; None if not known."""
    check(model)
    if model.rows is None or model.rows.max(initial=-1) >= n:
        return None
    guess = np.zeros((len(model.intercept), n))
    guess[:, model.rows] = model.columns() * model.scales[:, None]
    return guess
