"""Straka: coordinate descent, SMO, primal and dual."""

import numpy as np
from strokes import GREEN, PINK, arrow

from data import crescents, sine
from maxmargin import textbook
from maxmargin.plots import ConvergenceDisplay
from maxmargin.plots.style import CLASS_COLOURS, INK, PALE, figure
from maxmargin.textbook.primal_versus_dual import polynomial_features


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
    values = 0.5 * (P[0, 0] * a**2 + 2 * P[0, 1] * a * b + P[1, 1] * b**2)
    ax.contour(a, b, values, levels=levels, cmap="cividis", linewidths=0.8)
    ax.plot(*trace.column("variables").T, "o-", color=CLASS_COLOURS[1], markersize=3.5)
    ax.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
    return drawing


def coordinate_order():
    """The order of the coordinates: one after the other, or the largest decrease

    $$\\tfrac12 w^\\top P w - q^\\top w,\\qquad w \\in \\mathbb R^{20}$$

    Left over moves, right over values of the function: the largest decrease needs fewer moves, but
    tries every coordinate before each.
    """
    random = np.random.default_rng(0)
    A = random.normal(size=(60, 20)) * np.geomspace(1, 0.3, 20)
    P, q = A.T @ A / 60, random.normal(size=20)
    best = -0.5 * q @ np.linalg.solve(P, q)
    drawing, panels = figure(1, 2)
    for order, colour, dashes in (
        ("cyclic", CLASS_COLOURS[0], "-"),
        ("largest decrease", CLASS_COLOURS[1], "--"),
    ):
        _, trace = textbook.coordinate_descent(
            lambda w: float(0.5 * w @ P @ w - q @ w), np.zeros(20), order=order, max_sweeps=40
        )
        above = np.maximum(trace.column("primal") - best, 1e-9)
        moves = trace.column("iteration")
        searches = moves if order == "cyclic" else 20 * moves
        for ax, work in zip(panels, (moves, searches), strict=True):
            ax.plot(work, above, dashes, color=colour, label=order)
            ax.set(yscale="log", ylim=(1e-5, None), xlim=(0, 400))
    panels[0].set(xlabel="moves", ylabel="$L(w)$ - its minimum")
    panels[1].set(xlabel="searches along a coordinate")
    panels[0].legend()
    return drawing


def kernel_regression():
    """Kernel regression, one example at a time

    $$y(x) = \\sum_i \\beta_i K(x, x_i)$$

    A step moves the single $\\beta_i$ of an example to its best value: coordinate descent. Shown
    after 0.2, 1 and 20 sweeps over 40 examples, and the exact solution (dashed).
    """
    X, t = sine(n=40)
    kernel, lam = textbook.kernels.rbf(1.0), 0.1
    _, trace = textbook.kernel_regression(X, t, lam=lam, kernel=kernel)
    exact = np.linalg.solve(kernel(X, X) + lam * np.eye(len(t)), t)
    grid = np.linspace(0, 2 * np.pi, 200)[:, None]
    drawing, panels = figure(1, 3, size=(12.6, 3.7))
    for ax, moves in zip(panels, (8, 40, 800), strict=True):
        step = next(s for s in trace.steps if s.iteration >= moves)
        ax.plot(X[:, 0], t, "o", color=PALE, markersize=4)
        moved = X[: min(moves, 40), 0], t[:moves]
        ax.plot(*moved, "o", color=CLASS_COLOURS[1], markersize=4, label="moved")
        ax.plot(grid, kernel(grid, X) @ exact, "--", color=INK, linewidth=1.1, label="exact")
        values = kernel(grid, X) @ step.variables
        ax.plot(grid, values, color=CLASS_COLOURS[0], label=f"after {moves} moves")
        ax.set(xlabel="$x$", ylabel="$t$", ylim=(-1.6, 1.6))
        ax.legend(loc="upper right")
    return drawing


