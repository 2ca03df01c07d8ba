"""What solvers know about where they are, against definitions written out in plain Python: sizes,
rounding, the state, its error."""

import math

import numpy as np
import pytest
from scipy import sparse

from maxmargin.core.choose import HOST
from maxmargin.kernel import formulations, problems, training
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.solution import Level
from maxmargin.kernel.sources import Source, make_source
from maxmargin.kernel.state import State, finish
from maxmargin.kernel.tube import insensitive
from maxmargin.linear import bias_search, objectives, verification
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.gram import IncrementalGram
from maxmargin.linear.losses import Bias, LinearProblem, classification, one_class, regression
from maxmargin.linear.objectives import LinearSolution
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.online import epochs
from maxmargin.online.pegasos import Rule, Task
from maxmargin.status import Status
from maxmargin.verdict import GAP

rng = np.random.default_rng(21)
n = 30
A = rng.normal(size=(n, 4))
y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
z = rng.normal(size=n) + 3.0
C = rng.uniform(0.5, 2.0, n)
K = np.exp(-0.4 * ((A[:, None] - A[None]) ** 2).sum(axis=2))
EPS = 2.0**-52


# ---- linear models -------------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("bias", Bias)
def test_sizes_are_those_of_a_constant_model(bias, squared):
    power = 2 if squared else 1
    for tube, targets in (
        (classification(y, C, squared), None),
        (regression(z, C, 0.2, squared), z),
    ):
        problem = LinearProblem(tube, bias)
        centre = float(C @ z / C.sum()) if targets is not None and bias is Bias.FREE else 0.0
        assert bias_search.middle(problem) == pytest.approx(centre, abs=1e-12)
        short = [1.0] * n if targets is None else [max(0.0, abs(v - centre) - 0.2) for v in z]
        unit = sum(c * s for c, s in zip(C, short, strict=True)) / C.sum()
        scale = sum(c * s**power for c, s in zip(C, short, strict=True))
        largest = max(float(x @ x) for x in A)
        scale = min(scale, (1e-3 * unit) ** 2 / (2 * 1e-13 * largest))
        far = abs(centre) * C.sum() * (2 * unit if squared else 1.0)
        found = objectives.sizes(problem, ArrayDesign(A))
        assert found.unit == pytest.approx(unit)
        assert found.scale == pytest.approx(scale + EPS / 1e-13 * far)
        heavy = LinearProblem(tube.pick(np.arange(n), 1e10), bias)
        wanted = (1e-3 * unit) ** 2 / (2 * 1e-13 * 1e-2 * largest) + 1e10 * EPS / 1e-13 * far
        assert objectives.sizes(heavy, ArrayDesign(0.1 * A)).scale == pytest.approx(wanted)
        huge = objectives.sizes(problem, ArrayDesign(1e6 * A))
        assert huge.scale == pytest.approx(
            (1e-3 * unit) ** 2 / (2 * 1e-13 * 1e12 * largest) + EPS / 1e-13 * far, rel=1e-9, abs=0.0
        )


@pytest.mark.parametrize("free", [False, True])
def test_a_certificate_from_norms(free):
    tube, t, f = classification(y, C, False), 0.4 * y * C, A[:, 0] + 0.3
    found = linear_certificate.from_norms(f, tube, t, 3.0, 5.0, free)
    primal = 1.5 + sum(c * max(0.0, 1 - s * v) for c, s, v in zip(C, y, f, strict=True))
    dual = sum(abs(v) for v in t) - 2.5
    assert (found.primal, found.dual, found.gap) == pytest.approx((primal, dual, primal - dual))
    assert found.equality_violation == pytest.approx(abs(sum(t)) if free else 0.0)


@pytest.mark.parametrize("block", [1, 16, 10**6])
def test_products_with_data_in_blocks(block, monkeypatch):
    monkeypatch.setattr(linear_certificate, "BLOCK_ENTRIES", block)
    w, t = rng.normal(size=4), rng.normal(size=n)
    for X in (A, A.astype(np.float32), sparse.csr_matrix(A)):
        Xw, Xt = linear_certificate.linear_products(X, w, t)
        assert Xw.dtype == Xt.dtype == np.float64
        np.testing.assert_allclose(
            Xw, [sum(a * b for a, b in zip(x, w, strict=True)) for x in A], rtol=1e-5
        )
        np.testing.assert_allclose(Xt, sum(v * x for v, x in zip(t, A, strict=True)), rtol=1e-5)


