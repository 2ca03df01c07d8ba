"""The parts of Newton's method for linear models against their definitions: equations, models of a step, directions, lengths."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.designs import ArrayDesign, ChunkDesign
from maxmargin.losses import Bias, LinearProblem, classification, one_class, regression
from maxmargin.monitor import Monitor
from maxmargin.solution import Status
from maxmargin.solvers.linear import lasso, semismooth
from maxmargin.solvers.linear.columns import Columns
from maxmargin.solvers.linear.equations import by_factor, by_products
from maxmargin.solvers.linear.model import Gap, LinearSolution, feasible, gap_of, sizes
from maxmargin.solvers.linear.quadratic import Hessian, minimiser

rng = np.random.default_rng(5)
n, d = 24, 5
A = rng.normal(size=(n, d))
y = np.where(A[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
z = A @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=n) + 1.0
C = rng.uniform(0.5, 2.0, n)
CORRIDORS = {
    "hinge": classification(y, C, False),
    "squared_hinge": classification(y, C, True),
    "tube": regression(z, C, 0.2, False),
    "squared_tube": regression(z, C, 0.2, True),
    "one_class": one_class(C),
}


def a_problem(name, bias):
    total = 0.3 * float(C.sum()) if name == "one_class" else 0.0
    return LinearProblem(CORRIDORS[name], bias, scaling=1.5, total=total)


# ---- linear equations ---------------------------------------------------------------------------------------------------------


def test_equations_by_a_factor():
    B = A.T @ A
    right = rng.normal(size=(d, 2))
    np.testing.assert_allclose(B @ by_factor(B, right), right, atol=1e-10)
    mean = np.trace(B) / d
    np.testing.assert_allclose((B + 0.1 * mean * np.eye(d)) @ by_factor(B, right, 0.1), right, atol=1e-10)


def test_equations_that_are_not_definite_get_ever_more_on_the_diagonal():
    B = np.diag([1.0, 1.0, -0.005])
    wanted = np.linalg.solve(B + 1e-2 * (1.995 / 3) * np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(by_factor(B, np.array([1.0, 2.0, 3.0])), wanted, rtol=1e-6)
    ones = np.ones((3, 3))
    found = by_factor(ones, np.full(3, 6.0))
    np.testing.assert_allclose(ones @ found, 6.0, rtol=1e-6)
    for bad in (np.diag([1.0, 1.0, -0.6]), -np.eye(3), np.diag([np.inf, 1.0, 1.0]), np.full((3, 3), np.nan)):
        assert by_factor(bad, np.ones(3)).tolist() == [0.0, 0.0, 0.0], "no step"
    assert np.isnan(by_factor(np.eye(2), np.array([np.nan, 1.0]))[0])


@pytest.mark.parametrize(("accuracy", "most"), [(1e-1, 50), (1e-4, 50), (1e-30, 3), (1e-30, 1), (0.0, 0)])
def test_equations_by_products_are_best_in_a_krylov_space(accuracy, most):
    B, right, scale = A.T @ A, rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    count = 0

    def product(x):
        nonlocal count
        count += 1
        return B @ x

    found = by_products(product, right, scale, accuracy, most, Monitor())
    S, c = scale[:, None] * B * scale, scale * right
    for products in range(d + 1):
        powers = [np.linalg.matrix_power(S / np.trace(S), j) @ c for j in range(products)]
        space = np.linalg.qr(np.column_stack(powers))[0] if products else np.zeros((d, 0))
        x = space @ np.linalg.solve(space.T @ S @ space, space.T @ c)
        residual = c - S @ x
        if products == most or residual @ residual <= accuracy * c @ c:
            break
    assert count == products
    np.testing.assert_allclose(found, scale * x, rtol=1e-6, atol=1e-9)


def test_equations_by_products_end_without_a_product_worth_it():
    def refused(x):
        raise AssertionError("nothing is to be done")

    monitor = Monitor()
    assert not by_products(refused, np.zeros(3), np.ones(3), 0.1, 10, monitor).any()
    monitor.interrupted.set()
    assert not by_products(refused, np.ones(3), np.ones(3), 0.1, 10, monitor).any()
    assert not by_products(lambda x: 0 * x, np.ones(3), np.ones(3), 0.1, 10, Monitor()).any(), "singular"
    assert not by_products(lambda x: -x, np.ones(3), np.ones(3), 0.1, 10, Monitor()).any(), "not definite"


# ---- the quadratic model of a step -----------------------------------------------------------------------------------------------


class Counted(ArrayDesign):
    """Counts the samples of Gram matrices."""

    samples = 0

    def gram(self, weight, rows=None):
        self.samples += len(weight)
        return super().gram(weight, rows)


@pytest.mark.parametrize("column", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("form", ["dense", "sparse", "chunks"])
def test_a_hessian_is_brought_up_to_date(form, column):
    X = np.where(rng.random((n, 40)) < 0.4, 0.0, rng.normal(size=(n, 40)))
    make = {"dense": Counted, "sparse": lambda X: ArrayDesign(sparse.csr_matrix(X))}
    design = make[form](X) if form in make else ChunkDesign(lambda: [X[:9], X[9:]], X.shape)
    hessian, bordered = Hessian(design, column), np.column_stack([X, np.full(n, column)])
    wanted = np.zeros(41, bool)
    weight = np.where(np.arange(n) < 16, C, 0.0)
    for features, change in (([1, 5, 7], 0), ([1, 5, 7], 1), ([1, 7], 0), ([1, 5, 9], 3), ([2], 9), (list(range(30)), 1), ([], 2)):
        wanted[:] = False
        wanted[features] = True
        wanted[-1] = True
        weight = weight.copy()
        weight[:change] = np.where(weight[:change] > 0, 0.0, C[:change])
        used, H = hessian.of(wanted, weight)
        assert used[-1] == 40
        assert set(features) <= set(used)
        if form == "chunks":
            assert len(used) == 41
        np.testing.assert_allclose(H, bordered[:, used].T @ np.diag(weight) @ bordered[:, used], atol=1e-10)


def test_a_hessian_has_few_features_and_looks_at_samples_that_come_or_go():
    X = rng.normal(size=(n, 100))
    design = ArrayDesign(X)
    hessian, wanted = Hessian(design, 1.0), np.zeros(101, bool)

    def used(features):
        wanted[:] = False
        wanted[:features] = True
        return len(hessian.of(wanted, C)[0]) - 1

    assert used(60) == 60
    assert used(21) == 60, "some that are not in use do no harm"
    assert used(20) == 20, "more than twice as many and 20 do"
    assert used(69) == 69
    assert used(70) == 100, "most: all are taken"
    assert used(41) == 100
    assert used(40) == 40
    for changed, samples in ((0, 0), (3, 3), (12, 12), (13, 24)):
        design = Counted(A)
        hessian, everything = Hessian(design, 1.0), np.ones(d + 1, bool)
        hessian.of(everything, C)
        design.samples = 0
        weight = C.copy()
        weight[:changed] *= 2.0
        hessian.of(everything, weight)
        assert design.samples == samples


def model_value(H, price, u0, slope, u):
    step = u - u0
    return slope @ step + 0.5 * step @ H @ step + price @ np.abs(u)


@pytest.mark.parametrize("seed", range(6))
def test_the_minimiser_of_a_step_fulfils_its_conditions(seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(40, 12)) + 3 * draw.normal(size=(40, 1))  # correlated: descent is slow
    X[:, 5] = X[:, 4] if seed % 2 else X[:, 5]
    H, price = X.T @ X, np.append(np.full(11, 8.0), 0.0)
    u, slope = np.where(draw.random(12) < 0.4, 0.0, draw.normal(size=12)), X.T @ (10 * draw.normal(size=40))
    before = u.copy(), slope.copy()
    found = minimiser(H, price, u, slope)
    np.testing.assert_array_equal(u, before[0])
    np.testing.assert_array_equal(slope, before[1])

    def broken(u, slope):
        return max(abs(s + p * np.sign(v)) if v else max(abs(s) - p, 0.0) for v, s, p in zip(u, slope, price, strict=True))

    assert broken(found, slope + H @ (found - u)) <= 4e-3 * broken(u, slope)
    assert model_value(H, price, u, slope, found) <= model_value(H, price, u, slope, u)
    np.testing.assert_array_equal(minimiser(H, price, -u, -slope), -found)


def test_the_minimiser_of_a_step_where_nothing_is_to_be_done():
    H = np.eye(3)
    assert minimiser(H, np.ones(3), np.zeros(3), np.array([0.5, -1.0, 1.0])).tolist() == [0.0, 0.0, 0.0]
    assert minimiser(np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.ones(1)).tolist() == [0.0], "no curvature, no step"
    np.testing.assert_allclose(minimiser(H, np.array([1.0, 1.0, 0.0]), np.zeros(3), np.array([3.0, -2.0, 5.0])), [-2.0, 1.0, -5.0])


# ---- columns ---------------------------------------------------------------------------------------------------------------------


def weighted(task):
    """Squared losses with weights of 0 among them."""
    weight = np.where(np.arange(n) % 5 == 0, 0.0, C)
    return classification(y, weight, True) if task == "classes" else regression(z, weight, 0.2, True)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("task", ["classes", "targets"])
def test_columns_hold_residuals_whose_squares_are_the_losses(task, form):
    corridor = weighted(task)
    X = A if form == "dense" else sparse.csr_matrix(A)
    columns = Columns(corridor, X, 1.5, np.ones(d + 1), 0)
    u = rng.normal(size=d + 1)
    f = A @ u[:-1] + 1.5 * u[-1]
    both = np.concatenate((f, f)) if columns.both else f
    r = columns.q * (columns.edge - both)
    assert columns.most * np.sum(np.maximum(0, r) ** 2) == pytest.approx(corridor.losses(f))
    assert columns.both is (task == "targets")
    wanted = np.column_stack([A, np.full(n, 1.5)])
    wanted = columns.q[:, None] * (np.vstack([wanted, wanted]) if columns.both else wanted)
    np.testing.assert_allclose(columns.squares, 1.0001 * np.sum(wanted**2, axis=0), rtol=1e-6)
    assert columns.most == max(corridor.up.max(), corridor.down.max())
    assert Columns(classification(y, 0 * C, True), X, 1.5, np.ones(d + 1), 0).most == 1.0


def penalised(corridor, u, column=1.0):
    f = A @ u[:-1] + column * u[-1]
    return np.abs(u[:-1]).sum() + corridor.losses(f)


@pytest.mark.parametrize("task", ["classes", "targets"])
def test_descent_on_columns_lowers_the_objective_to_its_least(task):
    corridor, price = weighted(task), np.append(np.ones(d), 0.0)
    columns = Columns(corridor, A, 1.0, price, 0)
    u = np.zeros(d + 1)
    values = [penalised(corridor, u)]
    for _ in range(40):
        before = u.copy()
        new, done = columns.descend(u, A @ u[:-1] + u[-1], 3, Monitor(), 0)
        assert done == 3
        np.testing.assert_array_equal(u, before)
        u = new
        values.append(penalised(corridor, u))
    assert (np.diff(values) <= 1e-12).all()
    found = lasso.solve(LinearProblem(corridor, Bias.FREE), ArrayDesign(A), 1e-12, Monitor())
    assert values[-1] == pytest.approx(penalised(corridor, np.append(found.w, found.bias)), rel=1e-6)


def test_descent_on_columns_counts_its_passes_and_stops():
    columns = Columns(weighted("classes"), A, 1.0, np.ones(d + 1), 0)
    start = np.zeros(d + 1), np.zeros(n)
    assert columns.descend(*start, 7, Monitor(max_iter=12), 10)[1] == 2
    assert columns.descend(*start, 7, Monitor(max_iter=17), 10)[1] == 7
    assert columns.descend(*start, 7, Monitor(max_iter=10), 10)[1] == 0


def test_the_last_pass_is_over_all_columns():
    """Those set aside in between may be wanted after all."""
    columns = Columns(weighted("classes"), A, 1.0, np.ones(d + 1), 0)
    visited, real = [], columns.order

    class Core:
        """Notes how many columns a pass visits."""

        @staticmethod
        def column_pass(points, price, squares, most, u, r, order, active, aside, seed):
            if order is real:
                visited.append((active, aside))
                return 0.5, 2
            assert (order.tolist(), active, aside) == ([d], 1, np.inf)
            return 0.0, 1

    from maxmargin.solvers.linear import columns as module

    before, module.core = module.core, Core
    try:
        columns.descend(np.zeros(d + 1), np.zeros(n), 4, Monitor(), 0)
    finally:
        module.core = before
    assert [active for active, _ in visited] == [d + 1, 2, 2, d + 1]
    assert [aside for _, aside in visited] == [np.inf, pytest.approx(0.05), pytest.approx(0.05), np.inf]


# ---- Newton's method ------------------------------------------------------------------------------------------------------------


def newton(name, bias, X=A):
    problem = a_problem(name, bias)
    return semismooth._Run(problem, ArrayDesign(X), Monitor())


def smooth(problem, X, w, b, centre, width):
    """Phi as at the top of semismooth.py, each smoothed loss maximised on a grid of candidates that holds the maximiser."""
    corridor, value = problem.corridor, 0.5 * w @ w + 0.5 * problem.m * b * b + problem.total * b
    if corridor.squared:
        return value + corridor.losses(X @ w + b)
    for i, f in enumerate(X @ w + b):
        price = max(corridor.up[i], corridor.down[i])
        low, high, c = corridor.low[i], corridor.high[i], centre[i]
        candidates = [0.0, corridor.up[i], -corridor.down[i]]
        candidates += [np.clip(c + (edge - f) * price / width, -corridor.down[i], corridor.up[i]) for edge in (low, high)]
        gains = [(low * t if t > 0 else high * t if t < 0 else 0.0) - t * f - (t - c) ** 2 * width / (2 * price) for t in candidates]
        value += max(gains)
    return value


def a_point(run, seed=0, width=0.7):
    draw = np.random.default_rng(seed)
    w, b = draw.normal(size=run.design.shape[1]), 0.3 if run.problem.bias is not Bias.NONE else 0.0
    centre = feasible(run.problem, 0.3 * (run.problem.corridor.up - run.problem.corridor.down))
    f = run.design.values(w) + b
    return run._at(w, b, f, centre, width), centre, width


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", CORRIDORS)
def test_slope_and_curvature_are_derivatives_of_the_smoothed_objective(name, bias):
    run = newton(name, bias)
    here, centre, width = a_point(run)
    u = np.append(here.w, here.bias)

    def value(u):
        return smooth(run.problem, A, u[:-1], u[-1], centre, width)

    h = 1e-6
    for j in range(d + (bias is not Bias.NONE)):
        e = h * np.eye(d + 1)[j]
        assert here.slope[j] == pytest.approx((value(u + e) - value(u - e)) / (2 * h), abs=1e-6)
    if bias is Bias.NONE:
        assert here.slope[-1] == 0.0
    else:
        assert here.corner == pytest.approx(run.problem.m + here.duals.curvature.sum())
    direction = np.random.default_rng(1).normal(size=d + 1)
    direction[-1] *= bias is not Bias.NONE
    change = A @ direction[:-1] + direction[-1]
    ahead = run._at(here.w + h * direction[:-1], here.bias + h * direction[-1], here.f + h * change, centre, width)
    H = np.column_stack([A, np.ones(n)]).T @ np.diag(here.duals.curvature) @ np.column_stack([A, np.ones(n)])
    H += np.diag(np.append(np.ones(d), run.problem.m))
    wanted = H @ direction
    if bias is Bias.NONE:
        wanted[-1] = 0.0
    np.testing.assert_allclose((ahead.slope - here.slope) / h, wanted, atol=1e-4)


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", CORRIDORS)
def test_gaps_at_a_point(name, bias):
    """P - D, and the gap of the smoothed problem; a free bias's sum is made right to first order."""
    run = newton(name, bias)
    here, _, width = a_point(run)
    problem, t, slope = run.problem, here.duals.t, here.slope
    Xt, excess = A.T @ t, sum(t) - problem.total
    primal = (
        0.5 * here.w @ here.w + 0.5 * problem.m * here.bias**2 + problem.total * here.bias + problem.corridor.losses(A @ here.w + here.bias)
    )
    assert here.gap.primal == pytest.approx(primal)
    dual, own = here.duals.gain - 0.5 * Xt @ Xt, 0.5 * slope[:-1] @ slope[:-1]
    if bias is Bias.PENALISED:
        dual -= 0.5 * excess**2 / problem.m
        own += 0.5 * slope[-1] ** 2 / problem.m
    elif bias is Bias.FREE:
        less = 0.5 * slope[-1] ** 2 / here.corner if problem.corridor.squared else abs(slope[-1]) * width
        dual, own = dual - here.bias * excess - less, own + less
    assert here.gap.dual == pytest.approx(dual)
    assert here.own == pytest.approx(own)
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
@pytest.mark.parametrize("name", CORRIDORS)
def test_directions_solve_the_newton_equation(name, bias, way, monkeypatch):
    X = np.random.default_rng(4).normal(size=(n, 40)) if way == "samples" else A
    run = newton(name, bias, X)
    here, *_ = a_point(run, width=8.0)
    if way == "products":
        monkeypatch.setattr(semismooth, "FACTORED", 2)
    inner, used = [], {"_by_samples": "samples", "_conjugate": "products"}
    for method in used:
        real = getattr(run, method)
        monkeypatch.setattr(run, method, lambda *a, real=real, method=method: inner.append(used[method]) or real(*a))
    found = run._direction(here)
    assert (inner or ["factor"]) == [way]
    Z = np.column_stack([X, np.ones(n)])
    H = Z.T @ np.diag(here.duals.curvature) @ Z + np.diag(np.append(np.ones(X.shape[1]), run.problem.m))
    if bias is Bias.NONE:
        H[-1], H[:, -1] = 0.0, 0.0
        H[-1, -1] = 1.0
    assert here.duals.curvature.any()
    error = H @ found + here.slope
    scale = np.append(np.ones(X.shape[1]), 1 / np.sqrt(here.corner if bias is not Bias.NONE else 1.0))
    most = 0.1 if way == "products" else 1e-9
    assert np.linalg.norm(scale * error) <= most * np.linalg.norm(scale * here.slope)


