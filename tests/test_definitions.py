"""Certificates, problems and losses against their definitions, written out sample by sample in
plain Python.

The points are random and mostly neither feasible nor optimal: every term counts, and none is small.
"""

import math

import numpy as np
import pytest
from scipy import sparse

from helpers import settings
from maxmargin import Kernel, certificate
from maxmargin.audit import plan_audit
from maxmargin.core.choose import HOST
from maxmargin.kernel import audit, evaluation, formulations, problems, training
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel import workspace as workspace_module
from maxmargin.kernel.solution import (
    Level,
    Solution,
    duality_gap,
    gradient,
    levels,
    margin,
    may_move,
    violation,
)
from maxmargin.kernel.sources import make_source
from maxmargin.kernel.tube import insensitive
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear import losses
from maxmargin.status import Convexity, Status

rng = np.random.default_rng(7)
n = 40
A = rng.normal(size=(n, 3))
K = np.exp(-0.5 * ((A[:, None] - A[None]) ** 2).sum(axis=2))
y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
z = rng.normal(size=n)
C = rng.uniform(0.5, 2.0, size=n)
BIAS, EPSILON = 0.7, 0.3


def draw(lower, upper):
    """Variables of which some are at a bound, most inside and some outside."""
    at = rng.uniform(-0.2, 1.2, size=len(lower))
    at[::5], at[1::5] = 0.0, 1.0
    return lower + at * (upper - lower)


def check(found, primal, dual, kkt, box, equality, gap=None):
    """Every field of a certificate; the gap is primal minus dual unless given."""
    gap = primal - dual if gap is None else gap
    assert found.primal == pytest.approx(primal)
    assert found.dual == pytest.approx(dual)
    assert found.gap == pytest.approx(gap)
    assert found.relative_gap == pytest.approx(gap / max(abs(primal), abs(dual)))
    assert found.kkt_violation == pytest.approx(max(0.0, *kkt))
    assert found.box_violation == pytest.approx(max(0.0, *box))
    assert found.equality_violation == pytest.approx(equality)


def test_classification():
    a = draw(np.zeros(n), C)
    b = y * a
    f = K @ b + BIAS
    norm = b @ K @ b
    slack = [max(0.0, 1 - y[i] * f[i]) for i in range(n)]
    kkt = [
        max(slack[i] if a[i] < C[i] else 0.0, y[i] * f[i] - 1 if a[i] > 0 else 0.0)
        for i in range(n)
    ]
    found = kernel_certificate.classification(f, y, C, b, BIAS)
    primal, dual = norm / 2 + sum(C[i] * slack[i] for i in range(n)), a.sum() - norm / 2
    box = [max(-a[i], a[i] - C[i]) for i in range(n)]
    # The gap is that of variables whose sum is 0; here the bias adds its share.
    check(found, primal, dual, kkt, box, abs(b.sum()), primal - dual + BIAS * b.sum())


def test_relative_gap_is_of_the_larger_value():
    for primal, dual in ((2.0, 1.0), (-1.0, -2.0), (1.0, -4.0)):
        found = certificate.certificate_of(
            primal, dual, primal - dual, np.zeros(1), np.zeros(1), 0.0
        )
        assert found.relative_gap == (primal - dual) / max(abs(primal), abs(dual))
    assert (
        certificate.certificate_of(np.inf, 1.0, np.inf, np.zeros(1), np.zeros(1), 0.0).relative_gap
        == np.inf
    )


