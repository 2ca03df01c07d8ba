"""From a linear problem to a certified model: which solver, who takes over, what is looked at
again, what is asked of the verdict."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearOneClassSVM, LinearSVC, certificate
from maxmargin.core import threads as core_threads
from maxmargin.core.threads import thread_count
from maxmargin.linear import certificate as linear_certificate
from maxmargin.linear import crammer_singer, lasso, semismooth, verification, workspace
from maxmargin.linear import training as linear_training
from maxmargin.linear.bias_search import best_bias
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign, ChunkDesign
from maxmargin.linear.losses import Bias, LinearProblem, Penalty, classification, regression
from maxmargin.linear.objectives import Gap, LinearSolution, Sizes, sizes
from maxmargin.linear.training import Choice, Solver, Task
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status
from maxmargin.training import train_many

rng = np.random.default_rng(9)
n, d = 40, 5
A = rng.normal(size=(n, d))
y = np.where(A[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
C = rng.uniform(0.5, 2.0, n)
HINGE = LinearProblem(classification(y, C, False), Bias.FREE)
EPS = 2.0**-52


def test_the_solver_for_data_of_a_kind():
    wide = np.ones((2, 1201))
    for X, solver in ((wide[:, :1200], Solver.NEWTON), (wide, Solver.COORDINATE)):
        assert linear_training.choose(ArrayDesign(X)) is solver
        assert linear_training.choose(ArrayDesign(sparse.csr_matrix(X))) is solver
        assert linear_training.choose(ChunkDesign(lambda X=X: [X], X.shape)) is Solver.NEWTON
    few, many = (sparse.csr_matrix((n, 1300)) for n in (649, 650))
    assert linear_training.choose(ArrayDesign(few), squared=True) is Solver.COORDINATE
    assert linear_training.choose(ArrayDesign(many), squared=True) is Solver.NEWTON
    assert linear_training.choose(ArrayDesign(many), squared=False) is Solver.COORDINATE


def test_who_may_take_over():
    narrow, wide, chunks = (
        ArrayDesign(A),
        ArrayDesign(np.ones((2, 1201))),
        ChunkDesign(lambda: [A], A.shape),
    )
    for solver, design, wanted in (
        (Solver.NEWTON, narrow, Solver.COORDINATE),
        (Solver.NEWTON, wide, Solver.COORDINATE),
        (Solver.NEWTON, chunks, None),
        (Solver.COORDINATE, narrow, Solver.NEWTON),
        (Solver.COORDINATE, wide, None),
        (Solver.LASSO, narrow, None),
    ):
        assert linear_training._other(Choice(solver), design) is wanted
        assert linear_training._other(Choice(solver, binding=True), design) is None


# ---- one solver after another --------------------------------------------------------------------


def stub(monkeypatch, *answers):
    """Solvers that end as told: (status, gap, steps); returns what they were asked."""
    asked, left = [], iter(answers)

    def solved(task, given, solver):
        monitor = given.monitor
        assert monitor.deadline - time.perf_counter() > 900, "each may take all the time"
        asked.append((solver, monitor.max_iter))
        status, gap, steps = next(left)
        found = LinearSolution(
            np.zeros(d), float(len(asked)), np.zeros(n), np.zeros(n), np.zeros(d), None, steps
        )
        known = replace(
            certificate.certificate_of(gap, 0.0, gap, np.zeros(1), np.zeros(1), 0.0),
            status=Status(status),
            n_iter=steps,
        )
        return linear_training.TrainedLinear(found, known, solver)

    monkeypatch.setattr(linear_training, "_solved", solved)
    return asked


@pytest.mark.parametrize(
    ("solver", "answers", "best"),
    [
        (Solver.NEWTON, [("optimal", 1.0, 3)], 1),
        (Solver.NEWTON, [("max_iter", 1.0, 3)], 1),
        (Solver.NEWTON, [("stalled", 1.0, 3), ("optimal", 0.5, 4)], 2),
        (Solver.NEWTON, [("stalled", 1.0, 3), ("stalled", 1.0, 4)], 2),
        (Solver.NEWTON, [("stalled", 1.0, 3), ("stalled", 2.0, 4)], 1),
        (Solver.COORDINATE, [("stalled", 1.0, 3), ("stalled", 2.0, 4)], 1),
        (Solver.COORDINATE, [("max_iter", 1.0, 3), ("time_limit", 2.0, 4)], 2),
        (Solver.COORDINATE, [("time_limit", 1.0, 3)], 1),
    ],
)
def test_another_solver_takes_over(solver, answers, best, monkeypatch):
    """Where the first stalls, or coordinate descent has cost as much as Newton's method would.

    Steps are added up.
    """
    asked = stub(monkeypatch, *answers)
    found = linear_training._train(
        Task(HINGE, 1e-4, Choice(solver)),
        LinearWorkspace(ArrayDesign(A), Monitor(max_iter=1000, time_limit=1000.0)),
    )
    other = {Solver.NEWTON: Solver.COORDINATE, Solver.COORDINATE: Solver.NEWTON}[solver]
    passes = 40 + d // 5
    assert (
        asked
        == [(solver, passes if solver is Solver.COORDINATE else 1000), (other, 1000)][
            : len(answers)
        ]
    )
    assert found.solution.bias == best
    assert found.solver is (solver if best == 1 else other)
    assert (
        found.solution.n_iter == found.certificate.n_iter == sum(steps for _, _, steps in answers)
    )


def test_coordinate_descent_that_ran_out_of_its_own_steps_is_not_followed(monkeypatch):
    asked = stub(monkeypatch, ("max_iter", 1.0, 9))
    linear_training._train(
        Task(HINGE, 1e-4, Choice(Solver.COORDINATE)),
        LinearWorkspace(ArrayDesign(A), Monitor(max_iter=9, time_limit=1000.0)),
    )
    assert asked == [(Solver.COORDINATE, 9)]


# ---- several problems ----------------------------------------------------------------------------


@pytest.mark.parametrize("side_by_side", [False, True])
def test_several_problems_are_solved_in_order(side_by_side, monkeypatch):
    """Small ones one after the other; larger ones side by side, each on one thread."""
    monkeypatch.setattr(
        workspace,
        "SETTINGS",
        workspace.SETTINGS._replace(parallel_above=0 if side_by_side else 2**17),
    )
    threads, titles, real = [], [], linear_training._train

    def train(task, given):
        threads.append((threading.current_thread() is threading.main_thread(), thread_count()))
        titles.append(given.monitor.title)
        return real(task, given)

    monkeypatch.setattr(linear_training, "_train", train)
    monkeypatch.setattr(core_threads, "_openmp_effective_n_threads", lambda: 2)
    newton = Choice(Solver.NEWTON)
    kinds = ((1, 1.0), (-1, 1.0), (1, 0.01))
    tasks = [
        Task(HINGE._replace(tube=classification(s * y, c * C, False)), 1e-6, newton)
        for s, c in kinds
    ]
    found = train_many(tasks, LinearWorkspace(ArrayDesign(A), Monitor(title="fit")))
    assert [one.certificate.status for one in found] == ["optimal"] * 3
    np.testing.assert_allclose(found[0].solution.w, -found[1].solution.w, atol=1e-3)
    assert np.abs(found[2].solution.w).max() < 0.5 * np.abs(found[0].solution.w).max()
    assert sorted(titles) == ["fit 1/3", "fit 2/3", "fit 3/3"]
    assert threads == [(False, 1) if side_by_side else (True, 2)] * 3
    titles.clear()
    train_many(tasks[:2], LinearWorkspace(ArrayDesign(A), Monitor(title="fit")))
    assert sorted(titles) == ["fit 1/2", "fit 2/2"]
    titles.clear()
    train_many(tasks[:1], LinearWorkspace(ArrayDesign(A), Monitor(title="fit")))
    assert titles == ["fit"]


@pytest.mark.parametrize("workers", [1, 2])
def test_each_of_several_problems_has_its_share_of_the_time(workers, monkeypatch):
    monkeypatch.setattr(
        workspace,
        "SETTINGS",
        workspace.SETTINGS._replace(parallel_above=0 if workers == 2 else 2**17),
    )
    monkeypatch.setattr(workspace, "thread_count", lambda work=np.inf: 2)
    shares = {}

    class Asked(Monitor):
        """Notes the shares that are asked for."""

        def part(self, share, label=""):
            shares[label] = share
            return super().part(share, label)

    train_many(
        [Task(HINGE, 1e-2, Choice(Solver.NEWTON, True))] * 4,
        LinearWorkspace(ArrayDesign(A), Asked()),
    )
    assert shares == {f" {k + 1}/4": pytest.approx(workers / (4 - k)) for k in range(4)}


# ---- polishing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("bias", Bias)
def test_small_problems_are_solved_to_rounding(bias, squared):
    problem, design = LinearProblem(classification(y, C, squared), bias), ArrayDesign(A)
    rough = semismooth.solve(problem, LinearWorkspace(design, Monitor()), 0.3)
    found = linear_training._polished(problem, LinearWorkspace(design, Monitor()), rough)
    assert verification.evaluate(problem, found).relative_gap <= 1e-12
    assert verification.evaluate(problem, rough).relative_gap > 1e-6
    assert found.n_iter > rough.n_iter
    assert found.ended is None
    np.testing.assert_allclose(found.f, A @ found.w + found.bias, atol=1e-12)
    if bias is not Bias.NONE:
        assert found.bias == pytest.approx(best_bias(problem, A @ found.w, found.bias), abs=1e-12)


def test_of_several_biases_the_middle_is_taken():
    X, sign = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    problem = LinearProblem(classification(sign, np.ones(4), False), Bias.FREE)
    for start in (-0.9, 0.9):  # any bias from -1 to 1 is optimal
        rough = LinearSolution(
            np.zeros(1), start, sign.copy(), np.full(4, start), np.zeros(1), None, 2
        )
        found = linear_training._polished(
            problem, LinearWorkspace(ArrayDesign(X), Monitor()), rough
        )
        assert found.bias == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(found.f, found.bias, atol=1e-9)


def test_a_worse_solution_is_not_taken(monkeypatch):
    design = ArrayDesign(A)
    rough = semismooth.solve(HINGE, LinearWorkspace(design, Monitor()), 1e-6)
    worse = rough._replace(w=rough.w + 1.0, f=rough.f + A.sum(axis=1), n_iter=50)
    monkeypatch.setattr(semismooth, "solve", lambda *rest: worse)
    found = linear_training._polished(HINGE, LinearWorkspace(design, Monitor()), rough)
    np.testing.assert_array_equal(found.w, rough.w)
    assert found.n_iter == rough.n_iter


def test_what_is_solved_to_rounding(monkeypatch):
    """Solutions of small data whose solver reached the tolerance."""
    polished = []
    real = linear_training._polished
    monkeypatch.setattr(
        linear_training, "_polished", lambda *rest: polished.append(1) or real(*rest)
    )
    for entries, most, times in ((n * d, 1000, 1), (n * d - 1, 1000, 0), (n * d, 1, 0)):
        polished.clear()
        monkeypatch.setattr(
            workspace, "SETTINGS", workspace.SETTINGS._replace(polish_up_to=entries)
        )
        linear_training._solved(
            Task(HINGE, 1e-3, Choice(Solver.NEWTON)),
            LinearWorkspace(ArrayDesign(A), Monitor(max_iter=most)),
            Solver.NEWTON,
        )
        assert len(polished) == times


def test_the_tolerance_of_small_data_is_honoured():
    """A loose one costs fewer steps; one-class models are solved to rounding all the same."""
    random = np.random.default_rng(3)
    X = random.normal(size=(400, 10))
    label = np.where(X[:, 0] + random.normal(size=400) > 0, 1, -1)
    assert 2**11 < X.size < 2**17
    loose, tight = (LinearSVC(loss="hinge", tol=tol).fit(X, label) for tol in (1e-2, 1e-10))
    assert 1e-10 < loose.certificate_.relative_gap <= 1e-2
    assert tight.certificate_.relative_gap <= 1e-10
    assert loose.n_iter_ < tight.n_iter_
    assert LinearOneClassSVM(tol=1e-2).fit(X + 3).certificate_.relative_gap <= 1e-9


# ---- what is known about decision values ---------------------------------------------------------


def solution(problem=HINGE, X=A, tol=1e-6):
    return semismooth.solve(problem, LinearWorkspace(ArrayDesign(X), Monitor()), tol)


def test_drifted_decision_values_are_computed_anew(monkeypatch):
    """Where the error is more than their last digits.

    Beyond a billionth of a unit the solver is not believed.
    """
    design, found = ArrayDesign(A), solution()
    assert not verification._is_small(ChunkDesign(lambda: [A], A.shape)), (
        "another pass costs something"
    )
    for small in (True, False):
        monkeypatch.setattr(
            workspace,
            "SETTINGS",
            workspace.SETTINGS._replace(audit_up_to=n * d if small else n * d - 1),
        )
        for drift, error, again in ((0.0, 1e-14, False), (1e-11, 1e-14, True), (1e-3, 1e-3, False)):
            new, seen = verification._refreshed(found._replace(f=found.f + drift), design, 1.0)
            exact = A @ found.w + found.bias
            if small:
                np.testing.assert_allclose(new.f, exact, rtol=1e-13)
                assert seen == pytest.approx(drift, abs=1e-13)
            else:
                assert seen == pytest.approx(error, abs=2e-14)
                np.testing.assert_allclose(new.f, exact + (0.0 if again else drift), rtol=1e-12)
    new, seen = verification._refreshed(found._replace(f=found.f + 1e-10), design, 0.01)
    assert seen == pytest.approx(1e-10, rel=1e-3), "no negligible error in units of 0.01"
    new, seen = verification._recomputed(found._replace(Xt=0 * found.Xt), design)
    np.testing.assert_allclose(new.Xt, A.T @ found.t)


def test_the_audit_looks_at_some_rows():
    X = np.random.default_rng(1).normal(size=(300, 2))
    w = np.array([1.0, -2.0])
    f = X @ w + 0.5
    found = LinearSolution(w, 0.5, np.zeros(300), f, w, None, 0)
    assert verification._audit(found, ArrayDesign(X)) < 1e-14
    seen = [
        verification._audit(found._replace(f=f + np.eye(300)[i]), ArrayDesign(X)) > 0.5
        for i in range(300)
    ]
    assert sum(seen) == 64
    few = found._replace(f=f[:64], t=np.zeros(64))
    assert all(
        verification._audit(few._replace(f=few.f - np.eye(64)[i]), ArrayDesign(X[:64])) > 0.5
        for i in range(64)
    )
    assert verification._audit(found._replace(f=f + 1), ChunkDesign(lambda: [X], X.shape)) == 0.0


def test_the_dual_is_known_to_the_last_digits_of_its_terms():
    """A bound where that is far below the limit, else what longer X't would make of it."""
    for most in (None, 3.0):
        problem = HINGE if most is None else HINGE._replace(penalty=Penalty.L1)
        found, design = solution(), ArrayDesign(A)
        longest = max(float(np.sqrt(x @ x)) for x in A)
        error = EPS * sum(abs(t) for t in found.t) * longest
        length = float(np.sqrt(found.Xt @ found.Xt)) + 0.5 * error if most is None else most
        assert verification._dual_error(problem, found, design, most, 1.0) == pytest.approx(
            error * length
        )
        assert verification._dual_error(
            problem, found, design, most, 11 * error * length
        ) == pytest.approx(error * length)
        huge = found._replace(t=1e9 * found.t, Xt=1e9 * found.Xt)
        exact = verification._dual_error(problem, huge, design, most, 0.0)
        errors = EPS * np.array(
            [sum(abs(x[j] * t) for x, t in zip(A, huge.t, strict=True)) for j in range(d)]
        )
        longer = huge._replace(Xt=np.sign(huge.Xt) * (np.abs(huge.Xt) + errors))
        duals = [verification.evaluate(problem, one).dual for one in (huge, longer)]
        assert exact == pytest.approx(duals[0] - duals[1], rel=1e-6, abs=1e-300)
        assert exact > 0
        bound = (
            EPS
            * np.abs(huge.t).sum()
            * longest
            * (np.sqrt(huge.Xt @ huge.Xt) if most is None else most)
        )
        assert verification._dual_error(problem, huge, design, most, 11 * bound) == pytest.approx(
            bound
        )
        assert (
            verification._dual_error(problem, huge, design, most, 9 * bound) == exact < 0.99 * bound
        )
        assert verification._dual_error(problem, found, design, most, 0.0) < 1e-9
        nothing = found._replace(Xt=np.zeros(d))
        wanted = 0.5 * error**2 if most is None else error * most
        assert verification._dual_error(problem, nothing, design, most, 1.0) == pytest.approx(
            wanted
        )
        chunks = ChunkDesign(lambda: [A], A.shape)
        assert verification._dual_error(problem, huge, chunks, most, 0.0) == 0.0, (
            "no length is known"
        )


