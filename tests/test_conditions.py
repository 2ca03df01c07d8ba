"""The conditions of optimality of one sample: where its variable is, where its decision value is,
and by how much that is wrong."""

import itertools

import numpy as np
import pytest

from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel.tube import insensitive

C = 2.0
SHARES = (0.0, 0.25, 1.0)
"""At the lower bound, between the bounds, at the upper."""
BEYOND = (-0.25, 1.25)


def one(*numbers):
    return [np.array([float(x)]) for x in numbers]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("share", [*SHARES, *BEYOND])
def test_classification(sign, share):
    a = share * C
    for margin in (-3.0, 0.75, 1.0, 1.5, 4.0):
        f, y, bound, b = one(sign * margin, sign, C, sign * a)
        found = kernel_certificate.classification(f, y, bound, b, 0.0)
        broken = [1 - margin if a < C else 0.0, margin - 1 if a > 0 else 0.0, 0.0]
        assert found.kkt_violation == max(broken)
        assert found.box_violation == max(-a, a - C, 0.0)
        assert found.equality_violation == abs(a)
        hard = kernel_certificate.classification(f, y, one(np.inf)[0], b, 0.0)
        assert hard.kkt_violation == (abs(margin - 1) if a > 0 else max(0.0, 1 - margin))
        assert hard.box_violation == max(-a, 0.0)
        assert hard.dual == pytest.approx(a - a * margin / 2)
        assert hard.primal == (pytest.approx(a * margin / 2 / margin**2) if margin > 0 else np.inf)
    zero = kernel_certificate.classification(*one(0.0, sign, np.inf, sign * a), 0.0)
    assert zero.primal == np.inf


@pytest.mark.parametrize("share", [-1.25, -1.0, -0.25, 0.0, 0.25, 1.0, 1.25])
def test_regression(share):
    b, epsilon = share * C, 0.5
    for r in (-4.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 4.0):
        f, z, bound, variable = one(1.0, 1.0 + r, C, b)
        found = kernel_certificate.regression(f, insensitive(z, bound, epsilon), variable, 0.0)
        broken = [0.0]
        if b < C:
            broken.append(r - epsilon)
        if b > 0:
            broken.append(epsilon - r)
        if b > -C:
            broken.append(-r - epsilon)
        if b < 0:
            broken.append(epsilon + r)
        assert found.kkt_violation == pytest.approx(max(broken))
        assert found.box_violation == max(abs(b) - C, 0.0)
        square = insensitive(z, bound, epsilon, True)
        squared = kernel_certificate.regression(f, square, variable, 0.0)
        off = abs(np.sign(b) * r - epsilon - abs(b) / (2 * C)) if b else max(0.0, abs(r) - epsilon)
        assert squared.kkt_violation == pytest.approx(off)
        assert squared.box_violation == 0.0


def test_regression_without_loss():
    """Certified as the problem whose tube is as wide as the largest residual."""
    f, z, b = np.zeros(3), np.array([0.5, -2.0, 0.25]), np.array([0.0, -1.5, 1.5])
    for epsilon, width in ((0.1, 2.0), (3.0, 3.0)):
        hard = insensitive(z, np.full(3, np.inf), epsilon)
        found = kernel_certificate.regression(f, hard, b, 0.0)
        value = z @ b - width * 3.0
        assert (found.primal, found.dual) == (0.0, pytest.approx(value))
        assert found.gap == pytest.approx(-value)
        assert found.relative_gap == pytest.approx(1.0)


def test_the_price_of_the_tube():
    f, z, bound, b = np.zeros(2), np.array([1.0, -1.0]), np.full(2, C), np.array([0.5, -0.75])
    tube = insensitive(z, bound, 0.5)
    plain = kernel_certificate.regression(f, tube, b, 0.0)
    for total, off in ((1.5, 0.25), (1.0, 0.25), (0.5, 0.75)):
        found = kernel_certificate.regression(f, tube, b, 0.0, total)
        assert found.primal == pytest.approx(plain.primal + 0.5 * total)
        assert found.dual == pytest.approx(plain.dual + 0.5 * 1.25)
        assert found.gap == pytest.approx(plain.gap + 0.5 * (total - 1.25))
        assert found.equality_violation == pytest.approx(off), (
            "of the sum, or by which the sum of sizes is more than the total"
        )