def test_a_relative_gap_is_0_only_where_both_values_are_rounding():
    nothing = np.zeros(2)
    for primal, dual, rounding, relative in (
        (0.0, -0.5, (0.0, 0.0), 1.0),
        (0.5, 0.0, (0.0, 0.0), 1.0),
        (0.5, 0.25, (0.5, 0.25), 0.0),
        (0.5, 0.25, (0.4, 0.25), 0.5),
        (0.5, -0.25, (0.5, 0.2), 1.5),
        (np.inf, 1.0, (0.0, 0.0), np.inf),
    ):
        found = certificate.certificate_of(
            primal, dual, primal - dual, -1.0 - nothing, -2.0 - nothing, 0.0, rounding
        )
        assert found.relative_gap == relative
        assert (found.kkt_violation, found.box_violation) == (0.0, 0.0)
        if not any(rounding):
            plain = certificate.certificate_of(
                primal, dual, primal - dual, nothing[:0], nothing[:0], 0.25
            )
            assert (
                plain.relative_gap,
                plain.kkt_violation,
                plain.box_violation,
                plain.equality_violation,
            ) == (relative, 0.0, 0.0, 0.25)


def test_squared_classification():
    a = np.abs(draw(np.zeros(n), C))
    b = y * a
    f = K @ b + BIAS
    norm = b @ K @ b
    slack = [max(0.0, 1 - y[i] * f[i]) for i in range(n)]
    kkt = [abs(slack[i] - a[i] / (2 * C[i])) for i in range(n)]
    primal = norm / 2 + sum(C[i] * slack[i] ** 2 for i in range(n))
    dual = a.sum() - norm / 2 - sum(a[i] ** 2 / (4 * C[i]) for i in range(n))
    check(
        kernel_certificate.classification(f, y, C, b, BIAS, squared=True),
        primal,
        dual,
        kkt,
        [0.0, *-a],
        abs(b.sum()),
    )
    a[3] = -0.4
    assert kernel_certificate.classification(
        f, y, C, y * a, BIAS, squared=True
    ).box_violation == pytest.approx(0.4)


def test_hard_margin():
    """The solution is scaled until the least margin is 1."""
    far = A + 3 * y[:, None]
    G = far @ far.T
    a = np.abs(draw(np.zeros(n), C)) / 10
    b = y * a
    f = G @ b
    norm, distance = b @ G @ b, y * f
    assert distance.min() > 0
    primal, dual = norm / 2 / distance.min() ** 2, a.sum() - norm / 2
    kkt = [abs(distance[i] - 1) if a[i] > 0 else max(0.0, 1 - distance[i]) for i in range(n)]
    check(
        kernel_certificate.classification(f, y, np.full(n, np.inf), b, 0.0),
        primal,
        dual,
        kkt,
        [0.0],
        abs(b.sum()),
    )
    assert kernel_certificate.classification(-f, y, np.full(n, np.inf), b, 0.0).primal == np.inf


@pytest.mark.parametrize("squared", [False, True])
def test_regression(squared):
    b = draw(-C, C)
    b[2::5] = 0.0
    f = K @ b + BIAS
    norm, r = b @ K @ b, z - f
    outside = [max(0.0, abs(r[i]) - EPSILON) for i in range(n)]
    value = z @ b - EPSILON * np.abs(b).sum()
    found = kernel_certificate.regression(f, insensitive(z, C, EPSILON, squared), b, BIAS)
    if squared:
        primal = norm / 2 + sum(C[i] * outside[i] ** 2 for i in range(n))
        dual = value - norm / 2 - sum(b[i] ** 2 / (4 * C[i]) for i in range(n))
        kkt = [
            abs(math.copysign(1, b[i]) * r[i] - EPSILON - abs(b[i]) / (2 * C[i]))
            if b[i]
            else outside[i]
            for i in range(n)
        ]
        gap = primal - dual + BIAS * b.sum()
        check(found, primal, dual, kkt, [0.0, 0.0], abs(b.sum()), gap)
        return
    primal, dual = norm / 2 + sum(C[i] * outside[i] for i in range(n)), value - norm / 2
    kkt = []
    for i in range(n):
        broken = [r[i] - EPSILON] if b[i] < C[i] else []
        broken += [EPSILON - r[i]] if b[i] > 0 else []
        broken += [-r[i] - EPSILON] if b[i] > -C[i] else []
        broken += [EPSILON + r[i]] if b[i] < 0 else []
        kkt.append(max(0.0, *broken))
    check(found, primal, dual, kkt, np.abs(b) - C, abs(b.sum()), primal - dual + BIAS * b.sum())


