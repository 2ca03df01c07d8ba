"""Pegasos: step by step against the lectures' algorithms 10 and 11, its rate against the exact
optimum, chunks, weights, budget."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from data import binary_target, load
from helpers import assert_close, assert_same_bits, binary, in_subprocess, threads, three
from maxmargin import SVC, Kernel, PegasosSVC
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.linear.objectives import feasible

X, label = binary(120)
y = np.where(label == 1, 1.0, -1.0)
DRAWN = np.random.default_rng(3).integers(0, 120, size=500)
PLAIN = {"fit_intercept": False, "project": False, "average": False, "shuffle": False}
STORAGES = [
    np.asarray,
    sparse.csr_matrix,
    lambda A: A.astype(np.float32),
    lambda A: sparse.csr_matrix(A.astype(np.float32)),
]


def algorithm_10(X, y, alpha, order):
    """Pegasos for the linear SVM, as the lectures state it."""
    w = np.zeros(X.shape[1])
    for k, i in enumerate(order, 1):
        eta = 1 / (alpha * k)
        violated = y[i] * (X[i] @ w) < 1
        w = (1 - eta * alpha) * w + (eta * y[i] * X[i] if violated else 0)
    return w


def algorithm_11(K, y, alpha, order):
    """Pegasos for the nonlinear SVM, as the lectures state it: how often each sample was drawn and
    had a loss."""
    a = np.zeros(len(y))
    for k, i in enumerate(order, 1):
        # the iterate before step k has the factor 1 / (alpha (k - 1))
        if k == 1 or y[i] / (alpha * (k - 1)) * (a * y) @ K[:, i] < 1:
            a[i] += 1
    return a


def every_option(X, y, alpha, order, batch, weight):
    """Projection, batches, weights, a bias on centred data, averages with weights 1, 2, 3, ...: the
    obvious way."""
    Z = X - (weight[:, None] * X).sum(axis=0) / weight.sum()
    w, b, total, total_b = np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1]), 0.0
    steps = [order[i : i + batch] for i in range(0, len(order), batch)]
    for t, some in enumerate(steps, 1):
        loss = some[y[some] * (Z[some] @ w + b) < 1]
        g = weight[loss] * y[loss] / len(some)
        w = (1 - 1 / t) * w + g @ Z[loss] / (alpha * t)
        b += g.sum() / (4 * np.sqrt(t))
        w *= min(1.0, 1 / np.sqrt(alpha * (w @ w)))
        total, total_b = total + t * w, total_b + t * b
    T = len(steps) * (len(steps) + 1) / 2
    return total / T, total_b / T - total @ (X - Z)[0] / T


def objective(model, X, y, alpha, weight=None):
    """alpha/2 |w|^2 + mean hinge of a binary model, by NumPy alone."""
    if model.get_params()["kernel"] == "linear":
        norm = np.sum(model.coef_**2)
    else:
        norm = (
            model.dual_coef_[0]
            @ rbf_kernel(model.support_vectors_, gamma=model.gamma)
            @ model.dual_coef_[0]
        )
    return alpha / 2 * norm + np.average(
        np.maximum(0, 1 - y * model.decision_function(X)), weights=weight
    )


@pytest.mark.parametrize("storage", STORAGES)
def test_algorithm_10_step_by_step(storage):
    A = storage(X)
    dense = np.asarray(A.todense() if sparse.issparse(A) else A, dtype=float)
    for steps in (1, 2, 3, 10, 500):
        some = DRAWN[:steps]
        model = PegasosSVC(alpha=0.05, **PLAIN).partial_fit(A[some], label[some], classes=[0, 1])
        expected = algorithm_10(dense, y, 0.05, some)
        np.testing.assert_allclose(
            model.coef_[0], expected, rtol=0, atol=1e-12 * np.abs(expected).max()
        )
        assert model.intercept_ == 0
        assert model.t_ == steps


def test_algorithm_11_step_by_step():
    K = rbf_kernel(X, gamma=0.3)
    for epochs in (1, 4):
        model = PegasosSVC(
            alpha=0.02, kernel="rbf", gamma=0.3, max_iter=epochs, tol=None, **PLAIN
        ).fit(X, label)
        order = np.tile(np.arange(120), epochs)
        count = algorithm_11(K, y, 0.02, order)
        np.testing.assert_array_equal(model.support_, np.flatnonzero(count))
        np.testing.assert_allclose(
            model.dual_coef_[0], (count * y / (0.02 * len(order)))[model.support_], rtol=1e-12
        )
    drawn = PegasosSVC(alpha=0.02, kernel="rbf", gamma=0.3, **PLAIN).partial_fit(
        X[DRAWN], label[DRAWN], classes=[0, 1]
    )
    expected = K @ (algorithm_11(K, y, 0.02, DRAWN) * y) / (0.02 * len(DRAWN))
    np.testing.assert_allclose(
        drawn.decision_function(X), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
    )


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("alpha", [1e-4, 0.01, 1.0])
@pytest.mark.parametrize("storage", STORAGES[:2])
def test_every_option_against_the_obvious_way(batch, alpha, storage):
    """alpha = 1e-4 projects hundreds of times, which must not cost digits of the average."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=120)
    A = 10 * X + 5
    model = PegasosSVC(alpha=alpha, batch_size=batch, shuffle=False)
    model.partial_fit(storage(A), label, classes=[0, 1], sample_weight=weight)
    w, b = every_option(A, y, alpha, np.arange(120), batch, weight)
    np.testing.assert_allclose(model.coef_[0], w, rtol=0, atol=1e-9 * np.abs(w).max())
    np.testing.assert_allclose(model.intercept_[0], b, rtol=0, atol=1e-9 * (1 + np.abs(b)))


