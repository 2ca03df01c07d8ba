"""Theory and Algorithms: the choice of C, nu and epsilon."""

import numpy as np

from data import crescents, overlapping, sine
from maxmargin import SVC, SVR, NuSVR, textbook
from maxmargin.model_selection import AutoSVC, svc_path
from maxmargin.plots import PathDisplay
from maxmargin.plots.style import CLASS_COLOURS, INK, PALE, figure


def slack_bounds_errors():
    """The sum of slacks bounds the number of errors

    $$|\\{i : \\xi_i > 1\\}| \\ \\le\\ \\sum_i \\xi_i$$

    A point that is misclassified has a slack above 1. The bound is loose for small C, where many
    slacks are just below or just above 1.
    """
    X, y = overlapping(n=200, gap=0.7)
    grid = np.geomspace(1e-3, 1e2, 30)
    slacks = []
    for C in grid:
        model = SVC(kernel="linear", C=C).fit(X, y)
        slacks.append(np.maximum(0.0, 1.0 - y * model.decision_function(X)))
    drawing, ax = figure()
    ax.plot(grid, np.sum(slacks, axis=1), color=CLASS_COLOURS[0], label="$\\sum_i \\xi_i$")
    errors = np.sum(np.array(slacks) > 1, axis=1)
    ax.plot(grid, errors, "--", color=CLASS_COLOURS[1], label="errors: $\\xi_i > 1$")
    ax.set(xscale="log", xlabel="$C$", ylabel="of 200 points", ylim=(0, 205))
    ax.legend()
    return drawing


def multipliers_along_C():
    """Multipliers along C

    $$0 \\le \\alpha_i \\le C$$

    On the dashed line points are at their bound; one after the other most of them leave it.
    """
    X, y = overlapping(n=40)
    return PathDisplay.from_estimator(SVC(kernel="linear"), X, y).figure_


def path_of_C():
    """The path of C

    $$\\min_{w, b}\\ \\tfrac12 |w|^2 + C \\sum_i \\max(0, 1 - y_i f(x_i))$$

    As C grows, fewer points are support vectors, the margin narrows and the training error falls.
    The validation error is least in between. Every model is certified.
    """
    X, y = crescents(noise=0.35, n=300)
    path = svc_path(X[::2], y[::2], np.geomspace(1e-3, 1e4, 50), estimator=SVC(gamma=3.0))
    return PathDisplay.from_path(path, X[1::2], y[1::2]).figure_


def error_over_C():
    """Training and test error over C

    Too small a C underfits, too large a C overfits: the training error falls on, the test error
    rises again. Here an RBF machine with $\\gamma = 10$; two thirds of the points are of one class.
    """
    X, y = _uneven(crescents(noise=0.35, n=240))
    far, labels = _uneven(crescents(noise=0.35, n=4800, seed=1))
    grid = np.geomspace(1e-2, 1e4, 37)
    curve = textbook.experiments.error_over_C(X, y, far, labels, grid, gamma=10.0)
    test = curve.test_error
    drawing, ax = figure()
    ax.plot(
        grid, curve.train_error, color=CLASS_COLOURS[0], label=f"training error, {len(y)} points"
    )
    ax.plot(grid, test, "--", color=CLASS_COLOURS[1], label=f"test error, {len(labels)} points")
    least = np.argmin(test)
    ax.plot(grid[least], test[least], "o", color=CLASS_COLOURS[1])
    ax.annotate("least", (grid[least], test[least]), (0, -13), textcoords="offset points")
    ax.text(0.02, 0.45, "underfits", transform=ax.transAxes)
    ax.text(0.98, 0.2, "overfits", transform=ax.transAxes, ha="right")
    ax.set(xscale="log", xlabel="$C$", ylabel="share of errors", ylim=(-0.03, 0.5))
    ax.legend()
    return drawing


def selection_of_hyper_parameters():
    """The selection of the hyper-parameters

    $$(C, \\gamma) = \\arg\\max\\ \\frac1k \\sum_{j=1}^k \\text{accuracy on fold } j$$

    Linear machines along C, and RBF machines over C and gamma: a coarse grid, then finer values
    around the best candidate. Bars are standard errors.
    """
    X, y = crescents(noise=0.35, n=300)
    return AutoSVC(time_budget=60).fit(X, y).report_.plot().figure_


