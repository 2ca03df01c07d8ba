"""scikit-learn-intelex: scikit-learn's interface on oneDAL.

It has no one-class estimator of its own.
"""

from importlib.metadata import version as version_of
from typing import Any

from sklearnex import svm

from peers import estimator
from peers._like_sklearn import decide, predict, prepare, rows, solution

__all__ = ["decide", "fit", "predict", "prepare", "rows", "solution", "version"]


def version() -> str:
    """The library's version."""
    return version_of("scikit-learn-intelex")


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit with the estimator of that name; it must not hand the work to scikit-learn unsaid."""
    model = estimator(svm, problem, parameters).fit(*data)
    if not hasattr(model, "_onedal_estimator"):
        raise NotImplementedError("hands this problem to scikit-learn")
    return model
