"""Decision values of samples left out of Crammer and Singer's machine one at a time.

They have a closed form.

Sample i with label y has the loss C_i max_k s_k, s_k = f_k(x_i) - f_y(x_i) + [k != y]. Its duals
t_ik say how C_i is shared among the classes with the greatest s. The loss has kinks where two s are
equal, and they are rounded as those of a hinge are (kernel/span.py): with a the class of the
largest share, each class b that has a share, or whose s_b is within h of s_a, gives the curvature

    R_i = sum_b  c_i (e_a - e_b)(e_a - e_b)'          c_i = C_i / (2 h)

With P the diagonal of the penalty and H = P + sum_i R_i (x) x_i x_i', of the size of features times
classes, leaving out sample i changes its values f = (f_1, ..., f_K) by

    -Q (I - R_i Q)^-1 t_i         Q = (I (x) x_i)' H^-1 (I (x) x_i)

A constant added to the intercepts of all classes changes no loss. Free intercepts therefore get a
penalty of their sum.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats, Integers
from maxmargin.core.threads import one_blas_thread
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias
from maxmargin.linear.span import entries


class Settings(NamedTuple):
    """Where there is a closed form, and how wide kinks are rounded (decision 22)."""

    most_weights: int = 1024
    """Features times classes, at most."""
    nearest: int = 32
    """Samples within the width of a rounded kink, beside those with two shares."""
    widest: float = 0.25
    """The greatest width."""
    rounding: float = 1e-6
    """A share of C that is less is none."""
    least: float = 1e-9
    """2 h / C, at least, of the mean squared length of the samples; the distance of I - R Q from
    a singular matrix."""
    entries: int = 2**22
    """Numbers of one piece of right-hand sides."""


SETTINGS = Settings()


class Kinks(NamedTuple):
    """Where losses are curved: class pairs (a, b) of samples."""

    row: Integers
    a: Integers
    b: Integers
    weight: Floats


def applies(features: int, n_classes: int) -> bool:
    """Whether the closed form is small enough."""
    return (features + 1) * n_classes <= SETTINGS.most_weights


def shifts(
    design: ArrayDesign, problem: ClassesProblem, t: Floats, values: Floats, wanted: Integers
) -> Floats | None:
    """The changes of all classes' values of some samples; None where H is singular.

    Duals ``t`` and values have a column for each class; samples with C = 0 have no loss.
    """
    kinks = _kinks(problem, t, values, float(design.squares.mean() + 1))
    found = np.zeros((len(wanted), problem.n_classes))
    own = np.flatnonzero(t[wanted].any(axis=1))
    with one_blas_thread():
        L = _factor(design, problem, kinks)
        if L is None:
            return None
        classes, curved = _of_samples(kinks, t, problem.n_classes)
        step = max(1, SETTINGS.entries // (len(L) * (classes.shape[1] + 1)))
        for k in range(0, len(own), step):
            some = own[k : k + step]
            rows = wanted[some]
            X = entries(design.X[rows], problem.bias)
            found[some] = _changes(L, X, classes[rows], curved[rows], t[rows])
    return found


def _kinks(problem: ClassesProblem, t: Floats, values: Floats, size: float) -> Kinks:
    """The kinks that samples are at, or near."""
    label, C = problem.label, problem.C
    rows = np.arange(len(label))
    share, s = -t, values + 1.0
    share[rows, label] += C
    s[rows, label] -= 1.0
    has = share > SETTINGS.rounding * C[:, None]
    a = np.where(C > 0, share.argmax(axis=1), s.argmax(axis=1))
    apart = np.abs(s[rows, a][:, None] - s)
    apart[rows, a] = np.inf
    near = np.where((has.sum(axis=1) > 1) | (C <= 0), np.inf, apart.min(axis=1))
    width = SETTINGS.widest
    if len(near) > SETTINGS.nearest:
        width = min(width, float(np.partition(near, SETTINGS.nearest)[SETTINGS.nearest]))
    has |= (apart <= width) & (C > 0)[:, None]
    has[rows, a] = False
    row, b = np.nonzero(has)
    ridge = np.maximum(2 * width / C[row], SETTINGS.least * size)
    return Kinks(row, a[row], b, 1 / ridge)


def _factor(design: ArrayDesign, problem: ClassesProblem, kinks: Kinks) -> Floats | None:
    """L of H = L L', class by class; None where there is none."""
    d, free = design.shape[1], problem.bias is not Bias.NONE
    width, k = d + free, problem.n_classes
    H = np.zeros((k, width, k, width))
    H[:, np.arange(d), :, np.arange(d)] = np.eye(k)
    if free:
        H[:, d, :, d] = problem.m * np.eye(k) if problem.m > 0 else 1.0
    pair = np.minimum(kinks.a, kinks.b) * k + np.maximum(kinks.a, kinks.b)
    order = np.argsort(pair, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1):
        if len(part):
            a, b = int(kinks.a[part[0]]), int(kinks.b[part[0]])
            X = entries(design.X[kinks.row[part]], problem.bias)
            gram = (X * kinks.weight[part, None]).T @ X
            H[a, :, a] += gram
            H[b, :, b] += gram
            H[a, :, b] -= gram
            H[b, :, a] -= gram
    L, failed = lapack.dpotrf(H.reshape(k * width, k * width).T, lower=1, clean=0, overwrite_a=1)
    return None if failed else L


def _of_samples(kinks: Kinks, t: Floats, k: int) -> tuple[Integers, Floats]:
    """The classes that leaving a sample out moves at first, -1 beyond, and R_i of all classes."""
    n = len(t)
    R = np.zeros((n, k, k))
    for a, b, sign in ((kinks.a, kinks.a, 1), (kinks.b, kinks.b, 1), (kinks.a, kinks.b, -1)):
        np.add.at(R, (kinks.row, a, b), sign * kinks.weight)
    R = np.where(R == 0, R.transpose(0, 2, 1), R)
    involved = (t != 0) | (np.einsum("ikk->ik", R) > 0)
    most = max(int(involved.sum(axis=1).max(initial=1)), 1)
    order = np.argsort(~involved, axis=1, kind="stable")[:, :most]
    rows = np.arange(n)[:, None]
    classes = np.where(involved[rows, order], order, -1)
    return classes, R


def _changes(L: Floats, X: Floats, classes: Integers, R: Floats, t: Floats) -> Floats:
    """The changes of the values of some samples."""
    n, width = X.shape
    most, k = classes.shape[1], len(L) // width
    right = np.zeros((k, width, n, most))
    row, place = np.nonzero(classes >= 0)
    right[classes[row, place], :, row, place] = X[row]
    z = lapack.dtrtrs(L, right.reshape(len(L), n * most), lower=1)[0].reshape(len(L), n, most)
    Q = np.einsum("dni,dnj->nij", z, z)
    at, rows = np.maximum(classes, 0), np.arange(n)[:, None]
    inside = R[rows[:, :, None], at[:, :, None], at[:, None, :]]
    inside = inside * ((classes >= 0)[:, :, None] & (classes >= 0)[:, None, :])
    matrix = (1 + SETTINGS.least) * np.eye(most) - inside @ Q
    own = np.where(classes >= 0, t[rows, at], 0.0)
    v = np.linalg.solve(matrix, own[:, :, None])[:, :, 0]
    moved = lapack.dtrtrs(L, np.einsum("dni,ni->dn", z, v), lower=1, trans=1)[0]
    found: Floats = -np.einsum("kdn,nd->nk", moved.reshape(k, width, n), X)
    return found
