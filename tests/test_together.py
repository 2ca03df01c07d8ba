"""Problems solved together: as good as each by itself, and judged as strictly."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from helpers import threads
from maxmargin import SVC
from maxmargin.estimators import _machine
from maxmargin.kernel import judgement, together
from maxmargin.kernel.together import SETTINGS

SMALL = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "breast cancer": load_breast_cancer,
}


def data(name):
    X, y = SMALL[name](return_X_y=True)
    some = slice(SETTINGS.alone if name == "breast cancer" else None)  # a single problem
    return StandardScaler().fit_transform(X[some]), y[some]


def overlapping(n, classes, seed=0):
    """Classes of equal size that overlap."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(classes, 4))
    y = np.arange(n) % classes
    return centres[y] + 0.7 * draw.normal(size=(n, 4)), y


@pytest.fixture
def served(monkeypatch):
    """How many problems were solved together, in each call."""
    counts, judge = [], together.judged_together

    def counted(*arguments):
        found = judge(*arguments)
        counts.append(sum(trained is not None for trained in found))
        return found

    monkeypatch.setattr(together, "judged_together", counted)
    return counts


@pytest.fixture
def apart(monkeypatch):
    """A function that fits with every problem by itself."""

    def fit(model, X, y, *weight):
        with monkeypatch.context() as patch:
            patch.setattr(together, "_is_plain", lambda task: False)
            return model.fit(X, y, *weight)

    return fit


def same_model(model, other, X, atol):
    """Objectives and decision values agree, pair by pair."""
    values = [each.decision_function(X) for each in (model, other)]
    np.testing.assert_allclose(*values, rtol=0, atol=atol)
    parts = [each.certificate_.parts or (each.certificate_,) for each in (model, other)]
    for one, two in zip(*parts, strict=True):
        assert one.status == two.status == "optimal"
        assert one.dual == pytest.approx(two.dual, rel=atol)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
@pytest.mark.parametrize("name", SMALL)
def test_small_problems_equal_those_trained_by_themselves(name, kernel, apart, served):
    X, y = data(name)
    options = {"kernel": kernel, "decision_function_shape": "ovo"}
    model, other = SVC(**options).fit(X, y), apart(SVC(**options), X, y)
    assert served[0] > 0 or kernel in ("linear", "poly", "cosine")
    same_model(model, other, X, 1e-8)


