"""Linear models are exact: the kernel solvers', scikit-learn's, LIBLINEAR's, a QP solver's.

What changes nothing changes nothing.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm

import needs
import reference
from helpers import assert_close, assert_same_bits, binary, threads
from maxmargin import SVC, SVR, LinearOneClassSVM, LinearSVC, LinearSVR, OneClassSVM
from maxmargin.linear import workspace

X, label = binary(80, 4)
rng = np.random.default_rng(0)
Z = 2.0 * X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=80)
SIGN = np.where(label == 1, 1.0, -1.0)
FAR = X + np.array([3.0, 2.0, 0.0, 1.0])  # on one side of the origin: the one-class model is not 0
FOUR = np.digitize(X[:, 0] + 0.4 * rng.normal(size=80), [-1.0, 0.0, 1.0])
WEIGHT = rng.choice([0.5, 1.0, 3.0], size=80)
CS = [1e-4, 1e-2, 1.0, 1e2, 1e4]
STORAGES = {
    "dense": np.asarray,
    "sparse": sparse.csr_matrix,
    "float32": lambda A: A.astype(np.float32),
}
LOSSES = {
    "hinge": LinearSVC(loss="hinge"),
    "squared_hinge": LinearSVC(loss="squared_hinge"),
    "epsilon_insensitive": LinearSVR(loss="epsilon_insensitive", epsilon=0.1),
    "squared_epsilon_insensitive": LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
}
KINDS = {
    **LOSSES,
    "no intercept": LinearSVC(loss="hinge", fit_intercept=False),
    "regularised": LinearSVC(loss="hinge", intercept="regularised"),
    "regularised tube": LinearSVR(epsilon=0.1, intercept="regularised", intercept_scaling=3.0),
    "balanced": LinearSVC(class_weight="balanced"),
    "one-class": LinearOneClassSVM(nu=0.313),
}
ITEMS = pytest.mark.parametrize("model", KINDS.values(), ids=KINDS)
SOLVERS = pytest.mark.parametrize("solver", ["newton", "coordinate"])


@pytest.fixture
def raw(monkeypatch):
    """No polishing of small problems: what comes out is the solver's own."""
    monkeypatch.setattr(workspace, "SETTINGS", workspace.SETTINGS._replace(polish_up_to=0))


def tight(C):
    """The tolerance that the kernel solvers reach in float64."""
    return 1e-10 if C <= 100 else 1e-7


def fresh(model, **changes):
    """An unfitted copy with other parameters."""
    return type(model)(**{**model.get_params(), **changes})


def values(model, A):
    """Decision values or predictions."""
    return model.decision_function(A) if hasattr(model, "decision_function") else model.predict(A)


def data(model):
    """X and the target for one of KINDS."""
    if isinstance(model, LinearOneClassSVM):
        return FAR, None
    return X, Z if isinstance(model, LinearSVR) else label


def fitted(model, A, z, weight=None, **changes):
    """A copy fitted to data."""
    return fresh(model, **changes).fit(A, z, sample_weight=weight)


# ---- the kernel solvers --------------------------------------------------------------------------


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", CS)
def test_classification_is_that_of_the_kernel_solver(C, loss, storage):
    A = STORAGES[storage](X)
    for y, weight in ((label, None), (label, WEIGHT), (FOUR, WEIGHT)):
        ours = LinearSVC(loss=loss, C=C).fit(A, y, weight)
        theirs = SVC(kernel="linear", loss=loss, C=C, multiclass="ovr", tol=tight(C)).fit(
            A, y, weight
        )
        assert ours.certificate_.status == "optimal"
        assert_close(ours.decision_function(A), theirs.decision_function(A), tol=1e-7)
        rel = max(1e-9, 0.1 * tight(C))
        assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=rel)
        if y is label:  # several classes may tie: a sample can lie on the margins of two of them
            assert_same_bits(ours.predict(A), theirs.predict(A))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("C", CS)
def test_regression_is_that_of_the_kernel_solver(C, loss, storage):
    A = STORAGES[storage](X)
    for epsilon, weight in ((0.0, None), (0.2, WEIGHT)):
        ours = LinearSVR(loss=loss, C=C, epsilon=epsilon).fit(A, Z, weight)
        theirs = SVR(kernel="linear", loss=loss, C=C, epsilon=epsilon, tol=tight(C)).fit(
            A, Z, weight
        )
        assert_close(ours.predict(A), theirs.predict(A), tol=1e-7)
        assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9, 1.0])
