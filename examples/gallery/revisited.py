"""The soft margin, revisited."""

import numpy as np

from data import overlapping
from maxmargin import SVC, textbook
from maxmargin.plots import DecisionDisplay, EffectDisplay, LossDisplay
from maxmargin.plots.style import INK, figure




def six_points():
    """Slack variables, point by point

    $$\\xi_i \\ge 1 - y^{(i)} (w \\cdot x^{(i)} + b),\\qquad \\xi_i \\ge 0$$

    Points 1 and 5 are outside the margin ($\\xi = 0$), 4 is inside but on the right side ($0 < \\xi
    < 1$), 2, 3 and 6 are on the wrong side ($\\xi > 1$).
    """
    X = np.array(
        [[1.3, 1.7], [2.2, 0.3], [1.4, -0.6], [0.1, 1.1], [-1.7, -1.8], [-1.1, 0.2], [-0.6, -1.6]]
    )
    y = np.array([1, -1, -1, 1, -1, 1, -1])
    model = textbook.LinearModel(np.array([0.6, 0.6]), 0.0)
    shown = DecisionDisplay.computed(model, X, y)
    shown.support = shown.support[:0]  # this plane was not trained
    shown.plot()
    for i, (point, slack) in enumerate(
        zip(X[:6], textbook.slacks(model, X, y), strict=False), start=1
    ):
        shown.ax_.annotate(
            f"$x^{{({i})}}$, $\\xi$ = {slack:.2f}",
            point,
            xytext=(7, -11),
            textcoords="offset points",
            fontsize=8,
        )
    return shown.figure_


def small_and_large_C():
    """Two goals, weighed by C

    $$\\min\\ \\tfrac12 |w|^2 + C \\sum_i \\xi_i$$
    """
    X, y = overlapping()
    return EffectDisplay.from_estimator(SVC(kernel="linear"), X, y, values=(0.02, 100)).figure_


def hinge_and_squared_hinge():
    """Hinge and squared hinge loss of a positive sample, and the quadratic loss

    $$\\max(0, 1 - \\hat y),\\qquad \\max(0, 1 - \\hat y)^2,\\qquad (\\hat y - 1)^2$$

    The quadratic loss grows on both sides: it punishes points for being right.
    """
    drawing, panels = figure(1, 2)
    hinges = {
        "hinge": lambda m: np.maximum(0, 1 - m),
        "squared hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    }
    LossDisplay(hinges, "prediction $\\hat y$ of a positive sample").plot(panels[0])
    LossDisplay(
        {"quadratic": lambda m: (m - 1) ** 2}, "prediction $\\hat y$ of a positive sample"
    ).plot(panels[1])
    return drawing


def decision_function():
    """The bias from the support vectors

    $$b = -\\tfrac12\\left(\\max w\\cdot x_{SV}^{(+)} + \\min w\\cdot x_{SV}^{(-)}\\right)$$

    The positive support vector with the largest $w\\cdot x$ lies on its margin, and so does the
    negative one with the smallest.
    """
    X, y = overlapping(gap=1.3)
    model, _ = textbook.soft_margin_qp(X, y, C=1.0)
    shown = DecisionDisplay.from_estimator(model, X, y, slacks=False)
    projections = X @ model.w
    for sign, pick in ((1, np.argmax), (-1, np.argmin)):
        of_class = model.support[y[model.support] == sign]
        i = of_class[pick(projections[of_class])]
        shown.ax_.annotate(
            "on the margin",
            X[i],
            xytext=(22 * sign, -28),
            textcoords="offset points",
            arrowprops={"arrowstyle": "->", "color": INK},
            fontsize=8,
        )
    return shown.figure_


def effect_of_C():
    """Changes of the decision boundary with C

    As C grows from 1 to 50 the margin and $\\sum\\xi$ both fall.
    """
    X, y = overlapping()
    return EffectDisplay.from_estimator(SVC(kernel="linear"), X, y, values=(1, 5, 50)).figure_


def margin_and_slack_over_C():
    """The same over all C"""
    X, y = overlapping()
    effect = EffectDisplay.computed(
        SVC(kernel="linear"), X, y, values=tuple(np.geomspace(0.01, 100, 25))
    )
    return effect.plot_curves().figure
