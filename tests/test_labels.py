"""Labels by float32 with a bound are those of the float64 decision values.

The fitted state is prepared once and never trusted blindly.
"""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers import binary
from maxmargin import SVC, SVR, Kernel, NuSVC
from maxmargin.core.choose import HOST as core
from maxmargin.core.memory import fingerprint
from maxmargin.core.threads import one_thread
from maxmargin.kernel import labels, multiclass, prediction

rng = np.random.default_rng(0)
KERNELS = {
    "rbf": {"kernel": "rbf"},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    "laplacian": {"kernel": Kernel.laplacian(gamma=0.2)},
    "cosine": {"kernel": "cosine"},
}


@pytest.fixture(autouse=True)
def always_float32(monkeypatch):
    """However few the rows are."""
    monkeypatch.setattr(labels, "SETTINGS", labels.SETTINGS._replace(float32_from=1, packed_from=1))


def data(n=120, d=6, classes=2, zeros=0.0, scale=1.0, offset=0.0, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d))
    y = (
        np.argmax(np.column_stack([np.sin(1.7 * X[:, c % d] + c) for c in range(classes)]), axis=1)
        if classes > 2
        else X[:, 0] * X[:, 1] > 0
    )
    X[generator.random(X.shape) < zeros] = 0.0
    return X * scale + offset, y


def float64_labels(model, X):
    """Labels by the definition, from the float64 decision values."""
    values, n = model._decision_values(X), len(model.classes_)
    if n == 2:
        position = (values[:, 0] >= 0).astype(int)
    elif not model.model_.pairs:
        position = values.argmax(axis=1)
    else:
        position = (multiclass.votes_and_confidence if model.break_ties else multiclass.votes)(
            values, n
        ).argmax(axis=1)
    return model.classes_[position]


def put_on_boundary(model, X, row, function, off):
    """Move the intercept so that the decision value of one row is off times its size."""
    value = model._decision_values(X)[row, function] - model.intercept_[function]
    intercept = model.intercept_.copy()
    intercept[function] = -value * (1 - off)
    model.intercept_ = intercept


@pytest.mark.filterwarnings("ignore:The problem is not convex")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 4])
def test_labels_of_every_kernel(kernel, classes):
    X, y = data(classes=classes)
    Z = data(seed=1)[0]
    model = SVC(**KERNELS[kernel]).fit(X, y)
    np.testing.assert_array_equal(model.predict(Z), float64_labels(model, Z))


@settings(max_examples=60, deadline=None)
@given(
    classes=st.sampled_from([2, 3, 5]),
    multi=st.sampled_from(["ovo", "ovr"]),
    ties=st.booleans(),
    zeros=st.sampled_from([0.0, 0.9]),
    storage=st.sampled_from([np.asarray, sparse.csr_matrix]),
    gamma=st.sampled_from([1e-8, 1e-2, 1.0, 1e3, 1e8]),
    scale=st.sampled_from([1e-18, 1e-3, 1.0, 1e4, 1e20]),
    offset=st.sampled_from([0.0, 1e3]),
    coef=st.sampled_from([1e-300, 1e-42, 1.0, 1e12, 1e39, 1e300]),
    off=st.sampled_from([0.0, 1e-16, -1e-12, 1e-9, -1e-7, 1e-5]),
    seed=st.integers(0, 3),
)
# by differences, from a matrix that was made dense
@example(2, "ovo", False, 0.0, sparse.csr_matrix, 1e-8, 1e4, 0.0, 1e12, 0.0, 0)
def test_labels_are_those_of_float64(
    classes, multi, ties, zeros, storage, gamma, scale, offset, coef, off, seed
):
    X, y = data(80, 18, classes, zeros, seed=seed)
    model = SVC(C=10.0, gamma=gamma / 18, multiclass=multi, break_ties=ties).fit(
        storage(X * scale / max(1.0, scale)), y
    )
    model.support_vectors_ = model.support_vectors_ * max(
        1.0, scale
    )  # the model of other data: whatever it is, its labels are defined
    model.dual_coef_, model.intercept_ = model.dual_coef_ * coef, model.intercept_ * coef
    Z = storage(data(70, 18, classes, zeros, scale, offset * scale, seed + 9)[0])
    Z = (
        sparse.vstack([Z, model.support_vectors_[:5]]).tocsr()
        if sparse.issparse(Z)
        else np.vstack([Z, model.support_vectors_[:5]])
    )
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            put_on_boundary(model, Z, 3, 0, off)
            expected = float64_labels(model, Z)
        except ValueError:  # coefficients or kernel values that overflow are refused
            return
        np.testing.assert_array_equal(model.predict(Z), expected)


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("zeros", [0.0, 0.85])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e25])
def test_bound_holds_and_is_no_excuse(gamma, zeros, size):
    """The error is below its bound, and the bound is small enough to decide nearly all rows."""
    X, y = data(2500, 20, zeros=zeros)
    model = SVC(C=10.0, gamma=gamma).fit(X, y)
    model.dual_coef_, model.intercept_ = model.dual_coef_ * size, model.intercept_ * size
    question = prediction.ask(model.model_, data(1500, 20, zeros=zeros, seed=1)[0])
    estimate, exact = labels.estimate(question), prediction.products(question)
    assert (np.abs(estimate.parts - exact)[0, 0] <= estimate.errors[0]).all()
    assert (labels.certain_winners(model.model_, estimate) == labels.OPEN).mean() < 0.2


