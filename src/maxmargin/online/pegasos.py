"""Pegasos: stochastic subgradient descent on the primal problem of the SVM (Shalev-Shwartz, Singer,
Srebro and Cotter 2011).

    minimise  P(w, b) = alpha/2 |w|^2 + sum_i p_i max(0, 1 - y_i (w.phi(x_i) + b)),    sum_i p_i = 1

core/pegasos.h has the steps. Each of several functions (one for each class against the rest) has a
walk: its iterate is w = scale v, and its average with weights 1, 2, 3, ... is (sigma v - u) / (T (T
+ 1) / 2) after T steps; v and u are weights of features (linear) or coefficients of points
(kernel), so averaging costs nothing in either. Weights that grow with t forget the wild first steps
(the first has the length 1/alpha) and give P(average) - P(optimum) = O(1 / (alpha T)) without a
bias; plain iterates are worse by log T and by noise.

The ball |w| <= 1/sqrt(alpha) holds the optimum: there P = D, so alpha |w|^2 = sum a_i - losses <=
1, whether or not there is a bias.

**The bias.** P is not strongly convex in b, and steps of 1 / (alpha t) would throw it about. So b
has steps of its own, 1/(4 sqrt(t)) (its subgradient is at most 1 and decision values are in units
of the margin); and where all samples are at hand b is set, between epochs, to the minimiser of P(w,
.) for the current w, and at the end for the average: a weighted quantile of y_i - w.phi(x_i), see
linear/bias_search.py. A linear walk takes its steps along x - (mean of x), which is the same model with
another constant: otherwise each step would move b as well.

**The certificate.** v is a sum of samples, v = sum_i c_i phi(x_i), so a_i = alpha y_i scale c_i are
dual variables. Clipped to their box [0, p_i], the heavier class scaled down until sum_i a_i y_i =
0, and scaled by the best theta <= 1 they are feasible:

    D(a) = sum_i a_i - |sum_i a_i y_i phi(x_i)|^2 / (2 alpha)  <=  P(w, b) for every w, b

Epochs visit all samples alike, so the a of the last iterate are in the box by themselves (c_i
counts at most every visit). This is the linear model of losses.py with weights p_i / alpha, whose
objectives times alpha are P and D and whose duals t are scale c.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.monitor import Monitor
from maxmargin.online.budget import Points, block_size

STEPS, SCALE, SIGMA, NORM, BIAS, MEAN_BIAS, BASE, V_SUM, V_CENTRE, U_SUM = range(10)
"""The numbers of a walk: steps done, w = scale v, sigma, |w|^2, the bias and its average, steps *
scale at the last fold; for centred
samples the sum D of what v took, V.m, and the sum of what u took."""
BIAS_STEP = 0.25
"""The bias takes steps of this over sqrt(t). Measured: 1 leaves noise in w, 0.03 is too slow for
unequal classes."""


class Rule(NamedTuple):
    """What does not change during a fit."""

    alpha: float
    batch: int
    project: bool
    bias: bool
    average: bool
    budget: int | None = None


class Task(NamedTuple):
    """What the functions are to learn from the samples."""

    signs: Floats
    """+1 or -1, a row for each function."""
    gain: Floats
    """By how much a visit of each sample counts, 1 on average over the visits."""
    visits: NDArray[np.int64]
    """The samples of an epoch, each as often as it is visited."""

    @property
    def share(self) -> Floats:
        """p: what part of the mean loss each sample is."""
        count = np.bincount(self.visits, minlength=len(self.gain))
        return count * self.gain / len(self.visits)


class Walks(NamedTuple):
    """One walk for each function: v and u, and a row of numbers."""

    v: Floats
    u: Floats
    numbers: Floats

    @classmethod
    def new(cls, functions: int, width: int) -> "Walks":
        """Walks that have not begun."""
        numbers = np.zeros((functions, 10))
        numbers[:, [SCALE, BASE]] = 1.0
        return cls(np.zeros((functions, width)), np.zeros((functions, width)), numbers)


def current(walks: Walks, v: Floats) -> Floats:
    """The last iterates, from v or from coefficients that went along with it."""
    return walks.numbers[:, [SCALE]] * v


def averaged(walks: Walks, v: Floats, u: Floats) -> Floats:
    """The averages of the iterates."""
    T = np.maximum(walks.numbers[:, [STEPS]], 1.0)
    average: Floats = (walks.numbers[:, [SIGMA]] * v - u) / (T * (T + 1) / 2)
    return average


def fold(numbers: Floats, *pairs: tuple[Floats, Floats]) -> None:
    """Multiply the scale of one walk into each v, and rebase u."""
    for v, u in pairs:
        u -= numbers[SIGMA] * v
        v *= numbers[SCALE]
    numbers[U_SUM] -= numbers[SIGMA] * numbers[V_SUM]
    numbers[[V_SUM, V_CENTRE]] *= numbers[SCALE]
    numbers[SIGMA], numbers[SCALE], numbers[BASE] = 0.0, 1.0, numbers[STEPS]


def dots(A: Floats, B: Floats) -> Floats:
    """The dot product of each row of A with B or its row of B, with the same bits for any number of
    threads.
    """
    products: Floats = np.sum(A * B, axis=1)
    return products


class Path(ABC):
    """Walks over given samples."""

    def __init__(self, walks: Walks, rule: Rule, task: Task) -> None:
        self.walks, self.rule, self.task = walks, rule, task

    @abstractmethod
    def advance(self, order: NDArray[np.int64], monitor: Monitor) -> None:
        """Steps over the samples in this order, until the monitor says stop."""

    @abstractmethod
    def model(self) -> Floats:
        """Weights or coefficients of the functions: averages or last iterates, as the rule says."""

    @abstractmethod
    def values(self, model: Floats, rows: NDArray[np.int64] | None = None) -> Floats:
        """w.phi(x_i) for all samples or those listed, a row for each function."""

    @abstractmethod
    def norms(self, model: Floats) -> Floats:
        """|w|^2 of each function."""

    @abstractmethod
    def duals(self) -> list[Floats]:
        """Coefficients of the samples, a row for each function: candidates for a dual point."""

    @abstractmethod
    def dual_norms(self, coef: Floats) -> Floats:
        """|sum_i coef_i phi(x_i)|^2 for each row of coef."""

    @property
    @abstractmethod
    def piece(self) -> int:
        """Samples between two looks at the clock."""

    def last(self) -> Floats:
        """The last iterates."""
        return current(self.walks, self.walks.v)

    def biases(self) -> Floats:
        """The biases that walked along with the model."""
        found: Floats = self.walks.numbers[:, MEAN_BIAS if self.rule.average else BIAS].copy()
        return found

    def _numbers_of_rule(self) -> tuple[float, float, int, bool]:
        return self.rule.alpha, BIAS_STEP * self.rule.bias, self.rule.batch, self.rule.project


class KernelPath(Path):
    """v and u are coefficients of points, the last of which are the samples."""

    def __init__(self, points: Points, walks: Walks, rule: Rule, task: Task) -> None:
        super().__init__(walks, rule, task)
        self.points, self.samples = points, task.signs.shape[1]

    @property
    def piece(self) -> int:
        return block_size(self.rule.batch, self.rule.budget)

    def advance(self, order: NDArray[np.int64], monitor: Monitor) -> None:
        step = self.piece
        for begin in range(0, len(order), step):
            self._advance(order[begin : begin + step])
            if monitor.stop(0) is not None:
                return

    def _advance(self, block: NDArray[np.int64]) -> None:
        task = self.task
        at = block + (self.points.size - self.samples)
        v, u, numbers = self.walks
        tile, z = self.points.tile(at), self.points.values(v, at)
        for k in range(len(v)):
            signs, gain, done = (
                np.ascontiguousarray(task.signs[k, block]),
                np.ascontiguousarray(task.gain[block]),
                0,
            )
            while done < len(block):
                given = np.zeros((2, len(block)))
                done = self.points.backend.pegasos_tile(
                    tile,
                    done,
                    z[k],
                    signs,
                    gain,
                    given[0],
                    given[1],
                    numbers[k],
                    *self._numbers_of_rule(),
                )
                np.add.at(v[k], at, given[0])
                np.add.at(u[k], at, given[1])
                if done < len(block):
                    z[k] *= numbers[k, SCALE]
                    fold(numbers[k], (v[k], u[k]))
        if self.rule.budget is None:
            return
        w = current(self.walks, v)  # v itself has another scale in each walk
        if self.points.reduce(w, (v, u), self.rule.budget) is not None:
            numbers[:, NORM] = self.points.norms(w)

    def model(self) -> Floats:
        return (
            averaged(self.walks, self.walks.v, self.walks.u) if self.rule.average else self.last()
        )

    def values(self, model: Floats, rows: NDArray[np.int64] | None = None) -> Floats:
        rows = np.arange(self.samples) if rows is None else rows
        return self.points.values(model, rows + (self.points.size - self.samples))

    def norms(self, model: Floats) -> Floats:
        return self.points.norms(model)

    def duals(self) -> list[Floats]:
        first = self.points.size - self.samples
        return [
            averaged(self.walks, self.walks.v, self.walks.u)[:, first:],
            current(self.walks, self.walks.v)[:, first:],
        ]

    def dual_norms(self, coef: Floats) -> Floats:
        padded = np.zeros((len(coef), self.points.size))
        padded[:, self.points.size - self.samples :] = coef
        return self.points.norms(padded)