def test_data_whose_products_are_blurred_are_evaluated_as_certify_does(monkeypatch):
    """Where blurs of the losses and of the dual make more than a tenth of what is asked for.

    Beyond that nothing is optimal.
    """
    design, chunks, found = ArrayDesign(A), ChunkDesign(lambda: [A], A.shape), solution()
    done, evaluate, decide = [], verification._recomputed, verification.verdict
    monkeypatch.setattr(
        verification, "_recomputed", lambda *rest: done.append("evaluated") or evaluate(*rest)
    )
    monkeypatch.setattr(
        verification,
        "verdict",
        lambda *rest, known: done.append(known) or decide(*rest, known=known),
    )
    known = sizes(HINGE, design)
    value = verification.evaluate(HINGE, found).primal

    def certified(one, losses, dual, tol=1e-4, polished=0):
        done.clear()
        monkeypatch.setattr(
            workspace, "SETTINGS", workspace.SETTINGS._replace(audit_up_to=polished)
        )
        monkeypatch.setattr(verification, "_primal_error", lambda *rest: losses * value)
        monkeypatch.setattr(verification, "_dual_error", lambda *rest: dual * value)
        result = verification._certified(HINGE, found, one, tol, known, 1e-13)
        assert result.n_iter == found.n_iter
        assert result.primal == pytest.approx(value)
        return result

    for blur, evaluated, optimal in (
        (0.0, False, True),
        (0.09e-4, False, True),
        (0.11e-4, True, True),
        (0.99e-4, True, True),
        (1.01e-4, True, False),
    ):
        for share in (0.0, 0.3, 1.0):
            result = certified(design, share * blur, (1 - share) * blur)
            assert done == (["evaluated", True] if evaluated else [False])
            assert (result.status == "optimal") is optimal
            assert result.audit_error == pytest.approx(0.0 if evaluated else 1e-13, abs=1e-14)
    assert certified(chunks, 0.5e-4, 0.0).status == "optimal"
    assert done == [False]
    certified(design, 0.5e-4, 0.0, polished=n * d)
    assert done == [True], "small data have been evaluated before"
    certified(design, 0.09e-9, 0.0, tol=1e-12)
    assert done == [False], "less than 1e-9 is not asked of blurred losses"