def test_directions_where_no_sample_curves():
    """With a free bias w and b have nothing to do with each other: the one that promises more."""
    run = newton("hinge", Bias.FREE)
    here, *_ = a_point(run)
    flat = here.duals._replace(curvature=np.zeros(n))
    for last, corner, wanted in ((3.0, 2.0, "bias"), (0.1, 2.0, "w"), (3.0, 2e6, "w")):
        slope = np.append(np.full(d, 0.5), last)
        found = run._direction(here._replace(duals=flat, slope=slope, corner=corner))
        expected = np.append(np.zeros(d), -last / corner) if wanted == "bias" else np.append(-slope[:-1], 0.0)
        np.testing.assert_allclose(found, expected)
    for bias in (Bias.NONE, Bias.PENALISED):
        run = newton("hinge", bias)
        here, *_ = a_point(run)
        here = here._replace(duals=here.duals._replace(curvature=np.zeros(n)), corner=run.problem.m or 1.0)
        wanted = -here.slope / np.append(np.ones(d), run.problem.m or 1.0)
        np.testing.assert_allclose(run._direction(here), wanted)


@pytest.mark.parametrize("bias", [Bias.FREE, Bias.PENALISED])
@pytest.mark.parametrize("name", CORRIDORS)
def test_a_step_ends_where_the_slope_along_it_is_a_tenth_of_the_first(name, bias):
    run = newton(name, bias)
    here, centre, width = a_point(run)
    for factor in (0.01, 1.0, 100.0):
        direction = factor * run._direction(here)
        first = here.slope @ direction
        change = A @ direction[:-1] + direction[-1]
        s = run._length(here, direction, change, centre, width)
        at = run._at(here.w + s * direction[:-1], here.bias + s * direction[-1], here.f + s * change, centre, width)
        assert abs(at.slope @ direction) <= 0.1001 * abs(first)
        assert s > 0
    w, b, f = run._step(here, centre, width)
    np.testing.assert_allclose(f, A @ w + b)
    new = run._at(w, b, f, centre, width)
    assert smooth(run.problem, A, new.w, new.bias, centre, width) < smooth(run.problem, A, here.w, here.bias, centre, width)
    assert run._step(here._replace(slope=np.zeros(d + 1)), centre, width) is None


