"""solver="newton": the same optimum as solver="block" and as a QP solver, finitely many steps,
stops, warm starts, errors, memory."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import reference
from helpers import assert_close, assert_same_bits, binary, three, values
from maxmargin import SVC, SVR, Kernel
from maxmargin.core.threads import one_thread
from maxmargin.kernel import primal_newton, problems
from maxmargin.kernel.cache import RowCache
from maxmargin.kernel.evaluation import kernel_values
from maxmargin.kernel.newton_systems import NewtonSystems
from maxmargin.kernel.problems import c_svc, hard_margin
from maxmargin.kernel.sources import MatrixSource
from maxmargin.kernel.workspace import KernelWorkspace
from maxmargin.monitor import Monitor

SQUARED = {SVC: "squared_hinge", SVR: "squared_epsilon_insensitive"}
rng = np.random.default_rng(0)


def both(estimator, **parameters):
    """The block solver at a tight tolerance, and Newton's method."""
    loss = SQUARED[estimator]
    return estimator(loss=loss, solver="block", tol=1e-9, **parameters), estimator(
        loss=loss, solver="newton", **parameters
    )


def assert_equal_models(block, newton, X, tol=1e-7):
    """Both are optimal, with the same objective and values."""
    assert block.certificate_.status == newton.certificate_.status == "optimal"
    assert newton.certificate_.primal == pytest.approx(block.certificate_.primal, rel=1e-10)
    assert abs(newton.certificate_.relative_gap) < 1e-12
    assert_close(values(newton, X), values(block, X), tol=tol)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_two_classes(C, storage):
    X, y = load_breast_cancer(return_X_y=True)
    X = storage(StandardScaler().fit_transform(X))
    block, newton = (model.fit(X, y) for model in both(SVC, C=C))
    assert_equal_models(block, newton, X)
    assert np.array_equal(block.support_, newton.support_)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_many_classes(load, multiclass):
    X, y = load(return_X_y=True)
    X, y = X[::2], y[::2]
    block, newton = (
        model.fit(X, y)
        for model in both(SVC, C=5.0, multiclass=multiclass, class_weight="balanced")
    )
    assert_equal_models(block, newton, X)
    assert newton.certify(X, y).status == "optimal"
    assert len(newton.certificate_.parts) == len(newton.intercept_)


def test_weights_are_copies():
    X, y = binary(150)
    weight = rng.integers(0, 4, size=150)
    block, newton = (model.fit(X, y, weight) for model in both(SVC, C=3.0))
    assert_equal_models(block, newton, X)
    copied = SVC(loss="squared_hinge", solver="newton", C=3.0).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_close(newton.decision_function(X), copied.decision_function(X))
    assert not np.isin(np.flatnonzero(weight == 0), newton.support_).any()
    left_out = SVC(loss="squared_hinge", solver="newton", C=3.0).fit(
        X[weight > 0], y[weight > 0], weight[weight > 0]
    )
    assert_close(newton.decision_function(X), left_out.decision_function(X))


@pytest.mark.parametrize(
    "kernel",
    [Kernel.poly(degree=3, gamma=0.3, coef0=1.0), Kernel.linear(), Kernel.laplacian(gamma=0.5)],
)
def test_other_kernels(kernel):
    X, y = binary(200)
    block, newton = (model.fit(X, y) for model in both(SVC, kernel=kernel))
    assert_equal_models(block, newton, X)


def test_precomputed_and_callable_kernels():
    """2,100 rows: above the size whose matrix is computed at once."""
    X, y = three(2100, d=3)
    K, (block, newton) = kernel_values(Kernel.rbf(gamma=0.7), X, X), both(SVC, kernel="precomputed")
    assert_equal_models(block.fit(K, y), newton.fit(K, y), K)
    asked = []

    def rbf(A, B):
        asked.append(len(A) * len(B))
        return kernel_values(Kernel.rbf(gamma=0.7), A, B)

    called = SVC(loss="squared_hinge", solver="newton", kernel=rbf).fit(X, y)
    assert_close(called.decision_function(X), newton.decision_function(K))
    stored = SVC(
        loss="squared_hinge", solver="newton", kernel=rbf, cache_size=1e-3, multiclass="ovr"
    ).fit(X[:1300], y[:1300] == 0)
    again = SVC(loss="squared_hinge", solver="newton", kernel=rbf, multiclass="ovr").fit(
        X[:1300], y[:1300] == 0
    )
    assert_same_bits(stored.dual_coef_, again.dual_coef_)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 50.0])
