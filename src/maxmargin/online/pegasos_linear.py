"""Pegasos with weights of features; pegasos.py has the mathematics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats, Integers
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.online.pegasos import SETTINGS, Iterates, Pegasos, Rule, Task, dots, rescale

SAMPLE = np.dtype(
    [
        *((name, np.float64) for name in ("sign", "weight", "centre", "square")),
        ("coef", np.float64, 2),
        ("unused", np.float64, 2),
    ]
)
"""What a step reads and writes of a sample: PegasosSample in core/pegasos.h.

Its sign and weight, m.x and |x - m|^2 for the centre m, and its coefficients in v and in u."""


def new_samples(n: int) -> NDArray[Any]:
    """Samples of zeros, each in a cache line of its own."""
    width = SAMPLE.itemsize // 8
    memory = np.zeros(width * (n + 1))
    begin = -(memory.ctypes.data // 8) % width
    return memory[begin : begin + width * n].view(SAMPLE)


class Rescalings:
    """The rescalings of one call, applied to the coefficients of the samples at its end.

    Each costs O(1), however many samples there are. A rescaling turns (v, u) into (scale v, u -
    sigma v). The first is carried out at once, and the coefficients are then set apart: they
    receive all later ones. What a sample adds afterwards receives those after its step. Where an
    order lists samples twice, every rescaling is carried out at once.
    """

    def __init__(self, samples: NDArray[Any], order: Integers) -> None:
        self.samples, self.order = samples, order
        self.before: Floats | None = None
        self.since = 0
        self.later: list[tuple[int, float, float]] = []

    def add(self, used: int, state: Any) -> None:
        """A rescaling after the first ``used`` samples of the order."""
        scale, sigma = float(state["scale"]), float(state["sigma"])
        if self.before is not None:
            self.later.append((used, scale, sigma))
            return
        coef = self.samples["coef"]
        _apply(coef, slice(None), scale, sigma)
        if len(np.unique(self.order[used:])) == len(self.order) - used:
            self.before, self.since = coef.copy(), used
            coef[:] = 0.0

    def finish(self) -> None:
        """Apply the rescalings that were not carried out."""
        if self.before is None:
            return
        count = len(self.later)
        scales, sigmas = np.ones(count + 1), np.zeros(count + 1)  # of those from the j-th on
        for j in range(count - 1, -1, -1):
            _, scale, sigma = self.later[j]
            scales[j], sigmas[j] = scale * scales[j + 1], sigma + scale * sigmas[j + 1]
        places = np.arange(self.since, len(self.order))
        after = np.searchsorted([used for used, _, _ in self.later], places, side="right")
        coef = self.samples["coef"]
        _apply(coef, self.order[self.since :], scales[after], sigmas[after])
        coef[:, 0] += scales[0] * self.before[:, 0]
        coef[:, 1] += self.before[:, 1] - sigmas[0] * self.before[:, 0]


def _apply(coef: Floats, rows: Any, scale: Any, sigma: Any) -> None:
    """Rescale the coefficients (v, u) of some samples, each listed once."""
    v = coef[rows, 0]
    coef[rows, 1] -= sigma * v
    coef[rows, 0] = scale * v


class LinearPegasos(Pegasos):
    """v and u are weights of features.

    What a step reads and writes of a sample lies in one cache line (SAMPLE), for one function at a
    time. Where a certificate is asked for, the coefficients of the samples are kept as ``coefs``; u
    is then not updated in every step but computed when it is needed: u = rest + X'c_u, where rest
    is its value before the coefficients were kept. With a bias the steps are along x - centre;
    ``intercepts`` gives the constants for x.
    """

    def __init__(
        self,
        design: ArrayDesign,
        iterates: Iterates,
        rule: Rule,
        task: Task,
        coefs: Floats | None,
        centre: Floats,
    ) -> None:
        super().__init__(iterates, rule, task)
        self.design, self.centre = design, centre if rule.bias else np.zeros(design.shape[1])
        self._square = float(dots(self.centre[None], self.centre)[0])
        self._samples, self._function = new_samples(design.shape[0]), -1
        projection = design.values(self.centre) if self._square else 0.0
        self._samples["weight"], self._samples["centre"] = task.weight, projection
        self._samples["square"] = design.squares - 2 * self._samples["centre"] + self._square
        self._coefs = coefs
        self._rest: tuple[Floats, Floats] | None = None
        if coefs is not None:
            v, u, _ = iterates
            self._rest = v - self._sums(coefs[:, :, 0]), u - self._sums(coefs[:, :, 1])

    @property
    def check_interval(self) -> int:
        work = self.design.entries / self.design.shape[0] + 1
        batches = int(SETTINGS.check_work / work) // self.rule.batch
        return max(1, batches) * self.rule.batch

    @property
    def coefs(self) -> Floats | None:
        """The coefficients of the samples in v and in u: a pair for each function and sample."""
        if self._coefs is not None and self._function >= 0:
            self._coefs[self._function] = self._samples["coef"]
        return self._coefs

    def advance(self, order: Integers, monitor: Monitor) -> None:
        v, u, numbers = self.iterates
        samples, points, rule = (
            self._samples.view(float),
            self.design.points,
            self._numbers_of_rule(),
        )
        for k, state in enumerate(self.iterates.state):
            self._select(k)
            u_k = u[k] if self._coefs is None else None
            rescalings, used = Rescalings(self._samples, order), 0
            while used < len(order):
                used += self.design.backend.pegasos_rows(
                    points, order[used:], samples, v[k], u_k, self._square, numbers[k], *rule
                )
                if monitor.stop(0) is not None:
                    break
                if used < len(order):
                    rescalings.add(used, state)
                    self._rescale(k, state)
            rescalings.finish()
        # without the rounding of many small changes
        self.iterates.state["norm"] = self.norms(self.last())

    def _select(self, function: int) -> None:
        """Make the samples those of one function."""
        if function != self._function:
            before, self._function = self.coefs, function
            self._samples["sign"] = self.task.signs[function]
            self._samples["coef"] = 0.0 if before is None else before[function]

    def _rescale(self, k: int, state: Any) -> None:
        """Rescale an iterate, all but the coefficients of its samples."""
        pairs = [(self.iterates.v[k], self.iterates.u[k])]
        if self._rest is not None:
            pairs.append((self._rest[0][k], self._rest[1][k]))
        rescale(state, *pairs)

    def _centred(self, part: Floats, name: str) -> Floats:
        """v or u of the centred samples."""
        centred: Floats = part - self.iterates.state[name][:, None] * self.centre
        return centred

    def last(self) -> Floats:
        return self.iterates.last(self._centred(self.iterates.v, "v_sum"))

    def model(self) -> Floats:
        v, u, _ = self.iterates
        coefs = self.coefs
        if coefs is not None and self._rest is not None:
            u[:] = self._rest[1] + self._sums(coefs[:, :, 1])
        if not self.rule.average:
            return self.last()
        return self.iterates.averaged(self._centred(v, "v_sum"), self._centred(u, "u_sum"))

    def intercepts(self, biases: Floats, model: Floats) -> Floats:
        """The constants of w.x + constant."""
        return biases - dots(model, self.centre)

    def values(self, model: Floats, rows: Integers | None = None) -> Floats:
        found = np.array([self.design.values(w, rows) for w in model])
        return found - dots(model, self.centre)[:, None]

    def norms(self, model: Floats) -> Floats:
        return dots(model, model)

    def duals(self) -> list[Floats]:
        coefs = self.coefs
        assert coefs is not None
        v, u = coefs[:, :, 0], coefs[:, :, 1]
        return [self.iterates.averaged(v, u), self.iterates.last(v)]

    def dual_norms(self, coef: Floats) -> Floats:
        return self.norms(self._sums(coef))

    def _sums(self, coef: Floats) -> Floats:
        """X'c for each row c."""
        return np.array([self.design.sum(np.ascontiguousarray(c)) for c in coef])
