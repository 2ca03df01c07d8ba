"""The parts of the lasso's solver against their definitions: points, duals, steps, conjugate
gradients, what is counted."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from linear_cases import TUBES, A, d, n
from maxmargin.linear import lasso, semismooth
from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import LinearSolution, l1_gap_of
from maxmargin.linear.primal_coordinate import Columns
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


def l1(bias, task="classes", X=A):
    tube = TUBES["squared_hinge" if task == "classes" else "squared_tube"]
    return lasso._Run(LinearProblem(tube, bias, scaling=1.5), ArrayDesign(X), 1e-9, Monitor())


COLUMN = {Bias.NONE: 0.0, Bias.FREE: 1.0, Bias.PENALISED: 1.5}


@pytest.mark.parametrize(("scale", "size"), [(1.0, 0.3), (0.01, 50.0)])
@pytest.mark.parametrize("task", ["classes", "targets"])
@pytest.mark.parametrize("bias", Bias)
def test_a_point_of_the_lasso(bias, task, scale, size):
    """Its slope is the losses', its duals are scaled by the best feasible factor."""
    X = scale * A
    run, u = l1(bias, task, X), size * np.random.default_rng(2).normal(size=d + 1)
    u[-1] *= 0.3 / size
    tube, column = run.problem.tube, COLUMN[bias]
    here = run.at(u)

    def losses(u):
        return tube.losses(X @ u[:-1] + column * u[-1])

    h = 1e-6
    slope = [(losses(u + h * e) - losses(u - h * e)) / (2 * h) for e in np.eye(d + 1)]
    np.testing.assert_allclose(here.gradient, slope, atol=1e-5)
    price = np.append(np.ones(d), 0.0 if bias is Bias.FREE else 1.0)
    assert here.primal == pytest.approx(price @ np.abs(u) + losses(u))
    np.testing.assert_array_equal(run.penalty, price)
    t = here.duals.t

    def gain(c):
        up, down = t > 0, t < 0
        value = c * (tube.low[up] @ t[up] + tube.high[down] @ t[down])
        return value - c * c * (
            np.sum(t[up] ** 2 / (4 * tube.up[up])) + np.sum(t[down] ** 2 / (4 * tube.down[down]))
        )

    bound = max(1.0, np.abs(X.T @ t).max(), abs(1.5 * t.sum()) if bias is Bias.PENALISED else 0.0)
    best = max(gain(c) for c in np.linspace(0, 1 / bound, 1001))
    less = abs(u[-1] * t.sum()) if bias is Bias.FREE else 0.0
    assert here.dual == pytest.approx(best - less, rel=1e-4)
    assert gain(here.factor) == pytest.approx(best, rel=1e-4)
    assert here.factor <= (1 + 1e-12) / bound
    if scale < 1 and bias is not Bias.PENALISED:
        assert here.factor < 0.99 / bound, "shorter duals are better"
    wanted = [v != 0 or abs(s) > p for v, s, p in zip(u, here.gradient, price, strict=True)]
    wanted[-1] = wanted[-1] or bias is not Bias.NONE
    assert run._active_set(here).tolist() == wanted
    inside = run.at(u, np.clip(0.0, tube.low, tube.high))
    assert (inside.duals.loss, inside.dual) == (0.0, 0.0), "no loss, no dual"
    nothing = run.at(np.zeros(d + 1))
    assert run._active_set(nothing).tolist() == [abs(s) > 1 for s in nothing.gradient[:-1]] + [
        bias is not Bias.NONE
    ]


