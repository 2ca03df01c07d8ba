"""Fan: the large margin, the hinge loss, slack variables."""

import numpy as np
from strokes import AMBER, GREEN, PINK, arrow, line, points_of, square, turned

from data import overlapping, separable
from maxmargin import SVC, textbook
from maxmargin.plots import DecisionDisplay
from maxmargin.plots.style import CLASS_COLOURS, INK, PALE, dots, figure


def many_boundaries():
    """Many boundaries separate the classes; which one?

    $w_1$ and $w_3$ pass close to points of one class, $w_2$ is far from both. Right: the margin of
    each, the distance to the closest point, as a shaded strip.
    """
    X, y = separable()
    best, _ = textbook.hard_margin_qp(X, y)
    drawing, panels = figure(2, 2, size=(8.4, 8.6))
    vectors = [turned(best.w, angle) for angle in (-0.42, 0.0, 0.42)]
    for panel, ax in enumerate(panels.ravel()):
        points_of(ax, X, y)
        square(ax, 3.2)
        for k, w in enumerate(vectors):
            if panel not in (0, k + 1):
                continue
            style = {"color": (GREEN, PINK, AMBER)[k], "linestyle": ("--", "-", "-.")[k]}
            line(ax, w, best.b, label=f"$w_{k + 1}^\\top x = 0$", **style)
            if panel:
                margin = np.min(y * (X @ w + best.b)) / np.linalg.norm(w)
                a, b = np.meshgrid(*[np.linspace(-3.2, 3.2, 60)] * 2)
                apart = np.abs(a * w[0] + b * w[1] + best.b) / np.linalg.norm(w)
                ax.contourf(a, b, apart, levels=[0, margin], colors=[style["color"]], alpha=0.25)
                ax.set_title(f"$w_{k + 1}$: margin {margin:.2f}")
        if not panel:
            ax.legend(loc="upper left")
    return drawing


def large_margin():
    """The large margin

    $$\\gamma = \\min_i \\frac{y_i (w^\\top x_i + b)}{|w|}$$
    """
    X, y = separable()
    return DecisionDisplay.from_estimator(SVC(kernel="linear", C=np.inf).fit(X, y), X, y).figure_


def inner_product():
    """The inner product as a projection

    $$\\mu^\\top \\nu = p\\,|\\mu|$$

    $p$ is the length of the projection of $\\nu$ on $\\mu$; negative if the angle is above 90°.
    """
    drawing, panels = figure(1, 2)
    mu = np.array([2.0, 0.7])
    for ax, nu in zip(panels, (np.array([1.0, 1.6]), np.array([-1.0, 1.3])), strict=True):
        p = nu @ mu / np.linalg.norm(mu)
        foot = p * mu / np.linalg.norm(mu)
        ax.plot(*zip(nu, foot, strict=True), color=INK, linestyle=":")
        ax.plot(*zip((0, 0), foot, strict=True), color=GREEN, linewidth=5, alpha=0.6)
        arrow(ax, (0, 0), mu, CLASS_COLOURS[0], "$\\mu$")
        arrow(ax, (0, 0), nu, CLASS_COLOURS[1], "$\\nu$")
        ax.annotate("$p$", foot / 2, (4, -14), textcoords="offset points", color=GREEN, fontsize=12)
        ax.set(xlim=(-1.7, 2.6), ylim=(-0.8, 2.1), aspect="equal", title=f"$p$ = {p:.2f}")
    return drawing


