"""Kernels, their sums and their diagonals as the certificate evaluates them, in loops over samples;
what a certificate says."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from helpers import settings
from maxmargin import certificate
from maxmargin.certificate import Certificate
from maxmargin.kernel import evaluation
from maxmargin.kernel.certificate import bounds_of_nu
from maxmargin.kernel.evaluation import (
    extended_products,
    kernel_diagonal,
    kernel_products,
    kernel_values,
)
from maxmargin.kernel.kernels import NAMES, PARAMETERS, Kernel, Kind, gamma_of_sigma
from maxmargin.status import Convexity, Status

rng = np.random.default_rng(23)
A, B = np.abs(rng.normal(size=(6, 4))), np.abs(rng.normal(size=(9, 4)))
A[2], B[3], A[1, 1], B[0, 1] = 0.0, 0.0, 0.0, 0.0
coef = rng.normal(size=(6, 2))
CONSTANT = np.array([0.5, -0.25])


def formula(kernel, x, z):
    dot = sum(a * b for a, b in zip(x, z, strict=True))
    argument = kernel.gamma * dot + kernel.coef0
    length = math.sqrt(sum(x * x) * sum(z * z))
    return {
        Kind.LINEAR: lambda: dot,
        Kind.POLY: lambda: argument**kernel.degree,
        Kind.RBF: lambda: math.exp(-kernel.gamma * sum((x - z) ** 2)),
        Kind.TANH: lambda: math.tanh(argument),
        Kind.LOGISTIC: lambda: 1 / (1 + math.exp(-argument)),
        Kind.LAPLACIAN: lambda: math.exp(-kernel.gamma * sum(abs(x - z))),
        Kind.CHI2: lambda: math.exp(
            -kernel.gamma * sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b)
        ),
        Kind.COSINE: lambda: dot / length if length else 0.0,
    }[kernel.kind]()


KERNELS = [
    Kernel.linear(),
    Kernel.poly(degree=3, gamma=0.7, coef0=0.4),
    Kernel.rbf(gamma=0.6),
    Kernel.sigmoid(gamma=0.5, coef0=-0.3),
    Kernel.logistic(sigma=0.8, b=0.5),
    Kernel.laplacian(gamma=0.3),
    Kernel.chi2(gamma=0.9),
    Kernel.cosine(),
]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("entries", [1, 14, 2**22])
def test_values_and_sums(kernel, store, entries, monkeypatch):
    settings(monkeypatch, evaluation, entries=entries)
    K = np.array([[formula(kernel, x, z) for z in A] for x in B])
    np.testing.assert_allclose(kernel_values(kernel, store(B), store(A)), K, rtol=1e-13, atol=1e-15)
    wanted = K @ coef + CONSTANT
    for exact in (False, True):
        found = kernel_products(kernel, store(A), coef, store(B), CONSTANT, exact)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(
        kernel_products(kernel, store(A), coef, store(B)), K @ coef, rtol=1e-12, atol=1e-15
    )
    if kernel.has_dot_product:
        found = extended_products(kernel, store(A), coef, store(B), CONSTANT)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
        np.testing.assert_allclose(
            extended_products(kernel, store(A), coef, store(B)), K @ coef, rtol=1e-12, atol=1e-15
        )
        assert extended_products(kernel, store(A), coef, store(B)[:0]).shape == (0, 2)
    np.testing.assert_allclose(
        kernel_diagonal(kernel, store(A)),
        [1.0 if kernel == Kernel.cosine() else abs(formula(kernel, x, x)) for x in A],
    )


def test_sums_over_no_support_vectors():
    found = kernel_products(Kernel.linear(), A[:0], coef[:0], B, CONSTANT)
    np.testing.assert_array_equal(found, np.tile(CONSTANT, (9, 1)))
    assert not kernel_products(Kernel.linear(), A[:0], coef[:0], B).any()


def test_exact_sums_do_not_depend_on_the_order_of_the_terms():
    """1e16 + 1 - 1e16 is 1 in long double."""
    terms = np.ones(1000)
    terms[[100, 501]] = 1e16, -1e16
    assert (
        kernel_products(Kernel.precomputed(), None, np.ones((1000, 1)), terms[None], exact=True)[
            0, 0
        ]
        == 998.0
    )
    x, z = np.sign(terms) * np.sqrt(np.abs(terms)), np.sqrt(np.abs(terms))
    assert extended_products(Kernel.linear(), x[None], np.ones((1, 1)), z[None])[0, 0] == 998.0


def test_given_and_called_kernels():
    K = A @ A.T
    K[0, 0] *= -1
    np.testing.assert_allclose(
        kernel_products(Kernel.precomputed(), K, coef, K, CONSTANT), K @ coef + CONSTANT
    )
    np.testing.assert_allclose(
        kernel_products(Kernel.precomputed(), K, coef, sparse.csr_matrix(K), CONSTANT),
        K @ coef + CONSTANT,
    )
    np.testing.assert_array_equal(kernel_diagonal(Kernel.precomputed(), K), np.abs(np.diag(K)))
    words = ["a", "bb", "ccc", "dddd"]
    kernel = Kernel.callable(
        lambda P, Q: sparse.csr_matrix([[-len(p) * len(q) for q in Q] for p in P])
    )
    assert kernel_values(kernel, words[:2], words).tolist() == [
        [-1.0, -2.0, -3.0, -4.0],
        [-2.0, -4.0, -6.0, -8.0],
    ]
    assert kernel_diagonal(kernel, words).tolist() == [1.0, 4.0, 9.0, 16.0]
    assert kernel_products(kernel, words[:2], np.ones((2, 1)), words, 1.0).ravel().tolist() == [
        -2.0,
        -5.0,
        -8.0,
        -11.0,
    ]
    asked = []
    function = Kernel.callable(lambda P, Q: asked.append(len(P)) or P @ Q.T)
    many = rng.normal(size=(150, 2))
    np.testing.assert_allclose(kernel_diagonal(function, many), (many**2).sum(axis=1))
    assert asked == [64, 64, 22]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix])
def test_rows_of_unit_length(store):
    X = A * np.logspace(-200, 200, 6)[:, None]
    found = evaluation._unit(store(X))
    found = found.toarray() if sparse.issparse(found) else found
    for x, unit in zip(X, found, strict=True):
        largest = np.abs(x).max() or 1.0
        np.testing.assert_allclose(
            unit, x / largest / (math.sqrt(sum((x / largest) ** 2)) or 1.0), rtol=1e-14
        )


# ---- what is said --------------------------------------------------------------------------------

GOOD = Certificate(Status.OPTIMAL, 100.0, 99.5, 0.5, 0.005, 5e-4, 0.0, 0.0, n_iter=12345)


def test_the_line_to_read():
    assert (
        str(GOOD)
        == "optimal: gap 0.5 (0.005 of the objective 100), KKT violation 0.0005, 12,345 steps"
    )
    assert repr(GOOD) == f"<Certificate {GOOD}>"
    assert str(replace(GOOD, gap=-1e-9, relative_gap=-1e-11)).startswith(
        "optimal: gap 0 (0 of the objective"
    )
    several = certificate.worst([GOOD, replace(GOOD, status=Status.STALLED, n_iter=5)])
    assert str(several).endswith("12,350 steps, worst of 2 problems")
    assert str(several).startswith("stalled: gap 1 (0.005 of the objective 200)")
    for status in (Status.IMPORTED, Status.COMPACTED):
        unknown = replace(GOOD, status=status, gap=np.inf)
        assert str(unknown) == f"{status}: {status.message}"
        assert str(replace(unknown, gap=1.0)).startswith(f"{status}: gap 1 ")
    assert str(replace(GOOD, status=Status.STALLED, gap=np.inf)).startswith("stalled: gap inf")
    assert "assumed" not in str(replace(GOOD, status=Status.STALLED, convexity=Convexity.ASSUMED))


def test_bound_of_the_error_of_decision_values():
    assert GOOD.decision_error() == 1.0
    assert GOOD.decision_error(4.0) == 2.0
    assert replace(GOOD, gap=-1.0).decision_error() == 0.0


def test_bounds_of_a_nu_machine():
    """Its coefficients sum to nu times the sum of the bounds.

    Those within rounding of a bound are at it.
    """
    weight, b = np.array([1.0, 2.0, 1.0]), np.array([0.5, -0.75, 0.25])
    C = 1.5 / (0.5 * 4.0)
    np.testing.assert_allclose(bounds_of_nu(weight, b, 0.5), C * weight)
    for off, at in ((0.9e-9, True), (1.1e-9, False)):
        near = np.array([C * (1 + off), -0.5, 0.25])
        scale = np.abs(near).sum() / 2.0
        near[0] = scale * (1 + off)
        found = bounds_of_nu(weight, near, np.abs(near).sum() / scale / 4.0)
        assert bool(found[0] == near[0]) is at
    np.testing.assert_allclose(bounds_of_nu(weight, b, None), 0.5 * weight)
    np.testing.assert_allclose(bounds_of_nu(weight, np.array([0.1, 0.8, -0.3]), None), 0.4 * weight)


# ---- kernels as records --------------------------------------------------------------------------


def test_numbers_of_kernels_that_are_not_given():
    for kernel, wanted in (
        (Kernel.poly(), (Kind.POLY, 1.0, 0.0, 3)),
        (Kernel.poly(degree=2, sigma=2.0), (Kind.POLY, 0.25, 1.0, 2)),
        (Kernel.poly(sigma=2.0, coef0=0.0), (Kind.POLY, 0.25, 0.0, 3)),
        (Kernel.poly(gamma=2.0, coef0=5.0), (Kind.POLY, 2.0, 5.0, 3)),
        (Kernel.rbf(), (Kind.RBF, 1.0, 0.0, 3)),
        (Kernel.rbf(sigma=2.0), (Kind.RBF, 0.125, 0.0, 3)),
        (Kernel.sigmoid(), (Kind.TANH, 1.0, 0.0, 3)),
        (Kernel.logistic(), (Kind.LOGISTIC, 1.0, 0.0, 3)),
        (Kernel.logistic(sigma=2.0, b=3.0), (Kind.LOGISTIC, 0.25, 0.75, 3)),
        (Kernel.laplacian(), (Kind.LAPLACIAN, 1.0, 0.0, 3)),
        (Kernel.chi2(), (Kind.CHI2, 1.0, 0.0, 3)),
        (Kernel.cosine(), (Kind.COSINE, 1.0, 0.0, 3)),
        (Kernel.precomputed(), (Kind.PRECOMPUTED, 1.0, 0.0, 3)),
    ):
        assert (kernel.kind, kernel.gamma, kernel.coef0, kernel.degree) == wanted
        assert kernel.function is None


def test_what_is_known_of_kernels():
    dot = {Kind.LINEAR, Kind.POLY, Kind.TANH, Kind.LOGISTIC, Kind.COSINE}
    positive = {Kind.LINEAR, Kind.RBF, Kind.LAPLACIAN, Kind.CHI2, Kind.COSINE, Kind.POLY}
    for kind in Kind:
        if kind is Kind.SUM:
            kernel = Kernel.sum(Kernel.linear(), Kernel.callable(np.dot))
        else:
            kernel = Kernel.callable(np.dot) if kind is Kind.CALLABLE else Kernel(kind)
        assert kernel.has_dot_product is (kind in dot)
        assert kernel.positive_semidefinite is (True if kind in positive else None)
    assert Kernel.poly(coef0=-1e-9).positive_semidefinite is None
    assert Kernel.sum(Kernel.linear(), Kernel.rbf()).positive_semidefinite is True
    assert list(Kind) == list(range(11)), "the first seven as in the core"
    unnamed = Kind.TANH, Kind.CALLABLE, Kind.SUM
    assert {
        "sigmoid": Kind.TANH,
        **{kind.name.lower(): kind for kind in Kind if kind not in unnamed},
    } == NAMES
    assert set(Kind) - set(PARAMETERS) == {Kind.LINEAR, Kind.COSINE, Kind.PRECOMPUTED}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Kernel.rbf(gamma=np.inf), "gamma must be a finite number >= 0, got inf"),
        (lambda: Kernel.poly(degree=2**31), "degree must be a whole number >= 0, got 2147483648"),
        (lambda: Kernel.poly(degree=-1), "degree must be a whole number >= 0, got -1"),
        (lambda: Kernel.poly(degree=np.inf), "degree must be a whole number"),
        (lambda: Kernel(Kind.RBF, coef0=1.0), "The rbf kernel has no coef0; got 1.0"),
        (lambda: Kernel(Kind.RBF, function=np.dot), "and only that, needs a function"),
        (lambda: Kernel(Kind.CALLABLE), "A callable kernel"),
        (lambda: Kernel.rbf(sigma=np.inf), "sigma must be a positive finite number"),
        (lambda: Kernel.rbf(sigma=-1.0), "sigma must be a positive finite number"),
        (lambda: Kernel.rbf(sigma=1e-170), "beyond the range of float64"),
        (lambda: Kernel.rbf(sigma=4e-155), "beyond the range of float64"),
        (lambda: Kernel.rbf(sigma=1e160), "beyond the range of float64"),
        (lambda: Kernel.poly(gamma=1.0, sigma=1.0), "Give gamma or sigma, not both"),
    ],
)
def test_numbers_that_no_formula_can_use(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_numbers_at_the_edge():
    assert Kernel.poly(degree=2**31 - 1).degree == 2**31 - 1
    assert Kernel.poly(degree=0).degree == 0
    assert Kernel.rbf(gamma=0.0).gamma == 0.0
    assert gamma_of_sigma(2.0, 3.0) == 1 / 12
    assert gamma_of_sigma(1e150) == pytest.approx(1e-300, rel=1e-9, abs=0.0)
    assert repr(Kernel.logistic(sigma=2.0, b=3.0)) == "Kernel.logistic(sigma=2, b=3)"
    assert repr(Kernel(Kind.LOGISTIC, 0.0, 2.0)) == "Kernel.logistic(gamma=0, coef0=2)"
    assert repr(Kernel.sigmoid()) == "Kernel.sigmoid(gamma=1, coef0=0)"
    assert repr(Kernel.callable(len)) == "Kernel.callable(<built-in function len>)"


def test_a_status_is_a_string_to_the_user():
    """Compared, printed, copied and written as JSON like the string; copies are the same member."""
    found = pickle.loads(pickle.dumps(GOOD))
    assert found.status is Status.OPTIMAL
    assert found.convexity is Convexity.PROVED
    assert (found.status, found.convexity) == ("optimal", "proved")
    assert repr((found.status, found.convexity)) == "('optimal', 'proved')"
    assert json.dumps([found.status, f"{found.convexity}"]) == '["optimal", "proved"]'
    assert all(status.message.endswith((".", "?")) for status in Status)
