"""Independent looks at a solution: its decision values on some rows, and whether its kernel matrix
is positive semidefinite.

Kernel values are computed anew (evaluation.py); nothing is shared with the solvers.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from maxmargin.core.arrays import Floats
from maxmargin.core.threads import one_blas_thread
from maxmargin.kernel import block, definiteness
from maxmargin.kernel.evaluation import (
    EXTENDED,
    extended_products,
    kernel_products,
    kernel_values,
    products_per_row,
)
from maxmargin.kernel.formulations import Decision
from maxmargin.kernel.kernels import Kind
from maxmargin.kernel.sources import Source
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.status import Convexity

CERTIFIED_ROWS, FEWEST_ROWS = 64, 8
"""Rows on which every fit's decision values are compared with an independent evaluation; at least,
where a fit is many problems."""
ROUNDINGS = float(np.finfo(float).eps)
"""Rounding of a sum of m terms, relative to the sum of their magnitudes, divided by sqrt(m): it
adds up like a random walk."""
ROUNDED = 1e-12
"""Kernel values that are rounded to more than this share show negative curvature by rounding
alone."""


def audit(
    workspace: KernelWorkspace, decision: Decision, f: Floats, slack: float
) -> tuple[float, Floats | None]:
    """The greatest difference between f and an independent evaluation on some rows.

    Where rounding may exceed ``slack`` the evaluation is that of ``certify``, in long double, on
    all rows if that is affordable; the decision values of all rows are then returned too. If it is
    not, the error is no less than the rounding.
    """
    X, kernel, source, support = (
        workspace.samples,
        workspace.samples.kernel,
        workspace.source,
        np.flatnonzero(decision.coef),
    )
    sample = _audited(source, decision.coef, max(FEWEST_ROWS, CERTIFIED_ROWS // workspace.problems))
    given = kernel.kind is Kind.PRECOMPUTED
    A = X.X if given else X.pick(support)
    coef = decision.coef[support, None]
    rounding = ROUNDINGS * np.sqrt(len(support)) * decision.diagonal + source.value_error
    rounding *= float(np.abs(coef).sum())
    closer = not rounding <= slack
    if closer:
        per_row = max(1, products_per_row(kernel, A, len(support)))
        sample = _affordable(sample, len(f), EXTENDED // per_row)
    B = X.pick(sample)
    if closer and kernel.has_dot_product:
        exact = extended_products(kernel, A, coef, B, decision.intercept)
    else:
        exact = kernel_products(
            kernel, A, coef, B[:, support] if given else B, decision.intercept, exact=closer
        )
    error = float(np.abs(exact[:, 0] - f[sample]).max(initial=0.0))
    if closer and len(sample) == len(f):
        return error, exact[:, 0]
    return max(error, rounding) if closer else error, None


@cache
def _drawn(n: int, count: int) -> NDArray[np.int64]:
    """The rows that are audited."""
    return np.random.default_rng(1).choice(n, count, replace=False)


def _audited(source: Source, coef: Floats, count: int) -> NDArray[np.int64]:
    """Rows to compare: half of them drawn at random, the others where an error is most likely or
    weighs most.

    Small problems are solved in float64, whose values have a bound: no row of theirs is more
    suspect than others.
    """
    n, some = len(coef), count // 4
    if n <= count:
        return np.arange(n)
    suspects = source.suspects(some) if n > block.POLISHED else np.empty(0, np.int64)
    heavy = np.argpartition(-np.abs(coef), some)[:some]
    return np.concatenate([_drawn(n, count - 2 * some), suspects, heavy])


def _affordable(sample: NDArray[np.int64], n: int, count: int) -> NDArray[np.int64]:
    """All rows if that many are within the count, or else some of the sample, one at least."""
    return np.arange(n) if n <= count else sample[:: -(-len(sample) // max(1, count))]


def convexity_of(X: Samples, coef: Floats, rounding: float, indefinite: bool = False) -> Convexity:
    """What is known about the definiteness of the kernel matrix, see Certificate.convexity.

    ``indefinite`` where a solver saw it is not.
    """
    kernel = X.kernel
    if kernel.positive_semidefinite:
        return Convexity.PROVED
    rounded = (
        rounding > ROUNDED
    )  # negative curvature that the solver met may be rounding of the values
    if indefinite and not rounded:
        return Convexity.INDEFINITE
    n, support = len(coef), np.flatnonzero(coef)
    order = np.argsort(coef == 0, kind="stable")[: definiteness.WHOLE]
    part = X.pick(order)
    given = kernel.kind is Kind.PRECOMPUTED
    K = part[:, order] if given else kernel_values(kernel, part, part)
    with one_blas_thread():
        if not definiteness.is_positive_semidefinite(np.asarray(K, dtype=np.float64), rounding):
            return Convexity.INDEFINITE
        if n <= definiteness.WHOLE:
            return Convexity.CHECKED
        if given and definiteness.refuted(X.X, support, rounding):
            return Convexity.INDEFINITE
    if indefinite:
        return Convexity.INDEFINITE
    return Convexity.ASSUMED if given or kernel.kind is Kind.CALLABLE else Convexity.UNKNOWN
