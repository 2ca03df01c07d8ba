"""Theory and Algorithms: the algorithms."""

import numpy as np

from data import overlapping
from maxmargin import SVC, LinearSVC, textbook
from maxmargin.plots import ConvergenceDisplay, LossDisplay
from maxmargin.plots.convergence import Curve
from maxmargin.plots.loss import OF_MARGIN


def hinge_and_logistic():
    """Hinge loss and logistic loss

    $$[1 - y f(x)]_+ \\qquad \\log(1 + e^{-y f(x)})$$

    The document refers to a "figure 4.2" of these two, which it does not contain.
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
