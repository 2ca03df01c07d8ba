"""Straka: the soft margin and its losses."""

import numpy as np

from data import crescents
from maxmargin import SVC, NuSVC, textbook
from maxmargin.plots import DecisionDisplay, LossDisplay
from maxmargin.plots.loss import OF_MARGIN
from maxmargin.plots.style import CLASS_COLOURS, INK, figure


def gaussian_kernel():
    """Contours of y(x) with a Gaussian kernel (after figure 7.2)

    $$y(x) = \\sum_i a_i t_i K(x, x_i) + b,\\qquad K(x, z) = \\exp(-\\gamma\\,|x - z|^2)$$

    Only the ringed points, those with $a_i > 0$, are kept.
    """
    X, y = crescents(noise=0.12)
    model = SVC(C=1e4, gamma=1.0).fit(X, y)
    shown = DecisionDisplay.from_estimator(model, X, y)
    a, b, grid = shown.plane.grid(200)
    values, levels = model.decision_function(grid).reshape(a.shape), (-6, -4, -2, 2, 4, 6)
    shown.ax_.contour(a, b, values, levels=levels, colors=INK, linestyles="-", linewidths=0.4)
    return shown.figure_


def slack_variables():
    """Slack variables (after figure 7.3)

    $$\\xi_i = \\max(0,\\ 1 - t_i\\,y(x_i))$$

    Dotted: from a point to its margin, $\\xi_i / |w|$ long. $\\xi = 0$ on the margin and outside,
    $0 < \\xi < 1$ inside, $\\xi = 1$ on the boundary, $\\xi > 1$ on the wrong side.
    """
    X = [[-2.6, -0.4], [-1.9, 0.9], [-1.6, -1.8], [-1.0, 0.0], [-0.5, -0.9], [0.1, 0.9]]
    X += [[2.7, 0.5], [1.9, -1.2], [1.5, 1.9], [1.0, 0.2], [0.7, -0.8], [-1.1, -1.0]]
    y = np.repeat([-1, 1], 6)
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    return DecisionDisplay.from_estimator(model, X, y, slack_values=True).figure_


def nu_classification():
    """Support vectors of overlapping classes (after figure 7.4)

    The nu-SVM: at most a share $\\nu$ of the points may lie inside the margin, at least that share
    are support vectors.
    """
    X, y = crescents(noise=0.35, n=120)
    model = NuSVC(nu=0.3, gamma=0.8).fit(X, y)
    return DecisionDisplay.from_estimator(model, X, y, title="$\\nu = 0.3$").figure_


def losses_compared():
    """Loss functions of two-class classification

    $$\\tfrac12 (ty - 1)^2,\\qquad -\\log\\sigma(ty),\\qquad \\max(0, 1 - ty)$$
    """
    names = ("errors", "hinge", "logistic", "squared error")
    return LossDisplay({name: OF_MARGIN[name] for name in names}).plot().figure_


def likelihoods():
    """Losses as negative log-likelihoods

    $$\\tfrac12 (t - y)^2 = -\\log \\mathcal N(t;\\, \\mu = y,\\, \\sigma^2 = 1) + \\text{const}
    \\qquad -\\log\\sigma(ty) = -\\log P(t \\mid y)$$

    Left the density of a target around the prediction $y = 0$ and its negative logarithm, which is
    the squared loss up to a constant. Right the probability of $t = 1$ and its negative logarithm,
    the logistic loss.
    """
    drawing, panels = figure(1, 2)
    u = np.linspace(-3, 3, 301)
    density = np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi)
    probability = 1 / (1 + np.exp(-u))
    constant = 0.5 * np.log(2 * np.pi)
    curves = (
        ("$\\mathcal{N}(t; 0, 1)$", density, "$-\\log$ of it, less a constant", constant),
        ("$\\sigma(y) = P(t = 1)$", probability, "$-\\log$ of it", 0.0),
    )
    for ax, over, (name, of_target, negative, less) in zip(
        panels, ("target $t$", "score $y$"), curves, strict=True
    ):
        ax.plot(u, of_target, color=CLASS_COLOURS[0], label=name)
        ax.plot(u, -np.log(of_target) - less, "--", color=CLASS_COLOURS[1], label=negative)
        ax.set(xlabel=over, ylim=(-0.1, 4))
        ax.legend(loc="upper center")
    dots = np.linspace(-2.5, 2.5, 11)
    loss = textbook.losses.squared_error(dots, np.zeros(11))
    panels[0].plot(dots, loss, "o", color=INK, markersize=3.5, label="squared loss")
    loss = textbook.losses.logistic(np.ones(11), dots)
    panels[1].plot(dots, loss, "o", color=INK, markersize=3.5, label="logistic loss")
    for ax in panels:
        ax.legend(loc="upper center")
    return drawing
