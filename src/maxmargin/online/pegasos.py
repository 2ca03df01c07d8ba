"""Pegasos: stochastic subgradient descent on the primal problem of the SVM (Shalev-Shwartz, Singer,
Srebro and Cotter 2011).

    minimise  P(w, b) = alpha/2 |w|^2 + sum_i p_i max(0, 1 - y_i (w.phi(x_i) + b)),    sum_i p_i = 1

core/pegasos.h has the steps. Each function (one for each class against the rest) has an iterate
w = scale v, and the averaged iterate with weights 1, 2, 3, ... is (sigma v - u) / (T (T + 1) / 2)
after T steps. v and u are weights of features (linear) or coefficients of points (kernel), so
averaging costs nothing in either. Weights that grow with t forget the large first steps (the first
has the length 1/alpha) and give P(average) - P(optimum) = O(1 / (alpha T)) without a bias; the last
iterate is worse by log T and by noise.

The ball |w| <= 1/sqrt(alpha) holds the optimum: there P = D, so
alpha |w|^2 = sum a_i - losses <= 1, whether or not there is a bias.

**The bias.** P is not strongly convex in b, and steps of size 1 / (alpha t) would make it
oscillate. So b has a step size of its own, 1/(4 sqrt(t)): its subgradient is at most 1, and
decision values are in units of the margin. Where all samples are known, b is set between epochs to
the minimiser of P(w, .) for the last iterate, and at the end to that for the average: a weighted
quantile of y_i - w.phi(x_i), see linear/bias_search.py. Linear steps are taken along
x - (mean of x), which gives the same model with another constant; otherwise each step would move b
as well.

**The certificate.** v is a sum of samples, v = sum_i c_i phi(x_i), so a_i = alpha y_i scale c_i are
dual variables. Clipped to their box [0, p_i], the heavier class scaled down until
sum_i a_i y_i = 0, and scaled by the best theta <= 1 they are feasible:

    D(a) = sum_i a_i - |sum_i a_i y_i phi(x_i)|^2 / (2 alpha)  <=  P(w, b) for every w, b

An epoch uses all samples alike, so the a of the last iterate are in the box by themselves: c_i
grows at most once for each use. This is the linear problem of linear/losses.py with weights
p_i / alpha, whose objectives times alpha are P and D and whose dual variables t are scale c.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.monitor import Monitor
from maxmargin.online.budget import Points, block_size
from maxmargin.status import Status

FIELDS = (
    *("steps", "scale", "sigma", "norm", "bias", "mean_bias", "base"),
    *("v_sum", "v_centre", "u_sum"),
)
STATE = np.dtype([(name, np.float64) for name in FIELDS])
"""The state of an iterate besides v and u; PegasosState in core/pegasos.h has the same fields.

Steps so far; w = scale v; the weight sigma of v in the average; |w|^2; the bias and its average;
steps * scale at the last rescaling. For samples centred at m: the sum of the coefficients in v,
V.m, and the sum of the coefficients in u."""


class Settings(NamedTuple):
    """Constants of Pegasos, chosen by measurement."""

    bias_step: float = 0.25
    """The bias takes steps of this size over sqrt(t): 1 leaves noise in w, 0.03 is too slow for
    classes of unequal size."""
    gap_growth: float = 1.3
    """The duality gap costs about an epoch. It is computed whenever the number of epochs has grown
    by this factor."""
    bias_samples: int = 20_000
    """Samples that determine the bias between epochs. It matters where one class is rare, but not
    to more digits; the bias at the end is exact."""
    least_shrinkage: float = 2.0**-60
    """Factor below which a model is not shrunk further."""
    check_work: float = 2e7
    """Multiply-adds between two checks of the monitor, with weights of features."""
    audited: int = 16
    """Samples on which every fit's decision values are compared with an independent evaluation."""
    negligible: float = 1e-7
    """Rounding errors up to this fraction of the allowed gap are ignored: certify allows more
    (decision 19)."""


SETTINGS = Settings()


class Rule(NamedTuple):
    """The update rule: the parameters that stay the same during a fit."""

    alpha: float
    batch: int
    project: bool
    bias: bool
    average: bool
    budget: int | None = None


class Task(NamedTuple):
    """What the functions learn from the samples."""

    signs: Floats
    """+1 or -1, one row for each function."""
    weight: Floats
    """Weight of each sample in one step, with mean 1 over ``rows``."""
    rows: Integers
    """The samples of an epoch, each as often as it is used."""

    @property
    def share(self) -> Floats:
        """p: the share of each sample in the mean loss."""
        count = np.bincount(self.rows, minlength=len(self.weight))
        return count * self.weight / len(self.rows)


class Iterates(NamedTuple):
    """One iterate for each function: rows of v, u and the fields of STATE."""

    v: Floats
    u: Floats
    numbers: Floats

    @classmethod
    def new(cls, functions: int, width: int) -> "Iterates":
        """Iterates before the first step."""
        v, u = np.zeros((functions, width)), np.zeros((functions, width))
        iterates = cls(v, u, np.zeros((functions, len(FIELDS))))
        iterates.state["scale"] = iterates.state["base"] = 1.0
        return iterates

    @property
    def state(self) -> NDArray[Any]:
        """The numbers by name: a view of type STATE, one record for each function."""
        return self.numbers.view(STATE)[:, 0]

    def copy(self) -> "Iterates":
        """Iterates that share no memory with these."""
        return Iterates(*(part.copy() for part in self))

    def last(self, v: Floats) -> Floats:
        """The last iterates, from v or from coefficients that were updated along with it."""
        return self.state["scale"][:, None] * v

    def averaged(self, v: Floats, u: Floats) -> Floats:
        """The averaged iterates."""
        T = np.maximum(self.state["steps"], 1.0)[:, None]
        average: Floats = (self.state["sigma"][:, None] * v - u) / (T * (T + 1) / 2)
        return average


