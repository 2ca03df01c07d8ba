"""The fits of a search over linear models.

For each fold and epsilon the values of C are tried in ascending order, each fit starting from the
duals of the one before: their bounds grow in proportion to C, so most duals at a bound stay there.
A fold's samples are prepared once for its values of C.
"""

from collections.abc import Sequence
from copy import copy
from itertools import groupby
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from maxmargin.core.arrays import Integers
from maxmargin.estimators._linear import BaseLinear
from maxmargin.model_selection.scaling import rows_of, scaler_of
from maxmargin.model_selection.search import Chain, Data, Parameters, Search
from maxmargin.monitor import Monitor


class LinearFold(NamedTuple):
    """The training samples of a fold, and how they were prepared."""

    everything: Any
    scaler: Any
    train: Integers

    def samples(self, rows: Integers) -> Any:
        """Samples as they were given."""
        return rows_of(self.everything, rows)

    def model_of(self, machine: BaseLinear) -> Any:
        """A machine of this fold with its preparation."""
        return machine if self.scaler is None else make_pipeline(self.scaler, machine)


class LinearFit(NamedTuple):
    """A fitted machine and its fold."""

    machine: BaseLinear
    fold: LinearFold


class LinearSearch(Search):
    """Linear models: each fit starts from the one before."""

    def __init__(
        self,
        machine: BaseLinear,
        candidates: Sequence[Parameters],
        data: Data,
        monitor: Monitor,
        scale: Any,
    ) -> None:
        super().__init__(machine, candidates, data, monitor)
        self.scale = scale

    def _chains(self) -> list[Chain]:
        def tube(k: int) -> float:
            return self.candidates[k].get("epsilon", 0.0)

        ascending = sorted(range(len(self.candidates)), key=lambda k: self.candidates[k]["C"])
        chains = [list(some) for _, some in groupby(sorted(ascending, key=tube), tube)]
        return [Chain(fold, None, one) for one in chains for fold in range(len(self.data.folds))]

    def _open(self, chain: Chain) -> tuple[LinearFold, Any]:
        data, train = self.data, self.data.folds[chain.fold][0]
        X, scaler = rows_of(data.X, train), None
        if self.scale is not None:
            weight = None if data.weight is None else data.weight[train]
            assert data.y is not None
            scaler = scaler_of(self.scale, X, data.y[train], weight)
            X = scaler.transform(X)
        return LinearFold(data.X, scaler, train), clone(self.machine)._validate_X(X, reset=True)

    def _fit(
        self, fold: LinearFold, X: Any, parameters: Parameters, last: tuple[Parameters, Any] | None
    ) -> LinearFit:
        machine = clone(self.machine) if last is None else copy(last[1].machine)
        machine.set_params(**parameters, warm_start=True)
        if not self.data.scoring.needs_probabilities and hasattr(machine, "probability"):
            machine.set_params(probability=False)
        machine._watcher = self._watch(machine)
        assert self.data.y is not None
        weight = None if self.data.weight is None else self.data.weight[fold.train]
        machine.fit(X, self.data.y[fold.train], sample_weight=weight)
        return LinearFit(machine, fold)

    def _evaluate(self, fits: Sequence[LinearFit], test: Integers) -> None:
        """A linear model needs nothing."""

    def _seen(self, fitted: LinearFit, test: Integers) -> tuple[Any, Any]:
        return fitted.fold.model_of(fitted.machine), fitted.fold.samples(test)
