"""One mutant on trial: a copy of the package with the fault in it, the tests chosen for it, a
process of its own.

A process is forked from one that has loaded everything but the package itself, which saves most of
the time of a trial.
"""

import contextlib
import importlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mutate.operators import Mutant
from mutate.places import PACKAGE, ROOT

STARTING, FACTOR = 20.0, 3.0
"""CPU seconds a trial may take: STARTING, and FACTOR times what its tests take without a fault."""
MEMORY = 16 * 2**30
"""Bytes of address space of a trial."""


def _core() -> str:
    """The compiled core, found without loading the package here."""
    code = f"import {PACKAGE.name}.core._cpu as core; print(core.__file__)"
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"
    NOT_REACHED = "not reached"


class Verdict(NamedTuple):
    """A mutant's outcome, and the test that found it."""

    mutant: Mutant
    outcome: Outcome
    test: str
    seconds: float


class Bench:
    """A copy of the package in a folder of its own, with the compiled core, on which one mutant
    after the other is tried.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mutate-"))
        package = self.folder / PACKAGE.name
        shutil.copytree(
            PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.h", "*.cpp")
        )
        shutil.copy(_core(), package / "core")
        self.running: _Running | None = None

    def close(self) -> None:
        """Stop and remove the folder."""
        if self.running is not None:
            os.killpg(self.running.child, signal.SIGKILL)
            os.waitpid(self.running.child, 0)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, mutant: Mutant, tests: list[str], seconds: float) -> None:
        """Begin to run the tests, which take so long without a fault, on the mutant, until one
        fails.
        """
        path, before = (
            self.folder / PACKAGE.name / mutant.file,
            (PACKAGE / mutant.file).read_bytes(),
        )
        path.write_bytes(mutant.apply(before) or before)
        limit = STARTING + FACTOR * seconds
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.setsid()
            _work(self.folder, tests, int(limit), writer)
        os.close(writer)
        self.running = _Running(
            mutant, path, before, child, reader, time.perf_counter(), 10 * limit
        )

    def wait(self) -> Verdict:
        """The verdict, when there is one."""
        while True:
            verdict = self.poll()
            if verdict is not None:
                return verdict
            time.sleep(0.02)

    def poll(self) -> Verdict | None:
        """The verdict, once there is one."""
        if self.running is None:
            return None
        mutant, path, before, child, reader, began, limit = self.running
        seconds = time.perf_counter() - began
        if seconds > limit:
            os.killpg(child, signal.SIGKILL)
        done, status = os.waitpid(child, os.WNOHANG)
        if not done:
            return None
        self.running = None
        path.write_bytes(before)
        with os.fdopen(reader) as told:
            test = told.read()
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        outcome = Outcome.SURVIVED if status == 0 else Outcome.TIMED_OUT if late else Outcome.KILLED
        return Verdict(mutant, outcome, test, seconds)


class _Running(NamedTuple):
    """A trial under way: the child, what it tells, when it began and when it must have ended."""

    mutant: Mutant
    path: Path
    before: bytes
    child: int
    reader: int
    began: float
    limit: float


def by_module(tests: list[str]) -> list[list[str]]:
    """The tests of each module, the module of the first test first."""
    modules: dict[str, list[str]] = {}
    for test in tests:
        modules.setdefault(test.partition("::")[0], []).append(test)
    return list(modules.values())


class _First:
    """Tells which test failed first."""

    def __init__(self, writer: int) -> None:
        self.writer = writer

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            os.write(self.writer, report.nodeid.encode())


def _work(folder: Path, tests: list[str], limit: int, writer: int) -> None:
    """The child: never returns."""
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.meta_path[:] = [
            finder
            for finder in sys.meta_path
            if not type(finder).__module__.startswith("_editable_")
        ]
        sys.path[:] = [str(folder), *(entry for entry in sys.path if Path(entry) != PACKAGE.parent)]
        sys.dont_write_bytecode = True
        options = [
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "timeout=0",
            "--hypothesis-seed=0",
            f"--rootdir={ROOT}",
        ]
        for some in by_module(tests):  # modules that no test of is reached need not be loaded
            code = int(
                pytest.main(
                    [*(str(ROOT / test) for test in some), *options], plugins=[_First(writer)]
                )
            )
            if code:
                break
    finally:
        os._exit(code)


LOADED = (
    "hypothesis.extra.numpy",
    "pandas",
    "polars",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "sklearn.datasets",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)


def preload() -> None:
    """Load what the tests need, but nothing of the package."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # pytest's plugins
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", str(Path(__file__).parent)])
    for name in LOADED:
        importlib.import_module(name)
    assert PACKAGE.name not in sys.modules