def test_an_objective_of_a_regression_that_is_rounding():
    """A share of 1e-14 of what the terms of the values may be: losses of a constant, and b z."""
    z, bound = np.array([1000.0, -1000.0]), np.array([1.0, 3.0])
    trivial, tube = 4 * 2.0 + 4 * 1000.0, insensitive(z, bound, 0.0)
    for share, zero in ((0.99, True), (1.01, False)):
        f = np.array([1000.0 - share * 1e-14 * trivial * 1.0, -1000.0])
        found = kernel_certificate.regression(f, tube, np.zeros(2), -2.0)
        primal = bound[0] * (z[0] - f[0])
        assert bool(primal <= 1e-14 * trivial) is zero
        assert (found.relative_gap == 0.0) is zero
    for share, zero in ((0.9, True), (1.1, False)):
        b = np.array([0.5, 0.5 + share * 2e-14])  # z b adds up to twice the dual value
        found = kernel_certificate.regression(
            np.array([np.nextafter(1000.0, 0.0), -1000.0]), tube, b, 0.0
        )
        assert found.gap > 0
        assert bool(abs(found.dual) <= 1e-14 * float(np.abs(b * z).sum())) is zero
        assert (found.relative_gap == 0.0) is zero


@pytest.mark.parametrize("share", [*SHARES, *BEYOND])
@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e200])
def test_one_class(share, unit):
    b = share * C
    for f in (-3.0, -0.25, 0.0, 0.25, 3.0):
        found = kernel_certificate.one_class(
            *one(unit * f, unit * C, unit * b), 0.5 * unit, 1.5 * unit
        )
        broken = [0.0]
        if b < C:
            broken.append(-f)
        if b > 0:
            broken.append(f)
        assert found.kkt_violation == pytest.approx(unit * max(broken), rel=1e-12, abs=0.0)
        assert found.box_violation == pytest.approx(unit * max(-b, b - C, 0.0), rel=1e-12, abs=0.0)
        assert found.equality_violation == pytest.approx(unit * abs(b - 1.5), rel=1e-12, abs=0.0)
        norm = b * (f + 0.5)
        primal, dual = norm / 2 - 0.75 + C * max(0.0, -f), -norm / 2
        gap = b * f + C * max(0.0, -f)
        if unit == 1.0:
            assert (found.primal, found.dual, found.gap) == pytest.approx((primal, dual, gap))
        assert found.relative_gap == pytest.approx(gap / max(abs(primal), abs(dual)), rel=1e-9)


def test_an_objective_of_a_one_class_machine_that_is_rounding():
    """A share of 1e-14 of k(x, x) times the sums of the coefficients and of the bounds."""
    b, bound, diagonal = np.array([0.5, 0.5]), np.array([1.0, 1.0]), 8.0
    zero = 1e-14 * diagonal * 1.0
    for share, passes in itertools.product((0.9, 1.1), (True, False)):
        f = np.zeros(2) - (share * zero if passes else 0.0) * 1e-3
        offset = share * zero * (1.0 + 2.0) if passes else 0.0
        found = kernel_certificate.one_class(f, bound, b, offset, 1.0, diagonal)
        small = abs(found.primal) <= zero * 3.0 and abs(found.dual) <= zero
        assert (found.relative_gap == 0.0) is (small or found.gap == 0.0)
    for value, rounding in ((0.9, True), (1.1, False)):
        offset = 2 * value * zero  # the dual value is -norm / 2 = -offset / 2 where f is 0
        found = kernel_certificate.one_class(
            np.array([1e-20, 0.0]), bound, b, offset, 1.0, diagonal
        )
        assert abs(found.dual) == pytest.approx(value * zero, rel=1e-3, abs=0.0)
        assert (found.relative_gap == 0.0) is rounding
