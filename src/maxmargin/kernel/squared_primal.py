"""The primal of a squared loss as a function of a point.

With f_i = (K x)[row_i] + level and the slack s_i of variable i, positive where the loss is,

    s_i = -sign_i (f_i + linear_i)        sign_i: +1 where b_i >= 0, -1 where b_i <= 0

(for C-SVC s_i = 1 - y_i f_i), the problems with a ridge have the primal, without constraints and
once differentiable,

    P(x, level) = 1/2 x' K x + sum_i max(0, s_i)^2 / (2 ridge_i)        1 / (2 ridge_i) = C_i

It is quadratic where the support set S = {i: s_i > 0} stays the same, and piecewise quadratic along
a line, so that a line search can be exact.
"""

from typing import Any, NamedTuple

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel.problems import DualProblem


class Point(NamedTuple):
    """Where the method is: x, one number a variable, the level, and F = K x, one number a row."""

    x: Floats
    level: float
    F: Floats

    def towards(self, end: "Point", t: float) -> "Point":
        """The point at a share t of the way."""
        return Point(
            self.x + t * (end.x - self.x),
            self.level + t * (end.level - self.level),
            self.F + t * (end.F - self.F),
        )


class SquaredPrimal:
    """P of a dual problem with a ridge; see the top of this file."""

    def __init__(self, problem: DualProblem, xp: Any) -> None:
        self.problem, self.xp = problem, xp
        self.sign = xp.where(problem.upper > 0, 1.0, -1.0)

    def slack(self, point: Point, solved: Integers | None = None) -> Floats:
        """The slacks s of all variables.

        On the set that a step was solved for, f = -linear - ridge x says more than F, whose
        rounding grows with x.
        """
        f, row, linear = point.F + point.level, self.problem.row, self.problem.linear
        if solved is not None:
            f[row[solved]] = -linear[solved] - self.problem.ridge[solved] * point.x[solved]
        s: Floats = -self.sign * (f[row] + linear)
        return s

    def support(self, point: Point, inside: Mask, solved: Integers | None = None) -> Integers:
        """S, in order."""
        S: Integers = self.xp.flatnonzero(inside & (self.slack(point, solved) > 0))
        return S

    def value(self, point: Point, inside: Mask) -> float:
        """P on the variables inside."""
        s = self.xp.maximum(0.0, self.slack(point)[inside])
        norm = float(self.xp.sum(point.x * point.F[self.problem.row]))
        norm = max(0.0, norm)  # rounding may leave it below 0
        return 0.5 * norm + float(self.xp.sum(s * s / (2 * self.problem.ridge[inside])))

    def line_search(self, old: Point, new: Point, inside: Mask) -> float:
        """The t in (0, 1] with the least P(old + t (new - old)).

        It is the root of the derivative, which is piecewise linear and increasing.
        """
        s, slope = self.slack(old)[inside], (self.slack(new) - self.slack(old))[inside]
        move, ridge = new.x - old.x, self.problem.ridge[inside]
        linear = float(self.xp.sum(move * old.F[self.problem.row]))
        square = float(self.xp.sum(move * (new.F - old.F)[self.problem.row]))

        def derivative(t: float) -> tuple[float, float]:
            lossy = self.xp.where(s + t * slope > 0, slope / ridge, 0.0)
            curvature = square + float(self.xp.sum(lossy * slope))
            return linear + t * square + float(self.xp.sum(lossy * (s + t * slope))), curvature

        low, high, t = 0.0, 1.0, 1.0
        for _ in range(100):
            value, curvature = derivative(t)
            low, high = (t, high) if value < 0 else (low, t)
            if t == 1.0 and value <= 0:
                return 1.0
            following = t - value / curvature if curvature > 0 else 0.5 * (low + high)
            if abs(following - t) <= 1e-12:
                break
            t = following if low < following < high else 0.5 * (low + high)
        return t
