"""From a solution to a verdict: what is computed again, what is audited, which of several problems run when."""

import numpy as np
import pytest

from maxmargin import certificate, problems, training
from maxmargin.certificate import Certificate
from maxmargin.kernels import Kernel
from maxmargin.monitor import Monitor
from maxmargin.solution import Level, Solution, Status
from maxmargin.solvers import block
from maxmargin.sources import NativeSource, make_source
from maxmargin.training import Decision, Formulation, Method, Samples, Settings

rng = np.random.default_rng(17)
n = 40
X = rng.normal(size=(n, 3))
y = np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0)
C = rng.uniform(0.5, 2.0, n)
RBF = Kernel.rbf(gamma=0.4)
SOURCE = NativeSource(RBF, X)
K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
PROBLEM = problems.c_svc(y, C)


def settings(kernel=RBF, tol=1e-3, **more):
    return Settings(kernel, tol, 200.0, **more)


def solution(b, part, level=0.25, ended=None, n_iter=7, **more):
    return Solution(ended, b, part, (Level(level, level, level),), n_iter, False, 1.0, **more)


# ---- parts ---------------------------------------------------------------------------------------------------------------------


def test_near_the_boundary_values_are_computed_in_float64():
    b = np.where(rng.random(n) < 0.5, 0.4 * y * C, 0.0)
    wrong = K @ b + 0.1
    tol = float(np.median(np.abs(wrong + 0.25))) / 2
    found = training._with_exact_boundary(PROBLEM, solution(b, wrong), SOURCE, tol)
    near = np.abs(wrong + 0.25) <= 2 * tol
    assert 10 < near.sum() < 30
    np.testing.assert_allclose(found.kernel_part, np.where(near, K @ b, wrong), rtol=1e-12)
    assert found.n_iter == 7


