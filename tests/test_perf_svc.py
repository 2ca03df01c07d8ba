"""PerfSVC: objectives beside quadratic programs, weights, intercepts, classes, files, bad input."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

import data
from helpers import binary, three
from maxmargin import SVC, LinearSVC, PerfSVC, io
from maxmargin.estimators._scored import PlaneMachine
from measure_cases import NAMES, planes
from reference import _solve, factor

RANKS = ("auc", "average_precision", "prbep", "precision_at_k", "recall_at_k")


def perf(measure, **parameters):
    if measure.endswith("_k"):
        parameters.setdefault("k", 3)
    return PerfSVC(measure, **parameters)


def unbalanced(n=400, seed=0, share=0.08, shift=2.5):
    """Few positive samples, some of which are far from the others; many negative ones are too."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 5))
    X[:, 0] += shift * y
    X[:, 1] += np.where(y == 1, -2.0, 3.0) * (rng.random(n) < 0.2)
    return X, y


def corners(n=60):
    """Three classes, each of which a line separates from most of the rest."""
    y = np.arange(n) % 3
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X + 3 * np.array([[0.0, 1.0], [0.9, -0.5], [-0.9, -0.5]])[y], y


def primal_by_program(measure, X, y, C, k, free):
    """1/2 |w|^2 + C xi with a constraint for everything that can be predicted."""
    offsets, T = map(np.array, zip(*planes(measure, np.where(y == 1, 1, -1), k), strict=True))
    d, m = X.shape[1], len(offsets)
    P = np.zeros((d + 2, d + 2))
    P[:d, :d] = np.eye(d)
    q = np.append(np.zeros(d + 1), C)
    bias = T.sum(axis=1) if free and measure in ("error", "f1") else np.zeros(m)
    A = np.hstack([T @ X, bias[:, None], -np.ones((m, 1))])
    A = np.vstack([A, np.append(np.zeros(d + 1), -1.0)])
    if not bias.any():
        P, q, A = (np.delete(part, d, axis=-1) for part in (np.delete(P, d, axis=0), q, A))
    return _solve(P, q, A, np.append(-offsets, 0.0))[1]


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("free", [True, False])
def test_objective_of_all_predictions(measure, free):
    """Every measure beside a quadratic program with all constraints."""
    for seed, n in enumerate([5, 5] if measure in ("auc", "average_precision") else [6, 8]):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, 3)), np.arange(n) % 3 == 0
        for C in (0.1, 10.0):
            model = perf(measure, C=C, fit_intercept=free).fit(X, y)
            expected = primal_by_program(measure, X, y, C, 3, free)
            assert model.certificate_.status == "optimal"
            assert model.certificate_.primal == pytest.approx(expected, rel=1e-7)
            assert model.certificate_.dual == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("measure", NAMES)
def test_objective_with_a_kernel(measure):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 2)), np.array([1, 0, 0, 1, 0])
    model = perf(measure, C=2.0, kernel="rbf", gamma=0.7).fit(X, y)
    expected = primal_by_program(measure, factor(rbf_kernel(X, gamma=0.7)), y, 2.0, 3, True)
    assert model.certificate_.primal == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_error_is_linear_svc(fit_intercept, wrap):
    X, y = binary(600, 8)
    weight = np.random.default_rng(0).random(600)
    same = {"C": 0.5, "fit_intercept": fit_intercept, "class_weight": {0: 2.0}, "tol": 1e-9}
    other = LinearSVC(loss="hinge", **same).fit(wrap(X), y, weight)
    model = PerfSVC(**same).fit(wrap(X), y, weight)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)


@pytest.mark.parametrize("name", ["a9a", "letter"])
def test_error_is_linear_svc_on_real_data(name):
    X, y = data.load(name, 4000)
    y = y == (1 if name == "a9a" else y[0])
    other = LinearSVC(loss="hinge", tol=1e-8).fit(X, y)
    model = PerfSVC(tol=1e-6).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)


def test_error_with_a_kernel_is_svc():
    X, y = binary(300)
    other = SVC(C=3.0, tol=1e-8).fit(X, y)
    model = PerfSVC(C=3.0, kernel="rbf", tol=1e-7).fit(X, y)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=2e-2)


