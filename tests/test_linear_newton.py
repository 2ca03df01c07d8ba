"""The parts of Newton's method for linear models against their definitions: points, gaps,
directions, lengths."""

import numpy as np
import pytest

from linear_cases import TUBES, A, C, d, n, y
from maxmargin.linear import newton_system, semismooth
from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import Gap, feasible, gap_of, sizes
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status


def a_problem(name, bias):
    total = 0.3 * float(C.sum()) if name == "one_class" else 0.0
    return LinearProblem(TUBES[name], bias, scaling=1.5, total=total)


def newton(name, bias, X=A):
    problem = a_problem(name, bias)
    return semismooth._Run(problem, ArrayDesign(X), Monitor())


def smooth(problem, X, w, b, centre, width):
    """Phi as at the top of semismooth.py, each smoothed loss maximised on a grid of candidates that
    holds the maximiser.
    """
    tube, value = problem.tube, 0.5 * w @ w + 0.5 * problem.m * b * b + problem.total * b
    if tube.squared:
        return value + tube.losses(X @ w + b)
    for i, f in enumerate(X @ w + b):
        price = max(tube.up[i], tube.down[i])
        low, high, c = tube.low[i], tube.high[i], centre[i]
        candidates = [0.0, tube.up[i], -tube.down[i]]
        candidates += [
            np.clip(c + (edge - f) * price / width, -tube.down[i], tube.up[i])
            for edge in (low, high)
        ]
        gains = [
            (low * t if t > 0 else high * t if t < 0 else 0.0)
            - t * f
            - (t - c) ** 2 * width / (2 * price)
            for t in candidates
        ]
        value += max(gains)
    return value


def a_point(run, seed=0, width=0.7):
    draw = np.random.default_rng(seed)
    w, b = draw.normal(size=run.design.shape[1]), 0.3 if run.problem.bias is not Bias.NONE else 0.0
    centre = feasible(run.problem, 0.3 * (run.problem.tube.up - run.problem.tube.down))
    f = run.design.values(w) + b
    return run._at(w, b, f, centre, width), centre, width


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_slope_and_curvature_are_derivatives_of_the_smoothed_objective(name, bias):
    run = newton(name, bias)
    here, centre, width = a_point(run)
    u = np.append(here.w, here.bias)

    def value(u):
        return smooth(run.problem, A, u[:-1], u[-1], centre, width)

    h = 1e-6
    for j in range(d + (bias is not Bias.NONE)):
        e = h * np.eye(d + 1)[j]
        assert here.gradient[j] == pytest.approx((value(u + e) - value(u - e)) / (2 * h), abs=1e-6)
    if bias is Bias.NONE:
        assert here.gradient[-1] == 0.0
    else:
        assert here.bias_curvature == pytest.approx(run.problem.m + here.duals.curvature.sum())
    direction = np.random.default_rng(1).normal(size=d + 1)
    direction[-1] *= bias is not Bias.NONE
    change = A @ direction[:-1] + direction[-1]
    ahead = run._at(
        here.w + h * direction[:-1],
        here.bias + h * direction[-1],
        here.f + h * change,
        centre,
        width,
    )
    H = (
        np.column_stack([A, np.ones(n)]).T
        @ np.diag(here.duals.curvature)
        @ np.column_stack([A, np.ones(n)])
    )
    H += np.diag(np.append(np.ones(d), run.problem.m))
    wanted = H @ direction
    if bias is Bias.NONE:
        wanted[-1] = 0.0
    np.testing.assert_allclose((ahead.gradient - here.gradient) / h, wanted, atol=1e-4)


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_gaps_at_a_point(name, bias):
    """P - D, and the gap of the smoothed problem.

    A free bias's sum is made right to first order.
    """
    run = newton(name, bias)
    here, _, width = a_point(run)
    problem, t, slope = run.problem, here.duals.t, here.gradient
    Xt, excess = A.T @ t, sum(t) - problem.total
    primal = (
        0.5 * here.w @ here.w
        + 0.5 * problem.m * here.bias**2
        + problem.total * here.bias
        + problem.tube.losses(A @ here.w + here.bias)
    )
    assert here.gap.primal == pytest.approx(primal)
    dual, own = here.duals.neg_conjugate - 0.5 * Xt @ Xt, 0.5 * slope[:-1] @ slope[:-1]
    if bias is Bias.PENALISED:
        dual -= 0.5 * excess**2 / problem.m
        own += 0.5 * slope[-1] ** 2 / problem.m
    elif bias is Bias.FREE:
        less = (
            0.5 * slope[-1] ** 2 / here.bias_curvature
            if problem.tube.squared
            else abs(slope[-1]) * width
        )
        dual, own = dual - here.bias * excess - less, own + less
    assert here.gap.dual == pytest.approx(dual)
    assert here.own_gap == pytest.approx(own)
    assert here.gap.scale == run.scale == sizes(problem, run.design).scale
    for reason in (None, Status.TIME_LIMIT):
        found, gap = run._conclude(here, 1e-9, reason)
        assert found.ended is (reason or Status.STALLED)
        t = feasible(problem, t)
        np.testing.assert_allclose(found.t, t)
        np.testing.assert_allclose(found.Xt, A.T @ t, atol=1e-12)
        if bias is Bias.FREE:
            assert gap == gap_of(problem, here.w, here.bias, found.t, here.f, found.Xt, run.scale)
    assert run._conclude(here, 100.0, Status.TIME_LIMIT)[0].ended is None


