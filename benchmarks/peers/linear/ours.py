"""maxmargin's LinearSVC and LinearSVR."""

from importlib.metadata import version as version_of
from typing import Any

import maxmargin
from peers.linear._like_sklearn import prepare, solution

__all__ = ["duals", "fit", "prepare", "solution", "version"]

PASSES = 1_000_000
"""max_iter: the tolerance is to end the work."""


def version() -> str:
    """The library's version."""
    return version_of("maxmargin")


def fit(data: Any, job: dict[str, Any], options: dict[str, Any]) -> Any:
    """Fit with the estimator of that name."""
    return getattr(maxmargin, job["problem"])(**job["parameters"], **options, max_iter=PASSES).fit(
        *data
    )


def duals(model: Any) -> Any:
    """The duals, a row for each decision function: what a lower bound of the objective is made
    of."""
    return model.dual_coef_.toarray()
