"""The rest of the family: balls, quantiles, least squares, several kernels."""

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve
from strokes import contours, points_of

from data import crescents, fan, overlapping, ring_and_strays, uneven
from maxmargin import MKLSVC, Kernel, PerfSVC, textbook
from maxmargin.plots.style import CLASS_COLOURS, DASHES, INK, PALE, figure, paler


def smallest_ball():
    """Support vector data description: the smallest ball

    $$\\min_{c,\\,R,\\,\\xi}\\ R^2 + C\\sum_i \\xi_i,\\qquad
    |\\varphi(x_i) - c|^2 \\le R^2 + \\xi_i$$

    Tax and Duin (2004). Left the ball that holds all points, which a few strays inflate ($C = 1$),
    and one that leaves up to 15 % of them outside ($C = 1/(0.15\\,n)$). Right the same share with
    a Gaussian kernel: a ball in its space is any region here. Crosses are outside.
    """
    X = ring_and_strays()
    share = 1 / (0.15 * len(X))
    drawing, (left, right) = figure(1, 2, size=(9.6, 4.3))
    for C, colour, dashes in ((1.0, PALE, "--"), (share, CLASS_COLOURS[0], "-")):
        ball, _ = textbook.svdd(X, C=C)
        turn = np.linspace(0, 2 * np.pi, 200)
        circle = (ball.alpha @ X)[:, None] + ball.radius * np.array([np.cos(turn), np.sin(turn)])
        left.plot(*circle, dashes, color=colour, label=f"$C = {C:.2g}$, $R = {ball.radius:.2f}$")
        left.plot(*(ball.alpha @ X), "+", color=colour, markersize=9)
    bent, _ = textbook.svdd(X, C=share, kernel=textbook.kernels.rbf(0.5))
    for ax, model in ((left, ball), (right, bent)):
        inside = model.decision_function(X) >= 0
        ax.plot(*X[inside].T, "o", color=INK, markersize=3.5)
        ax.plot(*X[~inside].T, "x", color=CLASS_COLOURS[1], markersize=6, mew=1.6)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    left.legend(loc="lower right")
    right.set(xlim=left.get_xlim(), ylim=left.get_ylim())
    contours(right, bent, margins=False, shade=CLASS_COLOURS[0])
    return drawing


def fan_of_quantiles():
    """Quantile regression: the pinball loss and a fan of curves

    $$\\mathrm{pinball}_q(r) = \\max(q\\,r,\\ (q - 1)\\,r),\\qquad r = t - y(x)$$

    Takeuchi et al. (2006). A share $q$ of the targets lies below the curve of $q$ (in brackets: the
    share that does). Where the noise grows, the fan opens. A tube has the same width everywhere.
    """
    X, t = fan()
    grid = np.linspace(X.min(), X.max(), 300)[:, None]
    quantiles = (0.05, 0.25, 0.5, 0.75, 0.95)
    drawing, (left, right) = figure(1, 2, size=(11.4, 4.1), width_ratios=(1, 1.7))
    r = np.linspace(-1.5, 1.5, 201)
    for q, dashes, colour in zip((0.1, 0.5, 0.9), DASHES, CLASS_COLOURS, strict=False):
        left.plot(r, textbook.pinball(r, q), linestyle=dashes, color=colour, label=f"$q = {q}$")
    left.set(xlabel="$r = t - y(x)$", ylabel="loss")
    left.legend()
    curves = []
    for q in quantiles:
        model, _ = textbook.quantile_svr(X, t, q, C=20.0, kernel=textbook.kernels.rbf(0.3))
        curves.append((model.predict(grid), np.mean(t < model.predict(X))))
    for k, share in enumerate((0.82, 0.62)):
        low, high = curves[k][0], curves[-1 - k][0]
        right.fill_between(grid[:, 0], low, high, color=paler(CLASS_COLOURS[:1], share)[0])
    right.plot(X[:, 0], t, "o", color=INK, markersize=3, alpha=0.7)
    for q, (curve, below) in zip(quantiles, curves, strict=True):
        width = 2.0 if q == 0.5 else 1.0
        right.plot(grid, curve, color=CLASS_COLOURS[0], linewidth=width)
        text = f" $q = {q}$ ({below:.2f})"
        right.text(grid[-1, 0], curve[-1], text, va="center", fontsize=8.5)
    right.set(xlabel="$x$", ylabel="$t$", xlim=(grid[0, 0], grid[-1, 0] * 1.2), xticks=range(7))
    return drawing


