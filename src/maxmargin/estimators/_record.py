"""Fitted attributes of an estimator, read from its record.

Assigning to an attribute replaces the record. What is assigned is checked when the model is used.
"""

from dataclasses import replace
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


def fitted(estimator: Any) -> Any:
    """The record of an estimator; NotFittedError, which is an AttributeError, where it has none."""
    try:
        return estimator.__dict__["model_"]
    except KeyError:
        name = type(estimator).__name__
        raise NotFittedError(f"This {name} instance is not fitted yet: call fit first.") from None


def checked(estimator: Any) -> Any:
    """The record, which native code may read: one that was altered is a ValueError."""
    check_is_fitted(estimator)
    estimator._check_state()
    return fitted(estimator)


def field(name: str) -> Any:
    """An attribute that is a field of the record."""

    def read(self: Any) -> Any:
        return getattr(fitted(self), name)

    def write(self: Any, value: Any) -> None:
        self.model_ = replace(fitted(self), **{name: value})

    return property(read, write)


def known_field(name: str) -> Any:
    """The same; there is no such attribute where the field is None."""
    whole = field(name)

    def read(self: Any) -> Any:
        found = whole.fget(self)
        if found is None:
            raise AttributeError(f"this {type(self).__name__} has no {name}")
        return found

    return property(read, whole.fset)
