"""Which tests call which functions, and how long they take: one run of the judges, every call
inside the package noted.

A pytest plugin. The map is kept by names (file::function, test id), so that edits elsewhere leave
it valid.
"""

import json
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from mutate.places import PACKAGE, ROOT, judges

SLOW = 10.0
"""Seconds beyond which a test is no judge."""
FEW, QUICK = 4, 0.1
"""Cases of one parametrised test that are judges, spread evenly; all where they take less than
QUICK seconds each."""
FOCUSED = 40
"""Functions that a test of a single part calls, at most."""


def function_name(code: CodeType) -> str:
    """The name by which mutants know the function of a code object."""
    name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
    return f"{file}::{name.replace('.<locals>', '').partition('.<')[0]}"


class Map:
    """The plugin: for each test that passes its seconds and the functions it called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[CodeType, str | None] = {}
        self.called: set[CodeType] = set()
        self.tests: dict[str, dict[str, Any]] = {}
        self.taken: dict[str, list[float]] = defaultdict(list)

    def _note(self, frame: FrameType, event: str, value: Any) -> None:
        self.called.add(frame.f_code)

    def _name(self, code: CodeType) -> str | None:
        if code not in self.names:
            inside = code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<")
            self.names[code] = function_name(code) if inside else None
        return self.names[code]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kinds: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            kinds[item.nodeid.partition("[")[0]].append(item)
        for cases in kinds.values():
            some = cases[:: -(-len(cases) // FEW)]
            cases[:] = [*some, *(case for case in cases if case not in some)]
        items[:] = [item for cases in kinds.values() for item in cases]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        taken = self.taken[item.nodeid.partition("[")[0]]
        if len(taken) >= FEW and max(taken) > QUICK:
            pytest.skip("enough cases")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        self.called = set()
        began = time.process_time()
        threading.settrace(self._note)
        sys.settrace(self._note)
        outcome = yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        seconds = time.process_time() - began
        self.taken[item.nodeid.partition("[")[0]].append(seconds)
        elsewhere = any(
            code.co_filename == subprocess.__file__ for code in self.called
        )  # where no fault is
        if outcome.excinfo is None and seconds < SLOW and not elsewhere:
            names = sorted({name for code in self.called if (name := self._name(code))})
            self.tests[item.nodeid] = {"seconds": round(seconds, 4), "functions": names}
            if len(self.tests) % 100 == 0:
                self.write()

    def write(self) -> None:
        """Keep what is known."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.tests, indent=0))


def write_map(path: Path, word: str = "") -> None:
    """Run the judges whose names contain a word and bring the map up to date."""
    plugin = Map(path)
    chosen = [judge for judge in judges() if word in judge.name]
    if path.exists():
        again = {judge.relative_to(ROOT).as_posix() for judge in chosen}
        old = json.loads(path.read_text())
        plugin.tests = {
            test: entry for test, entry in old.items() if test.partition("::")[0] not in again
        }
    options = [
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "-W",
        "ignore",
        "-r",
        "f",
        f"--rootdir={ROOT}",
    ]
    pytest.main([*map(str, chosen), *options], plugins=[plugin])
    plugin.write()


def existing() -> set[str]:
    """The tests that there are now."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--rootdir={ROOT}",
        *map(str, judges()),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return {line for line in done.stdout.splitlines() if "::" in line}


class Judges:
    """The map, read for choosing tests."""

    def __init__(self, path: Path) -> None:
        self.tests = json.loads(path.read_text())
        self.by_function: dict[str, list[str]] = defaultdict(list)
        self.by_file: dict[str, list[str]] = defaultdict(list)
        for test, entry in self.tests.items():
            files = set()
            for name in entry["functions"]:
                self.by_function[name].append(test)
                files.add(name.partition("::")[0])
            for name in files:
                self.by_file[name].append(test)

    def drop(self, tests: set[str]) -> None:
        """Ask some tests no more."""
        for listed in (*self.by_function.values(), *self.by_file.values()):
            listed[:] = [test for test in listed if test not in tests]
        self.tests = {test: entry for test, entry in self.tests.items() if test not in tests}

    def of(self, name: str, seconds: float) -> list[str]:
        """Tests that call a function, or where none does use its file, quickest first.

        All cases of tests of a single part come first, then one of each kind before the second.
        """
        tests = self.by_function.get(name) or self.by_file[name.partition("::")[0]]
        tests = sorted(tests, key=lambda test: (self.tests[test]["seconds"], test))
        turn: dict[str, int] = defaultdict(int)
        ranked = []
        for test in tests:
            kind = test.partition("[")[0]
            focused = len(self.tests[test]["functions"]) <= FOCUSED
            ranked.append((-1 if focused else turn[kind], self.tests[test]["seconds"], test))
            turn[kind] += 1
        chosen, total = [], 0.0
        for _, cost, test in sorted(ranked):
            if total + cost <= seconds:
                chosen.append(test)
                total += cost
        return chosen
