"""An independent check of a solution: primal value, dual value, gap and optimality conditions, in float64.

This file shares no code with the solvers and their core: kernels are evaluated here by plain NumPy formulas, distances by explicit
differences. With decision values f_i, coefficients b_i, a_i = y_i b_i and |w|^2 = sum_i b_i (f_i - bias), the gap between the primal
and the dual value is

    C-SVC      sum_i (C_i - a_i) max(0, 1 - y_i f_i) + a_i max(0, y_i f_i - 1)
    eps-SVR    sum_i C_i max(0, |r_i| - eps) + eps |b_i| - b_i r_i            r_i = z_i - f_i
    one-class  sum_i a_i f_i + C_i max(0, -f_i)                               f_i with the offset
    squared    (P - D)  with P = |w|^2/2 + sum C_i xi_i^2,  D = the dual with - b_i^2 / (4 C_i)
    hard       |w|^2/2 (1/m^2) - D,  m = min_i y_i f_i: the solution scaled to be feasible
    C = inf    eps-SVR with epsilon raised to the largest residual: the solution is feasible there

nu-SVC is certified as the C-SVC with C_i = w_i / r, r = nu sum_i w_i / sum_i |b_i|: that nu is the right one; nu-SVR as the eps-SVR with
the width it found, plus eps (nu sum_i C_i - sum_i |b_i|): that width is the right one. Where the kernel is positive
semidefinite the optimum lies between the dual and the primal value, and the kernel part of every decision value is within
sqrt(2 gap k(x, x)) of the exact one. Linear models have a file of their own, linear_certificate.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.utils import _safe_indexing

from maxmargin.columns import without_empty_columns
from maxmargin.kernels import Kernel, Kind
from maxmargin.problems import Floats
from maxmargin.solution import Status

BLOCK_ENTRIES = 2**22
"""Kernel values held at once."""
EXTENDED = 2**25
"""Products of two features that a fit's audit in long double may take: a fraction of a second."""
DIAGONAL = 64
"""Rows and columns of the blocks on the diagonal."""
ZERO = 1e-14
"""Share of the terms of a sum that rounding leaves where the sum is 0."""
AT_BOUND = 1e-9
"""Share of its bound within which a coefficient is at it, where the bound is known from a sum."""
HUGE = np.errstate(over="ignore", invalid="ignore")
"""Objectives may exceed float64: what is infinite or not a number is no certificate."""
UNCHECKED = tuple(status.name.lower() for status in (Status.IMPORTED, Status.COMPACTED))
"""Statuses of models that nobody has certified."""

CONVEX = ("proved", "checked", "assumed")
"""What is known about the kernel matrix where a stationary point is an optimum; see Certificate."""
CONVEXITIES = (*CONVEX, "unknown", "indefinite")


