"""From fitted scikit-learn SVMs to ours and back; the decision functions are the same numbers.

scikit-learn keeps LIBSVM's layout in attributes of the same names as ours, and LIBLINEAR's weights
in coef_ and intercept_. Its linear models penalise the intercept: they become ours with
``intercept="regularised"``.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import _classes as theirs
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators import LinearSVC, LinearSVCCV, LinearSVR
from maxmargin.estimators._machine import (
    ESTIMATORS,
    Machine,
    Problem,
    machine_of,
    problem_of,
    restore,
)
from maxmargin.io.liblinear import Linear, linear_of, restore_linear
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
LINEAR = {"LinearSVC": LinearSVC, "LinearSVR": LinearSVR}
DIFFERENT = ("probability",)
"""Parameters that do not carry over: probabilities are not computed here."""
KEPT = ("class_weight_", "fit_status_", "n_iter_", "feature_names_in_")
"""Attributes of both that say the same."""


def from_sklearn(model: Any) -> Any:
    """Turn a fitted SVM of scikit-learn into ours, with the same decision values.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR of scikit-learn
        Fitted; its kernel may not be a Python function.

    Returns
    -------
    model : estimator of maxmargin
        With the same parameters; ``certify(X, y)`` checks what scikit-learn found. Platt's numbers
        of ``probability=True`` are kept as ``_probA`` and ``_probB``, for ``save_libsvm``.
    """
    name = next(
        (cls.__name__ for cls in type(model).__mro__ if cls.__module__ == theirs.__name__), None
    )
    if name is None:
        raise TypeError(f"{type(model).__name__} is no SVM of scikit-learn.")
    check_is_fitted(model)
    if name in LINEAR:
        return _linear_from(model, LINEAR[name])
    return _kernel_from(
        model, next(problem for problem, cls in ESTIMATORS.items() if cls.__name__ == name)
    )


def _shared(model: Any, target: type) -> dict[str, Any]:
    """The parameters that the target has as well."""
    names = set(target._get_param_names()) - set(DIFFERENT)  # type: ignore[attr-defined]
    return {name: value for name, value in model.get_params(deep=False).items() if name in names}


def _keep(old: Any, new: Any) -> None:
    for name in KEPT:
        if name in vars(old):
            setattr(new, name, getattr(old, name))


def _linear_from(model: Any, target: Any) -> Any:
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_)
    weights = np.ascontiguousarray(coef, np.float64)
    intercept = np.broadcast_to(np.asarray(model.intercept_, np.float64), len(weights)).copy()
    found = Linear(
        "", weights, intercept, bool(model.fit_intercept), getattr(model, "classes_", None)
    )
    new = restore_linear(found, target, **_shared(model, target), intercept="regularised")
    _keep(model, new)
    return new


def _kernel_from(model: Any, problem: Problem) -> Any:
    if not isinstance(model.kernel, str):
        raise ValueError(
            "The kernel is a Python function, of which scikit-learn keeps all training data and no "
            "support vectors: fit ours instead."
        )
    kind = NAMES[model.kernel]
    values: dict[str, Any] = {
        "gamma": float(model._gamma),
        "coef0": float(model.coef0),
        "degree": int(model.degree),
    }
    kernel = Kernel(kind, **{name: values[name] for name in PARAMETERS.get(kind, ())})
    coef = model._dual_coef_.toarray() if sparse.issparse(model._dual_coef_) else model._dual_coef_
    vectors = np.empty((0, 0)) if kind is Kind.PRECOMPUTED else model.support_vectors_
    found = Machine(
        problem,
        kernel,
        vectors,
        int(model.shape_fit_[0] if kind is Kind.PRECOMPUTED else model.n_features_in_),
        np.array(coef, np.float64),
        -np.asarray(model._intercept_, np.float64),
        np.array(
            model._n_support[: len(model.classes_)]
            if problem.classifies
            else [len(model.support_)],
            np.int64,
        ),
        model.classes_ if problem.classifies else None,
        False,
        np.asarray(model.support_, np.int64),
        int(model.shape_fit_[0]),
        np.asarray(model._probA, np.float64),
        np.asarray(model._probB, np.float64),
    )
    new = restore(found, **_shared(model, ESTIMATORS[problem]))
    _keep(model, new)
    return new


def to_sklearn(model: Any) -> Any:
    """Turn a fitted model of ours into scikit-learn's, with the same decision values.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC, LinearSVCCV or LinearSVR
        With one of scikit-learn's named kernels, and pairs of classes where there are several.

    Returns
    -------
    model : estimator of scikit-learn
        Parameters that scikit-learn does not have (a squared loss, ``multiclass``, ``time_limit``,
        ...) are not part of it: it predicts the same, and a new fit would be scikit-learn's.
    """
    problem = problem_of(model)
    if problem is None:
        return _linear_to(model)
    machine = machine_of(model)
    if machine.kernel.kind not in {NAMES[name] for name in KERNELS}:
        raise ValueError(
            f"scikit-learn has no {machine.kernel!r}: its kernels are {', '.join(KERNELS)}."
        )
    if machine.one_vs_rest:
        raise ValueError(
            "scikit-learn's SVC has no one-vs-rest models, only pairs of classes: fit with "
            "multiclass='ovo'."
        )
    kernel = machine.kernel
    numbers = {name: getattr(kernel, name) for name in PARAMETERS.get(kernel.kind, ())}
    target = getattr(theirs, ESTIMATORS[problem].__name__)
    parameters = (
        _shared(model, target)
        | {"kernel": next(name for name in KERNELS if NAMES[name] is kernel.kind)}
        | numbers
    )
    if isinstance(parameters.get("cache_size"), str):
        del parameters["cache_size"]
    new = target(**parameters)
    for name in (
        "support_",
        "support_vectors_",
        "_n_support",
        "dual_coef_",
        "_dual_coef_",
        "intercept_",
        "_intercept_",
        "_sparse",
    ):
        setattr(new, name, getattr(model, name))
    new._effective_probability = False  # asked for by newer versions of scikit-learn
    new._gamma, new._probA, new._probB = model._gamma, machine.prob_a, machine.prob_b
    new.shape_fit_, new.n_features_in_, new._num_iter = (
        model.shape_fit_,
        machine.n_features,
        np.asarray(model._num_iter, np.int32),
    )
    if machine.classes is not None:
        new.classes_ = machine.classes
    if problem is Problem.ONE_CLASS:
        new.offset_ = model.offset_
    # scikit-learn asks for two numbers and uses one
    if problem in (Problem.ONE_CLASS, Problem.EPSILON_SVR, Problem.NU_SVR):
        new._n_support = np.append(model._n_support, 0).astype(np.int32)
        new.class_weight_ = np.empty(0)
    _keep(model, new)
    return new


def _linear_to(model: Any) -> Any:
    found = linear_of(model)
    model = model.estimator_ if isinstance(model, LinearSVCCV) else model
    name = next((name for name, cls in LINEAR.items() if isinstance(model, cls)), None)
    if name is None:
        raise TypeError(
            f"scikit-learn has no {type(model).__name__} whose decision function could be set."
        )
    target = getattr(theirs, name)
    new = target(**_shared(model, target))
    new.coef_ = found.weights[0] if name == "LinearSVR" else found.weights
    new.intercept_ = found.intercept.copy() if found.fitted_intercept else 0.0
    new.n_features_in_ = found.weights.shape[1]
    if found.classes is not None:
        new.classes_ = found.classes
    for attribute in ("n_iter_", "feature_names_in_"):
        if attribute in vars(model):
            setattr(new, attribute, getattr(model, attribute))
    return new
