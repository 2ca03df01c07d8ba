"""AMD's AOCL-DA. Dense data only, no one-class.

Row-major input is as fast for it as column-major.
"""

from importlib.metadata import version as version_of
from typing import Any

import numpy as np
from aoclda import svm

from peers import Solution, estimator, unpack

WITHOUT_MARGIN = ("SVR", "NuSVR")


def version() -> str:
    """The library's version."""
    return version_of("aoclda")


def prepare(X: np.ndarray, y: np.ndarray) -> Any:
    """Targets in the precision of the data: it would convert them in each fit."""
    return X, y.astype(X.dtype)


def rows(Z: np.ndarray) -> np.ndarray:
    """As they are."""
    return Z


def fit(data: Any, problem: str, parameters: dict[str, Any]) -> Any:
    """Fit with the estimator of that name."""
    return estimator(svm, problem, parameters).fit(*data)


def predict(model: Any, Z: np.ndarray) -> np.ndarray:
    """Labels or values."""
    return model.predict(Z)


def decide(model: Any, Z: np.ndarray) -> np.ndarray:
    """Values, one column for each decision function."""
    values = (
        model.predict(Z)
        if type(model).__name__ in WITHOUT_MARGIN
        else model.decision_function(Z, shape="ovo")
    )
    return values.reshape(len(Z), -1)


def solution(model: Any) -> Solution:
    """Its coefficients are laid out as LIBSVM's, classes in the order 0, 1, ..., two classes with
    scikit-learn's sign.
    """
    coef = model.dual_coef
    if len(coef) > 1:
        coef = unpack(coef, model.n_support_per_class)
    return Solution(
        model.support_vectors_idx, coef, np.ravel(model.bias), int(np.sum(model.n_iter))
    )
