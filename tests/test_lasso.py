"""Penalised absolute values (LIBLINEAR's -s 5) against LIBLINEAR, scikit-learn, a QP solver and
exact relations.
"""

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import needs
from maxmargin.core.choose import HOST as core
from maxmargin.core.threads import one_thread
from maxmargin.linear import lasso
from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.losses import Bias, LinearProblem, classification, one_class, regression
from maxmargin.linear.objectives import LinearSolution, l1_gap_of
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

CANCER = (
    StandardScaler().fit_transform(load_breast_cancer().data),
    np.where(load_breast_cancer().target > 0, 1.0, -1.0),
)
DIGITS = load_digits().data / 16, np.where(load_digits().target == 3, 1.0, -1.0)


def gap_of_l1(problem, design, w, bias, t):
    """P and D, all products with the data computed here."""
    found = LinearSolution(w, bias, t, design.values(w) + bias, design.sum(t), None, 0)
    return l1_gap_of(problem, found)


def text(n=400, d=1500, seed=0):
    """Sparse rows with more features than H is formed for."""
    rng = np.random.default_rng(seed)
    X = sparse.random(
        n, d, 0.02, "csr", random_state=rng, data_rvs=lambda k: rng.uniform(0.2, 1, k)
    )
    y = np.sign(X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n))
    X.sort_indices()
    return X, np.where(y == 0, 1.0, y)


def squared_hinge(y, C, bias=Bias.PENALISED, scaling=1.0):
    return LinearProblem(
        classification(y, np.broadcast_to(np.float64(C), y.shape).copy(), True), bias, scaling
    )


def solved(problem, X, tol=1e-9, start=None, seed=0):
    """An optimal solution whose certificate has been checked."""
    design = ArrayDesign(X)
    found = lasso.solve(problem, LinearWorkspace(design, Monitor(), seed), tol, start)
    assert found.ended is None
    gap = gap_of_l1(problem, design, found.w, found.bias, found.t)
    assert -1e-12 * gap.primal <= gap.value <= tol * gap.primal
    assert np.abs(X.T @ found.t).max() <= 1 + 1e-12
    total = abs(found.t.sum())
    assert {
        Bias.NONE: 0.0,
        Bias.FREE: total / np.abs(found.t).sum() / 1e-12,
        Bias.PENALISED: problem.scaling * total,
    }[problem.bias] <= 1 + 1e-12
    return found, gap.primal


def P(X, y, w, b, C, s):
    """The objective of LIBLINEAR's -s 5, written again."""
    return np.abs(w).sum() + abs(b) / s + C * np.sum(np.maximum(0, 1 - y * (X @ w + b)) ** 2)


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("data", [CANCER, DIGITS, text()], ids=["cancer", "digits", "text"])
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_scikit_learn(data, C):
    X, y = data
    theirs = LinearSVC(
        penalty="l1",
        dual=False,
        C=C,
        tol=1e-8,
        max_iter=20_000,
        intercept_scaling=2.0,
        random_state=0,
    )
    theirs.fit(X, y)
    found, value = solved(squared_hinge(y, C, scaling=2.0), X)
    w, b = theirs.coef_[0], theirs.intercept_[0]
    assert value == pytest.approx(P(X, y, found.w, found.bias, C, 2.0), rel=1e-12)
    assert value <= P(X, y, w, b, C, 2.0) * (1 + 1e-9)
    assert value >= P(X, y, w, b, C, 2.0) * (1 - 1e-6)


@pytest.mark.parametrize("data", [(CANCER[0][:, :2], CANCER[1]), text()], ids=["cancer", "text"])
# LIBLINEAR ends after 1,000 passes, which is too early for all features of the first
def test_liblinear(data):
    liblinear = needs.package("liblinear.liblinearutil")
    X, y = data
    model = liblinear.train(
        liblinear.problem(y, sparse.csr_matrix(X), bias=1),
        liblinear.parameter("-s 5 -c 0.05 -e 1e-8 -B 1 -q"),
    )
    w, b = model.get_decfun()
    assert solved(squared_hinge(y, 0.05), X)[1] == pytest.approx(
        P(X, y, np.array(w), b, 0.05, 1.0), rel=1e-6
    )


