"""What NormaSVC and NormaNovelty share: steps, points, state."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._online import BaseOnline, like, stack
from maxmargin.kernel.sources import pick
from maxmargin.online import norma
from maxmargin.online.budget import Points, block_size, in_use
from maxmargin.online.norma import STEPS, Functions, Rule
from maxmargin.online.pegasos import Task


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
    ) -> tuple[Points, Functions]:
        """The functions of a fit.

        0, or those of the last one where the data have the same shape.
        """
        counted, n = np.flatnonzero(weight > 0), _num_samples(X)
        self._kernel = self._resolve_kernel(
            pick(X, counted) if len(counted) < n else X, weight[counted]
        )
        found = Functions.new(functions, n, rho)
        if (
            warm
            and self._functions.coef.shape == (functions, len(self.support_))
            and self.support_.max(initial=-1) < n
        ):
            found.coef[:, self.support_], found.numbers[:], found.lost[:] = self._functions
        return Points(self._kernel, X, whole=self.max_iter > 2), found

    def _continue(
        self, X: Any, weight: Floats, functions: int, rho: float
    ) -> tuple[Any, Points, Functions]:
        """The functions so far, over the points so far and a chunk."""
        n = _num_samples(X)
        if not hasattr(self, "_functions"):
            self._kernel = self._resolve_kernel(X, weight)
            return X, Points(self._kernel, X, whole=False), Functions.new(functions, n, rho)
        self._check_kernel_of_chunk(X, weight)
        points = stack(self.support_vectors_, like(X, self.support_vectors_))
        old = self._functions
        found = Functions(
            np.hstack([old.coef, np.zeros((functions, n))]), old.numbers.copy(), old.lost.copy()
        )
        return points, Points(self._kernel, points, whole=False), found

    def _run(
        self, points: Points, functions: Functions, rule: Rule, task: Task, epochs: int
    ) -> None:
        """Epochs over the samples; a limit or Ctrl-C ends them early, with a warning."""
        rng, stopped, step = self._random(), None, block_size(1, rule.budget)
        with self._monitor() as monitor:
            for epoch in range(epochs):
                order = task.visits if rng is None else rng.permutation(task.visits)
                self.n_iter_ = epoch + 1
                for begin in range(0, len(order), step):
                    norma.advance(points, functions, rule, order[begin : begin + step], task)
                    stopped = monitor.stop(0)
                    if monitor.wants_report():
                        monitor.report(
                            int(functions.numbers[0, STEPS]),
                            np.nan,
                            np.nan,
                            len(in_use(functions.coef)),
                        )
                    if stopped is not None:
                        break
                if stopped is not None:
                    break
        _outcome.conclude_stream(self, monitor, stopped)

    def _keep_functions(self, points: Any, functions: Functions, chunk: bool) -> None:
        """Keep the model; it is all that warm starts and chunks go on from."""
        support = in_use(functions.coef)
        self._keep_points(points, support, functions.coef)
        self._functions = Functions(self.dual_coef_.copy(), functions.numbers, functions.lost)
        self.support_ = np.arange(len(support), dtype=np.int32) if chunk else self.support_
        self._matrix_width = _num_samples(points)
        self.t_, self.truncation_ = int(functions.numbers[0, STEPS]), functions.lost.copy()
        if not np.isfinite(functions.numbers).all() or not np.isfinite(functions.coef).all():
            raise ValueError(
                "The coefficients are not finite: lower eta0 or the sample weights, or scale the "
                "data (StandardScaler)."
            )
