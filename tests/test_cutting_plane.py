"""The cutting-plane solver against a quadratic program, in weights and with kernels."""

from dataclasses import replace

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from maxmargin import PerfSVC, RankSVC, SequenceSVM
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.sources import make_source
from maxmargin.linear.designs import ArrayDesign
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.structured import bundle, cutting_plane
from maxmargin.structured.bundle import Bundle
from maxmargin.structured.certificate import certify
from maxmargin.structured.cutting_plane import InconsistentRisk, solve
from maxmargin.structured.risks import Plane, ScoreRisk, Tangent
from maxmargin.structured.spaces import KernelSpace, LinearSpace, WeightSpace


class Greatest:
    """The greatest of some planes, and 0; every call is counted."""

    def __init__(self, offsets, slopes):
        self.offsets, self.slopes = np.append(0.0, offsets), np.vstack([0 * slopes[0], slopes])
        self.space, self.calls = WeightSpace(slopes.shape[1]), 0

    def value(self, w):
        return max(o + sum(a * b for a, b in zip(s, w, strict=True)) for o, s in self.pairs())

    def pairs(self):
        return zip(self.offsets.tolist(), self.slopes.tolist(), strict=True)

    def at(self, w):
        self.calls += 1
        best = int(np.argmax(self.offsets + self.slopes @ w))
        return Plane(float(self.offsets[best]), self.slopes[best])


def drawn(seed, planes=40, d=5):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(planes, d)) * rng.choice([0.1, 1.0, 10.0])
    return Greatest(rng.uniform(-1, 3, planes), slopes), float(rng.choice([0.01, 1.0, 100.0]))


