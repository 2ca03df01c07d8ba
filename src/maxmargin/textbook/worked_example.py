"""SMO by hand: three points, to the end, with exact fractions.

The points and labels, for C = 3 and the linear kernel:

    x_0 = (0, 0), t = +1        x_1 = (1, 0), t = -1        x_2 = (0, 1), t = -1

so that k_11 = k_22 = 1 and all other k_ij = 0. Three steps suffice, one of each kind. The pair is
the maximal violating pair of smo.py; the update is that of pair.py.

1. a = 0, y(x) = b = 0: E = y(x) - t = (-1, 1, 1). The pair 0, 1 has eta = 2 0 - 0 - 1 = -1, and
   a_1 = 0 + (-1 - 1) / -1 = 2 lies in [L, H] = [0, 3]. Both become 2: they have different labels.
2. w = -2 x_1, so x_1 is now as right as x_0, and x_2 is still wrong. The pair 0, 2 would like
   a_2 = 2, but a_0 may only grow from 2 to 3: H = 1, and a_2 is clipped to 1.
3. a_0 = C cannot grow any more. Points 1 and 2 have the same label and share what they have:
   a_1 + a_2 = 3 stays, and both become 3/2 by symmetry.

Then a = (3, 3/2, 3/2), w = -(3/2, 3/2), b = 1/2. The margins t y(x) are 1/2, 1, 1: point 0 lies
inside the margin with slack 1/2 and a = C, the others on it. The primal 1/2 |w|^2 + C 1/2 =
9/4 + 3/2 and the dual 6 - 9/4 are both 15/4.
"""

from fractions import Fraction
from typing import NamedTuple

POINTS = ((0, 0), (1, 0), (0, 1))
LABELS = (1, -1, -1)
C = Fraction(3)


class ExactStep(NamedTuple):
    """One update as the slide writes it; a is the state after it."""

    i: int
    j: int
    E_i: Fraction
    E_j: Fraction
    eta: Fraction
    L: Fraction
    H: Fraction
    unclipped: Fraction
    b1: Fraction
    b2: Fraction
    b: Fraction
    a: tuple[Fraction, ...]


class WorkedExample(NamedTuple):
    """The steps; printing them shows the table, with a_j before it is clipped."""

    steps: tuple[ExactStep, ...]
    a: tuple[Fraction, ...]
    b: Fraction

    def __str__(self) -> str:
        names = ("i", "j", "E_i", "E_j", "eta", "L", "H", "a_j", "b1", "b2", "b")
        rows = ["".join(f"{name:>5}" for name in names) + "   a"]
        for step in self.steps:
            cells = "".join(f"{cell!s:>5}" for cell in step[:-1])
            rows.append(f"{cells}   {', '.join(map(str, step.a))}")
        return "\n".join(rows)


def worked_example() -> WorkedExample:
    """SMO on the three points above, in exact arithmetic.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> print(textbook.worked_example())
        i    j  E_i  E_j  eta    L    H  a_j   b1   b2    b   a
        0    1   -1    1   -1    0    3    2    1    1    1   2, 2, 0
        0    2    0    2   -1    0    1    2    1    0    0   3, 2, 1
        1    2   -1    0   -2    0    3  3/2  1/2  1/2  1/2   3, 3/2, 3/2
    """
    K = [[Fraction(sum(p * q for p, q in zip(x, z, strict=True))) for z in POINTS] for x in POINTS]
    a, b, steps = [Fraction(0)] * len(LABELS), Fraction(0), []
    while (pair := _violating_pair(K, a)) is not None:
        step = _update(*pair, K, a, b)
        a, b = list(step.a), step.b
        steps.append(step)
    return WorkedExample(tuple(steps), tuple(a), b)


def _violating_pair(K: list[list[Fraction]], a: list[Fraction]) -> tuple[int, int] | None:
    """The maximal violating pair, or None at the optimum."""
    t, n = LABELS, range(len(LABELS))
    v = [t[i] - sum(a[j] * t[j] * K[i][j] for j in n) for i in n]
    i = max((i for i in n if (a[i] < C if t[i] > 0 else a[i] > 0)), key=lambda i: v[i])
    j = min((j for j in n if (a[j] > 0 if t[j] > 0 else a[j] < C)), key=lambda j: v[j])
    return (i, j) if v[i] > v[j] else None


def _update(i: int, j: int, K: list[list[Fraction]], a: list[Fraction], b: Fraction) -> ExactStep:
    """The formulas of pair.py."""
    t, n = LABELS, range(len(LABELS))
    E_i, E_j = (sum((a[m] * t[m] * K[k][m] for m in n), b) - t[k] for k in (i, j))
    zero = Fraction(0)
    if t[i] == t[j]:
        L, H = max(zero, a[i] + a[j] - C), min(C, a[i] + a[j])
    else:
        L, H = max(zero, a[j] - a[i]), min(C, C + a[j] - a[i])
    eta = 2 * K[i][j] - K[i][i] - K[j][j]
    unclipped = a[j] - t[j] * (E_i - E_j) / eta
    new = list(a)
    new[j] = min(max(unclipped, L), H)
    new[i] = a[i] - t[i] * t[j] * (new[j] - a[j])
    d_i, d_j = t[i] * (new[i] - a[i]), t[j] * (new[j] - a[j])
    b1 = b - E_i - d_i * K[i][i] - d_j * K[i][j]
    b2 = b - E_j - d_i * K[i][j] - d_j * K[j][j]
    b = b1 if 0 < new[i] < C else b2 if 0 < new[j] < C else (b1 + b2) / 2
    return ExactStep(i, j, E_i, E_j, eta, L, H, unclipped, b1, b2, b, tuple(new))
