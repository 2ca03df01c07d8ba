"""Fewer support vectors, and how far that moves the decision functions.

Let f = sum_j c_j k(x_j, .) over the support vectors and f' = sum_s a_s k(x_s, .) over those that
stay, S. In the space of the kernel

    |f - f'|^2 = u' K u,       u = c - a (a is 0 outside S)

is least for K_SS a = K_S: c, and |f(x) - f'(x)| <= sqrt(k(x, x)) |f - f'| for every x: that is the
bound, and k(x, x) = 1 for the RBF, Laplacian, chi2 and cosine kernels. Vectors leave one after the
other. With P = inverse of K_SS, leaving s out and solving for the others' coefficients again adds
a_s^2 / P_ss to the squared distance; the vector with the least goes, and

    a <- a - (a_s / P_ss) P_:s        P <- P - P_:s P_s: / P_ss

Several functions over the same vectors add up. Each pair of classes has a function of its own, over
the vectors of these two classes, and a P of its own. K may be singular: P is that of K + ridge I,
and decides about the order only. The coefficients are solved for again in the end, and the distance
is measured with them, its rounding included.
"""

import copy
from bisect import bisect_right
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from maxmargin import certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators.records import problem_of, record_of
from maxmargin.kernel import multiclass
from maxmargin.kernel.cache import free_memory
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.model import KernelModel
from maxmargin.kernel.sources import make_source
from maxmargin.monitor import interruptible
from maxmargin.status import Status

RIDGE = 1e-10
"""Times the mean of the diagonal: what makes K invertible."""
SINGULAR = 1e-13
"""Eigenvalues of K_SS below this share of the greatest are rounding."""
SHRINK = 0.75
"""P is computed again when that share of it is left."""


class Compression(NamedTuple):
    """What ``compact`` did to a model."""

    before: int
    """Support vectors before."""
    after: int
    distances: tuple[float, ...]
    """|f - f'| of every decision function, in the norm of the kernel's space."""

    @property
    def distance(self) -> float:
        """The greatest of them."""
        return max(self.distances, default=0.0)

    def bound(self, kernel_diagonal: float = 1.0) -> float:
        """By how much a decision value may have changed at a point x.

        ``kernel_diagonal`` is k(x, x), which is 1 for RBF.
        """
        return float(np.sqrt(kernel_diagonal)) * self.distance

    def __str__(self) -> str:
        """One line to read."""
        return (
            f"{self.after} of {self.before} support vectors; decision values changed by at most "
            f"{self.distance:.3g} sqrt(k(x, x))"
        )


class Group(NamedTuple):
    """Decision functions over the same support vectors."""

    members: Integers
    functions: list[int]
    coef: Floats
    """A row for each function, a column for each member."""


def compact(
    model: Any, *, max_support_vectors: int | None = None, tolerance: float | None = None
) -> Any:
    """A copy of a fitted kernel model with fewer support vectors.

    Parameters
    ----------
    model : SVC, NuSVC, OneClassSVM, SVR or NuSVR
        With a kernel that is known to be positive semidefinite: "linear", "poly" (coef0 >= 0),
        "rbf", "laplacian", "chi2", "cosine".
    max_support_vectors : int or None, default=None
        How many may stay.
    tolerance : float or None, default=None
        How far a decision function may move, in the norm of the kernel's space: no decision value
        then changes by more than sqrt(k(x, x)) tolerance, which is the tolerance itself for kernels
        with k(x, x) = 1. As many vectors go as this allows.

    Returns
    -------
    compact_model : estimator
        ``compression_`` holds the numbers of support vectors and the measured distances; its
        ``bound()`` bounds the change of every decision value. The status of ``certificate_`` is
        "compacted". Intervals (``interval=True``) are those of the model given, and their machines
        keep all their vectors.

    Examples
    --------
    >>> from maxmargin import SVC, compact
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> small = compact(SVC(gamma=1.0).fit(X, y), tolerance=0.01)
    >>> small.compression_.bound() <= 0.01
    True
    """
    _check_arguments(model, max_support_vectors, tolerance)
    record: KernelModel = model.model_
    total, groups = record.coef.shape[1], _groups(record)
    needed = 8 * (total**2 + 2 * sum(len(group.members) ** 2 for group in groups))
    if needed > free_memory():
        raise MemoryError(
            f"{total} support vectors need {needed / 2**30:.1f} GiB, and "
            f"{free_memory() / 2**30:.1f} are free."
        )
    K = make_source(record.kernel, record.vectors).block(None, None, np.float64)
    least = 1 if max_support_vectors is None else min(int(max_support_vectors), total)
    removed, limit = total - least, np.inf if tolerance is None else 2.0 * tolerance
    order = _removal_order(K, groups, removed, limit)
    if tolerance is not None:  # the most that may leave, in their order

        def distance(count: int) -> float:
            _, distances = _solved(K, groups, np.setdiff1d(np.arange(total), order[:count]))
            return max(distances, default=0.0)

        removed = bisect_right(range(1, len(order) + 1), float(tolerance), key=distance)
    if removed < total - least and max_support_vectors is not None:
        raise ValueError(
            f"max_support_vectors={max_support_vectors} and tolerance={tolerance:g} cannot both be "
            f"met: the tolerance needs {total - removed} support vectors. Give one of them."
        )
    stay = np.setdiff1d(np.arange(total), order[:removed])
    return _rebuilt(model, stay, *_solved(K, groups, stay))


