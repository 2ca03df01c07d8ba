"""scikit-learn-intelex: SVC(kernel="linear") on oneDAL; it has no linear SVM."""

from importlib.metadata import version as version_of
from typing import Any

from sklearnex import svm

from peers import CACHE
from peers.linear._like_sklearn import prepare, solution

__all__ = ["fit", "prepare", "solution", "version"]


def version() -> str:
    """The library's version."""
    return version_of("scikit-learn-intelex")


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """Fit; it must not hand the work to scikit-learn unsaid."""
    model = svm.SVC(C=job["parameters"]["C"], kernel="linear", cache_size=CACHE, **options).fit(
        *data
    )
    if not hasattr(model, "_onedal_estimator"):
        raise NotImplementedError("hands this problem to scikit-learn")
    return model
