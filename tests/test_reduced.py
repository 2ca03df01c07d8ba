"""Minima over a core and members: the reduced problem against the whole one."""

import numpy as np
import pytest

from maxmargin import SVC, SVR
from maxmargin.core.backend import Variables
from maxmargin.core.choose import HOST
from maxmargin.kernel import continuation, reduced
from maxmargin.kernel.face import Quadratic, Spoiled
from maxmargin.kernel.newton import Tile, newton
from maxmargin.kernel.reduced import Reduced, minimise
from maxmargin.kernel.sources import Scratch
from maxmargin.model_selection import SVCCV, svc_path, svr_path
from maxmargin.monitor import Monitor
from numpy_backend import NumpyBackend

BACKENDS = {"cpu": HOST, "numpy": NumpyBackend()}
SUMS = {"fixed": [True], "free": [False], "two": [True, True], "mixed": [True, False]}


class Problem:
    """A quadratic over a box: n variables in one or two groups, some with a ridge."""

    def __init__(self, fixed, backend=HOST, n=60, seed=0):
        draw = np.random.default_rng(seed)
        A = draw.normal(size=(n, n + 5))
        self.K = A @ A.T / n + 0.1 * np.eye(n)
        self.ridge = draw.choice([0.0, 0.5], n)
        self.linear = 3 * draw.normal(size=n)
        self.fixed = np.array(fixed)
        self.begin = np.linspace(0, n, len(fixed) + 1).astype(np.int64)
        self.group = np.repeat(np.arange(len(fixed)), np.diff(self.begin))
        self.lower, self.upper = -np.ones(n), draw.uniform(0.5, 1.5, n)
        self.b = 0.1 * draw.uniform(-1, 1, n)
        self.backend = backend

    @property
    def Q(self):
        def values(a, b, out=None):
            found = np.empty((len(a), len(b))) if out is None else out
            found[...] = self.K[np.ix_(a, b)]
            return found

        return Quadratic(values, lambda a: self.ridge[a], self.backend)

    def gradient(self, b):
        return (self.K + np.diag(self.ridge)) @ b + self.linear

    def variables(self):
        G = self.gradient(self.b)
        rest = self.b.copy(), self.lower, self.upper, self.ridge, self.begin, self.fixed
        return Variables(G, *rest)

    def reduced(self, core):
        return Reduced(self.Q, np.asarray(core), self.group, self.fixed, Scratch())

    def minimum_over(self, some):
        """By Newton steps on the whole matrix."""
        own = self.variables().pick(some, self.backend)
        newton(Tile(some, self.K[np.ix_(some, some)], own, self.backend), 1e-12, Monitor())
        b = self.b.copy()
        b[some] = own.b
        return b


@pytest.mark.parametrize("fixed", SUMS.values(), ids=SUMS)
@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
@pytest.mark.parametrize("parts", [1, 3])
def test_minimum_is_that_of_the_whole_problem(fixed, backend, parts):
    problem = Problem(fixed, backend)
    found = problem.reduced(np.arange(0, 60, 2))
    for some in np.array_split(np.arange(1, 45, 2), parts):
        found.join(some)
    end = minimise(found, problem.variables(), 1e-12, Monitor(), 0)
    assert sorted(end.moved) == sorted([*range(0, 60, 2), *range(1, 45, 2)])
    b = problem.b.copy()
    b[end.moved] = end.b
    np.testing.assert_allclose(b, problem.minimum_over(np.sort(end.moved)), atol=1e-9)
    at_bound = (b == problem.lower) | (b == problem.upper)
    assert at_bound[::2].any(), "a variable of the core met a bound"
    for g, is_fixed in enumerate(fixed):
        own = problem.group == g
        same = np.isclose(b[own].sum(), problem.b[own].sum(), atol=1e-12)
        assert same or not is_fixed


@pytest.mark.parametrize("fixed", SUMS.values(), ids=SUMS)
def test_new_factor_changes_nothing(fixed, monkeypatch):
    ends = []
    for most in (0, 1000):
        monkeypatch.setattr(reduced, "SETTINGS", reduced.SETTINGS._replace(returned=most, share=99))
        problem = Problem(fixed)
        found = problem.reduced(np.arange(0, 60, 2))
        found.join(np.arange(1, 60, 2))
        ends.append(minimise(found, problem.variables(), 1e-12, Monitor(), 0))
    assert (ends[0].reduced.at < 0).all()
    assert (ends[1].reduced.at >= 0).any()
    b = [problem.b.copy(), problem.b.copy()]
    for values, end in zip(b, ends, strict=True):
        values[end.moved] = end.b
    np.testing.assert_allclose(*b, atol=1e-9)


def test_members_of_a_group_without_a_core_keep_their_sum():
    problem = Problem([True, True])
    found = problem.reduced(np.arange(0, 30, 2))
    found.join(np.arange(1, 60, 2))
    end = minimise(found, problem.variables(), 1e-12, Monitor(), 0)
    b = problem.b.copy()
    b[end.moved] = end.b
    np.testing.assert_allclose(b, problem.minimum_over(np.sort(end.moved)), atol=1e-9)
    assert b[30:].sum() == pytest.approx(problem.b[30:].sum(), abs=1e-12)