@pytest.mark.parametrize("task", ["classes", "targets"])
@pytest.mark.parametrize("bias", Bias)
def test_solutions_of_the_lasso_have_feasible_duals(bias, task):
    run, u = l1(bias, task), 0.3 * np.random.default_rng(3).normal(size=d + 1)
    run.steps = 17
    here = run.at(u)
    found = run.solution(here, Status.STALLED)
    assert (found.ended, found.n_iter, found.bias) == (
        Status.STALLED,
        17,
        pytest.approx(COLUMN[bias] * u[-1]),
    )
    np.testing.assert_array_equal(found.w, u[:-1])
    np.testing.assert_allclose(found.f, A @ found.w + found.bias)
    np.testing.assert_allclose(found.Xt, A.T @ found.t, atol=1e-12)
    assert np.abs(found.Xt).max() <= 1 + 1e-14
    if bias is Bias.FREE:
        assert abs(found.t.sum()) <= 1e-14 * np.abs(found.t).sum()
    if bias is Bias.PENALISED:
        assert abs(1.5 * found.t.sum()) <= 1 + 1e-14
    gap = l1_gap_of(run.problem, found)
    penalty = abs(found.bias) / 1.5 if bias is Bias.PENALISED else 0.0
    assert gap.primal == pytest.approx(
        np.abs(found.w).sum() + penalty + run.problem.tube.losses(found.f)
    )
    double = l1_gap_of(run.problem, found._replace(t=10 * found.t, Xt=10 * found.Xt))
    reach = max(np.abs(found.Xt).max(), abs(1.5 * found.t.sum()) if bias is Bias.PENALISED else 0.0)
    shorter = l1_gap_of(run.problem, found._replace(t=found.t / reach, Xt=found.Xt / reach))
    assert double.dual == pytest.approx(shorter.dual), "what is too long is made shorter"
    if bias is Bias.FREE:
        assert l1_gap_of(run.problem, found._replace(t=np.abs(found.t))).dual == -np.inf


@pytest.mark.parametrize("bias", Bias)
def test_steps_of_the_lasso_go_where_the_objective_is_least(bias):
    """The whole way where that gains enough, else to the least value on the way; None where nothing
    is gained."""
    run, u = l1(bias), 0.1 * np.random.default_rng(4).normal(size=d + 1)
    u[-1] *= bias is not Bias.NONE
    here = run.at(u)
    down = -here.gradient - run.penalty * np.sign(u)
    down[-1] *= bias is not Bias.NONE
    short = run._line_search(here, u + 1e-4 * down)
    np.testing.assert_array_equal(short.u, u + 1e-4 * down)
    assert short.primal < here.primal
    far = run._line_search(here, u + 10.0 * down)
    best = minimize_scalar(
        lambda s: run.at(u + s * down).primal,
        bounds=(0, 10),
        method="bounded",
        options={"xatol": 1e-11},
    )
    assert far.primal <= best.fun * (1 + 1e-10)
    assert far.primal < here.primal
    assert run._line_search(here, u.copy()) is None
    assert run._line_search(here, u - 1e-3 * down) is None, "uphill"
    np.testing.assert_allclose(far.f, A @ far.u[:-1] + COLUMN[bias] * far.u[-1])
    np.testing.assert_allclose(short.f, A @ short.u[:-1] + COLUMN[bias] * short.u[-1])


@pytest.mark.parametrize("bias", Bias)
def test_conjugate_gradients_of_the_lasso_solve_the_equations_of_the_weights_in_use(bias):
    run, u = l1(bias), 0.2 * np.random.default_rng(6).normal(size=d + 1)
    u[2] = 0.0
    u[-1] *= bias is not Bias.NONE
    here = run.at(u)
    Z = np.column_stack([A, np.full(n, COLUMN[bias])])
    H = Z.T @ np.diag(here.duals.curvature) @ Z
    found = run._by_conjugate_gradients(here, np.sum(Z**2, axis=0), lasso.Effort(100, 1e-10))
    used = np.flatnonzero(u)
    right = -(here.gradient + run.penalty * np.sign(u))
    wanted = u.copy()
    wanted[used] += np.linalg.solve(H[np.ix_(used, used)], right[used])
    crossed = (wanted * u < 0) & (run.penalty > 0)
    assert crossed.any()
    np.testing.assert_allclose(found, np.where(crossed, 0.0, wanted), atol=1e-7)
    few = [
        run._by_conjugate_gradients(here, factor * np.sum(Z**2, axis=0), lasso.Effort(2, 1e-10))
        for factor in (1.0, 2.0**-12)
    ]
    np.testing.assert_array_equal(
        few[0], few[1], "only the columns' squares relative to each other count"
    )
    assert np.abs(few[0] - found).max() > 1e-6


def test_conjugate_gradients_of_the_lasso_are_as_close_as_asked_for(monkeypatch):
    asked = []
    real = lasso.conjugate_gradients
    monkeypatch.setattr(
        lasso, "conjugate_gradients", lambda *given: asked.append(given[3:5]) or real(*given)
    )
    run = l1(Bias.FREE)
    run._by_conjugate_gradients(run.at(np.full(d + 1, 0.2)), np.ones(d + 1), lasso.Effort(70, 0.1))
    assert asked == [(pytest.approx(0.01), 70)], "the squared residual"


