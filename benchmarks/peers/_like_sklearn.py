"""What the adapters of libraries with scikit-learn's interface share."""

from typing import Any

import numpy as np

from peers import Solution, unpack


def prepare(X: Any, y: np.ndarray) -> Any:
    """As they are."""
    return X, y


def rows(Z: Any) -> Any:
    """As they are."""
    return Z


def predict(model: Any, Z: Any) -> np.ndarray:
    """Labels or values."""
    return model.predict(Z)


def decide(model: Any, Z: Any) -> np.ndarray:
    """Values, one column for each decision function."""
    if not hasattr(model, "decision_function"):
        return model.predict(Z)[:, None]
    if hasattr(model, "decision_function_shape"):
        model.decision_function_shape = "ovo"
    values = np.asarray(model.decision_function(Z))
    return values[:, None] if values.ndim == 1 else values


def solution(model: Any) -> Solution:
    """Read off dual_coef_ and its neighbours."""
    coef = (
        model.dual_coef_.toarray()
        if hasattr(model.dual_coef_, "toarray")
        else np.asarray(model.dual_coef_)
    )
    if len(getattr(model, "classes_", ())) > 2:
        coef = unpack(coef, np.asarray(model.n_support_))
    return Solution(
        np.asarray(model.support_), coef, np.ravel(model.intercept_), int(np.sum(model.n_iter_))
    )
