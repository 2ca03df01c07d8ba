"""How the answers of exercises.py are checked: against the pages of this package, on hidden cases.

A check returns None if the answer is right, and otherwise a sentence that says on which case it is
wrong and in which direction, but not what is right. Functions are compared on random arguments that
include the corners (multipliers on their bounds, equal labels, points on the margin).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.textbook.checks import Array
from maxmargin.textbook.hard_margin import hard_margin_qp
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.soft_margin import soft_margin_qp
from maxmargin.textbook.trace import soft_margin_step

Check = Callable[[Any], str | None]


class Exercise(NamedTuple):
    """A task and its check."""

    task: str
    check: Check


CORNERS: Array = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
XOR: Array = np.array([-1.0, 1.0, 1.0, -1.0])


def same(
    reference: Callable[..., Any], names: str, cases: Callable[[np.random.Generator], Sequence[Any]]
) -> Check:
    """A check that a function equals another one on a hundred random cases."""

    def check(answer: Any) -> str | None:
        if not callable(answer):
            return f"The answer must be a function of {names}, not {type(answer).__name__}."
        random = np.random.default_rng(2024)
        for _ in range(100):
            case = cases(random)
            wrong = _compare(answer, reference, case)
            if wrong:
                given = zip(names.split(", "), case, strict=True)
                return f"{wrong} for {', '.join(f'{k} = {_short(v)}' for k, v in given)}."
        return None

    return check


def _compare(answer: Callable[..., Any], reference: Callable[..., Any], case: Any) -> str | None:
    """What is wrong with the answer on one case."""
    try:
        found = answer(*case)
    except Exception as error:
        return f"The function raised {type(error).__name__} ({error})"
    right = reference(*case)
    if isinstance(right, str) or found is None:
        return None if found == right else f"The answer {found!r} is wrong"
    try:
        x, z = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(right, float))
    except (TypeError, ValueError):
        return f"The answer {found!r} is not made of numbers"
    if x.shape != z.shape:
        return f"The answer has shape {x.shape}, which is not the shape that was asked for,"
    off = np.flatnonzero(~np.isclose(x, z, rtol=1e-6, atol=1e-9))
    if not off.size:
        return None
    which = f"Number {off[0] + 1} of the answer" if x.size > 1 else "The answer"
    side = "too large" if x[off[0]] > z[off[0]] else "too small"
    return f"{which}, {x[off[0]]:.6g}, is {side}"


def _short(value: Any) -> str:
    """A value as it is shown."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_short, value))})"
    if np.ndim(value) == 0:
        return f"{value:.5g}"
    if np.size(value) > 12:
        return f"an array of shape {np.shape(value)}"
    return np.array2string(np.asarray(value), precision=4, separator=", ").replace("\n", "")


def separates_twice(answer: Any) -> str | None:
    """Two planes that both separate four points, and are not the same plane."""
    X, y = CORNERS, CORNERS[:, 0]
    try:
        planes = [(np.asarray(w, float).reshape(2), float(b)) for w, b in answer]
    except (TypeError, ValueError):
        return "The answer must be two pairs (w, b) with two weights each."
    if len(planes) != 2:
        return f"The answer has {len(planes)} planes; two are asked for."
    for k, (w, b) in enumerate(planes, start=1):
        wrong = np.flatnonzero(y * (X @ w + b) <= 0)
        if wrong.size:
            return f"Plane {k} does not separate: look at the point {_short(X[wrong[0]])}."
    full = [np.append(w, b) / np.linalg.norm(np.append(w, b)) for w, b in planes]
    return "Both are the same plane, scaled." if np.allclose(full[0], full[1]) else None


def lifts_exclusive_or(answer: Any) -> str | None:
    """A map after which a plane separates the corners of a square by the product of their signs."""
    if not callable(answer):
        return "The answer must be a function of X with a row of features for each point."
    try:
        lifted = np.asarray(answer(CORNERS.copy()), float)
        hard_margin_qp(lifted, XOR)
    except ValueError as error:
        return f"After the map the corners are not separable: {error}"
    other = np.asarray(answer(CORNERS[::-1].copy()), float)
    return None if np.allclose(lifted[::-1], other) else "The map depends on the order of points."


def trains(answer: Any) -> str | None:
    """A training function: feasible multipliers and a small duality gap on hidden data."""
    if not callable(answer):
        return "The answer must be a function of X, y, C that returns (a, b)."
    for seed, C, shift in ((0, 1.0, 0.9), (1, 0.1, 0.4), (2, 5.0, 1.5)):
        random = np.random.default_rng(seed)
        t = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
        X = random.normal(size=(30, 2)) + shift * t[:, None]
        wrong = _trained(answer, X, t, C)
        if wrong:
            return f"With 30 points and C = {C:g}: {wrong}"
    return None


def _trained(answer: Callable[..., Any], X: Any, t: Any, C: float) -> str | None:
    """What is wrong with the multipliers and b of one training."""
    try:
        a, b = answer(X.copy(), t.copy(), C)
        a, b = np.asarray(a, float).reshape(len(t)), float(b)
    except Exception as error:
        return f"the function failed ({type(error).__name__}: {error})."
    if a.min() < -1e-9 or a.max() > C * (1 + 1e-9):
        return f"a multiplier is outside [0, C]: they go from {a.min():.3g} to {a.max():.3g}."
    if abs(a @ t) > 1e-6 * C * len(t):
        return f"the multipliers do not balance: sum_i a_i t_i = {a @ t:.3g}."
    values = KernelModel(X, a * t, b).decision_function(X)
    step = soft_margin_step(0, None, values, t, a, b, C)
    best = soft_margin_qp(X, t, C)[1].steps[0].primal
    if step.primal > best * 1.02:
        where = "b" if step.dual > best * 0.99 else "the multipliers"
        return (
            f"the primal is {step.primal / best - 1:.0%} above the optimum, the largest violation "
            f"of the optimality conditions is {step.violation:.2g}; look at {where}."
        )
    return None


def labels(random: np.random.Generator, n: int) -> Array:
    """Labels, both present."""
    return np.append(np.where(random.random(n - 2) < 0.5, 1.0, -1.0), [1.0, -1.0])


def bounded(random: np.random.Generator, C: float) -> float:
    """A multiplier, on a bound in half of the cases."""
    return float(random.choice([0.0, C, *(random.uniform(0, C, 2))]))


def number(random: np.random.Generator) -> float:
    """A number with few digits."""
    return float(np.round(random.normal(), 4))


def sign(random: np.random.Generator) -> float:
    """A label."""
    return float(random.choice([-1.0, 1.0]))
