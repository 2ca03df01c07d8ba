"""LatentSVM and MISVC: the objective never rises, its convex problems are certified."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import MISVC, SVC, LatentSVM, LinearSVC, StructuredSVM, io
from maxmargin.linear.designs import ArrayDesign
from maxmargin.structured.bags import Bags, hinge_duals, hinge_intercept
from maxmargin.structured.parts import PartsProblem, parts_of
from maxmargin.structured.spaces import LinearSpace


def corners(n=80, seed=0):
    """Two classes of two opposite corners each: no line separates them."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def bags_of(n=40, seed=0, size=5):
    """Bags of instances; one instance of each positive bag is different."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = [rng.normal(size=(int(rng.integers(1, size + 1)), 3)) for _ in y]
    where = [int(rng.integers(len(bag))) for bag in X]
    for bag, label, k in zip(X, y, where, strict=True):
        bag[k] += 3 * label
    return X, y, np.array(where)


def falls(model):
    """Whether the objective never rises, and every convex problem is certified."""
    assert (np.diff(model.objectives_) <= 1e-12 * model.objectives_[0]).all()
    assert model.objectives_[-1] in model.start_objectives_
    assert model.objectives_[-1] <= (1 + 1e-9) * model.start_objectives_.min()
    assert {one.status for one in model.rounds_} <= {"optimal", "approximate"}
    assert model.certificate_.status == "stationary"
    assert model.certificate_.convexity == "nonconvex"
    return True


# ---- parts ---------------------------------------------------------------------------------------


def objective(model, X, y, weight=None):
    """The latent objective by its definition."""
    rows = np.column_stack([model.coef_, model.intercept_])
    scores = X @ model.coef_.T + model.intercept_
    owner = np.searchsorted(model.classes_, model.part_classes_)
    total = 0.0
    for s, label, c in zip(scores, y, np.ones(len(y)) if weight is None else weight, strict=True):
        f = [max(s[owner == k], default=0.0) for k in range(len(model.classes_))]
        total += c * (max(f[k] + (k != label) for k in range(len(f))) - f[label])
    return 0.5 * np.sum(rows**2) + model.C * total


@pytest.mark.parametrize("n_parts", [1, 2, {0: 0, 1: 2}, {0: 3, 1: 1}])
def test_the_objective_is_that_of_the_definition_and_falls(n_parts):
    X, y = corners()
    model = LatentSVM(n_parts, n_init=2).fit(X, y)
    assert falls(model)
    assert model.objectives_[-1] == pytest.approx(objective(model, X, y))
    assert model.objectives_[-1] <= model.certificate_.primal * (1 + 1e-9)
    assert model.certify(X, y).status == "stationary"


def test_two_parts_separate_corners():
    X, y = corners(200)
    model = LatentSVM(C=10.0, n_init=3).fit(X[:100], y[:100])
    assert LinearSVC().fit(X[:100], y[:100]).score(X[100:], y[100:]) < 0.7
    assert model.score(X[100:], y[100:]) > 0.9
    part = model.predict_part(X[100:])
    np.testing.assert_array_equal(model.part_classes_[part], model.predict(X[100:]))
    assert set(part) == {0, 1, 2, 3}


def test_a_class_without_parts_scores_0():
    X, y = corners(120)
    model = LatentSVM({0: 0, 1: 2}, C=10.0).fit(X, y)
    values = (X @ model.coef_.T + model.intercept_).max(axis=1)
    np.testing.assert_allclose(model.decision_function(X), values)
    hinge = np.maximum(0, 1 - (2 * y - 1) * values).sum()  # Felzenszwalb's objective
    square = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    assert model.objectives_[-1] == pytest.approx(0.5 * square + 10 * hinge)
    part = model.predict_part(X)
    np.testing.assert_array_equal(part >= 0, model.predict(X) == 1)


def test_a_single_part_is_the_multi_class_machine():
    X, y = load_iris(return_X_y=True)
    model = LatentSVM(1).fit(X, y)
    plain = StructuredSVM(tol=1e-10).fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(model.coef_, plain.coef_[:, :-1], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, plain.coef_[:, -1], atol=1e-4)
    assert len(model.start_objectives_) == 1  # there is nothing to start from


def test_fixed_parts_bound_the_risk_and_touch_it():
    rng = np.random.default_rng(0)
    X, y = corners(30)
    parts = parts_of(np.array([2, 3]))
    problem = PartsProblem(LinearSpace(ArrayDesign(X), 5), y, rng.random(30), parts)

    def value(h, w):
        plane = problem.convex(h).at(w)
        return plane.offset + plane.slope @ w

    for _ in range(10):
        w = rng.normal(size=10)
        best = problem.impute(w)
        assert (parts.owner[best] == y).all()
        other = np.where(y == 0, rng.integers(0, 2, 30), rng.integers(2, 5, 30))
        assert value(best, w) <= value(other, w) + 1e-12
        change = problem.change(best, other)
        assert value(other, w) - value(best, w) == pytest.approx(change @ w)


def test_weights_sparse_data_and_seeds():
    X, y = corners(60)
    weight = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weight)
    few = LatentSVM(n_init=2).fit(X, y, weight)
    many = LatentSVM(n_init=2).fit(X[rows], y[rows])
    same = LatentSVM(n_init=2).fit(sparse.csr_matrix(X), y, weight)
    for other in (many, same):
        np.testing.assert_allclose(few.coef_, other.coef_, atol=1e-6)
    assert (few.latent_[weight == 0] == -1).all()
    assert few.certify(X, y, weight).status == "stationary"
    one, two = (LatentSVM(n_init=1, random_state=7).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_more_starts_are_never_worse():
    X, y = corners(80, 3)
    found = [LatentSVM(n_init=n).fit(X, y) for n in (1, 4)]
    assert found[1].objectives_[-1] <= found[0].objectives_[-1]
    assert found[1].start_objectives_[0] == found[0].start_objectives_[0]
    assert len(found[1].start_objectives_) == 4


def test_limits_and_warm_starts():
    X, y = corners(100, 1)
    model = LatentSVM(max_iter=1, n_init=1, warm_start=True, C=10.0)
    with pytest.warns(ConvergenceWarning, match="LatentSVM failed to converge.*max_iter"):
        model.fit(X, y)
    assert model.certificate_.status == "max_iter"
    assert model.n_iter_ == 1
    first = model.objectives_[-1]
    model.set_params(max_iter=-1).fit(X, y)
    assert model.objectives_[0] <= first
    assert falls(model)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        LatentSVM(time_limit=0).fit(X, y)


@pytest.mark.parametrize(
    ("n_parts", "message"),
    [
        ({0: 1}, r"must name the classes \[0, 1\], got \[0\]: 1 is in one"),
        ({0: 1, 1: 2, 2: 2}, "2 is in one of them only"),
        ({0: 0, 1: 0}, "at most one of them 0"),
        ({0: -1, 1: 2}, "whole numbers >= 0"),
        ({0: 1.5, 1: 2}, "whole numbers >= 0"),
        (0, "'n_parts' parameter"),
    ],
)
def test_bad_numbers_of_parts(n_parts, message):
    with pytest.raises(ValueError, match=message):
        LatentSVM(n_parts).fit(*corners(20))


def test_certify_and_files(tmp_path):
    X, y = corners(50)
    model = LatentSVM({0: 1, 1: 2}, n_init=1).fit(X, y)
    assert model.certify(2 * X, y).status == "refuted"
    with pytest.raises(ValueError, match="50 samples, 50 of positive weight"):
        model.certify(X[1:], y[1:])
    with pytest.raises(ValueError, match="other labels"):
        model.certify(X, 1 - y)
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert other.certify(X, y).status == "stationary"
        assert len(other.rounds_) == len(model.rounds_)


# ---- bags ----------------------------------------------------------------------------------------


def test_the_best_intercept_of_hinge_losses():
    rng = np.random.default_rng(0)
    for seed in range(20):
        n = int(rng.integers(2, 12))
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        m, weight = np.round(rng.normal(size=n), 1), rng.integers(1, 4, n).astype(float)

        def loss(b, y=y, m=m, weight=weight):
            return float(weight @ np.maximum(0, 1 - y * (m + b)))

        b, _, _ = hinge_intercept(y, m, weight)
        assert loss(b) == pytest.approx(min(loss(one) for one in y - m)), seed
        a = hinge_duals(y, m, weight)
        assert a @ y == pytest.approx(0, abs=1e-12)
        assert ((a >= 0) & (a <= weight)).all()
        assert a.sum() - (a * y) @ m == pytest.approx(loss(b))  # the tangent touches the loss


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_bags_of_one_instance_are_samples(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=40) > 0
    model = MISVC(kernel=kernel, tol=1e-9).fit(list(X[:, None, :]), y)
    peer = SVC(kernel=kernel, tol=1e-9).fit(X, y)
    assert model.objectives_[-1] == pytest.approx(peer.certificate_.primal, rel=1e-7)
    values = model.decision_function(list(X[:, None, :]))
    np.testing.assert_allclose(values, peer.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_witnesses_are_found(kernel):
    X, y, where = bags_of(80)
    model = MISVC(kernel=kernel, gamma=0.1, C=10.0).fit(X[:40], y[:40])
    assert falls(model)
    assert model.score(X[40:], y[40:]) > 0.85
    positive = y[:40] == 1
    assert np.mean(model.witnesses_[positive] == where[:40][positive]) > 0.9
    assert (model.witnesses_[~positive] == -1).all()
    assert model.certify(X[:40], y[:40]).status == "stationary"
    values = model.instance_scores(X)
    np.testing.assert_array_equal(model.decision_function(X), [one.max() for one in values])
    means = np.array([bag.mean(axis=0) for bag in X])
    plain = SVC(kernel=kernel, gamma=0.1, C=10.0).fit(means[:40], y[:40])
    assert model.score(X[40:], y[40:]) > plain.score(means[40:], y[40:])


def test_the_objective_of_bags_is_that_of_the_definition():
    X, y, _ = bags_of(20)
    model = MISVC(C=0.5).fit(X, y)
    best = np.array([(bag @ model.coef_[0]).max() for bag in X])
    losses = np.maximum(0, 1 - (2 * y - 1) * (best + model.intercept_[0]))
    value = 0.5 * np.sum(model.coef_**2) + 0.5 * losses.sum()
    assert model.objectives_[-1] == pytest.approx(value)


def test_no_choice_of_witnesses_is_much_better():
    """All choices of witnesses of a small problem, each a convex problem of samples."""
    X, y, _ = bags_of(8, seed=2, size=3)
    positive = [bag for bag, label in zip(X, y, strict=True) if label]
    negative = np.concatenate([bag for bag, label in zip(X, y, strict=True) if not label])
    lengths = [len(bag) for bag, label in zip(X, y, strict=True) if not label]
    space = LinearSpace(ArrayDesign(negative))
    assert isinstance(space, LinearSpace)
    found = []
    for choice in product(*(range(len(bag)) for bag in positive)):
        bags = [bag[[k]] for bag, k in zip(positive, choice, strict=True)]
        rest = np.split(negative, np.cumsum(lengths)[:-1])
        one = MISVC().fit([*bags, *rest], [1] * len(bags) + [0] * len(rest))
        found.append(one.objectives_[-1])
    model = MISVC(n_init=10).fit(X, y)
    assert min(found) * (1 - 1e-6) <= model.objectives_[-1] <= min(found) * 1.05


def test_bag_weights_order_and_sparse_data():
    X, y, _ = bags_of(24)
    weight = np.arange(24) // 2 % 3
    few = MISVC().fit(X, y, weight)
    rows = np.repeat(np.arange(24), weight)
    many = MISVC().fit([X[i] for i in rows], y[rows])
    same = MISVC().fit([sparse.csr_matrix(bag[::-1]) for bag in X], y, weight)
    for other in (many, same):
        np.testing.assert_allclose(few.coef_, other.coef_, atol=1e-5)
        np.testing.assert_allclose(few.intercept_, other.intercept_, atol=1e-5)
    assert few.certify(X, y, weight).status == "stationary"


def test_the_best_instance_of_each_bag():
    bags = Bags(LinearSpace(ArrayDesign(np.ones((6, 1)))), *np.ones((2, 3)), np.array([0, 1, 4]))
    best = bags.best(np.array([-5.0, 1.0, 3.0, 3.0, 0.0, 2.0]))
    assert best.tolist() == [0, 2, 5]


def test_bags_in_files_and_copies(tmp_path):
    X, y, _ = bags_of(20)
    names = np.array(["no", "yes"])[y]
    for kernel in ("linear", "rbf"):
        model = MISVC(kernel=kernel).fit(X, names)
        io.save(model, tmp_path / "model.mm")
        for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict(X), model.predict(X))
            assert other.certify(X, names).status == "stationary"
    assert clone(model).get_params() == model.get_params()
    assert not model.__sklearn_tags__().input_tags.two_d_array


def test_warm_starts_and_limits_of_bags():
    X, y, _ = bags_of(40, 3)
    for kernel in ("linear", "rbf"):
        model = MISVC(kernel=kernel, warm_start=True).fit(X, y)
        first = model.objectives_[-1]
        assert model.fit(X, y).objectives_[-1] <= first * (1 + 1e-9)
    with pytest.warns(ConvergenceWarning, match="MISVC failed to converge.*time_limit"):
        MISVC(time_limit=0).fit(X, y)


BAGS, LABELS, _ = bags_of(6)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (BAGS[0], LABELS, "X is one matrix of shape .* for each bag"),
        (BAGS, LABELS[:5], "X has 6 bags, but y has 5 labels"),
        (BAGS, np.ones(6, int), "number of classes has to be greater than one"),
        (BAGS, np.arange(6) % 3, "MISVC is for two classes, got 3"),
        ([*BAGS[:5], np.ones((2, 4))], LABELS, "bag 5 of X has 4 features, but 3 are expected"),
        ([*BAGS[:5], np.full((2, 3), np.inf)], LABELS, "bag 5 of X contains infinity"),
    ],
)
def test_bad_bags_are_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        MISVC().fit(X, y)


def test_bad_use_of_bags():
    with pytest.raises(NotFittedError):
        MISVC().predict(BAGS)
    with pytest.raises(ValueError, match="'kernel' parameter"):
        MISVC(kernel="precomputed").fit(BAGS, LABELS)
    with pytest.raises(ValueError, match="chi2 kernel needs non-negative features"):
        MISVC(kernel="chi2").fit([-np.abs(bag) for bag in BAGS], LABELS)
    with pytest.raises(ValueError, match="same class"):
        MISVC().fit(BAGS, LABELS, LABELS)
    model = MISVC().fit(BAGS, LABELS)
    with pytest.raises(ValueError, match="6 bags, 3 of them positive"):
        model.certify(BAGS[:4], LABELS[:4])


def test_rounding_at_a_large_C_is_no_failure():
    """It warned of a relative gap of 1e-11 with tol=1e-4: small problems are solved to 1e-13."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
    model = LatentSVM(C=1e4, n_init=1).fit(X, y)
    assert model.certificate_.status == model.certify(X, y).status == "stationary"
    assert model.certificate_.relative_gap < model.tol
