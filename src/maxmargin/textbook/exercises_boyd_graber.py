"""The exercises of ``boyd_graber``: the parts of SMO one by one, then the whole, its homework."""

import numpy as np

from maxmargin.textbook.exercise_checks import Exercise, bounded, number, same, sign, trains
from maxmargin.textbook.pair import update_pair


def _pair(t_i: float, t_j: float, a_i: float, a_j: float, C: float) -> tuple[float, float]:
    """L and H."""
    t, a = np.array([t_i, t_j]), np.array([a_i, a_j])
    pair = update_pair(0, 1, np.eye(2), t, a, 0.0, C)
    return pair.L, pair.H


def _violates(a: float, m: float, C: float) -> float:
    """(6) to (8), exactly."""
    return float((a < C and m < 1.0) or (a > 0.0 and m > 1.0))


def _new_a_j(
    a_j: float, t_j: float, E_i: float, E_j: float, eta: float, L: float, H: float
) -> float:
    """(15), clipped; the old value if eta is not negative."""
    return a_j if eta >= 0.0 else float(np.clip(a_j - t_j * (E_i - E_j) / eta, L, H))


TABLE = {
    "converged": Exercise(
        "Write a function of a, m, C that returns whether a point with the multiplier a and the "
        "margin m = y (w.x + b) violates the conditions (6) to (8).",
        same(_violates, "a, m, C", lambda r: (bounded(r, 2.0), r.choice([0.5, 1, 2]), 2.0)),
    ),
    "bounds": Exercise(
        "Write a function of y_i, y_j, a_i, a_j, C that returns (L, H) of (9) to (12).",
        same(
            _pair,
            "y_i, y_j, a_i, a_j, C",
            lambda r: (sign(r), sign(r), bounded(r, 2.0), bounded(r, 2.0), 2.0),
        ),
    ),
    "eta": Exercise(
        "Write a function of x_i, x_j that returns the learning rate eta of (14).",
        same(lambda x, z: -((x - z) @ (x - z)), "x_i, x_j", lambda r: tuple(r.normal(size=(2, 3)))),
    ),
    "a_j": Exercise(
        "Write a function of a_j, y_j, E_i, E_j, eta, L, H that returns the new a_j of (15), "
        "inside [L, H]; the old one if the pair must be skipped.",
        same(
            _new_a_j,
            "a_j, y_j, E_i, E_j, eta, L, H",
            lambda r: (
                1.0,
                sign(r),
                number(r),
                number(r),
                r.choice([-2.0, -0.5, 0.0]),
                0.25,
                1.5,
            ),
        ),
    ),
    "a_i": Exercise(
        "Write a function of a_i, y_i, y_j, old, new that returns the new a_i of (16), where "
        "a_j has moved from old to new.",
        same(
            lambda a, s, t, old, new: a + s * t * (old - new),
            "a_i, y_i, y_j, old, new",
            lambda r: (1.0, sign(r), sign(r), number(r), number(r)),
        ),
    ),
    "smo": Exercise(
        "The homework. Write a function of X, y, C that trains a linear machine by SMO and "
        "returns (a, b): the multipliers and the threshold.",
        trains,
    ),
}
