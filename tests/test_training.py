"""From a solution to a verdict: what is computed again, what is audited, which of several problems
run when."""

import numpy as np
import pytest

from helpers import settings
from maxmargin.certificate import Certificate
from maxmargin.core import threads
from maxmargin.core.threads import thread_count
from maxmargin.kernel import audit as auditing
from maxmargin.kernel import block, formulations, problems, training
from maxmargin.kernel import certificate as kernel_certificate
from maxmargin.kernel import workspace as workspace_module
from maxmargin.kernel.damping import Primal, damped
from maxmargin.kernel.formulations import Decision, Formulation, given
from maxmargin.kernel.kernels import Kernel
from maxmargin.kernel.solution import Level, Solution
from maxmargin.kernel.sources import NativeSource, make_source
from maxmargin.kernel.training import Method, Task
from maxmargin.kernel.tube import insensitive
from maxmargin.kernel.workspace import KernelWorkspace, Samples
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.training import train_many

rng = np.random.default_rng(17)
n = 40
X = rng.normal(size=(n, 3))
y = np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0)
C = rng.uniform(0.5, 2.0, n)
RBF = Kernel.rbf(gamma=0.4)
SOURCE = NativeSource(RBF, X)
K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
PROBLEM = problems.c_svc(y, C)


def space(source=SOURCE, kernel=RBF, data=X, monitor=None):
    return KernelWorkspace(source, monitor or Monitor(), 200.0, Samples(kernel, data))


def trained(form, kernel=RBF, monitor=None):
    return training.train(
        Task(form, 1e-3), KernelWorkspace.of(kernel, X, monitor or Monitor(), 200.0)
    )


def solution(b, part, level=0.25, ended=None, n_iter=7, **more):
    return Solution(ended, b, part, (Level(level, level, level),), n_iter, False, 1.0, **more)


# ---- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("small", [False, True])
def test_near_the_boundary_values_are_computed_in_float64(small, monkeypatch):
    settings(monkeypatch, workspace_module, small=n if small else n - 1)
    b = np.where(rng.random(n) < 0.5, 0.4 * y * C, 0.0)
    wrong = K @ b + 0.1
    tol = float(np.median(np.abs(wrong + 0.25 + PROBLEM.linear))) / 2
    found = training._with_exact_boundary(PROBLEM, solution(b, wrong), space(), tol)
    near = np.abs(wrong + 0.25 + PROBLEM.linear) <= 2 * tol
    assert 10 < near.sum() < 30
    np.testing.assert_allclose(
        found.kernel_part, wrong if small else np.where(near, K @ b, wrong), rtol=1e-12
    )
    assert found.n_iter == 7


@pytest.mark.parametrize("entries", [1, 2**22])
def test_sizes_of_the_terms_of_values_near_0(entries, monkeypatch):
    settings(monkeypatch, training.evaluation, entries=entries)
    settings(monkeypatch, training, near_zero=0.05)
    b = np.where(rng.random(n) < 0.5, 0.4 * y * C, 0.0)
    part, diagonal = K @ b, np.linspace(0.5, 2.0, n)
    monkeypatch.setattr(training, "kernel_diagonal", lambda kernel, data: diagonal)
    found = training._with_exact_boundary(PROBLEM, solution(b, part), space(), 1e-3)
    assert found.diagonal == 2.0
    reach = [
        np.sqrt(diagonal[i]) * sum(abs(b[j]) * np.sqrt(diagonal[j]) for j in range(n))
        for i in range(n)
    ]
    near = [part[i] + 0.25 + PROBLEM.linear[i] < 0.05 * reach[i] for i in range(n)]
    assert 0 < sum(near) < n
    wanted = [
        sum(abs(b[j] * K[i, j]) for j in range(n)) if near[i] else abs(part[i]) for i in range(n)
    ]
    np.testing.assert_allclose(found.size, wanted)


def test_a_kernel_part_computed_again_brings_its_levels():
    b = np.where(rng.random(n) < 0.5, 0.4 * y * C, 0.0)
    found = training._in_float64(PROBLEM, solution(b, K @ b + 3.0), SOURCE)
    np.testing.assert_allclose(found.kernel_part, K @ b, rtol=1e-12)
    free = b != 0
    assert found.levels[0].value == pytest.approx(float((y - K @ b)[free].mean()))


