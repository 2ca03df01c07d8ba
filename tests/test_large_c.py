"""Rounds with Newton steps keep F exact in float64 (decision 38)."""

import numpy as np

from maxmargin import SVC
from maxmargin.kernel import working_set
from maxmargin.kernel.state import State


def test_rounds_with_newton_steps_leave_an_exact_F(monkeypatch):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(4000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * draw.normal(size=4000) > 0
    solve, exact = working_set.solve, []

    def watched(state: State, *rest):
        steps = solve(state, *rest)
        if state.factor is not None:
            exact.append(np.array_equal(state.b, state.b_exact))
        return steps

    monkeypatch.setattr(working_set, "solve", watched)
    model = SVC(C=1e3, gamma=0.3).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert exact
    assert all(exact)
