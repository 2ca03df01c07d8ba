"""The certificate of Pegasos: fitted functions, evaluated by code that the steps do not share.

The objectives are those of a linear problem divided by alpha (pegasos.py); certificates show them
in the units of the user's objective. A fit is certified by the numbers of its last evaluation
(epochs.py) where rounding cannot matter, and by those of `certify` elsewhere:

* decision values are audited on some samples;
* ``rounding_error`` bounds what rounding may add to the gap. The verdict is about the gap plus this
  bound, and where it is not negligible all numbers are computed independently.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.audit import audit, greatest_error, plan_audit
from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.kernel.definiteness import convexity_of
from maxmargin.kernel.evaluation import kernel_diagonal, kernel_products
from maxmargin.kernel.kernels import Kernel, Kind
from maxmargin.kernel.sources import make_source, pick
from maxmargin.kernel.workspace import Samples
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear.losses import LinearProblem
from maxmargin.online.epochs import Evaluation, Outcome, constant_loss, problems
from maxmargin.online.pegasos import SETTINGS, Rule, Task, dots
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, verdict, verdict_again

EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class Numbers(NamedTuple):
    """w.phi(x), |w|^2 and |sum_i t_i phi(x_i)|^2 of every function."""

    values: Floats
    squares: Floats
    dual_squares: Floats


class Fitted(NamedTuple):
    """The fitted functions f(x) = w.phi(x) + intercept, and what the user asked of them."""

    kernel: Kernel
    coef: Floats
    """Weights of the features (linear) or coefficients of the points, one row for each function."""
    intercept: Floats
    points: Any
    """Support vectors; None for a linear model."""
    support: NDArray[np.integer[Any]] | None
    """Their rows among the samples."""
    tol: float | None

    def values(self, X: Any) -> Floats:
        """w.phi(x) of every function at some samples, or at rows of the kernel matrix."""
        if self.kernel.kind is Kind.LINEAR:
            nothing = np.zeros(X.shape[0])
            return np.array(
                [linear_certificate.linear_products(X, w, nothing)[0] for w in self.coef]
            )
        given = self.kernel.kind is Kind.PRECOMPUTED
        X = X[:, self.support] if given else X
        return kernel_products(self.kernel, self.points, self.coef.T, X).T

    def evaluate(self, X: Any, T: Floats) -> Numbers:
        """Everything that a certificate needs, for the samples X and dual variables T."""
        if self.kernel.kind is Kind.LINEAR:
            products = [
                linear_certificate.linear_products(X, w, t)
                for w, t in zip(self.coef, T, strict=True)
            ]
            F, W = np.array([Xw for Xw, _ in products]), np.array([Xt for _, Xt in products])
            return Numbers(F, np.sum(self.coef**2, axis=1), np.sum(W**2, axis=1))
        points = X[self.support] if self.kernel.kind is Kind.PRECOMPUTED else self.points
        squares = np.sum(self.coef * self.values(points), axis=1)
        dual_squares = np.sum(T * kernel_products(self.kernel, X, T.T, X).T, axis=1)
        return Numbers(self.values(X), np.maximum(squares, 0.0), np.maximum(dual_squares, 0.0))

    def rounding_error(
        self, problem: LinearProblem, k: int, t: Floats, dual_square: float, largest: float
    ) -> float:
        """A bound on what rounding may add to the gap; ``largest`` is the greatest k(x, x).

        The terms of a decision value add up to |w||x| (linear) or sum_j |c_j| k(x_j, x) at most.
        """
        root, bias = np.sqrt(largest), abs(float(self.intercept[k]))
        if self.kernel.kind is Kind.LINEAR:
            coef = self.coef[[k]]
            terms = root * np.sqrt(dots(coef, coef)[0])
        else:
            terms = largest * np.abs(self.coef[k]).sum()
        length = EPS * root * float(np.abs(t).sum())
        weight = float(problem.tube.up.sum() + problem.tube.down.sum())
        losses = EPS * float(terms + bias) * weight
        return float(losses + length * (np.sqrt(dual_square) + 0.5 * length))

    def convexity(self, X: Any, used: Any) -> Convexity:
        """What is known about the kernel matrix of the samples, those in use first."""
        if self.kernel.positive_semidefinite:
            return Convexity.PROVED
        precision = make_source(self.kernel, X).precision
        return convexity_of(Samples(self.kernel, X), used.astype(np.float64), precision)

    def demand(self, problem: LinearProblem) -> Demand:
        """What the certificate must fulfil; without a tolerance only a gap at rounding does."""
        demand = Demand.on_gap(0.0 if self.tol is None else float(self.tol))
        return demand._replace(value=constant_loss(problem))


def certificates(
    fitted: Fitted, X: Any, outcome: Outcome, task: Task, rule: Rule, steps: int
) -> list[Certificate]:
    """The certificate of each function after epochs over the samples X."""
    asked = problems(task, rule)
    T = np.array([one.t for one in outcome.found])
    parts, convexity = [], fitted.convexity(X, (T != 0).any(axis=0))
    for problem, one, (found, rounding) in zip(
        asked, outcome.found, _audited(fitted, X, outcome.found, asked, rule), strict=True
    ):
        found = replace(found, n_iter=steps, convexity=convexity)
        gap, value = found.gap + rounding, max(abs(found.primal), abs(found.dual), TINY)
        doubtful = replace(found, gap=gap, relative_gap=gap / value)
        size = Size.of(one.f, one.t)
        status = verdict(outcome.ended, doubtful, fitted.demand(problem), size)
        parts.append(_in_units(found, rule.alpha, status))
    return parts


def _audited(
    fitted: Fitted,
    X: Any,
    evaluations: Sequence[Evaluation],
    asked: Sequence[LinearProblem],
    rule: Rule,
) -> Iterator[tuple[Certificate, float]]:
    """The certificate of each function, and what rounding may add to its gap."""
    T = np.array([one.t for one in evaluations])
    n = T.shape[1]
    largest = float(kernel_diagonal(fitted.kernel, X).max(initial=0.0))
    rows = np.unique(np.linspace(0, n - 1, SETTINGS.audited).astype(np.int64))
    some = fitted.values(pick(X, rows)) + fitted.intercept[:, None]
    whole = cache(lambda: fitted.evaluate(X, T))
    for k, (one, problem) in enumerate(zip(evaluations, asked, strict=True)):
        numbers = one.f, one.square, one.dual_square
        rounding = fitted.rounding_error(problem, k, one.t, one.dual_square, largest)
        limit = np.inf if fitted.tol is None else float(fitted.tol) * constant_loss(problem)
        plan = plan_audit(n, rows, rounding, SETTINGS.negligible * limit, n)
        values = whole().values[k] + fitted.intercept[k] if plan.closer else some[k]
        error, exact = audit(one.f, values, plan)
        if exact is not None:
            numbers = exact, whole().squares[k], whole().dual_squares[k]
        found = _certificate(problem, rule, numbers[0], one.t, *numbers[1:])
        yield replace(found, audit_error=error), rounding


def certify_again(
    fitted: Fitted,
    X: Any,
    T: Floats,
    before: Sequence[Certificate],
    solver_values: Floats,
    task: Task,
    rule: Rule,
) -> list[Certificate]:
    """The certificate of each function, recomputed from the data and dual variables T.

    ``solver_values`` are the values of w.phi(x) that predictions use.
    """
    F, squares, dual_squares = fitted.evaluate(X, T)
    parts = []
    for k, (problem, old) in enumerate(zip(problems(task, rule), before, strict=True)):
        f = F[k] + float(fitted.intercept[k])
        found = _certificate(problem, rule, f, T[k], squares[k], dual_squares[k])
        error = greatest_error(solver_values[k], F[k])
        found = replace(found, n_iter=old.n_iter, convexity=old.convexity)
        demand = fitted.demand(problem)
        status = verdict_again(old.status, found, demand, Size.of(f, T[k]))
        parts.append(_in_units(replace(found, audit_error=error), rule.alpha, status))
    return parts


def largest_gap(parts: Sequence[Certificate], task: Task, rule: Rule) -> float:
    """The number that ``tol`` bounds: the greatest gap relative to the loss of a constant."""
    losses = [rule.alpha * constant_loss(problem) for problem in problems(task, rule)]
    gaps = zip(parts, losses, strict=True)  # a class without weight has no loss
    return max(part.gap / loss if loss > 0 else np.inf for part, loss in gaps)


def _certificate(
    problem: LinearProblem, rule: Rule, f: Floats, t: Floats, square: float, dual_square: float
) -> Certificate:
    """The certificate of one function before the verdict, the objectives divided by alpha."""
    tube = (*problem.tube[:4], False)
    return linear_certificate.from_norms(f, tube, t, square, dual_square, rule.bias)


def _in_units(found: Certificate, alpha: float, status: Status) -> Certificate:
    """The certificate with its status, in units of the objective."""
    values = {name: alpha * getattr(found, name) for name in ("primal", "dual", "gap")}
    return replace(found, status=status, **values)