def test_one_class_is_that_of_the_kernel_solver(nu, storage):
    A = STORAGES[storage](FAR)
    for weight in (None, WEIGHT):
        ours = LinearOneClassSVM(nu=nu).fit(A, sample_weight=weight)
        theirs = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(A, sample_weight=weight)
        assert_close(ours.decision_function(A), theirs.decision_function(A), tol=1e-7)
        assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-9)


@SOLVERS
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_larger_problems_reach_the_objective_of_the_kernel_solver(loss, solver):
    """Beyond the size that is polished, the tolerance is that of the objective."""
    A = rng.normal(size=(3000, 50)) * np.linspace(0.2, 2.0, 50)
    y = (A @ rng.normal(size=50) + 3 * rng.normal(size=3000) > 0).astype(int)
    assert A.size > workspace.SETTINGS.polish_up_to
    exact = SVC(kernel="linear", loss=loss, C=0.1, tol=1e-7).fit(A, y).certificate_.primal
    for tol in (1e-2, 1e-4, 1e-6):
        model = LinearSVC(loss=loss, C=0.1, tol=tol, solver=solver, max_iter=10**5).fit(A, y)
        assert model.solver_ == solver
        assert model.certificate_.relative_gap <= tol
        assert exact * (1 - 1e-7) <= model.certificate_.primal <= exact * (1 + tol + 1e-7)


# ---- LIBLINEAR's model ---------------------------------------------------------------------------


def objective(w, b, target, loss, C, scaling=None, epsilon=0.0, A=X):
    """The primal as it is written; scaling is None for a bias that is not penalised."""
    f = A @ np.ravel(w) + b
    slack = np.maximum(0.0, 1 - target * f if "hinge" in loss else np.abs(target - f) - epsilon)
    penalty = 0.0 if scaling is None else 0.5 * (b / scaling) ** 2
    return (
        0.5 * np.dot(np.ravel(w), np.ravel(w))
        + penalty
        + C * np.sum(slack**2 if "squared" in loss else slack)
    )


@pytest.mark.parametrize(
    "bias",
    [{"intercept_scaling": 1.0}, {"intercept_scaling": 10.0}, {"fit_intercept": False}],
    ids=str,
)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 3.0])
def test_regularised_intercept_is_scikit_learns_model(C, loss, bias):
    squared, hinge = "squared" in loss, "hinge" in loss
    more = {} if hinge else {"epsilon": 0.1}
    their = svm.LinearSVC if hinge else svm.LinearSVR
    theirs = their(
        loss=loss, C=C, dual=not squared, tol=1e-9, max_iter=10**6, random_state=0, **bias, **more
    )
    theirs.fit(X, label if hinge else Z)
    ours = fitted(LOSSES[loss], X, label if hinge else Z, C=C, intercept="regularised", **bias)
    scaling = bias.get("intercept_scaling", 1.0)
    goal = objective(
        theirs.coef_,
        float(np.ravel(theirs.intercept_)[0]),
        SIGN if hinge else Z,
        loss,
        C,
        scaling,
        0.1,
    )
    mine = objective(
        ours.coef_, float(np.ravel(ours.intercept_)[0]), SIGN if hinge else Z, loss, C, scaling, 0.1
    )
    assert mine == pytest.approx(goal, rel=1e-6)
    assert mine <= goal * (1 + 1e-9)
    assert mine == pytest.approx(ours.certificate_.primal, rel=1e-12)
    assert_close(values(ours, X), values(theirs, X), tol=1e-3)
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)


def liblinear(options, A, z):
    """w and the constant of a model of LIBLINEAR at its tightest."""
    util = needs.package("liblinear.liblinearutil")
    model = util.train(
        util.problem(z, sparse.csr_matrix(A)), util.parameter(f"-e 1e-10 -q {options}")
    )
    w, b = model.get_decfun()
    return np.array(w), b, model


