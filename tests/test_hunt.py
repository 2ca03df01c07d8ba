"""Trials of the hunt in which an answer was wrong once: see tests/hunt/run.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "hunt"))
from draw import draw
from trial import run

ROUNDING = [(3, 938), (5, 1567), (700, 1448), (700, 5182), (700, 9638)]
"""Decision values that depend on the order of their terms: certify refuted what fit called optimal."""
HARD = [(702, 3093), (703, 2652), (705, 1157)]
"""Classes that are separable, with losses that count at a large C."""
ZERO = [(1, 1537), (5, 2378), (701, 14882), (700, 2960), (700, 3540), (700, 9293)]
"""Objectives that are zero within rounding."""
NUSVR = [(1, 535), (1, 759), (1, 1653), (1, 1743), (2, 433), (2, 657), (2, 2017), (2, 2319)]
"""Tubes of nu-SVR with a large gap."""
OVERFLOW = [(2, 1127), (2, 1608), (5, 2352), (200, 1673), (200, 1709)]
"""Sums beyond float64."""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("seed", "number"), [*ROUNDING, *HARD, *ZERO, *NUSVR, *OVERFLOW])
def test_findings_do_not_return(seed, number):
    assert run(draw(seed, number))[1] == []
