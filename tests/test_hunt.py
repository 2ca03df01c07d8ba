"""Trials of the hunt in which an answer was wrong once: see tests/hunt/run.py."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import settings
from maxmargin.kernel import evaluation

sys.path.insert(0, str(Path(__file__).parent / "hunt"))
from draw import draw
from trial import run

BUSY_AND_IDLE = "while True: pass", "import time; time.sleep(60)"

ROUNDING = [(3, 938), (5, 1567), (700, 1448), (700, 5182), (700, 9638)]
"""Decision values that depend on the order of their terms: certify refuted what fit called
optimal."""
HARD = [(702, 3093), (703, 2652), (704, 4808), (705, 1157)]
"""Classes that are separable, with losses that count at a large C."""
ZERO = [
    (1, 1537),
    (5, 2378),
    (701, 14882),
    (702, 12475),
    (703, 8342),
    (700, 2960),
    (700, 3540),
    (700, 9293),
]
"""Objectives that are zero within rounding."""
SQUARED = [(20261117, 3243), (20261117, 7916)]
"""Squared losses: the square of a rounding error times a huge C."""
NUSVR = [(1, 535), (1, 759), (1, 1653), (1, 1743), (2, 433), (2, 657), (2, 2017), (2, 2319)]
"""Tubes of nu-SVR with a large gap."""
OVERFLOW = [(2, 1127), (2, 1608), (5, 2352), (200, 1673), (200, 1709)]
"""Sums beyond float64."""
UNEVEN = [(31337777, 21970)]
"""Weights of ten decades: float32 was wrong near the few coefficients that moved far."""
KERNEL = [*ROUNDING, *UNEVEN, *HARD, *ZERO, *SQUARED, *NUSVR, *OVERFLOW]

FAR_TARGETS = [
    (1, 361),
    (2, 2577),
    (800, 4906),
    (800, 8016),
    (801, 10119),
    (801, 11687),
    (801, 15386),
    (20261116, 57744),
]
"""Targets far from 0: linear models took their distance from 0 for the scale of rounding."""
LARGE_C = [(800, 352), (801, 7327), (801, 7438), (802, 1660), (802, 3219)]
"""The last digit of a decision value times a huge weight."""
BLURRED = [(100, 130), (801, 11547)]
"""X't of huge features is known to a few digits."""
LASSO = [(20261117, 10801), (9001, 7127), (800, 7691), (801, 269), (801, 17739), (801, 18336)]
"""The same in the bounds of the lasso's dual."""
ONE_CLASS = [(801, 1416), (801, 1922), (801, 16110)]
"""Offsets that were moved after they had been certified."""
FAR_FEATURES = [(20261117, 12275)]
"""PegasosSVC: X't of features far from 0 is known to few digits."""
PEGASOS = [
    (20261117, 2658),
    (800, 2634),
    (800, 3474),
    (800, 4700),
    (800, 4774),
    (800, 5432),
    (800, 5600),
    (800, 7754),
]
"""Matrices that are not positive semidefinite, and sigmoid kernels."""
LINEAR = [*FAR_TARGETS, *LARGE_C, *BLURRED, *LASSO, *ONE_CLASS, *FAR_FEATURES, *PEGASOS]


def test_a_worker_that_waits_for_its_turn_does_not_hang():
    """On a busy machine a trial may take long; what counts is its own CPU time."""
    import run as program

    busy, idle = (subprocess.Popen([sys.executable, "-c", code]) for code in BUSY_AND_IDLE)
    try:
        before = [program.cpu_seconds(one.pid) for one in (busy, idle)]
        end = time.monotonic() + 10
        while program.cpu_seconds(busy.pid) - before[0] < 0.5 and time.monotonic() < end:
            time.sleep(0.05)
        assert program.cpu_seconds(busy.pid) - before[0] >= 0.5
        if sys.platform == "linux":
            assert program.cpu_seconds(idle.pid) - before[1] < 0.5
    finally:
        for one in (busy, idle):
            one.kill()
            one.wait()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("seed", "number"), [*SQUARED, *ZERO[3:5]])
def test_rounding_is_counted_where_not_all_rows_are_compared(seed, number, monkeypatch):
    settings(monkeypatch, evaluation, long_double_products=0)
    assert run(draw(seed, number))[1] == []


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("seed", "number"), [*KERNEL, *LINEAR])
def test_findings_do_not_return(seed, number):
    assert run(draw(seed, number))[1] == []