class Steps:
    """Stands for a solver: solutions as told, and what was asked."""

    def __init__(self, monkeypatch, *told):
        self.told, self.asked = list(told), []
        monkeypatch.setitem(training.SOLVERS, Method.BLOCK, self)

    def __call__(self, problem, workspace, tol, start):
        self.asked.append((workspace, tol, start))
        return self.told.pop(0)


def form(**more):
    def certify(problem, f, decision):
        return kernel_certificate.classification(f, y, C, decision.coef, decision.intercept)

    return Formulation(given(PROBLEM), formulations.read_level, certify, **more)


def test_a_solver_goes_on_by_differences_where_rounding_may_move_values(monkeypatch):
    b = 0.3 * y * C
    first, second = solution(b, K @ b), solution(0.5 * b, K @ b, n_iter=5)
    for suffices, ended, again in (
        (True, None, False),
        (False, None, True),
        (False, Status.STALLED, True),
        (False, Status.MAX_ITER, False),
        (False, Status.TIME_LIMIT, False),
    ):
        monkeypatch.setattr(training, "bound_suffices", lambda *_, suffices=suffices: suffices)
        solver = Steps(monkeypatch, first._replace(ended=ended), second)
        begun = space()
        found, _, ended = training._solve(Task(form(), 1e-5), PROBLEM, begun)
        assert len(solver.asked) == (2 if again else 1)
        assert solver.asked[0] == (begun, 1e-5, None)
        if again:
            assert (found.n_iter, ended.source.differences) == (12, True)
            assert solver.asked[1][0] is ended
            assert solver.asked[1][2] is b, "from where it is"
        else:
            assert (found.n_iter, ended) == (7, begun)
    solver = Steps(monkeypatch, first)
    other = space(make_source(Kernel.precomputed(), K), Kernel.precomputed(), K)
    assert training._solve(Task(form(), 1e-3), PROBLEM, other)[2] is other, (
        "there are no differences"
    )


def test_a_start_is_given_as_coefficients_of_samples(monkeypatch):
    regression = problems.svr(insensitive(X[:, 1], C, 0.1))
    solver = Steps(monkeypatch, solution(np.zeros(2 * n), np.zeros(n), ended=Status.MAX_ITER))
    training._solve(Task(form(), 1e-3, start=y), regression, space())
    np.testing.assert_array_equal(solver.asked[0][2], np.tile(y, 2))


# ---- the audit -----------------------------------------------------------------------------------


def audit(slack, kernel=RBF, data=X, b=None, wrong=0.0, source=SOURCE, problems_=1, k=K):
    b = 0.3 * y * C if b is None else b
    decision = Decision(b, 0.25, (0.25, 0.25), diagonal=1.0)
    f = k @ b + 0.25
    f[5] += wrong
    return auditing.audit_decision(
        space(source, kernel, data).share(Monitor(), 1, problems_), decision, f, slack
    )


@pytest.mark.parametrize("kernel", [RBF, Kernel.linear(), Kernel.precomputed()])
def test_decision_values_are_compared_with_an_independent_evaluation(kernel):
    k = X @ X.T if kernel == Kernel.linear() else K
    data = K if kernel == Kernel.precomputed() else X
    source = make_source(kernel, data)
    b = np.where(np.arange(n) % 4, 0.3 * y * C, 0.0)
    for slack, closer in ((1.0, False), (0.0, True)):
        error, exact = audit(slack, kernel, data, b, 0.5, source, k=k)
        assert error == pytest.approx(0.5)
        assert (exact is not None) is closer
        if closer:
            np.testing.assert_allclose(exact, k @ b + 0.25, rtol=1e-13)
        assert audit(slack, kernel, data, b, 0.0, source, k=k)[0] < 1e-13


def test_a_closer_look_where_rounding_may_exceed_the_slack():
    b = 0.3 * y * C
    rounding = (2.0**-52 * np.sqrt(n) + SOURCE.value_error) * np.abs(b).sum()
    assert audit(1.001 * rounding)[1] is None
    assert audit(0.999 * rounding)[1] is not None
    assert audit(np.nan)[1] is not None


def test_where_not_all_rows_can_be_compared_the_error_is_no_less_than_rounding(monkeypatch):
    settings(monkeypatch, training.evaluation, long_double_products=3 * n * (n - 1))
    error, exact = audit(0.0)
    assert exact is None
    rounding = (2.0**-52 * np.sqrt(n) + SOURCE.value_error) * np.abs(0.3 * C).sum()
    assert error == pytest.approx(rounding, rel=1e-9, abs=0.0)
    settings(monkeypatch, training.evaluation, long_double_products=3 * n * n)
    assert audit(0.0)[1] is not None


