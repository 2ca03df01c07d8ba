"""What the adapters of libraries with scikit-learn's interface share."""

from typing import Any

import numpy as np


def prepare(X: Any, y: np.ndarray, job: dict[str, Any]) -> Any:
    """As they are."""
    return X, y


def solution(model: Any) -> tuple[np.ndarray, np.ndarray, int | None]:
    """coef_, intercept_ and n_iter_."""
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_)
    intercept = np.ravel(model.intercept_)
    iterations = getattr(model, "n_iter_", None)
    return np.atleast_2d(coef), intercept, None if iterations is None else int(np.sum(iterations))