@pytest.mark.parametrize("entries", [1, 2**22])
def test_sizes_of_the_terms_of_values_near_0(entries, monkeypatch):
    monkeypatch.setattr(training, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(training, "NEAR", 0.05)
    b = np.where(rng.random(n) < 0.5, 0.4 * y * C, 0.0)
    part, diagonal = K @ b, np.linspace(0.5, 2.0, n)
    found = training._with_sizes(PROBLEM, solution(b, part), SOURCE, diagonal)
    assert found.scale == 2.0
    reach = [np.sqrt(diagonal[i]) * sum(abs(b[j]) * np.sqrt(diagonal[j]) for j in range(n)) for i in range(n)]
    near = [part[i] + 0.25 < 0.05 * reach[i] for i in range(n)]
    assert 0 < sum(near) < n
    wanted = [sum(abs(b[j] * K[i, j]) for j in range(n)) if near[i] else abs(part[i]) for i in range(n)]
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

    def __call__(self, problem, source, tol, monitor, cache_size, start, workers):
        self.asked.append((source, tol, cache_size, start, workers))
        return self.told.pop(0)


def form(**more):
    def certify(f, decision):
        return certificate.classification(f, y, C, decision.coef, decision.intercept)

    return Formulation(PROBLEM, training.read_level, certify, **more)


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
        monkeypatch.setattr(training, "_bound_suffices", lambda *_, suffices=suffices: suffices)
        solver = Steps(monkeypatch, first._replace(ended=ended), second)
        found, source = training._solve(form(), SOURCE, settings(tol=1e-5, workers=3), "monitor", None)
        assert len(solver.asked) == (2 if again else 1)
        assert solver.asked[0] == (SOURCE, 1e-5, 200.0, None, 3)
        if again:
            assert (found.n_iter, source.differences) == (12, True)
            assert solver.asked[1][0] is source
            assert solver.asked[1][3] is b, "from where it is"
        else:
            assert (found.n_iter, source) == (7, SOURCE)
    solver = Steps(monkeypatch, first)
    other = make_source(Kernel.precomputed(), K)
    assert training._solve(form(), other, settings(), "monitor", None)[1] is other, "there are no differences"


# ---- the audit -----------------------------------------------------------------------------------------------------------------


def audit(slack, kernel=RBF, data=X, b=None, wrong=0.0, source=SOURCE, problems_=1, k=K, value_error=None):
    b = 0.3 * y * C if b is None else b
    decision = Decision(b, 0.25, (0.25, 0.25), diagonal=1.0)
    f = k @ b + 0.25
    f[5] += wrong
    return training._audit(settings(kernel, problems=problems_), Samples(data), decision, f, source, slack)


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
    monkeypatch.setattr(training, "EXTENDED", 3 * n * (n - 1))
    error, exact = audit(0.0)
    assert exact is None
    rounding = (2.0**-52 * np.sqrt(n) + SOURCE.value_error) * np.abs(0.3 * C).sum()
    assert error == pytest.approx(rounding, rel=1e-9, abs=0.0)
    monkeypatch.setattr(training, "EXTENDED", 3 * n * n)
    assert audit(0.0)[1] is not None


def test_problems_of_one_fit_share_the_audit(monkeypatch):
    seen = []
    monkeypatch.setattr(training, "_audited", lambda source, coef, count: seen.append(count) or np.arange(3))
    for many in (1, 4, 8, 9, 100):
        audit(1.0, problems_=many)
    assert seen == [64, 16, 8, 8, 8]


# ---- one problem ---------------------------------------------------------------------------------------------------------------


def test_a_small_problem_of_a_kernel_function_is_asked_for_once(monkeypatch):
    asked = []

    def function(A, B):
        asked.append(len(A) * len(B))
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    kernel = Kernel.callable(function)
    found = training.train(form(), Samples(X), settings(kernel), Monitor())
    assert asked == [n * n]
    assert found.status is Status.OPTIMAL
    assert found.certificate.convexity == "checked"
    monkeypatch.setattr(training.definiteness, "WHOLE", n - 1)
    asked.clear()
    assert training.train(form(), Samples(X), settings(kernel), Monitor()).status is Status.OPTIMAL
    assert len(asked) > 1


def solved():
    return block.solve(PROBLEM, SOURCE, 1e-6, Monitor())


def test_errors_that_solvers_leave_are_computed_away(monkeypatch):
    good = solved()
    Steps(monkeypatch, good._replace(kernel_part=good.kernel_part + 1e-2 * rng.normal(size=n)))
    found = training.train(form(), Samples(X), settings(), Monitor())
    assert found.status is Status.OPTIMAL
    assert found.certificate.n_iter == good.n_iter
    assert found.decision.diagonal == 1.0


def test_a_degenerate_problem(monkeypatch):
    bad = solved()._replace(ended=Status.DEGENERATE)
    Steps(monkeypatch, bad, bad)
    found = training.train(form(), Samples(X), settings(), Monitor())
    assert (found.status, found.decision.coef.any(), found.certificate.n_iter) == (Status.DEGENERATE, False, bad.n_iter)
    with pytest.raises(ValueError, match="nothing to be found"):
        training.train(form(no_solution="nothing to be found"), Samples(X), settings(), Monitor())


def test_what_was_stopped_early_is_shrunk(monkeypatch):
    b = 0.9 * y * C
    early = solution(b, K @ b, ended=Status.MAX_ITER)
    for factor, intercept, changed in ((0.5, 0.25, True), (1.0, 0.25, False), (1.0, -0.5, True)):

        def shrink(decision, part, factor=factor, intercept=intercept):
            np.testing.assert_allclose(part, K @ b)
            return factor, decision._replace(coef=factor * decision.coef, intercept=intercept)

        Steps(monkeypatch, early, early)
        plain = training.train(form(), Samples(X), settings(), Monitor())
        found = training.train(form(shrink=shrink), Samples(X), settings(), Monitor())
        assert found.status is plain.status is Status.MAX_ITER
        wanted = certificate.classification(factor * K @ b + intercept, y, C, factor * b, intercept)
        assert found.certificate.primal == pytest.approx(wanted.primal)
        assert (found.certificate.primal != plain.certificate.primal) is changed
    Steps(monkeypatch, solved())
    found = training.train(form(shrink=lambda *_: pytest.fail("converged")), Samples(X), settings(), Monitor())
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
        calls = spied(monkeypatch, "_judged")
        shrink = lambda decision, part, factor=factor: (factor, decision._replace(coef=factor * decision.coef))  # noqa: E731
        training.train(form(shrink=shrink), Samples(X), settings(), Monitor())
        assert len(calls) == times
        monkeypatch.undo()


def test_the_audit_may_find_a_quarter_of_the_error_allowed(monkeypatch):
    calls = spied(monkeypatch, "_audit")
    found = training.train(form(), Samples(X), settings(), Monitor())
    slack = calls[0][-1]
    f = found.decision.coef @ K + found.decision.intercept
    size = training.size_of(np.append(f, found.decision.intercept), found.decision.coef, C)
    plain = certificate.classification(f, y, C, found.decision.coef, found.decision.intercept)
    assert slack == pytest.approx(0.25 * training.error_allowed(None, plain, training.demand_of(1e-3), size), rel=1e-6)


def test_values_that_the_audit_computed_are_those_judged(monkeypatch):
    exact = 0.5 * y
    spied(monkeypatch, "_audit", (0.125, exact))
    found = training.train(form(), Samples(X), settings(), Monitor())
    wanted = certificate.classification(exact, y, C, found.decision.coef, found.decision.intercept)
    assert found.certificate.primal == wanted.primal
    assert found.certificate.audit_error == 0.125
    assert found.status is Status.STALLED


def test_a_source_that_is_shared_is_used(monkeypatch):
    calls = spied(monkeypatch, "_solve")
    training.train(form(), Samples(X, source=SOURCE), settings(), Monitor())
    assert calls[0][1] is SOURCE


def test_the_boundary_of_small_problems_is_exact_already(monkeypatch):
    calls = spied(monkeypatch, "_with_exact_boundary")
    sizes = spied(monkeypatch, "_with_sizes")
    for polished, boundary, times in ((n, True, 0), (n - 1, True, 1), (n - 1, False, 0)):
        monkeypatch.setattr(block, "POLISHED", polished)
        calls.clear()
        sizes.clear()
        training.train(form(boundary=boundary), Samples(X), settings(), Monitor())
        assert (len(calls), len(sizes)) == (times, int(boundary))


def test_another_problem_instead_where_float64_does_not_resolve_it(monkeypatch):
    """From its coefficients, split by their signs; the smaller gap counts."""
    seen = []

    def _train(form, samples, settings, monitor, start):
        seen.append((form, start))
        k = len(seen) - 1
        decision, found = Decision(np.array([2.0, -3.0]), 0.0, (0.0, 0.0)), Certificate("", 0, 0, gaps[k], 0, 0, 0, 0)
        return training.Trained(decision, statuses[k], found)

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
        found = training.train(form(instead=other), Samples(X), settings(), Monitor(), None)
        assert len(seen) == calls
        assert found.certificate.gap == gaps[better]
        assert found.status is statuses[better]
        if calls == 2:
            assert seen[1][0] is other
            assert seen[1][1].tolist() == [2.0, 0.0, 0.0, -3.0]
    statuses, gaps = [stalled], [1.0]
    seen.clear()
    assert training.train(form(), Samples(X), settings(), Monitor(), None).status is stalled
    assert len(seen) == 1


def test_the_last_line_of_progress(monkeypatch):
    shown, monitor = [], Monitor(verbose=1)
    monkeypatch.setattr(monitor, "report", lambda *line: shown.append(line))
    found = training.train(form(), Samples(X), settings(), monitor)
    support = int(np.count_nonzero(found.decision.coef))
    assert shown[-1] == (found.certificate.n_iter, found.certificate.gap, found.certificate.kkt_violation, support, ": optimal")
    monkeypatch.setattr(monitor, "_line", None)
    shown.clear()
    training.train(form(), Samples(X), settings(), monitor)
    assert not shown


# ---- several problems ----------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("largest", [block.POLISHED, block.POLISHED + 1])
def test_problems_run_side_by_side_where_they_are_large(largest, monkeypatch):
    monkeypatch.setattr(training.core, "_openmp_effective_n_threads", lambda: 2)
    seen = []

    def job(k):
        def run(settings, monitor):
            seen.append((k, settings.workers, settings.problems, monitor, training.core.thread_count()))
            return k

        return run

    monitor = Told()
    assert training.train_all([job(k) for k in range(3)], [5, largest, 7], settings(), monitor) == [0, 1, 2]
    workers = 2 if largest > block.POLISHED else 1
    assert sorted(seen) == [(k, workers, 3, (workers / (3 - k), f" {k + 1}/3"), 1 if workers > 1 else 2) for k in range(3)]
    assert monitor.asked == 2, "the first always begins"
    for many, labels in ((1, [""]), (2, [" 1/2", " 2/2"])):
        monitor = Told()
        training.train_all([job(k) for k in range(many)], [largest] * many, settings(), monitor)
        assert sorted(label for _, label in monitor.parts) == labels


def test_problems_that_begin_too_late_are_not_solved():
    def job(settings, monitor):
        return "solved"

    monitor = Told()
    monitor.late = Status.TIME_LIMIT
    first, second, third = training.train_all([job] * 3, [4, 5, 6], settings(), monitor)
    assert first == "solved"
    assert (second.status, len(second.decision.coef), len(third.decision.coef)) == (Status.TIME_LIMIT, 5, 6)
    monitor.max_iter = 0
    assert training.train_all([job] * 3, [4, 5, 6], settings(), monitor) == ["solved"] * 3
