"""Soft Margin Revisited."""

import numpy as np

from data import overlapping
from maxmargin import SVC, textbook
from maxmargin.plots import DecisionDisplay, EffectDisplay, LossDisplay
from maxmargin.plots.labels import beside
from maxmargin.plots.style import CLASS_COLOURS, INK, figure


def six_points():
    """Slack variables, point by point

    $$\\xi_i \\ge 1 - y^{(i)} (w \\cdot x^{(i)} + b),\\qquad \\xi_i \\ge 0$$

    Points 1 and 5 are outside the margin ($\\xi = 0$), 4 is inside but on the right side ($0 < \\xi
    < 1$), 2, 3 and 6 are on the wrong side ($\\xi > 1$).
    """
    X = np.array([[1.4, 2.2], [2.7, -0.7], [0.9, -0.4], [0.1, 1.0], [-1.8, -1.9], [-2.1, 1.6]])
    y = np.array([1, -1, -1, 1, -1, 1])
    model = textbook.LinearModel(np.array([0.6, 0.6]), 0.0)
    shown = DecisionDisplay.computed(model, X, y)
    shown.support = shown.support[:0]  # this plane was not trained
    shown.plot()
    names = [
        f"$x^{{({i})}}$\n$\\xi_{i}$ = {slack:.2f}"
        for i, slack in enumerate(textbook.slacks(model, X, y), start=1)
    ]
    drawn = [np.linspace(*segment, 12) for segment in shown.segments]
    beside(shown.ax_, X, names, np.vstack(drawn), fontsize=8.5)
    return shown.figure_


def small_and_large_C():
    """Two goals, weighed by C

    $$\\min\\ \\tfrac12 |w|^2 + C \\sum_i \\xi_i$$

    Left C is small: a wide margin, many errors. Right C is large: a narrow margin, fewer errors.
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
    over = "prediction $\\hat{y}$ of a positive sample"
    LossDisplay(hinges, over).plot(panels[0])
    LossDisplay({"quadratic": lambda m: (m - 1) ** 2}, over).plot(panels[1])
    for ax in panels:
        ax.axvline(1, color=INK, linewidth=0.6, linestyle=":")
    return drawing


def decision_function():
    """The bias from the support vectors

    $$b = -\\tfrac12\\left(\\max w\\cdot x_{SV}^{(+)} + \\min w\\cdot x_{SV}^{(-)}\\right)$$

    Among the support vectors, the positive one with the largest $w\\cdot x$ and the negative one
    with the smallest lie on their margins.
    """
    X, y = textbook.data.twenty_points()
    model, _ = textbook.soft_margin_qp(X, y, C=1.0)
    shown = DecisionDisplay.from_estimator(model, X, y, slacks=False)
    projections = X @ model.w
    ends = []
    for sign, pick in ((1, np.argmax), (-1, np.argmin)):
        of_class = model.support[y[model.support] == sign]
        ends.append(of_class[pick(projections[of_class])])
    values = [projections[i] for i in ends]
    names = [f"max $w \\cdot x$ = {values[0]:.2f}", f"min $w \\cdot x$ = {values[1]:.2f}"]
    shown.ax_.scatter(*X[ends].T, s=170, facecolors="none", edgecolors=CLASS_COLOURS[2], lw=2)
    beside(shown.ax_, X[ends], names, X, fontsize=9, color=INK)
    shown.ax_.set_title(f"$b$ = {-sum(values) / 2:.2f}", pad=40)
    return shown.figure_


def effect_of_C():
    """Changes of the decision boundary with C: the lecture's points and its sums of slacks

    $$C = 50:\\ \\sum\\xi = 6.37\\quad C = 5:\\ \\sum\\xi = 7.07\\quad C = 1:\\ \\sum\\xi = 10.58$$

    The twenty points of the lecture's program, and the three numbers that it prints. As C gets
    smaller, the margin and $\\sum\\xi$ get larger.
    """
    X, y = textbook.data.twenty_points()
    effect = EffectDisplay.computed(SVC(kernel="linear", tol=1e-6), X, y, values=(50, 5, 1))
    for panel, C, total in zip(effect.panels, effect.values, effect.slack, strict=True):
        panel.title = f"$C$ = {C}:  $\\sum\\xi$ = {total:.2f}"
    return effect.plot().figure_


def margin_and_slack_over_C():
    """The same over all C"""
    X, y = textbook.data.twenty_points()
    grid = tuple(np.geomspace(0.1, 1000, 33))
    effect = EffectDisplay.computed(SVC(kernel="linear", tol=1e-6), X, y, values=grid)
    ax = effect.plot_curves()
    slacks = ax.figure.axes[1]
    for C, total in textbook.data.SUMS_OF_SLACKS.items():
        slacks.plot(C, total, "o", color=INK, markersize=4, zorder=5)
        slacks.annotate(f"{total}", (C, total), (4, 6), textcoords="offset points")
    return ax.figure