def by_qp(X, tube, bias):
    """w, b by a QP solver: w = a - c, slacks for both sides of the tube, b free."""
    _n, d = X.shape
    up, down = np.flatnonzero(tube.up > 0), np.flatnonzero(tube.down > 0)
    k = len(up) + len(down)
    A = sparse.vstack(
        (
            np.hstack((-X[up], X[up], -np.ones((len(up), 1)), -np.eye(len(up), k))),
            np.hstack((X[down], -X[down], np.ones((len(down), 1)), -np.eye(len(down), k, len(up)))),
            np.hstack((-np.eye(2 * d), np.zeros((2 * d, 1 + k)))),
            *(
                []
                if bias is Bias.FREE
                else [np.eye(1, 2 * d + 1 + k, 2 * d), -np.eye(1, 2 * d + 1 + k, 2 * d)]
            ),
        ),
        "csc",
    )
    right = np.concatenate(
        (-tube.low[up], tube.high[down], np.zeros(2 * d + (0 if bias is Bias.FREE else 2)))
    )
    H = sparse.diags(
        np.concatenate((np.zeros(2 * d + 1), 2 * tube.up[up], 2 * tube.down[down])), format="csc"
    )
    q = np.concatenate((np.ones(2 * d), np.zeros(1 + k)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    x = np.array(
        clarabel.DefaultSolver(H, q, A, right, [clarabel.NonnegativeConeT(len(right))], settings)
        .solve()
        .x
    )
    return x[:d] - x[d : 2 * d], x[2 * d]


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
@pytest.mark.parametrize("task", ["classes", "targets"])
def test_qp(bias, task):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 8)) + 0.5
    z = X @ np.array([1.0, -2, 0, 0, 0, 0.3, 0, 0]) + 0.7 + 0.3 * rng.standard_normal(60)
    C = rng.uniform(0.1, 1, 60)
    tube = (
        classification(np.where(z > 0, 1.0, -1.0), C, True)
        if task == "classes"
        else regression(z, C, 0.2, True)
    )
    w, b = by_qp(X, tube, bias)
    found, value = solved(LinearProblem(tube, bias), X)
    assert value <= np.abs(w).sum() + tube.losses(X @ w + b) + 1e-7
    np.testing.assert_allclose(np.append(found.w, found.bias), np.append(w, b), atol=1e-4)


@pytest.mark.parametrize("bias", list(Bias))
@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_columns_and_newton_agree(bias, form, monkeypatch):
    X, y = text(200, 300)
    X = {"dense": X.toarray(), "float32": X.toarray().astype(np.float32), "sparse": X}[form]
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    targets = X @ np.ones(300, X.dtype)
    for tube in (
        classification(y, weights, True),
        regression(targets.astype(float), weights, 0.1, True),
    ):
        problem = LinearProblem(tube, bias, 3.0 if bias is Bias.PENALISED else 1.0)
        monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=1000))
        newton = solved(problem, X)[1]
        monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=10))
        assert solved(problem, X)[1] == pytest.approx(newton, rel=2e-9)


@pytest.mark.parametrize("bias", list(Bias))
@pytest.mark.parametrize("data", [DIGITS, text()], ids=["digits", "text"])
def test_weights_are_copies(bias, data):
    X, y = data[0][:300], data[1][:300]
    copies = np.random.default_rng(0).integers(0, 3, 300)
    rows = np.repeat(np.arange(300), copies)
    a = solved(squared_hinge(y, 0.3 * copies, bias), X)
    b = solved(squared_hinge(y[rows], 0.3, bias), X[rows])
    assert a[1] == pytest.approx(b[1], rel=2e-9)


def test_labels_flip():
    X, y = CANCER
    a, b = (solved(squared_hinge(sign * y, 1.0, Bias.FREE), X)[0] for sign in (1, -1))
    np.testing.assert_allclose(a.w, -b.w, atol=1e-5)
    assert a.bias == pytest.approx(-b.bias, abs=1e-5)


def test_no_feature_is_worth_it():
    X, y = CANCER
    found, value = solved(squared_hinge(y, 1e-6, Bias.FREE), X)
    assert not found.w.any()
    positive = np.mean(y > 0)
    assert found.bias == pytest.approx(2 * positive - 1, abs=1e-6)
    assert value == pytest.approx(1e-6 * len(y) * 4 * positive * (1 - positive), rel=1e-9)


def test_start_and_chunks():
    X, y = CANCER
    first, value = solved(squared_hinge(y, 1.0), X)
    assert (
        lasso.solve(
            squared_hinge(y, 1.0), LinearWorkspace(ArrayDesign(X), Monitor()), 1e-6, first
        ).n_iter
        == 0
    )
    _again, other = solved(squared_hinge(y, 2.0), X, start=first)
    assert other == pytest.approx(solved(squared_hinge(y, 2.0), X)[1], rel=2e-9)
    chunks = ChunkDesign(lambda: (X[i : i + 100] for i in range(0, len(X), 100)), X.shape)
    found = lasso.solve(squared_hinge(y, 1.0), LinearWorkspace(chunks, Monitor()), 1e-9)
    assert found.ended is None
    assert P(X, y, found.w, found.bias, 1.0, 1.0) == pytest.approx(value, rel=2e-9)


