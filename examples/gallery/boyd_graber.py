"""Boyd-Graber: updates of SMO."""

import numpy as np

from data import crescents
from maxmargin import textbook
from maxmargin.plots.style import CLASS_COLOURS, INK, PALE, figure


def one_update():
    """One update, with its numbers

    $$\\alpha_j^* = \\alpha_j - \\frac{y_j (E_i - E_j)}{\\eta},\\qquad E_k = f(x_k) - y_k,\\qquad
    \\eta = 2 x_i\\cdot x_j - x_i\\cdot x_i - x_j\\cdot x_j$$

    The dual objective along the pair is a parabola in $\\alpha_j$, $\\eta$ its second derivative.
    Left a step that ends at the vertex, right one that is clipped to $[L, H]$ (shaded). The steps
    are those of the simplified SMO.
    """
    X, y = crescents(n=40)
    C, kernel = 2.0, textbook.kernels.rbf(1.0)
    _, trace = textbook.simplified_smo(X, y, C=C, kernel=kernel)
    K = kernel(X, X)
    before = [np.zeros(len(y)), *(step.variables for step in trace.steps)]
    moved = [(a, s.pair) for a, s in zip(before, trace.steps, strict=False) if s.pair is not None]
    inside = next(m for m in moved if m[1].unclipped == m[1].a_j and m[1].L > 0)
    clipped = next(m for m in moved[5:] if m[1].H < m[1].unclipped < 2 * C)
    drawing, panels = figure(1, 2)
    for ax, (a, pair) in zip(panels, (inside, clipped), strict=True):
        i, j = pair.i, pair.j
        low, high = min(pair.L, a[j], pair.unclipped), max(pair.H, a[j], pair.unclipped)
        along = np.linspace(low - 0.1, high + 0.1, 101)
        duals = []
        for value in along:
            new = a.copy()
            new[j], new[i] = value, a[i] - y[i] * y[j] * (value - a[j])
            duals.append(new.sum() - 0.5 * (new * y) @ K @ (new * y))
        ax.axvspan(pair.L, pair.H, color=PALE, alpha=0.25, label="$[L, H]$")
        ax.plot(along, duals, color=CLASS_COLOURS[0])
        for at, mark, name in (
            (a[j], "o", "$\\alpha_j$ before"),
            (pair.unclipped, "x", "$\\alpha_j^*$, the vertex"),
            (pair.a_j, "D", "$\\alpha_j$ after"),
        ):
            colour = {"o": INK, "x": CLASS_COLOURS[3], "D": CLASS_COLOURS[1]}[mark]
            place = (at, np.interp(at, along, duals))
            ax.plot(*place, mark, color=colour, label=name, markersize=7, mew=2, fillstyle="none")
        ax.set(xlabel="$\\alpha_j$", ylabel="dual objective")
        numbers = f"$E_i$ = {pair.E_i:.2f}, $E_j$ = {pair.E_j:.2f}, $\\eta$ = {pair.eta:.2f}"
        ax.set_title(f"{numbers},\n$L$ = {pair.L:.2f}, $H$ = {pair.H:.2f}")
        ax.legend()
    return drawing


def updates_of_a_pair():
    """Pairs of multipliers, step by step

    If one goes up, the other goes down or up with it, because $\\sum_i y_i\\alpha_i = 0$. Above the
    first 60 updates of the simplified SMO, below the objectives: the dual never falls.
    """
    X, y = crescents(n=40)
    _, trace = textbook.simplified_smo(X, y, C=2.0, kernel=textbook.kernels.rbf(1.0))
    drawing, (upper, lower) = figure(2, 1, size=(6.4, 5.6))
    alphas = trace.column("variables")[:60]
    for i, line in enumerate(alphas.T):
        style = {"where": "post", "linewidth": 0.9, "alpha": 0.8}
        colour = CLASS_COLOURS[int(y[i] > 0)]
        upper.step(range(1, len(alphas) + 1), line, color=colour, **style)
    upper.set(xlabel="update", ylabel="$\\alpha_i$", title="blue: $y_i = -1$, orange: $y_i = +1$")
    for name, colour, dashes in (
        ("primal", CLASS_COLOURS[2], "-"),
        ("dual", CLASS_COLOURS[3], "--"),
    ):
        lower.plot(trace.column("iteration"), trace.column(name), dashes, color=colour, label=name)
    lower.set(xlabel="update", ylabel="objective")
    lower.legend()
    return drawing
