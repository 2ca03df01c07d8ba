"""Closed forms of the decision values of samples left out: see leave_one_out.py."""

import numpy as np

from maxmargin.core.arrays import Floats, Mask
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection.parts import ROUNDING, Machine, Part

RIDGE = 1e-12
"""Share of the mean diagonal that keeps the matrix of the free support vectors regular: copies of
a sample have a span of nearly 0."""
ROWS = 512
"""Rows of kernel values looked at together."""


def by_span(machine: Machine, part: Part, workspace: KernelWorkspace, values: Floats) -> Floats:
    """f(x_i) - b_i S_i^2."""
    coef, ridge = _coef(machine, part), part.ridge(machine)
    support, free = coef != 0, part.free(machine, coef)
    squared = _spans(part, workspace, ridge, support, free)
    found = values.copy()
    own = part.rows[support]
    found[own] += coef[support] * (ridge[support] - squared)
    return found


def by_range(machine: Machine, part: Part, workspace: KernelWorkspace, values: Floats) -> Floats:
    """f(x_i) - 2 b_i R^2 where the bound is proved, elsewhere infinite on the wrong side."""
    coef, ridge = _coef(machine, part), part.ridge(machine)
    greatest = float((workspace.source.diagonal()[part.rows] + ridge).max())
    least = min(
        float(workspace.source.block(some, part.rows, np.float64).min())
        for some in np.split(part.rows, range(ROWS, len(part.rows), ROWS))
    )
    found = values.copy()
    found[part.rows] += coef * (ridge - 2 * (greatest - least))
    size: Floats = np.abs(coef)
    unproved = _room(machine, part, coef) <= size + ROUNDING * size.max(initial=0.0)
    found[part.rows[unproved]] = -np.inf * part.target[unproved]
    return found


def _room(machine: Machine, part: Part, coef: Floats) -> Floats:
    """For each sample, by how much the other free variables can move in its stead."""
    free, size = part.free(machine, coef), np.abs(coef)
    up = np.where(free, part.bounds(machine) - size, 0.0)
    down, positive = np.where(free, size, 0.0), part.target > 0
    found = np.empty(len(size))
    for here in (positive, ~positive):
        others = up[here]
        if np.isinf(others).any():  # without bounds
            some = np.count_nonzero(np.isinf(others)) - np.isinf(others)
            found[here] = np.where(some > 0, np.inf, down[~here].sum())
        else:
            found[here] = others.sum() - others + down[~here].sum()
    return found


def _coef(machine: Machine, part: Part) -> Floats:
    """The coefficients of the samples of a problem."""
    record = machine.model_
    found = np.zeros(record.n_samples)
    found[record.rows] = record.coef[0]
    return found[part.rows]


def _spans(
    part: Part, workspace: KernelWorkspace, ridge: Floats, support: Mask, free: Mask
) -> Floats:
    """S_i^2 of the support vectors; infinite where no other is free."""
    found = np.full(len(part.rows), np.inf)
    inside, count = part.rows[free], int(free.sum())
    if count > 0:
        K = workspace.source.block(inside, inside, np.float64).copy()
        K[np.diag_indices(count)] += ridge[free] + RIDGE * np.trace(K) / count
        H = np.ones((count + 1, count + 1))
        H[:count, :count], H[count, count] = K, 0.0
        inverse = np.linalg.inv(H)
        if count > 1:
            found[free] = 1 / np.diag(inverse)[:count]
        at = support & ~free
        v = np.ones((count + 1, int(at.sum())))
        v[:count] = workspace.source.block(inside, part.rows[at], np.float64)
        own = workspace.source.diagonal()[part.rows[at]] + ridge[at]
        found[at] = own - np.einsum("ij,ij->j", v, inverse @ v)
    squared: Floats = np.maximum(found[support], 0.0)
    return squared
