"""A small linear problem of every loss, for the tests of the parts of linear solvers."""

import numpy as np

from maxmargin.linear.losses import classification, one_class, regression


def tubes(y, z, C):
    """Every loss, of samples with signs y, targets z and weights C."""
    return {
        "hinge": classification(y, C, False),
        "squared_hinge": classification(y, C, True),
        "tube": regression(z, C, 0.2, False),
        "squared_tube": regression(z, C, 0.2, True),
        "one_class": one_class(C),
    }


rng = np.random.default_rng(5)
n, d = 24, 5
A = rng.normal(size=(n, d))
y = np.where(A[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
z = A @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=n) + 1.0
C = rng.uniform(0.5, 2.0, n)
TUBES = tubes(y, z, C)
