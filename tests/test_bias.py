"""The lectures' rules for the bias.

"Theory and Algorithms" and Fan: b is y_i - w.x_i at any support vector on the margin, the mean
over all of them for stability. Straka: where no variable is free, every b of an interval satisfies
the optimality conditions, and the middle is taken.
"""

import numpy as np
import pytest

from helpers import binary
from maxmargin import SVC, SVR
from maxmargin.core.choose import HOST
from maxmargin.kernel import problems
from maxmargin.kernel.solution import Level, gradient, levels

X, label = binary(100, seed=1)
y = np.where(label == 1, 1.0, -1.0)


def test_mean_over_free_support_vectors():
    model = SVC(C=1.0, gamma=0.5).fit(X, label)
    alpha = np.abs(model.dual_coef_[0])
    free = model.support_[(alpha > 0) & (alpha < 1.0)]
    assert len(free) > 3
    kernel_part = model.decision_function(X) - model.intercept_
    assert model.intercept_[0] == pytest.approx(np.mean(y[free] - kernel_part[free]), abs=1e-12)
    # every free support vector gives the same value
    assert np.ptp(y[free] - kernel_part[free]) < 1e-10
    assert (
        model.intercept_interval_[0, 0]
        == model.intercept_interval_[0, 1]
        == pytest.approx(model.intercept_[0])
    )


def test_interval_without_free_support_vector():
    """C so small that every variable is at its bound.

    The interval's ends are optimal too, and beyond them the violation starts.
    """
    balanced = np.r_[np.flatnonzero(label == 0)[:40], np.flatnonzero(label == 1)[:40]]
    A, t = X[balanced], label[balanced]
    sign = np.where(t == 1, 1.0, -1.0)
    C = 1e-4
    model = SVC(C=C, gamma=0.5).fit(A, t)
    assert np.allclose(np.abs(model.dual_coef_), C)
    low, high = model.intercept_interval_[0]
    assert low < high
    assert model.intercept_[0] == pytest.approx((low + high) / 2)
    kernel_part = model.decision_function(A) - model.intercept_

    def primal(b):
        return C * np.sum(np.maximum(0, 1 - sign * (kernel_part + b)))

    inside = [primal(b) for b in np.linspace(low, high, 7)]
    assert np.ptp(inside) < 1e-12
    width = high - low
    assert min(primal(low - 0.1 * width), primal(high + 0.1 * width)) > inside[0] + 1e-9


def test_one_sided_interval():
    """Where one end is infinite the finite end is the level."""
    problem = problems.one_class(np.ones(3), 1.0)  # all at their bound: they can only shrink
    G = gradient(problem, np.ones(3), np.array([1.0, 2.0, 3.0]))
    found = levels(problem.variables(np.ones(3), G), HOST)
    assert found == (Level(-3.0, -np.inf, -3.0),)


def test_regression_bias():
    z = X[:, 0] + 0.1 * X[:, 1]
    model = SVR(C=1.0, epsilon=0.2, gamma=0.5).fit(X, z)
    beta = np.zeros(100)
    beta[model.support_] = model.dual_coef_[0]
    free = np.flatnonzero((beta != 0) & (np.abs(beta) < 1.0))
    kernel_part = model.predict(X) - model.intercept_
    assert model.intercept_[0] == pytest.approx(
        np.mean(z[free] - kernel_part[free] - 0.2 * np.sign(beta[free])), abs=1e-12
    )


def test_constant_target():
    """No support vector at all.

    The bias is the middle of the interval, and predicts the constant.
    """
    model = SVR(epsilon=0.1).fit(X, np.full(100, 7.0))
    assert len(model.support_) == 0
    assert model.predict(X) == pytest.approx(7.0)
    assert model.intercept_interval_[0] == pytest.approx([6.9, 7.1])
