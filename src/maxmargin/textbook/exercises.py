"""Exercises of the lectures with checks that say what is wrong, but not what is right.

``boyd_graber`` ends with "Next HW!", the program of its slides, and asks on the way when the
algorithm has converged and what to skip. ``fan`` asks why many planes separate, which of them to
prefer, how to draw an inner product, for a plot of the slack, and why no kernel for many samples.
The last exercises are our own, on the variants that the lectures only name.

    print(task("bounds"))              what is asked for
    print(check("bounds", my_bounds))  right, or a case on which it is wrong
"""

import textwrap
from typing import Any, NamedTuple

from maxmargin.textbook import exercises_boyd_graber, exercises_fan, exercises_variants
from maxmargin.textbook.exercise_checks import Exercise
from maxmargin.textbook.lectures import LECTURES

TABLES = {
    str(LECTURES["boyd_graber"]): exercises_boyd_graber.TABLE,
    str(LECTURES["fan"]): exercises_fan.TABLE,
    "The variants that the lectures name": exercises_variants.TABLE,
}
"""The exercises by their sources."""
EXERCISES = {name: one for table in TABLES.values() for name, one in table.items()}
"""The exercises by name, in the order of the lectures."""


class Verdict(NamedTuple):
    """What a check found."""

    right: bool
    message: str

    def __str__(self) -> str:
        return self.message


def task(name: str) -> str:
    """The text of an exercise.

    Parameters
    ----------
    name : one of ``EXERCISES``.

    Returns
    -------
    str

    Examples
    --------
    >>> from maxmargin.textbook import exercises
    >>> print(exercises.task("eta"))
    Jordan Boyd-Graber, "Optimizing Support Vector Machines"
    Write a function of x_i, x_j that returns the learning rate eta of (14).
    """
    text = textwrap.fill(_exercise(name).task, 90)
    source = next(source for source, table in TABLES.items() if name in table)
    return f"{source}\n{text}"


def check(name: str, answer: Any) -> Verdict:
    """Whether an answer is right, and if not, where it is wrong.

    Parameters
    ----------
    name : one of ``EXERCISES``.
    answer : what the task asks for, mostly a function.

    Returns
    -------
    Verdict
        ``right`` and ``message``; print it.

    Examples
    --------
    >>> from maxmargin.textbook import exercises
    >>> print(exercises.check("slack", lambda t, y: 1 - t * y))
    The answer, -1.2934, is too small for t = 1, y = 2.2934.
    >>> exercises.check("slack", lambda t, y: max(0, 1 - t * y)).right
    True
    """
    wrong = _exercise(name).check(answer)
    return Verdict(wrong is None, "Right." if wrong is None else wrong)


def _exercise(name: str) -> Exercise:
    if name not in EXERCISES:
        raise ValueError(f"There is no exercise {name!r}; there are {', '.join(EXERCISES)}.")
    return EXERCISES[name]