def test_one_class():
    b, rho, total = draw(np.zeros(n), C), 0.6, 9.0
    f = K @ b - rho
    norm = b @ K @ b
    found = kernel_certificate.one_class(f, C, b, rho, total)
    primal = norm / 2 - rho * total + sum(C[i] * max(0.0, -f[i]) for i in range(n))
    kkt = [max(-f[i] if b[i] < C[i] else 0.0, f[i] if b[i] > 0 else 0.0) for i in range(n)]
    gap = sum(b[i] * f[i] + C[i] * max(0.0, -f[i]) for i in range(n))
    check(found, primal, -norm / 2, kkt, np.maximum(-b, b - C), abs(b.sum() - total), gap)


def test_worst_of_several():
    parts = [
        certificate.Certificate(Status.OPTIMAL, 1.0, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4, 5),
        certificate.Certificate(
            Status.MAX_ITER, 3.0, 1.0, 2.0, 0.2, 0.3, 0.1, 0.2, 0.5, 7, Convexity.INDEFINITE
        ),
    ]
    found = certificate.worst(parts)
    assert (found.status, found.convexity, found.n_iter, found.parts) == (
        "max_iter",
        "indefinite",
        12,
        tuple(parts),
    )
    assert (found.primal, found.dual, found.gap) == (4.0, 1.5, 2.5)
    assert (found.relative_gap, found.kkt_violation, found.box_violation) == (0.5, 0.3, 0.2)
    assert (found.equality_violation, found.audit_error) == (0.3, 0.5)
    assert parts[0].decision_error(2.0) == pytest.approx(math.sqrt(2 * 0.5 * 2))
    assert parts[1].decision_error() == np.inf


# ---- linear models -------------------------------------------------------------------------------

w, m, total = rng.normal(size=3), 0.5, 1.5
TUBES = {
    "hinge": losses.classification(y, C, False),
    "squared_hinge": losses.classification(y, C, True),
    "tube": losses.regression(z, C, EPSILON, False),
    "squared_tube": losses.regression(z, C, EPSILON, True),
    "one_class": losses.one_class(C),
}


def loss(tube, i, f):
    """One sample's loss."""
    power = 2 if tube.squared else 1
    if f < tube.low[i]:
        return tube.up[i] * (tube.low[i] - f) ** power
    return tube.down[i] * (f - tube.high[i]) ** power if f > tube.high[i] else 0.0


def gain(tube, i, t):
    """One sample's part of the dual."""
    if t == 0:
        return 0.0
    edge, price = (tube.low[i], tube.up[i]) if t > 0 else (tube.high[i], tube.down[i])
    return edge * t - (t * t / (4 * price) if tube.squared else 0.0)