def least_squares_and_hinge():
    """The least-squares SVM: every point pays, and leave-one-out is free

    $$\\begin{bmatrix} K + I/C & 1 \\\\ 1^\\top & 0 \\end{bmatrix} \\begin{bmatrix} a \\\\ b
    \\end{bmatrix} = \\begin{bmatrix} t \\\\ 0 \\end{bmatrix},\\qquad t_i - y^{(-i)}(x_i) =
    \\frac{a_i}{(M^{-1})_{ii}}$$

    Suykens and Vandewalle (1999). Left: points far on their right side pull the boundary of squared
    errors (dashed) but not that of the hinge. Right the error of leave-one-out over $C$ from one
    inverse each (line), and by training 40 times (dots); below it the error in training.
    """
    X, y = overlapping(n=40, gap=1.0)
    far = np.vstack([X, np.random.default_rng(1).normal(size=(10, 2)) * 0.4 + [7.5, 0.5]])
    labels = np.append(y, np.ones(10, int))
    drawing, (left, right) = figure(1, 2, size=(10.2, 4.1))
    points_of(left, far, labels)
    hinge, _ = textbook.soft_margin_qp(far, labels, C=1.0)
    squares, _ = textbook.least_squares_svm(far, labels, C=1.0, classes=True)
    contours(left, hinge, margins=False, label="hinge")
    contours(left, squares, margins=False, label="squares", linestyles="--")
    left.legend(loc="upper right")
    left.set(aspect="auto")
    kernel, grid, some = (
        textbook.kernels.rbf(0.3),
        np.geomspace(0.01, 1000, 61),
        slice(None, None, 10),
    )
    free = [np.mean(textbook.leave_one_out(X, y, C, kernel) ** 2) for C in grid]
    fits = [textbook.least_squares_svm(X, y, C, kernel)[0].predict(X) for C in grid]
    right.plot(grid, free, color=CLASS_COLOURS[0], label="leave-one-out")
    slow = [np.mean([_without(X, y, i, C, kernel) ** 2 for i in range(len(y))]) for C in grid[some]]
    right.plot(grid[some], slow, "o", color=CLASS_COLOURS[0], label="by training 40 times")
    errors = [np.mean((y - fit) ** 2) for fit in fits]
    right.plot(grid, errors, "--", color=CLASS_COLOURS[1], label="training")
    right.set(xscale="log", xlabel="$C$", ylabel="mean squared error", ylim=(0, 1))
    right.legend(loc="upper right")
    return drawing


