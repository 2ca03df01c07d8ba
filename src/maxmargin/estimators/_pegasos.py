"""PegasosSVC below its interface: from samples to walks, and from walks to the fitted state."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_is_fitted

from maxmargin import certificate
from maxmargin.audit import audit, greatest_error, plan_audit
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators import _outcome
from maxmargin.estimators._online import OnlineClassifier, like, stack
from maxmargin.kernel.definiteness import convexity_of
from maxmargin.kernel.evaluation import kernel_diagonal, kernel_products
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import make_source, pick
from maxmargin.kernel.workspace import Samples
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import LinearProblem
from maxmargin.monitor import Monitor
from maxmargin.online import epochs
from maxmargin.online.budget import Points, in_use
from maxmargin.online.pegasos import STEPS, KernelPath, Path, Rule, Task, Walks, dots
from maxmargin.online.pegasos_linear import LinearPath
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, verdict, verdict_again

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
AUDITED = 16
"""Samples on which every fit's decision values are compared with an independent evaluation."""
NEGLIGIBLE = 1e-7
"""Share of the gap allowed that rounding may take: less than certify is wider than fit."""


class Evaluated(NamedTuple):
    """w.phi(x), |w|^2 and |sum_i t_i phi(x_i)|^2 of every function."""

    values: Floats
    squares: Floats
    dual_squares: Floats