def test_progress_is_a_new_least_value_of_one_kind_or_the_other():
    progress = semismooth._Progress()
    run = newton("hinge", Bias.NONE)
    here, *_ = a_point(run)

    def made(primal, own):
        return progress.made(here._replace(gap=Gap(primal, 0.0), own=own))

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


# ---- penalised absolute values --------------------------------------------------------------------------------------------------


def l1(bias, task="classes", X=A):
    corridor = CORRIDORS["squared_hinge" if task == "classes" else "squared_tube"]
    return lasso._Run(LinearProblem(corridor, bias, scaling=1.5), ArrayDesign(X), 1e-9, Monitor())


COLUMN = {Bias.NONE: 0.0, Bias.FREE: 1.0, Bias.PENALISED: 1.5}


@pytest.mark.parametrize("task", ["classes", "targets"])
@pytest.mark.parametrize("bias", Bias)
def test_a_point_of_the_lasso(bias, task):
    """Its slope is the losses', its duals are scaled by the best feasible factor."""
    run, u = l1(bias, task), 0.3 * np.random.default_rng(2).normal(size=d + 1)
    corridor, column = run.problem.corridor, COLUMN[bias]
    here = run.at(u)

    def losses(u):
        return corridor.losses(A @ u[:-1] + column * u[-1])

    h = 1e-6
    slope = [(losses(u + h * e) - losses(u - h * e)) / (2 * h) for e in np.eye(d + 1)]
    np.testing.assert_allclose(here.slope, slope, atol=1e-5)
    price = np.append(np.ones(d), 0.0 if bias is Bias.FREE else 1.0)
    assert here.primal == pytest.approx(price @ np.abs(u) + losses(u))
    np.testing.assert_array_equal(run.price, price)
    t = here.duals.t

    def gain(c):
        up, down = t > 0, t < 0
        value = c * (corridor.low[up] @ t[up] + corridor.high[down] @ t[down])
        return value - c * c * (np.sum(t[up] ** 2 / (4 * corridor.up[up])) + np.sum(t[down] ** 2 / (4 * corridor.down[down])))

    bound = max(1.0, np.abs(A.T @ t).max(), abs(1.5 * t.sum()) if bias is Bias.PENALISED else 0.0)
    best = max(gain(c) for c in np.linspace(0, 1 / bound, 1001))
    less = abs(u[-1] * t.sum()) if bias is Bias.FREE else 0.0
    assert here.dual == pytest.approx(best - less, rel=1e-4)
    assert gain(here.factor) == pytest.approx(best, rel=1e-4)
    wanted = [v != 0 or abs(s) > p for v, s, p in zip(u, here.slope, price, strict=True)]
    wanted[-1] = wanted[-1] or bias is not Bias.NONE
    assert run._wanted(here).tolist() == wanted
    nothing = run.at(np.zeros(d + 1))
    assert run._wanted(nothing).tolist() == [abs(s) > 1 for s in nothing.slope[:-1]] + [bias is not Bias.NONE]