def test_bound_holds_for_each_class_block():
    X, y = data(900, 12, classes=6)
    question = prediction.ask(SVC(C=10.0, gamma=0.1).fit(X, y).model_, X)
    estimate, exact = labels.estimate(question), prediction.products(question)
    assert (np.abs(estimate.parts - exact) <= estimate.errors[:, None]).all()


def test_rows_on_the_boundary_are_evaluated_again():
    X, y = data()
    model = NuSVC(nu=0.3).fit(X, y)
    for off in (0.0, 1e-15, -1e-15, 1e-8, -1e-8):
        put_on_boundary(model, X, 5, 0, off)
        estimate = labels.estimate(prediction.ask(model.model_, X))
        assert labels.certain_winners(model.model_, estimate)[5] == labels.OPEN
        np.testing.assert_array_equal(model.predict(X), float64_labels(model, X))


def of_source(question):
    """The question of a packed model as its source answers it."""
    return question._replace(packed=None, source=question.source.against(question.X))


def test_useless_float32_is_left_out():
    X, y = data(offset=0.0)
    model = SVC(gamma=1.0).fit(X, y)
    assert labels.estimate(prediction.ask(model.model_, X)) is not None
    far = prediction.ask(model.model_, X * 1e5)  # exponents of 1e10 have no digits in float32
    assert (labels.certain_winners(model.model_, labels.estimate(far)) == labels.OPEN).all()
    assert labels.estimate(of_source(far)) is None
    over = prediction.ask(model.model_, X * 1e30)  # squares overflow
    assert (labels.certain_winners(model.model_, labels.estimate(over)) == labels.OPEN).all()
    assert labels.estimate(of_source(over)) is None
    for scale in (1e5, 1e30):
        np.testing.assert_array_equal(model.predict(X * scale), float64_labels(model, X * scale))


