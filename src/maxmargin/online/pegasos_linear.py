"""The walks of Pegasos with weights of features; pegasos.py has the mathematics."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.online.pegasos import (
    NORM,
    SCALE,
    SIGMA,
    U_SUM,
    V_SUM,
    Path,
    Rule,
    Task,
    Walks,
    averaged,
    current,
    dots,
    fold,
)

SIGN, GAIN, CENTRE, SQUARE, V, U, COEFS = 0, 1, 2, 3, 4, 5, slice(4, 6)
"""Of the eight numbers of a sample in a linear walk: sign, gain, m.x, |x - m|^2, what v and u took
of it."""
PIECE = 2e7
"""Multiply-adds between two looks at the clock."""


def _records(n: int) -> Floats:
    """Zeros, eight a sample, that begin where a cache line does."""
    memory = np.zeros(8 * n + 8)
    begin = -(memory.ctypes.data // 8) % 8
    return memory[begin : begin + 8 * n].reshape(n, 8)


class _Folds:
    """The folds of one call, applied to the coefficients of the samples at its end: one costs O(1),
    however many samples there are.

    A fold turns (v, u) into (scale v, u - sigma v). The first is carried out, and what the samples
    then have is set apart: it meets all later ones. What a sample takes afterwards meets those
    after its visit. Where an order lists samples twice every fold is carried out.
    """

    def __init__(self, samples: Floats, order: NDArray[np.int64]) -> None:
        self.samples, self.order = samples, order
        self.before: Floats | None = None
        self.since = 0
        self.folds: list[tuple[int, float, float]] = []

    def add(self, done: int, numbers: Floats) -> None:
        """A fold after so many visits."""
        scale, sigma = float(numbers[SCALE]), float(numbers[SIGMA])
        if self.before is not None:
            self.folds.append((done, scale, sigma))
            return
        _apply(self.samples, slice(None), scale, sigma)
        if len(np.unique(self.order[done:])) == len(self.order) - done:
            self.before, self.since = self.samples[:, COEFS].copy(), done
            self.samples[:, COEFS] = 0.0

    def finish(self) -> None:
        """Apply the folds that were not carried out."""
        if self.before is None:
            return
        shrunk, taken = (
            np.ones(len(self.folds) + 1),
            np.zeros(len(self.folds) + 1),
        )  # by the folds from the j-th on
        for j in range(len(self.folds) - 1, -1, -1):
            _, scale, sigma = self.folds[j]
            shrunk[j], taken[j] = scale * shrunk[j + 1], sigma + scale * taken[j + 1]
        places = np.arange(self.since, len(self.order))
        after = np.searchsorted([done for done, _, _ in self.folds], places, side="right")
        _apply(self.samples, self.order[self.since :], shrunk[after], taken[after])
        self.samples[:, V] += shrunk[0] * self.before[:, 0]
        self.samples[:, U] += self.before[:, 1] - taken[0] * self.before[:, 0]


def _apply(samples: Floats, which: Any, shrunk: Any, taken: Any) -> None:
    """v <- shrunk v, u <- u - taken v, each sample being listed once."""
    v = samples[which, V]
    samples[which, U] -= taken * v
    samples[which, V] = shrunk * v


class LinearPath(Path):
    """V and U are weights of features.

    What a walk knows of a sample, and what V and U took of it, lies in one cache line: ``samples``,
    for one function at a time. Where a certificate is wanted the latter are kept, as ``coefs``; U
    is then not walked along with but summed up when it is asked for: U = rest + X'u, where rest is
    what it had before the coefficients were kept. With a bias the walk is along x - centre;
    ``intercepts`` then leads back to x.
    """

    def __init__(
        self,
        design: ArrayDesign,
        walks: Walks,
        rule: Rule,
        task: Task,
        coefs: Floats | None,
        centre: Floats,
    ) -> None:
        super().__init__(walks, rule, task)
        self.design, self.centre = design, centre if rule.bias else np.zeros(design.shape[1])
        self._square = float(dots(self.centre[None], self.centre)[0])
        self._samples, self._function = _records(design.shape[0]), -1
        self._samples[:, GAIN] = task.gain
        self._samples[:, CENTRE] = design.values(self.centre) if self._square else 0.0
        self._samples[:, SQUARE] = design.squares - 2 * self._samples[:, CENTRE] + self._square
        self._coefs = coefs
        self._rest = (
            None
            if coefs is None
            else (walks.v - self._sums(coefs[:, :, 0]), walks.u - self._sums(coefs[:, :, 1]))
        )

    @property
    def piece(self) -> int:
        return (
            max(1, int(PIECE / (self.design.entries / self.design.shape[0] + 1)) // self.rule.batch)
            * self.rule.batch
        )

    @property
    def coefs(self) -> Floats | None:
        """What V and U took of each sample: a pair for each function and sample."""
        if self._coefs is not None and self._function >= 0:
            self._coefs[self._function] = self._samples[:, COEFS]
        return self._coefs

    def advance(self, order: NDArray[np.int64], monitor: Monitor) -> None:
        for k, numbers in enumerate(self.walks.numbers):
            self._turn_to(k)
            v, u = self.walks.v[k], self.walks.u[k] if self._coefs is None else None
            folds = _Folds(self._samples, order)
            done = 0
            while done < len(order):
                state = self._samples, v, u, self._square, numbers
                done += self.design.backend.pegasos_rows(
                    self.design.points, order[done:], *state, *self._numbers_of_rule()
                )
                if monitor.stop(0) is not None:
                    break
                if done < len(order):
                    folds.add(done, numbers)
                    self._fold(k)
            folds.finish()
        self.walks.numbers[:, NORM] = self.norms(
            self.last()
        )  # without the rounding of many small changes

    def _turn_to(self, function: int) -> None:
        """Make ``samples`` those of a function."""
        if function != self._function:
            before, self._function = self.coefs, function
            self._samples[:, SIGN] = self.task.signs[function]
            self._samples[:, COEFS] = 0.0 if before is None else before[function]

    def _fold(self, k: int) -> None:
        """Fold a walk, but for the coefficients of its samples."""
        pairs = [(self.walks.v[k], self.walks.u[k])]
        if self._rest is not None:
            pairs.append((self._rest[0][k], self._rest[1][k]))
        fold(self.walks.numbers[k], *pairs)

    def last(self) -> Floats:
        return current(self.walks, self.walks.v - self.walks.numbers[:, [V_SUM]] * self.centre)

    def model(self) -> Floats:
        coefs = self.coefs
        if coefs is not None and self._rest is not None:
            self.walks.u[:] = self._rest[1] + self._sums(coefs[:, :, 1])
        if not self.rule.average:
            return self.last()
        v, u = (
            part - self.walks.numbers[:, [at]] * self.centre
            for part, at in ((self.walks.v, V_SUM), (self.walks.u, U_SUM))
        )
        return averaged(self.walks, v, u)

    def intercepts(self, biases: Floats, model: Floats) -> Floats:
        """The constants of w.x + constant."""
        return biases - dots(model, self.centre)

    def values(self, model: Floats, rows: NDArray[np.int64] | None = None) -> Floats:
        found = np.array([self.design.values(w, rows) for w in model])
        return found - dots(model, self.centre)[:, None]

    def norms(self, model: Floats) -> Floats:
        return dots(model, model)

    def duals(self) -> list[Floats]:
        coefs = self.coefs
        assert coefs is not None
        v, u = coefs[:, :, 0], coefs[:, :, 1]
        return [averaged(self.walks, v, u), current(self.walks, v)]

    def dual_norms(self, coef: Floats) -> Floats:
        return self.norms(self._sums(coef))

    def _sums(self, coef: Floats) -> Floats:
        """X'c for each row c."""
        return np.array([self.design.sum(np.ascontiguousarray(c)) for c in coef])