def test_problems_of_one_fit_share_the_audit(monkeypatch):
    seen = []
    monkeypatch.setattr(
        auditing, "sampled", lambda source, coef, count: seen.append(count) or np.arange(3)
    )
    for many in (1, 4, 8, 9, 100):
        audit(1.0, problems_=many)
    assert seen == [64, 16, 8, 8, 8]


# ---- one problem ---------------------------------------------------------------------------------


def test_a_small_problem_of_a_kernel_function_is_asked_for_once(monkeypatch):
    asked = []

    def function(A, B):
        asked.append(len(A) * len(B))
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    kernel = Kernel.callable(function)
    found = trained(form(), kernel)
    assert asked == [n * n]
    assert found.status is Status.OPTIMAL
    assert found.certificate.convexity == "checked"
    settings(monkeypatch, training.definiteness, cholesky_rows=n - 1)
    asked.clear()
    assert trained(form(), kernel).status is Status.OPTIMAL
    assert len(asked) > 1


def solved():
    return block.solve(PROBLEM, KernelWorkspace(SOURCE, Monitor()), 1e-6)


def test_errors_that_solvers_leave_are_computed_away(monkeypatch):
    good = solved()
    Steps(monkeypatch, good._replace(kernel_part=good.kernel_part + 1e-2 * rng.normal(size=n)))
    found = trained(form())
    assert found.status is Status.OPTIMAL
    assert found.certificate.n_iter == good.n_iter
    assert found.decision.diagonal == 1.0


def test_a_degenerate_problem(monkeypatch):
    bad = solved()._replace(ended=Status.DEGENERATE)
    Steps(monkeypatch, bad, bad)
    found = trained(form())
    assert (found.status, found.decision.coef.any(), found.certificate.n_iter) == (
        Status.DEGENERATE,
        False,
        bad.n_iter,
    )
    with pytest.raises(ValueError, match="nothing to be found"):
        trained(form(no_solution="nothing to be found"))


PRIMAL = Primal(insensitive(y, C, 0.1))


def test_what_was_stopped_early_is_damped(monkeypatch):
    b = 0.9 * y * C
    early = solution(b, K @ b, ended=Status.MAX_ITER)
    for factor, intercept, changed in ((0.5, 0.25, True), (1.0, 0.25, False), (1.0, -0.5, True)):

        def damped(primal, decision, part, factor=factor, intercept=intercept):
            assert primal is PRIMAL
            np.testing.assert_allclose(part, K @ b)
            return factor, decision._replace(coef=factor * decision.coef, intercept=intercept)

        Steps(monkeypatch, early, early)
        plain = trained(form())
        monkeypatch.setattr(training, "with_damping", damped)
        found = trained(form(primal=PRIMAL))
        assert found.status is plain.status is Status.MAX_ITER
        wanted = kernel_certificate.classification(
            factor * K @ b + intercept, y, C, factor * b, intercept
        )
        assert found.certificate.primal == pytest.approx(wanted.primal)
        assert (found.certificate.primal != plain.certificate.primal) is changed
    Steps(monkeypatch, solved())
    monkeypatch.setattr(training, "with_damping", lambda *_: pytest.fail("converged"))
    found = trained(form(primal=PRIMAL))
    assert found.status is Status.OPTIMAL


def spied(monkeypatch, name, answer=None):
    """The calls of a function of the module, which works as before unless it is told its answer."""
    calls, before = [], getattr(training, name)

    def call(*arguments):
        calls.append(arguments)
        return before(*arguments) if answer is None else answer

    monkeypatch.setattr(training, name, call)
    return calls


def test_what_does_not_change_is_not_judged_again(monkeypatch):
    early = solution(0.9 * y * C, K @ (0.9 * y * C), ended=Status.MAX_ITER)
    for factor, times in ((1.0, 1), (0.5, 2)):
        Steps(monkeypatch, early)
        calls = spied(monkeypatch, "judged")

        def damped(primal, decision, part, factor=factor):
            return factor, decision._replace(coef=factor * decision.coef)

        monkeypatch.setattr(training, "with_damping", damped)
        trained(form(primal=PRIMAL))
        assert len(calls) == times
        monkeypatch.undo()


