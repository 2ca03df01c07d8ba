"""What the searches over kernel machines share."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from maxmargin.core.arrays import Floats
from maxmargin.estimators._data import gamma_value
from maxmargin.estimators._machine import KernelMachine
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind
from maxmargin.model_selection import grids
from maxmargin.model_selection.base import SearchCV
from maxmargin.model_selection.discard import SETTINGS as together
from maxmargin.model_selection.kernel_search import KernelSearch
from maxmargin.model_selection.scaling import rows_of, scaler_of
from maxmargin.model_selection.search import Data, Search
from maxmargin.model_selection.shared import KernelStore, budget, worth_storing
from maxmargin.monitor import Monitor


class KernelSearchCV(SearchCV):
    """A search over the parameters of one kernel machine; a subclass names them."""

    def _gammas(self, X: Any, y: Any, weight: Floats | None) -> dict[str, Floats]:
        """The values of gamma; none for a kernel without it."""
        machine = self._template()
        if "gamma" not in PARAMETERS.get(NAMES[machine.kernel], ()):
            if not grids.is_number(self.gammas):
                raise ValueError(
                    f"kernel={machine.kernel!r} has no gamma, got gammas={self.gammas!r}: leave "
                    "gammas out."
                )
            return {}

        def unit() -> float:
            """That of the samples as the machine sees them."""
            if self.scale is None:
                return gamma_value("scale", X, weight)
            own = scaler_of(self.scale, X, y, weight).transform(X)
            return gamma_value("scale", machine._validate_X(own, reset=True), weight)

        return {"gamma": grids.values("gammas", self.gammas, grids.SETTINGS.gamma, unit)}

    def _as_machine(self, machine: Any, X: Any, y: Any) -> tuple[Any, Any]:
        self._refuse_kernel(machine)
        if is_classifier(machine) or hasattr(machine, "_targets"):
            return super()._as_machine(machine, X, y)
        return machine._validate_X(X, reset=True), None if y is None else np.asarray(y)

    def _refuse_kernel(self, machine: KernelMachine) -> None:
        """The kernel must have a name, and features where they are prepared."""
        if machine._kernel_kind() is Kind.CALLABLE or isinstance(machine.kernel, Kernel):
            raise ValueError(
                f"{type(self).__name__} sets gamma itself: name the kernel "
                f"(kernel='rbf'), got {machine.kernel!r}. Use GridSearchCV for other kernels."
            )
        if self.scale is not None and machine._kernel_kind() is Kind.PRECOMPUTED:
            raise ValueError(
                f"scale={self.scale!r} needs features, and kernel='precomputed' has kernel values "
                "alone: use scale=None, and scale the features before computing them."
            )

    def _search_of(self, machine: Any, candidates: Any, data: Data, monitor: Monitor) -> Search:
        memory = budget() if worth_storing(candidates) else 0.0
        stores = self._stores(machine, data, memory)
        return KernelSearch(machine, candidates, data, monitor, stores)

    def _stores(self, machine: KernelMachine, data: Data, memory: float) -> list[KernelStore]:
        """The samples of each fold, prepared by its training samples if they are to be."""
        X, folds = data.X, data.folds
        kernels = 1 if self.discard is None else together.kernels
        if self.scale is None:
            return [KernelStore(X, memory, kernels=kernels)] * len(folds)
        share, found = memory / len(folds), []
        for train, _ in folds:
            weight = None if data.weight is None else data.weight[train]
            y = None if data.y is None else data.y[train]
            scaler = scaler_of(self.scale, rows_of(X, train), y, weight)
            own = machine._validate_X(scaler.transform(X), reset=True)
            found.append(KernelStore(own, share, X, scaler, kernels))
        return found
