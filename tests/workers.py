"""How `pytest -n auto` shares the tests among processes (pytest-xdist).

All tests, folders of them or many files are shared by one worker for each core. A few files and
tests chosen by name run here: they would not take as long as the workers to start. A worker has
one thread, since the others use the other cores; a test that needs threads asks for them
(helpers.threads).
"""

from pathlib import Path

FEW = 3
"""Files that run without workers."""
MOST = 8
"""Workers; each of them collects all tests, which takes seconds and memory."""


def share_cores(environment):
    """Give this process and its children one thread if it is a worker, unless told otherwise.

    NumPy and OpenMP read this when they are loaded.
    """
    if "PYTEST_XDIST_WORKER" in environment:
        environment.setdefault("OMP_NUM_THREADS", "1")


def number(config):
    """How many workers these command-line arguments of pytest get; 0 is none."""
    chosen = config.getoption("keyword") or config.getoption("lf", False)
    files = not any(Path(argument).is_dir() for argument in config.args)
    if chosen or (files and len(config.args) <= FEW):
        return 0
    from joblib import cpu_count  # loads NumPy

    return min(cpu_count(), MOST)