@pytest.mark.parametrize("name", TUBES)
def test_losses(name):
    tube, f = TUBES[name], 2 * rng.normal(size=n)
    assert tube.losses(f) == pytest.approx(sum(loss(tube, i, f[i]) for i in range(n)))
    some = np.array([3, 1, 8])
    assert tube.pick(some, 2.5).losses(f[some]) == pytest.approx(
        2.5 * sum(loss(tube, i, f[i]) for i in some)
    )


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", TUBES)
def test_linear(name, free, power, monkeypatch):
    monkeypatch.setattr(linear_certificate, "BLOCK_SAMPLES", 7)
    tube, weight = TUBES[name], 0.0 if free else m
    f = A @ w + BIAS
    t = np.where(tube.up > 0, rng.uniform(0, 1, n) * tube.up, 0) - np.where(
        tube.down > 0, rng.uniform(0, 1, n) * tube.down, 0
    )
    Xt = A.T @ t
    found = linear_certificate.linear(f, tube, w, BIAS, t, Xt, weight, total, free, power)
    if power == 1:  # duals that are too long are shortened
        longest = max(1.0, np.abs(Xt).max(), 0.0 if free else abs(t.sum()) / math.sqrt(m))
        assert longest > 1
        t, Xt = t / longest, Xt / longest
    excess = t.sum() - total
    paid, gained = (
        sum(loss(tube, i, f[i]) for i in range(n)),
        sum(gain(tube, i, t[i]) for i in range(n)),
    )
    if power == 2:
        primal = w @ w / 2 + weight * BIAS**2 / 2 + total * BIAS + paid
        dual = gained - Xt @ Xt / 2 - (0.0 if free else excess**2 / (2 * m))
    else:
        primal = np.abs(w).sum() + math.sqrt(weight) * abs(BIAS) + total * BIAS + paid
        dual = gained
    dual -= BIAS * excess if free else 0.0  # what a sum that is not yet right costs, to first order
    assert (found.primal, found.dual, found.gap) == pytest.approx((primal, dual, primal - dual))
    assert found.box_violation == 0.0
    assert found.equality_violation == pytest.approx(abs(excess) if free else 0.0)


@pytest.mark.parametrize("name", ["squared_hinge", "squared_tube"])
def test_violation_of_squared_linear_losses(name):
    """A dual is 2 C times how far its sample is outside."""
    tube, f = TUBES[name], A @ w + BIAS
    for i in range(n):
        t = np.array([0.3 * tube.up[i] - 0.2 * tube.down[i]])
        one = losses.Tube(*(edge[[i]] for edge in tube[:4]), True)
        found = linear_certificate.linear(f[[i]], one, w, BIAS, t, A[i] * t, 0.0, 0.0, True)
        kkt = [0.0]
        if one.up[0] > 0:
            kkt.append(abs(max(0.0, one.low[0] - f[i]) - max(0.0, t[0]) / (2 * one.up[0])))
        if one.down[0] > 0:
            kkt.append(abs(max(0.0, f[i] - one.high[0]) - max(0.0, -t[0]) / (2 * one.down[0])))
        assert found.kkt_violation == pytest.approx(max(kkt))


def test_duals_outside_their_bounds_are_seen():
    for name, t, sign, broken in (
        ("hinge", 0.25, 1, 0.0),
        ("hinge", 0.25, -1, 0.25),
        ("hinge", -0.25, 1, 0.25),
        ("squared_hinge", 0.25, -1, 0.25),
        ("squared_hinge", -0.25, 1, 0.25),
        ("squared_hinge", 99.0, 1, 0.0),
        ("hinge", 2.5, 1, 0.5),
        ("hinge", -2.5, -1, 0.5),
    ):
        tube = losses.classification(
            np.array([float(sign)]), np.array([2.0]), name.startswith("squared")
        )
        found = linear_certificate.linear(
            np.zeros(1), tube, w, 0.0, np.array([t]), A[0] * t, 0.0, t, True
        )
        assert found.box_violation == pytest.approx(broken), (name, t, sign)


@pytest.mark.parametrize("free", [False, True])
def test_crammer_singer(free):
    classes = 4
    label, W, bias = (
        rng.integers(0, classes, n),
        rng.normal(size=(3, classes)),
        rng.normal(size=classes),
    )
    F, t = A @ W + bias, rng.normal(size=(n, classes))
    Xt, weight = A.T @ t, 0.0 if free else m
    found = linear_certificate.crammer_singer(F, label, C, W, bias, t, Xt, weight, free)
    margins = [
        [(1.0 if k != label[i] else 0.0) + F[i, k] - F[i, label[i]] for k in range(classes)]
        for i in range(n)
    ]
    primal = (
        (W**2).sum() / 2 + weight * bias @ bias / 2 + sum(C[i] * max(margins[i]) for i in range(n))
    )
    sums = t.sum(axis=0)
    dual = (
        sum(t[i, label[i]] for i in range(n))
        - (Xt**2).sum() / 2
        - (0.0 if free else sums @ sums / (2 * m))
    )
    upper = [[C[i] if k == label[i] else 0.0 for k in range(classes)] for i in range(n)]
    equality = max(np.abs(t.sum(axis=1)).max(), np.abs(sums).max() if free else 0.0)
    assert (found.primal, found.dual, found.gap) == pytest.approx((primal, dual, primal - dual))
    assert found.box_violation == pytest.approx(
        max(t[i, k] - upper[i][k] for i in range(n) for k in range(classes))
    )
    assert found.equality_violation == pytest.approx(equality)


