"""Large C: the last rounds keep F exact in float64, by Newton steps (decision 38) or by cycles with
the reduced problem (decision 42)."""

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.core.threads import one_thread
from maxmargin.kernel import continuation, working_set
from maxmargin.kernel.state import State


@pytest.fixture(scope="module")
def data():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(4000, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * draw.normal(size=4000) > 0


def fit(X, y):
    return SVC(C=1e3, gamma=0.3).fit(X, y)


def test_rounds_with_newton_steps_leave_an_exact_F(data, monkeypatch):
    solve, exact = working_set.solve, []

    def watched(state: State, *rest):
        steps = solve(state, *rest)
        if state.factor is not None:
            exact.append(np.array_equal(state.b, state.b_exact))
        return steps

    monkeypatch.setattr(working_set, "solve", watched)
    monkeypatch.setattr(continuation, "finish", lambda *_: False)
    assert fit(*data).certificate_.status == "optimal"
    assert exact
    assert all(exact)


def test_cycles_finish_a_fit(data, monkeypatch):
    finish, ends = continuation.finish, []

    def watched(state: State, *rest):
        before = state.violation
        found = finish(state, *rest)
        ends.append((found, before, state.violation, np.array_equal(state.b, state.b_exact)))
        assert state.factor is None
        return found

    monkeypatch.setattr(continuation, "finish", watched)
    model = fit(*data)
    assert model.certificate_.status == "optimal"
    ((found, before, after, exact),) = ends
    assert found
    assert exact
    assert after <= 0.5e-3 < before


def test_bits_do_not_depend_on_threads(data):
    several = fit(*data)
    with one_thread():
        alone = fit(*data)
    np.testing.assert_array_equal(several.dual_coef_, alone.dual_coef_)


def test_cycles_that_fail_leave_the_rest_to_rounds(data, monkeypatch):
    def spoiled(*_):
        raise continuation.Spoiled

    monkeypatch.setattr(continuation, "minimise", spoiled)
    assert fit(*data).certificate_.status == "optimal"


def test_many_members_begin_a_new_reduced_problem(data, monkeypatch):
    """Once they are more than the core, what is free becomes the core."""
    cores, begin = [], continuation._begin

    def counted(*arguments):
        cores.append(begin(*arguments))
        return cores[-1]

    eager = working_set.SETTINGS._replace(stiff=2, settled=1.0)
    monkeypatch.setattr(working_set, "SETTINGS", eager)
    monkeypatch.setattr(continuation, "_begin", counted)
    assert fit(*data).certificate_.status == "optimal"
    assert len(cores) > 1
