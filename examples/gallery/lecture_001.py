"""Support vector machines: theory and algorithms."""

import numpy as np

from data import crescents, overlapping, separable, sine
from maxmargin import SVC, LinearSVC, LinearSVR, OneClassSVM, textbook
from maxmargin.model_selection import AutoSVC, svc_path
from maxmargin.plots import (
    ConvergenceDisplay,
    DecisionDisplay,
    KernelMatrixDisplay,
    LossDisplay,
    OutlierDisplay,
    PathDisplay,
    TubeDisplay,
)
from maxmargin.plots.loss import OF_MARGIN
from maxmargin.plots.style import figure

SEED = "001_d8d37bb3c233b564.txt"


def border_and_margin():
    """Decision border and margin (figure 1)

    $$\\min_{w, b}\\ \\tfrac12 |w|^2 \\quad\\text{s.t.}\\quad y_i (x_i^\\mathsf{T} w + b) \\ge 1$$

    The lines $x^\\mathsf{T} w + b = \\pm 1$ are $2 / |w|$ apart.
    """
    X, y = separable()
    model, _ = textbook.hard_margin_qp(X, y)
    return DecisionDisplay.from_estimator(
        model, X, y, title=f"$2/|w|$ = {2 / np.linalg.norm(model.w):.3g}"
    ).figure_


def kernel_trick():
    """The kernel matrix

    $$Q_{ij} = y_i y_j\\, k(x_i, x_j),\\qquad k(x_i, x_j) = \\phi(x_i)^\\mathsf{T}\\phi(x_j)$$

    Points ordered by class: bright where the kernel calls two points similar.
    """
    X, y = crescents(n=80)
    return KernelMatrixDisplay.from_estimator(SVC(gamma=2.0).fit(X, y), X, y).figure_


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


def selection_of_hyper_parameters():
    """The selection of the hyper-parameters

    $$(C, \\gamma) = \\arg\\max\\ \\frac1k \\sum_{j=1}^k \\text{accuracy on fold } j$$

    Linear machines along C, and RBF machines over C and gamma: a coarse grid, then finer values
    around the best candidate. Bars are standard errors.
    """
    X, y = crescents(noise=0.35, n=300)
    return AutoSVC(time_budget=60).fit(X, y).report_.plot().figure_


def one_class():
    """One-class machine

    $$\\min_{w, \\xi, \\rho}\\ \\tfrac12 |w|^2 - \\rho + \\frac1{\\nu n} \\sum_i \\xi_i
    \\quad\\text{s.t.}\\quad w^\\mathsf{T}\\phi(x_i) \\ge \\rho - \\xi_i$$
    """
    X, _ = crescents(noise=0.12, n=150)
    return OutlierDisplay.from_estimator(OneClassSVM(nu=0.1, gamma=3.0).fit(X), X).figure_


def linear_regression_with_a_tube():
    """Linear support vector regression and its loss (figure 1, left and right)

    $$L_\\varepsilon = \\max(0, |y - f(x, w)| - \\varepsilon)$$
    """
    X, _ = sine()
    t = 0.4 * X[:, 0] - 1 + 0.25 * np.random.default_rng(1).normal(size=len(X))
    drawing, panels = figure(1, 2)
    TubeDisplay.from_estimator(LinearSVR(epsilon=0.25, C=1.0).fit(X, t), X, t, ax=panels[0])
    LossDisplay.of_regression(ax=panels[1])
    return drawing


def hinge_and_logistic():
    """Hinge loss and logistic loss (figure 4.2)

    $$[1 - y f(x)]_+ \\qquad \\log(1 + e^{-y f(x)})$$
    """
    return LossDisplay({name: OF_MARGIN[name] for name in ("hinge", "logistic")}).plot().figure_


def primal_and_dual_solvers():
    """The linear soft margin by four algorithms

    Pegasos (10), dual coordinate descent (12), SMO (13) and Newton's method all reach an optimum:
    the first slowly, the second at a linear rate, SMO over pairs, Newton's in a few steps. Curves
    show the distance to the optimum of each one's own problem.
    """
    X, y = overlapping(n=80)
    C = 0.5
    lam = 1 / (C * len(y))
    with_b = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y).certificate_.primal
    without_b = (
        LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-12).fit(X, y).certificate_.primal
    )
    squared = (
        SVC(kernel="linear", loss="squared_hinge", C=C, tol=1e-9).fit(X, y).certificate_.primal
    )
    runs = [
        (textbook.pegasos(X, y, lam, steps=20_000, trace=50)[1], lam * without_b, lam),
        (textbook.dual_coordinate_descent(X, y, C, tol=1e-10)[1], without_b, 1.0),
        (textbook.smo(X, y, C, tol=1e-8)[1], with_b, 1.0),
        (textbook.primal_newton(X, y, C)[1], squared, 1.0),
    ]
    from maxmargin.plots.convergence import Curve

    curves = [
        Curve(
            t.name,
            t.column("iteration") + 1,
            np.maximum((t.column("primal") - best) / scale, 1e-13),
        )
        for t, best, scale in runs
    ]
    return (
        ConvergenceDisplay(
            curves, "iteration: a point, a sweep, a pair, a Newton step", "primal - optimum"
        )
        .plot()
        .figure_
    )
