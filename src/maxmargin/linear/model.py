"""A fitted linear model as a frozen record: a fit returns it, prediction evaluates it, files hold
it.

Its decision functions are

    f_k(x) = coef_k . x + intercept_k

Two classes have one function, positive for the second class. More classes have one each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin import certificate, intervals, sigmoid
from maxmargin import isotonic as isotonic_functions
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.integrity import count_functions, is_finite, is_matrix, refuse_altered
from maxmargin.intervals import Folds
from maxmargin.isotonic import Isotonic
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.objectives import LinearSolution
from maxmargin.linear.training import TrainedClasses, TrainedLinear
from maxmargin.sigmoid import Bent
from maxmargin.status import Status


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear model; see the top of this file. Use `dataclasses.replace` to change it."""

    coef: Any
    """Weights of the features, a row for each function: an array or CSR."""
    intercept: Any
    """An array with a number for each function, or one number for all: 0.0 without intercepts."""
    duals: Any
    """CSR: the dual variables that certify the model, a row for each problem (for each class in
    Crammer and Singer's), a column for each sample; no columns where they are not known."""
    certificate: Certificate
    n_features: int
    classes: NDArray[Any] | None = None
    """Sorted."""
    label_order: NDArray[np.int64] | None = None
    """Positions in classes: the order of the labels in LIBLINEAR's file, which breaks ties. None is
    the order of classes, with 0 for the first of two."""
    prob_a: Floats = field(default_factory=lambda: np.empty(0))
    prob_b: Floats = field(default_factory=lambda: np.empty(0))
    """Platt's sigmoids of each pair of classes, with the signs of a KernelModel."""
    isotonic: Isotonic | None = None
    bent: Bent | None = None
    """What predict_proba reads the probabilities of each pair of classes from, if not from Platt's
    sigmoids."""
    folds: Folds | None = None
    """What intervals of a regression are made of (intervals.py)."""

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each problem."""
        return self.certificate.parts or (self.certificate,)

    def weights(self) -> Floats:
        """The weights as an array."""
        if not sparse.issparse(self.coef):
            return np.ascontiguousarray(self.coef)
        self.coef.check_format(full_check=True)
        return np.ascontiguousarray(self.coef.toarray())

    def intercepts(self) -> Floats:
        """A number for each function."""
        return np.broadcast_to(np.asarray(self.intercept, np.float64), self.coef.shape[0])


# ---- checks --------------------------------------------------------------------------------------


def check(model: LinearModel, name: str) -> None:
    """Refuse weights and intercepts that were altered; the name is that of the estimator."""
    refuse_altered(name, _is_consistent, model)


def check_duals(model: LinearModel, name: str) -> None:
    """Refuse duals that were altered.

    A crafted sparse matrix would make SciPy write where it must not.
    """
    refuse_altered(name, _duals_are_consistent, model)


def check_folds(model: LinearModel, name: str) -> None:
    """Refuse machines without a fold, and errors of theirs, that were altered."""
    refuse_altered(name, _folds_are_consistent, model.folds)


def _folds_are_consistent(folds: Folds) -> bool:
    machine = folds.machine
    return _is_consistent(machine, len(machine.intercept)) and intervals.is_consistent(folds)


def _is_consistent(model: LinearModel, functions: int | None = None) -> bool:
    functions = count_functions(model.classes) if functions is None else functions
    intercept = np.asarray(model.intercept)
    return bool(
        is_matrix(model.coef, (functions, model.n_features))
        and intercept.dtype.kind == "f"
        and intercept.shape in ((), (functions,))
        and np.isfinite(intercept).all()
        and _probabilities_are_consistent(model)
    )


def _probabilities_are_consistent(model: LinearModel) -> bool:
    n = 0 if model.classes is None else len(model.classes)
    pairs, found = n * (n - 1) // 2, len(model.prob_b)
    return (
        found in (0, pairs)
        and is_finite(model.prob_a, (found,))
        and is_finite(model.prob_b, (found,))
        and (model.isotonic is None or isotonic_functions.is_consistent(model.isotonic, pairs))
        and (model.bent is None or sigmoid.is_consistent(model.bent, pairs))
    )


def _duals_are_consistent(model: LinearModel) -> bool:
    return sparse.issparse(model.duals) and is_matrix(model.duals, model.duals.shape)


# ---- prediction ----------------------------------------------------------------------------------


def values(model: LinearModel, X: Any) -> Floats:
    """coef . x of a checked model at the validated samples X, one column for each function.

    They have the same bits for any split of X.
    """
    if X.shape[1] != model.n_features:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {model.n_features}.")
    return ArrayDesign(X).values_of_all(model.weights())


def decision_values(model: LinearModel, X: Any) -> Floats:
    """The same with the intercepts."""
    return values(model, X) + model.intercepts()


def winners(model: LinearModel, values: Floats) -> NDArray[np.intp]:
    """The position in classes of the label for each row of decision values.

    Of equal values the first wins, in the order of LIBLINEAR's file where there is one. A single
    value of 0 means the first class, but with a file the second label in it.
    """
    order = model.label_order
    if values.shape[1] == 1:
        zero_is_second = order is not None and order[1] == 1
        second = values[:, 0] >= 0 if zero_is_second else values[:, 0] > 0
        return second.astype(np.intp)
    first: NDArray[np.intp]
    first = values.argmax(axis=1) if order is None else order[values[:, order].argmax(axis=1)]
    return first


# ---- records of fits and of files ----------------------------------------------------------------


def assemble(
    trained: Sequence[TrainedLinear], has_intercept: bool, classes: NDArray[Any] | None = None
) -> LinearModel:
    """The record of trained functions."""
    coef = np.array([t.solution.w for t in trained])
    intercept = np.array([t.solution.bias for t in trained])
    known = [t.certificate for t in trained]
    finite = np.isfinite(coef).all() and np.isfinite(intercept).all()
    if not (finite and all(np.isfinite(one.gap) for one in known)):
        raise ValueError(
            "The objective exceeds the range of float64: the squares of the data, or the "
            "losses times C and the sample weights, are "
            "too large. Scale the data (StandardScaler), lower C, or divide the weights."
        )
    duals = sparse.csr_matrix(np.array([t.solution.t for t in trained]))
    found = certificate.worst(known)
    return LinearModel(
        coef, intercept if has_intercept else 0.0, duals, found, coef.shape[1], classes
    )


def assemble_classes(
    trained: TrainedClasses, has_intercept: bool, classes: NDArray[Any]
) -> LinearModel:
    """The record of all classes in one problem; of two of them the difference is kept."""
    W, b, t, *_ = trained.solution
    if len(classes) == 2:
        W, b = W[[1]] - W[[0]], b[[1]] - b[[0]]
    duals, known = sparse.csr_matrix(t.T), certificate.worst([trained.certificate])
    return LinearModel(W, b if has_intercept else 0.0, duals, known, W.shape[1], classes)


def fold_machine(trained: Sequence[TrainedLinear]) -> LinearModel:
    """Models without a fold as the functions of one record."""
    coef = np.array([one.solution.w for one in trained])
    intercept = np.array([one.solution.bias for one in trained])
    known = certificate.worst([one.certificate for one in trained])
    nothing = sparse.csr_matrix((len(trained), 0))
    return LinearModel(coef, intercept, nothing, known, coef.shape[1])


def imported(
    coef: Floats, intercept: Any, classes: NDArray[Any] | None = None, label_order: Any = None
) -> LinearModel:
    """The record of a model that another program trained, without dual variables."""
    functions, width = coef.shape
    duals, unknown = sparse.csr_matrix((functions, 0)), certificate.unknown(Status.IMPORTED)
    return LinearModel(coef, intercept, duals, unknown, width, classes, label_order)


def solution(model: LinearModel, k: int, n: int) -> LinearSolution:
    """The solution of problem k with n samples; only the first ones may have known duals."""
    known, t, nothing = model.duals[[k]].toarray()[0], np.zeros(n), np.empty(0)
    t[: len(known)] = known
    bias = float(model.intercepts()[k])
    return LinearSolution(model.weights()[k], bias, t, nothing, nothing, None, 0)
