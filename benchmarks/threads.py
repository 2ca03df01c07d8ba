"""``make bench-threads``: seconds of a fit by the number of threads, beside the best peer.

    make bench-threads                                  1, 2, 4, ... up to the cores of the machine
    make bench-threads CASES="letter skin"              cases whose name contains one of the words
    make bench-threads ARGS="--threads 1 16"            these numbers

Every fit has a process of its own, and VARIABLES of its environment are the number.
Peers run with the greatest number alone. Answers are compared as in ``make bench``.
Results go to run/bench/threads.json and threads.md.
"""

import argparse
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from cases import CASES, Case
from environments import set_up
from measure import Bench
from peers import OURS, PEERS
from report import Row
from run import OUT, machine

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
NAMES = ("covtype10k C=10", "magic C=10", "a9a C=1", "mnist10k C=10", "skin C=10", "letter C=10")
MANY_CORES: list[Case] = [
    *[case for name in NAMES for case in CASES if case.name == name],
    Case("housing SVR", "housing", "SVR", {"C": 10.0, "gamma": 0.1, "epsilon": 0.1}, ()),
    Case("one-hot C=1", "one_hot", "SVC", {"C": 1.0, "gamma": 0.05}, ()),
    Case("mix50k C=10", "mix50k", "SVC", {"C": 10.0, "gamma": 1.0}, ()),
]


def powers(cores: int) -> list[int]:
    """1, 2, 4, ... and the number of cores."""
    return sorted({cores, *(2**k for k in range(cores.bit_length()) if 2**k <= cores)})


def measure(cases: list[Case], numbers: list[int], repeats: int, peers: list[str]) -> list[Any]:
    """One record for each case: seconds by number of threads, and the best peer's."""
    chosen = [library for library in PEERS if library.name in peers]
    environments = set_up((OURS, *chosen))
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            case = case._replace(groups=())
            record: dict[str, Any] = {"case": case.name, "ours": {}, "peer": None, "peer_name": ""}
            for threads in numbers:
                os.environ.update(dict.fromkeys(VARIABLES, str(threads)))
                last = threads == numbers[-1]
                bench = Bench(environments if last else environments[:1], Path(folder), 60, repeats)
                row = Row(bench.measure(case))
                record["ours"][threads] = row.ours.get("fit")
                if last and row.best is not None and "fit" in row.best:
                    record |= {"peer": row.best["fit"], "peer_name": row.best["label"]}
            records.append(record)
            print(line(record, numbers), flush=True)
    return records


def line(record: dict[str, Any], numbers: list[int]) -> str:
    """A row of the table."""
    seconds = [record["ours"][number] for number in numbers]
    cells = [record["case"], *("" if value is None else f"{value:.3g}" for value in seconds)]
    ratio = record["peer"] / seconds[-1] if record["peer"] and seconds[-1] else None
    cells += [f"{record['peer']:.3g}" if record["peer"] else "", record["peer_name"]]
    return "| " + " | ".join([*cells, "" if ratio is None else f"{ratio:.2f}"]) + " |"


def table(results: dict[str, Any]) -> str:
    """The whole page."""
    numbers, rows = results["threads"], results["cases"]
    head = ["", *(f"{number}" for number in numbers), f"best peer, {numbers[-1]}", "", "ratio"]
    ratios = [
        row["peer"] / row["ours"][numbers[-1]]
        for row in rows
        if row["peer"] and row["ours"][numbers[-1]]
    ]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    here = results["machine"]
    return "\n".join(
        [
            f"Seconds of a fit by the number of threads. Commit {here['commit']}, {here['cpu']}, "
            f"{here['cores']} cores, {here['date']}.",
            "",
            "| " + " | ".join(head) + " |",
            "|---" * len(head) + "|",
            *(line(row, numbers) for row in rows),
            "",
            f"Geometric mean of the ratios: {mean:.2f}; least: {min(ratios, default=math.nan):.2f}",
            "",
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="substrings of the names of the cases to run")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=powers(len(os.sched_getaffinity(0)))
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", nargs="+", default=["aoclda", "scikit-learn-intelex"])
    options = parser.parse_args()
    words = options.words
    cases = [case for case in MANY_CORES if not words or any(word in case.name for word in words)]
    numbers = sorted(options.threads)
    found = measure(cases, numbers, options.repeats, options.peers)
    results = {"machine": machine(), "threads": numbers, "cases": found}
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "threads.json").write_text(json.dumps(results, indent=1))
    (OUT / "threads.md").write_text(table(results))
    print(table(results))


if __name__ == "__main__":
    main()
