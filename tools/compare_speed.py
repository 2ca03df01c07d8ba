"""The time of the same fits and predictions in two commits, interleaved.

    tools/compare_speed.py OLD NEW                 the quick kernel cases and some linear ones
    tools/compare_speed.py OLD NEW "magic n=100"   cases whose name holds one of the words
    tools/compare_speed.py OLD NEW --rounds 9 --limit 1.03

OLD and NEW are two checkouts, each with its .venv. Cases and data are those of benchmarks/ in the
checkout that this file belongs to. Both checkouts hold a process that waits for its turn; in each
round they fit every case once, the first alternating. The figure is the median over rounds of
NEW's time divided by OLD's. Exit code 1 if a case is slower than the limit.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
LINEAR = ("a9a hinge", "a9a squared", "a9a l1", "magic hinge", "covtype10k squared", "housing SVR")
"""Linear cases of a run without words."""
SHORT, LONG_ENOUGH = 0.05, 0.2
"""A call shorter than SHORT seconds is repeated for LONG_ENOUGH, and the median is kept."""


def cases(words: list[str]) -> list[Any]:
    """The kernel and linear cases of these words."""
    from cases import CASES
    from linear.cases import CASES as LINEAR_CASES

    if words:
        return [c for c in (*CASES, *LINEAR_CASES) if any(word in c.name for word in words)]
    quick = [case for case in CASES if "quick" in case.groups]
    return [*quick, *(case for case in LINEAR_CASES if case.name in LINEAR)]


def timed(call: Any) -> float:
    """The median seconds of a call."""
    seconds: list[float] = []
    while not seconds or (seconds[0] < SHORT and sum(seconds) < LONG_ENOUGH):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return median(seconds)


def child() -> None:
    """Fit the cases whose numbers come from standard input; print seconds of fit and predict."""
    import numpy as np

    import maxmargin
    from data import load

    warnings.simplefilter("ignore")
    chosen, known = cases(sys.argv[2:]), {}
    for line in sys.stdin:
        case = chosen[int(line)]
        if case.data not in known:
            known[case.data] = load(case.data)
        X, y = known[case.data]
        if case.n is not None:
            rows = np.random.default_rng(0).permutation(len(y))[: case.n]
            X, y = X[rows], y[rows]
        parameters = dict(case.parameters)
        model = getattr(maxmargin, case.problem)(**parameters, tol=getattr(case, "tol", 1e-4))
        fit = timed(lambda model=model, X=X, y=y: model.fit(X, y))
        predict = timed(lambda model=model, X=X: model.predict(X[:1000]))
        print(json.dumps([fit, predict]), flush=True)


def ask(process: "subprocess.Popen[str]", number: int) -> list[float]:
    """Seconds of fit and predict of one case."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    found: list[float] = json.loads(process.stdout.readline())
    return found


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("words", nargs="*", help="parts of the names of cases")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.03, help="the greatest ratio allowed")
    arguments = parser.parse_args()
    processes = [
        subprocess.Popen(
            [checkout / ".venv/bin/python", Path(__file__).resolve(), "--child", *arguments.words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )
        for checkout in (arguments.old, arguments.new)
    ]
    chosen, slower = cases(arguments.words), 0
    seconds: list[list[list[list[float]]]] = [[[], []] for _ in chosen]
    for turn in range(arguments.rounds + 1):  # the first warms up
        for k in range(len(chosen)):
            for side in (0, 1) if turn % 2 else (1, 0):
                found = ask(processes[side], k)
                if turn:
                    seconds[k][side].append(found)
    print(f"{'case':28} {'fit, s':>10} {'new/old':>8} {'predict, s':>11} {'new/old':>8}")
    for case, (old, new) in zip(chosen, seconds, strict=True):
        ratios = [
            median(b[part] / a[part] for a, b in zip(old, new, strict=True)) for part in (0, 1)
        ]
        slower += ratios[0] > arguments.limit
        fit, predict = (median(one[part] for one in new) for part in (0, 1))
        print(f"{case.name:28} {fit:10.4f} {ratios[0]:8.3f} {predict:11.5f} {ratios[1]:8.3f}")
    for process in processes:
        process.terminate()
    return int(slower > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child()
    else:
        sys.exit(main())