def test_the_dual_of_the_lasso_gains_at_most_twice_the_objective(monkeypatch):
    problem, asked = LinearProblem(classification(y, C, True), Bias.FREE, penalty=Penalty.L1), []
    found = lasso.solve(problem, LinearWorkspace(ArrayDesign(A), Monitor()), 1e-6)
    monkeypatch.setattr(
        verification,
        "_dual_error",
        lambda problem, found, design, most, limit: asked.append((most, limit)) or 0.0,
    )
    result = verification.evaluate(problem, found)
    value = max(abs(result.primal), abs(result.dual))
    verification.certify(problem, found, ArrayDesign(A), 1e-4)
    assert asked == [(pytest.approx(2 * value), pytest.approx(1e-4 * value))]


def test_losses_that_are_rounding_are_left_out_of_the_gap(monkeypatch):
    """The question: a gap without them, relative to values without them.

    It is 0 where it is rounding of the scale, and 1e-9 of the value at most or the value is
    rounding too.
    """
    found, design, forgiven = solution(), ArrayDesign(A), 0.5
    monkeypatch.setattr(verification, "_rounding_losses", lambda *rest: forgiven)
    result = verification.evaluate(HINGE, found)
    for gap, scale, tol, wanted in (
        (forgiven, 1e-30, 1e-3, 8 * EPS * forgiven / 5.0),
        (forgiven + 1e-5, 1e-30, 1e-3, 1e-5 / 5.0),
        (forgiven + 1e-2, 1e-30, 1e-3, None),
        (forgiven + 1e-2, 1.01e10, 1e-3, None),
        (forgiven + 1e-2, 4.9e12, 1e-3, None),
        (forgiven + 1e-2, 5.1e12, 1e-3, 0.0),
        (forgiven + 4e-9, 4.1e3, 1e-12, 0.0),
        (forgiven + 4e-9, 3.9e3, 1e-12, None),
        (forgiven + 6e-9, 1e5, 1e-12, None),
    ):
        one = replace(result, primal=5.0 + forgiven, dual=5.0 - 2.0, gap=gap, relative_gap=0.9)
        new, demand, size = verification.question(HINGE, found, design, one, tol, Sizes(scale, 1.0))
        assert new.relative_gap == (0.9 if wanted is None else pytest.approx(wanted, rel=1e-4))
        assert (demand.gap, demand.violation) == (tol, tol**0.5)
        assert demand.error == pytest.approx(1e-6 * max(np.abs(found.f).max(), 1.0))
        assert size.values == np.abs(found.f).max()
        small = replace(one, relative_gap=0.5 * tol)
        assert (
            verification.question(HINGE, found, design, small, tol, Sizes(1e30, 1.0))[0] == small
        ), "good enough as it is"
    squared = HINGE._replace(tube=HINGE.tube._replace(squared=True))
    assert verification.question(squared, found, design, result, 1e-4, Sizes(1.0, 50.0))[
        1
    ].violation == pytest.approx(50.0 * 0.1)
    assert verification.question(squared, found, design, result, 1e-4, Sizes(1.0, 50.0))[
        1
    ].error == pytest.approx(5e-5)