def test_planes_alone_find_the_model_of_a_linear_solver(monkeypatch):
    """Without the plane of the linear solver's dual variables."""
    X, y = binary(600, 8)
    expected = PerfSVC(tol=1e-7).fit(X, y)
    assert expected.n_iter_ < 5
    monkeypatch.setattr(PerfSVC, "_begin", PlaneMachine._begin)
    model = PerfSVC(tol=1e-7).fit(X, y)
    assert model.n_iter_ > 20
    assert model.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=2e-7)


# ---- weights, order, classes ---------------------------------------------------------------------


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_are_copies(measure, kernel):
    X, y = binary(40)
    weight = np.random.default_rng(1).integers(0, 4, 40)
    made = {"C": 0.3, "kernel": kernel, "gamma": 0.2, "tol": 1e-9}
    model = perf(measure, **made).fit(X, y, weight)
    copies = perf(measure, **made).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    primal = copies.certificate_.primal
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X) - model.intercept_,
        copies.decision_function(X) - copies.intercept_,
        atol=1e-4,
    )


def test_weights_of_pairs_may_be_any_numbers():
    X, y = unbalanced()
    weight = np.random.default_rng(0).random(len(y))
    model, other = (PerfSVC("auc", tol=1e-6).fit(X, y, f * weight) for f in (1.0, 1.0))
    doubled = PerfSVC("auc", C=0.5, tol=1e-6).fit(X, y, 2 * weight)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert doubled.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-5)


@pytest.mark.parametrize("measure", NAMES)
def test_order_of_samples_does_not_matter(measure):
    X, y = unbalanced(150)
    order = np.random.default_rng(2).permutation(150)
    one, other = perf(measure).fit(X, y), perf(measure).fit(X[order], y[order])
    assert other.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-9)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-5)


@pytest.mark.parametrize("measure", ["error", "auc"])
def test_other_labels_mirror_the_function(measure):
    """Errors and pairs of both classes count alike."""
    X, y = unbalanced(150)
    one, other = PerfSVC(measure).fit(X, y), PerfSVC(measure).fit(X, 1 - y)
    np.testing.assert_allclose(other.coef_, -one.coef_, atol=1e-6)
    np.testing.assert_allclose(other.intercept_, -one.intercept_, atol=1e-5)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_data_and_given_kernels_make_the_same_model(measure, kernel):
    X, y = unbalanced(60, share=0.2)
    model = perf(measure, kernel=kernel, gamma=0.3).fit(X, y)
    f = model.decision_function(X)
    other = perf(measure, kernel=kernel, gamma=0.3).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(other.decision_function(sparse.csr_matrix(X)), f, atol=1e-6)
    K = rbf_kernel(X, gamma=0.3) if kernel == "rbf" else X @ X.T
    given = perf(measure, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), f, atol=1e-5)
    function = perf(
        measure, kernel=lambda A, B: A @ B.T if kernel == "linear" else rbf_kernel(A, B, 0.3)
    )
    np.testing.assert_allclose(function.fit(X, y).decision_function(X), f, atol=1e-5)


