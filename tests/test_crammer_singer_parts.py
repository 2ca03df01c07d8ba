"""The parts of the solver for all classes at once against their definitions: duals, leaps, feasible
points."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.linear import classes, crammer_singer
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.monitor import Monitor
from maxmargin.status import Status

rng = np.random.default_rng(8)
n, d, k = 21, 4, 3
A = rng.normal(size=(n, d))
C = rng.uniform(0.5, 2.0, n)
LABEL = np.arange(n) % k
ROWS = np.arange(n)
UPPER = np.where(np.arange(k) == LABEL[:, None], C[:, None], 0.0)


def class_duals(draw, C=C):
    """Feasible duals: a share of C is taken from the other classes."""
    share = (
        draw.dirichlet(np.ones(k - 1), n) * draw.choice([0.0, 0.5, 1.0], n)[:, None] * C[:, None]
    )
    t = np.zeros((n, k))
    for i in range(n):
        others = [m for m in range(k) if m != LABEL[i]]
        t[i, others] = -share[i]
        t[i, LABEL[i]] = share[i].sum()
    return t


def class_run(bias, t, C=C, X=A):
    run = crammer_singer._Run(ClassesProblem(LABEL, k, C, bias, 1.5), ArrayDesign(X))
    W = (X.T @ t).T
    run.begin_at(classes.CrammerSinger(W, np.array([0.3, -0.2, 0.5]), t, 0.0, 0.0, None, 0))
    return run


@pytest.mark.parametrize("bias", Bias)
def test_duals_of_all_classes_begin_at_a_start_made_smaller(bias):
    for seed in range(5):
        t = class_duals(np.random.default_rng(seed))
        weights = 0.3 * C
        run = class_run(bias, t, weights)
        wanted = np.array(
            [
                [
                    v * (weights[i] / t[i, LABEL[i]] if t[i, LABEL[i]] > weights[i] else 1.0)
                    for v in t[i]
                ]
                for i in range(n)
            ]
        )
        np.testing.assert_allclose(run.t, wanted, rtol=1e-14)
        np.testing.assert_allclose(run.W[:, :k], A.T @ wanted, atol=1e-12)
        column = {
            Bias.NONE: 0.0,
            Bias.FREE: sum(float(x @ x) for x in A) / n,
            Bias.PENALISED: 1.5**2,
        }[bias]
        assert run.column == pytest.approx(column)
        np.testing.assert_allclose(run.norms, [float(x @ x) + column for x in A])
        b = column * wanted.sum(axis=0) + ([0.3, -0.2, 0.5] if bias is Bias.FREE else 0.0)
        np.testing.assert_allclose(run.b[:k], b, atol=1e-12)
        assert not run.W[:, k:].any()
        assert not run.b[k:].any()
        run.update_multipliers()
        np.testing.assert_allclose(
            run.b[:k], b + (column * wanted.sum(axis=0) if bias is Bias.FREE else 0.0), atol=1e-12
        )
        sums = wanted.sum(axis=0)
        dual = sum(wanted[i, LABEL[i]] for i in range(n)) - 0.5 * np.sum((A.T @ wanted) ** 2)
        assert run.dual() == pytest.approx(
            dual - (0.5 * column * sums @ sums if bias is Bias.PENALISED else 0.0)
        )


@pytest.mark.parametrize("bias", Bias)
def test_samples_at_the_origin_have_duals_of_full_size_where_there_is_no_bias(bias):
    X = A.copy()
    X[3] = X[8] = 0.0
    run = crammer_singer._Run(ClassesProblem(LABEL, k, C, bias, 1.5), ArrayDesign(X))
    for i in range(n):
        full = bias is Bias.NONE and i in (3, 8)
        wanted = (
            [C[i] if m == LABEL[i] else -C[i] / (k - 1) for m in range(k)] if full else [0.0] * k
        )
        assert run.t[i].tolist() == pytest.approx(wanted)
    assert len(run.b) == 8
    assert (
        crammer_singer._Run(ClassesProblem(LABEL, k, C, Bias.FREE, 1.0), ArrayDesign(0 * X)).column
        == 1.0
    )


def test_sparse_arrays_are_passed_over_as_such():
    for share, compressed in ((0.35, True), (0.45, False)):
        X = np.where(np.arange(n * 20).reshape(n, 20) % 20 < 20 * share, 1.0, 0.0)
        design = ArrayDesign(X)
        run = crammer_singer._Run(ClassesProblem(LABEL, k, C, Bias.NONE, 1.0), design)
        assert (run.points is not design.points) is compressed
        design = ArrayDesign(sparse.csr_matrix(X))
        assert (
            crammer_singer._Run(ClassesProblem(LABEL, k, C, Bias.NONE, 1.0), design).points
            is design.points
        )


def nearest(t, upper):
    """The nearest duals whose sum is 0 below their bounds, by bisection for the level."""
    low, high = t.min() - upper.max() - 1.0, t.max() + 1.0
    for _ in range(200):
        level = 0.5 * (low + high)
        low, high = (level, high) if np.minimum(t - level, upper).sum() > 0 else (low, level)
    return np.minimum(t - level, upper)


@pytest.mark.parametrize("bias", Bias)
def test_a_subspace_step_goes_towards_the_best_values_of_the_free_duals(bias, monkeypatch):
    """Over the duals below their bounds, each sample's sum kept; then to the nearest feasible
    point, or the best one on the way there."""
    monkeypatch.setattr(
        crammer_singer, "SETTINGS", crammer_singer.SETTINGS._replace(accuracy=1e-26)
    )
    lengths = []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        X = (draw.normal(size=(n, 60)) + 0.7 * draw.normal(size=60)) * 10.0 ** draw.uniform(
            -1.5, 0.5
        )
        t = class_duals(draw)
        run = class_run(bias, t, C, X)
        W, b, column = run.W[:, :k].copy(), run.b[:k].copy(), run.column
        where = [
            (i, m)
            for i in range(n)
            for m in range(k)
            if t[i, m] < UPPER[i, m] and (t[i] < UPPER[i]).sum() > 1
        ]
        run.size = len({i for i, _ in where})
        went = run.subspace_step(3000, Monitor())
        slope = X @ W + b - np.where(UPPER > 0, 1.0, 0.0)
        H = np.array([[(X[i] @ X[j] + column) * (a == c) for j, c in where] for i, a in where])
        sums = np.array(
            [[float(i == row) for i, _ in where] for row in sorted({i for i, _ in where})]
        )
        basis = np.linalg.svd(sums)[2][len(sums) :].T
        g = np.array([slope[one] for one in where])
        best, step = basis @ np.linalg.solve(basis.T @ H @ basis, -basis.T @ g), np.zeros((n, k))
        for one, value in zip(where, best, strict=True):
            step[one] = np.clip(value, -2 * C[one[0]], 2 * C[one[0]])
        for i in {i for i, _ in where}:
            step[i] = nearest(t[i] + step[i], UPPER[i]) - t[i]
        gain, bend = (
            -float(np.sum(slope * step)),
            np.sum((X.T @ step) ** 2) + column * np.sum(step.sum(axis=0) ** 2),
        )
        length = min(1.0, gain / bend) if gain > 0 else 0.0
        lengths.append(length)
        np.testing.assert_allclose(run.t, t + length * step, atol=1e-6)
        assert went == (length > 0.5)
        np.testing.assert_allclose(run.W[:, :k], X.T @ run.t, atol=1e-6)
        np.testing.assert_allclose(
            run.b[:k], b + column * (run.t - t).sum(axis=0), atol=1e-6 * (1 + column)
        )
    assert 0 < min(lengths) < max(lengths) == 1


@pytest.mark.parametrize("bias", Bias)
def test_a_subspace_step_solves_the_equations_of_the_free_duals(bias):
    """Where no bound is met: on the face the slope is the same for all classes of a sample."""
    whole = 0
    for seed in range(10):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(n, 400))  # samples nearly orthogonal: the duals are small, bounds far
        t = np.full((n, k), -0.1 / (k - 1)) + np.where(UPPER > 0, 0.1 + 0.1 / (k - 1), 0.0)
        run = class_run(bias, 0.01 * t, C, X)
        run.size = n
        before = run.dual() if bias is not Bias.FREE else -np.inf
        went = run.subspace_step(500, Monitor())
        np.testing.assert_allclose(run.W[:, :k], X.T @ run.t, atol=1e-9)
        start = np.array([0.3, -0.2, 0.5]) if bias is Bias.FREE else 0.0
        np.testing.assert_allclose(run.b[:k], start + run.column * run.t.sum(axis=0), atol=1e-9)
        assert np.abs(run.t.sum(axis=1)).max() < 1e-12
        assert (run.t <= UPPER + 1e-12).all()
        assert run.dual() >= before
        if went and (run.t < UPPER - 1e-9).all():
            whole += 1
            slope = X @ run.W[:, :k] + run.b[:k] - np.where(UPPER > 0, 1.0, 0.0)
            assert np.ptp(slope, axis=1).max() < 0.02
    assert whole >= 5


def test_a_subspace_step_waits_until_the_free_samples_have_settled():
    """One whose number of samples changed by no more than a hundredth since the last look.

    That number is kept.
    """
    t = class_duals(np.random.default_rng(1))
    inside = sum(int((t[i] < UPPER[i]).sum() > 1) for i in range(n))
    assert 1 < inside < n
    for before, leaps in ((inside, True), (inside - 1, False), (inside + 1, False), (n + 5, False)):
        run = class_run(Bias.PENALISED, t)
        run.size = before
        old = run.t.copy()
        went = run.subspace_step(50, Monitor())
        assert run.size == inside
        assert (not np.array_equal(run.t, old)) is leaps
        assert leaps or not went


def test_a_large_face_may_change_by_a_hundredth():
    many = 300
    label, X = np.arange(many) % k, rng.normal(size=(many, 5))
    for before, leaps in ((many + 3, True), (many + 4, False), (many - 3, True), (many - 4, False)):
        run = crammer_singer._Run(
            ClassesProblem(label, k, np.ones(many), Bias.NONE, 1.0), ArrayDesign(X)
        )
        run.t = np.where(np.arange(k) == label[:, None], 0.2, -0.1)
        run.size = before
        run.subspace_step(5, Monitor())
        assert run.W.any() == leaps


def test_the_nearest_feasible_duals_of_all_classes():
    t = rng.normal(size=(n, k))
    found = crammer_singer._feasible(t, UPPER)
    for i in range(n):
        np.testing.assert_allclose(found[i], nearest(t[i], UPPER[i]), atol=1e-12)


def test_sums_of_classes_are_made_0_inside_the_bounds():
    for seed in range(20):
        t = class_duals(np.random.default_rng(seed))
        before = t.copy()
        crammer_singer._balance(t, LABEL, C)
        assert np.abs(t.sum(axis=0)).max() <= 1e-13 * np.abs(t).sum()
        assert np.abs(t.sum(axis=1)).max() <= 1e-13
        assert (t <= UPPER * (1 + 1e-12)).all()
        again = t.copy()
        crammer_singer._balance(again, LABEL, C)
        np.testing.assert_array_equal(again, t)
        assert not np.array_equal(before, t)


def test_the_first_move_between_classes_is_shared_by_the_samples_for_which_both_matter():
    C, label = np.full(4, 10.0), np.array([0, 1, 2, 2])
    t = np.array([[1.0, -1.0, 0.0], [-3.0, 4.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]])
    # of class 0, which lacks 3; of class 1, which has 3 too much
    room, rich = ([9.0, 3.0, 0.0, 1.0], [1.0, 4.0, 0.0, 0.0])
    between = [a * b for a, b in zip(room, rich, strict=True)]
    moved = [3.0 * b / sum(between) for b in between]
    wanted = t + np.outer(moved, [1.0, -1.0, 0.0])
    crammer_singer._balance(t, label, C)
    np.testing.assert_allclose(t, wanted, atol=1e-14)
    t = np.array([[1.0, -1.0, 0.0], [-3.0, 4.0, -1.0], [-9.0, 0.0, 9.0], [-1.0, 0.0, 1.0]])
    t[2] = [-1.0, 0.0, 1.0]
    t[1] = [-0.5, 1.5, -1.0]  # between them there is too little room: all samples of the class give
    before = t.copy()
    crammer_singer._balance(t, label, np.array([1.0, 10.0, 10.0, 10.0]))
    assert np.abs(t.sum(axis=0)).max() < 1e-14
    assert not np.array_equal(before, t)


def test_objectives_of_all_classes_refuse_duals_outside_their_constraints():
    t = class_duals(np.random.default_rng(3))
    W, b = rng.normal(size=(k, d)), np.zeros(k)

    def dual(t, bias):
        return classes.objectives(
            ClassesProblem(LABEL, k, C, bias, 1.5), ArrayDesign(A), W, b, t
        ).dual

    assert np.isfinite(dual(t, Bias.PENALISED))
    assert dual(t, Bias.FREE) == -np.inf, "the classes' sums are not 0"
    balanced = t.copy()
    crammer_singer._balance(balanced, LABEL, C)
    assert np.isfinite(dual(balanced, Bias.FREE))
    wrong = t.copy()
    wrong[0, LABEL[0]] += 1e-6 + C[0] - t[0, LABEL[0]]
    wrong[0, (LABEL[0] + 1) % k] = -wrong[0, LABEL[0]]
    wrong[0, (LABEL[0] + 2) % k] = 0.0
    assert dual(wrong, Bias.PENALISED) == -np.inf, "beyond C"
    wrong = t.copy()
    wrong[1, (LABEL[1] + 1) % k] -= 1e-6
    assert dual(wrong, Bias.PENALISED) == -np.inf, "a sample's sum is not 0"


LOOKS = [102, 204]
"""100 passes, one more, and one over all samples."""


def walk(
    monkeypatch,
    *,
    met=1.0,
    violation=2.0,
    active=10,
    went=(),
    gaps=(),
    tol=1e-3,
    max_iter=100_000,
    samples=20,
):
    """Passes whose results are given; returns what was done, and the solution."""
    done, seeds, way, gap = [], set(), iter(went), iter(gaps)

    class Run:
        """Takes the place of one solve."""

        def __init__(self, *rest):
            self.t = np.zeros((samples, k))

        def epoch(self, order, active_, shrink_above, seed):
            assert seed not in seeds
            seeds.add(seed)
            done.append(("epoch", active_, shrink_above))
            return met, violation, active if active_ > active else active_

        def subspace_step(self, products, monitor):
            done.append(("step", len([one for one in done if one[0] == "epoch"]), products))
            return next(way)

        def update_multipliers(self):
            pass

        def dual(self):
            return 1.0

        def solution(self, ended, steps):
            value = next(gap) if ended is None else 0.0
            done.append(("check", steps))
            return classes.CrammerSinger(None, None, None, 1.0, 1.0 - value, ended, steps)

    monkeypatch.setattr(crammer_singer, "_Run", Run)
    label = np.zeros(samples, int)
    return done, crammer_singer.solve(
        ClassesProblem(label, k, np.ones(samples), Bias.NONE),
        LinearWorkspace(ArrayDesign(A), Monitor(max_iter=max_iter)),
        tol,
    )


def test_subspace_steps_follow_each_other_soon_where_they_go_most_of_their_way(monkeypatch):
    """After 15 passes, or 3 after such a leap, with twice as many products."""
    went = [False, True, True, True, False, True, *[True] * 20]
    done, found = walk(monkeypatch, went=went, max_iter=99)
    leaps = [one[1:] for one in done if one[0] == "step"]
    assert leaps[:7] == [(15, 10), (30, 10), (33, 20), (36, 40), (39, 80), (54, 10), (57, 20)]
    assert [products for _, products in leaps[7:]] == [40, 80, 160, 320, 640, 1280] + [2000] * 8
    assert (found.ended, found.n_iter) == (Status.MAX_ITER, 99)
    visits = [one[1:] for one in done if one[0] == "epoch"]
    assert visits[:2] == [(20, np.inf), (10, pytest.approx(0.2 * 2.0))], (
        "some samples are set aside"
    )
    assert visits[15] == (20, np.inf), "after a leap all are looked at"


def test_the_gap_is_looked_at_where_passes_promise_it_to_be_small(monkeypatch):
    """Half of what is asked for, met by a pass over all samples; anyway after 100 passes."""
    done, found = walk(monkeypatch, met=0.49e-3, gaps=[2e-3, 0.9e-3])
    assert [one[0] for one in done] == ["epoch", "check", "epoch", "check"]
    assert (found.ended, found.n_iter) == (None, 2)
    assert [one[1:] for one in done if one[0] == "epoch"] == [(20, np.inf)] * 2
    for met, active in ((0.51e-3, 10), (1.0, 1)):
        done, found = walk(
            monkeypatch, met=met, active=active, gaps=[2e-3, 0.9e-3], went=[False] * 20
        )
        assert [one[1] for one in done if one[0] == "check"] == LOOKS
        assert found.n_iter == LOOKS[-1]
        visits = [one[1] for one in done if one[0] == "epoch"]
        assert visits[LOOKS[0] - 1] == 20, "over all samples"
    done, found = walk(monkeypatch, met=1.0, active=0, gaps=[0.9e-3])
    assert [one[0] for one in done] == ["epoch", "check"], "none is left to visit"


def test_looks_without_a_tenth_less_of_the_gap_end_the_work(monkeypatch):
    slow = [1.0, *[0.91] * 300]
    _, found = walk(monkeypatch, met=0.0, gaps=slow, went=[False] * 100)
    assert (found.ended, found.n_iter) == (Status.STALLED, 202)
    _, found = walk(
        monkeypatch, met=0.0, gaps=[1.0, *[0.95] * 150, 0.89, *[0.85] * 300], went=[False] * 100
    )
    assert (found.ended, found.n_iter) == (Status.STALLED, 353)
