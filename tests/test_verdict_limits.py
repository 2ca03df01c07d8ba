"""Every limit of the rule that calls a solution optimal, from both sides."""

from dataclasses import replace

import numpy as np
import pytest

from maxmargin.certificate import Certificate
from maxmargin.status import Convexity, Status
from maxmargin.verdict import (
    FIT,
    Demand,
    Size,
    approximates,
    error_allowed,
    holds,
    verdict,
    verdict_again,
)

GOOD = Certificate(Status.UNJUDGED, 100.0, 99.5, 0.5, 0.005, 5e-4, 0.0, 0.0)
SIZE = Size(values=10.0, largest=2.0, total=50.0, weight=30.0, curvature=1e8)
DEMAND = Demand.on_violation(1e-3)
ZERO = replace(GOOD, primal=1e-20, dual=-1e-20, gap=2e-20, relative_gap=0.0, kkt_violation=0.0)
"""An objective of 0, within rounding."""
ERROR = 5e-5
ADDED = ERROR * (0.8 + ERROR * 1e6)
"""What that error may add to the relative gap."""
EXACT = {"kkt_violation": 1.0, "gap": 1e-14}

LIMITS = {
    "bounds": (GOOD, {}, "box_violation", lambda slack: slack * 2e-9),
    "sum": (GOOD, {}, "equality_violation", lambda slack: slack * 5e-8),
    "violation": (GOOD, {}, "kkt_violation", lambda slack: slack * 1e-3),
    "violation and error": (
        GOOD,
        {"audit_error": 5e-4},
        "kkt_violation",
        lambda slack: slack * 1e-3 - 5e-4,
    ),
    "gap": (GOOD, {}, "relative_gap", lambda slack: slack * 1e-2),
    "gap below 0": (GOOD, {}, "relative_gap", lambda slack: slack * -1e-2),
    "gap and error": (
        GOOD,
        {"audit_error": ERROR},
        "relative_gap",
        lambda slack: slack * 1e-2 - ADDED,
    ),
    "exact": (GOOD, EXACT, "relative_gap", lambda slack: slack * 1e-12),
    "exact and error": (
        GOOD,
        {**EXACT, "relative_gap": 1e-13},
        "audit_error",
        lambda slack: slack * 1e-9 / 0.8,
    ),
    "violation at 0": (ZERO, {}, "kkt_violation", lambda slack: slack * 1e-3),
    "error at 0": (ZERO, {}, "audit_error", lambda slack: 1e-11),
}
TIGHT = Demand(1e-12, 1e-2)
"""No violation to speak of: only what is exact passes."""


@pytest.mark.parametrize("slack", [1.0, 1.5])
@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_from_both_sides(name, slack):
    size = SIZE._replace(curvature=0.0) if name == "violation and error" else SIZE
    found, others, field, limit = LIMITS[name]
    for share, passes in ((0.99, True), (1.01, False)):
        assert (
            holds(
                replace(found, **{**others, field: share * limit(slack)}),
                DEMAND,
                size,
                FIT._replace(slack=slack),
            )
            is passes
        ), share


def test_limits_of_an_objective_of_0_where_only_what_is_exact_passes():
    for violation, error, passes in (
        (0.99e-8, 0.0, True),
        (1.01e-8, 0.0, False),
        (0.0, 0.99e-11, True),
        (0.0, 1.01e-11, False),
    ):
        found = replace(ZERO, kkt_violation=violation, audit_error=error)
        assert holds(found, TIGHT, SIZE) is passes
    assert holds(replace(ZERO, gap=0.0, primal=0.0, dual=0.0, kkt_violation=0.99e-8), TIGHT, SIZE)
    exact = replace(GOOD, relative_gap=0.0, gap=0.0, kkt_violation=1.0)
    assert holds(exact, TIGHT, SIZE), "a gap of 0 of an objective that is not"
    assert holds(replace(exact, audit_error=0.9e-9), TIGHT, SIZE)
    assert not holds(
        replace(exact, audit_error=1.1e-8),
        TIGHT,
        SIZE._replace(total=0.0, weight=0.0, curvature=0.0),
    ), "of the values"
    assert holds(
        replace(exact, audit_error=0.9e-8),
        TIGHT,
        SIZE._replace(total=0.0, weight=0.0, curvature=0.0),
    )


def test_an_error_may_have_a_limit_of_its_own():
    for error, passes in ((0.99e-5, True), (1.01e-5, False)):
        assert holds(replace(GOOD, audit_error=error), DEMAND._replace(error=1e-5), SIZE) is passes
    assert Demand.on_gap(1e-4, 2.0, error=0.5) == Demand(2e-2, 1e-4, 0.5, True)
    assert Demand.on_gap(1e-4, 2.0, True) == Demand(pytest.approx(0.2), 1e-4, np.inf, True)


def test_certify_allows_a_millionth_more_than_fit():
    """It sums in another order."""
    for more, again in ((0.5e-6, Status.OPTIMAL), (2e-6, Status.REFUTED)):
        found = replace(GOOD, kkt_violation=1e-3 * (1 + more))
        assert verdict(None, found, DEMAND, SIZE) is Status.STALLED
        assert verdict_again(Status.OPTIMAL, found, DEMAND, SIZE) is again
        imported = verdict_again(Status.IMPORTED, found, DEMAND, SIZE)
        assert imported is again
        gap = replace(GOOD, kkt_violation=1.0, relative_gap=1e-4 * (1 + more))
        demand = Demand.on_gap(1e-4)
        assert verdict(None, gap, demand, SIZE) is Status.STALLED
        for before in (Status.APPROXIMATE, Status.STATIONARY):
            assert verdict_again(before, gap, demand, SIZE) is (
                before if again is Status.OPTIMAL else Status.REFUTED
            )
    for field, limit in (("box_violation", 2e-6), ("equality_violation", 5e-5)):
        for share, passes in ((0.99, Status.OPTIMAL), (1.01, Status.REFUTED)):
            assert (
                verdict_again(
                    Status.IMPORTED, replace(GOOD, **{field: share * limit}), DEMAND, SIZE
                )
                is passes
            )
    indefinite = replace(GOOD, convexity=Convexity.INDEFINITE)
    assert verdict_again(Status.IMPORTED, indefinite, DEMAND, SIZE) is Status.STATIONARY


