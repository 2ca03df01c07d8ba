"""The parts of dual solvers of linear models against their definitions: free duals, epochs,
checks of the gap, subspace steps."""

import numpy as np
import pytest

from linear_cases import tubes
from maxmargin import LinearSVC
from maxmargin.linear import dual_coordinate, subspace
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem
from maxmargin.linear.objectives import Gap, LinearSolution, feasible
from maxmargin.linear.subspace import DualIterate
from maxmargin.monitor import Monitor
from maxmargin.status import Status

rng = np.random.default_rng(8)
n, d = 21, 4
A = rng.normal(size=(n, d))
y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
z = rng.normal(size=n) + 1.0
C = rng.uniform(0.5, 2.0, n)
TUBES = tubes(y, z, C)


def duals(name, draw, size=1.0):
    """Duals inside their bounds, some of them at a bound or 0."""
    tube = TUBES[name]
    t = np.where(draw.random(n) < 0.5, tube.up, -tube.down) * draw.choice([0.0, 0.3, 0.6, 1.0], n)
    t = np.where((t == 0) & (draw.random(n) < 0.5), 0.4 * (tube.up - tube.down), t)
    return size * t


def a_problem(name, bias):
    total = 0.3 * float(C.sum()) if name == "one_class" else 0.0
    return LinearProblem(TUBES[name], bias, scaling=1.5, total=total)


@pytest.mark.parametrize("name", TUBES)
def test_a_face_is_where_duals_are_strictly_inside_their_bounds(name):
    tube, t = TUBES[name], duals(name, np.random.default_rng(1))
    wanted = [
        v != 0 and (tube.squared or -b < v < a)
        for v, a, b in zip(t, tube.up, tube.down, strict=True)
    ]
    assert 0 < sum(wanted) < n
    assert subspace.free_variables(a_problem(name, Bias.NONE), t).tolist() == wanted


def gain(tube, i, t):
    """gain_i(t) as at the top of linear/losses.py."""
    value, price = (
        (tube.low[i] * t, tube.up[i])
        if t > 0
        else (tube.high[i] * t, tube.down[i])
        if t < 0
        else (0.0, 1.0)
    )
    return value - (t * t / (4 * price) if tube.squared else 0.0)


def objective(problem, X, t, guess, column):
    """D with the bias penalised around a guess."""
    w, excess = sum(v * x for v, x in zip(t, X, strict=True)), sum(t) - problem.total
    return (
        sum(gain(problem.tube, i, v) for i, v in enumerate(t))
        - 0.5 * float(w @ w)
        - guess * excess
        - 0.5 * column * excess**2
    )


@pytest.mark.parametrize("column", [0.0, 0.7])
@pytest.mark.parametrize("name", TUBES)
def test_a_subspace_step_goes_to_the_best_values_of_the_free_duals(name, column, monkeypatch):
    """The whole way, or clipped to the bounds, or half or a quarter or an eighth of the way where
    the objective would fall.
    """
    monkeypatch.setattr(subspace, "SETTINGS", subspace.SETTINGS._replace(accuracy=1e-24))
    lengths = set()
    for seed in range(30):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(n, 25)) * 10 ** draw.uniform(-1, 0.3)
        X += 2 * draw.normal(size=25) * (seed % 2)
        problem, design, t = a_problem(name, Bias.FREE), ArrayDesign(X), duals(name, draw)
        guess = 0.3 if column else 0.0
        here = DualIterate(
            t, X.T @ t, guess, column, guess + column * (float(t.sum()) - problem.total)
        )
        where = np.flatnonzero(subspace.free_variables(problem, t))
        model = problem, design, here, where, design.squares
        found = subspace.subspace_step(*model, 100, Monitor())
        tube, some = problem.tube, X[where]
        up = t[where] > 0
        price = np.where(up, tube.up[where], tube.down[where])
        ridge = 1 / (2 * price) if tube.squared else 0 * price
        H = some @ some.T + column + np.diag(ridge)
        edge = np.where(up, tube.low[where], tube.high[where])
        change = np.linalg.solve(H, edge - some @ here.w - here.bias - ridge * t[where])
        before, wanted, taken = objective(problem, X, t, guess, column), t, 0.0
        for length in (1.0, 0.5, 0.25, 0.125):
            new = t.copy()
            most = np.inf if tube.squared else price
            new[where] = np.clip(
                t[where] + length * change, np.where(up, 0.0, -most), np.where(up, most, 0.0)
            )
            if objective(problem, X, new, guess, column) >= before:
                wanted, taken = new, length
                break
        lengths.add(taken)
        np.testing.assert_allclose(found.t, wanted, atol=1e-6)
        np.testing.assert_allclose(found.w, X.T @ found.t, atol=1e-9)
        assert found.bias == pytest.approx(guess + column * (float(found.t.sum()) - problem.total))
        assert subspace._objective(problem, found) == pytest.approx(
            objective(problem, X, found.t, guess, column)
        )
    assert 1.0 in lengths
    assert name != "hinge" or {0.0, 0.125} <= lengths


