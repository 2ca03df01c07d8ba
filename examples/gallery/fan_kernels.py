"""Fan: kernels, several classes, logistic regression."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from strokes import GREEN, PINK, line, points_of, square

from data import crescents, overlapping, rings, three_clouds, xor
from maxmargin import SVC, LinearSVC, textbook
from maxmargin.plots import (
    ClassesDisplay,
    DecisionDisplay,
    EffectDisplay,
    LossDisplay,
    ReliabilityDisplay,
)
from maxmargin.plots.loss import OF_MARGIN
from maxmargin.plots.style import CLASS_COLOURS, figure, legend_outside, titled


def xor_and_rings():
    """Data that no line separates: XOR and a ring

    A linear machine, and one with the kernel $(1 + x^\\top z)^2$, on the same points.
    """
    drawing, panels = figure(2, 2, size=(9.2, 8.8))
    for row, (X, y) in zip(panels, (xor(), rings()), strict=True):
        for ax, name, kernel in zip(row, ("linear", "polynomial"), ("linear", "poly"), strict=True):
            model = SVC(kernel=kernel, degree=2, gamma=1.0, coef0=1.0, C=10.0).fit(X, y)
            title = f"{name}: {model.score(X, y):.0%} right"
            shown = DecisionDisplay.computed(model, X, y, slacks=False, title=title)
            shown.support = shown.support[:0]  # with a linear kernel nearly all points
            shown.plot(ax)
    return drawing


def polynomial_boundary():
    """A boundary that is not linear

    $$w_0 + w_1 x_1 + w_2 x_2 + w_3 x_1 x_2 + w_4 x_1^2 + w_5 x_2^2 \\ge 0$$

    A linear machine on the features $\\phi(x)$, drawn in the space of $x$.
    """
    X, y = rings()
    features = PolynomialFeatures(2, include_bias=False)
    model = make_pipeline(features, LinearSVC(loss="hinge", C=10.0)).fit(X, y)
    return DecisionDisplay.from_estimator(model, X, y).figure_


def kernels_compared():
    """Comparing kernels

    $$\\left(1 + \\frac{x^\\top z}{\\sigma^2}\\right)^p,\\qquad \\exp\\left(-\\frac{|x -
    z|^2}{2\\sigma^2}\\right),\\qquad \\frac1{1 + \\exp(-(x^\\top z + b)/\\sigma^2)}$$

    As functions of $x$ in one dimension, $z = 1$.
    """
    kernels = textbook.kernels
    x = np.linspace(-3, 4, 400)[:, None]
    drawing, ax = figure()
    for k, (name, kernel) in enumerate(
        {
            "linear": kernels.linear,
            "polynomial, p = 2": kernels.polynomial(2),
            "RBF, $\\sigma$ = 0.7": kernels.rbf(sigma=0.7),
            "sigmoidal": kernels.sigmoid(),
        }.items()
    ):
        ax.plot(
            x,
            kernel(x, np.array([[1.0]])),
            color=CLASS_COLOURS[k],
            linestyle=("-", "--", "-.", ":")[k],
            label=name,
        )
    ax.set(xlabel="$x$", ylabel="$k(x, 1)$", ylim=(-1.5, 4))
    ax.legend(loc="upper left")
    return drawing


def boundaries_of_kernels():
    """Boundaries of kernels: polynomials of second and third order, RBF

    $$\\left(1 + x^\\top z\\right)^2,\\qquad \\left(1 + x^\\top z\\right)^3,\\qquad e^{-|x - z|^2}$$
    """
    X, y = crescents(noise=0.25)
    drawing, panels = figure(1, 3, size=(13, 4.1))
    machines = {
        "polynomial, p = 2": SVC(kernel="poly", degree=2, coef0=1.0, gamma=1.0, C=1.0),
        "polynomial, p = 3": SVC(kernel="poly", degree=3, coef0=1.0, gamma=1.0, C=1.0),
        "RBF": SVC(gamma=1.0, C=1.0),
    }
    for ax, (name, machine) in zip(panels, machines.items(), strict=True):
        DecisionDisplay.from_estimator(machine.fit(X, y), X, y, title=name, ax=ax)
    return drawing


def effect_of_gamma():
    """The width of the Gaussian kernel

    $$\\gamma = \\frac1{2\\sigma^2}$$

    Too wide a kernel sees no structure, too narrow a one sees nothing else.
    """
    X, y = crescents(noise=0.25)
    return EffectDisplay.from_estimator(
        SVC(C=1.0), X, y, parameter="gamma", values=(0.05, 1, 50)
    ).figure_


def one_versus_rest():
    """One machine for each class against the rest

    $$\\arg\\max_k\\ (w^{(k)})^\\top x + b^{(k)}$$
    """
    X, y = three_clouds()
    model, _ = textbook.one_vs_rest(X, y)
    drawing, panels = figure(2, 2, size=(9.2, 9.0))
    panels = panels.ravel()
    for k, (ax, machine) in enumerate(zip(panels, model.machines, strict=False)):
        DecisionDisplay.from_estimator(
            machine,
            X,
            np.where(y == k, 1, -1),
            slacks=False,
            title=f"class {k} against the rest",
            ax=ax,
        )
    ClassesDisplay.from_estimator(model, X, y, ax=panels[3])
    panels[3].set_aspect("equal")
    titled(panels[3], "the largest wins")
    return drawing


def svm_and_logistic_regression():
    """SVM against logistic regression

    $$(1 - (w^\\top x_i + b) y_i)_+ \\qquad \\log\\left(1 + e^{-(w^\\top x_i + b) y_i}\\right)$$
    """
    X, y = overlapping()
    drawing, panels = figure(1, 2)
    LossDisplay({name: OF_MARGIN[name] for name in ("errors", "hinge", "logistic")}).plot(panels[0])
    points_of(panels[1], X, y)
    square(panels[1], 3.5)
    for k, (name, model) in enumerate(
        {
            "SVM": textbook.soft_margin_qp(X, y, C=1.0)[0],
            "logistic regression": textbook.logistic_regression(X, y, lam=1.0)[0],
        }.items()
    ):
        line(
            panels[1],
            model.w,
            model.b,
            color=(GREEN, PINK)[k],
            linestyle=("-", "--")[k],
            label=name,
        )
    legend_outside(panels[1])
    return drawing


def reliable_probabilities():
    """From decision values to probabilities

    $$P(y = 1 \\mid x) = \\frac{1}{1 + e^{A f(x) + B}}$$

    Logistic regression has probabilities, an SVM learns them from decision values of samples that
    it was not trained on. Where they are right, a share $p$ of the samples with probability $p$ is
    of the class.
    """
    X, y = overlapping(n=3000, gap=0.6)
    model = SVC(C=1.0, probability=True).fit(X[::3], y[::3])
    return ReliabilityDisplay.from_estimator(model, X[1::3], y[1::3]).figure_