def _check_arguments(model: Any, most: Any, tolerance: Any) -> None:
    if problem_of(model) is None:
        raise TypeError(
            "compact removes support vectors of SVC, NuSVC, OneClassSVM, SVR and NuSVR, and "
            f"{type(model).__name__} is none of them."
        )
    kernel = record_of(model).kernel
    if most is None and tolerance is None:
        raise ValueError("Give max_support_vectors, tolerance or both.")
    if most is not None and not (isinstance(most, Integral) and int(most) >= 1):
        raise ValueError(f"max_support_vectors must be an integer >= 1, got {most!r}.")
    if not (tolerance is None or (isinstance(tolerance, Real) and 0 <= float(tolerance) < np.inf)):
        raise ValueError(f"tolerance must be a finite number >= 0, got {tolerance!r}.")
    if kernel.positive_semidefinite is not True or kernel.kind is Kind.PRECOMPUTED:
        raise ValueError(
            "The distance of two functions is known for positive semidefinite kernels of known "
            f"points, not for {kernel!r}: use one of linear, poly with coef0 >= 0, rbf, laplacian, "
            "chi2, cosine."
        )


def _groups(record: KernelModel) -> list[Group]:
    """The decision functions by the support vectors they are made of."""
    columns = record.columns()
    if not record.pairs:
        return [Group(np.arange(columns.shape[1]), list(range(len(columns))), columns)]
    pairs, label = multiclass.pairs(len(record.n_support)), record.support_label()
    members = [np.flatnonzero((label == i) | (label == j)) for i, j in pairs]
    return [Group(some, [k], columns[[k]][:, some]) for k, some in enumerate(members)]


def _inverse(K: Floats) -> Floats:
    """The inverse of K plus the least ridge that makes it positive definite; it is symmetric."""
    ridge = RIDGE * max(float(K.diagonal().mean()), np.finfo(float).tiny)
    while True:
        try:
            root = np.linalg.inv(np.linalg.cholesky(K + ridge * np.eye(len(K))))
            return np.asarray(root.T @ root)
        except np.linalg.LinAlgError:
            ridge *= 10


class _Shrinking:
    """P and the coefficients of one group while its members leave."""

    def __init__(self, K: Floats, group: Group) -> None:
        self.K, self.group = K, group
        self._begin(group.members)

    def _begin(self, members: Integers) -> None:
        """Compute everything again for these members, so that rounding does not add up."""
        part = self.K[np.ix_(members, members)]
        self.P = interruptible(_inverse, part)
        self.coef = (self.group.coef @ self.K[np.ix_(self.group.members, members)]) @ self.P
        self.members, self.alive = members, np.ones(len(members), bool)
        self.place = dict(zip(members.tolist(), range(len(members)), strict=True))

    def costs(self) -> Floats:
        """What leaving each member out adds to the squared distances."""
        diagonal = np.maximum(self.P.diagonal(), np.finfo(float).tiny)
        found: Floats = np.where(self.alive, np.square(self.coef).sum(axis=0) / diagonal, np.inf)
        return found

    def leave(self, member: int) -> None:
        """Solve for the others without this member."""
        s = self.place[member]
        column, pivot = self.P[:, s].copy(), max(float(self.P[s, s]), np.finfo(float).tiny)
        self.coef -= np.outer(self.coef[:, s] / pivot, column)
        self.P -= np.outer(column / pivot, column)
        self.coef[:, s] = 0.0
        self.alive[s] = False
        if self.alive.sum() < SHRINK * len(self.alive) and self.alive.any():
            self._begin(self.members[self.alive])


