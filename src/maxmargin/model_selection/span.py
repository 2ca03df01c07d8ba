"""Closed forms of the decision values of samples left out: see leave_one_out.py."""

import numpy as np

from maxmargin.core.arrays import Floats
from maxmargin.kernel.span import Function, shifts
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection.parts import ROUNDING, Machine, Part

ROWS = 512
"""Rows of kernel values looked at together."""


def by_span(machine: Machine, part: Part, workspace: KernelWorkspace, values: Floats) -> Floats:
    """f(x_i) - b_i S_i^2."""
    coef = _coef(machine, part)
    free = part.free(machine, coef)
    own = np.where(free, part.ridge(machine), 0.0)
    function = Function(*(np.zeros(len(values), some.dtype) for some in (coef, free, own)))
    for whole, some in zip(function, (coef, free, own), strict=True):
        whole[part.rows] = some
    shift = shifts(workspace.source, function, part.rows)
    if shift is None:
        raise ValueError(
            "method='span' needs kernel values of the free support vectors that are positive "
            "definite beyond rounding: use method='exact'."
        )
    found = values.copy()
    found[part.rows] += shift
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
