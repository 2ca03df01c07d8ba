"""Optimizing support vector machines."""

from data import crescents
from maxmargin import textbook
from maxmargin.plots.style import CLASS_COLOURS, figure




def updates_of_a_pair():
    """Pairs of multipliers, step by step

    $$\\alpha_j^* = \\alpha_j - \\frac{y_j (E_i - E_j)}{\\eta},\\qquad \\eta = 2 x_i\\cdot x_j -
    x_i\\cdot x_i - x_j\\cdot x_j$$

    If one goes up, the other goes down or up with it, because $\\sum_i y_i\\alpha_i = 0$. Above the
    first 60 updates of the simplified SMO, below the objectives.
    """
    X, y = crescents(n=40)
    _, trace = textbook.simplified_smo(X, y, C=2.0, kernel=textbook.kernels.rbf(1.0))
    drawing, (upper, lower) = figure(2, 1, size=(6.4, 5.6))
    alphas = trace.column("variables")[:60]
    for i, line in enumerate(alphas.T):
        upper.step(
            range(1, len(alphas) + 1),
            line,
            where="post",
            linewidth=0.9,
            alpha=0.8,
            color=CLASS_COLOURS[int(y[i] > 0)],
        )
    upper.set(xlabel="update", ylabel="$\\alpha_i$", title="blue: $y_i = -1$, orange: $y_i = +1$")
    for name, colour, dashes in (
        ("primal", CLASS_COLOURS[2], "-"),
        ("dual", CLASS_COLOURS[3], "--"),
    ):
        lower.plot(trace.column("iteration"), trace.column(name), dashes, color=colour, label=name)
    lower.set(xlabel="update", ylabel="objective")
    lower.legend()
    return drawing
