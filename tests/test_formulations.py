"""Machines that the library does not have, each added by one formulation.

No solver and no trainer is touched.
"""

from dataclasses import replace

import numpy as np
import pytest

from maxmargin import Kernel, kernel_matrix
from maxmargin.certificate import certificate_of
from maxmargin.kernel import certificate
from maxmargin.kernel.formulations import Formulation, given, read_level
from maxmargin.kernel.problems import DualProblem, fill
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


# ---- data description: the smallest ball around all but a few samples ----------------------------


def data_description(n, C):
    """min 1/2 b'Kb - 1/2 sum k(x_i, x_i) b_i, sum b = 1, 0 <= b <= C.

    This is half the dual of R^2 + C sum xi.
    """
    zero, C = np.zeros(n), np.full(n, C)

    def build(source):
        group, row = np.zeros(n, np.int64), np.arange(n)
        return DualProblem(-source.diagonal() / 2, zero, C, group, row, fill(1.0, C), zero)

    def certify(problem, f, decision):
        inside, b = f + problem.linear, decision.coef  # (R^2 - |phi(x) - c|^2) / 2
        gap = float(np.sum(b * inside + C * np.maximum(0.0, -inside)))
        dual = -float(np.sum(b * (f - decision.intercept)) / 2 + problem.linear @ b)
        kkt = np.maximum(np.where(b < C, -inside, 0.0), np.where(b > 0, inside, 0.0))
        box, equality = np.maximum(-b, b - C), abs(float(b.sum()) - 1.0)
        return certificate_of(dual + gap, dual, gap, kkt, box, equality)

    return Formulation(build, read_level, certify)


@pytest.mark.parametrize("n", [80, 1300])
@pytest.mark.parametrize("kernel", [Kernel.linear(), Kernel.poly(gamma=0.2, coef0=1.0, degree=2)])
def test_data_description(kernel, n):
    X = rng.normal(size=(n, 4)) + 1.0
    found = trained(data_description(n, 5 / n), kernel, X)
    assert found.certificate.status == "optimal"
    K, b = kernel_matrix(kernel, X), found.decision.coef
    square = np.diag(K) - 2 * K @ b + b @ K @ b  # |phi(x) - c|^2
    radius = 2 * found.decision.intercept + b @ K @ b  # R^2
    free = (b > 1e-9) & (b < 5 / n - 1e-9)
    assert free.any()
    np.testing.assert_allclose(square[free], radius, rtol=1e-4)
    assert np.mean(square > radius * (1 + 1e-6)) <= 0.2
    if kernel.kind.name == "LINEAR":
        np.testing.assert_allclose(square, ((X - b @ X) ** 2).sum(axis=1), rtol=1e-9)