@pytest.mark.parametrize("batch", [1, 7])
def test_kernel_walk_is_the_linear_walk(batch):
    """The same steps with coefficients as with weights; without a bias, where the linear walk is
    not centred."""
    options = {
        "alpha": 1e-3,
        "batch_size": batch,
        "fit_intercept": False,
        "max_iter": 5,
        "tol": None,
        "random_state": 0,
    }
    linear = PegasosSVC(**options).fit(X, label)
    kernel = PegasosSVC(kernel="poly", degree=1, gamma=1.0, **options).fit(X, label)
    assert_close(kernel.decision_function(X), linear.decision_function(X), 1e-9)
    assert kernel.certificate_.gap == pytest.approx(linear.certificate_.gap, rel=1e-7)


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rate(name, kernel):
    """The suboptimality falls at least fourfold with ten times the epochs and stays below the bound
    8 R^2 / (alpha T).
    """
    A, z = load(name, rows=400)
    z = binary_target(z)
    n, alpha, gamma = len(z), 0.01, 0.02
    sign = np.where(z == 1, 1.0, -1.0)
    exact = SVC(
        kernel=kernel, gamma=gamma if kernel == "rbf" else "scale", C=1 / (alpha * n), tol=1e-8
    ).fit(A, z)
    best = alpha * exact.certificate_.primal
    errors = []
    for epochs in (10, 100):
        model = PegasosSVC(
            alpha=alpha, kernel=kernel, gamma=gamma, max_iter=epochs, tol=None, random_state=0
        ).fit(A, z)
        errors.append(objective(model, A, sign, alpha) - best)
        assert model.certificate_.primal == pytest.approx(best + errors[-1], rel=1e-9)
        assert model.certificate_.dual <= best * (1 + 1e-9)
        radius = 1.0 if kernel == "rbf" else np.max(np.sum((A - A.mean(axis=0)) ** 2, axis=1))
        assert -1e-9 < errors[-1] <= 8 * radius / (alpha * epochs * n)
    assert errors[1] < errors[0] / 4
    assert errors[1] < 0.03 * best


def test_averages_beat_last_iterates_in_a_stream():
    A, z = binary(4000, 10, seed=1)
    sign, some = (
        np.where(z == 1, 1.0, -1.0),
        np.random.default_rng(0).integers(0, 4000, size=20_000),
    )
    values = []
    for average in (True, False):
        model = PegasosSVC(alpha=0.01, average=average, shuffle=False).partial_fit(
            A[some], z[some], classes=[0, 1]
        )
        values.append(objective(model, A, sign, 0.01))
    exact = 0.01 * SVC(kernel="linear", C=1 / 40).fit(A, z).certificate_.primal
    assert values[0] - exact < 0.5 * (values[1] - exact)
    assert values[0] < 1.02 * exact