@pytest.mark.parametrize("zeros", [0.0, 0.8])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_batch_does_not_change_bits(zeros, kernel):
    """Whether data are compressed was decided with the rows asked about: other batches, other
    centre, other last digits."""
    X, y = data(150, 20, classes=3, zeros=zeros)
    Z = np.vstack([X, data(50, 20)[0] + 3])
    model = SVC(kernel=kernel).fit(X, y)
    whole = model.decision_function(Z)
    parts = np.vstack([model.decision_function(Z[i : i + 7]) for i in range(0, len(Z), 7)])
    assert np.array_equal(whole, parts)
    with one_thread():
        assert np.array_equal(whole, model.decision_function(Z))
    assert np.array_equal(model.predict(Z), np.concatenate([model.predict(row[None]) for row in Z]))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_linear_prediction_is_by_weights(storage):
    X, y = data(100, 30, classes=3, zeros=0.7)
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(storage(X), y)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    np.testing.assert_allclose(
        model.decision_function(storage(X)), X @ coef.T + model.intercept_, rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_alteration_in_place_is_seen(storage, kernel):
    X, y = data()
    model = SVC(kernel=kernel).fit(storage(X), y)
    before = model.decision_function(storage(X))
    values = model.dual_coef_.data if sparse.issparse(model.dual_coef_) else model.dual_coef_
    values *= 2
    assert np.abs(model.decision_function(storage(X)) - before).max() > 0.1
    vectors = (
        model.support_vectors_.data
        if sparse.issparse(model.support_vectors_)
        else model.support_vectors_
    )
    vectors.ravel()[-1] = np.nan
    with pytest.raises(ValueError, match="altered"):
        model.predict(storage(X))


def test_coefficients_with_the_sign_of_libsvm_cannot_be_altered_in_place():
    """They are a copy: altering it would have no effect."""
    model = SVC().fit(*data())
    with pytest.raises(ValueError, match="read-only"):
        model._dual_coef_[0, 0] = 1.0
    values = model.decision_function(data()[0])
    model._dual_coef_, model._intercept_ = 2 * model._dual_coef_, 2 * model._intercept_
    np.testing.assert_array_equal(model.decision_function(data()[0]), 2 * values)


def test_predicting_changes_neither_attributes_nor_pickles():
    X, y = data()
    for model in (SVC().fit(X, y), SVR().fit(X, y)):
        names, saved = set(vars(model)), pickle.dumps(model)
        model.predict(X)
        assert set(vars(model)) == names
        assert pickle.dumps(model) == saved
        assert np.array_equal(pickle.loads(saved).predict(X), model.predict(X))


def test_fingerprint_sees_every_byte():
    memory = rng.integers(0, 256, 203, dtype=np.uint8)
    found = {fingerprint(memory)}
    for i in range(len(memory)):
        memory[i] ^= 1
        found.add(fingerprint(memory))
        memory[i] ^= 1
    assert len(found) == 204
    assert fingerprint(memory.copy()) in found
    assert fingerprint(np.zeros(8)) != fingerprint(np.zeros(9))


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 13, 26])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compress", [False, True])
def test_grouped_products_are_each_groups_own(columns, dtype, compress):
    A, B = rng.normal(size=(211, 9)).astype(dtype), rng.normal(size=(83, 9)).astype(dtype)
    A[:, 2:7] *= rng.random((211, 5)) < 0.3
    P, Q, begin = core.points(A, compress), core.points(B), np.array([0, 0, 57, 211])
    kernel, coef = (2, 0.3, 0.0, 3), rng.normal(size=(211, columns))
    K = core.kernel_block(kernel, P, None, Q, None).astype(np.float64)
    for weights, tol in ((coef, 1e-12), (coef.astype(np.float32), 1e-4)):
        if weights.dtype != np.float64 and dtype == np.float64:
            continue
        out = np.ones((3, columns, 83))
        core.kernel_products(kernel, P, begin, weights, Q, out)
        for g in range(3):
            rows = slice(begin[g], begin[g + 1])
            np.testing.assert_allclose(
                out[g], 1 + weights[rows].T.astype(np.float64) @ K[rows], rtol=0, atol=tol
            )
            one = np.ones((columns, 83))
            core.kernel_product(
                kernel, P, np.arange(begin[g], begin[g + 1]), weights[rows], Q, None, one
            )
            assert np.array_equal(one, out[g])


def test_the_state_of_a_model_is_prepared_once(monkeypatch):
    X, y = binary(40)
    made = []
    real = prediction._known
    monkeypatch.setattr(prediction, "_known", lambda *a: made.append(1) or real(*a))
    model = SVC().fit(X, y)
    for _ in range(3):
        model.predict(X)
    assert len(made) == 1
    model.intercept_ = model.intercept_ + 1
    model.predict(X)
    assert len(made) == 2, "and again after it was altered"


