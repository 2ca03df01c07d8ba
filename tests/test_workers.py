"""Which tests `pytest -n auto` shares among processes, and how many threads these have."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import joblib
import pytest

import needs
import workers
from helpers import threads
from maxmargin.core.threads import thread_count

HERE = Path(__file__).parent
FILES = [str(HERE / f"test_{name}.py") for name in ("bias", "block", "core", "files")]


class Arguments:
    """The part of pytest's configuration that is read."""

    def __init__(self, *args, **options):
        self.args, self.options = list(args), options

    def getoption(self, name, default=None):
        return self.options.get(name, default)


@pytest.mark.parametrize("cores", [1, 2, 100])
def test_all_tests_and_many_files_are_shared(cores, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    expected = {1: 1, 2: 2, 100: workers.MOST}[cores]
    assert workers.number(Arguments(str(HERE))) == expected
    assert workers.number(Arguments(FILES[0], str(HERE / "regressions"))) == expected
    assert workers.number(Arguments(*FILES)) == expected
    for few in (FILES[:1], FILES[:3], [f"{FILES[0]}::test_it"]):
        assert workers.number(Arguments(*few)) == 0
    assert workers.number(Arguments(str(HERE), keyword="name")) == 0
    assert workers.number(Arguments(str(HERE), lf=True)) == 0


def test_a_worker_has_one_thread_unless_told_otherwise():
    for before, after in [
        ({}, {}),
        ({"PYTEST_XDIST_WORKER": "gw0"}, {"PYTEST_XDIST_WORKER": "gw0", "OMP_NUM_THREADS": "1"}),
        ({"PYTEST_XDIST_WORKER": "gw0", "OMP_NUM_THREADS": "3"}, None),
    ]:
        environment = dict(before)
        workers.share_cores(environment)
        assert environment == (before if after is None else after)


def test_a_test_has_the_threads_that_it_asks_for():
    for number in (1, 3):
        with threads(number):
            assert thread_count() == number


def test_workers_start_with_one_thread(tmp_path):
    """NumPy is loaded after the number of threads is set; this is seen in a worker only."""
    needs.package("xdist")
    for name in ("conftest.py", "needs.py", "workers.py"):
        shutil.copy(HERE / name, tmp_path)
    text = """
        import os
        import numpy
        import pytest
        from threadpoolctl import threadpool_info
        @pytest.mark.parametrize("k", range(4))
        def test_it(k):
            assert os.environ["PYTEST_XDIST_WORKER_COUNT"] == "2"
            assert {one["num_threads"] for one in threadpool_info()} == {1}
    """
    (tmp_path / "test_threads.py").write_text("\n".join(s[8:] for s in text.splitlines()) + "\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_NUM_THREADS") and "XDIST" not in name
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert "4 passed" in done.stdout, done.stdout