def test_memory_has_room_for_any_number_of_members(monkeypatch):
    monkeypatch.setattr(reduced, "SETTINGS", reduced.SETTINGS._replace(room=1))
    problem = Problem([True])
    found = problem.reduced([3, 5])
    for k in range(10, 60, 5):
        found.join(np.arange(k, k + 5))
    end = minimise(found, problem.variables(), 1e-12, Monitor(), 0)
    b = problem.b.copy()
    b[end.moved] = end.b
    np.testing.assert_allclose(b, problem.minimum_over(np.sort(end.moved)), atol=1e-9)


def test_sums_are_kept_where_rounding_takes_from_them():
    """Variables that come twice make Q singular."""
    problem = Problem([True, True])
    twin = np.arange(60) // 2
    problem.K, problem.ridge[:] = 1e4 * problem.K[np.ix_(twin, twin)], 0.0
    problem.linear = 1e4 * problem.linear
    found = problem.reduced(np.arange(0, 40))
    found.join(np.arange(40, 60))
    now = problem.b.copy()
    found.expect(problem.variables(), now, 1e-9, Monitor(), 0)
    for own in (slice(0, 30), slice(30, 60)):
        size = np.abs(now[own] - problem.b[own]).sum()
        assert abs(now[own].sum() - problem.b[own].sum()) <= 1e-14 * size


def test_a_dependent_core_is_an_error():
    """Variables of the core cannot return twice: what fixes them is singular."""
    problem = Problem([True])
    found = problem.reduced(np.arange(0, 60, 2))
    found.give_back(np.array([3]))
    with pytest.raises(Spoiled):
        found.give_back(np.array([3]))


def test_a_monitor_stops_it():
    problem = Problem([True])
    found = problem.reduced(np.arange(0, 60, 2))
    assert minimise(found, problem.variables(), 1e-12, Monitor(max_iter=1), 1) is None


# ---- paths ---------------------------------------------------------------------------------------


@pytest.fixture
def eager(monkeypatch):
    """Cycles for every warm start; the number of reduced problems that came to an end."""
    settings = continuation.SETTINGS._replace(cycle=0.0, system=0.0)
    monkeypatch.setattr(continuation, "SETTINGS", settings)
    ends, advance = [], continuation.advance

    def counted(*arguments):
        ends.append(advance(*arguments))
        return ends[-1]

    monkeypatch.setattr(continuation, "advance", counted)
    return ends


def classes(n=1300, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 3))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * draw.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(gamma=0.5, tol=1e-7),
        SVC(gamma=0.5, tol=1e-7, class_weight={0: 1.0, 1: 3.0}),
        SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=1e-6),
    ],
    ids=str,
)
def test_path_of_classes(eager, estimator):
    X, y = classes()
    path = svc_path(X, y, [1, 10, 100, 1000], estimator=estimator)
    assert sum(end is not None for end in eager) >= 2
    for model in path.models:
        lone = SVC(**model.get_params()).fit(X, y)
        assert model.certify(X, y).status == "optimal"
        f = lone.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), f, atol=1e-4 * np.abs(f).max())


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_path_of_regressions(eager, epsilon):
    X, _ = classes()
    z = np.sin(2 * X[:, 0]) + 0.2 * np.random.default_rng(1).normal(size=len(X))
    estimator = SVR(gamma=0.5, tol=1e-6, epsilon=epsilon)
    path = svr_path(X, z, [0.1, 1, 10, 100], estimator=estimator)
    assert any(end is not None for end in eager)
    for model in path.models:
        lone = SVR(**model.get_params()).fit(X, z)
        assert model.certify(X, z).status == "optimal"
        np.testing.assert_allclose(model.predict(X), lone.predict(X), atol=1e-3)


def test_search_of_classes_and_jobs(eager):
    """Three classes: pairs take turns, and each has a problem of its own to begin with."""
    X, y = classes(2600)
    y = y + (X[:, 0] > 1)
    grid = {"Cs": [1.0, 10.0, 100.0, 1000.0], "gammas": [0.5], "cv": 2}
    one, two = (SVCCV(**grid, n_jobs=jobs, refit=False).fit(X, y) for jobs in (1, 2))
    assert any(end is not None for end in eager)
    scores = [name for name in one.cv_results_ if name.endswith("_test_score")]
    for name in scores:
        np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])


def test_search_ends_where_rounding_spoils_the_cycles(eager, monkeypatch):
    """Pair steps go on alone, and the fits are as good."""

    def spoiled(*arguments):
        raise Spoiled

    monkeypatch.setattr(continuation, "minimise", spoiled)
    X, y = classes()
    path = svc_path(X, y, [1, 10, 100], estimator=SVC(gamma=0.5))
    assert eager
    assert all(end is None for end in eager)
    assert all(one.status == "optimal" for one in path.certificates)