def test_the_lasso_counts_passes_and_steps(monkeypatch):
    """Those over the columns, and one for each step by conjugate gradients."""
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=2))
    counted = []
    real = Columns.descend

    def descend(self, u, f, most, monitor, steps):
        u, passes = real(self, u, f, most, monitor, steps)
        assert steps == sum(counted)
        counted.append(passes)
        counted.append(1)
        return u, passes

    monkeypatch.setattr(Columns, "descend", descend)
    problem = LinearProblem(TUBES["squared_hinge"], Bias.FREE)
    found = lasso.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-9)
    assert found.ended is None
    assert found.n_iter in (sum(counted), sum(counted) - 1), "no step after passes that suffice"
    for most in (1, 2, 3, 5):
        counted.clear()
        early = lasso.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor(max_iter=most)), 1e-9)
        assert early.ended is Status.MAX_ITER
        assert most <= early.n_iter <= most + 1


def test_starts_of_solvers(monkeypatch):
    """From a solution nothing is left to do; the bias is measured in its column."""
    for bias in Bias:
        problem = LinearProblem(TUBES["squared_hinge"], bias, scaling=1.5)
        for solver in (lasso, semismooth):
            found = solver.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-6)
            assert found.ended is None
            assert (
                solver.solve(
                    problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-6, found
                ).n_iter
                == 0
            )
            assert (
                solver.solve(
                    problem,
                    LinearWorkspace(ArrayDesign(A), Monitor()),
                    1e-3,
                    found._replace(t=np.empty(0)),
                ).n_iter
                <= 1
            )
            assert isinstance(found, LinearSolution)


@pytest.mark.parametrize(
    ("share", "ended", "steps"),
    [(1.0, Status.STALLED, 30), (0.91, Status.STALLED, 30), (0.89, Status.MAX_ITER, 100)],
)
def test_newton_steps_end_after_thirty_without_a_tenth_less_of_the_gap(
    share, ended, steps, monkeypatch
):
    run = l1(Bias.NONE)
    run.monitor = Monitor(max_iter=100)
    here = run.at(np.zeros(d + 1))
    monkeypatch.setattr(
        run,
        "_step",
        lambda here: here._replace(primal=here.dual + share ** ((run.steps + 1) // 30)),
    )
    found = run.by_newton(here._replace(primal=here.dual + 1.0))
    assert (found.ended, found.n_iter) == (ended, steps)
    monkeypatch.setattr(run, "_step", lambda here: None)
    run.steps = 7
    assert run.by_newton(here)[-2:] == (Status.STALLED, 7)


def by_columns(monkeypatch, gaps, whole, max_iter=1000, used=5, values=None):
    """Rounds of passes and conjugate gradients whose gaps are given.

    Returns what was asked for, and how it ended.
    """
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=2))
    run, asked, left = l1(Bias.NONE), [], iter(gaps)
    run.monitor = Monitor(max_iter=max_iter)
    real = run.at(np.ones(d + 1))
    primal = iter(values or [10.0] * 1000)

    class Passes:
        """Takes the place of the columns."""

        def __init__(self, *rest):
            self.most, self.squares = 1.0, np.ones(d + 1)

        def descend(self, u, f, most, monitor, steps):
            asked.append([most])
            return u, 2

    def conjugate(here, squares, effort):
        asked[-1] += list(effort)
        return np.full(d + 1, 2.0)

    def at(u):
        value = next(primal)
        return real._replace(primal=value, dual=value - next(left))

    monkeypatch.setattr(lasso, "Columns", Passes)
    monkeypatch.setattr(run, "_by_conjugate_gradients", conjugate)
    monkeypatch.setattr(run, "at", at)
    monkeypatch.setattr(
        run, "_line_search", lambda here, goal: here._replace(u=goal) if whole else None
    )
    monkeypatch.setattr(run, "_active_set", lambda here: np.arange(d + 1) < used)
    monkeypatch.setattr(run, "by_newton", lambda here: here)
    return asked, run.by_columns(real._replace(primal=10.0, dual=0.0), 0), run