def test_the_losses_of_some_samples():
    tube, some = regression(z, C, 0.2, True), np.array([3, 1, 8])
    for factor, picked in ((1.0, tube.pick(some)), (2.5, tube.pick(some, 2.5))):
        np.testing.assert_array_equal(picked.up, factor * C[some])
        np.testing.assert_array_equal(picked.down, factor * C[some])
        np.testing.assert_array_equal(picked.low, z[some] - 0.2)
        np.testing.assert_array_equal(picked.high, z[some] + 0.2)
        assert picked.squared


def test_the_weight_of_a_penalised_bias():
    tube = classification(y, C, False)
    assert LinearProblem(tube, Bias.PENALISED).m == 1.0
    assert LinearProblem(tube, Bias.PENALISED, 4.0).m == 1 / 16
    assert [LinearProblem(tube, bias, 4.0).m for bias in (Bias.NONE, Bias.FREE)] == [0.0, 0.0]


def test_sizes_of_equal_targets_and_of_one_class():
    for target, unit in ((0.0, 1.0), (-7.0, 7.0)):
        problem = LinearProblem(regression(np.full(n, target), C, 0.0, False), Bias.FREE)
        assert objectives.sizes(problem, ArrayDesign(A)).unit == pytest.approx(unit)
    total = 0.3 * float(C.sum())
    Xt = sum(0.3 * c * x for c, x in zip(C, A, strict=True))
    found = objectives.sizes(LinearProblem(one_class(C), Bias.FREE, total=total), ArrayDesign(A))
    assert found.unit == pytest.approx(float(Xt @ Xt) / total)
    tiny = objectives.sizes(
        LinearProblem(one_class(C), Bias.FREE, total=total), ArrayDesign(1e-9 * A)
    )
    assert tiny.unit == pytest.approx(1e-18 * float(Xt @ Xt) / total)
    nothing = objectives.sizes(
        LinearProblem(one_class(C), Bias.FREE, total=total), ArrayDesign(np.zeros((n, 2)))
    )
    assert nothing == (pytest.approx(total), pytest.approx(2.0))


def linear(factor=1.0):
    """A model, its problem and its data."""
    w, bias = rng.normal(size=4), 0.7
    design = ArrayDesign(factor * A)
    return (
        LinearProblem(classification(y, C, False), Bias.FREE),
        LinearSolution(w, bias, y * C, factor * A @ w + bias, w, None, 0),
        design,
    )


def test_rounding_of_decision_values():
    _, found, design = linear()
    longest, greatest = max(math.sqrt(x @ x) for x in A), 0.7 + max(abs(f) for f in found.f)
    assert verification.rounding(found, design, 1.0) == pytest.approx(
        EPS * (longest * math.sqrt(found.w @ found.w) + greatest), rel=1e-9, abs=0.0
    )
    terms = max(sum(abs(a * b) for a, b in zip(x, found.w, strict=True)) for x in A)
    assert verification.rounding(found, design, 1e-9) == pytest.approx(
        EPS * (terms + greatest), rel=1e-9, abs=0.0
    )


def test_losses_that_are_rounding_are_forgiven_where_they_are_negligible():
    problem, found, design = linear()
    error = 8 * verification.rounding(found, design, 1.0)

    def loss(wider):
        return sum(c * max(0.0, 1 - wider - s * f) for c, s, f in zip(C, y, found.f, strict=True))

    assert verification._rounding_losses(problem, found, design, 1.0) == pytest.approx(
        loss(0.0) - loss(error), rel=1e-2, abs=1e-14
    )
    assert verification._rounding_losses(problem, found, design, 1e-8) == 0.0
    assert verification._primal_error(problem, found, design, 0.0, 1.0) == 0.0
    assert verification._primal_error(problem, found, design, 1e-10, 1.0) == 0.0
    assert verification._primal_error(problem, found, design, 1e-10, 0.01) > 0.0
    assert verification._primal_error(problem, found, design, 0.25, 1.0) == pytest.approx(
        loss(-0.25) - loss(0.0)
    )