def test_a_gap_within_its_limit_is_approximate():
    demand, found = Demand.on_gap(1e-2), replace(GOOD, kkt_violation=5.0)
    for convexity, status in (
        (Convexity.PROVED, Status.APPROXIMATE),
        (Convexity.INDEFINITE, Status.STATIONARY),
        (Convexity.UNKNOWN, Status.STATIONARY),
    ):
        assert verdict(None, replace(found, convexity=convexity), demand, SIZE) is status
        assert verdict(Status.MAX_ITER, replace(found, convexity=convexity), demand, SIZE) is status
    assert verdict(None, found, DEMAND, SIZE) is Status.STALLED, "of others the violation counts"
    assert verdict(Status.OPTIMAL, found, DEMAND, SIZE) is Status.STALLED
    assert (
        verdict(Status.MAX_ITER, replace(found, relative_gap=0.02), demand, SIZE) is Status.MAX_ITER
    )
    assert not approximates(replace(found, box_violation=1.0), demand, SIZE)


def test_a_gap_may_be_relative_to_more_than_the_objective():
    demand = Demand.on_gap(1e-3)._replace(value=1000.0)
    for gap, passes in ((0.99, True), (1.01, False), (-0.99, True), (-1.01, False)):
        found = replace(GOOD, gap=gap, relative_gap=gap / 100, kkt_violation=5.0)
        assert approximates(found, demand, SIZE) is passes
        assert not approximates(found, demand._replace(value=99.0), SIZE), (
            "of the objective, which is more"
        )
    error = replace(GOOD, gap=0.99, audit_error=1e-5, kkt_violation=5.0)
    assert not approximates(error, demand, SIZE), "what the error adds is relative to it, too"
    assert approximates(replace(error, gap=0.98), demand, SIZE)


@pytest.mark.parametrize("curvature", [0.0, 1e4, 1e12])
def test_the_error_that_uses_up_the_room_of_the_gap(curvature):
    demand, size = Demand(1e9, 1e-2), SIZE._replace(curvature=curvature)
    error = error_allowed(None, GOOD, demand, size)
    assert 0.5 + 80 * error + curvature * error**2 == pytest.approx(1.0)
    negative = error_allowed(
        None, replace(GOOD, relative_gap=-0.005, primal=-99.5, dual=-100.0), demand, size
    )
    assert negative == pytest.approx(error, rel=1e-9, abs=0.0)


def test_what_error_is_allowed():
    nothing = SIZE._replace(total=0.0, weight=0.0, curvature=0.0)
    assert error_allowed(None, GOOD, DEMAND, nothing) == pytest.approx(5e-4), (
        "the values do not depend on it"
    )
    assert error_allowed(None, ZERO, DEMAND, SIZE) == 0.0
    assert error_allowed(None, replace(ZERO, gap=0.0, primal=0.0, dual=0.0), DEMAND, SIZE) == 0.0
    assert error_allowed(
        None, replace(GOOD, relative_gap=0.0, gap=0.0), DEMAND, nothing
    ) == pytest.approx(5e-4)
    assert error_allowed(None, replace(GOOD, relative_gap=1e-2), DEMAND, nothing) == 0.0
    assert error_allowed(None, replace(GOOD, relative_gap=np.nan), DEMAND, nothing) == 0.0
    assert error_allowed(Status.OPTIMAL, replace(GOOD, kkt_violation=1.0), DEMAND, nothing) == 0.0
    assert (
        error_allowed(Status.MAX_ITER, replace(GOOD, kkt_violation=1.0), DEMAND, nothing) == np.inf
    )


def test_the_size_of_a_model():
    f, b = np.array([-3.0, 2.0]), np.array([0.5, -2.0, 0.0])
    assert Size.of(f, b) == Size(3.0, 2.0, 2.5, 2.5, 0.0)
    assert Size.of(f, b, np.array([1.0, 4.0, 8.0]), 7.0) == Size(3.0, 2.0, 2.5, 5.0, 7.0)
    assert Size.of(f, b, np.array([np.inf, 4.0, np.inf])) == Size(3.0, 2.0, 2.5, 4.5, 0.0)
    assert Size.of(f[:0], b[:0]) == Size(0.0, 0.0, 0.0, 0.0, 0.0)


def test_limits_of_0_can_be_kept():
    nothing = Size(0.0, 0.0, 0.0)
    assert holds(replace(GOOD, relative_gap=0.5, kkt_violation=0.0), Demand(0.0, 0.5), nothing)
    exact = replace(GOOD, relative_gap=0.0, gap=0.0, kkt_violation=1.0)
    assert holds(exact, Demand(0.0, 0.0), nothing)
    assert holds(ZERO, Demand(-1.0, 0.0), nothing), "exact: no violation, no error"
    assert holds(replace(GOOD, audit_error=1e-5), DEMAND._replace(error=1e-5), SIZE)