@pytest.mark.parametrize("task", ["classes", "targets"])
@pytest.mark.parametrize("bias", Bias)
def test_solutions_of_the_lasso_have_feasible_duals(bias, task):
    run, u = l1(bias, task), 0.3 * np.random.default_rng(3).normal(size=d + 1)
    run.steps = 17
    here = run.at(u)
    found = run.solution(here, Status.STALLED)
    assert (found.ended, found.n_iter, found.bias) == (Status.STALLED, 17, pytest.approx(COLUMN[bias] * u[-1]))
    np.testing.assert_array_equal(found.w, u[:-1])
    np.testing.assert_allclose(found.f, A @ found.w + found.bias)
    np.testing.assert_allclose(found.Xt, A.T @ found.t, atol=1e-12)
    assert np.abs(found.Xt).max() <= 1 + 1e-14
    if bias is Bias.FREE:
        assert abs(found.t.sum()) <= 1e-14 * np.abs(found.t).sum()
    if bias is Bias.PENALISED:
        assert abs(1.5 * found.t.sum()) <= 1 + 1e-14
    gap = lasso._objectives(run.problem, found)
    penalty = abs(found.bias) / 1.5 if bias is Bias.PENALISED else 0.0
    assert gap.primal == pytest.approx(np.abs(found.w).sum() + penalty + run.problem.corridor.losses(found.f))
    double = lasso._objectives(run.problem, found._replace(t=10 * found.t, Xt=10 * found.Xt))
    reach = max(np.abs(found.Xt).max(), abs(1.5 * found.t.sum()) if bias is Bias.PENALISED else 0.0)
    shorter = lasso._objectives(run.problem, found._replace(t=found.t / reach, Xt=found.Xt / reach))
    assert double.dual == pytest.approx(shorter.dual), "what is too long is made shorter"
    if bias is Bias.FREE:
        assert lasso._objectives(run.problem, found._replace(t=np.abs(found.t))).dual == -np.inf