def test_the_audit_may_find_a_quarter_of_the_error_allowed(monkeypatch):
    calls = spied(monkeypatch, "audit_decision")
    found = trained(form())
    slack = calls[0][-1]
    f = found.decision.coef @ K + found.decision.intercept
    size = training.Size.of(np.append(f, found.decision.intercept), found.decision.coef, C)
    plain = kernel_certificate.classification(
        f, y, C, found.decision.coef, found.decision.intercept
    )
    assert slack == pytest.approx(
        0.25 * training.error_allowed(None, plain, training.Demand.on_violation(1e-3), size),
        rel=1e-6,
    )


def test_values_that_the_audit_computed_are_those_judged(monkeypatch):
    exact = 0.5 * y
    spied(monkeypatch, "audit_decision", (0.125, exact))
    found = trained(form())
    wanted = kernel_certificate.classification(
        exact, y, C, found.decision.coef, found.decision.intercept
    )
    assert found.certificate.primal == wanted.primal
    assert found.certificate.audit_error == 0.125
    assert found.status is Status.STALLED


def test_another_problem_takes_over_where_float64_does_not_resolve_it(monkeypatch):
    """From its coefficients; the smaller gap counts."""
    seen = []

    def _train(task, workspace):
        seen.append((task.formulation, task.start))
        k = len(seen) - 1
        decision, found = (
            Decision(np.array([2.0, -3.0]), 0.0, (0.0, 0.0)),
            Certificate(statuses[k], 0, 0, gaps[k], 0, 0, 0, 0),
        )
        return training.Trained(decision, found)

    monkeypatch.setattr(training, "_train", _train)
    other = form()
    stalled, optimal = Status.STALLED, Status.OPTIMAL
    for statuses, gaps, calls, better in (
        ([stalled, optimal], [1.0, 0.5], 2, 1),
        ([stalled, optimal], [1.0, 1.0], 2, 0),
        ([optimal], [1.0], 1, 0),
        ([Status.MAX_ITER], [1.0], 1, 0),
    ):
        seen.clear()
        found = trained(form(fallback=other))
        assert len(seen) == calls
        assert found.certificate.gap == gaps[better]
        assert found.status is statuses[better]
        if calls == 2:
            assert seen[1][0] is other
            assert seen[1][1].tolist() == [2.0, -3.0]
    statuses, gaps = [stalled], [1.0]
    seen.clear()
    assert trained(form()).status is stalled
    assert len(seen) == 1


def test_the_last_line_of_progress(monkeypatch):
    shown, monitor = [], Monitor(verbose=1)
    monkeypatch.setattr(monitor, "report", lambda *line: shown.append(line))
    found = trained(form(), monitor=monitor)
    support = int(np.count_nonzero(found.decision.coef))
    assert shown[-1] == (
        found.certificate.n_iter,
        found.certificate.gap,
        found.certificate.kkt_violation,
        support,
        ": optimal",
    )
    monkeypatch.setattr(monitor, "_line", None)
    shown.clear()
    trained(form(), monitor=monitor)
    assert not shown


# ---- several problems ----------------------------------------------------------------------------


class Told:
    """A monitor that notes the shares it was asked for."""

    max_iter, titles, late = 100, (), None

    def __init__(self):
        self.parts, self.asked = [], 0

    def part(self, share, label):
        self.parts.append((share, label))
        return (share, label)

    def too_late(self):
        self.asked += 1
        return self.late


class Job:
    """A task that notes what it is given."""

    def __init__(self, k, samples, seen=None):
        self.k, self.rows, self.seen = k, np.arange(samples), [] if seen is None else seen

    def train(self, workspace):
        self.seen.append(
            (self.k, workspace.side_by_side, workspace.problems, workspace.monitor, thread_count())
        )
        return self.k

    def unsolved(self, workspace, status):
        return training.Task.unsolved(self, workspace, status)


@pytest.mark.parametrize("largest", [1024, 1025])
def test_problems_run_side_by_side_where_they_are_large(largest, monkeypatch):
    monkeypatch.setattr(threads, "_openmp_effective_n_threads", lambda: 2)
    seen, monitor = [], Told()
    tasks = [Job(k, samples, seen) for k, samples in enumerate((5, largest, 7))]
    assert train_many(tasks, space(monitor=monitor)) == [0, 1, 2]
    workers = 2 if largest > 1024 else 1
    assert sorted(seen) == [
        (k, workers, 3, (workers / (3 - k), f" {k + 1}/3"), 1 if workers > 1 else 2)
        for k in range(3)
    ]
    assert monitor.asked == 2, "the first always begins"
    for many, labels in ((1, [""]), (2, [" 1/2", " 2/2"])):
        monitor = Told()
        train_many([Job(k, largest) for k in range(many)], space(monitor=monitor))
        assert sorted(label for _, label in monitor.parts) == labels


