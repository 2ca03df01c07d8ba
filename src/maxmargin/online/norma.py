"""NORMA: online learning with kernels (Kivinen, Smola and Williamson 2004).

For each sample a gradient step of size eta_t = eta0 / t^power on its regularised loss

    alpha/2 |g|^2 + max(0, rho - y f(x)) - nu rho        f = g + b

so that g = sum_j c_j k(x_j, .) shrinks by 1 - eta_t alpha and adds eta_t y k(x, .) where the margin
is below rho. rho itself moves by eta_t (nu - [margin below rho]), which makes the fraction of
margin errors nu; or rho is fixed and the term -nu rho is left out. Novelty detection is the same
with y = 1 and without b: rho is then the nu-quantile of g. core/pegasos.h has the steps.

Old coefficients decay, so the sum can be truncated: beyond ``budget`` points the lightest are
projected onto others after each block of samples (budget.py). Dropping them, as the paper does,
would lower g at once and leave rho behind. ``truncation`` adds up how far that moved the function.

With bounded k and eta_t ~ 1/sqrt(t) the mean loss of the hypotheses exceeds that of any fixed
function by O(1/sqrt(T)).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear import bias_search, losses
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.online.budget import Points, block_size
from maxmargin.online.pegasos import Task

FIELDS = ("steps", "scale", "bias", "rho")
STATE = np.dtype([(name, np.float64) for name in FIELDS])
"""The state of a hypothesis besides its coefficients c: steps so far, g = scale c, b, rho.

NormaState in core/pegasos.h has the same fields."""


class Settings(NamedTuple):
    """Constants of NORMA."""

    boundary: float = 1e-10
    """Fraction by which an exact offset is lowered, so that a sample on the boundary is an inlier
    and rounding does not decide about it."""


SETTINGS = Settings()


class Rule(NamedTuple):
    """The update rule; a nu of None keeps rho fixed."""

    alpha: float
    eta0: float
    power: float
    nu: float | None
    bias: bool
    budget: int | None


class Hypotheses(NamedTuple):
    """One hypothesis for each function."""

    coef: Floats
    """Coefficients of the points, one row for each function."""
    numbers: Floats
    """The fields of STATE, one row for each function."""
    truncation: Floats
    """How far the budget moved each function."""

    @classmethod
    def new(cls, functions: int, points: int, rho: float) -> "Hypotheses":
        """The functions 0."""
        numbers = np.zeros((functions, len(FIELDS)))
        found = cls(np.zeros((functions, points)), numbers, np.zeros(functions))
        found.state["scale"], found.state["rho"] = 1.0, rho
        return found

    @property
    def state(self) -> NDArray[Any]:
        """The numbers by name: a view of type STATE, one record for each function."""
        return self.numbers.view(STATE)[:, 0]


def advance(
    points: Points, hypotheses: Hypotheses, rule: Rule, order: Integers, task: Task
) -> None:
    """Steps over the samples, which are the last of the points, in this order, in place."""
    step = block_size(1, rule.budget)
    for begin in range(0, len(order), step):
        _advance(points, hypotheses, rule, order[begin : begin + step], task)


def _advance(
    points: Points, hypotheses: Hypotheses, rule: Rule, block: Integers, task: Task
) -> None:
    coef, numbers, truncation = hypotheses
    at = block + (points.size - task.signs.shape[1])
    tile, z = points.tile(at), points.values(coef, at)
    weight = np.ascontiguousarray(task.weight[block])
    nu = -1.0 if rule.nu is None else rule.nu
    numbers_of_rule = rule.alpha, rule.eta0, rule.power, nu, rule.bias
    for k, state in enumerate(hypotheses.state):
        signs, used = np.ascontiguousarray(task.signs[k, block]), 0
        while used < len(block):
            added = np.zeros(len(block))
            used = points.backend.norma_tile(
                tile, used, z[k], signs, weight, added, numbers[k], *numbers_of_rule
            )
            np.add.at(coef[k], at, added)
            coef[k] *= state["scale"]
            z[k] *= state["scale"]
            state["scale"] = 1.0
    if rule.budget is not None:
        moved = points.maintain(coef, (), rule.budget)
        truncation += 0.0 if moved is None else moved


def best_bias(g: Floats, y: Floats, p: Floats, rho: float) -> float:
    """The b that minimises sum_i p_i max(0, rho - y_i (g_i + b)).

    That is rho sum_i p_i max(0, 1 - y_i (g_i + b) / rho), a hinge loss of g / rho.
    """
    problem = LinearProblem(losses.classification(y, p, False), Bias.FREE)
    return rho * bias_search.best_bias(problem, g / rho)


def quantile(g: Floats, p: Floats, nu: float) -> float:
    """The rho that minimises sum_i p_i max(0, rho - g_i) - nu rho.

    It is the nu-quantile of g, and minus the bias of the one-class model.
    """
    return -bias_search.best_bias(LinearProblem(losses.one_class(p), Bias.FREE, total=nu), g)


def offset(g: Floats, p: Floats, nu: float) -> float:
    """The quantile, lowered so that samples on the boundary are inliers."""
    rho = quantile(g, p, nu)
    return rho - SETTINGS.boundary * abs(rho)
