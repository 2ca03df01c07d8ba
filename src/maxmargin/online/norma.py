"""NORMA: online learning with kernels (Kivinen, Smola and Williamson 2004).

One sample after the other, a gradient step of length eta_t = eta0 / t^power on its regularised loss

    alpha/2 |g|^2 + max(0, rho - y f(x)) - nu rho        f = g + b

so that g = sum_j c_j k(x_j, .) shrinks by 1 - eta_t alpha and takes eta_t y k(x, .) where the
margin rho is missed; rho itself moves by eta_t (nu - [margin missed]), which makes the share of
margin errors nu, or it is fixed and the -nu rho is left out. Novelty detection is the same with y =
1 and no b: rho is the level that a share nu of the samples falls short of. core/pegasos.h has the
steps.

Old coefficients fade, so the sum can be shortened: beyond ``budget`` points the lightest are
projected onto others after each block of samples (budget.py; cutting them off, as the paper does,
would lower g at once and leave rho behind), and ``lost`` adds up by how far that moved the
function.

With bounded k and eta_t ~ 1/sqrt(t) the mean loss of the hypotheses along the way exceeds that of
any fixed function by O(1/sqrt(T)).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.linear import bias_search, losses
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.online.budget import Points, block_size
from maxmargin.online.pegasos import Task

STEPS, SCALE, BIAS, RHO = range(4)
"""The numbers of a function: steps done, g = scale c, b, rho."""


class Rule(NamedTuple):
    """What does not change during a fit; a nu of None keeps rho fixed."""

    alpha: float
    eta0: float
    power: float
    nu: float | None
    bias: bool
    budget: int | None


class Functions(NamedTuple):
    """Coefficients over the points, a row of numbers and how far the budget moved it, for each
    function.
    """

    coef: Floats
    numbers: Floats
    lost: Floats

    @classmethod
    def new(cls, functions: int, points: int, rho: float) -> "Functions":
        """The functions 0."""
        numbers = np.zeros((functions, 4))
        numbers[:, SCALE], numbers[:, RHO] = 1.0, rho
        return cls(np.zeros((functions, points)), numbers, np.zeros(functions))


def advance(
    points: Points, functions: Functions, rule: Rule, order: NDArray[np.int64], task: Task
) -> None:
    """Steps over the samples, which are the last of the points, in this order.

    The functions are changed in place.
    """
    step = block_size(1, rule.budget)
    for begin in range(0, len(order), step):
        _advance(points, functions, rule, order[begin : begin + step], task)


def _advance(
    points: Points, functions: Functions, rule: Rule, block: NDArray[np.int64], task: Task
) -> None:
    coef, numbers, lost = functions
    at = block + (points.size - task.signs.shape[1])
    tile, z = points.tile(at), points.values(coef, at)
    gain, nu = np.ascontiguousarray(task.gain[block]), -1.0 if rule.nu is None else rule.nu
    for k in range(len(coef)):
        signs, done = np.ascontiguousarray(task.signs[k, block]), 0
        while done < len(block):
            given = np.zeros(len(block))
            done = points.backend.norma_tile(
                tile,
                done,
                z[k],
                signs,
                gain,
                given,
                numbers[k],
                rule.alpha,
                rule.eta0,
                rule.power,
                nu,
                rule.bias,
            )
            np.add.at(coef[k], at, given)
            scale = numbers[k, SCALE]
            coef[k] *= scale
            z[k] *= scale
            numbers[k, SCALE] = 1.0
    if rule.budget is not None:
        cut = points.reduce(coef, (), rule.budget)
        lost += 0.0 if cut is None else cut


def best_bias(g: Floats, y: Floats, p: Floats, rho: float) -> float:
    """The b that minimises sum_i p_i max(0, rho - y_i (g_i + b)) = rho sum_i p_i max(0, 1 - y_i
    (g_i + b) / rho).
    """
    return rho * bias_search.best_bias(
        LinearProblem(losses.classification(y, p, False), Bias.FREE), g / rho
    )


def quantile(g: Floats, p: Floats, nu: float) -> float:
    """The rho that minimises sum_i p_i max(0, rho - g_i) - nu rho.

    Minus the bias of the one-class model; a share nu of g is below.
    """
    return -bias_search.best_bias(LinearProblem(losses.one_class(p), Bias.FREE, total=nu), g)
