"""Theory and Algorithms: the algorithms."""

import numpy as np

from data import crescents, overlapping
from maxmargin import SVC, LinearSVC, textbook
from maxmargin.plots import ConvergenceDisplay, LossDisplay
from maxmargin.plots.convergence import Curve
from maxmargin.plots.loss import OF_MARGIN
from maxmargin.plots.style import CLASS_COLOURS, DASHES, INK, figure


def hinge_and_logistic():
    """Hinge loss and logistic loss

    $$[1 - y f(x)]_+ \\qquad \\log(1 + e^{-y f(x)})$$

    The document refers to a "figure 4.2" of these two, which it does not contain.
    """
    return LossDisplay({name: OF_MARGIN[name] for name in ("hinge", "logistic")}).plot().figure_


def primal_descent():
    """The primal with a kernel by three methods

    $$\\min_\\beta\\ \\tfrac12 \\beta^\\mathsf{T} K \\beta + C \\sum_i \\max(0, 1 - y_i
    K_i^\\mathsf{T}\\beta)^2$$

    The squared hinge loss is differentiable, so gradient descent, conjugate gradients and Newton's
    method apply (38). The larger C, the more the first needs; Newton's needs a handful of systems.
    """
    X, y = crescents()
    kernel = textbook.kernels.rbf(1.0)
    drawing, panels = figure(1, 2)
    for ax, C in zip(panels, (1.0, 100.0), strict=True):
        traces = [
            textbook.primal_gradient(X, y, C, kernel, "gradient descent", tol=1e-5)[1],
            textbook.primal_gradient(X, y, C, kernel, "conjugate gradients")[1],
        ]
        best = traces[1].steps[-1].primal
        newton = textbook.primal_newton(X, y, C, kernel)[1]  # it has b, and so another optimum
        for k, trace in enumerate([*traces, newton]):
            end = best if trace is not newton else newton.steps[-1].primal
            above = np.maximum(trace.column("primal") / end - 1, 1e-12)
            steps = trace.column("iteration") + 1
            ax.plot(steps, above, linestyle=DASHES[k], color=CLASS_COLOURS[k], label=trace.name)
        ax.set(xscale="log", yscale="log", ylim=(1e-11, 1e3), xlabel="step", title=f"$C$ = {C:g}")
    panels[0].set_ylabel("primal / optimum - 1")
    panels[0].legend(loc="lower left")
    return drawing


