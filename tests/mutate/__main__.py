"""The campaign: mutants in an order that a seed draws, each tried on a copy of the package, until
the time is up."""

import argparse
import difflib
import random
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path

from mutate.coverage import Judges, existing, write_map
from mutate.operators import Mutant, mutants
from mutate.places import PACKAGE, ROOT, sources
from mutate.trial import Bench, Outcome, Verdict, preload

KNOWN = Path(__file__).parent / "equivalents.toml"
JUDGED = 20.0
"""Seconds of tests for one mutant, at most."""


def known_equivalents() -> list[dict[str, str]]:
    """Mutants that no test can tell from the original, each with its reason: one by its name, or
    all of a function or constant."""
    found: list[dict[str, str]] = tomllib.loads(KNOWN.read_text()).get("equivalent", [])
    return found


def matches(mutant: Mutant, entry: dict[str, str]) -> bool:
    """Whether an entry of the list means this mutant."""
    like = entry.get("like")
    if like is not None:
        return fnmatchcase(mutant.name, like)
    return mutant.name == entry.get("mutant") or f"{mutant.file}::{mutant.function}" == entry.get(
        "within"
    )


def draw(seed: int, chosen: list[str]) -> list[Mutant]:
    """All mutants of the files whose names contain one of the words, in random order."""
    files = [
        path
        for path in sources()
        if not chosen or any(word in path.relative_to(PACKAGE).as_posix() for word in chosen)
    ]
    found = [mutant for path in files for mutant in mutants(path)]
    random.Random(seed).shuffle(found)
    return found


def difference(mutant: Mutant) -> str:
    """The fault as a diff."""
    before = (PACKAGE / mutant.file).read_bytes()
    after = mutant.apply(before) or b""
    lines = difflib.unified_diff(
        before.decode().splitlines(),
        after.decode().splitlines(),
        mutant.file,
        mutant.file,
        n=0,
        lineterm="",
    )
    return "\n".join(lines)


def campaign(
    queue: Iterator[Mutant], judges: Judges, jobs: int, seconds: float, until: float
) -> Iterator[Verdict]:
    """Try mutants side by side, one for each job, until the time is up or there are no more."""
    benches = [Bench() for _ in range(jobs)]
    try:
        while True:
            for bench in benches:
                verdict = bench.poll()
                if verdict is not None:
                    yield verdict
                if bench.running is None and time.perf_counter() < until:
                    for mutant in queue:
                        tests = judges.of(f"{mutant.file}::{mutant.function}", seconds)
                        if tests:
                            bench.start(
                                mutant, tests, sum(judges.tests[test]["seconds"] for test in tests)
                            )
                            break
                        yield Verdict(mutant, Outcome.NOT_REACHED, "", 0.0)
            if all(bench.running is None for bench in benches):
                return
            time.sleep(0.02)
    finally:
        for bench in benches:
            bench.close()


def control(tests: list[str], judges: Judges) -> set[str]:
    """Those of the tests that fail without a fault: what they find says nothing."""
    bench, left, failing = Bench(), list(tests), set()
    try:
        while left:
            bench.start(
                Mutant("__init__.py", "", "no fault", 0, 0, ""),
                left,
                sum(judges.tests[test]["seconds"] for test in left),
            )
            verdict = bench.wait()
            if verdict.outcome is Outcome.SURVIVED:
                return failing
            if verdict.test not in left:
                raise RuntimeError(
                    f"the tests cannot be run without a fault: {verdict.outcome.value} "
                    f"{verdict.test}"
                )
            failing.add(verdict.test)
            left.remove(verdict.test)
        return failing
    finally:
        bench.close()


def report(verdicts: list[Verdict], equivalent: int) -> str:
    """Counts, score and the survivors."""
    count = Counter(verdict.outcome for verdict in verdicts)
    found = count[Outcome.KILLED] + count[Outcome.TIMED_OUT]
    lines = [
        difference(v.mutant) + f"\n    {v.mutant.name}\n"
        for v in verdicts
        if v.outcome in (Outcome.SURVIVED, Outcome.NOT_REACHED)
    ]
    lines.append(
        ", ".join(f"{count[outcome]} {outcome.value}" for outcome in Outcome)
        + f", {equivalent} known to be equivalent"
    )
    if verdicts:
        lines.append(f"score without equivalents: {found / len(verdicts):.1%} of {len(verdicts)}")
    return "\n".join(lines)


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__)
    parser.add_argument("files", nargs="*", help="parts of file names; all without")
    parser.add_argument(
        "--seed",
        type=int,
        default=int(time.time()),
        help="draws the order of the mutants; the time of day by default",
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="time budget of the trials")
    parser.add_argument("--jobs", type=int, default=1, help="trials side by side")
    parser.add_argument(
        "--tests", type=float, default=JUDGED, help="seconds of tests for one mutant, at most"
    )
    parser.add_argument(
        "--map",
        metavar="WORD",
        help="find out again what the tests call whose module's name contains the word; '' is all",
    )
    parser.add_argument("--only", help="a file with names of mutants, one a line: try these")
    return parser.parse_args()


def main() -> None:
    """Draw mutants, try them, report."""
    options = parsed()
    path = ROOT / ".mutate" / "map.json"
    if options.map is not None or not path.exists():
        child = get_context("spawn").Process(target=write_map, args=(path, options.map or ""))
        child.start()
        child.join()
    preload()
    known, drawn = known_equivalents(), draw(options.seed, options.files)
    if options.only:
        names = set(Path(options.only).read_text().splitlines())
        drawn = [mutant for mutant in drawn if mutant.name in names]
    skipped, began, verdicts = Counter[bool](), time.perf_counter(), []

    def queue() -> Iterator[Mutant]:
        for mutant in drawn:
            listed = any(matches(mutant, entry) for entry in known)
            skipped[listed] += 1
            if not listed and mutant.apply((PACKAGE / mutant.file).read_bytes()) is not None:
                yield mutant

    print(
        f"seed {options.seed}: {len(drawn):,} mutants of {len(sources())} files, "
        f"{options.minutes:g} minutes",
        flush=True,
    )
    judges = Judges(path)
    judges.drop(set(judges.tests) - existing())
    quick = sorted(judges.tests, key=lambda test: float(judges.tests[test]["seconds"]))[:20]
    judges.drop(control(quick, judges))
    for verdict in campaign(
        queue(), judges, options.jobs, options.tests, began + 60 * options.minutes
    ):
        verdicts.append(verdict)
        test = verdict.test or (
            "while tests were collected" if verdict.outcome is Outcome.KILLED else ""
        )
        print(
            f"{verdict.outcome.value:12}{verdict.seconds:6.1f} s  {verdict.mutant.name}  {test}",
            flush=True,
        )
    failing = control(
        sorted({verdict.test for verdict in verdicts if verdict.test in judges.tests}), judges
    )
    if failing:
        print(f"left out, found by tests that fail without a fault: {', '.join(sorted(failing))}")
    print(
        "\n"
        f"{report([verdict for verdict in verdicts if verdict.test not in failing], skipped[True])}"
    )


if __name__ == "__main__":
    main()