@dataclass(frozen=True, repr=False)
class Certificate:
    """What is known about a solution.

    Attributes
    ----------
    status : str
        "optimal", "approximate" (linear models and Pegasos: the gap is within tol, while the conditions of single samples are
        not), "stationary" (indefinite kernel), "max_iter", "time_limit", "interrupted", "stalled" (float64 does not reach the
        tolerance), "degenerate" (nu-SVC with w = 0), "refuted" (``certify`` found the conditions broken on the data it was given),
        "imported" (read from a file of another program: nothing was checked), or "compacted" (by ``compact``, after the fit).
    primal, dual, gap, relative_gap : float
        Values of the two problems; gap = primal - dual, relative to the larger magnitude. Sums over ``parts`` where there are several.
    kkt_violation : float
        The greatest amount by which a sample's decision value breaks its optimality condition.
    box_violation, equality_violation : float
        By how much the variables leave their bounds, and their sum its value.
    audit_error : float
        The greatest difference between decision values of the solver and those computed here, on the rows compared; what rounding
        may amount to, where that decides about the status and there are too many rows to compare all.
    n_iter : int
        Pair steps, or Newton steps with ``solver="newton"``.
    convexity : str
        "proved" (every matrix of this kernel is positive semidefinite), "checked" (this one is), "assumed" (the user's matrix or
        function, of which only a part could be checked: "optimal" rests on its being a kernel), "unknown" (a kernel that need not be,
        of which only a part was checked), or "indefinite" (it is not): the last two are never "optimal", and the gap bounds nothing.
    parts : tuple of Certificate
        One for each binary problem where there are several; this one then holds the worst of each.
    """

    status: str
    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    box_violation: float
    equality_violation: float
    audit_error: float = 0.0
    n_iter: int = 0
    convexity: str = "proved"
    parts: tuple["Certificate", ...] = ()

    def decision_error(self, kernel_diagonal: float = 1.0) -> float:
        """Bound on the error of the kernel part of a decision value at a point x with k(x, x) = kernel_diagonal (1 for RBF)."""
        return float(np.sqrt(2 * max(self.gap, 0.0) * kernel_diagonal)) if self.convexity in CONVEX else np.inf

    def __repr__(self) -> str:
        """The line of __str__, marked as a certificate; the fields are attributes."""
        return f"<Certificate {self}>"

    def __str__(self) -> str:
        """One line to read."""
        if self.status in UNCHECKED and not np.isfinite(self.gap):
            return f"{self.status}: {Status[self.status.upper()].value}"
        parts = f", worst of {len(self.parts)} problems" if self.parts else ""
        assumed = " (kernel assumed positive semidefinite)" if (self.status, self.convexity) == ("optimal", "assumed") else ""
        return (
            f"{self.status}{assumed}: gap {max(self.gap, 0.0):.3g} ({max(self.relative_gap, 0.0):.2g} of the objective {self.primal:.7g}), "
            f"KKT violation {self.kkt_violation:.2g}, {self.n_iter:,} steps{parts}"
        )


# ---- the three losses ------------------------------------------------------------------------------------------------


def certificate_of(
    primal: float, dual: float, gap: float, kkt: Floats, box: Floats, equality: float, rounding: tuple[float, float] = (0.0, 0.0)
) -> Certificate:
    """A certificate without its outcome, from violations of the conditions and the bounds, sample by sample.

    ``rounding`` is what float64 leaves of a primal and of a dual value of 0. Where both are that small the relative gap is 0: there is
    no objective to compare the gap with.
    """
    size = max(abs(primal), abs(dual), np.finfo(float).tiny)
    relative = gap / size if np.isfinite(gap) else np.inf
    if abs(primal) <= rounding[0] and abs(dual) <= rounding[1]:
        relative = 0.0
    return Certificate(
        "", primal, dual, gap, relative, float(max(0.0, kkt.max(initial=0.0))), float(max(0.0, box.max(initial=0.0))), equality
    )


@HUGE
def classification(f: Floats, y: Floats, C: Floats, b: Floats, bias: float, squared: bool = False) -> Certificate:
    """C-SVC; y is +1 or -1; an infinite C is the hard margin."""
    a, distance = y * b, y * f
    slack, excess = np.maximum(0.0, 1 - distance), np.maximum(0.0, distance - 1)
    norm = float(np.sum(b * (f - bias)))
    equality = float(abs(np.sum(b)))
    if np.isinf(C).all():
        least = float(distance.min(initial=np.inf))
        dual = float(np.sum(a)) - norm / 2
        primal = norm / 2 / least / least if least > 0 else np.inf
        return certificate_of(primal, dual, primal - dual, np.where(a > 0, np.abs(distance - 1), slack), -a, equality)
    if squared:
        primal = norm / 2 + float(np.sum(C * slack**2))
        dual = float(np.sum(a)) - norm / 2 - float(np.sum(a * (a / C))) / 4
        # a = 2 C xi where xi > 0: the difference is what the margin would have to move
        return certificate_of(primal, dual, primal - dual, np.abs(slack - a / C / 2), -a, equality)
    primal = norm / 2 + float(np.sum(C * slack))
    dual = float(np.sum(a)) - norm / 2
    gap = float(np.sum((C - a) * slack + a * excess))
    kkt = np.maximum(np.where(a < C, slack, 0.0), np.where(a > 0, excess, 0.0))
    return certificate_of(primal, dual, gap, kkt, np.maximum(-a, a - C), equality)