def lasso_and_ridge():
    """The Lasso beside ridge regression

    $$\\tfrac12\\sum_i (y_i - w^\\mathsf{T} x_i)^2 + \\lambda\\sum_j |w_j|\\qquad
    \\tfrac12\\sum_i (y_i - w^\\mathsf{T} x_i)^2 + \\tfrac12\\lambda\\sum_j w_j^2$$

    Weights over the penalty. The Lasso sets them to zero, one after the other; ridge regression
    shrinks all and sets none to zero. Three of eight features matter.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 8))
    t = X[:, :3] @ [3.0, -2.0, 1.0] + random.normal(size=60)
    grid = np.geomspace(0.1, 1000, 60)
    drawing, panels = figure(1, 2)
    for ax, name, train in zip(
        panels, ("Lasso", "ridge"), (textbook.lasso, textbook.linear_regression), strict=True
    ):
        weights = np.array([train(X, t, lam=lam)[0].w for lam in grid])
        for j, line in enumerate(weights.T):
            colour, style = (CLASS_COLOURS[j], "-") if j < 3 else ("#777777", ":")
            ax.plot(grid, line, style, color=colour, label=f"$w_{j + 1}$" if j < 3 else None)
        ax.axhline(0, color=INK, linewidth=0.6)
        ax.set(xscale="log", xlabel="$\\lambda$", title=name)
    panels[0].plot([], [], ":", color="#777777", label="the others")
    panels[0].set_ylabel("weight")
    panels[0].legend()
    return drawing


def primal_and_dual_solvers():
    """The linear soft margin by four algorithms

    Pegasos (10), dual coordinate descent (12), SMO (13) and Newton's method all reach an optimum:
    the first slowly, the second at a linear rate, SMO over pairs, Newton's in a few steps. Curves
    show the distance to the optimum of each one's own problem.
    """
    X, y = overlapping(n=80)
    C = 0.5
    lam = 1 / (C * len(y))
    with_b = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y).certificate_.primal
    without_b = (
        LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-12).fit(X, y).certificate_.primal
    )
    squared = (
        SVC(kernel="linear", loss="squared_hinge", C=C, tol=1e-9).fit(X, y).certificate_.primal
    )
    runs = [
        (textbook.pegasos(X, y, lam, steps=20_000, trace=50)[1], lam * without_b, lam),
        (textbook.dual_coordinate_descent(X, y, C, tol=1e-10)[1], without_b, 1.0),
        (textbook.smo(X, y, C, tol=1e-8)[1], with_b, 1.0),
        (textbook.primal_newton(X, y, C)[1], squared, 1.0),
    ]
    curves = [
        Curve(
            t.name,
            t.column("iteration") + 1,
            np.maximum((t.column("primal") - best) / scale, 1e-13),
        )
        for t, best, scale in runs
    ]
    return (
        ConvergenceDisplay(
            curves, "iteration: a point, a sweep, a pair, a Newton step", "primal - optimum"
        )
        .plot()
        .figure_
    )


def online_solvers():
    """NORMA, SGD-SVM and Pegasos

    $$\\frac1n \\sum_i [1 - y_i f(x_i)]_+ + \\tfrac\\lambda2 |f|^2$$

    Three primal solvers that see one example at a time. They differ in the rate: $\\eta / \\sqrt k$
    (NORMA), $1 / (\\lambda (k + k_0))$ with an average of the weights (SGD-SVM), $1 / (\\lambda k)$
    (Pegasos). No gap says how far they are; here the optimum is known. SGD-SVM has b, the others
    do not.
    """
    X, y = overlapping(n=400, gap=0.7)
    lam = 0.01
    fit = {"C": 1 / (lam * len(y)), "tol": 1e-9}
    without_b = LinearSVC(loss="hinge", fit_intercept=False, **fit).fit(X, y).certificate_.primal
    with_b = SVC(kernel="linear", **fit).fit(X, y).certificate_.primal
    runs = (
        (textbook.norma(X, y, lam, steps=20_000)[1], 1, without_b),
        (textbook.sgd_svm(X, y, lam, epochs=50)[1], len(y), with_b),
        (textbook.pegasos(X, y, lam, steps=20_000, trace=100)[1], 1, without_b),
    )
    drawing, ax = figure()
    for k, (trace, examples, best) in enumerate(runs):
        seen = np.maximum(trace.column("iteration"), 1) * examples
        above = np.maximum(trace.column("primal") - lam * best, 1e-7)
        ax.plot(seen, above, linestyle=DASHES[k], color=CLASS_COLOURS[k], label=trace.name)
    ax.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="objective - optimum")
    ax.legend()
    return drawing


def index_rules():
    """Three rules for the index of dual coordinate descent

    In turn, in a new random order in every sweep, or drawn at random. A random order in every sweep
    is usually best; drawing at random leaves some points out of a sweep.
    """
    X, y = overlapping(n=300, gap=0.5)
    drawing, ax = figure()
    for k, order in enumerate(("cyclic", "permutation", "random")):
        _, trace = textbook.dual_coordinate_descent(X, y, C=1.0, order=order, bias=True, tol=1e-8)
        gap = np.maximum(trace.column("gap"), 1e-12)
        steps = trace.column("iteration") + 1
        ax.plot(steps, gap, linestyle=DASHES[k], color=CLASS_COLOURS[k], label=order)
    ax.set(yscale="log", xscale="log", xlabel="sweep over all points", ylabel="primal - dual")
    ax.legend()
    return drawing


def decomposition():
    """Decomposition: working sets of several sizes, and the share of kernel values

    Left: larger working sets B need fewer iterations, each of which solves a larger problem; B of
    two is SMO. Right: the share of kernel rows that a run computes. The document says 15 to 50 % (
    shaded); any algorithm needs at least the rows of the support vectors (squares).
    """
    drawing, (left, right) = figure(1, 2)
    X, y = crescents(noise=0.25, n=200)
    kernel = textbook.kernels.rbf(1.0)
    for k, size in enumerate((2, 6, 20, 60)):
        _, trace = textbook.decomposition(X, y, 10.0, kernel, size=size)
        gap, steps = np.maximum(trace.column("gap"), 1e-9), trace.column("iteration") + 1
        style = {"linestyle": DASHES[k], "color": CLASS_COLOURS[k]}
        left.plot(steps, gap, label=f"|B| = {size}", **style)
    left.set(xscale="log", yscale="log", xlabel="iteration", ylabel="primal - dual")
    left.legend()
    right.axhspan(15, 50, color="#9a9a9a", alpha=0.25, linewidth=0)
    for k, noise in enumerate((0.1, 0.25, 0.4)):
        X, y = crescents(noise=noise, n=200)
        colour, shares = CLASS_COLOURS[k], []
        for size in (2, 6, 20, 60):
            model, trace = textbook.decomposition(X, y, 10.0, kernel, size=size)
            shares.append(100 * trace.kernel_share)
        right.plot((2, 6, 20, 60), shares, "o-", color=colour, label=f"noise {noise}")
        right.plot(1.6, 100 * len(model.support) / len(y), "s", color=colour)
    right.set(xscale="log", xlabel="|B|", ylabel="kernel rows computed, %", ylim=(0, 105))
    right.set_xticks([2, 6, 20, 60], ["2", "6", "20", "60"])
    right.minorticks_off()
    right.legend()
    return drawing