def by_qp(risk, C):
    """min 1/2 |w|^2 + C xi, xi above every plane, by an interior-point method."""
    m, d = risk.slopes.shape
    P = sparse.csc_matrix(np.diag(np.append(np.ones(d), 0.0)))
    A = sparse.csc_matrix(np.column_stack([risk.slopes, -np.ones(m)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(m)]
    q = np.append(np.zeros(d), C)
    found = clarabel.DefaultSolver(P, q, A, -risk.offsets, cones, settings).solve()
    return np.array(found.x[:d])


def objective(risk, C, w):
    return sum(one * one for one in w.tolist()) / 2 + C * risk.value(w.tolist())


@pytest.mark.parametrize("seed", range(100))
def test_random_risks_against_a_quadratic_program(seed):
    risk, C = drawn(seed)
    found = solve(risk, C, 1e-9, Monitor())
    assert found.ended is None
    exact = objective(risk, C, by_qp(risk, C))
    assert found.primal == pytest.approx(objective(risk, C, found.w), rel=1e-12)
    assert found.dual <= exact * (1 + 1e-8)
    assert found.primal == pytest.approx(exact, rel=1e-8)
    status = certify(risk, C, found, 1e-9).status
    assert status in ("optimal", "approximate")


@pytest.mark.parametrize("seed", range(5))
def test_bounds_only_improve_and_each_call_adds_a_point(seed):
    risk, C = drawn(seed, 200, 10)
    found = solve(risk, C, 1e-6, Monitor())
    primal, dual = np.array(found.history).T
    assert (np.diff(primal) <= 0).all()
    assert (np.diff(dual) >= -1e-9 * np.abs(dual[1:])).all()
    assert found.n_iter == len(primal) == risk.calls
    assert primal[-1] - dual[-1] <= 1e-6 * primal[-1] < primal[-2] - dual[-2]


def test_the_proof_holds_by_itself():
    """alpha and the planes give the dual value, whatever w is."""
    risk, C = drawn(3)
    found = solve(risk, C, 1e-6, Monitor())
    assert found.alpha.sum() == pytest.approx(C)
    assert found.alpha.min() > 0
    w = -found.alpha @ found.planes
    assert found.dual == pytest.approx(found.alpha @ found.offsets - w @ w / 2, rel=1e-12)
    known = set(zip(risk.offsets.tolist(), map(tuple, risk.slopes.tolist()), strict=True))
    assert set(zip(found.offsets.tolist(), map(tuple, found.planes.tolist()), strict=True)) <= known


def test_a_solve_goes_on_from_its_planes_at_another_C():
    risk, _ = drawn(7, 300, 10)
    first = solve(risk, 1.0, 1e-6, Monitor())
    planes = [Plane(o, s) for o, s in zip(first.offsets, first.planes, strict=True)]
    again = solve(risk, 1.0, 1e-6, Monitor(), known=planes)
    assert again.n_iter < first.n_iter / 2
    combined = solve(risk, 1.0, 1e-6, Monitor(), start=first.w, known=[first.combined])
    assert combined.n_iter == 1
    cold, warm = (solve(risk, 2.0, 1e-6, Monitor(), known=some) for some in ((), planes))
    assert warm.n_iter < cold.n_iter
    assert warm.primal == pytest.approx(cold.primal, rel=2e-6)


def test_planes_above_the_risk_are_noticed():
    class Wrong(Greatest):
        def at(self, w):
            plane = super().at(w)
            return plane._replace(offset=plane.offset - 0.5) if self.calls % 5 == 0 else plane

    risk = drawn(1, 100)[0]
    with pytest.raises(InconsistentRisk, match="not the greatest"):
        solve(Wrong(risk.offsets[1:], risk.slopes[1:]), 1.0, 1e-9, Monitor())


def test_limits_end_a_solve_with_the_best_point_so_far():
    risk, C = drawn(5, 500, 20)
    found = solve(risk, C, 1e-9, Monitor(max_iter=3))
    assert found.ended is Status.MAX_ITER
    assert found.n_iter == 3
    assert found.primal == min(primal for primal, _ in found.history)
    assert certify(risk, C, found, 1e-9).status == "max_iter"
    assert solve(risk, C, 1e-9, Monitor(time_limit=0.0)).ended is Status.TIME_LIMIT


def test_a_tolerance_below_rounding_stalls():
    risk, C = drawn(11, 200, 10)
    found = solve(risk, C, 0.0, Monitor())
    assert found.ended in (None, Status.STALLED)
    assert found.primal - found.dual <= 1e-10 * found.primal


def test_a_dual_value_that_creeps_up_by_its_last_digits_ends_a_solve():
    """Once 20,000 calls went by without an end: every one raised the bound by 1e-16."""
    X = [np.array([[0.0, 154469.0], [0.0, 411879.0]])]
    model = SequenceSVM(C=9.193796084380134, tol=1e-6, max_iter=2000)
    with pytest.warns(ConvergenceWarning, match="Float64"):
        model.fit(X, [["b", "a"]])
    assert model.n_iter_ < 500


# ---- scores --------------------------------------------------------------------------------------


def hinges(y):
    def loss(s):
        inside = y * s < 1
        return Tangent(float(inside.sum()), np.where(inside, -y, 0.0))

    return loss


def data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)


def test_a_linear_kernel_is_the_space_of_weights():
    X, y = data(0)
    found = [
        solve(ScoreRisk(space, hinges(y)), 1.0, 1e-8, Monitor())
        for space in (
            LinearSpace(ArrayDesign(X)),
            LinearSpace(ArrayDesign(sparse.csr_matrix(X))),
            KernelSpace(make_source(Kernel.linear(), X)),
        )
    ]
    assert found[1].primal == pytest.approx(found[0].primal, rel=1e-7)
    assert found[2].primal == pytest.approx(found[0].primal, rel=1e-7)
    space = KernelSpace(make_source(Kernel.linear(), X))
    np.testing.assert_allclose(space.scores(found[2].w), X @ found[0].w, atol=1e-3)
    np.testing.assert_allclose(X.T @ space.coefficients(found[2].w), found[0].w, atol=1e-3)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
def test_elements_and_scores_are_adjoint(columns, kind):
    X, _ = data(1, 30, 6)
    if kind == "kernel":
        K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        space = KernelSpace(make_source(Kernel.rbf(0.3), X), columns)
    else:
        K = X @ X.T
        design = ArrayDesign(X if kind == "dense" else sparse.csr_matrix(X))
        space = LinearSpace(design, columns)
    rng = np.random.default_rng(2)
    shape = (30,) if columns == 1 else (30, columns)
    s, t = (
        rng.normal(size=shape),
        rng.normal(size=shape) * (rng.random(30) < 0.5)[(...,) + (None,) * (columns > 1)],
    )
    v, u = space.element(s), space.element(t)
    np.testing.assert_allclose(space.scores(v), K @ s, atol=1e-12)
    assert float(space.dots(u[None], v)[0]) == pytest.approx(float(np.sum(t * (K @ s))), abs=1e-9)
    assert space.square(v) == pytest.approx(float(np.sum(s * (K @ s))), abs=1e-9)


def test_a_space_of_weights_has_no_samples():
    with pytest.raises(TypeError, match="has no samples"):
        WeightSpace(3).scores(np.zeros(3))
    with pytest.raises(TypeError, match="has no samples"):
        WeightSpace(3).element(np.zeros(3))


@pytest.mark.parametrize("model", [PerfSVC(), PerfSVC(measure="f1", kernel="rbf"), RankSVC()])
def test_a_forged_plane_proves_nothing(model):
    """Weights that are not optimal, and a plane that would prove them if it were below the risk."""
    X, y = data(5)
    model = clone(model).fit(X, y)
    assert model.certify(X, y).status == "optimal"
    model.model_ = replace(model.model_, coef=1.2 * model.model_.coef)
    worse = model.certify(X, y)
    assert worse.status == "refuted"
    raised = model.model_.offset + worse.gap / model.C
    model.model_ = replace(model.model_, offset=raised)
    again = model.certify(X, y)
    assert again.relative_gap == pytest.approx(0, abs=1e-12)
    assert again.status == "refuted"


def test_the_plane_of_other_data_proves_nothing():
    """Without losses P and D were the same on scaled data, although smaller weights would do."""
    X, y = data(5, n=20)
    X[:, 0] += 3 * y
    for model in (PerfSVC(C=100.0), PerfSVC(measure="auc", C=100.0), RankSVC(C=100.0)):
        model.fit(X, y)
        assert model.certify(X, y).status == "optimal"
        assert model.certify(1.1 * X, y).status == "refuted"


# ---- the bundle ----------------------------------------------------------------------------------


def test_too_many_planes_are_merged_without_losing_the_bound(monkeypatch):
    monkeypatch.setattr(bundle, "SETTINGS", bundle.SETTINGS._replace(most=12, merged=5))
    risk, C = drawn(2, 400, 12)
    few = solve(risk, C, 1e-5, Monitor())
    assert len(few.alpha) <= 12
    monkeypatch.undo()
    many = solve(risk, C, 1e-8, Monitor())
    assert few.ended is None
    assert few.dual <= many.primal * (1 + 1e-9)
    assert few.primal == pytest.approx(many.primal, rel=2e-5)


def test_merged_planes_keep_the_value_of_the_dual():
    rng = np.random.default_rng(0)
    kept = Bundle(WeightSpace(6), 2.0)
    for offset, slope in zip(rng.uniform(1, 2, 20), rng.normal(size=(20, 6)), strict=True):
        kept.add(Plane(float(offset), slope))
    w, dual = kept.minimise()
    kept._merge()
    after = -(kept.alpha @ kept.slopes)
    np.testing.assert_allclose(after, w, atol=1e-12)
    assert kept.alpha @ kept.offsets - after @ after / 2 == pytest.approx(dual)
    np.testing.assert_allclose(kept.gram, kept.slopes @ kept.slopes.T, atol=1e-12)


def test_inner_products_that_rounding_makes_indefinite_are_those_of_a_convex_problem():
    """Planes with kernels: the inner products of coefficients and scores round differently."""

    class Rounded(WeightSpace):
        def dots(self, V, v):
            rough = np.random.default_rng(len(V)).normal(size=len(V))
            return V @ v + 1e-9 * rough

    rng = np.random.default_rng(0)
    kept, slopes = Bundle(Rounded(3), 1.0), rng.normal(size=(4, 3))
    for k in range(40):
        kept.add(Plane(1.0 + 0.01 * (k % 4), slopes[k % 4]))
    _, dual = kept.minimise()
    exact = Bundle(WeightSpace(3), 1.0)
    for k in range(4):
        exact.add(Plane(1.0 + 0.01 * k, slopes[k]))
    assert dual == pytest.approx(exact.minimise()[1], abs=1e-7)


def test_idle_planes_are_dropped(monkeypatch):
    X, y = data(4, 300, 8)
    risk, sizes, value = ScoreRisk(LinearSpace(ArrayDesign(X)), hinges(y)), [], Bundle.value

    def counted(self, w):
        sizes.append(self.count)
        return value(self, w)

    monkeypatch.setattr(Bundle, "value", counted)
    monkeypatch.setattr(bundle, "SETTINGS", bundle.SETTINGS._replace(idle=5))
    found = solve(risk, 10.0, 1e-7, Monitor())
    assert found.ended is None
    assert max(sizes) < 0.8 * found.n_iter


def test_the_length_of_steps_matters():
    """Whole steps need many more calls: what damping is for."""
    X, y = data(3, 400, 10)
    risk = ScoreRisk(LinearSpace(ArrayDesign(X)), hinges(y))
    damped = solve(risk, 10.0, 1e-5, Monitor())
    whole = cutting_plane.SETTINGS._replace(shorter=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting_plane, "SETTINGS", whole)
        plain = solve(risk, 10.0, 1e-5, Monitor())
    assert plain.n_iter > 1.5 * damped.n_iter