def distance_to_the_plane():
    """The distance of a point to the plane

    $$x = x_\\perp + r \\frac{w}{|w|},\\qquad |r| = \\frac{|w^\\top x + b|}{|w|},\\qquad \\text{of
    the origin: } \\frac{|b|}{|w|}$$
    """
    w, b = np.array([0.8, 1.0]), -1.6
    drawing, ax = figure()
    ax.set(xlim=(-0.6, 3.4), ylim=(-0.6, 3.0), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    line(ax, w, b, color=INK, label="$w^\\top x + b = 0$")
    for point, name, shift in (
        (np.array([2.4, 2.0]), "$x$", (7, 2)),
        (np.zeros(2), "$0$", (7, -4)),
    ):
        r = (w @ point + b) / np.linalg.norm(w)
        foot = point - r * w / np.linalg.norm(w)
        ax.plot(*zip(foot, point, strict=True), "o--", color=CLASS_COLOURS[0], markersize=5)
        text = {"textcoords": "offset points"}
        ax.annotate(f"{name}:  $|r|$ = {abs(r):.2f}", point, shift, **text)
        ax.annotate("$x_\\perp$" if name == "$x$" else "", foot, (-4, -14), **text)
    start = np.array([0.5, 1.2])
    arrow(ax, start, start + 0.6 * w, CLASS_COLOURS[1], "$w$")
    ax.legend(loc="upper right")
    return drawing


def costs_of_both_classes():
    """The cost of each class

    $$\\mathrm{cost}_1(z) = \\max(0, 1 - z),\\qquad \\mathrm{cost}_{-1}(z) = \\max(0, 1 + z),\\qquad
    z = w^\\top x + b$$

    Dashed: what logistic regression pays.
    """
    drawing, panels = figure(1, 2)
    z = np.linspace(-3, 3, 400)
    for ax, t in zip(panels, (1, -1), strict=True):
        ax.plot(
            z, np.maximum(0, 1 - t * z), color=CLASS_COLOURS[0], label=f"$\\mathrm{{cost}}_{{{t}}}$"
        )
        ax.plot(z, np.logaddexp(0, -t * z), "--", color=CLASS_COLOURS[1], label="logistic")
        ax.set(xlabel="$z$", ylabel="cost", title=f"$y = {t:+d}$")
        ax.legend()
    return drawing


def projection_lengths():
    """Long projections allow a short w

    $$y_i\\,p_i\\,|w| \\ge 1$$

    Left a boundary close to the points: the projections $p_i$ on $w$ are short, so $|w|$ must be
    large. Right the largest margin.
    """
    X, y = separable(n=12)
    best, _ = textbook.hard_margin_qp(X, y)
    drawing, panels = figure(1, 2)
    for ax, direction in zip(panels, (turned(best.w, 0.5), best.w), strict=True):
        unit = direction / np.linalg.norm(direction)
        b = best.b / np.linalg.norm(best.w)
        p = X @ unit + b
        length = 1 / np.min(y * p)
        points_of(ax, X, y)
        square(ax, 3.2)
        line(ax, unit, b, color=INK)
        for point, r in zip(X, p, strict=True):
            ax.plot(*zip(point, point - r * unit, strict=True), ":", color=PALE)
        arrow(ax, -b * unit, (length - b) * unit, CLASS_COLOURS[2], "$w$")
        ax.set_title(f"least $y_i p_i$ = {np.min(y * p):.2f}, $|w|$ = {length:.2f}")
    return drawing


def overlapping_classes():
    """Classes that no plane separates"""
    X, y = overlapping(n=40, gap=0.9)
    drawing, ax = figure()
    points_of(ax, X, y)
    return drawing


def hinge_with_slack():
    """The hinge loss with slack variables: the lecture's exercise "please plot"

    $$\\xi_i = \\max(0,\\ 1 - y_i(w^\\top x_i + b))$$

    Each point of the next figure on the curve of its loss: its height is its slack.
    """
    X, y = overlapping(n=40, gap=0.9)
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    margins = y * model.decision_function(X)
    drawing, ax = figure(1, 1, size=(6.4, 3.9))
    m = np.linspace(-1.3, 4.2, 111)
    ax.plot(m, np.maximum(0, 1 - m), color=INK, linewidth=1.2)
    for k, sign in enumerate((-1, 1)):
        of = margins[y == sign]
        here = np.column_stack([of, np.maximum(0, 1 - of)])
        dots(ax, here, k, 40, f"$y = {sign:+d}$", zorder=3)
    for left, right, name in (
        (-1.3, 0, "$\\xi > 1$:\nwrong side"),
        (0, 1, "$0 < \\xi < 1$:\ninside"),
        (1, 4.2, "$\\xi = 0$: on the margin or outside"),
    ):
        ax.axvspan(left, right, color=PALE, alpha=0.12 + 0.12 * (left == 0), linewidth=0)
        ax.text((left + right) / 2, 2.25, name, ha="center", va="top", fontsize=9)
    ax.set(xlabel="$y_i(w^\\top x_i + b)$", ylabel="$\\xi_i$", xlim=(-1.3, 4.2), ylim=(-0.1, 2.35))
    ax.legend(loc="center right")
    return drawing


def three_cases():
    """The three cases of a solution

    $$\\alpha_i = 0:\\ \\text{outside},\\qquad 0 < \\alpha_i < C:\\ \\text{on the margin},\\qquad
    \\alpha_i = C:\\ \\text{inside, or wrong if } \\xi_i > 1$$
    """
    X, y = overlapping(n=40, gap=0.9)
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    table = textbook.kkt_table(model, X, y)
    shown = DecisionDisplay.computed(model, X, y, slacks=False)
    shown.support = shown.support[:0]  # glyphs of their own below
    drawing, ax = figure(1, 1, size=(7.4, 4.2))
    shown.plot(ax)
    inside, wrong = (table.case == 2) & (table.slack <= 1), (table.case == 2) & (table.slack > 1)
    for which, marker, colour, name in (
        (table.case == 1, "o", GREEN, "$0 < \\alpha < C$: on the margin"),
        (inside, "s", PINK, "$\\alpha = C$, $\\xi \\leq 1$: inside"),
        (wrong, "D", INK, "$\\alpha = C$, $\\xi > 1$: wrong side"),
    ):
        style = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.7, "s": 120}
        ax.scatter(*X[which].T, marker=marker, label=f"{name} ({sum(which)})", **style)
    ax.plot([], [], " ", label="no glyph: $\\alpha = 0$, outside")
    ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, labelspacing=1.0)
    return drawing
