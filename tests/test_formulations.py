"""A machine that the library does not have, added by one formulation.

No solver and no trainer is touched.
"""

from dataclasses import replace

import numpy as np
import pytest

from maxmargin import Kernel, kernel_matrix
from maxmargin.kernel import certificate
from maxmargin.kernel.formulations import Formulation, given, read_level
from maxmargin.kernel.problems import DualProblem
from maxmargin.kernel.training import Task, train
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor

rng = np.random.default_rng(17)


def trained(form, kernel, X):
    return train(Task(form, 1e-6), KernelWorkspace.of(kernel, X, Monitor()))


# ---- ranking: C sum over pairs (i, j) of max(0, 1 - f(x_i) + f(x_j)), no bias --------------------


def ranking(pairs, C):
    """The dual of the pairs' hinge losses: bounds alone, the sum of the variables is not fixed."""
    one, zero = np.ones(pairs), np.zeros(pairs)
    group, row = np.zeros(pairs, np.int64), np.arange(pairs)

    def certify(problem, f, decision):
        found = certificate.classification(f, one, C * one, decision.coef, 0.0)
        return replace(found, equality_violation=0.0)

    problem = DualProblem(-one, zero, C * one, group, row, zero, zero, unconstrained=(0,))
    return Formulation(given(problem), read_level, certify)


def dual_by_coordinates(K, C, sweeps=20_000, tol=1e-12):
    """argmin 1/2 a'Ka - sum a over [0, C]^n, one variable at a time."""
    a, G = np.zeros(len(K)), -np.ones(len(K))
    for _ in range(sweeps):
        largest = 0.0
        for i in range(len(K)):
            change = min(max(a[i] - G[i] / K[i, i], 0.0), C) - a[i]
            a[i] += change
            G += change * K[i]
            largest = max(largest, abs(change) * K[i, i])
        if largest < tol:
            return a
    raise AssertionError("not converged")


@pytest.mark.parametrize("n", [18, 60])
def test_ranking(n):
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n)
    pairs = [(i, j) for i in range(n) for j in range(n) if score[i] > score[j] + 0.5]
    pairs = [pairs[k] for k in rng.permutation(len(pairs))[:1500]]
    D = np.zeros((len(pairs), n))
    for k, (i, j) in enumerate(pairs):
        D[k, i], D[k, j] = 1.0, -1.0
    K = D @ kernel_matrix(Kernel.rbf(gamma=0.3), X) @ D.T
    C = 0.5
    found = trained(ranking(len(pairs), C), Kernel.precomputed(), K)
    assert found.certificate.status == "optimal"
    assert found.decision.intercept == 0.0
    assert found.certificate.kkt_violation <= 1e-6
    if n == 18:
        a = dual_by_coordinates(K + 1e-12 * np.eye(len(K)), C)
        dual = a.sum() - 0.5 * a @ K @ a
        assert found.certificate.dual == pytest.approx(dual, rel=1e-6)
        np.testing.assert_allclose(K @ found.decision.coef, K @ a, atol=1e-4)
    assert np.mean(K @ found.decision.coef > 0) > 0.9, "pairs in order"
