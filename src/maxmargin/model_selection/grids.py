"""The values that a search tries: as given, or a grid fitted to the data.

A number asks for that many values, equally spaced in the logarithm:

    C         1e-2 ... 1e4, of linear models 1e-4 ... 1e4
    gamma     1e-2 ... 1e2 times 1 / (n_features * variance of X), scikit-learn's gamma="scale",
              of the scaled X where the search scales
    epsilon   1e-3 ... 1 times the standard deviation of y
    nu        equally spaced between 0 and 1, both excluded

A sample of weight two counts as two samples in the variances.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.arrays import Floats


class Settings(NamedTuple):
    """Grids that are fitted to the data: their ranges, as powers of ten, and sizes."""

    C: tuple[float, float] = (-2.0, 4.0)
    linear_C: tuple[float, float] = (-4.0, 4.0)
    gamma: tuple[float, float] = (-2.0, 2.0)
    """Relative to 1 / (n_features * variance of X)."""
    epsilon: tuple[float, float] = (-3.0, 0.0)
    """Relative to the standard deviation of y."""
    most: int = 1000
    """Values of one parameter that a number may ask for: who asks for more means a value."""


SETTINGS = Settings()


def is_number(value: Any) -> bool:
    """Whether a grid is given as the number of its values."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def values(
    name: str,
    given: Any,
    span: tuple[float, float],
    unit: Callable[[], float] | float = 1.0,
    zero: bool = False,
) -> Floats:
    """The values of one parameter, ascending and distinct; all must be positive and finite, or
    zero where it is allowed.
    """
    if is_number(given):
        _refuse_count(name, given)
        scale = unit() if callable(unit) else unit
        exponents = [sum(span) / 2] if given == 1 else np.linspace(*span, int(given))
        grid: Floats = scale * 10.0 ** np.asarray(exponents)
        return grid
    found = _as_floats(name, given)
    if not (np.isfinite(found).all() and ((found > 0) | (zero & (found == 0))).all()):
        wanted = "finite and not negative" if zero else "positive and finite"
        raise ValueError(f"{name} must be {wanted}, got {given!r}.")
    return found


def _refuse_count(name: str, count: Any) -> None:
    """A number of values must be at least one, and nobody means a million."""
    if count < 1:
        raise ValueError(f"{name} must be a list or a positive number of values, got {count}.")
    if count > SETTINGS.most:
        raise ValueError(
            f"{name} is how many values to try, and more than {SETTINGS.most} were asked for: give "
            "a list for one value."
        )


def shares(name: str, given: Any) -> Floats:
    """The values of nu, ascending and distinct, in (0, 1]."""
    if is_number(given):
        _refuse_count(name, given)
        even: Floats = np.arange(1, given + 1) / (given + 1)
        return even
    found = _as_floats(name, given)
    if not ((found > 0).all() and (found <= 1).all()):
        raise ValueError(f"{name} must be in (0, 1], got {given!r}.")
    return found


def costs(given: Any, span: tuple[float, float] = SETTINGS.C) -> Floats:
    """The values of C."""
    return values("Cs", given, span)


def tubes(given: Any, y: Any, weight: Floats | None) -> Floats:
    """The values of epsilon, for targets y."""

    def deviation() -> float:
        variance = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
        return float(np.sqrt(variance)) or 1.0

    return values("epsilons", given, SETTINGS.epsilon, deviation, zero=True)


def _as_floats(name: str, given: Any) -> Floats:
    try:
        if isinstance(given, bool) or np.ndim(given) > 1:
            raise TypeError
        found = np.unique(np.asarray([given] if isinstance(given, Real) else given, np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be numbers or how many to try, got {given!r}.") from None
    if found.size == 0:
        raise ValueError(f"{name} has no values: give at least one, or how many to try.")
    return found


CONSTRAINT: list[Any] = [Integral, "array-like"]
"""A parameter that is a number of values, or the values."""