def test_problems_that_begin_too_late_are_not_solved():
    monitor = Told()
    monitor.late = Status.TIME_LIMIT
    tasks = [Job("solved", samples) for samples in (4, 5, 6)]
    first, second, third = train_many(tasks, space(monitor=monitor))
    assert first == "solved"
    assert (second.status, len(second.decision.coef), len(third.decision.coef)) == (
        Status.TIME_LIMIT,
        5,
        6,
    )
    monitor.max_iter = 0
    assert train_many(tasks, space(monitor=monitor)) == ["solved"] * 3


def test_constants_need_no_time():
    monitor = Told()
    monitor.late = Status.TIME_LIMIT
    tasks = [Job("solved", 4), training.Constant(-1.0, np.arange(5))]
    found = train_many(tasks, space(monitor=monitor))[1]
    assert (found.status, found.decision.intercept, len(found.decision.coef)) == (
        Status.OPTIMAL,
        -1.0,
        5,
    )


# ---- what is kept --------------------------------------------------------------------------------


def test_rows_are_kept_from_solve_to_solve_in_one_precision():
    source = NativeSource(RBF, X)
    source.cheap = False
    workspace = space(source)
    rows = workspace.rows(np.float32)
    assert workspace.rows(np.float32) is rows
    assert workspace.rows(np.float64) is not rows
    assert workspace.rows(np.float32) is not rows, "another precision took their place"
    whole = workspace.whole()
    assert workspace.whole() is whole
    np.testing.assert_allclose(whole.K, K, rtol=1e-12)
    other = workspace.on(source.by_differences())
    assert other.whole() is not whole
    workspace.forget()
    assert workspace.whole() is not whole


# ---- damping -------------------------------------------------------------------------------------

RESIDUALS = rng.normal(size=n)
PRIMALS = {
    "epsilon": Primal(insensitive(X[:, 0], C, 0.1)),
    "squared": Primal(insensitive(X[:, 0], C, 0.1, True)),
    "nu": Primal(insensitive(X[:, 0], C, 0.0), 0.3),
}


@pytest.mark.parametrize("name", PRIMALS)
def test_the_best_multiple_of_a_function_that_is_worse_than_a_constant(name):
    """No other multiple of those tried, bias or tube has a smaller primal value."""
    primal, g, square = PRIMALS[name], 50.0 * RESIDUALS, 30.0

    def value(factor, bias, epsilon):
        outside = np.maximum(0.0, np.abs(primal.tube.z - factor * g - bias) - epsilon)
        price = 0.3 * C.sum() * epsilon if name == "nu" else 0.0
        return factor**2 * square / 2 + price + np.sum(C * outside ** (1 + (name == "squared")))

    found = damped(primal, 0.0, 0.1, g, square)
    assert found.factor < 1
    least = value(*found)
    assert primal.value(found, g, square) == pytest.approx(least)
    for factor in (0.0, *(0.5**k for k in range(12))):
        for bias in found.bias + np.linspace(-1.0, 1.0, 41):
            for epsilon in (found.epsilon + np.linspace(0, 0.5, 6)) if name == "nu" else (0.1,):
                assert least <= value(factor, bias, epsilon) * (1 + 1e-9)


def test_a_function_that_is_better_than_a_constant_stays():
    primal = PRIMALS["epsilon"]
    assert damped(primal, 0.25, 0.1, primal.tube.z - 0.25, 1e-3) == (1.0, 0.25, 0.1)
    assert damped(primal, 0.25, 0.1, np.full(n, np.nan), 1.0).factor == 1.0


def test_a_start_that_stalls_is_tried_once_more_without_it(monkeypatch):
    """A warm start never makes a fit worse than a cold one."""
    starts, real = [], training._train

    def train(task, workspace):
        starts.append(task.start)
        found = real(task, workspace)
        if task.start is None:
            return found
        return found._replace(certificate=found.certificate.updated(status=Status.STALLED))

    monkeypatch.setattr(training, "_train", train)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    form = formulations.c_svc(y, 1.0, np.ones(4), False)
    workspace = KernelWorkspace.of(Kernel.linear(), X, Monitor())
    found = training.train(Task(form, 1e-3, start=np.array([-1.0, 0.0, 0.0, 1.0])), workspace)
    assert found.status is Status.OPTIMAL
    assert len(starts) == 2
    assert starts[1] is None
