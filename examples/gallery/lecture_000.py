"""Soft-margin SVM and SMO."""

from functools import partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from data import crescents, overlapping, sine, uneven_clouds
from maxmargin import SVC, SVR, NuSVC, NuSVR, textbook
from maxmargin.plots import (
    ClassesDisplay,
    ConvergenceDisplay,
    DecisionDisplay,
    IntervalDisplay,
    LossDisplay,
    TubeDisplay,
)
from maxmargin.plots.style import CLASS_COLOURS, INK, figure, titled

SEED = "000_aa3cb9f2e9a3f579.txt"


def gaussian_kernel():
    """Contours of y(x) with a Gaussian kernel (figure 7.2)

    $$y(x) = \\sum_i a_i t_i K(x, x_i) + b,\\qquad K(x, z) = \\exp(-\\gamma\\,|x - z|^2)$$

    Only the ringed points, those with $a_i > 0$, are kept.
    """
    X, y = crescents(noise=0.12)
    model = SVC(C=1e4, gamma=1.0).fit(X, y)
    shown = DecisionDisplay.from_estimator(model, X, y)
    a, b, grid = shown.plane.grid(200)
    shown.ax_.contour(
        a,
        b,
        model.decision_function(grid).reshape(a.shape),
        levels=np.arange(-8, 9, 2),
        colors=INK,
        linewidths=0.3,
    )
    return shown.figure_


def slack_variables():
    """Slack variables (figure 7.3)

    $$\\xi_i = \\max(0,\\ 1 - t_i\\,y(x_i))$$

    Dotted: from a point to its margin, $\\xi_i / |w|$ long. $\\xi = 0$ outside, below 1 inside,
    above 1 on the wrong side.
    """
    X, y = overlapping(gap=1.2)
    return DecisionDisplay.from_estimator(SVC(kernel="linear", C=1.0).fit(X, y), X, y).figure_


def nu_classification():
    """Support vectors of overlapping classes (figure 7.4)

    The nu-SVM: at most a share $\\nu$ of the points may lie inside the margin, at least that share
    are support vectors.
    """
    X, y = crescents(noise=0.35, n=120)
    return DecisionDisplay.from_estimator(
        NuSVC(nu=0.3, gamma=0.8).fit(X, y), X, y, title="$\\nu = 0.3$"
    ).figure_


def losses_compared():
    """Loss functions of two-class classification

    $$\\tfrac12 (ty - 1)^2,\\qquad -\\log\\sigma(ty),\\qquad \\max(0, 1 - ty)$$
    """
    return LossDisplay.of_classification().figure_


def coordinate_descent():
    """Coordinate descent

    Loop: for each $i$, $w_i \\leftarrow \\arg\\min_{w_i} L(w_1, \\dots, w_D)$. Each step is
    parallel to an axis and ends where it touches a contour.
    """
    P = np.array([[1.0, 0.8], [0.8, 1.0]])

    def L(w):
        return float(0.5 * w @ P @ w)

    _, trace = textbook.coordinate_descent(L, [-2.3, 2.4])
    levels = np.unique(np.round(trace.column("primal")[:10], 6))
    drawing, ax = figure()
    a, b = np.meshgrid(np.linspace(-2.6, 2.8, 120), np.linspace(-2.8, 2.6, 120))
    ax.contour(
        a,
        b,
        np.vectorize(lambda u, v: L(np.array([u, v])))(a, b),
        levels=levels,
        cmap="cividis",
        linewidths=0.8,
    )
    path = trace.column("variables")
    ax.plot(*path.T, "o-", color=CLASS_COLOURS[1], markersize=3.5)
    ax.set(xlabel="$w_1$", ylabel="$w_2$")
    return drawing


def clipping():
    """The segment of a pair, and its ends L and H

    $$t_i \\ne t_j:\\ L = \\max(0, a_j - a_i),\\ H = \\min(C, C + a_j - a_i)\\qquad t_i = t_j:\\ L =
    \\max(0, a_i + a_j - C),\\ H = \\min(C, a_i + a_j)$$

    $\\sum_i a_i t_i = 0$ leaves a pair a line inside the box $[0, C]^2$.
    """
    drawing, panels = figure(1, 2)
    for ax, equal, (ai, aj) in zip(panels, (False, True), ((0.3, 0.6), (0.5, 0.9)), strict=True):
        low, high = (
            (max(0, ai + aj - 1), min(1, ai + aj))
            if equal
            else (max(0, aj - ai), min(1, 1 + aj - ai))
        )
        along = np.array([low, high])
        ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=INK, linewidth=1)
        ax.plot(
            along,
            ai + aj - along if equal else ai + along - aj,
            color=CLASS_COLOURS[0],
            linewidth=3,
        )
        ax.plot([aj], [ai], "o", color=CLASS_COLOURS[1], markersize=8)
        for value, name in ((low, "L"), (high, "H")):
            ax.axvline(value, color=CLASS_COLOURS[0], linewidth=0.8, linestyle=":")
            ax.text(value + 0.015, 1.03, f"${name}$")
        ax.set(
            xlabel="$a_j$",
            ylabel="$a_i$",
            xlim=(-0.08, 1.12),
            ylim=(-0.08, 1.12),
            aspect="equal",
            xticks=[0, 1],
            yticks=[0, 1],
        )
        ax.set_xticklabels(["0", "C"])
        ax.set_yticklabels(["0", "C"])
        ax.set_title("$t_i = t_j$" if equal else "$t_i \\neq t_j$", pad=18)
    return drawing