def rescale(state: Any, *pairs: tuple[Floats, Floats]) -> None:
    """Multiply the scale of one iterate into each v, and rebase each u."""
    for v, u in pairs:
        u -= state["sigma"] * v
        v *= state["scale"]
    state["u_sum"] -= state["sigma"] * state["v_sum"]
    state["v_sum"] *= state["scale"]
    state["v_centre"] *= state["scale"]
    state["sigma"], state["scale"], state["base"] = 0.0, 1.0, state["steps"]


def dots(A: Floats, B: Floats) -> Floats:
    """The dot product of each row of A with B or its row of B.

    The bits are the same for any number of threads.
    """
    products: Floats = np.sum(A * B, axis=1)
    return products


class Pegasos(ABC):
    """The iterates over given samples."""

    def __init__(self, iterates: Iterates, rule: Rule, task: Task) -> None:
        self.iterates, self.rule, self.task = iterates, rule, task

    @abstractmethod
    def advance(self, order: Integers, monitor: Monitor) -> None:
        """Steps over the samples in this order, until the monitor says stop."""

    @abstractmethod
    def model(self) -> Floats:
        """Weights or coefficients of the functions: averaged or last iterates, by the rule."""

    @abstractmethod
    def values(self, model: Floats, rows: Integers | None = None) -> Floats:
        """w.phi(x_i) for all samples or those listed, one row for each function."""

    @abstractmethod
    def norms(self, model: Floats) -> Floats:
        """|w|^2 of each function."""

    @abstractmethod
    def duals(self) -> list[Floats]:
        """Coefficients of the samples, one row for each function: candidates for dual variables."""

    @abstractmethod
    def dual_norms(self, coef: Floats) -> Floats:
        """|sum_i coef_i phi(x_i)|^2 for each row of coef."""

    @property
    @abstractmethod
    def check_interval(self) -> int:
        """Samples between two checks of the monitor."""

    def last(self) -> Floats:
        """The last iterates."""
        return self.iterates.last(self.iterates.v)

    def biases(self) -> Floats:
        """The biases that belong to the model."""
        name = "mean_bias" if self.rule.average else "bias"
        found: Floats = self.iterates.state[name].copy()
        return found

    def one_pass(self, order: Integers, monitor: Monitor) -> tuple[bool, Status | None]:
        """One pass over the samples in this order, until the monitor says stop.

        Returns whether the pass is complete, and what the monitor said.
        """
        for begin in range(0, len(order), self.check_interval):
            end = begin + self.check_interval
            self.advance(order[begin:end], monitor)
            stopped = monitor.stop(0)
            if stopped is not None:
                return end >= len(order), stopped
        return True, None

    def _numbers_of_rule(self) -> tuple[float, float, int, bool]:
        rule = self.rule
        return rule.alpha, SETTINGS.bias_step * rule.bias, rule.batch, rule.project


class KernelPegasos(Pegasos):
    """v and u are coefficients of points, the last of which are the samples."""

    def __init__(self, points: Points, iterates: Iterates, rule: Rule, task: Task) -> None:
        super().__init__(iterates, rule, task)
        self.points, self.samples = points, task.signs.shape[1]

    @property
    def check_interval(self) -> int:
        return block_size(self.rule.batch, self.rule.budget)

    def advance(self, order: Integers, monitor: Monitor) -> None:
        step = self.check_interval
        for begin in range(0, len(order), step):
            self._advance(order[begin : begin + step])
            if monitor.stop(0) is not None:
                return

    def _advance(self, block: Integers) -> None:
        at = block + (self.points.size - self.samples)
        v, u, numbers = self.iterates
        tile, z = self.points.tile(at), self.points.values(v, at)
        weight = np.ascontiguousarray(self.task.weight[block])
        rule = self._numbers_of_rule()
        for k, state in enumerate(self.iterates.state):
            signs, used = np.ascontiguousarray(self.task.signs[k, block]), 0
            while used < len(block):
                added = np.zeros((2, len(block)))
                used = self.points.backend.pegasos_tile(
                    tile, used, z[k], signs, weight, added[0], added[1], numbers[k], *rule
                )
                np.add.at(v[k], at, added[0])
                np.add.at(u[k], at, added[1])
                if used < len(block):
                    z[k] *= state["scale"]
                    rescale(state, (v[k], u[k]))
        if self.rule.budget is None:
            return
        w = self.iterates.last(v)  # v itself has another scale in each function
        if self.points.maintain(w, (v, u), self.rule.budget) is not None:
            self.iterates.state["norm"] = self.points.norms(w)

    def model(self) -> Floats:
        v, u, _ = self.iterates
        return self.iterates.averaged(v, u) if self.rule.average else self.last()

    def values(self, model: Floats, rows: Integers | None = None) -> Floats:
        rows = np.arange(self.samples) if rows is None else rows
        return self.points.values(model, rows + (self.points.size - self.samples))

    def norms(self, model: Floats) -> Floats:
        return self.points.norms(model)

    def duals(self) -> list[Floats]:
        first, (v, u, _) = self.points.size - self.samples, self.iterates
        return [self.iterates.averaged(v, u)[:, first:], self.iterates.last(v)[:, first:]]

    def dual_norms(self, coef: Floats) -> Floats:
        padded = np.zeros((len(coef), self.points.size))
        padded[:, self.points.size - self.samples :] = coef
        return self.points.norms(padded)
