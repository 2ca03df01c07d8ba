"""Exercises on what the lectures only name: cutting planes, transduction, chains, ranking."""

from typing import Any

import numpy as np

from maxmargin.textbook.checks import Array
from maxmargin.textbook.cutting_planes import plane
from maxmargin.textbook.exercise_checks import Exercise, labels, number, same
from maxmargin.textbook.ranking import swapped_pairs
from maxmargin.textbook.structured import viterbi


def _touching(w: Array, X: Array, y: Array) -> Array:
    """The offset of the plane and its slope, one after the other."""
    offset, slope = plane(w, X, y)
    return np.append(offset, slope)


def _switch(f_m: float, f_k: float) -> float:
    """1 if the labels s_m = +1 and s_k = -1 should be switched, 0 otherwise."""
    slacks = max(0.0, 1.0 - f_m), max(0.0, 1.0 + f_k)
    return float(min(slacks) > 0.0 and sum(slacks) > 2.0)


def _values(random: np.random.Generator) -> tuple[float, float]:
    """Decision values; in some cases a point has no slack and the other one more than 2."""
    return 2.0 * number(random), 2.0 * number(random)


def _chain(random: np.random.Generator) -> tuple[Any, ...]:
    """Emissions of up to five places and steps between three labels, with few digits."""
    n = int(random.integers(1, 6))
    return np.round(random.normal(size=(n, 3)), 2), np.round(random.normal(size=(3, 3)), 2)


TABLE = {
    "plane": Exercise(
        "Cutting planes. Write a function of w, X, y that returns offset and slope, as one array, "
        "of the plane below R(w) = sum_i max(0, 1 - y_i w'x_i) that touches it at w.",
        same(
            _touching,
            "w, X, y",
            lambda r: (r.normal(size=2), np.round(r.normal(size=(6, 2)), 2), labels(r, 6)),
        ),
    ),
    "switch": Exercise(
        "Transduction. Two unlabelled points have the labels s_m = +1 and s_k = -1. Write a "
        "function of f_m, f_k, their decision values, that returns whether label switching "
        "switches the pair.",
        same(_switch, "f_m, f_k", _values),
    ),
    "best path": Exercise(
        "Structured machines. Write a function of emit, follow that returns the score of the best "
        "labelling of a chain: emit has a row for each place, follow a row for each label and its "
        "next.",
        same(lambda emit, follow: viterbi(emit, follow)[1], "emit, follow", _chain),
    ),
    "swapped pairs": Exercise(
        "Ranking. Write a function of scores, y that returns how many pairs with y_i > y_j have "
        "scores in the wrong order, s_i < s_j.",
        same(
            lambda scores, y: swapped_pairs(y[np.argsort(scores)]),
            "scores, y",
            lambda r: (r.normal(size=7), r.integers(1, 5, size=7)),
        ),
    ),
}
