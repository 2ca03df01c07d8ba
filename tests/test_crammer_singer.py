"""All classes at once (LIBLINEAR's -s 4) against LIBLINEAR, scikit-learn, a QP solver and exact
relations.
"""

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import LinearSVC

import needs
from maxmargin.linear import classes, crammer_singer
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

IRIS = load_iris(return_X_y=True)
DIGITS = load_digits().data[:400] / 16, load_digits().target[:400]


def P(X, y, W, b, C, m):
    """The objective, written again; m is the weight of b^2 / 2."""
    f = np.asarray(X @ W.T) + b
    lead = 1.0 + f - f[np.arange(len(y)), y][:, None]
    lead[np.arange(len(y)), y] = 0.0
    return 0.5 * np.sum(W**2) + 0.5 * m * b @ b + C @ lead.max(axis=1)


def solved(X, y, C, bias=Bias.PENALISED, scaling=1.0, tol=1e-7, start=None, seed=0):
    """An optimal solution whose duals and objectives have been checked."""
    C = np.broadcast_to(np.float64(C), y.shape).copy()
    k = int(y.max()) + 1
    found = crammer_singer.solve(
        ClassesProblem(y, k, C, bias, scaling),
        LinearWorkspace(ArrayDesign(X), Monitor(time_limit=30), seed),
        tol,
        start,
    )
    assert found.ended is None
    m = 1 / scaling**2 if bias is Bias.PENALISED else 0.0
    assert found.primal == pytest.approx(P(X, y, found.W, found.bias, C, m), rel=1e-12)
    upper = np.where(np.arange(k) == y[:, None], C[:, None], 0.0)
    assert (found.t <= upper * (1 + 1e-12)).all()
    size = np.abs(found.t).sum()
    assert np.abs(found.t.sum(axis=1)).max() <= 1e-12 * size
    sums = found.t.sum(axis=0)
    assert bias is not Bias.FREE or np.abs(sums).max() <= 1e-12 * size
    V, s2 = (X.T @ found.t).T, scaling**2 if bias is Bias.PENALISED else 0.0
    dual = found.t[np.arange(len(y)), y].sum() - 0.5 * np.sum(V**2) - 0.5 * s2 * sums @ sums
    assert found.dual == pytest.approx(dual, rel=1e-10)
    assert -1e-10 * found.primal <= found.primal - dual <= tol * found.primal * (1 + 1e-6)
    return found


@pytest.mark.parametrize("data", [IRIS, DIGITS], ids=["iris", "digits"])
@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
def test_scikit_learn(data, form):
    X, y = data
    theirs = LinearSVC(
        multi_class="crammer_singer",
        C=0.1,
        tol=1e-9,
        max_iter=10**6,
        intercept_scaling=2.0,
        random_state=0,
    ).fit(X, y)
    value = P(X, y, theirs.coef_, theirs.intercept_, np.full(len(y), 0.1), 0.25)
    A = {"dense": X, "sparse": sparse.csr_matrix(X), "float32": X.astype(np.float32)}[form]
    found = solved(A, y, 0.1, scaling=2.0)
    assert found.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(found.W, theirs.coef_, atol=2e-3)


def test_liblinear():
    liblinear = needs.package("liblinear.liblinearutil")
    X, y = DIGITS
    model = liblinear.train(
        liblinear.problem(y, sparse.csr_matrix(X), bias=1),
        liblinear.parameter("-s 4 -c 0.5 -e 1e-8 -B 1 -q"),
    )
    W, b = np.empty((10, 64)), np.empty(10)
    for j, label in enumerate(model.get_labels()):
        W[label], b[label] = model.get_decfun(j)
    assert solved(X, y, 0.5).primal == pytest.approx(
        P(X, y, W, b, np.full(len(y), 0.5), 1.0), rel=1e-6
    )


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_qp(bias):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((45, 3)) + 2.0, np.arange(45) % 3
    X[:, 0] += y
    C = rng.uniform(0.1, 2.0, 45)
    n, d, k = 45, 3, 3
    A = np.zeros((n, k, k * (d + 1) + n))  # 1 + f_m - f_label <= slack, 0 <= slack
    for i in range(n):
        for m in range(k):
            for which, sign in ((m, 1.0), (y[i], -1.0)):
                A[i, m, which * d : which * d + d] += sign * X[i]
                A[i, m, k * d + which] += sign * (bias is Bias.FREE)
            A[i, m, k * (d + 1) + i] = -1.0
    right = -np.where(np.arange(k) == y[:, None], 0.0, 1.0).ravel()
    H = sparse.diags(np.append(np.ones(k * d), np.zeros(k + n)), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cone = [clarabel.NonnegativeConeT(n * k)]
    q = np.append(np.zeros(k * (d + 1)), C)
    x = np.array(
        clarabel.DefaultSolver(H, q, sparse.csc_matrix(A.reshape(n * k, -1)), right, cone, settings)
        .solve()
        .x
    )
    W, b = x[: k * d].reshape(k, d), x[k * d : k * (d + 1)]
    found = solved(X, y, C, bias)
    assert found.primal == pytest.approx(
        P(X, y, W, b if bias is Bias.FREE else np.zeros(k), C, 0.0), rel=1e-6
    )
    np.testing.assert_allclose(found.W, W, atol=2e-3)


@pytest.mark.parametrize("bias", list(Bias))
def test_weights_are_copies(bias):
    X, y = IRIS
    copies = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), copies)
    weighted, copied = solved(X, y, 0.2 * copies, bias), solved(X[rows], y[rows], 0.2, bias)
    assert weighted.primal == pytest.approx(copied.primal, rel=2e-7)
    assert not weighted.t[copies == 0].any()


def test_classes_in_another_order():
    X, y = IRIS
    order = np.array([2, 0, 1])
    a, b = solved(X, y, 0.3, Bias.FREE), solved(X, order[y], 0.3, Bias.FREE)
    np.testing.assert_allclose(a.W, b.W[order], atol=2e-3)


def test_many_classes_and_origin():
    """More classes than a vector holds, a sample at the origin, no bias.

    Its loss is C whatever W is.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 10)), np.arange(120) % 40
    X[7] = 0.0
    found = solved(X, y, 0.5, Bias.NONE, tol=1e-5)
    keep = np.arange(120) != 7
    assert found.primal == pytest.approx(
        solved(X[keep], y[keep], 0.5, Bias.NONE, tol=1e-5).primal + 0.5, rel=2e-5
    )


@pytest.mark.parametrize("bias", list(Bias))
def test_start(bias):
    X, y = IRIS
    first = solved(X, y, 0.5, bias)
    assert solved(X, y, 0.5, bias, tol=1e-4, start=first).n_iter <= 2
    assert solved(X, y, 0.2, bias, start=first).primal == pytest.approx(
        solved(X, y, 0.2, bias).primal, rel=2e-7
    )


def test_it_stops_and_repeats():
    X, y = DIGITS
    before = X.copy()
    problem = ClassesProblem(y, 10, np.ones(len(y)), Bias.FREE)
    early = crammer_singer.solve(
        problem, LinearWorkspace(ArrayDesign(X), Monitor(max_iter=3)), 1e-9
    )
    assert early.ended is Status.MAX_ITER
    assert early.dual < early.primal < np.inf
    a, b = (solved(X, y, 0.1, Bias.FREE, tol=1e-4, seed=4) for _ in range(2))
    np.testing.assert_array_equal(a.W, b.W)
    np.testing.assert_array_equal(X, before)
    wrong = np.abs(early.t)
    gap = classes.objectives(problem, ArrayDesign(X), early.W, early.bias, wrong)
    assert gap.dual == -np.inf