@pytest.mark.parametrize("bias", [-1, 1])
@pytest.mark.parametrize("s", [1, 2, 3, 11, 12, 13])
def test_liblinears_model(s, bias):
    loss = {1: "squared_hinge", 2: "squared_hinge", 3: "hinge", 13: "epsilon_insensitive"}.get(
        s, "squared_epsilon_insensitive"
    )
    z = SIGN if "hinge" in loss else Z
    for C in (0.001, 0.01):  # LIBLINEAR gives up after 1,000 passes: small C only
        w, b, model = liblinear(f"-s {s} -c {C} -B {bias} -p 0.1", X, z)
        side = model.get_labels()[0] if "hinge" in loss else 1
        ours = fitted(LOSSES[loss], X, z, C=C, intercept="regularised", fit_intercept=bias > 0)
        assert objective(side * w, side * b, z, loss, C, 1.0, 0.1) == pytest.approx(
            ours.certificate_.primal, rel=1e-6
        )
        assert_close(side * (X @ w + b), values(ours, X), tol=1e-4)


def test_liblinears_one_class_model():
    for nu in (0.137, 0.512):  # nu n is no integer: the offset is unique
        w, b, _ = liblinear(f"-s 21 -n {nu}", FAR, np.ones(80))
        ours = LinearOneClassSVM(nu=nu).fit(FAR)
        assert_close(FAR @ w + b, ours.decision_function(FAR), tol=1e-4)


# ---- an interior-point solver of the primal ------------------------------------------------------


