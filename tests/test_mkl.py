"""Multiple kernel learning against a second-order cone program, relations, and bad input."""

import pickle

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score

from helpers import binary, settings
from maxmargin import MKLSVC, SVC, Kernel, io, kernel_matrix
from maxmargin.kernel import mkl_training, mkl_values, multiple_kernels, problems
from maxmargin.kernel.mkl_values import Kernels
from maxmargin.kernel.multiple_kernels import Learner
from maxmargin.kernel.sources import MatrixSource
from maxmargin.monitor import Monitor
from reference import factor


def stack(seed, n=None):
    """Random samples, labels and kernel matrices of random kinds."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(12, 30))
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.7, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    kernels = [
        (Kernel.linear(), None),
        (Kernel.rbf(gamma=1.0), [0, 1]),
        (Kernel.rbf(gamma=0.3), [2, 3]),
        (Kernel.poly(degree=2, coef0=1.0), [0]),
        (Kernel.laplacian(gamma=0.5), [1, 3]),
    ][: int(rng.integers(2, 6))]
    values = [kernel_matrix(k, X if c is None else X[:, c]) for k, c in kernels]
    values = [K / np.trace(K) * n for K in values]
    return X, y, kernels, np.stack(values, axis=2), float(10 ** rng.uniform(-1, 2))


POWERS = {
    1: [],
    1.5: ["nzt", "zyt", "yrz"],  # n^2 <= z t, z^2 <= y t, y^2 <= r z: then n^6 <= r t^5
    2: ["nzt", "zrt"],  # n^4 <= r t^3
    3: ["nzt", "zrn"],  # n^3 <= r t^2
}
"""Of each norm p the products x^2 <= y z that give n_m^(2q) <= r_m t^(2q-1), 1/p + 1/q = 1."""


def cone_program(K, y, C, p):
    """The optimum by clarabel, with second-order cones alone.

    The dual is max sum a - t^2 / 2, where t is the 2q-norm of the n_m = |L_m'(a y)|: they are at
    most t for p = 1, and otherwise n_m^(2q) <= r_m t^(2q-1) with sum r = t.
    """
    n, M = len(y), K.shape[2]
    names = ["n", "r", "z", "y"] if p > 1 else []
    place = {name: n + 1 + k * M for k, name in enumerate(names)}
    size = n + 1 + len(names) * M
    rows, rhs, cones = [], [], []

    def add(A, b, cone):
        rows.append(sparse.csc_matrix(A))
        rhs.append(np.asarray(b, float))
        cones.append(cone)

    def at(name, m):
        return n if name == "t" else place[name] + m

    equality = np.zeros((1, size))
    equality[0, :n] = y
    add(equality, [0.0], clarabel.ZeroConeT(1))
    box = np.zeros((2 * n, size))
    box[:n, :n], box[n:, :n] = -np.eye(n), np.eye(n)
    add(box, np.append(np.zeros(n), C), clarabel.NonnegativeConeT(2 * n))
    for m in range(M):
        L = factor(K[:, :, m])
        L = L[:, np.abs(L).max(axis=0) > 1e-9]
        A = np.zeros((1 + L.shape[1], size))
        A[0, at("t" if p == 1 else "n", m)] = -1.0
        A[1:, :n] = -(L.T * y)
        add(A, np.zeros(len(A)), clarabel.SecondOrderConeT(len(A)))
        for one, two, three in POWERS[p]:  # |(2 x, y - z)| <= y + z
            A = np.zeros((3, size))
            A[:2, at(two, m)] = A[0, at(three, m)] = -1.0
            A[1, at(three, m)], A[2, at(one, m)] = 1.0, -2.0
            add(A, np.zeros(3), clarabel.SecondOrderConeT(3))
    if p > 1:
        A = np.zeros((1, size))
        A[0, place["r"] : place["r"] + M], A[0, n] = 1.0, -1.0
        add(A, [0.0], clarabel.ZeroConeT(1))
    P, cost = np.zeros((size, size)), np.zeros(size)
    P[n, n], cost[:n] = 1.0, -1.0
    options = clarabel.DefaultSettings()
    options.verbose = False
    A, b = sparse.vstack(rows, format="csc"), np.concatenate(rhs)
    for tol in (1e-10, 1e-9, 1e-8, 1e-7):
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = tol
        found = clarabel.DefaultSolver(sparse.csc_matrix(P), cost, A, b, cones, options).solve()
        if str(found.status) == "Solved":
            return -found.obj_val
    raise AssertionError(f"the reference was not solved: {found.status}")


@pytest.mark.parametrize("norm", [1, 1.5, 2, 3])
@pytest.mark.parametrize("seed", range(25))
def test_objective_is_that_of_a_cone_program(seed, norm):
    X, y, kernels, K, C = stack(seed)
    weight = (
        np.random.default_rng(seed).uniform(0.5, 2, len(y)) if seed % 3 == 0 else np.ones(len(y))
    )
    model = MKLSVC(kernels, norm=norm, C=C, normalize="trace", tol=1e-4)
    if seed % 3 == 0:
        K = K / np.einsum("iim,i->m", K, weight / weight.sum())
    model.fit(X, y, weight)
    best = cone_program(K, y, C * weight, norm)
    found = model.certificate_
    assert found.status == "optimal"
    assert found.primal == pytest.approx(best, rel=1e-6)
    assert found.dual == pytest.approx(best, rel=1e-6)
    assert found.relative_gap < 1e-8
    assert np.linalg.norm(model.kernel_weights_, norm) == pytest.approx(1)
    again = model.certify(X, y, weight)
    assert again.status == "optimal"
    assert again.gap == pytest.approx(found.gap, abs=1e-9 * best)


def test_it_takes_few_machines():
    counts = []
    for seed in range(12):
        X, y, kernels, _, C = stack(seed, 80)
        counts.append(int(MKLSVC(kernels, C=C).fit(X, y).n_iter_[0]))
    assert np.mean(counts) < 12
    assert max(counts) < 30


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", [251, 382, 488])
def test_kinks_need_several_machines(seed, monkeypatch):
    """Where a machine has several solutions, one of them alone closes no gap."""
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(20, 4))), (np.arange(20) % 3 == 0).astype(int)
    C = float(10 ** rng.uniform(-2, 0))
    model = MKLSVC([*(("linear", [j]) for j in range(4)), "rbf"], C=C).fit(X, y)
    assert model.certificate_.status == model.certify(X, y).status == "optimal"
    assert model.certificate_.relative_gap < 1e-4
    K = [
        kernel_matrix(part.kernel, X if part.columns is None else X[:, list(part.columns)])
        for part in model.kernels_.parts
    ]
    K = np.stack(K, axis=2) * model.kernel_scales_
    best = cone_program(K, 2.0 * y - 1, np.full(20, C), 1)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-5)
    settings(monkeypatch, multiple_kernels, cuts=0)
    assert clone(model).fit(X, y).certificate_.relative_gap > 1e-4


def test_the_gap_is_that_of_the_whole_problem():
    """Wrong weights have a gap, though their machine is optimal for its kernel."""
    X, y, kernels, _, C = stack(3, 40)
    model = MKLSVC(kernels, C=C).fit(X, y)
    other = SVC(kernel=Kernel.sum(*((p.kernel, 1.0, p.columns) for p in model.kernels_.parts)), C=C)
    assert other.fit(X, y).certificate_.status == "optimal"
    claim = mkl_training.Claim(
        y,
        np.full(40, C),
        mkl_training.Decision(np.zeros(40), 0.0, (0.0, 0.0)),
        np.zeros(40),
        np.array([3.0, 1.0]),
    )
    found = mkl_training.certified([claim], np.array([0.5, 0.5]), 1.0)
    plain = mkl_training.certified([claim], np.array([1.0, 0.0]), 1.0)
    assert found.gap - plain.gap == pytest.approx(0.5 * (3 - 2))
    equal = mkl_training.certified([claim], np.full(2, 0.5**0.5), 2.0)
    more = 0.5 * (10**0.5 - 0.5**0.5 * 4)
    assert equal.gap == pytest.approx(plain.gap + more)
    assert equal.dual == pytest.approx(plain.primal - plain.gap - more)
    model.kernel_weights_ = np.roll(model.kernel_weights_, 1)
    with pytest.raises(ValueError, match="altered"):
        model.certify(X, y)


def test_weights_are_copies():
    X, y, kernels, _, C = stack(5, 40)
    weight = np.random.default_rng(0).integers(0, 3, 40)
    copies = np.repeat(np.arange(40), weight)
    kernels = [*kernels, "rbf"]
    for norm in (1, 2):
        one = MKLSVC(kernels, C=C, norm=norm).fit(X, y, weight)
        two = MKLSVC(kernels, C=C, norm=norm).fit(X[copies], y[copies])
        np.testing.assert_allclose(one.kernel_weights_, two.kernel_weights_, atol=1e-4)
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-3)
        assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-8)


def test_order_labels_and_scale_do_not_matter():
    X, y, kernels, _, C = stack(7, 50)
    one = MKLSVC(kernels, C=C).fit(X, y)
    order = np.random.default_rng(1).permutation(50)
    two = MKLSVC(kernels[::-1], C=C).fit(X[order], -y[order])
    np.testing.assert_allclose(one.kernel_weights_, two.kernel_weights_[::-1], atol=1e-4)
    np.testing.assert_allclose(one.decision_function(X), -two.decision_function(X), atol=1e-3)


def test_one_kernel_is_a_plain_machine():
    X, y = binary(60)
    model = MKLSVC([Kernel.rbf(gamma=0.3)], normalize=None, C=3).fit(X, y)
    plain = SVC(gamma=0.3, C=3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])


def test_classes_share_weights_and_the_gap_is_their_sum():
    X, y = load_iris(return_X_y=True)
    model = MKLSVC([("rbf", [0]), ("rbf", [1]), ("rbf", [2, 3]), "linear"], C=2).fit(X, y)
    found = model.certificate_
    assert found.status == "optimal"
    assert len(found.parts) == 3
    assert sum(part.gap for part in found.parts) == pytest.approx(found.gap, abs=1e-9)
    given = SVC(kernel=model.kernel_, C=2, multiclass="ovr").fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X), atol=1e-6)
    assert found.primal == pytest.approx(given.certificate_.primal, rel=1e-8)
    assert model.certify(X, y).status == "optimal"
    left = MKLSVC(C=2).fit(X, y, (y != 1).astype(float))
    assert set(left.predict(X)) == {0, 2}
    assert left.certify(X, y, (y != 1).astype(float)).status == "optimal"


def test_finds_the_groups_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, 4] * X[:, 5] + np.sin(2 * X[:, 12]) + 0.2 * rng.normal(size=300) > 0
    model = MKLSVC([("rbf", slice(2 * k, 2 * k + 2)) for k in range(10)]).fit(X, y)
    assert set(np.argsort(model.kernel_weights_)[-2:]) == {2, 6}
    assert model.kernel_weights_[[2, 6]].sum() > 0.7
    even = MKLSVC(model.kernels, norm=8).fit(X, y)
    assert even.kernel_weights_.min() > 0.3 * even.kernel_weights_.max()


def test_large_problems_by_rounds_and_without_stored_values(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1500) > 0
    kernels = [("rbf", [0, 1]), ("rbf", [2, 3]), ("rbf", [4, 5])]
    one = MKLSVC(kernels).fit(X, y)
    assert one.certificate_.status == one.certify(X, y).status == "optimal"
    monkeypatch.setattr(mkl_values, "free_memory", lambda: 2**20)
    two = MKLSVC(kernels).fit(X, y)
    np.testing.assert_allclose(one.kernel_weights_, two.kernel_weights_, atol=1e-2)
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-3)


def test_given_values_and_sparse_data():
    X, y, kernels, K, C = stack(9, 40)
    one = MKLSVC(kernels, C=C, normalize="trace").fit(X, y)
    two = MKLSVC("precomputed", C=C, normalize="trace").fit(K, y)
    np.testing.assert_allclose(one.kernel_weights_, two.kernel_weights_, atol=1e-6)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(K), atol=1e-6)
    assert two.certify(K, y).status == "optimal"
    thin = MKLSVC(kernels, C=C, normalize="trace").fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), one.decision_function(X), atol=1e-6
    )
    scores = cross_val_score(MKLSVC("precomputed", C=C), K, y, cv=3)
    assert scores.shape == (3,)


def test_functions_and_indefinite_kernels():
    X, y = binary(60)
    model = MKLSVC([lambda A, B: A @ B.T, "rbf"], C=2).fit(X, y)
    same = MKLSVC(["linear", "rbf"], C=2).fit(X, y)
    np.testing.assert_allclose(model.kernel_weights_, same.kernel_weights_, atol=1e-6)
    assert model.certificate_.status == "optimal"
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        odd = MKLSVC([Kernel.sigmoid(gamma=1.0, coef0=1.0), "rbf"], C=1).fit(X, y)
    assert odd.certificate_.status == "stationary"


def test_columns_by_name():
    pd = pytest.importorskip("pandas")
    X, y = binary(60)
    frame = pd.DataFrame(X, columns=list("abcd"))
    one = MKLSVC([("rbf", ["a", "c"]), ("rbf", "b")]).fit(frame, y)
    two = MKLSVC([("rbf", [0, 2]), ("rbf", [False, True, False, False])]).fit(X, y)
    np.testing.assert_array_equal(one.kernel_weights_, two.kernel_weights_)
    with pytest.raises(ValueError, match="no column 'e'"):
        MKLSVC([("rbf", ["e"])]).fit(frame, y)


@pytest.mark.parametrize("given", [False, True])
def test_files_and_pickles(tmp_path, given):
    X, y, kernels, K, C = stack(11, 40)
    model = MKLSVC("precomputed" if given else kernels, C=C).fit(K if given else X, y)
    at = K if given else X
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(at), model.decision_function(at))
        np.testing.assert_array_equal(other.kernel_weights_, model.kernel_weights_)
        assert other.certify(at, y).status == "optimal"


def test_formats_that_cannot_hold_a_sum_refuse(tmp_path):
    X, y, kernels, _, C = stack(12, 40)
    model = MKLSVC(kernels, C=C).fit(X, y)
    with pytest.raises(ValueError, match="LIBSVM has no Kernel"):
        io.save_libsvm(model, tmp_path / "model.libsvm")
    with pytest.raises(ValueError, match="sum of kernels"):
        io.to_c(model)
    with pytest.raises(ValueError, match="no code"):
        io.save(MKLSVC([lambda A, B: A @ B.T]).fit(X, y), tmp_path / "model.mm")


def test_limits_and_warm_start():
    X, y, kernels, _, C = stack(13, 60)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MKLSVC(kernels, C=C, max_iter=1, tol=1e-6, warm_start=True).fit(X, y)
    assert model.certificate_.status == "max_iter"
    assert model.certificate_.n_iter == 1
    model.set_params(max_iter=200).fit(X, y)
    assert model.certificate_.status == "optimal"
    again = clone(model).set_params(warm_start=True)
    again.kernel_weights_ = model.kernel_weights_
    assert again.fit(X, y).n_iter_[0] <= 3
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        late = MKLSVC(kernels, C=C, time_limit=0, tol=1e-6).fit(X, y)
    assert late.certificate_.status == "time_limit"


def test_progress(capfd):
    X, y, kernels, _, C = stack(13, 40)
    MKLSVC(kernels, C=C, verbose=1).fit(X, y)
    assert "MKLSVC: optimal: gap" in capfd.readouterr().err


def test_bad_input_is_refused():
    X, y = binary(40)
    for kernels, text in (
        ([], "list of kernels"),
        ("rbf", "list of kernels"),
        (["rbff"], "name"),
        (["precomputed"], "n_kernels"),
        ([("rbf", [7])], "but X has 4"),
        ([("rbf", [])], "at least one"),
        ([("rbf", [0.5])], "numbers, names"),
        (["chi2"], "non-negative"),
    ):
        with pytest.raises(ValueError, match=text):
            MKLSVC(kernels).fit(X, y)
    with pytest.raises(ValueError, match=r"\(n_samples, n_samples, n_kernels\)"):
        MKLSVC("precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="norm"):
        MKLSVC(norm=0.5).fit(X, y)
    K = np.stack([X @ X.T, np.eye(40)], axis=2)
    model = MKLSVC("precomputed").fit(K, y)
    with pytest.raises(ValueError, match="40, 2"):
        model.predict(K[:, :10])
    with pytest.raises(NotFittedError):
        MKLSVC("precomputed").predict(K)


def test_scales():
    X, y = binary(40)
    X, weight = X + 3, np.random.default_rng(0).uniform(0.5, 2, 40)
    p = weight / weight.sum()
    centred = X - p @ X
    model = MKLSVC(["linear"]).fit(X, y, weight)
    assert 1 / model.kernel_scales_[0] == pytest.approx(p @ (centred**2).sum(axis=1))
    model = MKLSVC(["linear"], normalize="trace").fit(X, y, weight)
    assert 1 / model.kernel_scales_[0] == pytest.approx(p @ (X**2).sum(axis=1))
    model = MKLSVC(["linear"], normalize=None).fit(X, y, weight)
    assert model.kernel_scales_[0] == 1


def test_zero_and_constant_kernels_have_no_weight():
    X, y = binary(40)
    K = np.stack([np.zeros((40, 40)), np.ones((40, 40)), X @ X.T], axis=2)
    model = MKLSVC("precomputed").fit(K, y)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.kernel_weights_, [0, 0, 1], atol=1e-8)


def test_second_derivatives_are_those_of_differences():
    _, y, _, K, _ = stack(2, 25)
    sources = [MatrixSource(np.ascontiguousarray(one)) for one in np.moveaxis(K, 2, 0)]
    for source in sources:
        source.convex = True
    M = len(sources)
    learner = Learner(
        Kernels.of(sources, np.ones(M)),
        (problems.c_svc(y, np.full(25, 10.0)),),
        1.0,
        1e-6,
        Monitor(),
    )
    u = np.full(M, 1 / M)
    at, step = learner.at(u, None), 1e-5
    H = learner.curvature(at)
    for m in range(M):
        e = step * np.eye(M)[m]
        up, down = learner.at(u + e, at), learner.at(u - e, at)
        np.testing.assert_allclose((down.s - up.s) / (4 * step), H[m], rtol=1e-3, atol=1e-4)


# ---- sums of kernels -----------------------------------------------------------------------------


def test_a_given_sum_is_a_kernel():
    X, y = binary(80)
    kernel = Kernel.sum(
        (Kernel.rbf(gamma=0.5), 0.7, [0, 1]), (Kernel.linear(), 0.1), (Kernel.cosine(), 0.2, [3, 2])
    )
    K = 0.7 * kernel_matrix(Kernel.rbf(gamma=0.5), X[:, :2]) + 0.1 * X @ X.T
    K += 0.2 * kernel_matrix(Kernel.cosine(), X[:, 2:])
    np.testing.assert_allclose(kernel_matrix(kernel, X), K, atol=1e-12)
    assert eval(repr(kernel), {"Kernel": Kernel}) == kernel
    one, two = SVC(kernel=kernel, C=3).fit(X, y), SVC(kernel="precomputed", C=3).fit(K, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(K), atol=1e-9)
    assert one.certificate_.convexity == "proved"
    with pytest.raises(ValueError, match="column 9"):
        SVC(kernel=Kernel.sum((Kernel.linear(), 1.0, [9]))).fit(X, y)
    for bad in ((Kernel.precomputed(), 1.0), (Kernel.linear(), -1.0), (Kernel.linear(), 1.0, [])):
        with pytest.raises(ValueError, match=r"sum|weight|columns"):
            Kernel.sum(bad)