def _removal_order(K: Floats, groups: list[Group], count: int, limit: float) -> Integers:
    """The first vectors to remove, in order: at most ``count``.

    It ends when the squared distances add up to limit^2 for each function.
    """
    states = [_Shrinking(K, group) for group in groups] if count else []
    costs, total = np.zeros(len(K)), 0.0
    for state in states:
        costs[state.members] += state.costs()
    functions = sum(len(group.functions) for group in groups)
    order: list[int] = []
    for _ in range(count):
        gone = int(np.argmin(costs))
        total += max(float(costs[gone]), 0.0)
        if total > limit**2 * functions:
            break
        order.append(gone)
        for state in (one for one in states if gone in one.place):
            costs[state.members[state.alive]] -= state.costs()[state.alive]
            state.leave(gone)
            costs[state.members[state.alive]] += state.costs()[state.alive]
        costs[gone] = np.inf
    return np.array(order, np.int64)


def _solved(
    K: Floats, groups: list[Group], stay: Integers
) -> tuple[list[Group], tuple[float, ...]]:
    """The best coefficients of the vectors that stay, and the distances measured with them."""
    found, distances = [], np.empty(sum(len(group.functions) for group in groups))
    for group in groups:
        inside = np.isin(group.members, stay)
        part, coef = K[np.ix_(group.members, group.members)], group.coef[:, inside]
        if not inside.all():
            kept = part[np.ix_(inside, inside)]
            values, vectors = interruptible(np.linalg.eigh, kept)
            large = values > SINGULAR * values.max(initial=0.0)
            basis, missing = vectors[:, large], group.coef @ part[:, inside] - coef @ kept
            coef = coef + (missing @ basis / values[large]) @ basis.T
        rest = group.coef.copy()
        rest[:, inside] -= coef
        square = np.sum((rest @ part) * rest, axis=1)
        size = np.sum((np.abs(rest) @ np.abs(part)) * np.abs(rest), axis=1)
        rounding = len(part) * np.finfo(float).eps * size
        distances[group.functions] = np.sqrt(np.maximum(square, 0.0) + rounding)
        found.append(Group(group.members[inside], group.functions, coef))
    return found, tuple(distances.tolist())


def _rebuilt(model: Any, stay: Integers, groups: list[Group], distances: tuple[float, ...]) -> Any:
    """A copy of the model with these vectors and coefficients."""
    record: KernelModel = model.model_
    total, n_classes = record.coef.shape[1], len(record.n_support)
    place = np.full(total, -1)
    place[stay] = np.arange(len(stay))
    label = record.support_label()[stay]
    coef = np.zeros((len(record.coef), len(stay)))
    for group in groups:
        columns = place[group.members]
        for k, row in zip(group.functions, group.coef, strict=True):
            rows = multiclass.packed_rows(k, label[columns], n_classes) if record.pairs else k
            coef[rows, columns] = row
    unknown = certificate.unknown(Status.COMPACTED).updated(convexity=record.certificate.convexity)
    small = copy.deepcopy(model)
    small.model_ = replace(
        record,
        coef=coef,
        vectors=record.vectors[stay],
        rows=None if record.rows is None else record.rows[stay],
        n_support=np.bincount(label, minlength=n_classes).astype(np.int32),
        certificate=certificate.worst([unknown] * len(record.intercept)),
    )
    # distances of two steps add up at most
    old = getattr(model, "compression_", Compression(total, 0, (0.0,) * len(distances)))
    together = tuple(before + now for before, now in zip(old.distances, distances, strict=True))
    small.compression_ = Compression(old.before, len(stay), together)
    return small
