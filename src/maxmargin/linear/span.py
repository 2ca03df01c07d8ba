"""Decision values of samples left out of a linear model one at a time, in closed form.

The formulas are those of kernel machines (kernel/span.py) with the kernel x.z, in the primal. With
t the dual variables, active samples a and their r_a, x the sample with a last entry 1 for the
intercept, and P the diagonal of the penalty (1 for each weight, 0 for an intercept that is free)

    H = P + sum_a  x_a x_a' / r_a        q_i = x_i' H^-1 x_i
    f^i(x_i) = f(x_i) - t_i S_i^2        S_i^2 = q_i / (1 - q_i / r_i) if x_i is active, else q_i

so that one factor of the size of the features suffices. An **l1 penalty** |w_j| has a kink, where
weights that are 0 stay. The others have P_j = 1 / |w_j|, the curvature of the parabola that touches
|w_j| from above: without any, H is singular where few samples are active.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.core.threads import one_blas_thread
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, Penalty


class Settings(NamedTuple):
    """Where there is a closed form (decision 22)."""

    most_features: int = 512
    """Features, at most."""
    for_each: int = 10
    """Distinct samples for each feature, at least: with fewer, one sample moves many others onto
    and off the margin."""
    least: float = 1e-9
    """r, at least, of the mean squared length of the samples; how near q / r may be to 1."""
    rows: int = 4096
    """Samples whose q is computed at once."""


SETTINGS = Settings()


def applies(samples: int, features: int) -> bool:
    """Whether there is a closed form that is near enough."""
    return features <= min(SETTINGS.most_features, samples / SETTINGS.for_each)


def shifts(
    design: ArrayDesign,
    problem: LinearProblem,
    t: Floats,
    active: Mask,
    ridge: Floats,
    wanted: Integers,
    w: Floats,
) -> Floats | None:
    """f^i(x_i) - f(x_i) of some samples; None where H is singular."""
    inside, found = np.flatnonzero(active), np.zeros(len(wanted))
    least = SETTINGS.least * float(design.squares.mean() + 1)
    r = np.maximum(ridge, least)
    kept = _kept(problem, w)
    with one_blas_thread():
        L = _factor(design, problem, inside, 1 / r[inside], kept, w)
        if L is None:
            return None
        own = np.flatnonzero(t[wanted])
        for k in range(0, len(own), SETTINGS.rows):
            some = own[k : k + SETTINGS.rows]
            rows = wanted[some]
            X = entries(design.X[rows], problem.bias)
            X = X if kept is None else X[:, kept]
            z = lapack.dtrtrs(L, X.T, lower=1)[0]
            q = np.einsum("ij,ij->j", z, z)
            room = np.maximum(1 - q / r[rows], SETTINGS.least)
            found[some] = -t[rows] * np.where(active[rows], q / room, q)
    return found


def _kept(problem: LinearProblem, w: Floats) -> Integers | None:
    """The weights that can move, and the intercept; None means all."""
    if problem.penalty is Penalty.L2:
        return None
    last = [] if problem.bias is Bias.NONE else [len(w)]
    return np.append(np.flatnonzero(w), last).astype(np.int64)


def _factor(
    design: ArrayDesign,
    problem: LinearProblem,
    inside: Integers,
    weight: Floats,
    kept: Integers | None,
    w: Floats,
) -> Floats | None:
    """L of H = L L'; None where there is none."""
    d = design.shape[1]
    H = np.zeros((d + 1, d + 1))
    H[:d, :d] = design.gram(weight, inside)
    H[:d, d] = H[d, :d] = design.sum(weight, inside)
    H[d, d] = float(weight.sum()) + problem.m
    if kept is not None:
        H = H[np.ix_(kept, kept)]
        inner = np.arange(np.count_nonzero(kept < d))
        H[inner, inner] += 1 / np.abs(w[kept[inner]])
    else:
        H[np.arange(d), np.arange(d)] += 1.0
        if problem.bias is Bias.NONE:
            H = np.ascontiguousarray(H[:d, :d])
    L, failed = lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=1)
    return None if failed else L


def entries(X: Any, bias: Bias) -> Floats:
    """Samples as an array, with a last entry 1 for the intercept."""
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)
    if bias is Bias.NONE:
        return dense
    return np.column_stack([dense, np.ones(len(dense))])
