"""The exercises of ``fan``: planes, margins, slacks, cases, and when to use a kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.textbook.exercise_checks import (
    Exercise,
    bounded,
    labels,
    lifts_exclusive_or,
    number,
    same,
    separates_twice,
    sign,
)
from maxmargin.textbook.models import LinearModel
from maxmargin.textbook.smo import smo
from maxmargin.textbook.soft_margin import bias_of_free
from maxmargin.textbook.theorems import distances, margin


def _place(a: float, C: float, xi: float) -> str:
    """The three cases of the solution, the last one twice."""
    if a < C:
        return "outside" if a == 0.0 else "on"
    return "inside" if xi <= 1.0 else "wrong side"


def widest(planes: Sequence[tuple[Any, float]], X: Any, y: Any) -> int:
    """The index of the plane with the largest margin."""
    return int(np.argmax([margin(LinearModel(np.asarray(w), b), X, y) for w, b in planes]))


def _trained_machine(random: np.random.Generator) -> tuple[Any, ...]:
    """A trained machine with multipliers between the bounds, whose values of b agree."""
    while True:
        t = labels(random, 8)
        X = np.round(random.normal(size=(8, 2)) + 0.5 * t[:, None], 2)
        a = smo(X, t, C=1.0, tol=1e-10, trace=0)[0].alpha
        if np.any((a > 0.0) & (a < 1.0)):
            return X @ X.T, t, a, 1.0


TABLE = {
    "many planes": Exercise(
        "Why can many planes separate the data? Give two of them, [(w, b), (w, b)], for the "
        "points (-1, -1), (-1, 1) of class -1 and (1, -1), (1, 1) of class +1.",
        separates_twice,
    ),
    "prefer": Exercise(
        "Which boundary do you prefer? Write a function of planes, X, y that returns the index "
        "of the plane (w, b) with the largest margin.",
        same(
            widest,
            "planes, X, y",
            lambda r: (
                [(r.normal(size=2), number(r)) for _ in range(3)],
                r.normal(size=(6, 2)),
                labels(r, 6),
            ),
        ),
    ),
    "projection": Exercise(
        "How to represent mu'nu in the plot? Write a function of mu, nu that returns p, the "
        "length of the projection of nu on mu, negative if their angle is larger than 90 "
        "degrees.",
        same(
            lambda mu, nu: mu @ nu / np.linalg.norm(mu),
            "mu, nu",
            lambda r: tuple(r.normal(size=(2, 2))),
        ),
    ),
    "distance": Exercise(
        "Claim 3. Write a function of w, b, x that returns the distance of x to w'x + b = 0.",
        same(
            lambda w, b, x: abs(distances(LinearModel(w, b), x[None])[0]),
            "w, b, x",
            lambda r: (r.normal(size=3), number(r), r.normal(size=3)),
        ),
    ),
    "margin": Exercise(
        "Write a function of w, b, X, y that returns the margin over all training points, "
        "negative if one of them is on the wrong side.",
        same(
            lambda w, b, X, y: margin(LinearModel(w, b), X, y),
            "w, b, X, y",
            lambda r: (r.normal(size=2), number(r), r.normal(size=(5, 2)), labels(r, 5)),
        ),
    ),
    "slack": Exercise(
        "Please plot the hinge loss with slack variables: write a function of t, y that returns "
        "the slack of a point with label t and decision value y, and plot it for t = 1 and t = "
        "-1.",
        same(lambda t, y: max(0.0, 1.0 - t * y), "t, y", lambda r: (sign(r), 2 * number(r))),
    ),
    "three cases": Exercise(
        "Solution interpretation. Write a function of a, C, xi that returns where the point "
        "lies: 'outside' the margin, 'on' it, 'inside' it and still right, or on the 'wrong "
        "side'.",
        same(_place, "a, C, xi", lambda r: (bounded(r, 2.0), 2.0, r.choice([0, 0.5, 1.0, 1.5]))),
    ),
    "bias": Exercise(
        "Write a function of K, y, a, C that returns b of (40).",
        same(bias_of_free, "K, y, a, C", _trained_machine),
    ),
    "exclusive or": Exercise(
        "For data that no plane separates, e.g. XOR, how to use an SVM? Write a function of X "
        "that returns features after which a plane separates (-1, -1), (1, 1) from (-1, 1), (1, "
        "-1).",
        lifts_exclusive_or,
    ),
    "why no kernel": Exercise(
        "Many samples, few features: why not a kernel? Write a function of m, n that returns "
        "how many numbers the kernel matrix of m samples has, and how many the data with n "
        "features.",
        same(
            lambda m, n: (m * m, m * n),
            "m, n",
            lambda r: (int(r.integers(1, 10**6)), int(r.integers(1, 100))),
        ),
    ),
}
