"""What the fits of a search share: stored values, views, validated data, solutions, scores."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, r2_score

from maxmargin import SVC, SVR
from maxmargin.kernel import working_set, workspace
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.problems import c_svc, same_conditions
from maxmargin.kernel.sources import DistancesSource, NativeSource, SingleSource, StoredSource
from maxmargin.kernel.state import State
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.model_selection import SVCCV
from maxmargin.model_selection.base import searched
from maxmargin.model_selection.shared import Fold, KernelStore
from maxmargin.monitor import Monitor


def samples(n=120, features=5, classes=2):
    return make_classification(
        n, features, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=3
    )


RBF = Kernel.rbf(0.2)


def fold_of(X, train, kernel=RBF):
    return Fold.of(KernelStore(X, np.inf), kernel, train)


@pytest.mark.parametrize(
    ("kernel", "features", "double", "values"),
    [
        (Kernel.rbf(0.3), 5, 90, StoredSource),
        (Kernel.rbf(0.3), 5, 89, DistancesSource),
        (Kernel.rbf(0.3), 80, 89, DistancesSource),
        (Kernel.linear(), 5, 90, NativeSource),
        (Kernel.linear(), 80, 89, StoredSource),
    ],
)
def test_stored_values_are_those_of_the_source(kernel, features, double, values, monkeypatch):
    monkeypatch.setattr(workspace, "SETTINGS", workspace.SETTINGS._replace(double=double))
    X = np.random.default_rng(0).normal(size=(90, features))
    whole = KernelWorkspace.of(kernel, X, Monitor())
    whole.keep_distances()
    view = whole.stored().view(np.arange(3, 80, 2))
    source, lone = view.source, whole.view(np.arange(3, 80, 2)).source
    assert isinstance(source, SingleSource)
    assert isinstance(source.source, values)
    a, b, coef = np.array([4, 0, 7]), np.array([1, 9]), np.array([0.5, -2.0, 1.0])
    for dtype, close in ((np.float64, 1e-11), (np.float32, 1e-4)):
        for first, second in ((None, None), (a, b), (a, None), (None, b)):
            expected = lone.block(first, second, dtype)
            found = source.block(first, second, dtype)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, expected, rtol=close, atol=close)
            filled = np.empty_like(expected)
            source.fill_block(first, second, filled)
            np.testing.assert_array_equal(filled, found)
        for second in (None, b, b[:1]):
            expected = lone.product(a, coef, second, dtype)
            np.testing.assert_allclose(
                source.product(a, coef, second, dtype), expected, rtol=close, atol=close
            )


def test_views_are_kept_where_they_are_asked_for():
    X, _ = samples()
    workspace, rows = fold_of(X, np.arange(100)).workspace, np.arange(40)
    first = workspace.view(rows)
    first.kept.product = np.zeros(40), np.zeros(40)
    again = workspace.share(Monitor(), 1, 3).view(rows.copy())
    assert again.kept is first.kept
    assert again.problems == 3
    assert workspace.view(rows[:30]).kept is not first.kept
    other = KernelWorkspace.of(Kernel.rbf(0.2), X, Monitor())
    assert other.view(rows).kept is not other.view(rows).kept


def test_rounds_on_stored_single_values_take_all_variables(monkeypatch):
    monkeypatch.setattr(working_set, "SETTINGS", working_set.Settings(least=8, most=16))
    X, y = samples()
    sign = np.where(y == 1, 1.0, -1.0)
    problem, zero = c_svc(sign, np.ones(120)), np.zeros(120)
    state = State(problem, zero.copy(), zero.copy(), zero.copy(), zero.copy())
    stored = fold_of(X, np.arange(120)).workspace
    assert working_set.size_for(state, stored.rows(np.float32), 0) == 120
    native = KernelWorkspace.of(Kernel.rbf(0.2), X, Monitor())
    assert working_set.size_for(state, native.rows(np.float32), 0) == 8


def test_a_solution_stays_where_the_same_variables_are_at_their_bounds():
    y = np.array([1.0, -1.0, 1.0])
    b = np.array([0.5, -0.5, 0.0])
    one, two = c_svc(y, np.full(3, 1.0)), c_svc(y, np.full(3, 2.0))
    assert same_conditions(one, two, b)
    assert not same_conditions(c_svc(y, np.full(3, 0.5)), two, b)
    assert not same_conditions(one, c_svc(-y, np.full(3, 2.0)), b)
    assert not same_conditions(one, two._replace(linear=2 * two.linear), b)


def test_a_small_solution_that_C_does_not_change_is_certified_again():
    X, y = samples()
    fold, train = fold_of(X, np.arange(100), Kernel.rbf(2.0)), np.arange(100)
    first = fold.fit(SVC(C=1e3, gamma=2.0), X[train], y[train], None, Monitor())
    start = np.zeros((1, 100))
    start[:, first.machine.model_.rows] = first.machine.model_.coef
    assert np.abs(start).max() < 1e3
    second = fold.fit(SVC(C=1e4, gamma=2.0), X[train], y[train], None, Monitor(), start)
    assert second.machine.n_iter_[0] == 0
    assert second.machine.certificate_.status == "optimal"
    assert second.machine.certify(X[train], y[train]).status == "optimal"
    np.testing.assert_array_equal(second.machine.dual_coef_, first.machine.dual_coef_)
    third = fold.fit(SVC(C=0.1, gamma=2.0), X[train], y[train], None, Monitor(), start)
    assert third.machine.n_iter_[0] > 0
    assert np.abs(third.machine.dual_coef_).max() == 0.1


def test_the_data_of_a_fold_are_validated_once(monkeypatch):
    X, y = samples(classes=3)
    seen, validate = [], SVC._validate_Xy

    def counted(self, *data, **options):
        seen.append(1)
        return validate(self, *data, **options)

    monkeypatch.setattr(SVC, "_validate_Xy", counted)
    found = searched(SVCCV([1.0, 10.0, 100.0], [0.1], cv=4, n_jobs=1), X, y)
    assert len(found.done) == 12
    assert len(seen) == 1 + 4  # the search itself, and each fold


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_have_the_bits_of_scikit_learns(weighted):
    X, y = samples(400)
    rng = np.random.default_rng(0)
    z, weight = X[:, 0] * 3 + rng.normal(size=400), rng.uniform(0.1, 3, 400)
    train, test = np.arange(250), np.arange(250, 400)
    given = weight[test] if weighted else None
    fold = fold_of(X, train)
    model = fold.fit(SVC(gamma=0.2), X[train], y[train], None, Monitor())
    expected = accuracy_score(y[test], model.predict(test), sample_weight=given)
    assert 0.5 < expected < 1
    assert model.score(test, y[test], given) == expected
    fold = fold_of(X, train)
    model = fold.fit(SVR(gamma=0.2), X[train], z[train], None, Monitor())
    expected = r2_score(z[test], model.predict(test), sample_weight=given)
    assert 0.1 < expected < 1
    assert model.score(test, z[test], given) == expected
    constant = np.full(150, 2.0)
    assert model.score(test, constant) == r2_score(constant, model.predict(test))