def clipping():
    """The segment of a pair, its ends L and H, and where a step ends

    $$t_i \\ne t_j:\\ L = \\max(0, a_j - a_i),\\ H = \\min(C, C + a_j - a_i)\\qquad t_i = t_j:\\ L =
    \\max(0, a_i + a_j - C),\\ H = \\min(C, a_i + a_j)$$

    $\\sum_i a_i t_i = 0$ leaves a pair a line inside the box $[0, C]^2$. A step along it, from the
    dot, aims at the cross. Blue: $a_j^{new}$ lies in $[L, H]$ and stays. Green: it is clipped to
    $a_j = C$ or $a_j = 0$. Pink: it is clipped where $a_i$ reaches its bound.
    """
    drawing, panels = figure(1, 2, size=(9.2, 4.9))
    steps = {  # a_i, a_j, a_j aimed at
        False: ((0.32, 0.35, 0.62), (0.1, 0.58, 1.22), (0.62, 0.2, 0.86)),
        True: ((0.55, 0.45, 0.72), (0.42, 0.9, 1.2), (0.3, 0.25, 0.8)),
    }
    for ax, equal in zip(panels, steps, strict=True):
        ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=INK, linewidth=1)
        for (ai, aj, aim), colour in zip(
            steps[equal], (CLASS_COLOURS[0], GREEN, PINK), strict=True
        ):
            slope, total = (-1, ai + aj - 1) if equal else (1, aj - ai)
            low, high = max(0, total), min(1, 1 + total)
            end = np.clip(aim, low, high)
            ends = np.array([low, high])
            ax.plot(ends, ai + slope * (ends - aj), color=colour, linewidth=1, linestyle="--")
            ax.plot([end, aim], ai + slope * (np.array([end, aim]) - aj), ":", color=colour)
            arrow(ax, (aj, ai), (end, ai + slope * (end - aj)), colour)
            ax.plot(aj, ai, "o", color=colour, markersize=7)
            ax.plot(aim, ai + slope * (aim - aj), "x", color=colour, markersize=8, mew=2)
            for name, at, side in (("L", low, -1), ("H", high, 1)):
                place = np.array([at, ai + slope * (at - aj)])
                shift = 9 * side * np.array([1, -slope])  # away from the line
                text = {"textcoords": "offset points", "ha": "center", "va": "center"}
                ax.annotate(f"${name}$", place, shift, color=colour, **text)
        ax.set(xlabel="$a_j$", ylabel="$a_i$", xlim=(-0.12, 1.32), ylim=(-0.32, 1.38))
        ax.set(aspect="equal", title="$t_i = t_j$" if equal else "$t_i \\neq t_j$")
        ax.set_xticks([0, 1], ["0", "C"])
        ax.set_yticks([0, 1], ["0", "C"])
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


def growth():
    """Primal and dual: how parameters, model and work grow with the number of points

    $$\\text{primal: } F \\text{ parameters, } e N F \\text{ products}\\qquad\\text{dual: } N
    \\text{ parameters, up to } N^2 D \\text{ products}$$

    The model of the kernel $(1 + x^\\top z)^2$ in $D = 10$ dimensions, as a linear machine on its
    65 features and as a kernel machine. Numbers are counted, not timed: the products of the primal
    are those of dual coordinate descent, those of the dual $D$ for each kernel value of SMO.
    """
    sizes, D, F, random = (50, 100, 200, 400, 800), 10, 65, np.random.default_rng(0)
    rows = []
    for n in sizes:
        X = random.normal(size=(n, D)) / np.sqrt(D)
        y = np.where(X[:, 0] ** 2 + X[:, 1] + 0.1 * random.normal(size=n) > 0.1, 1, -1)
        phi = polynomial_features(X, 2)
        _, linear = textbook.dual_coordinate_descent(phi, y, bias=True, tol=0.1)
        model, pairs = textbook.smo(X, y, kernel=textbook.kernels.polynomial(2), tol=0.1)
        support, touched = len(model.support), {i for s in pairs.steps for i in s.chosen}
        epochs = linear.steps[-1].iteration + 1
        rows.append((F, n, F, support * D, epochs * n * F, len(touched) * n * D))
    drawing, panels = figure(1, 3, size=(12.6, 3.8))
    names = ("parameters", "numbers in the model", "products in training")
    for ax, name, columns in zip(panels, names, ((0, 1), (2, 3), (4, 5)), strict=True):
        for column, label, style in zip(columns, ("primal", "dual"), ("o-", "s--"), strict=True):
            values = [row[column] for row in rows]
            ax.plot(sizes, values, style, color=CLASS_COLOURS[column % 2], label=label)
        ax.set(xscale="log", yscale="log", xlabel="points $N$", title=name)
        ax.set_xticks(sizes, map(str, sizes))
        ax.minorticks_off()
        ax.legend()
    return drawing
