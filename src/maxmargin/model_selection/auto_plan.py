"""What AutoSVC and AutoSVR try, in which order, within the time.

1. Linear machines along C on 300 samples; then a coarse grid of RBF machines on 1,000 (on all of
   up to 1,500; more for many classes). If a column of the grid, tried on 300, predicts that this
   would take too long, the grid has fewer values, then fewer samples. It grows while its best
   candidate lies on an edge.
2. The values of C and gamma that may still be best, on four times as many samples, and again, until
   all samples are in or the time does not suffice.
3. Values between the best candidate and its neighbours; for a regression also of epsilon.
4. Linear machines, with C near the best so far, on as many samples; on all, if the time does not
   suffice for an RBF machine on all.
5. The candidates that cannot be told from the best, with other and more folds (auto_finals.py).

Before a stage begins, its time is predicted from those before; it gets what is left after the time
of the last fit on all samples, which is predicted from fits on subsamples. With time for all of
this, the result depends on the data and the seed alone; `limited` says whether there was.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.model_selection import auto_finals
from maxmargin.model_selection.explorer import Explorer, Grid
from maxmargin.model_selection.trials import Trial, on_edge


class Settings(NamedTuple):
    """The plan's sizes; tried on sets of scikit-learn, a9a and synthetic ones (decision 24)."""

    sizes: tuple[tuple[int, int], tuple[int, int]] = ((300, 60), (1000, 100))
    """Samples on which one column of the coarse grid is tried, and those of the coarse grid: at
    least the first number, and at least the second for each class. A set up to half as large
    again is taken whole."""
    coarse: float = 0.4
    """Share of the time that the coarse grid may take."""
    many: int = 5
    many_growth: float = 1.3
    """With more classes than this the pairs are small, and the time of a search grows with this
    power of the samples until it is measured."""
    growth: float = 4.0
    """Greatest factor from the samples of one stage to those of the next."""
    C: tuple[float, ...] = tuple(10.0 ** np.arange(-1, 4))
    """Coarse values of C, in units of the targets' deviation for a regression."""
    gamma: tuple[float, ...] = tuple(10.0 ** np.linspace(-2, 2, 7))
    """Coarse values of gamma, in units of 1 / (n_features * variance of X)."""
    epsilon: tuple[float, ...] = (0.1, 0.01, 0.03, 0.3, 1.0)
    """Values of epsilon, in units of the targets' deviation; the first is that of the grid."""
    linear_C: tuple[float, ...] = tuple(10.0 ** np.arange(-4, 3))
    C_range: tuple[float, float] = (1e-5, 1e6)
    gamma_range: tuple[float, float] = (1e-4, 1e4)
    """Where a grid that grows ends, in the same units."""
    widenings: int = 3
    """How often a grid grows."""
    zooms: int = 1
    """How often the steps are halved at the end."""
    finals: auto_finals.Settings = auto_finals.SETTINGS
    reserve: float = 0.3
    """Share of the time kept for the last fit while its time is unknown; the greatest share that
    probabilities are worth."""
    most_reserve: float = 0.5
    """Greatest share kept for it: if all samples take longer, it gets a subsample."""
    stage: float = 0.85
    """Share of the time for the search that a stage may take: its last step comes on top."""
    timing: float = 0.1
    """Share of the time left that a fit may take whose time is measured."""
    margin: float = 1.3
    """Predicted times are multiplied by this."""


SETTINGS = Settings()


class Units(NamedTuple):
    """The data's own units of the parameters."""

    C: float
    gamma: float
    epsilon: float | None
    """None for classification, which has none."""