# ---- dual problems -------------------------------------------------------------------------------


def test_table_of_problems():
    """The table at the top of kernel/problems.py, row by row."""
    inf, zero = np.inf, np.zeros(n)
    first = np.argsort(-y, kind="stable")
    one, low, high = np.zeros(n, int), np.minimum(0, y * C), np.maximum(0, y * C)
    lowest, highest = np.minimum(0, y * inf), np.maximum(0, y * inf)
    label, every, zeros = y[first] < 0, np.arange(n), np.zeros(2 * n)
    twice, below, above = np.r_[every, every], np.r_[zero, -C], np.r_[C, zero]
    ends, tube = (lowest[first], highest[first]), np.r_[0.1 - z, -0.1 - z]
    rows = {
        "c_svc": (problems.c_svc(y, C), -y, low, high, one, every, zero, False),
        "squared": (problems.c_svc(y, C, True), -y, lowest, highest, one, every, 0.5 / C, False),
        "nu_svc": (
            problems.nu_svc(y, C, 0.3),
            zero,
            low[first],
            high[first],
            label,
            first,
            zero,
            True,
        ),
        "hard": (problems.hard_margin(y), zero, *ends, label, first, zero, True),
        "one_class": (problems.one_class(C, 0.4), zero, zero, C, one, every, zero, False),
        "eps_svr": (
            problems.svr(insensitive(z, C, 0.1)),
            tube,
            below,
            above,
            np.r_[one, one],
            twice,
            zeros,
            False,
        ),
        "nu_svr": (
            problems.nu_svr(z, C, 0.6),
            np.r_[-z, -z],
            below,
            above,
            np.r_[one, one + 1],
            twice,
            zeros,
            False,
        ),
    }
    for name, (problem, linear, lower, upper, group, row, ridge, units) in rows.items():
        for got, wanted in zip(problem[:5], (linear, lower, upper, group, row), strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=name)
        np.testing.assert_allclose(problem.ridge, ridge, err_msg=name)
        assert problem.in_margin_units == units, name
        assert problem.begin.tolist() == [
            0,
            *(np.flatnonzero(np.diff(group)) + 1).tolist(),
            len(group),
        ]


def test_starts_fill_in_order():
    assert problems.one_class(np.array([1.0, 2.0, 4.0]), 3 / 7).start.tolist() == [1.0, 2.0, 0.0]
    assert problems.nu_svr(np.zeros(3), np.array([1.0, 2.0, 4.0]), 4 / 7).start.tolist() == [
        1.0,
        1.0,
        0.0,
        -1.0,
        -1.0,
        0.0,
    ]
    assert problems.nu_svc(np.array([-1.0, 1.0, 1.0, -1.0]), np.ones(4), 0.75).start.tolist() == [
        1.0,
        0.5,
        -1.0,
        -0.5,
    ]
    assert problems.hard_margin(np.array([-1.0, 1.0, 1.0])).start.tolist() == [1.0, 0.0, -1.0]