# ---- all classes at once -------------------------------------------------------------------------


@pytest.mark.parametrize("bias", Bias)
def test_all_classes_at_once_with_their_certificate(bias, monkeypatch):
    label = np.digitize(A[:, 0] + 0.5 * A[:, 1], [-0.5, 0.5])
    aims, real = [], crammer_singer.solve
    monkeypatch.setattr(crammer_singer, "solve", lambda *rest: aims.append(rest[2]) or real(*rest))
    for limit, aim in ((3 * n * d, 1e-13), (3 * n * d - 1, 1e-2)):
        monkeypatch.setattr(
            linear_training,
            "SETTINGS",
            linear_training.SETTINGS._replace(polish_classes_up_to=limit),
        )
        problem, workspace_ = (
            ClassesProblem(label, 3, C, bias, 2.0),
            LinearWorkspace(ArrayDesign(A), Monitor(max_iter=3000)),
        )
        found, known = linear_training.ClassesTask(problem, 1e-2).train(workspace_)
        assert aims.pop() == aim
        m = 0.25 if bias is Bias.PENALISED else 0.0
        F = A @ found.W.T + found.bias
        wanted = linear_certificate.crammer_singer(
            F, label, C, found.W, found.bias, found.t, (A.T @ found.t).T, m, bias is Bias.FREE
        )
        assert (known.primal, known.dual, known.kkt_violation) == pytest.approx(
            (wanted.primal, wanted.dual, wanted.kkt_violation), rel=1e-6
        )
        assert (known.status, known.n_iter) == (
            "optimal" if known.kkt_violation <= 0.1 else "approximate",
            found.n_iter,
        )
        data = (problem, A, found.W, found.bias, found.t, 1e-2)
        again = verification.certify_classes_again(known, *data)
        assert (again.status, again.primal, again.n_iter) == (
            known.status,
            pytest.approx(known.primal),
            found.n_iter,
        )
    wrong = verification.certify_classes_again(
        known, problem, A, found.W + 1.0 + A[:3], found.bias, found.t, 1e-2
    )
    assert wrong.status == "refuted"
    with pytest.raises(ValueError, match="another number of samples"):
        verification.certify_classes_again(known, problem, A[:-1], *data[2:])