def test_regression(epsilon):
    """With epsilon = 50 every target is inside the tube and no support vector is left."""
    X = rng.normal(size=(300, 3))
    z = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=300)
    weight = rng.integers(0, 3, size=300)
    block, newton = (model.fit(X, z, weight) for model in both(SVR, C=4.0, epsilon=epsilon))
    assert newton.certificate_.status == "optimal"
    assert newton.certificate_.primal == pytest.approx(
        block.certificate_.primal, rel=1e-9, abs=1e-12
    )
    assert_close(newton.predict(X), block.predict(X), tol=1e-7)
    assert (len(newton.support_) == 0) == (epsilon == 50.0)


@pytest.mark.parametrize("seed", range(40))
def test_against_a_qp_solver(seed):
    """Small random problems with duplicates and weights, C from 1e-4 to 1e4, as a general solver
    sees the primal.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)).round(1)
    X[n // 2 : n // 2 + 3] = X[:3]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight, C = rng.choice([0.5, 1.0, 2.0], size=n), float(10.0 ** rng.uniform(-4, 4))
    kernel = [Kernel.rbf(gamma=0.5), Kernel.linear(), Kernel.poly(degree=2, gamma=0.5, coef0=1.0)][
        seed % 3
    ]
    K = kernel_values(kernel, X, X)
    if seed % 4 == 0:
        z = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=n)
        model = SVR(
            kernel=kernel, C=C, epsilon=0.1, loss="squared_epsilon_insensitive", solver="newton"
        ).fit(X, z, weight)
        optimum, f = reference.regression(K, z, C * weight, 0.1, squared=True)
        found = model.certify(X, z, weight)
    else:
        model = SVC(kernel=kernel, C=C, loss="squared_hinge", solver="newton").fit(X, y, weight)
        optimum, f = reference.classification(K, y, C * weight, squared=True)
        found = model.certify(X, y, weight)
    assert found.status == model.certificate_.status == "optimal"
    slack = 1e-6 * max(optimum, 1e-3 * C)
    assert found.dual - slack <= optimum <= found.primal + slack
    assert_close(values(model, X), f, tol=1e-3)  # the reference's rounding at large C
    assert model.certificate_.n_iter < 40


def rings(n=3000, seed=1):
    """Noisy rings: many rounds of subsets, few of them in one matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, ((X[:, 0] ** 2 + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)) > 1.5).astype(int)


def test_growing_subsets_and_a_bordered_factor():
    X, y = rings()
    block, newton = (model.fit(X, y) for model in both(SVC, C=1.0, gamma=0.5))
    assert_equal_models(block, newton, X)
    assert newton.n_iter_[0] <= 25
    assert newton.certify(X, y).kkt_violation < 1e-10


def test_bits_do_not_depend_on_threads():
    X, y = rings()
    model = SVC(loss="squared_hinge", solver="newton", gamma=0.5).fit(X, y)
    with one_thread():
        one = SVC(loss="squared_hinge", solver="newton", gamma=0.5).fit(X, y)
    assert_same_bits(model.dual_coef_, one.dual_coef_)
    assert_same_bits(model.intercept_, one.intercept_)


def test_the_factor_and_its_borders():
    n = 700
    A = rng.normal(size=(n, 40))
    K, ridge = A @ A.T, rng.uniform(0.5, 2.0, size=n)
    problem = problems.c_svc(np.ones(n), 1 / (2 * ridge), True)

    def systems(K):
        return NewtonSystems(
            problem, RowCache(MatrixSource(K), np.float64, 0.0), 1.0, 1e9, lambda: None
        )

    members = np.sort(rng.choice(n, 600, replace=False))
    Q, run = K + np.diag(ridge), systems(K)
    others = np.setdiff1d(np.arange(n), members)
    factors = set()
    for S in (
        members,
        members[7:],
        np.union1d(members, others[:9]),
        np.union1d(members[10:], others[5:20]),
    ):
        right = rng.normal(size=len(S))
        x, level = run.solve(S, right, 0.7)
        factors.add(run.factor)
        np.testing.assert_allclose(Q[np.ix_(S, S)] @ x + level, right, atol=1e-9)
        assert x.sum() == pytest.approx(0.7, abs=1e-10)
    assert len(factors) == 1, "one factor for all"
    run.solve(members[100:], right[:500], 0.0)
    assert run.factor not in factors
    with pytest.raises(ValueError, match="positive semidefinite"):
        systems(K - 200.0 * np.eye(n)).solve(members, right[:600], 0.0)


