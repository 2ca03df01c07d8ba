"""Checks of the input, with errors that name the remedy.

Labels are -1 and +1, as in the lectures, except for several classes. Data are a matrix with a row
for each point.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

Array = NDArray[np.float64]
Labels = NDArray[Any]


def signs(y: ArrayLike) -> Array:
    """Labels as floats -1 and +1, or an error that says how to get them."""
    t = np.asarray(y)
    if t.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {t.shape}; try y.ravel().")
    found = np.unique(t)
    if not np.array_equal(found, [-1, 1]):
        raise ValueError(
            f"The lectures' labels are -1 and +1, both present; y has {_some(found)}. Write for "
            "example np.where(y == y[0], 1, -1)."
        )
    return t.astype(float)


def points(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Data as a matrix of floats and labels as signs, of the same length."""
    data, t = matrix(X), signs(y)
    if len(data) != len(t):
        raise ValueError(f"X has {len(data)} rows but y has {len(t)} labels.")
    return data, t


def matrix(X: ArrayLike) -> Array:
    """Data as a finite matrix of floats."""
    data = np.asarray(X, float)
    if data.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and features, got shape {data.shape}; for one "
            "feature give X[:, None]."
        )
    if not np.isfinite(data).all():
        raise ValueError("X has values that are NaN or infinite; remove or replace them first.")
    return data


def targets(y: ArrayLike, n: int) -> Array:
    """Targets of a regression: n finite numbers."""
    t = np.asarray(y, float)
    if t.shape != (n,) or not np.isfinite(t).all():
        raise ValueError(
            f"y must be {n} finite numbers, one for each row of X, got shape {t.shape}."
        )
    return t


def labelled(X: ArrayLike, y: ArrayLike) -> tuple[Array, Labels, Labels]:
    """Data, labels of any kind, and the classes among them."""
    data, labels = matrix(X), np.asarray(y)
    if labels.shape != (len(data),):
        raise ValueError(f"X has {len(data)} rows but y has shape {labels.shape}.")
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"y has only one class ({_some(classes)}); at least two are needed.")
    return data, labels, classes


def warn_stopped(what: str, violation: float, tol: float, remedy: str) -> None:
    """Say that an algorithm stopped before it reached tol, and what to do."""
    warnings.warn(
        f"{what} with a violation of {violation:.2g}, above tol={tol:g}: {remedy}.",
        ConvergenceWarning,
        3,
    )


def _some(values: NDArray[Any]) -> str:
    """The first few values, to be shown."""
    return ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
