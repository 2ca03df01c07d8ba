"""From a fitted estimator to its record and back, for files and exports.

A model file of another program says neither how the model was trained nor on how many samples:
parameters that it lacks have their defaults, the certificate's status is "imported", and
``certify`` finds the support vectors among the samples by their values.
"""

from typing import Any

import numpy as np

from maxmargin.estimators._linear import BaseLinear
from maxmargin.estimators._machine import KernelMachine
from maxmargin.estimators._record import checked
from maxmargin.estimators.classification import SVC, NuSVC
from maxmargin.estimators.outlier import OneClassSVM
from maxmargin.estimators.regression import SVR, NuSVR
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kind
from maxmargin.kernel.model import KernelModel, Problem, check
from maxmargin.linear.model import LinearModel
from maxmargin.status import Status

ESTIMATORS: dict[Problem, type[KernelMachine]] = {
    cls._problem: cls for cls in (SVC, NuSVC, OneClassSVM, SVR, NuSVR)
}
NAME_OF = {kind: name for name, kind in NAMES.items()}


def problem_of(model: Any) -> Problem | None:
    """What an estimator of ours solves with a kernel; None for the others."""
    return model._problem if isinstance(model, KernelMachine) else None


def kind_of_kernel(model: Any) -> Kind | None:
    """The kind of kernel that the parameters of an estimator of ours ask for."""
    kind: Kind | None = model._kernel_kind()
    return kind


def record_of(model: Any) -> KernelModel:
    """The checked record of a fitted estimator that other formats can hold."""
    problem, name = problem_of(model), type(model).__name__
    if problem is None:
        names = ", ".join(cls.__name__ for cls in ESTIMATORS.values())
        raise TypeError(f"{name} is not a kernel machine: use one of {names}.")
    if not problem.in_libsvm:
        cause = (
            "also depends on k(x, x)" if problem is Problem.SVDD else "may have several functions"
        )
        raise TypeError(
            f"{name} {cause}, which other formats and programs do not have: write it with io.save "
            "(.mm)."
        )
    record: KernelModel = checked(model)
    return record


def of_best(model: Any) -> Any:
    """The model that a search chose; any other model as it is."""
    if hasattr(model, "cv_results_") and not hasattr(model, "best_estimator_"):
        raise TypeError(
            f"{type(model).__name__} was fitted with refit=False and holds no model: fit one with "
            "the parameters that it found."
        )
    return getattr(model, "best_estimator_", model)


def unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """The machine in a search or a pipeline, and samples as it takes them."""
    model = of_best(model)
    while hasattr(model, "steps"):
        X, model = model[:-1].transform(X), of_best(model[-1])
    return model, X


def interval_of(model: Any, X: Any, confidence: Any) -> Any:
    """predict_interval of a regression, or of the one that a pipeline or a search holds."""
    model, X = unwrapped(model, X)
    if not hasattr(model, "predict_interval"):
        raise AttributeError(
            f"{type(model).__name__} has no predict_interval: use SVR or NuSVR with interval=True."
        )
    return model.predict_interval(X, confidence)


def linear_of(model: Any) -> tuple[Any, LinearModel]:
    """A linear model, or the one that a search chose, and its checked record."""
    model = of_best(model)
    if not isinstance(model, BaseLinear):
        raise TypeError(
            f"{type(model).__name__} is not a linear model: LinearSVC, LinearSVR or "
            "LinearOneClassSVM is needed."
        )
    return model, checked(model)


def build(make: Any, **parameters: Any) -> Any:
    """An estimator with these parameters, which are validated."""
    model = make(**parameters)
    model._validate_params()
    return model


def restore(record: KernelModel, **parameters: Any) -> Any:
    """An estimator of this record, with the parameters given and those of the kernel."""
    kernel = record.kernel
    numbers = {name: getattr(kernel, name) for name in PARAMETERS.get(kernel.kind, ())}
    parameters = {"kernel": NAME_OF[kernel.kind], **numbers, **parameters}
    model = build(ESTIMATORS[record.problem], **parameters)
    check(record)
    model.model_, model.fit_status_ = record, 0
    model.n_features_in_ = record.n_features
    samples = record.coef.shape[1] if record.rows is None else record.n_samples
    model.shape_fit_ = (samples, record.n_features)
    steps = np.array([part.n_iter for part in record.certificates], np.int64)
    model.n_iter_ = steps if record.problem.classifies else int(steps[0])
    if record.classes is not None:
        model.class_weight_ = np.ones(len(record.classes))
    return model


def restore_linear(record: LinearModel, make: Any, **parameters: Any) -> Any:
    """An estimator with these parameters and the record of a model of another program."""
    model = build(make, **parameters)
    model.model_, model.n_features_in_ = record, record.n_features
    model.solver_, model.n_iter_ = str(Status.IMPORTED), 0
    if record.classes is not None:
        model.class_weight_ = np.ones(len(record.classes))
    checked(model)
    return model
