"""PegasosSVC below its interface: from samples to iterates, from iterates to the fitted state."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate, worst
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._data import like, stack
from maxmargin.estimators._online import OnlineClassifier
from maxmargin.estimators._record import known_field
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import pick
from maxmargin.linear.designs import ArrayDesign
from maxmargin.online import certificate
from maxmargin.online.budget import Points, in_use
from maxmargin.online.certificate import Fitted
from maxmargin.online.epochs import Outcome
from maxmargin.online.model import OnlineModel
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
    ) -> tuple[Kernel, Pegasos]:
        """The kernel and the solver of a fit.

        Its iterates are new, or those of the last fit where the data have the same shape.
        """
        rule, (functions, n) = self._rule(), task.signs.shape
        last: Any = self.model_ if warm else None
        if self._kernel_kind() is Kind.LINEAR:
            assert design is not None
            shape = (functions, X.shape[1])
            warm = warm and last.vectors is None and last.state.v.shape == shape
            kept = last.sample_coefs if warm else None
            coefs = np.zeros((functions, n, 2))
            if kept is not None and kept.shape == coefs.shape:
                coefs = kept.copy()
            iterates = last.state.copy() if warm else Iterates.new(*shape)
            centre = last.centre if warm else design.sum(task.share)
            return Kernel.linear(), LinearPegasos(design, iterates, rule, task, coefs, centre)
        counted = np.flatnonzero(weight > 0)
        kernel = self._resolve_kernel(pick(X, counted) if len(counted) < n else X, weight[counted])
        iterates = Iterates.new(functions, n)
        if warm and self._fits_support(last.state.v, functions, n):
            iterates.v[:, last.rows], iterates.u[:, last.rows], iterates.numbers[:] = last.state
        return kernel, KernelPegasos(Points(kernel, X, whole=True), iterates, rule, task)

    def _chunk_solver(self, X: Any, weight: Floats, task: Task) -> tuple[Kernel, Any, Pegasos]:
        """Kernel, points and solver of a chunk, which continue with those so far."""
        rule, (functions, n) = self._rule(), task.signs.shape
        last: Any = getattr(self, "model_", None)
        kernel = self._kernel_of_chunk(X, weight)
        if kernel.kind is Kind.LINEAR:
            design = ArrayDesign(X)
            if last is None:
                iterates = Iterates.new(functions, X.shape[1])
                centre = design.sum(task.weight / task.weight.sum())
            else:
                iterates, centre = last.state.copy(), last.centre
            return kernel, X, LinearPegasos(design, iterates, rule, task, None, centre)
        if last is None:
            points, iterates = X, Iterates.new(functions, n)
        else:
            points = stack(last.vectors, like(X, last.vectors))
            v, u = (np.hstack([part, np.zeros((functions, n))]) for part in last.state[:2])
            iterates = Iterates(v, u, last.state.numbers.copy())
        points_so_far = Points(kernel, points, whole=False)
        return kernel, points, KernelPegasos(points_so_far, iterates, rule, task)

    # ---- the record ------------------------------------------------------------------------------

    certificate_ = known_field("certificate")

    def _record_of(
        self,
        kernel: Kernel,
        points: Any,
        solver: Pegasos,
        coef: Floats,
        biases: Floats,
        chunk: bool = False,
        **fields: Any,
    ) -> OnlineModel:
        """The model and the iterates, from which warm starts and chunks continue."""
        iterates = solver.iterates
        if isinstance(solver, LinearPegasos):
            found = OnlineModel(
                kernel,
                coef,
                solver.intercepts(biases, coef),
                iterates,
                coef.shape[1],
                centre=solver.centre,
                sample_coefs=solver.coefs if self.warm_start else None,
                **fields,
            )
        else:
            support = in_use(iterates.v, iterates.u)
            v, u = (np.ascontiguousarray(part[:, support]) for part in iterates[:2])
            fields |= {"intercept": biases, "state": Iterates(v, u, iterates.numbers)}
            fields["n_samples"] = solver.task.signs.shape[1]
            found = self._of_points(kernel, points, support, coef, chunk, **fields)
        if not all(np.isfinite(part).all() for part in (coef, found.intercept, *iterates)):
            raise ValueError(
                "The weights are not finite: alpha is too small or the data are too large. Scale "
                "the data (StandardScaler)."
            )
        return found

    def _conclude_epochs(
        self, found: OnlineModel, outcome: Outcome, solver: Pegasos, X: Any, before: int
    ) -> None:
        """Keep the record with its certificate and dual variables; warn of what fell short."""
        task, rule = solver.task, solver.rule
        steps = int(found.state.state["steps"][0]) - before
        parts = certificate.certificates(self._fitted(found), X, outcome, task, rule, steps)
        describe = partial(self._describe_gap, certificate.largest_gap(parts, task, rule))
        duals = sparse.csr_matrix(np.array([one.t for one in outcome.found]))
        self.model_ = replace(found, certificate=worst(parts), duals=duals)
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

    def _fitted(self, found: OnlineModel) -> Fitted:
        """The fitted functions, as a certificate evaluates them."""
        rows = found.rows
        return Fitted(found.kernel, found.coef, found.intercept, found.vectors, rows, self.tol)

    def _certify(self, X: Any, task: Task, rule: Rule) -> Certificate:
        """Recompute everything from the data in float64, by code that the steps do not share."""
        last, T = self.model_, self.model_.duals.toarray()
        if T.shape != task.signs.shape:
            raise ValueError(
                "certify needs the data the model was fitted on: another number of samples or "
                "classes was given."
            )
        before, values = self.certificate_.parts or (self.certificate_,), self._function_values(X)
        return worst(
            certificate.certify_again(self._fitted(last), X, T, before, values, task, rule)
        )

    @property
    def coef_(self) -> Any:
        """Weights of the features; with a linear kernel only."""
        if self._kernel_kind() is not Kind.LINEAR:
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return self.model_.coef
