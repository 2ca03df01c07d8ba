"""PegasosSVC below its interface: from samples to iterates, from iterates to the fitted state."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin.certificate import Certificate, worst
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._online import OnlineClassifier, like, stack
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import pick
from maxmargin.linear.designs import ArrayDesign
from maxmargin.online import certificate
from maxmargin.online.budget import Points, in_use
from maxmargin.online.certificate import Fitted
from maxmargin.online.epochs import Outcome
from maxmargin.online.pegasos import Iterates, KernelPegasos, Pegasos, Rule, Task
from maxmargin.online.pegasos_linear import LinearPegasos
from maxmargin.status import Status


class BasePegasos(OnlineClassifier):
    """Iterates, certificate and prediction."""

    def _rule(self) -> Rule:
        if self.budget is not None and self._kernel_kind() is Kind.LINEAR:
            raise ValueError(
                f"budget={self.budget} needs a kernel: a linear model keeps weights of features, "
                "not support vectors."
            )
        return Rule(
            float(self.alpha),
            int(self.batch_size),
            self.project,
            self.fit_intercept,
            self.average,
            self.budget,
        )

    def _solver(
        self, X: Any, design: ArrayDesign | None, weight: Floats, task: Task, warm: bool
    ) -> Pegasos:
        """The solver of a fit.

        It starts at zero, or at the iterates of the last fit if the data have the same shape.
        """
        rule, (functions, n) = self._rule(), task.signs.shape
        if self._kernel_kind() is Kind.LINEAR:
            assert design is not None
            warm = warm and self._iterates.v.shape == (functions, X.shape[1])
            kept = getattr(self, "_coefs", None) if warm else None
            coefs = np.zeros((functions, n, 2))
            if kept is not None and kept.shape == coefs.shape:
                coefs = kept.copy()
            iterates = self._iterates.copy() if warm else Iterates.new(functions, X.shape[1])
            self._kernel = Kernel.linear()
            centre = self._centre if warm else design.sum(task.share)
            return LinearPegasos(design, iterates, rule, task, coefs, centre)
        counted = np.flatnonzero(weight > 0)
        self._kernel = self._resolve_kernel(
            pick(X, counted) if len(counted) < n else X, weight[counted]
        )
        iterates = Iterates.new(functions, n)
        if warm and self._fits_support(self._iterates.v, functions, n):
            iterates.v[:, self.support_], iterates.u[:, self.support_], iterates.numbers[:] = (
                self._iterates
            )
        return KernelPegasos(Points(self._kernel, X, whole=True), iterates, rule, task)

    def _chunk_solver(self, X: Any, weight: Floats, task: Task) -> Pegasos:
        """The solver of a chunk: the iterates so far, over the points so far and the chunk."""
        rule, (functions, n) = self._rule(), task.signs.shape
        first = not hasattr(self, "_iterates")
        if not first:
            self._check_kernel_of_chunk(X, weight)
        if self._kernel_kind() is Kind.LINEAR:
            iterates = Iterates.new(functions, X.shape[1]) if first else self._iterates.copy()
            self._kernel = Kernel.linear()
            design = ArrayDesign(X)
            centre = design.sum(task.weight / task.weight.sum()) if first else self._centre
            return LinearPegasos(design, iterates, rule, task, None, centre)
        if first:
            self._kernel = self._resolve_kernel(X, weight)
            self._points, iterates = X, Iterates.new(functions, n)
        else:
            self._points = stack(self.support_vectors_, like(X, self.support_vectors_))
            old = self._iterates
            v, u = (np.hstack([part, np.zeros((functions, n))]) for part in (old.v, old.u))
            iterates = Iterates(v, u, old.numbers.copy())
        return KernelPegasos(Points(self._kernel, self._points, whole=False), iterates, rule, task)

    # ---- the fitted state ------------------------------------------------------------------------

    def _keep_iterates(
        self, solver: Pegasos, X: Any, model: Floats, biases: Floats, chunk: bool = False
    ) -> None:
        """Keep the model and the iterates, from which warm starts and chunks continue."""
        iterates = solver.iterates
        self.t_ = int(iterates.state["steps"][0])
        if isinstance(solver, LinearPegasos):
            self._iterates, self._centre = iterates, solver.centre
            self._coefs = solver.coefs if self.warm_start else None
            self._coef, self.intercept_ = model, solver.intercepts(biases, model)
        else:
            support = in_use(iterates.v, iterates.u)
            v, u = (np.ascontiguousarray(part[:, support]) for part in iterates[:2])
            self._iterates = Iterates(v, u, iterates.numbers)
            self._keep_points(self.__dict__.pop("_points") if chunk else X, support, model)
            self.support_ = np.arange(len(support), dtype=np.int32) if chunk else self.support_
            self._matrix_width, self.intercept_ = _num_samples(X), biases
        if not all(np.isfinite(part).all() for part in (model, self.intercept_, *iterates)):
            raise ValueError(
                "The weights are not finite: alpha is too small or the data are too large. Scale "
                "the data (StandardScaler)."
            )

    def _conclude_epochs(self, outcome: Outcome, solver: Pegasos, X: Any, before: int) -> None:
        """Keep certificate and dual variables; warn of what fell short."""
        task, rule = solver.task, solver.rule
        self._duals = sparse.csr_matrix(np.array([one.t for one in outcome.found]))
        steps = self.t_ - before
        parts = certificate.certificates(self._fitted(), X, outcome, task, rule, steps)
        describe = partial(self._describe_gap, certificate.largest_gap(parts, task, rule))
        self.certificate_ = worst(parts)
        self.fit_status_ = int(not _outcome.warn_of(parts, describe))

    def _describe_gap(
        self, gap: float, status: Status, found: Sequence[Certificate], count: str
    ) -> str | None:
        """The warning for functions that ended with a status, with the gap that fell short."""
        if status is Status.STATIONARY or (status is Status.MAX_ITER and self.tol is None):
            return None
        cause = (
            f"{self.n_iter_} epochs were not enough: scale the data (StandardScaler), raise "
            "alpha, or raise max_iter."
            if status is Status.MAX_ITER
            else status.message
        )
        limit = (
            f" A budget of {self.budget} support vectors may be too small for this tol."
            if self.budget is not None
            else ""
        )
        return (
            f"{cause} The gap is {gap:.3g} of the loss of a constant (tol={self.tol}); tol=None "
            f"asks for none.{limit}"
        )

    def _fitted(self) -> Fitted:
        """The fitted functions, as a certificate evaluates them."""
        if self._kernel.kind is Kind.LINEAR:
            return Fitted(self._kernel, self._coef, self.intercept_, None, None, self.tol)
        coef, points, support = self.dual_coef_, self.support_vectors_, self.support_
        return Fitted(self._kernel, coef, self.intercept_, points, support, self.tol)

    def _certify(self, X: Any, task: Task, rule: Rule) -> Certificate:
        """Recompute everything from the data in float64, by code that the steps do not share."""
        T, before = self._duals.toarray(), self.certificate_.parts or (self.certificate_,)
        if T.shape != task.signs.shape:
            raise ValueError(
                "certify needs the data the model was fitted on: another number of samples or "
                "classes was given."
            )
        values = self._function_values(X)
        return worst(certificate.certify_again(self._fitted(), X, T, before, values, task, rule))

    @property
    def coef_(self) -> Any:
        """Weights of the features; with a linear kernel only."""
        if self._kernel_kind() is not Kind.LINEAR:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return self._coef

    def _function_values(self, X: Any) -> Floats:
        if self._kernel.kind is not Kind.LINEAR:
            return self._kernel_values(X)
        design = ArrayDesign(X)
        return np.array([design.values(w) for w in self._coef])