@pytest.mark.parametrize("way", ["factor", "samples", "products"])
@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_directions_solve_the_newton_equation(name, bias, way, monkeypatch):
    X = np.random.default_rng(4).normal(size=(n, 40)) if way == "samples" else A
    run = newton(name, bias, X)
    here, *_ = a_point(run, width=8.0)
    if way == "products":
        monkeypatch.setattr(
            newton_system, "SETTINGS", newton_system.SETTINGS._replace(factor_up_to=2)
        )
    inner, used = [], {"_by_woodbury": "samples", "_by_conjugate_gradients": "products"}
    for method in used:
        real = getattr(run.system, method)
        monkeypatch.setattr(
            run.system,
            method,
            lambda *a, real=real, method=method: inner.append(used[method]) or real(*a),
        )
    found = run.system.direction(here)
    assert (inner or ["factor"]) == [way]
    Z = np.column_stack([X, np.ones(n)])
    H = Z.T @ np.diag(here.duals.curvature) @ Z + np.diag(
        np.append(np.ones(X.shape[1]), run.problem.m)
    )
    if bias is Bias.NONE:
        H[-1], H[:, -1] = 0.0, 0.0
        H[-1, -1] = 1.0
    assert here.duals.curvature.any()
    error = H @ found + here.gradient
    scale = np.append(
        np.ones(X.shape[1]), 1 / np.sqrt(here.bias_curvature if bias is not Bias.NONE else 1.0)
    )
    most = 0.1 if way == "products" else 1e-9
    assert np.linalg.norm(scale * error) <= most * np.linalg.norm(scale * here.gradient)


def test_directions_where_no_sample_curves():
    """With a free bias w and b have nothing to do with each other: the one that promises more."""
    run = newton("hinge", Bias.FREE)
    here, *_ = a_point(run)
    flat = here.duals._replace(curvature=np.zeros(n))
    for last, corner, wanted in ((3.0, 2.0, "bias"), (0.1, 2.0, "w"), (3.0, 2e6, "w")):
        slope = np.append(np.full(d, 0.5), last)
        found = run.system.direction(
            here._replace(duals=flat, gradient=slope, bias_curvature=corner)
        )
        expected = (
            np.append(np.zeros(d), -last / corner)
            if wanted == "bias"
            else np.append(-slope[:-1], 0.0)
        )
        np.testing.assert_allclose(found, expected)
    for bias in (Bias.NONE, Bias.PENALISED):
        run = newton("hinge", bias)
        here, *_ = a_point(run)
        here = here._replace(
            duals=here.duals._replace(curvature=np.zeros(n)), bias_curvature=run.problem.m or 1.0
        )
        wanted = -here.gradient / np.append(np.ones(d), run.problem.m or 1.0)
        np.testing.assert_allclose(run.system.direction(here), wanted)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.PENALISED])