def bounds_of_nu(weight: Floats, b: Floats, nu: float | None) -> Floats:
    """C_i of the C-SVC with the solution of a nu-SVC: its coefficients sum to nu sum_i C_i.

    Coefficients within rounding of their bound are at it. Without nu (a model of another program) the
    bounds are the least that the coefficients keep.
    """
    size = np.abs(b)
    if nu is None:
        return np.asarray(weight * (size / weight).max(initial=0.0))
    C = weight * (float(size.sum()) / (nu * float(weight.sum())))
    return np.where(np.abs(size - C) <= AT_BOUND * C, size, C)


@HUGE
def regression(
    f: Floats,
    z: Floats,
    C: Floats,
    epsilon: float,
    b: Floats,
    bias: float,
    squared: bool = False,
    total: float | None = None,
) -> Certificate:
    """eps-SVR; with ``total`` nu-SVR, whose price for epsilon is total = nu sum_i C_i."""
    r = z - f
    if np.isinf(C).any():  # no residual may exceed epsilon: certify the problem whose epsilon the solution keeps
        epsilon = max(epsilon, float(np.abs(r).max(initial=0.0)))
    outside = np.maximum(0.0, np.abs(r) - epsilon)
    norm = float(np.sum(b * (f - bias)))
    equality = float(abs(np.sum(b)))
    size = float(np.sum(np.abs(b)))
    value = float(np.sum(z * b)) - epsilon * size
    if squared:
        primal = norm / 2 + float(np.sum(C * outside**2))
        dual = value - norm / 2 - float(np.sum(b * (b / C))) / 4
        kkt = np.where(b != 0, np.abs(np.sign(b) * r - epsilon - np.abs(b) / C / 2), outside)
        return certificate_of(primal, dual, primal - dual, kkt, np.zeros(1), equality)
    with np.errstate(invalid="ignore"):
        penalty = np.where(outside > 0, C * outside, 0.0)
    primal, dual = norm / 2 + float(np.sum(penalty)), value - norm / 2
    gap = float(np.sum(penalty + epsilon * np.abs(b) - b * r))
    if total is not None:
        primal, dual, gap = primal + epsilon * total, dual + epsilon * size, gap + epsilon * (total - size)
        equality = max(equality, size - total)
    up, down = np.maximum(b, 0.0), np.maximum(-b, 0.0)
    kkt = np.max(
        [
            np.where(up < C, r - epsilon, 0.0),
            np.where(up > 0, epsilon - r, 0.0),
            np.where(down < C, -r - epsilon, 0.0),
            np.where(down > 0, epsilon + r, 0.0),
        ],
        axis=0,
        initial=0.0,
    )
    trivial = float(np.sum(np.where(np.isfinite(C), C * (abs(bias) + np.abs(z)), 0.0)))
    zero = ZERO * trivial, ZERO * float(np.sum(np.abs(b * z)))
    return certificate_of(primal, dual, gap, kkt, np.abs(b) - C, equality, zero)


@HUGE
def one_class(f: Floats, C: Floats, b: Floats, offset: float, total: float, diagonal: float = 0.0) -> Certificate:
    """One-class: f includes the offset -rho, the coefficients sum to total; ``diagonal`` is the greatest k(x, x)."""
    unit = float(2.0 ** min(max(int(np.frexp(C.max(initial=0.0))[1]), -1022), 1023))  # objectives of any scale have a relative gap
    f, C, b, offset, total = f / unit, C / unit, b / unit, offset / unit, total / unit
    norm = float(np.sum(b * (f + offset)))
    below = np.maximum(0.0, -f)
    primal = norm / 2 - offset * total + float(np.sum(C * below))
    dual = -norm / 2
    gap = float(np.sum(b * f + C * below))
    kkt = np.maximum(np.where(b < C, below, 0.0), np.where(b > 0, f, 0.0))
    zero = ZERO * diagonal * total
    rounding = zero * (total + float(np.sum(C))), zero * total
    found = certificate_of(primal, dual, gap, kkt, np.maximum(-b, b - C), float(abs(np.sum(b) - total)), rounding)
    return replace(
        found,
        primal=primal * unit * unit,
        dual=dual * unit * unit,
        gap=gap * unit * unit,
        kkt_violation=found.kkt_violation * unit,
        box_violation=found.box_violation * unit,
        equality_violation=found.equality_violation * unit,
    )