class Plan:
    """The stages of one search."""

    def __init__(
        self, explorer: Explorer, units: Units, final: dict[str, Any], settings: Settings = SETTINGS
    ) -> None:
        self.explorer, self.units, self.final, self.settings = explorer, units, final, settings
        self.classes = 1 if units.epsilon is not None else len(np.unique(explorer.samples.y))
        if self.classes > settings.many:
            explorer.growth = settings.many_growth
        self.budget = explorer.monitor.limit
        self.limited = False
        """Whether anything was left out because of the time."""

    def run(self) -> None:
        """All stages that the time allows."""
        try:
            self._run()
        except KeyboardInterrupt:
            self.explorer.interrupted = True
            if not self.explorer.keep:
                raise

    def _run(self) -> None:
        settings, n = self.settings, self.explorer.samples.size
        few, m = (min(n, max(size, each * self.classes)) for size, each in settings.sizes)
        m = n if n <= 1.5 * m else m
        if "linear" in self.final:
            share = 0.3 if "rbf" in self.final else 1.0
            self._try(few, self._linear_grid(settings.linear_C), share)
            self._widen(few, "linear")
            self._measure("linear", few)
        if "rbf" in self.final:
            m = self._search_kernel(m, few)
        if "linear" in self.final:
            self._finish_linear(m)
        if "rbf" in self.final:
            finals = auto_finals.Finals(self.explorer, self.settings.finals)
            finals.run(self._room())
            self.limited |= finals.limited

    def default(self) -> Trial:
        """Usual values, for a time too short to score any."""
        usual = {name: values[0] for name, values in self._linear_grid([1.0]).items()}
        if "linear" in self.final:
            return Trial("linear", usual, 0, ())
        return Trial("rbf", {**usual, "gamma": self.units.gamma}, 0, ())

    # ---- RBF -------------------------------------------------------------------------------------

    def _search_kernel(self, m: int, few: int) -> int:
        """The stages of the RBF kernel; returns the samples of the last."""
        n, grid = self.explorer.samples.size, self._coarse()
        if m > few:
            m, grid = self._affordable(m, few, grid)
        self._try(m, grid)
        self._widen(m)
        self._measure("rbf", m)
        while m < n and (step := self._next(m)) is not None:
            m, grid = step
            self._try(m, grid)
            self._widen(m)
            self._measure("rbf", m)
            self.explorer.learn_growth()
        if self.units.epsilon is not None:
            self._around(m, 0.0, [e * self.units.epsilon for e in self.settings.epsilon[1:]])
        for halving in range(self.settings.zooms):
            self._around(m, 0.5 ** (halving + 1), [])
        return m

    def _affordable(self, m: int, few: int, grid: Grid) -> tuple[int, Grid]:
        """The samples and values of the coarse grid, from the time of its middle column on a few.

        Small fits are mostly overhead, so their time grows about with sqrt(n). A grid that takes
        too long is thinned out before it loses samples.
        """
        middle = grid["gamma"][len(grid["gamma"]) // 2]
        if not self._try(few, {**grid, "gamma": [middle]}):
            return few, grid
        room = self.settings.coarse * max(self._room(), 0.0)
        affordable = few
        for some in (grid, {**grid, "C": grid["C"][1:-1], "gamma": grid["gamma"][1:-1:2]}):
            affordable = int(few * (room / max(self.explorer.predicted(few, some), 1e-9)) ** 2)
            if affordable >= m:
                return m, some
            self.limited, grid = True, some
        return max(affordable, few), grid

    def _coarse(self) -> Grid:
        gammas = [gamma * self.units.gamma for gamma in self.settings.gamma]
        return {**self._linear_grid(self.settings.C), "gamma": gammas}

    def _try(self, m: int, grid: Grid, share: float = 1.0) -> bool:
        """Run a stage in a share of the room, if there is any; whether it had a result."""
        explorer, kernel = self.explorer, "rbf" if "gamma" in grid else "linear"
        if explorer.interrupted or self._room() <= 0:
            self.limited = True
            return False
        explorer.run(kernel, m, grid, self.settings.stage * share * self._room())
        for last in explorer.stages[-1:]:
            self.limited |= last.done < last.candidates and not explorer.errors
        return bool(explorer.of(kernel, m))

    def _widen(self, m: int, kernel: str = "rbf") -> None:
        """While the best candidate lies on an edge of the values tried, add the next one."""
        limits = {"C": self.settings.C_range, "gamma": self.settings.gamma_range}
        for _ in range(self.settings.widenings):
            best = self.explorer.best(kernel)
            if best is None or best.samples != m:
                return
            beyond = {}
            for name in limits.keys() & best.parameters.keys():
                side = on_edge(self.explorer.of(kernel, m), best, name)
                value = best.parameters[name] * self._step(name) ** side
                least, greatest = limits[name]
                if side and least <= value / getattr(self.units, name) <= greatest:
                    beyond[name] = value
            if not beyond:
                return
            own = {name: [value] for name, value in best.parameters.items()}
            if len(beyond) == 1:  # one strip beside the edge; two edges meet in a corner
                grid = {**(self._neighbours(best) if kernel == "rbf" else own)}
                grid |= {name: [value] for name, value in beyond.items()}
            else:
                grid = own | {name: [*own[name], value] for name, value in beyond.items()}
            if (kernel == "rbf" and self._too_long(m, grid)) or not self._try(m, grid):
                return

    def _next(self, m: int) -> tuple[int, Grid] | None:
        """The samples and the grid of the next stage; None if the time does not suffice."""
        explorer, n = self.explorer, self.explorer.samples.size
        best = explorer.best("rbf")
        if best is None or explorer.interrupted:
            return None
        larger = min(n, int(self.settings.growth * m))
        larger = n if n < 1.5 * larger else larger
        grids = [self._promising(best), self._neighbours(best)]
        grids.append({**grids[-1], "C": [best.parameters["C"]]})  # gamma depends more on n
        for grid in grids:
            if self.settings.margin * explorer.predicted(larger, grid) <= self._room():
                return larger, grid
            self.limited = True
        seconds = self.settings.margin * explorer.predicted(m, grids[-1])
        affordable = int(m * (max(self._room(), 0.0) / max(seconds, 1e-9)) ** (1 / explorer.growth))
        return (min(larger, affordable), grids[-1]) if affordable >= 1.5 * m else None

    def _promising(self, best: Trial) -> Grid:
        """Values within a standard error of the best, and its neighbours; at most two steps off."""
        grid = self._neighbours(best)
        trials = self.explorer.of("rbf", best.samples)
        threshold = best.mean - (best.error if np.isfinite(best.error) else 0.0)
        for name in ("C", "gamma"):
            chosen, far = best.parameters[name], 2.01 * np.log10(self._step(name))
            good = {one.parameters[name] for one in trials if one.mean >= threshold}
            near = {value for value in good if abs(np.log10(value / chosen)) <= far}
            grid[name] = distinct([*grid[name], *near])
        return grid

    def _neighbours(self, best: Trial, share: float = 1.0) -> Grid:
        """The candidate and a share of a step of the coarse grid to both sides."""
        grid = {name: [value] for name, value in best.parameters.items()}
        for name in ("C", "gamma"):
            step, value = self._step(name) ** share, best.parameters[name]
            grid[name] = distinct([value / step, value, value * step])
        return grid

    def _around(self, m: int, share: float, epsilons: list[float]) -> None:
        """Finer values around the best candidate, or other epsilons with its C and gamma."""
        best = self.explorer.best("rbf")
        if best is None:
            return
        grid = self._neighbours(best, share)
        if epsilons:
            grid = {**{name: [value] for name, value in best.parameters.items()}}
            grid["epsilon"] = sorted(epsilons)
        if best.samples == m and not self._too_long(m, grid):
            self._try(m, grid)

    def _step(self, name: str) -> float:
        """The factor between two values of the coarse grid."""
        values = getattr(self.settings, name)
        return float(values[1] / values[0]) if len(values) > 1 else 10.0

    # ---- linear ----------------------------------------------------------------------------------

    def _finish_linear(self, m: int) -> None:
        """Linear machines on the samples of the RBF machines, or on all; see the top."""
        explorer, n = self.explorer, self.explorer.samples.size
        best, cost = explorer.best("linear"), explorer.costs.get("linear")
        if best is None or cost is None or explorer.interrupted:
            return
        rbf = explorer.costs.get("rbf")
        all_of_them = rbf is None or rbf.at(n) > explorer.left  # too many for the RBF machine
        near = best.parameters["C"] / self.units.C
        grid = self._linear_grid(near * 10.0**power for power in (-1, -0.5, 0, 0.5, 1))
        for size in (n, m) if all_of_them else (m,):
            seconds = self.settings.margin * len(grid["C"]) * len(best.scores) * cost.at(size)
            if size > best.samples and seconds <= self._room():
                self._try(size, grid)
                return
            self.limited |= size > best.samples

    def _linear_grid(self, Cs: Iterable[float]) -> Grid:
        grid = {"C": [C * self.units.C for C in Cs]}
        if self.units.epsilon is not None:
            grid["epsilon"] = [self.settings.epsilon[0] * self.units.epsilon]
        return grid

    # ---- time ------------------------------------------------------------------------------------

    def _room(self) -> float:
        """Seconds that the search may still take: what is left but for the last fit."""
        return self.explorer.left - self.reserve()

    def reserve(self) -> float:
        """Seconds kept for the last fit: with probabilities if they are cheap, on all samples if
        that is possible."""
        explorer, settings = self.explorer, self.settings
        kernel = "rbf" if "rbf" in self.final else "linear"
        cost = explorer.costs.get(kernel)
        if cost is None:
            return settings.reserve * self.budget
        plain = settings.margin * cost.at(explorer.samples.size)
        calibrated = plain * explorer.calibration.get(kernel, 1.0)
        if calibrated <= settings.reserve * self.budget:
            return calibrated
        return min(plain, settings.most_reserve * self.budget)

    def _too_long(self, m: int, grid: Grid) -> bool:
        """Whether a grid would take more than the time left."""
        late = self.settings.margin * self.explorer.predicted(m, grid) > self._room()
        self.limited |= late
        return late

    def _measure(self, kernel: str, m: int) -> None:
        """Time the last fit, with the best parameters so far, on half of m samples and more."""
        best, n = self.explorer.best(kernel), self.explorer.samples.size
        if best is None or self.explorer.interrupted:
            return
        machine = clone(self.final[kernel]).set_params(**best.parameters)
        limit = self.settings.timing * max(self.explorer.left, 0.0)
        self.explorer.measure(kernel, machine, max(min(m, n // 2) // 2, 1), limit)


def distinct(values: list[float]) -> list[float]:
    """The values ascending, without those that are equal but for rounding."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value > found[-1] * (1 + 1e-9):
            found.append(value)
    return found
