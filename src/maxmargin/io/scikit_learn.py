"""Conversion of fitted SVMs from and to scikit-learn; the decision values stay the same.

scikit-learn keeps LIBSVM's layout in attributes of the same names as ours, and LIBLINEAR's weights
in coef_ and intercept_. Its linear models penalise the intercept: they become ours with
``intercept="regularised"``.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import _classes as theirs
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators import LinearSVC, LinearSVR
from maxmargin.estimators.libsvm_layout import libsvm_signed, shown
from maxmargin.estimators.records import (
    ESTIMATORS,
    linear_of,
    of_best,
    problem_of,
    record_of,
    restore,
    restore_linear,
)
from maxmargin.io.preparation import is_prepared, with_last
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.kernel.model import KernelModel, Problem, imported
from maxmargin.linear.model import imported as model_of_weights

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
LINEAR = {"LinearSVC": LinearSVC, "LinearSVR": LinearSVR}
DIFFERENT = ("probability",)
"""Parameters that do not carry over: scikit-learn's probabilities are learnt in other ways."""
KEPT = ("class_weight_", "fit_status_", "n_iter_", "feature_names_in_")
"""Attributes with the same meaning in both libraries."""


def from_sklearn(model: Any) -> Any:
    """Turn a fitted SVM of scikit-learn into ours, with the same decision values.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR of scikit-learn
        Fitted; its kernel may not be a Python function. Of a pipeline the last step is converted,
        of a fitted search over parameters the model that it chose.

    Returns
    -------
    model : estimator of maxmargin
        It has the same parameters; ``certify(X, y)`` checks scikit-learn's solution. The
        probability parameters of ``probability=True`` are kept for ``save_libsvm`` (``probA_``,
        ``probB_``).

    See Also
    --------
    to_sklearn : the other way.

    Examples
    --------
    >>> from maxmargin import io
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = SVC(C=10).fit(X, y)
    >>> ours = io.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    """
    model = of_best(model)
    if is_prepared(model):
        return with_last(model, from_sklearn)
    name = next(
        (cls.__name__ for cls in type(model).__mro__ if cls.__module__ == theirs.__name__), None
    )
    if name is None:
        raise TypeError(f"{type(model).__name__} is not an SVM of scikit-learn.")
    check_is_fitted(model)
    if name in LINEAR:
        return _linear_from(model, LINEAR[name])
    return _kernel_from(
        model, next(problem for problem, cls in ESTIMATORS.items() if cls.__name__ == name)
    )


def _shared(model: Any, target: Any) -> dict[str, Any]:
    """Return the parameters that the target has too."""
    names = set(target().get_params(deep=False)) - set(DIFFERENT)
    return {name: value for name, value in model.get_params(deep=False).items() if name in names}


def _keep(old: Any, new: Any) -> None:
    for name in KEPT:
        if name in vars(old):
            setattr(new, name, getattr(old, name))


def _linear_from(model: Any, target: Any) -> Any:
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_)
    weights = np.ascontiguousarray(coef, np.float64)
    intercept = np.broadcast_to(np.asarray(model.intercept_, np.float64), len(weights)).copy()
    found = model_of_weights(
        weights, intercept if model.fit_intercept else 0.0, getattr(model, "classes_", None)
    )
    new = restore_linear(found, target, **_shared(model, target), intercept="regularised")
    _keep(model, new)
    return new


def _kernel_from(sklearn_model: Any, problem: Problem) -> Any:
    if not isinstance(sklearn_model.kernel, str):
        raise ValueError(
            "The kernel is a Python function; scikit-learn then keeps all training data instead of "
            "support vectors: fit ours instead."
        )
    kind = NAMES[sklearn_model.kernel]
    values: dict[str, Any] = {
        "gamma": float(sklearn_model._gamma),
        "coef0": float(sklearn_model.coef0),
        "degree": int(sklearn_model.degree),
    }
    kernel = Kernel(kind, **{name: values[name] for name in PARAMETERS.get(kind, ())})
    coef, samples = sklearn_model._dual_coef_, int(sklearn_model.shape_fit_[0])
    precomputed = kind is Kind.PRECOMPUTED
    classes = sklearn_model.classes_ if problem.classifies else None
    count = [len(sklearn_model.support_)]
    found = imported(
        problem,
        kernel,
        np.empty((0, 0)) if precomputed else sklearn_model.support_vectors_,
        samples if precomputed else int(sklearn_model.n_features_in_),
        np.array(coef.toarray() if sparse.issparse(coef) else coef, np.float64),
        np.array(sklearn_model._intercept_, np.float64),
        np.array(count if classes is None else sklearn_model._n_support[: len(classes)]),
        classes=classes,
        rows=np.asarray(sklearn_model.support_),
        n_samples=samples,
        prob_a=np.asarray(sklearn_model._probA, np.float64),
        prob_b=np.asarray(sklearn_model._probB, np.float64),
    )
    new = restore(libsvm_signed(found), **_shared(sklearn_model, ESTIMATORS[problem]))
    _keep(sklearn_model, new)
    return new