def test_optimal_only_within_the_gap():
    model = PegasosSVC(alpha=0.1, tol=0.02, random_state=0).fit(X, label)
    c = model.certificate_
    assert (c.status, model.fit_status_) == ("approximate", 0)
    assert c.gap == pytest.approx(c.primal - c.dual)
    assert c.gap <= 0.02 * 2 * min(np.mean(label == label[0]), np.mean(label != label[0])), (
        "relative to the loss of a constant"
    )
    with pytest.warns(ConvergenceWarning, match="3 epochs were not enough") as caught:
        short = PegasosSVC(alpha=0.01, tol=1e-6, max_iter=3).fit(X, label)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert short.certificate_.status == "max_iter"
    assert (
        PegasosSVC(alpha=0.1, tol=None, max_iter=300).fit(X, label).certificate_.status
        == "max_iter"
    )
    odd = PegasosSVC(alpha=1.0, kernel="sigmoid", gamma=0.1, tol=0.5).fit(X, label)
    assert odd.certificate_.status == "stationary", (
        "the dual of an indefinite kernel bounds nothing"
    )


def test_best_bias_and_feasible_point():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 30))
        g, p = rng.normal(size=n).round(1), rng.integers(0, 3, size=n) + 0.0
        s = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        p[:2], s[:2] = 1.0, (1.0, -1.0)
        problem = LinearProblem(classification(s, p, False), Bias.FREE)
        values = [
            np.sum(p * np.maximum(0, 1 - s * (g + b))) for b in [best_bias(problem, g), *(s - g)]
        ]
        assert values[0] <= min(values) + 1e-12
        t = feasible(problem, rng.normal(size=n))
        assert abs(t.sum()) < 1e-12
        assert ((t * s >= 0) & (t * s <= p)).all()


def test_weights_are_copies():
    """Whole weights are visits, others scale the steps: the first exactly, the second in the
    objective."""
    weight = np.random.default_rng(0).integers(0, 4, size=120)
    for options in ({}, {"kernel": "rbf", "gamma": 0.2}):
        model = PegasosSVC(alpha=0.01, max_iter=200, tol=None, random_state=0, **options)
        weighted = model.fit(X, label, sample_weight=weight).decision_function(X)
        value, reference = model.certificate_.primal, objective(model, X, y, 0.01, weight)
        copied = model.fit(
            np.repeat(X, weight, axis=0), np.repeat(label, weight)
        ).decision_function(X)
        assert_close(weighted, copied, 1e-8)
        assert value == pytest.approx(reference, rel=1e-9)
        model.fit(X, label, sample_weight=weight / 7)
        exact = SVC(**{"kernel": "linear", **options}, C=1 / (0.01 * weight.sum())).fit(
            X, label, sample_weight=weight
        )
        assert model.certificate_.primal == pytest.approx(
            0.01 * exact.certificate_.primal, rel=0.02
        )


def test_class_weight_is_sample_weight():
    plain = PegasosSVC(alpha=0.01, max_iter=20, tol=None, random_state=0)
    heavy = PegasosSVC(
        alpha=0.01, max_iter=20, tol=None, random_state=0, class_weight={0: 2.5, 1: 0.5}
    ).fit(X, label)
    plain.fit(X, label, sample_weight=np.where(label == 0, 2.5, 0.5))
    assert_close(heavy.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize(
    "options",
    [{}, {"kernel": "rbf", "gamma": 0.2}, {"kernel": "laplacian", "gamma": 0.2, "budget": 40}],
)
def test_chunks_are_one_pass(options):
    whole = PegasosSVC(alpha=0.01, shuffle=False, fit_intercept=False, **options).partial_fit(
        X, label, classes=[0, 1]
    )
    parts = PegasosSVC(alpha=0.01, shuffle=False, fit_intercept=False, **options)
    for some in np.split(np.arange(120), [40, 80] if "budget" in options else [7, 50, 51]):
        parts.partial_fit(X[some], label[some], classes=[0, 1])
    assert_close(parts.decision_function(X), whole.decision_function(X), 1e-10)
    assert not hasattr(parts, "certificate_")
    assert parts.t_ == 120


def test_stream_approaches_the_optimum(tmp_path):
    """Chunks of a memory-mapped file, in float32, at an offset; then fit goes on from there."""
    A, z = binary(3000, 8, seed=2)
    np.save(tmp_path / "A.npy", (A + 20).astype(np.float32))
    mapped = np.load(tmp_path / "A.npy", mmap_mode="r")
    model = PegasosSVC(alpha=0.01, random_state=0)
    for _ in range(4):
        for begin in range(0, 3000, 500):
            model.partial_fit(mapped[begin : begin + 500], z[begin : begin + 500], classes=[0, 1])
    exact = 0.01 * SVC(kernel="linear", C=1 / 30).fit(A, z).certificate_.primal
    streamed = objective(model, mapped, np.where(z == 1, 1.0, -1.0), 0.01)
    assert streamed < 1.05 * exact
    model.set_params(warm_start=True, max_iter=2, tol=None).fit(mapped, z)
    assert model.t_ == 6 * 3000
    assert model.certificate_.primal < min(streamed, 1.02 * exact)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}])
