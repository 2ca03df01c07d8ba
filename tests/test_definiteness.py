"""Whether a kernel matrix is positive semidefinite: the three tests of kernel/definiteness.py at
their limits, and what follows from them."""

import numpy as np
import pytest

from helpers import settings
from maxmargin.kernel import definiteness
from maxmargin.kernel.definiteness import (
    convexity_of,
    has_bad_pair,
    is_positive_semidefinite,
    least_eigenvalue_below,
    refuted,
)
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.workspace import Samples

ROUNDING = 1e-9


def uniform(n, off):
    """1 on the diagonal, the same number elsewhere.

    The least eigenvalue is 1 + (n - 1) off where that is negative.
    """
    return np.full((n, n), off) + (1 - off) * np.eye(n)


@pytest.mark.parametrize("size", [1e-3, 2.0])
def test_eigenvalues_below_0_may_be_rounding(size):
    shift = 1e3 * ROUNDING * 3 * size
    for share, positive in ((0.99, True), (1.01, False)):
        assert is_positive_semidefinite(np.diag([size, size, -share * shift]), ROUNDING) is positive
        off = size + share * shift * 1.0
        assert (
            has_bad_pair(np.array([[size, off, 0], [off, size, 0], [0, 0, 0]]), ROUNDING)
            is not positive
        )
    assert is_positive_semidefinite(np.zeros((4, 4)))
    assert not is_positive_semidefinite(np.diag([1.0, -1e-6]))
    assert is_positive_semidefinite(np.array([[1.0, 5.0], [-5.0, 1.0]])), "its symmetric part is"


def test_a_pair_of_rows_shows_it(monkeypatch):
    assert not has_bad_pair(np.zeros((3, 3)))
    assert has_bad_pair(np.diag([1.0, 1.0, -1e-6]))
    assert has_bad_pair(np.array([[4.0, 2.01], [2.01, 1.0]]))
    assert not has_bad_pair(np.array([[4.0, 1.99], [1.99, 1.0]]))
    assert has_bad_pair(np.array([[0.0, 1.0], [1.0, 1.0]]))
    K = np.eye(50)
    for block in (1, 120, 10**6):
        settings(monkeypatch, definiteness, entries=block)
        assert not has_bad_pair(K)
        for i, j in ((0, 1), (48, 49), (3, 30)):
            bad = K.copy()
            bad[i, j] = bad[j, i] = -1.1
            assert has_bad_pair(bad)


def test_lanczos_finds_the_least_eigenvalue_of_a_small_matrix():
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 24):
        K = rng.normal(size=(n, n))
        K = (K + K.T) / 2
        K -= (np.linalg.eigvalsh(K)[0] + 1.0) * np.eye(n)  # the least is -1
        for share, below in ((0.9, True), (1.1, False)):
            rounding = share / (1e3 * n * np.abs(K).max())
            assert least_eigenvalue_below(K, rounding) is below, n
        assert least_eigenvalue_below(K)


def test_lanczos_on_few_and_on_far_eigenvalues():
    assert least_eigenvalue_below(-np.eye(6))
    assert not least_eigenvalue_below(np.eye(6))
    assert least_eigenvalue_below(np.diag([1.0, 1.0, 1.0, -1.0, 2.0, 2.0]))
    values = np.r_[-5.0, np.linspace(0.0, 1.0, 89)]
    Q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(90, 90)))
    assert least_eigenvalue_below((Q * values) @ Q.T)
    assert not least_eigenvalue_below((Q * np.abs(values)) @ Q.T)


def test_rows_that_matter_most_may_refute(monkeypatch):
    K = uniform(12, -0.3)
    assert not has_bad_pair(K)
    settings(monkeypatch, definiteness, cholesky_rows=5)
    for first, found in ((5, False), (6, True), (12, True)):
        assert refuted(K, np.arange(first), ROUNDING) is found, (
            "up to this many rows Cholesky's factor decides"
        )
    settings(monkeypatch, definiteness, lanczos_rows=3)
    assert not refuted(K, np.arange(12), ROUNDING)
    K[0, 11] = K[11, 0] = 1.1
    assert refuted(K, np.arange(1), ROUNDING)


# ---- what is said about a fit's matrix -----------------------------------------------------------


def given(K, coef, rounding=1e-16, indefinite=False):
    return convexity_of(Samples(Kernel.precomputed(), K), np.asarray(coef), rounding, indefinite)


def test_a_matrix_is_checked_up_to_1024_rows():
    for n, wanted in ((1024, "checked"), (1025, "assumed")):
        assert given(np.eye(n), np.ones(n)) == wanted


def test_convexity(monkeypatch):
    settings(monkeypatch, definiteness, cholesky_rows=20)
    X = np.random.default_rng(2).normal(size=(21, 3))
    ones = np.ones(21)
    assert convexity_of(Samples(Kernel.rbf(gamma=1.0), X), ones, 1e-16, True) == "proved"
    nearly = Kernel.poly(degree=1, coef0=-1e-12)
    assert convexity_of(Samples(nearly, X), ones, 1e-16) == "unknown"
    assert convexity_of(Samples(nearly, X[:20]), ones[:20], 1e-16) == "checked"
    assert convexity_of(Samples(Kernel.callable(lambda A, B: A @ B.T), X), ones, 1e-16) == "assumed"
    assert convexity_of(Samples(Kernel.poly(degree=1, coef0=-9.0), X), ones, 1e-16) == "indefinite"
    assert given(np.eye(21), ones) == "assumed"
    assert given(uniform(21, -0.06), ones) == "indefinite"
    assert given(uniform(21, -0.051), ones) == "indefinite", (
        "of 20 rows it is not seen, of all it is"
    )
    assert given(uniform(20, -0.051), ones[:20]) == "checked"


def test_negative_curvature_seen_by_a_solver_may_be_rounding(monkeypatch):
    settings(monkeypatch, definiteness, cholesky_rows=20)
    for rounding, n, wanted in (
        (1e-13, 20, "indefinite"),
        (1e-7, 20, "checked"),
        (1e-7, 21, "indefinite"),
    ):
        assert given(np.eye(n), np.ones(n), rounding, True) == wanted


def test_support_vectors_are_looked_at_first(monkeypatch):
    settings(monkeypatch, definiteness, cholesky_rows=20)
    K = np.eye(30)
    K[20:, 20:] = uniform(10, -0.3)
    kernel = Kernel.callable(lambda A, B: K[np.ix_(A[:, 0], B[:, 0])])
    for support, wanted in ((slice(20, 30), "indefinite"), (slice(0, 10), "assumed")):
        coef = np.zeros(30)
        coef[support] = 1.0
        assert convexity_of(Samples(kernel, np.arange(30)[:, None]), coef, 1e-16) == wanted
