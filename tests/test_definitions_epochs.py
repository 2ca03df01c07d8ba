"""Epochs of Pegasos by their definitions: scaling, bounds, evaluation of a model, reports."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers import binary, settings, three
from maxmargin import NormaSVC, PegasosSVC, monitor
from maxmargin.linear.designs import ArrayDesign
from maxmargin.linear.losses import Bias, LinearProblem, classification
from maxmargin.monitor import Monitor
from maxmargin.online import epochs, pegasos_linear


def hinge(y, C=1.0, bias=Bias.NONE):
    return LinearProblem(classification(np.asarray(y, float), np.full(len(y), C), False), bias)


def test_models_are_halved_until_that_no_longer_helps():
    for length in (0.1, 1.0, 3.0, 6.0, 16.0, 1000.0):
        thetas = 2.0 ** -np.arange(20)
        values = 0.5 * (thetas * length) ** 2 + np.maximum(0, 1 - thetas * length)
        found = epochs._shrinkage(hinge([1.0, -1.0], 0.5), np.array([length, -length]), length**2)
        assert found == thetas[values.argmin()]
    assert (
        epochs._shrinkage(hinge([1.0]), np.array([-1.0]), 1e300) == epochs.SETTINGS.least_shrinkage
    )
    assert epochs._shrinkage(hinge([1.0]), np.array([0.0]), 0.0) == 1.0, (
        "where nothing is gained it stays"
    )


def test_duals_are_scaled_down_to_the_greatest_bound():
    t = np.array([0.5, -0.25])
    for square in (0.0, 0.5, 0.75, 1.5, 100.0):
        bound, scaled, length = epochs._scaled_dual(hinge([1.0, -1.0]), t, square)
        thetas = np.linspace(0, 1, 1001)
        assert bound >= (0.75 * thetas - 0.5 * thetas**2 * square).max() - 1e-12
        theta = scaled[0] / t[0]
        np.testing.assert_allclose(scaled, theta * t)
        assert bound == pytest.approx(0.75 * theta - 0.5 * length)
        assert length == pytest.approx(theta**2 * square)


def test_the_loss_of_a_constant_is_twice_that_of_the_rarer_class():
    assert epochs.constant_loss(hinge([1, 1, 1, -1], 0.5, Bias.FREE)) == 1.0
    assert epochs.constant_loss(hinge([1, 1, 1, -1], 0.5)) == 2.0


@pytest.fixture
def evaluated(monkeypatch):
    """The epochs after which a model is evaluated, and whether it is shrunk."""
    seen = []

    def evaluate(solver, model, asked, shrink=False):
        seen.append((int(solver.iterates.state["steps"][0]) // len(solver.task.rows), shrink))
        return real(solver, model, asked, shrink)

    real = epochs.evaluate
    monkeypatch.setattr(epochs, "evaluate", evaluate)
    return seen


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gaps_are_computed_when_the_epochs_have_grown_by_three_tenths(evaluated):
    X, y = binary(40)
    options = {"shuffle": False, "alpha": 0.01}
    model = PegasosSVC(tol=1e-12, max_iter=20, **options).fit(X, y)
    assert evaluated == [(k, k == 20) for k in (1, 2, 3, 4, 6, 8, 11, 15, 20)]
    assert (model.n_iter_, model.t_) == (20, 800)
    evaluated.clear()
    model = PegasosSVC(tol=1e-12, max_iter=7, **options).fit(X, y)
    assert evaluated == [(1, False), (2, False), (3, False), (4, False), (6, False), (7, True)]
    evaluated.clear()
    model = PegasosSVC(tol=None, max_iter=5, **options).fit(X, y)
    assert evaluated == [(5, False)]
    evaluated.clear()
    model = PegasosSVC(tol=10.0, **options).fit(X, y)
    assert (evaluated, model.n_iter_, model.fit_status_) == ([(1, False)], 1, 0)


def test_a_limit_of_time_ends_an_epoch_between_two_checks(evaluated, monkeypatch):
    X, y = binary(40)
    settings = pegasos_linear.SETTINGS._replace(check_work=50)  # ten samples
    monkeypatch.setattr(pegasos_linear, "SETTINGS", settings)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = PegasosSVC(tol=0.01, time_limit=0.0, shuffle=False, project=False).fit(X, y)
    assert (model.t_, model.n_iter_, model.certificate_.status) == (10, 1, "time_limit")
    assert evaluated == [(0, True)]
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = PegasosSVC(time_limit=0.0, shuffle=False, project=False).partial_fit(
            X, y, classes=[0, 1]
        )
    assert model.t_ == 10
    # used up: no warning
    PegasosSVC(time_limit=0.0, shuffle=False, project=False).partial_fit(
        X[:10], y[:10], classes=[0, 1]
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_last_line_tells_steps_gap_and_support_vectors(kernel, caplog):
    X, y = three(60)
    with caplog.at_level("INFO", logger="maxmargin"):
        model = PegasosSVC(
            alpha=0.05, kernel=kernel, tol=0.3, verbose=1, random_state=0, warm_start=True
        ).fit(X, y)
    (line,) = caplog.messages
    worst = max(model.certificate_.parts, key=lambda part: part.relative_gap)
    coef = model.model_.sample_coefs[:, :, 0] if kernel == "linear" else model.model_.state.v
    support = int((coef != 0).any(axis=0).sum())
    assert line.startswith(
        f"PegasosSVC: {model.t_:,} steps, gap {worst.gap:.3g}, violation nan, {support} support "
        "vectors, "
    )
    assert line.endswith(" s, done")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lines_on_the_way(caplog, monkeypatch):
    settings(monkeypatch, monitor, report_every=0.0)
    X, y = binary(60)
    with caplog.at_level("INFO", logger="maxmargin"):
        model = PegasosSVC(alpha=0.05, tol=1e-9, max_iter=3, verbose=1, shuffle=False).fit(X, y)
    steps = [line.split(" steps")[0] for line in caplog.messages]
    assert steps == ["PegasosSVC: 60", "PegasosSVC: 120", "PegasosSVC: 180", "PegasosSVC: 180"]
    assert caplog.messages[-1].endswith(f" s, {model.certificate_.status}")
    caplog.clear()
    with caplog.at_level("INFO", logger="maxmargin"):
        NormaSVC(budget=25, max_iter=2, verbose=1, shuffle=False).fit(X, y)
    steps = [line.split(" steps")[0] for line in caplog.messages]
    assert steps == [f"NormaSVC: {k}" for k in (25, 50, 60, 85, 110, 120)]
    assert [line.split(", ")[3] for line in caplog.messages][-1] == "25 support vectors"


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.4}])
def test_what_a_solver_says_of_its_functions(options):
    """Values, lengths and dual points by their definitions, with and without a centre."""
    X, y = three(30)
    X = X + 2
    for bias in (True, False):
        model = PegasosSVC(alpha=0.05, fit_intercept=bias, shuffle=False, **options)
        signs, weight = model._signs(y, 3), np.random.default_rng(0).uniform(0.5, 1.5, size=30)
        task = model._task(signs, weight, np.arange(30))
        _, solver = model._solver(X, ArrayDesign(X), np.ones(30), task, False)
        centre = task.share @ X if bias else np.zeros(4)
        solver.advance(np.arange(30), Monitor())
        rows = np.array([7, 3, 21])
        for function in (solver.model(), solver.last()):
            if options:
                K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
                values, norms = function @ K, np.diag(function @ K @ function.T)
            else:
                values, norms = function @ (X - centre).T, np.sum(function**2, axis=1)
            np.testing.assert_allclose(solver.values(function), values, atol=1e-9)
            np.testing.assert_allclose(solver.values(function, rows), values[:, rows], atol=1e-9)
            np.testing.assert_allclose(solver.norms(function), norms, rtol=1e-9)
        averages, last = solver.duals()
        for coef, function in ((averages, solver.model()), (last, solver.last())):
            if options:
                np.testing.assert_allclose(coef, function, atol=1e-12)
                np.testing.assert_allclose(
                    solver.dual_norms(coef), np.diag(coef @ K @ coef.T), rtol=1e-9
                )
            else:
                np.testing.assert_allclose(coef @ (X - centre), function, atol=1e-9)
                np.testing.assert_allclose(
                    solver.dual_norms(coef), np.sum((coef @ X) ** 2, axis=1), rtol=1e-9
                )
        state = solver.iterates.state
        assert solver.biases().tolist() == state["mean_bias"].tolist()
        solver.rule = solver.rule._replace(average=False)
        assert solver.biases().tolist() == state["bias"].tolist()
        np.testing.assert_allclose(state["norm"], solver.norms(solver.last()), rtol=1e-9)
        problems = epochs.problems(task, solver.rule)
        assert [problem.bias for problem in problems] == [Bias.FREE if bias else Bias.NONE] * 3
        for problem, sign in zip(problems, signs, strict=True):
            np.testing.assert_allclose(problem.tube.up + problem.tube.down, task.share / 0.05)
            np.testing.assert_array_equal(problem.tube.up > 0, sign > 0)