def test_warm_start_goes_on(options):
    once = PegasosSVC(alpha=0.01, max_iter=6, tol=None, shuffle=False, **options).fit(X, label)
    twice = (
        PegasosSVC(alpha=0.01, max_iter=3, tol=None, shuffle=False, warm_start=True, **options)
        .fit(X, label)
        .fit(X, label)
    )
    assert twice.t_ == once.t_ == 720
    assert_close(twice.decision_function(X), once.decision_function(X))
    assert twice.certificate_.dual == pytest.approx(once.certificate_.dual)


def test_budget():
    A, z = load("digits", rows=900)
    train, test = slice(0, 700), slice(700, None)
    free = PegasosSVC(alpha=1e-3, kernel="rbf", max_iter=20, tol=None, random_state=0).fit(
        A[train], z[train]
    )
    model = PegasosSVC(
        alpha=1e-3, kernel="rbf", max_iter=20, tol=None, random_state=0, budget=200
    ).fit(A[train], z[train])
    assert len(free.support_) > 400
    assert len(model.support_vectors_) == model.dual_coef_.shape[1] == 200
    assert model.score(A[test], z[test]) > free.score(A[test], z[test]) - 0.1 > 0.8
    stream = PegasosSVC(alpha=1e-3, kernel="rbf", random_state=0, budget=150)
    for begin in range(0, 700, 70):
        stream.partial_fit(A[begin : begin + 70], z[begin : begin + 70], classes=range(10))
        assert len(stream.support_vectors_) <= 150
    assert stream.score(A[test], z[test]) > 0.8
    with pytest.raises(ValueError, match="budget=5 needs a kernel"):
        PegasosSVC(budget=5).fit(X, label)


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"kernel": Kernel.chi2(0.1)}, {"kernel": rbf_kernel}]
)
def test_sparse_is_dense_and_seeds_repeat(options):
    A = np.abs(X) * (np.abs(X) > 0.5)
    model = PegasosSVC(alpha=0.01, max_iter=5, tol=None, random_state=7, **options)
    with threads(3):
        dense = model.fit(A, label).decision_function(A)
    with threads(1):
        assert_same_bits(model.fit(A, label).decision_function(A), dense)
    csr = sparse.csr_matrix(A)
    assert_close(model.fit(csr, label).decision_function(csr), dense, 1e-8)
    assert_close(model.predict(A), model.predict(csr))
    assert not np.array_equal(
        model.set_params(random_state=8).fit(A, label).decision_function(A), dense
    )


def test_threads_do_not_change_large_fits():
    A, z = binary(60_000, 30, seed=4)
    model = PegasosSVC(alpha=1e-4, max_iter=2, tol=None, random_state=7)
    with threads(3):
        both = model.fit(A, z).decision_function(A), model.certificate_
    with threads(1):
        assert_same_bits(model.fit(A, z).decision_function(A), both[0])
    assert model.certificate_ == both[1]


def test_average_after_last_iterates():
    """The average is that of all steps, though the first fit did not ask for it."""
    A, z = 10 * X + 5, label  # projects: the walk is folded many times
    options = {"alpha": 1e-4, "tol": None, "shuffle": False}
    once = PegasosSVC(max_iter=4, **options).fit(A, z)
    twice = (
        PegasosSVC(max_iter=2, average=False, warm_start=True, **options)
        .fit(A, z)
        .set_params(average=True)
        .fit(A, z)
    )
    assert twice.t_ == once.t_
    assert_close(twice.coef_, once.coef_, 1e-9)


