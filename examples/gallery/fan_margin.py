"""Support vector machine: large margin, hinge loss, duality, slack, kernels."""

import numpy as np

from data import crescents, overlapping, rings, separable, three_clouds
from maxmargin import SVC, LinearSVC, textbook
from maxmargin.plots import (
    ClassesDisplay,
    DecisionDisplay,
    EffectDisplay,
    LossDisplay,
    ReliabilityDisplay,
)
from maxmargin.plots.loss import OF_MARGIN
from maxmargin.plots.style import CLASS_COLOURS, INK, MARKERS, PALE, figure, legend_outside, titled




def _points(ax, X, y):
    """The data alone."""
    for k, sign in enumerate((-1, 1)):
        ax.scatter(
            *X[y == sign].T,
            s=30,
            c=CLASS_COLOURS[k],
            marker=MARKERS[k],
            edgecolors="white",
            linewidths=0.5,
        )
    ax.set(xlabel="$x_1$", ylabel="$x_2$")


def _line(ax, w, b, **style):
    """The line w'x + b = 0 across the axes."""
    low, high = ax.get_xlim()
    x = np.array([low, high])
    ax.plot(x, -(w[0] * x + b) / w[1], **style)


def many_boundaries():
    """Many boundaries separate the classes; which one?

    $w_1$ and $w_3$ pass close to points of one class, $w_2$ is far from both.
    """
    X, y = separable()
    best, _ = textbook.hard_margin_qp(X, y)
    drawing, ax = figure()
    _points(ax, X, y)
    ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2))
    turned = [
        np.array([[np.cos(r), -np.sin(r)], [np.sin(r), np.cos(r)]]) @ best.w
        for r in (-0.42, 0.0, 0.42)
    ]
    for k, w in enumerate(turned):
        _line(
            ax,
            w,
            best.b,
            color=CLASS_COLOURS[k + 2],
            linestyle=("--", "-", "-.")[k],
            label=f"$w_{k + 1}$",
        )
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
        for vector, name, colour in (
            (mu, "$\\mu$", CLASS_COLOURS[0]),
            (nu, "$\\nu$", CLASS_COLOURS[1]),
        ):
            ax.annotate(
                "",
                vector,
                (0, 0),
                arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.8},
            )
            ax.text(*(vector * 1.06), name, color=colour, fontsize=12)
        ax.plot(*zip(nu, foot, strict=True), color=PALE, linestyle=":")
        ax.plot(*zip((0, 0), foot, strict=True), color=INK, linewidth=3, alpha=0.6)
        ax.set(xlim=(-1.7, 2.6), ylim=(-0.8, 2.1), aspect="equal", title=f"$p$ = {p:.2f}")
    return drawing


