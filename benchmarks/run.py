"""``make bench``: fit every case with maxmargin and its peers, check that the answers agree, show
the ratios.

    make bench                                  every case, about an hour on two cores
    make bench ARGS=--list                      list the cases (cases.py)
    make bench CASES="covtype10k letter"        cases whose name or group contains one of the words
    make bench CASES='"magic C=10"'             one case by its whole name
    make bench CASES=sweep ARGS="--timeout 60"  options as below
    make bench-quick                            a dozen small cases in five minutes
    make bench ARGS=--save                      publish the tables and the picture in docs/, and the
                                                short table in the README

Peers live in environments of their own under .bench/; results go to run/bench/ as JSON, Markdown
and SVG. The data come from the folder in MAXMARGIN_DATA (a load.py whose load(name) returns X and
y), or else from OpenML. To show saved results again: ``--show FILE.json``.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import figures
import report
from cases import CASES, select
from environments import ROOT, set_up
from measure import Bench

OUT = ROOT / "run" / "bench"
DOCS = ROOT / "docs"
TIMEOUT, QUICK_TIMEOUT = 30.0, 6.0
FIRST_GUESS = 70.0
"""Expected seconds of a case that was never measured."""


def machine() -> dict[str, Any]:
    """The machine and versions of the results."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = [
            line.split(":", 1)[1].strip()
            for line in cpuinfo.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = lines[0] if lines else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "cpu": model,
        "cores": cores,
        "python": platform.python_version(),
    }


def commit() -> str:
    """The commit that is measured, with a plus sign where files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def expectations(path: Path) -> dict[str, float]:
    """Seconds each case took last time."""
    if not path.is_file():
        return {}
    return {record["case"]: record["took"] for record in json.loads(path.read_text())["cases"]}


class Progress:
    """One line for each case, with the time that is left."""

    def __init__(self, names: list[str], known: dict[str, float]) -> None:
        self.expected = {name: known.get(name, FIRST_GUESS) for name in names}
        self.began, self.done = time.monotonic(), 0.0
        try:
            from rich.console import Console

            self.say = Console(highlight=False, markup=False, soft_wrap=True).print
        except ImportError:
            self.say = print
        self.say(f"{len(names)} cases, about {sum(self.expected.values()) / 60:.0f} minutes")

    def finished(self, name: str, texts: str) -> None:
        """Show a case and the estimate."""
        elapsed = time.monotonic() - self.began
        self.done += self.expected[name]
        left = (sum(self.expected.values()) - self.done) * (elapsed / self.done)
        self.say(f"{name:22} {texts}   {elapsed / 60:.1f} min, {left / 60:.0f} left")
        sys.stdout.flush()


def line(record: dict[str, Any]) -> str:
    """A case in a line."""
    row = report.Row(record)
    return (
        f"ours {row.ours_text:>9}  best peer {row.best_text:34} ratio {row.ratio_text:>6}, to "
        f"sklearn {row.sklearn_text:>6}"
    )


def save(results: dict[str, Any], store: Path) -> None:
    """Copy what was written to docs/ and the README."""
    for suffix in (".md", ".json", ".svg"):
        shutil.copy(store.with_suffix(suffix), DOCS / f"benchmark{suffix}")
    report.readme(results, ROOT / "README.md")
    figures.main()


def is_whole(results: dict[str, Any], cases: Sequence[Any]) -> bool:
    """Whether every case was measured: nothing else is published."""
    missing = {case.name for case in cases} - {record["case"] for record in results["cases"]}
    if missing:
        print(
            f"Not saved: a published table is one run of every case, and {len(missing)} were not "
            "measured."
        )
    return not missing


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "words", nargs="*", help="substrings of the names or groups of the cases to run"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a dozen cases on at most 3,000 rows, once each"
    )
    parser.add_argument("--repeats", type=int, help="runs of each library (3; quick: 1)")
    parser.add_argument("--timeout", type=float, help="seconds for one fit (30; quick: 6)")
    parser.add_argument(
        "--save",
        action="store_true",
        help="copy the results to docs/benchmark.{md,json,svg} and the README",
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


def main() -> None:
    """Measure the chosen cases and write the tables."""
    options = parsed()
    chosen = select(options.words, options.quick)
    if options.list:
        return print("\n".join(f"{case.name:22} {' '.join(case.groups)}" for case in chosen))
    if options.show:
        results = json.loads(options.show.read_text())
        report.write(results, OUT)
        return (
            save(results, OUT / "benchmark.json")
            if options.save and is_whole(results, CASES)
            else None
        )
    if not chosen:
        sys.exit(
            f"No case matches {options.words}. There are: {', '.join(case.name for case in CASES)}."
        )
    OUT.mkdir(parents=True, exist_ok=True)
    environments = set_up()
    if options.set_up:
        return None
    timeout = options.timeout or (QUICK_TIMEOUT if options.quick else TIMEOUT)
    repeats = options.repeats or (1 if options.quick else 3)
    store = OUT / ("quick.json" if options.quick else "benchmark.json")
    known = expectations(store)
    results = {
        **machine(),
        "timeout": timeout,
        "repeats": repeats,
        "quick": options.quick,
        "cases": [],
    }
    progress = Progress([case.name for case in chosen], known)
    # Ctrl-C shows what there is
    with tempfile.TemporaryDirectory(dir=OUT) as folder, contextlib.suppress(KeyboardInterrupt):
        bench = Bench(environments, Path(folder), timeout, repeats)
        for case in chosen:
            began = time.monotonic()
            record = bench.measure(case)
            results["cases"].append({**record, "took": time.monotonic() - began})
            store.write_text(json.dumps(results, indent=1))  # what was measured survives a stop
            progress.finished(case.name, line(record))
    if not results["cases"]:
        sys.exit("Stopped before any case was measured.")
    report.write(results, OUT, store.stem)
    if options.save and is_whole(results, CASES):
        save(results, store)
    return None


if __name__ == "__main__":
    main()
