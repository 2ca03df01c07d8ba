"""scikit-learn's sklearn.svm, in our environment."""

from typing import Any

import sklearn
from sklearn import svm

from peers import estimator
from peers._like_sklearn import decide, predict, prepare, rows, solution

__all__ = ["decide", "fit", "predict", "prepare", "rows", "solution", "version"]


def version() -> str:
    """The library's version."""
    return sklearn.__version__


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit with the estimator of that name."""
    return estimator(svm, problem, parameters).fit(*data)