def smo_at_work():
    """SMO closes the gap

    $$\\mathrm{primal} - \\mathrm{dual} = C\\sum_i \\xi_i + |w|^2 - \\sum_i a_i \\ \\ge 0$$

    A random partner (simplified SMO), the pair that violates the most, and the pair that gains the
    most with its first point.
    """
    X, y = crescents()
    fit = {"C": 10.0, "kernel": textbook.kernels.rbf(1.0)}
    traces = [
        textbook.simplified_smo(X, y, **fit)[1],
        textbook.smo(X, y, selection="maximal violating pair", tol=1e-6, **fit)[1],
        textbook.smo(X, y, selection="second order", tol=1e-6, **fit)[1],
    ]
    return ConvergenceDisplay.from_traces(*traces).figure_


def nearest_neighbours():
    """An RBF machine as a better nearest-neighbour rule (figures 1.19 and 1.20)

    Every training point votes with weight $a_i t_i \\exp(-\\gamma |x - x_i|^2)$; the
    nearest-neighbour rule counts the $k$ nearest alike.
    """
    X, y = crescents(noise=0.3, n=140)
    drawing, panels = figure(1, 3, size=(13, 3.9))
    for ax, k in zip(panels, (1, 15), strict=False):
        ClassesDisplay.from_estimator(KNeighborsClassifier(k).fit(X, y), X, y, ax=ax)
        titled(ax, f"{k} nearest neighbour{'s' if k > 1 else ''}")
    ClassesDisplay.from_estimator(SVC(C=1.0, gamma=2.0).fit(X, y), X, y, ax=panels[2])
    titled(panels[2], "RBF machine")
    return drawing


def ambiguous_regions():
    """Ambiguous regions of one-versus-one voting (figure 4.2)

    $\\binom K2$ machines vote; in the hatched region every class has one vote.
    """
    X, y = uneven_clouds()
    drawing, panels = figure(1, 2)
    rest, _ = textbook.one_vs_rest(X, y, partial(textbook.smo, trace=0))
    pairs, _ = textbook.one_vs_one(X, y, partial(textbook.smo, trace=0))
    for ax, model, name in zip(
        panels,
        (rest, pairs),
        ("one-versus-rest: $\\arg\\max_k\\, y_k(x)$", "one-versus-one: votes"),
        strict=True,
    ):
        ClassesDisplay.from_estimator(model, X, y, ax=ax)
        titled(ax, name)
    return drawing


def softmax_and_one_versus_rest():
    """One-versus-rest compared to softmax

    $$\\mathrm{softmax}(y)_k = e^{y_k} / \\sum_j e^{y_j}$$

    One-versus-rest trains the three scores apart, softmax together: their boundaries lean
    differently.
    """
    random = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = np.array([[-2.4, 0.0], [0.0, 0.0], [2.4, 0.0]])[y] + 0.55 * random.normal(size=(120, 2))
    drawing, panels = figure(1, 2)
    rest, _ = textbook.one_vs_rest(X, y, partial(textbook.logistic_regression, lam=0.1))
    together, _ = textbook.softmax_regression(X, y, lam=0.1)
    for ax, model, name in zip(
        panels, (rest, together), ("one-versus-rest", "softmax"), strict=True
    ):
        ClassesDisplay.from_estimator(model, X, y, ax=ax)
        titled(ax, name)
    return drawing


def epsilon_insensitive_loss():
    """The epsilon-insensitive loss (figure 7.6)

    $$\\mathcal L_\\varepsilon(t, y) = \\max(0,\\ |y - t| - \\varepsilon)$$
    """
    return LossDisplay.of_regression().figure_


def tube():
    """The tube of a regression (figure 7.7)

    $$t_i - \\varepsilon - \\xi_i^- \\le y(x_i) \\le t_i + \\varepsilon + \\xi_i^+$$

    Points inside cost nothing; those on its edge or outside are the support vectors.
    """
    X, t = sine()
    return TubeDisplay.from_estimator(SVR(C=1.0, epsilon=0.25, gamma=0.5).fit(X, t), X, t).figure_


def nu_regression():
    """nu-regression finds the width of the tube (figure 7.8)

    At most a share $\\nu$ of the points lies outside; $\\varepsilon$ follows.
    """
    X, t = sine()
    return TubeDisplay.from_estimator(NuSVR(nu=0.2, C=10.0, gamma=0.5).fit(X, t), X, t).figure_


def prediction_intervals():
    """How far targets lie from the curve

    Errors $e_i = |t_i - y_{-k(i)}(x_i)|$ of machines that were trained without the fold $k(i)$ of
    the sample give intervals that hold a new target with a chosen probability (CV+),

    $$\\left[\\,q^-\\{y_{-k(i)}(x) - e_i\\},\\; q^+\\{y_{-k(i)}(x) + e_i\\}\\,\\right]$$

    The tube of a regression does not say this: its width $2\\varepsilon$ is a parameter.
    """
    X, t = sine(n=500)
    model = SVR(C=3.0, gamma=0.5, interval=True).fit(X[::2], t[::2])
    return IntervalDisplay.from_estimator(model, X[1::2], t[1::2], name="x").figure_
