"""A small kernel problem, and states of a solver on it, for the tests of the parts of the block
solver.
"""

import numpy as np

from maxmargin.kernel import problems
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import NativeSource
from maxmargin.kernel.state import State

rng = np.random.default_rng(31)
n = 60
X = rng.normal(size=(n, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
C = rng.uniform(0.5, 2.0, n)
SOURCE = NativeSource(Kernel.rbf(gamma=0.4), X)
K = SOURCE.block(None, None, np.float64)


def between_bounds(problem, seed=0):
    """A third of the variables at each bound, the others between."""
    rng = np.random.default_rng(seed)
    share = np.choose(
        rng.integers(0, 3, len(problem.lower)),
        [0.0, 1.0, rng.uniform(0.1, 0.9, len(problem.lower))],
    )
    return problem.lower + share * (problem.upper - problem.lower)


def state_of(problem, b=None, **more):
    b = np.zeros(len(problem.lower)) if b is None else b
    F = K @ problems.fold(problem, b, n)
    return State(
        problem,
        b.copy(),
        F.copy(),
        b.copy(),
        F.copy(),
        diagonal=1.0,
        convex=more.pop("convex", True),
        **more,
    )
