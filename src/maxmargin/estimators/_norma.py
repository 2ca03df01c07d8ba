"""NormaSVC and NormaNovelty below their interfaces: steps, points, state."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators import _outcome
from maxmargin.estimators._data import like, stack
from maxmargin.estimators._online import BaseOnline
from maxmargin.estimators._record import fitted
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import pick
from maxmargin.monitor import Monitor
from maxmargin.online import norma
from maxmargin.online.budget import Points, block_size, in_use
from maxmargin.online.norma import Hypotheses, Rule
from maxmargin.online.pegasos import Task
from maxmargin.status import Status


class BaseNorma(BaseOnline):
    """Steps, points and state of both."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseOnline._parameter_constraints,
        "eta0": [Interval(Real, 0.0, None, closed="neither")],
        "power_t": [Interval(Real, 0.0, 1.0, closed="both")],
    }

    def _checked_rule(self, nu: float | None, bias: bool) -> Rule:
        if self.eta0 * self.alpha >= 1:
            raise ValueError(
                f"eta0 * alpha = {self.eta0 * self.alpha:g} must be less than 1: a step would "
                "forget everything. Lower eta0 or alpha."
            )
        return Rule(float(self.alpha), float(self.eta0), float(self.power_t), nu, bias, self.budget)

    def _begin(
        self, X: Any, weight: Floats, functions: int, rho: float, warm: bool
    ) -> tuple[Kernel, Points, Hypotheses]:
        """Kernel and hypotheses of a fit: 0, or those of the last fit to data of the same shape."""
        counted, n = np.flatnonzero(weight > 0), _num_samples(X)
        kernel = self._resolve_kernel(pick(X, counted) if len(counted) < n else X, weight[counted])
        found = Hypotheses.new(functions, n, rho)
        last: Any = self.model_ if warm else None
        if warm and self._fits_support(last.state.coef, functions, n):
            found.coef[:, last.rows], found.numbers[:], found.truncation[:] = last.state
        return kernel, Points(kernel, X, whole=self.max_iter > 2), found

    def _continue(
        self, X: Any, weight: Floats, functions: int, rho: float
    ) -> tuple[Kernel, Any, Points, Hypotheses]:
        """The kernel, the points so far and a chunk, and the hypotheses over them."""
        n, kernel = _num_samples(X), self._kernel_of_chunk(X, weight)
        if not hasattr(self, "model_"):
            return kernel, X, Points(kernel, X, whole=False), Hypotheses.new(functions, n, rho)
        last: Any = self.model_
        points = stack(last.vectors, like(X, last.vectors))
        coef = np.hstack([last.state.coef, np.zeros((functions, n))])
        found = Hypotheses(coef, last.state.numbers.copy(), last.state.truncation.copy())
        return kernel, points, Points(kernel, points, whole=False), found

    def _run(
        self, points: Points, hypotheses: Hypotheses, rule: Rule, task: Task, epochs: int
    ) -> None:
        """Epochs over the samples; a limit or Ctrl-C ends them early, with a warning."""
        rng, stopped = self._random(), None
        with self._monitor() as monitor:
            for epoch in range(epochs):
                order = task.rows if rng is None else rng.permutation(task.rows)
                self.n_iter_ = epoch + 1
                stopped = self._epoch(points, hypotheses, rule, order, task, monitor)
                if stopped is not None:
                    break
        _outcome.conclude_stream(self, monitor, stopped)

    def _epoch(
        self,
        points: Points,
        hypotheses: Hypotheses,
        rule: Rule,
        order: Integers,
        task: Task,
        monitor: Monitor,
    ) -> Status | None:
        """One epoch, until the monitor says stop; why it does, if it does."""
        step = block_size(1, rule.budget)
        for begin in range(0, len(order), step):
            norma.advance(points, hypotheses, rule, order[begin : begin + step], task)
            stopped = monitor.stop(0)
            if monitor.wants_report():
                steps, support = int(hypotheses.state["steps"][0]), len(in_use(hypotheses.coef))
                monitor.report(steps, np.nan, np.nan, support)
            if stopped is not None:
                return stopped
        return None

    def _keep_hypotheses(
        self, kernel: Kernel, points: Any, hypotheses: Hypotheses, chunk: bool, **fields: Any
    ) -> None:
        """Keep the record, from which warm starts and chunks continue."""
        coef, numbers, truncation = hypotheses
        support, n = in_use(coef), _num_samples(points)
        state = Hypotheses(np.ascontiguousarray(coef[:, support]), numbers, truncation)
        fields |= {"state": state, "n_samples": n}
        self.model_ = self._of_points(kernel, points, support, coef, chunk, **fields)
        if not np.isfinite(numbers).all() or not np.isfinite(coef).all():
            raise ValueError(
                "The coefficients are not finite: lower eta0 or the sample weights, or scale the "
                "data (StandardScaler)."
            )

    @property
    def truncation_(self) -> Floats:
        """How far the budget moved each function."""
        truncation: Floats = fitted(self).state.truncation.copy()
        return truncation
