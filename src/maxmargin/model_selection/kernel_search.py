"""The fits of a search over kernel machines, with shared kernel values.

Kernels are visited from the middle of the grid outwards: a time limit leaves the likely half.

Along C the dual variables at a bound grow in proportion to C, so the start is C / C_before times
the solution before. Where no variable is at its bound, the solution before stays optimal, and where
few are, it is the better start.

A fit begins at zero where the start would decide what it finds: with an indefinite kernel, which
has several solutions, and with another epsilon, since any intercept fits a tube wider than the
targets.
"""

from collections.abc import Sequence
from copy import copy
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._calibrated import method_of
from maxmargin.estimators._machine import KernelMachine
from maxmargin.estimators._plain import PLAIN
from maxmargin.kernel.sources import take
from maxmargin.model_selection.search import Chain, Data, Parameters, Search
from maxmargin.model_selection.shared import Fold, FoldModel, KernelStore, evaluate
from maxmargin.monitor import Monitor
from maxmargin.status import Convexity


class Settings(NamedTuple):
    """How fits begin."""

    few: float = 0.2
    """Share of the support vectors: where no more are at their bounds, the next fit begins at the
    solution before as it is (decision 26)."""


SETTINGS = Settings()


def chains(
    machine: KernelMachine, candidates: Sequence[Parameters], X: Any, folds: int
) -> list[Chain]:
    """What is done one after the other; the middle of the grid comes first."""
    gammas = sorted({one.get("gamma", 0.0) for one in candidates})
    middle = (len(gammas) - 1) / 2
    rank = {gamma: abs(i - middle) for i, gamma in enumerate(gammas)}

    def of_kernel(k: int) -> tuple[float, ...]:
        gamma = candidates[k].get("gamma", 0.0)
        return rank[gamma], gamma

    def in_chain(k: int) -> tuple[Any, ...]:
        one = candidates[k]
        tube = [value for name, value in one.items() if name not in ("C", "gamma")]
        return *of_kernel(k), *tube, one.get("C", 0.0)

    found = []
    for _, some in groupby(sorted(range(len(candidates)), key=in_chain), of_kernel):
        members = list(some)
        resolved = clone(machine).set_params(**candidates[members[0]])._resolve_kernel(X, None)
        found += [Chain(fold, resolved, members) for fold in range(folds)]
    return found


class KernelSearch(Search):
    """Kernel machines: the candidates of one kernel share its values."""

    def __init__(
        self,
        machine: KernelMachine,
        candidates: Sequence[Parameters],
        data: Data,
        monitor: Monitor,
        stores: Sequence[KernelStore],
    ) -> None:
        super().__init__(machine, candidates, data, monitor)
        self.stores = stores
        """One for each fold, or the same for all."""
        needed = is_classifier(machine) and method_of(machine.probability) is not None
        self.probabilities = needed and data.scoring.needs_probabilities
        found = machine.get_params(deep=False)
        self._objects = [name for name, value in found.items() if type(value) not in PLAIN]
        """Parameters that a fit might change, such as a random generator."""

    def _chains(self) -> list[Chain]:
        return chains(self.machine, self.candidates, self.data.X, len(self.data.folds))

    def _open(self, chain: Chain) -> tuple[Fold, Any]:
        assert chain.kernel is not None
        train, store = self.data.folds[chain.fold][0], self.stores[chain.fold]
        fold = Fold.of(store, chain.kernel, train)
        return fold, take(chain.kernel.kind, store.X, train)

    def _fit(
        self,
        fold: Fold,
        X: Any,
        parameters: Parameters,
        last: tuple[Parameters, FoldModel] | None,
    ) -> FoldModel:
        """Fit one candidate on one fold, starting from the last one."""
        data, machine = self.data, self._machine_with(parameters)
        y = None if data.y is None else data.y[fold.train]
        weight = None if data.weight is None else data.weight[fold.train]
        starts = None if last is None else warm_starts(*last, parameters, len(fold.train))
        monitor = self._watch(machine)
        seen = not data.scoring.by_rows
        return fold.fit(machine, X, y, weight, monitor, starts, self.probabilities, seen)

    def _machine_with(self, parameters: Parameters) -> KernelMachine:
        """A copy of the machine; much faster than clone, which also checks every parameter."""
        machine: KernelMachine = copy(self.machine)
        for name in self._objects:
            setattr(machine, name, clone(getattr(machine, name), safe=False))
        machine.__dict__.update(parameters)
        return machine

    def _evaluate(self, fits: Sequence[FoldModel], test: Integers) -> None:
        """Decision values from one pass over the kernel values."""
        evaluate(fits, test)


def warm_starts(
    parameters: Parameters, fitted: FoldModel, now: Parameters, n: int
) -> Floats | None:
    """Dual variables to begin at, from the fit before; see the top of this file."""
    record = fitted.machine.model_
    before, C = parameters.get("C"), now.get("C")
    indefinite = record.certificate.convexity in (Convexity.INDEFINITE, Convexity.UNKNOWN)
    if indefinite or parameters.get("epsilon") != now.get("epsilon"):
        return None
    assert record.rows is not None
    found = np.zeros((len(record.intercept), n))
    found[:, record.rows] = record.columns() * record.scales[:, None]
    if before is None or C is None or before == C:
        return found
    if not np.isfinite(C / before):
        return None
    bounded = np.count_nonzero(np.abs(found) >= before * (1 - 1e-12), axis=1, keepdims=True)
    support = np.count_nonzero(found, axis=1, keepdims=True)
    found *= np.where(bounded <= SETTINGS.few * support, 1.0, C / before)
    return found