@pytest.mark.parametrize("measure", ["f1", "auc", "prbep"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_class_against_the_rest(measure, kernel):
    X, y = corners()
    model = perf(measure, kernel=kernel).fit(X, y)
    f = model.decision_function(X)
    assert f.shape == (60, 3)
    assert len(model.certificate_.parts) == 3
    for k in range(3):
        one = perf(measure, kernel=kernel).fit(X, y == k)
        np.testing.assert_allclose(f[:, k], one.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))
    assert model.certify(X, y).status == "optimal"


def test_a_class_without_weight_never_wins():
    X, y = corners()
    model = PerfSVC("f1").fit(X, y, (y != 1).astype(float))
    assert set(model.predict(X)) <= {0, 2}
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


# ---- the intercept -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["precision_at_k", "recall_at_k", "prbep"])
@pytest.mark.parametrize("k", [15, 20, 60, 0.1])
def test_k_samples_are_positive(measure, k):
    X, y = unbalanced()
    count = y.sum() if measure == "prbep" else (40 if k == 0.1 else k)
    model = PerfSVC(measure, k=None if measure == "prbep" else k).fit(X, y)
    assert model.predict(X).sum() == count
    plain = PerfSVC(measure, k=model.k, fit_intercept=False).fit(X, y)
    assert plain.intercept_ == 0
    np.testing.assert_allclose(plain.coef_, model.coef_, atol=1e-12)


@pytest.mark.parametrize("measure", ["auc", "average_precision"])
def test_intercept_of_the_order_has_the_least_hinge_loss(measure):
    X, y = unbalanced()
    model = PerfSVC(measure).fit(X, y)
    f, sign = model.decision_function(X), 2 * y - 1
    losses = [np.maximum(0, 1 - sign * (f + b)).sum() for b in np.linspace(-2, 2, 401)]
    assert np.maximum(0, 1 - sign * f).sum() <= min(losses) + 1e-9


# ---- what it is for ------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:No function has a smaller loss")
def test_measures_that_are_trained_for_are_better():
    """Held out samples of an unbalanced set, on average."""
    auc, f1 = [], []
    for seed in range(5):
        X, y = unbalanced(3000, seed, share=0.05, shift=2.0)
        train, test = (X[:1000], y[:1000]), (X[1000:], y[1000:])
        plain = LinearSVC(loss="hinge", C=10, tol=1e-12).fit(*train)
        for scores, measure in ((auc, "auc"), (f1, "f1")):
            model = PerfSVC(measure, C=10).fit(*train)
            scores.append(
                [
                    roc_auc_score(test[1], one.decision_function(test[0]))
                    if measure == "auc"
                    else f1_score(test[1], one.predict(test[0]))
                    for one in (plain, model)
                ]
            )
    for scores in (auc, f1):
        plain, trained = np.mean(scores, axis=0)
        assert trained > plain + 0.01


def test_a_constant_function_is_a_warning():
    """The best sample is a positive one: too much to ask for here."""
    X, y = unbalanced(shift=1.0)
    with pytest.warns(UserWarning, match="than a constant: the positive samples are not far"):
        model = PerfSVC("precision_at_k", k=1).fit(X, y)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-6)
    with pytest.warns(UserWarning, match=r"than a constant \(1 of 3 problems\)"):
        PerfSVC("f1").fit(*three())


# ---- certificates, limits, warm starts -----------------------------------------------------------


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_certify(measure, kernel):
    X, y = unbalanced()
    k = 30 if measure.endswith("_k") else None
    model = PerfSVC(measure, k=k, kernel=kernel).fit(X, y)
    again = model.certify(X, y)
    assert again.status == model.certificate_.status == "optimal"
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert again.relative_gap <= 1.01e-3


def test_certify_refutes_other_models_and_data():
    from dataclasses import replace

    X, y = unbalanced()
    model = PerfSVC("f1").fit(X, y)
    model.model_ = replace(model.model_, coef=model.model_.coef * 1.5)
    assert model.certify(X, y).status == "refuted"
    with pytest.raises(ValueError, match="the data the model was fitted on: 400 samples, got 200"):
        model.certify(X[:200], y[:200])
    with pytest.raises(ValueError, match="other labels"):
        model.certify(X, y + 5)


@pytest.mark.parametrize("limit", [{"max_iter": 3}, {"time_limit": 0.0}])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_limits_keep_a_model_that_a_warm_start_continues(limit, kernel):
    X, y = unbalanced()
    model = PerfSVC("f1", C=10, kernel=kernel, **limit)
    with pytest.warns(ConvergenceWarning, match="PerfSVC failed to converge.*Relative gap"):
        model.fit(X, y)
    assert model.certificate_.status == next(iter(limit))
    before = model.certificate_.primal
    model.set_params(max_iter=-1, time_limit=None, warm_start=True).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.primal < before
    steps = model.n_iter_
    assert model.fit(X, y).n_iter_ <= steps


def test_a_warm_start_needs_the_same_shape():
    X, y = three()
    model = PerfSVC("auc", warm_start=True).fit(X, y)
    other = model.fit(X[:, :2], y > 0)
    np.testing.assert_allclose(other.coef_, PerfSVC("auc").fit(X[:, :2], y > 0).coef_, atol=1e-9)