def worst(parts: Sequence[Certificate]) -> Certificate:
    """One certificate for several problems: objectives added, everything else the worst."""
    if len(parts) == 1:
        return parts[0]
    order = [status.name.lower() for status in Status]
    primal, dual, gap = (sum(getattr(p, name) for p in parts) for name in ("primal", "dual", "gap"))
    return Certificate(
        max((p.status for p in parts), key=order.index),
        primal,
        dual,
        gap,
        max(p.relative_gap for p in parts),
        max(p.kkt_violation for p in parts),
        max(p.box_violation for p in parts),
        max(p.equality_violation for p in parts),
        max(p.audit_error for p in parts),
        sum(p.n_iter for p in parts),
        max((p.convexity for p in parts), key=CONVEXITIES.index),
        tuple(parts),
    )


def with_status(found: Certificate, status: Status) -> Certificate:
    """Add the verdict."""
    return replace(found, status=status.name.lower())


# ---- kernels, evaluated anew -----------------------------------------------------------------------------------------


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _unit(X: Any) -> Any:
    """Rows of unit length; the largest entry goes first, squares may underflow."""
    for power in (np.inf, 2):
        if sparse.issparse(X):
            size = linalg.norm(X, ord=np.inf, axis=1) if power == np.inf else linalg.norm(X, axis=1)
            X = sparse.csr_matrix(sparse.diags(1 / np.where(size == 0, 1.0, size)) @ X)
        else:
            size = np.linalg.norm(X, ord=power, axis=1)
            X = X / np.where(size == 0, 1.0, size)[:, None]
    return X


def _squared_distances(A: Any, B: Any) -> NDArray[np.float64]:
    """|a - b|^2 by explicit differences; for sparse data too wide for that by |a|^2 + |b|^2 - 2 a.b."""
    if max(A.shape[0], B.shape[0]) * A.shape[1] <= 4 * BLOCK_ENTRIES or not sparse.issparse(A):
        return np.asarray(cdist(_dense(A), _dense(B), "sqeuclidean"))
    squares = [np.asarray(X.multiply(X).sum(axis=1)).ravel() for X in (A, B)]
    return np.asarray(np.maximum(0.0, squares[0][:, None] + squares[1][None, :] - 2 * _dense(A @ B.T)))


def _feature_sums(A: Any, B: Any, squared_over_sum: bool) -> NDArray[np.float64]:
    """Sum over features of |a - b| or of (a - b)^2 / (a + b), feature by feature."""
    if sparse.issparse(A):
        A, B = A.tocsc(), B.tocsc()
    distance = np.zeros((A.shape[0], B.shape[0]))
    for k in range(A.shape[1]):
        a, b = _dense(A[:, [k]]), _dense(B[:, [k]]).T
        if squared_over_sum:
            total = a + b
            distance += np.where(total == 0, 0.0, (a - b) ** 2 / np.where(total == 0, 1.0, total))
        else:
            distance += np.abs(a - b)
    return distance


@np.errstate(over="ignore", invalid="ignore")  # exp(-inf) is 0; what is not finite is seen in the result
def kernel_values(kernel: Kernel, A: Any, B: Any) -> NDArray[np.float64]:
    """k(A, B) in float64 by the textbook formulas."""
    if kernel.kind is Kind.CALLABLE:
        assert kernel.function is not None
        return _dense(kernel.function(A, B))
    A, B = without_empty_columns(*(X.astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64) for X in (A, B)))
    gamma = kernel.gamma
    if kernel.kind is Kind.RBF:
        return np.asarray(np.exp(-gamma * _squared_distances(A, B)))
    if kernel.kind in (Kind.LAPLACIAN, Kind.CHI2):
        return np.asarray(np.exp(-gamma * _feature_sums(A, B, kernel.kind is Kind.CHI2)))
    if kernel.kind is Kind.COSINE:
        return _dense(_unit(A) @ _unit(B).T)
    return _of_dot(kernel, _dense(A @ B.T))


@np.errstate(over="ignore", invalid="ignore")
def _of_dot(kernel: Kernel, dot: Floats) -> Floats:
    """Kernel values from dot products."""
    if kernel.kind is Kind.LINEAR:
        return dot
    values = kernel.gamma * dot + kernel.coef0
    if kernel.kind is Kind.POLY:
        return np.asarray(values**kernel.degree)
    return np.asarray(np.tanh(values) if kernel.kind is Kind.TANH else expit(values))