@pytest.mark.parametrize("bias", Bias)
def test_steps_of_the_lasso_go_where_the_objective_is_least(bias):
    """The whole way where that gains enough, else to the least value on the way; None where nothing is gained."""
    run, u = l1(bias), 0.1 * np.random.default_rng(4).normal(size=d + 1)
    u[-1] *= bias is not Bias.NONE
    here = run.at(u)
    down = -here.slope - run.price * np.sign(u)
    down[-1] *= bias is not Bias.NONE
    short = run._moved(here, u + 1e-4 * down)
    np.testing.assert_array_equal(short.u, u + 1e-4 * down)
    assert short.primal < here.primal
    far = run._moved(here, u + 10.0 * down)
    values = [run.at(u + s * 10.0 * down).primal for s in np.linspace(0, 1, 2001)]
    assert far.primal <= min(values) * (1 + 1e-9)
    assert far.primal < here.primal
    assert run._moved(here, u.copy()) is None
    assert run._moved(here, u - 1e-3 * down) is None, "uphill"
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
    found = run._conjugate(here, np.sum(Z**2, axis=0), 100, 1e-10)
    used = np.flatnonzero(u)
    right = -(here.slope + run.price * np.sign(u))
    wanted = u.copy()
    wanted[used] += np.linalg.solve(H[np.ix_(used, used)], right[used])
    crossed = (wanted * u < 0) & (run.price > 0)
    assert crossed.any()
    np.testing.assert_allclose(found, np.where(crossed, 0.0, wanted), atol=1e-7)