def run_at(name, bias, t=None, **more):
    problem, start = a_problem(name, bias), None
    if t is not None:
        start = LinearSolution(np.zeros(d), -0.4, t, np.zeros(n), np.zeros(d), None, 0)
    return dual_coordinate._Run(problem, ArrayDesign(A), Monitor(**more), start, 0)


@pytest.mark.parametrize("C", [4e-10, 1e-3, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_free_bias_is_found_at_any_C(loss, C):
    """However small C is, all duals together can move the bias from class to class."""
    for seed in range(10):
        draw = np.random.default_rng(seed)
        X, y = draw.normal(size=(22, 3)), draw.integers(0, 2, 22)
        model = LinearSVC(C=C, loss=loss, solver="coordinate", max_iter=200).fit(X, y)
        assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", ["hinge", "tube", "squared_tube", "one_class"])
def test_a_descent_begins_at_a_start(name, bias):
    """The duals of the start, made feasible.

    A free bias is penalised around that of the start. Its column is a tenth of the mean square, or
    the spread of the ends over the sum of the bounds where that is more.
    """
    t = duals(name, np.random.default_rng(2), 1.3)
    for start in (t, np.empty(0)):
        run = run_at(name, bias, start)
        problem = run.problem
        wanted = feasible(problem, start) if len(start) else np.zeros(n)
        np.testing.assert_array_equal(run.here.t, wanted)
        np.testing.assert_allclose(
            run.here.w, sum(v * x for v, x in zip(wanted, A, strict=True)), atol=1e-12
        )
        column = {
            Bias.NONE: 0.0,
            Bias.FREE: 0.1 * sum(float(x @ x) for x in A) / n,
            Bias.PENALISED: 1.5**2,
        }[bias]
        guess = -0.4 if bias is Bias.FREE else 0.0
        assert run.here.column == pytest.approx(column)
        assert run.here.multiplier == guess
        assert run.here.bias == pytest.approx(guess + column * (sum(wanted) - problem.total))
    low, high, up, down, _ = problem.tube
    ends = [end for end, cost in zip([*low, *high], [*up, *down], strict=True) if cost > 0]
    least = np.std(ends) / sum(max(pair) for pair in zip(up, down, strict=True))
    for factor in (1e3, 1e-3):
        other = dual_coordinate._Run(run.problem, ArrayDesign(factor * A), Monitor(), None, 0)
        scaled = max(factor**2 * column, least)
        assert other.here.column == pytest.approx(scaled if bias is Bias.FREE else column)
    cold = run_at(name, bias)
    assert cold.here.multiplier == pytest.approx(
        float(C @ z / C.sum()) if "tube" in name and bias is Bias.FREE else 0.0
    )
    assert not cold.here.t.any()


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "tube", "one_class"])
def test_a_pass_keeps_weights_and_bias_up_to_date(name, bias):
    run = run_at(name, bias, duals(name, np.random.default_rng(3), 0.5))
    problem = run.problem
    before = run.here.multiplier
    for passes in (1, 2, 3):
        met, violation = run._epoch()
        here = run.here
        np.testing.assert_allclose(here.w, A.T @ here.t, atol=1e-12)
        excess = here.column * (sum(here.t) - problem.total)
        guess = before + 0.5 * excess if bias is Bias.FREE else 0.0
        assert here.multiplier == pytest.approx(guess)
        assert here.bias == pytest.approx(guess + excess)
        assert run.epochs == passes
        assert met > 0
        assert violation > 0
        assert run.shrink_above == pytest.approx(30 * met / run.active)
        before = here.multiplier