def weights_of_kernels():
    """Multiple kernel learning: features, and not widths

    $$\\min_{d \\ge 0,\\, \\|d\\|_p \\le 1}\\ \\max_{a}\\ \\sum_i a_i - \\tfrac12 \\sum_m d_m\\,
    (a t)^\\top K_m\\, (a t)$$

    Rakotomamonjy et al. (2008), Kloft et al. (2011). Left eight features in pairs, a Gaussian
    kernel each; the class is the sign of $x_3 x_4$, but for noise. With $p = 1$ the kernel of these
    features takes most of the weight, with larger $p$ the weights become more equal. Right a
    warning: of nine widths on two crescents, the narrowest takes most. The weights minimise the
    objective in training, which likes a kernel that fits anything; choose widths by
    cross-validation.
    """
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 8))
    y = np.where(X[:, 2] * X[:, 3] + 0.3 * random.normal(size=200) > 0, 1, -1)
    pairs = [(k, k + 1) for k in range(0, 8, 2)]
    gammas = 10.0 ** np.linspace(-2, 2, 9)
    drawing, (left, right) = figure(1, 2, size=(10.2, 3.9))
    for k, (p, dashes) in enumerate(zip((1, 2, 8), DASHES, strict=False)):
        style = {"color": CLASS_COLOURS[k], "label": f"$p = {p}$"}
        model = MKLSVC([("rbf", list(pair)) for pair in pairs], norm=p).fit(X, y)
        weights = model.kernel_weights_ / model.kernel_weights_.sum()
        left.bar(np.arange(4) + 0.27 * (k - 1), weights, 0.25, **style)
        bank = [Kernel.rbf(gamma) for gamma in gammas]
        model = MKLSVC(bank, norm=p, C=10.0).fit(*crescents(n=200))
        weights = model.kernel_weights_ / model.kernel_weights_.sum()
        right.plot(gammas, weights, marker="o", linestyle=dashes, **style)
    left.set_xticks(range(4), [f"$x_{a + 1}, x_{b + 1}$" for a, b in pairs])
    left.set(xlabel="features of the kernel", ylabel="share of the weights", ylim=(0, 1))
    right.set(xlabel="$\\gamma$", xscale="log", ylim=(0, None))
    for ax in (left, right):
        ax.legend()
    return drawing


def trained_for_a_measure():
    """Trained for the measure: the area under the ROC curve where one class is rare

    $$\\min_w\\ \\tfrac12 |w|^2 + \\frac{C n}{n_+ n_-} \\sum_{y_i = 1,\\, y_j = -1} \\max(0, 1 -
    w^\\top (x_i - x_j))$$

    Joachims (2005). Two clouds that overlap. Where one of them is rare, the machine that counts
    errors finds that "never" is the best answer, and its $w$ says nothing. The one that counts
    pairs in the wrong order keeps the direction. Left ten samples with one positive in twenty, each
    judged on new points; right the mean area over the share of the rare class.
    """
    drawing, (left, right) = figure(1, 2, size=(9.6, 4.1))
    shares, styles = (0.03, 0.05, 0.1, 0.2, 0.4), {"error": "--", "auc": "-"}
    for (measure, dashes), colour in zip(styles.items(), CLASS_COLOURS, strict=False):
        for seed in range(10):
            wrong, found, _ = roc_curve(*_on_new(measure, 0.05, seed))
            name = "" if seed else measure
            left.plot(wrong, found, dashes, color=colour, linewidth=0.9, alpha=0.8, label=name)
        areas = [
            np.mean([roc_auc_score(*_on_new(measure, share, seed)) for seed in range(10)])
            for share in shares
        ]
        right.plot(shares, areas, f"o{dashes}", color=colour, label=measure)
    left.plot([0, 1], [0, 1], ":", color=PALE)
    left.set(xlabel="share of negatives above", ylabel="share of positives above", aspect="equal")
    right.set(xlabel="share of the rare class", ylabel="area on new points", ylim=(0.45, 0.9))
    for ax in (left, right):
        ax.legend(title="trained for", loc="lower right")
    return drawing


def _on_new(measure, share, seed):
    """Labels of new points, and what a machine scores them."""
    X, y = uneven(share, seed)
    new, labels = uneven(share, 1000 + seed, n=2000)
    return labels, PerfSVC(measure).fit(X, y).decision_function(new)


def _without(X, y, i, C, kernel):
    """The error at point i of the machine that was trained without it."""
    rest = np.arange(len(y)) != i
    model, _ = textbook.least_squares_svm(X[rest], y[rest], C, kernel)
    return y[i] - model.predict(X[i : i + 1])[0]