def test_a_start_keeps_what_it_can():
    """Too large a sum is scaled down; what is missing is filled into variables in use first."""
    for unit in (1.0, 1e-3, 1e3):
        problem = problems.one_class(np.full(4, 2.0 * unit), 0.5)  # the sum is 4
        for start, wanted in (
            ([2.0, 0.0, 2.0, 4.0], [4 / 3, 0.0, 4 / 3, 4 / 3]),
            ([0.0, 1.0, 0.0, 1.0], [0.0, 2.0, 0.0, 2.0]),
            ([0.0, 0.0, 0.5, 0.0], [2.0, 0.0, 2.0, 0.0]),
            ([0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0]),
        ):
            np.testing.assert_allclose(
                problems.feasible_start(problem, unit * np.array(start)) / unit, wanted
            )
        below = problems.c_svc(np.array([-1.0, 1.0, 1.0]), np.full(3, 2.0 * unit))  # the sum is 0
        for start, wanted in (
            ([-2.0, 0.5, 0.5], [-1.0, 0.5, 0.5]),
            ([-0.5, 1.0, 1.0], [-0.5, 0.25, 0.25]),
            ([3.0, 0.0, 0.0], [0.0] * 3),
        ):
            np.testing.assert_allclose(
                problems.feasible_start(below, unit * np.array(start)) / unit, wanted, atol=1e-15
            )


@pytest.mark.parametrize("squared", [False, True])
def test_gap_of_a_dual_problem(squared):
    """Every variable could lower slope t + ridge t^2 / 2 to its least value inside the bounds."""
    problem = problems.svr(insensitive(z, C, EPSILON, squared))
    b = np.where(problem.upper > 0, 0.4, -0.3) * np.tile(C, 2)
    F = K @ (b[:n] + b[n:])
    ends = (Level(0.25, 0.25, 0.25),)
    wanted = 0.0
    for i in range(2 * n):
        slope, ridge = F[i % n] + problem.linear[i] + 0.25, problem.ridge[i]
        best = (
            max(problem.lower[i], min(problem.upper[i], -slope / ridge))
            if squared
            else (problem.lower if slope > 0 else problem.upper)[i]
        )
        wanted += slope * (b[i] - best) + ridge * (b[i] ** 2 - best**2) / 2
    assert duality_gap(problem, b, F, ends) == pytest.approx(wanted)
    np.testing.assert_allclose(
        gradient(problem, b, F), np.r_[F, F] + problem.ridge * b + problem.linear
    )


def test_gap_where_slopes_are_0_and_where_some_variables_have_no_ridge():
    hard = problems.c_svc(y, np.full(n, np.inf))
    for slope, gap in ((0.0, 0.0), (0.25, np.inf), (-0.25, np.inf)):
        F = y - 0.5 + slope
        found = duality_gap(hard, y * C, F, (Level(0.5, 0.5, 0.5),))
        assert found == gap, "nothing to gain without a slope, anything with one"
    mixed = problems.c_svc(y, C)._replace(ridge=np.where(np.arange(n) % 2, 0.0, 0.5))
    b, wanted = 0.5 * y * C, 0.0
    F = K @ b
    for i in range(n):
        slope = F[i] - y[i] + 0.25
        best = (mixed.lower if slope > 0 else mixed.upper)[i]
        if mixed.ridge[i]:
            best = max(mixed.lower[i], min(mixed.upper[i], -slope / mixed.ridge[i]))
        wanted += slope * (b[i] - best) + mixed.ridge[i] * (b[i] ** 2 - best**2) / 2
    assert duality_gap(mixed, b, F, (Level(0.25, 0.25, 0.25),)) == pytest.approx(wanted)


def test_levels_of_variables_that_can_only_grow_or_only_shrink():
    problem = problems.one_class(np.ones(3), 0.5)
    G = np.array([2.0, 5.0, 3.0])
    assert levels(problem.variables(np.zeros(3), G), HOST) == (Level(-2.0, -2.0, np.inf),)
    assert levels(problem.variables(np.ones(3), G), HOST) == (Level(-5.0, -np.inf, -5.0),)
    assert levels(problem.variables(np.array([1.0, 0.0, 0.0]), G), HOST) == (
        Level(-2.5, -3.0, -2.0),
    )
    assert violation(problem.variables(np.zeros(3), G), HOST) == -np.inf