@pytest.mark.parametrize("name", SMALL)
def test_against_scikit_learn(name, served):
    X, y = data(name)
    options = {"C": 3.0, "gamma": "scale", "decision_function_shape": "ovo"}
    model, theirs = SVC(**options).fit(X, y), svm.SVC(**options, tol=1e-10).fit(X, y)
    n_classes = len(np.unique(y))
    assert served == [n_classes * (n_classes - 1) // 2]
    values = model.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(*values, rtol=0, atol=5e-6)  # its kernel values are float32
    assert model.certify(X, y).status == "optimal"


def test_larger_problems_are_solved_to_tol(apart, served):
    X, y = overlapping(3600, 3)
    model, other = SVC(gamma=0.5).fit(X, y), apart(SVC(gamma=0.5), X, y)
    assert served == [3]
    same_model(model, other, X, 5e-3)
    assert model.certificate_.audit_error < 1e-12  # decision values are float64 throughout
    found = model.certify(X, y)
    assert found.status == "optimal"
    assert found.kkt_violation <= model.tol


def test_sizes_on_both_sides_of_the_limit(apart, served):
    X, y = overlapping(4000, 5)
    y = np.minimum(y, 3)  # one class is twice as large as the others
    some = np.flatnonzero((y != 1) | (np.arange(len(y)) < 1000))
    model, other = (
        fit(SVC(gamma=0.5, decision_function_shape="ovo"), X[some], y[some])
        for fit in (lambda m, *d: m.fit(*d), apart)
    )
    assert sorted(served[:2]) == [2, 4] or sum(served) == 6
    same_model(model, other, X, 5e-3)


def test_weights_and_copies_agree(served):
    X, y = data("iris")
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = SVC(C=2.0).fit(X, y, weight)
    copies = SVC(C=2.0, gamma=weighted.kernel_.gamma).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert served == [3, 3]
    values = weighted.decision_function(X), copies.decision_function(X)
    np.testing.assert_allclose(*values, rtol=0, atol=1e-9)


def test_sparse_data(served):
    X, y = data("wine")
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    values = [
        SVC(gamma=0.1).fit(given, y).decision_function(X) for given in (X, sparse.csr_matrix(X))
    ]
    assert served == [3, 3]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rows", [600, 3600])
def test_same_bits_for_any_number_of_threads(rows, served):
    X, y = overlapping(rows, 3)
    models = []
    for number in (1, 2, 5):
        with threads(number):
            models.append(SVC(gamma=0.5).fit(X, y))
    assert served == [3, 3, 3]
    for other in models[1:]:
        assert np.array_equal(models[0].dual_coef_, other.dual_coef_)
        assert np.array_equal(models[0].intercept_, other.intercept_)


def test_same_bits_for_any_batches(monkeypatch, served):
    X, y = overlapping(600, 4)
    model = SVC().fit(X, y)
    monkeypatch.setattr(together, "SETTINGS", SETTINGS._replace(multiply_adds=1.0))
    other = SVC().fit(X, y)
    assert served == [6, 6]
    assert np.array_equal(model.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize(
    "options",
    [
        {"time_limit": 60.0},
        {"max_iter": 10**9, "loss": "squared_hinge"},
        {"C": np.inf},
        {"kernel": "precomputed"},
    ],
)
def test_others_are_trained_by_themselves(options, served):
    X, y = make_blobs(90, centers=3, cluster_std=0.3, random_state=0)
    SVC(**options).fit(X @ X.T if options.get("kernel") == "precomputed" else X, y)
    assert served == []


def test_max_iter_is_kept(served):
    X, y = data("iris")
    with pytest.warns(UserWarning, match="max_iter=2"):
        model = SVC(max_iter=2).fit(X, y)
    assert model.certificate_.status == "max_iter"
    assert (model.n_iter_ <= 2).all()


@pytest.mark.parametrize("rows", [300, 3600])
def test_what_pair_steps_do_not_finish_goes_on_from_there(rows, monkeypatch, apart):
    X, y = overlapping(rows, 3)
    whole = apart(SVC(gamma=0.5), X, y)
    few = SETTINGS._replace(small_work=20.0 * rows, large_work=20.0 * rows)
    monkeypatch.setattr(together, "SETTINGS", few)
    left, train = [], _machine.train_together

    def kept(*arguments):
        left.extend(train(*arguments))
        return left

    monkeypatch.setattr(_machine, "train_together", kept)
    model = SVC(gamma=0.5).fit(X, y)
    assert all(np.count_nonzero(task.start) > 2 for task in left)
    same_model(model, whole, X, 1e-8 if rows == 300 else 5e-3)


def test_a_wrong_decision_value_is_found(monkeypatch, served):
    """Problems whose audit fails have no verdict here."""
    X, y = data("iris")
    evaluate = judgement.kernel_values
    monkeypatch.setattr(judgement, "kernel_values", lambda *given: 1.01 * evaluate(*given))
    model = SVC().fit(X, y)
    assert served == [0]
    assert model.certificate_.status == "optimal"
    assert model.certificate_.audit_error < 1e-12


def test_the_certificates_are_those_of_single_problems(apart):
    """Every figure of the certificate, computed for all at once and for one."""
    X, y = data("wine")
    model, other = SVC().fit(X, y), apart(SVC(), X, y)
    for one, two in zip(model.certificate_.parts, other.certificate_.parts, strict=True):
        for name in ("primal", "dual"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-10)
        assert max(one.kkt_violation, one.box_violation, one.equality_violation) < 1e-11
        assert 0 <= one.gap < 1e-9
        assert one.n_iter > 0
        assert one.convexity == "proved"


def test_the_machine_with_probabilities_is_the_same(served):
    X, y = overlapping(600, 3)
    plain, model = SVC().fit(X, y), SVC(probability=True).fit(X, y)
    assert served == [3, 3]
    assert np.array_equal(plain.dual_coef_, model.dual_coef_)
    assert plain.certificate_ == model.certificate_
