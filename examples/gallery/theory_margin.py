"""Theory and Algorithms: the margin, kernels, one class, regression."""

import numpy as np
from strokes import points_of

from data import crescents, overlapping, rings, separable, sine
from maxmargin import SVC, LinearSVR, OneClassSVM, textbook
from maxmargin.plots import DecisionDisplay, KernelMatrixDisplay, OutlierDisplay, TubeDisplay
from maxmargin.plots.style import CLASS_COLOURS, INK, MARKERS, PALE, figure


def border_and_margin():
    """Decision border and margin (figure 1)

    $$\\min_{w, b}\\ \\tfrac12 |w|^2 \\quad\\text{s.t.}\\quad y_i (x_i^\\mathsf{T} w + b) \\ge 1$$

    The lines $x^\\mathsf{T} w + b = \\pm 1$ are $d_+ + d_- = 2 / |w|$ apart, $b$ moves the border
    away from the origin by $|b| / |w|$.
    """
    X, y = separable()
    model, _ = textbook.hard_margin_qp(X + 0.6, y)
    length = np.linalg.norm(model.w)
    shown = DecisionDisplay.from_estimator(model, X + 0.6, y, title=f"$2/|w|$ = {2 / length:.3g}")
    ax, unit = shown.ax_, model.w / length
    foot = -model.b * unit / length
    ax.annotate("", foot, (0, 0), arrowprops={"arrowstyle": "<->", "color": INK})
    ax.annotate("$|b|/|w|$", foot / 2, (-2, 7), textcoords="offset points", ha="right")
    ax.plot(0, 0, "+", color=INK, markersize=10)
    along = np.array([-unit[1], unit[0]])
    for sign, name in ((1, "$d_+$"), (-1, "$d_-$")):
        start = foot + 1.6 * along
        end = start + sign * unit / length
        ax.annotate("", end, start, arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0})
        ax.annotate(name, (start + end) / 2, (5, -8), textcoords="offset points")
    return shown.figure_


def weak_duality():
    """Weak duality (theorem 1)

    $$f(w) \\ \\ge\\ \\Theta(\\alpha)\\quad\\text{for all feasible } w, \\alpha$$

    Each dot is a feasible point, drawn at random near the solution: of the primal problem above, of
    the dual below. They meet at the optimum alone.
    """
    X, y = overlapping(n=30)
    exact = SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    alpha, random = np.zeros(len(y)), np.random.default_rng(0)
    alpha[exact.support_] = np.abs(exact.dual_coef_[0])
    Q = np.outer(y, y) * (X @ X.T)
    drawing, ax = figure()
    for share in np.linspace(0.0, 1.0, 60):
        w = exact.coef_[0] + 0.4 * share * random.normal(size=2)
        b = exact.intercept_[0] + 0.4 * share * random.normal()
        primal = 0.5 * w @ w + np.maximum(0, 1 - y * (X @ w + b)).sum()
        other = random.uniform(size=len(y))
        for sign in (-1, 1):  # both classes have the same total
            other[y == sign] *= alpha.sum() / 2 / other[y == sign].sum()
        a = (1 - share) * alpha + share * other
        ax.plot(share, primal, "o", color=CLASS_COLOURS[1], markersize=3.5)
        ax.plot(share, a.sum() - 0.5 * a @ Q @ a, "s", color=CLASS_COLOURS[0], markersize=3.5)
    ax.axhline(exact.certificate_.primal, color=INK, linewidth=0.8, label="optimum")
    ax.plot([], [], "o", color=CLASS_COLOURS[1], label="$f(w)$, primal")
    ax.plot([], [], "s", color=CLASS_COLOURS[0], label="$\\Theta(\\alpha)$, dual")
    ax.set(xlabel="distance from the solution", ylabel="objective", ylim=(-6, 10))
    ax.legend(loc="upper left")
    return drawing


