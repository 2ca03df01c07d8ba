"""Straka: coordinate descent, SMO, primal and dual."""

import numpy as np
from draw import GREEN, PINK, arrow

from data import crescents
from maxmargin import textbook
from maxmargin.plots import ConvergenceDisplay
from maxmargin.plots.style import CLASS_COLOURS, INK, figure


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
