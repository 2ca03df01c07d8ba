"""ThunderSVM's build for CPUs: float32 inside; classes in the order of their first sample.

intercept_ is LIBSVM's rho.
"""

from importlib.metadata import version as version_of
from typing import Any

import numpy as np
import thundersvm

from peers import CACHE, Solution, in_order, unpack


def version() -> str:
    """The library's version."""
    return version_of("thundersvm-cpu")


def prepare(X: Any, y: np.ndarray) -> Any:
    """As they are."""
    return X, y


def rows(Z: Any) -> Any:
    """As they are."""
    return Z


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit; its polynomial kernel has another name, and one-class does not return itself."""
    options = dict(
        parameters,
        kernel={"poly": "polynomial"}.get(
            parameters.get("kernel", "rbf"), parameters.get("kernel", "rbf")
        ),
    )
    model = getattr(thundersvm, problem)(**options, cache_size=CACHE, max_mem_size=CACHE)
    X, y = data
    model.fit(X, y)
    first = np.unique(y, return_index=True)[1] if "SVC" in problem else [0]
    model.label_order = y[np.sort(first)]
    model.problem = problem
    return model


def predict(model: Any, Z: Any) -> np.ndarray:
    """Labels or values."""
    return model.predict(Z)


def decide(model: Any, Z: Any) -> np.ndarray:
    """Values, one column for each decision function."""
    if model.problem == "SVR":
        return model.predict(Z)[:, None]
    values = model.decision_function(Z)
    return in_order(values, model.label_order) if "SVC" in model.problem else values


def solution(model: Any) -> Solution:
    """LIBSVM's layout."""
    coef, intercept = model.dual_coef_, -np.asarray(model.intercept_)[None, :]
    if "SVC" in model.problem:
        coef = in_order(unpack(coef, model.n_support_).T, model.label_order).T
        intercept = in_order(intercept, model.label_order)
    return Solution(model.support_, coef, intercept.ravel()[: len(coef)], None)
