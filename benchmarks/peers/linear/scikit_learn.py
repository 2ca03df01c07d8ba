"""scikit-learn's LinearSVC and LinearSVR, in our environment."""

from typing import Any

import sklearn
from sklearn import svm

from peers.linear._like_sklearn import prepare, solution

__all__ = ["fit", "prepare", "solution", "version"]


def version() -> str:
    """The library's version."""
    return sklearn.__version__


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """Fit with the estimator of that name."""
    return getattr(svm, job["problem"])(**job["parameters"], **options, random_state=0).fit(*data)