def lift_of_the_kernel_trick():
    """The kernel trick: two rings become separable in another space

    $$\\phi(x) = \\left(x_1^2,\\ \\sqrt2\\, x_1 x_2,\\ x_2^2\\right),\\qquad
    \\phi(x)^\\mathsf{T}\\phi(z) = (x^\\mathsf{T} z)^2$$

    Left the points, right their images, where a plane separates them.
    """
    X, y = rings(n=100)
    drawing, (flat, other) = figure(1, 2, size=(9.2, 4.2))
    other.remove()
    space = drawing.add_subplot(1, 2, 2, projection="3d")
    points_of(flat, X, y)
    phi = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    model = SVC(kernel="linear", C=100.0).fit(phi, y)
    for k, sign in enumerate((-1, 1)):
        style = {"color": CLASS_COLOURS[k], "marker": MARKERS[k], "s": 14, "depthshade": False}
        space.scatter(*phi[y == sign].T, **style)
    (u, v, w), b = model.coef_[0], model.intercept_[0]
    first, second = np.meshgrid([0.0, 0.62], [-0.7, 0.7])
    space.plot_surface(first, second, -(u * first + v * second + b) / w, color=PALE, alpha=0.45)
    space.set(xlabel="$x_1^2$", ylabel="$\\sqrt{2}\\,x_1 x_2$", zlabel="$x_2^2$", zlim=(0, 1.4))
    space.set(xticks=[0, 0.5, 1], yticks=[-0.5, 0, 0.5], zticks=[0, 0.5, 1])
    space.set_box_aspect(None, zoom=0.85)
    space.view_init(16, -48)
    return drawing


def kernel_trick():
    """The kernel matrix

    $$Q_{ij} = y_i y_j\\, k(x_i, x_j),\\qquad k(x_i, x_j) = \\phi(x_i)^\\mathsf{T}\\phi(x_j)$$

    Points ordered by class: bright where the kernel calls two points similar.
    """
    X, y = crescents(n=80)
    return KernelMatrixDisplay.from_estimator(SVC(gamma=2.0).fit(X, y), X, y).figure_


def mercer():
    """Mercer's condition by eigenvalues

    $$k(x, z) = \\phi(x)^\\mathsf{T}\\phi(z)\\quad\\Rightarrow\\quad K \\succeq 0$$

    The eigenvalues of kernel matrices of 40 points. Those of the linear, the polynomial and the RBF
    kernel are not negative. The tanh kernel is not a kernel in the sense of Mercer: crosses are
    negative eigenvalues.
    """
    X, _ = crescents(n=40)
    drawing, ax = figure()
    for k, (name, kernel) in enumerate(
        {
            "linear": textbook.kernels.linear,
            "polynomial, $p$ = 3": textbook.kernels.polynomial(3),
            "RBF, $\\gamma$ = 1": textbook.kernels.rbf(1.0),
            "$\\tanh(x^{\\top}z - 1)$": lambda A, B: np.tanh(A @ B.T - 1.0),
        }.items()
    ):
        found = np.sort(textbook.theorems.mercer_eigenvalues(kernel, X))[::-1]
        rank = np.arange(1, len(found) + 1)
        sure = np.abs(found) > 1e-11 * found[0]
        ax.plot(rank[sure & (found > 0)], found[sure & (found > 0)], ".", color=CLASS_COLOURS[k])
        below = sure & (found < 0)
        ax.plot(rank[below], -found[below], "x", color=CLASS_COLOURS[k], markersize=6)
        ax.plot([], [], "o", color=CLASS_COLOURS[k], label=name)
    ax.plot([], [], "x", color=INK, label="negative, its size")
    ax.set(yscale="log", xlabel="rank", ylabel="eigenvalue of $K$")
    ax.legend(loc="upper center")
    return drawing


def one_class():
    """One-class machine

    $$\\min_{w, \\xi, \\rho}\\ \\tfrac12 |w|^2 - \\rho + \\frac1{\\nu n} \\sum_i \\xi_i
    \\quad\\text{s.t.}\\quad w^\\mathsf{T}\\phi(x_i) \\ge \\rho - \\xi_i$$
    """
    X, _ = crescents(noise=0.12, n=150)
    return OutlierDisplay.from_estimator(OneClassSVM(nu=0.1, gamma=3.0).fit(X), X).figure_


def linear_regression_with_a_tube():
    """Linear support vector regression and its loss (figure 1 of the regression, left and right)

    $$L_\\varepsilon = \\max(0, |y - f(x, w)| - \\varepsilon)$$
    """
    X, _ = sine()
    t = 0.4 * X[:, 0] - 1 + 0.25 * np.random.default_rng(1).normal(size=len(X))
    drawing, panels = figure(1, 2)
    TubeDisplay.from_estimator(LinearSVR(epsilon=0.25, C=1.0).fit(X, t), X, t, ax=panels[0])
    r = np.linspace(-1.2, 1.2, 241)
    loss = textbook.losses.epsilon_insensitive(r, np.zeros(241), 0.25)
    panels[1].plot(r, loss, color=CLASS_COLOURS[0])
    panels[1].set(xlabel="residual $y - f(x, w)$", ylabel="loss")
    panels[1].set_xticks(
        [-1, -0.25, 0, 0.25, 1], ["-1", "$-\\varepsilon$", "0", "$\\varepsilon$", "1"]
    )
    return drawing