def test_the_lasso_counts_passes_and_steps(monkeypatch):
    """Those over the columns, and one for each step by conjugate gradients."""
    monkeypatch.setattr(lasso, "EXPLICIT", 2)
    counted = []
    real = Columns.descend

    def descend(self, u, f, most, monitor, steps):
        u, passes = real(self, u, f, most, monitor, steps)
        assert steps == sum(counted)
        counted.append(passes)
        counted.append(1)
        return u, passes

    monkeypatch.setattr(Columns, "descend", descend)
    problem = LinearProblem(CORRIDORS["squared_hinge"], Bias.FREE)
    found = lasso.solve(problem, ArrayDesign(A), 1e-9, Monitor())
    assert found.ended is None
    assert found.n_iter in (sum(counted), sum(counted) - 1), "no step after passes that suffice"
    for most in (1, 2, 3, 5):
        counted.clear()
        early = lasso.solve(problem, ArrayDesign(A), 1e-9, Monitor(max_iter=most))
        assert early.ended is Status.MAX_ITER
        assert most <= early.n_iter <= most + 1


def test_starts_of_solvers(monkeypatch):
    """From a solution nothing is left to do; the bias is measured in its column."""
    for bias in Bias:
        problem = LinearProblem(CORRIDORS["squared_hinge"], bias, scaling=1.5)
        for solver in (lasso, semismooth):
            found = solver.solve(problem, ArrayDesign(A), 1e-6, Monitor())
            assert found.ended is None
            assert solver.solve(problem, ArrayDesign(A), 1e-6, Monitor(), found).n_iter == 0
            assert solver.solve(problem, ArrayDesign(A), 1e-3, Monitor(), found._replace(t=np.empty(0))).n_iter <= 1
            assert isinstance(found, LinearSolution)
