"""The kernel that a manifold penalty deforms (Sindhwani, Niyogi & Belkin 2005).

Manifold regularisation minimises over the functions h of a kernel k, with f = h + b,

    1/2 |h|_k^2 + 1/2 h' M h + sum_labelled C_i hinge(y_i f_i)               M = weight * Laplacian

where h' M h takes the values of h at all samples, labelled and unlabelled. The first two terms are
half the squared norm of a function space with another kernel. With K = k(X, X) and k_x = k(X, x)

    k~(x, z) = k(x, z) - k_x' (I + M K)^-1 M k_z

The problem is a C-SVC on the labelled samples with this kernel: convex, and exact. Its coefficients
c give the expansion over all samples, by which new samples are predicted with the kernel k itself:

    h(x) = sum_labelled c_i k~(x, x_i) = sum_all beta_j k(x, x_j)      beta = (I + M K)^-1 E c

where E holds the columns of the unit matrix that belong to the labelled samples. This takes two
n x n matrices of float64, 16 n^2 bytes, and 2/3 n^3 multiplications.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, solve

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats, Integers
from maxmargin.monitor import interruptible
from maxmargin.status import Convexity, Status

EXPANDED = 0.1
"""Share of tol by which the expansion over all samples may miss decision values; the rest is left
for the roundings of certify."""
SINGLE = 1e-6
"""Share of the decision values that predictions of samples in float32 may miss."""


class Deformed(NamedTuple):
    """The deformed kernel on the labelled samples."""

    values: Floats
    """k~ of each two of them."""
    expansion: Floats
    """(I + M K)^-1 E: a column for each of them, a row for each sample."""


def deform(K: Floats, M: Any, labelled: Integers) -> Deformed:
    """The deformed kernel of labelled samples; M is sparse, and one sample may be listed twice."""
    A = M @ K
    A[np.diag_indices_from(A)] += 1.0
    own, place = np.unique(labelled, return_inverse=True)
    E = np.zeros((len(K), len(own)), order="F")
    E[own, np.arange(len(own))] = 1.0
    with warnings.catch_warnings():  # the audit of decision values says what is lost
        warnings.simplefilter("ignore", LinAlgWarning)
        expansion = interruptible(lambda: solve(A, E, overwrite_a=True, overwrite_b=True))
    values = K[own] @ expansion
    values = (values + values.T) / 2
    return Deformed(values[np.ix_(place, place)], expansion[:, place])


def audited(known: Certificate, error: float, tol: float, convexity: Convexity) -> Certificate:
    """The certificate of a machine on k~ as that of its expansion over all samples.

    ``error`` is by how much the expansion misses decision values, and ``convexity`` that of k: k~
    of the labelled samples alone may be positive semidefinite where k is not.
    """
    status = known.status
    if status.converged and not error <= EXPANDED * tol:
        status = Status.STALLED
    elif status.converged and not convexity.convex:
        status = Status.STATIONARY
    convexity = known.convexity if convexity.convex else convexity
    error = max(known.audit_error, float(error))
    return known.updated(audit_error=error, convexity=convexity, status=status)
