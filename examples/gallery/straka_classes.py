"""Straka: neighbours, several classes, regression."""

from functools import partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from strokes import line

from data import sine, three_clouds, uneven_clouds
from maxmargin import SVC, SVR, NuSVR, textbook
from maxmargin.plots import ClassesDisplay, IntervalDisplay, LossDisplay, TubeDisplay
from maxmargin.plots.labels import beside
from maxmargin.plots.style import CLASS_COLOURS, INK, dots, figure, legend_outside, titled


def nearest_neighbours():
    """A new point among neighbours (after figures 1.19 and 1.20), and what RBF machines make of it

    Which class has the cross? Cells count the points of the cell, the nearest-neighbour rule the
    $k$ nearest points alike. Every training point of an RBF machine votes with the weight
    $a_i t_i \\exp(-\\gamma |x - x_i|^2)$: evidence fades with distance. Bishop's figures 1.19 (the
    question) and 1.20 (the cells) show measurements of oil flow, these are three clouds.
    """
    X, y = three_clouds(spread=0.75)
    new = np.array([0.12, 0.05])
    drawing, panels = figure(2, 2, size=(9.2, 8.6))
    panels = panels.ravel()
    neighbours, machine = KNeighborsClassifier(9).fit(X, y), SVC(C=1.0, gamma=1.0).fit(X, y)
    for ax, model in zip(panels[2:], (neighbours, machine), strict=True):
        ClassesDisplay.from_estimator(model, X, y, ax=ax)
    limits = panels[2].axis()
    for ax in panels[:2]:
        for k in range(3):
            dots(ax, X[y == k], k, 24, f"class {k}")
        ax.axis(limits)
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
        legend_outside(ax)
    across, up = np.linspace(*limits[:2], 7), np.linspace(*limits[2:], 7)
    for i, j in np.ndindex(6, 6):
        inside = ((across[i], up[j]) <= X) & ((across[i + 1], up[j + 1]) > X)
        counts = np.bincount(y[inside.all(axis=1)], minlength=3)
        if counts.max() > np.sort(counts)[-2]:
            area = across[i : i + 2], [up[j]] * 2, [up[j + 1]] * 2
            panels[1].fill_between(*area, color=CLASS_COLOURS[counts.argmax()], alpha=0.3, lw=0)
    for ax, name in zip(
        panels,
        ("which class has the cross?", "cells", "9 nearest neighbours", "RBF machine"),
        strict=True,
    ):
        ax.plot(*new, "x", color=INK, markersize=11, mew=2.5)
        titled(ax, name)
    panels[1].vlines(across[1:-1], *limits[2:], color=INK, linewidth=0.5)
    panels[1].hlines(up[1:-1], *limits[:2], color=INK, linewidth=0.5)
    return drawing


def votes_of_neighbours():
    """The weights with which points vote in an RBF machine

    $$y(x) = \\sum_i a_i t_i\\, e^{-\\gamma |x - x_i|^2} + b$$

    The area of a dot is its weight $a_i e^{-\\gamma |x - x_i|^2}$ at the cross. Narrow kernels ask
    the nearest points alone, wide ones ask all.
    """
    X, labels = three_clouds(spread=0.75)
    X, y = X[labels < 2], 2 * labels[labels < 2] - 1
    new = np.array([[-0.55, 0.2]])
    drawing, panels = figure(1, 3, size=(12.4, 4.0))
    for ax, gamma in zip(panels, (0.2, 2.0, 20.0), strict=True):
        model = SVC(C=1.0, gamma=gamma).fit(X, y)
        ax.plot(*X.T, ".", color=INK, markersize=2)
        weights = np.zeros(len(X))
        near = np.exp(-gamma * np.sum((model.support_vectors_ - new) ** 2, axis=1))
        weights[model.support_] = np.abs(model.dual_coef_[0]) * near
        for k, sign in enumerate((-1, 1)):
            of = y == sign
            ax.scatter(*X[of].T, s=350 * weights[of], c=CLASS_COLOURS[k], alpha=0.6)
        ax.plot(*new.T, "x", color=INK, markersize=11, mew=2.5)
        value = model.decision_function(new)[0]
        ax.set(title=f"$\\gamma$ = {gamma:g}:  $y(x)$ = {value:.2f}", aspect="equal")
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
    return drawing


def ambiguous_regions():
    """Ambiguous regions (after figure 4.2)

    Left: one machine for each class against the rest; where none or several claim a point (hatched)
    their signs do not decide. Right: $\\binom K2$ machines vote; in the hatched region every class
    has one vote. Lines are the boundaries of the machines, colours what $\\arg\\max_k y_k(x)$ and
    the first of the classes with most votes make of it.
    """
    X, y = uneven_clouds()
    drawing, panels = figure(1, 2, size=(9.4, 4.8))
    rest, _ = textbook.one_vs_rest(X, y, partial(textbook.smo, trace=0))
    pairs, _ = textbook.one_vs_one(X, y, partial(textbook.smo, trace=0))
    for ax, model, name in zip(
        panels, (rest, pairs), ("one-versus-rest", "one-versus-one"), strict=True
    ):
        shown = ClassesDisplay.from_estimator(model, X, y, ax=ax)
        a, b, grid = shown.plane.grid(300)
        if model is rest:
            first, second = np.sort(rest.decision_function(grid), axis=1)[:, [-1, -2]].T
            for label, claims, hatch in (
                ("none claims", -first, "xxx"),
                ("two claim", second, "////"),
            ):
                where = claims.reshape(a.shape)
                ax.contourf(a, b, where, levels=[0.0, np.inf], colors="none", hatches=[hatch])
                ax.fill_between([], [], fc="white", ec=INK, hatch=hatch, label=label)
        for machine in model.machines:
            line(ax, machine.w, machine.b, color=INK, linewidth=1.2, linestyle="--")
        legend_outside(ax, name, columns=3)
    return drawing