@pytest.mark.parametrize("bias", ["free", "regularised", "none"])
@pytest.mark.parametrize("loss", LOSSES)
def test_against_qp(loss, bias):
    for seed in range(6):
        draw = np.random.default_rng(seed)
        n, d = int(draw.integers(8, 30)), int(draw.integers(1, 6))
        A = draw.normal(size=(n, d)).round(int(draw.integers(1, 4)))
        A[n // 2 : n // 2 + 3] = A[:3]
        z = np.where(draw.random(n) < 0.5, 1.0, -1.0) if "hinge" in loss else draw.normal(size=n)
        z[:2] = 1.0, -1.0
        C, weight = 10.0 ** draw.uniform(-4, 4), draw.choice([0.5, 1.0, 2.0], size=n)
        m = {"free": 0.0, "regularised": 0.25, "none": None}[bias]
        sides = (
            [(z, np.ones(n))]
            if "hinge" in loss
            else [(np.ones(n), z - 0.1), (-np.ones(n), -z - 0.1)]
        )
        optimum, _ = reference.linear(A, sides, C * weight, "squared" in loss, m)
        kind = (
            {"intercept": "regularised", "intercept_scaling": 2.0}
            if bias == "regularised"
            else {"fit_intercept": bias == "free"}
        )
        model = fitted(LOSSES[loss], A, z, weight, C=C, **kind)
        for certificate in (model.certificate_, model.certify(A, z, weight)):
            assert certificate.status == "optimal"
            slack = 1e-6 * max(abs(optimum), 1e-3 * C)
            assert certificate.dual - slack <= optimum <= certificate.primal + slack
            assert certificate.gap <= slack


def test_one_class_against_qp():
    for nu in (0.137, 0.512, 0.951):
        optimum, f = reference.linear(
            FAR, [(np.ones(80), np.zeros(80))], WEIGHT, False, 0.0, nu * WEIGHT.sum()
        )
        model = LinearOneClassSVM(nu=nu).fit(FAR, sample_weight=WEIGHT)
        assert model.certificate_.primal == pytest.approx(optimum, rel=1e-7)
        assert_close(model.decision_function(FAR), f, tol=1e-5)


# ---- exact relations -----------------------------------------------------------------------------


@ITEMS
def test_weights_are_copies(model):
    A, z = data(model)
    weight = np.random.default_rng(1).integers(0, 4, size=80)
    rows = np.repeat(np.arange(80), weight)
    weighted = fitted(model, A, z, weight)
    copied = fitted(model, A[rows], None if z is None else z[rows])
    assert_close(values(weighted, A), values(copied, A), tol=1e-9)
    assert weighted.certificate_.primal == pytest.approx(copied.certificate_.primal, rel=1e-10)
    assert not weighted.dual_coef_.toarray()[:, weight == 0].any()
    assert weighted.certify(A, z, weight).status == "optimal"


@ITEMS
def test_permutations_change_nothing(model):
    A, z = data(model)
    rows, columns = rng.permutation(80), rng.permutation(4)
    one = fitted(model, A, z)
    other = fitted(model, np.ascontiguousarray(A[rows][:, columns]), None if z is None else z[rows])
    assert_close(values(one, A), values(other, np.ascontiguousarray(A[:, columns])), tol=1e-9)
    assert_close(one.dual_coef_.toarray()[:, rows], other.dual_coef_.toarray(), tol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["free", "regularised"])
def test_labels_and_targets_may_be_flipped(loss, intercept):
    z = SIGN if "hinge" in loss else Z
    one, other = (fitted(LOSSES[loss], X, side * z, intercept=intercept) for side in (1, -1))
    assert_close(values(one, X), -values(other, X), tol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [-10, 3, 10])
def test_scaled_data_are_the_same_with_another_C(loss, k):
    z = SIGN if "hinge" in loss else Z
    one, other = fitted(LOSSES[loss], X, z), fitted(LOSSES[loss], X * 2.0**k, z, C=2.0 ** (-2 * k))
    assert_close(values(one, X), values(other, X * 2.0**k), tol=1e-9)


@ITEMS
def test_any_storage(model, tmp_path):
    """Sparse, wide indices, Fortran's order, read-only and memory-mapped data: the same model, and
    nothing is written."""
    A, z = data(model)
    A = np.where(np.abs(A) < 0.3, 0.0, A)
    goal = values(fitted(model, A, z), A)
    wide = sparse.csr_matrix(A)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    frozen = A.copy()
    frozen.flags.writeable = False
    np.save(tmp_path / "A.npy", A)
    mapped = np.load(tmp_path / "A.npy", mmap_mode="r")
    for other in (
        sparse.csr_matrix(A),
        sparse.csc_array(A),
        wide,
        np.asfortranarray(A),
        frozen,
        mapped,
        A.tolist(),
    ):
        assert_close(values(fitted(model, other, z), A), goal, tol=1e-9)
    for exact in (frozen, mapped, np.asfortranarray(A)):
        assert_same_bits(values(fitted(model, exact, z), A), goal)


@ITEMS
@SOLVERS
def test_same_bits_for_any_threads_and_inputs_stay(model, solver):
    draw = np.random.default_rng(2)
    big = draw.normal(size=(900, 150)) + 0.4
    assert big.size > workspace.SETTINGS.polish_up_to
    z = (
        None
        if isinstance(model, LinearOneClassSVM)
        else big[:, 0] - big[:, 1] + draw.normal(size=900)
    )
    # three problems side by side
    z = np.digitize(z, [-1.0, 1.0]) if isinstance(model, LinearSVC) else z
    weight = draw.random(900)
    less = {} if isinstance(model, LinearOneClassSVM) else {"C": 0.01}
    for A in (big, sparse.csr_matrix(np.where(big > 1, big, 0.0)), big.astype(np.float32)):
        before, weight_before = A.copy(), weight.copy()
        with threads(1):
            one = fitted(model, A, z, weight, solver=solver, tol=1e-2, max_iter=10**5, **less)
            first = values(one, A)
        for _ in range(2):
            with threads(3):
                two = fitted(model, A, z, weight, solver=solver, tol=1e-2, max_iter=10**5, **less)
                assert_same_bits(first, values(two, A))
            assert_same_bits(one.coef_, two.coef_)
            assert_same_bits(one.intercept_, two.intercept_)
            assert_same_bits(one.dual_coef_.toarray(), two.dual_coef_.toarray())
        assert (before != A).sum() == 0
        assert_same_bits(weight, weight_before)


@ITEMS
def test_solvers_agree(model, raw):
    A, z = data(model)
    newton, coordinate = (
        fitted(model, A, z, solver=s, tol=1e-9, max_iter=10**6) for s in ("newton", "coordinate")
    )
    assert (newton.solver_, coordinate.solver_) == ("newton", "coordinate")
    assert newton.certificate_.primal == pytest.approx(coordinate.certificate_.primal, rel=1e-8)
    assert_close(values(newton, A), values(coordinate, A), tol=1e-3)


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("intercept", ["regularised", "free"])
def test_the_support_vectors_are_those_inside_the_margin(C, intercept):
    model = LinearSVC(C=C, loss="hinge", intercept=intercept).fit(X, label)
    inside = SIGN * model.decision_function(X) <= 1 + 1e-9
    np.testing.assert_array_equal(model.dual_coef_.nonzero()[1], np.flatnonzero(inside))