def test_rounds_of_the_lasso_take_more_products_where_the_gap_falls_slowly(monkeypatch):
    """At first 50 products or a tenth of the residual, then twice and a tenth of that; few passes
    after a full step, else ever more."""
    asked, found, _ = by_columns(
        monkeypatch, [1.0, 0.49, 0.24, 0.13, 0.07, 0.04, 0.04, 0.04, 0.04], whole=True, max_iter=27
    )
    assert found.ended is Status.MAX_ITER
    assert found.n_iter == 27
    assert [most for most, *_ in asked] == [4] + [2] * 8
    assert [products for _, products, _ in asked] == [50, 50, 50, 100, 200, 400, 400, 400, 400]
    wanted = [0.1, 0.1, 0.1, 1e-2, 1e-3, 1e-4, 1e-4, 1e-4, 1e-4]
    assert [closer for *_, closer in asked] == pytest.approx(wanted)
    asked, found, _ = by_columns(monkeypatch, [0.1**k for k in range(7)], whole=False, max_iter=21)
    assert [most for most, *_ in asked] == [4, 8, 16, 32, 40, 40, 40]


def test_rounds_of_the_lasso_end_after_six_without_progress(monkeypatch):
    """Progress is a tenth less of the gap, or a smaller objective."""
    for gaps, values, rounds in (
        ([1.0] * 20, None, 7),
        ([0.89**k for k in range(20)], None, None),
        ([0.91**k for k in range(20)], None, 7),
        ([1.0] * 20, [10.0 * (1 - 1e-11) ** k for k in range(20)], None),
        ([1.0] * 20, [10.0 * (1 - 1e-13) ** k for k in range(20)], 7),
    ):
        asked, found, run = by_columns(monkeypatch, gaps, whole=True, max_iter=45, values=values)
        if rounds is None:
            assert found.ended is Status.MAX_ITER
        else:
            assert (found.ended, len(asked)) == (Status.STALLED, rounds)
            assert found.n_iter == run.steps == 3 * rounds


def test_newton_steps_follow_where_few_features_are_used(monkeypatch):
    asked, found, run = by_columns(monkeypatch, [1.0] * 20, whole=True, used=2)
    assert isinstance(found, lasso.Iterate)
    assert (len(asked), run.steps) == (1, 3), "not before the first passes"
    asked, found, _ = by_columns(monkeypatch, [1.0] * 20, whole=True, used=3, max_iter=6)
    assert found.ended is Status.MAX_ITER


def test_no_conjugate_gradients_where_passes_suffice(monkeypatch):
    asked, _, run = by_columns(monkeypatch, [1.0, 1e-11, 1.0, 1.0], whole=True, max_iter=8)
    assert [len(one) for one in asked] == [3, 1, 3]
    assert run.steps == 8


def test_many_samples_begin_at_the_solution_of_an_eighth(monkeypatch):
    asked, real = [], lasso._Run.by_newton

    def by_newton(self, here):
        asked.append((self.design.shape[0], self.tol, bool(here.u.any())))
        return real(self, here)

    monkeypatch.setattr(lasso._Run, "by_newton", by_newton)
    problem, whole, chunks = (
        LinearProblem(TUBES["squared_hinge"], Bias.FREE),
        ArrayDesign(A),
        ChunkDesign(lambda: [A], A.shape),
    )
    for seeded, design, parts in ((n - 1, whole, 2), (n, whole, 1), (1, chunks, 1)):
        monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(subsample_above=seeded))
        asked.clear()
        found = lasso.solve(problem, LinearWorkspace(design, Monitor()), 1e-6)
        assert asked == [(n // 8, 1e-2, False), (n, 1e-6, True)][2 - parts :] or (
            parts == 1 and asked == [(n, 1e-6, False)]
        )
    asked.clear()
    lasso.solve(problem, LinearWorkspace(whole, Monitor()), 1e-6, found)
    assert asked == [(n, 1e-6, True)]
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=d - 1))
    monkeypatch.setattr(lasso._Run, "by_columns", lambda self, here, seed: asked.append(seed))
    asked.clear()
    lasso.solve(problem, LinearWorkspace(whole, Monitor(), 5), 1e-6)
    assert asked == [5]
    with pytest.raises(ValueError, match=f"up to {d - 1} features, these have {d}"):
        lasso.solve(problem, LinearWorkspace(chunks, Monitor()), 1e-6)
    monkeypatch.setattr(lasso, "SETTINGS", lasso.SETTINGS._replace(newton_up_to=d))
    assert lasso.solve(problem, LinearWorkspace(chunks, Monitor()), 1e-6).ended is None