class BasePegasos(OnlineClassifier):
    """Walks, certificate and prediction."""

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

    def _path(
        self, X: Any, design: ArrayDesign | None, weight: Floats, task: Task, warm: bool
    ) -> Path:
        """The walks of a fit: new ones, or those of the last fit where it had the same shape."""
        rule, (functions, n) = self._rule(), task.signs.shape
        if self._kernel_kind() is Kind.LINEAR:
            assert design is not None
            warm = warm and self._walks.v.shape == (functions, X.shape[1])
            walks = _copy(self._walks) if warm else Walks.new(functions, X.shape[1])
            kept = getattr(self, "_coefs", None) if warm else None
            coefs = (
                kept.copy()
                if kept is not None and kept.shape == (functions, n, 2)
                else np.zeros((functions, n, 2))
            )
            self._kernel = Kernel.linear()
            centre = self._centre if warm else design.sum(task.share)
            return LinearPath(design, walks, rule, task, coefs, centre)
        counted = np.flatnonzero(weight > 0)
        self._kernel = self._resolve_kernel(
            pick(X, counted) if len(counted) < n else X, weight[counted]
        )
        walks = Walks.new(functions, n)
        if (
            warm
            and self._walks.v.shape == (functions, len(self.support_))
            and self.support_.max(initial=-1) < n
        ):
            walks.v[:, self.support_], walks.u[:, self.support_], walks.numbers[:] = self._walks
        return KernelPath(Points(self._kernel, X, whole=True), walks, rule, task)

    def _chunk_path(self, X: Any, weight: Floats, task: Task) -> Path:
        """The walks so far, over the points so far and a chunk."""
        rule, (functions, n) = self._rule(), task.signs.shape
        first = not hasattr(self, "_walks")
        if not first:
            self._check_kernel_of_chunk(X, weight)
        if self._kernel_kind() is Kind.LINEAR:
            walks = Walks.new(functions, X.shape[1]) if first else _copy(self._walks)
            self._kernel = Kernel.linear()
            design = ArrayDesign(X)
            centre = design.sum(task.gain / task.gain.sum()) if first else self._centre
            return LinearPath(design, walks, rule, task, None, centre)
        if first:
            self._kernel = self._resolve_kernel(X, weight)
            self._points = X
            return KernelPath(
                Points(self._kernel, X, whole=False), Walks.new(functions, n), rule, task
            )
        self._points = stack(self.support_vectors_, like(X, self.support_vectors_))
        old = self._walks
        v, u = (np.hstack([part, np.zeros((functions, n))]) for part in (old.v, old.u))
        walks = Walks(v, u, old.numbers.copy())
        return KernelPath(Points(self._kernel, self._points, whole=False), walks, rule, task)

    # ---- the fitted state ------------------------------------------------------------------------

    def _keep_path(
        self, path: Path, X: Any, model: Floats, biases: Floats, chunk: bool = False
    ) -> None:
        """Keep the model and the walks, from which warm starts and chunks go on."""
        walks = path.walks
        self.t_ = int(walks.numbers[0, STEPS])
        if isinstance(path, LinearPath):
            self._walks, self._centre = walks, path.centre
            self._coefs = path.coefs if self.warm_start else None
            self._coef, self.intercept_ = model, path.intercepts(biases, model)
        else:
            support = in_use(walks.v, walks.u)
            self._walks = Walks(
                np.ascontiguousarray(walks.v[:, support]),
                np.ascontiguousarray(walks.u[:, support]),
                walks.numbers,
            )
            self._keep_points(self.__dict__.pop("_points") if chunk else X, support, model)
            self.support_ = np.arange(len(support), dtype=np.int32) if chunk else self.support_
            self._matrix_width, self.intercept_ = _num_samples(X), biases
        if not all(np.isfinite(part).all() for part in (model, self.intercept_, *walks)):
            raise ValueError(
                "The weights are not finite: alpha is too small or the data are too large. Scale "
                "the data (StandardScaler)."
            )

    def _conclude_epochs(self, outcome: epochs.Outcome, path: Path, X: Any, before: int) -> None:
        """Keep certificate and duals; warn of what fell short."""
        asked, steps = (
            epochs.problems(path.task, path.rule),
            int(path.walks.numbers[0, STEPS]) - before,
        )
        T = np.array([one.t for one in outcome.found])
        self._duals = sparse.csr_matrix(T)
        parts, convexity = [], self._convexity(X, (T != 0).any(axis=0))
        for k, (found, doubt, size) in enumerate(self._checked(outcome, asked, path.rule, X, T)):
            found = replace(found, n_iter=steps, convexity=convexity)
            gap, value = found.gap + doubt, max(abs(found.primal), abs(found.dual), TINY)
            doubtful = replace(found, gap=gap, relative_gap=gap / value)
            status = verdict(outcome.ended, doubtful, self._demand(asked[k]), size)
            parts.append(self._shown(found, status))
        largest = self._largest_gap(parts, asked)
        converged = _outcome.conclude(self, parts, partial(self._describe_gap, largest))
        self.fit_status_ = int(not converged)

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

    def _checked(
        self, outcome: epochs.Outcome, asked: list[LinearProblem], rule: Rule, X: Any, T: Floats
    ) -> Iterator[tuple[Certificate, float, Size]]:
        """The certificate of every function, what rounding may add to its gap, and its size.

        Where that is not negligible the certificate is of the numbers that certify computes.
        """
        largest = float(kernel_diagonal(self._kernel, X).max(initial=0.0))
        rows = np.unique(np.linspace(0, T.shape[1] - 1, AUDITED).astype(np.int64))
        some, whole = self._values_at(X, rows), cache(lambda: self._evaluated(X, T))
        for k, (one, problem) in enumerate(zip(outcome.found, asked, strict=True)):
            numbers = one.f, one.square, one.dual_square
            doubt = self._doubt(problem, k, one.t, one.dual_square, largest)
            limit = np.inf if self.tol is None else float(self.tol) * epochs.constant_loss(problem)
            plan = plan_audit(len(one.f), rows, doubt, NEGLIGIBLE * limit, len(one.f))
            values = whole().values[k] + self.intercept_[k] if plan.closer else some[k]
            error, exact = audit(one.f, values, plan)
            if exact is not None:
                numbers = exact, whole().squares[k], whole().dual_squares[k]
            found = self._judged(problem, rule, numbers[0], one.t, *numbers[1:])
            yield replace(found, audit_error=error), doubt, Size.of(one.f, one.t)

    def _doubt(
        self, problem: LinearProblem, k: int, t: Floats, dual_square: float, largest: float
    ) -> float:
        """What rounding may add to the gap; ``largest`` is the greatest k(x, x).

        The terms of a decision value add up to |w||x| (linear) or sum_j |c_j| k(x_j, x) at most.
        """
        root, bias = np.sqrt(largest), abs(float(self.intercept_[k]))
        if self._kernel.kind is Kind.LINEAR:
            coef = self._coef[[k]]
            terms = root * np.sqrt(dots(coef, coef)[0])
        else:
            terms = largest * np.abs(self.dual_coef_[k]).sum()
        length = EPS * root * float(np.abs(t).sum())
        weight = float(problem.tube.up.sum() + problem.tube.down.sum())
        losses = EPS * float(terms + bias) * weight
        return float(losses + length * (np.sqrt(dual_square) + 0.5 * length))

    def _values_at(self, X: Any, rows: NDArray[np.int64]) -> Floats:
        """Decision values of some samples, by code that the steps do not share."""
        part = pick(X, rows)
        if self._kernel.kind is Kind.LINEAR:
            nothing = np.zeros(len(rows))
            products = [linear_certificate.linear_products(part, w, nothing) for w in self._coef]
            values = np.array([Xw for Xw, _ in products])
        else:
            values = self._exact_kernel_values(part)
        found: Floats = values + self.intercept_[:, None]
        return found

    def _exact_kernel_values(self, points: Any) -> Floats:
        """w.phi(x) of every function at some points (samples, or their rows of the kernel matrix),
        by the code of `certify`.
        """
        points = points[:, self.support_] if self._kernel.kind is Kind.PRECOMPUTED else points
        return kernel_products(self._kernel, self.support_vectors_, self.dual_coef_.T, points).T

    def _convexity(self, X: Any, used: NDArray[np.bool_]) -> Convexity:
        """What is known about the kernel matrix of the samples, those in use first."""
        if self._kernel.positive_semidefinite:
            return Convexity.PROVED
        return convexity_of(
            Samples(self._kernel, X),
            used.astype(np.float64),
            make_source(self._kernel, X).precision,
        )

    def _demand(self, problem: LinearProblem) -> Demand:
        """What the certificate must fulfil; without a tolerance nothing but rounding will do."""
        asked = Demand.on_gap(0.0 if self.tol is None else float(self.tol))
        return asked._replace(value=epochs.constant_loss(problem))

    def _largest_gap(self, parts: list[Certificate], asked: list[LinearProblem]) -> float:
        """What ``tol`` bounds.

        The greatest gap relative to the loss of the best constant function.
        """
        alpha = float(self.alpha)
        losses = [
            alpha * epochs.constant_loss(one) for one in asked
        ]  # 0 for a class without weight
        return max(
            part.gap / loss if loss > 0 else np.inf
            for part, loss in zip(parts, losses, strict=True)
        )

    def _judged(
        self,
        problem: LinearProblem,
        rule: Rule,
        f: Floats,
        t: Floats,
        square: float,
        dual_square: float,
    ) -> Certificate:
        """The certificate of one function before the verdict, the objectives divided by alpha."""
        tube = (*problem.tube[:4], False)
        return linear_certificate.from_norms(f, tube, t, square, dual_square, rule.bias)

    def _shown(self, found: Certificate, status: Status) -> Certificate:
        """The certificate with its verdict, in units of the objective."""
        alpha = float(self.alpha)
        values = {name: alpha * getattr(found, name) for name in ("primal", "dual", "gap")}
        return replace(found, status=status, **values)

    def _certify(self, X: Any, task: Task, rule: Rule) -> Certificate:
        """Recompute everything from the data in float64, by code that the steps do not share."""
        T, parts = self._duals.toarray(), self.certificate_.parts or (self.certificate_,)
        if T.shape != task.signs.shape:
            raise ValueError(
                "certify needs the data the model was fitted on: another number of samples or "
                "classes was given."
            )
        F, squares, dual_squares = self._evaluated(X, T)
        solver_values = self._function_values(X)
        found = []
        for k, problem in enumerate(epochs.problems(task, rule)):
            f = F[k] + float(self.intercept_[k])
            new = self._judged(problem, rule, f, T[k], squares[k], dual_squares[k])
            new = replace(new, n_iter=parts[k].n_iter, convexity=parts[k].convexity)
            status = verdict_again(parts[k].status, new, self._demand(problem), Size.of(f, T[k]))
            error = greatest_error(solver_values[k], F[k])
            found.append(self._shown(replace(new, audit_error=error), status))
        return certificate.worst(found)

    def _evaluated(self, X: Any, T: Floats) -> Evaluated:
        """What certify judges."""
        if self._kernel.kind is Kind.LINEAR:
            products = [
                linear_certificate.linear_products(X, w, t)
                for w, t in zip(self._coef, T, strict=True)
            ]
            F, W = np.array([Xw for Xw, _ in products]), np.array([Xt for _, Xt in products])
            return Evaluated(F, np.sum(self._coef**2, axis=1), np.sum(W**2, axis=1))
        given, coef = self._kernel.kind is Kind.PRECOMPUTED, self.dual_coef_
        squares = np.sum(
            coef * self._exact_kernel_values(X[self.support_] if given else self.support_vectors_),
            axis=1,
        )
        dual_squares = np.sum(T * kernel_products(self._kernel, X, T.T, X).T, axis=1)
        return Evaluated(
            self._exact_kernel_values(X), np.maximum(squares, 0.0), np.maximum(dual_squares, 0.0)
        )

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


def _copy(walks: Walks) -> Walks:
    """Walks of their own memory."""
    return Walks(*(part.copy() for part in walks))


def one_pass(path: Path, order: NDArray[np.int64], monitor: Monitor) -> Status | None:
    """One pass over a chunk; why it ended early, if it did."""
    for begin in range(0, len(order), path.piece):
        path.advance(order[begin : begin + path.piece], monitor)
        stopped = monitor.stop(0)
        if stopped is not None and begin + path.piece < len(order):
            return stopped
    return None