def test_points_without_a_fingerprint_are_checked_each_time():
    numbers = np.random.default_rng(0).normal(size=40)
    words = [f"{value:.3f}" for value in numbers]
    model = SVC(kernel=lambda P, Q: np.outer(np.array(P, float), np.array(Q, float))).fit(
        words, numbers > 0
    )
    before = model.decision_function(words)
    model.dual_coef_[:] = -model.dual_coef_
    assert np.corrcoef(before, model.decision_function(words))[0, 1] < -0.9
    model.dual_coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="altered"):
        model.predict(words)


def test_bounds_are_in_the_scale_of_the_coefficients(monkeypatch):
    X, y = binary(40)
    monkeypatch.setattr(labels, "SETTINGS", labels.SETTINGS._replace(float32_from=1, packed_from=1))
    model = SVC().fit(X, y)
    question = of_source(prediction.ask(model.model_, X))
    errors = labels.estimate(question).errors
    begin, coef = question.coefficients
    small = question._replace(coefficients=prediction.Coefficients(begin, coef * 2.0**-20))
    np.testing.assert_allclose(labels.estimate(small).errors, errors * 2.0**-20, rtol=1e-6)
    settings = labels.SETTINGS._replace(float32_from=X.shape[0] * len(coef))
    monkeypatch.setattr(labels, "SETTINGS", settings)
    assert labels.estimate(question) is not None
    settings = labels.SETTINGS._replace(float32_from=X.shape[0] * len(coef) + 1)
    monkeypatch.setattr(labels, "SETTINGS", settings)
    assert labels.estimate(question) is None


# ---- labels from bounds --------------------------------------------------------------------------


def test_labels_are_decided_only_beyond_the_error():
    values, error = np.array([1.0, -1.0, 0.5, -0.5, 0.4, 0.0, np.nan]), np.full(7, 0.5)
    assert labels.by_sign(values, error).tolist() == [1, 0, -1, -1, -1, -1, -1]
    rows = np.array([[3.0, 0.0, 2.0, np.nan], [1.0, 5.0, 1.0, 1.0], [0.0, 4.0, 0.0, 0.0]])
    assert labels.by_greatest(rows, np.full(4, 0.5)).tolist() == [0, -1, -1, -1]
    assert labels.by_greatest(rows, np.full(4, 0.49)).tolist() == [0, 1, 0, -1]


def test_the_class_that_wins_all_its_pairs_by_more_than_the_errors():
    """Parts as LIBSVM lays them out: what class i adds to its pair with j is in row j - 1 or j."""
    k, n = 4, 200
    parts = rng.normal(size=(k, k - 1, n))
    errors, intercept = 0.1 * rng.random(size=(k, n)), rng.normal(size=6)
    found = labels.by_pairs(parts, errors, intercept)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for column in range(n):
        winner = -1
        for c in range(k):
            wins = []
            for number, (i, j) in enumerate(pairs):
                value = parts[i, j - 1, column] + parts[j, i, column] + intercept[number]
                bound = errors[i, column] + errors[j, column]
                if c in (i, j):
                    wins.append((value if c == i else -value) > bound)
            winner = c if all(wins) else winner
        assert found[column] == winner
    assert 20 < np.count_nonzero(found == -1) < 180
    none = labels.by_pairs(np.zeros((3, 2, 1)), np.zeros((3, 1)), np.array([1.0, 1.0, 1.0]))
    assert none.tolist() == [0]
    edge = np.array([1.0, 1e-30, 1.0])
    assert labels.by_pairs(np.zeros((3, 2, 1)), np.zeros((3, 1)), edge).tolist() == [0]
    assert (
        labels.by_pairs(
            np.full((3, 2, 1), 1e14) * np.array([1, -1, 1])[:, None, None],
            np.zeros((3, 1)),
            0 * edge,
        )[0]
        == -1
    )