def test_levels_violation_and_what_may_move():
    problem = problems.nu_svc(np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), np.ones(6), 0.5)
    b, G = np.array([1.0, 0.5, 0.0, -1.0, 0.0, -1.0]), np.array([0.5, 1.0, 3.0, 2.0, 7.0, 4.0])
    # first group: 1.0 can shrink only, 0.5 is free, 0.0 can grow only; second: -1 can grow, 0 can
    # shrink
    first, second = levels(problem.variables(b, G), HOST)
    assert first == Level(-1.0, -1.0, -1.0)
    assert second == Level(-4.5, -7.0, -2.0)
    assert margin((first, second)) == pytest.approx((-4.5 + 1.0) / 2)
    assert violation(problem.variables(b, G), HOST) == pytest.approx(7.0 - 2.0)
    found = may_move(problem.variables(b, G), HOST)
    assert found.tolist() == [False, True, False, True, True, True]
    alone = problem._replace(unconstrained=(1,))
    assert levels(alone.variables(b, G), HOST) == (first, Level(0.0, 0.0, 0.0))
    assert violation(alone.variables(b, G), HOST) == pytest.approx(7.0), "beside a gradient of 0"
    assert may_move(alone.variables(b, G), HOST).tolist() == found.tolist(), (
        "pairs may move as well"
    )


def test_a_degenerate_and_an_unsolved_problem():
    """The first is known to have the solution 0, of the second nothing is known."""
    zero, unknown = training.zero(3, 7, Convexity.CHECKED), training.unsolved(3, Status.TIME_LIMIT)
    assert zero.decision.coef.tolist() == unknown.decision.coef.tolist() == [0.0, 0.0, 0.0]
    assert zero.decision[1:3] == (0.0, (0.0, 0.0))
    assert unknown.decision[1:3] == (0.0, (-np.inf, np.inf))
    assert zero.certificate == certificate.Certificate(
        "degenerate", *[0.0] * 8, n_iter=7, convexity="checked"
    )
    inf = np.inf
    assert unknown.certificate == certificate.Certificate(
        "time_limit", inf, -inf, inf, inf, inf, 0.0, 0.0
    )
    assert (zero.status, unknown.status) == (Status.DEGENERATE, Status.TIME_LIMIT)


def test_rows_of_the_audit(monkeypatch):
    """All of few; of many some drawn, some suspect, and the largest coefficients.

    A closer look takes what it can afford.
    """
    source, coef = (
        make_source(Kernel.linear(), np.r_[A, A] * np.arange(1, 2 * n + 1)[:, None]),
        np.zeros(2 * n),
    )
    coef[[70, 3, 11]] = 3.0, -5.0, 4.0
    assert audit.sampled(source, coef, 2 * n).tolist() == list(range(2 * n))
    few = audit.sampled(source, coef, 12)
    assert set(few[-3:].tolist()) == {70, 3, 11}
    assert few[:-3].tolist() == np.random.default_rng(1).choice(2 * n, 6, replace=False).tolist()
    with monkeypatch.context() as patch:
        settings(patch, workspace_module, small=2 * n - 1)
        more = audit.sampled(source, coef, 12)
        assert more[6:9].tolist() == source.suspects(3).tolist(), "of many"
        assert np.delete(more, [6, 7, 8]).tolist() == few.tolist()
        settings(patch, workspace_module, small=2 * n)
        assert audit.sampled(source, coef, 12).tolist() == few.tolist()
    sample = np.arange(10, 20)
    for count, wanted in (
        (40, list(range(40))),
        (39, sample.tolist()),
        (4, [10, 13, 16, 19]),
        (1, [10]),
        (0, [10]),
    ):
        plan = plan_audit(40, sample, 2.0, 1.0, count)
        assert plan.rows.tolist() == wanted