def test_warm_start():
    X, y = rings(1500)
    model = SVC(loss="squared_hinge", solver="newton", gamma=0.5, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_[0] == 1
    for C in (10.0, 0.1):
        cold = SVC(loss="squared_hinge", solver="newton", gamma=0.5, C=C).fit(X, y)
        assert_close(
            model.set_params(C=C).fit(X, y).decision_function(X), cold.decision_function(X)
        )
    block = SVC(loss="squared_hinge", gamma=0.5, C=0.1, warm_start=True).fit(X, y)
    assert block.set_params(solver="newton").fit(X, y).n_iter_[0] <= 2, (
        "each solver continues from the other"
    )


def test_max_iter_and_time_limit_keep_a_feasible_model():
    X, y = rings()
    for stop in ({"max_iter": 4}, {"time_limit": 0.0}):
        model = SVC(
            loss="squared_hinge", solver="newton", gamma=0.5, C=10.0, warm_start=True, **stop
        )
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        found = model.certify(X, y)
        assert found.status == next(iter(stop))
        assert found.gap >= 0
        assert found.equality_violation < 1e-9
        assert found.box_violation == 0
        assert (
            model.set_params(max_iter=-1, time_limit=None).fit(X, y).certificate_.status
            == "optimal"
        )


@pytest.fixture
def listening():
    """Python's own answer to Ctrl-C: a job in the background begins without one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_the_best_model_so_far(listening):
    X, y = rings(12_000)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = SVC(loss="squared_hinge", solver="newton", gamma=0.5, on_interrupt="keep").fit(X, y)
    assert time.perf_counter() - began < 15
    assert model.certificate_.status == "interrupted"
    assert np.isfinite(model.decision_function(X[:5])).all()


def test_verbose(caplog):
    X, y = rings(1000)
    with caplog.at_level("INFO", logger="maxmargin"):
        SVC(loss="squared_hinge", solver="newton", verbose=1).fit(X, y)
    assert "optimal" in caplog.text
    assert "steps" in caplog.text


@pytest.mark.parametrize(
    ("estimator", "remedy"),
    [
        (SVC(solver="newton"), "the loss is not squared: use loss='squared_hinge'"),
        (
            SVC(solver="newton", loss="squared_hinge", C=np.inf),
            "C=inf is the limit without loss: .*finite C",
        ),
        (SVR(solver="newton"), "loss='squared_epsilon_insensitive'"),
        (SVR(solver="newton", loss="squared_epsilon_insensitive", C=np.inf), "finite C"),
    ],
)
def test_other_problems_are_refused(estimator, remedy):
    X, y = binary()
    with pytest.raises(ValueError, match=f"{remedy}.*solver='block'"):
        estimator.fit(X, y)
    assert not hasattr(estimator, "support_")
    with pytest.raises(ValueError, match="solver"):
        estimator.set_params(solver="simplex").fit(X, y)


def test_the_solver_refuses_what_it_cannot_solve():
    y = np.array([1.0, -1.0, 1.0])
    for problem in (c_svc(y, np.ones(3)), hard_margin(y)):
        with pytest.raises(ValueError, match="squared loss"):
            primal_newton.solve(problem, KernelWorkspace(MatrixSource(np.eye(3)), Monitor()), 1e-3)
    solution = primal_newton.solve(
        c_svc(y, np.ones(3), squared=True),
        KernelWorkspace(MatrixSource(np.eye(3)), Monitor()),
        1e-3,
    )
    assert solution.ended is None


def test_too_many_support_vectors_are_refused(monkeypatch):
    X, y = binary(100)
    model = SVC(loss="squared_hinge", solver="newton")
    with monkeypatch.context() as patch:
        patch.setattr(primal_newton, "free_memory", lambda: 1000)
        with pytest.raises(
            MemoryError, match=r"matrix of the 100 support vectors.*Use solver='block'"
        ):
            model.fit(X, y)
    assert not hasattr(model, "support_")


def test_an_indefinite_kernel_is_refused():
    X, y = binary(100)
    K = -kernel_values(Kernel.rbf(gamma=1.0), X, X)
    with pytest.raises(ValueError, match=r"positive semidefinite.*Use solver='block'"):
        SVC(loss="squared_hinge", solver="newton", kernel="precomputed", C=100.0).fit(K, y)
