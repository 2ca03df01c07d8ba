"""A kernel machine as data, and the estimator that predicts what it says: the one record that every
foreign model format reads and writes.

A machine has decision functions

    f_k(x) = sum_j coef_kj k(x_j, x) - rho_k

Its support vectors x_j are sorted by class and its coefficients are in LIBSVM's layout, which
``maxmargin.kernel.multiclass`` describes: for pairs of classes one row less than there are classes;
for two classes f is positive for classes[0]. The estimators' underscored attributes hold the same:
_dual_coef_ = coef, _intercept_ = -rho.

A file of another program says neither how the model was trained nor on how many samples: parameters
that it lacks have their defaults, the certificate's status is "imported", and ``certify`` finds the
support vectors among the samples by their values.
"""

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin import certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _state
from maxmargin.estimators._base import BaseSVM
from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.regression import SVR, NuSVR
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.status import Convexity, Status

NONE: Floats = np.empty(0)
NAME_OF = {kind: name for name, kind in NAMES.items()}


class Problem(Enum):
    """What was solved; the values are LIBSVM's names."""

    C_SVC = "c_svc"
    NU_SVC = "nu_svc"
    ONE_CLASS = "one_class"
    EPSILON_SVR = "epsilon_svr"
    NU_SVR = "nu_svr"

    @property
    def classifies(self) -> bool:
        """Whether there are labels."""
        return self in (Problem.C_SVC, Problem.NU_SVC)


ESTIMATORS: dict[Problem, type[BaseSVM]] = {
    Problem.C_SVC: SVC,
    Problem.NU_SVC: NuSVC,
    Problem.ONE_CLASS: OneClassSVM,
    Problem.EPSILON_SVR: SVR,
    Problem.NU_SVR: NuSVR,
}


class Machine(NamedTuple):
    """A trained kernel machine; see the top of this file."""

    problem: Problem
    kernel: Kernel
    vectors: Any
    """The support vectors, an array or CSR; nothing that counts for a precomputed kernel."""
    n_features: int
    """For a precomputed kernel the number of training samples."""
    coef: Floats
    rho: Floats
    n_support: NDArray[np.int64]
    """How many support vectors each class has; all of them, where there are no classes."""
    classes: NDArray[Any] | None = None
    """Sorted."""
    one_vs_rest: bool = False
    """Whether more than two classes were each trained against the rest; coef has a row for each
    class then."""
    rows: NDArray[np.int64] | None = None
    """Where the support vectors were among the training samples, if that is known."""
    n_samples: int = 0
    """Number of training samples, if rows are known."""
    prob_a: Floats = NONE
    prob_b: Floats = NONE
    """Platt's sigmoids as LIBSVM keeps them; prob_a alone for regression."""
    marks: Floats = NONE
    """LIBSVM's density marks of a one-class model."""
    label_order: NDArray[np.int64] | None = None
    """Positions in classes: the order of the labels in LIBSVM's file, which breaks ties; None is
    that of classes."""


def problem_of(model: Any) -> Problem | None:
    """What an estimator of ours solves with a kernel; None for the others."""
    return next((problem for problem, cls in ESTIMATORS.items() if isinstance(model, cls)), None)


def machine_of(model: Any) -> Machine:
    """The machine in a fitted estimator."""
    problem = problem_of(model)
    if problem is None:
        names = ", ".join(cls.__name__ for cls in ESTIMATORS.values())
        raise TypeError(f"{type(model).__name__} is no kernel machine: one of {names} is needed.")
    check_is_fitted(model)
    _state.check(model)
    coef = model._dual_coef_.toarray() if sparse.issparse(model._dual_coef_) else model._dual_coef_
    known = getattr(model, "_rows_known", True)
    classes = model.classes_ if problem.classifies else None
    return Machine(
        problem,
        model._kernel,
        model.support_vectors_,
        model.shape_fit_[0]
        if model._kernel.kind is Kind.PRECOMPUTED
        else getattr(model, "n_features_in_", 0),
        np.asarray(coef, np.float64),
        np.negative(model._intercept_),
        np.asarray(model._n_support, np.int64),
        classes,
        classes is not None and len(classes) > 2 and not model._one_vs_one,
        np.asarray(model.support_, np.int64) if known else None,
        model.shape_fit_[0] if known else 0,
        np.asarray(model._probA, np.float64),
        np.asarray(model._probB, np.float64),
        getattr(model, "_density_marks", NONE),
        getattr(model, "_label_order", None),
    )


def restore(machine: Machine, **parameters: Any) -> Any:
    """An estimator that predicts what the machine says, with the parameters given and those of the
    kernel.
    """
    kernel = machine.kernel
    numbers = {name: getattr(kernel, name) for name in PARAMETERS.get(kernel.kind, ())}
    model: Any = ESTIMATORS[machine.problem](
        **{"kernel": NAME_OF[kernel.kind], **numbers, **parameters}
    )
    model._validate_params()
    count, precomputed = machine.coef.shape[1], kernel.kind is Kind.PRECOMPUTED
    rows = np.arange(count) if machine.rows is None else machine.rows
    model._rows_known = machine.rows is not None
    model._sparse = sparse.issparse(machine.vectors) and not precomputed
    model.n_features_in_ = machine.n_features
    model.shape_fit_ = (machine.n_samples if model._rows_known else count, machine.n_features)
    model._keep_support(machine.vectors, np.arange(count), kernel)
    model.support_, model._n_support = rows.astype(np.int32), machine.n_support.astype(np.int32)
    model._probA, model._probB = machine.prob_a, machine.prob_b
    if len(machine.marks):
        model._density_marks = machine.marks
    if machine.label_order is not None:
        model._label_order = machine.label_order
    two = machine.classes is not None and len(machine.classes) == 2
    sign = -1.0 if two else 1.0
    model._keep_coef(sign * machine.coef, sign * -machine.rho, flipped=two)
    _set_outcome(model, machine)
    _state.check(model)
    return model


def _set_outcome(model: Any, machine: Machine) -> None:
    """What a fit would have told besides the functions.

    Nothing is known, and the certificate says so.
    """
    functions = len(machine.rho)
    unknown = certificate.unknown(Status.IMPORTED)
    convexity = Convexity.PROVED if machine.kernel.positive_semidefinite else Convexity.UNKNOWN
    model.certificate_ = certificate.worst([replace(unknown, convexity=convexity)] * functions)
    model.fit_status_, model._unit = 0, 1.0
    model.intercept_interval_ = np.column_stack([model.intercept_, model.intercept_])
    model._num_iter = np.zeros(functions, np.int64)
    model.n_iter_ = model._num_iter if machine.problem.classifies else 0
    if machine.classes is not None:
        model.classes_, model.class_weight_ = machine.classes, np.ones(len(machine.classes))
        model._one_vs_one = len(machine.classes) > 2 and not machine.one_vs_rest
        model._scales = np.ones(functions)
    else:
        model._scale = 1.0
    if machine.problem is Problem.ONE_CLASS:
        model.offset_ = machine.rho.copy()