def shares_over_nu():
    """nu lies between the share of margin errors and the share of support vectors

    $$\\frac{|\\{i : \\xi_i > 0\\}|}{n} \\ \\le\\ \\nu\\ \\le\\ \\frac{|\\{i : \\alpha_i >
    0\\}|}{n}$$

    Beyond $\\frac2n \\min(n_+, n_-)$, here 2/3, there is no feasible point.
    """
    X, y = _uneven(crescents(noise=0.35, n=200))
    grid = np.linspace(0.1, 0.66, 29)
    most = 2 * min(np.sum(y > 0), np.sum(y < 0)) / len(y)
    curve = textbook.experiments.error_over_nu(X, y, X, y, grid, gamma=1.0)
    support, errors = curve.support, curve.margin_errors
    drawing, ax = figure()
    ax.plot(grid, support, "^-", color=CLASS_COLOURS[0], markersize=3, label="support vectors")
    ax.plot(grid, grid, color=INK, linewidth=0.9, label="$\\nu$")
    ax.plot(grid, errors, "v--", color=CLASS_COLOURS[1], markersize=3, label="margin errors")
    ax.axvline(most, color=PALE, linestyle=":", label="largest feasible $\\nu$")
    ax.set(xlabel="$\\nu$", ylabel="share of the points", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper left")
    return drawing


def tube_over_nu():
    """nu-SVR: the tube narrows as nu grows

    $$\\min\\ \\tfrac12 |w|^2 + C\\left(\\nu n \\varepsilon + \\sum_i (\\xi_i + \\xi_i^*)\\right)$$

    At most a share $\\nu$ of the points lies outside the tube, at least that share are support
    vectors; $\\varepsilon$ is part of the solution. The document mentions the nu-SVM for
    classification only.
    """
    X, t = sine(n=150)
    grid = np.linspace(0.02, 0.98, 40)
    width, support, outside = [], [], []
    for nu in grid:
        model = NuSVR(nu=nu, C=10.0, gamma=0.5, tol=1e-6).fit(X, t)
        width.append(model.epsilon_)
        support.append(len(model.support_) / len(t))
        outside.append(np.mean(np.abs(t - model.predict(X)) > model.epsilon_ + 1e-4))
    drawing, (left, right) = figure(1, 2)
    left.plot(grid, width, color=CLASS_COLOURS[2])
    left.set(xlabel="$\\nu$", ylabel="half the width of the tube, $\\varepsilon$")
    right.plot(grid, support, "^-", color=CLASS_COLOURS[0], markersize=3, label="support vectors")
    right.plot(grid, grid, color=INK, linewidth=0.9, label="$\\nu$")
    right.plot(grid, outside, "v--", color=CLASS_COLOURS[1], markersize=3, label="outside the tube")
    right.set(xlabel="$\\nu$", ylabel="share of the points")
    right.legend()
    return drawing


def epsilon_and_noise():
    """A good epsilon grows with the noise

    $$\\varepsilon \\propto \\sigma,\\qquad \\varepsilon = 3\\sigma\\sqrt{\\ln n / n}$$

    Cherkassky and Ma (2004). Left the error on new points without noise over $\\varepsilon$, for
    three noise levels $\\sigma$ (medians of 20 samples of 40 points); dots are the rule's choice.
    Right the widest $\\varepsilon$ whose error is within 5 % of the least.
    """
    levels, grid = (0.1, 0.2, 0.4), np.linspace(0.0, 1.0, 26)
    new = np.linspace(0, 2 * np.pi, 200)[:, None]
    drawing, (left, right) = figure(1, 2)
    for k, sigma in enumerate(levels):
        errors = [[_error(seed, sigma, e, new) for e in grid] for seed in range(20)]
        error = np.median(errors, axis=0)
        rule = textbook.practice.epsilon_of_noise(sigma, 40)
        colour = CLASS_COLOURS[k]
        left.plot(grid, error, color=colour, linestyle=("-", "--", "-.")[k], label=f"{sigma:g}")
        left.plot(rule, np.interp(rule, grid, error), "o", color=colour)
        right.plot(sigma, grid[error <= 1.05 * error.min()][-1], "s", color=colour)
    rule = [textbook.practice.epsilon_of_noise(sigma, 40) for sigma in (0, 0.45)]
    right.plot((0, 0.45), rule, color=INK, label="the rule")
    left.set(xlabel="$\\varepsilon$", ylabel="error of the curve", xlim=(0, 1))
    left.legend(title="noise $\\sigma$")
    right.set(xlabel="noise $\\sigma$", ylabel="$\\varepsilon$")
    right.legend()
    return drawing


def _uneven(data):
    """Half of the first class and all of the second."""
    X, y = data
    some = (y > 0) | (np.cumsum(y < 0) % 2 == 0)
    return X[some], y[some]


def _error(seed, sigma, epsilon, new):
    """Root mean square error of a curve fitted to noise of a level."""
    X, t = sine(seed=seed, n=40, noise=sigma)
    model = SVR(C=3.0, epsilon=epsilon, gamma=0.5).fit(X, t)
    return np.sqrt(np.mean((model.predict(new) - np.sin(new[:, 0])) ** 2))
