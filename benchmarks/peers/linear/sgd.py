"""scikit-learn's SGDClassifier and SGDRegressor: mean loss + alpha times the penalty, so that
alpha = 1 / (C n)."""

from typing import Any

import sklearn
from sklearn.linear_model import SGDClassifier, SGDRegressor

from peers.linear._like_sklearn import prepare, solution

__all__ = ["fit", "prepare", "solution", "version"]


def version() -> str:
    """The library's version."""
    return sklearn.__version__


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """So many passes."""
    parameters = dict(job["parameters"])
    alpha = 1 / (parameters.pop("C") * data[0].shape[0])
    kind, parallel = (
        (SGDClassifier, {"n_jobs": -1}) if job["problem"] == "LinearSVC" else (SGDRegressor, {})
    )
    return kind(**parameters, **options, **parallel, alpha=alpha, tol=None, random_state=0).fit(
        *data
    )