def test_bounds_and_curvature_of_a_problem():
    decision = formulations.Decision(np.zeros(n), 0.0, (0.0, 0.0), scale=2.0)
    np.testing.assert_allclose(training._bounds(problems.c_svc(y, C), decision), C / 2)
    tube = problems.svr(insensitive(z, C, 0.1))
    np.testing.assert_allclose(training._bounds(tube, decision), C / 2)
    assert training._curvature(problems.c_svc(y, C)) == 0.0
    assert training._curvature(problems.c_svc(y, C, True)) == pytest.approx(C.sum())


def test_decisions_are_read_off_the_levels():
    b, part = np.array([2.0, 0.0, -1.0, -1.0]), np.zeros(4)
    problem = problems.nu_svc(np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), 0.5)
    ends = Level(-3.0, -4.0, -2.0), Level(5.0, 1.0, 9.0)
    found = formulations.read_margin(problem, Solution(None, b, part, ends, 0, False, 1.0))
    assert found.coef.tolist() == [0.5, 0.0, -0.25, -0.25]
    assert found[1:4] == (0.25, (-0.375, 0.875), 4.0)
    apart = formulations.read_margin(problem, Solution(None, b, part, ends[::-1], 0, False, 1.0))
    assert (apart.scale, apart.intercept) == (1.0, 1.0), "not yet apart: in the problem's own units"
    for near, r in ((5.0, 1.0), (4.5, 0.25)):
        found = formulations.read_margin(
            problem, Solution(None, b, part, (Level(near, near, near), ends[1]), 0, False, 1.0)
        )
        assert (found.scale, found.coef[0]) == (r, 2.0 / r)
    tube = problems.nu_svr(np.zeros(2), np.ones(2), 0.5)
    for levels_, width in ((ends[::-1], 4.0), (ends, 0.0)):
        found = formulations.read_tube(tube, Solution(None, b, part[:2], levels_, 0, False, 1.0))
        assert found.coef.tolist() == [1.0, -1.0]
        assert found[1:5] == (1.0, (-1.5, 3.5), 1.0, width)
    found = formulations.read_level(
        problems.c_svc(np.ones(4), np.ones(4)), Solution(None, b, part, ends[1:], 0, False, 1.0)
    )
    assert found[1:4] == (5.0, (1.0, 9.0), 1.0)


def test_violation_at_one_end_of_a_tube():
    """A dual of a share s of its bound: 1 - s of what is missing, s of what is too much; nothing
    without a bound."""
    short, size, bound = (
        np.array([3.0, 3.0, -2.0, -2.0, 3.0, -2.0]),
        np.array([0.0, 1.0, 1.0, 9.0, 1.0, 0.0]),
        np.full(6, 4.0),
    )
    bound[4] = 0.0
    assert linear_certificate._weighted(short, size, bound).tolist() == [
        3.0,
        2.25,
        0.5,
        2.0,
        0.0,
        0.0,
    ]
    assert linear_certificate._weighted(short, size / 8, bound / 8).tolist() == [
        3.0,
        2.25,
        0.5,
        2.0,
        0.0,
        0.0,
    ]


def test_distances_of_wide_sparse_data(monkeypatch):
    """Too wide to be made dense: |a|^2 + |b|^2 - 2 a.b gives the same distances."""
    S, T = (
        sparse.random(9, 50, density=0.3, random_state=0, format="csr"),
        sparse.random(7, 50, density=0.3, random_state=1, format="csr"),
    )
    wanted = ((S.toarray()[:, None] - T.toarray()[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(evaluation._squared_distances(S, T), wanted, rtol=1e-12)
    settings(monkeypatch, evaluation, entries=1)
    np.testing.assert_allclose(evaluation._squared_distances(S, T), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        evaluation._squared_distances(0.1 * S, 0.1 * T), 0.01 * wanted, rtol=1e-12
    )
    assert np.all(evaluation._squared_distances(S, S) >= 0)
    np.testing.assert_allclose(np.diag(evaluation._squared_distances(S, S)), 0.0, atol=1e-14)