def test_many_samples_begin_at_a_part(monkeypatch):
    X, y = DIGITS
    whole = solved(squared_hinge(y, 1.0, Bias.FREE), X)[1]
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(subsample_above=500))
    assert solved(squared_hinge(y, 1.0, Bias.FREE), X, seed=3)[1] == pytest.approx(whole, rel=2e-9)


def test_it_stops_and_refuses():
    X, y = text()
    early = lasso.solve(
        squared_hinge(y, 1.0), LinearWorkspace(ArrayDesign(X), Monitor(max_iter=2)), 1e-9
    )
    assert early.ended is Status.MAX_ITER
    gap = gap_of_l1(squared_hinge(y, 1.0), ArrayDesign(X), early.w, early.bias, early.t)
    assert gap.value > 0
    assert (
        gap_of_l1(
            squared_hinge(y, 1.0, Bias.FREE), ArrayDesign(X), early.w, early.bias, np.abs(early.t)
        ).dual
        == -np.inf
    )
    with pytest.raises(ValueError, match="squared loss"):
        lasso.solve(
            LinearProblem(one_class(np.ones(400)), Bias.FREE, total=1.0),
            LinearWorkspace(ArrayDesign(X), Monitor()),
            1e-3,
        )
    with pytest.raises(ValueError, match="1500"):
        lasso.solve(
            squared_hinge(y, 1.0),
            LinearWorkspace(ChunkDesign(lambda: [X], X.shape), Monitor()),
            1e-3,
        )


def test_same_bits():
    X, y = text()
    problem, before = squared_hinge(y, 1.0), X.copy()
    a, b = (
        lasso.solve(problem, LinearWorkspace(ArrayDesign(X), Monitor(), 5), 1e-6) for _ in range(2)
    )
    np.testing.assert_array_equal(a.w, b.w)
    assert (before != X).nnz == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("last", [0.0, 2.0])
def test_scaled_columns(dtype, copies, last):
    X, _y = text(3000, 40, seed=2)
    X = X.astype(dtype)
    factor = np.random.default_rng(0).choice([-1.0, 1.0], 3000 * copies)
    rows = np.concatenate([X.toarray()] * copies) * factor[:, None]
    expected = np.column_stack((rows, last * factor)).T
    found = core.scaled_columns(core.points(X), factor, last)
    assert found.shape == expected.shape
    each = np.eye(len(factor))[:50]  # one residual at a time shows its row
    np.testing.assert_array_equal(
        [core.linear_values(found, None, one) for one in each], expected.T[:50]
    )
    t = np.random.default_rng(1).standard_normal(len(factor))
    np.testing.assert_allclose(
        core.linear_values(found, None, t),
        expected @ t,
        rtol=1e-6 if dtype is np.float32 else 1e-12,
        atol=1e-9,
    )


def test_lanes_of_equal_columns():
    """Both lanes of a pass make the same move, which together is too far.

    It is halved, P falls, and threads do not change the bits.
    """
    rng = np.random.default_rng(3)
    shared = rng.standard_normal((300, 3))
    X = np.hstack([shared[:, rng.integers(0, 3, 1200)] + 1e-3 * rng.standard_normal((300, 1200))])
    y = np.sign(shared @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(300))
    columns = core.points(np.ascontiguousarray((X * y[:, None]).T))
    price, squares = np.ones(1200), 1.0001 * columns.norms

    def passes(count):
        w, r, order = np.zeros(1200), np.ones(300), np.arange(1200, dtype=np.int32)
        values = [300.0]
        for seed in range(count):
            core.column_pass(columns, price, squares, 2.0, w, r, order, 1200, np.inf, seed)
            np.testing.assert_allclose(r, 1 - y * (X @ w), atol=1e-9)
            values.append(np.abs(w).sum() + np.sum(np.maximum(0, r) ** 2))
        return w, values

    w, values = passes(6)
    assert (np.diff(values) < 0).all()
    with one_thread():
        np.testing.assert_array_equal(passes(6)[0], w)
    assert solved(squared_hinge(y, 1.0, Bias.NONE), X)[1] <= values[-1]