@pytest.mark.parametrize("column", [0.0, 0.7])
@pytest.mark.parametrize("name", ["hinge", "squared_hinge"])
def test_losses_with_one_end_are_met_as_others_are(name, column):
    """A sample with two ends, which is never visited, sends the others the general way."""
    tube, results = TUBES[name], []
    for two_ended in (False, True):
        m = n + two_ended
        X = np.vstack([A, np.zeros((m - n, d))])
        more = (np.full(m - n, v) for v in (-1.0, 1.0, 1.0, 1.0))
        ends = [np.append(v, w) for v, w in zip(tube[:4], more, strict=True)]
        design, t, w = ArrayDesign(X), np.zeros(m), np.zeros(d)
        descent = design.backend.coordinate_descent(
            design.points, type(tube)(*ends, tube.squared), design.squares, t, column
        )
        order, active, bias = np.arange(m, dtype=np.int32), n, 0.0
        for epoch in range(6):
            gap, worst, _, bias = descent.run(w, bias, order, active, 0, 0.5, epoch, 1)
            active = descent.settle(order)
            value = descent.duals(t)
            results.append((t[:n].copy(), w.copy(), bias, gap, worst, value, active))
        assert value == pytest.approx(sum(gain(tube, i, v) for i, v in enumerate(t[:n])))
        assert active < n
    for one, other in zip(results[:6], results[6:], strict=True):
        for found, wanted in zip(one, other, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stopped", [False, True])
def test_parts_of_a_pass_are_added_up(stopped):
    """Between two of them the monitor may stop the work.

    They share a seed, which the next pass does not.
    """
    run = run_at("hinge", Bias.PENALISED)
    calls, seeds = [], []

    class Descent:
        """Takes three calls for a pass."""

        def run(self, w, bias, order, active, at, aside, seed, threads):
            calls.append((bias, at))
            seeds.append(seed)
            if stopped and len(calls) == 2:
                run.monitor.interrupted.set()
            return 1.0, (0.5, 4.0, 2.0)[at], n if at == 2 else at + 1, bias + 1.0

        def settle(self, order):
            return 10

        def duals(self, t):
            t[:] = 0.25
            return 7.0

    run.descent = Descent()
    begin = run.here.bias
    met, violation = run._epoch()
    parts = 2 if stopped else 3
    assert calls == [(begin + k, k) for k in range(parts)]
    assert (met, violation) == (float(parts), 4.0)
    assert (run.active, run.epochs, run.here.bias) == (10, 1, begin + parts)
    assert (run.here.t == 0.25).all()
    assert run.value == 7.0 - 0.5 * float(run.here.w @ run.here.w)
    run._epoch()
    assert len(set(seeds[:parts])) == 1
    assert len(set(seeds)) == 2


@pytest.mark.parametrize("bias", Bias)
@pytest.mark.parametrize("name", TUBES)
def test_a_look_computes_the_gap_and_wakes_samples_whose_conditions_do_not_hold(name, bias):
    run = run_at(name, bias, duals(name, np.random.default_rng(4)))
    problem = run.problem
    tube = problem.tube
    run.order, run.active = np.arange(n, dtype=np.int32)[::-1].copy(), 7
    found, gap = run._solution(1e-9, None)
    woken = run._return_shrunk(found)
    s, t = run.here.t, feasible(problem, run.here.t)
    w = A.T @ t
    b = best_bias(problem, A @ w, run.here.bias)
    f = A @ w + b
    wrong = [
        (f[i] < tube.low[i] and s[i] < tube.up[i])
        or (f[i] > tube.high[i] and -s[i] < tube.down[i])
        or (s[i] > 0 and f[i] > tube.low[i])
        or (s[i] < 0 and f[i] < tube.high[i])
        for i in range(n)
    ]
    aside = list(range(n))[::-1][7:]
    assert 0 < woken == sum(wrong[i] for i in aside)
    assert run.active == 7 + woken
    assert run.order[7:].tolist() == [i for i in aside if wrong[i]] + [
        i for i in aside if not wrong[i]
    ]
    primal = 0.5 * float(w @ w) + 0.5 * problem.m * b * b + problem.total * b + tube.losses(f)
    penalty = 0.5 * (sum(t) - problem.total) ** 2 / problem.m if bias is Bias.PENALISED else 0.0
    dual = sum(gain(tube, i, v) for i, v in enumerate(t)) - 0.5 * float(w @ w) - penalty
    assert gap.primal == pytest.approx(primal)
    assert gap.dual == pytest.approx(dual)
    assert gap.scale == run.scale
    for reason, ended in ((None, Status.STALLED), (Status.TIME_LIMIT, Status.TIME_LIMIT)):
        found, _ = run._solution(1e-9, reason)
        assert (found.bias, found.ended, found.n_iter) == (pytest.approx(b), ended, 0)
        np.testing.assert_allclose(found.f, f)
        np.testing.assert_allclose(found.w, w)
        np.testing.assert_array_equal(found.Xt, found.w)
    assert run._solution(10.0, Status.TIME_LIMIT)[0].ended is None


def test_a_look_at_a_free_bias_is_at_duals_with_the_right_sum():
    run = run_at("hinge", Bias.FREE)
    run._epoch()
    assert abs(run.here.t.sum()) > 0.1
    _, gap = run._solution(1e-9, None)
    t = feasible(run.problem, run.here.t)
    w = A.T @ t
    b = best_bias(run.problem, A @ w)
    assert gap.primal == pytest.approx(0.5 * w @ w + run.problem.tube.losses(A @ w + b))
    assert gap.dual == pytest.approx(np.abs(t).sum() - 0.5 * w @ w)


@pytest.mark.parametrize(
    ("bias", "violations", "woken", "passes", "ended"),
    [
        (Bias.NONE, [0.0], [0], 1, Status.STALLED),
        (Bias.NONE, [0.0, 0.0], [1, 0], 2, Status.STALLED),
        (Bias.NONE, [0.0, 0.0, 0.0], [2, 1, 0], 3, Status.STALLED),
        (Bias.NONE, [1.0] * 12, [0] * 12, 12, Status.MAX_ITER),
        (Bias.FREE, [0.0] * 12, [0] * 12, 12, Status.MAX_ITER),
    ],
)
def test_passes_end_where_no_dual_moves_any_more(
    bias, violations, woken, passes, ended, monkeypatch
):
    """Though the gap is not small: rounding is left. A free bias must have come to rest too."""
    run = run_at("hinge", bias, max_iter=12)
    run.here = run.here._replace(bias=run.here.multiplier + 1.0)
    looks = iter(woken)
    poor = LinearSolution(A[0], 0.0, C, C, A[0], Status.STALLED, 0)

    def one_pass():
        run.epochs += 1
        return 1.0, violations[run.epochs - 1]

    monkeypatch.setattr(run, "_epoch", one_pass)
    monkeypatch.setattr(run, "_return_shrunk", lambda found: next(looks))
    monkeypatch.setattr(
        run,
        "_solution",
        lambda tol, reason: (
            poor._replace(ended=reason or Status.STALLED, n_iter=run.epochs),
            Gap(1.0, 0.0),
        ),
    )
    monkeypatch.setattr(dual_coordinate, "free_variables", lambda problem, t: np.zeros(n, bool))
    monkeypatch.setattr(dual_coordinate, "subspace_step", None)  # no dual is free
    found = run.until(1e-9)
    assert (found.ended, found.n_iter) == (ended, passes)


@pytest.mark.parametrize(
    ("tol", "quick", "wanted"),
    [
        (1e-9, 0, [8, 16, 32]),
        (2.0**-10, 0, [8, 13, 14, 15, 16]),
        (2.0**-3, 0, [3, 6, 7, 8, 9, 10]),
        (2.0**-3, 1000, [16, 17, 18]),
    ],
)
def test_looks_are_at_growing_intervals_or_where_the_gap_promises_to_be_small(
    tol, quick, wanted, monkeypatch
):
    """After 8 passes, then whenever there are twice as many; and where half of what a pass met, or
    4 times that as at the last look, is within tol: on few values not before the 16th pass."""
    monkeypatch.setattr(
        dual_coordinate, "SETTINGS", dual_coordinate.SETTINGS._replace(quick_epoch=quick)
    )
    run, looked = run_at("hinge", Bias.NONE, max_iter=wanted[-1]), []

    def met():
        return 0.5 ** (run.epochs - 1) if tol > 1e-9 else 1.0

    def one_pass():
        run.epochs, run.value = run.epochs + 1, 1.0
        return met(), 1.0

    def look(tol, reason):
        found = LinearSolution(A[0], 0.0, C, C, A[0], reason or Status.STALLED, 0)
        if reason is None:
            looked.append(run.epochs)
        return found, Gap(1.0, 1.0 - 4 * met())

    monkeypatch.setattr(run, "_epoch", one_pass)
    monkeypatch.setattr(run, "_solution", look)
    monkeypatch.setattr(run, "_return_shrunk", lambda found: 1)
    monkeypatch.setattr(dual_coordinate, "free_variables", lambda problem, t: np.zeros(n, bool))
    monkeypatch.setattr(dual_coordinate, "subspace_step", None)  # no dual is free
    assert run.until(tol).ended is Status.MAX_ITER
    assert looked == wanted


def test_subspace_steps_wait_until_the_free_duals_have_settled(monkeypatch):
    """At the earliest after 5 passes, then 5 passes after the last step, and only where at most
    3 % of the free duals changed. Steps that do not pay get half as many products, at least 3.
    """
    for changes, size, wanted in (
        ([0] * 28, n // 2, [5, 10, 15, 20, 25]),
        ([0] * 28, 1, [5, 10, 15, 20, 25]),
        ([1] * 6 + [0] * 22, n // 2, [7, 12, 17, 22, 27]),
    ):
        run, leapt, products = run_at("hinge", Bias.NONE, max_iter=28), [], []

        def one_pass(run=run):
            run.epochs += 1
            return 1.0, 1.0

        def inside(problem, t, run=run, changes=changes, size=size):
            found = np.arange(n) < size
            return (
                found ^ (np.arange(n) == 0) if changes[run.epochs - 1] and run.epochs % 2 else found
            )

        def leap(
            problem, design, here, where, squares, most, monitor,
            run=run, leapt=leapt, products=products, size=size,
        ):  # fmt: skip
            leapt.append(run.epochs)
            products.append(most)
            assert where.tolist() == list(range(size))
            return here._replace(t=here.t) if len(leapt) == 4 else here

        monkeypatch.setattr(run, "_epoch", one_pass)
        poor = LinearSolution(A[0], 0.0, C, C, A[0], Status.MAX_ITER, 0)
        monkeypatch.setattr(run, "_solution", lambda tol, reason, poor=poor: (poor, Gap(1.0, 0.0)))
        monkeypatch.setattr(run, "_return_shrunk", lambda found: 1)
        monkeypatch.setattr(dual_coordinate, "free_variables", inside)
        monkeypatch.setattr(dual_coordinate, "subspace_step", leap)
        run.until(1e-9)
        assert leapt == wanted
        assert products == [25, 12, 6, 3, 6]


@pytest.mark.parametrize(("last", "wanted"), [(0.9, [5, 10, 15, 20]), (0.4, [5, 10])])
def test_no_subspace_step_where_few_passes_are_left(last, wanted, monkeypatch):
    """Eight more at the latest rate reach the tolerance from 0.4**14, not from 0.9**19."""
    run, leapt = run_at("hinge", Bias.NONE, max_iter=20), []

    def one_pass():
        run.epochs, run.value = run.epochs + 1, 1.0
        return (0.9 if run.epochs < 12 else last) ** (run.epochs - 1), 1.0

    def leap(*arguments):
        leapt.append(run.epochs)
        return arguments[2]

    def look(tol, reason):
        poor = LinearSolution(A[0], 0.0, C, C, A[0], Status.MAX_ITER, 0)
        return poor, Gap(1.0, 1.0 - (0.9 if run.epochs < 12 else last) ** (run.epochs - 1))

    monkeypatch.setattr(run, "_epoch", one_pass)
    monkeypatch.setattr(run, "_solution", look)
    monkeypatch.setattr(run, "_return_shrunk", lambda found: 1)
    monkeypatch.setattr(dual_coordinate, "free_variables", lambda problem, t: np.ones(n, bool))
    monkeypatch.setattr(dual_coordinate, "subspace_step", leap)
    run.until(1e-9)
    assert leapt == wanted
