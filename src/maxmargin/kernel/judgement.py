"""Several classifiers judged at once: what training.judged does for one, without its way from one
to the next.

The problems are C-SVCs with the plain hinge, the groups of one problem (together.py). Their
certificates are sums over the groups (certificate.classifications). **The audit** evaluates all of
them on the same rows: some of each cell of the partition (a class), so that a pair of classes has
rows of both. Half of them are drawn at random, the others have the largest coefficients. verdict.py
decides.

Where rounding may decide about the status there is no verdict here: training.judged takes the
closer look that this needs.
"""

import itertools
from typing import Any

import numpy as np

from maxmargin.audit import drawn
from maxmargin.core.arrays import Floats, Integers, Mask
from maxmargin.kernel import certificate, evaluation
from maxmargin.kernel.audit import EPS
from maxmargin.kernel.audit import SETTINGS as AUDIT
from maxmargin.kernel.evaluation import kernel_diagonal, kernel_values
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.solution import levels
from maxmargin.kernel.state import State
from maxmargin.kernel.training import SETTINGS, Trained
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.status import Convexity, Status
from maxmargin.verdict import Demand, Size, error_allowed, verdict


def judged_together(
    workspace: KernelWorkspace, state: State, a: Integers, steps: list[int], tol: float
) -> list[Trained | None]:
    """The decision functions of all groups; None where one is not optimal or rounding may decide.

    ``a`` are the samples of the variables, ``steps`` those that each group took.
    """
    problem, b, variables = state.problem, state.b, state.variables(state.G)
    begin, ends = variables.begin, levels(variables, state.backend)
    bias = np.array([end.value for end in ends])
    level = bias[problem.group]
    f = state.F + level
    bounds = problem.upper - problem.lower
    certificates = certificate.classifications(f, -problem.linear, bounds, b, level, begin)
    sizes = _sizes(f, b, bounds, bias, begin)
    diagonal = float(kernel_diagonal(workspace.samples.kernel, workspace.samples.own).max())
    error = EPS * diagonal, workspace.source.value_error
    errors = _audit(workspace, a, b, f, level, begin)
    demand = Demand.on_violation(tol)
    found: list[Trained | None] = []
    support = np.add.reduceat(b != 0, begin[:-1], dtype=np.int64).tolist()
    for g, (known, size) in enumerate(zip(certificates, sizes, strict=True)):
        known = known.updated(convexity=Convexity.PROVED, audit_error=errors[g], n_iter=steps[g])
        allowed = SETTINGS.rounding_share * error_allowed(None, known, demand, size)
        status = verdict(None, known, demand, size)
        # as in audit.py; where the bound is within it, rounding of distances is too
        rounding = size.total * (error[0] * support[g] ** 0.5 + error[1])
        if status is not Status.OPTIMAL or rounding > allowed:
            found.append(None)
            continue
        coef, end = b[begin[g] : begin[g + 1]].copy(), ends[g]
        decision = Decision(coef, end.value, (end.low, end.high), diagonal=diagonal)
        found.append(Trained(decision, known.updated(status=status)))
    return found


def _sizes(f: Floats, b: Floats, bounds: Floats, bias: Floats, begin: Integers) -> list[Size]:
    """Size.of for every group."""
    add, greatest, size = np.add.reduceat, np.maximum.reduceat, np.abs(b)
    values = np.maximum(greatest(np.abs(f), begin[:-1]), np.abs(bias))
    weight = np.where(size > 0, bounds, 0.0)
    columns = (values, greatest(size, begin[:-1]), *(add(v, begin[:-1]) for v in (size, weight)))
    return [Size(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _audit(
    workspace: KernelWorkspace, a: Integers, b: Floats, f: Floats, level: Floats, begin: Integers
) -> list[float]:
    """The greatest difference from decision values by evaluation.py, for every group."""
    samples, n = workspace.samples, workspace.source.n_rows
    weight: Floats = np.bincount(a, np.abs(b), n).astype(np.float64)
    vectors, audited = np.flatnonzero(weight), _audited(workspace, weight)
    rows = np.flatnonzero(audited)
    row, column = np.empty((2, n), np.int64)  # of a sample, in K
    row[rows], column[vectors] = np.arange(len(rows)), np.arange(len(vectors))
    K = _values(samples.kernel, samples.pick(rows), samples.pick(vectors))
    compared, used = np.flatnonzero(audited[a]), np.flatnonzero(b)
    at, of, coef = row[a[compared]], column[a[used]], b[used]
    ends = (np.searchsorted(index, begin).tolist() for index in (compared, used))
    rows_of, vectors_of = (list(itertools.pairwise(end)) for end in ends)
    exact = np.concatenate(
        [
            np.einsum("ij,j->i", K[at[p:q, None], of[first:last]], coef[first:last])
            for (p, q), (first, last) in zip(rows_of, vectors_of, strict=True)
        ]
    )
    exact += level[compared]
    errors = np.abs(exact - f[compared])
    found: list[float] = np.maximum.reduceat(errors, [p for p, _ in rows_of]).tolist()
    return found


def _audited(workspace: KernelWorkspace, weight: Floats) -> Mask:
    """The samples of the audit; ``weight`` are the sums of their coefficients."""
    source, cells = workspace.source, workspace.cells
    members = [np.arange(source.n_rows)] if cells is None else cells.members
    count = max(AUDIT.fewest // 2, AUDIT.rows // len(members))
    chosen = np.zeros(source.n_rows, bool)
    for rows in members:
        chosen[rows[_some(weight[rows], count)]] = True
    return chosen


def _some(weight: Floats, count: int) -> Integers:
    """Half of them at random, half the heaviest: values are float64, so that no row is suspect."""
    n, half = len(weight), count // 2
    if n <= count:
        return np.arange(n)
    return np.concatenate([drawn(n, count - half), np.argpartition(-weight, half)[:half]])


def _values(kernel: Kernel, A: Any, B: Any) -> Floats:
    """k(A, B) by evaluation.py, in parts that fit its memory."""
    step = max(1, evaluation.SETTINGS.entries // max(1, B.shape[0]))
    parts = [kernel_values(kernel, A[i : i + step], B) for i in range(0, A.shape[0], step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