def test_a_certificate_of_a_fitted_model_again():
    for penalty in Penalty:
        problem = LinearProblem(classification(y, C, True), Bias.FREE, penalty=penalty)
        task = Task(problem, 1e-5, Choice(Solver.LASSO if penalty is Penalty.L1 else Solver.NEWTON))
        (found,) = train_many([task], LinearWorkspace(ArrayDesign(A), Monitor()))
        assert found.certificate.status == "optimal"
        assert found.certificate.relative_gap < 1e-11, "solved to rounding"
        again = verification.certify_again(
            found.certificate, problem, found.solution, ArrayDesign(A), 1e-5
        )
        assert (again.status, again.n_iter) == ("optimal", found.certificate.n_iter)
        assert again.primal == pytest.approx(found.certificate.primal)
        same = verification.certify(problem, found.solution, ArrayDesign(A), 1e-5)[1]
        assert (same.status, same.primal) == ("optimal", pytest.approx(again.primal))
        off = found.solution._replace(
            w=found.solution.w + 0.1, f=found.solution.f + 0.1 * A.sum(axis=1)
        )
        assert (
            verification.certify_again(found.certificate, problem, off, ArrayDesign(A), 1e-5).status
            == "refuted"
        )


# ---- progress ------------------------------------------------------------------------------------


