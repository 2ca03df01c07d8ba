"""Shortcuts of validation: scikit-learn's checks take longer than a small fit, and a grid search
makes thousands of them.

An array is plain if scikit-learn would return it unchanged. A parameter value that was valid once
is not validated again. Everything else goes through scikit-learn, which raises the errors.
"""

from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.estimators._options import validate

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
PLAIN = (bool, int, float, str, type(None))
"""Types of parameters that can be looked up among the valid values."""
MANY = 10_000
"""Maximum number of valid values that are remembered."""

_valid: set[tuple[type, str, type, Any]] = set()  # estimator, parameter, type and value


def _finite(values: Any) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def plain_data(X: Any) -> bool:
    """Whether X is a finite array of float32 or float64 in C order, and not empty."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.flags.c_contiguous
        and X.size > 0
        and _finite(X)
    )


def plain_labels(y: Any) -> bool:
    """Whether y is a vector of integers or booleans, which are class labels."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub"


def plain_target(y: Any, n: int | None = None) -> bool:
    """Whether y is a vector of finite numbers, n of them."""
    return (
        type(y) is np.ndarray
        and y.ndim == 1
        and (n is None or len(y) == n)
        and (y.dtype.kind in "iub" or (y.dtype in FLOATS and _finite(y)))
    )


class QuickParameters(BaseEstimator):  # type: ignore[misc]
    """Each value of a parameter is validated once, and the names are looked up once."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()
        return names

    def _validate_params(self) -> None:
        values = ((name, getattr(self, name)) for name in self._get_param_names())
        new = {
            name: value
            for name, value in values
            if type(value) not in PLAIN or (type(self), name, type(value), value) not in _valid
        }
        validate(self._parameter_constraints, new, type(self).__name__)
        if len(_valid) < MANY:
            _valid.update(
                (type(self), name, type(value), value)
                for name, value in new.items()
                if type(value) in PLAIN
            )
