"""maxmargin itself."""

from typing import Any

import maxmargin
from peers import estimator
from peers._like_sklearn import decide, predict, prepare, rows, solution

__all__ = ["decide", "fit", "predict", "prepare", "rows", "solution", "version"]


def version() -> str:
    """The library's version."""
    from importlib.metadata import version

    return version("maxmargin")


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit with the estimator of that name."""
    return estimator(maxmargin, problem, parameters).fit(*data)