def to_sklearn(model: Any) -> Any:
    """Turn a fitted model of ours into scikit-learn's, with the same decision values.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR
        It needs one of scikit-learn's named kernels and, for several classes, pairs of classes. Of
        a pipeline the last step is converted, of a fitted search over parameters the model that it
        chose.

    Returns
    -------
    model : estimator of scikit-learn
        It predicts the same. Parameters that scikit-learn does not have (a squared loss,
        ``multiclass``, ``time_limit``, ...) are dropped, so a new fit may differ.

    See Also
    --------
    from_sklearn : the other way.

    Examples
    --------
    >>> from maxmargin import SVC, io
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ours = SVC(C=10).fit(X, y)
    >>> theirs = io.to_sklearn(ours)
    >>> type(theirs).__module__
    'sklearn.svm._classes'
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    """
    model = of_best(model)
    if is_prepared(model):
        return with_last(model, to_sklearn)
    problem = problem_of(model)
    if problem is None:
        return _linear_to(model)
    record = record_of(model)
    kernel, classes = record.kernel, record.classes
    if kernel.kind not in {NAMES[name] for name in KERNELS}:
        raise ValueError(f"scikit-learn has no {kernel!r}: its kernels are {', '.join(KERNELS)}.")
    if classes is not None and len(classes) > 2 and not record.pairs:
        raise ValueError(
            "scikit-learn's SVC has no one-vs-rest models, only pairs of classes: fit with "
            "multiclass='ovo'."
        )
    numbers = {name: getattr(kernel, name) for name in PARAMETERS.get(kernel.kind, ())}
    target = getattr(theirs, problem.estimator)
    name = next(name for name in KERNELS if NAMES[name] is kernel.kind)
    parameters = _shared(model, target) | {"kernel": name} | numbers
    if isinstance(parameters.get("cache_size"), str):
        del parameters["cache_size"]
    sklearn_model = target(**parameters)
    _fill(sklearn_model, record)
    sklearn_model.shape_fit_ = model.shape_fit_
    sklearn_model._num_iter = np.atleast_1d(model.n_iter_).astype(np.int32)
    if problem is Problem.ONE_CLASS:
        sklearn_model.offset_ = model.offset_
    _keep(model, sklearn_model)
    return sklearn_model


def _fill(sklearn_model: Any, record: KernelModel) -> None:
    """Give scikit-learn's estimator the attributes that its prediction reads."""
    signed, kernel = libsvm_signed(record), record.kernel
    rows = np.arange(record.coef.shape[1]) if record.rows is None else record.rows
    sklearn_model.support_ = rows.astype(np.int32)
    sklearn_model.support_vectors_ = record.vectors
    sklearn_model.dual_coef_ = shown(record, record.coef)
    sklearn_model._dual_coef_ = shown(record, signed.coef)
    sklearn_model.intercept_, sklearn_model._intercept_ = record.intercept, signed.intercept
    sklearn_model.n_features_in_, sklearn_model._sparse = record.n_features, record.sparse
    sklearn_model._gamma = float(kernel.gamma) if kernel.kind <= Kind.CHI2 else 0.0
    sklearn_model._probA, sklearn_model._probB = record.prob_a, record.prob_b
    sklearn_model._effective_probability = False  # newer versions of scikit-learn read it
    sklearn_model._n_support = record.n_support
    if record.classes is not None:
        sklearn_model.classes_ = record.classes
        return
    # without classes scikit-learn reads two numbers and uses one
    sklearn_model._n_support = np.append(record.n_support, 0).astype(np.int32)
    sklearn_model.class_weight_ = np.empty(0)


def _linear_to(model: Any) -> Any:
    model, found = linear_of(model)
    name = next((name for name, cls in LINEAR.items() if isinstance(model, cls)), None)
    if name is None:
        raise TypeError(
            f"scikit-learn has no {type(model).__name__} whose decision function could be set."
        )
    target = getattr(theirs, name)
    new = target(**_shared(model, target))
    weights, intercept = found.weights(), found.intercepts()
    new.coef_ = weights[0] if name == "LinearSVR" else weights
    new.intercept_ = intercept.copy() if model.fit_intercept else 0.0
    new.n_features_in_ = found.n_features
    if found.classes is not None:
        new.classes_ = found.classes
    for attribute in ("n_iter_", "feature_names_in_"):
        if attribute in vars(model):
            setattr(new, attribute, getattr(model, attribute))
    return new