def test_a_smaller_problem_counts_its_samples_for_several():
    problem, _, design = linear()
    for seed in range(5):
        smaller, part, tol = LinearWorkspace(design, Monitor(), seed).subsample(problem)
        rows = [next(i for i in range(n) if np.array_equal(A[i], x)) for x in part.design.X]
        assert (tol, len(set(rows))) == (0.01, n // 8)
        assert rows == sorted(rows)
        np.testing.assert_allclose(smaller.tube.up, n / (n // 8) * problem.tube.up[rows])
        np.testing.assert_array_equal(smaller.tube.low, problem.tube.low[rows])


def test_gram_matrices_of_one_set_after_another():
    """Only samples that enter or leave are looked at, unless these are many.

    All weights may change in proportion.
    """
    gram, all_of_them = IncrementalGram(ArrayDesign(A).gram, 0.7), np.arange(n)
    for rows, factor in (
        (all_of_them, 1.0),
        (all_of_them[:-2], 1.0),
        (all_of_them[1:], 7.0),
        (all_of_them[:4], 1.0),
        (all_of_them[:0], 1.0),
    ):
        weight = np.zeros(n)
        weight[rows] = factor * C[rows]
        wanted = sum((weight[i] * np.outer(A[i], A[i]) for i in rows), np.zeros((4, 4)))
        np.testing.assert_allclose(gram.of_scaled(weight), wanted, atol=1e-12)


# ---- the state of a kernel machine ---------------------------------------------------------------


def state(problem, b, diagonal=1.0, **more):
    F = K @ problems.fold(problem, b, n)
    return State(problem, b, F, b.copy(), F.copy(), diagonal=diagonal, **more)


def inside(problem, share):
    """Variables a share of the way from one bound to the other."""
    return problem.lower + share * (problem.upper - problem.lower)


def test_objective_violation_and_gap_of_a_state():
    problem = problems.svr(insensitive(z, C, 0.1))
    b = inside(problem, rng.uniform(0.2, 0.8, 2 * n))
    at = state(problem, b)
    coef = b[:n] + b[n:]
    assert at.objective == pytest.approx(0.5 * coef @ K @ coef + problem.linear @ b)
    G = [(K @ coef)[i % n] + problem.linear[i] for i in range(2 * n)]
    np.testing.assert_allclose(at.G, G)
    assert at.violation == pytest.approx(max(G) - min(G)), "all are free"
    level = -sum(G) / (2 * n)
    gap = sum(
        (g + level) * (b[i] - (problem.lower if g + level > 0 else problem.upper)[i])
        for i, g in enumerate(G)
    )
    assert at.gap == pytest.approx(gap)
    assert at.support_vectors == n
    assert at.unit(at.G) == 1.0
    relative = gap / max(abs(at.objective), abs(gap - at.objective))
    assert at.gap_is_small(1.001 * relative / GAP)
    assert not at.gap_is_small(0.999 * relative / GAP)


def test_no_dual_value_exceeds_the_primal_value_of_nothing():
    problem = problems.c_svc(y, C)
    at = state(problem, inside(problem, 0.5), diagonal=2.0)
    total = sum(abs(v) for v in at.b)
    assert at.ceiling == pytest.approx(
        float(C.sum()) * (1 + 1e-6) + 1e-6 * 2.0 * total**2 + 1e-12, rel=1e-12
    )


def test_margins_are_the_unit_of_nu_classification():
    problem = problems.nu_svc(y, C, 0.4)
    at = state(problem, inside(problem, 0.5))
    levels = [-float(at.G[problem.group == g].mean()) for g in (0, 1)]
    assert at.unit(at.G) == pytest.approx(max((levels[1] - levels[0]) / 2, 1e-300))
    assert at.unit(np.where(problem.group == 0, 1.0, -3.0)) == pytest.approx(2.0)
    assert at.unit(np.where(problem.group == 0, -3.0, 1.0)) == 1e-300


def test_variables_within_rounding_of_a_bound_are_put_onto_it():
    problem = problems.one_class(np.full(4, 2.0), 0.5)
    at = State(problem, np.array([1e-13, 2.0 - 1e-13, 1e-9, 2.0 - 1e-9]), *[np.zeros(4)] * 3)
    at.snap()
    assert at.b.tolist() == [0.0, 2.0, 1e-9, 2.0 - 1e-9]


def test_a_variable_put_onto_its_bound_leaves_the_sum_of_its_group():
    problem = problems.nu_svc(np.repeat([1.0, -1.0], 3), np.ones(6), 0.5)
    b = np.array([0.5, 1 - 1e-13, 0.0, -0.25, -1 + 2e-13, -0.25 - 2e-13])
    at = State(problem, b, *[np.zeros(6)] * 3)
    at.snap()
    assert at.b.tolist()[1:5:3] == [1.0, -1.0]
    for g in (0, 1):
        assert at.b[problem.group == g].sum() == pytest.approx(
            b[problem.group == g].sum(), abs=1e-15
        )
    at = State(problem, np.array([1.0, 1 - 1e-13, 0.0, -1.0, -1.0, 0.0]), *[np.zeros(6)] * 3)
    at.snap()  # no variable of the group is free: the sum is that of the bounds
    assert at.b.tolist() == [1.0, 1.0, 0.0, -1.0, -1.0, 0.0]


def test_what_pair_steps_meet_is_kept():
    plain, squared = problems.c_svc(y, np.full(n, np.inf)), problems.c_svc(y, C, True)
    for problem, convex, met, wanted in (
        (plain, False, (True, False), (True, False)),
        (plain, True, (True, False), (False, False)),
        (plain, True, (True, True), (False, True)),
        (plain, False, (False, True), (False, True)),
        (squared, True, (False, True), (False, False)),
    ):
        at = State(problem, np.zeros(n), *[np.zeros(n)] * 3, convex=convex)
        at.note(*met)
        assert (at.indefinite, at.unbounded) == wanted
    for problem, met in ((plain, (True, True)), (squared, (False, True))):
        with pytest.raises(ValueError, match="no minimum"):
            State(problem, np.zeros(n), *[np.zeros(n)] * 3).note(*met)
    assert State(plain, np.zeros(n), *[np.zeros(n)] * 3, unbounded=True).no_minimum()


def test_variables_without_bounds_that_grow_without_end():
    plain, bounded = problems.c_svc(y, np.full(n, np.inf)), problems.c_svc(y, C)
    for problem, size, beyond in (
        (plain, 1e99, False),
        (plain, 1e101, True),
        (plain, np.nan, True),
        (bounded, 1e101, False),
    ):
        assert State(problem, np.zeros(n), *[np.zeros(n)] * 3).beyond(np.full(n, size)) is beyond


def test_decision_values_are_made_exact():
    source, problem = make_source(Kernel.rbf(gamma=0.4), A), problems.c_svc(y, C)
    b = inside(problem, 0.3)
    at = State(problem, b, np.zeros(n), np.zeros(n), np.zeros(n))
    assert at.make_exact(source, Monitor())
    np.testing.assert_allclose(at.F, K @ b, rtol=1e-12)
    at.b, at.F = inside(problem, 0.6), np.zeros(n)
    assert at.make_exact(source, Monitor())
    np.testing.assert_allclose(at.F, K @ at.b, rtol=1e-12)
    np.testing.assert_array_equal(at.F_exact, at.F)
    np.testing.assert_array_equal(at.b_exact, at.b)
    assert at.begin_at(b, source, Monitor())
    np.testing.assert_allclose(at.F, K @ b, rtol=1e-5)
    assert not at.b_exact.any()


def test_a_spot_check_sees_errors_beyond_the_room_there_is():
    """Of the tolerance the violation takes its part.

    Half of the rest may be wrong in either of two values.
    """
    source, problem = make_source(Kernel.rbf(gamma=0.4), A), problems.c_svc(y, C)
    b = inside(problem, 0.5)
    exact = state(problem, b)
    room = 0.25
    tol = exact.violation + 2 * room
    for error, passes in ((0.9 * room, True), (1.1 * room, False)):
        at = state(problem, b)
        at.b_exact, at.F_exact = np.zeros(n), np.zeros(n)
        at.F = exact.F + error  # the same for all: no violation more or less
        assert at.spot_check(source, tol) is passes
        np.testing.assert_allclose(at.F, exact.F, rtol=1e-12)
    assert not state(problem, b).spot_check(source, 0.9 * exact.violation)


def test_a_problem_without_a_minimum_ends_as_degenerate():
    problem = problems.c_svc(y, C)
    for unbounded, reason, wanted in (
        (True, None, Status.DEGENERATE),
        (True, Status.STALLED, Status.DEGENERATE),
        (True, Status.TIME_LIMIT, Status.TIME_LIMIT),
        (False, None, None),
    ):
        at = state(problem, inside(problem, 0.5), diagonal=3.0, unbounded=unbounded, steps=17)
        found = finish(at, reason)
        assert (found.ended, found.n_iter, found.diagonal) == (wanted, 17, 3.0)
        value = -float(at.G.mean())
        assert found.levels == (Level(*[pytest.approx(value)] * 3),)


class Rounded(Source):
    """Answers what a bound asks: a given error and the sums of the values."""

    def __init__(self, error, other=True):
        self.value_error, self.other, self.n_rows, self.n_columns = error, other, n, n
        self.backend = HOST

    def by_differences(self):
        return self if self.other else None

    def block(self, a, b, dtype):
        return K[np.ix_(a, np.arange(n) if b is None else b)].astype(dtype)

    def add_product(self, a, coef, b, out, dtype):
        out += coef.T @ self.block(a, b, dtype)


def test_the_bound_of_kernel_values_suffices_for_the_tolerance():
    """A quarter of the tolerance: by the sum of the coefficients, or by the sums of values, which
    float32 knows to 10 %."""
    coef = rng.normal(size=n)
    size, sums = np.abs(coef).sum(), (K @ np.abs(coef)).max()
    decision = formulations.Decision(coef, 0.0, (0.0, 0.0), unit=2.0)
    assert 1.1 * sums < 0.9 * size
    for most, other, suffices in (
        (1.01 * size, True, True),
        (0.99 * size, True, True),
        (0.99 * size, False, False),
        (1.11 * sums, True, True),
        (1.09 * sums, True, False),
    ):
        source = Rounded(0.25 * 1e-3 * 2.0 / most, other)
        assert bool(training.bound_suffices(source, decision, 1e-3)) is suffices
    assert training.bound_suffices(Rounded(0.0), decision, 0.0)
    assert training.bound_suffices(Rounded(1.0), decision._replace(coef=np.zeros(n)), 0.0), (
        "nothing to move"
    )
    one = decision._replace(coef=coef * 0.85 / sums)
    assert np.abs(one.coef).sum() > 1.0
    assert training.bound_suffices(Rounded(0.25 * 1e-3 * 2.0), one, 1e-3)
    assert not training.bound_suffices(Rounded(np.inf), decision, 1e-3)


def test_a_few_of_each_class_stand_for_all_where_there_are_many(monkeypatch):
    monkeypatch.setattr(epochs, "SETTINGS", epochs.SETTINGS._replace(bias_samples=10))
    task = Task(y[None], C / C.mean(), np.arange(n))
    look = epochs._bias_problems(task, Rule(0.5, 1, False, True, False), [])
    assert sorted(np.count_nonzero(y[look.rows] == sign) for sign in (1, -1)) == [5, 5]
    (problem,) = look.problems
    assert problem.bias is Bias.FREE
    for sign, cost in ((1.0, problem.tube.up), (-1.0, problem.tube.down)):
        np.testing.assert_array_equal(cost > 0, y[look.rows] == sign)
        assert cost.sum() == pytest.approx(task.weight[y == sign].sum() / (n * 0.5)), (
            "the weight of the whole class"
        )
    monkeypatch.setattr(epochs, "SETTINGS", epochs.SETTINGS._replace(bias_samples=n))
    assert epochs._bias_problems(task, Rule(0.5, 1, False, True, False), ["all"]) == (None, ["all"])