class Reporting(Monitor):
    """Wants a report at every turn."""

    def __init__(self):
        super().__init__()
        self.reports = []

    def wants_report(self):
        return True

    def report(self, steps, gap, violation, support, note=""):
        self.reports.append((steps, gap, violation, support))


def test_solvers_report_steps_gap_violation_and_support():
    design, problem = ArrayDesign(A), LinearProblem(classification(y, C, True), Bias.FREE)
    label = np.digitize(A[:, 0], [-0.5, 0.5])
    for solver in ("newton", "coordinate", "lasso", "together"):
        monitor = Reporting()
        if solver == "together":
            found = crammer_singer.solve(
                ClassesProblem(label, 3, C, Bias.NONE), LinearWorkspace(design, monitor), 1e-6
            )
        else:
            found = linear_training.SOLVERS[Solver(solver)](
                problem, LinearWorkspace(design, monitor), 1e-6, None
            )
        assert found.ended is None
        steps, gaps, violations, support = zip(*monitor.reports, strict=True)
        begin = 1 if solver in ("coordinate", "together") else 0
        assert list(steps) == list(range(begin, begin + len(steps)))
        assert steps[-1] == found.n_iter
        assert max(gaps) > 1e-2
        assert gaps[-1] < 1e-3
        assert all(v >= 0 for v in violations)
        assert (violations[-1] < 0.1 * max(violations)) or solver == "lasso"
        assert all(isinstance(count, int) for count in support)
        rows = found.t.any(axis=1) if solver == "together" else found.t
        assert support[-1] == np.count_nonzero(rows)