def softmax_and_one_versus_rest():
    """One-versus-rest compared to softmax

    $$\\mathrm{softmax}(y)_k = e^{y_k} / \\sum_j e^{y_j}$$

    Dashed: the planes $w_k^\\top x + b_k = 0$ of the three scores. One-versus-rest trains them
    apart, and no plane separates the middle class from the rest: its plane lies askew. Softmax
    trains them together, and only differences of scores matter.
    """
    y = np.arange(300) % 3
    X = np.random.default_rng(40).normal(size=(300, 2))
    X += np.array([[-5.0, 0.0], [0.0, 1.5], [5.0, -1.0]])[y]
    X = X @ np.array([[0.4, 0.2], [-0.4, 1.2]])
    drawing, panels = figure(1, 2, size=(9.4, 4.2))
    rest, _ = textbook.one_vs_rest(X, y, partial(textbook.logistic_regression, lam=1e-3))
    together, _ = textbook.softmax_regression(X, y, lam=1e-3)
    planes = (
        [(machine.w, machine.b) for machine in rest.machines],
        list(zip(together.W.T, together.b, strict=True)),
    )
    for ax, model, of_model, name in zip(
        panels, (rest, together), planes, ("one-versus-rest", "softmax"), strict=True
    ):
        ClassesDisplay.from_estimator(model, X, y, ax=ax)
        for k, (w, b) in enumerate(of_model):
            line(ax, w, b, color=CLASS_COLOURS[k], linestyle="--", linewidth=1.4)
        titled(ax, f"{name}: {np.mean(model.predict(X) == y):.0%} right")
    return drawing


def epsilon_insensitive_loss():
    """The epsilon-insensitive loss (after figure 7.6)

    $$\\mathcal L_\\varepsilon(t, y) = \\max(0,\\ |y - t| - \\varepsilon)$$
    """
    shown = LossDisplay.of_regression()
    shown.ax_.set_xticks([-2, -1, -0.5, 0, 0.5, 1, 2])
    shown.ax_.set_xticklabels(["-2", "-1", "$-\\varepsilon$", "0", "$\\varepsilon$", "1", "2"])
    return shown.figure_


def tube():
    """The tube of a regression (after figure 7.7)

    $$t_i - \\varepsilon - \\xi_i^- \\le y(x_i) \\le t_i + \\varepsilon + \\xi_i^+$$

    Points inside cost nothing; those on its edge or outside are the support vectors. The slack of a
    point is its distance to the tube along the axis of the targets.
    """
    X, t = sine(n=40, noise=0.25)
    model = SVR(C=1.0, epsilon=0.3, gamma=0.5).fit(X, t)
    shown = TubeDisplay.from_estimator(model, X, t)
    ax, beyond = shown.ax_, t - model.predict(X)
    outside = np.flatnonzero(np.abs(beyond) > model.epsilon + 0.02)
    for i in outside:
        edge = t[i] - beyond[i] + np.sign(beyond[i]) * model.epsilon
        ax.plot([X[i, 0]] * 2, [edge, t[i]], color=CLASS_COLOURS[1], linewidth=1.4)
    names = [
        f"$\\xi^{'-' if r > 0 else '+'}$ = {abs(r) - model.epsilon:.2f}" for r in beyond[outside]
    ]
    ax.set_xlim(-0.3, 7.3)
    for shift, name in ((1, "$y + \\varepsilon$"), (0, "$y$"), (-1, "$y - \\varepsilon$")):
        end = (shown.line_x[-1], shown.line_y[-1] + shift * model.epsilon)
        ax.annotate(name, end, (4, -3), textcoords="offset points", fontsize=9)
    points = np.column_stack([X[:, 0], t])
    edges = np.repeat(shown.line_y, 2).reshape(-1, 2) + model.epsilon * np.array([-1, 1])
    curves = np.column_stack([np.repeat(shown.line_x, 2), edges.ravel()])[::8]
    beside(ax, points[outside], names, np.vstack([points, curves]), fontsize=8)
    return shown.figure_


def nu_regression():
    """nu-regression finds the width of the tube (after figure 7.8)

    At most a share $\\nu$ of the points lies outside; $\\varepsilon$ follows.
    """
    X, t = sine()
    return TubeDisplay.from_estimator(NuSVR(nu=0.2, C=10.0, gamma=0.5).fit(X, t), X, t).figure_


def prediction_intervals():
    """How far targets lie from the curve

    Errors $e_i = |t_i - y_{-k(i)}(x_i)|$ of machines that were trained without the fold $k(i)$ of
    the sample give intervals that hold a new target with a chosen probability (CV+),

    $$\\left[\\,q^-\\{y_{-k(i)}(x) - e_i\\},\\; q^+\\{y_{-k(i)}(x) + e_i\\}\\,\\right]$$

    The tube of a regression does not say this: its width $2\\varepsilon$ is a parameter. The
    lecture does not have this figure.
    """
    X, t = sine(n=500)
    model = SVR(C=3.0, gamma=0.5, interval=True).fit(X[::2], t[::2])
    return IntervalDisplay.from_estimator(model, X[1::2], t[1::2], name="x").figure_