def test_many_classes_are_one_against_the_rest():
    A, z = three(150)
    model = PegasosSVC(alpha=0.01, tol=0.01, random_state=0).fit(A, z)
    exact = SVC(kernel="linear", multiclass="ovr", C=1 / (0.01 * 150)).fit(A, z)
    assert len(model.certificate_.parts) == 3
    for k, (mine, theirs) in enumerate(
        zip(model.certificate_.parts, exact.certificate_.parts, strict=True)
    ):
        share = np.mean(z == model.classes_[k])
        assert (
            mine.dual
            <= 0.01 * theirs.primal
            <= mine.primal
            <= 0.01 * theirs.primal + 0.01 * 2 * min(share, 1 - share)
        )
    assert np.mean(model.predict(A) == exact.predict(A)) > 0.95


def test_precomputed_is_the_kernel():
    K = rbf_kernel(X, gamma=0.2)
    options = {"alpha": 0.01, "max_iter": 5, "tol": None, "shuffle": False}
    plain = PegasosSVC(kernel="rbf", gamma=0.2, **options).fit(X, label)
    given = PegasosSVC(kernel="precomputed", **options).fit(K, label)
    assert_close(given.decision_function(K), plain.decision_function(X))
    with pytest.raises(AttributeError, match="partial_fit"):
        _ = given.partial_fit


def test_errors():
    with pytest.raises(ValueError, match="class_weight='balanced' is not supported by partial_fit"):
        PegasosSVC(class_weight="balanced").partial_fit(X, label, classes=[0, 1])
    with pytest.raises(ValueError, match=r"label 1, which is not among the classes \[0, 2\]"):
        PegasosSVC().partial_fit(X, label, classes=[0, 2])
    with pytest.raises(ValueError, match="negative values"):
        PegasosSVC().fit(X, label, sample_weight=np.where(np.arange(120) < 100, 1.0, -1.0))
    model = PegasosSVC(kernel="rbf").partial_fit(X, label, classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="continues with the kernel"):
        model.set_params(gamma=3.0).partial_fit(X, label)
    assert_same_bits(model.decision_function(X), before)


def test_time_limit():
    A, z = binary(20_000, 10)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = PegasosSVC(alpha=1e-6, tol=1e-9, time_limit=0.2, max_iter=10**6).fit(A, z)
    assert model.certificate_.status == "time_limit"
    assert model.score(A, z) > 0.6  # how much depends on the machine


def test_page_runs(capsys):
    """The code of docs/online.md runs and says what it claims."""
    page = (Path(__file__).parent.parent / "docs" / "online.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert names["model"].score(names["X"], names["y"]) > 0.95
    assert names["watch"].predict(np.full((1, 10), 3.0)) == -1
    assert capsys.readouterr().out


def test_interrupt_keeps_or_raises():
    shown = in_subprocess("""
        import os, signal, threading, warnings
        from helpers import binary
        from maxmargin import PegasosSVC
        warnings.simplefilter("ignore")
        X, y = binary(5000)
        for choice in ("keep", "raise"):
            model = PegasosSVC(alpha=1e-7, tol=1e-9, max_iter=10**6, on_interrupt=choice)
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                print(model.fit(X, y).certificate_.status)
            except KeyboardInterrupt:
                print("raised", hasattr(model, "classes_"))
        """)
    assert shown.split() == ["interrupted", "raised", "False"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_worse_than_a_constant(kernel):
    """Class weights of ratio 1e7 leave the iterates far off: objectives of 1 where a constant has
    1e-7."""
    A, z = binary(50)
    weight = np.where(z == 0, 1000.0, 1e-4)
    options = {"class_weight": {0: 1000.0, 1: 1e-4}, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        model = PegasosSVC(alpha=1e-4, tol=1e-6, kernel=kernel, max_iter=50, **options).fit(A, z)
    constant = 2 * weight[z == 1].sum() / weight.sum()  # P of f = -1
    assert model.certificate_.primal <= constant * (1 + 1e-9)
    assert (model.predict(A) == 0).all()