# ---- gaps ----------------------------------------------------------------------------------------


def test_a_gap_within_a_tolerance():
    assert Gap(2.0, 1.5).value == 0.5
    assert Gap(2.0, 1.5).relative == 0.25
    assert Gap(-1.5, -2.0).relative == 0.25
    assert Gap(0.0, 0.0).relative == 0.0
    assert Gap(2.0, 1.5).within(0.25)
    assert not Gap(2.0, 1.5).within(0.249)
    assert Gap(-1.5, -2.0).within(0.25)
    assert not Gap(-1.5, -2.0).within(0.249)
    assert Gap(1.0, 1.0 - 0.9e-13).within(0.0)
    assert not Gap(1.0, 1.0 - 1.1e-13).within(0.0)
    assert Gap(1e-12, 0.0, 10.0).within(0.0)
    assert not Gap(1.1e-12, 0.0, 10.0).within(0.0)
    assert not Gap(np.inf, 0.0).within(1.0)
    assert not Gap(np.nan, 0.0).within(1.0)
    assert not Gap(1.0, -np.inf).within(1.0)
    assert Gap(1.0, 1.0).outcome(0.0, Status.TIME_LIMIT) is None
    assert Gap(1.0, 0.0).outcome(0.1, Status.TIME_LIMIT) is Status.TIME_LIMIT
    assert Gap(1.0, 0.0).outcome(0.1, None) is Status.STALLED


def test_wider_tubes():
    tube = verification._widened(regression(np.array([1.0]), np.ones(1), 0.5, False), 0.25)
    assert (tube.low[0], tube.high[0]) == (0.25, 1.75)