def test_progress(capfd, monkeypatch):
    from maxmargin import monitor

    monkeypatch.setattr(monitor, "SETTINGS", monitor.SETTINGS._replace(report_every=0.0))
    PerfSVC("auc", verbose=1).fit(*unbalanced())
    assert "planes, objective" in capfd.readouterr().err


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["f1", "auc"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_files_hold_the_model_and_its_proof(measure, kernel, wrap, tmp_path):
    X, y = corners()
    model = perf(measure, kernel=kernel).fit(wrap(X), y)
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(wrap(X)), model.predict(wrap(X)))
        np.testing.assert_array_equal(
            other.decision_function(wrap(X)), model.decision_function(wrap(X))
        )
        assert other.certify(wrap(X), y).status == "optimal"


def test_formats_without_such_models_say_so(tmp_path):
    model = PerfSVC("f1").fit(*binary())
    for save in (io.save_libsvm, io.save_liblinear):
        with pytest.raises(TypeError, match="PerfSVC"):
            save(model, tmp_path / "model")
    with pytest.raises(TypeError, match="PerfSVC"):
        io.to_sklearn(model)
    assert hasattr(model, "coef_")
    assert not hasattr(model, "dual_coef_")
    kernel = PerfSVC("f1", kernel="rbf").fit(*binary())
    assert not hasattr(kernel, "coef_")
    assert kernel.dual_coef_.shape == (1, len(kernel.support_))


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "f2"}, "f1"),
        ({"measure": "precision_at_k"}, "needs k"),
        ({"measure": "recall_at_k", "k": 100}, "k=100 exceeds the number of training samples, 60"),
        ({"measure": "recall_at_k", "k": 0}, "'k' parameter"),
        ({"measure": "recall_at_k", "k": 1.5}, "'k' parameter"),
        ({"measure": "f1", "k": 3}, "k=3 has no effect on measure='f1'"),
        ({"measure": "f1", "class_weight": "balanced"}, "class_weight='balanced' has no effect"),
        ({"C": 0.0}, "'C' parameter"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        PerfSVC(**parameters).fit(*binary())


def test_a_kernel_that_is_not_positive_semidefinite_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite on these data"):
        model = PerfSVC("auc", kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(*binary())
    assert model.certificate_.status != "optimal"


def test_bad_data():
    X, y = binary()
    with pytest.raises(ValueError, match="all samples with positive weights belong to the same"):
        PerfSVC("f1").fit(X, y, (y == 1).astype(float))
    with pytest.raises(ValueError, match="60 values that are not whole numbers"):
        PerfSVC("f1").fit(X, y, np.full(60, 0.5))
    with pytest.raises(ValueError, match="negative"):
        PerfSVC("auc").fit(X, y, np.linspace(-1, 1, 60))
    with pytest.raises(ValueError, match="too large to be squared"):
        PerfSVC("auc").fit(X * 1e200, y)


def test_features_of_thirteen_decades_end_soon():
    """Once the solver of linear models was asked for rounding, and went on for minutes."""
    X = np.float32(
        [
            [-5.0486296e-06, 1.1529140e-03, -1.8789746e-02, -1.0081508e07],
            [-3.8431328e-05, 9.6647218e-03, -7.7639786e-03, 5.6710140e06],
            [1.3152106e-05, -9.0453755e-03, 3.5190096e-01, -3.8235888e06],
            [-8.0822674e-06, -3.3169482e-03, 9.2094250e-02, -1.5257040e07],
            [4.5828634e-05, 9.5381578e-03, 9.7434513e-02, -1.6036008e07],
            [2.2349592e-05, -4.2395541e-03, 8.4050290e-02, -4.7973730e06],
        ]
    )
    y, weight = [0, 0, 0, 0, 1, 1], [1, 1, 1, 2, 1, 2]
    model = PerfSVC(C=9.478291641524594, time_limit=60).fit(X, y, weight)
    assert model.certificate_.status == "optimal"
    linear = LinearSVC(C=9.478291641524594, loss="hinge").fit(X, y, weight)
    assert model.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-6)


def test_features_of_eight_decades_stall_as_in_linear_svc():
    """LinearSVC ends after 1,000 passes; PerfSVC set no limit."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(19, 2)) * [1.0, 3e7], np.arange(19) % 2
    with pytest.warns(ConvergenceWarning, match="failed to converge"):
        model = PerfSVC(C=5000.0, fit_intercept=False, tol=1e-6, time_limit=20).fit(X, y)
    assert model.certificate_.status == "stalled"