def distance_to_the_plane():
    """The distance of a point to the plane

    $$x = x_\\perp + r \\frac{w}{|w|},\\qquad |r| = \\frac{|w^\\top x + b|}{|w|},\\qquad \\text{of
    the origin: } \\frac{|b|}{|w|}$$
    """
    w, b = np.array([0.8, 1.0]), -1.6
    drawing, ax = figure()
    ax.set(xlim=(-0.6, 3.2), ylim=(-0.6, 3.0), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    _line(ax, w, b, color=INK, label="$w^\\top x + b = 0$")
    for point, name in ((np.array([2.4, 2.0]), "$x$"), (np.zeros(2), "$0$")):
        r = (w @ point + b) / np.linalg.norm(w)
        foot = point - r * w / np.linalg.norm(w)
        ax.plot(*zip(foot, point, strict=True), "o--", color=CLASS_COLOURS[0], markersize=5)
        ax.annotate(
            f"{name}:  $|r|$ = {abs(r):.2f}", point, xytext=(8, 4), textcoords="offset points"
        )
    start = np.array([0.75, 1.0])
    ax.annotate(
        "",
        start + 0.6 * w,
        start,
        arrowprops={"arrowstyle": "-|>", "color": CLASS_COLOURS[1], "linewidth": 1.8},
    )
    ax.text(*(start + 0.63 * w), "$w$", color=CLASS_COLOURS[1])
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
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    for ax, direction in zip(panels, (turn @ best.w, best.w), strict=True):
        unit = direction / np.linalg.norm(direction)
        b = best.b / np.linalg.norm(best.w)
        p = X @ unit + b
        length = 1 / np.min(y * p)
        _points(ax, X, y)
        ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
        _line(ax, unit, b, color=INK)
        for point, r in zip(X, p, strict=True):
            ax.plot(*zip(point, point - r * unit, strict=True), ":", color=PALE)
        ax.set_title(f"least $y_i p_i$ = {np.min(y * p):.2f}, $|w|$ = {length:.2f}")
    return drawing


def overlapping_classes():
    """Classes that no plane separates"""
    X, y = overlapping()
    drawing, ax = figure()
    _points(ax, X, y)
    return drawing


def three_cases():
    """The three cases of a solution

    $$\\alpha_i = 0:\\ \\text{outside},\\qquad 0 < \\alpha_i < C:\\ \\text{on the margin},\\qquad
    \\alpha_i = C:\\ \\text{inside, or wrong if } \\xi_i > 1$$
    """
    X, y = overlapping()
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    table = textbook.kkt_table(model, X, y)
    shown = DecisionDisplay.from_estimator(model, X, y, slacks=False)
    for case, name in ((1, "$0 < \\alpha < C$"), (2, "$\\alpha = C$")):
        shown.ax_.scatter(
            *X[table.case == case].T,
            s=130,
            facecolors="none",
            edgecolors=CLASS_COLOURS[case + 1],
            linewidths=1.6,
            label=name,
        )
    legend_outside(shown.ax_)
    return shown.figure_


def polynomial_boundary():
    """A boundary that is not linear

    $$w_0 + w_1 x_1 + w_2 x_2 + w_3 x_1 x_2 + w_4 x_1^2 + w_5 x_2^2 \\ge 0$$

    A linear machine on the features $\\phi(x)$, drawn in the space of $x$.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    X, y = rings()
    return DecisionDisplay.from_estimator(
        make_pipeline(PolynomialFeatures(2, include_bias=False), LinearSVC(C=10.0)).fit(X, y), X, y
    ).figure_


def kernels_compared():
    """Comparing kernels

    $$\\left(1 + \\frac{x^\\top z}{\\sigma^2}\\right)^p,\\qquad \\exp\\left(-\\frac{|x -
    z|^2}{2\\sigma^2}\\right),\\qquad \\frac1{1 + \\exp(-(x^\\top z + b)/\\sigma^2)}$$

    As functions of $x$ in one dimension, $z = 1$.
    """
    kernels = textbook.kernels
    x = np.linspace(-3, 4, 400)[:, None]
    drawing, ax = figure()
    for k, (name, kernel) in enumerate(
        {
            "linear": kernels.linear,
            "polynomial, p = 2": kernels.polynomial(2),
            "RBF, $\\sigma$ = 0.7": kernels.rbf(sigma=0.7),
            "sigmoidal": kernels.sigmoid(),
        }.items()
    ):
        ax.plot(
            x,
            kernel(x, np.array([[1.0]])),
            color=CLASS_COLOURS[k],
            linestyle=("-", "--", "-.", ":")[k],
            label=name,
        )
    ax.set(xlabel="$x$", ylabel="$k(x, 1)$", ylim=(-1.5, 4))
    ax.legend(loc="upper left")
    return drawing


def boundaries_of_kernels():
    """Boundaries of kernels: polynomials of second and third order, RBF"""
    X, y = crescents(noise=0.25)
    drawing, panels = figure(1, 3, size=(13, 4.1))
    machines = {
        "polynomial, p = 2": SVC(kernel="poly", degree=2, coef0=1.0, gamma=1.0, C=1.0),
        "polynomial, p = 3": SVC(kernel="poly", degree=3, coef0=1.0, gamma=1.0, C=1.0),
        "RBF": SVC(gamma=1.0, C=1.0),
    }
    for ax, (name, machine) in zip(panels, machines.items(), strict=True):
        DecisionDisplay.from_estimator(machine.fit(X, y), X, y, title=name, ax=ax)
    return drawing


def effect_of_gamma():
    """The width of the Gaussian kernel

    $$\\gamma = \\frac1{2\\sigma^2}$$

    Too wide a kernel sees no structure, too narrow a one sees nothing else.
    """
    X, y = crescents(noise=0.25)
    return EffectDisplay.from_estimator(
        SVC(C=1.0), X, y, parameter="gamma", values=(0.05, 1, 50)
    ).figure_


def one_versus_rest():
    """One machine for each class against the rest

    $$\\arg\\max_k\\ (w^{(k)})^\\top x + b^{(k)}$$
    """
    X, y = three_clouds()
    model, _ = textbook.one_vs_rest(X, y)
    drawing, panels = figure(1, 4, size=(15, 3.9))
    for k, (ax, machine) in enumerate(zip(panels, model.machines, strict=False)):
        DecisionDisplay.from_estimator(
            machine,
            X,
            np.where(y == k, 1, -1),
            slacks=False,
            title=f"class {k} against the rest",
            ax=ax,
        )
        ax.get_legend().remove()
    ClassesDisplay.from_estimator(model, X, y, ax=panels[3])
    titled(panels[3], "the largest wins")
    return drawing


def svm_and_logistic_regression():
    """SVM against logistic regression

    $$(1 - (w^\\top x_i + b) y_i)_+ \\qquad \\log\\left(1 + e^{-(w^\\top x_i + b) y_i}\\right)$$
    """
    X, y = overlapping()
    drawing, panels = figure(1, 2)
    LossDisplay({name: OF_MARGIN[name] for name in ("errors", "hinge", "logistic")}).plot(panels[0])
    _points(panels[1], X, y)
    panels[1].set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5))
    for k, (name, model) in enumerate(
        {
            "SVM": textbook.soft_margin_qp(X, y, C=1.0)[0],
            "logistic regression": textbook.logistic_regression(X, y, lam=1.0)[0],
        }.items()
    ):
        _line(
            panels[1],
            model.w,
            model.b,
            color=CLASS_COLOURS[k + 2],
            linestyle=("-", "--")[k],
            label=name,
        )
    panels[1].legend(loc="lower left")
    return drawing


def reliable_probabilities():
    """From decision values to probabilities

    $$P(y = 1 \\mid x) = \\frac{1}{1 + e^{A f(x) + B}}$$

    Logistic regression has probabilities, an SVM learns them from decision values of samples that
    it was not trained on. Where they are right, a share $p$ of the samples with probability $p$ is
    of the class.
    """
    X, y = overlapping(n=3000, gap=0.6)
    model = SVC(C=1.0, probability=True).fit(X[::3], y[::3])
    return ReliabilityDisplay.from_estimator(model, X[1::3], y[1::3]).figure_