@pytest.mark.parametrize("name", TUBES)
def test_a_step_ends_where_the_slope_along_it_is_a_tenth_of_the_first(name, bias):
    run = newton(name, bias)
    here, centre, width = a_point(run)
    for factor in (0.01, 1.0, 100.0):
        direction = factor * run.system.direction(here)
        first = here.gradient @ direction
        change = A @ direction[:-1] + direction[-1]
        s = run._line_search(here, direction, change, centre, width)
        at = run._at(
            here.w + s * direction[:-1],
            here.bias + s * direction[-1],
            here.f + s * change,
            centre,
            width,
        )
        assert abs(at.gradient @ direction) <= 0.1001 * abs(first)
        assert s > 0
    tiny = 1e-9 * run.system.direction(here)
    assert run._line_search(here, tiny, A @ tiny[:-1] + tiny[-1], centre, width) == pytest.approx(
        2.0**20
    ), "not without end"
    w, b, f = run._step(here, centre, width)
    np.testing.assert_allclose(f, A @ w + b)
    new = run._at(w, b, f, centre, width)
    assert smooth(run.problem, A, new.w, new.bias, centre, width) < smooth(
        run.problem, A, here.w, here.bias, centre, width
    )
    assert run._step(here._replace(gradient=np.zeros(d + 1)), centre, width) is None


def test_progress_is_a_new_least_value_of_one_kind_or_the_other():
    progress = semismooth._Progress()
    run = newton("hinge", Bias.NONE)
    here, *_ = a_point(run)

    def made(primal, own):
        return progress.made(here._replace(gap=Gap(primal, 0.0), own_gap=own))

    assert made(5.0, 1.0)
    assert progress.least == (5.0, 1.0)
    assert made(3.0, 4.0)
    assert progress.least == (3.0, 1.0)
    for k in range(18):
        assert made(3.0, 1.0)
        assert progress.steps == k + 1
    assert made(4.0, 0.5)
    assert (progress.least, progress.steps) == ((3.0, 0.5), 0)
    assert all(made(3.0, 0.5) for _ in range(19))
    assert not made(3.0, 0.5)


def rounds(
    monkeypatch,
    name,
    points,
    *,
    w=None,
    centre=None,
    steps=(),
    max_iter=1000,
    tol=1e-9,
    bias=Bias.NONE,
):
    """Newton's method at points whose (gap, own gap) are given.

    Returns centres and widths, and the solution.
    """
    run = semismooth._Run(a_problem(name, bias), ArrayDesign(A), Monitor(max_iter=max_iter))
    here, *_ = a_point(run)
    asked, left, way = [], iter(points), iter(steps)

    def at(w, b, f, centre, width):
        gap, own = next(left)
        asked.append((float(centre[0]), width))
        number = float(len(asked))
        duals = here.duals._replace(t=np.full(n, number))
        return here._replace(
            w=np.full(d, number),
            gap=Gap(10.0, 10.0 - gap),
            own_gap=own,
            duals=duals,
            gradient=np.zeros(d + 1),
        )

    monkeypatch.setattr(run, "_at", at)
    monkeypatch.setattr(
        run, "_step", lambda here, centre, width: next(way, (here.w, here.bias, here.f))
    )
    w = np.zeros(d) if w is None else w
    return asked, run.until(tol, w, 0.0, centre), run


def test_the_width_of_the_first_round(monkeypatch):
    """Twice the unit from w = 0, the unit from other weights, less around duals of a start."""
    unit = sizes(a_problem("hinge", Bias.NONE), ArrayDesign(A)).unit
    start = np.where(y > 0, 0.2, -0.2)
    for w, centre, wanted in (
        (None, None, (0.0, 2 * unit)),
        (np.ones(d), None, (0.0, unit)),
        (np.ones(d), start, (start[0], 0.09 * unit)),
    ):
        asked, found, _ = rounds(monkeypatch, "hinge", [(0.0, 0.0)], w=w, centre=centre)
        assert asked == [pytest.approx(wanted)]
        assert (found.ended, found.n_iter) == (None, 0)


