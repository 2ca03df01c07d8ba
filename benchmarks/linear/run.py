"""``make bench-linear``: the time of every library to the same objective of linear models.

    make bench-linear                                  every case, about 50 minutes on two cores
    make bench-linear ARGS=--list                      list the cases (linear/cases.py)
    make bench-linear CASES="a9a text"                 cases whose name or group has a given word
    make bench-linear CASES='"text hinge"'             one case by its whole name
    make bench-linear ARGS="--timeout 20 --repeats 1"  options as below
    make bench-linear ARGS=--quick                     at most 2,000 rows a case, once
    make bench-linear ARGS=--save                      publish docs/linear-benchmark.{md,json,svg}
                                                       and the README's table

Peers live in environments of their own under .bench/; results go to run/bench/linear.{md,json,svg}.
What is measured: linear/measure.py.
"""

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
import report
from environments import set_up
from peers.linear import LIBRARIES
from run import DOCS, OUT, ROOT, Progress, expectations, is_whole, machine

from linear.cases import CASES, select
from linear.measure import LinearBench
from linear.report import line, markdown, picture, readme


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "words", nargs="*", help="substrings of the names or groups of the cases to run"
    )
    parser.add_argument("--quick", action="store_true", help="at most 2,000 rows a case, once each")
    parser.add_argument("--repeats", type=int, help="runs of each library (3; quick: 1)")
    parser.add_argument("--timeout", type=float, help="seconds for one fit (8; quick: 6)")
    parser.add_argument(
        "--save",
        action="store_true",
        help="copy the results to docs/linear-benchmark.{md,json,svg} and the README",
    )
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--set-up", action="store_true", help="make the environments and stop")
    parser.add_argument(
        "--show",
        type=Path,
        metavar="FILE.json",
        help="write the tables of saved results, measure nothing",
    )
    return parser.parse_args()


def finish(results: dict[str, Any], stem: str, save: bool) -> None:
    """Write the tables, to docs/ too if asked."""
    report.write(results, OUT, stem, markdown, picture)
    if save and is_whole(results, CASES):
        for suffix in (".md", ".json", ".svg"):
            shutil.copy(OUT / f"{stem}{suffix}", DOCS / f"linear-benchmark{suffix}")
        readme(results, ROOT / "README.md")
        figures.main()


def main() -> None:
    asked = options()
    chosen = select(asked.words, asked.quick)
    if asked.list:
        return print("\n".join(f"{case.name:26} {' '.join(case.groups)}" for case in chosen))
    if asked.show:
        return finish(json.loads(asked.show.read_text()), "linear", asked.save)
    if not chosen:
        sys.exit(
            f"No case matches {asked.words}. There are: {', '.join(case.name for case in CASES)}."
        )
    OUT.mkdir(parents=True, exist_ok=True)
    environments = set_up([library for library, _ in LIBRARIES])
    if asked.set_up:
        return None
    timeout = asked.timeout or (6.0 if asked.quick else 8.0)
    repeats = asked.repeats or (1 if asked.quick else 3)
    store = OUT / ("linear-quick.json" if asked.quick else "linear.json")
    progress = Progress([case.name for case in chosen], expectations(store))
    results = {
        **machine(),
        "timeout": timeout,
        "repeats": repeats,
        "quick": asked.quick,
        "cases": [],
    }
    # Ctrl-C shows what there is
    with tempfile.TemporaryDirectory(dir=OUT) as folder, contextlib.suppress(KeyboardInterrupt):
        bench = LinearBench(environments, Path(folder), timeout, repeats)
        for case in chosen:
            began = time.monotonic()
            record = bench.measure(case)
            results["cases"].append({**record, "took": time.monotonic() - began})
            store.write_text(json.dumps(results, indent=1))  # what was measured survives a stop
            progress.finished(case.name, line(record))
    if not results["cases"]:
        sys.exit("Stopped before any case was measured.")
    return finish(results, store.stem, asked.save)


if __name__ == "__main__":
    main()
