"""What several test files share: small data, the five estimators, values to compare."""

import os
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.core import threads as core_threads
from maxmargin.kernel import cache as rows
from maxmargin.kernel import workspace

FIVE = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)
CLASSIFIERS = (SVC, NuSVC)
REGRESSORS = (SVR, NuSVR)


def settings(monkeypatch, module, **changes):
    """Change settings of a module for the time of a test."""
    monkeypatch.setattr(module, "SETTINGS", module.SETTINGS._replace(**changes))


def binary(n=60, d=4, seed=0):
    """Two overlapping classes, 0 and 1, of about equal size."""
    return make_classification(
        n,
        d,
        n_informative=d - 1,
        n_redundant=0,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=seed,
    )


def three(n=60, d=4, seed=0):
    """Three overlapping classes 0, 1, 2 of n / 3 points, in turn."""
    y = np.arange(n) % 3
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X + y[:, None] * np.resize([1.0, -0.5], d), y


def cached(cls):
    """Data on which kernel rows go through the cache: wide, so that values are dear, and more
    than one tile holds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2200 if issubclass(cls, REGRESSORS) else 3200, 70))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=len(X)) > 0
    return X, target(cls, X, y.astype(int))


@contextmanager
def threads(number):
    """The core and BLAS have this many threads, whatever the cores of the machine and however
    many processes share the tests.
    """
    counted = mock.patch.object(core_threads, "_openmp_effective_n_threads", return_value=number)
    with threadpool_limits(number), counted:
        yield


class CacheUse:
    """What the caches of kernel rows did in one fit; a fit that does not use one fails here."""

    def __init__(self, monkeypatch):
        made, use = rows.RowCache, self

        class Recorded(made):
            def add_rows(self, idx, delta, F):
                assert not self.complete, "the whole matrix is stored: no cache"
                assert not self.source.cheap, "these values are never stored"
                before = self._owner.copy()
                super().add_rows(idx, delta, F)
                use.capacity.add(self.capacity)
                use.moved.append(len(idx))
                use.dropped += np.count_nonzero((before >= 0) & (before != self._owner))

        monkeypatch.setattr(workspace, "RowCache", Recorded)

    def of(self, model, X, y):
        """Fit and return the number of rows that there was room for."""
        self.capacity, self.moved, self.dropped = set(), [], 0
        model.fit(X, y)
        (only,) = self.capacity
        return only


def target(estimator, X, y):
    """What an estimator (or its class) is fitted to: labels, or real numbers for a regressor."""
    cls = estimator if isinstance(estimator, type) else type(estimator)
    return X[:, 0] + 0.5 * y if issubclass(cls, REGRESSORS) else y


def values(model, X):
    """Decision values, or predictions of a regressor."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def assert_same_bits(a, b):
    """Equal arrays, bit for bit, of the same type."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)


def assert_close(a, b, tol=1e-9):
    """Equal to a share tol of the largest value."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, np.abs(b).max()))


def peak_memory():
    """Kilobytes that this process has held at most; ru_maxrss would hold its parent's."""
    return next(
        int(line.split()[1])
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )


def child_environment(**changes):
    """The environment of a child process that can import this module."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parent), **changes}


def in_subprocess(code, timeout=60, **environment):
    """Run Python code in a process of its own and return what it printed.

    A crash, an error or a hang there fails the test here.
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=child_environment(**environment),
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-3000:]}"
    return done.stdout