def test_a_round_is_followed_by_a_narrower_one_around_its_duals(monkeypatch):
    """When its own gap is a fifth of the whole; down to a millionth of the unit."""
    gaps = [0.8**k for k in range(30)]
    points = [(gap, share * gap) for gap in gaps for share in (0.3, 0.21, 0.19)]
    asked, found, _ = rounds(monkeypatch, "hinge", points, max_iter=31)
    assert [centre for centre, _ in asked[:8]] == [0, 0, 0, 3, 3, 3, 6, 6]
    widths = [2.0 * 0.3 ** (k // 3) for k in range(8)]
    assert [width for _, width in asked[:8]] == pytest.approx(widths)
    assert (found.ended, found.n_iter) == (Status.MAX_ITER, 31)
    points = [(0.8**k, 0.0) for k in range(40)]
    asked, found, _ = rounds(monkeypatch, "hinge", [*points, (0.0, 0.0)], w=np.full(d, 1e-9))
    most = np.abs(A @ np.full(d, 1e-9)).max()
    assert asked[-1][1] == pytest.approx(1e-6 * most), "or of the greatest decision value"
    assert found.ended is None


def test_rounds_without_a_tenth_less_of_the_gap_end_the_work(monkeypatch):
    """The best solution is kept, with the last word."""
    for squared, gaps, looks, best in (
        (False, [1.0, 0.95, 0.97, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95], 7, 2.0),
        (False, [1.0, 0.95, 0.95, 0.95, 0.95, 0.8, 0.8, 0.75, 0.8, 0.8, 0.8, 0.8, 0.8], 12, 8.0),
    ):
        asked, found, _ = rounds(
            monkeypatch, "squared_hinge" if squared else "hinge", [(gap, 0.0) for gap in gaps]
        )
        assert len(asked) == looks
        assert (found.ended, found.w[0], found.n_iter) == (Status.STALLED, best, 0)


def test_a_round_that_makes_no_progress_ends(monkeypatch):
    """After 20 steps, or where there is no direction of descent.

    A squared loss has but one round.
    """
    asked, found, _ = rounds(monkeypatch, "squared_hinge", [(1.0, 1.0)] * 40)
    assert (found.ended, found.n_iter, len(asked)) == (Status.STALLED, 20, 21)
    asked, found, _ = rounds(monkeypatch, "squared_hinge", [(1.0, 1.0)] * 40, steps=[None])
    assert (found.ended, found.n_iter, len(asked)) == (Status.STALLED, 0, 2)
    asked, found, _ = rounds(monkeypatch, "hinge", [(1.0, 1.0)] * 4 + [(0.0, 0.0)], steps=[None])
    assert [centre for centre, _ in asked] == [0.0, 0.0, 2.0, 2.0, 2.0], "another round follows"
    assert (found.ended, found.n_iter) == (None, 2)


def test_many_samples_begin_at_the_solution_of_an_eighth(monkeypatch):
    asked, real = [], semismooth._Run.until

    def until(self, tol, w, bias, centre):
        asked.append((self.design.shape[0], tol, bool(w.any()), centre is None))
        return real(self, tol, w, bias, centre)

    monkeypatch.setattr(semismooth._Run, "until", until)
    monkeypatch.setattr(semismooth, "SETTINGS", semismooth.SETTINGS._replace(subsample_above=n - 1))
    problem = a_problem("hinge", Bias.FREE)
    found = semismooth.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-6)
    assert asked == [(n // 8, 1e-2, False, True), (n, 1e-6, True, True)]
    asked.clear()
    assert (
        semismooth.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-3, found).n_iter
        == 0
    )
    monkeypatch.setattr(semismooth, "SETTINGS", semismooth.SETTINGS._replace(subsample_above=n))
    semismooth.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-6)
    assert asked == [(n, 1e-3, True, False), (n, 1e-6, False, True)]
    monkeypatch.setattr(semismooth, "SETTINGS", semismooth.SETTINGS._replace(subsample_above=1))
    asked.clear()
    semismooth.solve(problem, LinearWorkspace(ChunkDesign(lambda: [A], A.shape), Monitor()), 1e-6)
    assert asked == [(n, 1e-6, False, True)], "chunks are not picked from"