def kernel_diagonal(kernel: Kernel, X: Any) -> Floats:
    """|k(x, x)| of every sample; for a precomputed kernel X is its matrix."""
    if kernel.kind is Kind.PRECOMPUTED:
        return np.abs(np.asarray(np.diagonal(X), dtype=np.float64))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if kernel.kind in (Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE):
        return np.ones(n)
    if kernel.kind is not Kind.CALLABLE:
        with np.errstate(over="ignore"):
            squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return np.abs(_of_dot(kernel, np.asarray(squares, dtype=np.float64).ravel()))
    found = np.zeros(n)
    for begin in range(0, n, DIAGONAL):
        rows = np.arange(begin, min(n, begin + DIAGONAL))
        part = X[rows] if hasattr(X, "dtype") else _safe_indexing(X, rows)
        found[rows] = np.abs(kernel_values(kernel, part, part).diagonal())
    return found


def kernel_products(
    kernel: Kernel, A: Any, coef: NDArray[np.float64], B: Any, constant: Any = 0.0, exact: bool = False
) -> NDArray[np.float64]:
    """K(B, A) @ coef + constant in blocks of B; for a precomputed kernel B is the matrix K(B, A).

    ``exact`` sums are in long double: they do not depend on the order of the terms.
    """
    dtype = np.longdouble if exact else np.float64
    n = B.shape[0] if hasattr(B, "shape") else len(B)
    coef, out = coef.astype(dtype), np.zeros((n, coef.shape[1]))
    step = max(1, BLOCK_ENTRIES // max(1, len(coef)))
    for begin in range(0, n if len(coef) else 0, step):
        rows = np.arange(begin, min(n, begin + step))
        part = B[rows] if hasattr(B, "dtype") else _safe_indexing(B, rows)
        values = _dense(part) if kernel.kind is Kind.PRECOMPUTED else kernel_values(kernel, part, A)
        out[rows] = np.einsum("ij,jc->ic", values.astype(dtype, copy=False), coef) + constant
    return out if len(coef) else out + constant


def products_per_row(kernel: Kernel, A: Any, support: int) -> int:
    """Multiplications for a decision value of so many terms; A are the points they belong to."""
    features = 1 if kernel.kind is Kind.PRECOMPUTED or not hasattr(A, "shape") else int(A.shape[1])
    return support * features


def extended_products(kernel: Kernel, A: Any, coef: NDArray[np.float64], B: Any, constant: Any = 0.0) -> NDArray[np.float64]:
    """kernel_products for functions of x.z, in long double throughout."""
    A = A.astype(np.longdouble) if sparse.issparse(A) else np.asarray(A, dtype=np.longdouble)
    step = max(1, BLOCK_ENTRIES // max(1, len(coef)))
    parts = [_extended(kernel, A, coef, B[i : i + step], constant) for i in range(0, B.shape[0], step)]
    return np.concatenate([np.zeros((0, coef.shape[1])), *parts])


@np.errstate(over="ignore", invalid="ignore")
def _extended(kernel: Kernel, A: Any, coef: NDArray[np.float64], B: Any, constant: Any) -> NDArray[np.float64]:
    B = B.astype(np.longdouble) if sparse.issparse(B) else np.asarray(B, dtype=np.longdouble)
    if kernel.kind is Kind.COSINE:
        A, B = _unit(A), _unit(B)
    values = B @ A.T
    values = values.toarray() if sparse.issparse(values) else values
    if kernel.kind in (Kind.POLY, Kind.TANH, Kind.LOGISTIC):
        values = np.longdouble(kernel.gamma) * values + np.longdouble(kernel.coef0)
    if kernel.kind is Kind.POLY:
        values = values**kernel.degree
    elif kernel.kind is Kind.TANH:
        values = np.tanh(values)
    elif kernel.kind is Kind.LOGISTIC:
        values = 1 / (1 + np.exp(-values))
    return np.asarray(np.einsum("ij,jc->ic", values, coef.astype(np.longdouble)) + constant, dtype=np.float64)
