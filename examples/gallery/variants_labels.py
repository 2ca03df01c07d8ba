"""The rest of the family: labels that are missing, parts that are hidden."""

import numpy as np
from strokes import contours, points_of

from data import crescents, parts, strips
from maxmargin import textbook
from maxmargin.plots.style import CLASS_COLOURS, INK, MARKERS, PALE, figure


def label_switching():
    """Transductive SVM: labels are switched in pairs

    $$\\min_{w,\\,b,\\,s}\\ \\tfrac12 |w|^2 + C\\sum_i \\xi_i + C^*\\sum_j \\xi^*_j,\\qquad
    \\xi^*_j = \\max(0, 1 - s_j(w^\\top u_j + b)),\\quad s_j = \\pm1$$

    Joachims (1999). Two points have labels (large). The machine of these two labels the others
    (left). While $\\xi^*_m + \\xi^*_k > 2$ for a pair of opposite labels, both are switched (rings:
    switched so far), and $C^*$ grows. The boundary ends in the gap. With other points it may end
    elsewhere: the problem is not convex.
    """
    X, y, U = strips()
    _, trace = textbook.transductive(X, y, U, C=10.0)
    drawing, panels = figure(1, 4, size=(13.2, 3.6), width_ratios=(1, 1, 1, 1.1))
    switches = [k for k, step in enumerate(trace.steps) if step.chosen]
    first = trace.steps[0].variables
    for ax, k in zip(panels, (0, switches[len(switches) // 2], len(trace) - 1), strict=False):
        step = trace.steps[k]
        points_of(ax, U, step.variables.astype(int), size=16)
        points_of(ax, X, y, size=110)
        moved = U[step.variables != first]
        ax.scatter(*moved.T, s=70, facecolors="none", edgecolors=INK, linewidths=0.8)
        contours(ax, trace.model_at(step))
        done = sum(bool(one.chosen) for one in trace.steps[: k + 1])
        ax.set(title=f"after {done} switches" if k else "two labels only", aspect="auto")
    objective, stages = trace.column("primal"), range(1, len(trace))
    panels[3].plot(stages, objective[1:], "o-", color=PALE, markersize=3.5, label="$C^*$ doubled")
    panels[3].plot(switches, objective[switches], "s", color=CLASS_COLOURS[1], label="switch")
    panels[3].set(xlabel="step", ylabel="objective", ylim=(0, None))
    panels[3].legend()
    return drawing


def graph_of_neighbours():
    """The Laplacian SVM: two labels, two crescents

    $$\\min_f\\ \\tfrac12 |f|^2 + C\\sum_i \\max(0, 1 - t_i f(x_i)) + \\tfrac s2 f^\\top L f,\\qquad
    f^\\top L f = \\tfrac12\\sum_{ij} W_{ij}\\,(f(x_i) - f(x_j))^2$$

    Belkin, Niyogi and Sindhwani (2006). Left the graph that joins each point to its six nearest
    neighbours, and the two points with labels. Middle the RBF machine of these two. Right the
    machine whose $f$ changes little along the edges.
    """
    points, right = crescents(noise=0.05, n=120, seed=0)
    chosen = [np.argmax(points[:, 1]), np.argmin(points[:, 1])]
    X, y = points[chosen], right[chosen]
    U, rest = np.delete(points, chosen, axis=0), np.delete(right, chosen)
    L = textbook.graph_laplacian(points, 6)
    fit = {"C": 10.0, "kernel": textbook.kernels.rbf(5.0)}
    plain, _ = textbook.soft_margin_qp(X, y, **fit)
    smooth, _ = textbook.laplacian_svm(X, y, U, smoothness=10.0, neighbours=6, **fit)
    drawing, panels = figure(1, 3, size=(12.6, 3.0))
    for i, j in np.argwhere(np.triu(L, 1) < 0):
        panels[0].plot(*points[[i, j]].T, color=PALE, linewidth=0.7, zorder=1)
    panels[0].plot(*U.T, "o", color=INK, markersize=2.5)
    points_of(panels[0], X, y, size=110)
    panels[0].set(title="the graph")
    for ax, model, name in zip(panels[1:], (plain, smooth), ("SVM", "Laplacian SVM"), strict=True):
        points_of(ax, U, rest, size=14)
        points_of(ax, X, y, size=110)
        contours(ax, model, margins=False)
        wrong = np.sum(model.predict(U) != rest)
        ax.set(title=f"{name}: {wrong} of {len(U)} wrong")
    return drawing


def hidden_parts():
    """Latent variables: which part makes a bag positive?

    $$\\min_{w,\\,b}\\ \\tfrac12 |w|^2 + C\\sum_B \\max\\left(0, 1 - Y_B \\max_{x \\in B}
    (w^\\top x + b)\\right)$$

    Yu and Joachims (2009), Andrews et al. (2003). Lines join the parts of a positive bag to
    its chosen one (ringed); circles are parts of negative bags. Choose the best part of every
    positive bag, train with these, choose again. The objective falls until no choice changes.
    """
    bags, y = parts()
    _, trace = textbook.latent_svm(bags, y, C=1.0)
    positive = [bag for bag, label in zip(bags, y, strict=True) if label > 0]
    negative = np.vstack([bag for bag, label in zip(bags, y, strict=True) if label < 0])
    drawing, panels = figure(1, 3, size=(12.6, 3.8))
    for ax, step in zip(panels, (trace.steps[0], trace.steps[-1]), strict=False):
        ax.plot(*negative.T, "o", color=CLASS_COLOURS[0], markersize=3.5, alpha=0.7)
        for bag, h in zip(positive, step.chosen, strict=True):
            for part in bag:
                ax.plot(*np.transpose([bag[h], part]), color=CLASS_COLOURS[1], linewidth=0.5)
            ax.plot(*bag.T, MARKERS[1], color=CLASS_COLOURS[1], markersize=3.5)
            ax.plot(*bag[h], "o", mfc="none", mec=INK, markersize=9)
        contours(ax, textbook.LinearModel(step.variables, step.b))
        ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"round {step.iteration}")
    panels[2].plot(trace.column("iteration"), trace.column("primal"), "o-", color=CLASS_COLOURS[2])
    panels[2].set(xlabel="round", ylabel="objective", xticks=trace.column("iteration"))
    return drawing
